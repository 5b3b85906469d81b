//! The shop's group.

pub mod v1;
pub mod v2;
