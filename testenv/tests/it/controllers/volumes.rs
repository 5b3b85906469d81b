//! Claims and volumes are bound as in a cluster.

use http::Method;
use serde_json::{Value, json};

use super::{PODS, create, env, until};
use crate::support::call;

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
