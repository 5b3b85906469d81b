//! Calls of webhooks over HTTPS, for admission and for the conversion of custom resources.
//!
//! The module knows where a webhook is and how it is reached; what is asked and what an answer means is the business of
//! its callers. Failures are worded as Go's HTTP client and client-go word them, since they end up in `Status` messages.

mod client;
mod endpoint;
mod failure;

pub(crate) use client::Clients;
pub(crate) use endpoint::Endpoint;
