//! Why a text is not the value that is wanted.

use std::fmt;

use serde::de::{self, Expected, Unexpected};

/// Why a text is not the value that is wanted.
#[doc(hidden)]
#[derive(Debug, PartialEq, Eq)]
pub struct Error(Option<Box<str>>);

impl Error {
    /// The text is no JSON; what is wrong with it is asked of serde_json when somebody wants to know.
    pub(super) const SYNTAX: Self = Self(None);

    pub(super) fn new(message: String) -> Self {
        Self(Some(message.into()))
    }

    /// What is wrong with the value; `None` if the text is no JSON.
    pub(super) fn message(&self) -> Option<&str> {
        self.0.as_deref()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.message().unwrap_or("the text is no JSON"))
    }
}

impl std::error::Error for Error {}

impl de::Error for Error {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::new(message.to_string())
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        // serde_json's word for it.
        match found {
            Unexpected::Unit => Self::new(format!("invalid type: null, expected {expected}")),
            found => Self::new(format!("invalid type: {found}, expected {expected}")),
        }
    }
}
