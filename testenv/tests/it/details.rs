//! Behaviour that the recorded conversations do not show.

use http::Request;
use http_body_util::BodyExt;
use kube::api::PostParams;
use kube::client::Body;
use kubesmith_testenv::TestEnv;
use serde_json::{Value, json};

use crate::support::{widget, widget_crd, widgets};

/// Sends a request; answers the status code and the body.
async fn send(env: &TestEnv, method: &str, path: &str, kind: &str, body: impl Into<Vec<u8>>) -> (u16, Value) {
    let request = Request::builder().method(method).uri(path).header("content-type", kind);
    let request = request.body(Body::from(body.into())).unwrap();
    let response = env.client().send(request).await.unwrap();
    let status = response.status().as_u16();
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    (status, serde_json::from_slice(&bytes).unwrap_or_default())
}

async fn send_json(env: &TestEnv, method: &str, path: &str, body: Value) -> (u16, Value) {
    let body = if body.is_null() { String::new() } else { body.to_string() };
    send(env, method, path, "application/json", body).await
}

#[tokio::test]
async fn pod_is_deleted_gracefully_when_bound_to_a_node() {
    let env = TestEnv::builder().start().await.unwrap();
    let pods = "/api/v1/namespaces/default/pods";
    for (name, node) in [("free", ""), ("bound", "node-1")] {
        let spec = json!({"nodeName": node, "containers": [{"name": "c", "image": "i"}]});
        let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec});
        assert_eq!(send_json(&env, "POST", pods, pod).await.0, 201);
    }
    let (_, free) = send_json(&env, "DELETE", &format!("{pods}/free"), Value::Null).await;
    assert_eq!(free["kind"], "Pod");
    assert_eq!(send_json(&env, "GET", &format!("{pods}/free"), Value::Null).await.0, 404);
    let (_, bound) = send_json(&env, "DELETE", &format!("{pods}/bound"), Value::Null).await;
    assert_eq!(bound["metadata"]["deletionGracePeriodSeconds"], 30);
    // What its kubelet writes meanwhile does not end it.
    let (code, mut pod) = send_json(&env, "GET", &format!("{pods}/bound"), Value::Null).await;
    pod["status"]["phase"] = "Failed".into();
    let (updated, _) = send_json(&env, "PUT", &format!("{pods}/bound/status"), pod).await;
    assert_eq!((code, updated), (200, 200));
    assert_eq!(send_json(&env, "GET", &format!("{pods}/bound"), Value::Null).await.0, 200);
    send_json(&env, "DELETE", &format!("{pods}/bound"), json!({"gracePeriodSeconds": 0})).await;
    assert_eq!(send_json(&env, "GET", &format!("{pods}/bound"), Value::Null).await.0, 404);
}

#[tokio::test]
async fn list_at_a_future_version_times_out() {
    let env = TestEnv::builder().start().await.unwrap();
    let path = "/api/v1/configmaps?resourceVersion=999999&resourceVersionMatch=NotOlderThan";
    let (status, body) = send_json(&env, "GET", path, Value::Null).await;
    assert_eq!((status, &body["reason"]), (504, &json!("Timeout")));
    assert_eq!(body["details"]["causes"][0]["reason"], "ResourceVersionTooLarge");
}

#[tokio::test]
async fn pages_show_one_state_despite_writes_between_them() {
    let env = TestEnv::builder().start().await.unwrap();
    let maps = "/api/v1/namespaces/default/configmaps";
    let map = |name: &str| json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}});
    for name in ["a", "b", "c"] {
        send_json(&env, "POST", maps, map(name)).await;
    }
    let (_, first) = send_json(&env, "GET", &format!("{maps}?limit=1"), Value::Null).await;
    send_json(&env, "DELETE", &format!("{maps}/b"), Value::Null).await;
    send_json(&env, "POST", maps, map("bb")).await;
    let token = first["metadata"]["continue"].as_str().unwrap();
    let (_, rest) = send_json(&env, "GET", &format!("{maps}?limit=9&continue={token}"), Value::Null).await;
    let names: Vec<&Value> =
        rest["items"].as_array().unwrap().iter().map(|i| &i["metadata"]["name"]).collect();
    assert_eq!(names, ["b", "c"]);
    assert_eq!(rest["metadata"]["resourceVersion"], first["metadata"]["resourceVersion"]);
    env.compact().unwrap();
    send_json(&env, "POST", maps, map("d")).await;
    let (status, gone) = send_json(&env, "GET", &format!("{maps}?continue={token}"), Value::Null).await;
    assert_eq!((status, &gone["reason"]), (410, &json!("Expired")));
}

