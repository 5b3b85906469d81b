//! Tests of the embedded API server through its public interface.
#![allow(clippy::unwrap_used)]

mod basics;
mod builtin;
mod conformance;
mod data;
mod details;
mod history;
mod kinds;
mod robust;
mod support;
