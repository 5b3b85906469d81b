use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Method, Request};
use http_body_util::{BodyExt, Full};
use proptest::prelude::*;
use rcgen::generate_simple_self_signed;
use serde_json::{Value, json};
use tokio::io::AsyncReadExt;
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;

use super::connection::{Shared, Streams};
use super::router::Router;
use super::*;
use crate::webhook::{AdmissionContext, AdmissionResponse, admission_fn};

fn handler() -> impl AdmissionHandler {
    admission_fn(|ctx: AdmissionContext| async move {
        match ctx.request().name.as_str() {
            "panics" => panic!("a secret"),
            "hangs" => pending().await,
            name => AdmissionResponse::denied(name.to_owned()),
        }
    })
}

fn router(registry: &Registry) -> Router {
    let server = Server::builder().admission("/a", handler()).conversions(Conversions::new()).build();
    Router::new(server.unwrap().hooks, Duration::from_secs(30), registry)
}

fn review(name: &str) -> Value {
    json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {
        "uid": "u", "operation": "CREATE", "name": name,
        "kind": {"group": "", "version": "v1", "kind": "Pod"},
        "resource": {"group": "", "version": "v1", "resource": "pods"}}})
}

fn post(path: &str, body: impl Into<Bytes>) -> Request<Full<Bytes>> {
    Request::post(path).header("content-type", "application/json").body(Full::new(body.into())).unwrap()
}

async fn answer(router: &Router, request: Request<Full<Bytes>>) -> (u16, Value) {
    let response = router.serve(request).await.unwrap();
    assert_eq!(response.headers()["content-type"], "application/json");
    let code = response.status().as_u16();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    (code, serde_json::from_slice(&body).unwrap())
}

#[tokio::test]
async fn response_has_the_uid_of_the_review() {
    let registry = Registry::new();
    let router = router(&registry);
    let (code, answer) = answer(&router, post("/a?timeout=10s", review("n").to_string())).await;
    assert_eq!((code, &answer["response"]["uid"]), (200, &json!("u")));
    assert_eq!(answer["response"]["status"]["message"], "n");
    let text = registry.encode();
    for line in [
        "controller_runtime_webhook_requests_total{code=\"200\",webhook=\"/a\"} 1\n",
        "controller_runtime_webhook_requests_total{code=\"500\",webhook=\"/a\"} 0\n",
        "controller_runtime_webhook_latency_seconds_count{webhook=\"/a\"} 1\n",
        "controller_runtime_webhook_latency_seconds_bucket{le=\"+Inf\",webhook=\"/convert\"} 0\n",
        "controller_runtime_webhook_requests_in_flight{webhook=\"/a\"} 0.0\n",
        "controller_runtime_webhook_panics_total 0\n",
        "controller_runtime_conversion_webhook_panics_total 0\n",
    ] {
        assert!(text.contains(line), "no {line} in {text}");
    }
}

