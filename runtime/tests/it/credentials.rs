//! Credentials that the server refuses are read again: token files, commands, certificates.

use std::sync::{Arc, Mutex};

use http::header::AUTHORIZATION;
use http::{Request, StatusCode};
use hyper::body::Incoming;
use kube::api::PostParams;
use kubesmith_runtime::client::connect;
use kubesmith_testenv::TestEnv;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio_rustls::rustls::server::WebPkiClientVerifier;
use tokio_rustls::rustls::{RootCertStore, ServerConfig};

use crate::http::{Peer, Server, forward, informers, map, maps, show, text};

/// Accepts only requests with the current token.
async fn guarded(env: &TestEnv, token: &Arc<Mutex<String>>) -> Server {
    let (real, token) = (env.client(), Arc::clone(token));
    Server::start(None, move |request: Request<Incoming>| {
        let wanted = format!("Bearer {}", token.lock().unwrap());
        let is_known = request.headers().get(AUTHORIZATION).is_some_and(|value| *value == *wanted);
        let real = real.clone();
        async move {
            if is_known {
                return forward(&real, request).await;
            }
            text(StatusCode::UNAUTHORIZED.as_u16(), r#"{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Unauthorized","reason":"Unauthorized","code":401}"#)
        }
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn expired_token_is_read_again() {
    let env = TestEnv::builder().start().await.unwrap();
    let token = Arc::new(Mutex::new("one".to_owned()));
    let server = guarded(&env, &token).await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("token");
    std::fs::write(&file, "one").unwrap();
    let mut config = server.config();
    config.auth_info.token_file = Some(file.to_str().unwrap().to_owned());
    let client = connect(config).await.unwrap();
    client.apiserver_version().await.unwrap();
    // kube would read the file again after a minute.
    std::fs::write(&file, "two").unwrap();
    "two".clone_into(&mut token.lock().unwrap());
    maps(&client).create(&PostParams::default(), &map("written")).await.unwrap();
    let informer = informers(&client, 1).await;
    show(&informer, "written").await;
    env.stop().await;
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn credential_command_runs_again_when_its_token_is_refused() {
    let env = TestEnv::builder().start().await.unwrap();
    let token = Arc::new(Mutex::new("one".to_owned()));
    let server = guarded(&env, &token).await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("credential.json");
    let write = |token: &str| {
        let text = serde_json::json!({
            "apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential",
            "status": { "token": token, "expirationTimestamp": "2999-01-01T00:00:00Z" },
        });
        std::fs::write(&file, text.to_string()).unwrap();
    };
    write("one");
    let mut config = server.config();
    let exec = serde_json::json!({
        "apiVersion": "client.authentication.k8s.io/v1", "command": "cat", "args": [file],
        "interactiveMode": "Never",
    });
    config.auth_info.exec = Some(serde_json::from_value(exec).unwrap());
    let client = connect(config).await.unwrap();
    client.apiserver_version().await.unwrap();
    write("two");
    "two".clone_into(&mut token.lock().unwrap());
    client.apiserver_version().await.unwrap();
    env.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn refused_client_certificate_is_read_again() {
    let certificate = |name: &str| rcgen::generate_simple_self_signed(vec![name.to_owned()]).unwrap();
    let (host, first, second) = (certificate("127.0.0.1"), certificate("first"), certificate("second"));
    let mut roots = RootCertStore::empty();
    roots.add(first.cert.der().clone()).unwrap();
    roots.add(second.cert.der().clone()).unwrap();
    let known = WebPkiClientVerifier::builder(Arc::new(roots)).allow_unauthenticated().build().unwrap();
    let private = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(host.signing_key.serialize_der()));
    let tls = ServerConfig::builder()
        .with_client_cert_verifier(known)
        .with_single_cert(vec![host.cert.der().clone()], private)
        .unwrap();

    let env = TestEnv::builder().start().await.unwrap();
    let allowed = Arc::new(Mutex::new(first.cert.der().to_vec()));
    let (real, wanted) = (env.client(), Arc::clone(&allowed));
    let server = Server::start(Some(TlsAcceptor::from(Arc::new(tls))), move |request: Request<Incoming>| {
        let is_allowed = request.extensions().get() == Some(&Peer(Some(wanted.lock().unwrap().clone())));
        let real = real.clone();
        async move { if is_allowed { forward(&real, request).await } else { text(401, "who are you?") } }
    })
    .await;

    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let write = |key: &rcgen::CertifiedKey<rcgen::KeyPair>| {
        std::fs::write(path("cert.pem"), key.cert.pem()).unwrap();
        std::fs::write(path("key.pem"), key.signing_key.serialize_pem()).unwrap();
    };
    write(&first);
    let mut config = kube::Config::new(format!("https://{}", server.addr).parse().unwrap());
    config.root_cert = Some(vec![host.cert.der().to_vec()]);
    config.auth_info.client_certificate = Some(path("cert.pem"));
    config.auth_info.client_key = Some(path("key.pem"));
    let client = connect(config).await.unwrap();
    let informer = informers(&client, 1).await;

    write(&second);
    *allowed.lock().unwrap() = second.cert.der().to_vec();
    maps(&client).create(&PostParams::default(), &map("written")).await.unwrap();
    show(&informer, "written").await;
    env.stop().await;
}
