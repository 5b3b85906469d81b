//! `StorageObjectInUseProtection`: claims, volumes and volume attributes classes have a finalizer, which
//! kube-controller-manager takes off once nothing uses them.

use serde_json::{Value, json};

use super::super::{Attributes, Operation};
use super::object_of;
use crate::meta;
use crate::status::ApiResult;

/// Collections with their finalizers (pkg/volume/util/finalizer.go).
pub(crate) const FINALIZERS: &[(&str, &str)] = &[
    ("persistentvolumeclaims", "kubernetes.io/pvc-protection"),
    ("persistentvolumes", "kubernetes.io/pv-protection"),
    ("volumeattributesclasses.storage.k8s.io", "kubernetes.io/vac-protection"),
];

pub(super) fn admit(attributes: &Attributes<'_>, object: Option<&mut Value>) -> ApiResult<()> {
    let collection = attributes.call.def.collection.as_str();
    let Some((_, finalizer)) = FINALIZERS.iter().find(|(of, _)| *of == collection) else { return Ok(()) };
    let Some(object) = object_of(attributes, object, collection, &[Operation::Create]) else { return Ok(()) };
    if attributes.call.server.is_bare() || meta::finalizers(object).contains(finalizer) {
        return Ok(());
    }
    let finalizers: Vec<&str> = meta::finalizers(object).into_iter().chain([*finalizer]).collect();
    let finalizers = json!(finalizers);
    meta::set(object, "finalizers", finalizers);
    Ok(())
}
