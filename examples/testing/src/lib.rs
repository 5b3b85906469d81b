//! The common parts of the example operators' tests: a [`Cluster`] of the back end that the environment chooses,
//! waiting, the [`program`] of an operator, its rights, its [`readiness`], and [`replicas`] of one.

pub mod cluster;
pub mod program;
pub mod readiness;
pub mod replicas;
mod role;
pub mod wait;

pub use cluster::{Cluster, Needs};
pub use wait::{eventually, in_time, run};
