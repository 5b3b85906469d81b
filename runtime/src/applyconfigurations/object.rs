//! The apply configuration of objects that are metadata, a spec and a status.

use std::fmt;
use std::marker::PhantomData;

use k8s_openapi::{ClusterResourceScope, NamespaceResourceScope};
use kube::Resource;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::ApplyConfiguration;
use super::meta::v1::ObjectMetaApplyConfiguration;

/// The apply configuration of a kind of the cluster whose objects are metadata, a spec and perhaps a status:
/// [`ObjectApplyConfiguration`] has an example.
pub type ClusterApplyConfiguration<K, Spec, Status = Absent> =
    ObjectApplyConfiguration<K, ClusterResourceScope, Spec, Status>;

/// The apply configuration of a namespaced kind whose objects are metadata, a spec and perhaps a status:
/// [`ObjectApplyConfiguration`] has an example.
pub type NamespacedApplyConfiguration<K, Spec, Status = Absent> =
    ObjectApplyConfiguration<K, NamespaceResourceScope, Spec, Status>;

/// The fields of an object that a field manager wants; fields that are not set are not sent.
///
/// Generated packages name it after their kinds: `BalancerApplyConfiguration`.
///
/// ```
/// use k8s_openapi::api::core::v1::Namespace;
/// use kubesmith_runtime::applyconfigurations::ClusterApplyConfiguration;
/// use serde::{Deserialize, Serialize};
/// use serde_json::json;
///
/// #[derive(Serialize, Deserialize)]
/// struct SpecApplyConfiguration {
///     finalizers: Vec<String>,
/// }
///
/// type NamespaceApplyConfiguration = ClusterApplyConfiguration<Namespace, SpecApplyConfiguration>;
///
/// let wanted = NamespaceApplyConfiguration::new("shop").with_labels([("team", "web")]);
/// let expected = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop", "labels": {"team": "web"}}});
/// assert_eq!(serde_json::to_value(&wanted).unwrap(), expected);
///
/// // The same, and more, one by one.
/// let wanted = NamespaceApplyConfiguration::default()
///     .with_api_version("v1")
///     .with_kind("Namespace")
///     .with_name("shop")
///     .with_annotations([("example.com/by", "me")])
///     .with_finalizers(["example.com/shop"])
///     .with_spec(SpecApplyConfiguration { finalizers: Vec::new() });
/// assert_eq!(serde_json::to_value(&wanted).unwrap()["metadata"]["finalizers"], json!(["example.com/shop"]));
///
/// // A namespaced kind has a method for its namespace.
/// use k8s_openapi::api::core::v1::Pod;
/// use kubesmith_runtime::applyconfigurations::{Absent, NamespacedApplyConfiguration};
///
/// let pod = NamespacedApplyConfiguration::<Pod, SpecApplyConfiguration, Absent>::new("web", "default");
/// let moved = pod.with_namespace("shop");
/// assert_eq!(moved.metadata.unwrap().namespace.as_deref(), Some("shop"));
/// ```
///
/// `K` is the object's type, `S` its scope.
#[must_use]
#[derive(Serialize, Deserialize)]
#[serde(
    rename_all = "camelCase",
    bound(
        serialize = "Spec: Serialize, Status: Serialize",
        deserialize = "Spec: DeserializeOwned, Status: DeserializeOwned"
    )
)]
pub struct ObjectApplyConfiguration<K, S, Spec, Status> {
    /// Group and version of the object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_version: Option<String>,
    /// Kind of the object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Standard object metadata.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<ObjectMetaApplyConfiguration>,
    /// The desired state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spec: Option<Spec>,
    /// The observed state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
    /// The type of the object, and its scope.
    #[serde(skip)]
    pub of: PhantomData<fn() -> (K, S)>,
}

/// The status of kinds that have none: there is no value of it. [`ObjectApplyConfiguration`] has an example.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Absent {}

impl<K, Spec, Status> ObjectApplyConfiguration<K, ClusterResourceScope, Spec, Status>
where
    K: Resource<DynamicType = ()>,
{
    /// Configures the object of this name.
    #[inline]
    pub fn new(name: impl Into<String>) -> Self {
        Self::of_kind().with_name(name)
    }
}

