//! Binds volumes and claims: kube-controller-manager's `pkg/controller/volume/persistentvolume` (1.36), with the
//! scheduler's part for classes that wait for a pod. The simulated node provisions the volumes of its own class.

use kubesmith_apimachinery::quantity::Quantity;
use serde_json::{Value, json};

use super::Outcome;
use super::cluster::{CLAIMS, CLASSES, Cluster, Fault, PODS, VOLUMES, unless_gone};
use super::protection::claims_of;
use crate::meta;
use crate::selector;

pub(super) const WATCHES: &[&str] =
    &[CLAIMS.collection, VOLUMES.collection, CLASSES.collection, PODS.collection];

/// The provisioner of the simulated node's class.
pub(super) const PROVISIONER: &str = "kubesmith.dev/simulated";
pub(super) const BIND_COMPLETED: &str = "pv.kubernetes.io/bind-completed";
const BOUND_BY_CONTROLLER: &str = "pv.kubernetes.io/bound-by-controller";
const PROVISIONED_BY: &str = "pv.kubernetes.io/provisioned-by";
/// The scheduler's choice of a node for a claim (`AnnSelectedNode`).
pub(super) const SELECTED_NODE: &str = "volume.kubernetes.io/selected-node";
const STORAGE_PROVISIONER: &str = "volume.kubernetes.io/storage-provisioner";

/// Returns the keys of an event: of a claim and its volume; of a volume and its claim, or all pending claims; for a
/// class the same claims; for a pod its claims. A key begins with the collection.
pub(super) fn keys(cluster: &Cluster, collection: &str, key: &str, object: &Value) -> Vec<String> {
    let claim = |key: &str| format!("{}/{key}", CLAIMS.collection);
    let volume = |name: &str| format!("{}/{name}", VOLUMES.collection);
    if collection == PODS.collection {
        let namespace = meta::namespace(object);
        return claims_of(object).map(|name| claim(&format!("{namespace}/{name}"))).collect();
    }
    if collection == CLAIMS.collection {
        let bound = meta::member(&object["spec"], "volumeName");
        return [claim(key)].into_iter().chain((!bound.is_empty()).then(|| volume(bound))).collect();
    }
    let own = (collection == VOLUMES.collection).then(|| volume(key));
    let reference = &object["spec"]["claimRef"];
    if reference.is_object() {
        let (namespace, name) = (meta::member(reference, "namespace"), meta::member(reference, "name"));
        return own.into_iter().chain([claim(&format!("{namespace}/{name}"))]).collect();
    }
    let waiting =
        cluster.everywhere(CLAIMS).into_iter().filter(|claim| claim["spec"]["volumeName"].is_null());
    let waiting =
        waiting.map(|object| claim(&format!("{}/{}", meta::namespace(&object), meta::name(&object))));
    own.into_iter().chain(waiting).collect()
}

pub(super) async fn reconcile(cluster: &Cluster, key: &str) -> Outcome {
    let Some((collection, key)) = key.split_once('/') else { return Ok(None) };
    if collection == VOLUMES.collection {
        if let Some(stored) = cluster.get(VOLUMES, key) {
            sync_volume(cluster, &stored.value).await?;
        }
    } else if let Some(stored) = cluster.get(CLAIMS, key)
        && !meta::is_terminating(&stored.value)
    {
        sync_claim(cluster, &stored.value).await?;
    }
    Ok(None)
}

/// `syncVolume`: updates the phase; a released volume is deleted if its policy says so.
async fn sync_volume(cluster: &Cluster, volume: &Value) -> Result<(), Fault> {
    let reference = &volume["spec"]["claimRef"];
    if meta::member(reference, "uid").is_empty() {
        return set_phase(cluster, volume, "Available").await;
    }
    let key = format!("{}/{}", meta::member(reference, "namespace"), meta::member(reference, "name"));
    let claim = cluster.get(CLAIMS, &key);
    if claim.is_some_and(|claim| meta::text(&claim.value, "uid") == meta::member(reference, "uid")) {
        // `sync_claim` binds them.
        return Ok(());
    }
    set_phase(cluster, volume, "Released").await?;
    let is_ours = volume["metadata"]["annotations"][PROVISIONED_BY] == PROVISIONER;
    if is_ours && volume["spec"]["persistentVolumeReclaimPolicy"] == "Delete" && !meta::is_terminating(volume)
    {
        return unless_gone(cluster.delete(VOLUMES, volume, json!({})).await);
    }
    Ok(())
}

