//! Rate limiters for failed keys: client-go's, with the time passed in.

use std::collections::HashMap;
use std::fmt;
use std::hash::Hash;
use std::sync::PoisonError;
use std::time::{Duration, Instant};

use crate::sync::{AtomicUsize, Mutex, MutexGuard, Ordering};

/// First delay of a failed key (client-go's `DefaultTypedControllerRateLimiter`).
const DEFAULT_BASE_DELAY: Duration = Duration::from_millis(5);
/// Longest delay of a failed key (same source).
const DEFAULT_MAX_DELAY: Duration = Duration::from_secs(1000);
/// Retries per second over all keys (same source).
const DEFAULT_QPS: f64 = 10.0;
/// Retries that pass at once before the rate applies (same source).
const DEFAULT_BURST: u32 = 100;

/// Decides how long a failed key waits before its next try.
///
/// ```
/// use kubesmith_runtime::workqueue::{ItemExponentialFailureRateLimiter, RateLimiter};
/// use std::time::{Duration, Instant};
///
/// let limiter = ItemExponentialFailureRateLimiter::new(Duration::from_millis(5), Duration::from_secs(1000));
/// let now = Instant::now();
/// assert_eq!(limiter.when(&"a", now), Duration::from_millis(5));
/// assert_eq!(limiter.when(&"a", now), Duration::from_millis(10));
/// assert_eq!(limiter.num_requeues(&"a"), 2);
/// limiter.forget(&"a");
/// assert_eq!(limiter.when(&"a", now), Duration::from_millis(5));
/// ```
pub trait RateLimiter<T>: Send + Sync {
    /// Counts a failure of `item` and returns the delay from `now`.
    fn when(&self, item: &T, now: Instant) -> Duration;
    /// Resets the failures of `item`, because it succeeded or was dropped.
    fn forget(&self, item: &T);
    /// Returns how often `item` has failed since the last reset.
    fn num_requeues(&self, item: &T) -> usize;
}

impl<T, L: RateLimiter<T> + ?Sized> RateLimiter<T> for Box<L> {
    fn when(&self, item: &T, now: Instant) -> Duration {
        (**self).when(item, now)
    }

    fn forget(&self, item: &T) {
        (**self).forget(item);
    }

    fn num_requeues(&self, item: &T) -> usize {
        (**self).num_requeues(item)
    }
}

/// Returns the default limiter of queues: the longer of a key's own delay (5 ms doubling up to 1000 s) and a token
/// bucket for all keys (10 per second, burst 100).
pub fn default_rate_limiter<T: Eq + Hash + Clone + Send + 'static>() -> MaxOfRateLimiter<T> {
    MaxOfRateLimiter::new(vec![
        Box::new(default_item_based_rate_limiter()),
        Box::new(BucketRateLimiter::new(DEFAULT_QPS, DEFAULT_BURST)),
    ])
}

/// Returns a limiter of a key's own delay alone: 5 ms doubling up to 1000 s.
pub fn default_item_based_rate_limiter<T: Eq + Hash + Clone>() -> ItemExponentialFailureRateLimiter<T> {
    ItemExponentialFailureRateLimiter::new(DEFAULT_BASE_DELAY, DEFAULT_MAX_DELAY)
}

/// The failures of each key.
struct Failures<T> {
    /// The number of keys in the map. Nearly every `forget` finds zero and skips the lock. The queue orders the
    /// calls for one key, so each sees the earlier ones.
    keys: AtomicUsize,
    map: Mutex<HashMap<T, u32>>,
}

