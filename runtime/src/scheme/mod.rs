//! Schemes: map groups, versions and kinds to Rust types.
//!
//! A scheme is client-go's `runtime.Scheme` for types that are known at compile time. Generated packages fill a
//! [`Scheme`] (`add_to_scheme`); several packages and built-in kinds can share one. A scheme also reads and writes
//! manifests of its kinds, sets their defaults and converts between their versions.
//!
//! Kinds, and objects of any kind:
//!
//! ```
//! use kubesmith_runtime::k8s_openapi::api::core::v1::{Node, Pod};
//! use kubesmith_runtime::kube::core::ObjectList;
//! use kubesmith_runtime::scheme::{DecodeError, Decoded, Kind, ManifestError, Scheme};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut scheme = Scheme::new();
//! scheme.register::<Pod>("PodList").register::<Node>("NodeList");
//! let describe = |kind: &Kind| {
//!     let scope = if kind.is_namespaced() { "in namespaces" } else { "cluster-wide" };
//!     let items = if kind.is_list() { "lists of " } else { "" };
//!     format!("{items}{} {scope} as {}", kind.plural(), kind.type_name())
//! };
//! assert_eq!(scheme.kinds().map(describe).count(), 4);
//!
//! let node: Decoded = scheme.decode("{apiVersion: v1, kind: Node, metadata: {name: a}}")?;
//! let kind = scheme.get(node.group_version_kind()).map(describe);
//! assert!(kind.is_some_and(|kind| kind.starts_with("nodes cluster-wide")));
//! assert!(node.downcast_ref::<Pod>().is_none() && node.clone().downcast::<Node>().is_ok());
//! assert_eq!(scheme.encode_yaml(node.objects()[0])?, "apiVersion: v1\nkind: Node\nmetadata:\n  name: a\n");
//!
//! // Lists have the type of their items.
//! let mut nodes = scheme.decode(r#"{"apiVersion": "v1", "kind": "NodeList", "metadata": {}, "items": [{"metadata": {}}]}"#)?;
//! assert!(nodes.is_list() && nodes.downcast_ref::<ObjectList<Node>>().is_some());
//! nodes.objects_mut()[0].metadata_mut().name = Some("b".to_owned());
//! assert_eq!(nodes.to_value()?["items"][0]["metadata"]["name"], "b");
//! assert_eq!(nodes.into_objects().len(), 1);
//!
//! let unknown: ManifestError = scheme.decode("{apiVersion: v1, kind: Secret}").unwrap_err();
//! assert!(matches!(unknown.reason, DecodeError::Unknown { gvk } if gvk.kind == "Secret"));
//! # Ok(())
//! # }
//! ```

mod convert;
mod decode;
mod decoded;
#[cfg(feature = "yaml")]
mod depth;
pub(crate) mod nulls;
// The tests read manifests in YAML.
#[cfg(all(test, feature = "yaml"))]
mod tests;
mod text;

use std::any::{TypeId, type_name};
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::Arc;

use k8s_openapi::ClusterResourceScope;
use kube::core::{GroupVersionKind, ObjectList};
#[cfg(feature = "yaml")]
use kubesmith_apimachinery::yaml;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

pub use crate::api::Object;
pub use convert::ConvertError;
pub use decode::{DecodeError, Decoder, ManifestError, StrictFault};
use decoded::Content;
pub use decoded::Decoded;

/// Types by group, version and kind.
///
/// ```
/// use kubesmith_runtime::k8s_openapi::api::core::v1::Pod;
/// use kubesmith_runtime::kube::core::GroupVersionKind;
/// use kubesmith_runtime::scheme::Scheme;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut scheme = Scheme::new();
/// scheme.register::<Pod>("PodList");
///
/// let kind = scheme.kind_of::<Pod>().ok_or("registered above")?;
/// assert_eq!(kind.group_version_kind(), &GroupVersionKind::gvk("", "v1", "Pod"));
///
/// let json = br#"{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}}"#;
/// let pod = scheme.decode(json)?.downcast::<Pod>().map_err(|other| other.to_string())?;
/// assert_eq!(pod.metadata.name.as_deref(), Some("a"));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Default)]
pub struct Scheme {
    kinds: BTreeMap<Key, Kind>,
    defaulting: HashMap<TypeId, DefaultingFunc>,
    conversions: convert::Conversions,
}

