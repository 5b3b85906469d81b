//! What the tests of the example operators share: a [`Cluster`] of whichever back end the environment chooses, waiting, and
//! [`replicas`] of one operator.

pub mod cluster;
pub mod replicas;
pub mod wait;

pub use cluster::{Cluster, Needs, skipped};
pub use wait::{eventually, in_time, run};
