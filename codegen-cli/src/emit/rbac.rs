//! Emits Role and ClusterRole objects, all in one file.

use serde_json::{Map, Value, json};

use super::manifest;
use crate::output::{Kind, OutputTree};
use crate::roles::{Role, RoleRule};

/// Emits the file with this name, unless there is no role.
pub fn emit(roles: &[Role], file_name: &str, header: &str) -> OutputTree {
    manifest::tree(file_name, Kind::Rbac, header, &objects(roles))
}

/// The objects of the file.
pub(crate) fn objects(roles: &[Role]) -> Vec<Value> {
    roles.iter().map(object).collect()
}

fn object(role: &Role) -> Value {
    let mut metadata = json!({"name": role.name});
    if let Some(namespace) = &role.namespace {
        metadata["namespace"] = json!(namespace);
    }
    json!({
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": if role.namespace.is_some() { "Role" } else { "ClusterRole" },
        "metadata": metadata,
        "rules": role.rules.iter().map(rule).collect::<Vec<_>>(),
    })
}

fn rule(rule: &RoleRule) -> Value {
    let lists = [
        ("apiGroups", &rule.groups),
        ("nonResourceURLs", &rule.urls),
        ("resourceNames", &rule.resource_names),
        ("resources", &rule.resources),
    ];
    let mut out: Map<String, Value> = lists
        .into_iter()
        .filter(|(_, list)| !list.is_empty())
        .map(|(name, list)| (name.to_string(), json!(list)))
        .collect();
    out.insert("verbs".to_string(), json!(rule.verbs));
    Value::Object(out)
}
