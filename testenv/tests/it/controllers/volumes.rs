//! Claims and volumes are bound as in a cluster.

use http::Method;
use kubesmith_testenv::TestEnv;
use serde_json::{Value, json};

use super::{PODS, condition, create, env, until};
use crate::support::{call, patch};

const CLAIMS: &str = "/api/v1/namespaces/default/persistentvolumeclaims";
const VOLUMES: &str = "/api/v1/persistentvolumes";

fn claim(name: &str, class: Value, size: &str) -> Value {
    let mut claim = json!({"metadata": {"name": name}, "spec": {
        "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}}});
    if !class.is_null() {
        claim["spec"]["storageClassName"] = class;
    }
    claim
}

fn phase(wanted: &'static str) -> impl Fn(&Value) -> bool {
    move |object| object["status"]["phase"] == wanted
}

#[tokio::test]
async fn claim_of_the_node_s_class_is_provisioned_when_a_pod_uses_it() {
    let env = env(true).await;
    until(&env, "/api/v1/nodes/node-1", |node| node["metadata"]["name"] == "node-1").await;
    let made = create(&env, CLAIMS, claim("data", Value::Null, "1Gi")).await;
    assert_eq!(
        (&made["spec"]["storageClassName"], &made["status"]["phase"]),
        (&json!("standard"), &json!("Pending"))
    );
    super::quiet(&env).await;
    let path = format!("{CLAIMS}/data");
    assert_eq!(super::get(&env, &path).await["status"]["phase"], "Pending");
    let volumes = json!([{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]);
    let pod = json!({"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}], "volumes": volumes}});
    create(&env, PODS, pod).await;
    let bound = until(&env, &path, phase("Bound")).await;
    assert_eq!(bound["status"]["capacity"], json!({"storage": "1Gi"}));
    let volume = format!("{VOLUMES}/{}", bound["spec"]["volumeName"].as_str().unwrap());
    assert_eq!(until(&env, &volume, phase("Bound")).await["spec"]["claimRef"]["name"], "data");
    // The claim is protected until the pod is gone, and the volume goes with it.
    call(&env, Method::DELETE, &path, Value::Null).await;
    call(&env, Method::DELETE, &format!("{PODS}/p"), Value::Null).await;
    until(&env, &path, |value| value["code"] == 404).await;
    until(&env, &volume, |value| value["code"] == 404).await;
    env.stop().await;
}

#[tokio::test]
async fn claim_gets_the_smallest_volume_that_fits_and_releases_it() {
    let env = env(false).await;
    for (name, class, size) in [("big", "local", "4Gi"), ("fit", "local", "2Gi"), ("other", "fast", "1Gi")] {
        let volume = json!({"metadata": {"name": name}, "spec": {
            "accessModes": ["ReadWriteOnce"], "capacity": {"storage": size}, "hostPath": {"path": "/x"},
            "storageClassName": class}});
        create(&env, VOLUMES, volume).await;
        until(&env, &format!("{VOLUMES}/{name}"), phase("Available")).await;
    }
    create(&env, CLAIMS, claim("data", json!("local"), "1Gi")).await;
    let path = format!("{CLAIMS}/data");
    let bound = until(&env, &path, phase("Bound")).await;
    assert_eq!(
        (&bound["spec"]["volumeName"], &bound["status"]["capacity"]["storage"]),
        (&json!("fit"), &json!("2Gi"))
    );
    until(&env, &format!("{VOLUMES}/fit"), phase("Bound")).await;
    call(&env, Method::DELETE, &path, Value::Null).await;
    until(&env, &format!("{VOLUMES}/fit"), phase("Released")).await;
    create(&env, CLAIMS, claim("huge", json!("local"), "8Gi")).await;
    super::quiet(&env).await;
    assert_eq!(super::get(&env, &format!("{CLAIMS}/huge")).await["status"]["phase"], "Pending");
    env.stop().await;
}

#[tokio::test]
async fn attributes_class_stays_while_a_claim_names_it() {
    let env = env(false).await;
    let classes = "/apis/storage.k8s.io/v1/volumeattributesclasses";
    create(
        &env,
        classes,
        json!({"metadata": {"name": "fast"}, "driverName": "a.b", "parameters": {"a": "b"}}),
    )
    .await;
    let mut claim = claim("data", json!("local"), "1Gi");
    claim["spec"]["volumeAttributesClassName"] = "fast".into();
    create(&env, CLAIMS, claim).await;
    let path = format!("{classes}/fast");
    call(&env, Method::DELETE, &path, Value::Null).await;
    super::quiet(&env).await;
    assert_eq!(
        super::get(&env, &path).await["metadata"]["finalizers"],
        json!(["kubernetes.io/vac-protection"])
    );
    call(&env, Method::DELETE, &format!("{CLAIMS}/data"), Value::Null).await;
    until(&env, &path, |answer| answer["reason"] == "NotFound").await;
    env.stop().await;
}

/// Creates a volume of a driver with a claim that is bound to it, and returns a pod that uses the claim.
async fn user_of_volume(env: &TestEnv, name: &str, zone: &str) -> Value {
    let volume = json!({"metadata": {"name": name, "labels": {"topology.kubernetes.io/zone": zone}}, "spec": {
        "accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"}, "storageClassName": "static",
        "csi": {"driver": "disk.example.com", "volumeHandle": name}}});
    create(env, VOLUMES, volume).await;
    let mut claim = claim(name, json!("static"), "1Gi");
    claim["spec"]["volumeName"] = json!(name);
    create(env, CLAIMS, claim).await;
    until(env, &format!("{CLAIMS}/{name}"), phase("Bound")).await;
    let volumes = json!([{"name": "data", "persistentVolumeClaim": {"claimName": name}}]);
    json!({"metadata": {"name": name}, "spec": {"containers": [{"name": "c", "image": "i"}], "volumes": volumes}})
}

/// Waits for the scheduler's reason against a pod.
async fn refused(env: &TestEnv, name: &str, reason: &str) {
    let wanted = format!("0/1 nodes are available: 1 {reason}. ");
    let message =
        |pod: &Value| condition(pod, "PodScheduled")["message"].as_str().unwrap_or_default().to_owned();
    until(env, &format!("{PODS}/{name}"), |pod| message(pod).starts_with(&wanted)).await;
}

#[tokio::test]
async fn node_takes_no_more_volumes_than_its_driver_allows() {
    let env = env(true).await;
    let drivers = json!([{"name": "disk.example.com", "nodeID": "n", "allocatable": {"count": 1}}]);
    let node = json!({"metadata": {"name": "node-1"}, "spec": {"drivers": drivers}});
    create(&env, "/apis/storage.k8s.io/v1/csinodes", node).await;
    let (first, second) = (user_of_volume(&env, "a", "z").await, user_of_volume(&env, "b", "z").await);
    create(&env, PODS, first).await;
    until(&env, &format!("{PODS}/a"), phase("Running")).await;
    create(&env, PODS, second).await;
    refused(&env, "b", "node(s) exceed max volume count").await;
    call(&env, Method::DELETE, &format!("{PODS}/a"), Value::Null).await;
    until(&env, &format!("{PODS}/b"), phase("Running")).await;
    env.stop().await;
}

#[tokio::test]
async fn pod_waits_for_the_zone_of_its_volume() {
    let env = env(true).await;
    const NODE: &str = "/api/v1/nodes/node-1";
    until(&env, NODE, |node| condition(node, "Ready")["status"] == "True").await;
    let zone = |zone: &str| json!({"metadata": {"labels": {"topology.kubernetes.io/zone": zone}}});
    assert_eq!(patch(&env, NODE, "merge-patch+json", zone("east")).await.0, 200);
    let user = user_of_volume(&env, "a", "west__north").await;
    create(&env, PODS, user).await;
    refused(&env, "a", "node(s) had no available volume zone").await;
    assert_eq!(patch(&env, NODE, "merge-patch+json", zone("north")).await.0, 200);
    until(&env, &format!("{PODS}/a"), phase("Running")).await;
    env.stop().await;
}
