use std::collections::VecDeque;
use std::sync::atomic::{AtomicU32, Ordering};

use http::Method;

use super::body::Wire;
use super::*;
use crate::metrics::Registry;

/// A status and a `Retry-After`.
type Scripted = (u16, Option<&'static str>);

/// The server's answers, in this order; then success.
#[derive(Clone, Default)]
struct Script {
    answers: Arc<Mutex<VecDeque<Scripted>>>,
    /// When requests arrived, and their bodies.
    seen: Arc<Mutex<Vec<(Duration, String)>>>,
    takes: Duration,
}

impl Script {
    fn new(answers: impl IntoIterator<Item = Scripted>) -> Self {
        let answers = Arc::new(Mutex::new(answers.into_iter().collect()));
        Self { answers, ..Self::default() }
    }

    fn transport(&self, options: ClientOptions) -> Transport {
        let (script, start) = (self.clone(), Instant::now());
        let service = tower::service_fn(move |request: Request<Body>| {
            let script = script.clone();
            async move {
                let body = request.into_body().collect().await?.to_bytes();
                let text = String::from_utf8(body.to_vec())?;
                script.seen.lock().unwrap().push((start.elapsed(), text));
                tokio::time::sleep(script.takes).await;
                let (code, header) = script.answers.lock().unwrap().pop_front().unwrap_or((200, None));
                let mut answer = Response::builder().status(code);
                if let Some(header) = header {
                    answer = answer.header(RETRY_AFTER, header);
                }
                Ok::<_, BoxError>(answer.body(Wire::kube(Body::from(b"{}".to_vec())))?)
            }
        });
        let config = kube::Config::new("http://127.0.0.1:1".parse().unwrap());
        let transport = Transport::new(config, options).unwrap();
        transport.inner.current.lock().unwrap().stack = Stack::of(service);
        transport
    }

    fn times(&self) -> Vec<u64> {
        self.seen.lock().unwrap().iter().map(|(at, _)| at.as_millis() as u64).collect()
    }
}

fn post() -> Request<Body> {
    let request = Request::builder().method(Method::POST).uri("/api/v1/namespaces/default/configmaps");
    request.body(Body::from(b"{\"data\":{}}".to_vec())).unwrap()
}

fn get(uri: &str) -> Request<Body> {
    Request::get(uri).body(Body::empty()).unwrap()
}

async fn status(transport: &Transport, request: Request<Body>) -> u16 {
    transport.clone().call(request).await.unwrap().status().as_u16()
}

#[tokio::test(start_paused = true)]
async fn postponed_requests_are_retried_after_the_servers_delay() {
    let script = Script::new([(429, Some("2")), (503, Some("3")), (500, Some("1")), (201, None)]);
    let transport = script.transport(ClientOptions::new());
    assert_eq!(status(&transport, post()).await, 201);
    assert_eq!(script.times(), [0, 2000, 5000, 6000]);
    assert!(script.seen.lock().unwrap().iter().all(|(_, body)| body == "{\"data\":{}}"));
}

#[tokio::test(start_paused = true)]
async fn retry_delay_is_at_most_an_hour() {
    let script = Script::new([(429, Some("18446744073709551615"))]);
    let transport = script.transport(ClientOptions::new());
    assert_eq!(status(&transport, post()).await, 200);
    assert_eq!(script.times(), [0, 3_600_000]);
}

#[tokio::test(start_paused = true)]
async fn only_postponed_requests_are_retried() {
    for answer in [(429, None), (503, None), (404, Some("1")), (409, Some("1")), (503, Some("soon"))] {
        let script = Script::new([answer]);
        let transport = script.transport(ClientOptions::new());
        assert_eq!(status(&transport, post()).await, answer.0);
        assert_eq!(script.times().len(), 1, "{answer:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn retries_are_bounded() {
    let script = Script::new(std::iter::repeat_n((429, Some("1")), 100));
    let transport = script.transport(ClientOptions::new());
    assert_eq!(status(&transport, post()).await, 429);
    assert_eq!(script.times().len(), 11);

    let script = Script::new(std::iter::repeat_n((429, Some("1")), 100));
    let transport = script.transport(ClientOptions::new().max_retries(0));
    assert_eq!(status(&transport, post()).await, 429);
    assert_eq!(script.times(), [0]);
}

#[tokio::test(start_paused = true)]
async fn transport_does_not_retry_requests_of_reflectors() {
    let script = Script::new(std::iter::repeat_n((429, Some("1")), 100));
    let transport = script.transport(ClientOptions::new());
    let mut watch = get("/api/v1/pods?watch=true");
    watch.extensions_mut().insert(FromReflector);
    assert_eq!(status(&transport, watch).await, 429);
    assert_eq!(script.times().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn dropped_retry_sends_no_request() {
    let script = Script::new([(429, Some("60"))]);
    let transport = script.transport(ClientOptions::new());
    let waited = tokio::time::timeout(Duration::from_secs(5), status(&transport, post())).await;
    assert!(waited.is_err());
    tokio::time::sleep(Duration::from_secs(600)).await;
    assert_eq!(script.times().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn requests_wait_for_the_rate_limit() {
    let script = Script::default();
    let transport = script.transport(ClientOptions::new().rate_limit(2.0, 3));
    let requests = (0..7).map(|_| status(&transport, get("/version")));
    futures::future::join_all(requests).await;
    assert_eq!(script.times(), [0, 0, 0, 500, 1000, 1500, 2000]);
}

#[tokio::test(start_paused = true)]
async fn typed_clients_share_the_rate_limit_of_their_transport() {
    use crate::client::{RestClient, TypedClient};
    use k8s_openapi::api::apps::v1::Deployment;
    use k8s_openapi::api::core::v1::{ConfigMap, Node};

    let script = Script::default();
    let transport = script.transport(ClientOptions::new().rate_limit(2.0, 3));
    // As a clientset makes its clients.
    let client = kube::Client::new(transport, "default");
    let (core, apps) = (RestClient::new(client.clone(), "", "v1"), RestClient::new(client, "apps", "v1"));
    let maps = TypedClient::<ConfigMap>::namespaced(core.clone(), "default");
    let nodes = TypedClient::<Node>::cluster(core);
    let deployments = TypedClient::<Deployment>::namespaced(apps, "default");
    for _ in 0..2 {
        // The answer does not matter.
        let _ = maps.get("a").await;
        let _ = nodes.get("a").await;
        let _ = deployments.clone().get("a").await;
    }
    assert_eq!(script.times(), [0, 0, 0, 500, 1000, 1500]);
}

#[tokio::test(start_paused = true)]
async fn call_that_exceeds_its_timeout_is_a_transport_failure() {
    use crate::client::{Error, RestClient, TypedClient};
    use k8s_openapi::api::core::v1::ConfigMap;

    let script = Script { takes: Duration::from_secs(20), ..Script::default() };
    let transport = script.transport(ClientOptions::new().timeout(Duration::from_secs(5)));
    let rest = RestClient::new(kube::Client::new(transport, "default"), "", "v1");
    let maps = TypedClient::<ConfigMap>::namespaced(rest, "default");
    let error = maps.get("a").await.unwrap_err();
    assert!(matches!(error, Error::Transport { .. }) && error.status().is_none(), "{error:?}");
    let text = "cannot get configmaps \"default/a\": the request took longer than the timeout of 5s";
    assert_eq!(error.to_string(), text);
}

#[tokio::test(start_paused = true)]
async fn retries_count_against_the_rate_limit() {
    let script = Script::new([(429, Some("0"))]);
    let transport =
        script.transport(ClientOptions::new().rate_limit(1.0, 1).timeout(Duration::from_secs(60)));
    status(&transport, get("/version")).await;
    assert_eq!(script.times(), [0, 1000]);
}

#[tokio::test(start_paused = true)]
async fn dropped_call_returns_its_token() {
    let script = Script::default();
    let transport = script.transport(ClientOptions::new().rate_limit(1.0, 1));
    status(&transport, get("/version")).await;
    let given_up = tokio::time::timeout(Duration::from_millis(100), status(&transport, get("/version")));
    assert!(given_up.await.is_err());
    status(&transport, get("/version")).await;
    assert_eq!(script.times(), [0, 1000]);
}

#[tokio::test(start_paused = true)]
async fn timeout_applies_to_calls_but_not_to_watches() {
    let script = Script { takes: Duration::from_secs(20), ..Script::default() };
    let transport = script.transport(ClientOptions::new().timeout(Duration::from_secs(5)));
    let error = transport.clone().call(get("/version")).await.err().unwrap();
    assert_eq!(error.to_string(), "the request took longer than the timeout of 5s");
    assert_eq!(status(&transport, get("/api/v1/pods?watch=true&timeoutSeconds=300")).await, 200);
    assert_eq!(status(&transport, get("/api/v1/namespaces/a/pods/b/log?follow=true")).await, 200);
    assert!(transport.clone().call(get("/api/v1/pods?watch=false")).await.is_err());
}

#[tokio::test(start_paused = true)]
async fn timeout_includes_the_response_body() {
    let script = Script::default();
    let transport = script.transport(ClientOptions::new().timeout(Duration::from_secs(5)));
    let answer = transport.clone().call(get("/version")).await.unwrap();
    tokio::time::sleep(Duration::from_secs(6)).await;
    let error = answer.into_body().collect().await.err().unwrap();
    assert_eq!(error.to_string(), "the request took longer than the timeout of 5s");
}

#[tokio::test]
async fn compression_is_requested_only_if_enabled() {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&asked);
    let service = tower::service_fn(move |request: Request<Body>| {
        let header = request.headers().get(ACCEPT_ENCODING).map(|value| value.to_str().unwrap().to_owned());
        seen.lock().unwrap().push(header);
        async { Ok::<_, BoxError>(Response::new(Wire::kube(Body::empty()))) }
    });
    let config = || kube::Config::new("http://127.0.0.1:1".parse().unwrap());
    for (gzip, disabled) in [(false, false), (true, false), (true, true)] {
        let mut config = config();
        config.disable_compression = disabled;
        let transport = Transport::new(config, ClientOptions::new().gzip(gzip)).unwrap();
        transport.inner.current.lock().unwrap().stack = Stack::of(service.clone());
        status(&transport, get("/version")).await;
    }
    assert_eq!(*asked.lock().unwrap(), [None, Some("gzip".to_owned()), None]);
}

/// A transport whose token file contains `answer`, changed once for each request.
#[tokio::test(start_paused = true)]
async fn refused_credentials_are_read_again_with_a_minimum_interval() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("token");
    std::fs::write(&file, "old").unwrap();
    let mut config = kube::Config::new("http://127.0.0.1:1".parse().unwrap());
    config.auth_info.token_file = Some(file.to_str().unwrap().to_owned());
    let transport = Transport::new(config, ClientOptions::new()).unwrap();
    let requests = Arc::new(AtomicU32::new(0));
    let refuse = {
        let requests = Arc::clone(&requests);
        Stack::of(tower::service_fn(move |_: Request<Body>| {
            requests.fetch_add(1, Ordering::Relaxed);
            async {
                let refused = Response::builder().status(401).body(Wire::kube(Body::empty()));
                Ok::<_, BoxError>(refused?)
            }
        }))
    };
    transport.inner.current.lock().unwrap().stack = refuse.clone();
    let before = transport.inner.current().1;
    // The token is read again and the request is retried, but this address has no server.
    assert!(transport.clone().call(get("/version")).await.is_err());
    assert_eq!(transport.inner.current().1, before + 1);
    // Refused again, but ten seconds have not passed.
    transport.inner.current.lock().unwrap().stack = refuse;
    for _ in 0..100 {
        assert_eq!(status(&transport, get("/version")).await, 401);
    }
    assert_eq!(requests.load(Ordering::Relaxed), 101);
    tokio::time::sleep(RELOAD_INTERVAL).await;
    assert!(transport.clone().call(get("/version")).await.is_err());
    assert_eq!(transport.inner.current().1, before + 2);
}

#[tokio::test]
async fn constant_credentials_are_not_read_again() {
    let script = Script::new([(401, None)]);
    let transport = script.transport(ClientOptions::new());
    assert_eq!(status(&transport, get("/version")).await, 401);
    assert_eq!(script.times().len(), 1);
}

/// Returns the lines of a registry with this prefix.
fn lines(registry: &Registry, prefix: &str) -> Vec<String> {
    let text = registry.encode();
    text.lines().filter(|line| line.starts_with(prefix)).map(ToOwned::to_owned).collect()
}

#[tokio::test(start_paused = true)]
async fn tries_are_counted_by_code_method_and_host() {
    let registry = Registry::new();
    let script = Script::new([(429, Some("2")), (201, None), (404, None)]);
    let transport = script.transport(ClientOptions::new().metrics(&registry));
    assert_eq!(status(&transport, post()).await, 201);
    assert_eq!(status(&transport, get("/api/v1/pods/a")).await, 404);
    assert_eq!(
        lines(&registry, "rest_client_requests_total"),
        [
            r#"rest_client_requests_total{code="201",method="POST",host="127.0.0.1:1"} 1"#,
            r#"rest_client_requests_total{code="404",method="GET",host="127.0.0.1:1"} 1"#,
            r#"rest_client_requests_total{code="429",method="POST",host="127.0.0.1:1"} 1"#,
        ]
    );
    assert!(
        registry
            .encode()
            .contains("rest_client_request_duration_seconds_sum{verb=\"POST\",host=\"127.0.0.1:1\"} 2.0\n")
    );
    assert_eq!(lines(&registry, "rest_client_rate_limiter"), [""; 0]);
}

#[tokio::test]
async fn unanswered_request_is_counted_as_an_error() {
    let registry = Registry::new();
    // No server listens there.
    let config = kube::Config::new("http://127.0.0.1:1".parse().unwrap());
    let transport = Transport::new(config, ClientOptions::new().metrics(&registry)).unwrap();
    assert!(transport.clone().call(get("/api/v1/pods/a")).await.is_err());
    assert_eq!(
        lines(&registry, "rest_client_requests_total"),
        [r#"rest_client_requests_total{code="<error>",method="GET",host="127.0.0.1:1"} 1"#]
    );
}

#[tokio::test(start_paused = true)]
async fn call_is_timed_until_its_body_ends_and_a_watch_is_not_timed() {
    let registry = Registry::new();
    let transport = Script::default().transport(ClientOptions::new().metrics(&registry).rate_limit(1.0, 1));
    let count = || lines(&registry, "rest_client_request_duration_seconds_count");
    let answer = transport.clone().call(get("/api/v1/pods/a")).await.unwrap();
    tokio::time::sleep(Duration::from_secs(3)).await;
    assert_eq!(count(), [r#"rest_client_request_duration_seconds_count{verb="GET",host="127.0.0.1:1"} 0"#]);
    answer.into_body().collect().await.unwrap();
    let timed = [r#"rest_client_request_duration_seconds_count{verb="GET",host="127.0.0.1:1"} 1"#];
    assert_eq!(count(), timed);
    let sum = lines(&registry, "rest_client_request_duration_seconds_sum");
    assert!(sum[0].ends_with(" 3.0"), "{sum:?}");

    for _ in 0..2 {
        assert_eq!(status(&transport, get("/api/v1/pods?watch=true")).await, 200);
    }
    assert_eq!(count(), timed, "a watch lasts as long as it is asked to");
    let waits = lines(&registry, "rest_client_rate_limiter_duration_seconds_count");
    assert!(waits[0].ends_with(" 3"), "{waits:?}");
}
