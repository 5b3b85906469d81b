//! A scripted API server, as the transport of a `kube::Client`.
//!
//! Every request becomes a [`Call`] that the test answers by hand. With paused time, each test is a script of
//! requests, responses and effects.

use std::collections::BTreeMap;
use std::time::Duration;

use bytes::Bytes;
use futures::channel::mpsc as stream;
use http::{Request, Response};
use http_body::Frame;
use http_body_util::StreamBody;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::client::Body;
use kubesmith_runtime::informer::SharedInformer;
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};

type Chunk = Result<Frame<Bytes>, std::io::Error>;
type Answer = Response<StreamBody<stream::UnboundedReceiver<Chunk>>>;

/// The test's end of the transport.
pub(crate) struct FakeServer {
    calls: mpsc::UnboundedReceiver<Call>,
    client: kube::Client,
}

/// A request that waits for its answer.
pub(crate) struct Call {
    pub(crate) path: String,
    pub(crate) query: BTreeMap<String, String>,
    answer: oneshot::Sender<Answer>,
}

/// A body that is being sent. Dropping it ends the body cleanly.
pub(crate) struct Sending(stream::UnboundedSender<Chunk>);

impl FakeServer {
    pub(crate) fn new() -> Self {
        let (sender, calls) = mpsc::unbounded_channel();
        let service = tower::service_fn(move |request: Request<Body>| {
            let sender = sender.clone();
            async move {
                let (answer, answered) = oneshot::channel();
                let query = request.uri().query().unwrap_or_default().split('&');
                let query = query.filter_map(|pair| pair.split_once('='));
                let call = Call {
                    path: request.uri().path().to_owned(),
                    query: query.map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
                    answer,
                };
                // After the test, no response comes, which looks like a broken connection.
                let gone = |_| std::io::Error::other("the server is gone");
                sender.send(call).map_err(|_| std::io::Error::other("the server is gone"))?;
                answered.await.map_err(gone)
            }
        });
        Self { calls, client: kube::Client::new(service, "default") }
    }

    pub(crate) fn client(&self) -> kube::Client {
        self.client.clone()
    }

    /// Returns the next request. Paused time runs until it comes.
    pub(crate) async fn call(&mut self) -> Call {
        let call = tokio::time::timeout(Duration::from_secs(7200), self.calls.recv()).await;
        call.expect("no request within two hours").unwrap()
    }

    /// The next request, which must be a watch that begins with the state.
    pub(crate) async fn streaming_list(&mut self) -> Call {
        let call = self.call().await;
        assert_eq!(call.get("sendInitialEvents"), Some("true"), "{:?}", call.query);
        assert_eq!(call.get("resourceVersionMatch"), Some("NotOlderThan"));
        assert_eq!(call.get("allowWatchBookmarks"), Some("true"));
        call
    }

    /// The next request, which must be a list.
    pub(crate) async fn list(&mut self) -> Call {
        let call = self.call().await;
        assert_eq!(call.get("watch"), None, "{:?}", call.query);
        call
    }

    /// The next request, which must be a plain watch.
    pub(crate) async fn watch(&mut self) -> Call {
        let call = self.call().await;
        assert_eq!(call.get("watch"), Some("true"), "{:?}", call.query);
        assert_eq!(call.get("sendInitialEvents"), None, "{:?}", call.query);
        call
    }

    /// Answers a streaming list with `objects` at `version` and keeps the watch open.
    pub(crate) async fn sync(&mut self, objects: &[Value], version: &str) -> Sending {
        let sending = self.streaming_list().await.ok();
        for object in objects {
            sending.event("ADDED", object);
        }
        sending.bookmark(version, true);
        sending
    }

    /// Whether no request has come.
    pub(crate) fn is_quiet(&mut self) -> bool {
        self.calls.try_recv().is_err()
    }
}

