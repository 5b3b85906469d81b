//! Removes the finalizers of claims and volumes that are no longer used: pvc-protection-controller and
//! pv-protection-controller of kube-controller-manager.

use serde_json::Value;

use super::Outcome;
use super::cluster::{CLAIMS, Cluster, PODS, Resource, VOLUMES};
use crate::admission::PROTECTION_FINALIZERS;
use crate::meta;

pub(super) const WATCHES: &[&str] = &[CLAIMS.collection, VOLUMES.collection, PODS.collection];

/// Returns the keys of an event: a claim's or volume's own; for a pod those of its claims. A key begins with the
/// collection.
pub(super) fn keys(collection: &str, key: &str, object: &Value) -> Vec<String> {
    if collection != PODS.collection {
        return vec![format!("{collection}/{key}")];
    }
    let namespace = meta::namespace(object);
    claims_of(object).map(|name| format!("{}/{namespace}/{name}", CLAIMS.collection)).collect()
}

pub(super) async fn reconcile(cluster: &Cluster, key: &str) -> Outcome {
    let Some((collection, key)) = key.split_once('/') else { return Ok(None) };
    let of = if collection == CLAIMS.collection { CLAIMS } else { VOLUMES };
    let Some(stored) = cluster.get(of, key) else { return Ok(None) };
    let object = &stored.value;
    let finalizer = PROTECTION_FINALIZERS.iter().find(|(of, _)| *of == collection).map(|(_, name)| *name);
    if let Some(finalizer) = finalizer
        && meta::is_terminating(object)
        && !is_used(cluster, of, object)
    {
        cluster.remove_finalizer(of, object, finalizer).await?;
    }
    Ok(None)
}

/// Reports whether a volume is bound, or a pod with a node uses a claim.
fn is_used(cluster: &Cluster, of: Resource, object: &Value) -> bool {
    if of == VOLUMES {
        return object["status"]["phase"] == "Bound";
    }
    let pods = cluster.list(PODS, meta::namespace(object));
    let name = meta::name(object);
    pods.iter()
        .filter(|pod| !pod["spec"]["nodeName"].is_null())
        .any(|pod| claims_of(pod).any(|claim| claim == name))
}

/// Returns the names of the claims that a pod uses.
pub(super) fn claims_of(pod: &Value) -> impl Iterator<Item = &str> {
    let volumes = pod["spec"]["volumes"].as_array().into_iter().flatten();
    volumes.filter_map(|volume| volume["persistentVolumeClaim"]["claimName"].as_str())
}
