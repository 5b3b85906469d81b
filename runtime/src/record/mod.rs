//! Core events about objects, as `kubectl describe` shows them.
//!
//! An [`EventBroadcaster`] owns the task that writes core/v1 Events; an [`EventRecorder`] is a cheap handle for
//! controllers. Recording never waits and never fails: while the server is unreachable, events are retried for some
//! time, and when the queue is full, new events are dropped and counted.
//!
//! Events are correlated by client-go's rules before they are written ([`CorrelatorOptions`]): a repeated event only
//! raises a count, many similar events become one, and a source that repeats itself about one object is muted.
//!
//! [`events`](crate::events) has the same for the API group `events.k8s.io`.
//!
//! ```no_run
//! use k8s_openapi::api::core::v1::Pod;
//! use kubesmith_runtime::record::{EventBroadcaster, EventType};
//!
//! # async fn run(client: kube::Client, pod: &Pod) {
//! let broadcaster = EventBroadcaster::new(client);
//! let recorder = broadcaster.recorder("pod-controller");
//! recorder.event(pod, EventType::Normal, "Labelled", format!("set {} labels", 2));
//! broadcaster.shutdown().await;
//! # }
//! ```
//!
//! In tests, a [`FakeRecorder`] keeps the events.
//!
//! Settings, and counts of dropped and lost events:
//!
//! ```no_run
//! use k8s_openapi::jiff::Timestamp;
//! use kubesmith_runtime::record::{CorrelatorOptions, EventBroadcaster, EventRecorder, EventType, FakeRecorder};
//!
//! # async fn run(client: kube::Client) {
//! let broadcaster = EventBroadcaster::builder(client)
//!     .host("node-1")
//!     .queue_length(100)
//!     .correlation(CorrelatorOptions::default())
//!     .clock(Timestamp::now)
//!     .random(|| 0.5)
//!     .build();
//! let recorder: EventRecorder = broadcaster.recorder("pod-controller");
//! println!("{} {} {}", EventType::Warning.as_str(), broadcaster.dropped(), broadcaster.lost());
//! let fake_of_the_other_group = FakeRecorder::new().events_recorder();
//! # }
//! ```

mod broadcaster;
mod correlator;
mod recorder;

pub use crate::recording::{EventType, FakeRecorder};
pub use broadcaster::{EventBroadcaster, EventBroadcasterBuilder};
pub use correlator::CorrelatorOptions;
pub use recorder::EventRecorder;
