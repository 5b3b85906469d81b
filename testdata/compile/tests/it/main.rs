//! The expected trees: up to date, compiled, and working through their own API.

#![allow(clippy::unwrap_used)]

mod apply;
mod built_in;
mod requests;
mod trees;
mod usage;