#[tokio::test]
async fn access_review_allows_everything_without_rbac() {
    let env = TestEnv::builder().start().await.unwrap();
    let path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
    let review = json!({"spec": {"resourceAttributes": {"verb": "get", "resource": "pods"}}});
    let (status, body) = send_json(&env, "POST", path, review).await;
    assert_eq!((status, &body["status"]["allowed"]), (201, &json!(true)));
    let kind = "application/vnd.kubernetes.protobuf";
    let encoded = b"k8s\0\x0a\x32\x0a\x17authorization.k8s.io/v1\x12\x17SelfSubjectAccessReview\
                    \x12\x09\x12\x07\x0a\x05\x12\x03get";
    let (status, body) = send(&env, "POST", path, kind, &encoded[..]).await;
    assert_eq!((status, &body["status"]["allowed"]), (201, &json!(true)));
    let (_, service) =
        send_json(&env, "GET", "/api/v1/namespaces/default/services/kubernetes", Value::Null).await;
    assert_eq!(service["spec"]["clusterIP"], "10.0.0.1");
}

#[tokio::test]
async fn protobuf_body_is_accepted_for_built_in_kinds() {
    let env = TestEnv::builder().start().await.unwrap();
    let kind = "application/vnd.kubernetes.protobuf";
    let body = b"k8s\0\x0a\x0f\x0a\x02v1\x12\x09Namespace\x12\x07\x0a\x05\x0a\x03new";
    let (status, namespace) = send(&env, "POST", "/api/v1/namespaces", kind, &body[..]).await;
    assert_eq!((status, &namespace["metadata"]["name"]), (201, &json!("new")));
    widgets(&env).await;
    let path = "/apis/a.example/v1/namespaces/default/widgets";
    assert_eq!(send(&env, "POST", path, kind, &body[..]).await.0, 415);
}

#[tokio::test]
async fn unsupported_scopes_subresources_and_verbs_are_refused() {
    let env = TestEnv::builder().start().await.unwrap();
    widgets(&env).await;
    let (status, body) = send_json(&env, "GET", "/apis/a.example/v1/widgets/w", Value::Null).await;
    assert_eq!((status, &body["message"]), (400, &json!("Namespace parameter required.")));
    let path = "/apis/a.example/v1/namespaces/default/widgets/w/scale";
    assert_eq!(send_json(&env, "GET", path, Value::Null).await.0, 404);
    assert_eq!(send_json(&env, "PUT", "/api/v1/namespaces", json!({})).await.0, 405);
}

#[tokio::test]
async fn foreground_deletion_waits_for_a_garbage_collector() {
    let env = TestEnv::builder().start().await.unwrap();
    let maps = "/api/v1/namespaces/default/configmaps";
    let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m"}});
    send_json(&env, "POST", maps, map).await;
    let path = format!("{maps}/m?propagationPolicy=Foreground");
    let (_, held) = send_json(&env, "DELETE", &path, Value::Null).await;
    assert_eq!(held["metadata"]["finalizers"], json!(["foregroundDeletion"]));
    assert_eq!(send_json(&env, "GET", &format!("{maps}/m"), Value::Null).await.0, 200);
    let (status, body) =
        send_json(&env, "DELETE", &format!("{maps}/m?propagationPolicy=Maybe"), Value::Null).await;
    assert_eq!((status, &body["details"]["kind"]), (422, &json!("DeleteOptions")));
}

#[tokio::test]
async fn configuration_may_omit_the_name_when_the_object_exists() {
    let env = TestEnv::builder().start().await.unwrap();
    widgets(&env).await;
    let path = "/apis/a.example/v1/namespaces/default/widgets";
    let widget =
        |metadata: Value| json!({"apiVersion": "a.example/v1", "kind": "Widget", "metadata": metadata});
    let applied = format!("{path}/a?fieldManager=me");
    let apply = |body: Value| send(&env, "PATCH", &applied, "application/apply-patch+yaml", body.to_string());
    let (status, body) = apply(widget(json!({"labels": {"a": "b"}}))).await;
    let nameless = "the name of the object (a based on URL) was undeterminable: name must be provided";
    assert_eq!((status, &body["message"]), (400, &json!(nameless)));
    let (status, body) = apply(widget(json!({"uid": "u"}))).await;
    assert!(body["message"].as_str().unwrap().contains("uid mismatch"), "{status}: {body}");
    assert_eq!(apply(widget(json!({"name": "a"}))).await.0, 201);
    let (status, body) = apply(widget(json!({"labels": {"a": "b"}}))).await;
    assert_eq!((status, &body["metadata"]["labels"]["a"]), (200, &json!("b")));
    assert_eq!(apply(widget(json!({"name": "b"}))).await.0, 400);
}

/// Who applies a scale owns the replicas, and nobody who does not force takes them away.
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

const POD: &str = "/api/v1/namespaces/default/pods/p";