type DefaultingFunc = Arc<dyn Fn(&mut dyn Object) + Send + Sync>;

/// Group, version and kind, as an ordered key.
type Key = (String, String, String);

/// The scheme's facts about a kind. The [module](self) has an example.
#[derive(Clone)]
pub struct Kind {
    gvk: GroupVersionKind,
    plural: String,
    namespaced: bool,
    list: bool,
    type_id: TypeId,
    type_name: &'static str,
    decode: Decode,
}

type Decode = fn(&mut dyn erased_serde::Deserializer<'_>) -> Result<Content, erased_serde::Error>;

impl Kind {
    /// Returns group, version and kind.
    #[must_use]
    pub fn group_version_kind(&self) -> &GroupVersionKind {
        &self.gvk
    }

    /// Returns the resource's name in URLs; for a list, that of its items.
    #[must_use]
    pub fn plural(&self) -> &str {
        &self.plural
    }

    /// Reports whether objects are namespaced.
    #[must_use]
    pub fn is_namespaced(&self) -> bool {
        self.namespaced
    }

    /// Reports whether this is a kind of lists, which decode as [`ObjectList`].
    #[must_use]
    pub fn is_list(&self) -> bool {
        self.list
    }

    /// Returns the name of the Rust type, for messages.
    #[must_use]
    pub fn type_name(&self) -> &'static str {
        self.type_name
    }
}

impl fmt::Debug for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kind").field("gvk", &self.gvk).field("type", &self.type_name).finish_non_exhaustive()
    }
}

impl Scheme {
    /// Makes an empty scheme.
    #[must_use]
    pub fn new() -> Self {
        <Self as Default>::default()
    }

    /// Adds a type and the kind of its lists. Replaces a type with the same kind.
    pub fn register<K>(&mut self, list_kind: &str) -> &mut Self
    where
        K: kube::Resource<DynamicType = ()> + DeserializeOwned + Serialize + Clone + Send + Sync + 'static,
    {
        let object = object_kind::<K>();
        let list = Kind {
            gvk: GroupVersionKind { kind: list_kind.to_owned(), ..object.gvk.clone() },
            list: true,
            type_id: TypeId::of::<ObjectList<K>>(),
            type_name: type_name::<ObjectList<K>>(),
            decode: |json| Ok(Content::List(Box::new(erased_serde::deserialize::<ObjectList<K>>(json)?))),
            ..object
        };
        self.kinds.insert(key(&list.gvk), list);
        self.register_object::<K>()
    }

    /// Adds a type without lists, such as a review, which a server does not store. Replaces a type with the same
    /// kind.
    ///
    /// ```
    /// use kubesmith_runtime::k8s_openapi::api::authentication::v1::TokenReview;
    /// use kubesmith_runtime::scheme::Scheme;
    ///
    /// let mut scheme = Scheme::new();
    /// scheme.register_object::<TokenReview>();
    /// assert_eq!(scheme.kinds().count(), 1);
    /// ```
    pub fn register_object<K>(&mut self) -> &mut Self
    where
        K: kube::Resource<DynamicType = ()> + DeserializeOwned + Serialize + Clone + Send + Sync + 'static,
    {
        let object = object_kind::<K>();
        self.kinds.insert(key(&object.gvk), object);
        self
    }

    /// Returns the facts about a kind.
    #[must_use]
    pub fn get(&self, kind: &GroupVersionKind) -> Option<&Kind> {
        self.kinds.get(&key(kind))
    }

