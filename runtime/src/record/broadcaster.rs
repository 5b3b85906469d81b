//! The task that writes events.

use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use k8s_openapi::api::core::v1::Event;
use k8s_openapi::jiff::Timestamp;
use kube::api::{Api, Patch, PatchParams};
use kube::{Client, Error};
use serde_json::json;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::correlator::{Correlation, CorrelatorOptions, EventCorrelator};
use super::recorder::{EventRecorder, QueueRecorder};
use super::retry::{Retry, Tried, create};
use super::shared::{QUEUE_LENGTH, Shared};
use crate::random::{self, Random};

/// Owns the queue of recorded events and the task that writes them.
///
/// Dropping it aborts the task and loses what waits; [`shutdown`](Self::shutdown) writes it first.
pub struct EventBroadcaster {
    queue: mpsc::Sender<Event>,
    shared: Arc<Shared>,
    host: Option<Arc<str>>,
    lost: Arc<AtomicU64>,
    stop: CancellationToken,
    task: JoinHandle<()>,
}

/// Settings of an [`EventBroadcaster`].
pub struct EventBroadcasterBuilder {
    client: Client,
    host: Option<Arc<str>>,
    queue_length: usize,
    correlation: CorrelatorOptions,
    clock: Box<dyn Fn() -> Timestamp + Send + Sync>,
    random: Random,
}

impl EventBroadcasterBuilder {
    /// The host that events name as their source.
    #[must_use]
    pub fn host(mut self, host: impl Into<Arc<str>>) -> Self {
        self.host = Some(host.into());
        self
    }

    /// How many events may wait before new ones are dropped; 1000 unless told otherwise.
    #[must_use]
    pub fn queue_length(mut self, length: usize) -> Self {
        self.queue_length = length.max(1);
        self
    }

    /// Replaces client-go's limits of the correlation.
    #[must_use]
    pub fn correlation(mut self, options: CorrelatorOptions) -> Self {
        self.correlation = options;
        self
    }

    /// Where events get their timestamps and names from; the system's clock unless told otherwise.
    #[must_use]
    pub fn clock(mut self, clock: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        self.clock = Box::new(clock);
        self
    }

    /// Where the first pause gets its jitter from: numbers in `0.0..1.0`.
    #[must_use]
    pub fn random(mut self, random: impl FnMut() -> f64 + Send + 'static) -> Self {
        self.random = Box::new(random);
        self
    }

    /// Starts the task.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime.
    pub fn build(self) -> EventBroadcaster {
        let (queue, events) = mpsc::channel(self.queue_length);
        let stop = CancellationToken::new();
        let lost = Arc::new(AtomicU64::new(0));
        let writer = Writer {
            client: self.client,
            correlator: EventCorrelator::new(self.correlation),
            retry: Retry::new(self.random, stop.clone(), lost.clone()),
        };
        EventBroadcaster {
            queue,
            shared: Arc::new(Shared::new(self.clock)),
            host: self.host,
            lost,
            stop,
            task: tokio::spawn(writer.run(events)),
        }
    }
}

impl EventBroadcaster {
    /// A broadcaster with client-go's limits.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime.
    pub fn new(client: Client) -> Self {
        Self::builder(client).build()
    }

    /// Settings for a broadcaster that writes with `client`.
    pub fn builder(client: Client) -> EventBroadcasterBuilder {
        EventBroadcasterBuilder {
            client,
            host: None,
            queue_length: QUEUE_LENGTH,
            correlation: CorrelatorOptions::default(),
            clock: Box::new(Timestamp::now),
            random: random::from_system(),
        }
    }

    /// A recorder whose events name `component` as their source.
    pub fn recorder(&self, component: impl Into<Arc<str>>) -> EventRecorder {
        EventRecorder::to_queue(QueueRecorder {
            component: component.into(),
            host: self.host.clone(),
            queue: self.queue.downgrade(),
            shared: self.shared.clone(),
        })
    }

    /// How many events were dropped because too many waited.
    pub fn dropped(&self) -> u64 {
        self.shared.dropped()
    }

    /// How many events the server refused or could not be reached for.
    pub fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }

    /// Writes what waits, without further retries, and ends the task. Recorders stay usable and do nothing from then
    /// on.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future aborts the task; what waits is lost.
    pub async fn shutdown(mut self) {
        let (closed, _) = mpsc::channel(1);
        // The last sender that counts: recorders only hold weak ones.
        drop(std::mem::replace(&mut self.queue, closed));
        self.stop.cancel();
        if let Err(error) = (&mut self.task).await
            && error.is_panic()
        {
            tracing::error!(%error, "the task that writes events panicked");
        }
    }
}

impl Drop for EventBroadcaster {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// The task's state.
struct Writer {
    client: Client,
    correlator: EventCorrelator,
    retry: Retry,
}

impl Writer {
    async fn run(mut self, mut events: mpsc::Receiver<Event>) {
        while let Some(event) = events.recv().await {
            let now = tokio::time::Instant::now().into_std();
            match self.correlator.on(now, event) {
                Correlation::Create { key, event } => self.write(key, *event, false).await,
                Correlation::Patch { key, event } => self.write(key, *event, true).await,
                Correlation::Skip => {}
            }
        }
    }

    async fn write(&mut self, key: String, event: Event, mut patch: bool) {
        let namespace = event.metadata.namespace.as_deref().unwrap_or("default");
        let api: Api<Event> = Api::namespaced(self.client.clone(), namespace);
        let reason = event.reason.as_deref().unwrap_or_default();
        for number in 1.. {
            let tried = attempt(&api, &event, &mut patch).await;
            match self.retry.settle(number, reason, tried).await {
                ControlFlow::Continue(()) => {}
                ControlFlow::Break(Some(stored)) => return self.correlator.stored(&key, &stored),
                ControlFlow::Break(None) => return,
            }
        }
    }
}

async fn attempt(api: &Api<Event>, event: &Event, patch: &mut bool) -> Tried<Event> {
    if *patch {
        let name = event.metadata.name.as_deref().unwrap_or_default();
        let changes = json!({
            "count": event.count,
            "lastTimestamp": event.last_timestamp,
            "message": event.message,
        });
        match api.patch(name, &PatchParams::default(), &Patch::Merge(changes)).await {
            Err(Error::Api(status)) if status.code == 404 => *patch = false,
            result => return result.into(),
        }
    }
    create(api, event).await
}

impl fmt::Debug for EventBroadcaster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventBroadcaster")
            .field("host", &self.host)
            .field("dropped", &self.dropped())
            .field("lost", &self.lost())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for EventBroadcasterBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventBroadcasterBuilder")
            .field("host", &self.host)
            .field("queue_length", &self.queue_length)
            .field("correlation", &self.correlation)
            .finish_non_exhaustive()
    }
}
