//! Client of the `__Kind__` objects of `__ApiVersion__`.

#[when(any_patch)]
use ::core::fmt::Debug;

#[when(any_verb)]
#[when(imports_object)]
use __ObjectPath__;
use ::kubesmith_runtime::client::prelude::*;
#[when(any_patch)]
use ::kubesmith_runtime::serde::Serialize;

#[when(applies)]
#[when(imports_configuration)]
use __ConfigurationPath__;

/// What was written by hand beside this file.
#[when(client_expansion)]
#[path = "__module___expansion.rs"]
pub mod expansion;
mod interface;

pub use self::interface::{__Kind__Interface, __Getter__};

/// Client of the `__Kind__` objects of the cluster.
///
/// __Summary__
///
/// Each request fails with [`Error`]: the API server's answer, or why there is none.
#[when(cluster)]
#[derive(Clone, Debug)]
pub struct __Plural__ {
    #[when(any_verb)]
    inner: TypedClient<__Object__>,
    #[unless(any_verb)]
    rest: RestClient,
}

/// Client of the `__Kind__` objects of all namespaces; [`namespace`](Self::namespace) chooses one.
///
/// __Summary__
#[when(namespaced)]
#[derive(Clone, Debug)]
pub struct __Plural__ {
    rest: RestClient,
    #[when(list_or_watch)]
    inner: TypedClient<__Object__>,
}

#[when(namespaced)]
impl __Plural__ {
    /// Makes the client from the REST client of its group-version.
    #[must_use]
    pub fn new(rest: RestClient) -> Self {
        Self {
            #[when(list_or_watch)]
            inner: TypedClient::all_namespaces(rest.clone()),
            rest,
        }
    }

    /// The `__Kind__` objects of one namespace.
    #[must_use]
    pub fn namespace(&self, namespace: &str) -> __Client__ {
        __Client__::new(self.rest.clone(), namespace)
    }

    /// Lists the objects of all namespaces.
    #[when(list)]
    pub async fn list(
        &self,
        params: &ListParams,
    ) -> Result<ObjectList<__Object__>> {
        self.inner.list(params).await
    }

    /// Watches the objects of all namespaces from a resource version on.
    #[when(watch)]
    pub async fn watch(
        &self,
        params: &WatchParams,
        resource_version: &str,
    ) -> Result<WatchStream<__Object__>> {
        self.inner.watch(params, resource_version).await
    }
}

/// Client of the `__Kind__` objects of one namespace.
///
/// Each request fails with [`Error`]: the API server's answer, or why there is none.
#[when(namespaced)]
#[derive(Clone, Debug)]
pub struct __Client__ {
    #[when(any_verb)]
    inner: TypedClient<__Object__>,
    #[unless(any_verb)]
    rest: RestClient,
    #[unless(any_verb)]
    namespace: String,
}

impl __Client__ {
    /// Makes the client from the REST client of its group-version.
    #[when(cluster)]
    #[must_use]
    pub fn new(rest: RestClient) -> Self {
        Self {
            #[when(any_verb)]
            inner: TypedClient::cluster(rest),
            #[unless(any_verb)]
            rest,
        }
    }

    /// Makes the client of a namespace from the REST client of its group-version.
    #[when(namespaced)]
    #[must_use]
    pub fn new(rest: RestClient, namespace: &str) -> Self {
        Self {
            #[when(any_verb)]
            inner: TypedClient::namespaced(rest, namespace),
            #[unless(any_verb)]
            rest,
            #[unless(any_verb)]
            namespace: namespace.to_owned(),
        }
    }

    /// The REST client of the group-version.
    #[unless(any_verb)]
    #[must_use]
    pub fn rest_client(&self) -> &RestClient {
        &self.rest
    }

    /// The namespace that was chosen.
    #[when(namespaced)]
    #[unless(any_verb)]
    #[must_use]
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// Creates an object and returns it as stored.
    #[when(create)]
    pub async fn create(
        &self,
        object: &__Object__,
        params: &PostParams,
    ) -> Result<__Object__> {
        self.inner.create(object, params).await
    }

    /// Replaces the object of that name; its resource version, if set, must be the stored one.
    #[when(update)]
    pub async fn update(
        &self,
        object: &__Object__,
        params: &PostParams,
    ) -> Result<__Object__> {
        self.inner.update(object, params).await
    }

