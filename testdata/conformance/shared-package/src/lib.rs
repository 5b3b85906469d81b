//! Twin of the Go types of the case.

pub mod common;
pub mod v1;
