//! Certificates as a cluster would issue them, and scripted clients.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use kubesmith_runtime::controller::CancellationToken;
use kubesmith_runtime::webhook::{BoundServer, Server, ServerBuilder};
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore, SupportedProtocolVersion};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

/// A certificate and its key as PEM.
pub(crate) struct Pair {
    pub(crate) certificate: String,
    pub(crate) key: String,
}

/// Signs certificates.
pub(crate) struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pub(crate) pem: String,
}

impl Authority {
    pub(crate) fn new(name: &str) -> Self {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, name);
        let pem = params.self_signed(&key).unwrap().pem();
        Authority { issuer: Issuer::new(params, key), pem }
    }

    /// A certificate for a server on loopback, or for a client.
    pub(crate) fn pair(&self) -> Pair {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(vec!["localhost".to_owned(), "127.0.0.1".to_owned()]).unwrap();
        Pair { certificate: params.signed_by(&key, &self.issuer).unwrap().pem(), key: key.serialize_pem() }
    }
}

pub(crate) fn write(folder: &Path, pair: &Pair) {
    std::fs::write(folder.join("tls.crt"), &pair.certificate).unwrap();
    std::fs::write(folder.join("tls.key"), &pair.key).unwrap();
}

/// A server that runs, with a certificate of its own authority.
pub(crate) struct Running {
    pub(crate) authority: Authority,
    pub(crate) address: SocketAddr,
    pub(crate) stop: CancellationToken,
    pub(crate) task: JoinHandle<()>,
    pub(crate) folder: TempDir,
}

/// A folder with a certificate, and the settings of a server that uses it on a free port of loopback.
pub(crate) fn served(authority: &Authority) -> (TempDir, ServerBuilder) {
    let folder = TempDir::new().unwrap();
    write(folder.path(), &authority.pair());
    let loopback = "127.0.0.1".parse().unwrap();
    let builder = Server::builder().cert_dir(folder.path()).address(loopback).port(0);
    (folder, builder)
}

impl Running {
    pub(crate) async fn start(settings: impl FnOnce(ServerBuilder) -> ServerBuilder) -> Self {
        let authority = Authority::new("webhooks");
        let (folder, builder) = served(&authority);
        let server = settings(builder).build().unwrap().bind().await.unwrap();
        Self::run(server, authority, folder)
    }

    pub(crate) fn run(server: BoundServer, authority: Authority, folder: TempDir) -> Self {
        let (address, stop) = (server.local_addr(), CancellationToken::new());
        let task = tokio::spawn(server.run(stop.clone()));
        Running { authority, address, stop, task, folder }
    }

    /// A connection that offers these protocols.
    pub(crate) async fn connect(&self, alpn: &[&str]) -> TlsStream<TcpStream> {
        let client = Client { alpn, ..Client::new(&self.authority.pem) };
        client.connect(self.address).await.unwrap()
    }

    /// Sends a request over a connection of its own, and returns the code and the body.
    pub(crate) async fn post(&self, path: &str, body: &str) -> (u16, Value) {
        exchange(&mut self.connect(&["http/1.1"]).await, path, body).await
    }

    pub(crate) async fn stop(self) {
        self.stop.cancel();
        self.task.await.unwrap();
    }
}

/// A client and what it trusts, shows and speaks.
pub(crate) struct Client<'a> {
    pub(crate) roots: &'a str,
    pub(crate) pair: Option<&'a Pair>,
    pub(crate) alpn: &'a [&'a str],
    pub(crate) versions: &'a [&'static SupportedProtocolVersion],
}

impl<'a> Client<'a> {
    pub(crate) fn new(roots: &'a str) -> Self {
        Client { roots, pair: None, alpn: &["http/1.1"], versions: rustls::ALL_VERSIONS }
    }

    pub(crate) async fn connect(&self, address: SocketAddr) -> std::io::Result<TlsStream<TcpStream>> {
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(certificates(self.roots));
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config =
            ClientConfig::builder_with_provider(provider).with_protocol_versions(self.versions).unwrap();
        let config = config.with_root_certificates(roots);
        let mut config = match self.pair {
            None => config.with_no_client_auth(),
            Some(pair) => {
                let key = PrivateKeyDer::from_pem_slice(pair.key.as_bytes()).unwrap();
                config.with_client_auth_cert(certificates(&pair.certificate), key).unwrap()
            }
        };
        config.alpn_protocols = self.alpn.iter().map(|name| name.as_bytes().to_vec()).collect();
        let stream = TcpStream::connect(address).await?;
        let name = ServerName::from(address.ip());
        TlsConnector::from(Arc::new(config)).connect(name, stream).await
    }
}

fn certificates(pem: &str) -> Vec<CertificateDer<'static>> {
    CertificateDer::pem_slice_iter(pem.as_bytes()).collect::<Result<_, _>>().unwrap()
}

/// Sends a request over HTTP/1.1 and reads the answer, after which the connection is closed.
pub(crate) async fn exchange(stream: &mut TlsStream<TcpStream>, path: &str, body: &str) -> (u16, Value) {
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-type: application/json\r\n\
         content-length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.write_all(body.as_bytes()).await.unwrap();
    stream.flush().await.unwrap();
    answer(stream).await
}

/// Reads an answer to the end of the connection.
pub(crate) async fn answer(stream: &mut TlsStream<TcpStream>) -> (u16, Value) {
    let mut text = Vec::new();
    stream.read_to_end(&mut text).await.unwrap();
    let text = String::from_utf8(text).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no answer: {text:?}"));
    let code = head.split(' ').nth(1).unwrap().parse().unwrap();
    (code, serde_json::from_str(body).unwrap_or_else(|_| panic!("no JSON: {body:?}")))
}

/// A review about a config map of this name.
pub(crate) fn review(name: &str) -> String {
    json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {
        "uid": "u", "operation": "CREATE", "name": name, "namespace": "default",
        "kind": {"group": "", "version": "v1", "kind": "ConfigMap"},
        "resource": {"group": "", "version": "v1", "resource": "configmaps"},
        "object": {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}}}})
    .to_string()
}
