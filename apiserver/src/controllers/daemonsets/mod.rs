//! Daemon sets: a pod for each node.
//!
//! Follows kube-controller-manager's `pkg/controller/daemon` (1.36). Failed pods are replaced at once.

mod nodes;
mod update;

use std::time::Duration;

use serde_json::{Value, json};

use super::Outcome;
use super::cluster::{Cluster, DAEMON_SETS, NODES, PODS, REVISIONS, unless_gone};
use super::history::History;
use super::owners::{claim, is_controlled_by, owner_keys};
use super::pods::{is_ready, until_available};
use crate::meta;

pub(super) const WATCHES: &[&str] =
    &[DAEMON_SETS.collection, PODS.collection, NODES.collection, REVISIONS.collection];
const COMPONENT: &str = "daemonset-controller";
/// The label with the hash of a pod's and a revision's template (`DefaultDaemonSetUniqueLabelKey` of k8s.io/api/apps/v1).
const HASH: &str = "controller-revision-hash";

/// Returns the keys of an event: a set's own; for a pod or revision those of its owner or matching sets; for a node
/// all.
pub(super) fn keys(cluster: &Cluster, collection: &str, key: &str, object: &Value) -> Vec<String> {
    if collection != NODES.collection {
        return owner_keys(cluster, DAEMON_SETS, collection, key, object);
    }
    let sets = cluster.everywhere(DAEMON_SETS);
    sets.iter().map(|set| format!("{}/{}", meta::namespace(set), meta::name(set))).collect()
}

pub(super) async fn reconcile(cluster: &Cluster, key: &str) -> Outcome {
    let Some(stored) = cluster.get(DAEMON_SETS, key) else { return Ok(None) };
    let set = &stored.value;
    if meta::is_terminating(set) {
        return Ok(None);
    }
    let mut history = History::of(cluster, set, DAEMON_SETS).await?;
    let present = history.present(DAEMON_SETS, HASH).await?;
    let hash = present["metadata"]["labels"][HASH].as_str().unwrap_or_default();
    let pods = claim(cluster, PODS, set, DAEMON_SETS, |_| true).await?;
    let sync = Sync { cluster, set, hash, nodes: cluster.everywhere(NODES) };
    let done = sync.run(&pods).await;
    let again = sync.report(history.collisions).await?;
    done?;
    let in_use = |revision: &Value| {
        let hash = &revision["metadata"]["labels"][HASH];
        *hash == sync.hash || pods.iter().any(|pod| pod["metadata"]["labels"][HASH] == *hash)
    };
    history.clean_up(in_use).await?;
    Ok(again)
}

/// A set, the hash of its template, and the nodes.
struct Sync<'a> {
    cluster: &'a Cluster,
    set: &'a Value,
    hash: &'a str,
    nodes: Vec<Value>,
}

impl Sync<'_> {
    /// Returns the time until a pod counts as available; `None` for one that is not ready.
    fn until_available(&self, pod: &Value) -> Option<Duration> {
        let least = self.set["spec"]["minReadySeconds"].as_i64().unwrap_or(0);
        until_available(pod, least, self.cluster.now())
    }

    fn is_available(&self, pod: &Value) -> bool {
        self.until_available(pod).is_some_and(|wait| wait.is_zero())
    }

    /// Reports whether a pod has the current template.
    fn is_new(&self, pod: &Value) -> bool {
        pod["metadata"]["labels"][HASH] == self.hash
    }

    /// Writes the status (`updateDaemonSetStatus`). Returns the time until the next ready pod counts as available.
    async fn report(&self, collisions: u64) -> Outcome {
        let namespace = meta::namespace(self.set);
        let all = self.cluster.list_where(PODS, namespace, |pod| is_controlled_by(pod, self.set));
        let pods: Vec<&Value> = all.iter().collect();
        let [mut desired, mut current, mut stray, mut ready, mut available, mut updated] = [0; 6];
        for node in &self.nodes {
            let mut own: Vec<&Value> = pods.iter().copied().filter(|pod| nodes::is_for(pod, node)).collect();
            own.sort_by_key(|pod| meta::text(pod, "creationTimestamp"));
            let wanted = self.fits(node);
            desired += u32::from(wanted);
            let Some(pod) = own.first() else { continue };
            if !wanted {
                stray += 1;
                continue;
            }
            current += 1;
            ready += u32::from(is_ready(pod));
            available += u32::from(self.is_available(pod));
            updated += u32::from(own.iter().any(|pod| self.is_new(pod)));
        }
        let mut status = json!({
            "observedGeneration": self.set["metadata"]["generation"],
            "desiredNumberScheduled": desired, "currentNumberScheduled": current, "numberMisscheduled": stray,
            "numberReady": ready, "updatedNumberScheduled": updated, "numberAvailable": available,
            "numberUnavailable": desired - available, "collisionCount": collisions,
        });
        if let Some(map) = status.as_object_mut() {
            let omitted =
                ["updatedNumberScheduled", "numberAvailable", "numberUnavailable", "collisionCount"];
            map.retain(|key, value| *value != 0 || !omitted.contains(&key.as_str()));
        }
        if status != self.set["status"] {
            let mut next = self.set.clone();
            next["status"] = status;
            unless_gone(self.cluster.update_status(DAEMON_SETS, &next).await)?;
        }
        Ok(pods.iter().filter_map(|pod| self.until_available(pod)).filter(|wait| !wait.is_zero()).min())
    }
}
