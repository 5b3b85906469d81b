//! Decoding errors.

use std::fmt;

use serde::de::{self, Expected, Unexpected};

/// The text does not decode as the requested type.
#[doc(hidden)]
#[derive(Debug, PartialEq, Eq)]
pub struct Error(Option<Box<str>>);

impl Error {
    /// The text is not JSON. serde_json explains it if the message is needed.
    pub(super) const SYNTAX: Self = Self(None);

    pub(crate) fn new(message: String) -> Self {
        Self(Some(message.into()))
    }

    /// Returns the fault of the value; `None` if the text is not JSON.
    pub(super) fn message(&self) -> Option<&str> {
        self.0.as_deref()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.message().unwrap_or("the text is not JSON"))
    }
}

impl std::error::Error for Error {}

impl de::Error for Error {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::new(message.to_string())
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        // As serde_json says it.
        match found {
            Unexpected::Unit => Self::new(format!("invalid type: null, expected {expected}")),
            found => Self::new(format!("invalid type: {found}, expected {expected}")),
        }
    }
}
