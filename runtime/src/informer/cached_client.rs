//! A client that reads from a cache and sees its own writes.

use std::fmt::{self, Debug};
use std::sync::Arc;
use std::time::Duration;

use kube::Resource;
use kube::api::{DeleteParams, Patch, PatchParams, PostParams};
use kube::core::{ObjectMeta, PartialObjectMeta};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::writes::{Outstanding, Scope, View};
use super::{InformerError, SharedInformer};
use crate::cache::{Compact, Listing, ObjectKey};
use crate::client::{ClientScope, Deletion, Error, RestClient, TypedClient};
use crate::labels::Selector;
use crate::lister::Lister;
use crate::object::Cached;

/// The default timeout of reads that wait for own writes: longer than a healthy watch needs.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);

/// Forms in which objects of kind `K` are cached: whole, [`Compact`], or metadata only.
pub trait CacheOf<K>: Cached {}

impl<K: Cached> CacheOf<K> for K {}
impl<K> CacheOf<K> for Compact<K> where Self: Cached {}
impl<K> CacheOf<K> for PartialObjectMeta<K> where Self: Cached {}
impl<K> CacheOf<K> for Compact<PartialObjectMeta<K>> where Self: Cached {}

/// Reads objects of kind `K` from an informer's cache and writes them to the server. No read misses an own write.
///
/// A cache follows the server with a delay, so a reconciler that has just created an object may not find it and
/// create another one. This client records the server's response to each write. A read of that object waits until the
/// cache shows the write or a later state; a list waits until this holds for all objects that it could contain. Other
/// reads do not wait, and writes never wait. All clients of one informer share this record, in bounded memory.
///
/// Reads do not wait for writes of others, for writes by other means, for writes in a namespace that the informer
/// does not follow, or for writes whose response was lost (a transport error, a dropped future), since their outcome
/// is unknown. If the informer's selectors exclude a written object, a read waits for a later event or a bookmark.
///
/// ```no_run
/// use k8s_openapi::api::core::v1::ConfigMap;
/// use kube::api::PostParams;
/// use kubesmith_runtime::cache::ObjectKey;
/// use kubesmith_runtime::informer::{CachedClient, SharedInformerFactory};
/// use kubesmith_runtime::labels::Selector;
///
/// # async fn example(factory: SharedInformerFactory, map: ConfigMap) -> Result<(), Box<dyn std::error::Error>> {
/// let maps = CachedClient::new(factory.client().clone(), &factory.informer_for::<ConfigMap>());
/// maps.create(&map, &PostParams::default()).await?;
/// assert!(maps.get(&ObjectKey::of(&map)).await?.is_some());
/// for map in &maps.list_namespace("default", &Selector::everything()).await? {
///     println!("{:?}", map.metadata.name);
/// }
/// # Ok(())
/// # }
/// ```
///
/// All writes:
///
/// ```no_run
/// use std::time::Duration;
/// use k8s_openapi::api::core::v1::Node;
/// use kube::api::{DeleteParams, Patch, PatchParams, PostParams};
/// use kubesmith_runtime::cache::ObjectKey;
/// use kubesmith_runtime::client::Error;
/// use kubesmith_runtime::informer::CachedClient;
///
/// # async fn example(nodes: CachedClient<Node>, mut node: Node) -> Result<(), Error> {
/// let nodes = nodes.timeout(Duration::from_secs(30));
/// let (post, apply, merge) = (PostParams::default(), PatchParams::apply("my-controller"), PatchParams::default());
/// node = nodes.update(&node, &post).await?;
/// node = nodes.update_status(&node, &post).await?;
/// nodes.apply(&node, &apply).await?;
/// nodes.apply_status(&node, &apply).await?;
/// let key = ObjectKey::cluster("n1");
/// let patch = Patch::Merge(serde_json::json!({ "metadata": { "labels": { "zone": "a" } } }));
/// nodes.patch(&key, &merge, &patch).await?;
/// nodes.patch_status(&key, &merge, &patch).await?;
/// nodes.patch_subresource("status", &key, &merge, &patch).await?;
/// nodes.delete(&key, &DeleteParams::default()).await?;
/// assert!(nodes.get_live(&key).await?.is_none(), "whatever the cache says");
/// println!("{} writes are not in the cache of {} nodes", nodes.pending_writes(), nodes.lister().store().len());
/// # Ok(())
/// # }
/// ```
///
/// `CachedClient<Pod, Compact<Pod>>` and `CachedClient<Pod, PartialObjectMeta<Pod>>` write pods and read from
/// caches in those forms.
pub struct CachedClient<K, C: Cached = K> {
    rest: RestClient,
    informer: SharedInformer<C>,
    timeout: Duration,
    kind: std::marker::PhantomData<fn() -> K>,
}

