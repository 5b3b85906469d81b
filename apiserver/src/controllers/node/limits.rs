//! Limits of the node for volumes: how many of a driver it can have, and from which zones.
//!
//! Source: `pkg/scheduler/framework/plugins/nodevolumelimits` and `volumezone`, without the translation of in-tree volumes.

use std::collections::BTreeSet;

use serde_json::Value;

use super::super::cluster::{ATTACHMENTS, CLAIMS, CLASSES, CSI_NODES, Cluster, VOLUMES};
use super::super::protection::claims_of;
use super::super::volumes::class_of;
use super::NAME;
use super::fit::Misfit;
use crate::meta::{self, member};

/// A volume of a driver: both names.
type Unique = (String, String);

/// Returns the volumes of CSI drivers that a pod uses (`filterAttachableVolumes`).
fn csi_volumes(cluster: &Cluster, pod: &Value) -> BTreeSet<Unique> {
    let namespace = meta::namespace(pod);
    let unique = |name: String| {
        let claim = cluster.get(CLAIMS, &format!("{namespace}/{name}"))?;
        let volume = member(&claim.value["spec"], "volumeName");
        if cluster.get(VOLUMES, volume).is_some() {
            return of_volume(cluster, volume);
        }
        let class = cluster.get(CLASSES, class_of(&claim.value))?;
        Some((member(&class.value, "provisioner").to_owned(), format!("{namespace}/{name}")))
    };
    claims_of(pod).filter_map(unique).collect()
}

fn of_volume(cluster: &Cluster, name: &str) -> Option<Unique> {
    let volume = cluster.get(VOLUMES, name)?;
    let source = volume.value["spec"]["csi"].as_object()?;
    let text = |field: &str| Some(source.get(field)?.as_str()?.to_owned());
    Some((text("driver")?, text("volumeHandle")?))
}

/// Returns why a pod has too many volumes of a driver (`CSILimits`).
pub(super) fn exceeded(cluster: &Cluster, pod: &Value, others: &[&Value]) -> Option<Misfit> {
    let node = cluster.get(CSI_NODES, NAME)?;
    let drivers = node.value["spec"]["drivers"].as_array()?;
    let mut wanted = csi_volumes(cluster, pod);
    if wanted.is_empty() {
        return None;
    }
    let mut attached: BTreeSet<Unique> =
        others.iter().flat_map(|other| csi_volumes(cluster, other)).collect();
    wanted.retain(|volume| !attached.contains(volume));
    let here = cluster.objects(ATTACHMENTS, |attachment| attachment["spec"]["nodeName"] == NAME);
    let source = |attachment: &Value| {
        of_volume(cluster, member(&attachment["spec"]["source"], "persistentVolumeName"))
    };
    attached.extend(here.iter().filter_map(|attachment| source(&attachment.value)));
    let is_exceeded = |driver: &Value| {
        let count =
            |volumes: &BTreeSet<Unique>| volumes.iter().filter(|(name, _)| driver["name"] == *name).count();
        let new = count(&wanted);
        let limit = driver["allocatable"]["count"].as_u64().and_then(|limit| usize::try_from(limit).ok());
        new > 0 && limit.is_some_and(|limit| count(&attached) + new > limit)
    };
    drivers.iter().any(is_exceeded).then(|| Misfit::for_now("node(s) exceed max volume count")).flatten()
}

/// Labels of nodes and volumes for zones and regions, each with its present name.
const ZONES: [(&str, &str); 4] = [
    ("failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone"),
    ("failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region"),
    ("topology.kubernetes.io/zone", "topology.kubernetes.io/zone"),
    ("topology.kubernetes.io/region", "topology.kubernetes.io/region"),
];

/// Returns why a pod's volumes are in other zones than the node (`VolumeZone`).
pub(super) fn elsewhere(cluster: &Cluster, pod: &Value, node: &Value) -> Option<Misfit> {
    let labels = &node["metadata"]["labels"];
    if !ZONES.iter().any(|(label, _)| labels.get(label).is_some()) {
        return None;
    }
    let is_elsewhere = |name: String| {
        let claim = cluster.get(CLAIMS, &format!("{}/{name}", meta::namespace(pod)));
        let volume = claim.and_then(|claim| cluster.get(VOLUMES, member(&claim.value["spec"], "volumeName")));
        let Some(volume) = volume else { return false };
        ZONES.iter().any(|(label, present)| {
            let Some(zones) = volume.value["metadata"]["labels"][label].as_str() else { return false };
            let own = labels.get(label).or_else(|| labels.get(present)).and_then(Value::as_str);
            // `LabelZonesToSet` of component-helpers' storage/volume.
            own.is_none_or(|own| !zones.split("__").any(|zone| zone.trim() == own))
        })
    };
    claims_of(pod).any(is_elsewhere).then(|| Misfit::never("node(s) had no available volume zone")).flatten()
}
