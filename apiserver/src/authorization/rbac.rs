//! Rules of roles and bindings: kubernetes/plugin/pkg/auth/authorizer/rbac and pkg/registry/rbac/validation/rule.go.

use kubesmith_apimachinery::errors::aggregate;
use serde_json::Value;

use super::Decision;
use crate::access::{Attributes, Target, allows, is_member, username};
use crate::meta;
use crate::server::Server;

const CLUSTER_ROLE_BINDINGS: &str = "clusterrolebindings.rbac.authorization.k8s.io";
const ROLE_BINDINGS: &str = "rolebindings.rbac.authorization.k8s.io";
const ROLES: &str = "roles.rbac.authorization.k8s.io";

/// The reader of roles, which names the resource of a missing one in its own way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reader<'a> {
    /// The listers of the authorizer.
    Lister,
    /// The storage of the API, in a request for this resource: errors name that one (`qualifiedResourceFromContext` of
    /// apiserver/pkg/registry/generic/registry/store.go).
    Storage(&'a str),
}

/// Decides by the rules of the user's roles.
pub(super) fn decide(server: &Server, attributes: &Attributes<'_>) -> Decision {
    let namespace = match attributes.target {
        Target::Resource(on) => on.namespace,
        Target::Path(_) => "",
    };
    let mut faults = Vec::new();
    for grant in grants(server, attributes.user, namespace, Reader::Lister) {
        match grant.rules {
            Ok(rules) if rules.iter().any(|rule| allows(rule, attributes)) => {
                return Decision::Allow(format!("RBAC: allowed by {}", grant.source));
            }
            Ok(_) => {}
            Err(fault) => faults.push(fault),
        }
    }
    Decision::NoOpinion(match aggregate(faults).as_str() {
        "" => String::new(),
        faults => format!("RBAC: {faults}"),
    })
}

/// Returns the rules that apply to a user in a namespace (`""`: cluster scope), and the errors of missing roles.
pub(crate) fn rules(server: &Server, user: &Value, namespace: &str, by: Reader<'_>) -> (Vec<Value>, String) {
    let (mut rules, mut faults) = (Vec::new(), Vec::new());
    for grant in grants(server, user, namespace, by) {
        match grant.rules {
            Ok(found) => rules.extend(found),
            Err(fault) => faults.push(fault),
        }
    }
    (rules, aggregate(faults))
}

/// The rules that one binding gives to a user.
struct Grant {
    source: String,
    rules: Result<Vec<Value>, String>,
}

/// The bindings that name the user: those of the cluster first.
fn grants(server: &Server, user: &Value, namespace: &str, by: Reader<'_>) -> Vec<Grant> {
    let mut found = bound(server, user, CLUSTER_ROLE_BINDINGS, "", by);
    if !namespace.is_empty() {
        found.extend(bound(server, user, ROLE_BINDINGS, namespace, by));
    }
    found
}

fn bound(server: &Server, user: &Value, collection: &str, namespace: &str, by: Reader<'_>) -> Vec<Grant> {
    let prefix = if namespace.is_empty() { String::new() } else { format!("{namespace}/") };
    let bindings = server.store.list(collection, &prefix, None).map(|list| list.objects).unwrap_or_default();
    let grant = |binding: &Value| {
        let mut subjects = binding["subjects"].as_array().into_iter().flatten();
        let subject = subjects.find(|subject| applies(user, subject, namespace))?;
        let rules = referenced(server, &binding["roleRef"], namespace, by);
        Some(Grant { source: describe(binding, subject, namespace), rules })
    };
    bindings.iter().filter_map(|(_, binding)| grant(&binding.value)).collect()
}

fn applies(user: &Value, subject: &Value, namespace: &str) -> bool {
    let name = meta::member(subject, "name");
    match meta::member(subject, "kind") {
        "User" => username(user) == name,
        "Group" => is_member(user, name),
        "ServiceAccount" => {
            let namespace = match meta::member(subject, "namespace") {
                "" => namespace,
                own => own,
            };
            !namespace.is_empty() && username(user) == format!("system:serviceaccount:{namespace}:{name}")
        }
        _ => false,
    }
}

/// Returns the rules of the role that a binding refers to.
///
/// # Errors
/// Returns the text of the error if there is no such role.
pub(super) fn referenced(
    server: &Server,
    role: &Value,
    namespace: &str,
    by: Reader<'_>,
) -> Result<Vec<Value>, String> {
    let name = meta::member(role, "name");
    let (collection, key, resource) = match meta::member(role, "kind") {
        "Role" => (ROLES, format!("{namespace}/{name}"), "role"),
        "ClusterRole" => (super::CLUSTER_ROLES, name.to_owned(), "clusterrole"),
        kind => return Err(format!("unsupported role reference kind: {kind:?}")),
    };
    let resource = match by {
        Reader::Lister => resource,
        Reader::Storage(of_request) => of_request,
    };
    let missing = || format!("{resource}.rbac.authorization.k8s.io {name:?} not found");
    let stored = server.store.get(collection, &key).ok_or_else(missing)?;
    Ok(stored.value["rules"].as_array().cloned().unwrap_or_default())
}

/// Names a binding as kube-apiserver does, which puts names before namespaces here.
fn describe(binding: &Value, subject: &Value, namespace: &str) -> String {
    let (kind, own) = match namespace {
        "" => ("ClusterRoleBinding", meta::name(binding).to_owned()),
        namespace => ("RoleBinding", format!("{}/{namespace}", meta::name(binding))),
    };
    let role = &binding["roleRef"];
    let who = match (meta::member(subject, "kind"), meta::member(subject, "namespace")) {
        ("ServiceAccount", "") => format!("{}/{namespace}", meta::member(subject, "name")),
        ("ServiceAccount", own) => format!("{}/{own}", meta::member(subject, "name")),
        _ => meta::member(subject, "name").to_owned(),
    };
    format!(
        "{kind} {own:?} of {} {:?} to {} {who:?}",
        meta::member(role, "kind"),
        meta::member(role, "name"),
        meta::member(subject, "kind")
    )
}
