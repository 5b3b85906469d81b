//! Cluster-wide or in namespaces.

use k8s_openapi::{ClusterResourceScope, NamespaceResourceScope};
use kube::Api;

/// The scopes that kinds have: in namespaces, or cluster-wide. It cannot be implemented elsewhere.
///
/// ```
/// use k8s_openapi::api::core::v1::{ConfigMap, Node};
/// use kubesmith_runtime::client::ClientScope;
///
/// // Takes kinds of either scope.
/// fn plural<K: kube::Resource<Scope: ClientScope, DynamicType = ()>>() -> String {
///     K::plural(&()).into_owned()
/// }
/// assert_eq!((plural::<ConfigMap>(), plural::<Node>()), ("configmaps".to_owned(), "nodes".to_owned()));
/// ```
pub trait ClientScope: sealed::Sealed + Sized {
    /// Whether objects of this scope are in namespaces.
    #[doc(hidden)]
    const NAMESPACED: bool;

    /// The objects of a kind in this scope; an empty namespace means all.
    #[doc(hidden)]
    fn api<K>(client: kube::Client, namespace: &str) -> Api<K>
    where
        K: kube::Resource<Scope = Self, DynamicType = ()>;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for k8s_openapi::ClusterResourceScope {}
    impl Sealed for k8s_openapi::NamespaceResourceScope {}
}

impl ClientScope for NamespaceResourceScope {
    const NAMESPACED: bool = true;

    fn api<K>(client: kube::Client, namespace: &str) -> Api<K>
    where
        K: kube::Resource<Scope = Self, DynamicType = ()>,
    {
        if namespace.is_empty() { Api::all(client) } else { Api::namespaced(client, namespace) }
    }
}

impl ClientScope for ClusterResourceScope {
    const NAMESPACED: bool = false;

    fn api<K>(client: kube::Client, _: &str) -> Api<K>
    where
        K: kube::Resource<Scope = Self, DynamicType = ()>,
    {
        Api::all(client)
    }
}
