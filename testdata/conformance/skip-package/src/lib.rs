//! Twin of the Go types of the case.
//! +groupName=skip.conformance.dev

pub mod internal;
pub mod v1;
