//! Faults on demand between a client and its API server, whatever the back end.
//!
//! A [`FaultProxy`], created by [`TestEnv::fault_proxy`](crate::TestEnv::fault_proxy), passes requests on to the
//! environment's server and breaks some of them by a [`Schedule`]: by [`Rule`]s, or at random by a seed. It has a
//! client of its own, which needs no socket, and on demand a socket with a kubeconfig for programs.
//!
//! Faults never reorder data, and responses are streamed, not buffered. Delays are tokio's, so that paused time works.
//!
//! ```
//! use k8s_openapi::api::core::v1::ConfigMap;
//! use kube::api::{Api, ListParams};
//! use kubesmith_testenv::TestEnv;
//! use kubesmith_testenv::fault::{Fault, Rule, Schedule, Verb};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let env = TestEnv::builder().start().await?;
//! // The second list is answered with 503.
//! let rule = Rule::new(Fault::Status(503)).verb(Verb::List).resource("configmaps").nth(2);
//! let proxy = env.fault_proxy(Schedule::new().rule(rule)).await?;
//! let maps: Api<ConfigMap> = Api::namespaced(proxy.client(), "default");
//! assert!(maps.list(&ListParams::default()).await.is_ok());
//! assert!(maps.list(&ListParams::default()).await.is_err());
//! assert!(maps.list(&ListParams::default()).await.is_ok());
//! println!("{}", proxy.report());
//! # proxy.stop().await;
//! # env.stop().await;
//! # Ok(())
//! # }
//! ```
//!
//! [`Schedule::seeded`] decides by its seed and by the number of earlier requests of the same kind, not by time. A test
//! that prints [`FaultProxy::report`] on failure can be repeated with the same seed.

mod answer;
mod body;
mod proxy;
mod rule;
mod schedule;
mod service;

pub use body::FaultBody;
pub use proxy::FaultProxy;
pub use rule::{Fault, Rule, Verb};
pub use schedule::{Injection, Random, Schedule};
pub use service::{FaultLayer, FaultService};

pub(crate) use proxy::{Upstream, boxed, upstream};
