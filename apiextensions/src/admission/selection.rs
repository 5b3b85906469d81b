//! The rules that select the requests of a webhook or a policy.

use serde_json::Value;

use super::strings;

/// The facts of a request that a rule compares.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// `CREATE`, `UPDATE`, `DELETE` or `CONNECT`.
    pub operation: &'a str,
    /// The API group; empty for the core group.
    pub group: &'a str,
    /// The API version.
    pub version: &'a str,
    /// The plural name of the resource.
    pub resource: &'a str,
    /// The subresource, or empty.
    pub subresource: &'a str,
    /// The name of the object, or empty.
    pub name: &'a str,
    /// Whether it is about an object in a namespace.
    pub namespaced: bool,
}

/// One entry of `rules`.
#[derive(Clone, Debug)]
pub struct Rule {
    operations: Vec<String>,
    groups: Vec<String>,
    versions: Vec<String>,
    resources: Vec<String>,
    /// The names of objects; empty for all. Rules of webhooks have none.
    names: Vec<String>,
    /// `Cluster` or `Namespaced`; `None` for both.
    scope: Option<String>,
}

fn lists(items: &[String], wanted: &str) -> bool {
    items.iter().any(|item| item == "*" || item == wanted)
}

impl Rule {
    /// Reads a rule.
    pub fn of(rule: &Value) -> Self {
        let list = |key: &str| strings(&rule[key]).into_iter().map(str::to_owned).collect();
        Self {
            operations: list("operations"),
            groups: list("apiGroups"),
            versions: list("apiVersions"),
            resources: list("resources"),
            names: list("resourceNames"),
            scope: rule["scope"].as_str().filter(|scope| *scope != "*").map(str::to_owned),
        }
    }

    /// Reports whether the rule matches a request.
    pub fn takes(&self, request: &Request<'_>) -> bool {
        self.has_scope(request.namespaced)
            && lists(&self.operations, request.operation)
            && lists(&self.groups, request.group)
            && lists(&self.versions, request.version)
            && self.has_resource(request.resource, request.subresource)
            && (self.names.is_empty() || self.names.iter().any(|name| name == request.name))
    }

    fn has_scope(&self, namespaced: bool) -> bool {
        match self.scope.as_deref() {
            None => true,
            Some("Namespaced") => namespaced,
            Some("Cluster") => !namespaced,
            Some(_) => false,
        }
    }

    fn has_resource(&self, resource: &str, subresource: &str) -> bool {
        self.resources.iter().any(|entry| {
            let (main, sub) = entry.split_once('/').unwrap_or((entry, ""));
            (main == "*" || main == resource) && (sub == "*" || sub == subresource)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn resources_are_named_with_their_subresources() {
        for (resources, resource, subresource, named) in [
            (json!(["pods"]), "pods", "", true),
            (json!(["pods"]), "pods", "status", false),
            (json!(["pods/*"]), "pods", "status", true),
            (json!(["pods/*"]), "pods", "", true),
            (json!(["*"]), "pods", "", true),
            (json!(["*"]), "pods", "status", false),
            (json!(["*/*"]), "pods", "status", true),
            (json!(["*/scale"]), "widgets", "scale", true),
            (json!(["*/scale"]), "widgets", "", false),
            (json!(["widgets", "pods/status"]), "pods", "status", true),
        ] {
            let rule = Rule::of(&json!({"resources": resources}));
            assert_eq!(
                rule.has_resource(resource, subresource),
                named,
                "{resources} {resource}/{subresource}"
            );
        }
    }
}
