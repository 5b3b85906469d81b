//! How many keys pass the work queue per second, beside kube-runtime's scheduler.
//!
//! `cargo run --release [KEYS [ROUNDS]]` prints the median of the rounds and the ratios to the scheduler, which takes
//! the queue's place in kube-runtime: it removes duplicates and delays. `burst`: all keys are there before the first
//! is taken. `piped`: one producer beside the consumers.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use futures::StreamExt;
use kube::runtime::scheduler::{ScheduleRequest, scheduler};
use kubesmith_runtime::workqueue::Queue;

type Key = Arc<str>;

fn main() {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse::<usize>().expect("a number"));
    let keys = arguments.next().unwrap_or(1_000_000);
    let rounds = arguments.next().unwrap_or(5).max(1);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    let keys: Vec<Key> = (0..keys).map(|i| Arc::from(format!("team-{:03}/name-{i:07}", i % 100))).collect();
    let mut results: Vec<Vec<f64>> = Vec::new();
    for _ in 0..rounds {
        // One after the other within a round, so that the machine's moods hit all alike.
        results.push(vec![
            runtime.block_on(scheduler_burst(&keys)),
            runtime.block_on(queue_burst(&keys, 1)),
            runtime.block_on(queue_burst(&keys, 8)),
            runtime.block_on(scheduler_piped(&keys)),
            runtime.block_on(queue_piped(&keys, 1)),
            runtime.block_on(queue_piped(&keys, 8)),
        ]);
    }
    let median = |at: usize| {
        let mut column: Vec<f64> = results.iter().map(|row| row[at]).collect();
        column.sort_by(f64::total_cmp);
        column[column.len() / 2]
    };
    let names = [
        "scheduler burst",
        "queue burst 1w",
        "queue burst 8w",
        "scheduler piped",
        "queue piped 1w",
        "queue piped 8w",
    ];
    for (at, name) in names.into_iter().enumerate() {
        let base = median(at / 3 * 3);
        println!("{name:16} {:6.2} M keys/s  {:5.2} of the scheduler", median(at) / 1e6, median(at) / base);
    }
}

fn rate(keys: &[Key], start: Instant) -> f64 {
    keys.len() as f64 / start.elapsed().as_secs_f64()
}

fn request(message: Key) -> ScheduleRequest<Key> {
    ScheduleRequest { message, run_at: tokio::time::Instant::now() }
}

async fn scheduler_burst(keys: &[Key]) -> f64 {
    let requests = futures::stream::iter(keys.to_vec()).map(request).chain(futures::stream::pending());
    let mut scheduler = std::pin::pin!(scheduler(requests));
    let start = Instant::now();
    for _ in keys {
        black_box(scheduler.next().await);
    }
    rate(keys, start)
}

async fn scheduler_piped(keys: &[Key]) -> f64 {
    let (sender, receiver) = tokio::sync::mpsc::channel::<ScheduleRequest<Key>>(1024);
    let (to_send, count) = (keys.to_vec(), keys.len());
    let start = Instant::now();
    let producer = tokio::spawn(async move {
        for key in to_send {
            let _ = sender.send(request(key)).await;
        }
        sender
    });
    let receiver = futures::stream::unfold(receiver, |mut receiver| async move {
        receiver.recv().await.map(|request| (request, receiver))
    });
    let consumer = tokio::spawn(async move {
        let mut scheduler = Box::pin(scheduler(Box::pin(receiver)));
        for _ in 0..count {
            black_box(scheduler.next().await);
        }
    });
    consumer.await.expect("the consumer");
    let result = rate(keys, start);
    drop(producer.await);
    result
}

fn consumers(queue: &Queue<Key>, count: usize) -> Vec<tokio::task::JoinHandle<usize>> {
    let consumer = |queue: Queue<Key>| async move {
        let mut taken = 0;
        while let Some(item) = queue.get().await {
            black_box(item.key());
            taken += 1;
        }
        taken
    };
    (0..count).map(|_| tokio::spawn(consumer(queue.clone()))).collect()
}

async fn all_taken(consumers: Vec<tokio::task::JoinHandle<usize>>, keys: &[Key]) {
    let mut taken = 0;
    for consumer in consumers {
        taken += consumer.await.expect("a consumer");
    }
    assert_eq!(taken, keys.len());
}

async fn queue_burst(keys: &[Key], workers: usize) -> f64 {
    let queue = Queue::new("bench");
    let start = Instant::now();
    for key in keys {
        queue.add(key.clone());
    }
    let consumers = consumers(&queue, workers);
    queue.shut_down();
    all_taken(consumers, keys).await;
    rate(keys, start)
}

async fn queue_piped(keys: &[Key], workers: usize) -> f64 {
    let queue: Queue<Key> = Queue::new("bench");
    let consumers = consumers(&queue, workers);
    let (to_add, producer) = (keys.to_vec(), queue.clone());
    let start = Instant::now();
    let producer = tokio::spawn(async move {
        for key in to_add {
            producer.add(key);
        }
        producer.shut_down();
    });
    producer.await.expect("the producer");
    all_taken(consumers, keys).await;
    rate(keys, start)
}
