//! The API server's logic of custom resource definitions: structural schemas, the Common Expression Language of their
//! rules, the checks of a CRD itself, the effects of its changes, its OpenAPI definitions, and the checks of webhook
//! configurations and admission policies.
//!
//! Input and output are values, and ordered causes with kube-apiserver's texts. The package does no I/O and depends on
//! neither HTTP nor storage: the embedded server of kubesmith-testenv enforces these rules, and the command checks them
//! ahead of a server.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::needless_pass_by_value))]

#[cfg(feature = "structural")]
pub mod admission;
#[cfg(feature = "structural")]
pub mod cel;
#[cfg(feature = "structural")]
pub mod diff;
#[cfg(feature = "structural")]
pub mod formats;
#[cfg(feature = "structural")]
pub mod openapi;
#[cfg(feature = "structural")]
pub mod sample;
pub mod schema;
#[cfg(feature = "structural")]
pub mod structural;
