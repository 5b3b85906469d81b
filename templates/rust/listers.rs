//! Listers, by group and version: reads from the informers' caches.

#[each(group)]
pub mod __group__;
