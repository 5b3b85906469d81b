//! Apply configurations, by group and version: the parts of objects that a field manager wants, for server-side apply.
//!
//! Each type has a method `with_...` for each field; only what was set is sent. For kinds there are functions that extract
//! what a manager has applied before.

#[each(group)]
pub mod __group__;
