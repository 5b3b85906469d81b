//! The cases. Shuttle reports a case that waits forever as a deadlock.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::task::Poll;
use std::time::{Duration, Instant};

use shuttle::future::block_on;
use shuttle::thread;

use crate::cache::{Change, Indexer, ObjectKey, store};
use crate::informer::{mailbox_ends_a_waiting_handler, mailbox_hands_over_the_last_state};
use crate::workqueue::{ItemExponentialFailureRateLimiter, Queue, RateLimiter};

type Case = fn();

pub(crate) const ALL: &[(&str, Case)] = &[
    ("queue_hands_out_every_change_to_one_worker", queue_hands_out_every_change_to_one_worker),
    ("queue_wakes_another_for_a_worker_that_gave_up", queue_wakes_another_for_a_worker_that_gave_up),
    ("queue_drains_and_ends_its_workers", queue_drains_and_ends_its_workers),
    ("queue_ends_a_drain_that_is_called_off", queue_ends_a_drain_that_is_called_off),
    ("limiter_counts_what_others_forget_beside_it", limiter_counts_what_others_forget_beside_it),
    ("mailbox_hands_over_the_last_state", mailbox_hands_over_the_last_state),
    ("mailbox_ends_a_waiting_handler", mailbox_ends_a_waiting_handler),
    ("store_shows_no_half_replacement", store_shows_no_half_replacement),
    ("store_lists_are_never_older_than_reads", store_lists_are_never_older_than_reads),
    ("store_completes_an_index_beside_its_writer", store_completes_an_index_beside_its_writer),
];

/// A key whose changes are counted, and that notices a second worker.
#[derive(Default)]
struct Counted {
    changes: AtomicU32,
    seen: AtomicU32,
    in_work: AtomicBool,
}

fn work(queue: &Queue<usize>, keys: &[Counted]) {
    block_on(async {
        while let Some(item) = queue.get().await {
            let key = &keys[*item];
            assert!(!key.in_work.swap(true, Ordering::SeqCst), "in two workers");
            let now = key.changes.load(Ordering::SeqCst);
            thread::yield_now();
            key.seen.store(now, Ordering::SeqCst);
            key.in_work.store(false, Ordering::SeqCst);
        }
    });
}

fn queue_hands_out_every_change_to_one_worker() {
    let queue = Queue::<usize>::new("test");
    let keys: Arc<[Counted; 2]> = Arc::default();
    let workers = [0, 1].map(|_| {
        let (queue, keys) = (queue.clone(), keys.clone());
        thread::spawn(move || work(&queue, &*keys))
    });
    let producers = [0, 1].map(|first| {
        let (queue, keys) = (queue.clone(), keys.clone());
        thread::spawn(move || {
            for key in [first, 1 - first, first] {
                keys[key].changes.fetch_add(1, Ordering::SeqCst);
                queue.add(key);
            }
        })
    });
    producers.into_iter().for_each(|producer| producer.join().unwrap());
    queue.shut_down();
    workers.into_iter().for_each(|worker| worker.join().unwrap());
    for key in &*keys {
        assert_eq!(key.seen.load(Ordering::SeqCst), key.changes.load(Ordering::SeqCst), "a change was lost");
    }
}

fn queue_wakes_another_for_a_worker_that_gave_up() {
    let queue = Queue::<usize>::new("test");
    let stays = {
        let queue = queue.clone();
        thread::spawn(move || block_on(async { queue.get().await.map(|item| *item) }))
    };
    let gives_up = {
        let queue = queue.clone();
        thread::spawn(move || {
            block_on(async {
                let mut get = pin!(queue.get());
                // Once it waits, once more after it may have been woken, and then no more.
                for _ in 0..2 {
                    let taken = std::future::poll_fn(|context| Poll::Ready(get.as_mut().poll(context))).await;
                    if let Poll::Ready(item) = taken {
                        return item.map(|item| *item);
                    }
                    shuttle::future::yield_now().await;
                }
                None
            })
        })
    };
    queue.add(1);
    if gives_up.join().unwrap().is_some() {
        // It had the key: another one, for the worker that stays.
        queue.add(2);
    }
    assert!(stays.join().unwrap().is_some());
}

