//! Many writers at once, and hostile clients.

use futures::{StreamExt, TryStreamExt};
use http::{Method, Request, StatusCode};
use kube::ResourceExt;
use kube::api::{DeleteParams, ListParams, Patch, PatchParams, PostParams, WatchEvent, WatchParams};
use kube::client::Body;
use kubesmith_testenv::TestEnv;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use crate::support::{widget, widgets};

const WRITERS: usize = 20;
const ROUNDS: usize = 10;

/// Every watcher sees every version of every object, in the order of the versions, and the end state.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn watches_are_complete_and_ordered_under_concurrent_writers() {
    let env = TestEnv::builder().start().await.unwrap();
    let api = widgets(&env).await;
    let start = api.list(&ListParams::default()).await.unwrap().metadata.resource_version.unwrap();
    let mut tasks = JoinSet::new();
    for writer in 0..WRITERS {
        let api = api.clone();
        tasks.spawn(async move {
            let name = format!("w{writer}");
            api.create(&PostParams::default(), &widget(&name, json!({}))).await.unwrap();
            for round in 0..ROUNDS {
                let patch = Patch::Merge(json!({"spec": {"round": round}}));
                api.patch(&name, &PatchParams::default(), &patch).await.unwrap();
            }
            if writer % 2 == 0 {
                api.delete(&name, &DeleteParams::default()).await.unwrap();
            }
        });
    }
    let mut readers = JoinSet::new();
    let expected = WRITERS * (ROUNDS + 1) + WRITERS / 2;
    for _ in 0..5 {
        let (api, start) = (api.clone(), start.clone());
        readers.spawn(async move {
            let watch = api.watch(&WatchParams::default(), &start).await.unwrap();
            watch.take(expected).try_collect::<Vec<_>>().await.unwrap()
        });
    }
    tasks.join_all().await;
    let histories = readers.join_all().await;
    for history in &histories {
        let versions: Vec<u64> = history.iter().map(version).collect();
        assert!(versions.is_sorted_by(|a, b| a < b), "{versions:?}");
        assert_eq!(versions, histories[0].iter().map(version).collect::<Vec<_>>());
    }
    let deleted = histories[0].iter().filter(|e| matches!(e, WatchEvent::Deleted(_))).count();
    assert_eq!(deleted, WRITERS / 2);
    assert_eq!(api.list(&ListParams::default()).await.unwrap().items.len(), WRITERS / 2);
}

fn version(event: &WatchEvent<kube::api::DynamicObject>) -> u64 {
    match event {
        WatchEvent::Added(o) | WatchEvent::Modified(o) | WatchEvent::Deleted(o) => {
            o.resource_version().unwrap().parse().unwrap()
        }
        other => panic!("{other:?}"),
    }
}

/// Writers that read, change and write lose no update: conflicts are reported.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_updates_of_one_object_conflict_instead_of_getting_lost() {
    let env = TestEnv::builder().start().await.unwrap();
    let api = widgets(&env).await;
    api.create(&PostParams::default(), &widget("w", json!({"spec": {"n": 0}}))).await.unwrap();
    let mut tasks = JoinSet::new();
    for _ in 0..WRITERS {
        let api = api.clone();
        tasks.spawn(async move {
            loop {
                let mut object = api.get("w").await.unwrap();
                let n = object.data["spec"]["n"].as_u64().unwrap();
                object.data["spec"]["n"] = json!(n + 1);
                match api.replace("w", &PostParams::default(), &object).await {
                    Ok(_) => return,
                    Err(kube::Error::Api(status)) if status.code == 409 => {}
                    Err(other) => panic!("{other}"),
                }
            }
        });
    }
    tasks.join_all().await;
    assert_eq!(api.get("w").await.unwrap().data["spec"]["n"], json!(WRITERS));
}

#[tokio::test]
async fn hostile_requests_get_errors_and_the_server_continues() {
    let env = TestEnv::builder().start().await.unwrap();
    widgets(&env).await;
    let path = "/apis/a.example/v1/namespaces/default/widgets";
    let deep = format!("{}{}", "{\"a\":".repeat(5_000), "1").into_bytes();
    let brackets = b"[".repeat(2_000_000);
    for (method, path, kind, body, expected) in [
        (Method::POST, path, "application/json", deep, 400),
        (Method::POST, path, "application/json", brackets.clone(), 400),
        (Method::POST, path, "application/yaml", brackets, 400),
        (Method::POST, path, "application/json", b"{\"kind\":\"\xff\xfe\"}".to_vec(), 400),
        (Method::POST, path, "application/yaml", b"\xff\xfe".to_vec(), 400),
        (Method::POST, path, "application/json", vec![b' '; 4 * 1024 * 1024], 413),
        (Method::POST, path, "application/json", b"{\"metadata\":7}".to_vec(), 400),
        (Method::POST, path, "application/json", b"null".to_vec(), 400),
        (Method::GET, "/apis/a.example/v1/namespaces/%ff/widgets", "", Vec::new(), 404),
        (
            Method::GET,
            "/apis/a.example/v1/namespaces/default/widgets?labelSelector=%21%21((",
            "",
            Vec::new(),
            400,
        ),
        (Method::GET, "/apis/a.example/v1/namespaces/default/widgets?limit=x", "", Vec::new(), 400),
        (Method::GET, "/apis/a.example/v1/namespaces/default/widgets?continue=e30", "", Vec::new(), 400),
        (Method::TRACE, path, "", Vec::new(), 405),
    ] {
        let request = Request::builder().method(method).uri(path).header("content-type", kind);
        let response = env.client().send(request.body(Body::from(body)).unwrap()).await.unwrap();
        assert_eq!(response.status().as_u16(), expected, "{path} {kind}");
    }
    let response = env.client().send(Request::get("/readyz").body(Body::empty()).unwrap()).await.unwrap();
    assert_eq!(response.status(), StatusCode::OK);
}

