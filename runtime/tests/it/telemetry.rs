//! Spans of reconciles and requests, as a collector receives them.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use k8s_openapi::api::core::v1::ConfigMap;
use kubesmith_runtime::client::connect;
use kubesmith_runtime::controller::{Action, CancellationToken, Controller, ReconcileError, reconcile_fn};
use kubesmith_runtime::kube::{self, Api};
use kubesmith_runtime::metrics::Registry;
use kubesmith_runtime::record::{EventBroadcaster, EventType};
use kubesmith_runtime::telemetry::{TRACE_ID_ANNOTATION, TraceExporter, TraceExporterError};
use kubesmith_runtime::workqueue::Queue;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::prelude::*;

/// A request: path, `traceparent` and body.
type Received = (String, Option<String>, Bytes);

/// A server that is both collector and API server, and answers every request with an empty object.
struct Server {
    url: String,
    received: Arc<Mutex<Vec<Received>>>,
    task: JoinHandle<()>,
}

impl Server {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let received = Arc::<Mutex<Vec<Received>>>::default();
        let log = received.clone();
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let log = log.clone();
                let service = service_fn(move |request| answer(request, log.clone()));
                let connection = hyper::server::conn::http1::Builder::new();
                tokio::spawn(connection.serve_connection(TokioIo::new(stream), service));
            }
        });
        Self { url, received, task }
    }

    fn with_path(&self, path: &str) -> Vec<Received> {
        let received = self.received.lock().unwrap();
        received.iter().filter(|(own, ..)| own.contains(path)).cloned().collect()
    }

    fn spans(&self) -> Vec<Span> {
        let requests = self.with_path("/v1/traces");
        let decoded = requests.iter().map(|(.., body)| ExportTraceServiceRequest::decode(&**body).unwrap());
        let resources = decoded.flat_map(|request| request.resource_spans);
        resources.flat_map(|spans| spans.scope_spans).flat_map(|spans| spans.spans).collect()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn answer(
    request: Request<Incoming>,
    log: Arc<Mutex<Vec<Received>>>,
) -> Result<Response<Full<Bytes>>, hyper::Error> {
    let (head, body) = request.into_parts();
    let traceparent = head.headers.get("traceparent").map(|value| value.to_str().unwrap().to_owned());
    let is_trace = head.uri.path() == "/v1/traces";
    let body = body.collect().await?.to_bytes();
    log.lock().unwrap().push((head.uri.path().to_owned(), traceparent, body));
    let body: &[u8] = if is_trace { b"" } else { br#"{"metadata":{}}"# };
    Ok(Response::new(Full::new(body.into())))
}

fn text(span: &Span, name: &str) -> Option<String> {
    let attribute = span.attributes.iter().find(|attribute| attribute.key == name)?;
    Some(match attribute.value.clone()?.value? {
        Value::StringValue(text) => text,
        Value::IntValue(number) => number.to_string(),
        Value::DoubleValue(number) => number.to_string(),
        other => format!("{other:?}"),
    })
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[tokio::test]
async fn reconcile_and_its_requests_are_one_trace() {
    let server = Server::start().await;
    let exporter = TraceExporter::builder("bakery").endpoint(&server.url).start().await.unwrap();
    let spans = Targets::new().with_target("kubesmith_runtime", tracing::Level::DEBUG);
    let subscriber = tracing_subscriber::registry().with(exporter.layer().with_filter(spans));
    let guard = tracing::subscriber::set_default(subscriber);

    let client = connect(kube::Config::new(server.url.parse().unwrap())).await.unwrap();
    let broadcaster = EventBroadcaster::new(client.clone());
    let recorder = broadcaster.recorder("bakery");
    let stop = CancellationToken::new();
    let done = stop.clone();
    let reconciler = reconcile_fn(move |_: &'static str| {
        let (done, recorder) = (done.clone(), recorder.clone());
        let maps = Api::<ConfigMap>::namespaced(client.clone(), "default");
        async move {
            let map = maps.get("flour").await.map_err(ReconcileError::new)?;
            recorder.event(&map, EventType::Normal, "Baked", "12 loaves");
            done.cancel();
            Ok(Action::done())
        }
    });
    let registry = Registry::new();
    let queue = Queue::builder("loaves").metrics(&registry).build();
    queue.add("default/rye");
    Controller::new("loaves", queue, reconciler).run(stop).await.unwrap();
    broadcaster.shutdown().await;
    drop(guard);
    exporter.shutdown(Duration::from_secs(10)).await.unwrap();

    let spans = server.spans();
    let root = spans.iter().find(|span| span.name == "reconcile").unwrap();
    assert!(root.parent_span_id.is_empty());
    assert_eq!(text(root, "controller").as_deref(), Some("loaves"));
    assert_eq!(text(root, "key").as_deref(), Some("\"default/rye\""));
    assert_eq!(text(root, "trace_id"), Some(hex(&root.trace_id)));
    assert!(text(root, "queue_seconds").is_some());

    let get = spans.iter().find(|span| span.name == "GET").unwrap();
    assert_eq!((&get.trace_id, &get.parent_span_id), (&root.trace_id, &root.span_id));
    let path = "/api/v1/namespaces/default/configmaps/flour";
    assert_eq!(text(get, "http.url"), Some(format!("{}{path}", server.url)));
    assert_eq!(text(get, "http.status_code").as_deref(), Some("200"));
    let [(_, traceparent, _)] = &server.with_path(path)[..] else { panic!("one request") };
    assert_eq!(*traceparent, Some(format!("00-{}-{}-01", hex(&get.trace_id), hex(&get.span_id))));

    let [(.., event)] = &server.with_path("/events")[..] else { panic!("one event") };
    let event: serde_json::Value = serde_json::from_slice(event).unwrap();
    assert_eq!(event["metadata"]["annotations"][TRACE_ID_ANNOTATION], hex(&root.trace_id));
    // Exports are not traced themselves.
    assert!(spans.iter().all(|span| !text(span, "http.url").unwrap_or_default().contains("/v1/traces")));
}

#[tokio::test]
async fn shutdown_ends_when_the_collector_hangs() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let exporter = TraceExporter::builder("bakery").endpoint(url).start().await.unwrap();
    let guard = tracing::subscriber::set_default(tracing_subscriber::registry().with(exporter.layer()));
    tracing::info_span!("lost").in_scope(|| {});
    drop(guard);
    let error = exporter.shutdown(Duration::from_millis(50)).await.unwrap_err();
    assert!(matches!(error, TraceExporterError::Shutdown(_)), "{error}");
}

#[tokio::test]
async fn endpoint_that_is_no_url_is_refused() {
    let error = TraceExporter::builder("bakery").endpoint("collector:4318").start().await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the collector's address `collector:4318/v1/traces` is not a URL such as `http://collector:4318`"
    );
}