impl Call {
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.query.get(name).map(String::as_str)
    }

    /// Answers with success; the body follows.
    pub(crate) fn ok(self) -> Sending {
        self.begin(Response::builder())
    }

    fn begin(self, builder: http::response::Builder) -> Sending {
        let (sender, receiver) = stream::unbounded();
        let answer = builder.body(StreamBody::new(receiver)).unwrap();
        assert!(self.answer.send(answer).is_ok(), "nobody waits for the answer");
        Sending(sender)
    }

    /// Answers with a whole body.
    pub(crate) fn json(self, body: &Value) {
        self.ok().bytes(body.to_string());
    }

    /// Answers with a page of a list.
    pub(crate) fn page(self, objects: &[Value], version: &str, continue_token: Option<&str>) {
        self.json(&json!({
            "kind": "ConfigMapList", "apiVersion": "v1",
            "metadata": { "resourceVersion": version, "continue": continue_token },
            "items": objects,
        }));
    }

    /// Answers with a failure.
    pub(crate) fn refuse(self, code: u16, reason: &str) {
        self.refuse_after(code, reason, None);
    }

    /// Answers with a failure and a `Retry-After` header.
    pub(crate) fn refuse_after(self, code: u16, reason: &str, seconds: Option<u64>) {
        let mut builder = Response::builder().status(code);
        if let Some(seconds) = seconds {
            builder = builder.header("retry-after", seconds);
        }
        self.begin(builder).bytes(status(code, reason).to_string());
    }

    /// Answers with a failure that is not a `Status`.
    pub(crate) fn refuse_text(self, code: u16, text: &'static str) {
        self.begin(Response::builder().status(code)).bytes(text);
    }

    /// Answers with the given failure.
    pub(crate) fn refuse_with(self, code: u16, status: &Value) {
        self.begin(Response::builder().status(code)).bytes(status.to_string());
    }
}

impl Sending {
    pub(crate) fn bytes(&self, bytes: impl Into<Bytes>) {
        // The receiver may have hung up, as when a watch is dropped.
        let _ = self.0.unbounded_send(Ok(Frame::data(bytes.into())));
    }

    pub(crate) fn event(&self, kind: &str, object: &Value) {
        self.bytes(format!("{}\n", json!({ "type": kind, "object": object })));
    }

    pub(crate) fn bookmark(&self, version: &str, initial_events_end: bool) {
        let annotations =
            if initial_events_end { json!({ "k8s.io/initial-events-end": "true" }) } else { json!(null) };
        let object = json!({
            "kind": "ConfigMap", "apiVersion": "v1",
            "metadata": { "resourceVersion": version, "annotations": annotations },
        });
        self.event("BOOKMARK", &object);
    }

    /// Breaks the connection.
    pub(crate) fn abort(self) {
        let _ = self.0.unbounded_send(Err(std::io::Error::other("connection reset")));
    }

    /// Whether the other side has hung up.
    pub(crate) fn is_closed(&self) -> bool {
        self.0.is_closed()
    }
}

pub(crate) fn status(code: u16, reason: &str) -> Value {
    json!({
        "kind": "Status", "apiVersion": "v1", "status": "Failure",
        "message": format!("{reason} says the test"), "reason": reason, "code": code,
    })
}

/// A config map in namespace `default`.
pub(crate) fn map(name: &str, version: u64) -> Value {
    map_in("default", name, version)
}

pub(crate) fn map_in(namespace: &str, name: &str, version: u64) -> Value {
    json!({
        "kind": "ConfigMap", "apiVersion": "v1",
        "metadata": {
            "name": name, "namespace": namespace, "resourceVersion": version.to_string(), "uid": name,
            "managedFields": [{ "manager": "test", "operation": "Update", "fieldsV1": { "f:data": {} } }],
        },
        "data": { "version": version.to_string() },
    })
}

/// A config map whose data is no map.
pub(crate) fn broken(name: &str, version: u64) -> Value {
    let mut object = map(name, version);
    object["data"] = json!(["not", "a", "map"]);
    object
}

/// `name@version` of each object, for comparisons.
pub(crate) fn show(objects: &[std::sync::Arc<ConfigMap>]) -> Vec<String> {
    let one = |map: &std::sync::Arc<ConfigMap>| show_one(map);
    objects.iter().map(one).collect()
}

pub(crate) fn show_one(map: &ConfigMap) -> String {
    let meta = &map.metadata;
    format!("{}@{}", meta.name.as_deref().unwrap_or("?"), meta.resource_version.as_deref().unwrap_or("?"))
}

/// Waits until the cache shows `expected`.
pub(crate) async fn shows(informer: &SharedInformer<ConfigMap>, expected: &[&str]) {
    for _ in 0..1000 {
        if show(&informer.store().list()) == expected {
            return;
        }
        tokio::task::yield_now().await;
    }
    assert_eq!(show(&informer.store().list()), expected);
}
