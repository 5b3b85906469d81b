//! Events of the API group `events.k8s.io`, as client-go's `tools/events` writes them.
//!
//! They name the controller's action (`action`) and may relate two objects. A repeated event becomes a series,
//! which is written when it begins, every half an hour while it lasts, and when it has ended. As in
//! [`record`](crate::record), recording never waits and never fails.
//!
//! ```no_run
//! use k8s_openapi::api::core::v1::Pod;
//! use kubesmith_runtime::events::{EventBroadcaster, EventType};
//!
//! # async fn run(client: kube::Client, pod: &Pod) {
//! let broadcaster = EventBroadcaster::new(client);
//! let recorder = broadcaster.recorder("example.com/pod-controller");
//! recorder.event(pod, EventType::Normal, "Labelled", "Label", "set the missing labels");
//! broadcaster.shutdown().await;
//! # }
//! ```
//!
//! Settings, and counts of dropped and lost events:
//!
//! ```no_run
//! use k8s_openapi::jiff::Timestamp;
//! use kubesmith_runtime::events::{EventBroadcaster, EventRecorder, SeriesOptions};
//!
//! # async fn run(client: kube::Client) {
//! let broadcaster = EventBroadcaster::builder(client)
//!     .host("node-1")
//!     .queue_length(100)
//!     .series(SeriesOptions::default())
//!     .clock(Timestamp::now)
//!     .random(|| 0.5)
//!     .build();
//! let recorder: EventRecorder = broadcaster.recorder("example.com/pod-controller");
//! println!("{} {}", broadcaster.dropped(), broadcaster.lost());
//! # }
//! ```

mod broadcaster;
mod recorder;
mod series;

pub use crate::recording::{EventType, FakeRecorder};
pub use broadcaster::{EventBroadcaster, EventBroadcasterBuilder};
pub use recorder::EventRecorder;
pub use series::SeriesOptions;
