//! An embedded Kubernetes API server for tests and demos.
#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod structural;
