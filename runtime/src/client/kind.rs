//! The requests of generated clients.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

use k8s_openapi::{ClusterResourceScope, NamespaceResourceScope};
use kube::api::{ListParams, ObjectList, WatchParams};
use serde::Serialize;

use super::verbs::{Kind, delegate};
use super::{RestClient, Result, TypedClient, WatchStream};

/// The requests of a generated client `C`: a method for each verb of `C`, and no others.
///
/// Generated clients dereference to it. `C` defines the kind and its verbs by the traits of [`delegate`]:
///
/// ```
/// use k8s_openapi::api::core::v1::ConfigMap;
/// use kubesmith_runtime::client::verbs::delegate::{self, GeneratedClient};
/// use kubesmith_runtime::client::{AllNamespaces, Error, KindClient, RestClient};
///
/// /// Client of the `ConfigMap` objects of one namespace, which reads only.
/// #[derive(Clone, Debug)]
/// pub struct NamespacedConfigMaps {
///     inner: KindClient<Self>,
/// }
///
/// impl GeneratedClient for NamespacedConfigMaps {
///     type Object = ConfigMap;
///     type Configuration = ConfigMap;
/// }
///
/// impl From<KindClient<Self>> for NamespacedConfigMaps {
///     fn from(inner: KindClient<Self>) -> Self {
///         Self { inner }
///     }
/// }
///
/// impl std::ops::Deref for NamespacedConfigMaps {
///     type Target = KindClient<Self>;
///
///     fn deref(&self) -> &KindClient<Self> {
///         &self.inner
///     }
/// }
///
/// impl delegate::Get for NamespacedConfigMaps {}
///
/// async fn of_all_verbs(maps: &NamespacedConfigMaps) -> Result<bool, Error> {
///     Ok(maps.typed().get_opt("settings").await?.is_some())
/// }
///
/// async fn color(rest: RestClient) -> Result<Option<String>, Error> {
///     let maps = AllNamespaces::<NamespacedConfigMaps>::new(rest).namespace("default");
///     assert_eq!((maps.namespace(), maps.rest_client().version()), ("default", "v1"));
///     Ok(maps.get("settings").await?.data.and_then(|mut data| data.remove("color")))
/// }
/// ```
pub struct KindClient<C: delegate::Delegate> {
    typed: TypedClient<C::Object>,
}

impl<C: delegate::Delegate> KindClient<C> {
    /// Makes the requests of a cluster-scoped kind, as [`namespaced`](Self::namespaced) those of a namespace.
    #[must_use]
    pub fn cluster(rest: RestClient) -> Self
    where
        C::Object: kube::Resource<Scope = ClusterResourceScope>,
    {
        Self { typed: TypedClient::cluster(rest) }
    }

    /// Makes the requests of a namespaced kind in a namespace; with an empty one in all, where objects can be listed and
    /// watched.
    #[must_use]
    pub fn namespaced(rest: RestClient, namespace: &str) -> Self
    where
        C::Object: kube::Resource<Scope = NamespaceResourceScope>,
    {
        Self { typed: TypedClient::namespaced(rest, namespace) }
    }

    /// The REST client of the group-version.
    #[must_use]
    pub fn rest_client(&self) -> &RestClient {
        self.typed.rest_client()
    }

    /// Returns the inner client, which has every verb, even those that `C` leaves out: for methods of one's own.
    #[must_use]
    pub fn typed(&self) -> &TypedClient<C::Object> {
        &self.typed
    }
}

impl<C: delegate::Delegate> KindClient<C>
where
    C::Object: kube::Resource<Scope = NamespaceResourceScope>,
{
    /// The namespace; empty for all.
    #[must_use]
    pub fn namespace(&self) -> &str {
        self.typed.namespace().unwrap_or_default()
    }
}

impl<C: delegate::Delegate> Clone for KindClient<C> {
    fn clone(&self) -> Self {
        Self { typed: self.typed.clone() }
    }
}

impl<C: delegate::Delegate> fmt::Debug for KindClient<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.typed.fmt(f)
    }
}

