//! Twin of the Go types of the case.
//! +groupName=bad.conformance.dev

pub mod v1;
pub mod v2;
