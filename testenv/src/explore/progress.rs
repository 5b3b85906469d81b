//! What the exploring thread is doing, for the thread that waits for it.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::plan::Plan;

/// The limit of a story's last lines.
const LINES: usize = 50;

/// The current run.
#[derive(Clone, Debug, Default)]
pub(super) struct Current {
    pub(super) plan: Plan,
    pub(super) runs: usize,
    /// The last lines of its story.
    pub(super) story: VecDeque<String>,
}

/// The progress of an exploration.
#[derive(Debug, Default)]
pub(super) struct Progress {
    moves: AtomicU64,
    current: Mutex<Current>,
}

thread_local! {
    static PROGRESS: RefCell<Arc<Progress>> = RefCell::default();
}

impl Progress {
    /// Returns a number that grows.
    pub(super) fn moves(&self) -> u64 {
        self.moves.load(Ordering::Relaxed)
    }

    /// Returns the current run.
    pub(super) fn current(&self) -> Current {
        self.with(|current| current.clone())
    }

    fn with<T>(&self, look: impl FnOnce(&mut Current) -> T) -> T {
        look(&mut self.current.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Shows the progress of this thread from now on.
pub(super) fn show(progress: Arc<Progress>) {
    PROGRESS.set(progress);
}

/// Shows that the simulation progresses.
pub(super) fn moved() {
    PROGRESS.with_borrow(|progress| progress.moves.fetch_add(1, Ordering::Relaxed));
}

/// Shows that a run begins.
pub(super) fn begins(plan: &Plan) {
    PROGRESS.with_borrow(|progress| {
        progress.with(|current| {
            *current =
                Current { plan: plan.clone(), runs: current.runs + 1, story: VecDeque::with_capacity(LINES) };
        });
    });
    moved();
}

/// Shows a line of the current run's story.
pub(super) fn tells(line: &str) {
    PROGRESS.with_borrow(|progress| {
        progress.with(|Current { story, .. }| {
            if story.len() == LINES {
                story.pop_front();
            }
            story.push_back(line.to_owned());
        });
    });
}
