//! Typed clients: what a generated clientset delegates to.
//!
//! Purpose: client-go's verbs on `kube`'s transport. A [`RestClient`] knows one group version, a
//! [`TypedClient`] one kind in it (all namespaces, one namespace, or cluster-wide), [`Discovery`] what the
//! server offers. Every failure is an [`Error`] that names verb, resource and object and keeps the server's
//! `Status`. This module knows nothing of caches.
//!
//! Objects in lists carry `apiVersion` and `kind` when they are serialised: types with `derive(Resource)` and
//! the built-in types of `k8s-openapi` write both themselves, whatever the server sent for the list's items.

mod discovery;
pub(crate) mod drive;
pub(crate) mod error;
mod options;
mod rest;
pub(crate) mod transport;
mod typed;

pub use discovery::Discovery;
pub use error::{Error, Request};
pub use options::{ClientOptions, HttpVersion};
pub use rest::{RestClient, connect, connect_with_options, default_user_agent, try_default};
pub use typed::{Deletion, TypedClient, WatchStream};

/// What a request ends with.
pub type Result<T, E = Error> = std::result::Result<T, E>;
