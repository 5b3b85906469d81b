//! Questions of access, and the rules of roles that answer them. `authorization` finds the rules of a user.

mod request;
mod usage;

use serde_json::Value;

use crate::meta;

pub(crate) use request::{Request, TIME_LIMIT};
pub(crate) use usage::Usage;

/// The group whose members may do everything (`SystemPrivilegedGroup` of apiserver/pkg/authentication/user).
pub(crate) const MASTERS: &str = "system:masters";

/// The authorization mode: kube-apiserver's `--authorization-mode`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AuthorizationMode {
    /// Allows every request.
    #[default]
    AlwaysAllow,
    /// Roles and bindings decide.
    Rbac,
}

/// One access question: a user, a verb and a target.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attributes<'a> {
    /// The user as `authentication.k8s.io` describes it.
    pub(crate) user: &'a Value,
    /// The verb: `get`, `list`, `create`, ...; of a path, the HTTP method in lower case.
    pub(crate) verb: &'a str,
    /// The target of the request.
    pub(crate) target: Target<'a>,
}

/// The target of a request.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Target<'a> {
    /// A path that is no resource, such as `/healthz`.
    Path(&'a str),
    /// A resource.
    Resource(Resource<'a>),
}

/// A resource, as rules name it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Resource<'a> {
    pub(crate) group: &'a str,
    pub(crate) resource: &'a str,
    /// Empty: the object itself.
    pub(crate) subresource: &'a str,
    /// Empty: all namespaces, or cluster scope.
    pub(crate) namespace: &'a str,
    /// Empty: all names.
    pub(crate) name: &'a str,
}

/// The wildcard of rules.
const ALL: &str = "*";

/// Reports whether the user is a member of the group.
pub(crate) fn is_member(user: &Value, group: &str) -> bool {
    meta::strings(&user["groups"]).contains(&group)
}

/// Returns the name of a user.
pub(crate) fn username(user: &Value) -> &str {
    user["username"].as_str().unwrap_or_default()
}

/// Reports whether a rule allows the request (`RuleAllows`).
pub(crate) fn allows(rule: &Value, attributes: &Attributes<'_>) -> bool {
    let has = |field: &str, value: &str| meta::strings(&rule[field]).iter().any(|v| *v == ALL || *v == value);
    has("verbs", attributes.verb)
        && match &attributes.target {
            Target::Path(path) => {
                meta::strings(&rule["nonResourceURLs"]).iter().any(|url| url_covers(url, path))
            }
            Target::Resource(on) => {
                let names = meta::strings(&rule["resourceNames"]);
                has("apiGroups", on.group)
                    && names_resource(&meta::strings(&rule["resources"]), on)
                    && (names.is_empty() || names.contains(&on.name))
            }
        }
}

/// Reports whether a rule's resources include this one: by name, as `*`, or as `*/subresource`.
fn names_resource(resources: &[&str], on: &Resource<'_>) -> bool {
    resources.iter().any(|listed| match listed.split_once('/') {
        None => *listed == ALL || (on.subresource.is_empty() && *listed == on.resource),
        Some((resource, subresource)) => {
            !on.subresource.is_empty()
                && subresource == on.subresource
                && (resource == ALL || resource == on.resource)
        }
    })
}

/// Reports whether a rule's path, which may end in `*`, covers another.
pub(crate) fn url_covers(url: &str, path: &str) -> bool {
    url == path || (url.ends_with(ALL) && path.starts_with(url.trim_end_matches('*')))
}
