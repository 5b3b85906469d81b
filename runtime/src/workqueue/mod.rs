//! Work queues with client-go's semantics: event handlers add keys, workers take them.
//!
//! - Adding a key that is waiting has no effect: duplicates are merged.
//! - A key in processing is never handed to a second worker. If it is added meanwhile, it is queued again when its
//!   [`Item`] is dropped.
//! - [`Queue::add_after`] delays a key; of two delays for one key the earlier deadline counts.
//! - [`Queue::add_rate_limited`] delays a key as the queue's [`RateLimiter`] says, until [`Queue::forget`] resets
//!   it.
//! - Keys added after [`Queue::shut_down`] are ignored; waiting keys are still handed out.
//!
//! Workers pull: [`Queue::get`] hands a key to the caller. The queue owns no task and spawns none; an idle worker
//! keeps the timer of the earliest deadline.
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
//!
//! Delays, priorities, retries and the sizes of a queue:
//!
//! ```
//! use std::time::{Duration, Instant};
//! use kubesmith_runtime::metrics::Registry;
//! use kubesmith_runtime::workqueue::{
//!     BucketRateLimiter, DEFAULT_PRIORITY, Item, ItemExponentialFailureRateLimiter, ItemFastSlowRateLimiter,
//!     LOW_PRIORITY, MaxOfRateLimiter, Queue, QueueKey, RateLimiter, WithMaxWaitRateLimiter,
//!     default_item_based_rate_limiter, default_rate_limiter,
//! };
//!
//! fn retries<T: QueueKey>(queue: &Queue<T>, item: &Item<'_, T>) -> usize {
//!     queue.num_requeues(item.key())
//! }
//!
//! let second = Duration::from_secs(1);
//! # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
//! let per_key = ItemExponentialFailureRateLimiter::new(Duration::from_millis(5), 60 * second);
//! let over_all = BucketRateLimiter::new(10.0, 100);
//! let limiter = MaxOfRateLimiter::new(vec![Box::new(per_key), Box::new(over_all)]);
//! let registry = Registry::new();
//! let queue = Queue::builder("pods").rate_limiter(limiter).metrics(&registry).build();
//! queue.add_with_priority("listed", LOW_PRIORITY);
//! queue.add_with_priority("changed", DEFAULT_PRIORITY);
//! queue.add_after("later", 60 * second);
//! queue.add_after_with_priority("later still", 90 * second, 10);
//! assert_eq!((queue.name(), queue.len(), queue.delayed(), queue.is_empty()), ("pods", 2, 2, false));
//! let item = queue.try_get().unwrap();
//! assert_eq!((*item.key(), item.priority(), queue.processing()), ("changed", 0, 1));
//! // It failed, so it is queued again after 5 ms, with the same priority.
//! queue.add_rate_limited_with_priority(*item.key(), item.priority());
//! assert_eq!(retries(&queue, &item), 1);
//! item.done();
//! queue.add_rate_limited("changed");
//!
//! let drain = queue.shut_down_with_drain();
//! assert!(queue.is_shut_down());
//! while let Some(item) = queue.try_get() {
//!     item.done();
//! }
//! drain.await;
//! # });
//! let now = Instant::now();
//! let fast_slow = ItemFastSlowRateLimiter::new(second, 60 * second, 1);
//! let capped = WithMaxWaitRateLimiter::new(fast_slow, 30 * second);
//! assert_eq!((capped.when(&"a", now), capped.when(&"a", now)), (second, 30 * second));
//! // The defaults of controllers and of queues.
//! let (item_based, default) = (default_item_based_rate_limiter::<&str>(), default_rate_limiter::<&str>());
//! assert_eq!(item_based.when(&"a", now), default.when(&"a", now));
//! ```

mod builder;
mod core;
mod get;
mod limiter;
mod metrics;
mod places;
mod queue;
mod trace;

pub use builder::QueueBuilder;
pub use get::{Get, Item};
pub use limiter::{
    BucketRateLimiter, ItemExponentialFailureRateLimiter, ItemFastSlowRateLimiter, MaxOfRateLimiter,
    RateLimiter, WithMaxWaitRateLimiter, default_item_based_rate_limiter, default_rate_limiter,
};
pub(crate) use places::{Place, Placed};
pub use queue::{Queue, QueueKey};

/// The priority of keys added without one.
pub const DEFAULT_PRIORITY: i32 = 0;

/// The priority of keys of an initial list or a resync, which live events overtake (controller-runtime's value).
pub const LOW_PRIORITY: i32 = -100;
