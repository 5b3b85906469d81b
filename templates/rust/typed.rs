//! Typed clients, by group and version.

#[each(group)]
pub mod __group__;
