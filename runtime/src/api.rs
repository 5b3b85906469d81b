//! The facts that an API type states about itself (group, version, kind and scope), and the traits that the derives
//! implement. It needs no client.
//!
//! ```
//! use kubesmith_runtime::api::TypeMetaMismatch;
//! use kubesmith_runtime::{Object, ObjectMeta, Resource, ResourceInfo, Schema, Scope};
//! use serde::{Deserialize, Serialize};
//!
//! #[derive(Clone, Debug, Resource)]
//! #[resource(group = "example.com", version = "v1", scope = "Namespaced")]
//! #[deepcopy]
//! pub struct Widget {
//!     pub metadata: ObjectMeta,
//!     pub spec: WidgetSpec,
//! }
//!
//! #[derive(Clone, Debug, Serialize, Deserialize, Schema)]
//! pub struct WidgetSpec {
//!     #[validation(minimum = 1)]
//!     pub width: i32,
//! }
//!
//! assert_eq!((Widget::API_VERSION, Widget::PLURAL, Widget::SCOPE), ("example.com/v1", "widgets", Scope::Namespaced));
//!
//! // The type meta of an object must be its type's.
//! let widget: Widget = serde_json::from_str(r#"{"kind": "Widget", "metadata": {"name": "a"}, "spec": {"width": 2}}"#)?;
//! let other = serde_json::from_str::<Widget>(r#"{"kind": "Gadget", "metadata": {}, "spec": {"width": 2}}"#);
//! let mismatch = TypeMetaMismatch { field: "kind", expected: "Widget", found: "Gadget".to_owned() };
//! assert!(other.is_err_and(|error| error.to_string().starts_with(&mismatch.to_string())));
//!
//! // Objects of any type.
//! let mut object: Box<dyn Object> = Box::new(widget);
//! object.metadata_mut().namespace = Some("default".to_owned());
//! object.downcast_mut::<Widget>().map(|widget| widget.spec.width += 1);
//! assert!(object.as_any_mut().is::<Widget>());
//! let copy = object.deep_copy_object();
//! assert_eq!(copy.to_value()?["spec"]["width"], 3);
//! assert_eq!((copy.metadata().name.as_deref(), copy.group_version_kind().kind.as_str()), (Some("a"), "Widget"));
//! assert!(copy.is::<Widget>() && copy.as_any().is::<Widget>());
//! assert_eq!(copy.downcast_ref::<Widget>().map(|widget| widget.spec.width), Some(3));
//! assert!(copy.into_any().downcast::<Widget>().is_ok());
//! # Ok::<(), serde_json::Error>(())
//! ```

mod type_meta;

use std::any::Any;
use std::fmt::{self, Debug};

pub use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
pub use kube::core::{GroupVersionKind, Resource};
pub use kubesmith_macros::{Resource, Schema, policy, rbac, webhook, webhook_configuration};
use serde::Serialize;
use serde_json::Value;

pub use type_meta::TypeMetaMismatch;

/// Items for the expansions of derives; not part of the public interface.
#[doc(hidden)]
pub mod __private {
    pub use super::type_meta::{ApiVersionOf, KindOf, TypeMetaSerializer};

    /// Compiles only for objects.
    pub const fn is_object<T: super::Object>() {}
}

/// The scope of a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// One object per name in the cluster.
    Cluster,
    /// One object per name and namespace.
    Namespaced,
}

impl fmt::Display for Scope {
    /// Writes the scope as in a CustomResourceDefinition.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Cluster => "Cluster",
            Self::Namespaced => "Namespaced",
        })
    }
}

/// The facts that a type with `#[derive(Resource)]` states about its resource.
pub trait ResourceInfo: Resource<DynamicType = ()> {
    /// API group, `hopegi.com`.
    const GROUP: &'static str;
    /// API version, `v1`.
    const VERSION: &'static str;
    /// Group and version as in objects, `hopegi.com/v1`.
    const API_VERSION: &'static str;
    /// Kind, `EcsBinding`.
    const KIND: &'static str;
    /// Kind of lists, `EcsBindingList`.
    const LIST_KIND: &'static str;
    /// Name in URLs, `ecsbindings`.
    const PLURAL: &'static str;
    /// Singular name, `ecsbinding`.
    const SINGULAR: &'static str;
    /// Short names for kubectl.
    const SHORT_NAMES: &'static [&'static str];
    /// Groups of resources for kubectl.
    const CATEGORIES: &'static [&'static str];
    /// Cluster or namespaced.
    const SCOPE: Scope;
    /// Whether there is a `/status` subresource.
    const HAS_STATUS: bool;
}

