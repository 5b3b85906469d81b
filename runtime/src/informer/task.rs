//! Tasks of informers, as futures behind a pointer: what tokio does around a task is compiled once, and not for every kind.

use std::pin::Pin;

use tokio::runtime::Handle;
use tokio::task::{JoinHandle, JoinSet};

/// What a task does.
pub(super) type Work = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Starts a task.
///
/// # Panics
/// Outside a tokio runtime.
pub(super) fn spawn(work: Work) -> JoinHandle<()> {
    tokio::spawn(work)
}

/// Starts a task that belongs to others.
pub(super) fn spawn_in(tasks: &mut JoinSet<()>, work: Work) {
    tasks.spawn(work);
}

/// Does the work on a thread of its own.
pub(super) fn spawn_thread(runtime: Handle, work: Work) -> JoinHandle<()> {
    tokio::task::spawn_blocking(move || runtime.block_on(work))
}

/// Does the work of others on a thread of its own.
pub(super) fn spawn_thread_in(tasks: &mut JoinSet<()>, runtime: Handle, work: Work) {
    tasks.spawn_blocking(move || runtime.block_on(work));
}
