//! The status of resource quotas: `pkg/controller/resourcequota`.

use std::time::Duration;

use serde_json::{Value, json};

use super::Outcome;
use super::cluster::{Cluster, QUOTAS, unless_gone};
use crate::amounts::{self, Quantities, quantities};
use crate::meta;
use crate::quota;

/// Quotas, and the objects that they usually count. Others are counted again from time to time.
pub(super) const WATCHES: &[&str] = &[
    QUOTAS.collection,
    "configmaps",
    "cronjobs.batch",
    "daemonsets.apps",
    "deployments.apps",
    "horizontalpodautoscalers.autoscaling",
    "ingresses.networking.k8s.io",
    "jobs.batch",
    "persistentvolumeclaims",
    "pods",
    "replicasets.apps",
    "replicationcontrollers",
    "secrets",
    "serviceaccounts",
    "services",
    "statefulsets.apps",
];

/// The interval in which other objects are counted: `resourceQuotaControllerDiscoveryPeriod`.
const INTERVAL: Duration = Duration::from_secs(30);

/// The interval in which watched objects are counted again, which heals a wrong usage: `ResourceQuotaSyncPeriod`.
const RESYNC: Duration = Duration::from_secs(5 * 60);

/// The quota, unless only its usage changed: a write that is not stored yet would not be counted. A write that failed asks for a new
/// count. Of another object, the quotas of its namespace.
pub(super) fn keys(cluster: &Cluster, collection: &str, key: &str, object: &Value) -> Vec<String> {
    if collection == QUOTAS.collection && is_current(object) {
        return cluster.server().recounts().take(key).into_iter().collect();
    }
    let namespace = meta::namespace(object);
    let own = (collection == QUOTAS.collection).then(|| key.to_owned());
    let counts_quotas = cluster.list(QUOTAS, namespace);
    let all = counts_quotas.iter().map(|quota| format!("{namespace}/{}", meta::name(quota)));
    own.into_iter().chain(all).collect()
}

/// Reports whether the status has the limits of the spec, and what is used.
fn is_current(quota: &Value) -> bool {
    quota["status"]["used"].is_object()
        && quantities(&quota["spec"]["hard"]) == quantities(&quota["status"]["hard"])
}

/// `syncResourceQuota`.
pub(super) async fn reconcile(cluster: &Cluster, key: &str) -> Outcome {
    let Some(stored) = cluster.get(QUOTAS, key) else { return Ok(None) };
    let object: &Value = &stored.value;
    let hard = quantities(&object["spec"]["hard"]);
    let before = quantities(&object["status"]["used"]);
    let (counted, is_watched) = counted(cluster, object, &hard);
    let mut used = before.clone();
    used.extend(counted);
    used.retain(|resource, _| hard.contains_key(resource));
    if !is_current(object) || used != before {
        let mut next = object.clone();
        next["status"] = json!({"hard": object["spec"]["hard"], "used": amounts::to_value(&used)});
        unless_gone(cluster.update_status(QUOTAS, &next).await)?;
    }
    Ok(Some(if is_watched { RESYNC } else { INTERVAL }))
}

/// Counts what the namespace uses of a quota's resources, and reports whether all of these objects are watched.
fn counted(cluster: &Cluster, quota: &Value, hard: &Quantities) -> (Quantities, bool) {
    let (mut used, mut is_watched) = (Quantities::new(), true);
    let prefix = format!("{}/", meta::namespace(quota));
    let server = cluster.server();
    for def in server.registry().stored().iter().filter(|def| def.namespaced && !quota::is_ignored(def)) {
        let resources: Vec<&String> = hard.keys().filter(|resource| quota::uses(def, resource)).collect();
        if resources.is_empty() {
            continue;
        }
        is_watched &= WATCHES.contains(&def.collection.as_str());
        let zero = resources.iter().map(|resource| ((*resource).clone(), 0.into()));
        amounts::add(&mut used, &zero.collect());
        let snapshot = server.store.list(&def.collection, &prefix, None);
        for (_, object) in snapshot.map(|snapshot| snapshot.objects).unwrap_or_default() {
            if quota::is_in_scope(def, quota, &object.value) {
                let mut usage = quota::usage(def, &object.value, cluster.now());
                usage.retain(|resource, _| hard.contains_key(resource));
                amounts::add(&mut used, &usage);
            }
        }
    }
    (used, is_watched)
}
