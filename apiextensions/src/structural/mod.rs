//! Structural schemas: an API server's use of `openAPIV3Schema`.
//!
//! In: JSON values and a parsed [`Schema`]. Out: changed values and ordered [`Cause`]s with kube-apiserver's texts.
//! The module does no I/O and depends on neither HTTP nor storage.
//!
//! Schemas are at most [`MAX_SCHEMA_DEPTH`](crate::schema::MAX_SCHEMA_DEPTH) levels deep, and every walk follows the schema, so that no object can
//! exhaust the stack.

pub mod check;
pub mod crd;
pub mod custom;
pub mod default;
mod enforced;
pub mod lists;
pub mod locate;
pub mod meta;
pub mod object_meta;
#[cfg(test)]
mod properties;
pub mod prune;
pub mod scale;
pub mod strict;
pub mod times;
pub mod validate;
pub mod webhook;

pub use crate::cel::Faults;
pub use crate::schema::{Additional, ListType, MapType, Rule, Schema, SchemaError};
pub use check::Checker;
pub use crd::{Excess, Expression, Large, explain_cost, validate_crd};
pub use custom::{CustomResource, Written};
pub use default::apply_defaults;
pub use kubesmith_apimachinery::field::{
    BadValue, Cause, CauseKind, Path, aggregate, cause, invalid_message, path,
};
pub use kubesmith_apimachinery::{golang, names};
pub use lists::validate_lists;
pub use locate::{Step, locate};
pub use object_meta::NameRule;
pub use prune::{prune, prune_part};
pub use scale::ScalePaths;
pub use validate::{blocks_rules, keyword_out_of_range, validate, validate_at, validate_update};
