//! The task that writes events.

use std::fmt;
use std::sync::Arc;

use k8s_openapi::api::core::v1::Event;
use k8s_openapi::jiff::Timestamp;
use kube::Client;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::correlator::{Correlation, CorrelatorOptions, EventCorrelator};
use super::recorder::{EventRecorder, QueueRecorder};
use crate::recording::retry::Retry;
use crate::recording::writing::{WriterSettings, Writing};

/// Owns the queue of recorded events and the task that writes them.
///
/// Dropping it aborts the task and loses waiting events; [`shutdown`](Self::shutdown) writes them first.
pub struct EventBroadcaster(Writing<Event>);

/// Settings of an [`EventBroadcaster`].
pub struct EventBroadcasterBuilder {
    writer: WriterSettings,
    correlation: CorrelatorOptions,
}

impl EventBroadcasterBuilder {
    /// Sets the host in the source of events.
    #[must_use]
    pub fn host(mut self, host: impl Into<Arc<str>>) -> Self {
        self.writer.host = Some(host.into());
        self
    }

    /// Sets how many events may wait before new ones are dropped; 1000 by default.
    #[must_use]
    pub fn queue_length(mut self, length: usize) -> Self {
        self.writer.queue_length = length.max(1);
        self
    }

    /// Sets the limits of the correlation; client-go's by default.
    #[must_use]
    pub fn correlation(mut self, options: CorrelatorOptions) -> Self {
        self.correlation = options;
        self
    }

    /// Sets the clock for timestamps and names of events; the system's by default.
    #[must_use]
    pub fn clock(mut self, clock: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        self.writer.clock = Box::new(clock);
        self
    }

    /// Sets the source of the first pause's jitter: numbers in `0.0..1.0`.
    #[must_use]
    pub fn random(mut self, random: impl FnMut() -> f64 + Send + 'static) -> Self {
        self.writer.random = Box::new(random);
        self
    }

    /// Starts the task.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime.
    pub fn build(self) -> EventBroadcaster {
        let correlator = EventCorrelator::new(self.correlation);
        EventBroadcaster(
            self.writer.start(|client, _, retry, events| Writer { client, correlator, retry }.run(events)),
        )
    }
}

impl EventBroadcaster {
    /// Starts a broadcaster with client-go's limits.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime.
    pub fn new(client: Client) -> Self {
        Self::builder(client).build()
    }

    /// Starts the settings of a broadcaster that writes with `client`.
    pub fn builder(client: Client) -> EventBroadcasterBuilder {
        EventBroadcasterBuilder {
            writer: WriterSettings::new(client),
            correlation: CorrelatorOptions::default(),
        }
    }

    /// Returns a recorder whose events name `component` as their source.
    pub fn recorder(&self, component: impl Into<Arc<str>>) -> EventRecorder {
        EventRecorder::to_queue(QueueRecorder {
            component: component.into(),
            host: self.0.host.clone(),
            queue: self.0.queue.downgrade(),
            shared: self.0.shared.clone(),
        })
    }

    /// Returns how many events were dropped because the queue was full.
    pub fn dropped(&self) -> u64 {
        self.0.shared.dropped()
    }

    /// Returns how many events the server refused or could not be reached for.
    pub fn lost(&self) -> u64 {
        self.0.lost()
    }

    /// Writes the waiting events, without further retries, and ends the task. Recorders stay usable but no longer
    /// record.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future aborts the task; waiting events are lost.
    pub async fn shutdown(self) {
        self.0.shutdown().await;
    }
}

/// The state of the task.
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
                Correlation::Create { key, event } => self.write(key, *event, None).await,
                Correlation::Patch { key, event } => {
                    let changes = changes(&event);
                    self.write(key, *event, Some(changes)).await;
                }
                Correlation::Skip => {}
            }
        }
    }

    async fn write(&mut self, key: String, event: Event, changes: Option<Value>) {
        let reason = event.reason.as_deref().unwrap_or_default();
        if let Some(stored) = self.retry.write(&self.client, &event, reason, changes).await {
            self.correlator.stored(&key, &stored);
        }
    }
}

fn changes(event: &Event) -> Value {
    json!({ "count": event.count, "lastTimestamp": event.last_timestamp, "message": event.message })
}

impl fmt::Debug for EventBroadcaster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for EventBroadcasterBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventBroadcasterBuilder")
            .field("host", &self.writer.host)
            .field("queue_length", &self.writer.queue_length)
            .field("correlation", &self.correlation)
            .finish_non_exhaustive()
    }
}
