//! The tables of all other kinds.

use jiff::Timestamp;
use serde_json::{Map, Value};

use super::{AGE, BuiltInColumn, Cell, NAME, column, count, list, made, string, text, wide};
use crate::ages::{human_duration, since};
use crate::builtin::certificates;

/// Only name and age.
pub(super) const AGED: &[BuiltInColumn] = &[NAME, AGE];

pub(super) const NAMESPACES: &[BuiltInColumn] = &[NAME, text("Status", Cell::At("/status/phase")), AGE];

pub(super) const SECRETS: &[BuiltInColumn] =
    &[NAME, text("Type", Cell::At("/type")), text("Data", Cell::Made(|o, _| size(&o["data"]).into())), AGE];

pub(super) const CONFIG_MAPS: &[BuiltInColumn] =
    &[NAME, text("Data", Cell::Made(|o, _| (size(&o["data"]) + size(&o["binaryData"])).into())), AGE];

pub(super) const LEASES: &[BuiltInColumn] = &[NAME, text("Holder", Cell::At("/spec/holderIdentity")), AGE];

pub(super) const ROLE_BINDINGS: &[BuiltInColumn] = &[
    NAME,
    made("Role", |o, _| {
        format!("{}/{}", string(&o["roleRef"], "kind"), string(&o["roleRef"], "name")).into()
    }),
    AGE,
    wide(made("Users", |o, _| subjects(o, "User").into())),
    wide(made("Groups", |o, _| subjects(o, "Group").into())),
    wide(made("ServiceAccounts", |o, _| subjects(o, "ServiceAccount").into())),
];

pub(super) const CERTIFICATE_REQUESTS: &[BuiltInColumn] = &[
    NAME,
    AGE,
    text("SignerName", Cell::At("/spec/signerName")),
    text("Requestor", Cell::At("/spec/username")),
    made("RequestedDuration", |o, _| match o["spec"]["expirationSeconds"].as_i64() {
        Some(seconds) => human_duration(seconds).into(),
        None => "<none>".into(),
    }),
    made("Condition", |o, _| certificates::state(o)),
];

pub(super) const QUOTAS: &[BuiltInColumn] =
    &[NAME, made("Request", |o, _| quota(o, false).into()), made("Limit", |o, _| quota(o, true).into()), AGE];

pub(super) const PRIORITY_CLASSES: &[BuiltInColumn] = &[
    NAME,
    count("Value", "/value"),
    column("Global-Default", "boolean", Cell::Made(|o, _| (o["globalDefault"] == true).into())),
    AGE,
    text("PreemptionPolicy", Cell::At("/preemptionPolicy")),
];

pub(super) const RUNTIME_CLASSES: &[BuiltInColumn] = &[NAME, text("Handler", Cell::At("/handler")), AGE];

pub(super) const WEBHOOKS: &[BuiltInColumn] =
    &[NAME, column("Webhooks", "integer", Cell::Made(|o, _| list(&o["webhooks"]).len().into())), AGE];

pub(super) const NODES: &[BuiltInColumn] = &[
    NAME,
    made("Status", |o, _| node_status(o).into()),
    made("Roles", |o, _| roles(o).into()),
    AGE,
    text("Version", Cell::At("/status/nodeInfo/kubeletVersion")),
    wide(made("Internal-IP", |o, _| node_address(o, "InternalIP").into())),
    wide(made("External-IP", |o, _| node_address(o, "ExternalIP").into())),
    wide(made("OS-Image", |o, _| node_info(o, "osImage").into())),
    wide(made("Kernel-Version", |o, _| kernel_version(o).into())),
    wide(made("Container-Runtime", |o, _| node_info(o, "containerRuntimeVersion").into())),
];

pub(super) const EVENTS: &[BuiltInColumn] = &[
    made("Last Seen", |o, now| last_seen(o, now).into()),
    text("Type", Cell::At("/type")),
    text("Reason", Cell::At("/reason")),
    made("Object", |o, _| involved(o).into()),
    wide(made("Subobject", |o, _| string(either(o, "involvedObject", "regarding"), "fieldPath").into())),
    wide(made("Source", |o, _| source(o).into())),
    made("Message", |o, _| either(o, "message", "note").as_str().unwrap_or_default().trim().into()),
    wide(made("First Seen", |o, now| first_seen(o, now).into())),
    wide(text("Count", Cell::Made(|o, _| event_count(o).into()))),
    wide(NAME),
];

fn size(value: &Value) -> usize {
    value.as_object().map_or(0, Map::len)
}

fn subjects(binding: &Value, kind: &str) -> String {
    let names: Vec<String> = list(&binding["subjects"])
        .iter()
        .filter(|subject| subject["kind"] == kind)
        .map(|subject| match string(subject, "namespace") {
            "" => string(subject, "name").to_owned(),
            namespace => format!("{namespace}/{}", string(subject, "name")),
        })
        .collect();
    names.join(", ")
}

/// Formats used and hard amounts; limits apart from the rest.
fn quota(quota: &Value, limits: bool) -> String {
    let used = |name: &str| quota["status"]["used"][name].as_str().unwrap_or("0").to_owned();
    let parts: Vec<String> = quota["status"]["hard"]
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(name, _)| name.starts_with("limits") == limits)
        .map(|(name, hard)| format!("{name}: {}/{}", used(name), hard.as_str().unwrap_or_default()))
        .collect();
    parts.join(", ")
}

