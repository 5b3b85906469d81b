//! Sharding: several replicas share the work. Each key has one owner at a time, and a hand-over waits for running
//! reconciles.
//!
//! Every replica holds a Lease. The leases of a group are its members, and [rendezvous hashing](#hashing) assigns
//! each key to one of them. All replicas watch all objects; each works only on its own keys. With three replicas,
//! each works on a third of the keys. When one ends, its keys are spread over the two others, and no other key
//! moves.
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
//! Settings, and sharding without a manager:
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
//! # Keys that change owners
//!
//! A replica that gains keys queues those that the caches of its controllers contain, as at its start. State that
//! the former owner had for a key (a retry, [`Action::requeue_after`](crate::controller::Action::requeue_after), an
//! object that was already deleted) is lost, as in a restart of the program. A deletion therefore needs a finalizer
//! to be reconciled for certain. A replica that loses keys lets their reconciles end, and only these keys wait.
//!
//! A replica that cannot renew its lease within the renew deadline aborts its reconciles at their next await, and
//! joins again when it can.
//!
//! # The protocol
//!
//! Besides holder and times, a lease carries three things: a token that is unique to one creation of a lease; the
//! *view*, which names the members (lease and token) whose keys the replica leaves to them; and *finishing*, the
//! hashes of keys that it began before and still processes although others own them now. Every retry period, a
//! replica renews its lease and lists the leases of the group. It knows others only from these lists and their
//! order.
//!
//! 1. *Join.* Create the lease. If its name is taken by a holder with the same identity, wait for that lease to
//!    expire as in 4. Then list. The members in this first list are *awaited* until a list shows this replica in
//!    their view, or shows them gone or created again with another token. No key begins before.
//! 2. *Work.* A key begins only while this replica wins it against every lease of the latest list, no lease of that
//!    list has it in *finishing*, and the last successful renewal was sent less than the renew deadline ago.
//! 3. *Acknowledge.* When a list shows a new member, first stop beginning the keys that it wins. Then write a view
//!    with it and, as *finishing*, those of its keys that are still in processing. Write again as they end.
//! 4. *Remove the dead.* A lease that has not changed for its duration, by the own clock since this version was
//!    first seen, is deleted on condition that it still has this version. No member takes its keys before a list
//!    shows that it is gone.
//! 5. *Leave.* Begin no more keys, wait for those in processing, delete the lease.
//! 6. *Lose.* Without a renewal for the renew deadline, or when a list does not show the lease: abort all
//!    processing, and after its end join again with a new token.
//!
//! # Why two replicas never process a key at once
//!
//! Take two replicas A and B, where A's lease is older than B's. B's first list was made after B's lease, so it
//! shows A's lease, or A's lease is gone.
//!
//! *A's lease exists.* B begins no key that A wins (2), and none at all before it has seen itself in A's view (1).
//! When A wrote that view, it had stopped beginning keys that B wins, and all of them that it was still processing
//! are in *finishing* (3). From then on *finishing* only shrinks, so any later list names all of them. Hence B
//! processes a key that it wins only after A has ended it, and A does not begin it again while A sees B's lease.
//! B's lease only disappears by 4 or 5.
//!
//! *A's lease is gone.* After 5, its owner processes nothing. After 4, its last version had existed for the whole
//! duration by the clock of the member that deleted it. The deletion named that version, so no renewal came after
//! it and none can succeed later: it would name a version that no longer exists. The owner counts from the time at
//! which it sent its last successful renewal, which is before any member saw it, and stops after the renew
//! deadline, which is shorter. So it has stopped, unless its clock is slower than the other by more than
//! `lease_duration / renew_deadline` (1.5 with the defaults). Two clocks are never compared; only their rates
//! matter.
//!
//! A restarted replica is a new member. So is a lease that is created again because the response to its creation was
//! lost: its token differs, so earlier publications do not apply to it.
//!
//! The argument fails where leader election's fails: if leases are deleted by hand, and if a process is suspended in
//! the middle of a reconcile for longer than the lease lasts. To exclude even that, a write needs its own condition,
//! such as the resource version of an update.
//!
//! # Hashing
//!
//! Keys are assigned by their text (`namespace/name`), so that all controllers of a replica work on the same
//! objects. The hash of a text is 64-bit FNV-1a followed by the finalizer of SplitMix64. A member's score for a key
//! is that finalizer over the exclusive or of the hashes of lease name and key. The highest score wins; of equal
//! scores, the greater name. These functions do not change between versions.
//!
//! # With leader election
//!
//! Both can be used together: controllers that are [added](crate::manager::Manager::add) share their keys, and
//! those added with [`add_on_leader`](crate::manager::Manager::add_on_leader), or with
//! [`add_runnable`](crate::manager::Manager::add_runnable), run only on the leader.

//!
//! # Sharded caches
//!
//! Leases share the work, not the caches. With the shard selector of an informer
//! ([`shard_selector`](crate::informer::InformerOptions::shard_selector)), each replica caches only the objects of its
//! shard, and works on no others. Servers with the feature `ShardedListAndWatch` send no others. The shard is fixed:
//! each replica needs its index and the number of replicas. A controller uses either leases or a sharded cache.
//!
//! ```no_run
//! use k8s_openapi::api::core::v1::Pod;
//! use kubesmith_runtime::informer::SharedInformerFactory;
//! use kubesmith_runtime::sharding::{ShardKey, ShardSelector};
//!
//! fn factory(client: kube::Client, index: u32, replicas: u32) -> Option<SharedInformerFactory> {
//!     let shard = ShardSelector::nth(ShardKey::Uid, index, replicas)?;
//!     Some(SharedInformerFactory::builder(client).shard_selector_for::<Pod>(shard).build())
//! }
//! ```

mod core;
mod gate;
mod lease;
mod metrics;
mod protocol;
mod ring;
mod run;
mod shard;

pub(crate) use gate::Ownership;
pub use kubesmith_apimachinery::sharding::{ShardKey, ShardSelector};
pub use run::{Sharding, ShardingBuildError, ShardingBuilder, ShardingError};
pub(crate) use shard::{Begin, InWork};
pub use shard::{Shard, ShardState, SharePhase};
