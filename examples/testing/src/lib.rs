//! What the tests of the example operators share: a [`Cluster`] of whichever back end the environment chooses, waiting,
//! the [`program`] of an operator, its rights, its [`readiness`], and [`replicas`] of one.

pub mod cluster;
pub mod program;
pub mod readiness;
pub mod replicas;
mod role;
pub mod wait;

pub use cluster::{Cluster, Needs};
pub use wait::{eventually, in_time, run};
