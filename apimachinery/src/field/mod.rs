//! Paths of fields, and what is wrong with a field: apimachinery's `util/validation/field`.

pub mod cause;
pub mod path;

pub use cause::{BadValue, Cause, CauseKind, aggregate, invalid_message};
pub use path::Path;
