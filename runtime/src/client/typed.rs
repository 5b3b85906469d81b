//! The client of one kind.

use std::fmt::Debug;
use std::time::Duration;

use futures::stream::BoxStream;
use futures::{StreamExt, TryStreamExt};
use k8s_openapi::{ClusterResourceScope, NamespaceResourceScope};
use kube::Api;
use kube::api::{
    DeleteParams, ListParams, ObjectList, Patch, PatchParams, PostParams, WatchEvent, WatchParams,
};
use kube::core::Status;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::error::Request;
use super::transport::TimedOut;
use super::{ClientScope, Error, RestClient};
use crate::applyconfigurations::ApplyConfiguration;

/// The events of a watch, with the errors of this module. [`TypedClient`] has an example.
pub type WatchStream<K> = BoxStream<'static, Result<WatchEvent<K>, Error>>;

/// The response to a delete. [`TypedClient`] has an example.
#[derive(Clone, Debug, PartialEq)]
pub enum Deletion<T> {
    /// The object is on its way out (finalizers, graceful deletion); this is its state now.
    Deleting(T),
    /// It is gone.
    Deleted(Box<Status>),
}

impl<T> Deletion<T> {
    /// Reports whether the object is gone already.
    ///
    /// ```
    /// use kubesmith_runtime::client::Deletion;
    ///
    /// assert!(Deletion::<()>::Deleted(Box::default()).is_deleted());
    /// assert!(!Deletion::Deleting("an object with finalizers").is_deleted());
    /// ```
    #[must_use]
    pub fn is_deleted(&self) -> bool {
        matches!(self, Self::Deleted(_))
    }
}

/// All verbs on objects of kind `K`, cluster-wide, in all namespaces or in one.
///
/// # Cancel safety
/// Dropping a call's future abandons the request; whether the server carried it out is then unknown.
///
/// ```no_run
/// # async fn example(client: kube::Client) -> Result<(), kubesmith_runtime::client::Error> {
/// use k8s_openapi::api::core::v1::ConfigMap;
/// use kubesmith_runtime::client::{RestClient, TypedClient};
///
/// let maps: TypedClient<ConfigMap> = TypedClient::namespaced(RestClient::new(client, "", "v1"), "default");
/// let map = maps.get("settings").await?;
/// # Ok(())
/// # }
/// ```
///
/// Scopes, and more verbs:
///
/// ```no_run
/// use futures::StreamExt;
/// use k8s_openapi::api::core::v1::{ConfigMap, Node};
/// use kube::api::{DeleteParams, ListParams, ObjectMeta, Patch, PatchParams, PostParams, WatchParams};
/// use kubesmith_runtime::client::{Deletion, Error, RestClient, TypedClient, WatchStream};
/// use serde_json::json;
///
/// # async fn example(rest: RestClient) -> Result<(), Error> {
/// let nodes = TypedClient::<Node>::cluster(rest.clone());
/// let everywhere = TypedClient::<ConfigMap>::all_namespaces(rest.clone());
/// let maps = TypedClient::<ConfigMap>::namespaced(rest, "default");
/// assert_eq!((maps.namespace(), maps.rest_client().version(), nodes.namespace()), (Some("default"), "v1", None));
///
/// let metadata = ObjectMeta { name: Some("settings".to_owned()), ..ObjectMeta::default() };
/// maps.create(&ConfigMap { metadata, ..ConfigMap::default() }, &PostParams::default()).await?;
/// let patch = Patch::Merge(json!({"data": {"color": "red"}}));
/// maps.patch("settings", &PatchParams::default(), &patch).await?;
/// if let Some(map) = maps.get_opt("settings").await? {
///     println!("{:?}", map.data);
/// }
///
/// let listed = everywhere.list(&ListParams::default().labels("app=web")).await?;
/// let version = listed.metadata.resource_version.unwrap_or_default();
/// let mut events: WatchStream<ConfigMap> = everywhere.watch(&WatchParams::default(), &version).await?;
/// while let Some(event) = events.next().await {
///     println!("{:?}", event?);
/// }
///
/// match maps.delete("settings", &DeleteParams::default()).await? {
///     Deletion::Deleting(map) => println!("waits for {:?}", map.metadata.finalizers),
///     Deletion::Deleted(_) => println!("gone"),
/// }
/// maps.delete_collection(&DeleteParams::default(), &ListParams::default().labels("app=web")).await?;
/// # Ok(())
/// # }
/// ```
pub struct TypedClient<K> {
    rest: RestClient,
    api: Api<K>,
    /// Whether single objects cannot be named, because no namespace was chosen.
    everywhere: bool,
}

