//! Below HTTP: floods, half-open and broken connections, wrong TLS.

use std::time::Duration;

use kubesmith_testenv::TestEnv;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Many more connections than a careless client opens.
const CONNECTIONS: usize = 300;

async fn plain() -> (TestEnv, String) {
    let mut env = TestEnv::builder().start().await.unwrap();
    let url = env.serve_plain(([127, 0, 0, 1], 0).into()).await.unwrap();
    let addr = url.strip_prefix("http://").unwrap().to_owned();
    (env, addr)
}

/// Returns the server's response to these bytes until it closes the connection; nothing if it resets it.
async fn answer(addr: &str, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(addr).await.unwrap();
    // The server may close the connection before everything is sent.
    let _ = stream.write_all(bytes).await;
    let mut out = Vec::new();
    let _ = stream.read_to_end(&mut out).await;
    String::from_utf8_lossy(&out).into_owned()
}

async fn is_well(addr: &str) {
    let text = answer(addr, b"GET /readyz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").await;
    assert!(text.starts_with("HTTP/1.1 200"), "{text}");
}

#[tokio::test]
async fn floods_of_headers_are_refused() {
    let (env, addr) = plain().await;
    let many: String = (0..10_000).map(|i| format!("X-{i}: y\r\n")).collect();
    let long = format!("X-Long: {}\r\n", "y".repeat(2_000_000));
    let path = format!("GET /{} HTTP/1.1\r\nHost: x\r\n\r\n", "a/".repeat(1_000_000));
    for text in [
        format!("GET /readyz HTTP/1.1\r\nHost: x\r\n{many}\r\n"),
        format!("GET /readyz HTTP/1.1\r\nHost: x\r\n{long}\r\n"),
        path,
    ] {
        let answer = answer(&addr, text.as_bytes()).await;
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 4"), "{:.80}", answer);
        is_well(&addr).await;
    }
    env.stop().await;
}

#[tokio::test]
async fn broken_bodies_are_refused() {
    let (env, addr) = plain().await;
    let head = "POST /api/v1/namespaces/default/configmaps HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\
                Content-Type: application/json\r\n";
    let chunked = format!("{head}Transfer-Encoding: chunked\r\n\r\n");
    let big = format!("{chunked}{}0\r\n\r\n", format!("10000\r\n{}\r\n", "a".repeat(0x1_0000)).repeat(64));
    for (text, code) in [
        (format!("{chunked}zz\r\nabc\r\n"), "400"),
        (format!("{chunked}ffffffffffffffffff\r\nabc\r\n"), "400"),
        (format!("{chunked}5\r\nabcdefgh\r\n"), "400"),
        (format!("{head}Content-Length: -1\r\n\r\n"), "400"),
        (format!("{head}Content-Length: 5\r\nContent-Length: 6\r\n\r\nabcde"), "400"),
        (big, "413"),
    ] {
        let answer = answer(&addr, text.as_bytes()).await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {code}")), "{code}: {answer:.200}");
        is_well(&addr).await;
    }
    env.stop().await;
}

/// The server stops waiting for a body after kube-apiserver's time limit for a request.
#[tokio::test]
async fn request_times_out_when_its_body_does_not_arrive() {
    let (env, addr) = plain().await;
    let mut stream = TcpStream::connect(&addr).await.unwrap();
    let head =
        b"POST /api/v1/namespaces/default/configmaps HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{";
    stream.write_all(head).await.unwrap();
    tokio::task::yield_now().await;
    is_well(&addr).await;
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(61)).await;
    tokio::time::resume();
    let mut answer = vec![0; 12];
    stream.read_exact(&mut answer).await.unwrap();
    assert_eq!(String::from_utf8_lossy(&answer), "HTTP/1.1 504");
    env.stop().await;
}

#[tokio::test]
async fn slow_connections_do_not_block_others() {
    let (env, addr) = plain().await;
    let mut slow = Vec::new();
    for i in 0..CONNECTIONS {
        let mut stream = TcpStream::connect(&addr).await.unwrap();
        let beginnings: [&[u8]; 3] = [b"", b"GET /api/v1/pods HT", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"];
        stream.write_all(beginnings[i % beginnings.len()]).await.unwrap();
        slow.push(stream);
    }
    is_well(&addr).await;
    // They do not delay the shutdown either.
    env.stop().await;
    drop(slow);
}

#[tokio::test]
async fn wrong_tls_ends_its_own_connection() {
    let mut env = TestEnv::builder().start().await.unwrap();
    let url = env.serve(([127, 0, 0, 1], 0).into()).await.unwrap();
    let addr = url.strip_prefix("https://").unwrap().to_owned();
    for bytes in [
        &b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"[..],
        b"\x16\x03\x01\xff\xff\x01\x00\x00\x00",
        b"\x16\x03\x01\x00\x05\x01\x00\x00\x01\x00",
        b"\x80\x2e\x01\x00\x02",
        &[0; 4096],
    ] {
        let text = answer(&addr, bytes).await;
        assert!(!text.contains("HTTP/1.1 200"), "{text}");
    }
    let config = env.config().await.unwrap();
    let mut strange = config.clone();
    strange.root_cert = None;
    let client = kube::Client::try_from(strange).unwrap();
    assert!(client.apiserver_version().await.is_err(), "a client that does not know the authority hangs up");
    let client = kube::Client::try_from(config).unwrap();
    assert!(client.apiserver_version().await.is_ok());
    env.stop().await;
}

/// All paths except health and version need the token.
#[tokio::test]
async fn unauthenticated_clients_read_health_and_version_only() {
    let mut env = TestEnv::builder().start().await.unwrap();
    let mut config = env.config().await.unwrap();
    config.auth_info = kube::config::AuthInfo::default();
    let stranger = kube::Client::try_from(config).unwrap();
    for (path, code) in [
        ("/readyz", 200),
        ("/version", 200),
        ("/openapi/v3", 401),
        ("/api", 401),
        ("/api/v1/pods", 401),
        ("/x", 401),
    ] {
        let request = http::Request::get(path).body(kube::client::Body::empty()).unwrap();
        let response = stranger.send(request).await.unwrap();
        assert_eq!(response.status().as_u16(), code, "{path}");
    }
    env.stop().await;
}
