//! Object keys: namespace and name.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{BuildHasher as _, Hash, Hasher};
use std::str::FromStr;
use std::sync::{Arc, LazyLock};

/// Randomly seeded, so that a tenant cannot choose names that collide.
static HASHER: LazyLock<hashbrown::DefaultHashBuilder> = LazyLock::new(Default::default);

/// Namespace and name of an object: the key of work queues and stores.
///
/// A single shared allocation holds `namespace/name`, or only the name for cluster-scoped kinds. A clone increments
/// a reference count. Keys sort by namespace, then by name. A key is hashed once, when it is made.
///
/// ```
/// use k8s_openapi::api::core::v1::Pod;
/// use kubesmith_runtime::cache::ObjectKey;
///
/// let key = ObjectKey::namespaced("default", "web");
/// assert_eq!((key.namespace(), key.name()), ("default", "web"));
/// assert_eq!(key.to_string(), "default/web");
/// assert_eq!("default/web".parse(), Ok(key));
/// assert_eq!(ObjectKey::cluster("node-1").as_str(), "node-1");
///
/// let mut pod = Pod::default();
/// pod.metadata.name = Some("web".to_owned());
/// assert_eq!(ObjectKey::of(&pod), ObjectKey::cluster("web"));
/// ```
#[derive(Clone)]
pub struct ObjectKey {
    text: Arc<str>,
    /// Length of the namespace. 0 means that there is neither namespace nor separator.
    split: u32,
    /// The hash of namespace and name. Look-ups by key would otherwise read the text twice, and wait for memory
    /// longer than for everything else (`bench/runtime`, row `lookups`).
    hash: u32,
}

impl ObjectKey {
    /// Returns the key of an object in a namespace. An empty namespace gives a [`Self::cluster`] key.
    #[must_use]
    pub fn namespaced(namespace: &str, name: &str) -> Self {
        let Ok(split) = u32::try_from(namespace.len()) else { return Self::cluster(name) };
        if split == 0 {
            return Self::cluster(name);
        }
        Self { text: [namespace, "/", name].concat().into(), split, hash: Self::hash_of(namespace, name) }
    }

    /// Returns the key of a cluster-scoped object.
    #[must_use]
    pub fn cluster(name: &str) -> Self {
        Self { text: name.into(), split: 0, hash: Self::hash_of("", name) }
    }

    /// Returns the key of `object`. An object without a name has an empty key.
    #[must_use]
    pub fn of<K: kube::Resource>(object: &K) -> Self {
        let meta = object.meta();
        let name = meta.name.as_deref().unwrap_or_default();
        Self::namespaced(meta.namespace.as_deref().unwrap_or_default(), name)
    }

    /// The namespace; empty for cluster-scoped objects.
    #[must_use]
    pub fn namespace(&self) -> &str {
        &self.text[..self.split as usize]
    }

    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        if self.split == 0 { &self.text } else { &self.text[self.split as usize + 1..] }
    }

    /// `namespace/name`, or the name alone.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns what [`Self::key_hash`] of the key of this object would return.
    pub(crate) fn hash_of(namespace: &str, name: &str) -> u32 {
        // Both halves are equally good.
        HASHER.hash_one((namespace, name)) as u32
    }

    /// The hash of namespace and name, the same for equal keys as long as the process lives.
    pub(crate) fn key_hash(&self) -> u32 {
        self.hash
    }

    pub(crate) fn is(&self, namespace: &str, name: &str) -> bool {
        // Names differ more often than namespaces, and lengths more often than both.
        self.split as usize == namespace.len() && self.name() == name && self.namespace() == namespace
    }
}

/// The text is not an object key: it has more than one `/`, or an empty namespace.
///
/// ```
/// use kubesmith_runtime::cache::{ObjectKey, ParseKeyError};
///
/// let refused: ParseKeyError = "default/web/0".parse::<ObjectKey>().unwrap_err();
/// assert_eq!(refused.to_string(), "\"default/web/0\" is not an object key: expected \"namespace/name\" or \"name\"");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("\"{0}\" is not an object key: expected \"namespace/name\" or \"name\"")]
pub struct ParseKeyError(String);

impl FromStr for ObjectKey {
    type Err = ParseKeyError;

    fn from_str(text: &str) -> Result<Self, ParseKeyError> {
        match text.split_once('/') {
            None => Ok(Self::cluster(text)),
            Some((namespace, name)) if !namespace.is_empty() && !name.contains('/') => {
                Ok(Self::namespaced(namespace, name))
            }
            Some(_) => Err(ParseKeyError(text.to_owned())),
        }
    }
}

impl PartialEq for ObjectKey {
    fn eq(&self, other: &Self) -> bool {
        let is_alike = self.hash == other.hash && self.split == other.split;
        is_alike && (Arc::ptr_eq(&self.text, &other.text) || self.text == other.text)
    }
}

impl Eq for ObjectKey {}

impl Hash for ObjectKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u32(self.hash);
    }
}

impl Ord for ObjectKey {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.namespace(), self.name()).cmp(&(other.namespace(), other.name()))
    }
}

impl PartialOrd for ObjectKey {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for ObjectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for ObjectKey {
    /// `namespace/name`, as in logs and on the state page.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
