//! APIServices as kube-aggregator registers them: one for each group and version that the server itself serves.
//!
//! Requests are not proxied, so APIServices of other groups are not served.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::groups::{self, API_REGISTRATION, priority};
use crate::meta;
use crate::registry::Registry;
use crate::server::Server;

const COLLECTION: &str = "apiservices.apiregistration.k8s.io";
/// The label of an APIService's origin: `onstart` for groups of the server, `true` for those of CRDs.
const MANAGED: &str = "kube-aggregator.kubernetes.io/automanaged";

fn version_priority(group: &str, version: &str) -> i64 {
    match (group, version) {
        ("", _) => 1,
        ("autoscaling", "v2") => 30,
        ("flowcontrol.apiserver.k8s.io" | "resource.k8s.io", _) => 21,
        _ if groups::is_built_in(group) => 15,
        _ => 100,
    }
}

/// Updates the automatic APIServices to match the served groups.
pub(crate) fn sync(server: &Server, registry: &Registry) {
    let named =
        |group: &str, version: &str| (format!("{version}.{group}"), (group.to_owned(), version.to_owned()));
    let groups = registry.groups().iter().filter(|(group, _)| *group != API_REGISTRATION);
    let wanted: BTreeMap<String, (String, String)> =
        groups.flat_map(|(group, versions)| versions.iter().map(|version| named(group, version))).collect();
    let stored = server.store.list(COLLECTION, "", None).map(|snapshot| snapshot.objects).unwrap_or_default();
    for (key, object) in &stored {
        // Most are not read here.
        if !wanted.contains_key(&**key) && object.value["metadata"]["labels"][MANAGED] == "true" {
            // A concurrent write is handled at the next change.
            let _ = server.store.delete(COLLECTION, key, object.rv);
        }
    }
    for (name, (group, version)) in &wanted {
        if stored.binary_search_by(|(key, _)| (**key).cmp(name)).is_err() {
            let _ = server.store.create(COLLECTION, name, service(server, name, group, version));
        }
    }
}

fn service(server: &Server, name: &str, group: &str, version: &str) -> Value {
    let now = server.now();
    let managed = if groups::is_built_in(group) { "onstart" } else { "true" };
    let mut fields = json!({"f:groupPriorityMinimum": {}, "f:version": {}, "f:versionPriority": {}});
    let mut service = json!({
        "apiVersion": format!("{API_REGISTRATION}/v1"), "kind": "APIService",
        "metadata": {"name": name, "uid": server.ids.uid(), "creationTimestamp": now, "labels": {MANAGED: managed}},
        "spec": {"version": version, "groupPriorityMinimum": priority(group),
                 "versionPriority": version_priority(group, version)},
        "status": {"conditions": [{
            "type": "Available", "status": "True", "lastTransitionTime": now, "reason": "Local",
            "message": "Local APIServices are always available",
        }]},
    });
    if !group.is_empty() {
        fields["f:group"] = json!({});
        service["spec"]["group"] = group.into();
    }
    let labels = json!({".": {}, format!("f:{MANAGED}"): {}});
    meta::set(
        &mut service,
        "managedFields",
        json!([{
            "manager": "kube-apiserver", "operation": "Update", "apiVersion": format!("{API_REGISTRATION}/v1"), "time": now,
            "fieldsType": "FieldsV1", "fieldsV1": {"f:metadata": {"f:labels": labels}, "f:spec": fields},
        }]),
    );
    service
}
