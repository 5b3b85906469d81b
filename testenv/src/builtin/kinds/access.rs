//! Who may do what.

use super::kind;
use crate::builtin::{BuiltIn, check, defaults};
use crate::names::NameRule;

const GROUP: &str = "rbac.authorization.k8s.io";

const fn rule(name: &'static str, plural: &'static str, singular: &'static str) -> BuiltIn {
    BuiltIn {
        create_on_update: true,
        name_rule: NameRule::PathSegment,
        default: defaults::role,
        ..kind(GROUP, name, plural, singular, &[])
    }
}

const fn binding(name: &'static str, plural: &'static str, singular: &'static str) -> BuiltIn {
    BuiltIn { default: defaults::role_binding, check: check::role_binding, ..rule(name, plural, singular) }
}

pub(super) static KINDS: &[BuiltIn] = &[
    rule("Role", "roles", "role"),
    binding("RoleBinding", "rolebindings", "rolebinding"),
    BuiltIn { namespaced: false, ..rule("ClusterRole", "clusterroles", "clusterrole") },
    BuiltIn {
        namespaced: false,
        ..binding("ClusterRoleBinding", "clusterrolebindings", "clusterrolebinding")
    },
];
