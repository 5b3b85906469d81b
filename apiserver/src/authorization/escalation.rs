//! Prevents users from granting rights that they lack: pkg/registry/rbac/*/policybased and validation/rule.go,
//! `ConfirmNoEscalation`.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::decide;
use super::rbac::{self, Reader};
use crate::access::{
    Attributes, AuthorizationMode, MASTERS, Resource, Target, is_member, url_covers, username,
};
use crate::meta;
use crate::server::Call;
use crate::status::{ApiError, ApiResult};

const GROUP: &str = "rbac.authorization.k8s.io";

/// Refuses a role with rights that its writer lacks, and a binding to such a role.
///
/// # Errors
/// Returns `Forbidden` with the missing rights.
pub(crate) fn check(call: &Call<'_>, old: Option<&Value>, object: &Value) -> ApiResult<()> {
    let checked = call.def.group == GROUP && call.server.options().authorization == AuthorizationMode::Rbac;
    if !checked || is_member(&call.user, MASTERS) || old.is_some_and(|old| changes_owners_only(old, object)) {
        return Ok(());
    }
    match call.def.plural.as_str() {
        "roles" | "clusterroles" => check_role(call, old, object),
        "rolebindings" | "clusterrolebindings" => check_binding(call, object),
        _ => Ok(()),
    }
}

/// Whether an update changes no more than the garbage collector has to (`IsOnlyMutatingGCFields` of pkg/registry/rbac). A
/// replacement without the object's resource version or uid changes these.
fn changes_owners_only(old: &Value, object: &Value) -> bool {
    let compared = |object: &Value| {
        let mut object = object.clone();
        for field in ["ownerReferences", "finalizers", "selfLink", "managedFields"] {
            meta::remove(&mut object, field);
        }
        drop_empty(&mut object);
        object
    };
    // An empty text in a map is not an absent one.
    let tags = |object: &Value, field: &str| {
        object["metadata"][field].as_object().filter(|tags| !tags.is_empty()).cloned()
    };
    ["labels", "annotations"].iter().all(|field| tags(old, field) == tags(object, field))
        && compared(old) == compared(object)
}

/// Removes empty members, which Go's semantic equality does not tell from absent ones.
fn drop_empty(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.values_mut().for_each(drop_empty);
            members.retain(|_, member| match member {
                Value::Null => false,
                Value::Object(members) => !members.is_empty(),
                Value::Array(items) => !items.is_empty(),
                Value::String(text) => !text.is_empty(),
                _ => true,
            });
        }
        Value::Array(items) => items.iter_mut().for_each(drop_empty),
        _ => {}
    }
}

fn may(call: &Call<'_>, verb: &str, on: Resource<'_>) -> bool {
    let attributes = Attributes { user: &call.user, verb, target: Target::Resource(on) };
    decide(&call.server, &attributes).is_allowed()
}