/// Starts a server with a pod.
async fn with_pod() -> TestEnv {
    let env = TestEnv::builder().start().await.unwrap();
    let pod = json!({"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}});
    assert_eq!(send_json(&env, "POST", "/api/v1/namespaces/default/pods", pod).await.0, 201);
    env
}

#[tokio::test]
async fn binding_is_checked_before_its_pod() {
    let env = with_pod().await;
    let path = format!("{POD}/binding");
    for (binding, code, message) in [
        (
            json!({"metadata": {"name": "q"}, "target": {"name": "n"}}),
            400,
            "name in URL does not match name in Binding object",
        ),
        (json!({"metadata": {"name": "p"}, "target": {}}), 500, "target.name: Required value"),
        (
            json!({"metadata": {"name": "p"}, "target": {"kind": "Pod", "name": "n"}}),
            500,
            "target.kind: Unsupported value: \"Pod\": supported values: \"Node\", \"<empty>\"",
        ),
        (
            json!({"kind": "Pod", "metadata": {"name": "p"}, "target": {"name": "n"}}),
            400,
            "Pod in version \"v1\" cannot be handled as a Binding: converting (v1.Pod) to (core.Binding): unknown conversion",
        ),
    ] {
        let (status, body) = send_json(&env, "POST", &path, binding).await;
        assert_eq!((status, body["message"].as_str()), (code, Some(message)));
    }
    let (status, body) = send_json(
        &env,
        "POST",
        &path,
        json!({"metadata": {"name": "p", "uid": "x"}, "target": {"name": "n"}}),
    )
    .await;
    assert_eq!(status, 409);
    assert!(
        body["message"].as_str().unwrap().contains("Precondition failed: UID in precondition: x"),
        "{body}"
    );
    let bound = json!({"metadata": {"name": "p", "annotations": {"a": "b"}}, "target": {"name": "n"}});
    assert_eq!(send_json(&env, "POST", &path, bound).await.0, 201);
    let (_, pod) = send_json(&env, "GET", POD, Value::Null).await;
    assert_eq!((&pod["spec"]["nodeName"], &pod["metadata"]["annotations"]["a"]), (&json!("n"), &json!("b")));
    env.stop().await;
}

#[tokio::test]
async fn actions_are_decoded_as_their_kind() {
    let env = with_pod().await;
    let evict = |eviction: Value| {
        send_json(&env, "POST", "/api/v1/namespaces/default/pods/p/eviction?fieldValidation=Strict", eviction)
    };
    let (status, body) =
        evict(json!({"apiVersion": "v1", "kind": "Eviction", "metadata": {"name": "p"}})).await;
    let text = "Eviction in version \"v1\" cannot be handled as a Eviction: no kind \"Eviction\" is registered for version \
                \"v1\" in scheme \"pkg/api/legacyscheme/scheme.go:30\"";
    assert_eq!((status, body["message"].as_str()), (400, Some(text)));
    let (status, body) = evict(json!({"metadata": {"name": "p"}, "x": 1})).await;
    let text = "Eviction in version \"v1\" cannot be handled as a Eviction: strict decoding error: unknown field \"x\"";
    assert_eq!((status, body["message"].as_str()), (400, Some(text)));
    assert_eq!(evict(json!({"apiVersion": "policy/v1beta1", "metadata": {"name": "p"}})).await.0, 201);
    let accounts = "/api/v1/namespaces/default/serviceaccounts";
    assert_eq!(send_json(&env, "POST", accounts, json!({"metadata": {"name": "a"}})).await.0, 201);
    let token = "/api/v1/namespaces/default/serviceaccounts/a/token";
    let (status, body) = send_json(&env, "POST", token, json!({"metadata": {"uid": "x"}, "spec": {}})).await;
    assert_eq!((status, &body["reason"]), (409, &json!("Conflict")), "{body}");
    env.stop().await;
}

#[tokio::test]
async fn address_of_pod_is_the_first_of_its_addresses() {
    let env = with_pod().await;
    let patch = async |status: Value| {
        let kind = "application/merge-patch+json";
        let (_, pod) =
            send(&env, "PATCH", &format!("{POD}/status"), kind, json!({"status": status}).to_string()).await;
        (pod["status"]["podIP"].clone(), pod["status"]["podIPs"].clone())
    };
    let (one, two) = (json!("10.1.1.1"), json!("10.1.1.2"));
    assert_eq!(patch(json!({"podIPs": [{"ip": one}]})).await, (one.clone(), json!([{"ip": one}])));
    assert_eq!(patch(json!({"podIP": two})).await, (two.clone(), json!([{"ip": two}])));
    env.stop().await;
}

#[tokio::test]
async fn patch_of_missing_object_is_not_decoded() {
    let env = with_pod().await;
    let kind = "application/json-patch+json";
    let missing =
        ["/api/v1/namespaces/default/pods/q", "/apis/apps/v1/namespaces/default/deployments/q/scale"];
    for path in missing {
        assert_eq!(send(&env, "PATCH", path, kind, "{}").await.0, 404, "{path}");
    }
    assert_eq!(send(&env, "PATCH", POD, kind, "{}").await.0, 400);
    env.stop().await;
}

#[tokio::test]
async fn continue_token_has_no_namespace() {
    let env = TestEnv::builder().start().await.unwrap();
    let maps = "/api/v1/namespaces/default/configmaps";
    for name in ["a", "b"] {
        send_json(&env, "POST", maps, json!({"metadata": {"name": name}})).await;
    }
    let (_, page) = send_json(&env, "GET", &format!("{maps}?limit=1"), Value::Null).await;
    let token = page["metadata"]["continue"].as_str().unwrap();
    // {"v":"meta.k8s.io/v1","rv":-1,"start":"a\u0000"}
    let own = "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6LTEsInN0YXJ0IjoiYVx1MDAwMCJ9";
    for token in [token, own] {
        let (_, rest) = send_json(&env, "GET", &format!("{maps}?continue={token}"), Value::Null).await;
        assert_eq!(rest["items"][0]["metadata"]["name"], "b", "{rest}");
    }
    env.stop().await;
}

/// A custom resource that counts elsewhere: its scale has no number until the object has one.
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
    // kube-apiserver cannot convert what a new manager would apply to.
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

#[tokio::test]
async fn later_defaults_are_read_from_old_objects() {
    let env = TestEnv::builder().start().await.unwrap();
    let api = widgets(&env).await;
    api.create(&PostParams::default(), &widget("w", json!({"spec": {"size": 1}}))).await.unwrap();
    assert_eq!(api.get("w").await.unwrap().data["spec"], json!({"size": 1}));
    for colour in ["red", "blue"] {
        let schema = json!({"type": "object", "properties": {
            "colour": {"type": "string", "default": colour}, "size": {"type": "integer", "default": 9},
        }});
        let place = "/spec/versions/0/schema/openAPIV3Schema/properties/spec";
        let patch = json!([{"op": "replace", "path": place, "value": schema}]).to_string();
        let crd = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.a.example";
        let (status, _) = send(&env, "PATCH", crd, "application/json-patch+json", patch).await;
        assert_eq!(status, 200);
        for _ in 0..2 {
            assert_eq!(api.get("w").await.unwrap().data["spec"], json!({"colour": colour, "size": 1}));
        }
        let complete = widget(colour, json!({"spec": {"colour": "green", "size": 2}}));
        api.create(&PostParams::default(), &complete).await.unwrap();
    }
    // Complete, and found so twice, also under the rules of another day.
    for _ in 0..2 {
        assert_eq!(api.get("red").await.unwrap().data["spec"], json!({"colour": "green", "size": 2}));
    }
}

#[tokio::test]
async fn patch_cannot_change_the_uid() {
    let env = TestEnv::builder().start().await.unwrap();
    let maps = "/api/v1/namespaces/default/configmaps";
    let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}});
    send_json(&env, "POST", maps, map).await;
    let patch = json!({"metadata": {"uid": "1"}}).to_string();
    let (status, body) =
        send(&env, "PATCH", &format!("{maps}/a"), "application/merge-patch+json", patch).await;
    assert_eq!((status, &body["details"]["causes"][0]["field"]), (422, &json!("metadata.uid")));
}