/// An object behind a pointer, like Go's `runtime.Object`, for code that holds, copies and inspects objects without
/// knowing their type.
///
/// Every typed resource that is `Clone` and `Serialize` is one, and so is kube's `DynamicObject`. Deep copies are
/// Rust's clones: `Clone::clone` is Go's `DeepCopy`, `clone_from` is `DeepCopyInto`, and
/// [`deep_copy_object`](Self::deep_copy_object) is `DeepCopyObject`. With `#[deepcopy]` beside
/// `#[derive(Resource)]` the compiler checks that a type is an object:
///
/// ```compile_fail,E0277
/// use kubesmith_runtime::{ObjectMeta, Resource, Schema};
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Resource)] // lacks Clone
/// #[resource(group = "example.com", version = "v1")]
/// #[deepcopy]
/// struct Widget {
///     metadata: ObjectMeta,
///     spec: WidgetSpec,
/// }
///
/// #[derive(Serialize, Deserialize, Schema)]
/// struct WidgetSpec {}
/// ```
pub trait Object: Any + Send + Sync {
    /// Returns group, version and kind.
    fn group_version_kind(&self) -> GroupVersionKind;
    /// Returns the object's metadata.
    fn metadata(&self) -> &ObjectMeta;
    /// Returns the object's metadata for changes.
    fn metadata_mut(&mut self) -> &mut ObjectMeta;
    /// Returns a copy that shares nothing with the original.
    fn deep_copy_object(&self) -> Box<dyn Object>;
    /// Returns the object as JSON, with `apiVersion` and `kind`.
    ///
    /// # Errors
    /// If the type's `Serialize` fails.
    fn to_value(&self) -> Result<Value, serde_json::Error>;
    /// Returns the object for downcasts.
    fn as_any(&self) -> &dyn Any;
    /// Returns the object for mutable downcasts.
    fn as_any_mut(&mut self) -> &mut dyn Any;
    /// Returns the object for downcasts by value.
    fn into_any(self: Box<Self>) -> Box<dyn Any>;
}

impl<K> Object for K
where
    K: Resource<DynamicType: dynamic::Describes<K>> + Clone + Serialize + Send + Sync + 'static,
{
    fn group_version_kind(&self) -> GroupVersionKind {
        <K::DynamicType as dynamic::Describes<K>>::group_version_kind(self)
    }

    fn metadata(&self) -> &ObjectMeta {
        self.meta()
    }

    fn metadata_mut(&mut self) -> &mut ObjectMeta {
        self.meta_mut()
    }

    fn deep_copy_object(&self) -> Box<dyn Object> {
        Box::new(self.clone())
    }

    fn to_value(&self) -> Result<Value, serde_json::Error> {
        let gvk = self.group_version_kind();
        with_type_meta(serde_json::to_value(self)?, &gvk.api_version(), &gvk.kind)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

/// Adds the type meta, which not every type writes.
fn with_type_meta(mut value: Value, api_version: &str, kind: &str) -> Result<Value, serde_json::Error> {
    let Value::Object(members) = &mut value else {
        return Err(serde::ser::Error::custom("a resource is written as a map"));
    };
    members.insert("apiVersion".to_owned(), Value::from(api_version));
    members.insert("kind".to_owned(), Value::from(kind));
    Ok(value)
}

/// The kind of objects of dynamic types. It is a trait because [`Object`] has one implementation for all types.
mod dynamic {
    use kube::core::{ApiResource, DynamicObject, GroupVersionKind, Resource};

    pub trait Describes<K> {
        fn group_version_kind(object: &K) -> GroupVersionKind;
    }

    impl<K: Resource<DynamicType = ()>> Describes<K> for () {
        fn group_version_kind(_: &K) -> GroupVersionKind {
            GroupVersionKind::gvk(&K::group(&()), &K::version(&()), &K::kind(&()))
        }
    }

    impl Describes<DynamicObject> for ApiResource {
        fn group_version_kind(object: &DynamicObject) -> GroupVersionKind {
            let types = object.types.as_ref();
            let (api_version, kind) = types.map_or(("", ""), |types| (&types.api_version, &types.kind));
            let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
            GroupVersionKind::gvk(group, version, kind)
        }
    }
}

impl dyn Object {
    /// Returns the typed object if it is a `T`.
    pub fn downcast_ref<T: Object>(&self) -> Option<&T> {
        self.as_any().downcast_ref()
    }

    /// Returns the typed object for changes if it is a `T`.
    pub fn downcast_mut<T: Object>(&mut self) -> Option<&mut T> {
        self.as_any_mut().downcast_mut()
    }

    /// Reports whether the object is a `T`.
    pub fn is<T: Object>(&self) -> bool {
        self.as_any().is::<T>()
    }
}

impl Debug for dyn Object {
    /// Writes kind and name, because the types need not be `Debug`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (gvk, metadata) = (self.group_version_kind(), self.metadata());
        f.debug_struct("Object")
            .field("api_version", &gvk.api_version())
            .field("kind", &gvk.kind)
            .field("namespace", &metadata.namespace)
            .field("name", &metadata.name)
            .finish_non_exhaustive()
    }
}

/// A type with `#[derive(Schema)]`, whose `#[validation]` and `#[schema]` attributes have been checked.
pub trait Schema {}
