//! Tests of the command and of the pipeline as a whole. See each module for what it proves.
#![allow(clippy::unwrap_used, missing_docs)]

mod accepted;
mod aliases;
mod api_rules;
mod builtin;
mod cli;
mod conformance;
mod crash;
mod dependencies;
mod deploy;
mod descriptions;
mod diagnostics;
mod docs;
mod examples;
mod features;
mod forms;
mod fuzz;
mod import;
mod known_types;
mod manifests;
mod openapi;
mod properties;
mod resolution;
mod scaffold;
mod serve;
mod support;
