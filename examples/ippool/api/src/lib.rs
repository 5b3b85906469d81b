//! API types of ippool, by group and version.

pub mod tsi;
// +kubesmith:scaffold:groups
