//! Event handlers.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::cache::ObjectKey;

/// Receives the changes of a cache, one call at a time, in order for each object.
///
/// Calls run on the async runtime and should be short: put a key in a work queue and return. A handler that may
/// block registers with [`HandlerOptions::blocking`] and gets a thread. A panic is caught, logged and counted, and
/// does not stop later calls. A call that does not end is reported ([`HandlerOptions::call_limit`]). Other handlers
/// and the cache continue meanwhile, and from the next call on the handler has a thread of its own.
///
/// ```
/// use std::sync::Arc;
/// use k8s_openapi::api::core::v1::Pod;
/// use kubesmith_runtime::informer::{Deleted, ResourceEventHandler};
///
/// struct Printer;
///
/// impl ResourceEventHandler<Pod> for Printer {
///     fn on_add(&self, pod: Arc<Pod>, _is_in_initial_list: bool) {
///         println!("{:?} appeared", pod.metadata.name);
///     }
///     fn on_delete(&self, deleted: Deleted<Pod>) {
///         println!("{} is gone", deleted.key());
///     }
/// }
/// ```
pub trait ResourceEventHandler<K: ?Sized>: Send + Sync + 'static {
    /// An object was added, or existed when the handler was added (`is_in_initial_list`).
    fn on_add(&self, object: Arc<K>, is_in_initial_list: bool) {
        let _ = (object, is_in_initial_list);
    }

    /// An object changed, or a resync is due (`old` and `new` are the same). A deletion followed by a new object
    /// with the same name may arrive as one update: compare the uids.
    fn on_update(&self, old: Arc<K>, new: Arc<K>) {
        let _ = (old, new);
    }

    /// An object was deleted.
    fn on_delete(&self, deleted: Deleted<K>) {
        let _ = deleted;
    }
}

/// The last state of a deleted object.
#[derive(Debug)]
pub enum Deleted<K: ?Sized> {
    /// The state that the deletion event contained.
    Final {
        /// The object's key.
        key: ObjectKey,
        /// Its state when it was deleted.
        object: Arc<K>,
    },
    /// The deletion event was missed (a watch broke, and the next list did not contain the object). This is the
    /// last state that the cache knew, which may be stale.
    FinalStateUnknown {
        /// The object's key.
        key: ObjectKey,
        /// Its last known state.
        last: Arc<K>,
    },
}

impl<K: ?Sized> Deleted<K> {
    /// Returns the object's key.
    #[must_use]
    pub fn key(&self) -> &ObjectKey {
        match self {
            Self::Final { key, .. } | Self::FinalStateUnknown { key, .. } => key,
        }
    }

    /// Returns the last known state, whether final or not.
    #[must_use]
    pub fn object(&self) -> &Arc<K> {
        match self {
            Self::Final { object, .. } => object,
            Self::FinalStateUnknown { last, .. } => last,
        }
    }

    /// Reports whether the state may not be the final one.
    #[must_use]
    pub fn is_final_state_unknown(&self) -> bool {
        matches!(self, Self::FinalStateUnknown { .. })
    }
}

impl<K: ?Sized> Clone for Deleted<K> {
    fn clone(&self) -> Self {
        match self {
            Self::Final { key, object } => Self::Final { key: key.clone(), object: Arc::clone(object) },
            Self::FinalStateUnknown { key, last } => {
                Self::FinalStateUnknown { key: key.clone(), last: Arc::clone(last) }
            }
        }
    }
}

type OnAdd<K> = Box<dyn Fn(Arc<K>, bool) + Send + Sync>;
type OnUpdate<K> = Box<dyn Fn(Arc<K>, Arc<K>) + Send + Sync>;
type OnDelete<K> = Box<dyn Fn(Deleted<K>) + Send + Sync>;

/// A handler made of functions. Events without a function are ignored.
///
/// ```
/// use k8s_openapi::api::core::v1::Pod;
/// use kubesmith_runtime::informer::ResourceEventHandlerFuncs;
///
/// let handler = ResourceEventHandlerFuncs::<Pod>::new()
///     .on_add(|pod, _initial| println!("{:?}", pod.metadata.name))
///     .on_delete(|deleted| println!("{} is gone", deleted.key()));
/// ```
pub struct ResourceEventHandlerFuncs<K> {
    add: Option<OnAdd<K>>,
    update: Option<OnUpdate<K>>,
    delete: Option<OnDelete<K>>,
}

impl<K> ResourceEventHandlerFuncs<K> {
    /// Returns a handler that ignores all events.
    #[must_use]
    pub fn new() -> Self {
        Self { add: None, update: None, delete: None }
    }

    /// Sets the function for [`ResourceEventHandler::on_add`].
    #[must_use]
    pub fn on_add(mut self, call: impl Fn(Arc<K>, bool) + Send + Sync + 'static) -> Self {
        self.add = Some(Box::new(call));
        self
    }

    /// Sets the function for [`ResourceEventHandler::on_update`].
    #[must_use]
    pub fn on_update(mut self, call: impl Fn(Arc<K>, Arc<K>) + Send + Sync + 'static) -> Self {
        self.update = Some(Box::new(call));
        self
    }

    /// Sets the function for [`ResourceEventHandler::on_delete`].
    #[must_use]
    pub fn on_delete(mut self, call: impl Fn(Deleted<K>) + Send + Sync + 'static) -> Self {
        self.delete = Some(Box::new(call));
        self
    }
}

