//! Twin of the Go types of the case.

pub mod internal_v0;
pub mod v1;
