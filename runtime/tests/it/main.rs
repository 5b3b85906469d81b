//! Behaviour of the runtime's public parts.
#![allow(clippy::unwrap_used)]

mod controller;
mod metrics;
mod workqueue;
