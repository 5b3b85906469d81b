//! Scales of built-in kinds and of custom resources, and who owns their replicas.

use kubesmith_testenv::TestEnv;
use serde_json::{Value, json};

use crate::details::{send, send_json};

/// A manager that applies a scale owns the replicas, and another manager can only take them by force.
#[tokio::test]
async fn applied_scale_owns_replicas() {
    let env = TestEnv::builder().start().await.unwrap();
    let deployments = "/apis/apps/v1/namespaces/default/deployments";
    let template =
        json!({"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "a", "image": "a"}]}});
    let spec = json!({"replicas": 1, "selector": {"matchLabels": {"a": "b"}}, "template": template});
    let deployment =
        json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"}, "spec": spec});
    assert_eq!(send_json(&env, "POST", deployments, deployment).await.0, 201);
    let apply = async |query: &str, kind: &str, spec: Value| {
        let path = format!("{deployments}/d/scale?{query}");
        let scale = json!({"apiVersion": "autoscaling/v1", "kind": kind, "spec": spec});
        send(&env, "PATCH", &path, "application/apply-patch+yaml", scale.to_string()).await
    };
    let three = || json!({"replicas": 3});
    let (status, body) = apply("", "Scale", three()).await;
    assert_eq!((status, &body["details"]["causes"][0]["field"]), (422, &json!("fieldManager")));
    let (status, body) = apply("fieldManager=me", "Scales", three()).await;
    assert_eq!((status, &body["message"]), (400, &json!("invalid object type: autoscaling/v1, Kind=Scales")));
    let (status, body) = apply("fieldManager=me", "Scale", three()).await;
    assert_eq!((status, &body["reason"]), (409, &json!("Conflict")));
    let cause = &body["details"]["causes"][0];
    assert_eq!(cause["field"], ".spec.replicas");
    assert!(cause["message"].as_str().unwrap().ends_with("using autoscaling/v1"), "{cause}");
    let (status, body) = apply("fieldManager=me", "Scale", json!({"size": 3})).await;
    let text = "failed to create typed patch object (/; autoscaling/v1, Kind=Scale): .spec.size: field not declared in \
                schema";
    assert_eq!((status, &body["message"]), (500, &json!(text)));
    let (status, body) = apply("fieldManager=me&force=true", "Scale", three()).await;
    assert_eq!((status, &body["kind"], &body["spec"]["replicas"]), (200, &json!("Scale"), &json!(3)));
    let (status, body) = apply("fieldManager=me", "Scale", json!({"replicas": -1})).await;
    let text = "Scale.autoscaling \"d\" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0";
    assert_eq!((status, &body["message"]), (422, &json!(text)));
    let owned = async || {
        let (_, deployment) = send_json(&env, "GET", &format!("{deployments}/d"), Value::Null).await;
        let entries = deployment["metadata"]["managedFields"].as_array().unwrap().clone();
        let mine =
            entries.into_iter().find(|entry| entry["manager"] == "me" && entry["subresource"] == "scale");
        mine.map(|entry| entry["fieldsV1"].clone())
    };
    assert_eq!(owned().await, Some(json!({"f:spec": {"f:replicas": {}}})));
    let (status, body) = apply("fieldManager=me", "Scale", json!({})).await;
    assert_eq!(status, 200, "{body}");
    assert_eq!(owned().await, None);
    env.stop().await;
}

/// A custom resource with its replicas in another field: its scale has no number until the object has one.
#[tokio::test]
async fn scale_without_replicas_is_an_error() {
    let env = TestEnv::builder().start().await.unwrap();
    let scale = json!({"specReplicasPath": ".spec.size", "statusReplicasPath": ".status.size"});
    let schema = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let crd = json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "fleets.b.example"}, "spec": {"group": "b.example", "scope": "Namespaced",
            "names": {"plural": "fleets", "kind": "Fleet"}, "versions": [{"name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": schema}, "subresources": {"scale": scale}}]}});
    env.install_crds(vec![serde_json::from_value(crd).unwrap()]).await.unwrap();
    let fleets = "/apis/b.example/v1/namespaces/default/fleets";
    let fleet = json!({"apiVersion": "b.example/v1", "kind": "Fleet", "metadata": {"name": "f"}});
    assert_eq!(send_json(&env, "POST", fleets, fleet).await.0, 201);
    let path = format!("{fleets}/f/scale");
    let (status, body) = send_json(&env, "GET", &path, Value::Null).await;
    let text = "Internal error occurred: the spec replicas field \".spec.size\" does not exist";
    assert_eq!((status, &body["message"]), (500, &json!(text)));
    let patch = async |patch: Value| {
        send(&env, "PATCH", &path, "application/merge-patch+json", patch.to_string()).await
    };
    let (status, body) = patch(json!({"metadata": {"labels": {}}})).await;
    let text = "the spec replicas field \".spec.size\" cannot be empty";
    assert_eq!((status, &body["message"]), (400, &json!(text)));
    let (status, body) = patch(json!({"spec": {"replicas": 2}})).await;
    assert_eq!((status, &body["spec"]["replicas"]), (200, &json!(2)));
    let apply = json!({"apiVersion": "autoscaling/v1", "kind": "Scale", "spec": {"replicas": 3}}).to_string();
    // kube-apiserver cannot convert the object that a new manager would apply to.
    let applied = format!("{path}?fieldManager=me&force=true");
    let (status, body) = send(&env, "PATCH", &applied, "application/apply-patch+yaml", apply).await;
    let text = "failed to create manager for existing fields: failed to convert live object (/; autoscaling/v1, Kind=Scale) \
                to proper version: request to convert CR to an invalid group/version: autoscaling/v1";
    assert_eq!((status, body["message"].as_str()), (500, Some(text)));
    let (_, body) = patch(json!({"spec": {"replicas": "x"}})).await;
    let cause = body["details"]["causes"][0]["message"].as_str().unwrap();
    let fault = "json: cannot unmarshal string into Go struct field ScaleSpec.spec.replicas of type int32";
    assert!(cause.starts_with("Invalid value: \"{\\\"apiVersion") && cause.ends_with(fault), "{cause}");
    assert_eq!(patch(json!({"spec": {"replicas": 0}})).await.1["spec"], json!({}), "Go leaves out a zero");
    env.stop().await;
}