async fn set_phase(cluster: &Cluster, volume: &Value, phase: &str) -> Result<(), Fault> {
    let mut next = volume.clone();
    next["status"]["phase"] = phase.into();
    if next == *volume {
        return Ok(());
    }
    // The phase is independent of other writes, so the update has no version.
    meta::remove(&mut next, "resourceVersion");
    unless_gone(cluster.update_status(VOLUMES, &next).await)
}

/// `syncClaim`.
async fn sync_claim(cluster: &Cluster, claim: &Value) -> Result<(), Fault> {
    let name = meta::member(&claim["spec"], "volumeName");
    if !name.is_empty() {
        let is_complete = claim["metadata"]["annotations"][BIND_COMPLETED].is_string();
        return match cluster.get(VOLUMES, name) {
            Some(volume) if is_free_for(&volume.value, claim) => bind(cluster, &volume.value, claim).await,
            None if is_complete && claim["status"]["phase"] != "Lost" => {
                let mut next = claim.clone();
                next["status"]["phase"] = "Lost".into();
                unless_gone(cluster.update_status(CLAIMS, &next).await)
            }
            _ => Ok(()),
        };
    }
    let class = cluster.get(CLASSES, class_of(claim));
    let class = class.as_ref().map_or(&Value::Null, |class| &class.value);
    let waits = waits_for_pod(class) && !is_awaited(cluster, claim);
    if let Some(volume) = matching(cluster, claim, |_| !waits) {
        return bind(cluster, &volume, claim).await;
    }
    if !waits && class["provisioner"] == PROVISIONER && cluster.server().options().simulated_node {
        return provision(cluster, class, claim).await;
    }
    Ok(())
}

/// Reports whether claims of a class are bound when a pod uses them (`IsDelayBindingMode`).
pub(super) fn waits_for_pod(class: &Value) -> bool {
    class["volumeBindingMode"] == "WaitForFirstConsumer"
}

pub(super) fn class_of(object: &Value) -> &str {
    meta::member(&object["spec"], "storageClassName")
}

/// Reports whether the scheduler chose a node for the claim, or a pod with a node uses it.
fn is_awaited(cluster: &Cluster, claim: &Value) -> bool {
    if claim["metadata"]["annotations"].get(SELECTED_NODE).is_some() {
        return true;
    }
    let name = meta::name(claim);
    let pods = cluster.list(PODS, meta::namespace(claim));
    let placed = pods.iter().filter(|pod| !meta::member(&pod["spec"], "nodeName").is_empty());
    placed.into_iter().any(|pod| claims_of(pod).any(|used| used == name))
}

/// Reports whether a volume is unclaimed, or the claim's.
fn is_free_for(volume: &Value, claim: &Value) -> bool {
    let reference = &volume["spec"]["claimRef"];
    let is_same = |field: &str| meta::member(reference, field) == meta::text(claim, field);
    let uid = meta::member(reference, "uid");
    reference.is_null() || is_same("name") && is_same("namespace") && (uid.is_empty() || is_same("uid"))
}

/// Returns the volume for a claim: one reserved for it, or else the smallest offered one that fits
/// (`FindMatchingVolume`).
pub(super) fn matching(
    cluster: &Cluster,
    claim: &Value,
    is_offered: impl Fn(&Value) -> bool,
) -> Option<Value> {
    let (spec, wanted) = (&claim["spec"], requested(claim));
    let modes = meta::strings(&spec["accessModes"]);
    let fits = |volume: &Value| {
        let offered = meta::strings(&volume["spec"]["accessModes"]);
        size(&volume["spec"]["capacity"]) >= wanted
            && volume["spec"]["volumeMode"] == spec["volumeMode"]
            && modes.iter().all(|mode| offered.contains(mode))
            && !meta::is_terminating(volume)
            && is_free_for(volume, claim)
    };
    let mut volumes = cluster.everywhere(VOLUMES);
    volumes.retain(fits);
    if let Some(at) = volumes.iter().position(|volume| volume["spec"]["claimRef"].is_object()) {
        return Some(volumes.swap_remove(at));
    }
    let chosen = |volume: &Value| {
        class_of(volume) == class_of(claim)
            && volume["status"]["phase"] == "Available"
            && (spec["selector"].is_null()
                || selector::matches(&spec["selector"], &volume["metadata"]["labels"]))
    };
    volumes.retain(|volume| chosen(volume) && is_offered(volume));
    volumes.into_iter().reduce(|best, next| {
        if size(&next["spec"]["capacity"]) < size(&best["spec"]["capacity"]) { next } else { best }
    })
}