impl<T: Eq + Hash + Clone> Failures<T> {
    fn new() -> Self {
        Failures { keys: AtomicUsize::new(0), map: Mutex::new(HashMap::new()) }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<T, u32>> {
        self.map.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a failure and returns the number of earlier ones.
    fn count(&self, item: &T) -> u32 {
        let mut failures = self.lock();
        if let Some(count) = failures.get_mut(item) {
            let before = *count;
            *count = before.saturating_add(1);
            return before;
        }
        failures.insert(item.clone(), 1);
        self.keys.store(failures.len(), Ordering::Release);
        0
    }

    fn forget(&self, item: &T) {
        if self.keys.load(Ordering::Acquire) == 0 {
            return;
        }
        let mut failures = self.lock();
        failures.remove(item);
        self.keys.store(failures.len(), Ordering::Release);
    }

    fn get(&self, item: &T) -> usize {
        if self.keys.load(Ordering::Acquire) == 0 {
            return 0;
        }
        self.lock().get(item).copied().unwrap_or(0) as usize
    }
}

/// Doubles a key's delay with each failure: `base * 2^failures`, at most `max`.
pub struct ItemExponentialFailureRateLimiter<T> {
    failures: Failures<T>,
    base: Duration,
    max: Duration,
}

impl<T: Eq + Hash + Clone> ItemExponentialFailureRateLimiter<T> {
    /// Makes a limiter whose delays begin at `base` and never exceed `max`.
    pub fn new(base: Duration, max: Duration) -> Self {
        ItemExponentialFailureRateLimiter { failures: Failures::new(), base, max }
    }
}

impl<T: Eq + Hash + Clone + Send> RateLimiter<T> for ItemExponentialFailureRateLimiter<T> {
    fn when(&self, item: &T, _now: Instant) -> Duration {
        let exponent = self.failures.count(item);
        let factor = 1_u32.checked_shl(exponent).filter(|factor| *factor != 0);
        factor.and_then(|factor| self.base.checked_mul(factor)).unwrap_or(self.max).min(self.max)
    }

    fn forget(&self, item: &T) {
        self.failures.forget(item);
    }

    fn num_requeues(&self, item: &T) -> usize {
        self.failures.get(item)
    }
}

/// Retries a key fast for a few times, and slowly afterwards.
pub struct ItemFastSlowRateLimiter<T> {
    failures: Failures<T>,
    fast: Duration,
    slow: Duration,
    max_fast_attempts: u32,
}

impl<T: Eq + Hash + Clone> ItemFastSlowRateLimiter<T> {
    /// Makes a limiter: the first `max_fast_attempts` failures wait `fast`, later ones `slow`.
    pub fn new(fast: Duration, slow: Duration, max_fast_attempts: u32) -> Self {
        ItemFastSlowRateLimiter { failures: Failures::new(), fast, slow, max_fast_attempts }
    }
}

impl<T: Eq + Hash + Clone + Send> RateLimiter<T> for ItemFastSlowRateLimiter<T> {
    fn when(&self, item: &T, _now: Instant) -> Duration {
        if self.failures.count(item) < self.max_fast_attempts { self.fast } else { self.slow }
    }

    fn forget(&self, item: &T) {
        self.failures.forget(item);
    }

    fn num_requeues(&self, item: &T) -> usize {
        self.failures.get(item)
    }
}

/// A token bucket for all keys. A key that finds it empty reserves a future token and waits for it.
#[derive(Debug)]
pub struct BucketRateLimiter {
    qps: f64,
    burst: f64,
    state: Mutex<Bucket>,
}

#[derive(Debug)]
struct Bucket {
    tokens: f64,
    updated: Option<Instant>,
}

impl BucketRateLimiter {
    /// Makes a bucket of `burst` tokens, initially full, that gains `qps` tokens per second. A rate that is not
    /// positive means no limit.
    pub fn new(qps: f64, burst: u32) -> Self {
        let burst = f64::from(burst);
        BucketRateLimiter { qps, burst, state: Mutex::new(Bucket { tokens: burst, updated: None }) }
    }
}

impl BucketRateLimiter {
    /// Returns the last reserved token, which was not used.
    pub(crate) fn give_back(&self) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).tokens += 1.0;
    }
}

impl<T> RateLimiter<T> for BucketRateLimiter {
    fn when(&self, _item: &T, now: Instant) -> Duration {
        if self.qps.is_nan() || self.qps <= 0.0 {
            return Duration::ZERO;
        }
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let elapsed = state.updated.map_or(Duration::ZERO, |updated| now.saturating_duration_since(updated));
        state.updated = Some(state.updated.map_or(now, |updated| updated.max(now)));
        state.tokens = (state.tokens + elapsed.as_secs_f64() * self.qps).min(self.burst) - 1.0;
        if state.tokens >= 0.0 {
            return Duration::ZERO;
        }
        Duration::try_from_secs_f64(-state.tokens / self.qps).unwrap_or(Duration::MAX)
    }

    fn forget(&self, _item: &T) {}

    fn num_requeues(&self, _item: &T) -> usize {
        0
    }
}

/// The longest of several limiters' delays.
pub struct MaxOfRateLimiter<T> {
    limiters: Vec<Box<dyn RateLimiter<T>>>,
}

impl<T> MaxOfRateLimiter<T> {
    /// Makes a limiter that asks all of `limiters`.
    pub fn new(limiters: Vec<Box<dyn RateLimiter<T>>>) -> Self {
        MaxOfRateLimiter { limiters }
    }
}

impl<T> RateLimiter<T> for MaxOfRateLimiter<T> {
    fn when(&self, item: &T, now: Instant) -> Duration {
        self.limiters.iter().map(|limiter| limiter.when(item, now)).max().unwrap_or(Duration::ZERO)
    }

    fn forget(&self, item: &T) {
        self.limiters.iter().for_each(|limiter| limiter.forget(item));
    }

    fn num_requeues(&self, item: &T) -> usize {
        self.limiters.iter().map(|limiter| limiter.num_requeues(item)).max().unwrap_or(0)
    }
}

/// Caps another limiter's delays.
#[derive(Debug)]
pub struct WithMaxWaitRateLimiter<L> {
    limiter: L,
    max_delay: Duration,
}

impl<L> WithMaxWaitRateLimiter<L> {
    /// Makes a limiter with the delays of `limiter`, at most `max_delay`.
    pub fn new(limiter: L, max_delay: Duration) -> Self {
        WithMaxWaitRateLimiter { limiter, max_delay }
    }
}

impl<T, L: RateLimiter<T>> RateLimiter<T> for WithMaxWaitRateLimiter<L> {
    fn when(&self, item: &T, now: Instant) -> Duration {
        self.limiter.when(item, now).min(self.max_delay)
    }

    fn forget(&self, item: &T) {
        self.limiter.forget(item);
    }

    fn num_requeues(&self, item: &T) -> usize {
        self.limiter.num_requeues(item)
    }
}

impl<T> fmt::Debug for ItemExponentialFailureRateLimiter<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ItemExponentialFailureRateLimiter")
            .field("base", &self.base)
            .field("max", &self.max)
            .finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for ItemFastSlowRateLimiter<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ItemFastSlowRateLimiter")
            .field("fast", &self.fast)
            .field("slow", &self.slow)
            .field("max_fast_attempts", &self.max_fast_attempts)
            .finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for MaxOfRateLimiter<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MaxOfRateLimiter").field("limiters", &self.limiters.len()).finish()
    }
}
