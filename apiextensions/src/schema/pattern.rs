//! Patterns of schemas.

use std::fmt;
use std::ops::Deref;
#[cfg(feature = "structural")]
use std::sync::{Arc, OnceLock};

#[cfg(feature = "structural")]
use kubesmith_goregex::{Error, Regex};
use serde::{Serialize, Serializer};

/// A regular expression of a schema: its text and, with the feature `structural`, its compiled form after the first
/// use, which clones share.
#[derive(Clone, Default)]
pub struct Pattern {
    source: String,
    #[cfg(feature = "structural")]
    compiled: Arc<OnceLock<Result<Regex, Error>>>,
}

impl Pattern {
    /// Wraps the text without compiling it.
    pub fn new(source: impl Into<String>) -> Self {
        Self {
            source: source.into(),
            #[cfg(feature = "structural")]
            compiled: Arc::default(),
        }
    }

    /// The text as the user wrote it.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }
}

#[cfg(feature = "structural")]
impl Pattern {
    /// Reports whether the expression matches somewhere in `text`.
    ///
    /// # Errors
    /// The reason why the expression cannot be compiled.
    pub fn is_match(&self, text: &str) -> Result<bool, &Error> {
        self.compiled().map(|regex| regex.is_match(text))
    }

    /// The reason why an API server refuses the expression, if so. This reads the expression without compiling it.
    #[must_use]
    pub fn error(&self) -> Option<Error> {
        kubesmith_goregex::check(&self.source).err()
    }

    fn compiled(&self) -> Result<&Regex, &Error> {
        self.compiled.get_or_init(|| Regex::new(&self.source)).as_ref()
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.source == other.source
    }
}

impl Deref for Pattern {
    type Target = str;

    fn deref(&self) -> &str {
        &self.source
    }
}

impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.source.fmt(f)
    }
}

impl Serialize for Pattern {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.source)
    }
}
