//! Webhooks that API servers call: admission with patches, and conversion, over TLS with certificates that reload.
//!
//! A [`Server`] serves three kinds of webhooks:
//!
//! - [`Defaulter`]s and [`Validator`]s of typed objects, at controller-runtime's paths ([`mutate_path`],
//!   [`validate_path`]), which `#[webhook(path = "...")]` names too;
//! - any [`AdmissionHandler`] at any path, several of them as a [`Chain`];
//! - [`Conversions`] between the versions of kinds, at [`CONVERT_PATH`].
//!
//! It runs in a manager ([`Manager::add_webhooks`](crate::manager::Manager::add_webhooks)) on every replica, and
//! starts before the caches fill, because listed objects may need conversion. It can also run by itself
//! ([`Server::bind`]).
//!
//! ```no_run
//! use k8s_openapi::api::core::v1::ConfigMap;
//! use kubesmith_runtime::manager::{Manager, shutdown_signal};
//! use kubesmith_runtime::webhook::{
//!     AdmissionContext, AdmissionError, Defaulter, FieldError, FieldErrors, FieldPath, Server, Validator, Warnings,
//! };
//!
//! struct Maps;
//!
//! impl Defaulter<ConfigMap> for Maps {
//!     async fn default(&self, _: &AdmissionContext, map: &mut ConfigMap) -> Result<(), AdmissionError> {
//!         map.data.get_or_insert_default().entry("mode".to_owned()).or_insert("slow".to_owned());
//!         Ok(())
//!     }
//! }
//!
//! fn check(map: &ConfigMap) -> Result<Warnings, AdmissionError> {
//!     let mut errors = FieldErrors::new();
//!     let mode = map.data.as_ref().and_then(|data| data.get("mode")).map_or("", String::as_str);
//!     if !["fast", "slow"].contains(&mode) {
//!         let path = FieldPath::new("data").key("mode");
//!         errors.push(FieldError::not_supported(path, mode, &["fast", "slow"]));
//!     }
//!     errors.into_result()?;
//!     Ok(vec![])
//! }
//!
//! impl Validator<ConfigMap> for Maps {
//!     async fn validate_create(&self, _: &AdmissionContext, map: &ConfigMap) -> Result<Warnings, AdmissionError> {
//!         check(map)
//!     }
//!
//!     async fn validate_update(
//!         &self,
//!         _: &AdmissionContext,
//!         _old: &ConfigMap,
//!         new: &ConfigMap,
//!     ) -> Result<Warnings, AdmissionError> {
//!         check(new)
//!     }
//! }
//!
//! # async fn run(client: kube::Client) -> Result<(), Box<dyn std::error::Error>> {
//! let server = Server::builder()
//!     .cert_dir("/certs")
//!     .defaulter::<ConfigMap>(Maps)
//!     .validator::<ConfigMap>(Maps)
//!     .build()?;
//! let mut manager = Manager::builder(client).health_address(([0, 0, 0, 0], 8081)).build();
//! manager.add_webhooks(server);
//! manager.run(shutdown_signal()?).await?;
//! # Ok(())
//! # }
//! ```
//!
//! # Certificates
//!
//! A server reads its certificate from files, which cert-manager keeps current, or with the feature `cert-rotation` from a
//! `CertRotator`, which makes and renews it.
//!
//! # Answers
//!
//! A handler that refuses a write responds with a review, and the write fails whatever the webhook's `failurePolicy`
//! is. If no review is sent, the API server gets an HTTP error with a `Status` that gives the reason, and the failure
//! policy decides:
//!
//! | cause | code |
//! |---|---|
//! | no webhook at the path | 404 |
//! | another method than POST | 405 |
//! | another content type than `application/json` | 415 |
//! | no body, no JSON, no review, no request in it, another version than `v1` | 400 |
//! | a body over 7 MiB (256 MiB at [`CONVERT_PATH`], which gets all objects of a list at once) | 413 |
//! | a panic of the handler | 500 |
//! | no response within the `timeout` of the request | 504 |
//!
//! # Differences from controller-runtime
//!
//! - Panics, and requests that are not reviews, lead to an HTTP error instead of a refusal, so that the failure
//!   policy decides.
//! - The handler's future is dropped when the API server no longer waits.
//! - Only reviews of version `v1` are supported.
//! - A defaulter's patch contains only its changes, not the fields that the type writes by itself.
//! - The handlers of a mutating [`Chain`] see the changes of earlier ones.
//! - A conversion that loses name, namespace or uid fails here, with a message that names the object.
//! - An expired certificate does not replace a valid one, and the clients' authorities are reloaded too.
//!
//! # Metrics
//!
//! `controller_runtime_webhook_requests_total`, `controller_runtime_webhook_latency_seconds`,
//! `controller_runtime_webhook_requests_in_flight`, `controller_runtime_webhook_panics_total`,
//! `controller_runtime_conversion_webhook_panics_total`, `certwatcher_read_certificate_total`,
//! `certwatcher_read_certificate_errors_total`, `certwatcher_certificate_expiration_timestamp_seconds`,
//! `cert_rotator_errors_total`, `cert_rotator_certificate_expiration_timestamp_seconds`.

mod admission;
mod certwatcher;
mod conversion;
mod hook;
mod object;
mod path;
mod review;
#[cfg(feature = "cert-rotation")]
mod rotation;
mod server;

pub use crate::field::{FieldError, FieldErrors, FieldPath};
pub use admission::{
    AdmissionContext, AdmissionError, AdmissionHandler, AdmissionRequest, AdmissionResponse, Chain,
    Defaulter, Defaulting, Operation, Validating, Validator, Warnings, admission_fn,
};
pub use certwatcher::{CertWatcher, CertWatcherBuilder, CertificateError, TlsVersion};
pub use conversion::{ConversionError, ConversionSetupError, Conversions, Convertible, Hub, HubSpokes};
pub use json_patch::Patch;
pub use object::{DecodeError, RawObject};
pub use path::{CONVERT_PATH, mutate_path, validate_path};
#[cfg(feature = "cert-rotation")]
pub(crate) use rotation::own_certificate;
#[cfg(feature = "cert-rotation")]
pub use rotation::{CaBundleTarget, CertRotator, CertRotatorBuilder, RotationError};
pub use server::{BoundServer, Server, ServerBuilder, ServerError, WebhookService};
