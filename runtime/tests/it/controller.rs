//! The worker loop: how keys are processed, and how a run starts and ends.

use std::future::pending;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use kubesmith_runtime::controller::{
    Action, CancellationToken, Controller, ControllerError, ReconcileError, reconcile_fn,
};
use kubesmith_runtime::kube;
use kubesmith_runtime::kube::core::Status;
use kubesmith_runtime::metrics::Registry;
use kubesmith_runtime::workqueue::{ItemExponentialFailureRateLimiter, Queue};
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tracing::field::Field;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

const MS: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);

type Key = &'static str;
type Answer = Result<Action, ReconcileError>;

/// A controller that logs each key with its time, and returns the given results.
struct Rig {
    queue: Queue<Key>,
    stop: CancellationToken,
    log: Arc<Mutex<Vec<(Key, Duration)>>>,
    registry: Registry,
    run: JoinHandle<Result<(), ControllerError>>,
}

impl Rig {
    fn start(answer: impl Fn(Key, usize) -> Answer + Send + Sync + 'static) -> Self {
        Self::start_with(answer, |controller| controller)
    }

    fn start_with<F>(answer: F, options: impl FnOnce(Builder) -> Builder) -> Self
    where
        F: Fn(Key, usize) -> Answer + Send + Sync + 'static,
    {
        let log: Arc<Mutex<Vec<(Key, Duration)>>> = Arc::default();
        let start = Instant::now();
        let seen = log.clone();
        let answer: Arc<Answering> = Arc::new(move |key| {
            let mut log = seen.lock().unwrap();
            let tries = log.iter().filter(|(other, _)| *other == key).count();
            log.push((key, start.elapsed()));
            drop(log);
            answer(key, tries)
        });
        let limiter = ItemExponentialFailureRateLimiter::new(10 * MS, SECOND);
        let queue = Queue::builder("test").rate_limiter(limiter).build();
        let stop = CancellationToken::new();
        let registry = Registry::new();
        let builder = options(Builder { workers: 1, retries: None, timeout: None });
        let reconciler = reconcile_fn(move |key: Key| {
            let answer = answer.clone();
            async move {
                tokio::task::yield_now().await;
                if key == "slow" {
                    pending::<()>().await;
                }
                answer(key)
            }
        });
        let mut controller = Controller::new("test", queue.clone(), reconciler).metrics(&registry);
        controller = controller.workers(builder.workers);
        if let Some(retries) = builder.retries {
            controller = controller.max_retries(retries);
        }
        if let Some(timeout) = builder.timeout {
            controller = controller.reconcile_timeout(timeout);
        }
        let run = tokio::spawn(controller.run(stop.clone()));
        Rig { queue, stop, log, registry, run }
    }

    async fn stop(self) -> (Vec<(Key, Duration)>, Result<(), ControllerError>, String) {
        self.stop.cancel();
        let result = self.run.await.unwrap();
        let log = self.log.lock().unwrap().clone();
        (log, result, self.registry.encode())
    }
}

type Answering = dyn Fn(Key) -> Answer + Send + Sync;

struct Builder {
    workers: usize,
    retries: Option<usize>,
    timeout: Option<Duration>,
}

fn has(text: &str, line: &str) -> bool {
    text.lines().any(|other| other == line)
}

#[tokio::test(start_paused = true)]
async fn failed_key_backs_off_until_a_success() {
    let rig =
        Rig::start(|_, tries| if tries < 2 { Err(ReconcileError::new("no")) } else { Ok(Action::done()) });
    rig.queue.add("a");
    tokio::time::sleep(SECOND).await;
    assert_eq!(rig.queue.num_requeues(&"a"), 0);
    let (log, result, metrics) = rig.stop().await;
    assert_eq!(log, [("a", Duration::ZERO), ("a", 10 * MS), ("a", 30 * MS)]);
    result.unwrap();
    for line in [
        "controller_runtime_reconcile_total{controller=\"test\",result=\"error\"} 2",
        "controller_runtime_reconcile_total{controller=\"test\",result=\"success\"} 1",
        "controller_runtime_reconcile_errors_total{controller=\"test\"} 2",
        "controller_runtime_reconcile_time_seconds_count{controller=\"test\"} 3",
        "controller_runtime_active_workers{controller=\"test\"} 0.0",
        "controller_runtime_max_concurrent_reconciles{controller=\"test\"} 1.0",
    ] {
        assert!(has(&metrics, line), "{line} is not in\n{metrics}");
    }
}