impl<K> TypedClient<K>
where
    K: kube::Resource<DynamicType = ()>,
{
    /// Objects of a cluster-scoped kind.
    #[must_use]
    pub fn cluster(rest: RestClient) -> Self
    where
        K: kube::Resource<Scope = ClusterResourceScope>,
    {
        Self { api: Api::all(rest.client().clone()), rest, everywhere: false }
    }

    /// Objects of a namespaced kind in all namespaces: list and watch (other verbs need a namespace).
    #[must_use]
    pub fn all_namespaces(rest: RestClient) -> Self
    where
        K: kube::Resource<Scope = NamespaceResourceScope>,
    {
        Self { api: Api::all(rest.client().clone()), rest, everywhere: true }
    }

    /// Objects of a namespaced kind in one namespace; in all of them, as [`Self::all_namespaces`], if it is empty.
    #[must_use]
    pub fn namespaced(rest: RestClient, namespace: &str) -> Self
    where
        K: kube::Resource<Scope = NamespaceResourceScope>,
    {
        Self::of_scope(rest, namespace)
    }

    /// Objects of a kind in either scope; the namespace counts where the kind has them.
    pub(crate) fn of_scope(rest: RestClient, namespace: &str) -> Self
    where
        K: kube::Resource<Scope: ClientScope>,
    {
        let everywhere = K::Scope::NAMESPACED && namespace.is_empty();
        Self { api: K::Scope::api(rest.client().clone(), namespace), rest, everywhere }
    }

    /// The group version's client.
    #[must_use]
    pub fn rest_client(&self) -> &RestClient {
        &self.rest
    }

    /// Returns kube's own `Api` for the same objects, for requests that this type has no method for.
    #[must_use]
    pub fn api(&self) -> &Api<K> {
        &self.api
    }

    /// The namespace, if the client is bound to one.
    #[must_use]
    pub fn namespace(&self) -> Option<&str> {
        self.api.namespace()
    }

    pub(super) fn request(&self, verb: &'static str, name: Option<&str>) -> Request {
        Request {
            verb,
            resource: resource_name::<K>(),
            namespace: self.api.namespace().map(str::to_owned),
            name: name.map(str::to_owned),
        }
    }

    /// Refuses to ask for one object of a namespaced kind without saying in which namespace, as client-go does.
    pub(super) fn located(&self, verb: &'static str, name: Option<&str>) -> Result<(), Error> {
        if !self.everywhere {
            return Ok(());
        }
        Err(Error::BadRequest {
            request: self.request(verb, name),
            reason: "the client is of all namespaces, which can only list and watch: choose one with `namespace`",
        })
    }

    fn failed(&self, verb: &'static str, name: Option<&str>) -> impl FnOnce(kube::Error) -> Error {
        let request = self.request(verb, name);
        move |source| Error::from_kube(request, source)
    }
}

/// Reading.
impl<K> TypedClient<K>
where
    K: kube::Resource<DynamicType = ()> + Clone + Debug + DeserializeOwned,
{
    /// Returns the object of that name.
    ///
    /// # Errors
    /// Returns an error with [`Error::is_not_found`] if it does not exist; else the server's refusal or a failure of
    /// the transport.
    pub async fn get(&self, name: &str) -> Result<K, Error> {
        self.located("get", Some(name))?;
        self.api.get(name).await.map_err(self.failed("get", Some(name)))
    }

    /// The object of that name, or `None`.
    ///
    /// # Errors
    /// The server's refusal or a failure of the transport.
    pub async fn get_opt(&self, name: &str) -> Result<Option<K>, Error> {
        self.located("get", Some(name))?;
        self.api.get_opt(name).await.map_err(self.failed("get", Some(name)))
    }

    /// Returns the object from its status subresource.
    ///
    /// # Errors
    /// As [`Self::get`].
    pub async fn get_status(&self, name: &str) -> Result<K, Error> {
        self.located("get", Some(name))?;
        self.api.get_status(name).await.map_err(self.failed("get", Some(name)))
    }

    /// The objects that match `params`; one page of them when `params` has a limit. The request is given up after the
    /// timeout that `params` may have.
    ///
    /// # Errors
    /// The server's refusal or a failure of the transport; [`Error::is_gone`] for an expired continue token.
    pub async fn list(&self, params: &ListParams) -> Result<ObjectList<K>, Error> {
        within(params, self.api.list(params)).await.map_err(self.failed("list", None))
    }

    /// The changes after `resource_version`. The stream ends at the server's timeout; an informer is what
    /// keeps watching.
    ///
    /// # Errors
    /// The server's refusal or a failure of the transport, here or as an item of the stream.
    pub async fn watch(&self, params: &WatchParams, resource_version: &str) -> Result<WatchStream<K>, Error>
    where
        K: Send + 'static,
    {
        let stream = self.api.watch(params, resource_version).await.map_err(self.failed("watch", None))?;
        let request = self.request("watch", None);
        Ok(stream.map_err(move |source| Error::from_kube(request.clone(), source)).boxed())
    }
}

