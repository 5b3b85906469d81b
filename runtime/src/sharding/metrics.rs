//! Metrics of a group.

use super::shard::{Shard, ShardState, SharePhase};
use crate::metrics::Registry;

/// Registers the metrics of a share in `registry`, with the group as label.
pub(super) fn register(registry: &Registry, group: &str, shard: &Shard) {
    let labels = [("group", group)];
    let gauge = |name: &str, help: &str, read: fn(&ShardState) -> f64| {
        let shard = shard.clone();
        registry.gauge_fn(name, help, &labels, move || Some(read(&shard.state())));
    };
    gauge("sharding_members", "Members of the group, this replica included.", |state| {
        state.members.len() as f64
    });
    gauge("sharding_working", "1 while this replica works on its keys.", |state| {
        f64::from(u8::from(state.phase == SharePhase::Working))
    });
    gauge("sharding_owned_ratio", "The part of all keys that is this replica's.", |state| state.share);
    gauge("sharding_finishing_keys", "Keys in work that others wait for.", |state| state.finishing as f64);
    gauge("sharding_blocked_keys", "Own keys that others have not finished.", |state| state.blocked as f64);
    let counter = |name: &str, help: &str, read: fn(&ShardState) -> u64| {
        let shard = shard.clone();
        registry.counter_fn(name, help, &labels, move || Some(read(&shard.state())));
    };
    counter("sharding_handovers_total", "How often the keys of this replica have changed.", |state| {
        state.hand_overs
    });
    counter("sharding_lost_total", "How often the lease could not be kept.", |state| state.lost);
}
