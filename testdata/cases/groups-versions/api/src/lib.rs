//! Two groups, one of them with two versions.

pub mod library;
pub mod shop;