/// Writing.
impl<K> TypedClient<K>
where
    K: kube::Resource<DynamicType = ()> + Clone + Debug + DeserializeOwned + Serialize,
{
    /// Creates the object and returns it as stored.
    ///
    /// # Errors
    /// [`Error::is_already_exists`], [`Error::is_invalid`], other refusals, or a failure of the transport.
    pub async fn create(&self, object: &K, params: &PostParams) -> Result<K, Error> {
        let name = object.meta().name.as_deref().or(object.meta().generate_name.as_deref());
        self.located("create", name)?;
        self.api.create(params, object).await.map_err(self.failed("create", name))
    }

    /// Replaces the object. With a resource version in it, only if it has not changed since.
    ///
    /// # Errors
    /// [`Error::is_conflict`] when it was changed meanwhile; a missing name; other refusals.
    pub async fn update(&self, object: &K, params: &PostParams) -> Result<K, Error> {
        let name = self.name_of("update", object)?;
        self.api.replace(name, params, object).await.map_err(self.failed("update", Some(name)))
    }

    /// Replaces the object's status through the status subresource.
    ///
    /// # Errors
    /// As [`Self::update`].
    pub async fn update_status(&self, object: &K, params: &PostParams) -> Result<K, Error> {
        let name = self.name_of("update", object)?;
        self.api.replace_status(name, params, object).await.map_err(self.failed("update", Some(name)))
    }

    /// Deletes the object.
    ///
    /// # Errors
    /// [`Error::is_not_found`], [`Error::is_conflict`] when preconditions fail, other refusals.
    pub async fn delete(&self, name: &str, params: &DeleteParams) -> Result<Deletion<K>, Error> {
        self.located("delete", Some(name))?;
        let answer = self.api.delete(name, params).await.map_err(self.failed("delete", Some(name)))?;
        Ok(answer.either(Deletion::Deleting, |status| Deletion::Deleted(Box::new(status))))
    }

    /// Deletes every object that matches `list`, whose timeout counts as in [`Self::list`].
    ///
    /// # Errors
    /// The server's refusal or a failure of the transport.
    pub async fn delete_collection(
        &self,
        params: &DeleteParams,
        list: &ListParams,
    ) -> Result<Deletion<ObjectList<K>>, Error> {
        self.located("deletecollection", None)?;
        let deletion = within(list, self.api.delete_collection(params, list));
        let answer = deletion.await.map_err(self.failed("deletecollection", None))?;
        Ok(answer.either(Deletion::Deleting, |status| Deletion::Deleted(Box::new(status))))
    }

    /// Patches the object.
    ///
    /// # Errors
    /// [`Error::BadRequest`] for an apply patch without a field manager; the server's refusals.
    pub async fn patch<P>(&self, name: &str, params: &PatchParams, patch: &Patch<P>) -> Result<K, Error>
    where
        P: Serialize + Debug,
    {
        self.check_patch(name, params, patch)?;
        self.api.patch(name, params, patch).await.map_err(self.failed("patch", Some(name)))
    }

    /// Patches a subresource such as `status` whose response is the whole object; others have [`Self::subresource`].
    ///
    /// # Errors
    /// As [`Self::patch`].
    pub async fn patch_subresource<P>(
        &self,
        subresource: &str,
        name: &str,
        params: &PatchParams,
        patch: &Patch<P>,
    ) -> Result<K, Error>
    where
        P: Serialize + Debug,
    {
        self.subresource(subresource).patch(name, params, patch).await
    }

    /// Patches the status subresource.
    ///
    /// # Errors
    /// As [`Self::patch`].
    pub async fn patch_status<P>(
        &self,
        name: &str,
        params: &PatchParams,
        patch: &Patch<P>,
    ) -> Result<K, Error>
    where
        P: Serialize + Debug,
    {
        self.patch_subresource("status", name, params, patch).await
    }

    /// Server-side apply of the whole object. `params` must name a field manager.
    ///
    /// # Errors
    /// [`Error::BadRequest`] without a field manager or a name; [`Error::is_conflict`] when another manager
    /// owns a field and `force` is off; other refusals.
    pub async fn apply(&self, object: &K, params: &PatchParams) -> Result<K, Error> {
        let name = self.name_of("apply", object)?;
        self.patch(name, params, &Patch::Apply(object)).await
    }

    /// Server-side apply through the status subresource.
    ///
    /// # Errors
    /// As [`Self::apply`].
    pub async fn apply_status(&self, object: &K, params: &PatchParams) -> Result<K, Error> {
        let name = self.name_of("apply", object)?;
        self.patch_status(name, params, &Patch::Apply(object)).await
    }

    /// Server-side apply of an apply configuration, the fields that the manager wants and no others. `params` must name a
    /// field manager.
    ///
    /// ```no_run
    /// use k8s_openapi::api::core::v1::ConfigMap;
    /// use kube::api::PatchParams;
    /// use kubesmith_runtime::applyconfigurations::ApplyConfiguration;
    /// use kubesmith_runtime::client::{Error, TypedClient};
    ///
    /// async fn apply<C>(maps: &TypedClient<ConfigMap>, wanted: &C) -> Result<ConfigMap, Error>
    /// where
    ///     C: ApplyConfiguration<Object = ConfigMap>,
    /// {
    ///     maps.apply_configuration(wanted, &PatchParams::apply("my-controller")).await
    /// }
    /// ```
    ///
    /// # Errors
    /// [`Error::BadRequest`] without a field manager or a name; [`Error::ApplyConflict`] when another manager owns a field
    /// and `force` is off; other refusals.
    pub async fn apply_configuration<C>(&self, configuration: &C, params: &PatchParams) -> Result<K, Error>
    where
        C: ApplyConfiguration<Object = K>,
    {
        self.apply_fields(None, configuration, params).await
    }

    /// Server-side apply of an apply configuration through a subresource such as `status`.
    ///
    /// # Errors
    /// As [`Self::apply_configuration`], which has an example.
    pub async fn apply_configuration_to<C>(
        &self,
        subresource: &str,
        configuration: &C,
        params: &PatchParams,
    ) -> Result<K, Error>
    where
        C: ApplyConfiguration<Object = K>,
    {
        self.apply_fields(Some(subresource), configuration, params).await
    }

    /// Server-side apply of the fields that a value writes as JSON, its name among them.
    pub(super) async fn apply_fields<C>(
        &self,
        subresource: Option<&str>,
        configuration: &C,
        params: &PatchParams,
    ) -> Result<K, Error>
    where
        C: Serialize,
    {
        let fields = serde_json::to_value(configuration)
            .map_err(|error| self.failed("apply", None)(kube::Error::SerdeError(error)))?;
        let name = match fields.pointer("/metadata/name").and_then(Value::as_str) {
            Some(name) if !name.is_empty() => name.to_owned(),
            _ => {
                return Err(Error::BadRequest {
                    request: self.request("apply", None),
                    reason: "the apply configuration has no name: make it with `new`, or call `with_name`",
                });
            }
        };
        let patch = Patch::Apply(fields);
        match subresource {
            Some(subresource) => self.patch_subresource(subresource, &name, params, &patch).await,
            None => self.patch(&name, params, &patch).await,
        }
    }

    fn name_of<'a>(&self, verb: &'static str, object: &'a K) -> Result<&'a str, Error> {
        let name = object.meta().name.as_deref();
        self.located(verb, name)?;
        match name {
            Some(name) if !name.is_empty() => Ok(name),
            _ => Err(Error::BadRequest {
                request: self.request(verb, None),
                reason: "the object has no metadata.name",
            }),
        }
    }

    fn check_patch<P>(&self, name: &str, params: &PatchParams, patch: &Patch<P>) -> Result<(), Error>
    where
        P: Serialize,
    {
        self.located("patch", Some(name))?;
        self.request("patch", Some(name)).needs_manager(params, patch)
    }
}

