//! Which Rust type stands for which group, version and kind.
//!
//! Purpose: client-go's `runtime.Scheme` as far as types known when compiling need one. Generated
//! packages fill a [`Scheme`] (`add_to_scheme`); several packages and built-in kinds can share one.
//!
//! What is known, and objects of any kind:
//!
//! ```
//! use kubesmith_runtime::k8s_openapi::api::core::v1::{Node, Pod};
//! use kubesmith_runtime::scheme::{DecodeError, Decoded, Kind, Scheme};
//!
//! # fn main() -> Result<(), DecodeError> {
//! let mut scheme = Scheme::new();
//! scheme.register::<Pod>("PodList").register::<Node>("NodeList");
//! let describe = |kind: &Kind| {
//!     let scope = if kind.is_namespaced() { "in namespaces" } else { "cluster-wide" };
//!     let items = if kind.is_list() { "lists of " } else { "" };
//!     format!("{items}{} {scope} as {}", kind.plural(), kind.type_name())
//! };
//! assert_eq!(scheme.kinds().map(describe).count(), 4);
//!
//! let node: Decoded = scheme.decode(br#"{"apiVersion": "v1", "kind": "Node", "metadata": {}}"#)?;
//! let kind = scheme.get(node.group_version_kind()).map(describe);
//! assert!(kind.is_some_and(|kind| kind.starts_with("nodes cluster-wide")));
//! assert!(node.downcast_ref::<Pod>().is_none() && node.downcast::<Node>().is_ok());
//!
//! let unknown = scheme.decode(br#"{"apiVersion": "v1", "kind": "Secret"}"#);
//! assert!(matches!(unknown, Err(DecodeError::Unknown { gvk }) if gvk.kind == "Secret"));
//! # Ok(())
//! # }
//! ```

use std::any::{Any, TypeId, type_name};
use std::collections::BTreeMap;
use std::fmt;

use k8s_openapi::ClusterResourceScope;
use kube::core::{GroupVersionKind, ObjectList};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

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
#[derive(Clone, Debug, Default)]
pub struct Scheme {
    kinds: BTreeMap<Key, Kind>,
}

/// Group, version and kind, in an order.
type Key = (String, String, String);

/// What a scheme knows about a kind. The [module](self) has an example.
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

type Decode = fn(Value) -> Result<Box<dyn Any + Send + Sync>, serde_json::Error>;

impl Kind {
    /// Group, version and kind.
    #[must_use]
    pub fn group_version_kind(&self) -> &GroupVersionKind {
        &self.gvk
    }

    /// The resource's name in URLs; of a list, that of its items.
    #[must_use]
    pub fn plural(&self) -> &str {
        &self.plural
    }

    /// Whether objects live in namespaces.
    #[must_use]
    pub fn is_namespaced(&self) -> bool {
        self.namespaced
    }

    /// Whether this is the kind of lists, decoded to [`ObjectList`].
    #[must_use]
    pub fn is_list(&self) -> bool {
        self.list
    }

    /// The Rust type, for messages.
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
    /// A scheme that knows nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a type, and the kind of its lists. A type that is there for the same kind is replaced.
    pub fn register<K>(&mut self, list_kind: &str) -> &mut Self
    where
        K: kube::Resource<DynamicType = ()> + DeserializeOwned + Clone + Send + Sync + 'static,
    {
        let object = object_kind::<K>();
        let list = Kind {
            gvk: GroupVersionKind { kind: list_kind.to_owned(), ..object.gvk.clone() },
            list: true,
            type_id: TypeId::of::<ObjectList<K>>(),
            type_name: type_name::<ObjectList<K>>(),
            decode: decode_as::<ObjectList<K>>,
            ..object.clone()
        };
        self.kinds.insert(key(&list.gvk), list);
        self.register_object::<K>()
    }

    /// Adds a type that there are no lists of, such as a question that a server answers and does not store. A type that is
    /// there for the same kind is replaced.
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
        K: kube::Resource<DynamicType = ()> + DeserializeOwned + Clone + Send + Sync + 'static,
    {
        let object = object_kind::<K>();
        self.kinds.insert(key(&object.gvk), object);
        self
    }

    /// What is known about a kind.
    #[must_use]
    pub fn get(&self, kind: &GroupVersionKind) -> Option<&Kind> {
        self.kinds.get(&key(kind))
    }

    /// The kind that a type stands for. Lists have the type [`ObjectList`].
    #[must_use]
    pub fn kind_of<K: 'static>(&self) -> Option<&Kind> {
        self.kinds.values().find(|kind| kind.type_id == TypeId::of::<K>())
    }

    /// Everything that is known, ordered by group, version and kind.
    pub fn kinds(&self) -> impl Iterator<Item = &Kind> {
        self.kinds.values()
    }

    /// Reads a JSON object of any kind that is known.
    ///
    /// # Errors
    /// [`DecodeError`]: no JSON, no `apiVersion` or `kind`, an unknown kind, or a field that does not fit.
    pub fn decode(&self, json: &[u8]) -> Result<Decoded, DecodeError> {
        self.decode_value(serde_json::from_slice(json).map_err(DecodeError::NoJson)?)
    }

    /// Reads an object of any kind that is known.
    ///
    /// # Errors
    /// As [`decode`](Self::decode).
    pub fn decode_value(&self, value: Value) -> Result<Decoded, DecodeError> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct TypeMeta {
            api_version: String,
            kind: String,
        }
        let TypeMeta { api_version, kind } = TypeMeta::deserialize(&value).map_err(DecodeError::NoType)?;
        let (group, version) = api_version.split_once('/').unwrap_or(("", &api_version));
        let gvk = GroupVersionKind::gvk(group, version, &kind);
        let Some(kind) = self.get(&gvk) else { return Err(DecodeError::Unknown { gvk: Box::new(gvk) }) };
        match (kind.decode)(value) {
            Ok(object) => Ok(Decoded { gvk, object }),
            Err(source) => Err(DecodeError::Invalid { gvk: Box::new(gvk), source }),
        }
    }
}

