//! Controllers of ippool.

pub mod ip_pool;
pub mod range;
// +kubesmith:scaffold:modules