    /// Replaces the status of the object of that name and nothing else.
    #[when(update_status)]
    pub async fn update_status(
        &self,
        object: &__Object__,
        params: &PostParams,
    ) -> Result<__Object__> {
        self.inner.update_status(object, params).await
    }

    /// Deletes an object.
    #[when(delete)]
    pub async fn delete(
        &self,
        name: &str,
        params: &DeleteParams,
    ) -> Result<Deletion<__Object__>> {
        self.inner.delete(name, params).await
    }

    /// Deletes the objects that the list parameters select.
    #[when(delete_collection)]
    pub async fn delete_collection(
        &self,
        params: &DeleteParams,
        list: &ListParams,
    ) -> Result<
        Deletion<ObjectList<__Object__>>,
    > {
        self.inner.delete_collection(params, list).await
    }

    /// Reads an object.
    #[when(get)]
    pub async fn get(&self, name: &str) -> Result<__Object__> {
        self.inner.get(name).await
    }

    /// Lists objects.
    #[when(list)]
    pub async fn list(
        &self,
        params: &ListParams,
    ) -> Result<ObjectList<__Object__>> {
        self.inner.list(params).await
    }

    /// Watches objects from a resource version on.
    #[when(watch)]
    pub async fn watch(
        &self,
        params: &WatchParams,
        resource_version: &str,
    ) -> Result<WatchStream<__Object__>> {
        self.inner.watch(params, resource_version).await
    }

    /// Changes parts of an object.
    #[when(patch)]
    pub async fn patch<P: Serialize + Debug>(
        &self,
        name: &str,
        params: &PatchParams,
        patch: &Patch<P>,
    ) -> Result<__Object__> {
        self.inner.patch(name, params, patch).await
    }

    /// Changes parts of a subresource of an object, such as `status`.
    #[when(patch)]
    pub async fn patch_subresource<P: Serialize + Debug>(
        &self,
        subresource: &str,
        name: &str,
        params: &PatchParams,
        patch: &Patch<P>,
    ) -> Result<__Object__> {
        self.inner.patch_subresource(subresource, name, params, patch).await
    }

    /// Creates or changes an object by server-side apply: the configuration's fields become the field manager's. The
    /// parameters name the manager and whether it takes fields from others (`force`).
    #[when(apply)]
    #[when(configured)]
    pub async fn apply(
        &self,
        configuration: &__Configuration__,
        params: &PatchParams,
    ) -> Result<__Object__> {
        self.inner.apply_configuration(configuration, params).await
    }

    /// Creates or changes an object by server-side apply; the parameters name the field manager.
    #[when(apply)]
    #[unless(configured)]
    pub async fn apply(
        &self,
        object: &__Object__,
        params: &PatchParams,
    ) -> Result<__Object__> {
        self.inner.apply(object, params).await
    }

    /// Changes the status of an object by server-side apply.
    #[when(apply_status)]
    #[when(configured)]
    pub async fn apply_status(
        &self,
        configuration: &__Configuration__,
        params: &PatchParams,
    ) -> Result<__Object__> {
        self.inner.apply_configuration_to("status", configuration, params).await
    }

    /// Changes the status of an object by server-side apply.
    #[when(apply_status)]
    #[unless(configured)]
    pub async fn apply_status(
        &self,
        object: &__Object__,
        params: &PatchParams,
    ) -> Result<__Object__> {
        self.inner.apply_status(object, params).await
    }

    /// __MethodDoc__
    #[each(method)]
    #[unless(patches)]
    pub async fn __method__(
        &self,
        #[when(named)] name: &str,
        #[when(sends)] input: &__Input__,
        #[when(has_params)] params: &__Params__,
    ) -> Result<__Answer__> {
        self.inner
            .__target__(#[when(in_subresource)] "__subresource__")
            .__request__(#[when(named)] name, #[when(sends)] input, #[when(has_params)] params)
            .await
    }

    /// __MethodDoc__
    #[along(method)]
    #[when(patches)]
    pub async fn __method__<P: Serialize + Debug>(
        &self,
        name: &str,
        params: &PatchParams,
        patch: &Patch<P>,
    ) -> Result<__Answer__> {
        self.inner.__target__(#[when(in_subresource)] "__subresource__").patch(name, params, patch).await
    }
}
