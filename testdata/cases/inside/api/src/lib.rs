//! A crate that holds both its types and what is generated from them.

pub mod generated;
pub mod v1;
