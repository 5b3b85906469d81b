//! Endpoints and EndpointSlices of services.

use http::Method;
use kubesmith_testenv::TestEnv;
use serde_json::{Value, json};

use super::{PODS, create, env, get, items, quiet, until};
use crate::support::{call, patch};

const SERVICES: &str = "/api/v1/namespaces/default/services";
const ENDPOINTS: &str = "/api/v1/namespaces/default/endpoints";
const SLICES: &str = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";

fn service(spec: Value) -> Value {
    let mut service = json!({"metadata": {"name": "web", "labels": {"team": "a"}}});
    service["spec"] = spec;
    service
}

fn pod(name: &str) -> Value {
    json!({"metadata": {"name": name, "labels": {"app": "web"}}, "spec": {"containers": [
        {"name": "c", "image": "i", "ports": [{"name": "http", "containerPort": 8080}]}]}})
}

async fn slices(env: &TestEnv) -> Vec<Value> {
    items(env, &format!("{SLICES}?labelSelector=kubernetes.io/service-name=web")).await
}

/// Puts a pod on a node that is not simulated, with an address, ready or not.
async fn run(env: &TestEnv, name: &str, address: &str, ready: bool) {
    let mut pod = pod(name);
    pod["spec"]["nodeName"] = "n".into();
    create(env, PODS, pod).await;
    let status = json!({"status": {"phase": "Running", "podIP": address, "podIPs": [{"ip": address}], "conditions": [
        {"type": "Ready", "status": if ready { "True" } else { "False" }}]}});
    let path = format!("{PODS}/{name}/status");
    assert_eq!(patch(env, &path, "merge-patch+json", status).await.0, 200);
}

async fn env_with_node() -> TestEnv {
    let env = env(false).await;
    let labels = json!({"topology.kubernetes.io/zone": "z"});
    create(&env, "/api/v1/nodes", json!({"metadata": {"name": "n", "labels": labels}})).await;
    env
}

#[tokio::test]
async fn service_has_the_addresses_of_its_ready_pods() {
    let env = env(true).await;
    let ports = json!([{"name": "http", "port": 80, "targetPort": "http"}, {"name": "dns", "port": 53, "targetPort": 5353, "protocol": "UDP"}]);
    let made = create(&env, SERVICES, service(json!({"selector": {"app": "web"}, "ports": ports}))).await;
    for name in ["a", "b"] {
        create(&env, PODS, pod(name)).await;
    }
    quiet(&env).await;
    let a = get(&env, &format!("{PODS}/a")).await;
    let slices = slices(&env).await;
    assert_eq!(slices.len(), 1);
    let slice = &slices[0];
    assert_eq!(
        slice["metadata"]["labels"],
        json!({"team": "a", "kubernetes.io/service-name": "web",
               "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io"})
    );
    assert_eq!(slice["metadata"]["ownerReferences"][0]["uid"], made["metadata"]["uid"]);
    assert!(slice["metadata"]["name"].as_str().unwrap().starts_with("web-"));
    assert_eq!(slice["addressType"], "IPv4");
    assert_eq!(
        slice["ports"],
        json!([{"name": "http", "port": 8080, "protocol": "TCP"}, {"name": "dns", "port": 5353, "protocol": "UDP"}])
    );
    let target = json!({"kind": "Pod", "name": "a", "namespace": "default", "uid": a["metadata"]["uid"]});
    assert_eq!(
        slice["endpoints"][0],
        json!({"addresses": [a["status"]["podIP"]], "nodeName": "node-1", "targetRef": target,
               "conditions": {"ready": true, "serving": true, "terminating": false}})
    );
    assert_eq!(slice["endpoints"].as_array().unwrap().len(), 2);
    let endpoints = get(&env, &format!("{ENDPOINTS}/web")).await;
    assert_eq!(
        endpoints["metadata"]["labels"],
        json!({"team": "a", "endpoints.kubernetes.io/managed-by": "endpoint-controller"})
    );
    let subsets = endpoints["subsets"].as_array().unwrap();
    assert_eq!((subsets.len(), subsets[0]["addresses"].as_array().unwrap().len()), (1, 2));
    assert_eq!(
        subsets[0]["addresses"][0],
        json!({"ip": a["status"]["podIP"], "nodeName": "node-1", "targetRef": target})
    );
    env.stop().await;
}