fn object_kind<K>() -> Kind
where
    K: kube::Resource<DynamicType = ()> + DeserializeOwned + Clone + Send + Sync + 'static,
{
    Kind {
        gvk: GroupVersionKind::gvk(&K::group(&()), &K::version(&()), &K::kind(&())),
        plural: K::plural(&()).into_owned(),
        namespaced: TypeId::of::<K::Scope>() != TypeId::of::<ClusterResourceScope>(),
        list: false,
        type_id: TypeId::of::<K>(),
        type_name: type_name::<K>(),
        decode: decode_as::<K>,
    }
}

fn key(gvk: &GroupVersionKind) -> Key {
    (gvk.group.clone(), gvk.version.clone(), gvk.kind.clone())
}

fn decode_as<T>(value: Value) -> Result<Box<dyn Any + Send + Sync>, serde_json::Error>
where
    T: DeserializeOwned + Send + Sync + 'static,
{
    serde_json::from_value::<T>(value).map(|object| Box::new(object) as Box<dyn Any + Send + Sync>)
}

/// An object that was read without its type being named. The [module](self) has an example.
pub struct Decoded {
    gvk: GroupVersionKind,
    object: Box<dyn Any + Send + Sync>,
}

impl Decoded {
    /// Its group, version and kind.
    #[must_use]
    pub fn group_version_kind(&self) -> &GroupVersionKind {
        &self.gvk
    }

    /// The object, if it is a `K`.
    #[must_use]
    pub fn downcast_ref<K: 'static>(&self) -> Option<&K> {
        self.object.downcast_ref()
    }

    /// The object itself, if it is a `K`.
    ///
    /// # Errors
    /// It is none; it is handed back.
    pub fn downcast<K: 'static>(self) -> Result<K, Self> {
        match self.object.downcast() {
            Ok(object) => Ok(*object),
            Err(object) => Err(Self { object, ..self }),
        }
    }
}

impl fmt::Debug for Decoded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Decoded").field("gvk", &self.gvk).finish_non_exhaustive()
    }
}

impl fmt::Display for Decoded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an object of {}", describe(&self.gvk))
    }
}

/// Why an object could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// The text is no JSON.
    #[error("no JSON: {0}")]
    NoJson(#[source] serde_json::Error),
    /// The value says neither or only one of `apiVersion` and `kind`.
    #[error("no object of Kubernetes: {0}")]
    NoType(#[source] serde_json::Error),
    /// No type is registered for the kind.
    #[error("unknown kind: {}", describe(.gvk))]
    Unknown {
        /// What the object says it is.
        gvk: Box<GroupVersionKind>,
    },
    /// The object does not fit its type.
    #[error("invalid {}: {source}", describe(.gvk))]
    Invalid {
        /// What the object says it is.
        gvk: Box<GroupVersionKind>,
        /// What does not fit.
        source: serde_json::Error,
    },
}

/// `Kind in group/version`.
fn describe(gvk: &GroupVersionKind) -> String {
    format!("{} in {}", gvk.kind, gvk.api_version())
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::{Node, Pod};
    use serde_json::json;

    use super::*;

    fn scheme() -> Scheme {
        let mut scheme = Scheme::new();
        scheme.register::<Pod>("PodList").register::<Node>("NodeList");
        scheme
    }

    #[test]
    fn kinds_and_types_find_each_other() {
        let scheme = scheme();
        let kinds: Vec<_> = scheme.kinds().map(|kind| kind.group_version_kind().kind.as_str()).collect();
        assert_eq!(kinds, ["Node", "NodeList", "Pod", "PodList"]);
        let pod = scheme.get(&GroupVersionKind::gvk("", "v1", "Pod")).unwrap();
        assert!(pod.is_namespaced() && !pod.is_list());
        assert_eq!(pod.plural(), "pods");
        assert!(!scheme.kind_of::<Node>().unwrap().is_namespaced());
        let list = scheme.kind_of::<ObjectList<Pod>>().unwrap();
        assert!(list.is_list());
        assert_eq!(list.group_version_kind().kind, "PodList");
        assert!(scheme.kind_of::<u8>().is_none());
    }

    #[test]
    fn objects_and_lists_are_decoded() {
        let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}});
        let list = json!({"apiVersion": "v1", "kind": "PodList", "metadata": {}, "items": [pod]});
        let decoded = scheme().decode_value(pod).unwrap();
        assert!(decoded.downcast_ref::<Node>().is_none());
        let decoded = decoded.downcast::<Node>().unwrap_err();
        assert_eq!(decoded.downcast::<Pod>().unwrap().metadata.name.as_deref(), Some("a"));
        let decoded = scheme().decode_value(list).unwrap();
        assert_eq!(decoded.downcast::<ObjectList<Pod>>().unwrap().items.len(), 1);
    }

    #[test]
    fn errors_say_what_is_wrong() {
        let message = |json: &str| scheme().decode(json.as_bytes()).unwrap_err().to_string();
        assert!(message("{").starts_with("no JSON: "));
        assert_eq!(message(r#"{"kind": "Pod"}"#), "no object of Kubernetes: missing field `apiVersion`");
        assert_eq!(message(r#"{"apiVersion": "a.b/v1", "kind": "X"}"#), "unknown kind: X in a.b/v1");
        let wrong = message(r#"{"apiVersion": "v1", "kind": "Pod", "spec": 1}"#);
        assert!(wrong.starts_with("invalid Pod in v1: "), "{wrong}");
    }
}