#[tokio::test]
async fn next_page_has_the_version_of_the_first() {
    let env = TestEnv::builder().start().await.unwrap();
    let (_, first) = send_json(&env, "GET", "/api/v1/namespaces?limit=1", Value::Null).await;
    let token = first["metadata"]["continue"].as_str().unwrap();
    let path = format!("/api/v1/namespaces?limit=1&continue={token}&resourceVersion=");
    assert_eq!(send_json(&env, "GET", &format!("{path}0"), Value::Null).await.0, 200);
    let (status, body) = send_json(&env, "GET", &format!("{path}5"), Value::Null).await;
    let text = "specifying resource version is not allowed when using continue";
    assert_eq!((status, &body["message"]), (400, &json!(text)));
}

/// kube-apiserver stores `1.0` as `1`. An update to it counts as a change, an apply does not: its body comes through YAML.
#[tokio::test]
async fn whole_floats_are_stored_as_integers() {
    const WIDGETS: &str = "/apis/a.example/v1/namespaces/default/widgets";
    const MERGE: &str = "application/merge-patch+json";
    const APPLY: &str = "application/apply-patch+yaml";
    let env = TestEnv::builder().start().await.unwrap();
    env.install_crds(vec![widget_crd("a.example", "Namespaced")]).await.unwrap();
    let body = |number: &str| {
        format!(
            r#"{{"apiVersion": "a.example/v1", "kind": "Widget", "metadata": {{"name": "w"}}, "spec": {{"n": {number}}}}}"#
        )
    };
    let path = format!("{WIDGETS}/w?fieldManager=m");
    let told = |answer: &Value| (answer["metadata"]["generation"].as_i64(), answer["spec"]["n"].to_string());
    let (_, created) = send(&env, "PATCH", &path, APPLY, body("1")).await;
    assert_eq!(told(&created), (Some(1), "1".to_owned()));
    let (code, applied) = send(&env, "PATCH", &path, APPLY, body("1.0")).await;
    assert_eq!((code, told(&applied)), (200, (Some(1), "1".to_owned())));
    let (code, patched) = send(&env, "PATCH", &path, MERGE, r#"{"spec": {"n": 1e0}}"#).await;
    assert_eq!((code, told(&patched)), (200, (Some(2), "1".to_owned())));
}

/// kube-apiserver decodes with Go's encoding/json, whose words reach the client.
#[tokio::test]
async fn malformed_bodies_are_refused_with_gos_message() {
    const MAPS: &str = "/api/v1/namespaces/default/configmaps";
    const JSON: &str = "application/json-patch+json";
    const MERGE: &str = "application/merge-patch+json";
    const STRATEGIC: &str = "application/strategic-merge-patch+json";
    const APPLY: &str = "application/apply-patch+yaml";
    let env = TestEnv::builder().start().await.unwrap();
    let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m"}});
    send_json(&env, "POST", MAPS, map).await;
    let one = format!("{MAPS}/m?fieldManager=f");
    let map_type = "json: cannot unmarshal array into Go value of type map[string]interface {}";
    for (kind, body, code, text) in [
        (JSON, "x", 400, "error decoding patch: invalid character 'x' looking for beginning of value"),
        (
            JSON,
            "\"x\"",
            400,
            "error decoding patch: json: cannot unmarshal string into Go value of type []handlers.jsonPatchOp",
        ),
        (MERGE, "[]", 400, &format!("error decoding patch: {map_type}")),
        (MERGE, "null", 400, "Invalid JSON Patch"),
        (STRATEGIC, "[]", 400, map_type),
        (STRATEGIC, "", 400, "unexpected end of JSON input"),
        (
            APPLY,
            "[]",
            400,
            &format!("error decoding YAML: error unmarshaling JSON: while decoding JSON: {map_type}"),
        ),
        (APPLY, "", 400, "invalid object type: /, Kind="),
        (
            APPLY,
            "a: b: c",
            400,
            "error decoding YAML: error converting YAML to JSON: yaml: mapping values are not allowed in this context",
        ),
        (
            JSON,
            r#"[{"op": "replace", "path": "", "value": {}}]"#,
            400,
            "the name of the object (m based on URL) was undeterminable: name must be provided",
        ),
        ("application/json", "{}", 415, "415: Unsupported Media Type"),
    ] {
        let (status, answer) = send(&env, "PATCH", &one, kind, body).await;
        assert_eq!((status, answer["message"].as_str()), (code, Some(text)), "{kind} {body}");
    }
    let (status, answer) = send(&env, "POST", MAPS, "application/json", "{\"a\":").await;
    let text = "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; \
                json parse error: unexpected end of JSON input ({\"a\":)";
    assert_eq!((status, answer["message"].as_str()), (400, Some(text)));
    let strict = format!("{one}&fieldValidation=Strict");
    let (status, answer) = send(&env, "PATCH", &strict, STRATEGIC, r#"{"data":{"a":"1","a":"2"}}"#).await;
    let text = " \"\" is invalid: patch: Invalid value: \"map[data:map[a:2]]\": strict decoding error: duplicate field \"data.a\"";
    assert_eq!((status, answer["message"].as_str()), (422, Some(text)));
    let twice = "apiVersion: v1\nkind: ConfigMap\ndata:\n  a: '1'\n  a: '2'\n";
    let (status, answer) = send(&env, "PATCH", &strict, APPLY, twice).await;
    let text = "error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n  line 5: key \"a\" already set in map";
    assert_eq!((status, answer["message"].as_str()), (400, Some(text)));
    let version =
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "n", "resourceVersion": "5"}});
    let path = format!("{MAPS}/n?fieldManager=f&dryRun=All");
    let (status, answer) = send(&env, "PATCH", &path, APPLY, version.to_string()).await;
    assert_eq!((status, &answer["kind"]), (201, &json!("ConfigMap")), "{answer}");
    let uid = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "n", "uid": "u"}});
    let (status, _) = send(&env, "PATCH", &format!("{MAPS}/n?fieldManager=f"), APPLY, uid.to_string()).await;
    assert_eq!(status, 409, "nothing with this uid is there to be changed");
}

