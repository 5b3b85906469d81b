//! Access control: roles and bindings, access reviews, and certificate signing requests.

use super::kind;
use crate::builtin::{BuiltIn, certificates, check, defaults};
use crate::names::NameRule;

const GROUP: &str = "rbac.authorization.k8s.io";

const fn rule(name: &'static str, plural: &'static str, singular: &'static str) -> BuiltIn {
    BuiltIn {
        create_on_update: true,
        name_rule: NameRule::PathSegment,
        default: defaults::role,
        check: check::role,
        ..kind(GROUP, name, plural, singular, &[])
    }
}

const fn binding(name: &'static str, plural: &'static str, singular: &'static str) -> BuiltIn {
    BuiltIn { default: defaults::role_binding, check: check::role_binding, ..rule(name, plural, singular) }
}

const AUTHENTICATION: &str = "authentication.k8s.io";
const AUTHORIZATION: &str = "authorization.k8s.io";

/// A review: the server fills in its status and does not store it.
const fn review(
    group: &'static str,
    name: &'static str,
    plural: &'static str,
    singular: &'static str,
) -> BuiltIn {
    BuiltIn { namespaced: false, review: true, ..kind(group, name, plural, singular, &[]) }
}

pub(super) static KINDS: &[BuiltIn] = &[
    rule("Role", "roles", "role"),
    binding("RoleBinding", "rolebindings", "rolebinding"),
    BuiltIn { namespaced: false, ..rule("ClusterRole", "clusterroles", "clusterrole") },
    BuiltIn {
        namespaced: false,
        ..binding("ClusterRoleBinding", "clusterrolebindings", "clusterrolebinding")
    },
    review(AUTHENTICATION, "SelfSubjectReview", "selfsubjectreviews", "selfsubjectreview"),
    review(AUTHENTICATION, "TokenReview", "tokenreviews", "tokenreview"),
    BuiltIn {
        namespaced: true,
        ..review(
            AUTHORIZATION,
            "LocalSubjectAccessReview",
            "localsubjectaccessreviews",
            "localsubjectaccessreview",
        )
    },
    review(AUTHORIZATION, "SelfSubjectAccessReview", "selfsubjectaccessreviews", "selfsubjectaccessreview"),
    review(AUTHORIZATION, "SelfSubjectRulesReview", "selfsubjectrulesreviews", "selfsubjectrulesreview"),
    review(AUTHORIZATION, "SubjectAccessReview", "subjectaccessreviews", "subjectaccessreview"),
    BuiltIn { review: true, ..kind("", "Binding", "bindings", "binding", &[]) },
    BuiltIn {
        namespaced: false,
        status: true,
        selectable: &["spec.signerName"],
        check: certificates::check,
        name_rule: NameRule::PathSegment,
        ..kind(
            "certificates.k8s.io",
            "CertificateSigningRequest",
            "certificatesigningrequests",
            "certificatesigningrequest",
            &["csr"],
        )
    },
];
