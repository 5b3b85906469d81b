//! Tasks of informers as boxed futures, so that tokio's code around a task is compiled once and not for every kind.

use std::pin::Pin;

use tokio::runtime::Handle;
use tokio::task::{JoinHandle, JoinSet};

/// The future of a task.
pub(super) type Work = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Starts a task.
///
/// # Panics
/// Outside a tokio runtime.
pub(super) fn spawn(work: Work) -> JoinHandle<()> {
    tokio::spawn(work)
}

/// Starts a task in a set.
pub(super) fn spawn_in(tasks: &mut JoinSet<()>, work: Work) {
    tasks.spawn(work);
}

/// Runs a future on a thread of its own.
pub(super) fn spawn_thread(runtime: Handle, work: Work) -> JoinHandle<()> {
    tokio::task::spawn_blocking(move || runtime.block_on(work))
}

/// Runs a future on a thread of its own, in a set.
pub(super) fn spawn_thread_in(tasks: &mut JoinSet<()>, runtime: Handle, work: Work) {
    tasks.spawn_blocking(move || runtime.block_on(work));
}