impl<K, C> CachedClient<K, C>
where
    K: Resource<DynamicType = ()>,
    C: CacheOf<K>,
{
    /// Makes a client that reads from the cache of `informer` and writes through `client`.
    #[must_use]
    pub fn new(client: kube::Client, informer: &SharedInformer<C>) -> Self {
        Self {
            rest: RestClient::new(client, &K::group(&()), &K::version(&())),
            informer: informer.clone(),
            timeout: DEFAULT_TIMEOUT,
            kind: std::marker::PhantomData,
        }
    }

    /// Sets how long a read waits for the cache; 10 s by default.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Returns the informer.
    #[must_use]
    pub fn informer(&self) -> &SharedInformer<C> {
        &self.informer
    }

    /// Returns how many own writes the cache may not have shown yet.
    #[must_use]
    pub fn pending_writes(&self) -> usize {
        self.informer.control.writes.len()
    }

    /// Returns the cache as it is, without waiting.
    #[must_use]
    pub fn lister(&self) -> Lister<C> {
        self.informer.lister()
    }

    /// Returns the object as the last own write left it, or a later state; `None` if it does not exist.
    ///
    /// # Errors
    /// [`InformerError::NotWritten`] if the cache has not shown an own write of the object in time; reconcile again
    /// later. [`InformerError::NotSynced`] before the cache is complete, [`InformerError::Stopped`] after the
    /// informer has stopped.
    ///
    /// # Cancel safety
    /// Dropping the future loses nothing.
    pub async fn get(&self, key: &ObjectKey) -> Result<Option<Arc<C>>, InformerError> {
        self.informer.caught_up(Scope::Object(key), self.timeout).await?;
        Ok(self.informer.store().get_by_key(key))
    }

    /// Returns the objects whose labels match, sorted by key, including all own writes.
    ///
    /// # Errors
    /// As [`Self::get`], for an own write of any object.
    pub async fn list(&self, selector: &Selector) -> Result<Listing<C>, InformerError> {
        Ok(self.fresh(Scope::All).await?.list(selector))
    }

    /// Returns the objects of a namespace whose labels match, sorted by name, including all own writes.
    ///
    /// # Errors
    /// As [`Self::get`], for an own write of any object in the namespace.
    pub async fn list_namespace(
        &self,
        namespace: &str,
        selector: &Selector,
    ) -> Result<Listing<C>, InformerError> {
        Ok(self.fresh(Scope::Namespace(namespace)).await?.list_namespace(namespace, selector))
    }

    /// Waits until the cache shows all own writes and returns it, for look-ups through indexes.
    ///
    /// # Errors
    /// As [`Self::get`], for an own write of any object.
    pub async fn fresh_lister(&self) -> Result<Lister<C>, InformerError> {
        self.fresh(Scope::All).await
    }

    async fn fresh(&self, scope: Scope<'_>) -> Result<Lister<C>, InformerError> {
        self.informer.caught_up(scope, self.timeout).await?;
        Ok(self.informer.lister())
    }
}

