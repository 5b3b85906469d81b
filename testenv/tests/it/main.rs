//! Tests of the embedded API server through its public interface.
#![allow(clippy::unwrap_used)]

#[cfg(unix)]
mod backends;
mod basics;
mod builtin;
mod classes;
mod columns;
mod conformance;
mod containers;
mod controllers;
mod data;
mod details;
mod explore;
mod fake;
mod fault;
mod history;
mod hostile;
mod impersonation;
mod invariants;
mod kinds;
mod openapi;
mod parts;
mod placed_pods;
mod plugins;
mod pods;
mod policies;
mod protobuf;
mod ratcheting;
mod rbac;
mod reads;
mod recorded;
mod requests;
mod reviews;
mod robust;
mod scales;
mod service_accounts;
mod services;
mod shards;
#[cfg(unix)]
mod stand_in;
mod support;
mod surface;
mod watch_cache;
mod webhooks;
