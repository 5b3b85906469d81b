//! The queue as workers see it, and the limiters against their formulas.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use futures::FutureExt;
use kubesmith_runtime::metrics::Registry;
use kubesmith_runtime::workqueue::{
    BucketRateLimiter, ItemExponentialFailureRateLimiter, ItemFastSlowRateLimiter, LOW_PRIORITY,
    MaxOfRateLimiter, Queue, RateLimiter, WithMaxWaitRateLimiter, default_rate_limiter,
};
use proptest::prelude::*;
use tokio::task::yield_now;

const MS: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);

fn queue() -> Queue<&'static str> {
    Queue::new("test")
}

#[tokio::test(start_paused = true)]
async fn duplicates_collapse_and_order_is_kept() {
    let queue = queue();
    for key in ["a", "b", "a", "c", "b"] {
        queue.add(key);
    }
    assert_eq!(queue.len(), 3);
    queue.shut_down();
    let mut seen = Vec::new();
    while let Some(item) = queue.get().await {
        seen.push(*item);
    }
    assert_eq!(seen, ["a", "b", "c"]);
}

#[tokio::test(start_paused = true)]
async fn key_in_processing_is_queued_after_done() {
    let queue = queue();
    queue.add("a");
    let item = queue.get().await.unwrap();
    queue.add("a");
    queue.add("a");
    assert!(queue.is_empty(), "in work, so not ready");
    assert!(queue.get().now_or_never().is_none(), "no second worker gets it");
    item.done();
    assert_eq!(queue.len(), 1, "added while in work, so once more");
    drop(queue.get().await);
    assert!(queue.is_empty());
}

#[tokio::test(start_paused = true)]
async fn idle_worker_wakes_for_an_added_key() {
    let queue = queue();
    let worker = tokio::spawn({
        let queue = queue.clone();
        async move { queue.get().await.map(|item| *item) }
    });
    yield_now().await;
    queue.add("a");
    assert_eq!(worker.await.unwrap(), Some("a"));
}

