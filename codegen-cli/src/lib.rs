//! Generates CRDs, clients, informers and listers from Kubernetes API types written in Rust.

#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod docs;
pub mod emit;
pub mod format;
pub mod ir;
pub mod output;
pub mod schema;
pub mod source;