/// An object that cannot be read must not be stored, by any kind of request.
#[tokio::test]
async fn patches_cannot_nest_beyond_a_limit() {
    let dir = tempfile::tempdir().unwrap();
    let env = TestEnv::builder().data_dir(dir.path()).start().await.unwrap();
    let api = widgets(&env).await;
    api.create(&PostParams::default(), &widget("w", json!({"spec": {"a": {}}}))).await.unwrap();
    // Each copies the object into its own innermost place.
    let place = |n: u32| format!("/spec{}", "/a".repeat(2_usize.pow(n)));
    let copies: Vec<_> = (0..15).map(|n| json!({"op": "copy", "from": "/spec", "path": place(n)})).collect();
    let request = Request::patch("/apis/a.example/v1/namespaces/default/widgets/w")
        .header("content-type", "application/json-patch+json")
        .body(Body::from(serde_json::to_vec(&copies).unwrap()));
    assert_eq!(env.client().send(request.unwrap()).await.unwrap().status(), 422);
    let nested = |levels: usize| (0..levels).fold(json!({}), |inner, _| json!({"a": inner}));
    for (levels, fits) in [(90, true), (110, false)] {
        let patch = Patch::Merge(json!({"spec": nested(levels)}));
        let patched = api.patch("w", &PatchParams::default(), &patch).await;
        assert_eq!(patched.is_ok(), fits, "{levels}: {patched:?}");
    }
    env.stop().await;
    let env = TestEnv::builder().data_dir(dir.path()).start().await.unwrap();
    assert_eq!(widgets(&env).await.get("w").await.unwrap().data["spec"], nested(90));
}

#[tokio::test]
async fn broken_connections_do_not_affect_others() {
    let mut env = TestEnv::builder().start().await.unwrap();
    let url = env.serve_plain(([127, 0, 0, 1], 0).into()).await.unwrap();
    let addr = url.strip_prefix("http://").unwrap().to_owned();
    let half_open = TcpStream::connect(&addr).await.unwrap();
    for garbage in [
        &b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc"[..],
        b"GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"NONSENSE\r\n\r\n",
    ] {
        let mut stream = TcpStream::connect(&addr).await.unwrap();
        stream.write_all(garbage).await.unwrap();
        stream.shutdown().await.unwrap();
        let mut answer = Vec::new();
        // A reset counts as a response here.
        let _ = stream.read_to_end(&mut answer).await;
    }
    let mut stream = TcpStream::connect(&addr).await.unwrap();
    stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    env.stop().await;
    drop(half_open);
    assert!(TcpStream::connect(&addr).await.is_err(), "a stopped server does not listen");
}

#[tokio::test]
async fn tls_client_is_refused_without_a_token() {
    let mut env = TestEnv::builder().start().await.unwrap();
    let mut config = env.config().await.unwrap();
    config.auth_info = kube::config::AuthInfo::default();
    let stranger = kube::Client::try_from(config).unwrap();
    let error = stranger.list_api_groups().await.unwrap_err();
    assert!(matches!(error, kube::Error::Api(status) if status.code == 401));
    env.stop().await;
}

#[tokio::test]
async fn wrong_token_is_refused_even_when_none_is_needed() {
    let mut env = TestEnv::builder().start().await.unwrap();
    let mut config = env.config().await.unwrap();
    config.auth_info = kube::config::AuthInfo::default();
    config.auth_info.token = Some("abc123".to_owned().into());
    let stranger = kube::Client::try_from(config).unwrap();
    let error = stranger.apiserver_version().await.unwrap_err();
    assert!(matches!(error, kube::Error::Api(status) if status.code == 401));
    env.stop().await;
}

#[tokio::test]
async fn token_review_accepts_the_servers_own_token() {
    let mut env = TestEnv::builder().start().await.unwrap();
    let config = env.config().await.unwrap();
    let token = serde_json::to_value(&config.auth_info).unwrap()["token"].as_str().unwrap().to_owned();
    let client = kube::Client::try_from(config).unwrap();
    let review = |token: &str| {
        let review = serde_json::json!({"spec": {"token": token}});
        let request = http::Request::post("/apis/authentication.k8s.io/v1/tokenreviews")
            .header("content-type", "application/json")
            .body(review.to_string().into_bytes());
        client.request::<serde_json::Value>(request.unwrap())
    };
    let known = review(&token).await.unwrap();
    assert_eq!(known["status"]["authenticated"], true);
    assert_eq!(known["status"]["user"]["username"], "kubesmith-testenv");
    assert_eq!(review("abc123").await.unwrap()["status"]["error"], "invalid bearer token");
    env.stop().await;
}
