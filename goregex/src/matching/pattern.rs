//! Expressions that are compiled when they are first needed.

use std::sync::{Arc, OnceLock};

use super::Regex;
use crate::error::Error;

/// The regular expression of a schema: its text, and its compiled form once it was needed, which clones share.
#[derive(Clone, Debug, Default)]
pub struct Pattern {
    source: String,
    compiled: Arc<OnceLock<Result<Regex, Error>>>,
}

impl Pattern {
    /// Wraps the text without compiling it.
    pub fn new(source: impl Into<String>) -> Self {
        Self { source: source.into(), compiled: Arc::default() }
    }

    /// The text as the user wrote it.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Whether the expression matches somewhere in `text`.
    ///
    /// # Errors
    /// The reason why the expression cannot be compiled.
    pub fn is_match(&self, text: &str) -> Result<bool, &Error> {
        self.compiled().map(|regex| regex.is_match(text))
    }

    fn compiled(&self) -> Result<&Regex, &Error> {
        self.compiled.get_or_init(|| Regex::new(&self.source)).as_ref()
    }

    /// The reason why the expression cannot be compiled, if so.
    #[must_use]
    pub fn error(&self) -> Option<&Error> {
        self.compiled().err()
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.source == other.source
    }
}
