//! What users hand to an informer.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::cache::ObjectKey;

/// Receives the changes of a cache, one call at a time, in order for each object.
///
/// Calls run on the async runtime and should be short: put a key in a work queue and return. A handler that
/// may block registers with [`HandlerOptions::blocking`] and gets a thread. A call that panics is caught and
/// counted, and the next one is made.
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
pub trait ResourceEventHandler<K>: Send + Sync + 'static {
    /// An object appeared, or was there when the handler was added (`is_in_initial_list`).
    fn on_add(&self, object: Arc<K>, is_in_initial_list: bool) {
        let _ = (object, is_in_initial_list);
    }

    /// An object changed, or (`old` and `new` are the same) a resync is due. A deletion followed by a new object
    /// of the same name may arrive as one update: compare the uids.
    fn on_update(&self, old: Arc<K>, new: Arc<K>) {
        let _ = (old, new);
    }

    /// An object is gone.
    fn on_delete(&self, deleted: Deleted<K>) {
        let _ = deleted;
    }
}

/// The last state of a deleted object.
#[derive(Debug)]
pub enum Deleted<K> {
    /// The state the deletion reported.
    Final {
        /// The object's key.
        key: ObjectKey,
        /// Its state when it was deleted.
        object: Arc<K>,
    },
    /// The deletion itself was missed (a watch broke, and the object was absent from the next list); this is the
    /// last state the cache knew, which may be stale.
    FinalStateUnknown {
        /// The object's key.
        key: ObjectKey,
        /// Its last known state.
        last: Arc<K>,
    },
}

impl<K> Deleted<K> {
    /// The object's key.
    #[must_use]
    pub fn key(&self) -> &ObjectKey {
        match self {
            Self::Final { key, .. } | Self::FinalStateUnknown { key, .. } => key,
        }
    }

    /// The last known state, whether or not it is the final one.
    #[must_use]
    pub fn object(&self) -> &Arc<K> {
        match self {
            Self::Final { object, .. } => object,
            Self::FinalStateUnknown { last, .. } => last,
        }
    }

    /// Whether the state is the last known instead of the final one.
    #[must_use]
    pub fn is_final_state_unknown(&self) -> bool {
        matches!(self, Self::FinalStateUnknown { .. })
    }
}

impl<K> Clone for Deleted<K> {
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

/// A handler made of functions; those not given do nothing.
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
    /// A handler that does nothing.
    #[must_use]
    pub fn new() -> Self {
        Self { add: None, update: None, delete: None }
    }

    /// Called as [`ResourceEventHandler::on_add`].
    #[must_use]
    pub fn on_add(mut self, call: impl Fn(Arc<K>, bool) + Send + Sync + 'static) -> Self {
        self.add = Some(Box::new(call));
        self
    }

    /// Called as [`ResourceEventHandler::on_update`].
    #[must_use]
    pub fn on_update(mut self, call: impl Fn(Arc<K>, Arc<K>) + Send + Sync + 'static) -> Self {
        self.update = Some(Box::new(call));
        self
    }

    /// Called as [`ResourceEventHandler::on_delete`].
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

/// How a handler is run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HandlerOptions {
    pub(super) resync: Option<Duration>,
    pub(super) blocking: bool,
    pub(super) queue_limit: usize,
}

impl HandlerOptions {
    /// The informer's resync period, the async runtime, and 16,384 events kept apart.
    #[must_use]
    pub fn new() -> Self {
        Self { resync: None, blocking: false, queue_limit: 16_384 }
    }

    /// Hand every cached object to [`ResourceEventHandler::on_update`] in this period; zero turns resyncs off.
    /// Periods below a second become a second, and once the informer runs, periods below its check period
    /// become that.
    #[must_use]
    pub fn resync(mut self, period: Duration) -> Self {
        self.resync = Some(period);
        self
    }

    /// Run the calls on a thread of their own, so that they may block.
    #[must_use]
    pub fn blocking(mut self) -> Self {
        self.blocking = true;
        self
    }

    /// How many events may wait for the handler before those of the same object are merged into one that has
    /// the last state (at least 1). Memory is bounded by this number and the number of objects.
    #[must_use]
    pub fn queue_limit(mut self, events: usize) -> Self {
        self.queue_limit = events.max(1);
        self
    }
}

impl Default for HandlerOptions {
    fn default() -> Self {
        Self::new()
    }
}
