//! Behaviour of the runtime's public parts.
#![allow(clippy::unwrap_used)]

mod metrics;
mod workqueue;
