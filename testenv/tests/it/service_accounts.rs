//! The admission plugin ServiceAccount, which is on while the controllers run.

use http::Method;
use kubesmith_testenv::TestEnv;
use serde_json::{Value, json};

use crate::support::{call, patch};

const SPACE: &str = "/api/v1/namespaces/default";
const PATH: &str = "/var/run/secrets/kubernetes.io/serviceaccount";

fn pod(name: &str, mut spec: Value) -> Value {
    let mut pod = json!({"metadata": {"name": name}, "spec": {"containers": [{"name": "c", "image": "i"}]}});
    pod["spec"].as_object_mut().unwrap().append(spec.as_object_mut().unwrap());
    pod
}

async fn create(env: &TestEnv, pod: Value) -> (u16, Value) {
    call(env, Method::POST, &format!("{SPACE}/pods"), pod).await
}

/// Sends a pod and returns the code and the message of its refusal.
async fn refused(env: &TestEnv, pod: Value) -> (u16, String) {
    let (code, status) = create(env, pod).await;
    (code, status["message"].as_str().unwrap_or_default().to_owned())
}

async fn account(env: &TestEnv, account: Value) {
    let (code, _) = call(env, Method::POST, &format!("{SPACE}/serviceaccounts"), account).await;
    assert_eq!(code, 201);
}

fn forbidden(text: &str) -> (u16, String) {
    (403, format!("pods \"p\" is forbidden: {text}"))
}

