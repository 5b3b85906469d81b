//! Stateful sets: pods with stable names and claims, in order.
//!
//! Follows kube-controller-manager's `pkg/controller/statefulset` (1.36).

mod claims;
mod identity;
mod rollout;

use std::time::Duration;

use serde_json::{Value, json};

use super::Outcome;
use super::cluster::{CLAIMS, Cluster, Fault, PODS, REVISIONS, STATEFUL_SETS, unless_gone};
use super::history::History;
use super::owners::{claim, is_controlled_by, owner_keys};
use super::pods::{is_ready, tell_refused, until_available};
use crate::meta;

pub(super) const WATCHES: &[&str] =
    &[STATEFUL_SETS.collection, PODS.collection, CLAIMS.collection, REVISIONS.collection];
const COMPONENT: &str = "statefulset-controller";

/// Returns the keys of an event: a set's own; for a pod or revision that of its owner; for a claim that of its pod's
/// set.
pub(super) fn keys(cluster: &Cluster, collection: &str, key: &str, object: &Value) -> Vec<String> {
    if collection != CLAIMS.collection {
        return owner_keys(cluster, STATEFUL_SETS, collection, key, object);
    }
    let namespace = meta::namespace(object);
    let sets = cluster.list(STATEFUL_SETS, namespace);
    let of = sets.iter().filter(|set| claims::is_of(set, meta::name(object)));
    of.map(|set| format!("{namespace}/{}", meta::name(set))).collect()
}

pub(super) async fn reconcile(cluster: &Cluster, key: &str) -> Outcome {
    let Some(stored) = cluster.get(STATEFUL_SETS, key) else { return Ok(None) };
    let set = &stored.value;
    // A new revision would block a set that waits for the deletion of its dependents.
    if meta::is_terminating(set) {
        return Ok(None);
    }
    let is_member = |pod: &Value| identity::ordinal(set, pod).is_some();
    let pods = claim(cluster, PODS, set, STATEFUL_SETS, is_member).await?;
    let mut history = History::of(cluster, set, STATEFUL_SETS).await?;
    let update = history.present(STATEFUL_SETS, "controller.kubernetes.io/hash").await?;
    let current = set["status"]["currentRevision"].as_str().and_then(|name| history.named(name));
    let current = current.unwrap_or(&update).clone();
    let sync = Sync { cluster, set, current, update };
    let done = sync.run(&pods).await;
    let again = sync.report(history.collisions).await?;
    let more = done?;
    let revisions: Vec<&str> = pods
        .iter()
        .filter_map(identity::revision)
        .chain([meta::name(&sync.current), meta::name(&sync.update)])
        .collect();
    history.clean_up(|revision| revisions.contains(&meta::name(revision))).await?;
    Ok(if more { Some(Duration::ZERO) } else { again })
}

/// A set, and the old and new revisions of its pods.
struct Sync<'a> {
    cluster: &'a Cluster,
    set: &'a Value,
    current: Value,
    update: Value,
}

impl Sync<'_> {
    fn replicas(&self) -> i64 {
        self.set["spec"]["replicas"].as_i64().unwrap_or(1)
    }

    /// The lowest ordinal.
    fn start(&self) -> i64 {
        self.set["spec"]["ordinals"]["start"].as_i64().unwrap_or(0)
    }

    fn is_running_and_ready(pod: &Value) -> bool {
        pod["status"]["phase"] == "Running" && is_ready(pod)
    }

    /// Returns the time until a pod counts as available; `None` for one that is not ready.
    fn until_available(&self, pod: &Value) -> Option<Duration> {
        let least = self.set["spec"]["minReadySeconds"].as_i64().unwrap_or(0);
        until_available(pod, least, self.cluster.now()).filter(|_| Self::is_running_and_ready(pod))
    }

    fn is_available(&self, pod: &Value) -> bool {
        self.until_available(pod).is_some_and(|wait| wait.is_zero())
    }

    /// Writes the status. Returns the time until the next ready pod counts as available.
    async fn report(&self, collisions: u64) -> Outcome {
        let namespace = meta::namespace(self.set);
        let all = self.cluster.list_where(PODS, namespace, |pod| is_controlled_by(pod, self.set));
        let pods: Vec<&Value> = all.iter().collect();
        let count = |wanted: &dyn Fn(&Value) -> bool| pods.iter().filter(|pod| wanted(pod)).count();
        let at = |pod: &Value, revision: &Value| {
            !meta::is_terminating(pod) && identity::revision(pod) == Some(meta::name(revision))
        };
        let mut status = json!({
            "observedGeneration": self.set["metadata"]["generation"],
            "replicas": pods.len(), "availableReplicas": count(&|pod| self.is_available(pod)),
            "readyReplicas": count(&Self::is_running_and_ready),
            "currentReplicas": count(&|pod| at(pod, &self.current)),
            "updatedReplicas": count(&|pod| at(pod, &self.update)),
            "currentRevision": meta::name(&self.current), "updateRevision": meta::name(&self.update),
            "collisionCount": collisions,
        });
        self.complete(&mut status);
        if let Some(map) = status.as_object_mut() {
            let always = ["replicas", "availableReplicas", "collisionCount"];
            map.retain(|key, value| *value != 0 || always.contains(&key.as_str()));
        }
        if status != self.set["status"] {
            let mut next = self.set.clone();
            next["status"] = status;
            unless_gone(self.cluster.update_status(STATEFUL_SETS, &next).await)?;
        }
        Ok(pods.iter().filter_map(|pod| self.until_available(pod)).filter(|wait| !wait.is_zero()).min())
    }

    /// Makes the new revision the current one when all pods have it (`completeRollingUpdate`).
    fn complete(&self, status: &mut Value) {
        let all = ["updatedReplicas", "readyReplicas", "replicas"]
            .iter()
            .all(|count| status[*count] == self.replicas());
        if all && self.set["spec"]["updateStrategy"]["type"] == "RollingUpdate" {
            status["currentReplicas"] = status["updatedReplicas"].clone();
            status["currentRevision"] = status["updateRevision"].clone();
        }
    }

    /// Records the creation or deletion of a pod or claim.
    async fn tell_done(&self, verb: &str, what: &str) {
        let reason = if verb == "create" { "SuccessfulCreate" } else { "SuccessfulDelete" };
        self.cluster.tell(COMPONENT, self.set, reason, &format!("{verb} {what}")).await;
    }

    /// Records whether a pod or claim was created, unless its name is taken.
    async fn tell_created(&self, what: &str, success: &str, made: Result<Value, Fault>) -> Result<(), Fault> {
        match made {
            Ok(_) => self.tell_done("create", &format!("{what} {success}")).await,
            Err(fault) => {
                if fault.code != 409 {
                    let text = format!("create {what} failed error: {}", fault.message());
                    tell_refused(self.cluster, COMPONENT, self.set, &text).await;
                }
                return Err(fault);
            }
        }
        Ok(())
    }

    async fn delete(&self, pod: &Value) -> Result<(), Fault> {
        unless_gone(self.cluster.delete(PODS, pod, json!({})).await)?;
        let (pod, set) = (meta::name(pod), meta::name(self.set));
        self.tell_done("delete", &format!("Pod {pod} in StatefulSet {set} successful")).await;
        Ok(())
    }
}
