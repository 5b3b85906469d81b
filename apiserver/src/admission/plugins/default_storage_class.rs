//! `DefaultStorageClass`: a claim that names no class gets the default one.

use serde_json::Value;

use super::super::{Attributes, Operation};
use super::object_of;
use crate::status::ApiResult;

const IS_DEFAULT: &str = "storageclass.kubernetes.io/is-default-class";

pub(super) fn admit(attributes: &Attributes<'_>, object: Option<&mut Value>) -> ApiResult<()> {
    let claims = "persistentvolumeclaims";
    let Some(claim) = object_of(attributes, object, claims, &[Operation::Create]) else { return Ok(()) };
    if !claim["spec"]["storageClassName"].is_null() {
        return Ok(());
    }
    let listed = attributes.call.server.store.list("storageclasses.storage.k8s.io", "", None);
    let Ok(all) = listed else { return Ok(()) };
    let is_default = |class: &Value| class["metadata"]["annotations"][IS_DEFAULT] == "true";
    if let Some((name, _)) = all.objects.iter().find(|(_, class)| is_default(&class.value)) {
        claim["spec"]["storageClassName"] = name.to_string().into();
    }
    Ok(())
}
