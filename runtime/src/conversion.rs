//! Conversion between the versions of a kind: what generated functions, the [scheme](crate::scheme) and the
//! webhook share.

use std::error::Error as StdError;
use std::fmt;

/// Why an object cannot be converted. Every error converts into it with `?`; it is therefore no [`std::error::Error`]
/// itself.
///
/// ```
/// use kubesmith_runtime::conversion::ConversionError;
///
/// fn width(text: &str) -> Result<u32, ConversionError> {
///     if text.is_empty() {
///         return Err(ConversionError::new("v1 has no size to make a width of"));
///     }
///     Ok(text.parse()?)
/// }
/// # assert_eq!(width("").unwrap_err().to_string(), "v1 has no size to make a width of");
/// # assert!(width("x").is_err());
/// ```
#[derive(PartialEq, Eq)]
pub struct ConversionError(String);

impl ConversionError {
    /// An error with this message.
    pub fn new(message: impl Into<String>) -> Self {
        ConversionError(message.into())
    }
}

impl<E: StdError + Send + Sync + 'static> From<E> for ConversionError {
    fn from(error: E) -> Self {
        ConversionError(error.to_string())
    }
}

impl fmt::Display for ConversionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for ConversionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ConversionError").field(&self.0).finish()
    }
}
