//! Prevents users from granting rights that they lack: pkg/registry/rbac/*/policybased and validation/rule.go,
//! `ConfirmNoEscalation`.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::{Attributes, AuthorizationMode, MASTERS, Resource, Target, decide, is_member, rbac, username};
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
    if !checked || is_member(&call.user, MASTERS) {
        return Ok(());
    }
    let rules = match call.def.plural.as_str() {
        "roles" | "clusterroles" => role_rules(call, old, object),
        "rolebindings" | "clusterrolebindings" => binding_rules(call, object)?,
        _ => Vec::new(),
    };
    let (own, faults) = rbac::rules(&call.server, &call.user, &call.path.namespace);
    let missing = uncovered(&own, &rules);
    if missing.is_empty() {
        return Ok(());
    }
    let groups = meta::strings(&call.user["groups"]);
    let mut text = format!(
        "user {:?} (groups={}) is attempting to grant RBAC permissions not currently held:\n{}",
        username(&call.user),
        quoted(&groups),
        described(&missing).into_iter().collect::<Vec<_>>().join("\n")
    );
    if !faults.is_empty() {
        text.push_str(&format!("; resolution errors: [{faults}]"));
    }
    Err(ApiError::forbidden(call.def.about(meta::name(object)), &text))
}

fn may(call: &Call<'_>, verb: &str, resource: &str, name: &str) -> bool {
    let on = Resource { group: GROUP, resource, namespace: &call.path.namespace, name, subresource: "" };
    let attributes = Attributes { user: &call.user, verb, target: Target::Resource(on) };
    decide(&call.server, &attributes).is_allowed()
}

/// Returns the rules that the writer of a role has to have itself; none if it has the verb `escalate`, or the rules
/// stay.
fn role_rules(call: &Call<'_>, old: Option<&Value>, role: &Value) -> Vec<Value> {
    let stays = |field: &str| old.is_some_and(|old| old[field] == role[field]);
    if may(call, "escalate", &call.def.plural, &call.path.name)
        || (stays("rules") && stays("aggregationRule"))
    {
        return Vec::new();
    }
    let mut rules = role["rules"].as_array().cloned().unwrap_or_default();
    if role["aggregationRule"].is_object() && !stays("aggregationRule") {
        // Any role may be selected later.
        rules.push(json!({"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}));
        rules.push(json!({"nonResourceURLs": ["*"], "verbs": ["*"]}));
    }
    rules
}

/// Returns the rules of the bound role; none if the writer has the verb `bind` for it.
fn binding_rules(call: &Call<'_>, binding: &Value) -> ApiResult<Vec<Value>> {
    let role = &binding["roleRef"];
    let (kind, name) = (role["kind"].as_str().unwrap_or_default(), role["name"].as_str().unwrap_or_default());
    let resource = if kind == "ClusterRole" { "clusterroles" } else { "roles" };
    if may(call, "bind", resource, name) {
        return Ok(Vec::new());
    }
    rbac::referenced(&call.server, role, &call.path.namespace).map_err(|fault| match kind {
        "Role" | "ClusterRole" => {
            ApiError::not_found(crate::status::About::new(GROUP, &kind.to_lowercase(), name))
        }
        _ => ApiError::internal_of(fault),
    })
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
                has("verbs", verb) && list("nonResourceURLs").iter().any(|own| rbac::url_covers(own, url))
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
