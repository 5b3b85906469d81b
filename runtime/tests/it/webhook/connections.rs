//! Protocols, limits and the end of connections.

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo};
use kubesmith_runtime::metrics::Registry;
use kubesmith_runtime::webhook::{
    AdmissionContext, AdmissionHandler, AdmissionResponse, ServerBuilder, ServerError, TlsVersion,
    admission_fn,
};
use rustls::version::{TLS12, TLS13};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::{Notify, Semaphore};
use tokio::time::{Instant, sleep, timeout};

use super::support::{Authority, Client, Running, answer, exchange, review, served, write};

const PATIENCE: Duration = Duration::from_secs(30);

fn allowing() -> impl AdmissionHandler {
    admission_fn(|_| async { AdmissionResponse::allowed() })
}

/// Reports each call, answers when it is released, and reports if it is dropped before.
#[derive(Clone, Default)]
struct Gate {
    called: Arc<Notify>,
    open: Arc<Notify>,
    dropped: Arc<Notify>,
}

struct Guard(Option<Arc<Notify>>);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.iter().for_each(|dropped| dropped.notify_one());
    }
}

impl Gate {
    fn handler(&self) -> impl AdmissionHandler + use<> {
        let gate = self.clone();
        admission_fn(move |_: AdmissionContext| {
            let gate = gate.clone();
            async move {
                let mut guard = Guard(Some(gate.dropped));
                gate.called.notify_one();
                gate.open.notified().await;
                guard.0 = None;
                AdmissionResponse::allowed()
            }
        })
    }
}

async fn soon<T>(future: impl Future<Output = T>) -> T {
    timeout(PATIENCE, future).await.expect("it takes too long")
}

#[tokio::test]
async fn client_chooses_the_protocol() {
    let server = Running::start(|server| server.admission("/a", allowing())).await;
    let stream = server.connect(&["h2", "http/1.1"]).await;
    assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
    let (mut sender, connection) =
        http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await.unwrap();
    let connection = tokio::spawn(connection);
    // Two at a time on one connection.
    let request = || {
        let request = Request::post("https://x/a?timeout=10s").header("content-type", "application/json");
        request.body(Full::new(Bytes::from(review("m")))).unwrap()
    };
    let (first, second) = (sender.send_request(request()), sender.clone().send_request(request()));
    let (first, second) = tokio::join!(first, second);
    for response in [first.unwrap(), second.unwrap()] {
        assert_eq!(response.status(), 200);
        let body = response.into_body().collect().await.unwrap().to_bytes();
        assert!(body.windows(14).any(|part| part == b"\"allowed\":true"));
    }
    drop(sender);
    soon(connection).await.unwrap().unwrap();
    for alpn in [&["http/1.1"][..], &[]] {
        let mut stream = server.connect(alpn).await;
        assert_eq!(exchange(&mut stream, "/a", &review("m")).await.0, 200);
    }
    server.stop().await;
    let server = Running::start(|server| server.without_http2().admission("/a", allowing())).await;
    let stream = server.connect(&["h2", "http/1.1"]).await;
    assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"http/1.1"[..]));
    server.stop().await;
}

#[tokio::test]
async fn older_tls_is_refused() {
    let server = Running::start(|server| server.min_tls_version(TlsVersion::V1_3)).await;
    for (version, is_taken) in [(&TLS12, false), (&TLS13, true)] {
        let client = Client { versions: &[version], ..Client::new(&server.authority.pem) };
        assert_eq!(client.connect(server.address).await.is_ok(), is_taken);
    }
    server.stop().await;
    let server = Running::start(|server| server).await;
    let client = Client { versions: &[&TLS12], ..Client::new(&server.authority.pem) };
    assert!(client.connect(server.address).await.is_ok(), "1.2 is taken unless told otherwise");
    server.stop().await;
}

