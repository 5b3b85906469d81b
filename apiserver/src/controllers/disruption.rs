//! Disruption budgets: the number of their pods that may be evicted.
//!
//! Follows kube-controller-manager's `pkg/controller/disruption` (1.36). Pods of custom resources count by their scale,
//! as those of the built-in workloads do. The condition `DisruptionTarget` of pods is not removed.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value, json};

use super::Outcome;
use super::cluster::{BUDGETS, Cluster, DEPLOYMENTS, PODS, REPLICA_SETS, STATEFUL_SETS};
use super::owners::controller_of;
use super::pods::{is_ready, share};
use crate::disruption::set_condition;
use crate::meta;
use crate::selector;

pub(super) const WATCHES: &[&str] = &[
    BUDGETS.collection,
    PODS.collection,
    REPLICA_SETS.collection,
    DEPLOYMENTS.collection,
    STATEFUL_SETS.collection,
];
const COMPONENT: &str = "controllermanager";
/// The time for which an evicted pod counts as terminating (`DeletionTimeout`).
const DELETION_SECONDS: i64 = 2 * 60;

/// Returns the keys of an event: a budget's own; for a pod those that select it; for an owner all of its namespace.
pub(super) fn keys(cluster: &Cluster, collection: &str, key: &str, object: &Value) -> Vec<String> {
    if collection == BUDGETS.collection {
        return vec![key.to_owned()];
    }
    let labels = (collection == PODS.collection).then_some(&object["metadata"]["labels"]);
    let namespace = meta::namespace(object);
    let concerns = |budget: &Value| labels.is_none_or(|labels| selects(budget, labels));
    let budgets = cluster.list_where(BUDGETS, namespace, concerns);
    budgets.iter().map(|budget| format!("{namespace}/{}", meta::name(budget))).collect()
}

fn selects(budget: &Value, labels: &Value) -> bool {
    selector::matches(&budget["spec"]["selector"], labels)
}

pub(super) async fn reconcile(cluster: &Cluster, key: &str) -> Outcome {
    let Some(stored) = cluster.get(BUDGETS, key) else { return Ok(None) };
    let mut budget = stored.value.clone();
    let is_member = |pod: &Value| selects(&budget, &pod["metadata"]["labels"]);
    let pods = cluster.list_where(PODS, meta::namespace(&budget), is_member);
    let again = match expected(cluster, &budget, &pods) {
        Ok(expected) => update(&mut budget, &pods, &expected, cluster.now()),
        Err(why) => {
            fail(&mut budget, &why, cluster.now());
            if budget["status"] != stored.value["status"] {
                let text = format!("Failed to calculate the number of expected pods: {why}");
                cluster.warn(COMPONENT, &budget, "CalculateExpectedPodCountFailed", &text).await;
            }
            None
        }
    };
    if budget["status"] != stored.value["status"] {
        if pods.is_empty() {
            cluster.tell(COMPONENT, &budget, "NoPods", "No matching pods found").await;
        }
        cluster.update_status(BUDGETS, &budget).await?;
    }
    Ok(again)
}

/// The expected number of pods, and the number of them that should be healthy.
#[derive(Debug, PartialEq, Eq)]
struct Expected {
    pods: i64,
    healthy: i64,
}

/// `getExpectedPodCount`.
///
/// # Errors
/// Returns an error if a pod has an owner without a scale.
fn expected(cluster: &Cluster, budget: &Value, pods: &[Value]) -> Result<Expected, String> {
    let (spec, number) = (&budget["spec"], i64::try_from(pods.len()).unwrap_or(i64::MAX));
    if !spec["maxUnavailable"].is_null() {
        let all = scale_of_owners(cluster, pods)?;
        return Ok(Expected { pods: all, healthy: (all - share(&spec["maxUnavailable"], all, true)).max(0) });
    }
    Ok(match &spec["minAvailable"] {
        least if least.is_string() => {
            let all = scale_of_owners(cluster, pods)?;
            Expected { pods: all, healthy: share(least, all, true) }
        }
        // A budget without limits allows no eviction.
        least if least.is_null() => Expected { pods: 0, healthy: 0 },
        least => Expected { pods: number, healthy: least.as_i64().unwrap_or(0) },
    })
}

/// Sums the wanted replicas of the pods' owners; pods without an owner do not count (`getExpectedScale`).
fn scale_of_owners(cluster: &Cluster, pods: &[Value]) -> Result<i64, String> {
    let mut scales: BTreeMap<String, i64> = BTreeMap::new();
    for pod in pods {
        let Some(owner) = controller_of(pod) else { continue };
        let (uid, scale) = scale_of(cluster, meta::namespace(pod), owner).map_err(|why| {
            why.unwrap_or_else(|| format!("found no controllers for pod {:?}", meta::name(pod)))
        })?;
        scales.insert(uid, scale);
    }
    Ok(scales.values().sum())
}

