//! Paths of fields in Kubernetes' notation: `spec.ports[0].name`, `metadata.labels[a/b]`.

/// The path of a field in an object.
///
/// ```
/// use kubesmith_apimachinery::field::Path;
///
/// let path = Path::new("spec").child("containers").index(0).child("image");
/// assert_eq!(path.to_string(), "spec.containers[0].image");
/// assert_eq!(Path::new("metadata").child("labels").key("app").as_str(), "metadata.labels[app]");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Path(String);

impl Path {
    /// The path of the object itself.
    #[must_use]
    pub fn root() -> Self {
        Self::default()
    }

    /// A path whose text is `text`.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The path of a field of the structure at this path.
    #[must_use]
    pub fn child(&self, name: &str) -> Self {
        if self.0.is_empty() { Self(name.to_owned()) } else { Self([&self.0, ".", name].concat()) }
    }

    /// The path of an entry of the map at this path.
    #[must_use]
    pub fn key(&self, key: &str) -> Self {
        Self([&self.0, "[", key, "]"].concat())
    }

    /// The path of an item of the list at this path.
    #[must_use]
    pub fn index(&self, index: usize) -> Self {
        Self(format!("{}[{index}]", self.0))
    }

    /// The path as text; empty at the root.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for Path {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<Path> for String {
    fn from(path: Path) -> Self {
        path.0
    }
}

impl From<&Path> for String {
    fn from(path: &Path) -> Self {
        path.0.clone()
    }
}
