//! Controllers: workers that take keys from a [`Queue`](crate::workqueue::Queue) and reconcile what they name.
//!
//! A [`ControllerBuilder`] makes one from informers; by hand it takes a queue and handlers that fill it.
//!
//! A [`Controller`] owns its worker tasks. [`Controller::run`] waits for the caches, works until it is told to stop,
//! works off what is queued, and returns when every task has ended. What a reconcile returns decides what happens to
//! its key:
//!
//! | result | key |
//! |---|---|
//! | [`Action::done`] | its failures are forgotten |
//! | [`Action::requeue_after`] | its failures are forgotten, it comes again after the delay |
//! | an error, a panic, a timeout | it comes again after the delay its rate limiter gives |
//! | [`ReconcileError::terminal`], too many retries | it is given up until something adds it again |
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

mod builder;
mod error;
mod metrics;
mod predicate;
mod reconcile;
mod sharded;
mod state;
mod worker;

pub use builder::{BuildError, ControllerBuilder, Watch};
pub use error::ControllerError;
pub use predicate::Predicate;
pub use reconcile::{Action, FnReconciler, ReconcileError, Reconciler, reconcile_fn};
pub use state::{ControllerState, KeyError, QueueState, SlowKey};
pub use tokio_util::sync::CancellationToken;
pub use worker::Controller;
