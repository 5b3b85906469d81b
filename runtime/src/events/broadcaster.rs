//! The task that writes events.

use std::fmt;
use std::sync::Arc;

use k8s_openapi::api::events::v1::Event;
use k8s_openapi::jiff::Timestamp;
use kube::Client;
use serde_json::json;
use tokio::sync::mpsc;
use tokio::time::interval_at;

use super::recorder::{EventRecorder, QueueRecorder};
use super::series::{SeriesCorrelator, SeriesOptions, SeriesWrite};
use crate::deadline::after;
use crate::recording::retry::Retry;
use crate::recording::shared::Shared;
use crate::recording::writing::{WriterSettings, Writing};

/// Owns the queue of recorded events and the task that writes them.
///
/// Dropping it aborts the task and loses waiting events; [`shutdown`](Self::shutdown) writes them first.
pub struct EventBroadcaster(Writing<Event>);

/// Settings of an [`EventBroadcaster`].
pub struct EventBroadcasterBuilder {
    writer: WriterSettings,
    series: SeriesOptions,
}

impl EventBroadcasterBuilder {
    /// Sets the host. Events name `CONTROLLER-HOST` as the reporting instance, or only the controller without a
    /// host.
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

    /// Sets the times of series; client-go's by default.
    #[must_use]
    pub fn series(mut self, options: SeriesOptions) -> Self {
        self.series = options;
        self
    }

    /// Sets the clock for times and names of events; the system's by default.
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
        let options = self.series;
        EventBroadcaster(self.writer.start(|client, shared, retry, events| {
            let correlator = SeriesCorrelator::new(options.clone());
            Writer { client, correlator, options, shared, retry }.run(events)
        }))
    }
}

impl EventBroadcaster {
    /// Starts a broadcaster with client-go's times.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime.
    pub fn new(client: Client) -> Self {
        Self::builder(client).build()
    }

    /// Starts the settings of a broadcaster that writes with `client`.
    pub fn builder(client: Client) -> EventBroadcasterBuilder {
        EventBroadcasterBuilder { writer: WriterSettings::new(client), series: SeriesOptions::default() }
    }

    /// Returns a recorder whose events name `controller` as their reporter: a qualified name such as
    /// `example.com/pod-controller`.
    pub fn recorder(&self, controller: impl Into<Arc<str>>) -> EventRecorder {
        let controller = controller.into();
        let instance = self.0.host.as_ref().map(|host| format!("{controller}-{host}").into());
        EventRecorder::to_queue(QueueRecorder {
            instance: instance.unwrap_or_else(|| controller.clone()),
            controller,
            queue: self.0.queue.downgrade(),
            shared: self.0.shared.clone(),
        })
    }

    /// Returns how many events were dropped because the queue was full.
    pub fn dropped(&self) -> u64 {
        self.0.shared.dropped()
    }

    /// Returns how many writes the server refused or could not be reached for.
    pub fn lost(&self) -> u64 {
        self.0.lost()
    }

    /// Writes the waiting events and the final state of series, without further retries, and ends the task.
    /// Recorders stay usable but no longer record.
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
    correlator: SeriesCorrelator,
    options: SeriesOptions,
    shared: Arc<Shared>,
    retry: Retry,
}

impl Writer {
    async fn run(mut self, mut events: mpsc::Receiver<Event>) {
        let [mut refresh, mut finish] = [self.options.refresh, self.options.finish].map(|period| {
            // A period of zero would never yield.
            let period = period.max(std::time::Duration::from_millis(1));
            interval_at(after(period), period)
        });
        loop {
            let writes = tokio::select! {
                event = events.recv() => match event {
                    Some(event) => self.correlator.on(event),
                    None => break,
                },
                _ = refresh.tick() => self.correlator.refresh(),
                _ = finish.tick() => self.correlator.finish(self.shared.now()),
            };
            self.write_all(writes).await;
        }
        let rest = self.correlator.finish_all();
        self.write_all(rest).await;
    }

    async fn write_all(&mut self, writes: Vec<SeriesWrite>) {
        for write in writes {
            let (event, changes) = match write {
                SeriesWrite::Create(event) => (event, None),
                SeriesWrite::Patch(event) => {
                    let changes = json!({ "series": event.series });
                    (event, Some(changes))
                }
            };
            let reason = event.reason.as_deref().unwrap_or_default();
            // The stored event need not be known, because its name is ours.
            self.retry.write(&self.client, &*event, reason, changes).await;
        }
    }
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
            .field("series", &self.series)
            .finish_non_exhaustive()
    }
}