/// Returns UID and replicas of an owner; for a replica set those of its deployment.
///
/// # Errors
/// Returns the reason why there is no scale; `None` if the owner does not exist.
fn scale_of(cluster: &Cluster, namespace: &str, owner: &Value) -> Result<(String, i64), Option<String>> {
    let text = |field: &str| owner[field].as_str().unwrap_or_default();
    let (group, version) = text("apiVersion").split_once('/').unwrap_or(("", text("apiVersion")));
    let registry = cluster.server().registry();
    let kinds = registry.all().filter(|def| def.group == group && def.kind == text("kind"));
    let def = kinds.min_by_key(|def| def.version != version).ok_or(None)?;
    let Some(scale) = &def.scale else {
        let resource = [def.plural.as_str(), &def.group].join(".");
        return Err(Some(format!(
            "{} does not implement the scale subresource",
            resource.trim_end_matches('.')
        )));
    };
    let stored =
        cluster.server().store.get(&def.collection, &def.key(namespace, text("name"))).ok_or(None)?;
    let object: &Value = &stored.value;
    if meta::text(object, "uid") != text("uid") {
        return Err(None);
    }
    if text("kind") == REPLICA_SETS.kind
        && let Some(parent) = controller_of(object).filter(|parent| parent["kind"] == DEPLOYMENTS.kind)
    {
        return scale_of(cluster, namespace, parent);
    }
    let path = scale.spec.trim_start_matches('.').split('.');
    let replicas = path.fold(object, |value, part| &value[part]).as_i64().unwrap_or(0);
    // The scale subresource uses 32 bits.
    let replicas = replicas.clamp(0, i32::MAX.into());
    Ok((text("uid").to_owned(), replicas))
}

/// Writes the status; returns the time until an evicted pod that still exists counts again.
fn update(budget: &mut Value, pods: &[Value], expected: &Expected, now: Timestamp) -> Option<Duration> {
    let (disrupted, again) = disrupted(budget, pods, now);
    let is_healthy = |pod: &&Value| {
        !meta::is_terminating(pod) && !disrupted.contains_key(meta::name(pod)) && is_ready(pod)
    };
    let healthy = i64::try_from(pods.iter().filter(is_healthy).count()).unwrap_or(i64::MAX);
    let allowed = if expected.pods <= 0 { 0 } else { (healthy - expected.healthy).max(0) };
    let generation = budget["metadata"]["generation"].clone();
    let status = meta::map_at(budget, "status");
    for (field, number) in [
        ("currentHealthy", healthy),
        ("desiredHealthy", expected.healthy),
        ("expectedPods", expected.pods),
        ("disruptionsAllowed", allowed),
    ] {
        status.insert(field.to_owned(), number.into());
    }
    status.insert("observedGeneration".to_owned(), generation);
    match disrupted.is_empty() {
        true => status.remove("disruptedPods"),
        false => status.insert("disruptedPods".to_owned(), disrupted.into()),
    };
    set_condition(budget, now, None);
    again
}

/// Returns the evicted pods that are about to end, with the time of their eviction (`buildDisruptedPodMap`).
fn disrupted(budget: &Value, pods: &[Value], now: Timestamp) -> (Map<String, Value>, Option<Duration>) {
    let noted = budget["status"]["disruptedPods"].as_object();
    let mut kept = Map::new();
    let mut again: Option<Duration> = None;
    for pod in pods.iter().filter(|pod| !meta::is_terminating(pod)) {
        let Some(time) = noted.and_then(|noted| noted.get(meta::name(pod))) else { continue };
        let since: Option<Timestamp> = time.as_str().and_then(|time| time.parse().ok());
        let until =
            since.and_then(|since| since.checked_add(SignedDuration::from_secs(DELETION_SECONDS)).ok());
        let left = until.and_then(|until| Duration::try_from(until.duration_since(now)).ok());
        if let Some(left) = left.filter(|left| !left.is_zero()) {
            again = Some(again.map_or(left, |again| again.min(left)));
            kept.insert(meta::name(pod).to_owned(), time.clone());
        }
    }
    (kept, again)
}

/// Allows no eviction while the number of pods is unknown (`failSafe`).
fn fail(budget: &mut Value, why: &str, now: Timestamp) {
    meta::map_at(budget, "status").insert("disruptionsAllowed".to_owned(), json!(0));
    set_condition(budget, now, Some(why));
}
