//! The spans of waiting keys, from the change that queues a key to the worker that takes it.

use tracing::field::Empty;
use tracing::span::Id;
use tracing::{Level, Span};

/// The most links of a span, so that a key that many changes queue stays small. OpenTelemetry drops links after 128.
const MOST_LINKS: u64 = 32;

/// The name of the span of a reconcile.
const RECONCILE: &str = "reconcile";

/// A key that waits because of a change that is traced.
pub(super) struct Waiting {
    span: Span,
    adds: u64,
    last: Option<Id>,
}

/// Returns the span of the change that the caller handles; `None` if it or the queue is not traced.
pub(super) fn cause() -> Option<Span> {
    if !tracing::span_enabled!(Level::DEBUG) {
        return None;
    }
    let span = Span::current();
    (!span.is_none()).then_some(span)
}

impl Waiting {
    /// Starts the wait of a key that `cause` queues, as its child. For a key that a reconcile queues, it is a root with a link:
    /// a child would keep the reconcile open, and a reconciler that queues its own key would make an endless chain.
    pub(super) fn new(queue: &str, cause: &Span) -> Self {
        let is_reconcile = cause.metadata().is_some_and(|metadata| metadata.name() == RECONCILE);
        let parent = if is_reconcile { None } else { cause.id() };
        let span = tracing::debug_span!(parent: parent, "queue", name = queue, adds = Empty);
        if is_reconcile {
            span.follows_from(cause.id());
        }
        Waiting { span, adds: 1, last: cause.id() }
    }

    /// Links the wait to a further change that queues the key.
    pub(super) fn add(&mut self, cause: &Span) {
        let id = cause.id();
        // One update may queue a key for the old and the new state.
        if id == self.last {
            return;
        }
        self.adds += 1;
        if self.adds <= MOST_LINKS + 1 {
            self.span.follows_from(id.clone());
        }
        self.last = id;
    }

    /// Ends the wait. The span is the parent of the reconcile.
    pub(super) fn end(self) -> Span {
        self.span.record("adds", self.adds);
        // The last exit is the end for OpenTelemetry, although the children keep the span open.
        self.span.in_scope(|| {});
        self.span
    }
}