/// The log of this thread while the guard lives: level and message.
#[derive(Clone, Default)]
struct Logged(Arc<Mutex<Vec<(Level, String)>>>, Spans);

/// The fields of each span named `reconcile`.
type Spans = Arc<Mutex<Vec<String>>>;

impl Subscriber for Logged {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }
    fn new_span(&self, attributes: &Attributes<'_>) -> Id {
        if attributes.metadata().name() == "reconcile" {
            let mut fields = format!("root={}", attributes.is_root());
            attributes.record(&mut |field: &Field, value: &dyn std::fmt::Debug| {
                fields.push_str(&format!(" {}={value:?}", field.name()));
            });
            self.1.lock().unwrap().push(fields);
        }
        Id::from_u64(1)
    }
    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, event: &Event<'_>) {
        let mut message = String::new();
        event.record(&mut |field: &Field, value: &dyn std::fmt::Debug| {
            if field.name() == "message" {
                message = format!("{value:?}");
            }
        });
        self.0.lock().unwrap().push((*event.metadata().level(), message));
    }
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

#[tokio::test(start_paused = true)]
async fn conflict_is_retried_without_a_warning() {
    #[derive(Debug, thiserror::Error)]
    #[error("cannot scale: {0}")]
    struct Scale(#[source] kube::Error);

    let logged = Logged::default();
    let _guard = tracing::subscriber::set_default(logged.clone());
    let rig = Rig::start(|_, tries| {
        let changed = Status::failure("the object has been modified", "Conflict").with_code(409);
        match tries {
            0 => Err(Scale(kube::Error::Api(changed.boxed())).into()),
            1 => Err(ReconcileError::new("no")),
            _ => Ok(Action::done()),
        }
    });
    rig.queue.add("a");
    tokio::time::sleep(SECOND).await;
    let (log, _, metrics) = rig.stop().await;
    assert_eq!(log, [("a", Duration::ZERO), ("a", 10 * MS), ("a", 30 * MS)], "both back off");
    assert!(has(&metrics, "controller_runtime_reconcile_errors_total{controller=\"test\"} 2"));
    let logged = logged.0.lock().unwrap();
    let retries: Vec<_> =
        logged.iter().filter(|(_, message)| message.ends_with("the key is retried")).collect();
    let expected = [
        (Level::DEBUG, "the object was changed meanwhile, the key is retried".to_owned()),
        (Level::WARN, "reconcile failed, the key is retried".to_owned()),
    ];
    assert_eq!(retries, expected.iter().collect::<Vec<_>>());
}

#[tokio::test(start_paused = true)]
async fn reconcile_is_in_a_span_of_its_own() {
    let logged = Logged::default();
    let _guard = tracing::subscriber::set_default(logged.clone());
    let rig =
        Rig::start(|_, tries| if tries < 1 { Err(ReconcileError::new("no")) } else { Ok(Action::done()) });
    rig.queue.add("a");
    tokio::time::sleep(SECOND).await;
    rig.stop().await.1.unwrap();
    let expected = [1, 2].map(|id| format!("root=true controller=\"test\" key=\"a\" reconcile_id={id}"));
    assert_eq!(*logged.1.lock().unwrap(), expected);
}

#[tokio::test(start_paused = true)]
async fn requeue_after_waits_and_forgets_failures() {
    let rig = Rig::start(|_, tries| match tries {
        0 | 2 => Err(ReconcileError::new("no")),
        1 => Ok(Action::requeue_after(SECOND)),
        _ => Ok(Action::done()),
    });
    rig.queue.add("a");
    tokio::time::sleep(5 * SECOND).await;
    let (log, _, metrics) = rig.stop().await;
    let times: Vec<Duration> = log.into_iter().map(|(_, at)| at).collect();
    assert_eq!(
        times,
        [Duration::ZERO, 10 * MS, 1010 * MS, 1020 * MS],
        "the second failure waits as long as the first"
    );
    assert!(has(
        &metrics,
        "controller_runtime_reconcile_total{controller=\"test\",result=\"requeue_after\"} 1"
    ));
}

#[tokio::test(start_paused = true)]
async fn terminal_error_drops_the_key() {
    let rig = Rig::start(|_, _| Err(ReconcileError::terminal("never")));
    rig.queue.add("a");
    tokio::time::sleep(5 * SECOND).await;
    rig.queue.add("a");
    tokio::time::sleep(5 * SECOND).await;
    let (log, _, metrics) = rig.stop().await;
    assert_eq!(log, [("a", Duration::ZERO), ("a", 5 * SECOND)], "only what is added again comes again");
    assert!(has(&metrics, "controller_runtime_terminal_reconcile_errors_total{controller=\"test\"} 2"));
}

#[tokio::test(start_paused = true)]
async fn key_is_dropped_after_its_retries() {
    let rig = Rig::start_with(
        |_, _| Err(ReconcileError::new("no")),
        |options| Builder { retries: Some(5), ..options },
    );
    rig.queue.add("a");
    tokio::time::sleep(100 * SECOND).await;
    assert_eq!(rig.queue.num_requeues(&"a"), 0, "given up and forgotten");
    let (log, ..) = rig.stop().await;
    assert_eq!(log.len(), 6, "the first try and five retries");
}

#[tokio::test(start_paused = true)]
async fn panic_is_counted_and_the_worker_continues() {
    let rig = Rig::start(|key, tries| {
        assert!(key != "bad" || tries > 0, "first try of a bad key");
        Ok(Action::done())
    });
    rig.queue.add("bad");
    rig.queue.add("good");
    tokio::time::sleep(SECOND).await;
    let (log, result, metrics) = rig.stop().await;
    assert_eq!(log, [("bad", Duration::ZERO), ("good", Duration::ZERO), ("bad", 10 * MS)]);
    result.unwrap();
    assert!(has(&metrics, "controller_runtime_reconcile_panics_total{controller=\"test\"} 1"));
}

#[tokio::test(start_paused = true)]
async fn slow_reconcile_is_aborted() {
    let rig = Rig::start_with(
        |_, _| Ok(Action::done()),
        |options| Builder { timeout: Some(SECOND), retries: Some(0), ..options },
    );
    rig.queue.add("slow");
    rig.queue.add("a");
    tokio::time::sleep(3 * SECOND).await;
    let (log, _, metrics) = rig.stop().await;
    assert_eq!(log, [("a", SECOND)], "one worker, so after the slow one");
    assert!(has(&metrics, "controller_runtime_reconcile_timeouts_total{controller=\"test\"} 1"));
}

#[tokio::test(start_paused = true)]
async fn workers_reconcile_concurrently() {
    let queue: Queue<Key> = Queue::new("test");
    let barrier = Arc::new(tokio::sync::Barrier::new(3));
    let reconciler = reconcile_fn({
        let barrier = barrier.clone();
        move |_: Key| {
            let barrier = barrier.clone();
            async move {
                barrier.wait().await;
                Ok(Action::done())
            }
        }
    });
    for key in ["a", "b", "c"] {
        queue.add(key);
    }
    queue.shut_down();
    Controller::new("test", queue, reconciler).workers(3).run(CancellationToken::new()).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn queue_is_drained_after_the_stop() {
    let rig = Rig::start(|_, _| Ok(Action::requeue_after(SECOND)));
    tokio::time::sleep(SECOND).await;
    for key in ["a", "b", "c"] {
        rig.queue.add(key);
    }
    let queue = rig.queue.clone();
    let (log, result, _) = rig.stop().await;
    assert_eq!(log.len(), 3);
    result.unwrap();
    assert!(queue.is_shut_down());
}

#[tokio::test(start_paused = true)]
async fn stuck_worker_is_aborted_after_the_grace_period() {
    let rig = Rig::start(|_, _| Ok(Action::done()));
    rig.queue.add("slow");
    rig.queue.add("a");
    tokio::time::sleep(SECOND).await;
    let start = Instant::now();
    let (_, result, metrics) = rig.stop().await;
    assert_eq!(start.elapsed(), 30 * SECOND);
    let error = result.unwrap_err();
    assert!(matches!(error, ControllerError::ShutdownTimeout { in_work: 1, queued: 1, .. }), "{error}");
    assert!(has(&metrics, "controller_runtime_active_workers{controller=\"test\"} 0.0"), "{metrics}");
}

#[tokio::test(start_paused = true)]
async fn no_key_is_taken_before_the_caches_are_filled() {
    let queue: Queue<Key> = Queue::new("test");
    queue.add("a");
    let filled = Arc::new(tokio::sync::Notify::new());
    let count = Arc::new(AtomicUsize::new(0));
    let reconciler = reconcile_fn({
        let count = count.clone();
        move |_: Key| {
            count.fetch_add(1, Ordering::SeqCst);
            async { Ok(Action::done()) }
        }
    });
    let stop = CancellationToken::new();
    let ready = filled.clone();
    let controller =
        Controller::new("test", queue, reconciler).wait_for("pods", async move { ready.notified().await });
    let run = tokio::spawn(controller.run(stop.clone()));
    tokio::time::sleep(60 * SECOND).await;
    assert_eq!(count.load(Ordering::SeqCst), 0);
    filled.notify_one();
    tokio::time::sleep(SECOND).await;
    assert_eq!(count.load(Ordering::SeqCst), 1);
    stop.cancel();
    run.await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn unfilled_caches_are_named() {
    let queue: Queue<Key> = Queue::new("test");
    let reconciler = reconcile_fn(|_: Key| async { Ok(Action::done()) });
    let controller = Controller::new("test", queue.clone(), reconciler)
        .wait_for("nodes", async {})
        .wait_for("pods", pending())
        .wait_for("services", pending());
    let error = controller.run(CancellationToken::new()).await.unwrap_err();
    assert!(error.to_string().contains("120 s for the caches of pods, services;"), "{error}");
    assert!(queue.is_shut_down());
}

#[tokio::test(start_paused = true)]
async fn stop_ends_the_wait_for_caches() {
    let queue: Queue<Key> = Queue::new("test");
    let reconciler = reconcile_fn(|_: Key| async { Ok(Action::done()) });
    let stop = CancellationToken::new();
    stop.cancel();
    Controller::new("test", queue, reconciler).wait_for("pods", pending()).run(stop).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn dropping_the_run_ends_its_workers() {
    let rig = Rig::start(|_, _| Ok(Action::done()));
    rig.queue.add("a");
    tokio::time::sleep(SECOND).await;
    let log = Arc::downgrade(&rig.log);
    rig.run.abort();
    assert!(rig.run.await.unwrap_err().is_cancelled());
    drop(rig.log);
    tokio::task::yield_now().await;
    assert!(log.upgrade().is_none(), "a worker still holds the reconciler");
}

#[test]
fn errors_show_their_causes_once() {
    #[derive(Debug, thiserror::Error)]
    #[error("cannot read the pod")]
    struct Outer(#[source] std::io::Error);

    let error: ReconcileError = Outer(std::io::Error::other("connection refused")).into();
    assert_eq!(error.to_string(), "cannot read the pod: connection refused");
    assert!(!error.is_terminal());
    assert!(ReconcileError::terminal("x").is_terminal());
}
