//! Builds the service account with its bindings, the role for leader election, and roles for users of the
//! kinds.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{group_title, metrics};
use crate::config::DeploySettings;
use crate::ir::{Group, Ir};
use crate::roles::Role;

pub(super) const RBAC: &str = "rbac.authorization.k8s.io/v1";

/// Files with their objects. `roles` are those from the controllers' rules.
pub(super) fn objects(ir: &Ir, settings: &DeploySettings, roles: &[Role]) -> Vec<(String, Value)> {
    let mut out = vec![("service_account.yaml".to_string(), service_account(settings))];
    let mut number = 0;
    for role in roles {
        number += 1;
        let file = match number {
            1 => "role_binding.yaml".to_string(),
            _ => format!("role_binding_{number}.yaml"),
        };
        out.push((file, binding(settings, role)));
    }
    if settings.leader_election {
        out.extend(granted(settings, "leader-election", "Role", &leader_election_rules()));
    }
    if settings.has_secure_metrics() {
        out.extend(metrics::rights(settings));
    }
    if settings.crd_upgrade {
        out.extend(crd_upgrade(ir, settings));
    }
    out.extend(people(ir, settings));
    out
}

pub(super) fn labels(settings: &DeploySettings) -> Value {
    json!({"app.kubernetes.io/name": settings.name})
}

fn service_account(settings: &DeploySettings) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": {
            "labels": labels(settings),
            "name": settings.object("controller-manager"),
            "namespace": settings.namespace,
        },
    })
}

fn subjects(settings: &DeploySettings) -> Value {
    json!([{
        "kind": "ServiceAccount",
        "name": settings.object("controller-manager"),
        "namespace": settings.namespace,
    }])
}

fn reference(kind: &str, name: &str) -> Value {
    json!({"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": name})
}

/// Binds a role to the manager: in the role's namespace, or everywhere.
fn binding(settings: &DeploySettings, role: &Role) -> Value {
    let kind = if role.namespace.is_some() { "Role" } else { "ClusterRole" };
    let mut metadata = json!({"labels": labels(settings), "name": binding_name(&role.name)});
    if let Some(namespace) = &role.namespace {
        metadata["namespace"] = json!(namespace);
    }
    json!({
        "apiVersion": RBAC,
        "kind": format!("{kind}Binding"),
        "metadata": metadata,
        "roleRef": reference(kind, &role.name),
        "subjects": subjects(settings),
    })
}

/// The name of a role's binding: `manager-rolebinding` for `manager-role`, as in kubebuilder's projects.
fn binding_name(role: &str) -> String {
    match role.strip_suffix("-role") {
        Some(stem) => format!("{stem}-rolebinding"),
        None => format!("{role}-rolebinding"),
    }
}

/// The rules for an elector, which maintains a Lease and writes events.
fn leader_election_rules() -> Value {
    json!([
        {
            "apiGroups": ["coordination.k8s.io"],
            "resources": ["leases"],
            "verbs": ["get", "list", "watch", "create", "update", "patch", "delete"],
        },
        {"apiGroups": ["", "events.k8s.io"], "resources": ["events"], "verbs": ["create", "patch"]},
    ])
}

/// A Role in the manager's namespace, or a ClusterRole, with its binding to the manager.
pub(super) fn granted(
    settings: &DeploySettings,
    stem: &str,
    kind: &str,
    rules: &Value,
) -> Vec<(String, Value)> {
    let metadata = |name: &str| {
        let mut metadata = json!({"labels": labels(settings), "name": settings.object(name)});
        if kind == "Role" {
            metadata["namespace"] = json!(settings.namespace);
        }
        metadata
    };
    let name = format!("{stem}-role");
    let role = json!({"apiVersion": RBAC, "kind": kind, "metadata": metadata(&name), "rules": rules});
    let binding = json!({
        "apiVersion": RBAC,
        "kind": format!("{kind}Binding"),
        "metadata": metadata(&format!("{stem}-rolebinding")),
        "roleRef": reference(kind, &settings.object(&name)),
        "subjects": subjects(settings),
    });
    let file = stem.replace('-', "_");
    vec![(format!("{file}_role.yaml"), role), (format!("{file}_role_binding.yaml"), binding)]
}

