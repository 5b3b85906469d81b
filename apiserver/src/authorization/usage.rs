//! What the requests of users have needed: tests find with it what a role gives for nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use k8s_openapi::api::rbac::v1::PolicyRule;
use serde_json::{Value, json};

use super::{Attributes, Resource, Target, rbac, username};

/// The permissions that requests have needed, by user. Names and namespaces of objects are left out, so that the API bounds the
/// size, not the number of objects.
#[derive(Debug, Default)]
pub(crate) struct Usage(Mutex<BTreeMap<String, BTreeSet<Permission>>>);

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
    /// Notes an allowed request.
    pub(super) fn note(&self, attributes: &Attributes<'_>) {
        let permission = Permission::of(attributes);
        let mut users = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        users.entry(username(attributes.user).to_owned()).or_default().insert(permission);
    }

    /// What the rules allow that no request of the user has needed: `verb resource.group/subresource` or `verb path`, sorted.
    pub(crate) fn unused(&self, user: &str, rules: &[PolicyRule]) -> Vec<String> {
        let users = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let needed = users.get(user);
        let is_needed = |rule: &Value| {
            needed.into_iter().flatten().any(|permission| rbac::allows(rule, &permission.attributes()))
        };
        let unused = rules.iter().flat_map(single).filter(|(_, rule)| !is_needed(rule)).map(|(name, _)| name);
        unused.collect::<BTreeSet<_>>().into_iter().collect()
    }
}

/// A rule as rules of one verb and one resource or path each, with their names. Names of objects are left out.
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
