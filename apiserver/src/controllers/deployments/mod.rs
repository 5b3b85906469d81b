//! Deployments: one replica set for each template, and the rollout from one to the next.
//!
//! Follows kube-controller-manager's `pkg/controller/deployment` (1.36). Only the hash of a template differs, since
//! upstream's depends on how Go prints structures.

mod annotations;
mod revisions;
mod rollout;
mod scaling;
mod status;

use std::cmp::Ordering;

use serde_json::Value;

use super::Outcome;
use super::cluster::{Cluster, DEPLOYMENTS, Fault, PODS, REPLICA_SETS, unless_gone};
use super::owners::{claim, controller_of, is_controlled_by, owner_keys};
use super::pods::share;
use crate::meta;

pub(super) const WATCHES: &[&str] = &[DEPLOYMENTS.collection, REPLICA_SETS.collection, PODS.collection];
const COMPONENT: &str = "deployment-controller";

/// Returns the keys of an event: a deployment's own; for a replica set those of its owner or of deployments that match;
/// for a pod that of its deployment, which may wait for the pod to end.
pub(super) fn keys(cluster: &Cluster, collection: &str, key: &str, object: &Value) -> Vec<String> {
    if collection != PODS.collection {
        return owner_keys(cluster, DEPLOYMENTS, collection, key, object);
    }
    let owner = |object: &Value, kind: &str| {
        let owner = controller_of(object).filter(|owner| owner["kind"] == kind)?;
        Some(format!("{}/{}", meta::namespace(object), owner["name"].as_str().unwrap_or_default()))
    };
    let set = owner(object, REPLICA_SETS.kind).and_then(|key| cluster.get(REPLICA_SETS, &key));
    set.and_then(|set| owner(&set.value, DEPLOYMENTS.kind)).into_iter().collect()
}

/// A deployment and its replica sets, as read at the start of a run.
struct Rollout<'a> {
    cluster: &'a Cluster,
    deployment: Value,
    /// The set of the current template.
    new: Option<Value>,
    /// The sets of other templates, the oldest first.
    old: Vec<Value>,
}

pub(super) async fn reconcile(cluster: &Cluster, key: &str) -> Outcome {
    let Some(stored) = cluster.get(DEPLOYMENTS, key) else { return Ok(None) };
    let deployment = stored.value.clone();
    let sets = claim(cluster, REPLICA_SETS, &deployment, DEPLOYMENTS, |_| true).await?;
    let mut rollout = Rollout::new(cluster, deployment, sets);
    if meta::is_terminating(&rollout.deployment) {
        return rollout.write_status(None).await;
    }
    if rollout.pause_condition().await? {
        return Ok(None);
    }
    if rollout.deployment["spec"]["paused"] == true {
        rollout.sync_revision(false).await?;
        rollout.scale().await?;
        rollout.clean_up().await?;
        return rollout.write_status(None).await;
    }
    if rollout.is_scaled() {
        rollout.sync_revision(false).await?;
        rollout.scale().await?;
        return rollout.write_status(None).await;
    }
    match rollout.deployment["spec"]["strategy"]["type"].as_str() {
        Some("Recreate") => rollout.recreate().await,
        _ => rollout.roll().await,
    }
}

impl<'a> Rollout<'a> {
    fn new(cluster: &'a Cluster, deployment: Value, mut sets: Vec<Value>) -> Self {
        sets.sort_by(by_age);
        let template = &deployment["spec"]["template"];
        let at = sets.iter().position(|set| revisions::same_template(&set["spec"]["template"], template));
        let new = at.map(|at| sets.remove(at));
        Self { cluster, deployment, new, old: sets }
    }

    fn sets(&self) -> impl Iterator<Item = &Value> {
        self.old.iter().chain(&self.new)
    }

    /// The wanted number of pods.
    fn wanted(&self) -> i64 {
        replicas(&self.deployment)
    }

    /// Returns how many pods may exist beyond the wanted ones, and how many may be unavailable.
    fn limits(&self) -> (i64, i64) {
        let strategy = &self.deployment["spec"]["strategy"];
        if strategy["type"] == "Recreate" {
            return (0, 0);
        }
        let rolling = &strategy["rollingUpdate"];
        let surge = share(&rolling["maxSurge"], self.wanted(), true);
        let unavailable = share(&rolling["maxUnavailable"], self.wanted(), false);
        // Otherwise the rollout could never proceed.
        let unavailable = if surge == 0 && unavailable == 0 { 1 } else { unavailable };
        (surge, unavailable.min(self.wanted()))
    }

    /// The pods of a replica set.
    fn pods_of(&self, set: &Value) -> Vec<Value> {
        self.cluster.list_where(PODS, meta::namespace(set), |pod| is_controlled_by(pod, set))
    }

    /// Deletes the oldest replica sets beyond the history limit.
    async fn clean_up(&mut self) -> Result<(), Fault> {
        let Some(kept) = self.deployment["spec"]["revisionHistoryLimit"].as_u64() else { return Ok(()) };
        let mut idle: Vec<&Value> = self.old.iter().filter(|set| !meta::is_terminating(set)).collect();
        idle.sort_by_key(|set| annotations::revision(set));
        let surplus = idle.len().saturating_sub(usize::try_from(kept).unwrap_or(usize::MAX));
        for set in idle.into_iter().take(surplus) {
            let observed = set["status"]["observedGeneration"].as_i64().unwrap_or(0);
            let behind = set["metadata"]["generation"].as_i64().unwrap_or(0) > observed;
            if replicas(set) == 0 && set["status"]["replicas"] == 0 && !behind {
                unless_gone(self.cluster.delete(REPLICA_SETS, set, serde_json::json!({})).await)?;
            }
        }
        Ok(())
    }
}

/// The wanted number of an object's pods.
fn replicas(object: &Value) -> i64 {
    object["spec"]["replicas"].as_i64().unwrap_or(0)
}

/// A count in the status of a replica set or deployment.
fn counted(object: &Value, field: &str) -> i64 {
    object["status"][field].as_i64().unwrap_or(0)
}

/// Orders by creation, the oldest first; sets of the same second are ordered by revision.
fn by_age(a: &Value, b: &Value) -> Ordering {
    let created = |set: &Value| meta::text(set, "creationTimestamp").to_owned();
    created(a)
        .cmp(&created(b))
        .then_with(|| annotations::revision(a).cmp(&annotations::revision(b)))
        .then_with(|| meta::name(a).cmp(meta::name(b)))
}
