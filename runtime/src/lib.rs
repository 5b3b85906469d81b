//! placeholder
#![cfg_attr(test, allow(clippy::unwrap_used))]

#[cfg(feature = "client")]
pub mod controller;
#[cfg(feature = "client")]
pub mod metrics;
#[cfg(feature = "client")]
pub mod workqueue;
