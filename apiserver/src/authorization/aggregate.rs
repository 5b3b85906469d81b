//! Aggregated cluster roles: the work of kube-controller-manager's clusterrole-aggregation-controller.

use serde_json::Value;

use crate::server::Server;
use crate::{meta, selector};

/// The store's collection of cluster roles.
pub(crate) const CLUSTER_ROLES: &str = "clusterroles.rbac.authorization.k8s.io";

/// Gives every cluster role with an `aggregationRule` the rules of the roles that it selects, each once, in the order of the
/// roles' names. An aggregated role can be part of another, so this goes on until nothing changes.
pub(crate) fn aggregate(server: &Server) {
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
            server.modify(CLUSTER_ROLES, meta::name(role), |old| {
                let mut next = old.clone();
                next["rules"] = Value::Array(rules.clone());
                Some(next)
            });
        }
    }
    changed
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