/// The outcome of a request, or that it took longer than the parameters let it. kube sends the timeout with watches alone;
/// client-go limits every request that has one.
#[allow(deprecated, reason = "kube has no other place for it")]
pub(super) async fn within<T>(
    params: &ListParams,
    request: impl Future<Output = kube::Result<T>>,
) -> kube::Result<T> {
    let Some(seconds) = params.timeout.filter(|seconds| *seconds > 0) else { return request.await };
    let limit = Duration::from_secs(seconds.into());
    match tokio::time::timeout(limit, request).await {
        Ok(outcome) => outcome,
        Err(_) => Err(kube::Error::Service(TimedOut(limit).into())),
    }
}

/// `plural.group`, as RBAC and client-go's messages spell it; the plural alone in the core group.
fn resource_name<K: kube::Resource<DynamicType = ()>>() -> String {
    let (plural, group) = (K::plural(&()), K::group(&()));
    if group.is_empty() { plural.into_owned() } else { format!("{plural}.{group}") }
}

impl<K: Clone> Clone for TypedClient<K> {
    fn clone(&self) -> Self {
        Self { rest: self.rest.clone(), api: self.api.clone(), everywhere: self.everywhere }
    }
}

impl<K> Debug for TypedClient<K> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TypedClient")
            .field("group_version", &self.rest.group_version())
            .finish_non_exhaustive()
    }
}
