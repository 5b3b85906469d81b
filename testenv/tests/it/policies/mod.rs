//! Admission policies are evaluated, and invalid ones are refused.
//!
//! The cases follow the tests and the documentation of kube-apiserver 1.36 (apiserver's pkg/admission/plugin/policy and
//! pkg/apis/admissionregistration/validation): verdicts and texts are facts of that server.

mod order;
mod typing;

use http::{Method, Request};
use http_body_util::BodyExt as _;
use kube::client::Body;
use kubesmith_testenv::TestEnv;
use serde_json::{Value, json};

use crate::support::{call, widget_crd};

pub(super) const API: &str = "/apis/admissionregistration.k8s.io/v1";
const MAPS: &str = "/api/v1/namespaces/default/configmaps";

/// The parts of a response that the cases compare.
struct Seen {
    code: u16,
    body: Value,
    warnings: Vec<String>,
}

async fn request(env: &TestEnv, method: &str, path: &str, body: &Value) -> Seen {
    let kind = if method == "PATCH" { "application/merge-patch+json" } else { "application/json" };
    let body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
    let request = Request::builder().method(method).uri(path).header("content-type", kind);
    let response = env.client().send(request.body(Body::from(body)).unwrap()).await.unwrap();
    let warnings = response.headers().get_all("warning").iter();
    let warnings =
        warnings.map(|w| w.to_str().unwrap().trim_start_matches("299 - ").replace("\\\"", "\"")).collect();
    let code = response.status().as_u16();
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    Seen { code, body: serde_json::from_slice(&bytes).unwrap_or_default(), warnings }
}

fn merge(into: &mut Value, from: &Value) {
    match (into, from) {
        (Value::Object(into), Value::Object(from)) => {
            for (key, value) in from {
                merge(into.entry(key).or_insert(Value::Null), value);
            }
        }
        (into, from) => *into = from.clone(),
    }
}

/// A policy or a binding with these members of its spec.
pub(super) fn object(kind: &str, name: &str, base: Value, spec: &Value) -> Value {
    let mut all = base;
    merge(&mut all, spec);
    json!({"apiVersion": "admissionregistration.k8s.io/v1", "kind": kind, "metadata": {"name": name}, "spec": all})
}

