//! Records the permissions that users' requests have needed, so that tests find unused rights of a role.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use k8s_openapi::api::rbac::v1::PolicyRule;
use serde_json::{Value, json};

use super::{Attributes, Resource, Target, allows, username};

/// The permissions that requests have needed, by user. Names and namespaces of objects are left out, so that the number
/// of objects does not matter. Paths, unknown resources and impersonated users are unbounded, so only the first
/// [`MAX_PERMISSIONS`] of all users are kept, and none of names longer than [`MAX_LENGTH`].
#[derive(Debug, Default)]
pub(crate) struct Usage(Mutex<BTreeMap<String, BTreeSet<Permission>>>);

/// The limit of kept permissions, many times the number in the API.
const MAX_PERMISSIONS: usize = 10_000;
/// The size limit of a permission with its user, in bytes.
const MAX_LENGTH: usize = 1_000;

/// A verb on a path that is no resource, or on a resource.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Permission {
    Path { verb: String, path: String },
    Resource { verb: String, group: String, resource: String, subresource: String },
}

impl Permission {
    fn of(attributes: &Attributes<'_>) -> Self {
        let verb = attributes.verb.to_owned();
        match attributes.target {
            Target::Path(path) => Self::Path { verb, path: path.to_owned() },
            Target::Resource(on) => Self::Resource {
                verb,
                group: on.group.to_owned(),
                resource: on.resource.to_owned(),
                subresource: on.subresource.to_owned(),
            },
        }
    }

    fn length(&self) -> usize {
        match self {
            Self::Path { verb, path } => verb.len() + path.len(),
            Self::Resource { verb, group, resource, subresource } => {
                verb.len() + group.len() + resource.len() + subresource.len()
            }
        }
    }

    fn attributes(&self) -> Attributes<'_> {
        let (verb, target) = match self {
            Self::Path { verb, path } => (verb, Target::Path(path)),
            Self::Resource { verb, group, resource, subresource } => {
                (verb, Target::Resource(Resource { group, resource, subresource, ..Resource::default() }))
            }
        };
        Attributes { user: &Value::Null, verb, target }
    }
}

impl Usage {
    /// Records an allowed request, if there is room.
    pub(crate) fn note(&self, attributes: &Attributes<'_>) {
        let permission = Permission::of(attributes);
        let user = username(attributes.user);
        let mut users = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if users.get(user).is_some_and(|known| known.contains(&permission))
            || user.len() + permission.length() > MAX_LENGTH
            || users.values().map(BTreeSet::len).sum::<usize>() >= MAX_PERMISSIONS
        {
            return;
        }
        users.entry(user.to_owned()).or_default().insert(permission);
    }

    /// Lists the permissions of the rules that no request of the user has needed; see [`single`] for their names.
    pub(crate) fn unused(&self, user: &str, rules: &[PolicyRule]) -> Vec<String> {
        let users = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let needed = users.get(user);
        let is_needed = |rule: &Value| {
            needed.into_iter().flatten().any(|permission| allows(rule, &permission.attributes()))
        };
        let unused = rules.iter().flat_map(single).filter(|(_, rule)| !is_needed(rule)).map(|(name, _)| name);
        unused.collect::<BTreeSet<_>>().into_iter().collect()
    }
}

/// Splits a rule into rules of one verb and one resource or path, named `verb resource.group/subresource` or `verb
/// path`.
fn single(rule: &PolicyRule) -> Vec<(String, Value)> {
    let mut found = Vec::new();
    for verb in &rule.verbs {
        for path in rule.non_resource_urls.iter().flatten() {
            found.push((format!("{verb} {path}"), json!({"verbs": [verb], "nonResourceURLs": [path]})));
        }
        for (group, resource) in resources(rule) {
            let (object, subresource) = resource.split_once('/').unwrap_or((resource, ""));
            let dot = if group.is_empty() { "" } else { "." };
            let slash = if subresource.is_empty() { "" } else { "/" };
            let name = format!("{verb} {object}{dot}{group}{slash}{subresource}");
            found.push((name, json!({"verbs": [verb], "apiGroups": [group], "resources": [resource]})));
        }
    }
    found
}

fn resources(rule: &PolicyRule) -> impl Iterator<Item = (&str, &str)> {
    let resources = rule.resources.as_deref().unwrap_or_default();
    let groups = rule.api_groups.iter().flatten();
    groups.flat_map(|group| resources.iter().map(|resource| (group.as_str(), resource.as_str())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(usage: &Usage, user: &str, path: &str) {
        let user = json!({"username": user});
        usage.note(&Attributes { user: &user, verb: "get", target: Target::Path(path) });
    }

    #[test]
    fn recorded_usage_is_bounded() {
        let usage = Usage::default();
        note(&usage, "jane", &"a".repeat(MAX_LENGTH));
        for i in 0..MAX_PERMISSIONS + 10 {
            let user = format!("user-{}", i % 7);
            note(&usage, &user, &format!("/path/{i}"));
            note(&usage, &user, &format!("/path/{i}"));
        }
        let users = usage.0.lock().unwrap();
        assert_eq!(users.len(), 7, "{:?}", users.keys());
        assert_eq!(users.values().map(BTreeSet::len).sum::<usize>(), MAX_PERMISSIONS);
    }
}
