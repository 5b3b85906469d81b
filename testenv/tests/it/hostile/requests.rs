//! One request as text, and the properties of every response. The fuzz target uses this file, too.
//!
//! The first line is `METHOD PATH CONTENT-TYPE`, the rest is the body.

use http::{Method, Request};
use http_body_util::BodyExt;
use kube::client::Body;
use kubesmith_testenv::TestEnv;
use serde_json::Value;

/// Sends the request of `input`, and returns its code, or none if `input` is not a request.
///
/// # Panics
/// If a response is not well-formed.
pub(crate) async fn send(env: &TestEnv, input: &[u8]) -> Option<u16> {
    let end = input.iter().position(|byte| *byte == b'\n').unwrap_or(input.len());
    let (head, body) = (&input[..end], input.get(end + 1..).unwrap_or_default());
    let head = String::from_utf8_lossy(head);
    let mut words = head.splitn(3, ' ');
    let method = Method::from_bytes(words.next()?.as_bytes()).ok()?;
    let mut request = Request::builder().method(method).uri(words.next()?);
    if let Some(kind) = words.next().filter(|kind| !kind.is_empty()) {
        request = request.header("content-type", kind);
    }
    let request = request.body(Body::from(body.to_vec())).ok()?;
    let watches = request.uri().query().is_some_and(|query| query.contains("watch"))
        || request.uri().path().contains("/watch");
    let response = env.client().send(request).await.expect("the server answers");
    let (code, kind) = (response.status().as_u16(), response.headers().get("content-type").cloned());
    // A watch does not end.
    if watches && code == 200 {
        return Some(code);
    }
    let bytes = response.into_body().collect().await.expect("an answer ends").to_bytes();
    if kind.is_some_and(|kind| kind.as_bytes().starts_with(b"application/json")) && !bytes.is_empty() {
        let value: Value = serde_json::from_slice(&bytes).expect("an answer of JSON is JSON");
        if code >= 400 {
            assert_eq!(value["kind"], "Status", "{head}: {value}");
            assert_eq!(value["code"], code, "{head}: {value}");
            assert!(value["message"].as_str().is_some_and(|text| !text.is_empty()), "{head}: {value}");
        }
    }
    Some(code)
}

/// Checks that the server still works.
///
/// # Panics
/// If it does not.
pub(crate) async fn check(env: &TestEnv) {
    assert_eq!(send(env, b"GET /readyz").await, Some(200));
    assert_eq!(send(env, b"GET /api/v1/namespaces/default").await, Some(200));
}
