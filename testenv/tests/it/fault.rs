//! Every fault as a plain client sees it, without a socket and over one.

use std::net::Ipv4Addr;
use std::time::Duration;

use futures::{StreamExt as _, TryStreamExt as _};
use http_body_util::BodyStream;
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::api::{Api, ListParams, ObjectMeta, PostParams, WatchEvent, WatchParams};
use kube::core::Status;
use kube::{Client, Config};
use kubesmith_testenv::TestEnv;
use kubesmith_testenv::fault::{Fault, FaultLayer, FaultProxy, Random, Rule, Schedule, Verb};
use tokio::time::Instant;

fn maps(client: Client) -> Api<ConfigMap> {
    Api::namespaced(client, "default")
}

fn map(name: &str) -> ConfigMap {
    ConfigMap {
        metadata: ObjectMeta { name: Some(name.to_owned()), ..ObjectMeta::default() },
        ..ConfigMap::default()
    }
}

/// An environment with the maps `a`, `b` and `c`, and a proxy with one rule.
async fn proxy(rule: Rule) -> (TestEnv, FaultProxy) {
    let env = TestEnv::builder().start().await.unwrap();
    for name in ["a", "b", "c"] {
        maps(env.client()).create(&PostParams::default(), &map(name)).await.unwrap();
    }
    let proxy = env.fault_proxy(Schedule::new().rule(rule)).await.unwrap();
    (env, proxy)
}

/// A client without a socket, one over TLS and one over plain HTTP.
async fn clients(proxy: &mut FaultProxy) -> Vec<Client> {
    let direct = proxy.client();
    let tls = Client::try_from(proxy.config().await.unwrap()).unwrap();
    vec![direct, tls]
}

/// Runs `check` with every kind of client, each with a proxy of its own.
async fn everywhere<F: Future<Output = ()>>(rule: Rule, check: impl Fn(Client) -> F) {
    for kind in 0..2 {
        let (env, mut proxy) = proxy(rule.clone()).await;
        let client = clients(&mut proxy).await.swap_remove(kind);
        check(client).await;
        proxy.stop().await;
        env.stop().await;
    }
}

fn code(result: kube::Result<impl Sized>) -> Box<Status> {
    match result {
        Err(kube::Error::Api(status)) => status,
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("no error"),
    }
}

async fn count(api: &Api<ConfigMap>) -> usize {
    api.list(&ListParams::default()).await.unwrap().items.len()
}

/// The events of a watch from its beginning to its end: the names of the objects, or the code of an error.
async fn watched(client: Client) -> (Vec<String>, Option<kube::Error>) {
    let stream = maps(client).watch(&WatchParams::default().timeout(5), "0").await;
    let mut stream = match stream {
        Ok(stream) => stream.boxed(),
        Err(error) => return (Vec::new(), Some(error)),
    };
    let mut seen = Vec::new();
    loop {
        match stream.try_next().await {
            Ok(Some(WatchEvent::Error(status))) => seen.push(status.code.to_string()),
            Ok(Some(WatchEvent::Added(map))) => seen.push(map.metadata.name.unwrap()),
            Ok(Some(_)) => seen.push("other".to_owned()),
            Ok(None) => return (seen, None),
            Err(error) => return (seen, Some(error)),
        }
    }
}

#[tokio::test]
async fn dropped_request_never_reaches_the_server() {
    let rule = Rule::new(Fault::DropRequest).verb(Verb::Create).times(1);
    everywhere(rule, async |client| {
        let api = maps(client);
        let error = api.create(&PostParams::default(), &map("new")).await.unwrap_err();
        assert!(!matches!(error, kube::Error::Api(_)), "{error}");
        assert_eq!(count(&api).await, 3);
        api.create(&PostParams::default(), &map("new")).await.unwrap();
    })
    .await;
}

#[tokio::test]
async fn dropped_response_keeps_the_write() {
    let rule = Rule::new(Fault::DropAnswer).verb(Verb::Create).times(1);
    everywhere(rule, async |client| {
        let api = maps(client);
        let error = api.create(&PostParams::default(), &map("new")).await.unwrap_err();
        assert!(!matches!(error, kube::Error::Api(_)), "{error}");
        assert_eq!(count(&api).await, 4);
        assert_eq!(code(api.create(&PostParams::default(), &map("new")).await).code, 409);
    })
    .await;
}