impl<K, Spec, Status> ObjectApplyConfiguration<K, NamespaceResourceScope, Spec, Status>
where
    K: Resource<DynamicType = ()>,
{
    /// Configures the object of this name and namespace.
    #[inline]
    pub fn new(name: impl Into<String>, namespace: impl Into<String>) -> Self {
        Self::of_kind().with_name(name).with_namespace(namespace)
    }

    /// Sets the namespace of the object.
    pub fn with_namespace(self, namespace: impl Into<String>) -> Self {
        self.meta(|meta| meta.with_namespace(namespace))
    }
}

impl<K: Resource<DynamicType = ()>, S, Spec, Status> ObjectApplyConfiguration<K, S, Spec, Status> {
    fn of_kind() -> Self {
        Self::default().with_api_version(K::api_version(&())).with_kind(K::kind(&()))
    }
}

impl<K, S, Spec, Status> ObjectApplyConfiguration<K, S, Spec, Status> {
    fn meta(
        mut self,
        set: impl FnOnce(ObjectMetaApplyConfiguration) -> ObjectMetaApplyConfiguration,
    ) -> Self {
        self.metadata = Some(set(self.metadata.unwrap_or_default()));
        self
    }

    /// Sets [`api_version`](Self::api_version).
    pub fn with_api_version(mut self, value: impl Into<String>) -> Self {
        self.api_version = Some(value.into());
        self
    }

    /// Sets [`kind`](Self::kind).
    pub fn with_kind(mut self, value: impl Into<String>) -> Self {
        self.kind = Some(value.into());
        self
    }

    /// Sets [`metadata`](Self::metadata).
    pub fn with_metadata(mut self, value: ObjectMetaApplyConfiguration) -> Self {
        self.metadata = Some(value);
        self
    }

    /// Sets [`spec`](Self::spec).
    pub fn with_spec(mut self, value: Spec) -> Self {
        self.spec = Some(value);
        self
    }

    /// Sets [`status`](Self::status).
    pub fn with_status(mut self, value: Status) -> Self {
        self.status = Some(value);
        self
    }

    /// Sets the name of the object.
    pub fn with_name(self, name: impl Into<String>) -> Self {
        self.meta(|meta| meta.with_name(name))
    }

    /// Adds labels to the object.
    pub fn with_labels(
        self,
        labels: impl IntoIterator<Item = (impl Into<String>, impl Into<String>)>,
    ) -> Self {
        self.meta(|meta| meta.with_labels(labels))
    }

    /// Adds annotations to the object.
    pub fn with_annotations(
        self,
        annotations: impl IntoIterator<Item = (impl Into<String>, impl Into<String>)>,
    ) -> Self {
        self.meta(|meta| meta.with_annotations(annotations))
    }

    /// Appends to the finalizers of the object.
    pub fn with_finalizers(self, finalizers: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.meta(|meta| meta.with_finalizers(finalizers))
    }
}

impl<K, S, Spec, Status> ApplyConfiguration for ObjectApplyConfiguration<K, S, Spec, Status>
where
    K: Resource<DynamicType = ()>,
    Spec: Serialize + DeserializeOwned,
    Status: Serialize + DeserializeOwned,
{
    type Object = K;
}

impl<K, S, Spec, Status> Default for ObjectApplyConfiguration<K, S, Spec, Status> {
    fn default() -> Self {
        Self { api_version: None, kind: None, metadata: None, spec: None, status: None, of: PhantomData }
    }
}

impl<K, S, Spec: Clone, Status: Clone> Clone for ObjectApplyConfiguration<K, S, Spec, Status> {
    fn clone(&self) -> Self {
        Self {
            api_version: self.api_version.clone(),
            kind: self.kind.clone(),
            metadata: self.metadata.clone(),
            spec: self.spec.clone(),
            status: self.status.clone(),
            of: PhantomData,
        }
    }
}

impl<K, S, Spec: fmt::Debug, Status: fmt::Debug> fmt::Debug for ObjectApplyConfiguration<K, S, Spec, Status> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ApplyConfiguration")
            .field("api_version", &self.api_version)
            .field("kind", &self.kind)
            .field("metadata", &self.metadata)
            .field("spec", &self.spec)
            .field("status", &self.status)
            .finish()
    }
}