fn node_status(node: &Value) -> String {
    let ready = list(&node["status"]["conditions"]).iter().find(|c| c["type"] == "Ready");
    let mut text = match ready.map(|c| string(c, "status")) {
        Some("True") => "Ready",
        Some(_) => "NotReady",
        None => "Unknown",
    }
    .to_owned();
    if node["spec"]["unschedulable"] == true {
        text.push_str(",SchedulingDisabled");
    }
    text
}

fn roles(node: &Value) -> String {
    let mut roles: Vec<&str> = Vec::new();
    for (key, value) in node["metadata"]["labels"].as_object().into_iter().flatten() {
        if let Some(role) = key.strip_prefix("node-role.kubernetes.io/") {
            roles.push(role);
        } else if key == "kubernetes.io/role" {
            roles.extend(value.as_str());
        }
    }
    roles.retain(|role| !role.is_empty());
    roles.sort_unstable();
    roles.dedup();
    if roles.is_empty() { "<none>".to_owned() } else { roles.join(",") }
}

fn node_address<'a>(node: &'a Value, kind: &str) -> &'a str {
    let found = list(&node["status"]["addresses"]).iter().find(|address| address["type"] == kind);
    found.map_or("<none>", |address| string(address, "address"))
}

fn node_info<'a>(node: &'a Value, field: &str) -> &'a str {
    match string(&node["status"]["nodeInfo"], field) {
        "" => "<unknown>",
        text => text,
    }
}

fn kernel_version(node: &Value) -> String {
    let version = node_info(node, "kernelVersion");
    match string(&node["status"]["nodeInfo"], "architecture") {
        "" => version.to_owned(),
        architecture => format!("{version} ({architecture})"),
    }
}

/// Returns a member of an event by its name in either group.
fn either<'a>(event: &'a Value, core: &str, other: &str) -> &'a Value {
    match &event[core] {
        Value::Null => &event[other],
        value => value,
    }
}

fn first_seen(event: &Value, now: Timestamp) -> String {
    let first = either(event, "firstTimestamp", "deprecatedFirstTimestamp").as_str();
    since(first.or_else(|| event["eventTime"].as_str()), now)
}

fn last_seen(event: &Value, now: Timestamp) -> String {
    let series = event["series"]["lastObservedTime"].as_str();
    let last = either(event, "lastTimestamp", "deprecatedLastTimestamp").as_str();
    match series.or(last) {
        Some(time) => since(Some(time), now),
        None => first_seen(event, now),
    }
}

fn event_count(event: &Value) -> i64 {
    let series = event["series"]["count"].as_i64();
    let plain = either(event, "count", "deprecatedCount").as_i64();
    series.or(plain).filter(|n| *n > 0).unwrap_or(1)
}

fn involved(event: &Value) -> String {
    let object = either(event, "involvedObject", "regarding");
    match string(object, "name") {
        "" => string(object, "kind").to_lowercase(),
        name => format!("{}/{name}", string(object, "kind").to_lowercase()),
    }
}

fn source(event: &Value) -> String {
    let source = either(event, "source", "deprecatedSource");
    let (component, host) = match string(source, "component") {
        "" => (
            either(event, "reportingComponent", "reportingController").as_str().unwrap_or_default(),
            string(event, "reportingInstance"),
        ),
        component => (component, string(source, "host")),
    };
    if host.is_empty() { component.to_owned() } else { format!("{component}, {host}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn row(columns: &[BuiltInColumn], item: &Value) -> Vec<Value> {
        let now: Timestamp = "2026-01-01T00:10:00Z".parse().unwrap();
        columns.iter().map(|column| column.cell(item, now)).collect()
    }

    #[test]
    fn events_of_both_groups_have_equal_rows() {
        let core = json!({"metadata": {"name": "e"}, "involvedObject": {"kind": "Pod", "name": "p"}, "type": "Normal",
            "reason": "R", "message": "m\n", "source": {"component": "c", "host": "h"}, "count": 3,
            "firstTimestamp": "2026-01-01T00:00:00Z", "lastTimestamp": "2026-01-01T00:09:00Z"});
        let expected = [
            json!("60s"),
            json!("Normal"),
            json!("R"),
            json!("pod/p"),
            json!(""),
            json!("c, h"),
            json!("m"),
            json!("10m"),
            json!(3),
            json!("e"),
        ];
        assert_eq!(row(EVENTS, &core), expected);
        let new = json!({"metadata": {"name": "e"}, "regarding": {"kind": "Pod", "name": "p"}, "type": "Normal",
            "reason": "R", "note": "m", "reportingController": "c", "reportingInstance": "h",
            "eventTime": "2026-01-01T00:00:00.000000Z",
            "series": {"count": 3, "lastObservedTime": "2026-01-01T00:09:00.000000Z"}});
        assert_eq!(row(EVENTS, &new), expected);
    }

    #[test]
    fn node_row_shows_state_and_roles() {
        let node = json!({"metadata": {"labels": {"node-role.kubernetes.io/worker": "", "kubernetes.io/role": "x"}},
            "spec": {"unschedulable": true}, "status": {"conditions": [{"type": "Ready", "status": "True"}]}});
        assert_eq!(row(&NODES[1..3], &node), ["Ready,SchedulingDisabled", "worker,x"]);
    }

    #[test]
    fn quota_row_separates_requests_and_limits() {
        let hard = json!({"cpu": "2", "limits.cpu": "4"});
        let quota = json!({"status": {"hard": hard, "used": {"cpu": "1"}}});
        assert_eq!(row(&QUOTAS[1..3], &quota), ["cpu: 1/2", "limits.cpu: 0/4"]);
    }
}
