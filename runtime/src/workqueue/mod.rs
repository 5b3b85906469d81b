//! Work queues with client-go's semantics: keys go in from event handlers, workers take them out.
//!
//! - Adding a key that already waits changes nothing: duplicates collapse.
//! - A key that is being processed is never handed to a second worker. Adding it meanwhile marks it, and it is
//!   queued again when its [`Item`] is dropped.
//! - [`Queue::add_after`] delays; of two delays for one key the earlier deadline wins.
//! - [`Queue::add_rate_limited`] delays by what the queue's [`RateLimiter`] says, until [`Queue::forget`].
//! - Keys added after [`Queue::shut_down`] are ignored; those that wait are still handed out.
//!
//! Workers pull: a [`Queue::get`] hands a key to the worker that asks. No task is spawned per key, and the queue
//! owns no task at all: an idle worker watches the earliest deadline.
//!
//! ```
//! use kubesmith_runtime::workqueue::Queue;
//!
//! # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
//! let queue = Queue::new("pods");
//! queue.add("default/a");
//! queue.add("default/a");
//! queue.add("default/b");
//! queue.shut_down();
//! let mut seen = Vec::new();
//! while let Some(item) = queue.get().await {
//!     seen.push(*item);
//!     queue.forget(&item);
//! }
//! assert_eq!(seen, ["default/a", "default/b"]);
//! # });
//! ```

mod core;
mod limiter;
mod metrics;
mod queue;

pub use limiter::{
    BucketRateLimiter, ItemExponentialFailureRateLimiter, ItemFastSlowRateLimiter, MaxOfRateLimiter,
    RateLimiter, WithMaxWaitRateLimiter, default_item_based_rate_limiter, default_rate_limiter,
};
pub use queue::{Drain, Get, Item, Queue, QueueBuilder, QueueKey};

/// Priority of keys added without one.
pub const DEFAULT_PRIORITY: i32 = 0;

/// Priority for keys of an initial list or a resync, which live events overtake (controller-runtime's value).
pub const LOW_PRIORITY: i32 = -100;
