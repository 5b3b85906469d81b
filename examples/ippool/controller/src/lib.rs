//! Controllers of ippool.

/// The lease that says which replica leads.
pub const LEADER_ELECTION_ID: &str = "ippool.tiduyun.com";

pub mod ip_pool;
pub mod range;
// +kubesmith:scaffold:modules