/// Creates a policy and its binding.
pub(super) async fn install(env: &TestEnv, prefix: &str, name: &str, spec: &Value, binding: &Value) {
    let rules =
        json!([{"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["*"], "resources": ["configmaps"]}]);
    let mut base = json!({"matchConstraints": {"resourceRules": rules}});
    let mut bound = json!({"policyName": name});
    if prefix == "mutating" {
        base["reinvocationPolicy"] = json!("Never");
    } else {
        bound["validationActions"] = json!(["Deny"]);
    }
    let kind = if prefix == "mutating" { "MutatingAdmissionPolicy" } else { "ValidatingAdmissionPolicy" };
    for (plural, object) in [
        ("policies", object(kind, name, base, spec)),
        ("policybindings", object(&format!("{kind}Binding"), &format!("{name}-binding"), bound, binding)),
    ] {
        let path = format!("{API}/{prefix}admission{plural}");
        let (code, answer) = call(env, Method::POST, &path, object).await;
        assert_eq!(code, 201, "{name}: {answer}");
    }
}

pub(super) async fn remove(env: &TestEnv, prefix: &str, name: &str) {
    for (plural, name) in [("policies", name.to_owned()), ("policybindings", format!("{name}-binding"))] {
        let path = format!("{API}/{prefix}admission{plural}/{name}");
        assert_eq!(call(env, Method::DELETE, &path, Value::Null).await.0, 200);
    }
}

/// Compares a response with the members of `expected`.
fn judge(name: &str, prefix: &str, expected: &Value, seen: &Seen) {
    let Seen { code, body, warnings } = seen;
    let wanted: Vec<&str> =
        expected["warnings"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    assert_eq!(*warnings, wanted, "{name}: warnings of {body}");
    let message = match &expected["denied"] {
        Value::String(text) if prefix == "validating" => {
            format!(
                "configmaps \"m\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'p-binding' denied request: {text}"
            )
        }
        Value::String(text) => format!("policy 'p' with binding 'p-binding' denied request: {text}"),
        _ => expected["message"].as_str().unwrap_or_default().to_owned(),
    };
    if message.is_empty() {
        assert!(*code < 300, "{name}: {code} {body}");
    } else {
        let usual = if prefix == "validating" { 422 } else { 403 };
        assert_eq!(u64::from(*code), expected["code"].as_u64().unwrap_or(usual), "{name}: {body}");
        assert_eq!(body["message"], message, "{name}");
        assert_eq!(body["reason"], *expected.get("reason").unwrap_or(&json!("Invalid")), "{name}");
    }
    for (pointer, value) in expected["object"].as_object().into_iter().flatten() {
        assert_eq!(body.pointer(pointer).unwrap_or(&Value::Null), value, "{name}: {pointer} of {body}");
    }
}

async fn run(prefix: &str, cases: &str) {
    let env = TestEnv::builder().start().await.unwrap();
    let cases: Value = serde_json::from_str(cases).unwrap();
    env.install_crds(vec![widget_crd("a.example", "Namespaced")]).await.unwrap();
    for step in cases["setup"].as_array().unwrap() {
        let (code, answer) =
            call(&env, Method::POST, step["path"].as_str().unwrap(), step["body"].clone()).await;
        assert_eq!(code, 201, "{answer}");
    }
    for case in cases["cases"].as_array().unwrap() {
        let name = case["name"].as_str().unwrap();
        install(&env, prefix, "p", &case["policy"], case.get("binding").unwrap_or(&json!({}))).await;
        let text = |key: &str, usual: &str| case[key].as_str().unwrap_or(usual).to_owned();
        let mut path = text("path", MAPS);
        path.push_str(if path.contains('?') { "&dryRun=All" } else { "?dryRun=All" });
        let usual = json!({"metadata": {"name": "m", "labels": {"team": "red"}}, "data": {"a": "b"}});
        let body = case.get("body").unwrap_or(&usual);
        let seen = request(&env, &text("method", "POST"), &path, body).await;
        judge(name, prefix, &case["expect"], &seen);
        remove(&env, prefix, "p").await;
    }
    env.stop().await;
}

#[tokio::test]
async fn validating_policy_decides_as_on_kube_apiserver() {
    run("validating", include_str!("validating.json")).await;
}

#[tokio::test]
async fn mutating_policy_changes_objects_as_on_kube_apiserver() {
    run("mutating", include_str!("mutating.json")).await;
}

#[tokio::test]
async fn invalid_policy_is_refused_with_kube_apiservers_message() {
    let env = TestEnv::builder().start().await.unwrap();
    let cases: Value = serde_json::from_str(include_str!("checks.json")).unwrap();
    for case in cases["cases"].as_array().unwrap() {
        let kind = case["kind"].as_str().unwrap();
        let mut spec = cases["valid"][kind].clone();
        merge(&mut spec, &case["spec"]);
        let dropped = case["without"].as_array().into_iter().flatten().filter_map(Value::as_str);
        dropped.for_each(|name| drop(spec.as_object_mut().unwrap().remove(name)));
        let plural = cases["plurals"][kind].as_str().unwrap();
        let path = format!("{API}/{plural}?dryRun=All");
        let (code, answer) = call(&env, Method::POST, &path, object(kind, "p", json!({}), &spec)).await;
        let causes = answer["details"]["causes"].as_array().into_iter().flatten();
        let found: Vec<String> = causes
            .map(|cause| {
                format!("{}: {}", cause["field"].as_str().unwrap(), cause["message"].as_str().unwrap())
            })
            .collect();
        let expected: Vec<&str> =
            case["faults"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        assert_eq!(found, expected, "{kind} {}: {answer}", case["spec"]);
        assert_eq!(code, if expected.is_empty() { 201 } else { 422 }, "{kind} {}: {answer}", case["spec"]);
    }
    env.stop().await;
}
