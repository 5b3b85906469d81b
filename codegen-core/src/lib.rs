//! The parts that kubesmith's macros and its command share: the attribute grammar, the syntax model, names
//! and diagnostics.
//!
//! Input is syntax (`syn` items and attributes), output is typed, span-carrying values and
//! [`diag::Diagnostics`]. This crate reads no files, resolves no paths across items and emits no code.

#![cfg_attr(test, allow(clippy::unwrap_used))]

/// The address of a page of the book, such as `reference/diff.md`: the project of a user does not have the page.
#[macro_export]
macro_rules! book {
    ($page:literal) => {
        concat!(env!("CARGO_PKG_REPOSITORY"), "/blob/main/docs/", $page)
    };
}

pub mod diag;
pub mod grammar;
pub mod model;
pub mod names;
pub mod nesting;
