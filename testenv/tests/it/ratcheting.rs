//! Stored objects that a changed definition would refuse. The answers are those of kube-apiserver 1.36.2.

use http::Method;
use http_body_util::BodyExt as _;
use kubesmith_testenv::TestEnv;
use serde_json::{Value, json};

use crate::support::{call, patch};

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const NOTES: &str = "/apis/a.example/v1/namespaces/default/notes";
const NOTE: &str = "/apis/a.example/v1/namespaces/default/notes/n";

fn definition(spec: &Value, status: &Value) -> Value {
    let schema = json!({"type": "object", "properties": {"spec": spec, "status": status}});
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "notes.a.example"},
        "spec": {"group": "a.example", "scope": "Namespaced", "names": {"plural": "notes", "kind": "Note"},
                 "versions": [{"name": "v1", "served": true, "storage": true, "subresources": {"status": {}},
                               "schema": {"openAPIV3Schema": schema}}]}})
}

/// A server with a note, whose definition is `after` since it was created with `before`.
async fn with_note(spec: Value, before: Value, after: Value) -> TestEnv {
    let env = TestEnv::builder().start().await.unwrap();
    let any = json!({"type": "object", "properties": {"other": {"type": "string"}}});
    let schema =
        |spec: Value| json!({"type": "object", "properties": {"it": spec, "other": {"type": "string"}}});
    assert_eq!(call(&env, Method::POST, DEFINITIONS, definition(&schema(before), &any)).await.0, 201);
    let note = json!({"apiVersion": "a.example/v1", "kind": "Note", "metadata": {"name": "n"}, "spec": {"it": spec}});
    let (code, answer) = call(&env, Method::POST, NOTES, note).await;
    assert_eq!(code, 201, "{answer}");
    let path = format!("{DEFINITIONS}/notes.a.example");
    let (_, stored) = call(&env, Method::GET, &path, Value::Null).await;
    let mut next = definition(&schema(after), &any);
    next["metadata"]["resourceVersion"] = stored["metadata"]["resourceVersion"].clone();
    let (code, answer) = call(&env, Method::PUT, &path, next).await;
    assert_eq!(code, 200, "{answer}");
    env
}

fn list(extra: &Value) -> Value {
    let item = json!({"type": "object", "properties": {"k": {"type": "string"}, "v": {"type": "string"}}});
    let mut list = json!({"type": "array", "items": item});
    for (key, value) in extra.as_object().into_iter().flatten() {
        list[key] = value.clone();
    }
    list
}

/// Writes that do not change the invalid part.
async fn unrelated(env: &TestEnv) -> [u16; 2] {
    let other = json!({"spec": {"other": "x"}});
    let labels = json!({"metadata": {"labels": {"a": "b"}}});
    [
        patch(env, NOTE, "merge-patch+json", other).await.0,
        patch(env, NOTE, "merge-patch+json", labels).await.0,
    ]
}

#[tokio::test]
async fn unchanged_values_are_accepted_as_far_as_the_schema_can_compare_them() {
    let keyed = json!({"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"]});
    let few = |mut extra: Value| {
        extra["maxItems"] = 1.into();
        extra
    };
    let open = |extra: Value| {
        let mut open = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
        open["properties"] = extra;
        open
    };
    let (a, b) = (json!({"k": "a"}), json!({"k": "b"}));
    let mut required = list(&keyed);
    required["items"]["required"] = json!(["k"]);
    let mut keyed_and_few = required.clone();
    keyed_and_few["maxItems"] = 1.into();
    let limited = |mut schema: Value| {
        schema["maxProperties"] = 1.into();
        schema
    };
    let known = json!({"x": {"type": "integer"}, "y": {"type": "integer"}});
    for (name, spec, before, after, expected) in [
        ("list", json!([a, b]), list(&json!({})), list(&few(json!({}))), 200),
        ("keyed list", json!([a, b]), required.clone(), keyed_and_few.clone(), 200),
        ("item without its key", json!([{"v": "1"}]), list(&json!({})), required, 422),
        ("known fields", json!({"x": 1, "y": 2}), open(known.clone()), limited(open(known)), 200),
        ("unknown fields", json!({"x": 1, "y": 2}), open(json!({})), limited(open(json!({}))), 422),
    ] {
        let env = with_note(spec, before, after).await;
        assert_eq!(unrelated(&env).await, [expected; 2], "{name}");
    }
}