#[tokio::test]
async fn response_is_cut_after_some_bytes() {
    let rule = Rule::new(Fault::DropAnswerAfter(30)).verb(Verb::List).times(1);
    everywhere(rule, async |client| {
        let api = maps(client);
        let error = api.list(&ListParams::default()).await.unwrap_err();
        assert!(!matches!(error, kube::Error::Api(_) | kube::Error::SerdeError(_)), "{error}");
        assert_eq!(count(&api).await, 3);
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn delay_uses_the_clock_of_tokio() {
    let (env, proxy) = proxy(Rule::new(Fault::Delay(Duration::from_secs(3600)))).await;
    let start = Instant::now();
    assert_eq!(count(&maps(proxy.client())).await, 3);
    assert_eq!(start.elapsed(), Duration::from_secs(3600));
    proxy.stop().await;
    env.stop().await;
}

#[tokio::test]
async fn injected_errors_have_kube_apiservers_text() {
    for (number, reason) in [(410, "Expired"), (500, "InternalError"), (503, "ServiceUnavailable")] {
        let rule = Rule::new(Fault::Status(number)).resource("configmaps").namespace("default").times(1);
        everywhere(rule, async |client| {
            // Not this one.
            Api::<Secret>::namespaced(client.clone(), "default").list(&ListParams::default()).await.unwrap();
            let status = code(maps(client.clone()).list(&ListParams::default()).await);
            assert_eq!((status.code, status.reason.as_str()), (number, reason));
            assert_eq!(count(&maps(client)).await, 3);
        })
        .await;
    }
}

#[tokio::test]
async fn too_many_requests_has_a_retry_after() {
    let (env, mut proxy) = proxy(Rule::new(Fault::TooManyRequests(7))).await;
    for client in clients(&mut proxy).await {
        let request = http::Request::get("/api/v1/configmaps").body(kube::client::Body::empty()).unwrap();
        let response = client.send(request).await.unwrap();
        assert_eq!(response.status(), 429);
        assert_eq!(response.headers()["retry-after"], "7");
        let status = code(maps(client).list(&ListParams::default()).await);
        assert_eq!(status.reason, "TooManyRequests");
        assert_eq!(status.details.unwrap().retry_after_seconds, 7);
    }
    proxy.stop().await;
    env.stop().await;
}

#[tokio::test]
async fn garbled_bytes_break_the_json() {
    let rule = Rule::new(Fault::Garble { at: 20, count: 3 }).verb(Verb::List).nth(2);
    everywhere(rule, async |client| {
        let api = maps(client);
        assert_eq!(count(&api).await, 3);
        let error = api.list(&ListParams::default()).await.unwrap_err();
        assert!(matches!(error, kube::Error::SerdeError(_) | kube::Error::FromUtf8(_)), "{error:?}");
        assert_eq!(count(&api).await, 3);
    })
    .await;
}

#[tokio::test]
async fn watch_ends_after_n_events() {
    everywhere(Rule::new(Fault::EndWatch(2)), async |client| {
        let (seen, error) = watched(client).await;
        assert!(error.is_none(), "{error:?}");
        assert_eq!(seen, ["a", "b"]);
    })
    .await;
}

#[tokio::test]
async fn watch_ends_within_an_event() {
    for fault in [Fault::TruncateWatch(1), Fault::EndWatchAfterBytes(300)] {
        everywhere(Rule::new(fault.clone()), async |client| {
            let (seen, error) = watched(client).await;
            assert!([&["a"][..], &["a", "b"]].iter().any(|names| seen == *names), "{seen:?}");
            assert!(
                error.is_none() || matches!(error, Some(kube::Error::SerdeError(_))),
                "{fault}: {error:?}"
            );
        })
        .await;
    }
}

#[tokio::test]
async fn watch_breaks_within_its_body() {
    everywhere(Rule::new(Fault::DropAnswerAfter(300)).verb(Verb::Watch), async |client| {
        // kube reports some broken watches as ended ones.
        let request = http::Request::get("/api/v1/configmaps?watch=1&resourceVersion=0&timeoutSeconds=5");
        let body = client.send(request.body(kube::client::Body::empty()).unwrap()).await.unwrap().into_body();
        let frames: Vec<Result<_, _>> = BodyStream::new(body).collect().await;
        let (last, before) = frames.split_last().unwrap();
        assert!(last.is_err(), "{last:?}");
        let read: usize = before.iter().map(|f| f.as_ref().unwrap().data_ref().unwrap().len()).sum();
        assert_eq!(read, 300);
    })
    .await;
}

#[tokio::test]
async fn watch_expires_with_an_event() {
    everywhere(Rule::new(Fault::ExpireWatch(1)), async |client| {
        let (seen, error) = watched(client).await;
        assert!(error.is_none(), "{error:?}");
        assert_eq!(seen, ["a", "410"]);
    })
    .await;
}

#[tokio::test]
async fn watch_is_refused() {
    everywhere(Rule::new(Fault::Status(410)).verb(Verb::Watch), async |client| {
        assert_eq!(code(maps(client).watch(&WatchParams::default(), "0").await).code, 410);
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn silent_watch_delivers_no_events_until_its_timeout() {
    for (fault, seconds) in
        [(Fault::SilenceWatch(None), 5), (Fault::SilenceWatch(Some(Duration::from_secs(2))), 2)]
    {
        let (env, proxy) = proxy(Rule::new(fault)).await;
        let start = Instant::now();
        let (seen, error) = watched(proxy.client()).await;
        assert!(error.is_none() && seen.is_empty(), "{seen:?} {error:?}");
        assert_eq!(start.elapsed().as_secs(), seconds);
        proxy.stop().await;
        env.stop().await;
    }
}

#[tokio::test]
async fn request_without_matching_rule_is_unchanged() {
    let (env, mut proxy) = proxy(Rule::new(Fault::DropRequest).resource("pods")).await;
    let direct = maps(env.client()).list(&ListParams::default()).await.unwrap().items;
    proxy.serve_plain((Ipv4Addr::LOCALHOST, 0).into()).await.unwrap();
    let plain = Client::try_from(Config::new(proxy.url().unwrap().parse().unwrap())).unwrap();
    assert_eq!(maps(plain).list(&ListParams::default()).await.unwrap().items, direct);
    for client in clients(&mut proxy).await {
        assert_eq!(maps(client.clone()).list(&ListParams::default()).await.unwrap().items, direct);
        let stream = maps(client).watch(&WatchParams::default(), "0").await.unwrap();
        assert_eq!(stream.take(3).filter(|event| std::future::ready(event.is_ok())).count().await, 3);
    }
    assert_eq!(proxy.injections(), []);
    proxy.stop().await;
    env.stop().await;
}

#[tokio::test]
async fn proxy_socket_requires_its_token() {
    let (env, mut proxy) = proxy(Rule::new(Fault::DropRequest).resource("pods")).await;
    let mut config = proxy.config().await.unwrap();
    config.auth_info.token = None;
    let stranger = Client::try_from(config).unwrap();
    assert_eq!(code(maps(stranger).list(&ListParams::default()).await).code, 401);
    proxy.stop().await;
    env.stop().await;
}

#[tokio::test]
async fn proxy_can_be_used_with_any_back_end() {
    let mut cluster = TestEnv::builder().start().await.unwrap();
    let config = cluster.config().await.unwrap();
    let builder = TestEnv::builder().backend(kubesmith_testenv::Backend::ExistingCluster);
    let env = builder.cluster_config(config).start().await.unwrap();
    let mut proxy =
        env.fault_proxy(Schedule::new().rule(Rule::new(Fault::Status(503)).nth(2))).await.unwrap();
    let client = clients(&mut proxy).await.swap_remove(1);
    let api = maps(client);
    api.create(&PostParams::default(), &map("a")).await.unwrap();
    assert_eq!(code(api.list(&ListParams::default()).await).code, 503);
    assert_eq!(count(&api).await, 1);
    proxy.stop().await;
    env.stop().await;
    cluster.stop().await;
}

#[tokio::test(start_paused = true)]
async fn run_repeats_with_the_seed_of_its_report() {
    let run = async |seed| {
        let (env, proxy) = proxy(Rule::new(Fault::DropRequest).resource("pods")).await;
        proxy.set_schedule(Schedule::seeded(seed));
        let client = proxy.client();
        for _ in 0..40 {
            let _ = maps(client.clone()).get("a").await;
            let _ = watched(client.clone()).await;
        }
        let report = proxy.report();
        proxy.stop().await;
        env.stop().await;
        report
    };
    let first = run(11).await;
    assert!(first.starts_with("seed 11, 0 rules, 80 requests, "), "{first}");
    assert!(first.contains("watch configmaps #") && first.contains("get configmaps #"), "{first}");
    assert_eq!(first, run(11).await);
    assert_ne!(first, run(12).await.replace("seed 12", "seed 11"));
}

#[tokio::test]
async fn fault_layer_breaks_requests_of_any_client() {
    let mut env = TestEnv::builder().start().await.unwrap();
    let faults = FaultLayer::new(Schedule::new().random(Random::seeded(1).probability(0.0)));
    let builder = kube::client::ClientBuilder::try_from(env.config().await.unwrap()).unwrap();
    let api = maps(builder.with_layer(&faults).build());
    assert_eq!(count(&api).await, 0);
    faults.add_rule(Rule::new(Fault::Status(500)).times(1));
    assert_eq!(code(api.list(&ListParams::default()).await).code, 500);
    assert_eq!(count(&api).await, 0);
    assert_eq!(faults.injections().len(), 1);
    env.stop().await;
}
