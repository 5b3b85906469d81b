//! Lowers kube-rs's dialect: unchanged types with `#[derive(CustomResource)]`.
//!
//! kube-rs compiles and runs a program to get a CustomResourceDefinition: schemars' derive macro makes code
//! that makes a JSON Schema, which kube's transformations turn into a structural one. Here the same schema is
//! made from the source: [`crate::syntax::kube`] keeps the macros' input, [`container`] and [`enums`] build
//! the same schemas as their code, [`rewrite`] transforms them as kube does, and [`structural`] repairs parts
//! that an API server would refuse.
//!
//! Sources: schemars 1.2 (`schemars_derive`'s `schema_exprs.rs` and `attr`, `schemars`' `json_schema_impls` and
//! `transform.rs`), schemars 0.8.22 for kube before 2 ([`schemars_0_8`]), kube-derive 5.0 and kube-core 5.0 (`schema.rs`, `cel.rs`). `testdata/kube-rs` compares the
//! results with those of the compiled types.

mod code;
mod compiles;
mod constants;
mod container;
mod defaults;
mod enums;
mod functions;
mod known;
mod literals;
mod metadata;
mod pieces;
mod places;
mod predicates;
mod projections;
mod reports;
mod resource;
mod rewrite;
mod rules;
mod schemars_0_8;
mod structural;
mod types;
mod validation;
mod values;

pub(crate) use types::Dialect;
