//! The scheduler's part in the binding of claims: `pkg/scheduler/framework/plugins/volumebinding`, and the access mode
//! ReadWriteOncePod of `volumerestrictions`.

use std::sync::Arc;

use serde_json::{Value, json};

use super::super::cluster::{CLAIMS, CLASSES, Cluster, Fault, VOLUMES, unless_gone};
use super::super::owners::is_controlled_by;
use super::super::protection::{Used, claims_of, uses_of};
use super::super::{ephemeral, placement, volumes};
use super::NAME;
use super::fit::Misfit;
use super::limits;
use crate::meta::{self, member};
use crate::store::Object;

/// The provisioner of classes whose volumes an administrator makes (`NotSupportedProvisioner`).
const NO_PROVISIONER: &str = "kubernetes.io/no-provisioner";

fn claims(cluster: &Cluster, pod: &Value) -> Vec<Arc<Object>> {
    let key = |name: &str| format!("{}/{name}", meta::namespace(pod));
    claims_of(pod).filter_map(|name| cluster.get(CLAIMS, &key(&name))).collect()
}

/// `isPVCFullyBound`.
fn is_bound(claim: &Value) -> bool {
    !member(&claim["spec"], "volumeName").is_empty()
        && claim["metadata"]["annotations"].get(volumes::BIND_COMPLETED).is_some()
}

/// Reports whether an unbound claim is bound for the pod that uses it.
fn is_delayed(cluster: &Cluster, claim: &Value) -> bool {
    let class = cluster.get(CLASSES, volumes::class_of(claim));
    member(&claim["spec"], "volumeName").is_empty()
        && class.is_some_and(|class| volumes::waits_for_pod(&class.value))
}

/// Returns why a pod's claims cannot be used on any node (`PreFilter`).
pub(super) fn unusable(cluster: &Cluster, pod: &Value) -> Option<String> {
    for Used { name, ephemeral } in uses_of(pod) {
        let Some(stored) = cluster.get(CLAIMS, &format!("{}/{name}", meta::namespace(pod))) else {
            return Some(match ephemeral {
                Some(_) => {
                    format!(
                        "waiting for ephemeral volume controller to create the persistentvolumeclaim {name:?}"
                    )
                }
                None => format!("persistentvolumeclaim {name:?} not found"),
            });
        };
        let claim: &Value = &stored.value;
        if claim["status"]["phase"] == "Lost" {
            let volume = member(&claim["spec"], "volumeName");
            return Some(format!(
                "persistentvolumeclaim {name:?} bound to non-existent persistentvolume {volume:?}"
            ));
        }
        if meta::is_terminating(claim) {
            return Some(format!("persistentvolumeclaim {name:?} is being deleted"));
        }
        if ephemeral.is_some() && !is_controlled_by(claim, pod) {
            return Some(ephemeral::not_for(claim, pod));
        }
    }
    let is_late = |claim: &Arc<Object>| !is_bound(&claim.value) && !is_delayed(cluster, &claim.value);
    let is_any_late = claims(cluster, pod).iter().any(is_late);
    is_any_late.then(|| "pod has unbound immediate PersistentVolumeClaims".to_owned())
}

/// Returns why the node cannot have a pod's volumes (`Filter` of both plugins, and of NodeVolumeLimits between them).
pub(super) fn misfit(cluster: &Cluster, pod: &Value, others: &[&Value], node: &Value) -> Option<Misfit> {
    let claims = claims(cluster, pod);
    let is_used = |claim: &Value| {
        let mut users = others.iter().filter(|other| meta::namespace(other) == meta::namespace(pod));
        users.any(|other| claims_of(other).any(|name| name == meta::name(claim)))
    };
    let is_exclusive =
        |claim: &Value| meta::strings(&claim["spec"]["accessModes"]).contains(&"ReadWriteOncePod");
    if claims.iter().any(|claim| is_exclusive(&claim.value) && is_used(&claim.value)) {
        return Misfit::for_now(
            "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by \
             another pod",
        );
    }
    if let Some(misfit) = limits::exceeded(cluster, pod, others) {
        return Some(misfit);
    }
    // `FindPodVolumes`.
    let mut reasons: Vec<&str> =
        claims.iter().filter_map(|claim| unreachable(cluster, &claim.value, node)).collect();
    if bindings(cluster, &claims, node).is_none() {
        reasons.push("node(s) didn't find available persistent volumes to bind");
    }
    reasons.sort_unstable();
    reasons.dedup();
    let reasons: Vec<String> = reasons.into_iter().map(str::to_owned).collect();
    (!reasons.is_empty()).then_some(Misfit::Node(reasons, false))
}

