//! The watches of a controller: handlers of informers that queue keys.

use std::fmt;
use std::sync::Arc;

use super::predicate::Predicate;
use super::sharded::{IsOurs, Source, Sources};
use crate::cache::ObjectKey;
use crate::informer::{
    Deleted, HandlerOptions, HandlerRegistration, InformerError, ResourceEventHandler, SharedInformer,
};
use crate::object::Cached;
use crate::workqueue::{DEFAULT_PRIORITY, LOW_PRIORITY, Queue};

/// Enumerates the keys that an object queues.
pub(super) type Map<K> = Box<dyn Fn(&K, &mut dyn FnMut(ObjectKey)) + Send + Sync>;

/// An informer as a source of keys, with a predicate on its changes. `&SharedInformer` converts into it.
pub struct Watch<K: Cached> {
    pub(super) informer: SharedInformer<K>,
    predicate: Predicate<K>,
}

impl<K: Cached> Watch<K> {
    /// Takes all changes of `informer`.
    #[must_use]
    pub fn on(informer: &SharedInformer<K>) -> Self {
        Watch { informer: informer.clone(), predicate: Predicate::new() }
    }

    /// Takes only changes that pass `predicate` too.
    #[must_use]
    pub fn filter(mut self, predicate: Predicate<K>) -> Self {
        self.predicate = self.predicate.and(predicate);
        self
    }

    /// Completes the watch with the keys that its objects queue.
    pub(super) fn select(self, is_ours: Option<IsOurs<ObjectKey>>, map: Map<K>) -> Selected<K> {
        let Watch { informer, predicate } = self;
        Selected { informer, selection: Arc::new(Selection { predicate, map, is_ours }) }
    }
}

/// An informer whose objects queue keys.
pub(super) struct Selected<K: Cached> {
    informer: SharedInformer<K>,
    selection: Arc<Selection<K>>,
}

impl<K: Cached> Selected<K> {
    /// Returns the keys of the objects in the cache.
    fn keys(&self) -> Source<ObjectKey> {
        let (store, selection) = (self.informer.store().clone(), self.selection.clone());
        Arc::new(move |queue| {
            let objects = store.list();
            let objects = objects.iter().filter(|object| selection.predicate.passes_create(object));
            objects.for_each(|object| selection.keys(object, queue));
        })
    }

    /// Adds a handler to the informer that queues the keys of changed objects.
    pub(super) fn attach(self, queue: &Queue<ObjectKey>) -> Result<Attached, InformerError> {
        let keys = self.keys();
        let Selected { informer, selection } = self;
        let handler = Enqueue { queue: queue.clone(), selection };
        let options = HandlerOptions::new().name(queue.name());
        let registration = informer.add_event_handler_with_options(handler, options)?;
        let resource = informer.resource().to_owned();
        Ok(Attached { keys, resource, registration, last_error: Box::new(move || informer.last_error()) })
    }
}

impl<K: Cached> From<&SharedInformer<K>> for Watch<K> {
    fn from(informer: &SharedInformer<K>) -> Self {
        Watch::on(informer)
    }
}

/// Adds watches to a controller, before and while it runs: [`Controller::watches`](super::Controller::watches) returns
/// it. Clones are handles to the same controller.
///
/// ```no_run
/// use kube::core::PartialObjectMeta;
/// use kubesmith_runtime::cache::ObjectKey;
/// use kubesmith_runtime::controller::Watches;
/// use kubesmith_runtime::informer::{DynamicKind, InformerError, InformerOptions, SharedInformer};
///
/// // Objects of this kind name a primary object in a label.
/// fn follow(client: kube::Client, kind: &DynamicKind, watches: &Watches) -> Result<(), InformerError> {
///     let informer = SharedInformer::<PartialObjectMeta>::new_with(client, kind, InformerOptions::new());
///     let added = watches.add(&informer, |object: &PartialObjectMeta| {
///         let namespace = object.metadata.namespace.clone().unwrap_or_default();
///         let name = object.metadata.labels.as_ref()?.get("example.com/owner")?;
///         Some(ObjectKey::namespaced(&namespace, name))
///     })?;
///     informer.start();
///     // Later, when nobody needs the kind any more. Dropping the last handle also stops the informer.
///     added.remove();
///     Ok(())
/// }
/// ```
#[derive(Clone)]
pub struct Watches {
    queue: Queue<ObjectKey>,
    is_ours: Option<IsOurs<ObjectKey>>,
    sources: Sources<ObjectKey>,
}

