//! Daemon sets.

use http::Method;
use kubesmith_testenv::TestEnv;
use serde_json::{Value, json};

use super::{PODS, create, env, items, quiet, until};
use crate::support::{call, patch};

const SETS: &str = "/apis/apps/v1/namespaces/default/daemonsets";
const SET: &str = "/apis/apps/v1/namespaces/default/daemonsets/agent";
const NODES: &str = "/api/v1/nodes";

fn set(extra: Value) -> Value {
    let labels = json!({"app": "agent"});
    let mut spec = json!({"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels},
        "spec": {"containers": [{"name": "c", "image": "i:1"}]}}});
    if let Value::Object(extra) = extra {
        spec.as_object_mut().unwrap().extend(extra);
    }
    json!({"metadata": {"name": "agent"}, "spec": spec})
}

/// What `kubectl rollout status` waits for.
fn complete(set: &Value) -> bool {
    let status = &set["status"];
    status["observedGeneration"] == set["metadata"]["generation"]
        && ["updatedNumberScheduled", "numberAvailable", "numberReady", "currentNumberScheduled"]
            .iter()
            .all(|count| status[*count] == status["desiredNumberScheduled"])
        && status["desiredNumberScheduled"] != 0
}

async fn add_node(env: &TestEnv, name: &str, spec: Value) {
    let labels = json!({"kubernetes.io/hostname": name});
    create(env, NODES, json!({"metadata": {"name": name, "labels": labels}, "spec": spec})).await;
    let ready = json!({"status": {"conditions": [{"type": "Ready", "status": "True"}]}});
    patch(env, &format!("{NODES}/{name}/status"), "merge-patch+json", ready).await;
}

/// The nodes that the affinity of the pods names.
async fn nodes(env: &TestEnv) -> Vec<String> {
    let affinity = "/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms/0/matchFields/0/values/0";
    let pods = items(env, PODS).await;
    let mut nodes: Vec<String> =
        pods.iter().map(|pod| pod.pointer(affinity).unwrap().as_str().unwrap().to_owned()).collect();
    nodes.sort();
    nodes
}

/// Makes all pods ready that no node runs.
async fn ready(env: &TestEnv) {
    for pod in items(env, PODS).await {
        let status =
            json!({"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}});
        let path = format!("{PODS}/{}/status", pod["metadata"]["name"].as_str().unwrap());
        patch(env, &path, "merge-patch+json", status).await;
    }
}

async fn images(env: &TestEnv) -> Vec<Value> {
    let pods = items(env, PODS).await;
    let mut images: Vec<Value> =
        pods.iter().map(|pod| pod["spec"]["containers"][0]["image"].clone()).collect();
    images.sort_by_key(ToString::to_string);
    images
}

async fn set_image(env: &TestEnv, image: &str) {
    let change = json!({"spec": {"template": {"spec": {"containers": [{"name": "c", "image": image}]}}}});
    assert_eq!(patch(env, SET, "strategic-merge-patch+json", change).await.0, 200);
}

#[tokio::test]
async fn daemon_set_is_rolled_out_on_the_simulated_node() {
    let env = env(true).await;
    create(&env, SETS, set(json!({}))).await;
    let done = until(&env, SET, complete).await;
    assert_eq!(done["status"]["desiredNumberScheduled"], 1);
    let pod = &items(&env, PODS).await[0];
    assert_eq!(pod["spec"]["nodeName"], "node-1");
    assert_eq!(pod["metadata"]["labels"]["pod-template-generation"], "1");
    let tolerated = pod["spec"]["tolerations"].as_array().unwrap();
    assert!(tolerated.contains(
        &json!({"key": "node.kubernetes.io/unschedulable", "operator": "Exists", "effect": "NoSchedule"})
    ));
    let revisions = items(&env, "/apis/apps/v1/namespaces/default/controllerrevisions").await;
    let hash = "controller-revision-hash";
    assert_eq!(revisions[0]["metadata"]["labels"][hash], pod["metadata"]["labels"][hash]);
    set_image(&env, "i:2").await;
    until(&env, SET, complete).await;
    assert_eq!(images(&env).await, ["i:2"]);
    env.stop().await;
}

#[tokio::test]
async fn daemon_pod_runs_on_selected_nodes_with_tolerated_taints() {
    let env = env(false).await;
    let taint = |effect: &str| json!({"taints": [{"key": "k", "value": "v", "effect": effect}]});
    add_node(&env, "a", json!({})).await;
    add_node(&env, "b", taint("NoSchedule")).await;
    add_node(&env, "c", json!({"unschedulable": true})).await;
    create(&env, SETS, set(json!({}))).await;
    quiet(&env).await;
    assert_eq!(nodes(&env).await, ["a", "c"]);
    add_node(&env, "d", json!({})).await;
    quiet(&env).await;
    assert_eq!(nodes(&env).await, ["a", "c", "d"]);
    patch(&env, &format!("{NODES}/a"), "merge-patch+json", json!({"spec": taint("NoSchedule")})).await;
    patch(&env, &format!("{NODES}/c"), "merge-patch+json", json!({"spec": taint("NoExecute")})).await;
    quiet(&env).await;
    assert_eq!(nodes(&env).await, ["a", "d"], "a taint that does not drive pods out lets them stay");
    let status = &super::get(&env, SET).await["status"];
    assert_eq!((&status["desiredNumberScheduled"], &status["numberMisscheduled"]), (&json!(1), &json!(1)));
    call(&env, Method::DELETE, &format!("{NODES}/d"), Value::Null).await;
    let selector =
        json!({"spec": {"template": {"spec": {"nodeSelector": {"kubernetes.io/hostname": "nowhere"}}}}});
    patch(&env, SET, "merge-patch+json", selector).await;
    quiet(&env).await;
    assert!(items(&env, PODS).await.is_empty());
    env.stop().await;
}

#[tokio::test]
async fn rolling_update_of_a_daemon_set_keeps_within_its_limit() {
    let env = env(false).await;
    for name in ["a", "b", "c"] {
        add_node(&env, name, json!({})).await;
    }
    create(&env, SETS, set(json!({}))).await;
    quiet(&env).await;
    ready(&env).await;
    until(&env, SET, complete).await;
    set_image(&env, "i:2").await;
    for new in 1..=3 {
        quiet(&env).await;
        let shown = images(&env).await;
        assert_eq!(shown.iter().filter(|image| **image == "i:2").count(), new, "{shown:?}");
        assert_eq!(shown.len(), 3);
        ready(&env).await;
    }
    until(&env, SET, complete).await;
    env.stop().await;
}

#[tokio::test]
async fn new_pods_surge_beside_old_ones() {
    let env = env(false).await;
    for name in ["a", "b"] {
        add_node(&env, name, json!({})).await;
    }
    let strategy = json!({"updateStrategy": {"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}});
    create(&env, SETS, set(strategy)).await;
    quiet(&env).await;
    ready(&env).await;
    until(&env, SET, complete).await;
    set_image(&env, "i:2").await;
    quiet(&env).await;
    assert_eq!(images(&env).await, ["i:1", "i:1", "i:2"]);
    ready(&env).await;
    quiet(&env).await;
    assert_eq!(images(&env).await, ["i:1", "i:2", "i:2"]);
    ready(&env).await;
    quiet(&env).await;
    assert_eq!(images(&env).await, ["i:2", "i:2"]);
    until(&env, SET, complete).await;
    env.stop().await;
}
