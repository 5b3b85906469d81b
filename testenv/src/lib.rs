//! An embedded Kubernetes API server for tests and demos.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::needless_pass_by_value))]

pub mod apply;
pub mod structural;