/// Admission plugins that are on by default on every cluster.
#[tokio::test]
async fn admission_plugins_change_pods_namespaces_claims_and_nodes() {
    const SPACE: &str = "/api/v1/namespaces/default";
    let env = TestEnv::builder().start().await.unwrap();
    let range = json!({"metadata": {"name": "r"}, "spec": {"limits": [
        {"type": "Container", "default": {"cpu": "1"}, "defaultRequest": {"cpu": "500m"}, "max": {"cpu": "2"}},
        {"type": "PersistentVolumeClaim", "max": {"storage": "1Gi"}}]}});
    assert_eq!(send_json(&env, "POST", &format!("{SPACE}/limitranges"), range).await.0, 201);
    let pods = format!("{SPACE}/pods");
    let pod = |name: &str, resources: Value| {
        let container = json!({"name": "c", "image": "i", "resources": resources});
        json!({"metadata": {"name": name}, "spec": {"containers": [container]}})
    };
    let (_, filled) = send_json(&env, "POST", &pods, pod("a", json!({}))).await;
    let resources = &filled["spec"]["containers"][0]["resources"];
    assert_eq!(*resources, json!({"limits": {"cpu": "1"}, "requests": {"cpu": "500m"}}));
    let text = "LimitRanger plugin set: cpu request for container c; cpu limit for container c";
    assert_eq!(filled["metadata"]["annotations"]["kubernetes.io/limit-ranger"], text);
    let (status, refused) = send_json(&env, "POST", &pods, pod("b", json!({"limits": {"cpu": "3"}}))).await;
    let text = "pods \"b\" is forbidden: maximum cpu usage per Container is 2, but limit is 3";
    assert_eq!((status, refused["message"].as_str()), (403, Some(text)));

    let claims = format!("{SPACE}/persistentvolumeclaims");
    let claim = |storage: &str| {
        json!({"metadata": {"name": "c"},
               "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": storage}}}})
    };
    let (status, refused) = send_json(&env, "POST", &claims, claim("2Gi")).await;
    let text = "persistentvolumeclaims \"c\" is forbidden: maximum storage usage per PersistentVolumeClaim is 1Gi, but request is 2Gi";
    assert_eq!((status, refused["message"].as_str()), (403, Some(text)));
    let (_, stored) = send_json(&env, "POST", &claims, claim("1Gi")).await;
    assert_eq!(stored["metadata"]["finalizers"], json!(["kubernetes.io/pvc-protection"]));
    let (_, node) = send_json(&env, "POST", "/api/v1/nodes", json!({"metadata": {"name": "n"}})).await;
    assert_eq!(
        node["spec"]["taints"],
        json!([{"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}])
    );
}

#[tokio::test]
async fn service_releases_addresses_and_ports_when_its_type_changes() {
    const SERVICES: &str = "/api/v1/namespaces/default/services";
    const MERGE: &str = "application/merge-patch+json";
    let env = TestEnv::builder().start().await.unwrap();
    let service = json!({"metadata": {"name": "s"}, "spec": {"type": "NodePort", "ports": [{"port": 80}]}});
    let (_, made) = send_json(&env, "POST", SERVICES, service).await;
    let number = made["spec"]["ports"][0]["nodePort"].clone();
    let other = json!({"metadata": {"name": "o"}, "spec": {"type": "NodePort", "ports": [{"port": 80, "nodePort": number.as_u64().unwrap() + 1}]}});
    assert_eq!(send_json(&env, "POST", SERVICES, other).await.0, 201);
    let third = json!({"metadata": {"name": "t"}, "spec": {"type": "NodePort", "ports": [{"port": 80}]}});
    let (_, third) = send_json(&env, "POST", SERVICES, third).await;
    assert_eq!(third["spec"]["ports"][0]["nodePort"], number.as_u64().unwrap() + 2, "no port is given twice");
    let patch = r#"{"spec": {"type": "ExternalName", "externalName": "a.b"}}"#;
    let (status, external) = send(&env, "PATCH", &format!("{SERVICES}/s"), MERGE, patch).await;
    let spec = json!({"type": "ExternalName", "externalName": "a.b", "sessionAffinity": "None",
                      "ports": [{"port": 80, "protocol": "TCP", "targetPort": 80}]});
    assert_eq!((status, &external["spec"]), (200, &spec));
}

/// The strategies of kinds check metadata in different ways: as kube-apiserver 1.36.2 answered.
#[tokio::test]
async fn updates_check_metadata_as_often_as_the_strategy_of_the_kind() {
    let env = TestEnv::builder().start().await.unwrap();
    let core = "/api/v1/namespaces/default";
    let spec = json!({"holderIdentity": "me"});
    let roles = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
    let address = json!({"parentRef": {"resource": "services", "name": "a", "namespace": "b"}});
    let lease = json!({"metadata": {"name": "x", "finalizers": ["plain"]}, "spec": spec});
    let made = [
        (format!("{core}/configmaps"), json!({"metadata": {"name": "x"}})),
        (format!("{core}/services"), json!({"metadata": {"name": "x"}, "spec": {"ports": [{"port": 1}]}})),
        (roles.to_owned(), json!({"metadata": {"name": "x"}})),
        ("/apis/coordination.k8s.io/v1/namespaces/default/leases".to_owned(), lease),
        (
            "/apis/networking.k8s.io/v1/ipaddresses".to_owned(),
            json!({"metadata": {"name": "10.0.9.9"}, "spec": address}),
        ),
    ];
    for (path, object) in &made {
        let (status, body) = send_json(&env, "POST", path, object.clone()).await;
        assert_eq!(status, 201, "{path}: {body}");
    }
    let causes = async |path: &str, metadata: Value| {
        let body = json!({"metadata": metadata}).to_string();
        let (status, body) = send(&env, "PATCH", path, "application/merge-patch+json", body).await;
        let count = body["details"]["causes"].as_array().map_or(0, Vec::len);
        (status, count)
    };
    let named = async |path: &str, metadata: Value| causes(&format!("{path}/x"), metadata).await;
    let prefix = || json!({"generateName": "G_/"});
    assert_eq!(named(&made[0].0, prefix()).await, (422, 2));
    assert_eq!(named(&made[1].0, prefix()).await, (422, 1));
    assert_eq!(named(roles, prefix()).await, (422, 2));
    let suffixed = json!({"generateName": "g-"});
    assert_eq!(causes(&format!("{}/10.0.9.9", made[4].0), suffixed.clone()).await, (422, 1));
    assert_eq!(named(&made[0].0, suffixed).await, (200, 0));
    let finalizer = || json!({"finalizers": ["plain"]});
    assert_eq!(named(&made[0].0, finalizer()).await, (422, 2));
    assert_eq!(named(&made[1].0, finalizer()).await, (422, 1));
    assert_eq!(named(&made[3].0, finalizer()).await, (200, 0), "only pkg/apis/core refuses it");
}

#[tokio::test]
async fn taken_name_of_an_object_with_generate_name_asks_for_a_retry() {
    let env = TestEnv::builder().start().await.unwrap();
    let maps = "/api/v1/namespaces/default/configmaps";
    let map = json!({"metadata": {"name": "m", "generateName": "m-"}});
    assert_eq!(send_json(&env, "POST", maps, map.clone()).await.0, 201);
    let (status, body) = send_json(&env, "POST", maps, map).await;
    let text =
        "configmaps \"m\" already exists, the server was not able to generate a unique name for the object";
    assert_eq!(
        (status, &body["message"], &body["details"]["retryAfterSeconds"]),
        (409, &json!(text), &json!(1))
    );
}

#[tokio::test]
async fn scale_of_another_object_is_a_conflict() {
    let env = TestEnv::builder().start().await.unwrap();
    let controllers = "/api/v1/namespaces/default/replicationcontrollers";
    let template =
        json!({"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "a", "image": "a"}]}});
    let controller = json!({"metadata": {"name": "c"}, "spec": {"replicas": 0, "template": template}});
    assert_eq!(send_json(&env, "POST", controllers, controller).await.0, 201);
    let scale = json!({"metadata": {"name": "c", "uid": "other"}, "spec": {"replicas": 2}});
    let path = format!("{controllers}/c/scale");
    let (status, body) = send_json(&env, "PUT", &path, scale.clone()).await;
    assert_eq!((status, &body["reason"]), (409, &json!("Conflict")), "{body}");
    let merge = "application/merge-patch+json";
    let (status, body) = send(&env, "PATCH", &path, merge, scale.to_string()).await;
    assert_eq!((status, &body["reason"]), (409, &json!("Conflict")), "{body}");
    // Zero replicas are absent, as in Go.
    let remove = json!([{"op": "remove", "path": "/spec/replicas"}]).to_string();
    assert_eq!(send(&env, "PATCH", &path, "application/json-patch+json", remove).await.0, 422);
    let (_, stored) = send_json(&env, "GET", &format!("{controllers}/c"), Value::Null).await;
    assert_eq!(stored["spec"]["replicas"], 0);
}

#[tokio::test]
async fn references_without_a_name_are_refused() {
    let env = with_pod().await;
    let core = "/api/v1/namespaces/default";
    let account = json!({"metadata": {"name": "a"}});
    assert_eq!(send_json(&env, "POST", &format!("{core}/serviceaccounts"), account).await.0, 201);
    let target = json!({"metadata": {"name": ""}, "target": {"name": "n"}});
    let bound = json!({"spec": {"boundObjectRef": {"apiVersion": "v1", "kind": "Secret", "name": ""}}});
    for (path, body) in [("bindings", target), ("serviceaccounts/a/token", bound)] {
        let (status, body) = send_json(&env, "POST", &format!("{core}/{path}"), body).await;
        assert_eq!((status, &body["message"]), (400, &json!("Name parameter required.")), "{path}");
    }
}

#[tokio::test]
async fn certificate_request_must_be_a_signed_sequence_in_pem() {
    use base64::Engine as _;
    let env = TestEnv::builder().start().await.unwrap();
    let post = async |pem: &str| {
        let request = base64::engine::general_purpose::STANDARD.encode(pem);
        let spec = json!({"request": request, "signerName": "a.b/c", "usages": ["client auth"]});
        let body = json!({"metadata": {"name": "c"}, "spec": spec});
        let path = "/apis/certificates.k8s.io/v1/certificatesigningrequests?dryRun=All";
        send_json(&env, "POST", path, body).await.0
    };
    let pem = |body: &str| {
        format!("-----BEGIN CERTIFICATE REQUEST-----\n{body}\n-----END CERTIFICATE REQUEST-----\n")
    };
    // A sequence of two sequences and a bit string.
    assert_eq!(post(&pem("MAgwADAAAwIAAQ==")).await, 201);
    assert_eq!(post(&pem("YQ==")).await, 422);
    assert_eq!(post(&format!("  {}", pem("MAgwADAAAwIAAQ=="))).await, 422);
}

#[tokio::test]
async fn repeated_port_names_of_a_slice_are_reported_by_index() {
    let env = TestEnv::builder().start().await.unwrap();
    let ports = json!([{"name": "a", "port": 80}, {"name": "a", "port": 81}]);
    let slice = json!({"metadata": {"name": "s"}, "addressType": "IPv4", "endpoints": [], "ports": ports});
    let path = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";
    let (status, body) = send_json(&env, "POST", path, slice).await;
    assert_eq!((status, &body["details"]["causes"][0]["field"]), (422, &json!("ports[1].name")));
}

#[tokio::test]
async fn beta_form_of_aggregated_discovery_is_no_longer_served() {
    let env = TestEnv::builder().start().await.unwrap();
    for (version, expected) in [("v2", 200), ("v2beta1", 406)] {
        let accept = format!("application/json;g=apidiscovery.k8s.io;v={version};as=APIGroupDiscoveryList");
        let request = Request::get("/apis").header("accept", accept).body(Body::empty()).unwrap();
        assert_eq!(env.client().send(request).await.unwrap().status().as_u16(), expected, "{version}");
    }
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

#[tokio::test]
async fn eviction_with_repeated_owners_warns() {
    let env = with_pod().await;
    let owner = || json!({"apiVersion": "v1", "kind": "Pod", "name": "n", "uid": "u"});
    let eviction = json!({"metadata": {"name": "p", "ownerReferences": [owner(), owner()]}}).to_string();
    let request = Request::post(format!("{POD}/eviction")).header("content-type", "application/json");
    let request = request.body(Body::from(eviction.into_bytes())).unwrap();
    let response = env.client().send(request).await.unwrap();
    assert_eq!(response.status().as_u16(), 201);
    let warning = response.headers().get("warning").unwrap().to_str().unwrap();
    assert!(warning.contains("contains duplicate entries"), "{warning}");
}

/// Names as the kinds' strategies check them: kube-apiserver 1.36.2 answered so.
#[tokio::test]
async fn names_follow_the_rule_of_the_kind() {
    let env = TestEnv::builder().start().await.unwrap();
    let template =
        json!({"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "a", "image": "a"}]}});
    let set = json!({"selector": {"matchLabels": {"a": "b"}}, "template": template});
    let budget = json!({"minAvailable": 1, "selector": {"matchLabels": {"a": "b"}}});
    let post = async |path: &str, name: &str, spec: &Value| {
        let body = json!({"metadata": {"name": name}, "spec": spec});
        let (status, body) = send_json(&env, "POST", path, body).await;
        (status, body["details"]["causes"][0]["message"].as_str().unwrap_or_default().to_owned())
    };
    let sets = "/apis/apps/v1/namespaces/default/statefulsets";
    let dots = "Invalid value: \"a.b\": must not contain dots";
    assert_eq!(post(sets, "a.b", &set).await, (422, dots.to_owned()));
    assert_eq!(post("/apis/apps/v1/namespaces/default/replicasets", "a.b", &set).await.0, 201);
    let budgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
    assert_eq!(post(budgets, "A_b", &budget).await.0, 201);
    assert_eq!(post(budgets, "a%b", &budget).await.0, 422);
}

#[tokio::test]
async fn applied_owner_without_uid_is_invalid() {
    let env = TestEnv::builder().start().await.unwrap();
    let map =
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "ownerReferences": [{}]}});
    let path = "/api/v1/namespaces/default/configmaps/c?fieldManager=me";
    let (status, body) = send(&env, "PATCH", path, "application/apply-patch+yaml", map.to_string()).await;
    assert_eq!((status, &body["reason"]), (422, &json!("Invalid")), "{body}");
}
