//! Kinds: known by their type at compile time, or by discovery at run time.

use std::any::{Any, TypeId};
use std::fmt;

use k8s_openapi::NamespaceResourceScope;
use kube::Resource;
use kube::core::discovery::Scope;
use kube::core::{ApiResource, DynamicObject, GroupVersionResource, TypeMeta};

use super::Cached;

/// A kind that is known only at run time: its names and its scope.
/// [`Discovery::kind_of`](crate::client::Discovery::kind_of) finds it; it can also be written by hand.
///
/// Its objects are held as [`DynamicObject`]s, as `PartialObjectMeta` (only metadata), or as
/// [`Compact`](crate::cache::Compact) forms of either.
///
/// ```
/// use kube::core::{ApiResource, GroupVersionKind};
/// use kubesmith_runtime::informer::DynamicKind;
///
/// let widget = GroupVersionKind::gvk("example.com", "v1", "Widget");
/// let widgets = DynamicKind::namespaced(ApiResource::from_gvk_with_plural(&widget, "widgets"));
/// assert_eq!(widgets.to_string(), "widgets.example.com");
/// assert_eq!(widgets.group_version_resource().resource, "widgets");
///
/// let zone = GroupVersionKind::gvk("example.com", "v1", "Zone");
/// let zones = DynamicKind::cluster(ApiResource::from_gvk(&zone));
/// assert_eq!(zones.scope, kube::core::discovery::Scope::Cluster);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DynamicKind {
    /// Group, version, kind, plural.
    pub resource: ApiResource,
    /// Namespaced or cluster-scoped.
    pub scope: Scope,
}

impl DynamicKind {
    /// Returns a namespaced kind.
    #[must_use]
    pub fn namespaced(resource: ApiResource) -> Self {
        Self { resource, scope: Scope::Namespaced }
    }

    /// Returns a cluster-scoped kind.
    #[must_use]
    pub fn cluster(resource: ApiResource) -> Self {
        Self { resource, scope: Scope::Cluster }
    }

    /// Returns group, version and plural.
    #[must_use]
    pub fn group_version_resource(&self) -> GroupVersionResource {
        let ApiResource { group, version, plural, .. } = &self.resource;
        GroupVersionResource::gvr(group, version, plural)
    }
}

impl fmt::Display for DynamicKind {
    /// `plural.group`; the plural alone in the core group.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&resource_name(&self.resource.plural, &self.resource.group))
    }
}

/// Returns `plural.group`, or the plural alone in the core group.
pub(crate) fn resource_name(plural: &str, group: &str) -> String {
    if group.is_empty() { plural.to_owned() } else { format!("{plural}.{group}") }
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for () {}
    impl Sealed for kube::core::ApiResource {}
}

/// The identity of a kind beside its type: nothing for types of one kind, an [`ApiResource`] for types of objects of
/// any kind. This trait is sealed.
///
/// ```
/// use k8s_openapi::api::core::v1::Pod;
/// use kube::core::DynamicObject;
/// use kubesmith_runtime::informer::Cached;
///
/// fn of_one_kind<K: Cached<DynamicType = ()>>() {}
/// fn of_any_kind<K: Cached<DynamicType = kube::core::ApiResource>>() {}
/// of_one_kind::<Pod>();
/// of_any_kind::<DynamicObject>();
/// ```
pub trait DynamicType: Clone + fmt::Debug + Send + Sync + sealed::Sealed + 'static {
    /// The value for types of one kind.
    #[doc(hidden)]
    fn of_static() -> Option<Self>;

    /// The type of an object, which servers leave out of lists.
    #[doc(hidden)]
    fn type_meta(&self) -> Option<TypeMeta>;
}

impl DynamicType for () {
    fn of_static() -> Option<Self> {
        Some(())
    }

    fn type_meta(&self) -> Option<TypeMeta> {
        None
    }
}

impl DynamicType for ApiResource {
    fn of_static() -> Option<Self> {
        None
    }

    fn type_meta(&self) -> Option<TypeMeta> {
        Some(TypeMeta { api_version: self.api_version.clone(), kind: self.kind.clone() })
    }
}

/// Adds the type that the server has left out of a dynamic object.
pub(super) fn complete<K: Any, T: DynamicType>(object: &mut K, kind: &T) {
    if let Some(dynamic) = (object as &mut dyn Any).downcast_mut::<DynamicObject>()
        && dynamic.types.is_none()
    {
        dynamic.types = kind.type_meta();
    }
}

/// A kind whose objects are held as `K`.
pub(crate) struct KindOf<K: Cached> {
    dynamic: K::DynamicType,
    is_namespaced: bool,
}

/// The names and scope of a kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KindFacts {
    pub(crate) group: String,
    pub(crate) version: String,
    pub(crate) kind: String,
    pub(crate) plural: String,
    pub(crate) is_namespaced: bool,
}

impl<K: Cached<DynamicType = ()>> KindOf<K> {
    /// Returns the kind of the type.
    pub(crate) fn of_type() -> Self {
        let scope = TypeId::of::<<K::Kind as Resource>::Scope>();
        Self { dynamic: (), is_namespaced: scope == TypeId::of::<NamespaceResourceScope>() }
    }
}

impl<K: Cached<DynamicType = ApiResource>> KindOf<K> {
    pub(crate) fn dynamic(kind: &DynamicKind) -> Self {
        Self { dynamic: kind.resource.clone(), is_namespaced: kind.scope == Scope::Namespaced }
    }
}

impl<K: Cached> KindOf<K> {
    pub(crate) fn facts(&self) -> KindFacts {
        KindFacts {
            group: K::Kind::group(&self.dynamic).into_owned(),
            version: K::Kind::version(&self.dynamic).into_owned(),
            kind: K::Kind::kind(&self.dynamic).into_owned(),
            plural: K::Kind::plural(&self.dynamic).into_owned(),
            is_namespaced: self.is_namespaced,
        }
    }

    /// Returns the path at which objects are listed.
    pub(crate) fn path(&self, namespace: Option<&str>) -> String {
        K::Kind::url_path(&self.dynamic, namespace)
    }

    pub(crate) fn is_namespaced(&self) -> bool {
        self.is_namespaced
    }

    /// Adds the type if the server has left it out.
    pub(crate) fn complete(&self, object: &mut K, context: &mut K::Context) {
        object.complete(&self.dynamic, context);
    }
}

impl<K: Cached> Clone for KindOf<K> {
    fn clone(&self) -> Self {
        Self { dynamic: self.dynamic.clone(), is_namespaced: self.is_namespaced }
    }
}

impl KindFacts {
    /// Returns `plural.group`, or the plural alone in the core group.
    pub(crate) fn resource_name(&self) -> String {
        resource_name(&self.plural, &self.group)
    }
}