#[tokio::test]
async fn items_of_a_keyed_list_may_move() {
    let keyed = json!({"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"]});
    let mut before = list(&keyed);
    before["items"]["required"] = json!(["k"]);
    let mut after = before.clone();
    after["maxItems"] = 1.into();
    let (a, b) = (json!({"k": "a", "v": "1"}), json!({"k": "b"}));
    let env = with_note(json!([a, b]), before, after).await;
    for (items, expected) in [(json!([b, a]), 200), (json!([{"k": "a", "v": "2"}, b]), 422)] {
        let change = json!({"spec": {"it": items}});
        assert_eq!(patch(&env, NOTE, "merge-patch+json", change).await.0, expected, "{items}");
    }
}

/// The `Warning` headers of a merge patch.
async fn warnings(env: &TestEnv, path: &str, change: Value) -> Vec<String> {
    let request = http::Request::patch(path).header("content-type", "application/merge-patch+json");
    let request = request.body(kube::client::Body::from(change.to_string().into_bytes())).unwrap();
    let response = env.client().send(request).await.unwrap();
    let headers = response.headers().get_all("warning").iter();
    let warnings = headers.map(|warning| warning.to_str().unwrap().to_owned()).collect();
    assert_eq!(response.status(), 200);
    response.into_body().collect().await.unwrap();
    warnings
}

#[tokio::test]
async fn broken_rules_of_unchanged_values_are_warnings() {
    let rule = json!({"type": "string", "x-kubernetes-validations": [{"rule": "self == 'good'"}]});
    let env = with_note(json!("bad"), json!({"type": "string"}), rule).await;
    let text = r#"299 - "spec.it: Invalid value: \"bad\": failed rule: self == 'good'""#;
    let other = json!({"spec": {"other": "x"}});
    assert_eq!(warnings(&env, NOTE, other).await, [text]);
    let status = json!({"status": {"other": "x"}});
    assert_eq!(warnings(&env, &format!("{NOTE}/status"), status).await, [text]);
    let mended = json!({"spec": {"it": "good"}});
    assert_eq!(warnings(&env, NOTE, mended).await, [""; 0]);
}

#[tokio::test]
async fn writes_of_the_status_do_not_validate_embedded_resources() {
    let open = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let mut embedded = open.clone();
    embedded["x-kubernetes-embedded-resource"] = true.into();
    let env = with_note(json!({"x": "y"}), open, embedded).await;
    assert_eq!(unrelated(&env).await, [422, 422]);
    let status = json!({"status": {"other": "x"}});
    let path = format!("{NOTE}/status");
    assert_eq!(patch(&env, &path, "merge-patch+json", status).await.0, 200);
}

/// An object that preserves unknown fields accepts fields that its children without this keyword do not.
#[tokio::test]
async fn applied_fields_below_an_open_object_are_pruned() {
    let closed = json!({"type": "object", "properties": {"known": {"type": "string"}}});
    let open = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true, "properties": {"closed": closed}});
    let env = with_note(json!({}), open.clone(), open).await;
    let value = json!({"free": 1, "closed": {"known": "x", "unknown": "y"}});
    let config = json!({"apiVersion": "a.example/v1", "kind": "Note", "metadata": {"name": "n"}, "spec": {"it": value}});
    let (code, note) = patch(&env, &format!("{NOTE}?fieldManager=m"), "apply-patch+yaml", config).await;
    assert_eq!((code, &note["spec"]["it"]), (200, &json!({"free": 1, "closed": {"known": "x"}})));
}
