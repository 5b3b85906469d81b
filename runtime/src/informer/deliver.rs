//! The task of one handler: it takes changes from the mailbox and calls the handler.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::Poll;

use tokio::runtime::Handle;
use tokio::task::JoinSet;
use tracing::Span;

use super::mailbox::{Delivery, Mailbox, Waiting};
use super::registration::HandlerStatus;
use super::{EventKind, ResourceEventHandler, task, watchdog};
use crate::cache::ObjectKey;
use crate::reflector::Object;

/// The number of calls before the task yields.
pub(super) const CALLS_PER_TURN: usize = 512;

/// The capacity for changes that is kept between bursts.
const SPARE: usize = 4096;

/// Runs the calls of a handler in a task or on a thread of its own, and registers it with the watchdog.
pub(super) fn spawn(
    tasks: &mut JoinSet<()>,
    handler: Arc<dyn ResourceEventHandler<dyn Object>>,
    mailbox: Arc<Mailbox<dyn Object>>,
    status: Arc<HandlerStatus>,
) {
    let runtime = Handle::current();
    watchdog::watch(&status, runtime.clone());
    let has_thread = status.has_thread.load(Ordering::Relaxed);
    let deliverer = Deliverer { handler, mailbox, _ended: Ended(Arc::clone(&status)), status };
    if has_thread {
        task::spawn_thread_in(tasks, runtime, Box::pin(deliverer.run_on_thread(Waiting::new())));
    } else {
        task::spawn_in(tasks, Box::pin(deliverer.run()));
    }
}

/// Yields to the tasks that are ready, and is scheduled after them. `tokio::task::yield_now` waits until its thread
/// is idle, so an informer that is always ready would starve its handlers; and it waits on this thread, which the
/// next handler may block.
pub(super) async fn give_way() {
    let mut has_waited = false;
    std::future::poll_fn(|context| {
        if std::mem::replace(&mut has_waited, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

struct Deliverer {
    handler: Arc<dyn ResourceEventHandler<dyn Object>>,
    mailbox: Arc<Mailbox<dyn Object>>,
    status: Arc<HandlerStatus>,
    _ended: Ended,
}

/// Ends the watchdog's checks, however the calls end.
struct Ended(Arc<HandlerStatus>);

impl Drop for Ended {
    fn drop(&mut self) {
        self.0.ended.store(true, Ordering::Release);
    }
}

/// The reason why the calls stop here.
enum Stop {
    /// The mailbox was closed or the handler removed.
    Closed,
    /// The handler has blocked the runtime; these changes remain to be delivered.
    Slow(Waiting<dyn Object>),
}

impl Deliverer {
    async fn run(self) {
        let Stop::Slow(waiting) = self.deliver(Waiting::new()).await else { return };
        let status = &self.status;
        status.has_thread.store(true, Ordering::Relaxed);
        tracing::warn!(
            resource = status.resource,
            handler = status.name,
            "the event handler has blocked and now runs on its own thread; HandlerOptions::blocking requests one from the start"
        );
        let thread = task::spawn_thread(Handle::current(), Box::pin(self.run_on_thread(waiting)));
        // An error means that the runtime is shutting down.
        let _ = thread.await;
    }

    async fn run_on_thread(self, waiting: Waiting<dyn Object>) {
        let mut waiting = waiting;
        while let Stop::Slow(left) = self.deliver(waiting).await {
            waiting = left;
        }
    }

    /// Delivers `waiting`, then the changes that arrive.
    async fn deliver(&self, mut waiting: Waiting<dyn Object>) -> Stop {
        let (mailbox, status) = (&self.mailbox, &self.status);
        let reported = status.calls.reported();
        loop {
            let mut calls = 0;
            while let Some(delivery) = waiting.pop_front() {
                let Some(delivery) = delivery else { continue };
                if status.removed.load(Ordering::Acquire) {
                    return Stop::Closed;
                }
                self.tell(delivery);
                if status.calls.reported() != reported {
                    return Stop::Slow(waiting);
                }
                calls += 1;
                if calls % CALLS_PER_TURN == 0 {
                    mailbox.set_in_hand(waiting.len());
                    give_way().await;
                    if mailbox.is_closed() {
                        return Stop::Closed;
                    }
                }
            }
            mailbox.set_in_hand(0);
            // A burst leaves a large buffer; keep what ordinary batches need.
            waiting.shrink_to(SPARE);
            let Some(next) = mailbox.take(waiting).await else { return Stop::Closed };
            waiting = next;
        }
    }

    fn tell(&self, delivery: Delivery<dyn Object>) {
        let Delivery::Gone { deleted, known } = delivery else { return self.call(delivery) };
        let last = deleted.object();
        // Handlers may have derived keys, such as an owner's, from the last state they saw, so deliver that one
        // first.
        if !Arc::ptr_eq(&known, last) {
            let (key, new) = (deleted.key().clone(), Arc::clone(last));
            self.call(Delivery::Update { key, old: known, new });
        }
        self.call(Delivery::Delete(deleted));
    }

    fn call(&self, delivery: Delivery<dyn Object>) {
        let (handler, status) = (&*self.handler, &*self.status);
        let subject = delivery.subject();
        let _entered = event_span(status, subject.as_ref()).entered();
        status.calls.begin(subject);
        let called = catch_unwind(AssertUnwindSafe(|| match delivery {
            Delivery::Add { object, initial, .. } => handler.on_add(object, initial),
            Delivery::Update { old, new, .. } => handler.on_update(old, new),
            Delivery::Delete(deleted) | Delivery::Gone { deleted, .. } => handler.on_delete(deleted),
            Delivery::Synced => {
                status.synced.send_replace(true);
            }
        }));
        let subject = status.calls.end();
        if called.is_err() {
            status.count_panic();
            let (event, key) = subject.unzip();
            tracing::error!(
                resource = status.resource,
                handler = status.name,
                event = event.map(tracing::field::display),
                key = key.map(tracing::field::display),
                "an event handler panicked; the event is skipped"
            );
        }
    }
}

/// Returns the span of a handler's call. The keys that the handler queues are its descendants.
fn event_span(status: &HandlerStatus, subject: Option<&(EventKind, ObjectKey)>) -> Span {
    let Some((event, key)) = subject else { return Span::none() };
    tracing::debug_span!(
        parent: None,
        "watch_event",
        resource = status.resource,
        handler = status.name,
        %event,
        %key,
    )
}