#[tokio::test(start_paused = true)]
async fn pod_gets_account_and_token_right_after_its_namespace() {
    let env = TestEnv::builder().controllers(true).seed(1).start().await.unwrap();
    let space = json!({"metadata": {"name": "a"}});
    assert_eq!(call(&env, Method::POST, "/api/v1/namespaces", space).await.0, 201);
    let mount = json!({"name": "x", "mountPath": PATH});
    let spec = json!({
        "initContainers": [{"name": "i", "image": "i"}],
        "containers": [{"name": "c", "image": "i"}, {"name": "d", "image": "i", "volumeMounts": [mount]}],
        "volumes": [{"name": "x", "emptyDir": {}}],
    });
    let (code, made) = call(&env, Method::POST, "/api/v1/namespaces/a/pods", pod("p", spec)).await;
    assert_eq!((code, &made["spec"]["serviceAccountName"]), (201, &json!("default")));
    let volume = &made["spec"]["volumes"][1];
    let name = volume["name"].as_str().unwrap();
    assert!(name.starts_with("kube-api-access-") && name.len() == 21);
    let source = json!({
        "defaultMode": 420,
        "sources": [
            {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
            {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
            {"downwardAPI": {"items": [{"path": "namespace", "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}}]}},
        ],
    });
    assert_eq!(volume["projected"], source);
    let mounts = json!([{"name": name, "readOnly": true, "mountPath": PATH}]);
    assert_eq!(made["spec"]["initContainers"][0]["volumeMounts"], mounts);
    assert_eq!(made["spec"]["containers"][0]["volumeMounts"], mounts);
    assert_eq!(made["spec"]["containers"][1]["volumeMounts"], json!([mount]));
    let path = "/api/v1/namespaces/a/pods/p";
    let change = json!({"metadata": {"labels": {"a": "b"}}});
    assert_eq!(patch(&env, path, "merge-patch+json", change).await.0, 200);
    // Admission has no field manager.
    let managers = made["metadata"]["managedFields"].to_string();
    assert!(!managers.contains("serviceAccount") && !managers.contains(name));
    env.stop().await;
}

#[tokio::test(start_paused = true)]
async fn token_is_not_mounted_when_pod_or_account_does_not_want_it() {
    let env = TestEnv::builder().controllers(true).start().await.unwrap();
    account(&env, json!({"metadata": {"name": "closed"}, "automountServiceAccountToken": false})).await;
    let cases = [
        (json!({"automountServiceAccountToken": false}), false),
        (json!({"serviceAccountName": "closed"}), false),
        (json!({"serviceAccount": "closed"}), false),
        (json!({"serviceAccountName": "closed", "automountServiceAccountToken": true}), true),
    ];
    for (i, (spec, mounted)) in cases.into_iter().enumerate() {
        let (code, made) = create(&env, pod(&format!("p{i}"), spec)).await;
        assert_eq!((code, made["spec"]["volumes"].is_array()), (201, mounted), "{made}");
    }
    // A volume that has the prefix already counts as the token's.
    let spec = json!({"volumes": [{"name": "kube-api-access-own", "emptyDir": {}}]});
    let (_, made) = create(&env, pod("q", spec)).await;
    assert_eq!(made["spec"]["volumes"].as_array().map(Vec::len), Some(1));
    assert_eq!(made["spec"]["containers"][0]["volumeMounts"][0]["name"], "kube-api-access-own");
    env.stop().await;
}

#[tokio::test(start_paused = true)]
async fn pod_is_refused_when_its_account_is_missing() {
    let env = TestEnv::builder().controllers(true).start().await.unwrap();
    let text = "error looking up service account default/x: serviceaccount \"x\" not found";
    assert_eq!(refused(&env, pod("p", json!({"serviceAccountName": "x"}))).await, forbidden(text));
    let missing = "/api/v1/namespaces/missing/pods";
    assert_eq!(call(&env, Method::POST, missing, pod("p", json!({}))).await.0, 404);
    env.stop().await;
}

#[tokio::test(start_paused = true)]
async fn pod_is_accepted_without_an_account_when_no_controllers_run() {
    let env = TestEnv::builder().start().await.unwrap();
    let (code, made) = create(&env, pod("p", json!({"serviceAccountName": "x"}))).await;
    assert_eq!((code, &made["spec"]["volumes"]), (201, &Value::Null));
    env.stop().await;
}

#[tokio::test(start_paused = true)]
async fn pod_takes_the_image_pull_secrets_of_its_account_unless_it_has_some() {
    let env = TestEnv::builder().controllers(true).start().await.unwrap();
    account(&env, json!({"metadata": {"name": "s"}, "imagePullSecrets": [{"name": "a"}, {"name": "b"}]}))
        .await;
    let (_, made) = create(&env, pod("p", json!({"serviceAccountName": "s"}))).await;
    assert_eq!(made["spec"]["imagePullSecrets"], json!([{"name": "a"}, {"name": "b"}]));
    let own = json!({"serviceAccountName": "s", "imagePullSecrets": [{"name": "c"}]});
    let (_, made) = create(&env, pod("q", own)).await;
    assert_eq!(made["spec"]["imagePullSecrets"], json!([{"name": "c"}]));
    env.stop().await;
}

#[tokio::test(start_paused = true)]
async fn pod_is_refused_when_its_account_does_not_list_its_secrets() {
    let env = TestEnv::builder().controllers(true).start().await.unwrap();
    let annotations = json!({"kubernetes.io/enforce-mountable-secrets": "T"});
    let strict =
        json!({"metadata": {"name": "strict", "annotations": annotations}, "secrets": [{"name": "ok"}]});
    account(&env, strict).await;
    let with = |mut spec: Value| {
        spec["serviceAccountName"] = "strict".into();
        pod("p", spec)
    };
    let env_of =
        |name: &str| json!([{"name": "e", "valueFrom": {"secretKeyRef": {"name": name, "key": "k"}}}]);
    let volume = |name: &str| json!({"volumes": [{"name": "v", "secret": {"secretName": name}}]});
    let container = |env: Value| json!({"containers": [{"name": "c", "image": "i", "env": env}]});
    let from = json!([{"name": "n", "image": "i", "envFrom": [{"secretRef": {"name": "q"}}]}]);
    let text = "secret.secretName=\"q\" is not allowed because service account strict does not reference that secret";
    let cases = [
        (volume("q"), format!("volume with {text}")),
        (container(env_of("q")), format!("container c with envVar e referencing {text}")),
        (json!({"initContainers": from}), format!("init container n with envFrom referencing {text}")),
        (
            json!({"imagePullSecrets": [{"name": "ok"}]}),
            "imagePullSecrets[0].name=\"ok\" is not allowed because service account strict does not reference that \
             imagePullSecret"
                .to_owned(),
        ),
    ];
    for (spec, text) in cases {
        assert_eq!(refused(&env, with(spec)).await, forbidden(&text));
    }
    let mut allowed = volume("ok");
    allowed["containers"] = container(env_of("ok"))["containers"].clone();
    assert_eq!(create(&env, with(allowed)).await.0, 201);
    // kube-apiserver returns this error without a reason.
    let debug = json!({"spec": {"ephemeralContainers": from}});
    let path = format!("{SPACE}/pods/p/ephemeralcontainers");
    let (code, status) = patch(&env, &path, "strategic-merge-patch+json", debug).await;
    let text = format!("ephemeral container n with envFrom referencing {text}");
    assert_eq!((code, status["message"].as_str(), status.get("reason")), (500, Some(&*text), None));
    env.stop().await;
}

#[tokio::test(start_paused = true)]
async fn mirror_pod_names_neither_account_nor_secret() {
    let env = TestEnv::builder().controllers(true).start().await.unwrap();
    let mirror = |mut spec: Value| {
        spec["nodeName"] = "n".into();
        let mut pod = pod("p", spec);
        pod["metadata"]["annotations"] = json!({"kubernetes.io/config.mirror": ""});
        pod
    };
    let volume = |source: Value| json!({"volumes": [{"name": "v", "projected": {"sources": [source]}}]});
    let cases = [
        (json!({"serviceAccountName": "default"}), "a mirror pod may not reference service accounts"),
        (json!({"imagePullSecrets": [{"name": "s"}]}), "a mirror pod may not reference secrets"),
        (volume(json!({"secret": {"name": "s"}})), "a mirror pod may not reference secrets"),
        (
            volume(json!({"serviceAccountToken": {"path": "t"}})),
            "a mirror pod may not use ServiceAccountToken volume projections",
        ),
    ];
    for (spec, text) in cases {
        assert_eq!(refused(&env, mirror(spec)).await, forbidden(text));
    }
    let (code, made) = create(&env, mirror(json!({}))).await;
    assert_eq!(
        (code, &made["spec"]["volumes"], made["spec"].get("serviceAccountName")),
        (201, &Value::Null, None)
    );
    env.stop().await;
}
