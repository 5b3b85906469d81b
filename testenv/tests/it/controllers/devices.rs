//! Pods with ResourceClaims wait for these. The test allocates devices, because no driver does.

use http::Method;
use kubesmith_testenv::TestEnv;
use serde_json::{Value, json};

use super::{PODS, condition, create, env, get, items, quiet, until};
use crate::support::{call, patch};

const CLAIMS: &str = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims";
const TEMPLATES: &str = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaimtemplates";
const CLASSES: &str = "/apis/resource.k8s.io/v1/deviceclasses";
const EVENTS: &str = "/api/v1/namespaces/default/events";

fn pod(name: &str, claim: &Value, spec: &Value) -> Value {
    let mut pod = json!({"metadata": {"name": name}, "spec": {
        "containers": [{"name": "c", "image": "i", "resources": {"claims": [{"name": "gpu"}]}}],
        "resourceClaims": [claim],
    }});
    pod["spec"].as_object_mut().unwrap().extend(spec.as_object().cloned().unwrap_or_default());
    pod
}

fn spec() -> Value {
    json!({"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "gpus"}}]}})
}

fn at(name: &str) -> String {
    format!("{PODS}/{name}")
}

fn is_running(pod: &Value) -> bool {
    pod["status"]["phase"] == "Running"
}

/// Waits for the scheduler's message about a pod.
async fn unscheduled(env: &TestEnv, name: &str, text: &'static str) {
    let message =
        move |pod: &Value| condition(pod, "PodScheduled")["message"].as_str().unwrap_or_default().to_owned();
    until(env, &at(name), move |pod| message(pod).starts_with(text)).await;
}

async fn allocate(env: &TestEnv, claim: &str, node: &str) {
    let finalizer = json!({"metadata": {"finalizers": ["resource.kubernetes.io/delete-protection"]}});
    assert_eq!(patch(env, &format!("{CLAIMS}/{claim}"), "merge-patch+json", finalizer).await.0, 200);
    let fields = json!([{"key": "metadata.name", "operator": "In", "values": [node]}]);
    let device = json!({"request": "r", "driver": "gpu.example.com", "pool": "p", "device": "d"});
    let allocation = json!({"devices": {"results": [device]},
                            "nodeSelector": {"nodeSelectorTerms": [{"matchFields": fields}]}});
    let status = json!({"status": {"allocation": allocation}});
    let (code, answer) = patch(env, &format!("{CLAIMS}/{claim}/status"), "merge-patch+json", status).await;
    assert_eq!(code, 200, "{answer}");
}

#[tokio::test]
async fn pod_waits_for_the_claim_of_its_template() {
    let env = env(true).await;
    create(&env, PODS, pod("p", &json!({"name": "gpu", "resourceClaimTemplateName": "t"}), &json!({}))).await;
    quiet(&env).await;
    let waits = get(&env, &at("p")).await;
    assert!(condition(&waits, "PodScheduled").is_null(), "it is not tried before it has its claim: {waits}");
    let missing = "PodResourceClaim gpu: resource claim template \"t\": resourceclaimtemplate.resource.k8s.io \"t\" not found";
    let is_told =
        |event: &Value| event["reason"] == "FailedResourceClaimCreation" && event["message"] == missing;
    assert!(items(&env, EVENTS).await.iter().any(is_told));

    let template =
        json!({"metadata": {"name": "t"}, "spec": {"metadata": {"labels": {"a": "b"}}, "spec": spec()}});
    create(&env, TEMPLATES, template).await;
    unscheduled(
        &env,
        "p",
        "0/1 nodes are available: request r: device class gpus does not exist. no new claims",
    )
    .await;
    let recorded = get(&env, &at("p")).await;
    let name =
        recorded["status"]["resourceClaimStatuses"][0]["resourceClaimName"].as_str().unwrap().to_owned();
    let writers = recorded["metadata"]["managedFields"].as_array().unwrap();
    assert!(writers.iter().any(|entry| entry["manager"] == "ResourceClaimController"), "{writers:?}");
    let made = get(&env, &format!("{CLAIMS}/{name}")).await;
    assert_eq!(made["metadata"]["generateName"], "p-gpu-");
    assert_eq!(made["metadata"]["annotations"]["resource.kubernetes.io/pod-claim-name"], "gpu");
    assert_eq!(made["metadata"]["ownerReferences"][0]["uid"], recorded["metadata"]["uid"]);
    assert_eq!(
        (&made["metadata"]["labels"], &made["spec"]["devices"]["requests"][0]["name"]),
        (&json!({"a": "b"}), &json!("r"))
    );

    create(&env, CLASSES, json!({"metadata": {"name": "gpus"}, "spec": {}})).await;
    let text =
        "0/1 nodes are available: 1 cannot allocate all claims. still not schedulable, preemption: 0/1 nodes";
    unscheduled(&env, "p", text).await;
    allocate(&env, &name, "node-1").await;
    until(&env, &at("p"), is_running).await;
    let claim = get(&env, &format!("{CLAIMS}/{name}")).await;
    assert_eq!(
        claim["status"]["reservedFor"],
        json!([{"resource": "pods", "name": "p", "uid": recorded["metadata"]["uid"]}])
    );

    call(&env, Method::DELETE, &at("p"), Value::Null).await;
    quiet(&env).await;
    assert!(items(&env, CLAIMS).await.is_empty(), "the claim goes with its pod");
    env.stop().await;
}

#[tokio::test]
async fn claim_is_released_when_its_pods_are_done() {
    let env = env(true).await;
    create(&env, CLASSES, json!({"metadata": {"name": "gpus"}, "spec": {}})).await;
    create(&env, CLAIMS, json!({"metadata": {"name": "c"}, "spec": spec()})).await;
    let entry = json!({"name": "gpu", "resourceClaimName": "c"});
    allocate(&env, "c", "node-2").await;
    create(&env, PODS, pod("elsewhere", &entry, &json!({}))).await;
    unscheduled(&env, "elsewhere", "0/1 nodes are available: 1 resourceclaim not available on the node.")
        .await;
    call(&env, Method::DELETE, &at("elsewhere"), Value::Null).await;
    call(&env, Method::DELETE, &format!("{CLAIMS}/c"), Value::Null).await;
    quiet(&env).await;
    assert!(items(&env, CLAIMS).await.is_empty(), "a deleted claim loses its allocation and its finalizer");

    // The kubelet waits, too.
    create(&env, CLAIMS, json!({"metadata": {"name": "c"}, "spec": spec()})).await;
    create(&env, PODS, pod("p", &entry, &json!({"nodeName": "node-1"}))).await;
    let waits = until(&env, &at("p"), |pod| !pod["status"]["containerStatuses"].is_null()).await;
    assert_eq!(waits["status"]["phase"], "Pending");
    quiet(&env).await;
    let text = "Failed to prepare dynamic resources: prepare dynamic resources: pod p (";
    let is_told = |event: &Value| {
        event["reason"] == "FailedPrepareDynamicResources"
            && event["message"].as_str().unwrap().starts_with(text)
    };
    assert!(items(&env, EVENTS).await.iter().any(is_told));
    allocate(&env, "c", "node-1").await;
    until(&env, &at("p"), is_running).await;
    call(&env, Method::DELETE, &at("p"), Value::Null).await;
    let released = until(&env, &format!("{CLAIMS}/c"), |claim| claim["status"]["allocation"].is_null()).await;
    assert!(released["status"]["reservedFor"].is_null(), "{released}");
    env.stop().await;
}