/// Writes, and reads from the server. The responses to writes are recorded for later reads.
impl<K, C> CachedClient<K, C>
where
    K: Resource<DynamicType = (), Scope: ClientScope> + Clone + Debug + DeserializeOwned + Serialize,
    C: CacheOf<K>,
{
    /// Returns the object as the server has it, like controller-runtime's `APIReader`; `None` if it does not exist.
    /// For decisions that must not miss what *others* have just written.
    ///
    /// # Errors
    /// As [`TypedClient::get`], except for an object that does not exist.
    pub async fn get_live(&self, key: &ObjectKey) -> Result<Option<K>, Error> {
        let namespace = Some(key.namespace()).filter(|namespace| !namespace.is_empty());
        match self.typed(namespace).get(key.name()).await {
            Err(error) if error.is_not_found() => Ok(None),
            found => found.map(Some),
        }
    }

    /// As [`TypedClient::create`], in the object's namespace.
    ///
    /// # Errors
    /// As [`TypedClient::create`].
    pub async fn create(&self, object: &K, params: &PostParams) -> Result<K, Error> {
        let written = self.typed(object.meta().namespace.as_deref()).create(object, params).await;
        self.written(written, params.dry_run)
    }

    /// As [`TypedClient::update`], in the object's namespace.
    ///
    /// # Errors
    /// As [`TypedClient::update`].
    pub async fn update(&self, object: &K, params: &PostParams) -> Result<K, Error> {
        let written = self.typed(object.meta().namespace.as_deref()).update(object, params).await;
        self.written(written, params.dry_run)
    }

    /// As [`TypedClient::update_status`], in the object's namespace.
    ///
    /// # Errors
    /// As [`TypedClient::update_status`].
    pub async fn update_status(&self, object: &K, params: &PostParams) -> Result<K, Error> {
        let written = self.typed(object.meta().namespace.as_deref()).update_status(object, params).await;
        self.written(written, params.dry_run)
    }

    /// As [`TypedClient::patch`].
    ///
    /// # Errors
    /// As [`TypedClient::patch`].
    pub async fn patch<P>(&self, key: &ObjectKey, params: &PatchParams, patch: &Patch<P>) -> Result<K, Error>
    where
        P: Serialize + Debug,
    {
        let written = self.typed(Some(key.namespace())).patch(key.name(), params, patch).await;
        self.written(written, params.dry_run)
    }

    /// As [`TypedClient::patch_subresource`].
    ///
    /// # Errors
    /// As [`TypedClient::patch_subresource`].
    pub async fn patch_subresource<P>(
        &self,
        subresource: &str,
        key: &ObjectKey,
        params: &PatchParams,
        patch: &Patch<P>,
    ) -> Result<K, Error>
    where
        P: Serialize + Debug,
    {
        let typed = self.typed(Some(key.namespace()));
        let written = typed.patch_subresource(subresource, key.name(), params, patch).await;
        self.written(written, params.dry_run)
    }

    /// As [`TypedClient::patch_status`].
    ///
    /// # Errors
    /// As [`TypedClient::patch_status`].
    pub async fn patch_status<P>(
        &self,
        key: &ObjectKey,
        params: &PatchParams,
        patch: &Patch<P>,
    ) -> Result<K, Error>
    where
        P: Serialize + Debug,
    {
        self.patch_subresource("status", key, params, patch).await
    }

    /// As [`TypedClient::apply`], in the object's namespace.
    ///
    /// # Errors
    /// As [`TypedClient::apply`].
    pub async fn apply(&self, object: &K, params: &PatchParams) -> Result<K, Error> {
        let written = self.typed(object.meta().namespace.as_deref()).apply(object, params).await;
        self.written(written, params.dry_run)
    }

    /// As [`TypedClient::apply_status`], in the object's namespace.
    ///
    /// # Errors
    /// As [`TypedClient::apply_status`].
    pub async fn apply_status(&self, object: &K, params: &PatchParams) -> Result<K, Error> {
        let written = self.typed(object.meta().namespace.as_deref()).apply_status(object, params).await;
        self.written(written, params.dry_run)
    }

    /// As [`TypedClient::delete`]. A later read shows the object with its deletion timestamp, or does not find it.
    ///
    /// # Errors
    /// As [`TypedClient::delete`].
    pub async fn delete(&self, key: &ObjectKey, params: &DeleteParams) -> Result<Deletion<K>, Error> {
        let before = self.informer.object(key).map(|(_, uid)| uid).unwrap_or_default();
        let deletion = self.typed(Some(key.namespace())).delete(key.name(), params).await?;
        let uid = match &deletion {
            Deletion::Deleting(object) => object.meta().uid.as_deref().unwrap_or_default(),
            Deletion::Deleted(status) => status.details.as_ref().map_or("", |details| details.uid.as_str()),
        };
        let known = if uid.is_empty() { before.as_str() } else { uid };
        if params.dry_run || !self.informer.control.follows(known, key.namespace()) {
            return Ok(deletion);
        }
        let writes = &self.informer.control.writes;
        match &deletion {
            Deletion::Deleting(object) => {
                let (meta, empty) = (object.meta(), String::new());
                let version = meta.resource_version.as_ref().unwrap_or(&empty);
                if is_held(meta) {
                    writes.written(key.clone(), uid, version, &self.informer);
                } else {
                    // Some kinds return the deleted object.
                    writes.deleted(key.clone(), uid, version, &before, &self.informer);
                }
            }
            Deletion::Deleted(_) => writes.deleted(key.clone(), uid, "", &before, &self.informer),
        }
        Ok(deletion)
    }

    /// Returns a typed client for the namespace of one request.
    fn typed(&self, namespace: Option<&str>) -> TypedClient<K> {
        TypedClient::of_scope(self.rest.clone(), namespace.unwrap_or_default())
    }

    /// Records the response to a write, unless it was a dry run.
    fn written(&self, answer: Result<K, Error>, is_dry_run: bool) -> Result<K, Error> {
        if let Ok(object) = &answer
            && !is_dry_run
        {
            let meta = object.meta();
            let uid = meta.uid.as_deref().unwrap_or_default();
            if self.informer.control.follows(uid, meta.namespace.as_deref().unwrap_or_default()) {
                let version = meta.resource_version.as_deref().unwrap_or_default();
                let (key, writes) = (ObjectKey::of(object), &self.informer.control.writes);
                if is_removed(meta) {
                    writes.deleted(key, uid, version, "", &self.informer);
                } else {
                    writes.written(key, uid, version, &self.informer);
                }
            }
        }
        answer
    }
}

