//! Claims, volumes and their attributes classes that are being deleted go once nothing uses them: the protection controllers
//! of pkg/controller/volume.

use serde_json::Value;

use super::Outcome;
use super::cluster::{ATTRIBUTES_CLASSES, CLAIMS, Cluster, PODS, Resource, VOLUMES};
use crate::admission::PROTECTION_FINALIZERS;
use crate::meta;
use crate::names::ephemeral_claim;

pub(super) const WATCHES: &[&str] =
    &[CLAIMS.collection, VOLUMES.collection, ATTRIBUTES_CLASSES.collection, PODS.collection];

/// The claim, volume or class; of a claim or volume, its class too; of a pod, its claims. A key begins with the collection.
pub(super) fn keys(collection: &str, key: &str, object: &Value) -> Vec<String> {
    if collection != PODS.collection {
        let classes = classes_of(object).map(|name| format!("{}/{name}", ATTRIBUTES_CLASSES.collection));
        return std::iter::once(format!("{collection}/{key}")).chain(classes).collect();
    }
    let namespace = meta::namespace(object);
    claims_of(object).map(|name| format!("{}/{namespace}/{name}", CLAIMS.collection)).collect()
}

pub(super) async fn reconcile(cluster: &Cluster, key: &str) -> Outcome {
    let Some((collection, key)) = key.split_once('/') else { return Ok(None) };
    let of = [CLAIMS, VOLUMES, ATTRIBUTES_CLASSES].into_iter().find(|of| of.collection == collection);
    let Some(of) = of else { return Ok(None) };
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

/// A volume is used while it is bound, a claim while a pod with a node has it, a class while a claim or volume names it.
fn is_used(cluster: &Cluster, of: Resource, object: &Value) -> bool {
    if of == VOLUMES {
        return object["status"]["phase"] == "Bound";
    }
    let name = meta::name(object);
    if of == ATTRIBUTES_CLASSES {
        let names_it = |object: &Value| classes_of(object).any(|class| class == name);
        return [VOLUMES, CLAIMS].into_iter().any(|of| cluster.everywhere(of).iter().any(names_it));
    }
    let pods = cluster.list(PODS, meta::namespace(object));
    pods.iter()
        .filter(|pod| !pod["spec"]["nodeName"].is_null())
        .any(|pod| claims_of(pod).any(|claim| claim == name))
}

/// The attributes classes that a claim or volume names (`getPVCsAssignedToVAC` and `getPVsAssignedToVAC`).
fn classes_of(object: &Value) -> impl Iterator<Item = &str> {
    let status = &object["status"];
    let names = [
        &object["spec"]["volumeAttributesClassName"],
        &status["currentVolumeAttributesClassName"],
        &status["modifyVolumeStatus"]["targetVolumeAttributesClassName"],
    ];
    names.into_iter().filter_map(Value::as_str)
}

/// A claim that a pod uses.
pub(super) struct Used<'v> {
    pub(super) name: String,
    /// The generic ephemeral volume for which the claim is made.
    pub(super) ephemeral: Option<&'v Value>,
}

/// Returns the claims that a pod uses.
pub(super) fn uses_of(pod: &Value) -> impl Iterator<Item = Used<'_>> {
    let volumes = pod["spec"]["volumes"].as_array().into_iter().flatten();
    volumes.filter_map(|volume| use_of(pod, volume))
}

/// Returns the claim of a pod's volume.
pub(super) fn use_of<'v>(pod: &Value, volume: &'v Value) -> Option<Used<'v>> {
    if let Some(name) = volume["persistentVolumeClaim"]["claimName"].as_str() {
        return Some(Used { name: name.to_owned(), ephemeral: None });
    }
    let name = || ephemeral_claim(meta::name(pod), meta::member(volume, "name"));
    volume["ephemeral"].is_object().then(|| Used { name: name(), ephemeral: Some(volume) })
}

/// Returns the names of the claims that a pod uses.
pub(super) fn claims_of(pod: &Value) -> impl Iterator<Item = String> {
    uses_of(pod).map(|used| used.name)
}
