//! Controllers of ippool.

/// The name of the lease for leader election.
pub const LEADER_ELECTION_ID: &str = "ippool.tiduyun.com";

pub mod ip_pool;
pub mod range;
// +kubesmith:scaffold:modules
