//! Keys through the work queue, and through kube-runtime's scheduler, its counterpart: it removes duplicates and
//! delays.
//!
//! `burst`: all keys are added before the first is taken. `piped`: one producer beside the consumers.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use futures::StreamExt;
use kube::runtime::scheduler::{ScheduleRequest, scheduler as make_scheduler};
use kubesmith_runtime::workqueue::Queue;

use crate::measure::Figures;

type Key = Arc<str>;

fn keys(count: usize) -> Vec<Key> {
    (0..count).map(|i| Arc::from(format!("team-{:03}/name-{i:07}", i % 100))).collect()
}

/// Keys a second through the scheduler, which has one consumer.
pub async fn scheduler(count: usize) -> Figures {
    let keys = keys(count);
    let (burst, piped) = (scheduler_burst(&keys).await, scheduler_piped(&keys).await);
    [("burst1", burst), ("burst8", burst), ("piped1", piped), ("piped8", piped)].into()
}

/// Keys a second through the queue.
pub async fn queue(count: usize) -> Figures {
    let keys = keys(count);
    let figures = [
        ("burst1", queue_burst(&keys, 1).await),
        ("burst8", queue_burst(&keys, 8).await),
        ("piped1", queue_piped(&keys, 1).await),
        ("piped8", queue_piped(&keys, 8).await),
    ];
    figures.into()
}

fn rate(keys: &[Key], start: Instant) -> f64 {
    keys.len() as f64 / start.elapsed().as_secs_f64()
}

fn request(message: Key) -> ScheduleRequest<Key> {
    ScheduleRequest { message, run_at: tokio::time::Instant::now() }
}

async fn scheduler_burst(keys: &[Key]) -> f64 {
    let requests = futures::stream::iter(keys.to_vec()).map(request).chain(futures::stream::pending());
    let mut scheduler = std::pin::pin!(make_scheduler(requests));
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
        let mut scheduler = Box::pin(make_scheduler(Box::pin(receiver)));
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
