//! The service account with its bindings, the role for leader election, and roles for the people who use the kinds.

use serde_json::{Value, json};

use crate::config::DeploySettings;
use crate::ir::{Ir, Resource};
use crate::roles::Role;

const RBAC: &str = "rbac.authorization.k8s.io/v1";

/// Files with their objects. `roles` are those of the rules that controllers ask for.
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
        let role = leader_election_role(settings);
        let binding = leader_election_binding(settings);
        out.push(("leader_election_role.yaml".to_string(), role));
        out.push(("leader_election_role_binding.yaml".to_string(), binding));
    }
    out.extend(people(ir, settings));
    out
}

fn labels(settings: &DeploySettings) -> Value {
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

/// Gives the manager a role: in the role's namespace, or everywhere.
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

/// `manager-role` is bound by `manager-rolebinding`, as in kubebuilder's projects.
fn binding_name(role: &str) -> String {
    match role.strip_suffix("-role") {
        Some(stem) => format!("{stem}-rolebinding"),
        None => format!("{role}-rolebinding"),
    }
}

/// What an elector does: it keeps a Lease and tells of it in events.
fn leader_election_role(settings: &DeploySettings) -> Value {
    json!({
        "apiVersion": RBAC,
        "kind": "Role",
        "metadata": {
            "labels": labels(settings),
            "name": settings.object("leader-election-role"),
            "namespace": settings.namespace,
        },
        "rules": [
            {
                "apiGroups": ["coordination.k8s.io"],
                "resources": ["leases"],
                "verbs": ["get", "list", "watch", "create", "update", "patch", "delete"],
            },
            {"apiGroups": ["", "events.k8s.io"], "resources": ["events"], "verbs": ["create", "patch"]},
        ],
    })
}

fn leader_election_binding(settings: &DeploySettings) -> Value {
    json!({
        "apiVersion": RBAC,
        "kind": "RoleBinding",
        "metadata": {
            "labels": labels(settings),
            "name": settings.object("leader-election-rolebinding"),
            "namespace": settings.namespace,
        },
        "roleRef": reference("Role", &settings.object("leader-election-role")),
        "subjects": subjects(settings),
    })
}

/// Roles to bind to people: what may be done with each kind.
fn people(ir: &Ir, settings: &DeploySettings) -> Vec<(String, Value)> {
    let mut out = Vec::new();
    for group in &ir.groups {
        let mut kinds: Vec<&Resource> =
            group.versions.iter().flat_map(|version| &version.resources).collect();
        kinds.sort_by(|a, b| a.plural.cmp(&b.plural));
        kinds.dedup_by(|a, b| a.plural == b.plural);
        for resource in kinds.into_iter().filter(|resource| !resource.crd.skipped) {
            for (who, verbs) in ROLES {
                let file = format!("{}_{}_{who}_role.yaml", group.module, resource.singular);
                out.push((file, role(settings, &group.name, resource, who, verbs)));
            }
        }
    }
    out
}

/// kubebuilder's roles.
const ROLES: [(&str, &[&str]); 3] = [
    ("admin", &["*"]),
    ("editor", &["create", "delete", "get", "list", "patch", "update", "watch"]),
    ("viewer", &["get", "list", "watch"]),
];

fn role(settings: &DeploySettings, group: &str, resource: &Resource, who: &str, verbs: &[&str]) -> Value {
    let mut rules = vec![json!({"apiGroups": [group], "resources": [resource.plural], "verbs": verbs})];
    if resource.crd.status_subresource {
        let status = format!("{}/status", resource.plural);
        rules.push(json!({"apiGroups": [group], "resources": [status], "verbs": ["get"]}));
    }
    json!({
        "apiVersion": RBAC,
        "kind": "ClusterRole",
        "metadata": {
            "labels": labels(settings),
            "name": settings.object(&format!("{}-{who}-role", resource.singular)),
        },
        "rules": rules,
    })
}