fn queue_drains_and_ends_its_workers() {
    let queue = Queue::<usize>::new("test");
    let keys: Arc<[Counted; 2]> = Arc::default();
    keys.iter().for_each(|key| key.changes.store(1, Ordering::SeqCst));
    queue.add(0);
    queue.add(1);
    let workers = [0, 1].map(|_| {
        let (queue, keys) = (queue.clone(), keys.clone());
        thread::spawn(move || work(&queue, &*keys))
    });
    block_on(queue.shut_down_with_drain().into_future());
    assert!(keys.iter().all(|key| key.seen.load(Ordering::SeqCst) == 1), "the drain ended before its work");
    workers.into_iter().for_each(|worker| worker.join().unwrap());
}

fn queue_ends_a_drain_that_is_called_off() {
    let queue = Queue::<usize>::new("test");
    // Nobody takes it.
    queue.add(0);
    let drain = {
        let queue = queue.clone();
        thread::spawn(move || block_on(queue.shut_down_with_drain().into_future()))
    };
    // The last call decides, so it must be one that ends it.
    let calls_off = thread::spawn(move || {
        while !queue.is_shut_down() {
            thread::yield_now();
        }
        queue.shut_down();
    });
    calls_off.join().unwrap();
    drain.join().unwrap();
}

fn limiter_counts_what_others_forget_beside_it() {
    let limiter =
        Arc::new(ItemExponentialFailureRateLimiter::new(Duration::from_millis(1), Duration::from_secs(1)));
    let now = Instant::now();
    let threads = [0_u32, 1].map(|key| {
        let limiter = limiter.clone();
        thread::spawn(move || {
            limiter.when(&key, now);
            limiter.forget(&key);
            assert_eq!(limiter.when(&key, now), Duration::from_millis(1), "it was forgotten");
            assert_eq!(limiter.when(&key, now), Duration::from_millis(2), "and counts again");
            assert_eq!(limiter.num_requeues(&key), 2);
        })
    });
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

fn content(names: [&str; 2]) -> Vec<(ObjectKey, Arc<u32>)> {
    names.map(|name| (ObjectKey::namespaced("n", name), Arc::new(1))).to_vec()
}

fn store_shows_no_half_replacement() {
    let mut writer = store::<u32>();
    writer.replace(content(["a", "b"]), &[]);
    let readers = [0, 1].map(|_| {
        let reader = writer.reader();
        thread::spawn(move || {
            for _ in 0..3 {
                let keys: Vec<String> = reader.keys().iter().map(|key| key.name().to_owned()).collect();
                assert!(keys == ["a", "b"] || keys == ["b", "c"], "{keys:?}");
                assert_eq!(reader.list().len(), 2);
            }
        })
    });
    for names in [["b", "c"], ["a", "b"], ["b", "c"]] {
        let changes = writer.replace(content(names), &[]).changes;
        assert!(matches!(changes.first(), Some(Change::Deleted { .. })));
    }
    readers.into_iter().for_each(|reader| reader.join().unwrap());
}

fn store_lists_are_never_older_than_reads() {
    let mut writer = store::<u32>();
    let reader = writer.reader();
    let other = thread::spawn(move || {
        let mut last = 0;
        for _ in 0..4 {
            let read = reader.get("n", "a").map_or(0, |state| *state);
            let listed = reader.list_namespace("n").first().map_or(0, |state| **state);
            assert!(last <= read && read <= listed, "{last}, then {read}, then {listed}");
            last = listed;
        }
    });
    for state in 1..=4 {
        writer.insert(&ObjectKey::namespaced("n", "a"), Arc::new(state));
    }
    other.join().unwrap();
}

/// An object is in the index that was added beside the writer exactly if it is in the store, under its last value.
fn store_completes_an_index_beside_its_writer() {
    let mut writer = store::<u32>();
    writer.replace(content(["a", "b"]), &[]);
    let reader = writer.reader();
    let adds = thread::spawn(move || {
        let parity = |state: &u32| {
            thread::yield_now();
            vec![(state % 2).to_string()]
        };
        assert!(reader.add_indexer(Indexer::new("parity", parity)));
    });
    writer.insert(&ObjectKey::namespaced("n", "a"), Arc::new(2));
    writer.remove(&ObjectKey::namespaced("n", "b"));
    writer.insert(&ObjectKey::namespaced("n", "c"), Arc::new(3));
    writer.insert(&ObjectKey::namespaced("n", "a"), Arc::new(4));
    adds.join().unwrap();
    let reader = writer.reader();
    let names = |value: &str| {
        let keys = reader.index_keys("parity", value).unwrap();
        keys.iter().map(|key| key.name().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!((names("0"), names("1")), (vec!["a".to_owned()], vec!["c".to_owned()]));
}