#[tokio::test]
async fn requests_that_are_not_reviews_get_a_status() {
    let registry = Registry::new();
    let router = router(&registry);
    let plain = |method: Method, kind: &str| {
        let request = Request::builder().method(method).uri("/a").header("content-type", kind);
        request.body(Full::new(Bytes::from(review("n").to_string()))).unwrap()
    };
    let mut older = review("n");
    older["apiVersion"] = json!("admission.k8s.io/v1beta1");
    let other = json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview"});
    let mut unknown = review("n");
    unknown["request"]["operation"] = json!("PATCH");
    let nested = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    for (request, code, text) in [
        (post("/b", "{}"), 404, "there is no webhook at /b"),
        (post("/a/", "{}"), 404, "there is no webhook at /a/"),
        (plain(Method::GET, "application/json"), 405, "webhooks take POST, not GET"),
        (
            plain(Method::POST, "text/plain"),
            415,
            "the content type is \"text/plain\"; expected application/json",
        ),
        (post("/a", ""), 400, "the request has no body"),
        (post("/a?timeout=soon", "{}"), 400, "\"soon\" is not a timeout"),
        (post("/a", "{\"kind\": "), 400, "cannot decode the AdmissionReview: EOF"),
        (post("/a", nested), 400, "cannot decode the AdmissionReview: "),
        (post("/a", "null"), 400, "cannot decode the AdmissionReview: invalid type: null"),
        (post("/a", "{}"), 400, "expected admission.k8s.io/v1, Kind=AdmissionReview, got , Kind="),
        (post("/a", unknown.to_string()), 400, "cannot decode the AdmissionReview: unknown variant `PATCH`"),
        (
            post("/a", json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview"}).to_string()),
            400,
            "the AdmissionReview has no request",
        ),
        (
            post("/a", older.to_string()),
            400,
            "expected admission.k8s.io/v1, Kind=AdmissionReview, got admission.k8s.io/v1beta1, Kind=AdmissionReview; \
             list only \"v1\" in admissionReviewVersions",
        ),
        (
            post("/a", other.to_string()),
            400,
            "expected admission.k8s.io/v1, Kind=AdmissionReview, got apiextensions.k8s.io/v1, Kind=ConversionReview",
        ),
        (post("/convert", other.to_string()), 400, "the ConversionReview has no request"),
        (
            post("/convert", other.to_string().replace("/v1", "/v1beta1")),
            400,
            "expected apiextensions.k8s.io/v1, Kind=ConversionReview, got apiextensions.k8s.io/v1beta1, \
             Kind=ConversionReview; list only \"v1\" in conversionReviewVersions",
        ),
    ] {
        let (found, status) = answer(&router, request).await;
        let message = status["message"].as_str().unwrap();
        assert!(message.starts_with(text), "{message}\n{text}");
        assert_eq!((found, &status["code"], &status["kind"]), (code, &json!(code), &json!("Status")));
        assert_eq!((&status["apiVersion"], &status["status"]), (&json!("v1"), &json!("Failure")));
    }
    assert!(!registry.encode().contains("webhook=\"/b\""), "strangers' paths make no metrics");
}

#[tokio::test]
async fn content_types_may_have_parameters() {
    let request = Request::post("/a").header("content-type", "Application/JSON; charset=utf-8");
    let request = request.body(Full::new(Bytes::from(review("n").to_string()))).unwrap();
    assert_eq!(answer(&router(&Registry::new()), request).await.0, 200);
}

#[tokio::test]
async fn body_may_have_the_limits_size_but_not_more() {
    let router = router(&Registry::new());
    let mut review = review("n");
    review["request"]["object"] = json!("x".repeat(7 * 1024 * 1024 - review.to_string().len() - 12));
    let mut text = review.to_string();
    assert_eq!(text.len(), 7 * 1024 * 1024);
    assert_eq!(answer(&router, post("/a", text.clone())).await.0, 200);
    text.push(' ');
    let (code, status) = answer(&router, post("/a", text)).await;
    assert_eq!(
        (code, &status["message"]),
        (413, &json!("the request is too large; the limit is 7340032 bytes"))
    );
}

#[tokio::test]
async fn panic_response_does_not_contain_the_panic_message() {
    let registry = Registry::new();
    let router = router(&registry);
    let (code, status) = answer(&router, post("/a", review("panics").to_string())).await;
    assert_eq!((code, &status["message"]), (500, &json!("the webhook panicked; its log says more")));
    let text = registry.encode();
    assert!(text.contains("controller_runtime_webhook_panics_total 1\n"), "{text}");
    assert!(
        text.contains("controller_runtime_webhook_requests_total{code=\"500\",webhook=\"/a\"} 1\n"),
        "{text}"
    );
    assert!(text.contains("controller_runtime_webhook_requests_in_flight{webhook=\"/a\"} 0.0\n"), "{text}");
    assert_eq!(answer(&router, post("/a", review("n").to_string())).await.0, 200);
}

#[tokio::test(start_paused = true)]
async fn request_ends_when_the_api_server_no_longer_waits() {
    let router = router(&Registry::new());
    for (path, seconds) in [("/a?timeout=5s", 5), ("/a", 30), ("/a?timeout=1m0s", 30)] {
        let start = tokio::time::Instant::now();
        let (code, status) = answer(&router, post(path, review("hangs").to_string())).await;
        let message = format!("the webhook did not answer within {seconds} s");
        assert_eq!((code, &status["message"]), (504, &json!(message)));
        assert_eq!(start.elapsed(), Duration::from_secs(seconds));
    }
}

#[tokio::test(start_paused = true)]
async fn other_tasks_observe_the_end_of_the_call() {
    let (sender, mut receiver) = tokio::sync::mpsc::unbounded_channel();
    let handler = admission_fn(move |ctx: AdmissionContext| {
        sender.send((ctx.ended(), ctx.remaining())).unwrap();
        async { pending().await }
    });
    let server = Server::builder().admission("/a", handler).build().unwrap();
    let router = Arc::new(Router::new(server.hooks, Duration::from_secs(30), &Registry::new()));
    // The API server disconnects.
    let call = router.clone();
    let task = tokio::spawn(async move { call.serve(post("/a?timeout=8s", review("n").to_string())).await });
    let (ended, remaining) = receiver.recv().await.unwrap();
    assert_eq!(remaining, Duration::from_secs(8));
    task.abort();
    ended.await;
    // The call times out.
    assert_eq!(answer(&router, post("/a?timeout=1s", review("n").to_string())).await.0, 504);
    receiver.recv().await.unwrap().0.await;
}

#[test]
fn webhook_paths_must_be_callable() {
    let allow = || admission_fn(|_| async { AdmissionResponse::allowed() });
    for path in ["", "a", "/a?b", "/a#b", "/a b", "https://x/a"] {
        let error = Server::builder().admission(path, allow()).build().unwrap_err();
        assert!(matches!(&error, ServerError::Path { path: told } if told == path), "{error}");
    }
    let twice = Server::builder().admission("/a", allow()).admission("/a", allow()).build().unwrap_err();
    assert_eq!(twice.to_string(), "two webhooks are registered at /a; give one of them another path");
    let convert = || Server::builder().conversions(Conversions::new());
    for twice in [convert().admission("/convert", allow()), convert().conversions(Conversions::new())] {
        assert!(matches!(twice.build(), Err(ServerError::DuplicatePath { .. })));
    }
    let server = Server::builder().admission("/b", allow()).admission("/a", allow()).build().unwrap();
    assert_eq!(server.paths().collect::<Vec<_>>(), ["/a", "/b"]);
}

#[tokio::test]
async fn connections_beyond_the_limit_are_closed_at_once() {
    let pair = generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let folder = tempfile::TempDir::new().unwrap();
    let (certificate, key) = (folder.path().join("tls.crt"), folder.path().join("tls.key"));
    std::fs::write(&certificate, pair.cert.pem()).unwrap();
    std::fs::write(&key, pair.signing_key.serialize_pem()).unwrap();
    let shared = Arc::new(Shared {
        router: Arc::new(router(&Registry::new())),
        watcher: Arc::new(CertWatcher::builder(certificate, key).load().unwrap()),
        draining: CancellationToken::new(),
        streams: Streams::default(),
    });
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    let stop = CancellationToken::new();
    let accepting = {
        let stop = stop.clone();
        tokio::spawn(async move { listen::accept(listener, &shared, 1, &stop).await.len() })
    };
    let mut first = TcpStream::connect(address).await.unwrap();
    let mut second = TcpStream::connect(address).await.unwrap();
    assert_eq!(second.read(&mut [0]).await.unwrap_or(0), 0, "closed");
    let mut byte = [0];
    let waiting = tokio::time::timeout(Duration::from_millis(50), first.read(&mut byte)).await;
    assert!(waiting.is_err(), "the first is still there");
    // A closed connection makes room.
    drop(first);
    tokio::time::sleep(Duration::from_millis(50)).await;
    let mut third = TcpStream::connect(address).await.unwrap();
    let waiting = tokio::time::timeout(Duration::from_millis(50), third.read(&mut byte)).await;
    assert!(waiting.is_err(), "the third is served");
    stop.cancel();
    assert_eq!(accepting.await.unwrap(), 1);
}

/// Bytes that are nearly reviews: some bytes of a review are changed.
fn nearly_reviews() -> impl Strategy<Value = (bool, Vec<u8>)> {
    let conversion = json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview", "request": {
        "uid": "u", "desiredAPIVersion": "a/v2",
        "objects": [{"apiVersion": "a/v2", "kind": "W"}, {"apiVersion": "a/v1", "kind": "W", "metadata": {}}]}});
    let texts = [(true, review("n").to_string()), (false, conversion.to_string())];
    let changes = prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4);
    (prop::sample::select(texts.to_vec()), changes).prop_map(|((is_admission, text), changes)| {
        let mut bytes = text.into_bytes();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        (is_admission, bytes)
    })
}

proptest! {
    #[test]
    fn any_request_gets_a_response_without_a_panic((is_admission, body) in nearly_reviews()) {
        let registry = Registry::new();
        let router = router(&registry);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let path = if is_admission { "/a" } else { "/convert" };
        let (code, _) = runtime.block_on(answer(&router, post(path, body)));
        prop_assert!([200, 400].contains(&code));
        prop_assert!(registry.encode().contains("controller_runtime_webhook_panics_total 0\n"));
    }
}