#[tokio::test]
async fn addresses_follow_readiness_and_deletion() {
    let env = env_with_node().await;
    let spec = json!({"selector": {"app": "web"}, "clusterIP": "None"});
    create(&env, SERVICES, service(spec)).await;
    quiet(&env).await;
    let empty = &slices(&env).await[0];
    assert!(empty["endpoints"].as_array().is_none_or(Vec::is_empty), "{empty}");
    assert_eq!(empty["metadata"]["labels"]["service.kubernetes.io/headless"], "");
    run(&env, "a", "10.0.0.1", false).await;
    quiet(&env).await;
    let conditions = |slices: &[Value]| slices[0]["endpoints"][0]["conditions"].clone();
    let shown = slices(&env).await;
    assert_eq!(shown[0]["metadata"]["name"], empty["metadata"]["name"], "the empty slice is filled");
    assert_eq!(conditions(&shown), json!({"ready": false, "serving": false, "terminating": false}));
    assert_eq!(shown[0]["endpoints"][0]["zone"], "z");
    let path = format!("{ENDPOINTS}/web");
    assert_eq!(get(&env, &path).await["subsets"][0]["notReadyAddresses"][0]["ip"], "10.0.0.1");
    let ready = json!({"status": {"conditions": [{"type": "Ready", "status": "True"}]}});
    patch(&env, &format!("{PODS}/a/status"), "merge-patch+json", ready).await;
    quiet(&env).await;
    assert_eq!(
        conditions(&slices(&env).await),
        json!({"ready": true, "serving": true, "terminating": false})
    );
    assert_eq!(get(&env, &path).await["subsets"][0]["addresses"][0]["ip"], "10.0.0.1");
    call(&env, Method::DELETE, &format!("{PODS}/a"), Value::Null).await;
    quiet(&env).await;
    assert_eq!(
        conditions(&slices(&env).await),
        json!({"ready": false, "serving": true, "terminating": true})
    );
    assert!(get(&env, &path).await.get("subsets").is_none());
    env.stop().await;
}

#[tokio::test]
async fn service_that_publishes_not_ready_addresses_shows_all_as_ready() {
    let env = env_with_node().await;
    let spec = json!({"selector": {"app": "web"}, "ports": [{"port": 80}], "publishNotReadyAddresses": true});
    create(&env, SERVICES, service(spec)).await;
    run(&env, "a", "10.0.0.1", false).await;
    call(&env, Method::DELETE, &format!("{PODS}/a"), Value::Null).await;
    quiet(&env).await;
    assert_eq!(
        slices(&env).await[0]["endpoints"][0]["conditions"],
        json!({"ready": true, "serving": false, "terminating": true})
    );
    assert_eq!(get(&env, &format!("{ENDPOINTS}/web")).await["subsets"][0]["addresses"][0]["ip"], "10.0.0.1");
    env.stop().await;
}

#[tokio::test]
async fn endpoints_are_deleted_with_their_service_unless_user_made() {
    let env = env(true).await;
    create(&env, ENDPOINTS, json!({"metadata": {"name": "own"}})).await;
    create(&env, SERVICES, service(json!({"ports": [{"port": 80}]}))).await;
    quiet(&env).await;
    assert!(slices(&env).await.is_empty(), "nothing is selected");
    let select = json!({"spec": {"selector": {"app": "web"}}});
    patch(&env, &format!("{SERVICES}/web"), "merge-patch+json", select).await;
    until(&env, &format!("{ENDPOINTS}/web"), |endpoints| endpoints["kind"] == "Endpoints").await;
    assert_eq!(slices(&env).await.len(), 1);
    call(&env, Method::DELETE, &format!("{ENDPOINTS}/web"), Value::Null).await;
    until(&env, &format!("{ENDPOINTS}/web"), |endpoints| endpoints["kind"] == "Endpoints").await;
    call(&env, Method::DELETE, &format!("{SERVICES}/web"), Value::Null).await;
    until(&env, &format!("{ENDPOINTS}/web"), |answer| answer["code"] == 404).await;
    assert!(slices(&env).await.is_empty());
    assert_eq!(get(&env, &format!("{ENDPOINTS}/own")).await["kind"], "Endpoints");
    // The controller's slices are deleted even if it missed the deletion of their service.
    let labels = json!({"endpoints.kubernetes.io/managed-by": "endpoint-controller"});
    create(&env, ENDPOINTS, json!({"metadata": {"name": "left", "labels": labels}})).await;
    until(&env, &format!("{ENDPOINTS}/left"), |answer| answer["code"] == 404).await;
    env.stop().await;
}
