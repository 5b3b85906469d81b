//! Faults of fields: their paths, their kinds, and the words of an API server for them.
//!
//! This much is there without the feature `structural`, and needs nothing but JSON.

pub mod cause;
pub mod golang;
pub mod path;

pub use cause::{BadValue, Cause, CauseKind, aggregate, invalid_message};
pub use path::Path;
