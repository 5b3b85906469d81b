//! The thread that watches the handlers of all informers.
//!
//! It is a thread, not a task, because a handler that blocks can block tasks: all tasks of a single-threaded
//! runtime, and on other runtimes the worker that polls sockets and timers for all. The thread reports the call and
//! wakes another worker, which takes over the polling. The thread ends with the last handler.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use tokio::runtime::Handle;

use super::calls::CallCheck;
use super::handler::SlowCall;
use super::registration::HandlerStatus;

/// A handler, and the runtime that it may block.
struct Watched {
    status: Arc<HandlerStatus>,
    runtime: Handle,
}

struct Watchdog {
    /// Locked while the list is changed or copied, never while a hook runs.
    handlers: Mutex<Handlers>,
    changed: Condvar,
}

struct Handlers {
    all: Vec<Arc<Watched>>,
    is_running: bool,
}

static WATCHDOG: Watchdog = Watchdog {
    handlers: Mutex::new(Handlers { all: Vec::new(), is_running: false }),
    changed: Condvar::new(),
};

/// Watches a handler until it has ended.
pub(super) fn watch(status: &Arc<HandlerStatus>, runtime: Handle) {
    if status.calls.period().is_none() {
        return;
    }
    let mut handlers = WATCHDOG.lock();
    handlers.all.push(Arc::new(Watched { status: Arc::clone(status), runtime }));
    if handlers.is_running {
        WATCHDOG.changed.notify_one();
        return;
    }
    let thread = std::thread::Builder::new().name("kubesmith-handlers".to_owned());
    match thread.spawn(|| WATCHDOG.run()) {
        Ok(_) => handlers.is_running = true,
        Err(error) => {
            handlers.all.clear();
            tracing::error!(%error, "no thread to watch event handlers with; calls that block are not reported");
        }
    }
}

impl Watchdog {
    fn lock(&self) -> MutexGuard<'_, Handlers> {
        self.handlers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self) {
        let mut handlers = self.lock();
        loop {
            handlers.all.retain(|watched| !watched.status.ended.load(Ordering::Acquire));
            let periods = handlers.all.iter().filter_map(|watched| watched.status.calls.period());
            let Some(period) = periods.min() else {
                handlers.is_running = false;
                return;
            };
            let waited = self.changed.wait_timeout(handlers, period);
            handlers = waited.unwrap_or_else(PoisonError::into_inner).0;
            let all = handlers.all.clone();
            drop(handlers);
            let now = Instant::now();
            all.iter().for_each(|watched| watched.check(now));
            drop(all);
            handlers = self.lock();
        }
    }
}

impl Watched {
    fn check(&self, now: Instant) {
        let (status, calls) = (&self.status, &self.status.calls);
        let found = calls.check(now);
        let is_running = matches!(found, CallCheck::Running | CallCheck::Slow(..));
        if is_running && !status.has_thread.load(Ordering::Relaxed) {
            // A task from another thread wakes a worker, which polls sockets and timers when it is idle.
            self.runtime.spawn(async {});
        }
        match found {
            CallCheck::Slow(call, is_first) => {
                status.totals.slow_calls.fetch_add(u64::from(is_first), Ordering::Relaxed);
                let call = SlowCall {
                    resource: status.resource.clone(),
                    handler: status.name.clone(),
                    event: call.event,
                    key: call.key,
                    running: call.running,
                };
                self.report(&call);
            }
            CallCheck::Ended(took) => {
                let (resource, handler) = (&status.resource, &status.name);
                tracing::info!(
                    resource,
                    handler,
                    ?took,
                    "a call of an event handler that took long has ended"
                );
            }
            CallCheck::Nothing | CallCheck::Running => {}
        }
    }

    fn report(&self, call: &SlowCall) {
        tracing::warn!(
            resource = call.resource,
            handler = call.handler,
            event = %call.event,
            key = %call.key,
            running = ?call.running,
            waiting = self.status.state().waiting,
            "an event handler does not return; its further events wait and are merged by object"
        );
        let Some(hook) = self.status.calls.hook() else { return };
        if catch_unwind(AssertUnwindSafe(|| hook(call))).is_err() {
            tracing::error!(handler = call.handler, "the hook for slow calls panicked");
        }
    }
}