/// Creates a custom resource with a scale; returns its path.
pub(crate) async fn with_fleet(env: &TestEnv) -> String {
    let scale = json!({"specReplicasPath": ".spec.size", "statusReplicasPath": ".status.size"});
    let schema = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let crd = json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "fleets.b.example"}, "spec": {"group": "b.example", "scope": "Namespaced",
            "names": {"plural": "fleets", "kind": "Fleet"}, "versions": [{"name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": schema}, "subresources": {"scale": scale}}]}});
    env.install_crds(vec![serde_json::from_value(crd).unwrap()]).await.unwrap();
    let fleets = "/apis/b.example/v1/namespaces/default/fleets";
    let fleet = json!({"apiVersion": "b.example/v1", "kind": "Fleet", "metadata": {"name": "f"}, "spec": {"size": 1}});
    assert_eq!(send_json(env, "POST", fleets, fleet).await.0, 201);
    format!("{fleets}/f")
}

#[tokio::test]
async fn scale_of_a_custom_resource_is_decoded_as_any_other() {
    let env = TestEnv::builder().start().await.unwrap();
    let path = format!("{}/scale", with_fleet(&env).await);
    let scale = |metadata: Value| json!({"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": metadata, "spec": {"replicas": 2, "x": 1}});
    let strict = format!("{path}?fieldValidation=Strict");
    let (status, body) = send_json(&env, "PUT", &strict, scale(json!({"name": "f"}))).await;
    let text = "no kind is registered for the type v1.Scale in scheme \
                \"k8s.io/apiextensions-apiserver/pkg/apiserver/customresource_handler.go:781\"";
    assert_eq!((status, &body["message"]), (400, &json!(text)));
    assert_eq!(send_json(&env, "PUT", &path, scale(json!({"name": "f"}))).await.0, 200);
    let merge = "application/merge-patch+json";
    let other = json!({"metadata": {"uid": "other"}, "spec": {"replicas": 3}}).to_string();
    assert_eq!(send(&env, "PATCH", &path, merge, other).await.0, 200, "the UID of a patch is ignored");
    env.stop().await;
}

#[tokio::test]
async fn scale_of_a_custom_resource_needs_no_version_and_kind() {
    let env = TestEnv::builder().start().await.unwrap();
    let path = format!("{}/scale", with_fleet(&env).await);
    for type_ in [json!({}), json!({"kind": "Scale"}), json!({"apiVersion": "autoscaling/v1", "kind": ""})] {
        let mut scale = json!({"metadata": {"name": "f"}, "spec": {"replicas": 4}});
        scale.as_object_mut().unwrap().extend(type_.as_object().unwrap().clone());
        let (status, body) = send_json(&env, "PUT", &path, scale).await;
        assert_eq!((status, &body["spec"]["replicas"]), (200, &json!(4)));
    }
    let text = "no kind is registered for the type v1.Scale in scheme \
                \"k8s.io/apiextensions-apiserver/pkg/apiserver/customresource_handler.go:781\"";
    for body in [json!({"kind": "Foo", "metadata": {"name": "f"}}), json!([])] {
        let (status, body) = send_json(&env, "PUT", &path, body).await;
        assert_eq!((status, &body["message"]), (400, &json!(text)));
    }
    env.stop().await;
}

