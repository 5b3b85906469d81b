//! An embedded Kubernetes API server for tests and demos.
//!
//! [`TestEnv`] starts in milliseconds, needs no binaries, and answers a client as kube-apiserver does: custom resource
//! definitions, the built-in kinds that controllers touch, watches with replay, selectors, patches, subresources.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::needless_pass_by_value))]

mod access;
pub mod apply;
mod backend;
mod builtin;
mod clock;
mod crd;
mod crds;
mod custom;
mod discovery;
mod env;
mod error;
mod files;
mod garbage;
mod http;
mod jsonpath;
mod label_selector;
mod listen;
mod managed;
mod meta;
mod names;
mod openapi;
mod patching;
mod registry;
mod selector;
mod server;
mod status;
mod store;
mod table;
mod tls;
mod types;
mod verbs;

pub use clock::{Clock, ManualClock, SystemClock};
pub use env::{TestEnv, TestEnvBuilder};
pub use error::{DataError, Error};
