//! The crate from outside: schemas and expressions that mean no good.
#![allow(clippy::unwrap_used)]

mod fuzz;