#[tokio::test]
async fn patched_object_without_a_version_has_no_name() {
    let env = with_controller().await;
    let text = "the name of the object (c based on URL) was undeterminable: name must be provided";
    let (merge, strategic) = ("application/merge-patch+json", "application/strategic-merge-patch+json");
    let (version, kind) = (json!({"apiVersion": null}).to_string(), json!({"kind": null}).to_string());
    for path in [format!("{CONTROLLERS}/c"), format!("{CONTROLLERS}/c/scale")] {
        let (status, body) = send(&env, "PATCH", &path, merge, version.clone()).await;
        assert_eq!((status, &body["message"]), (400, &json!(text)));
        assert_eq!(send(&env, "PATCH", &path, merge, kind.clone()).await.0, 200);
        assert_eq!(send(&env, "PATCH", &path, strategic, version.clone()).await.0, 200);
    }
    env.stop().await;
}

const CONTROLLERS: &str = "/api/v1/namespaces/default/replicationcontrollers";

/// A server with a controller that is called `c`.
async fn with_controller() -> TestEnv {
    let env = TestEnv::builder().start().await.unwrap();
    let template =
        json!({"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "a", "image": "a"}]}});
    let controller = json!({"metadata": {"name": "c"}, "spec": {"replicas": 0, "template": template}});
    assert_eq!(send_json(&env, "POST", CONTROLLERS, controller).await.0, 201);
    env
}

#[tokio::test]
async fn scale_of_another_name_or_version_is_refused() {
    let env = with_controller().await;
    let scale = |version: &str, name: &str| json!({"apiVersion": version, "kind": "Scale", "metadata": {"name": name}, "spec": {"replicas": 2}});
    let other = "the name of the object (d) does not match the name on the URL (c)";
    let apply = "application/apply-patch+yaml";
    let path = format!("{CONTROLLERS}/c/scale?fieldManager=f&force=true");
    let (status, body) = send(&env, "PATCH", &path, apply, scale("autoscaling/v1", "d").to_string()).await;
    assert_eq!((status, &body["message"]), (400, &json!(other)));
    let missing = format!("{CONTROLLERS}/missing/scale");
    let (status, body) = send_json(&env, "PUT", &missing, scale("autoscaling/v1", "d")).await;
    let text = "the name of the object (d) does not match the name on the URL (missing)";
    assert_eq!((status, &body["message"]), (400, &json!(text)));
    let (status, body) = send_json(&env, "PUT", &path, scale("extensions/v1beta1", "c")).await;
    let text = "the API version in the data (extensions/v1beta1) does not match the expected API version (autoscaling/v1)";
    assert_eq!((status, &body["message"]), (400, &json!(text)));
    env.stop().await;
}

#[tokio::test]
async fn scale_of_another_object_is_a_conflict() {
    let env = with_controller().await;
    let scale = json!({"metadata": {"name": "c", "uid": "other"}, "spec": {"replicas": 2}});
    let path = format!("{CONTROLLERS}/c/scale");
    let (status, body) = send_json(&env, "PUT", &path, scale.clone()).await;
    assert_eq!((status, &body["reason"]), (409, &json!("Conflict")), "{body}");
    let merge = "application/merge-patch+json";
    let (status, body) = send(&env, "PATCH", &path, merge, scale.to_string()).await;
    assert_eq!((status, &body["reason"]), (409, &json!("Conflict")), "{body}");
    // Zero replicas are absent, as in Go.
    let remove = json!([{"op": "remove", "path": "/spec/replicas"}]).to_string();
    assert_eq!(send(&env, "PATCH", &path, "application/json-patch+json", remove).await.0, 422);
    let (_, stored) = send_json(&env, "GET", &format!("{CONTROLLERS}/c"), Value::Null).await;
    assert_eq!(stored["spec"]["replicas"], 0);
}

#[tokio::test]
async fn default_replicas_of_an_old_autoscaler_have_an_owner() {
    let env = TestEnv::builder().start().await.unwrap();
    let target = json!({"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"});
    let autoscaler = json!({"metadata": {"name": "a"}, "spec": {"scaleTargetRef": target, "maxReplicas": 3}});
    let path = "/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers";
    let (status, body) = send_json(&env, "POST", path, autoscaler).await;
    assert_eq!((status, &body["spec"]["minReplicas"]), (201, &json!(1)));
    assert_eq!(body["metadata"]["managedFields"][0]["fieldsV1"]["f:spec"]["f:minReplicas"], json!({}));
}