/// Checks the rules of a role, unless its writer has the verb `escalate`.
fn check_role(call: &Call<'_>, old: Option<&Value>, role: &Value) -> ApiResult<()> {
    let (namespace, name) = (call.path.namespace.as_str(), call.path.name.as_str());
    let on = Resource { group: GROUP, resource: &call.def.plural, namespace, name, subresource: "" };
    if may(call, "escalate", on) {
        return Ok(());
    }
    let about = call.def.subject(meta::name(role));
    let rules = role["rules"].as_array().cloned().unwrap_or_default();
    confirm(call, &rules).map_err(|text| ApiError::forbidden(about.clone(), &text))?;
    let selects = |role: &Value| {
        role["aggregationRule"]["clusterRoleSelectors"].as_array().is_some_and(|list| !list.is_empty())
    };
    if !selects(role) && !old.is_some_and(selects) {
        return Ok(());
    }
    // Any role may be selected later.
    let all = [
        json!({"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}),
        json!({"nonResourceURLs": ["*"], "verbs": ["*"]}),
    ];
    confirm(call, &all).map_err(|_| {
        ApiError::forbidden(about, "must have cluster-admin privileges to use the aggregationRule")
    })
}

/// Checks the rules of the bound role, unless the writer has the verb `bind` for it.
fn check_binding(call: &Call<'_>, binding: &Value) -> ApiResult<()> {
    let (role, namespace) = (&binding["roleRef"], call.path.namespace.as_str());
    let (kind, name) = (meta::member(role, "kind"), meta::member(role, "name"));
    let resource = match kind {
        "ClusterRole" => "clusterroles",
        "Role" => "roles",
        _ => "",
    };
    let on = Resource { group: meta::member(role, "apiGroup"), resource, namespace, name, subresource: "" };
    if !resource.is_empty() && may(call, "bind", on) {
        return Ok(());
    }
    let rules = match (kind, namespace) {
        // `NamespaceKeyFunc` of apiserver/pkg/registry/generic/registry.
        ("Role", "") => return Err(ApiError::bad_request("Namespace parameter required.")),
        _ => rbac::referenced(&call.server, role, namespace, Reader::Storage(&call.def.plural)),
    };
    let rules = rules.map_err(|fault| {
        // The rules are read in the request for the binding, so the error names its resource.
        if resource.is_empty() {
            ApiError::unexpected(fault)
        } else {
            ApiError::not_found(call.def.subject(name))
        }
    })?;
    confirm(call, &rules).map_err(|text| ApiError::forbidden(call.def.subject(meta::name(binding)), &text))
}

/// Checks that the writer has all of these rights itself.
///
/// # Errors
/// Returns the text about the missing rights.
fn confirm(call: &Call<'_>, rules: &[Value]) -> Result<(), String> {
    let (own, faults) =
        rbac::rules(&call.server, &call.user, &call.path.namespace, Reader::Storage(&call.def.plural));
    let missing = uncovered(&own, rules);
    if missing.is_empty() {
        return Ok(());
    }
    let groups = meta::strings(&call.user["groups"]);
    let mut text = format!(
        "user {} (groups={}) is attempting to grant RBAC permissions not currently held:\n{}",
        kubesmith_apimachinery::golang::quote(username(&call.user)),
        quoted(&groups),
        described(&missing).into_iter().collect::<Vec<_>>().join("\n")
    );
    if !faults.is_empty() {
        text.push_str(&format!("; resolution errors: [{faults}]"));
    }
    Err(text)
}

/// Returns the smallest parts of `rules` that no rule of `own` covers (`Covers` of
/// component-helpers/auth/rbac/validation).
fn uncovered(own: &[Value], rules: &[Value]) -> Vec<Part> {
    let parts = rules.iter().flat_map(parts);
    parts.filter(|part| !own.iter().any(|rule| part.is_covered_by(rule))).collect()
}

/// A rule with one verb and one resource or path.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Resource { group: String, resource: String, name: Option<String>, verb: String },
    Path { url: String, verb: String },
}

/// Breaks a rule down (`BreakdownRule`).
fn parts(rule: &Value) -> Vec<Part> {
    let list = |field: &str| meta::strings(&rule[field]).into_iter().map(str::to_owned).collect::<Vec<_>>();
    let (verbs, names) = (list("verbs"), list("resourceNames"));
    let names: Vec<Option<String>> =
        if names.is_empty() { vec![None] } else { names.into_iter().map(Some).collect() };
    let mut parts = Vec::new();
    for group in list("apiGroups") {
        for resource in list("resources") {
            for verb in &verbs {
                parts.extend(names.iter().map(|name| Part::Resource {
                    group: group.clone(),
                    resource: resource.clone(),
                    name: name.clone(),
                    verb: verb.clone(),
                }));
            }
        }
    }
    for url in list("nonResourceURLs") {
        parts.extend(verbs.iter().map(|verb| Part::Path { url: url.clone(), verb: verb.clone() }));
    }
    parts
}

impl Part {
    fn is_covered_by(&self, rule: &Value) -> bool {
        let list = |field: &str| meta::strings(&rule[field]);
        let has = |field: &str, value: &str| list(field).iter().any(|v| *v == "*" || *v == value);
        match self {
            Self::Path { url, verb } => {
                has("verbs", verb) && list("nonResourceURLs").iter().any(|own| url_covers(own, url))
            }
            Self::Resource { group, resource, name, verb } => {
                let names = list("resourceNames");
                let any = resource.split_once('/').map(|(_, subresource)| format!("*/{subresource}"));
                has("verbs", verb)
                    && has("apiGroups", group)
                    && (has("resources", resource)
                        || any.is_some_and(|any| list("resources").contains(&&*any)))
                    && (names.is_empty() || name.as_deref().is_some_and(|name| names.contains(&name)))
            }
        }
    }
}

/// Describes the parts in sorted lines, the verbs of a resource in one (`CompactRules` and `CompactString`).
fn described(parts: &[Part]) -> BTreeSet<String> {
    let mut verbs: BTreeMap<(&str, &str, Option<&str>), Vec<&str>> = BTreeMap::new();
    let mut lines = BTreeSet::new();
    for part in parts {
        match part {
            Part::Resource { group, resource, name, verb } => {
                verbs.entry((group, resource, name.as_deref())).or_default().push(verb);
            }
            Part::Path { url, verb } => {
                lines.insert(format!("{{NonResourceURLs:{}, Verbs:{}}}", quoted(&[url]), quoted(&[verb])));
            }
        }
    }
    for ((group, resource, name), verbs) in verbs {
        let names = name.map(|name| format!(", ResourceNames:{}", quoted(&[name]))).unwrap_or_default();
        lines.insert(format!(
            "{{APIGroups:{}, Resources:{}{names}, Verbs:{}}}",
            quoted(&[group]),
            quoted(&[resource]),
            quoted(&verbs)
        ));
    }
    lines
}

/// Formats a list of strings as Go's `%q` does.
fn quoted(texts: &[&str]) -> String {
    let texts: Vec<String> = texts.iter().map(|text| kubesmith_apimachinery::golang::quote(text)).collect();
    format!("[{}]", texts.join(" "))
}
