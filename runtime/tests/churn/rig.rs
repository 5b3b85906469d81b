//! A cluster whose objects are replaced all the time, and a program that follows it: caches of both forms, an
//! index, a controller with failures and delays, and recorders of both event APIs. Time is paused, so that a
//! simulated second takes as long as its work.
//!
//! Objects live for some seconds. Names, namespaces, UIDs, labels and messages are new for each, so that
//! memory that is kept for deleted objects shows as growth.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use futures::channel::mpsc::{UnboundedSender, unbounded};
use http::{Method, Request, Response};
use http_body::Frame;
use http_body_util::{BodyExt, StreamBody};
use k8s_openapi::api::core::v1::ConfigMap;
use k8s_openapi::jiff::Timestamp;
use kube::client::Body;
use kubesmith_runtime::cache::{Compact, Indexer, ObjectKey, Store};
use kubesmith_runtime::controller::{
    Action, CancellationToken, ControllerBuilder, ReconcileError, reconcile_fn,
};
use kubesmith_runtime::events::SeriesOptions;
use kubesmith_runtime::informer::SharedInformerFactory;
use kubesmith_runtime::metrics::Registry;
use kubesmith_runtime::record::{CorrelatorOptions, EventType};
use kubesmith_runtime::workqueue::Queue;
use kubesmith_runtime::{events, record};
use tokio::time::{Instant, sleep};

/// The interval of changes.
const TICK: Duration = Duration::from_millis(50);
/// The interval in which all watches break, at a version that has expired.
const BREAKS: u64 = 900;

/// How much there is to follow.
#[derive(Clone, Copy, Debug)]
pub struct Churn {
    /// Simulated seconds.
    pub seconds: u64,
    /// Seconds between two samples.
    pub sample: u64,
    /// Changes a second: a quarter each creates and deletes, half of them update.
    pub rate: u64,
    /// Objects at a time.
    pub objects: usize,
    /// The maximum number of events that recorders remember. Their memory grows until then.
    pub remembered: usize,
}

/// What there is at one time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Simulated seconds since the start.
    pub second: u64,
    /// Changes so far.
    pub changes: u64,
    /// Bytes of the heap in use.
    pub heap: usize,
    /// Objects, namespaces and values of the index in the typed cache, and objects in the compact one.
    pub objects: usize,
    pub namespaces: usize,
    pub values: usize,
    pub compact: usize,
    /// Keys that wait, and that wait for a delay.
    pub queued: usize,
    pub delayed: usize,
    /// Counted failures of the last 1,000 deleted objects.
    pub failures: usize,
    /// Lines of the metrics.
    pub metrics: usize,
    /// Lists and watches that the server received.
    pub watches: u64,
    /// Reconciles so far.
    pub reconciles: u64,
    /// Writes of events so far.
    pub events: u64,
}

type Chunk = io::Result<Frame<Bytes>>;

/// The server's side.
struct World {
    objects: usize,
    version: u64,
    /// The number of the oldest object, and the versions of it and of the later ones.
    oldest: u64,
    live: VecDeque<u64>,
    changes: u64,
    watches: Vec<Watch>,
    opened: u64,
    events: u64,
}

struct Watch {
    sending: UnboundedSender<Chunk>,
    until: Instant,
}

fn key(number: u64) -> ObjectKey {
    ObjectKey::namespaced(&format!("n{}", number / 250), &format!("m{number}"))
}

fn object(number: u64, version: u64) -> String {
    let key = key(number);
    let (namespace, name) = (key.namespace(), key.name());
    format!(
        r#"{{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"{name}","namespace":"{namespace}","uid":"{number}","resourceVersion":"{version}","labels":{{"app":"a{number}","tier":"t{}"}},"managedFields":[{{"manager":"m","operation":"Update","fieldsV1":{{"f:data":{{}}}}}}]}},"data":{{"version":"{version}"}}}}"#,
        number % 5
    )
}

impl World {
    fn event(kind: &str, object: &str) -> String {
        format!("{{\"type\":\"{kind}\",\"object\":{object}}}\n")
    }

