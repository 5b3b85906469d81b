//! Groups of tasks that run and end together.

use std::error::Error as StdError;
use std::fmt;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;

use futures::FutureExt;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::ManagerError;

type BoxError = Box<dyn StdError + Send + Sync>;
type Run =
    Box<dyn FnOnce(CancellationToken) -> Pin<Box<dyn Future<Output = Result<(), BoxError>> + Send>> + Send>;

/// A task that runs until a token is cancelled.
pub(super) struct Runnable {
    name: String,
    run: Run,
}

impl Runnable {
    pub(super) fn new<F, Fut, E>(name: impl Into<String>, run: F) -> Self
    where
        F: FnOnce(CancellationToken) -> Fut + Send + 'static,
        Fut: Future<Output = Result<(), E>> + Send + 'static,
        E: Into<BoxError>,
    {
        let run: Run = Box::new(|stop| {
            let running = run(stop);
            Box::pin(async move { running.await.map_err(Into::into) })
        });
        Runnable { name: name.into(), run }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    async fn run(self, stop: CancellationToken) -> Result<(), ManagerError> {
        let Runnable { name, run } = self;
        let result = AssertUnwindSafe(async { run(stop).await }).catch_unwind().await;
        let result = result.unwrap_or_else(|_| Err("it panicked".into()));
        result.map_err(|source| ManagerError::Runnable { name, source })
    }
}

impl fmt::Debug for Runnable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// Runs all of `runnables`; the first failure stops the others. Returns when all have ended.
pub(super) async fn run_group(runnables: Vec<Runnable>, stop: CancellationToken) -> Result<(), ManagerError> {
    let stop = stop.child_token();
    let mut tasks = JoinSet::new();
    for runnable in runnables {
        tasks.spawn(runnable.run(stop.clone()));
    }
    let mut result = Ok(());
    while let Some(ended) = tasks.join_next().await {
        // An aborted task belongs to a group that was dropped.
        let ended = ended.unwrap_or(Ok(()));
        if ended.is_err() {
            stop.cancel();
        }
        result = result.and(ended);
    }
    result
}
