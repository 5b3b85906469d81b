//! The task that writes events.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use k8s_openapi::api::events::v1::Event;
use k8s_openapi::jiff::Timestamp;
use kube::api::{Api, Patch, PatchParams};
use kube::{Client, Error};
use serde_json::json;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::{Instant, interval_at};
use tokio_util::sync::CancellationToken;

use super::recorder::{EventRecorder, QueueRecorder};
use super::series::{SeriesCorrelator, SeriesOptions, SeriesWrite};
use crate::random::{self, Random};
use crate::record::retry::{Retry, Tried, create};
use crate::record::shared::{QUEUE_LENGTH, Shared};

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
    series: SeriesOptions,
    clock: Box<dyn Fn() -> Timestamp + Send + Sync>,
    random: Random,
}

impl EventBroadcasterBuilder {
    /// The host: events name `CONTROLLER-HOST` as the instance that reports them, and the controller alone without one.
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

    /// Replaces client-go's times of series.
    #[must_use]
    pub fn series(mut self, options: SeriesOptions) -> Self {
        self.series = options;
        self
    }

    /// Where events get their times and names from; the system's clock unless told otherwise.
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
        let (stop, lost) = (CancellationToken::new(), Arc::new(AtomicU64::new(0)));
        let shared = Arc::new(Shared::new(self.clock));
        let writer = Writer {
            client: self.client,
            correlator: SeriesCorrelator::new(self.series.clone()),
            options: self.series,
            shared: shared.clone(),
            retry: Retry::new(self.random, stop.clone(), lost.clone()),
        };
        let task = tokio::spawn(writer.run(events));
        EventBroadcaster { queue, shared, host: self.host, lost, stop, task }
    }
}

impl EventBroadcaster {
    /// A broadcaster with client-go's times.
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
            series: SeriesOptions::default(),
            clock: Box::new(Timestamp::now),
            random: random::from_system(),
        }
    }

    /// A recorder whose events name `controller` as their reporter, which is to be a qualified name as
    /// `example.com/pod-controller`.
    pub fn recorder(&self, controller: impl Into<Arc<str>>) -> EventRecorder {
        let controller = controller.into();
        let instance = self.host.as_ref().map(|host| format!("{controller}-{host}").into());
        EventRecorder::to_queue(QueueRecorder {
            instance: instance.unwrap_or_else(|| controller.clone()),
            controller,
            queue: self.queue.downgrade(),
            shared: self.shared.clone(),
        })
    }

    /// How many events were dropped because too many waited.
    pub fn dropped(&self) -> u64 {
        self.shared.dropped()
    }

    /// How many writes the server refused or could not be reached for.
    pub fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }

    /// Writes what waits and what series still have to tell, without further retries, and ends the task. Recorders stay
    /// usable and do nothing from then on.
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
    correlator: SeriesCorrelator,
    options: SeriesOptions,
    shared: Arc<Shared>,
    retry: Retry,
}

impl Writer {
    async fn run(mut self, mut events: mpsc::Receiver<Event>) {
        let [mut refresh, mut finish] = [self.options.refresh, self.options.finish].map(|period| {
            // A period of nothing would be none.
            let period = period.max(std::time::Duration::from_millis(1));
            interval_at(Instant::now() + period, period)
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
            let (event, mut patch) = match write {
                SeriesWrite::Create(event) => (event, false),
                SeriesWrite::Patch(event) => (event, true),
            };
            let namespace = event.metadata.namespace.as_deref().unwrap_or("default");
            let api: Api<Event> = Api::namespaced(self.client.clone(), namespace);
            let reason = event.reason.as_deref().unwrap_or_default();
            for number in 1.. {
                let tried = attempt(&api, &event, &mut patch).await;
                // What is stored need not be known: its name is ours.
                if self.retry.settle(number, reason, tried).await.is_break() {
                    break;
                }
            }
        }
    }
}

async fn attempt(api: &Api<Event>, event: &Event, patch: &mut bool) -> Tried<Event> {
    if *patch {
        let name = event.metadata.name.as_deref().unwrap_or_default();
        let changes = Patch::Merge(json!({ "series": event.series }));
        match api.patch(name, &PatchParams::default(), &changes).await {
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
            .field("series", &self.series)
            .finish_non_exhaustive()
    }
}