#[tokio::test]
async fn client_certificates_are_required_when_configured() {
    let (clients, strangers) = (Authority::new("clients"), Authority::new("strangers"));
    let authority = Authority::new("webhooks");
    let (folder, builder) = served(&authority);
    let ca = folder.path().join("ca.crt");
    std::fs::write(&ca, &clients.pem).unwrap();
    let builder = builder.client_ca_name("ca.crt").admission("/a", allowing());
    let server = builder
        .certificates(|watcher| watcher.interval(Duration::from_millis(20)))
        .build()
        .unwrap()
        .bind()
        .await
        .unwrap();
    let server = Running::run(server, authority, folder);
    let (known, stranger) = (clients.pair(), strangers.pair());
    let is_served = async |pair| {
        let client = Client { pair, ..Client::new(&server.authority.pem) };
        // With TLS 1.3, the client receives the refusal when it reads.
        let Ok(mut stream) = client.connect(server.address).await else { return false };
        let head = b"POST /none HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
        let mut text = String::new();
        stream.write_all(head).await.is_ok()
            && stream.flush().await.is_ok()
            && stream.read_to_string(&mut text).await.is_ok()
            && text.contains("404")
    };
    assert!(is_served(Some(&known)).await);
    assert!(!is_served(Some(&stranger)).await);
    assert!(!is_served(None).await);
    // The CAs are also read again.
    std::fs::write(&ca, &strangers.pem).unwrap();
    soon(async {
        while !is_served(Some(&stranger)).await {
            sleep(Duration::from_millis(10)).await;
        }
    })
    .await;
    assert!(!is_served(Some(&known)).await);
    server.stop().await;
}

#[tokio::test]
async fn connections_without_tls_are_closed() {
    let server = Running::start(|server| server.admission("/a", allowing())).await;
    for bytes in
        [&b"POST /a HTTP/1.1\r\nhost: x\r\n\r\n"[..], &[0; 64], &[0x16, 3, 1, 0xff, 0xff, 1, 0, 0, 0]]
    {
        let mut stream = TcpStream::connect(server.address).await.unwrap();
        stream.write_all(bytes).await.unwrap();
        stream.shutdown().await.unwrap();
        let mut answer = Vec::new();
        // An alert, or nothing.
        let read = soon(stream.read_to_end(&mut answer)).await;
        assert!(read.is_err() || answer.len() < 16, "{answer:?}");
    }
    assert_eq!(server.post("/a", &review("m")).await.0, 200, "everybody else is served");
    server.stop().await;
}

#[tokio::test]
async fn slow_clients_are_disconnected() {
    let server = Running::start(|server| server.admission("/a", allowing())).await;
    let mut silent = TcpStream::connect(server.address).await.unwrap();
    let mut slow = server.connect(&["http/1.1"]).await;
    slow.write_all(b"POST /a HTTP/1.1\r\nhost:").await.unwrap();
    slow.flush().await.unwrap();
    let mut silent_http2 = server.connect(&["h2"]).await;
    let mut body = server.connect(&["http/1.1"]).await;
    let head =
        b"POST /a?timeout=20s HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-type: application/json\r\n\
                 content-length: 100\r\n\r\n{";
    body.write_all(head).await.unwrap();
    body.flush().await.unwrap();
    // Lets the server read everything that was sent before time advances.
    sleep(Duration::from_millis(200)).await;
    tokio::time::pause();
    // The limits began before, and a busy machine may have taken seconds of them.
    let start = Instant::now();
    let (code, status) = answer(&mut body).await;
    assert_eq!((code, status["reason"].as_str()), (504, Some("Timeout")));
    assert!((11..=21).contains(&start.elapsed().as_secs()), "{:?}", start.elapsed());
    let _ = slow.read(&mut [0; 64]).await;
    assert!((22..=38).contains(&start.elapsed().as_secs()), "{:?}", start.elapsed());
    let _ = silent.read(&mut [0; 64]).await;
    let mut rest = Vec::new();
    let _ = silent_http2.read_to_end(&mut rest).await;
    assert!((22..=38).contains(&start.elapsed().as_secs()), "{:?}", start.elapsed());
    server.stop().await;
}

