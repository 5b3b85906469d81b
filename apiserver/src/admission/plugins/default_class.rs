//! `DefaultStorageClass` and `DefaultIngressClass`: a claim or an ingress that names no class gets the default one.

use std::cmp::Reverse;

use serde_json::Value;

use super::super::{Attributes, Operation};
use super::object_of;
use crate::builtin::is_default_storage_class;
use crate::meta;
use crate::server::Server;
use crate::status::ApiResult;

/// The annotation of ingresses that chose a class before `ingressClassName` existed.
const OLD_INGRESS_CLASS: &str = "kubernetes.io/ingress.class";

/// The annotation of claims that chose a class before `storageClassName` existed.
const OLD_STORAGE_CLASS: &str = "volume.beta.kubernetes.io/storage-class";

/// Source: plugin/pkg/admission/storage/storageclass/setdefault.
pub(super) fn admit_claim(attributes: &Attributes<'_>, object: Option<&mut Value>) -> ApiResult<()> {
    let claims = "persistentvolumeclaims";
    let Some(claim) = object_of(attributes, object, claims, &[Operation::Create]) else { return Ok(()) };
    let is_old = claim["metadata"]["annotations"].get(OLD_STORAGE_CLASS).is_some();
    if !is_old
        && claim["spec"]["storageClassName"].is_null()
        && let Some(name) =
            newest(&attributes.call.server, "storageclasses.storage.k8s.io", is_default_storage_class)
    {
        claim["spec"]["storageClassName"] = name.into();
    }
    Ok(())
}

/// Source: plugin/pkg/admission/network/defaultingressclass.
pub(super) fn admit_ingress(attributes: &Attributes<'_>, object: Option<&mut Value>) -> ApiResult<()> {
    let ingresses = "ingresses.networking.k8s.io";
    let Some(ingress) = object_of(attributes, object, ingresses, &[Operation::Create]) else { return Ok(()) };
    let is_old = ingress["metadata"]["annotations"].get(OLD_INGRESS_CLASS).is_some();
    if !is_old
        && ingress["spec"]["ingressClassName"].is_null()
        && let Some(name) =
            newest(&attributes.call.server, "ingressclasses.networking.k8s.io", is_default_ingress_class)
    {
        ingress["spec"]["ingressClassName"] = name.into();
    }
    Ok(())
}

fn is_default_ingress_class(class: &Value) -> bool {
    is_marked(class, "ingressclass.kubernetes.io/is-default-class")
}

fn is_marked(class: &Value, annotation: &str) -> bool {
    class["metadata"]["annotations"][annotation] == "true"
}

/// Returns the newest default class, of equally old ones the first by name (`GetDefaultClass` of
/// pkg/volume/util/storageclass.go).
fn newest(server: &Server, collection: &str, is_default: fn(&Value) -> bool) -> Option<String> {
    let classes = server.store.list(collection, "", None).ok()?.objects;
    let defaults = classes.iter().filter(|(_, class)| is_default(&class.value));
    let newest =
        defaults.min_by_key(|(_, class)| Reverse(meta::text(&class.value, "creationTimestamp").to_owned()));
    newest.map(|(name, _)| name.to_string())
}
