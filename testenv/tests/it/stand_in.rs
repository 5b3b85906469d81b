//! Programs that act as etcd and kube-apiserver, for tests of how an environment runs the real ones.
//!
//! [`assets`] writes a folder of scripts that call this test executable again, which then runs [`stand_in`].
//! It accepts the flags of the real programs. The stand-in of etcd responds to `/health`. The stand-in of
//! kube-apiserver runs the embedded server on the port and with the certificates that the flags name, and
//! authenticates clients by their certificates.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use http::{Request, Response, StatusCode};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use kube::client::Body;
use kubesmith_testenv::{Backend, TestEnv};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use serde_json::json;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

/// How a stand-in behaves.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    Good,
    /// Ends at once with a message.
    Exits,
    /// Fails the first time as if another process had taken its port.
    LosesItsPortOnce,
    /// Runs but reports that it is not ready.
    NeverReady,
    /// Does not end when asked to.
    IgnoresTerm,
}

/// A folder for `KUBEBUILDER_ASSETS`. It also takes, per program, the file `<name>.args` with the flags of the last start
/// and `<name>.pids` with all process ids.
pub(crate) fn assets(etcd: Mode, api_server: Mode) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    script(folder.path(), "etcd", etcd);
    script(folder.path(), "kube-apiserver", api_server);
    folder
}

fn script(folder: &Path, name: &str, mode: Mode) {
    let exe = std::env::current_exe().unwrap();
    let first = match mode {
        Mode::Exits => "echo \"$0 cannot go on\" >&2; exit 1",
        Mode::LosesItsPortOnce => {
            "if mkdir \"$0.first\" 2>/dev/null; then echo 'bind: address already in use' >&2; exit 1; fi"
        }
        _ => "",
    };
    let ready = if mode == Mode::NeverReady { "no" } else { "yes" };
    let term = if mode == Mode::IgnoresTerm { "no" } else { "yes" };
    let text = format!(
        "#!/bin/sh\n\
         case \" $* \" in *\" --help \"*) printf 'Usage:\\n  --unsafe-no-fsync '\"'false'\"'\\n'; exit 0;; esac\n\
         printf '%s\\n' \"$@\" | tee \"$0.args\" > \"$0.args.$$\"; echo $$ >> \"$0.pids\"\n\
         {first}\n\
         export STAND_IN={name} STAND_IN_ARGS=\"$0.args.$$\" STAND_IN_READY={ready} STAND_IN_TERM={term}\n\
         exec '{}' stand_in::stand_in --exact --ignored --nocapture\n",
        exe.display()
    );
    executable(&folder.join(name), &text);
}

/// Writes a script.
pub(crate) fn executable(path: &Path, text: &str) {
    let source = path.with_extension("source");
    std::fs::write(&source, text).unwrap();
    std::fs::set_permissions(&source, std::fs::Permissions::from_mode(0o755)).unwrap();
    // A file that is open for writing cannot be executed, and a program that another test starts meanwhile
    // inherits the files that are open here.
    assert!(Command::new("cp").args([source.as_path(), path]).status().unwrap().success());
}

/// The flags that a program was started with last.
pub(crate) fn arguments(assets: &Path, name: &str) -> Vec<String> {
    let text = std::fs::read_to_string(assets.join(format!("{name}.args"))).unwrap();
    text.lines().map(str::to_owned).collect()
}

/// The running processes of a program. A zombie does not count.
pub(crate) fn running(assets: &Path, name: &str) -> Vec<u32> {
    let text = std::fs::read_to_string(assets.join(format!("{name}.pids"))).unwrap_or_default();
    let runs = |pid: &u32| {
        let status = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        status.rsplit(')').next().is_some_and(|rest| !rest.is_empty() && !rest.trim_start().starts_with('Z'))
    };
    text.lines().map(|line| line.parse().unwrap()).filter(runs).collect()
}

/// Not a test: the scripts call it.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "acts as etcd or kube-apiserver for other tests"]
async fn stand_in() {
    let Ok(name) = std::env::var("STAND_IN") else { return };
    let text = std::fs::read_to_string(std::env::var("STAND_IN_ARGS").unwrap()).unwrap();
    let flag = |line: &str| {
        let (name, value) = line.strip_prefix("--").unwrap().split_once('=').unwrap();
        (name.to_owned(), value.to_owned())
    };
    let flags: BTreeMap<String, String> = text.lines().map(flag).collect();
    let ready = std::env::var("STAND_IN_READY").unwrap() == "yes";
    if std::env::var("STAND_IN_TERM").unwrap() == "no" {
        let kind = tokio::signal::unix::SignalKind::terminate();
        // The handler stays for the life of the process.
        drop(tokio::signal::unix::signal(kind).unwrap());
    }
    eprintln!("{name} starts");
    if name == "etcd" { etcd(&flags, ready).await } else { api_server(&flags, ready).await }
}

