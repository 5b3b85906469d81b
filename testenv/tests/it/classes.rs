//! Classes of storage, ingresses and priorities. The answers are those of kube-apiserver 1.36.2.

use std::sync::Arc;

use http::Method;
use kubesmith_testenv::{ManualClock, TestEnv};
use serde_json::{Value, json};

use crate::support::{call, patch};

const STORAGE: &str = "/apis/storage.k8s.io/v1/storageclasses";
const PRIORITIES: &str = "/apis/scheduling.k8s.io/v1/priorityclasses";

async fn create(env: &TestEnv, path: &str, body: Value) -> Value {
    let (code, answer) = call(env, Method::POST, path, body).await;
    assert_eq!(code, 201, "{answer}");
    answer
}

/// The class that a claim without one gets.
async fn chosen(env: &TestEnv) -> Value {
    let claim = json!({"metadata": {"generateName": "c-"}, "spec": {"accessModes": ["ReadWriteOnce"],
                       "resources": {"requests": {"storage": "1Gi"}}}});
    let path = "/api/v1/namespaces/default/persistentvolumeclaims?dryRun=All";
    create(env, path, claim).await["spec"]["storageClassName"].clone()
}

#[tokio::test]
async fn claim_gets_the_newest_default_class() {
    let clock = Arc::new(ManualClock::new("2026-01-02T03:04:05Z".parse().unwrap()));
    let env = TestEnv::builder().clock(clock.clone()).start().await.unwrap();
    assert_eq!(chosen(&env).await, Value::Null);
    for (name, annotation, expected) in [
        ("b", "storageclass.kubernetes.io/is-default-class", "b"),
        ("c", "storageclass.beta.kubernetes.io/is-default-class", "c"),
        ("d", "other", "c"),
    ] {
        clock.advance(1);
        let metadata = json!({"name": name, "annotations": {annotation: "true"}});
        create(&env, STORAGE, json!({"metadata": metadata, "provisioner": "a.b/c"})).await;
        assert_eq!(chosen(&env).await, expected, "{name}");
    }
    // Classes of the same age are ordered by name.
    let annotations = json!({"storageclass.kubernetes.io/is-default-class": "true"});
    for name in ["z", "y"] {
        let metadata = json!({"name": name, "annotations": annotations});
        create(&env, STORAGE, json!({"metadata": metadata, "provisioner": "a.b/c"})).await;
    }
    assert_eq!(chosen(&env).await, "y");
}

#[tokio::test]
async fn claim_with_the_old_annotation_gets_no_class() {
    let env = TestEnv::builder().start().await.unwrap();
    let annotations = json!({"storageclass.kubernetes.io/is-default-class": "true"});
    let metadata = json!({"name": "a", "annotations": annotations});
    create(&env, STORAGE, json!({"metadata": metadata, "provisioner": "a.b/c"})).await;
    let annotations = json!({"volume.beta.kubernetes.io/storage-class": ""});
    let claim = json!({"metadata": {"name": "c", "annotations": annotations}, "spec": {"accessModes": ["ReadWriteOnce"],
                       "resources": {"requests": {"storage": "1Gi"}}}});
    let claim = create(&env, "/api/v1/namespaces/default/persistentvolumeclaims", claim).await;
    assert_eq!(claim["spec"]["storageClassName"], Value::Null);
}

#[tokio::test]
async fn only_one_priority_class_is_the_default() {
    let env = TestEnv::builder().start().await.unwrap();
    let class =
        |name: &str, default: bool| json!({"metadata": {"name": name}, "value": 1, "globalDefault": default});
    create(&env, PRIORITIES, class("first", true)).await;
    create(&env, PRIORITIES, class("second", false)).await;
    let only = "PriorityClass first is already marked as default. Only one default can exist";
    let (code, answer) = call(&env, Method::POST, PRIORITIES, class("third", true)).await;
    let refused = |name: &str| format!("priorityclasses.scheduling.k8s.io \"{name}\" is forbidden: {only}");
    assert_eq!((code, answer["message"].as_str().unwrap()), (403, refused("third").as_str()));
    let change = json!({"globalDefault": true});
    let path = format!("{PRIORITIES}/second");
    let (code, answer) = patch(&env, &path, "merge-patch+json", change).await;
    assert_eq!((code, answer["message"].as_str().unwrap()), (403, refused("second").as_str()));
    // The default itself can be written.
    let change = json!({"description": "d", "globalDefault": true});
    assert_eq!(patch(&env, &format!("{PRIORITIES}/first"), "merge-patch+json", change).await.0, 200);
}

#[tokio::test]
async fn system_priority_classes_cannot_be_deleted() {
    let env = TestEnv::builder().start().await.unwrap();
    for name in ["system-node-critical", "system-cluster-critical"] {
        let path = format!("{PRIORITIES}/{name}");
        let (code, answer) = call(&env, Method::DELETE, &path, Value::Null).await;
        let text = "this is a system priority class and cannot be deleted";
        let expected = format!("priorityclasses.scheduling.k8s.io \"{name}\" is forbidden: {text}");
        assert_eq!((code, answer["message"].as_str().unwrap()), (403, expected.as_str()));
    }
}
