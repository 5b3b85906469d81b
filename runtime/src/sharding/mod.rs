//! Several replicas share the work: each key has one owner at a time, and a hand-over waits for what is in work.
//!
//! Every replica keeps a Lease. The leases of a group are its members, and [rendezvous hashing](#hashing) says which of
//! them owns a key. All replicas watch everything; each works on its own keys only. With three replicas each works on
//! a third of the keys; when one ends, its keys are spread over the two others, and no other key moves.
//!
//! [`ManagerBuilder::sharding`](crate::manager::ManagerBuilder::sharding) is all that a program needs:
//!
//! ```no_run
//! use k8s_openapi::api::core::v1::ConfigMap;
//! use kubesmith_runtime::cache::ObjectKey;
//! use kubesmith_runtime::controller::{Action, ControllerBuilder, reconcile_fn};
//! use kubesmith_runtime::manager::{Manager, shutdown_signal};
//! use kubesmith_runtime::sharding::Sharding;
//!
//! # async fn run(client: kube::Client, pod: String) -> Result<(), Box<dyn std::error::Error>> {
//! let sharding = Sharding::builder(client.clone(), "default", "maps", pod).build()?;
//! let mut manager = Manager::builder(client).sharding(sharding).build();
//! let controller = ControllerBuilder::new("maps")
//!     .for_(&manager.factory().informer_for::<ConfigMap>())
//!     .complete(reconcile_fn(|key: ObjectKey| async move {
//!         println!("{key} is ours");
//!         Ok(Action::done())
//!     }))?;
//! manager.add(controller);
//! manager.run(shutdown_signal()?).await?;
//! # Ok(())
//! # }
//! ```
//!
//! Settings, and a share without a manager:
//!
//! ```no_run
//! use std::time::Duration;
//! use k8s_openapi::jiff::Timestamp;
//! use kubesmith_runtime::controller::{CancellationToken, Controller, Reconciler};
//! use kubesmith_runtime::leaderelection::ElectionTimes;
//! use kubesmith_runtime::metrics::Registry;
//! use kubesmith_runtime::sharding::{Shard, ShardState, Sharding, ShardingBuildError, ShardingError, SharePhase};
//!
//! fn member(client: kube::Client, registry: &Registry) -> Result<Sharding, ShardingBuildError> {
//!     Sharding::builder(client, "default", "maps", "pod-7f9c")
//!         .times(ElectionTimes { lease_duration: Duration::from_secs(30), ..ElectionTimes::default() })
//!         .join_timeout(Duration::from_secs(60))
//!         .metrics(registry)
//!         .clock(Timestamp::now)
//!         .random(|| 0.5) // Of this process alone: tokens and jitter must differ between replicas.
//!         .build()
//! }
//!
//! fn show(shard: &Shard) {
//!     let ShardState { lease, phase, members, share, .. } = shard.state();
//!     println!("{lease} is {phase}, has {share} of all keys, and is one of {}", members.len());
//!     if phase == SharePhase::Working && shard.owns("default/settings") {
//!         println!("default/settings is ours");
//!     }
//! }
//!
//! async fn run<R>(controller: Controller<R>, sharding: Sharding, stop: CancellationToken) -> Result<(), ShardingError>
//! where
//!     R: Reconciler<Key = kubesmith_runtime::cache::ObjectKey>,
//! {
//!     let shard = sharding.shard();
//!     let working = tokio::spawn(controller.sharded(&shard).run(stop.clone()));
//!     show(&shard);
//!     let ended = sharding.run(stop).await;
//!     working.abort();
//!     ended
//! }
//! ```
//!
//! The service account needs `create`, `get`, `list`, `watch`, `update` and `delete` on `leases` of
//! `coordination.k8s.io` in the namespace of the leases. `get` and `watch` are not used today.
//!
//! # Keys that change hands
//!
//! A replica that gains keys queues those that the caches of its controllers name, as it does at its start. What the
//! former owner had in mind for a key (a retry, [`Action::requeue_after`](crate::controller::Action::requeue_after), an
//! object that is gone already) goes with it, as when a program is started anew: finalizers are what makes a deletion
//! wait for its reconcile. A replica that loses keys lets their reconciles end; only these keys wait for that.
//!
//! A replica that cannot renew its lease for the renew deadline cuts its reconciles off at their next await, and joins
//! again when it can.
//!
//! # The protocol
//!
//! Besides holder and times, a lease carries a token that no other creation of a lease has had, the *view*: the members
//! (lease and token) that the replica leaves their keys to, and *finishing*: the hashes of keys that it had begun before
//! and has in work although they are another's by now. A replica repeats, every retry period: renew the lease, list the
//! leases of the group. Lists and their order are all that it knows of others.
//!
//! 1. *Join.* Create the lease; if its name is taken, by somebody who goes by the same identity, wait for its end as in
//!    4. Then list. Whoever is in this first list is *awaited* until a list shows this replica in its view, or shows it
//!    gone or come again with another token. Nothing begins before.
//! 2. *Work.* A key begins only while this replica wins it against every lease of the latest list, no lease of that list
//!    has it in *finishing*, and the last renewal that succeeded was sent less than the renew deadline ago.
//! 3. *Acknowledge.* When a list shows a new member, first stop beginning what it wins, then write a view with it and,
//!    as *finishing*, those of its keys that are still in work; write again as they end.
//! 4. *Bury.* A lease that has not changed for its duration, by the own clock since this version was first seen, is
//!    deleted on condition that it is still this version. Nobody takes its keys before a list shows it gone.
//! 5. *Leave.* Begin nothing more, wait for what is in work, delete the lease.
//! 6. *Lose.* Without a renewal for the renew deadline, or when a list does not show the lease: cut everything off,
//!    and when it has ended, join again with a new token.
//!
//! # Why no key is in work twice
//!
//! Take two replicas, and let A's lease be older than B's. B's first list was made after B's lease, so it shows A, or
//! A's lease is gone.
//!
//! *A is there.* B begins no key that A wins (2), and nothing at all before it has seen itself in A's view (1). When A
//! wrote that view it had stopped beginning keys that B wins, and all that it still had in work are in *finishing* (3);
//! from then on these only become fewer, so B may trust any later list to name them all. Hence B works on a key that it
//! wins only when A has ended it and will not begin it, as long as A sees B's lease. A sees it go only by 4 or 5.
//!
//! *A lease is gone.* After 5 its owner has nothing in work. After 4 its last version had been there for the whole
//! duration by the clock of whoever deleted it. Since the deletion named that version, no renewal came after it and none
//! can come, not even one that is on its way: it names a version that is no more. The owner counts from when it sent its
//! last renewal that succeeded, which is before anybody saw it, and stops after the renew deadline, which is shorter. So it has
//! stopped, unless its clock is slower than the other by more than `lease_duration / renew_deadline` (1.5 with the
//! defaults). No two clocks are ever compared, only their rates matter.
//!
//! A new life of a replica is a new member, and so is a lease that is made again because the answer to its creation was
//! lost: its token differs, so what others published for the former one does not count for it.
//!
//! The argument ends where leader election's does: where somebody deletes leases by hand, and where a process is
//! suspended in the middle of a reconcile for longer than the lease lasts. What must not happen even then needs a
//! condition on the write itself, such as the resource version of an update.
//!
//! # Hashing
//!
//! Keys are shared out by their text (`namespace/name`), so that all controllers of a replica work on the same objects.
//! A text's hash is FNV-1a with 64 bits, put through the finalizer of SplitMix64. A member's score for a key is that
//! finalizer over the exclusive or of the hashes of lease name and key; the highest score wins, of equal ones the
//! greater name. These functions do not change between versions.
//!
//! # With leader election
//!
//! Both can be used: then controllers that are [added](crate::manager::Manager::add) share their keys, and what is
//! added with [`add_on_leader`](crate::manager::Manager::add_on_leader) or
//! [`add_runnable`](crate::manager::Manager::add_runnable) runs on the leader only.

mod core;
mod gate;
mod lease;
mod metrics;
mod protocol;
mod ring;
mod run;
mod shard;

pub(crate) use gate::Ownership;
pub use run::{Sharding, ShardingBuildError, ShardingBuilder, ShardingError};
pub(crate) use shard::{Begin, InWork};
pub use shard::{Shard, ShardState, SharePhase};
