//! Decoding into the form in which a kind's objects are cached.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use kubesmith_apimachinery::sharding::ShardSelector;

use super::object::{Decoded, Object};
use super::options::{ReflectorOptions, Transform};
use crate::cache::Store;
use crate::json::{Error, JsonReader};
use crate::object::{Cached, Decode, KindOf, ObjectKey};

/// Decodes objects into the form of a cache.
pub(crate) trait Form: Send {
    /// Decodes the next object in the text and transforms it.
    ///
    /// # Errors
    /// If the object does not fit its type, or the transform panics.
    fn decode(&mut self, json: &mut JsonReader<'_>) -> Result<Decoded, Error>;

    /// Reports whether an object with these fields is of another shard.
    fn is_foreign(&self, uid: &str, namespace: &str) -> bool;

    /// Returns the cached object with this key.
    fn known(&self, key: &ObjectKey) -> Option<Arc<dyn Object>>;
}

/// Decodes objects as `K`.
pub(crate) struct FormOf<K: Cached> {
    kind: KindOf<K>,
    /// Whether to skip managedFields.
    lean: bool,
    context: K::Context,
    transform: Option<Transform<K>>,
    shards: Option<ShardSelector>,
    store: Store<K>,
}

impl<K: Cached> FormOf<K> {
    pub(crate) fn new(kind: KindOf<K>, options: &ReflectorOptions<K>, store: Store<K>) -> Self {
        Self {
            kind,
            lean: !options.keep_managed_fields,
            context: K::Context::default(),
            transform: options.transform.clone(),
            shards: options.shards.clone(),
            store,
        }
    }
}

impl<K: Cached> Form for FormOf<K> {
    fn decode(&mut self, json: &mut JsonReader<'_>) -> Result<Decoded, Error> {
        let mut object = <K as Decode>::decode(json, self.lean, &mut self.context)?;
        self.kind.complete(&mut object, &mut self.context);
        let key = object.object_key();
        let is_foreign = self.is_foreign(object.object_uid().unwrap_or_default(), key.namespace());
        let Some(transform) = self.transform.as_ref().filter(|_| !is_foreign) else {
            return Ok(Decoded { key, object: Arc::new(object), arrived: None, is_foreign });
        };
        let arrived = object.object_version().map(str::to_owned);
        // The object may be half changed, so it is reported as undecodable and the cache keeps the last state.
        catch_unwind(AssertUnwindSafe(|| transform(&mut object)))
            .map_err(|_| Error::new("the transform panicked".to_owned()))?;
        Ok(Decoded { key, object: Arc::new(object), arrived, is_foreign })
    }

    fn is_foreign(&self, uid: &str, namespace: &str) -> bool {
        self.shards.as_ref().is_some_and(|shards| !shards.matches(uid, namespace))
    }

    fn known(&self, key: &ObjectKey) -> Option<Arc<dyn Object>> {
        let object: Arc<dyn Object> = self.store.get_by_key(key)?;
        Some(object)
    }
}
