//! Controllers: workers that take keys from a [`Queue`](crate::workqueue::Queue) and reconcile them.
//!
//! A [`ControllerBuilder`] makes a controller from informers. Without it, a controller takes any queue, and the
//! program's handlers fill it.
//!
//! A [`Controller`] owns its worker tasks. [`Controller::run`] waits for the caches, works until it is stopped,
//! works off the queue, and returns when every task has ended. The result of a reconcile decides what happens to
//! its key:
//!
//! | result | key |
//! |---|---|
//! | [`Action::done`] | its failures are forgotten |
//! | [`Action::requeue_after`] | its failures are forgotten, and it is queued again after the delay |
//! | an error, a panic, a timeout | it is queued again after the rate limiter's delay, or as the [error
//! policy](Controller::error_policy) says; a [conflict](ReconcileError::is_conflict) is not logged as a warning |
//! | [`ReconcileError::terminal`], too many retries | it is dropped until something adds it again |
//!
//! ```
//! use kubesmith_runtime::controller::{Action, CancellationToken, Controller, ReconcileError, Reconciler};
//! use kubesmith_runtime::workqueue::Queue;
//!
//! struct Print;
//!
//! impl Reconciler for Print {
//!     type Key = String;
//!
//!     async fn reconcile(&self, key: &String) -> Result<Action, ReconcileError> {
//!         println!("reconciling {key}");
//!         Ok(Action::done())
//!     }
//! }
//!
//! # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
//! let queue = Queue::new("pods");
//! queue.add("default/a".to_owned());
//! let stop = CancellationToken::new();
//! # stop.cancel();
//! Controller::new("pods", queue, Print).workers(2).run(stop).await.unwrap();
//! # });
//! ```
//!
//! Settings, predicates, results and the state of a controller:
//!
//! ```no_run
//! use std::time::Duration;
//! use k8s_openapi::api::core::v1::{ConfigMap, Pod};
//! use kubesmith_runtime::cache::ObjectKey;
//! use kubesmith_runtime::controller::{
//!     Action, BuildError, Controller, ControllerBuilder, ControllerError, ControllerState, KeyError, Predicate,
//!     QueueState, ReconcileError, Reconciler, SlowKey, Watch, reconcile_fn,
//! };
//! use kubesmith_runtime::informer::SharedInformerFactory;
//! use kubesmith_runtime::metrics::Registry;
//! use kubesmith_runtime::workqueue::{Queue, default_rate_limiter};
//!
//! fn of_pods(factory: &SharedInformerFactory, registry: &Registry) -> Result<(), BuildError> {
//!     let minute = Duration::from_secs(60);
//!     let web = Predicate::<Pod>::label_selector("app=web".parse().unwrap_or_default());
//!     let changed = Predicate::annotations_changed().or(Predicate::resource_version_changed().negate());
//!     let not_deleted = Predicate::<Pod>::new()
//!         .on_create(|pod| pod.metadata.deletion_timestamp.is_none())
//!         .on_update(|_, pod| pod.metadata.deletion_timestamp.is_none())
//!         .on_delete(|_| false);
//!     assert!(!not_deleted.passes_delete(&Pod::default()) && not_deleted.passes_create(&Pod::default()));
//!     let pods = Watch::on(&factory.informer_for::<Pod>()).filter(web.and(changed)).filter(not_deleted);
//!     let mut controller = ControllerBuilder::new("pods")
//!         .for_(pods)
//!         .watches(&factory.informer_for::<ConfigMap>(), |map: &ConfigMap| Some(ObjectKey::of(map)))
//!         .max_retries(15)
//!         .rate_limiter(default_rate_limiter())
//!         .reconcile_timeout(minute)
//!         .cache_sync_timeout(2 * minute)
//!         .shutdown_grace(minute / 2)
//!         .metrics(registry)
//!         .complete(reconcile_fn(|key: ObjectKey| async move {
//!             if key.name().is_empty() {
//!                 return Err(ReconcileError::terminal("a pod without a name"));
//!             }
//!             Ok(Action::requeue_after(Duration::from_secs(600)).with_priority(-10))
//!         }))?;
//!     show(&controller.state());
//!     Ok(())
//! }
//!
//! fn show(state: &ControllerState) {
//!     let QueueState { waiting, processing, delayed } = state.queue();
//!     let (succeeded, failed) = state.reconciles();
//!     println!("{}: {waiting} {processing} {delayed}, {succeeded} {failed}", state.name());
//!     for KeyError { key, message, times, .. } in state.errors() {
//!         println!("{key} failed {times} times: {message}");
//!     }
//!     for SlowKey { key, longest } in state.slowest() {
//!         println!("{key} took {longest:?}");
//!     }
//! }
//!
//! async fn by_hand<R: Reconciler>(queue: Queue<R::Key>, reconciler: R) -> Result<(), ControllerError> {
//!     let controller = Controller::new("by hand", queue, reconciler).wait_for("settings", async {});
//!     println!("{} starts", controller.name());
//!     controller.run(Default::default()).await
//! }
//!
//! let again = Action::requeue_after(Duration::from_secs(1)).with_priority(7);
//! assert_eq!((again.requeue_delay(), again.priority()), (Some(Duration::from_secs(1)), Some(7)));
//! let error = ReconcileError::terminal("no such zone");
//! assert!(error.is_terminal() && error.source().to_string() == "no such zone");
//! ```

mod builder;
mod error;
mod finalizer;
mod metrics;
mod predicate;
mod process;
mod reconcile;
mod sharded;
mod state;
mod waiting;
mod watches;
mod worker;

pub use builder::{BuildError, ControllerBuilder};
pub use error::ControllerError;
pub use finalizer::{FinalizerEvent, finalizer_fn};
pub use predicate::Predicate;
pub use reconcile::{Action, ReconcileError, Reconciler, reconcile_fn};
pub use state::{ControllerState, KeyError, QueueState, SlowKey};
pub use tokio_util::sync::CancellationToken;
pub(crate) use waiting::{At, Phase};
pub use watches::{AddedWatch, Watch, Watches};
pub use worker::Controller;
