//! The library behind generated code and controllers: typed clients, caches, informers, work queues, managers,
//! webhooks.
//!
//! The feature `client` (on by default) enables everything but the traits, scheme facts and derives; a crate of API
//! types switches it off. `webhook` (on by default) adds the webhook server, `yaml` (on by default) reads and
//! writes manifests in YAML. `validation` checks objects as an API server does, `crd` installs and upgrades definitions, and `clap` adds the command-line
//! flags of a manager.
#![cfg_attr(test, allow(clippy::unwrap_used))]

pub use k8s_openapi;
pub use kube;
pub use serde;
pub use serde_json;

pub mod api;
pub use api::{
    Object, ObjectMeta, Resource, ResourceInfo, Schema, Scope, policy, rbac, webhook, webhook_configuration,
};

#[cfg(feature = "client")]
pub mod applyconfigurations;
#[cfg(feature = "client")]
pub mod cache;
#[cfg(feature = "client")]
pub mod client;
#[cfg(feature = "client")]
pub mod controller;
#[cfg(feature = "client")]
pub mod controllerutil;
#[cfg(feature = "client")]
pub mod conversion;
#[cfg(feature = "crd")]
pub mod crd;
#[cfg(feature = "client")]
mod deadline;
#[cfg(feature = "client")]
pub mod defaults;
#[cfg(feature = "client")]
pub mod events;
pub mod field;
#[cfg(feature = "client")]
pub mod informer;
#[cfg(feature = "client")]
mod json;
#[cfg(feature = "client")]
pub use kubesmith_apimachinery::labels;
#[cfg(feature = "client")]
pub mod leaderelection;
#[cfg(feature = "client")]
mod listen;
#[cfg(feature = "client")]
pub mod lister;
#[cfg(feature = "client")]
pub mod manager;
#[cfg(feature = "client")]
pub mod metrics;
#[cfg(feature = "client")]
mod object;
#[cfg(feature = "client")]
mod random;
#[cfg(feature = "client")]
pub mod record;
#[cfg(feature = "client")]
mod recording;
#[cfg(feature = "client")]
mod reflector;
#[cfg(feature = "client")]
pub mod retry;
#[cfg(feature = "client")]
pub mod scheme;
#[cfg(feature = "client")]
pub mod sharding;
#[cfg(feature = "client")]
mod sync;
#[cfg(feature = "client")]
pub mod telemetry;
#[cfg(feature = "client")]
mod trace;
#[cfg(feature = "validation")]
pub mod validation;
#[cfg(feature = "webhook")]
pub mod webhook;
#[cfg(feature = "client")]
pub mod workqueue;