impl Watches {
    pub(super) fn new(
        queue: Queue<ObjectKey>,
        is_ours: Option<IsOurs<ObjectKey>>,
        sources: Sources<ObjectKey>,
    ) -> Self {
        Watches { queue, is_ours, sources }
    }

    /// As [`ControllerBuilder::watches`](super::ControllerBuilder::watches). The objects in the cache queue their keys
    /// first. Does not start the informer, and a running controller does not wait for its cache.
    ///
    /// # Errors
    /// [`InformerError::Stopped`] if the informer was shut down.
    pub fn add<K, I>(
        &self,
        watch: impl Into<Watch<K>>,
        map: impl Fn(&K) -> I + Send + Sync + 'static,
    ) -> Result<AddedWatch, InformerError>
    where
        K: Cached,
        I: IntoIterator<Item = ObjectKey>,
    {
        let watch = watch.into();
        let informer = watch.informer.clone();
        let map: Map<K> = Box::new(move |object, queue| map(object).into_iter().for_each(queue));
        let selected = watch.select(self.is_ours.clone(), map);
        // Keys that the replica gains are looked up in the sources. So the source comes before the handler, which may
        // queue a key that the replica does not have yet.
        let (number, sources) = (self.sources.add(selected.keys()), self.sources.clone());
        let Attached { resource, registration, .. } =
            selected.attach(&self.queue).inspect_err(|_| sources.remove(number))?;
        let remove = Box::new(move || {
            sources.remove(number);
            // An informer that was shut down calls no handler.
            let _ = informer.remove_event_handler(&registration);
        });
        Ok(AddedWatch { resource, remove })
    }
}

/// A watch that [`Watches::add`] added. Dropping it does not remove the watch while another
/// handle keeps the informer.
pub struct AddedWatch {
    resource: String,
    remove: Box<dyn FnOnce() + Send + Sync>,
}

impl AddedWatch {
    /// Removes the watch. No change queues a key after this returns, except one that another thread handles at the
    /// moment. Keys that are queued stay queued. [`Watches`] has an example.
    pub fn remove(self) {
        (self.remove)();
    }
}

/// A handler that was added to an informer.
pub(super) struct Attached {
    pub(super) resource: String,
    pub(super) registration: HandlerRegistration,
    pub(super) last_error: Box<dyn Fn() -> Option<String> + Send>,
    pub(super) keys: Source<ObjectKey>,
}

/// Turns changes into keys.
struct Enqueue<K> {
    queue: Queue<ObjectKey>,
    selection: Arc<Selection<K>>,
}

/// The selection of objects, and the keys that they queue.
struct Selection<K> {
    predicate: Predicate<K>,
    map: Map<K>,
    /// Selects the keys of this shard. A primary object that is not in the cache yet is queued when it arrives.
    is_ours: Option<IsOurs<ObjectKey>>,
}

impl<K: Cached> Selection<K> {
    fn keys(&self, object: &K, queue: &mut dyn FnMut(ObjectKey)) {
        (self.map)(object, &mut |key| {
            if self.is_ours.as_ref().is_none_or(|is_ours| is_ours(&key)) {
                queue(key);
            }
        });
    }
}

impl<K: Cached> Enqueue<K> {
    fn enqueue(&self, object: &K, priority: i32) {
        self.selection.keys(object, &mut |key| self.queue.add_with_priority(key, priority));
    }
}

impl<K: Cached> ResourceEventHandler<K> for Enqueue<K> {
    fn on_add(&self, object: Arc<K>, is_in_initial_list: bool) {
        if self.selection.predicate.passes_create(&object) {
            self.enqueue(&object, if is_in_initial_list { LOW_PRIORITY } else { DEFAULT_PRIORITY });
        }
    }

    fn on_update(&self, old: Arc<K>, new: Arc<K>) {
        if !self.selection.predicate.passes_update(&old, &new) {
            return;
        }
        let is_resync = old.object_version() == new.object_version();
        let priority = if is_resync { LOW_PRIORITY } else { DEFAULT_PRIORITY };
        if !is_resync {
            self.enqueue(&old, priority);
        }
        self.enqueue(&new, priority);
    }

    fn on_delete(&self, deleted: Deleted<K>) {
        if self.selection.predicate.passes_delete(deleted.object()) {
            self.enqueue(deleted.object(), DEFAULT_PRIORITY);
        }
    }
}

impl<K: Cached> fmt::Debug for Watch<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch").field("predicate", &self.predicate).finish_non_exhaustive()
    }
}

impl fmt::Debug for Watches {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watches").field("queue", &self.queue).finish_non_exhaustive()
    }
}

impl fmt::Debug for AddedWatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AddedWatch").field("resource", &self.resource).finish_non_exhaustive()
    }
}