#[tokio::test]
async fn idle_connections_are_closed_later_than_clients_do() {
    let server = Running::start(|server| server.admission("/a", allowing())).await;
    let mut stream = server.connect(&["http/1.1"]).await;
    let body = review("m");
    let head = format!(
        "POST /a HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut buffer = [0; 4096];
    for _ in 0..2 {
        stream.write_all(head.as_bytes()).await.unwrap();
        stream.flush().await.unwrap();
        assert!(stream.read(&mut buffer).await.unwrap() > 0, "the connection is kept");
    }
    sleep(Duration::from_millis(100)).await;
    tokio::time::pause();
    let start = Instant::now();
    assert_eq!(stream.read(&mut buffer).await.unwrap_or(0), 0);
    assert!((60..=96).contains(&start.elapsed().as_secs()), "{:?}", start.elapsed());
    server.stop().await;
}

#[tokio::test]
async fn oversized_body_is_read_to_its_end_and_refused() {
    let server = Running::start(|server| server.admission("/a", allowing())).await;
    let (code, status) = server.post("/a", &"x".repeat(16 * 1024 * 1024)).await;
    assert_eq!((code, status["reason"].as_str()), (413, Some("RequestEntityTooLarge")));
    let mut stream = server.connect(&["http/1.1"]).await;
    let head = format!("POST /a HTTP/1.1\r\nhost: x\r\nx: {}\r\n\r\n", "x".repeat(2 << 20));
    // It may close the connection while the head is still being sent.
    let _ = stream.write_all(head.as_bytes()).await;
    let _ = stream.flush().await;
    let mut text = Vec::new();
    let _ = soon(stream.read_to_end(&mut text)).await;
    assert!(text.is_empty() || text.starts_with(b"HTTP/1.1 431"), "{:?}", String::from_utf8_lossy(&text));
    assert_eq!(server.post("/a", &review("m")).await.0, 200);
    server.stop().await;
}

#[tokio::test]
async fn stop_waits_for_running_requests_of_both_protocols() {
    let gate = Gate::default();
    let authority = Authority::new("webhooks");
    let (folder, builder) = served(&authority);
    let server = builder.admission("/a", gate.handler()).build().unwrap();
    let check = server.started_checker();
    assert_eq!(check().unwrap_err(), "the webhook server has not been started yet");
    let mut server = Running::run(server.bind().await.unwrap(), authority, folder);
    let mut idle = server.connect(&["http/1.1"]).await;
    let mut first = server.connect(&["http/1.1"]).await;
    let body = review("m");
    let first = tokio::spawn(async move { exchange(&mut first, "/a", &body).await });
    soon(gate.called.notified()).await;
    check().unwrap();
    let stream = server.connect(&["h2"]).await;
    let (mut sender, connection) =
        http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await.unwrap();
    let connection = tokio::spawn(connection);
    let request = Request::post("https://x/a").header("content-type", "application/json");
    let second = sender.send_request(request.body(Full::new(Bytes::from(review("m")))).unwrap());
    let second = tokio::spawn(second);
    soon(gate.called.notified()).await;
    server.stop.cancel();
    soon(async {
        while check().is_ok() {
            sleep(Duration::from_millis(1)).await;
        }
    })
    .await;
    assert!(TcpStream::connect(server.address).await.is_err(), "nobody new is served");
    assert!(timeout(Duration::from_millis(100), &mut server.task).await.is_err(), "two are still served");
    gate.open.notify_waiters();
    assert_eq!(soon(first).await.unwrap().0, 200);
    assert_eq!(soon(second).await.unwrap().unwrap().status(), 200);
    soon(server.task).await.unwrap();
    assert_eq!(soon(idle.read(&mut [0])).await.unwrap_or(0), 0);
    let _ = soon(connection).await.unwrap();
}

#[tokio::test]
async fn requests_are_aborted_after_the_grace_period() {
    let held = Arc::new(Semaphore::new(1));
    let kept = held.clone();
    let called = Arc::new(Notify::new());
    let calling = called.clone();
    let handler = admission_fn(move |_| {
        let (kept, calling) = (kept.clone(), calling.clone());
        async move {
            let _kept = kept.acquire().await;
            calling.notify_one();
            pending().await
        }
    });
    let grace = Duration::from_millis(50);
    let server = Running::start(|server| server.shutdown_grace(grace).admission("/a", handler)).await;
    let stream = server.connect(&["h2"]).await;
    let (mut sender, connection) =
        http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await.unwrap();
    let connection = tokio::spawn(connection);
    let request = Request::post("https://x/a").header("content-type", "application/json");
    let response = sender.send_request(request.body(Full::new(Bytes::from(review("m")))).unwrap());
    let response = tokio::spawn(response);
    soon(called.notified()).await;
    soon(server.stop()).await;
    assert_eq!(held.available_permits(), 1, "the request's task is gone");
    assert!(soon(response).await.unwrap().is_err());
    let _ = soon(connection).await.unwrap();
}

#[tokio::test]
async fn handler_ends_when_its_client_disconnects_or_the_server_is_dropped() {
    let gate = Gate::default();
    let server = Running::start(|server| server.admission("/a", gate.handler())).await;
    let mut stream = server.connect(&["http/1.1"]).await;
    let body = review("m");
    let head = format!(
        "POST /a HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.flush().await.unwrap();
    soon(gate.called.notified()).await;
    drop(stream);
    soon(gate.dropped.notified()).await;
    for drops_server in [false, true] {
        let stream = server.connect(&["h2"]).await;
        let (mut sender, connection) =
            http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await.unwrap();
        let connection = tokio::spawn(connection);
        let request = Request::post("https://x/a").header("content-type", "application/json");
        let response = sender.send_request(request.body(Full::new(Bytes::from(review("m")))).unwrap());
        let response = tokio::spawn(response);
        soon(gate.called.notified()).await;
        if drops_server {
            server.task.abort();
        } else {
            response.abort();
        }
        soon(gate.dropped.notified()).await;
        connection.abort();
    }
}

#[tokio::test]
async fn invalid_webhook_servers_are_refused_when_built() {
    let authority = Authority::new("webhooks");
    let (folder, builder) = served(&authority);
    let server = builder.build().unwrap().bind().await.unwrap();
    let taken = server.local_addr();
    let (_second, builder) = served(&authority);
    let error = builder.port(taken.port()).build().unwrap().bind().await.unwrap_err();
    assert!(error.to_string().starts_with(&format!("cannot serve webhooks on {taken}: ")), "{error}");
    std::fs::remove_file(folder.path().join("tls.key")).unwrap();
    let builder = kubesmith_runtime::webhook::Server::builder().cert_dir(folder.path()).port(0);
    let error = builder.build().unwrap().bind().await.unwrap_err();
    assert!(matches!(&error, ServerError::Certificate(_)), "{error}");
    assert!(error.to_string().contains("tls.key"), "{error}");
}

#[tokio::test]
async fn all_addresses_are_served_unless_one_is_set() {
    let authority = Authority::new("webhooks");
    let folder = tempfile::TempDir::new().unwrap();
    write(folder.path(), &authority.pair());
    let server = kubesmith_runtime::webhook::Server::builder().cert_dir(folder.path()).port(0);
    let server = server.admission("/a", allowing()).build().unwrap().bind().await.unwrap();
    assert!(server.local_addr().ip().is_unspecified());
    let mut server = Running::run(server, authority, folder);
    server.address.set_ip("127.0.0.1".parse().unwrap());
    assert_eq!(server.post("/a", &review("m")).await.0, 200);
    assert!(server.folder.path().exists());
    server.stop().await;
}

#[tokio::test]
async fn each_registry_has_its_own_metrics() {
    let (requests, reads) = (Registry::new(), Registry::new());
    let own = reads.clone();
    let settings = |server: ServerBuilder| {
        let server = server.metrics(&requests).certificates(move |watcher| watcher.metrics(&own));
        server.admission("/a", allowing())
    };
    let server = Running::start(settings).await;
    assert_eq!(server.post("/a", &review("m")).await.0, 200);
    assert!(reads.encode().contains("certwatcher_read_certificate_total 1\n"));
    assert!(!requests.encode().contains("certwatcher"));
    let line = "controller_runtime_webhook_requests_total{code=\"200\",webhook=\"/a\"} 1\n";
    assert!(requests.encode().contains(line));
    server.stop().await;
}