    /// Returns the kind of a type. Lists have the type [`ObjectList`].
    #[must_use]
    pub fn kind_of<K: 'static>(&self) -> Option<&Kind> {
        self.kinds.values().find(|kind| kind.type_id == TypeId::of::<K>())
    }

    /// Returns all kinds, ordered by group, version and kind.
    pub fn kinds(&self) -> impl Iterator<Item = &Kind> {
        self.kinds.values()
    }

    /// Returns a [`Decoder`] of the scheme's kinds.
    pub fn decoder(&self) -> Decoder<'_> {
        Decoder::new(self)
    }

    /// Decodes the only object of a text, JSON or YAML. [`Decoder`] decodes several.
    ///
    /// # Errors
    /// As [`Decoder::decode`].
    pub fn decode(&self, manifest: impl AsRef<[u8]>) -> Result<Decoded, ManifestError> {
        self.decoder().decode(manifest)
    }

    /// Decodes an object from a JSON value. [`Decoder`] has options.
    ///
    /// # Errors
    /// As [`Decoder::decode_value`].
    pub fn decode_value(&self, value: &Value) -> Result<Decoded, DecodeError> {
        self.decoder().decode_value(value)
    }

    /// Writes an object as indented JSON, with `apiVersion` and `kind`.
    ///
    /// ```
    /// use kubesmith_runtime::k8s_openapi::api::core::v1::Node;
    /// use kubesmith_runtime::scheme::Scheme;
    ///
    /// let json = Scheme::new().encode_json(&Node::default())?;
    /// assert_eq!(json, "{\n  \"apiVersion\": \"v1\",\n  \"kind\": \"Node\",\n  \"metadata\": {}\n}\n");
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the type's `Serialize` fails.
    pub fn encode_json(&self, object: &dyn Object) -> Result<String, serde_json::Error> {
        text::to_json(&object.to_value()?)
    }

    /// Writes an object as YAML, with `apiVersion` and `kind`. The [module](self) has an example. The text equals
    /// that of `sigs.k8s.io/yaml`, which kubectl uses: sorted keys, and quotes where YAML 1.1 would read another
    /// type.
    ///
    /// # Errors
    /// If the type's `Serialize` fails.
    #[cfg(feature = "yaml")]
    pub fn encode_yaml(&self, object: &dyn Object) -> Result<String, serde_json::Error> {
        Ok(yaml::to_yaml(&object.to_value()?))
    }

    /// Registers a function that sets a type's defaults: client-go's `AddTypeDefaultingFunc`. Replaces a function
    /// for the same type.
    ///
    /// ```
    /// use kubesmith_runtime::k8s_openapi::api::core::v1::ConfigMap;
    /// use kubesmith_runtime::scheme::Scheme;
    ///
    /// let mut scheme = Scheme::new();
    /// scheme.add_type_defaulting_func(|map: &mut ConfigMap| map.immutable = map.immutable.or(Some(true)));
    /// let mut map = ConfigMap::default();
    /// scheme.default(&mut map);
    /// assert_eq!(map.immutable, Some(true));
    /// ```
    pub fn add_type_defaulting_func<K: Object>(
        &mut self,
        set_defaults: impl Fn(&mut K) + Send + Sync + 'static,
    ) -> &mut Self {
        let func = move |object: &mut dyn Object| object.downcast_mut().map_or((), &set_defaults);
        self.defaulting.insert(TypeId::of::<K>(), Arc::new(func));
        self
    }

    /// Sets the defaults of an object, if its type has a function for that.
    /// [`add_type_defaulting_func`](Self::add_type_defaulting_func) has an example.
    pub fn default(&self, object: &mut dyn Object) {
        if let Some(set_defaults) = self.defaulting.get(&object.as_any().type_id()) {
            set_defaults(object);
        }
    }
}

impl fmt::Debug for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scheme").field("kinds", &self.kinds).finish_non_exhaustive()
    }
}

fn object_kind<K>() -> Kind
where
    K: kube::Resource<DynamicType = ()> + DeserializeOwned + Serialize + Clone + Send + Sync + 'static,
{
    Kind {
        gvk: GroupVersionKind::gvk(&K::group(&()), &K::version(&()), &K::kind(&())),
        plural: K::plural(&()).into_owned(),
        namespaced: TypeId::of::<K::Scope>() != TypeId::of::<ClusterResourceScope>(),
        list: false,
        type_id: TypeId::of::<K>(),
        type_name: type_name::<K>(),
        decode: |json| Ok(Content::Object(Box::new(erased_serde::deserialize::<K>(json)?))),
    }
}

fn key(gvk: &GroupVersionKind) -> Key {
    (gvk.group.clone(), gvk.version.clone(), gvk.kind.clone())
}

/// Returns `Kind in group/version`.
fn describe(gvk: &GroupVersionKind) -> String {
    format!("{} in {}", gvk.kind, gvk.api_version())
}
