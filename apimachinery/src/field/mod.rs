//! Paths of fields, and errors of fields: apimachinery's `util/validation/field`.

pub mod cause;
pub mod path;

pub use cause::{BadValue, Cause, CauseKind, aggregate, invalid_message};
pub use path::Path;