/// The rights of upgrades and migrations of the CRDs, as `kubesmith_runtime::crd` sends requests: `create` cannot be limited to
/// names, lists find the objects that an upgrade would break, and a migration patches each of them, after a `get` in a dry run.
fn crd_upgrade(ir: &Ir, settings: &DeploySettings) -> Vec<(String, Value)> {
    let mut plurals: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for group in &ir.groups {
        plurals.entry(&group.name).or_default().extend(kinds(group).into_keys());
    }
    plurals.retain(|_, plurals| !plurals.is_empty());
    let names = plurals
        .iter()
        .flat_map(|(group, plurals)| plurals.iter().map(move |plural| format!("{plural}.{group}")));
    let names: Vec<String> = names.collect();
    let definitions = "customresourcedefinitions";
    let status = format!("{definitions}/status");
    let group = "apiextensions.k8s.io";
    let mut rules = vec![
        json!({"apiGroups": [group], "resources": [definitions], "verbs": ["create"]}),
        json!({"apiGroups": [group], "resourceNames": names, "resources": [definitions], "verbs": ["get", "patch"]}),
        json!({"apiGroups": [group], "resourceNames": names, "resources": [status], "verbs": ["patch"]}),
    ];
    rules.extend(plurals.into_iter().map(
        |(group, plurals)| json!({"apiGroups": [group], "resources": plurals, "verbs": ["get", "list", "patch"]}),
    ));
    // Without a name, a rule would be about all definitions.
    if names.is_empty() {
        return Vec::new();
    }
    granted(settings, "crd-upgrade", "ClusterRole", &Value::Array(rules))
}

/// Roles to bind to people, with their rights to each kind.
fn people(ir: &Ir, settings: &DeploySettings) -> Vec<(String, Value)> {
    let mut out = Vec::new();
    for group in &ir.groups {
        let title = group_title(ir, group);
        // Names in code may have underscores.
        let dashed = title.replace('_', "-");
        let dashed = dashed.trim_end_matches('-');
        for (plural, kind) in kinds(group) {
            for (who, verbs) in ROLES {
                let file = format!("{title}_{}_{who}_role.yaml", kind.singular);
                let name = settings.object(&format!("{dashed}-{}-{who}-role", kind.singular));
                out.push((file, role(settings, &name, &group.name, plural, kind.status, verbs)));
            }
        }
    }
    out
}

/// The facts of a kind that roles need.
struct Kind<'a> {
    singular: &'a str,
    /// Whether a version has a status.
    status: bool,
}

/// The kinds that a group's CRDs define, by their plurals.
fn kinds(group: &Group) -> BTreeMap<&str, Kind<'_>> {
    let mut out = BTreeMap::new();
    let resources = group.versions.iter().flat_map(|version| &version.resources);
    for resource in resources.filter(|resource| !resource.crd.skipped) {
        let new = Kind { singular: &resource.singular, status: false };
        out.entry(resource.plural.as_str()).or_insert(new).status |= resource.crd.status_subresource;
    }
    out
}

/// kubebuilder's roles.
const ROLES: [(&str, &[&str]); 3] = [
    ("admin", &["*"]),
    ("editor", &["create", "delete", "get", "list", "patch", "update", "watch"]),
    ("viewer", &["get", "list", "watch"]),
];

fn role(
    settings: &DeploySettings,
    name: &str,
    group: &str,
    plural: &str,
    status: bool,
    verbs: &[&str],
) -> Value {
    let mut rules = vec![json!({"apiGroups": [group], "resources": [plural], "verbs": verbs})];
    if status {
        let status = format!("{plural}/status");
        rules.push(json!({"apiGroups": [group], "resources": [status], "verbs": ["get"]}));
    }
    json!({
        "apiVersion": RBAC,
        "kind": "ClusterRole",
        "metadata": {"labels": labels(settings), "name": name},
        "rules": rules,
    })
}