/// Returns why the node cannot use the volume of a bound claim (`checkBoundClaims`).
fn unreachable(cluster: &Cluster, claim: &Value, node: &Value) -> Option<&'static str> {
    if !is_bound(claim) {
        return None;
    }
    match cluster.get(VOLUMES, member(&claim["spec"], "volumeName")) {
        None => Some("node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"),
        Some(volume) if !placement::reaches(&volume.value, node) => {
            Some("node(s) didn't match PersistentVolume's node affinity")
        }
        Some(_) => None,
    }
}

/// An unbound claim with its volume; without one, the volume has to be provisioned.
type Binding = (Arc<Object>, Option<Value>);

/// Chooses volumes for unbound claims, the smallest claim first (`findMatchingVolumes` and `checkVolumeProvisions`);
/// `None` if a claim can have none.
fn bindings(cluster: &Cluster, claims: &[Arc<Object>], node: &Value) -> Option<Vec<Binding>> {
    let mut unbound: Vec<Arc<Object>> =
        claims.iter().filter(|claim| !is_bound(&claim.value)).cloned().collect();
    unbound.sort_by_cached_key(|claim| volumes::requested(&claim.value));
    let mut found: Vec<Binding> = Vec::new();
    for claim in unbound {
        let selected = claim.value["metadata"]["annotations"].get(volumes::SELECTED_NODE);
        let is_free = |volume: &Value| {
            let mut chosen = found.iter().filter_map(|(_, volume)| volume.as_ref());
            placement::reaches(volume, node) && !chosen.any(|other| meta::name(other) == meta::name(volume))
        };
        let volume = match selected {
            Some(_) => None,
            None => volumes::matching(cluster, &claim.value, is_free),
        };
        let fits = match (&volume, selected) {
            (Some(volume), _) => placement::reaches(volume, node),
            (None, Some(selected)) if selected != NAME => false,
            (None, _) => is_provisioned(cluster, &claim.value, node),
        };
        if !fits {
            return None;
        }
        found.push((claim, volume));
    }
    Some(found)
}

/// Reports whether a claim's class provisions volumes for the node.
fn is_provisioned(cluster: &Cluster, claim: &Value, node: &Value) -> bool {
    let class = cluster.get(CLASSES, volumes::class_of(claim));
    class.is_some_and(|class| {
        class.value["provisioner"] != NO_PROVISIONER && placement::is_allowed(&class.value, node)
    })
}

/// Reserves volumes for the claims that wait for the pod, or has them provisioned (`bindAPIUpdate`). Returns false until
/// all claims are bound.
pub(super) async fn bind(cluster: &Cluster, pod: &Value, node: &Value) -> Result<bool, Fault> {
    let bindings = bindings(cluster, &claims(cluster, pod), node).unwrap_or_default();
    for (claim, volume) in &bindings {
        let claim: &Value = &claim.value;
        if let Some(volume) = volume {
            volumes::reserve(cluster, volume, claim).await?;
        } else if claim["metadata"]["annotations"].get(volumes::SELECTED_NODE).is_none() {
            let patch = json!({"metadata": {"annotations": {volumes::SELECTED_NODE: NAME}}});
            unless_gone(cluster.patch(CLAIMS, claim, &patch).await)?;
        }
    }
    Ok(bindings.is_empty())
}
