//! `PersistentVolumeClaimResize`: only bound claims of a class that allows it grow
//! (plugin/pkg/admission/storage/persistentvolume/resize).

use serde_json::Value;

use super::super::Attributes;
use crate::amounts::quantities;
use crate::status::{ApiError, ApiResult};

pub(super) fn validate(attributes: &Attributes<'_>, object: Option<&Value>) -> ApiResult<()> {
    let call = attributes.call;
    let is_claim = call.def.collection == "persistentvolumeclaims" && call.path.subresource.is_empty();
    let (Some(claim), Some(old)) = (object.filter(|_| is_claim), attributes.old) else { return Ok(()) };
    let size = |claim: &Value| quantities(&claim["spec"]["resources"]["requests"]).remove("storage");
    if size(claim) <= size(old) {
        return Ok(());
    }
    let refuse =
        |text: &str| Err(ApiError::forbidden(call.def.subject(&attributes.shown_name(Some(claim))), text));
    if old["status"]["phase"] != "Bound" {
        return refuse("Only bound persistent volume claims can be expanded");
    }
    let class = class_of(claim).filter(|class| class_of(old) == Some(class));
    let stored = class.and_then(|class| call.server.store.get("storageclasses.storage.k8s.io", class));
    if stored.is_some_and(|class| class.value["allowVolumeExpansion"] == true) {
        return Ok(());
    }
    refuse(
        "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize",
    )
}

/// `GetPersistentVolumeClaimClass`.
fn class_of(claim: &Value) -> Option<&str> {
    let annotation = &claim["metadata"]["annotations"]["volume.beta.kubernetes.io/storage-class"];
    let class = annotation.as_str().or_else(|| claim["spec"]["storageClassName"].as_str());
    class.filter(|class| !class.is_empty())
}
