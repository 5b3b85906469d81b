//! Validation of CustomResourceDefinitions, with kube-apiserver's paths and texts.
//!
//! A schema (subresources, columns, selectable fields) that all versions share is reported at `spec.validation` and its
//! siblings rather than in each version, as the server does, which keeps one such thing for all.

mod approval;
mod budget;
mod openapi;
mod rules;
mod shape;
mod spec;
mod structure;

pub use budget::{Excess, Expression, Large, explain_cost};
pub use rules::{RULE_LIMIT, TOTAL_LIMIT};
pub use spec::validate_crd;
pub use structure::validate_structural;

#[cfg(test)]
mod tests;
