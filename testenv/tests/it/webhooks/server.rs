//! A webhook server as an operator would run one: HTTPS with the certificates of the environment.

use std::sync::{Arc, Mutex};

use bytes::Bytes;
use futures::FutureExt;
use futures::future::BoxFuture;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use kubesmith_testenv::{LocalServing, TestEnv};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;

/// What a webhook answers: a status code and a body.
pub(crate) type Answer = (u16, String);
type Handler = dyn Fn(&str, Value) -> BoxFuture<'static, Answer> + Send + Sync;

/// A running server; it ends with the value.
pub(crate) struct HookServer {
    calls: Arc<Mutex<Vec<(String, Value)>>>,
    task: JoinHandle<()>,
}

impl HookServer {
    /// Serves with `answer`, which gets the path and the review.
    pub(crate) async fn start<F>(env: &TestEnv, answer: F) -> Self
    where
        F: Fn(&str, Value) -> BoxFuture<'static, Answer> + Send + Sync + 'static,
    {
        let serving = env.local_serving().unwrap();
        let acceptor = acceptor(serving);
        let socket = TcpListener::bind((serving.host(), serving.port())).await.unwrap();
        let calls = Arc::default();
        let task = tokio::spawn(accept(socket, acceptor, Arc::new(answer), Arc::clone(&calls)));
        Self { calls, task }
    }

    /// Serves with answers that are ready at once: the `response` to a `request`, to which the `uid` is
    /// added.
    pub(crate) async fn responding<F>(env: &TestEnv, respond: F) -> Self
    where
        F: Fn(&str, &Value) -> Value + Send + Sync + 'static,
    {
        Self::start(env, move |path, review| {
            let response = respond(path, &review["request"]);
            async move { answered(&review, response) }.boxed()
        })
        .await
    }

    /// The requests so far: paths, and the `request` of each review.
    pub(crate) fn calls(&self) -> Vec<(String, Value)> {
        self.calls.lock().unwrap().clone()
    }

    /// The requests since the last time.
    pub(crate) fn take_calls(&self) -> Vec<(String, Value)> {
        std::mem::take(&mut self.calls.lock().unwrap())
    }
}

impl Drop for HookServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// The answer to a review.
pub(crate) fn answered(review: &Value, mut response: Value) -> Answer {
    response["uid"] = review["request"]["uid"].clone();
    (
        200,
        json!({"apiVersion": review["apiVersion"], "kind": review["kind"], "response": response}).to_string(),
    )
}

fn acceptor(serving: &LocalServing) -> TlsAcceptor {
    let chain = CertificateDer::pem_file_iter(serving.cert_dir().join("tls.crt")).unwrap();
    let chain = chain.collect::<Result<Vec<_>, _>>().unwrap();
    let key = PrivateKeyDer::from_pem_file(serving.cert_dir().join("tls.key")).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .unwrap();
    TlsAcceptor::from(Arc::new(config))
}

async fn accept(
    socket: TcpListener,
    acceptor: TlsAcceptor,
    handler: Arc<Handler>,
    calls: Arc<Mutex<Vec<(String, Value)>>>,
) {
    let mut connections = tokio::task::JoinSet::new();
    loop {
        let (stream, _) = socket.accept().await.unwrap();
        let (acceptor, handler, calls) = (acceptor.clone(), handler.clone(), calls.clone());
        connections.spawn(async move {
            let Ok(stream) = acceptor.accept(stream).await else { return };
            let service = service_fn(move |request| serve(request, handler.clone(), calls.clone()));
            let connection =
                hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service);
            // A client that breaks off ends its own connection only.
            let _ = connection.await;
        });
    }
}

async fn serve(
    request: Request<Incoming>,
    handler: Arc<Handler>,
    calls: Arc<Mutex<Vec<(String, Value)>>>,
) -> Result<Response<Full<Bytes>>, hyper::Error> {
    let path = request.uri().path().to_owned();
    let body = request.into_body().collect().await?.to_bytes();
    let review: Value = serde_json::from_slice(&body).unwrap();
    calls.lock().unwrap().push((path.clone(), review["request"].clone()));
    let (code, body) = handler(&path, review).await;
    let kind = if body.starts_with('{') { "application/json" } else { "text/plain" };
    Ok(Response::builder().status(code).header("content-type", kind).body(Full::from(body)).unwrap())
}

/// A webhook behind a service, whose path is its name's first label; `extra` replaces parts of it.
pub(crate) fn hook(name: &str, extra: &Value) -> Value {
    let mut hook = json!({
        "name": format!("{name}.hooks.example"), "sideEffects": "None", "admissionReviewVersions": ["v1"],
        "clientConfig": {"service": {"name": "hooks", "namespace": "system", "path": format!("/{name}")}},
        "rules": [{"operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*/*"]}],
    });
    for (key, value) in extra.as_object().into_iter().flatten() {
        hook[key] = value.clone();
    }
    hook
}

/// Installs a configuration of mutating webhooks.
pub(crate) async fn mutating(env: &TestEnv, name: &str, hooks: &[Value]) {
    let configuration = json!({"metadata": {"name": name}, "webhooks": hooks});
    env.install_webhooks(vec![serde_json::from_value(configuration).unwrap()], Vec::new()).await.unwrap();
}

/// Installs a configuration of validating webhooks.
pub(crate) async fn validating(env: &TestEnv, name: &str, hooks: &[Value]) {
    let configuration = json!({"metadata": {"name": name}, "webhooks": hooks});
    env.install_webhooks(Vec::new(), vec![serde_json::from_value(configuration).unwrap()]).await.unwrap();
}

/// A response with a JSON patch.
pub(crate) fn patched(operations: &Value) -> Value {
    use base64::Engine as _;
    let patch = base64::engine::general_purpose::STANDARD.encode(operations.to_string());
    json!({"allowed": true, "patchType": "JSONPatch", "patch": patch})
}