/// The generated client of a kind `K` that has every verb and no methods of its own: in one namespace, or of a cluster-scoped
/// kind. `A` is the type that its apply verbs take.
///
/// ```
/// use k8s_openapi::api::core::v1::ConfigMap;
/// use kubesmith_runtime::client::{AllNamespaces, CompleteClient, Error, RestClient};
///
/// type NamespacedConfigMaps = CompleteClient<ConfigMap, ConfigMap>;
///
/// async fn color(rest: RestClient) -> Result<Option<String>, Error> {
///     let maps = AllNamespaces::<NamespacedConfigMaps>::new(rest).namespace("default");
///     Ok(maps.get("settings").await?.data.and_then(|mut data| data.remove("color")))
/// }
/// ```
pub struct CompleteClient<K: Kind, A: Serialize + Send + Sync + 'static> {
    inner: KindClient<Self>,
}

impl<K, A> CompleteClient<K, A>
where
    K: Kind + kube::Resource<Scope = ClusterResourceScope>,
    A: Serialize + Send + Sync + 'static,
{
    /// Makes the client of a cluster-scoped kind from the REST client of its group-version.
    #[must_use]
    pub fn new(rest: RestClient) -> Self {
        KindClient::cluster(rest).into()
    }
}

impl<K: Kind, A: Serialize + Send + Sync + 'static> delegate::GeneratedClient for CompleteClient<K, A> {
    type Configuration = A;
    type Object = K;
}

impl<K: Kind, A: Serialize + Send + Sync + 'static> delegate::All for CompleteClient<K, A> {}

impl<K: Kind, A: Serialize + Send + Sync + 'static> From<KindClient<Self>> for CompleteClient<K, A> {
    fn from(inner: KindClient<Self>) -> Self {
        Self { inner }
    }
}

impl<K: Kind, A: Serialize + Send + Sync + 'static> Deref for CompleteClient<K, A> {
    type Target = KindClient<Self>;

    fn deref(&self) -> &KindClient<Self> {
        &self.inner
    }
}

impl<K: Kind, A: Serialize + Send + Sync + 'static> Clone for CompleteClient<K, A> {
    fn clone(&self) -> Self {
        Self { inner: self.inner.clone() }
    }
}

impl<K: Kind, A: Serialize + Send + Sync + 'static> fmt::Debug for CompleteClient<K, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

/// The client of a namespaced kind in all namespaces: it lists and watches, where the client `C` of one namespace does, and
/// [`namespace`](Self::namespace) chooses one. [`KindClient`] has an example.
pub struct AllNamespaces<C> {
    rest: RestClient,
    client: PhantomData<fn() -> C>,
}

impl<C> AllNamespaces<C> {
    /// Makes the client from the REST client of its group-version.
    #[must_use]
    pub fn new(rest: RestClient) -> Self {
        Self { rest, client: PhantomData }
    }

    /// The REST client of the group-version. [`KindClient`] has an example.
    #[must_use]
    pub fn rest_client(&self) -> &RestClient {
        &self.rest
    }
}

impl<K, C> AllNamespaces<C>
where
    K: Kind + kube::Resource<Scope = NamespaceResourceScope>,
    C: delegate::GeneratedClient<Object = K>,
{
    /// The objects of one namespace. [`KindClient`] has an example.
    #[must_use]
    pub fn namespace(&self, namespace: &str) -> C {
        KindClient::namespaced(self.rest.clone(), namespace).into()
    }

    /// Lists the objects of all namespaces.
    ///
    /// # Errors
    /// As [`TypedClient::list`].
    #[inline]
    pub async fn list(&self, params: &ListParams) -> Result<ObjectList<K>>
    where
        C: delegate::List,
    {
        TypedClient::<K>::all_namespaces(self.rest.clone()).list(params).await
    }

    /// Watches the objects of all namespaces from a resource version on.
    ///
    /// # Errors
    /// As [`TypedClient::watch`].
    #[inline]
    pub async fn watch(&self, params: &WatchParams, resource_version: &str) -> Result<WatchStream<K>>
    where
        C: delegate::Watch,
    {
        TypedClient::<K>::all_namespaces(self.rest.clone()).watch(params, resource_version).await
    }
}

impl<C> Clone for AllNamespaces<C> {
    fn clone(&self) -> Self {
        Self::new(self.rest.clone())
    }
}

impl<C> fmt::Debug for AllNamespaces<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AllNamespaces")
            .field("group_version", &self.rest.group_version())
            .finish_non_exhaustive()
    }
}
