//! Paths of fields as `managedFields` has them, and sets of such paths. The model is structured-merge-diff's package
//! `fieldpath`; the JSON form is `FieldsV1`.

mod element;
mod set;

pub use element::{FieldsError, PathElement, path_text};
pub use set::Set;