#[tokio::test(start_paused = true)]
async fn earlier_delay_of_a_key_applies() {
    let queue = queue();
    let start = tokio::time::Instant::now();
    queue.add_after("a", 50 * MS);
    queue.add_after("a", 10 * MS);
    queue.add_after("b", 20 * MS);
    queue.add_after("b", 70 * MS);
    assert_eq!((queue.delayed(), queue.len()), (2, 0));
    let mut seen = Vec::new();
    for _ in 0..2 {
        let item = queue.get().await.unwrap();
        seen.push((*item, start.elapsed()));
    }
    assert_eq!(seen, [("a", 10 * MS), ("b", 20 * MS)]);
    assert_eq!((queue.delayed(), queue.len()), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn earlier_delay_resets_the_idle_workers_timer() {
    let queue = queue();
    let start = tokio::time::Instant::now();
    queue.add_after("late", 500 * MS);
    let worker = tokio::spawn({
        let queue = queue.clone();
        async move {
            let first = queue.get().await.map(|item| *item);
            (first, start.elapsed())
        }
    });
    yield_now().await;
    queue.add_after("early", 30 * MS);
    assert_eq!(worker.await.unwrap(), (Some("early"), 30 * MS));
}

#[tokio::test(start_paused = true)]
async fn another_worker_keeps_the_timer_when_its_keeper_leaves() {
    let queue = queue();
    let start = tokio::time::Instant::now();
    queue.add_after("a", 100 * MS);
    let mut keeper = Box::pin(queue.get());
    assert!(futures::poll!(keeper.as_mut()).is_pending());
    let other = tokio::spawn({
        let queue = queue.clone();
        async move { queue.get().await.map(|item| (*item, start.elapsed())) }
    });
    yield_now().await;
    drop(keeper);
    assert_eq!(other.await.unwrap(), Some(("a", 100 * MS)));
}

#[tokio::test(start_paused = true)]
async fn wake_up_of_a_dropped_worker_reaches_another() {
    let queue = queue();
    let other = tokio::spawn({
        let queue = queue.clone();
        async move { queue.get().await.map(|item| *item) }
    });
    yield_now().await;
    let mut dropped = Box::pin(queue.get());
    assert!(futures::poll!(dropped.as_mut()).is_pending());
    queue.add("a");
    drop(dropped);
    assert_eq!(other.await.unwrap(), Some("a"));
}

#[tokio::test(start_paused = true)]
async fn all_idle_workers_wake_when_several_delays_end_at_once() {
    let queue = queue();
    queue.add_after("a", 10 * MS);
    queue.add_after("b", 10 * MS);
    queue.add_after("c", 10 * MS);
    // Each worker holds its key until all three are taken, which one worker alone could never reach.
    let barrier = Arc::new(tokio::sync::Barrier::new(3));
    let workers: Vec<_> = (0..3)
        .map(|_| {
            let (queue, barrier) = (queue.clone(), barrier.clone());
            tokio::spawn(async move {
                let item = queue.get().await;
                barrier.wait().await;
                item.map(|item| *item)
            })
        })
        .collect();
    let mut seen = Vec::new();
    for worker in workers {
        seen.extend(worker.await.unwrap());
    }
    seen.sort_unstable();
    assert_eq!(seen, ["a", "b", "c"]);
}

#[tokio::test(start_paused = true)]
async fn priorities_come_first_and_low_ones_last() {
    let queue = queue();
    queue.add_with_priority("resync-a", LOW_PRIORITY);
    queue.add_with_priority("resync-b", LOW_PRIORITY);
    queue.add("live");
    queue.add_with_priority("urgent", 10);
    queue.add("resync-b");
    queue.shut_down();
    let mut seen = Vec::new();
    while let Some(item) = queue.get().await {
        seen.push(*item);
    }
    assert_eq!(seen, ["urgent", "live", "resync-b", "resync-a"]);
}

#[tokio::test(start_paused = true)]
async fn keys_are_not_added_after_shut_down_and_delays_are_dropped() {
    let queue = queue();
    queue.add("ready");
    queue.add_after("delayed", MS);
    queue.shut_down();
    queue.add("late");
    queue.add_after("late", MS);
    queue.add_rate_limited("late");
    assert_eq!((queue.len(), queue.delayed()), (1, 0));
    assert_eq!(queue.get().await.map(|item| *item), Some("ready"));
    assert!(queue.get().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn shut_down_ends_idle_workers() {
    let queue = queue();
    let workers: Vec<_> = (0..3)
        .map(|_| {
            let queue = queue.clone();
            tokio::spawn(async move { queue.get().await.is_none() })
        })
        .collect();
    yield_now().await;
    queue.shut_down();
    for worker in workers {
        assert!(worker.await.unwrap());
    }
}

#[tokio::test(start_paused = true)]
async fn drain_waits_for_queued_keys_and_keys_in_processing() {
    let queue = queue();
    queue.add("a");
    queue.add("b");
    let item = queue.get().await.unwrap();
    queue.add("a");
    let mut drain = Box::pin(queue.shut_down_with_drain().into_future());
    assert!(futures::poll!(drain.as_mut()).is_pending());
    item.done();
    assert_eq!(queue.get().await.map(|item| *item), Some("b"));
    assert!(futures::poll!(drain.as_mut()).is_pending(), "re-added before the shutdown, so still to do");
    assert_eq!(queue.get().await.map(|item| *item), Some("a"));
    drain.await;
    assert!(queue.get().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn shut_down_ends_a_drain() {
    let queue = queue();
    queue.add("a");
    let mut drain = Box::pin(queue.shut_down_with_drain().into_future());
    assert!(futures::poll!(drain.as_mut()).is_pending());
    queue.shut_down();
    drain.await;
}

#[tokio::test(start_paused = true)]
async fn failures_back_off_until_forgotten() {
    let limiter = ItemExponentialFailureRateLimiter::new(5 * MS, Duration::from_secs(1));
    let queue = Queue::builder("test").rate_limiter(limiter).build();
    let start = tokio::time::Instant::now();
    for (tries, at) in [(1, 5), (2, 15), (3, 35)] {
        queue.add_rate_limited("a");
        let item = queue.get().await.unwrap();
        assert_eq!((queue.num_requeues(&item), start.elapsed()), (tries, at * MS));
    }
    queue.forget(&"a");
    assert_eq!(queue.num_requeues(&"a"), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn each_key_is_in_one_worker_and_none_is_lost() {
    const KEYS: usize = 64;
    const ADDS: usize = 20_000;
    let queue: Queue<usize> = Queue::new("test");
    let in_work: Arc<Vec<AtomicUsize>> = Arc::new((0..KEYS).map(|_| AtomicUsize::new(0)).collect());
    let versions: Arc<Vec<AtomicUsize>> = Arc::new((0..KEYS).map(|_| AtomicUsize::new(0)).collect());
    let seen: Arc<Vec<AtomicUsize>> = Arc::new((0..KEYS).map(|_| AtomicUsize::new(0)).collect());
    let workers: Vec<_> = (0..8)
        .map(|_| {
            let (queue, in_work, versions, seen) =
                (queue.clone(), in_work.clone(), versions.clone(), seen.clone());
            tokio::spawn(async move {
                while let Some(item) = queue.get().await {
                    assert_eq!(
                        in_work[*item].fetch_add(1, Ordering::SeqCst),
                        0,
                        "{item:?} is in two workers"
                    );
                    seen[*item].store(versions[*item].load(Ordering::SeqCst), Ordering::SeqCst);
                    yield_now().await;
                    in_work[*item].fetch_sub(1, Ordering::SeqCst);
                }
            })
        })
        .collect();
    for add in 0..ADDS {
        let key = (add * 31) % KEYS;
        versions[key].fetch_add(1, Ordering::SeqCst);
        match add % 5 {
            0 => queue.add_after(key, MS),
            _ => queue.add(key),
        }
        if add % 100 == 0 {
            yield_now().await;
        }
    }
    while queue.delayed() > 0 {
        tokio::task::yield_now().await;
        queue.len();
    }
    queue.shut_down_with_drain().await;
    for worker in workers {
        worker.await.unwrap();
    }
    for key in 0..KEYS {
        assert_eq!(
            seen[key].load(Ordering::SeqCst),
            versions[key].load(Ordering::SeqCst),
            "key {key} is behind"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn busy_worker_yields_to_others() {
    let queue = queue();
    queue.add("a");
    let worker = tokio::spawn({
        let queue = queue.clone();
        async move {
            while let Some(item) = queue.get().await {
                queue.add(*item);
            }
        }
    });
    // On one thread this only comes back if the worker yields although a key is always ready.
    yield_now().await;
    yield_now().await;
    worker.abort();
    assert!(worker.await.unwrap_err().is_cancelled());
}

#[tokio::test(start_paused = true)]
async fn queue_metrics_follow_a_key() {
    let registry = Registry::new();
    let queue = Queue::builder("EcsBinding").metrics(&registry).build();
    queue.add("a");
    queue.add("a");
    queue.add_after("b", 2 * SECOND);
    tokio::time::advance(SECOND).await;
    let item = queue.get().await;
    queue.add("a");
    tokio::time::advance(2 * SECOND).await;
    let labels = "{name=\"EcsBinding\",controller=\"EcsBinding\"}";
    let expect = |lines: &[(&str, &str)]| {
        let text = registry.encode();
        for (metric, value) in lines {
            let line = format!("{metric}{labels} {value}\n");
            assert!(text.contains(&line), "{line} is not in\n{text}");
        }
    };
    expect(&[
        ("workqueue_adds_total", "3"),
        ("workqueue_retries_total", "1"),
        ("workqueue_unfinished_work_seconds", "2.0"),
        ("workqueue_longest_running_processor_seconds", "2.0"),
        ("workqueue_queue_duration_seconds_sum", "1.0"),
        ("workqueue_work_duration_seconds_count", "0"),
    ]);
    drop(item);
    expect(&[
        ("workqueue_unfinished_work_seconds", "0.0"),
        ("workqueue_work_duration_seconds_sum", "2.0"),
        ("workqueue_work_duration_seconds_count", "1"),
    ]);
    let depth = |priority: i32| {
        let text = registry.encode();
        let line = format!(
            "workqueue_depth{{name=\"EcsBinding\",controller=\"EcsBinding\",priority=\"{priority}\"}} "
        );
        text.lines().find_map(|text| text.strip_prefix(&line).map(ToOwned::to_owned))
    };
    assert_eq!([depth(0), depth(5), depth(-100)], [Some("2.0".to_owned()), None, None]);
    queue.add_with_priority("a", 5);
    queue.add_with_priority("c", -100);
    let one = || Some("1.0".to_owned());
    assert_eq!([depth(0), depth(5), depth(-100)], [one(), one(), one()], "one of them has been raised");
    drop(queue);
    assert!(!registry.encode().contains("workqueue_depth{"), "a queue that is gone has no depth");
}

#[test]
fn fast_slow_limiter_slows_after_the_fast_retries() {
    let limiter = ItemFastSlowRateLimiter::new(5 * MS, 10_000 * MS, 3);
    let now = Instant::now();
    let delays: Vec<Duration> = (0..5).map(|_| limiter.when(&"a", now)).collect();
    assert_eq!(delays, [5 * MS, 5 * MS, 5 * MS, 10_000 * MS, 10_000 * MS]);
    assert_eq!(limiter.num_requeues(&"a"), 5);
    assert_eq!(limiter.when(&"b", now), 5 * MS);
    limiter.forget(&"a");
    assert_eq!(limiter.when(&"a", now), 5 * MS);
}

#[test]
fn longest_delay_applies_and_can_be_capped() {
    let limiter = MaxOfRateLimiter::new(vec![
        Box::new(ItemFastSlowRateLimiter::new(5 * MS, 3_000 * MS, 3)),
        Box::new(ItemExponentialFailureRateLimiter::new(MS, 1_000_000 * MS)),
    ]);
    let limiter = WithMaxWaitRateLimiter::new(limiter, 2_000 * MS);
    let now = Instant::now();
    let delays: Vec<Duration> = (0..5).map(|_| limiter.when(&"a", now)).collect();
    assert_eq!(delays, [5 * MS, 5 * MS, 5 * MS, 2_000 * MS, 2_000 * MS]);
    assert_eq!(limiter.num_requeues(&"a"), 5);
}

#[test]
fn default_limiter_limits_each_key_and_all_keys() {
    let limiter = default_rate_limiter();
    let now = Instant::now();
    let first: Vec<Duration> = (0..100).map(|key| limiter.when(&key, now)).collect();
    assert!(first.iter().all(|delay| *delay == 5 * MS), "the burst passes");
    assert_eq!(limiter.when(&100, now), 100 * MS, "then ten per second");
    let long: Vec<Duration> = (0..40).map(|_| limiter.when(&0, now)).collect();
    assert_eq!(long.last(), Some(&Duration::from_secs(1000)));
}

proptest! {
    /// In any window no more than burst + rate * window keys pass, and waiting restores the bucket.
    #[test]
    fn token_bucket_never_overflows(gaps in prop::collection::vec(0..2_000_u64, 1..200), burst in 1..20_u32) {
        let qps = 4.0;
        let limiter = BucketRateLimiter::new(qps, burst);
        let start = Instant::now();
        let mut now = start;
        let mut passes: Vec<Duration> = Vec::new();
        for gap in gaps {
            now += Duration::from_millis(gap);
            passes.push(now + limiter.when(&"a", now) - start);
        }
        for (at, from) in passes.iter().enumerate() {
            for (count, to) in passes[at..].iter().enumerate() {
                let allowed = f64::from(burst) + qps * (to.saturating_sub(*from)).as_secs_f64() + 1e-6;
                prop_assert!((count + 1) as f64 <= allowed + 1e-6, "{} passed within {from:?}..{to:?}", count + 1);
            }
        }
    }

    #[test]
    fn delays_double_up_to_the_maximum(tries in 1..80_u32, base in 1..50_u64) {
        let max = Duration::from_secs(1000);
        let limiter = ItemExponentialFailureRateLimiter::new(Duration::from_millis(base), max);
        let now = Instant::now();
        let delays: Vec<Duration> = (0..tries).map(|_| limiter.when(&"a", now)).collect();
        for (exponent, delay) in delays.iter().enumerate() {
            let exact = base as f64 * 2_f64.powi(exponent as i32) / 1e3;
            prop_assert_eq!(*delay, if exact > 1000.0 { max } else { Duration::from_secs_f64(exact) });
        }
    }
}