async fn etcd(flags: &BTreeMap<String, String>, ready: bool) {
    let addr = flags["listen-client-urls"].strip_prefix("http://").unwrap();
    std::fs::create_dir(&flags["data-dir"]).unwrap();
    let socket = TcpListener::bind(addr).await.unwrap();
    loop {
        let (stream, _) = socket.accept().await.unwrap();
        let service = service_fn(move |request: Request<Incoming>| async move {
            assert_eq!(request.uri().path(), "/health");
            let status = if ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
            let body = r#"{"health":"true"}"#.to_owned();
            Ok::<_, Infallible>(Response::builder().status(status).body(body).unwrap())
        });
        tokio::spawn(async move {
            let _ = Builder::new(TokioExecutor::new()).serve_connection(TokioIo::new(stream), service).await;
        });
    }
}

async fn api_server(flags: &BTreeMap<String, String>, ready: bool) {
    let env = TestEnv::builder().backend(Backend::Embedded).start().await.unwrap();
    let acceptor = acceptor(flags);
    let addr = format!("{}:{}", flags["bind-address"], flags["secure-port"]);
    let socket = TcpListener::bind(addr).await.unwrap();
    loop {
        let (stream, _) = socket.accept().await.unwrap();
        let (acceptor, client) = (acceptor.clone(), env.client());
        tokio::spawn(async move {
            // A prober that does not trust this certificate yet closes the connection.
            let _ = connection(stream, acceptor, client, ready).await;
        });
    }
}

fn acceptor(flags: &BTreeMap<String, String>) -> TlsAcceptor {
    let folder = PathBuf::from(&flags["cert-dir"]);
    let certificate = CertificateDer::from_pem_file(folder.join("apiserver.crt")).unwrap();
    let key = PrivateKeyDer::from_pem_file(folder.join("apiserver.key")).unwrap();
    for name in ["service-account-key-file", "service-account-signing-key-file"] {
        assert!(std::fs::read_to_string(&flags[name]).unwrap().starts_with("-----BEGIN P"), "{name}");
    }
    let mut roots = rustls::RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(&flags["client-ca-file"]).unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let verifier =
        WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider.clone()).build().unwrap();
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_client_cert_verifier(verifier)
        .with_single_cert(vec![certificate], key)
        .unwrap();
    TlsAcceptor::from(Arc::new(config))
}

async fn connection(
    stream: TcpStream,
    acceptor: TlsAcceptor,
    client: kube::Client,
    ready: bool,
) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let stream = acceptor.accept(stream).await?;
    let certificate = stream.get_ref().1.peer_certificates().unwrap()[0].clone();
    let service = service_fn(move |request: Request<Incoming>| {
        let (client, user) = (client.clone(), user(&certificate));
        async move {
            let path = request.uri().path();
            if path == "/readyz" && !ready {
                return Ok(Response::builder().status(500).body(Body::empty()).unwrap());
            }
            if path.ends_with("/selfsubjectreviews") {
                let text = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview",
                                  "metadata": {}, "status": {"userInfo": user}});
                return Ok(Response::builder()
                    .status(201)
                    .body(text.to_string().into_bytes().into())
                    .unwrap());
            }
            let (parts, body) = request.into_parts();
            let body = body.collect().await.map_err(kube::Error::HyperError)?.to_bytes();
            client.send(Request::from_parts(parts, body.into())).await
        }
    });
    Builder::new(TokioExecutor::new()).serve_connection(TokioIo::new(stream), service).await
}

/// The user and the groups in a certificate, as kube-apiserver reads them.
fn user(certificate: &CertificateDer<'_>) -> serde_json::Value {
    let (_, certificate) = x509_parser::parse_x509_certificate(certificate).unwrap();
    let subject = certificate.subject();
    let name = subject.iter_common_name().next().unwrap().as_str().unwrap();
    let groups: Vec<&str> = subject.iter_organization().map(|group| group.as_str().unwrap()).collect();
    json!({"username": name, "groups": groups})
}