    fn bookmark(&self, ends_list: bool) -> String {
        let annotations =
            if ends_list { r#","annotations":{"k8s.io/initial-events-end":"true"}"# } else { "" };
        let version = self.version;
        let object = format!(
            r#"{{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"resourceVersion":"{version}"{annotations}}}}}"#
        );
        Self::event("BOOKMARK", &object)
    }

    fn change(&mut self) -> String {
        self.version += 1;
        self.changes += 1;
        let is_full = self.live.len() >= self.objects;
        match self.changes % 4 {
            0 => self.create(),
            2 if is_full => {
                self.live.pop_front();
                self.oldest += 1;
                Self::event("DELETED", &object(self.oldest - 1, self.version))
            }
            _ if self.live.is_empty() => self.create(),
            _ => {
                let place = (self.changes.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20) % self.live.len() as u64;
                self.live[place as usize] = self.version;
                Self::event("MODIFIED", &object(self.oldest + place, self.version))
            }
        }
    }

    fn create(&mut self) -> String {
        self.live.push_back(self.version);
        Self::event("ADDED", &object(self.oldest + self.live.len() as u64 - 1, self.version))
    }

    fn send(&mut self, text: String) {
        let now = Instant::now();
        let bytes = Bytes::from(text);
        self.watches.retain(|watch| {
            let sent = watch.sending.unbounded_send(Ok(Frame::data(bytes.clone())));
            sent.is_ok() && now < watch.until
        });
    }

    fn watch(
        &mut self,
        query: &str,
    ) -> Response<StreamBody<futures::channel::mpsc::UnboundedReceiver<Chunk>>> {
        let get = |name: &str| {
            query.split('&').filter_map(|pair| pair.split_once('=')).find(|(key, _)| *key == name)
        };
        let get = |name: &str| get(name).map(|(_, value)| value);
        self.opened += 1;
        let (sending, receiving) = unbounded();
        if get("sendInitialEvents") != Some("true")
            && get("resourceVersion") != Some(&self.version.to_string())
        {
            let _ = sending.unbounded_send(Ok(Frame::data(Bytes::from_static(
                br#"{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired","code":410,"message":"too old"}"#,
            ))));
            return answer(410, receiving);
        }
        if get("sendInitialEvents") == Some("true") {
            let numbered = self.live.iter().enumerate();
            let mut text: String = numbered
                .map(|(place, version)| Self::event("ADDED", &object(self.oldest + place as u64, *version)))
                .collect();
            text.push_str(&self.bookmark(true));
            let _ = sending.unbounded_send(Ok(Frame::data(Bytes::from(text))));
        }
        let seconds = get("timeoutSeconds").and_then(|text| text.parse().ok()).unwrap_or(300);
        self.watches.push(Watch { sending, until: Instant::now() + Duration::from_secs(seconds) });
        answer(200, receiving)
    }
}

fn answer<B>(code: u16, body: B) -> Response<StreamBody<B>> {
    Response::builder().status(code).body(StreamBody::new(body)).expect("it has no header")
}

fn client(world: &Arc<Mutex<World>>) -> kube::Client {
    let world = world.clone();
    let service = tower::service_fn(move |request: Request<Body>| {
        let world = world.clone();
        async move {
            if request.method() == Method::GET {
                let query = request.uri().query().unwrap_or_default().to_owned();
                return Ok::<_, Infallible>(lock(&world).watch(&query));
            }
            let method = request.method().clone();
            let body = request.into_body().collect().await.map(|body| body.to_bytes()).unwrap_or_default();
            lock(&world).events += 1;
            let (sending, receiving) = unbounded();
            if method == Method::POST {
                let _ = sending.unbounded_send(Ok(Frame::data(body)));
                return Ok(answer(201, receiving));
            }
            // Events expire on a server, so a recorder that counts one up creates it again.
            let gone =
                br#"{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404,"message":"gone"}"#;
            let _ = sending.unbounded_send(Ok(Frame::data(Bytes::from_static(gone))));
            Ok(answer(404, receiving))
        }
    });
    kube::Client::new(service, "default")
}

fn lock<T>(state: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The program under test.
struct Program {
    factory: SharedInformerFactory,
    registry: Registry,
    typed: Store<ConfigMap>,
    compact: Store<Compact<ConfigMap>>,
    queue: Queue<ObjectKey>,
    reconciles: Arc<std::sync::atomic::AtomicU64>,
    stop: CancellationToken,
    run: tokio::task::JoinHandle<()>,
    recorder: record::EventBroadcaster,
    series: events::EventBroadcaster,
}

impl Program {
    fn start(client: &kube::Client, remembered: usize) -> Self {
        let registry = Registry::new();
        let factory: SharedInformerFactory = SharedInformerFactory::builder(client.clone())
            .metrics(&registry)
            .resync(Duration::from_secs(600))
            .build();
        let maps = factory.informer_for::<ConfigMap>();
        let by_app = |map: &ConfigMap| {
            map.metadata.labels.iter().flat_map(|labels| labels.get("app").cloned()).collect()
        };
        assert!(maps.store().add_indexer(Indexer::new("app", by_app)));
        let compact = factory.informer_for::<Compact<ConfigMap>>().store().clone();
        let start = Instant::now();
        let clock = move || {
            Timestamp::from_millisecond(i64::try_from(start.elapsed().as_millis()).unwrap_or(0))
                .expect("a small time")
        };
        let mut correlation = CorrelatorOptions::default();
        correlation.cache_size = remembered;
        let recorder =
            record::EventBroadcaster::builder(client.clone()).clock(clock).correlation(correlation).build();
        let mut series = SeriesOptions::default();
        series.cache_size = remembered;
        let series = events::EventBroadcaster::builder(client.clone()).clock(clock).series(series).build();
        let (old, new) = (recorder.recorder("churn"), series.recorder("example.com/churn"));
        let (typed, reconciles) = (maps.store().clone(), Arc::<std::sync::atomic::AtomicU64>::default());
        let (store, count) = (typed.clone(), reconciles.clone());
        let mut controller = ControllerBuilder::new("churn")
            .for_(&maps)
            .workers(4)
            .metrics(&registry)
            .complete(reconcile_fn(move |key: ObjectKey| {
                count.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                let object = store.get_by_key(&key);
                let (old, new) = (old.clone(), new.clone());
                async move {
                    let Some(object) = object else { return Ok(Action::done()) };
                    let number: u64 = object.metadata.uid.as_deref().unwrap_or_default().parse().unwrap_or(0);
                    if number.is_multiple_of(50) {
                        old.event(&*object, EventType::Warning, "Failed", format!("{number} cannot be had"));
                        new.event(
                            &*object,
                            EventType::Warning,
                            "Failed",
                            "Reconcile",
                            format!("{number} fails"),
                        );
                        return Err(ReconcileError::new(format!("{number} cannot be had")));
                    }
                    let later = number.is_multiple_of(7);
                    Ok(if later { Action::requeue_after(Duration::from_secs(3)) } else { Action::done() })
                }
            }))
            .expect("it watches something");
        // The data of the state page is also kept up to date.
        let _ = controller.state();
        let (queue, stop) = (controller.queue().clone(), CancellationToken::new());
        let token = stop.clone();
        let run = tokio::spawn(async move { controller.run(token).await.expect("it ends in time") });
        factory.start();
        Program { factory, registry, typed, compact, queue, reconciles, stop, run, recorder, series }
    }

    fn sample(&self, second: u64, world: &World, heap: usize) -> Sample {
        let gone = world.oldest.saturating_sub(1_000)..world.oldest;
        Sample {
            second,
            changes: world.changes,
            heap,
            objects: self.typed.len(),
            namespaces: self.typed.namespaces().len(),
            values: self.typed.index_values("app").map_or(0, |values| values.len()),
            compact: self.compact.len(),
            queued: self.queue.len(),
            delayed: self.queue.delayed(),
            failures: gone.map(|number| self.queue.num_requeues(&key(number))).sum(),
            metrics: self.registry.encode().lines().count(),
            watches: world.opened,
            reconciles: self.reconciles.load(std::sync::atomic::Ordering::Relaxed),
            events: world.events,
        }
    }

    async fn stop(self) {
        self.stop.cancel();
        self.run.await.expect("it does not panic");
        self.recorder.shutdown().await;
        self.series.shutdown().await;
        self.factory.shutdown().await;
    }
}

/// Runs the program. `heap` returns the bytes in use, and `note` gets each sample. The runtime's clock must
/// be paused.
pub async fn run(churn: Churn, heap: impl Fn() -> usize, mut note: impl FnMut(&Sample)) -> Vec<Sample> {
    let world = World {
        objects: churn.objects,
        version: 1,
        oldest: 0,
        live: VecDeque::new(),
        changes: 0,
        watches: Vec::new(),
        opened: 0,
        events: 0,
    };
    let world = Arc::new(Mutex::new(world));
    let program = Program::start(&client(&world), churn.remembered);
    let mut samples = Vec::new();
    let ticks = (Duration::from_secs(1).as_millis() / TICK.as_millis()) as u64;
    for second in 1..=churn.seconds {
        for _ in 0..ticks {
            {
                let mut world = lock(&world);
                let text = (0..churn.rate / ticks).map(|_| world.change()).collect();
                world.send(text);
            }
            // Paused time advances when all tasks are idle.
            sleep(TICK).await;
        }
        if second.is_multiple_of(60) {
            let mut world = lock(&world);
            let bookmark = world.bookmark(false);
            world.send(bookmark);
        }
        if second.is_multiple_of(BREAKS) {
            lock(&world).watches.clear();
        }
        if second.is_multiple_of(churn.sample) {
            // No cache is relisting.
            sleep(Duration::from_secs(5)).await;
            let sample = program.sample(second, &lock(&world), heap());
            note(&sample);
            samples.push(sample);
        }
    }
    program.stop().await;
    samples
}
