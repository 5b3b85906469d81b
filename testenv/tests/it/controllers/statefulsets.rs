//! Stateful sets.

use http::Method;
use kubesmith_testenv::TestEnv;
use serde_json::{Value, json};

use super::{PODS, create, env, get, items, quiet, until};
use crate::support::{call, patch};

const SETS: &str = "/apis/apps/v1/namespaces/default/statefulsets";
const SET: &str = "/apis/apps/v1/namespaces/default/statefulsets/db";
const CLAIMS: &str = "/api/v1/namespaces/default/persistentvolumeclaims";
const REVISIONS: &str = "/apis/apps/v1/namespaces/default/controllerrevisions";

fn set(replicas: i64, extra: Value) -> Value {
    let labels = json!({"app": "db"});
    let claim = json!({"metadata": {"name": "data"}, "spec": {
        "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}});
    let mut spec = json!({"replicas": replicas, "serviceName": "db", "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "i:1"}]}},
        "volumeClaimTemplates": [claim]});
    if let Value::Object(extra) = extra {
        spec.as_object_mut().unwrap().extend(extra);
    }
    json!({"metadata": {"name": "db"}, "spec": spec})
}

fn names(objects: &[Value]) -> Vec<&str> {
    objects.iter().map(|object| object["metadata"]["name"].as_str().unwrap()).collect()
}

fn images(pods: &[Value]) -> Vec<&str> {
    pods.iter().map(|pod| pod["spec"]["containers"][0]["image"].as_str().unwrap()).collect()
}

/// What `kubectl rollout status` waits for.
fn complete(set: &Value) -> bool {
    let (wanted, status) = (&set["spec"]["replicas"], &set["status"]);
    status["observedGeneration"] == set["metadata"]["generation"]
        && ["readyReplicas", "updatedReplicas"].iter().all(|count| status[*count] == *wanted)
        && status["updateRevision"] == status["currentRevision"]
}

async fn set_image(env: &TestEnv, image: &str) {
    let change = json!({"spec": {"template": {"spec": {"containers": [{"name": "c", "image": image}]}}}});
    assert_eq!(patch(env, SET, "strategic-merge-patch+json", change).await.0, 200);
}

/// Makes a pod ready that no node runs.
async fn ready(env: &TestEnv, pod: &str) {
    let status = json!({"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}});
    let path = format!("{PODS}/{pod}/status");
    assert_eq!(patch(env, &path, "merge-patch+json", status).await.0, 200);
}

#[tokio::test]
async fn pods_of_a_stateful_set_have_stable_names_and_claims() {
    let env = env(true).await;
    create(&env, SETS, set(2, json!({}))).await;
    let done = until(&env, SET, complete).await;
    let status = &done["status"];
    assert_eq!(
        [
            "replicas",
            "readyReplicas",
            "currentReplicas",
            "updatedReplicas",
            "availableReplicas",
            "collisionCount"
        ]
        .map(|field| status[field].as_i64()),
        [2, 2, 2, 2, 2, 0].map(Some)
    );
    let revisions = items(&env, REVISIONS).await;
    assert_eq!(names(&revisions), [status["currentRevision"].as_str().unwrap()]);
    assert_eq!(
        (&revisions[0]["revision"], &revisions[0]["data"]["spec"]["template"]["$patch"]),
        (&json!(1), &json!("replace"))
    );
    assert_eq!(revisions[0]["metadata"]["ownerReferences"][0]["uid"], done["metadata"]["uid"]);
    let pods = items(&env, PODS).await;
    assert_eq!(names(&pods), ["db-0", "db-1"]);
    assert_eq!(
        pods[1]["metadata"]["labels"],
        json!({"app": "db", "apps.kubernetes.io/pod-index": "1", "statefulset.kubernetes.io/pod-name": "db-1",
               "controller-revision-hash": status["currentRevision"]})
    );
    let spec = &pods[1]["spec"];
    assert_eq!((&spec["hostname"], &spec["subdomain"]), (&json!("db-1"), &json!("db")));
    assert_eq!(spec["volumes"][0]["persistentVolumeClaim"]["claimName"], "data-db-1");
    let claims = items(&env, CLAIMS).await;
    assert_eq!(names(&claims), ["data-db-0", "data-db-1"]);
    assert_eq!(claims[0]["metadata"]["labels"], json!({"app": "db"}));
    assert!(claims[0]["metadata"].get("ownerReferences").is_none());
    call(&env, Method::DELETE, &format!("{PODS}/db-0"), Value::Null).await;
    let uid = pods[0]["metadata"]["uid"].clone();
    until(&env, &format!("{PODS}/db-0"), |pod| {
        pod["metadata"]["uid"].is_string() && pod["metadata"]["uid"] != uid
    })
    .await;
    env.stop().await;
}

#[tokio::test]
async fn pods_are_created_and_deleted_in_order_unless_parallel() {
    let env = env(false).await;
    create(&env, SETS, set(3, json!({}))).await;
    for pods in [&["db-0"][..], &["db-0", "db-1"], &["db-0", "db-1", "db-2"]] {
        quiet(&env).await;
        assert_eq!(names(&items(&env, PODS).await), pods);
        ready(&env, pods.last().unwrap()).await;
    }
    until(&env, SET, complete).await;
    let scale = json!({"spec": {"replicas": 1}});
    patch(&env, SET, "merge-patch+json", scale).await;
    until(&env, SET, complete).await;
    assert_eq!(names(&items(&env, PODS).await), ["db-0"]);
    assert_eq!(items(&env, CLAIMS).await.len(), 3, "claims are kept");
    call(&env, Method::DELETE, SET, Value::Null).await;
    quiet(&env).await;
    create(&env, SETS, set(3, json!({"podManagementPolicy": "Parallel"}))).await;
    quiet(&env).await;
    assert_eq!(items(&env, PODS).await.len(), 3);
    env.stop().await;
}

#[tokio::test]
async fn rolling_update_replaces_pods_down_to_the_partition() {
    let env = env(true).await;
    let strategy = json!({"updateStrategy": {"rollingUpdate": {"partition": 2}}, "ordinals": {"start": 5}});
    create(&env, SETS, set(3, strategy)).await;
    let first = until(&env, SET, complete).await["status"]["currentRevision"].clone();
    set_image(&env, "i:2").await;
    let updated = |count: i64| {
        move |set: &Value| {
            set["status"]["updatedReplicas"] == count
                && set["status"]["readyReplicas"] == 3
                && set["status"]["observedGeneration"] == set["metadata"]["generation"]
        }
    };
    let partly = until(&env, SET, updated(1)).await;
    quiet(&env).await;
    assert_eq!(partly["status"]["currentRevision"], first);
    let pods = items(&env, PODS).await;
    assert_eq!((names(&pods), images(&pods)), (vec!["db-5", "db-6", "db-7"], vec!["i:1", "i:1", "i:2"]));
    call(&env, Method::DELETE, &format!("{PODS}/db-5"), Value::Null).await;
    quiet(&env).await;
    assert_eq!(
        images(&items(&env, PODS).await),
        ["i:1", "i:1", "i:2"],
        "below the partition the old revision comes back"
    );
    let change = json!({"spec": {"updateStrategy": {"rollingUpdate": {"partition": 0}}}});
    patch(&env, SET, "merge-patch+json", change).await;
    until(&env, SET, complete).await;
    assert_eq!(images(&items(&env, PODS).await), ["i:2"; 3]);
    set_image(&env, "i:1").await;
    let back = until(&env, SET, complete).await;
    assert_eq!(back["status"]["currentRevision"], first, "a revision that is gone back to is used again");
    let numbers: Vec<Value> = items(&env, REVISIONS).await.iter().map(|r| r["revision"].clone()).collect();
    assert!(numbers.len() == 2 && numbers.contains(&json!(3)), "{numbers:?}");
    env.stop().await;
}

#[tokio::test]
async fn pods_are_updated_when_they_are_deleted_with_on_delete() {
    let env = env(true).await;
    create(&env, SETS, set(2, json!({"updateStrategy": {"type": "OnDelete"}}))).await;
    until(&env, SET, |set| set["status"]["readyReplicas"] == 2).await;
    set_image(&env, "i:2").await;
    quiet(&env).await;
    assert_eq!(images(&items(&env, PODS).await), ["i:1"; 2]);
    call(&env, Method::DELETE, &format!("{PODS}/db-0"), Value::Null).await;
    quiet(&env).await;
    assert_eq!(images(&items(&env, PODS).await), ["i:2", "i:1"]);
    env.stop().await;
}

#[tokio::test]
async fn claims_are_deleted_by_the_retention_policy() {
    let env = env(true).await;
    let policy =
        json!({"persistentVolumeClaimRetentionPolicy": {"whenScaled": "Delete", "whenDeleted": "Delete"}});
    create(&env, SETS, set(2, policy)).await;
    until(&env, SET, complete).await;
    patch(&env, SET, "merge-patch+json", json!({"spec": {"replicas": 1}})).await;
    until(&env, &format!("{CLAIMS}/data-db-1"), |claim| claim["code"] == 404).await;
    assert_eq!(names(&items(&env, CLAIMS).await), ["data-db-0"]);
    call(&env, Method::DELETE, SET, json!({"propagationPolicy": "Foreground"})).await;
    until(&env, SET, |set| set["code"] == 404).await;
    until(&env, &format!("{CLAIMS}/data-db-0"), |claim| claim["code"] == 404).await;
    assert!(items(&env, REVISIONS).await.is_empty());
    assert!(items(&env, PODS).await.is_empty());
    env.stop().await;
}

#[tokio::test]
async fn failed_pod_is_recreated_and_another_pod_is_not_adopted() {
    let env = env(false).await;
    let other = json!({"metadata": {"name": "other", "labels": {"app": "db"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}});
    create(&env, PODS, other).await;
    create(&env, SETS, set(1, json!({}))).await;
    quiet(&env).await;
    let path = format!("{PODS}/db-0");
    let uid = get(&env, &path).await["metadata"]["uid"].clone();
    patch(&env, &format!("{path}/status"), "merge-patch+json", json!({"status": {"phase": "Failed"}})).await;
    quiet(&env).await;
    let again = get(&env, &path).await;
    assert!(again["metadata"]["uid"].is_string() && again["metadata"]["uid"] != uid, "{again}");
    assert!(get(&env, &format!("{PODS}/other")).await["metadata"].get("ownerReferences").is_none());
    env.stop().await;
}

#[tokio::test]
async fn share_of_pods_that_may_be_unavailable_is_rounded_down() {
    let env = env(false).await;
    let strategy = json!({"podManagementPolicy": "Parallel", "updateStrategy": {"rollingUpdate": {"maxUnavailable": "50%"}}});
    create(&env, SETS, set(3, strategy)).await;
    quiet(&env).await;
    for pod in ["db-0", "db-1", "db-2"] {
        ready(&env, pod).await;
    }
    until(&env, SET, complete).await;
    set_image(&env, "i:2").await;
    quiet(&env).await;
    assert_eq!(images(&items(&env, PODS).await), ["i:1", "i:1", "i:2"]);
    env.stop().await;
}
