//! Aggregated cluster roles: the work of kube-controller-manager's clusterrole-aggregation-controller.

use serde_json::{Value, json};

use crate::apply::{self, Manager};
use crate::server::Server;
use crate::{managed, meta, selector};

const API_VERSION: &str = "rbac.authorization.k8s.io/v1";

/// The store's collection of cluster roles.
pub(crate) const CLUSTER_ROLES: &str = "clusterroles.rbac.authorization.k8s.io";

/// Updates aggregated cluster roles, where they are aggregated. Gives every cluster role with an `aggregationRule` the rules of the roles that it selects, each once, in the order of the
/// roles' names. An aggregated role can be part of another, so this goes on until nothing changes.
pub(crate) fn aggregate(server: &Server) {
    if !server.aggregates_roles() {
        return;
    }
    let Ok(stored) = server.store.list(CLUSTER_ROLES, "", None) else { return };
    // Each round settles at least one role; a cycle settles as well, since rules are only added.
    for _ in 0..=stored.objects.len() {
        if !round(server) {
            return;
        }
    }
}

/// Returns whether a role changed.
fn round(server: &Server) -> bool {
    let Ok(stored) = server.store.list(CLUSTER_ROLES, "", None) else { return false };
    let roles: Vec<&Value> = stored.objects.iter().map(|(_, object)| &*object.value).collect();
    let mut changed = false;
    for role in roles.iter().filter(|role| role["aggregationRule"].is_object()) {
        let rules = union(role, &roles);
        if role["rules"].as_array().map_or(!rules.is_empty(), |own| *own != rules) {
            changed = true;
            server.modify(CLUSTER_ROLES, meta::name(role), |old| Some(with_rules(server, old, &rules)));
        }
    }
    changed
}

/// Applies the rules as the controller does, by force.
fn with_rules(server: &Server, role: &Value, rules: &[Value]) -> Value {
    let mut next = role.clone();
    next["rules"] = rules.into();
    let registry = server.registry();
    let def = registry.find("rbac.authorization.k8s.io", "v1", "clusterroles");
    let Some(typed) = def.as_ref().and_then(|def| managed::rules_of(def)) else { return next };
    let config = json!({
        "apiVersion": API_VERSION, "kind": "ClusterRole", "metadata": {"name": meta::name(role)}, "rules": rules,
    });
    let manager = Manager {
        name: "clusterrole-aggregation-controller".to_owned(),
        api_version: API_VERSION.to_owned(),
        subresource: String::new(),
        time: server.now(),
        ignored: &["status"],
        only: &[],
    };
    apply::apply(typed, role, &config, &manager, true).map_or(next, |applied| applied.object)
}

fn union(role: &Value, roles: &[&Value]) -> Vec<Value> {
    let mut rules: Vec<Value> = Vec::new();
    for selecting in role["aggregationRule"]["clusterRoleSelectors"].as_array().into_iter().flatten() {
        let others = roles.iter().filter(|other| meta::name(other) != meta::name(role));
        for other in others.filter(|other| selector::matches(selecting, &other["metadata"]["labels"])) {
            for rule in other["rules"].as_array().into_iter().flatten() {
                if !rules.contains(rule) {
                    rules.push(rule.clone());
                }
            }
        }
    }
    rules
}
