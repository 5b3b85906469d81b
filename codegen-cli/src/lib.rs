//! Generates CRDs, clients, informers and listers from Kubernetes API types written in Rust.
//!
//! The stages are `load`, `parse`, `resolve`, `lower`, `validate`, `emit`, `format` and `write` or
//! `check`; [`pipeline`] runs them. Only `load` and `write` touch the disk.
//!
//! Public modules are those that tests, benchmarks and fuzz targets use.

#![cfg_attr(test, allow(clippy::unwrap_used))]
#![allow(rustdoc::private_intra_doc_links, reason = "module headers speak to readers of the source as well")]
#![allow(unreachable_pub, reason = "in private modules, `pub` marks what other modules use")]

mod api_rules;
mod builtin;
mod cfg;
pub mod cli;
mod cluster;
pub mod config;
mod definition;
pub mod diag;
pub mod diff;
mod docs;
pub mod emit;
mod evaluate;
mod expand;
mod expansions;
mod explain;
mod format;
#[cfg(feature = "go")]
mod go;
pub mod import;
pub mod ir;
pub mod known;
pub mod lints;
mod load;
mod lower;
mod macros;
pub mod migrate;
mod notice;
pub mod output;
mod parallel;
mod parse;
mod paths;
pub mod pipeline;
mod reference;
mod resolve;
mod roles;
mod scaffold;
mod schema;
pub mod selection;
#[cfg(feature = "serve")]
mod serve;
mod source;
mod syntax;
mod validate;
pub mod write;
