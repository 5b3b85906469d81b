//! Generates CRDs, clients, informers and listers from Kubernetes API types written in Rust.
//!
//! The stages are `load`, `parse`, `resolve`, `lower`, `validate`, `emit`, `format` and `write` or
//! `check`; [`pipeline`] runs them. Only `load` and `write` touch the disk.

#![cfg_attr(test, allow(clippy::unwrap_used))]
#![allow(rustdoc::private_intra_doc_links, reason = "module headers speak to readers of the source as well")]

pub mod api_rules;
pub mod builtin;
pub mod cfg;
pub mod cli;
pub mod cluster;
pub mod config;
mod definition;
pub mod diag;
pub mod diff;
pub mod docs;
pub mod emit;
mod evaluate;
pub mod expand;
pub mod expansions;
pub mod explain;
pub mod format;
#[cfg(feature = "go")]
mod go;
pub mod import;
pub mod ir;
pub mod known;
pub mod lints;
pub mod load;
pub mod lower;
pub mod macros;
pub mod migrate;
mod notice;
pub mod output;
mod parallel;
pub mod parse;
mod paths;
pub mod pipeline;
pub mod reference;
pub mod resolve;
pub mod roles;
pub mod scaffold;
pub mod schema;
pub mod selection;
#[cfg(feature = "serve")]
mod serve;
pub mod source;
pub mod syntax;
pub mod validate;
pub mod write;
