//! Typed clients: what a generated clientset delegates to.
//!
//! Purpose: client-go's verbs on `kube`'s transport. A [`RestClient`] knows one group version, a
//! [`TypedClient`] one kind in it (all namespaces, one namespace, or cluster-wide), [`Discovery`] what the
//! server offers. Every failure is an [`Error`] that names verb, resource and object and keeps the server's
//! `Status`. This module knows nothing of caches.
//!
//! [`connect`] makes the transport: `kube`'s layers for address, credentials and headers over connections of HTTP/2 where
//! the server offers it, else HTTP/1.1. [`ClientOptions`] has the rest: compression, a rate limit, a timeout. A client that
//! `kube` has made works too, with kube's connections and retries.
//!
//! ```no_run
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! use k8s_openapi::api::core::v1::ConfigMap;
//! use kubesmith_runtime::client::{ClientOptions, RestClient, TypedClient, connect_with_options};
//!
//! let options = ClientOptions::new().user_agent("balancer/1.2").rate_limit(20.0, 30);
//! let client = connect_with_options(kube::Config::infer().await?, options).await?;
//! let maps = TypedClient::<ConfigMap>::namespaced(RestClient::new(client, "", "v1"), "default");
//! println!("{:?}", maps.get("settings").await?.data);
//! # Ok(())
//! # }
//! ```
//!
//! Objects in lists carry `apiVersion` and `kind` when they are serialised: types with `derive(Resource)` and
//! the built-in types of `k8s-openapi` write both themselves, whatever the server sent for the list's items.

mod config;
mod conflict;
mod discovery;
pub(crate) mod drive;
pub(crate) mod error;
mod options;
pub mod prelude;
mod response;
mod rest;
mod scope;
mod subresource;
pub(crate) mod transport;
mod typed;
mod unless_deleted;
mod user_agent;
pub mod verbs;

pub use config::build_config_from_flags;
pub use conflict::FieldConflict;
pub use discovery::{Discovery, ServerResources};
pub use error::{Error, Request};
pub use options::{ClientOptions, HttpVersion};
pub use response::ResponseFuture;
pub use rest::{RestClient, connect, connect_with_options, try_default};
pub use scope::ClientScope;
pub use subresource::{ResourceRequests, SubresourceRequests};
pub use typed::{Deletion, TypedClient, WatchStream};
pub use unless_deleted::unless_deleted;
pub use user_agent::default_user_agent;

/// What a request ends with.
pub type Result<T, E = Error> = std::result::Result<T, E>;
