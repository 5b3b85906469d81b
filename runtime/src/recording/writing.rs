//! The task of a broadcaster: its settings, its start and its end.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use k8s_openapi::jiff::Timestamp;
use kube::Client;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::retry::Retry;
use super::shared::{QUEUE_LENGTH, Shared};
use crate::random::{self, Random};

/// The settings common to all broadcasters.
pub(crate) struct WriterSettings {
    client: Client,
    pub(crate) host: Option<Arc<str>>,
    pub(crate) queue_length: usize,
    pub(crate) clock: Box<dyn Fn() -> Timestamp + Send + Sync>,
    pub(crate) random: Random,
}

impl WriterSettings {
    pub(crate) fn new(client: Client) -> Self {
        Self {
            client,
            host: None,
            queue_length: QUEUE_LENGTH,
            clock: Box::new(Timestamp::now),
            random: random::from_system(),
        }
    }

    /// Starts the task that `run` makes.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime.
    pub(crate) fn start<E, F>(
        self,
        run: impl FnOnce(Client, Arc<Shared>, Retry, mpsc::Receiver<E>) -> F,
    ) -> Writing<E>
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let (queue, events) = mpsc::channel(self.queue_length);
        let (stop, lost) = (CancellationToken::new(), Arc::new(AtomicU64::new(0)));
        let shared = Arc::new(Shared::new(self.clock));
        let retry = Retry::new(self.random, stop.clone(), lost.clone());
        let task = tokio::spawn(run(self.client, shared.clone(), retry, events));
        Writing { queue, shared, host: self.host, lost, stop, task }
    }
}

/// A task that writes events. Dropping it aborts the task.
pub(crate) struct Writing<E> {
    /// The only strong sender; recorders hold weak ones.
    pub(crate) queue: mpsc::Sender<E>,
    pub(crate) shared: Arc<Shared>,
    pub(crate) host: Option<Arc<str>>,
    lost: Arc<AtomicU64>,
    stop: CancellationToken,
    task: JoinHandle<()>,
}

impl<E> Writing<E> {
    pub(crate) fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }

    /// Lets the task write the waiting events, without further retries, and waits for its end.
    pub(crate) async fn shutdown(mut self) {
        let (closed, _) = mpsc::channel(1);
        drop(std::mem::replace(&mut self.queue, closed));
        self.stop.cancel();
        if let Err(error) = (&mut self.task).await
            && error.is_panic()
        {
            tracing::error!(%error, "the task that writes events panicked");
        }
    }
}

impl<E> Drop for Writing<E> {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl<E> fmt::Debug for Writing<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventBroadcaster")
            .field("host", &self.host)
            .field("dropped", &self.shared.dropped())
            .field("lost", &self.lost())
            .finish_non_exhaustive()
    }
}
