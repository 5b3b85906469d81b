//! Spans of reconciles and requests, as a collector receives them.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, Once};
use std::time::Duration;

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{ObjectMeta, PostParams};
use kubesmith_runtime::cache::ObjectKey;
use kubesmith_runtime::client::connect;
use kubesmith_runtime::controller::{
    Action, CancellationToken, Controller, ControllerBuilder, ReconcileError, reconcile_fn,
};
use kubesmith_runtime::informer::{InformerOptions, SharedInformer};
use kubesmith_runtime::kube::{self, Api};
use kubesmith_runtime::metrics::Registry;
use kubesmith_runtime::record::{EventBroadcaster, EventType};
use kubesmith_runtime::telemetry::{TRACE_ID_ANNOTATION, TraceExporter, TraceExporterError};
use kubesmith_runtime::workqueue::Queue;
use kubesmith_testenv::TestEnv;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::{DefaultGuard, Interest};
use tracing::{Event, Metadata, Subscriber};
use tracing_subscriber::filter::Targets;
use tracing_subscriber::prelude::*;

/// The runtime's spans as exported in the book.
const OF_RUNTIME: (&str, tracing::Level) = ("kubesmith_runtime", tracing::Level::DEBUG);

/// A request: path, `traceparent` and body.
type Received = (String, Option<String>, Bytes);

/// Makes the subscriber the current thread's.
///
/// A callsite that is first used while another thread sets its subscriber may miss that subscriber, and
/// counts as disabled until the next one is set. A global subscriber with the interest `sometimes` keeps
/// callsites enabled.
fn set_default(subscriber: impl Subscriber + Send + Sync) -> DefaultGuard {
    static GLOBAL: Once = Once::new();
    GLOBAL.call_once(|| tracing::subscriber::set_global_default(Asked).unwrap());
    tracing::subscriber::set_default(subscriber)
}

/// Enables nothing, and leaves every callsite open.
struct Asked;

impl Subscriber for Asked {
    fn register_callsite(&self, _: &'static Metadata<'static>) -> Interest {
        Interest::sometimes()
    }

