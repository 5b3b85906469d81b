//! `DefaultIngressClass`: an ingress that names no class gets the newest default one
//! (plugin/pkg/admission/network/defaultingressclass).

use std::cmp::Reverse;

use serde_json::Value;

use super::super::{Attributes, Operation};
use super::object_of;
use crate::meta;
use crate::status::ApiResult;

const IS_DEFAULT: &str = "ingressclass.kubernetes.io/is-default-class";
const OLD_CLASS: &str = "kubernetes.io/ingress.class";

pub(super) fn admit(attributes: &Attributes<'_>, object: Option<&mut Value>) -> ApiResult<()> {
    let ingresses = "ingresses.networking.k8s.io";
    let Some(ingress) = object_of(attributes, object, ingresses, &[Operation::Create]) else { return Ok(()) };
    let is_old = ingress["metadata"]["annotations"].get(OLD_CLASS).is_some();
    if is_old || !ingress["spec"]["ingressClassName"].is_null() {
        return Ok(());
    }
    let listed = attributes.call.server.store.list("ingressclasses.networking.k8s.io", "", None);
    let classes = listed.map(|snapshot| snapshot.objects).unwrap_or_default();
    let defaults =
        classes.iter().filter(|(_, class)| class.value["metadata"]["annotations"][IS_DEFAULT] == "true");
    // Equally old classes are in the order of their names already.
    let newest =
        defaults.min_by_key(|(_, class)| Reverse(meta::text(&class.value, "creationTimestamp").to_owned()));
    if let Some((name, _)) = newest {
        ingress["spec"]["ingressClassName"] = name.to_string().into();
    }
    Ok(())
}
