//! The tables of `kubectl get` for built-in kinds, with the columns and cells of kube-apiserver's printers.

mod cells;
mod control;
mod network;
mod pods;
mod storage;
mod workloads;

pub(crate) use storage::is_default_storage_class;

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::ages::since;

/// The source of a cell.
#[derive(Clone, Copy)]
pub(crate) enum Cell {
    Name,
    /// The time since the object was created.
    Age,
    /// The text at a pointer, or nothing.
    At(&'static str),
    /// The number at a pointer, or zero.
    Number(&'static str),
    Made(fn(&Value, Timestamp) -> Value),
}

/// A column of a built-in kind's table.
#[derive(Clone, Copy)]
pub(crate) struct BuiltInColumn {
    pub(crate) name: &'static str,
    pub(crate) kind: &'static str,
    format: &'static str,
    /// Columns with a priority are for `-o wide`.
    pub(crate) priority: i64,
    cell: Cell,
}

const fn column(name: &'static str, kind: &'static str, cell: Cell) -> BuiltInColumn {
    BuiltInColumn { name, kind, format: "", priority: 0, cell }
}

const fn text(name: &'static str, cell: Cell) -> BuiltInColumn {
    column(name, "string", cell)
}

const fn made(name: &'static str, cell: fn(&Value, Timestamp) -> Value) -> BuiltInColumn {
    text(name, Cell::Made(cell))
}

const fn count(name: &'static str, pointer: &'static str) -> BuiltInColumn {
    column(name, "integer", Cell::Number(pointer))
}

const fn of_names(column: BuiltInColumn) -> BuiltInColumn {
    BuiltInColumn { format: "name", ..column }
}

const fn wide(column: BuiltInColumn) -> BuiltInColumn {
    BuiltInColumn { priority: 1, ..column }
}

pub(crate) const NAME: BuiltInColumn = of_names(text("Name", Cell::Name));
const AGE: BuiltInColumn = text("Age", Cell::Age);
/// The columns of kinds without columns of their own.
const CREATED: &[BuiltInColumn] =
    &[NAME, column("Created At", "date", Cell::At("/metadata/creationTimestamp"))];

impl BuiltInColumn {
    /// Describes the column in the table's head.
    pub(crate) fn head(&self, description: &str) -> Value {
        json!({"name": self.name, "type": self.kind, "format": self.format, "description": description,
               "priority": self.priority})
    }

    /// The column's cell in the row of an object.
    pub(crate) fn cell(&self, item: &Value, now: Timestamp) -> Value {
        let at = |pointer: &str| item.pointer(pointer).cloned().unwrap_or_default();
        match self.cell {
            Cell::Name => at("/metadata/name"),
            Cell::Age => since(item["metadata"]["creationTimestamp"].as_str(), now).into(),
            Cell::At(pointer) => match at(pointer) {
                Value::Null => "".into(),
                value => value,
            },
            Cell::Number(pointer) => match at(pointer) {
                Value::Null => 0.into(),
                value => value,
            },
            Cell::Made(make) => make(item, now),
        }
    }
}

/// The columns of a built-in kind's table.
pub(crate) fn columns(plural: &str) -> &'static [BuiltInColumn] {
    match plural {
        "pods" => pods::PODS,
        "podtemplates" => workloads::POD_TEMPLATES,
        "deployments" => workloads::DEPLOYMENTS,
        "replicasets" => workloads::REPLICA_SETS,
        "replicationcontrollers" => workloads::REPLICATION_CONTROLLERS,
        "statefulsets" => workloads::STATEFUL_SETS,
        "daemonsets" => workloads::DAEMON_SETS,
        "controllerrevisions" => workloads::CONTROLLER_REVISIONS,
        "jobs" => workloads::JOBS,
        "cronjobs" => workloads::CRON_JOBS,
        "poddisruptionbudgets" => workloads::DISRUPTION_BUDGETS,
        "horizontalpodautoscalers" => workloads::AUTOSCALERS,
        "services" => network::SERVICES,
        "endpoints" => network::ENDPOINTS,
        "endpointslices" => network::ENDPOINT_SLICES,
        "ingresses" => network::INGRESSES,
        "ingressclasses" => network::INGRESS_CLASSES,
        "networkpolicies" => network::NETWORK_POLICIES,
        "persistentvolumes" => storage::VOLUMES,
        "persistentvolumeclaims" => storage::CLAIMS,
        "storageclasses" => storage::CLASSES,
        "volumeattachments" => storage::ATTACHMENTS,
        "csidrivers" => storage::DRIVERS,
        "csinodes" => storage::NODES,
        "nodes" => cells::NODES,
        "namespaces" => cells::NAMESPACES,
        "events" => cells::EVENTS,
        "secrets" => cells::SECRETS,
        "configmaps" => cells::CONFIG_MAPS,
        "serviceaccounts" => cells::AGED,
        "leases" => cells::LEASES,
        "rolebindings" | "clusterrolebindings" => cells::ROLE_BINDINGS,
        "resourcequotas" => cells::QUOTAS,
        "certificatesigningrequests" => cells::CERTIFICATE_REQUESTS,
        "priorityclasses" => cells::PRIORITY_CLASSES,
        "runtimeclasses" => cells::RUNTIME_CLASSES,
        "validatingadmissionpolicies" => control::VALIDATING_POLICIES,
        "mutatingadmissionpolicies" => control::MUTATING_POLICIES,
        "validatingadmissionpolicybindings" | "mutatingadmissionpolicybindings" => control::POLICY_BINDINGS,
        "apiservices" => control::API_SERVICES,
        "componentstatuses" => control::COMPONENTS,
        "flowschemas" => control::FLOW_SCHEMAS,
        "prioritylevelconfigurations" => control::PRIORITY_LEVELS,
        "servicecidrs" => network::SERVICE_CIDRS,
        "ipaddresses" => network::ADDRESSES,
        "volumeattributesclasses" => storage::ATTRIBUTES,
        "deviceclasses" | "resourceclaimtemplates" => cells::AGED,
        "resourceclaims" => storage::RESOURCE_CLAIMS,
        "resourceslices" => storage::RESOURCE_SLICES,
        "mutatingwebhookconfigurations" | "validatingwebhookconfigurations" => cells::WEBHOOKS,
        _ => CREATED,
    }
}

/// Returns the conditions of a row.
pub(crate) fn conditions(plural: &str, item: &Value) -> Value {
    let (reason, message) = match item["status"]["phase"].as_str() {
        Some("Succeeded") => ("Succeeded", "The pod has completed successfully."),
        Some("Failed") => ("Failed", "The pod failed."),
        _ => return Value::Null,
    };
    if plural != "pods" {
        return Value::Null;
    }
    json!([{"type": "Completed", "status": "True", "reason": reason, "message": message}])
}

/// Elements of a list, or none.
fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn string<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

/// The text, or `<none>`.
fn or_none(text: String) -> Value {
    if text.is_empty() { "<none>".into() } else { text.into() }
}

/// Formats labels as a selector does, or as `<none>`.
fn labels(labels: &Value) -> String {
    let pairs = labels.as_object().into_iter().flatten();
    let text: Vec<String> = pairs.map(|(k, v)| format!("{k}={}", v.as_str().unwrap_or_default())).collect();
    if text.is_empty() { "<none>".to_owned() } else { text.join(",") }
}

/// A `LabelSelector` as kubectl writes it.
fn selector(selector: &Value) -> String {
    match crate::selector::text(selector) {
        text if text.is_empty() => "<none>".to_owned(),
        text => text,
    }
}

/// One member of each container, joined.
fn containers(template: &Value, member: &str) -> Value {
    let all = list(&template["spec"]["containers"]);
    let texts: Vec<&str> = all.iter().map(|c| string(c, member)).collect();
    texts.join(",").into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builtin::all;

    #[test]
    fn table_row_of_empty_object_does_not_panic() {
        for kind in all() {
            let item = json!({"metadata": {"name": "x"}});
            for column in columns(kind.plural) {
                let _ = column.cell(&item, Timestamp::UNIX_EPOCH);
            }
        }
    }
}