/// Reports whether something keeps a deleted object.
fn is_held(meta: &ObjectMeta) -> bool {
    meta.finalizers.as_ref().is_some_and(|finalizers| !finalizers.is_empty())
        || meta.deletion_grace_period_seconds.unwrap_or(0) > 0
}

/// Reports whether the write with this response removed the object, with its last finalizer. The response has the version
/// before the deletion (`deleteWithoutFinalizers` of apiserver's pkg/registry/generic/registry/store.go).
pub(super) fn is_removed(meta: &ObjectMeta) -> bool {
    meta.deletion_timestamp.is_some() && !is_held(meta)
}

impl<C: Cached> View for SharedInformer<C> {
    fn object(&self, key: &ObjectKey) -> Option<(String, String)> {
        let object = self.store().get_by_key(key)?;
        let text = |text: Option<&str>| text.unwrap_or_default().to_owned();
        Some((text(object.object_version()), text(object.object_uid())))
    }

    fn reached(&self) -> String {
        self.store().resource_version()
    }
}

impl<C: Cached> SharedInformer<C> {
    /// Waits until the cache is complete and shows the own writes in the scope of a read.
    async fn caught_up(&self, scope: Scope<'_>, timeout: Duration) -> Result<(), InformerError> {
        let writes = &self.control.writes;
        if !self.has_synced() {
            self.wait_for_sync(timeout).await?;
        }
        let outstanding = || writes.outstanding(scope, self);
        let waited = self.wait_until(timeout, || outstanding().is_none()).await;
        let Err(WaitError::TimedOut) = waited else { return waited.map_err(|_| self.stopped()) };
        let Some(left) = outstanding() else { return Ok(()) };
        writes.give_up_incomparable();
        let (resource, last_error) = (self.resource().to_owned(), self.last_error());
        let key = match left {
            Outstanding::Object(key) => key,
            Outstanding::Many => ObjectKey::cluster("(many objects)"),
        };
        Err(InformerError::NotWritten { resource, key, waited: timeout, last_error })
    }
}

/// The reason why the wait for the cache ended early.
pub(super) enum WaitError {
    TimedOut,
    Stopped,
}

impl<K, C: Cached> Clone for CachedClient<K, C> {
    fn clone(&self) -> Self {
        Self {
            rest: self.rest.clone(),
            informer: self.informer.clone(),
            timeout: self.timeout,
            kind: std::marker::PhantomData,
        }
    }
}

impl<K, C: Cached> fmt::Debug for CachedClient<K, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CachedClient")
            .field("informer", &self.informer)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}
