//! What an API type states about itself: its group, version, kind and scope, and the traits that the
//! derives implement. Nothing here needs a client.
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
//! // What an object says that it is has to be what its type is.
//! let widget: Widget = serde_json::from_str(r#"{"kind": "Widget", "metadata": {"name": "a"}, "spec": {"width": 2}}"#)?;
//! let other = serde_json::from_str::<Widget>(r#"{"kind": "Gadget", "metadata": {}, "spec": {"width": 2}}"#);
//! let mismatch = TypeMetaMismatch { field: "kind", expected: "Widget", found: "Gadget".to_owned() };
//! assert!(other.is_err_and(|error| error.to_string().starts_with(&mismatch.to_string())));
//!
//! // Objects of any type.
//! let mut object: Box<dyn Object> = Box::new(widget);
//! object.metadata_mut().namespace = Some("default".to_owned());
//! let copy = object.deep_copy_object();
//! assert_eq!((copy.metadata().name.as_deref(), copy.group_version_kind().kind.as_str()), (Some("a"), "Widget"));
//! assert!(copy.is::<Widget>() && copy.as_any().is::<Widget>());
//! assert_eq!(copy.downcast_ref::<Widget>().map(|widget| widget.spec.width), Some(2));
//! assert!(copy.into_any().downcast::<Widget>().is_ok());
//! # Ok::<(), serde_json::Error>(())
//! ```

mod type_meta;

use std::any::Any;
use std::fmt::{self, Debug};

pub use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
pub use kube::core::{GroupVersionKind, Resource};
pub use kubesmith_macros::{Resource, Schema, rbac, webhook, webhook_configuration};

pub use type_meta::TypeMetaMismatch;

/// What the derives' expansions link to. No part of the public interface.
#[doc(hidden)]
pub mod __private {
    pub use super::type_meta::{ApiVersionOf, KindOf, TypeMetaSerializer};
}

/// Scope of a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// One object per name in the cluster.
    Cluster,
    /// One object per name and namespace.
    Namespaced,
}

impl fmt::Display for Scope {
    /// Writes the name that a CustomResourceDefinition uses.
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
    /// Group and version as objects carry them, `hopegi.com/v1`.
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

/// A typed object behind a pointer, Go's `runtime.Object`: what holds, copies and inspects objects
/// without knowing their type. `#[deepcopy]` makes `#[derive(Resource)]` implement it.
pub trait Object: Any + Debug + Send + Sync {
    /// Group, version and kind.
    fn group_version_kind(&self) -> GroupVersionKind;
    /// The object's metadata.
    fn metadata(&self) -> &ObjectMeta;
    /// The object's metadata, to change it.
    fn metadata_mut(&mut self) -> &mut ObjectMeta;
    /// A copy that shares nothing with the original.
    fn deep_copy_object(&self) -> Box<dyn Object>;
    /// The object as a value of any type, for downcasts.
    fn as_any(&self) -> &dyn Any;
    /// The object as a value of any type, for downcasts that take it.
    fn into_any(self: Box<Self>) -> Box<dyn Any>;
}

impl dyn Object {
    /// The typed object, if it is a `T`.
    pub fn downcast_ref<T: Object>(&self) -> Option<&T> {
        self.as_any().downcast_ref()
    }

    /// Whether the object is a `T`.
    pub fn is<T: Object>(&self) -> bool {
        self.as_any().is::<T>()
    }
}

/// A type with `#[derive(Schema)]`: its `#[validation]` and `#[schema]` attributes have been checked.
pub trait Schema {}
