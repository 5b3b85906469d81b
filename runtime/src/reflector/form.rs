//! The form in which a kind's objects are cached.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::decode::Decode;
use super::object::{Decoded, Object};
use super::options::Transform;
use super::{Cached, KindOf};
use crate::cache::{ObjectKey, Store};
use crate::json::{Error, Fast};

/// How objects become what is cached.
pub(crate) trait Form: Send {
    /// The object that comes next in the text, as it is to be cached.
    ///
    /// # Errors
    /// For what does not fit.
    fn decode(&mut self, json: &mut Fast<'_>) -> Result<Decoded, Error>;

    /// What the cache has by this key.
    fn known(&self, key: &ObjectKey) -> Option<Arc<dyn Object>>;
}

/// The form `K`.
pub(crate) struct FormOf<K: Cached> {
    kind: KindOf<K>,
    /// Without managedFields.
    lean: bool,
    context: K::Context,
    transform: Option<Transform<K>>,
    store: Store<K>,
}

impl<K: Cached> FormOf<K> {
    pub(crate) fn new(kind: KindOf<K>, lean: bool, transform: Option<Transform<K>>, store: Store<K>) -> Self {
        Self { kind, lean, context: K::Context::default(), transform, store }
    }
}

impl<K: Cached> Form for FormOf<K> {
    fn decode(&mut self, json: &mut Fast<'_>) -> Result<Decoded, Error> {
        let mut object = <K as Decode>::decode(json, self.lean, &mut self.context)?;
        self.kind.complete(&mut object);
        let key = object.object_key();
        let has_transform = self.transform.is_some();
        let arrived = object.object_version().filter(|_| has_transform).map(str::to_owned);
        if let Some(transform) = &self.transform
            && catch_unwind(AssertUnwindSafe(|| transform(&mut object))).is_err()
        {
            tracing::error!(resource = %self.kind.facts().resource_name(), %key, "the transform panicked");
        }
        Ok(Decoded { key, object: Arc::new(object), arrived })
    }

    fn known(&self, key: &ObjectKey) -> Option<Arc<dyn Object>> {
        let object: Arc<dyn Object> = self.store.get_by_key(key)?;
        Some(object)
    }
}
