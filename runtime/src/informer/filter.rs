//! Handlers with a filter.

use std::fmt;
use std::sync::Arc;

use super::{Deleted, ResourceEventHandler};
use crate::object::Cached;

/// Passes on the changes of objects that a filter accepts: client-go's `FilteringResourceEventHandler`.
///
/// If an update makes the filter accept an object, the handler gets an addition. If the filter no longer accepts
/// it, the handler gets a deletion with the old state. The filter must return the same for the same object.
///
/// ```
/// use k8s_openapi::api::core::v1::Pod;
/// use kubesmith_runtime::informer::{FilteringResourceEventHandler, ResourceEventHandlerFuncs};
///
/// let handler = ResourceEventHandlerFuncs::<Pod>::new().on_delete(|gone| println!("{} runs no more", gone.key()));
/// let running = |pod: &Pod| pod.status.as_ref().is_some_and(|status| status.phase.as_deref() == Some("Running"));
/// let handler = FilteringResourceEventHandler::new(running, handler);
/// # let _ = handler;
/// ```
pub struct FilteringResourceEventHandler<K, H> {
    filter: Box<dyn Fn(&K) -> bool + Send + Sync>,
    handler: H,
}

impl<K, H> FilteringResourceEventHandler<K, H> {
    /// Calls `handler` for the objects that `filter` accepts.
    #[must_use]
    pub fn new(filter: impl Fn(&K) -> bool + Send + Sync + 'static, handler: H) -> Self {
        Self { filter: Box::new(filter), handler }
    }
}

impl<K: Cached, H: ResourceEventHandler<K>> ResourceEventHandler<K> for FilteringResourceEventHandler<K, H> {
    fn on_add(&self, object: Arc<K>, is_in_initial_list: bool) {
        if (self.filter)(&object) {
            self.handler.on_add(object, is_in_initial_list);
        }
    }

    fn on_update(&self, old: Arc<K>, new: Arc<K>) {
        match ((self.filter)(&old), (self.filter)(&new)) {
            (true, true) => self.handler.on_update(old, new),
            (false, true) => self.handler.on_add(new, false),
            (true, false) => self.handler.on_delete(Deleted::Final { key: old.object_key(), object: old }),
            (false, false) => {}
        }
    }

    fn on_delete(&self, deleted: Deleted<K>) {
        if (self.filter)(deleted.object()) {
            self.handler.on_delete(deleted);
        }
    }
}

impl<K, H: fmt::Debug> fmt::Debug for FilteringResourceEventHandler<K, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FilteringResourceEventHandler")
            .field("handler", &self.handler)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use k8s_openapi::api::core::v1::ConfigMap;

    use super::*;
    use crate::informer::ResourceEventHandlerFuncs;

    #[test]
    fn objects_are_added_and_deleted_as_the_filter_changes() {
        let map =
            |immutable: bool| Arc::new(ConfigMap { immutable: Some(immutable), ..ConfigMap::default() });
        let (seen, other, third) = {
            let seen = Arc::new(Mutex::new(Vec::new()));
            (Arc::clone(&seen), Arc::clone(&seen), seen)
        };
        let told = Arc::clone(&third);
        let funcs = ResourceEventHandlerFuncs::<ConfigMap>::new()
            .on_add(move |map, initial| {
                seen.lock().unwrap().push(format!("add {initial} {:?}", map.immutable));
            })
            .on_update(move |old, new| {
                other.lock().unwrap().push(format!("update {:?} {:?}", old.immutable, new.immutable));
            })
            .on_delete(move |gone| {
                let object = gone.object().immutable;
                third.lock().unwrap().push(format!("delete {} {object:?}", gone.is_final_state_unknown()));
            });
        let handler =
            FilteringResourceEventHandler::new(|map: &ConfigMap| map.immutable == Some(true), funcs);
        handler.on_add(map(false), true);
        handler.on_add(map(true), true);
        for (old, new) in [(true, true), (false, true), (true, false), (false, false)] {
            handler.on_update(map(old), map(new));
        }
        for passes in [true, false] {
            let key = map(passes).object_key();
            handler.on_delete(Deleted::FinalStateUnknown { key, last: map(passes) });
        }
        assert_eq!(
            *told.lock().unwrap(),
            [
                "add true Some(true)",
                "update Some(true) Some(true)",
                "add false Some(true)",
                "delete false Some(true)",
                "delete true Some(true)"
            ]
        );
    }
}
