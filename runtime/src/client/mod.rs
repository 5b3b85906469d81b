//! Typed clients: what a generated clientset delegates to.
//!
//! A [`RestClient`] has one group version, a [`TypedClient`] one kind of it (all namespaces, one namespace, or
//! cluster-wide), and [`Discovery`] reads what the server offers. They send client-go's verbs over `kube`'s
//! transport. Every failure is an [`Error`] that names verb, resource and object and keeps the server's `Status`.
//! This module does not use caches.
//!
//! [`connect`] makes the transport: `kube`'s layers for address, credentials and headers over HTTP/2 connections if
//! the server offers them, otherwise HTTP/1.1. [`ClientOptions`] adds compression, a rate limit or a timeout. A
//! client made by `kube` works too, with kube's connections and retries.
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
//! Listed objects have `apiVersion` and `kind` when they are serialised: types with `derive(Resource)` and the
//! built-in types of `k8s-openapi` write both themselves, even if the server omitted them.

mod config;
mod conflict;
mod discovery;
pub(crate) mod drive;
pub(crate) mod error;
mod kind;
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
pub use kind::{AllNamespaces, CompleteClient, KindClient};
pub use options::{ClientOptions, HttpVersion};
pub use response::ResponseFuture;
pub use rest::{RestClient, connect, connect_with_options, try_default};
pub use scope::ClientScope;
pub use subresource::{ResourceRequests, SubresourceRequests};
pub use typed::{Deletion, TypedClient, WatchStream};
pub use unless_deleted::unless_deleted;
pub use user_agent::default_user_agent;

/// The result of a request.
pub type Result<T, E = Error> = std::result::Result<T, E>;
