//! The admission plugins for pods on a node: topology labels, and resizing.

use http::Method;
use kubesmith_testenv::TestEnv;
use serde_json::{Value, json};

use crate::support::{call, patch};

const PODS: &str = "/api/v1/namespaces/default/pods";
const ZONE: &str = "topology.kubernetes.io/zone";

/// A server with the node `n`, which has 4 processors.
async fn with_node(labels: Value) -> TestEnv {
    let env = TestEnv::builder().start().await.unwrap();
    let there = json!({"cpu": "4", "memory": "8Gi"});
    let node = json!({"metadata": {"name": "n", "labels": labels}, "status": {"allocatable": there}});
    assert_eq!(call(&env, Method::POST, "/api/v1/nodes", node).await.0, 201);
    env
}

async fn created(env: &TestEnv, name: &str, node: Value) -> Value {
    let resources = json!({"requests": {"cpu": "1", "memory": "1Gi"}});
    let container = json!({"name": "c", "image": "i", "resources": resources});
    let spec = json!({"nodeName": node, "containers": [container], "resources": {"requests": {"cpu": "2"}}});
    let pod = json!({"metadata": {"name": name, "labels": {ZONE: "own"}}, "spec": spec});
    let (code, pod) = call(env, Method::POST, PODS, pod).await;
    assert_eq!(code, 201, "{pod}");
    pod
}

#[tokio::test]
async fn pod_gets_zone_and_region_of_its_node() {
    let region = "topology.kubernetes.io/region";
    let env = with_node(json!({ZONE: "z", region: "r", "a": "b"})).await;
    let placed = json!({ZONE: "z", region: "r"});
    assert_eq!(created(&env, "placed", json!("n")).await["metadata"]["labels"], placed);
    assert_eq!(created(&env, "lost", json!("missing")).await["metadata"]["labels"], json!({ZONE: "own"}));
    let waiting = created(&env, "waiting", Value::Null).await;
    assert_eq!(waiting["metadata"]["labels"], json!({ZONE: "own"}));
    let metadata = json!({"name": "waiting", "labels": {ZONE: "binding", "c": "d"}});
    let binding = json!({"metadata": metadata, "target": {"kind": "Node", "name": "n"}});
    let path = format!("{PODS}/waiting");
    assert_eq!(call(&env, Method::POST, &format!("{path}/binding"), binding).await.0, 201);
    let (_, bound) = call(&env, Method::GET, &path, Value::Null).await;
    assert_eq!(bound["metadata"]["labels"], json!({ZONE: "z", region: "r", "c": "d"}));
    env.stop().await;
}

#[tokio::test]
async fn bound_pod_is_resized_within_its_node() {
    let env = with_node(json!({"kubernetes.io/os": "linux"})).await;
    created(&env, "p", json!("n")).await;
    created(&env, "lost", json!("missing")).await;
    let resize = async |name: &str, of_pod: bool, cpu: &str| {
        let resources = json!({"requests": {"cpu": cpu}});
        let spec = match of_pod {
            true => json!({"resources": resources}),
            false => json!({"containers": [{"name": "c", "resources": resources}]}),
        };
        let path = format!("{PODS}/{name}/resize");
        patch(&env, &path, "strategic-merge-patch+json", json!({"spec": spec})).await
    };
    let refused = async |name: &str, of_pod: bool, cpu: &str| {
        let (code, answer) = resize(name, of_pod, cpu).await;
        let text = answer["message"].as_str().unwrap_or_default().to_owned();
        (code, text, answer["details"]["causes"].clone())
    };
    let text = |name: &str, fault: &str| format!("pods \"{name}\" is forbidden: {fault}");
    assert_eq!(
        refused("lost", false, "2").await,
        (403, text("lost", "node \"missing\" not found"), Value::Null)
    );
    let feature = "InPlacePodLevelResourcesVerticalScaling";
    let undeclared = format!("pod update requires features {feature} which are not available on node \"n\"");
    assert_eq!(refused("p", true, "9").await, (403, text("p", &undeclared), Value::Null));
    let declared = json!({"status": {"declaredFeatures": [feature]}});
    assert_eq!(patch(&env, "/api/v1/nodes/n/status", "merge-patch+json", declared).await.0, 200);
    let full = "node didn't have enough allocatable resources: cpu, requested: 9000, allocatable: 4000";
    let reason = |reason: &str| json!([{"reason": reason}]);
    assert_eq!(refused("p", true, "9").await, (403, text("p", full), reason("NodeCapacity")));
    assert_eq!(resize("p", true, "3").await.0, 200);
    let windows = json!({"metadata": {"labels": {"kubernetes.io/os": "windows"}}});
    assert_eq!(patch(&env, "/api/v1/nodes/n", "merge-patch+json", windows).await.0, 200);
    let other = "pod resize is only supported on linux nodes, node \"n\" is \"windows\"";
    assert_eq!(refused("p", false, "2").await, (403, text("p", other), reason("UnsupportedPlatform")));
    env.stop().await;
}
