//! Leader election on Leases, by client-go's rules: one of several replicas works at a time.
//!
//! The leader renews a coordination.k8s.io Lease every retry period. Others take it over when they have seen it
//! unchanged for the lease duration, by their own clocks. Clocks need not agree; only their rates matter. The
//! leader gives up when no renewal has succeeded for the renew deadline, which is shorter than the lease duration.
//! So there is at most one leader unless a clock runs faster than another by more than `lease_duration /
//! renew_deadline` (1.5 with the defaults).
//!
//! A suspended process cannot notice in time that it lost the lease. [`Leadership`] therefore reports whether it is
//! still valid, and has the lease's transitions as a fencing token for writes to other systems.
//!
//! ```no_run
//! use kubesmith_runtime::controller::CancellationToken;
//! use kubesmith_runtime::leaderelection::{LeaderCallbacks, LeaderElector};
//!
//! # async fn run(client: kube::Client, stop: CancellationToken) -> Result<(), Box<dyn std::error::Error>> {
//! let elector = LeaderElector::builder(client, "default", "my-operator", "pod-7f9c").build()?;
//! let callbacks = LeaderCallbacks::new(|leadership| async move {
//!     // Work until the leadership ends.
//!     leadership.ended().await;
//! });
//! elector.run(callbacks, stop).await?;
//! # Ok(())
//! # }
//! ```
//!
//! Settings and callbacks:
//!
//! ```no_run
//! use std::time::Duration;
//! use k8s_openapi::jiff::Timestamp;
//! use kubesmith_runtime::leaderelection::{
//!     ElectionTimes, InvalidElection, LeaderCallbacks, LeaderElectionError, LeaderElector, Leadership,
//! };
//! use kubesmith_runtime::metrics::Registry;
//!
//! fn elector(client: kube::Client, registry: &Registry) -> Result<LeaderElector, InvalidElection> {
//!     LeaderElector::builder(client, "default", "my-operator", "pod-7f9c")
//!         .times(ElectionTimes { lease_duration: Duration::from_secs(30), ..ElectionTimes::default() })
//!         .release_on_cancel(false)
//!         .metrics(registry)
//!         .clock(Timestamp::now)
//!         .random(|| 0.5)
//!         .build()
//! }
//!
//! async fn run(elector: LeaderElector) -> Result<(), LeaderElectionError> {
//!     let callbacks = LeaderCallbacks::new(|leadership: Leadership| async move {
//!         println!("leader number {}", leadership.transitions());
//!         leadership.token().cancelled().await;
//!     });
//!     let callbacks = callbacks.on_new_leader(|who| println!("{who} leads")).on_stopped_leading(|| println!("over"));
//!     elector.run(callbacks, Default::default()).await
//! }
//! ```

mod core;
mod elector;
mod error;
mod identity;
mod view;

pub(crate) use self::core::next_time;
pub use self::core::{ElectionTimes, InvalidElection, InvalidTimes};
pub use elector::{LeaderCallbacks, LeaderElector, LeaderElectorBuilder, Leadership};
pub use error::LeaderElectionError;
pub use identity::default_identity;
pub(crate) use view::{LeaseState, LeaseView};
