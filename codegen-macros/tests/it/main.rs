//! The derives from outside: what the derived impls do, and which mistakes are reported how.
#![allow(clippy::unwrap_used)]

mod behaviour;
mod everything;
mod macro_rules;
mod markers;
mod policies;
mod rustc;
mod shadowed;
mod ui;