impl<K> Default for ResourceEventHandlerFuncs<K> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K: Send + Sync + 'static> ResourceEventHandler<K> for ResourceEventHandlerFuncs<K> {
    fn on_add(&self, object: Arc<K>, is_in_initial_list: bool) {
        if let Some(call) = &self.add {
            call(object, is_in_initial_list);
        }
    }

    fn on_update(&self, old: Arc<K>, new: Arc<K>) {
        if let Some(call) = &self.update {
            call(old, new);
        }
    }

    fn on_delete(&self, deleted: Deleted<K>) {
        if let Some(call) = &self.delete {
            call(deleted);
        }
    }
}

impl<K> fmt::Debug for ResourceEventHandlerFuncs<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResourceEventHandlerFuncs")
            .field("on_add", &self.add.is_some())
            .field("on_update", &self.update.is_some())
            .field("on_delete", &self.delete.is_some())
            .finish()
    }
}

/// The kind of event that a call delivers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// [`ResourceEventHandler::on_add`].
    Add,
    /// [`ResourceEventHandler::on_update`].
    Update,
    /// [`ResourceEventHandler::on_delete`].
    Delete,
}

impl fmt::Display for EventKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Add => "add",
            Self::Update => "update",
            Self::Delete => "delete",
        })
    }
}

/// A handler's call that exceeded its limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlowCall {
    /// `plural.group` of the informer's kind.
    pub resource: String,
    /// The handler's name.
    pub handler: String,
    /// The kind of event.
    pub event: EventKind,
    /// The object of the event.
    pub key: ObjectKey,
    /// A lower bound of its duration.
    pub running: Duration,
}

pub(super) type SlowCallHook = Arc<dyn Fn(&SlowCall) + Send + Sync>;

/// Settings of a handler.
///
/// ```
/// use std::time::Duration;
/// use kubesmith_runtime::informer::HandlerOptions;
///
/// let options = HandlerOptions::new()
///     .name("billing")
///     .resync(Duration::from_secs(600))
///     .queue_limit(1_000)
///     .call_limit(Duration::from_secs(2))
///     .on_slow_call(|call| eprintln!("{} is busy with {} for {:?}", call.handler, call.key, call.running))
///     .blocking();
/// # let _ = options;
/// ```
#[derive(Clone)]
pub struct HandlerOptions {
    pub(super) name: Option<String>,
    pub(super) resync: Option<Duration>,
    pub(super) blocking: bool,
    pub(super) queue_limit: usize,
    pub(super) call_limit: Duration,
    pub(super) on_slow_call: Option<SlowCallHook>,
}

/// A call normally takes microseconds, or seconds if it does I/O against advice.
const DEFAULT_CALL_LIMIT: Duration = Duration::from_secs(10);

impl HandlerOptions {
    /// Returns the defaults: the informer's resync period, the async runtime, 16,384 unmerged events, and a call
    /// limit of 10 s.
    #[must_use]
    pub fn new() -> Self {
        Self {
            name: None,
            resync: None,
            blocking: false,
            queue_limit: 16_384,
            call_limit: DEFAULT_CALL_LIMIT,
            on_slow_call: None,
        }
    }

    /// Sets a name for logs, reports and [`InformerState`](super::InformerState). Unnamed handlers are numbered.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Passes every cached object to [`ResourceEventHandler::on_update`] once in this period; zero turns resyncs
    /// off. Periods below one second become one second. Once the informer runs, periods below its check period
    /// become that period.
    #[must_use]
    pub fn resync(mut self, period: Duration) -> Self {
        self.resync = Some(period);
        self
    }

    /// Runs the calls on a thread of their own, so that they may block.
    #[must_use]
    pub fn blocking(mut self) -> Self {
        self.blocking = true;
        self
    }

    /// Sets how many events may wait for the handler before events of the same object are merged into one with the
    /// last state (at least 1). This number, the objects in the cache and the objects that the handler knows bound
    /// the memory.
    #[must_use]
    pub fn queue_limit(mut self, events: usize) -> Self {
        self.queue_limit = events.max(1);
        self
    }

    /// Reports a call that has run for this long: it is logged, counted ([`InformerState`](super::InformerState),
    /// `informer_handler_slow_calls_total`) and passed to [`Self::on_slow_call`], and again each time its age
    /// doubles. Zero turns reports off. After a report, further calls of the handler run on a thread of their own.
    ///
    /// The call itself cannot be aborted. On a single-threaded runtime nothing else runs until it ends.
    #[must_use]
    pub fn call_limit(mut self, limit: Duration) -> Self {
        self.call_limit = limit;
        self
    }

    /// Calls `hook` with each report of a slow call, on a thread that watches all handlers of the program. It must
    /// not block.
    #[must_use]
    pub fn on_slow_call(mut self, hook: impl Fn(&SlowCall) + Send + Sync + 'static) -> Self {
        self.on_slow_call = Some(Arc::new(hook));
        self
    }
}

impl Default for HandlerOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for HandlerOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HandlerOptions")
            .field("name", &self.name)
            .field("resync", &self.resync)
            .field("blocking", &self.blocking)
            .field("queue_limit", &self.queue_limit)
            .field("call_limit", &self.call_limit)
            .finish_non_exhaustive()
    }
}
