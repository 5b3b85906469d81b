//! A Kubernetes API server inside a program.
//!
//! [`ApiServer`] serves custom resource definitions and the built-in kinds that controllers touch, with watches, selectors,
//! patches, subresources, admission webhooks and server-side apply, as kube-apiserver does. It starts in milliseconds and needs
//! no binaries. Clients reach it in the same process through [`ApiServer::service`], or over a socket through
//! [`ApiServer::listen`].
//!
//! The crate does not depend on a test environment: tests use kubesmith-testenv.
//!
//! ```
//! use http_body_util::{BodyExt as _, Empty};
//! use kubesmith_apiserver::{ApiServer, ApiServerOptions};
//! use tower::ServiceExt as _;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let server = ApiServer::start(ApiServerOptions::default())?;
//! let request = http::Request::get("/api/v1/namespaces/default").body(Empty::<bytes::Bytes>::new())?;
//! let response = server.service().oneshot(request).await?;
//! assert_eq!(response.status(), 200);
//! let namespace: serde_json::Value = serde_json::from_slice(&response.into_body().collect().await?.to_bytes())?;
//! assert_eq!(namespace["status"]["phase"], "Active");
//! server.stop().await;
//! # Ok(())
//! # }
//! ```
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::needless_pass_by_value))]

mod access;
mod admission;
mod ages;
mod amounts;
mod api_server;
mod api_services;
pub mod apply;
mod authentication;
mod authorization;
mod bodies;
mod builtin;
mod clock;
mod containers;
mod controllers;
mod conversion;
mod crd;
mod cron;
mod custom;
mod definitions;
mod der;
mod discovery;
mod disruption;
mod documents;
mod encode;
mod error;
mod features;
mod groups;
mod hooks;
mod http;
mod identity;
mod impersonation;
pub mod kubeconfig;
mod lifecycle;
mod listen;
mod managed;
mod meta;
mod metrics;
mod names;
mod objects;
mod openapi;
mod patching;
mod quota;
mod registry;
pub mod request;
mod selector;
mod server;
mod serving;
mod stage;
mod startup;
mod status;
mod store;
mod table;
pub mod tls;
mod tokens;
mod types;
mod verbs;
mod webhook;

pub use access::AuthorizationMode;
pub use api_server::{ApiServer, ApiServerOptions, UserCredentials};
pub use clock::{Clock, ManualClock, SystemClock};
pub use containers::{Container, Containers, Exec};
pub use error::{DataError, Error};
pub use features::{FeatureGateError, FeatureGates};
pub use http::reply::{Body, Reply};
pub use identity::Identity;
pub use listen::{Answers, Listener, Sockets};
pub use objects::{ObjectError, Objects};
pub use server::Snapshot;
pub use serving::ApiService;
pub use status::{ApiError, ErrorSubject};
pub use webhook::{WebhookHost, WebhookTransport};
