//! Shared parts of the tests.

use http::{Method, Request};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, ApiResource, DynamicObject, GroupVersionKind};
use kube::client::Body;
use kubesmith_testenv::TestEnv;
use serde_json::{Value, json};

/// A CRD for `Widget` in `group`, with a spec and a status that take anything.
pub(crate) fn widget_crd(group: &str, scope: &str) -> CustomResourceDefinition {
    let open = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    serde_json::from_value(json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("widgets.{group}")},
        "spec": {
            "group": group, "scope": scope,
            "names": {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"},
            "versions": [{
                "name": "v1", "served": true, "storage": true, "subresources": {"status": {}},
                "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": open, "status": open}}},
            }],
        },
    }))
    .unwrap()
}

pub(crate) fn widget_resource(group: &str) -> ApiResource {
    ApiResource::from_gvk_with_plural(&GroupVersionKind::gvk(group, "v1", "Widget"), "widgets")
}

/// Widgets of group `a.example` in the namespace `default`.
pub(crate) async fn widgets(env: &TestEnv) -> Api<DynamicObject> {
    env.install_crds(vec![widget_crd("a.example", "Namespaced")]).await.unwrap();
    Api::namespaced_with(env.client(), "default", &widget_resource("a.example"))
}

pub(crate) fn widget(name: &str, extra: Value) -> DynamicObject {
    let mut value = json!({"apiVersion": "a.example/v1", "kind": "Widget", "metadata": {"name": name}});
    json_merge(&mut value, extra);
    serde_json::from_value(value).unwrap()
}

fn json_merge(into: &mut Value, from: Value) {
    match (into, from) {
        (Value::Object(into), Value::Object(from)) => {
            for (key, value) in from {
                json_merge(into.entry(key).or_insert(Value::Null), value);
            }
        }
        (into, from) => *into = from,
    }
}

/// Sends a plain request, and returns the code and the body.
pub(crate) async fn send(
    env: &TestEnv,
    method: Method,
    path: &str,
    headers: &[(&str, &str)],
    body: impl Into<Vec<u8>>,
) -> (u16, Value) {
    let mut request = Request::builder().method(method).uri(path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let response = env.client().send(request.body(Body::from(body.into())).unwrap()).await.unwrap();
    let code = response.status().as_u16();
    let bytes = http_body_util::BodyExt::collect(response.into_body()).await.unwrap().to_bytes();
    let text = String::from_utf8_lossy(&bytes).into_owned();
    (code, serde_json::from_slice(&bytes).unwrap_or(Value::String(text)))
}

/// Sends a JSON body.
pub(crate) async fn call(env: &TestEnv, method: Method, path: &str, body: Value) -> (u16, Value) {
    let body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
    send(env, method, path, &[("content-type", "application/json")], body).await
}

/// Sends a patch of a kind such as `merge-patch+json`.
pub(crate) async fn patch(env: &TestEnv, path: &str, kind: &str, body: Value) -> (u16, Value) {
    let kind = format!("application/{kind}");
    send(env, Method::PATCH, path, &[("content-type", &kind)], body.to_string()).await
}

/// Notes the difference of a recorded entry that should be equal, and an equal entry that should differ. An entry with `differs`
/// gives the reason for a known difference, and must differ, so the list only shrinks.
pub(crate) fn judge(report: &mut Vec<String>, entry: &Value, difference: Option<String>) {
    match (&entry["differs"], difference) {
        (Value::Null, Some(difference)) => report.push(format!("{}: {difference}", entry["name"])),
        (Value::String(_), None) => report.push(format!("{} is equal now: remove `differs`", entry["name"])),
        _ => {}
    }
}
