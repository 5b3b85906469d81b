//! The expected trees: up to date, compiled, and working through their own API.

#![allow(clippy::unwrap_used)]

mod apply;
mod built_in;
mod conversions;
mod crds;
mod defaults;
mod fake;
mod informers;
mod kube_rs;
mod left_out;
mod methods;
mod requests;
mod traits;
mod trees;
mod usage;
mod validations;
mod values;
