//! What an API server knows about custom resource definitions: structural schemas, the Common Expression Language of
//! their rules, the checks of a CRD itself, what a change of it breaks, the OpenAPI definitions that it publishes of it, and the
//! checks of webhook configurations and admission policies.
//!
//! Values in, values and ordered causes with kube-apiserver's texts out. The package does no I/O and knows neither HTTP nor
//! storage: the embedded server of kubesmith-testenv enforces with it, and the command refuses with it what a server would
//! refuse.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::needless_pass_by_value))]

#[cfg(feature = "structural")]
pub mod admission;
#[cfg(feature = "structural")]
pub mod cel;
#[cfg(feature = "structural")]
pub mod diff;
#[cfg(feature = "structural")]
pub mod openapi;
pub mod schema;
#[cfg(feature = "structural")]
pub mod structural;