    fn enabled(&self, _: &Metadata<'_>) -> bool {
        false
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, _: &Event<'_>) {}

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// A server that acts as both collector and API server, and answers every request with an empty object.
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
    let spans = Targets::new().with_target(OF_RUNTIME.0, OF_RUNTIME.1);
    let subscriber = tracing_subscriber::registry().with(exporter.layer().with_filter(spans));
    let guard = set_default(subscriber);

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

/// Runs a controller of config maps until it has copied one to a secret's name; returns the exported spans.
async fn copy_a_map((target, level): (&str, tracing::Level)) -> Vec<Span> {
    let collector = Server::start().await;
    let exporter = TraceExporter::builder("copier").endpoint(&collector.url).start().await.unwrap();
    let filter = Targets::new().with_target(target, level);
    let subscriber = tracing_subscriber::registry().with(exporter.layer().with_filter(filter));
    let guard = set_default(subscriber);

    let mut env = TestEnv::builder().start().await.unwrap();
    let client = connect(env.config().await.unwrap()).await.unwrap();
    let map = |name: &str| {
        let metadata = ObjectMeta { name: Some(name.to_owned()), ..ObjectMeta::default() };
        ConfigMap { metadata, ..ConfigMap::default() }
    };
    let options = InformerOptions::new()
        .namespace("default")
        .tweak_list_options(|params| params.field_selector = Some("metadata.name=flour".to_owned()));
    let maps = SharedInformer::<ConfigMap>::new(client.clone(), options);
    let stop = CancellationToken::new();
    let (done, api) = (stop.clone(), Api::<ConfigMap>::namespaced(client, "default"));
    let writes = api.clone();
    let reconciler = reconcile_fn(move |_: ObjectKey| {
        let (done, writes, copy) = (done.clone(), writes.clone(), map("copy"));
        async move {
            writes.create(&PostParams::default(), &copy).await.map_err(ReconcileError::new)?;
            done.cancel();
            Ok(Action::done())
        }
    });
    let controller = ControllerBuilder::new("copier").for_(&maps).complete(reconciler).unwrap();
    maps.start();
    maps.wait_for_sync(Duration::from_secs(60)).await.unwrap();
    api.create(&PostParams::default(), &map("flour")).await.unwrap();
    controller.run(stop).await.unwrap();
    maps.shutdown().await;
    env.stop().await;
    drop(guard);
    exporter.shutdown(Duration::from_secs(10)).await.unwrap();
    collector.spans()
}

#[tokio::test]
async fn watch_event_wait_reconcile_and_write_are_one_trace() {
    let spans = copy_a_map(OF_RUNTIME).await;
    let named = |name: &str| spans.iter().find(|span| span.name == name).unwrap();
    let event = named("watch_event");
    assert!(event.parent_span_id.is_empty(), "{event:?}");
    let expected =
        [("resource", "configmaps"), ("handler", "copier"), ("event", "add"), ("key", "default/flour")];
    for (name, value) in expected {
        assert_eq!(text(event, name).as_deref(), Some(value), "{name}");
    }
    let (queue, reconcile) = (named("queue"), named("reconcile"));
    let is_write = |span: &&Span| span.name == "POST" && span.parent_span_id == reconcile.span_id;
    let write = spans.iter().find(is_write).unwrap();
    for (parent, child) in [(event, queue), (queue, reconcile), (reconcile, write)] {
        assert_eq!(
            (&parent.trace_id, &parent.span_id),
            (&child.trace_id, &child.parent_span_id),
            "{}",
            child.name
        );
    }
    assert_eq!((text(queue, "name").as_deref(), text(queue, "adds").as_deref()), (Some("copier"), Some("1")));
    assert_eq!(text(reconcile, "trace_id"), Some(hex(&event.trace_id)));
    // A span ends with its own work, not with that of its children.
    assert!(queue.end_time_unix_nano <= write.start_time_unix_nano);
    assert!(event.end_time_unix_nano <= write.start_time_unix_nano);
}

#[tokio::test]
async fn reconcile_is_a_root_when_events_are_not_traced() {
    let spans = copy_a_map(("kubesmith_runtime", tracing::Level::INFO)).await;
    let [reconcile] = &spans[..] else { panic!("{spans:?}") };
    assert_eq!((reconcile.name.as_str(), reconcile.parent_span_id.len()), ("reconcile", 0));
}

/// The key waits for the worker while changes queue it again. Each is linked once, up to a limit.
#[tokio::test]
async fn wait_is_linked_to_every_change_that_queues_the_key() {
    let collector = Server::start().await;
    let exporter = TraceExporter::builder("loaves").endpoint(&collector.url).start().await.unwrap();
    let guard = set_default(tracing_subscriber::registry().with(exporter.layer()));
    let queue = Queue::new("loaves");
    let add = |key| {
        tracing::info_span!("change", key).in_scope(|| {
            queue.add(key);
            queue.add(key);
        });
    };
    add("rye");
    (0..2).for_each(|_| add("wheat"));
    (0..40).for_each(|_| add("spelt"));
    queue.add("oats");
    // Keys that are queued while they are in processing wait from then on.
    let rye = queue.try_get().unwrap();
    add("rye");
    drop(rye);
    while let Some(item) = queue.try_get() {
        item.done();
    }
    drop(guard);
    exporter.shutdown(Duration::from_secs(10)).await.unwrap();

    let spans = collector.spans();
    let waits_of = |key: &str| {
        let changes: Vec<&Span> =
            spans.iter().filter(|span| text(span, "key").as_deref() == Some(key)).collect();
        let is_child = |span: &&Span| changes.iter().any(|change| change.span_id == span.parent_span_id);
        let mut waits: Vec<_> = spans.iter().filter(is_child).collect();
        waits.sort_by_key(|wait| wait.start_time_unix_nano);
        for link in waits.iter().flat_map(|wait| &wait.links) {
            assert!(changes.iter().any(|change| change.span_id == link.span_id));
        }
        waits.iter().map(|wait| (text(wait, "adds").unwrap(), wait.links.len())).collect::<Vec<_>>()
    };
    assert_eq!(waits_of("rye"), [("1".to_owned(), 0), ("1".to_owned(), 0)]);
    assert_eq!(waits_of("wheat"), [("2".to_owned(), 1)]);
    assert_eq!(waits_of("spelt"), [("40".to_owned(), 32)]);
    assert_eq!(spans.iter().filter(|span| span.name == "queue").count(), 4, "no change has queued the oats");
}

/// A reconciler that queues its own key would make an endless chain of parents.
#[tokio::test]
async fn wait_that_a_reconcile_causes_is_a_root_with_a_link() {
    let collector = Server::start().await;
    let exporter = TraceExporter::builder("loaves").endpoint(&collector.url).start().await.unwrap();
    let guard = set_default(tracing_subscriber::registry().with(exporter.layer()));
    let queue = Queue::new("loaves");
    tracing::info_span!("reconcile").in_scope(|| queue.add("rye"));
    queue.try_get().unwrap().done();
    drop(guard);
    exporter.shutdown(Duration::from_secs(10)).await.unwrap();

    let spans = collector.spans();
    let named = |name: &str| spans.iter().find(|span| span.name == name).unwrap();
    let (reconcile, wait) = (named("reconcile"), named("queue"));
    assert!(wait.parent_span_id.is_empty(), "{wait:?}");
    let links: Vec<_> = wait.links.iter().map(|link| &link.span_id).collect();
    assert_eq!(links, [&reconcile.span_id]);
}

#[tokio::test]
async fn shutdown_ends_when_the_collector_hangs() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let exporter = TraceExporter::builder("bakery").endpoint(url).start().await.unwrap();
    let guard = set_default(tracing_subscriber::registry().with(exporter.layer()));
    tracing::info_span!("lost").in_scope(|| {});
    drop(guard);
    let error = exporter.shutdown(Duration::from_millis(50)).await.unwrap_err();
    assert!(matches!(error, TraceExporterError::Shutdown(_)), "{error}");
}

/// More reconciles than the exporter's queue holds spans, while its first export waits for an answer.
#[tokio::test]
async fn reconciles_do_not_wait_for_a_collector_that_hangs() {
    const KEYS: usize = 5_000;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let exporter = TraceExporter::builder("bakery").endpoint(url).timeout(Duration::from_secs(3600));
    let exporter = exporter.start().await.unwrap();
    let guard = set_default(tracing_subscriber::registry().with(exporter.layer()));
    let queue = Queue::new("loaves");
    (0..KEYS).for_each(|key| queue.add(key));
    let (stop, left) = (CancellationToken::new(), Arc::new(AtomicUsize::new(KEYS)));
    let done = stop.clone();
    let reconciler = reconcile_fn(move |_: usize| {
        if left.fetch_sub(1, Ordering::SeqCst) == 1 {
            done.cancel();
        }
        async { Ok(Action::done()) }
    });
    let running = Controller::new("loaves", queue, reconciler).run(stop);
    tokio::time::timeout(Duration::from_secs(600), running).await.expect("less than one export").unwrap();
    drop(guard);
    exporter.shutdown(Duration::from_millis(50)).await.unwrap_err();
}

#[tokio::test]
async fn endpoint_that_is_no_url_is_refused() {
    let error = TraceExporter::builder("bakery").endpoint("collector:4318").start().await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the collector's address `collector:4318/v1/traces` is not a URL such as `http://collector:4318`"
    );
}
