//! The runtime's behaviour seen from outside, one module per subject.
#![allow(clippy::unwrap_used)]

mod bad_input;
mod builder;
mod cached_client;
mod client;
mod compact;
mod connections;
mod controller;
mod controllerutil;
mod counting_proxy;
#[cfg(feature = "crd")]
mod crd;
mod credentials;
mod dynamic;
mod events;
mod examples;
mod fake;
mod faults;
mod features;
mod finalizer;
#[cfg(feature = "yaml")]
mod fuzz;
mod handlers;
mod http;
mod informer;
mod leaderelection;
mod manager;
mod namespaces;
mod record;
mod reflector;
mod scripted;
mod sharded_caches;
mod sharding;
mod tables;
#[cfg(feature = "otlp")]
mod telemetry;
mod transport;
mod watches;
#[cfg(feature = "webhook")]
mod webhook;
mod workqueue;
