//! Twin of the Go types of the case.

pub mod v10;
pub mod v2;
pub mod v2beta1;
