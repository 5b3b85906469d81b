//! Calls of webhooks over HTTPS, for admission and for the conversion of custom resources.
//!
//! The module has the endpoint and the transport of webhooks; callers build requests and interpret responses. Failures
//! are in the words of Go's HTTP client and client-go, since they appear in `Status` messages.

mod client;
mod endpoint;
mod failure;
mod trust;

pub(crate) use client::Clients;
pub use client::WebhookTransport;
pub(crate) use endpoint::Endpoint;
pub use endpoint::WebhookHost;
