//! Schemas: the type and how two of them are joined.

mod merge;
mod props;

pub use merge::{TypeConflict, overlay};
pub use props::{Additional, ExternalDocs, Rule, Schema};