/// Returns the size that a claim requests.
pub(super) fn requested(claim: &Value) -> Option<Quantity> {
    size(&claim["spec"]["resources"]["requests"])
}

fn size(of: &Value) -> Option<Quantity> {
    Quantity::parse(meta::member(of, "storage")).ok()
}

/// Creates a volume for a claim, as a provisioner does; a later call binds both.
async fn provision(cluster: &Cluster, class: &Value, claim: &Value) -> Result<(), Fault> {
    let name = format!("pvc-{}", meta::text(claim, "uid"));
    if cluster.get(VOLUMES, &name).is_none() {
        let spec = &claim["spec"];
        let volume = json!({
            "metadata": {"name": name, "annotations": {PROVISIONED_BY: PROVISIONER}},
            "spec": {
                "accessModes": spec["accessModes"], "capacity": {"storage": spec["resources"]["requests"]["storage"]},
                "claimRef": reference(claim), "hostPath": {"path": format!("/var/local/{name}")},
                "persistentVolumeReclaimPolicy": class["reclaimPolicy"], "storageClassName": meta::name(class),
                "volumeMode": spec["volumeMode"],
            },
        });
        cluster.create(VOLUMES, "", &volume).await?;
        let text = format!("Successfully provisioned volume {name}");
        cluster.tell(PROVISIONER, claim, "ProvisioningSucceeded", &text).await;
    }
    let annotations = json!({"metadata": {"annotations": {STORAGE_PROVISIONER: PROVISIONER}}});
    unless_gone(cluster.patch(CLAIMS, claim, &annotations).await)
}

fn reference(claim: &Value) -> Value {
    json!({"apiVersion": "v1", "kind": CLAIMS.kind, "namespace": meta::namespace(claim), "name": meta::name(claim),
           "uid": meta::text(claim, "uid"), "resourceVersion": meta::text(claim, "resourceVersion")})
}

/// Reserves a volume for a claim, unless it is already (`GetBindVolumeToClaim`).
pub(super) async fn reserve(cluster: &Cluster, volume: &Value, claim: &Value) -> Result<Value, Fault> {
    let mut next = volume.clone();
    if !meta::member(&volume["spec"]["claimRef"], "uid").is_empty() {
        return Ok(next);
    }
    if volume["spec"]["claimRef"].is_null() {
        next["metadata"]["annotations"][BOUND_BY_CONTROLLER] = "yes".into();
    }
    next["spec"]["claimRef"] = reference(claim);
    cluster.update(VOLUMES, &next).await
}

/// Binds both to each other, in steps that can be repeated (`bind`).
async fn bind(cluster: &Cluster, volume: &Value, claim: &Value) -> Result<(), Fault> {
    let reserved = reserve(cluster, volume, claim).await?;
    set_phase(cluster, &reserved, "Bound").await?;
    let mut bound = claim.clone();
    if meta::member(&claim["spec"], "volumeName").is_empty() {
        bound["spec"]["volumeName"] = meta::name(volume).into();
        bound["metadata"]["annotations"][BOUND_BY_CONTROLLER] = "yes".into();
    }
    bound["metadata"]["annotations"][BIND_COMPLETED] = "yes".into();
    if bound != *claim {
        bound = cluster.update(CLAIMS, &bound).await?;
    }
    let mut shown = bound.clone();
    shown["status"]["phase"] = "Bound".into();
    shown["status"]["accessModes"] = volume["spec"]["accessModes"].clone();
    shown["status"]["capacity"] = volume["spec"]["capacity"].clone();
    if shown != bound {
        unless_gone(cluster.update_status(CLAIMS, &shown).await)?;
    }
    Ok(())
}
