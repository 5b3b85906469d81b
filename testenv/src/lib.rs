//! A Kubernetes API server for tests and demos.
//!
//! [`TestEnv`] provides clients of a server. By default the server is embedded: it starts in milliseconds, needs no
//! binaries, and behaves like kube-apiserver: custom resource definitions, the built-in kinds that controllers touch,
//! watches with replay, selectors, patches, subresources.
//!
//! The same test runs against etcd and kube-apiserver, or a cluster, by envtest's environment variables; see
//! [`Backend`]:
//!
//! ```sh
//! cargo test                                        # the embedded server
//! KUBEBUILDER_ASSETS=/path/to/binaries cargo test   # etcd and kube-apiserver, started and stopped by the test
//! USE_EXISTING_CLUSTER=true cargo test              # the cluster of the current kubeconfig
//! ```
//!
//! [`fault`] injects faults between a client and the server, on every back end: dropped connections, delays, errors,
//! watches that end, expire or stall.
//!
//! [`explore()`] runs an operator hundreds of times in a simulation with crashes, lost responses, late watches and bad
//! timing.
//!
//! [`fake`] is for unit tests: clientsets on an embedded server of their own, with a record of requests, and with
//! reactors that handle or fail chosen ones.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::needless_pass_by_value))]

mod address;
mod backend;
mod crds;
mod env;
mod error;
mod explore;
pub mod fake;
pub mod fault;
mod files;
mod installed;
mod kind;
mod kubeconfig;
mod kubectl;
mod process;
mod user;
mod webhook;

pub use address::free_address;
pub use backend::Arguments;
pub use env::{TestEnv, TestEnvBuilder};
pub use error::Error;
pub use explore::{Connection, Explore, Failed, Outside, OutsideError, Report, Sim, Verdict, View, explore};
pub use kind::Backend;
pub use kubectl::Kubectl;
pub use kubesmith_apiserver::{
    Clock, Container, Containers, DataError, Exec, FeatureGateError, FeatureGates, ManualClock, SystemClock,
    apply,
};
pub use process::ProcessError;
pub use user::{AuthenticatedUser, User};
pub use webhook::LocalServing;
