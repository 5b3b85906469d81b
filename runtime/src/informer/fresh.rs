//! Reading one's own writes.

use std::time::Duration;

use kube::Resource;

use super::cached_client::{WaitError, is_removed};
use super::{InformerError, SharedInformer};
use crate::cache::ObjectKey;
use crate::object::Cached;
use crate::reflector::goes_back;

impl<K: Cached> SharedInformer<K> {
    /// Waits until the cache shows a write. `written` is the server's response: the object as created, replaced or
    /// patched. A reconciler that waits before it returns is not called again with a state older than its own write.
    ///
    /// The cache shows the write if it has the object at this version or a later one, or if it has reached the
    /// version and the object is deleted or not selected. In the second case a later event or a bookmark is needed,
    /// which may take a minute. If the write removed the object with its last finalizer, the cache shows it once the object
    /// is gone. If the response has no version, this returns after one check. If the object is in a
    /// namespace or shard that the informer does not follow, this returns as soon as the cache has no object of its name.
    ///
    /// ```no_run
    /// use std::time::Duration;
    /// use k8s_openapi::api::core::v1::ConfigMap;
    /// use kube::api::{Api, PostParams};
    /// use kubesmith_runtime::informer::SharedInformer;
    ///
    /// # async fn example(api: Api<ConfigMap>, maps: SharedInformer<ConfigMap>, map: ConfigMap)
    /// #     -> Result<(), Box<dyn std::error::Error>> {
    /// let written = api.create(&PostParams::default(), &map).await?;
    /// maps.wait_for_write(&written, Duration::from_secs(5)).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`InformerError::NotWritten`] after `timeout`, [`InformerError::Stopped`] if the informer stops.
    ///
    /// # Cancel safety
    /// Dropping the future loses nothing.
    pub async fn wait_for_write(&self, written: &K::Kind, timeout: Duration) -> Result<(), InformerError> {
        let key = ObjectKey::of(written);
        let meta = written.meta();
        let Some(version) = meta.resource_version.as_deref() else { return Ok(()) };
        let uid = meta.uid.as_deref().unwrap_or_default();
        let is_followed = self.control.follows(uid, key.namespace());
        let is_own = |object: &K| object.object_uid().unwrap_or_default() == uid;
        let has_own = || self.store().get_by_key(&key).is_some_and(|object| is_own(&object));
        // The cache may still have an earlier object of this name, which was of its shard.
        let holds = || match is_followed {
            true if is_removed(meta) => !has_own(),
            true => self.shows(&key, version),
            false => self.store().get_by_key(&key).is_none(),
        };
        match self.wait_until(timeout, holds).await {
            Ok(()) => Ok(()),
            Err(WaitError::Stopped) => Err(self.stopped()),
            Err(WaitError::TimedOut) => {
                let (resource, last_error) = (self.resource().to_owned(), self.last_error());
                Err(InformerError::NotWritten { resource, key, waited: timeout, last_error })
            }
        }
    }

    /// Waits until `holds` returns true, which is checked after each change of the store.
    pub(super) async fn wait_until(
        &self,
        timeout: Duration,
        mut holds: impl FnMut() -> bool,
    ) -> Result<(), WaitError> {
        if holds() {
            return Ok(());
        }
        let mut applied = self.control.status.applied.subscribe();
        let mut stop = self.control.status.stop.subscribe();
        let held = async {
            // Mark the changes as seen before the check, so that none is missed.
            applied.borrow_and_update();
            while !holds() {
                if applied.changed().await.is_err() {
                    return;
                }
            }
        };
        let waited = tokio::time::timeout(timeout, async {
            tokio::select! {
                biased;
                _ = stop.wait_for(|stop| *stop) => Err(WaitError::Stopped),
                () = held => Ok(()),
            }
        });
        waited.await.unwrap_or(Err(WaitError::TimedOut))
    }

    fn shows(&self, key: &ObjectKey, version: &str) -> bool {
        // The cache has reached the version if it has this one or a later one.
        let reached = |has: &str| has == version || goes_back(has, version);
        let object = self.store().get_by_key(key);
        object.is_some_and(|object| object.object_version().is_some_and(reached))
            || reached(&self.store().resource_version())
    }
}
