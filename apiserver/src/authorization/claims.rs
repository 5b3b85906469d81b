//! Rights to write parts of the status of a resource claim. Source: pkg/registry/resource/utils.go.

use std::collections::BTreeSet;

use serde_json::Value;

use super::allow;
use crate::access::{Attributes, AuthorizationMode, Resource, Target, username};
use crate::meta;
use crate::server::Call;
use crate::status::Cause;

const GROUP: &str = "resource.k8s.io";
const RESOURCE: &str = "resourceclaims";

/// Returns the causes for which a user may not write the status of a claim with this verb: `AuthorizedForBinding` and
/// `AuthorizedForDeviceStatus`.
pub(crate) fn check(call: &Call<'_>, verb: &str, old: &Value, claim: &Value) -> Vec<Cause> {
    let is_status =
        call.path.subresource == "status" && call.def.plural == RESOURCE && call.def.group == GROUP;
    if !is_status || call.server.options().authorization == AuthorizationMode::AlwaysAllow {
        return Vec::new();
    }
    let (old, new) = (&old["status"], &claim["status"]);
    let mut causes = Vec::new();
    if old["allocation"] != new["allocation"] || old["reservedFor"] != new["reservedFor"] {
        let refused = refusal(
            call,
            verb,
            Resource { group: GROUP, resource: RESOURCE, subresource: "binding", ..Resource::default() },
        );
        causes.extend(refused.map(|why| {
            let needed = "changing status.allocation or status.reservedFor requires resource=\"resourceclaims/binding\"";
            Cause::forbidden("status.allocation", &format!("{needed}, verb=\"{verb}\" permission: {why}"))
        }));
    }
    if new["allocation"].is_null() {
        return causes;
    }
    let mut verbs = vec![format!("arbitrary-node:{verb}")];
    if is_on_node_of(&call.user, &new["allocation"]) {
        verbs.insert(0, format!("associated-node:{verb}"));
    }
    for driver in changed_drivers(&old["devices"], &new["devices"]) {
        let on = Resource {
            group: GROUP,
            resource: RESOURCE,
            subresource: "driver",
            namespace: &call.path.namespace,
            name: driver,
        };
        let refused: Option<Vec<String>> = verbs.iter().map(|verb| refusal(call, verb, on)).collect();
        causes.extend(refused.map(|why| {
            let needed = "changing status.devices requires resource=\"resourceclaims/driver\"";
            let why = why.first().map(String::as_str).unwrap_or_default();
            let verbs = verbs.join(" ");
            Cause::forbidden("status.devices", &format!("{needed}, verb=\"[{verbs}]\" permission: {why}"))
        }));
    }
    causes
}

/// The reason for which the user lacks a right.
fn refusal(call: &Call<'_>, verb: &str, on: Resource<'_>) -> Option<String> {
    let attributes = Attributes { user: &call.user, verb, target: Target::Resource(on) };
    allow(&call.server, &attributes).err().map(|refused| refused.message().to_owned())
}

/// The drivers of which a device has got another status (`getModifiedDrivers`).
fn changed_drivers<'v>(old: &'v Value, new: &'v Value) -> BTreeSet<&'v str> {
    let devices = |list: &'v Value| list.as_array().map_or(&[][..], Vec::as_slice);
    let (old, new) = (devices(old), devices(new));
    let changed =
        |devices: &'v [Value], others: &'v [Value]| devices.iter().filter(|it| !others.contains(it));
    changed(old, new).chain(changed(new, old)).map(|device| meta::member(device, "driver")).collect()
}

/// Reports whether a service account runs on the node of the allocation (`saAssociatedWithAllocatedNode`).
fn is_on_node_of(user: &Value, allocation: &Value) -> bool {
    let node = node_of(allocation).unwrap_or_default();
    let own = meta::strings(&user["extra"]["authentication.kubernetes.io/node-name"]);
    !node.is_empty() && username(user).starts_with("system:serviceaccount:") && own == [node]
}

/// The only node that an allocation selects (`nodeNameFromAllocation`).
fn node_of(allocation: &Value) -> Option<&str> {
    let only = |list: &'_ Value| list.as_array().is_some_and(|list| list.len() == 1);
    let terms = &allocation["nodeSelector"]["nodeSelectorTerms"];
    let (term, field) = (&terms[0], &terms[0]["matchFields"][0]);
    let selects_name = field["key"] == "metadata.name" && field["operator"] == "In" && only(&field["values"]);
    let is_alone = only(terms) && only(&term["matchFields"]) && term["matchExpressions"].is_null();
    (is_alone && selects_name).then(|| field["values"][0].as_str()).flatten()
}
