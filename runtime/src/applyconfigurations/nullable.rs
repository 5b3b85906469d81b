//! Fields that may be null: absent, null and a value are three things.

use serde::{Deserialize, Deserializer};

/// Reads a field of the type `Option<Option<T>>` that is present: null is `Some(None)`. For `#[serde(default,
/// deserialize_with = "...")]` in generated code; an absent field is `None` by its default.
///
/// # Errors
/// The value is no `T`.
pub fn nullable<'de, D, T>(deserializer: D) -> Result<Option<Option<T>>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    Option::deserialize(deserializer).map(Some)
}
