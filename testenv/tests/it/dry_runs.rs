//! Dry runs of creates, recorded from kube-apiserver 1.36: what is refused and in which words, and the defaults of a spec.
//!
//! An entry with `differs` gives the reason for a known difference. Such an entry must differ, so the list only shrinks.

use http::Method;
use kubesmith_testenv::TestEnv;
use serde_json::{Value, json};

use crate::support::{call, judge, send};

const RECORDED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../testdata/apiserver/dry-runs.json");

#[tokio::test]
async fn dry_runs_are_answered_as_kube_apiserver_answers_them() {
    let recorded: Vec<Value> = serde_json::from_str(&std::fs::read_to_string(RECORDED).unwrap()).unwrap();
    let env = TestEnv::builder().start().await.unwrap();
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "dt"}});
    assert_eq!(call(&env, Method::POST, "/api/v1/namespaces", namespace).await.0, 201);
    let mut report = Vec::new();
    for entry in &recorded {
        judge(&mut report, entry, difference(&env, entry).await);
    }
    assert!(report.is_empty(), "{} of {}:\n{}", report.len(), recorded.len(), report.join("\n"));
    env.stop().await;
}

/// Sends a request, and returns the first part of the answer that differs from the recorded one.
async fn difference(env: &TestEnv, entry: &Value) -> Option<String> {
    let given = entry["headers"].as_object().into_iter().flatten();
    let mut headers: Vec<(&str, &str)> =
        given.filter_map(|(name, value)| Some((name.as_str(), value.as_str()?))).collect();
    if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type")) {
        headers.push(("content-type", "application/json"));
    }
    let body = match &entry["body"] {
        Value::String(text) => text.clone(),
        body => body.to_string(),
    };
    let path = entry["path"].as_str().unwrap();
    let (code, answer) = send(env, Method::POST, path, &headers, body).await;
    let parts =
        [("status", json!(code)), ("message", answer["message"].clone()), ("spec", answer["spec"].clone())];
    let mut wanted = parts.into_iter().filter(|(part, _)| entry.get(*part).is_some());
    wanted
        .find(|(part, got)| *got != entry[*part])
        .map(|(part, got)| format!("{part}\n  kube-apiserver: {}\n  this server:    {got}", entry[part]))
}
