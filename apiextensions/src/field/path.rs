//! Paths of fields, written as Kubernetes writes them: `spec.ports[0].name`, `metadata.labels[a/b]`.

/// A path into an object, the way to one of its fields.
///
/// ```
/// use kubesmith_apiextensions::field::Path;
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

    /// A path that starts with these fields.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// A field of a structure.
    #[must_use]
    pub fn child(&self, name: &str) -> Self {
        if self.0.is_empty() { Self(name.to_owned()) } else { Self([&self.0, ".", name].concat()) }
    }

    /// An entry of a map.
    #[must_use]
    pub fn key(&self, key: &str) -> Self {
        Self([&self.0, "[", key, "]"].concat())
    }

    /// An item of a list.
    #[must_use]
    pub fn index(&self, index: usize) -> Self {
        Self(format!("{}[{index}]", self.0))
    }

    /// The text; empty at the root.
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
