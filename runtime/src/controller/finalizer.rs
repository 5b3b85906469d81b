//! Reconcilers that keep a finalizer on their objects.

use std::fmt::Debug;
use std::future::Future;
use std::sync::Arc;

use kube::api::{Patch, PatchParams};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;

use super::reconcile::{Action, ReconcileError, Reconciler};
use crate::cache::ObjectKey;
use crate::client::{self, ClientScope};
use crate::controllerutil::contains_finalizer;
use crate::informer::{CacheOf, CachedClient};
use crate::sharding::{ShardKey, ShardSelector};

/// The reason why an object with a finalizer is reconciled. [`finalizer_fn`] has an example.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FinalizerEvent<K> {
    /// The object exists and has the finalizer: bring the world in line with it.
    Apply(Arc<K>),
    /// The object is being deleted: undo the work for it. Success removes the finalizer.
    Cleanup(Arc<K>),
}

/// A reconciler that keeps a finalizer on its objects.
struct FinalizerReconciler<K: CacheOf<K>, F> {
    objects: CachedClient<K>,
    finalizer: String,
    reconcile: F,
}

/// Makes a reconciler that adds `finalizer` to objects before `reconcile` first sees them, and removes it when cleanup has
/// succeeded. Objects that do not exist, or are being deleted without the finalizer, are left alone.
///
/// If the cache is [sharded](crate::sharding#sharded-caches), each cleanup first reads the object from the server: an object
/// with its name may exist again, and be the work of another replica.
///
/// The finalizer's name is qualified, such as `example.com/disk`. Writes of the finalizer fail with a conflict if the
/// object has changed since it was read; the key is then retried.
///
/// ```no_run
/// use std::time::Duration;
/// use k8s_openapi::api::core::v1::ConfigMap;
/// use kubesmith_runtime::controller::{Action, BuildError, Controller, ControllerBuilder, FinalizerEvent, finalizer_fn};
/// use kubesmith_runtime::manager::Manager;
///
/// fn add(manager: &mut Manager) -> Result<(), BuildError> {
///     let maps = manager.factory().informer_for::<ConfigMap>();
///     let reconciler = finalizer_fn(manager.cached_client::<ConfigMap>(), "example.com/disk", |event| async move {
///         match event {
///             FinalizerEvent::Apply(map) => println!("makes a disk for {:?}", map.metadata.name),
///             FinalizerEvent::Cleanup(map) => println!("removes the disk of {:?}", map.metadata.name),
///         }
///         Ok(Action::done())
///     });
///     let builder = ControllerBuilder::new("disks").for_(&maps).error_policy(&maps, |map, error| {
///         let is_paused = map.is_some_and(|map| map.metadata.labels.is_some());
///         println!("{error}");
///         is_paused.then(|| Action::requeue_after(Duration::from_secs(600)))
///     });
///     manager.add(builder.complete(reconciler)?);
///     Ok(())
/// }
/// ```
pub fn finalizer_fn<K, F, Fut>(
    objects: CachedClient<K>,
    finalizer: impl Into<String>,
    reconcile: F,
) -> impl Reconciler<Key = ObjectKey>
where
    K: kube::Resource<DynamicType = (), Scope: ClientScope>
        + CacheOf<K>
        + Clone
        + Debug
        + DeserializeOwned
        + Serialize,
    F: Fn(FinalizerEvent<K>) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<Action, ReconcileError>> + Send,
{
    FinalizerReconciler { objects, finalizer: finalizer.into(), reconcile }
}

impl<K, F> FinalizerReconciler<K, F>
where
    K: kube::Resource<DynamicType = (), Scope: ClientScope>
        + CacheOf<K>
        + Clone
        + Debug
        + DeserializeOwned
        + Serialize,
{
    /// Writes the finalizers unless the object has changed since it was read.
    async fn set_finalizers(
        &self,
        key: &ObjectKey,
        object: &K,
        finalizers: &[String],
    ) -> Result<K, client::Error> {
        let meta = object.meta();
        let patch = json!({ "metadata": {
            "uid": meta.uid, "resourceVersion": meta.resource_version, "finalizers": finalizers,
        } });
        self.objects.patch(key, &PatchParams::default(), &Patch::Merge(patch)).await
    }

    async fn with_finalizer(&self, key: &ObjectKey, object: Arc<K>) -> Result<Arc<K>, client::Error> {
        if contains_finalizer(&*object, &self.finalizer) {
            return Ok(object);
        }
        let mut finalizers = object.meta().finalizers.clone().unwrap_or_default();
        finalizers.push(self.finalizer.clone());
        self.set_finalizers(key, &object, &finalizers).await.map(Arc::new)
    }

    /// Reports whether the name still belongs to the object. If the removal of the finalizer succeeded and its response
    /// was lost, the cache may still have the object while the replica of another shard works on the next one. The shard of a
    /// namespace has all objects of a name.
    async fn may_clean_up(&self, key: &ObjectKey, object: &K) -> Result<bool, client::Error> {
        let shard_key = self.objects.informer().shard_selector().map(ShardSelector::key);
        if shard_key != Some(ShardKey::Uid) {
            return Ok(true);
        }
        let live = self.objects.get_live(key).await?;
        Ok(live.is_some_and(|live| live.meta().uid == object.meta().uid))
    }

    async fn remove_finalizer(&self, key: &ObjectKey, object: &K) -> Result<(), client::Error> {
        let finalizers = object.meta().finalizers.iter().flatten();
        let others: Vec<String> = finalizers.filter(|other| **other != self.finalizer).cloned().collect();
        match self.set_finalizers(key, object, &others).await {
            Err(error) if error.is_not_found() => Ok(()),
            result => result.map(drop),
        }
    }
}

impl<K, F, Fut> Reconciler for FinalizerReconciler<K, F>
where
    K: kube::Resource<DynamicType = (), Scope: ClientScope>
        + CacheOf<K>
        + Clone
        + Debug
        + DeserializeOwned
        + Serialize,
    F: Fn(FinalizerEvent<K>) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<Action, ReconcileError>> + Send,
{
    type Key = ObjectKey;

    async fn reconcile(&self, key: &ObjectKey) -> Result<Action, ReconcileError> {
        let Some(object) = self.objects.get(key).await? else { return Ok(Action::done()) };
        if object.meta().deletion_timestamp.is_none() {
            let object = self.with_finalizer(key, object).await?;
            return (self.reconcile)(FinalizerEvent::Apply(object)).await;
        }
        if !contains_finalizer(&*object, &self.finalizer) {
            return Ok(Action::done());
        }
        if !self.may_clean_up(key, &object).await? {
            return Ok(Action::done());
        }
        let action = (self.reconcile)(FinalizerEvent::Cleanup(object.clone())).await?;
        self.remove_finalizer(key, &object).await?;
        Ok(action)
    }
}
