//! Kinds other than those of workloads, network and storage.

use kubesmith_apimachinery::names;
use serde_json::{Value, json};

use super::field::{Errors, Field, go_struct};
use super::{resources, scheduling};
use crate::names::NameRule;
use crate::status::Cause;

/// The priority classes that every cluster has, with their numbers.
pub(crate) const SYSTEM_PRIORITIES: &[(&str, i64)] =
    &[("system-cluster-critical", 2_000_000_000), ("system-node-critical", 2_000_001_000)];

/// `pkg/apis/coordination/validation`.
pub(in crate::builtin) fn lease(object: &Value, _: Option<&Value>) -> Vec<Cause> {
    Errors::of(|errors| {
        let spec = Field::root(object).child("spec");
        let seconds = spec.child("leaseDurationSeconds");
        if seconds.number().is_some_and(|number| number <= 0) {
            errors.invalid(&seconds, "must be greater than 0");
        }
        errors.not_negative(&spec.child("leaseTransitions"));
        let strategy = spec.child("strategy");
        let preferred = spec.child("preferredHolder");
        if strategy.is_set() && strategy.text() != "OldestEmulationVersion" {
            errors.all_invalid(&strategy, names::qualified_name(strategy.text()));
        }
        if !preferred.is_empty() && strategy.is_empty() {
            errors.forbidden(&preferred, "may only be specified if `strategy` is defined");
        }
    })
}

/// Go's names of the internal `RoleRef`.
const ROLE_REF: &[(&str, &str)] = &[("APIGroup", "apiGroup"), ("Kind", "kind"), ("Name", "name")];
const RBAC: &str = "rbac.authorization.k8s.io";

/// `ValidateRoleBinding` of `pkg/apis/rbac/validation`.
pub(in crate::builtin) fn role_binding(object: &Value, old: Option<&Value>) -> Vec<Cause> {
    Errors::of(|errors| {
        let root = Field::root(object);
        let role = root.child("roleRef");
        if role.child("apiGroup").text() != RBAC {
            errors.not_supported(&role.child("apiGroup"), &[RBAC]);
        }
        let kinds: &[&str] =
            if object["kind"] == "ClusterRoleBinding" { &["ClusterRole"] } else { &["Role", "ClusterRole"] };
        let kind = role.child("kind");
        if !kinds.contains(&kind.text()) {
            let text = Value::from(kind.text());
            errors.not_supported(&kind.holding(&text), kinds);
        }
        errors.required_name(&role.child("name"), NameRule::PathSegment);
        for subject in root.child("subjects").items() {
            binding_subject(&subject, object["kind"] == "ClusterRoleBinding", errors);
        }
        if old.is_some_and(|old| old["roleRef"] != object["roleRef"]) {
            let shown = go_struct(role.value, ROLE_REF);
            errors.invalid_as(&role, &shown, "cannot change roleRef");
        }
    })
}

fn binding_subject(subject: &Field<'_>, is_cluster_wide: bool, errors: &mut Errors) {
    let (kind, name, group) = (subject.child("kind"), subject.child("name"), subject.child("apiGroup"));
    if name.is_empty() {
        errors.required(&name, "");
    }
    match kind.text() {
        "ServiceAccount" => {
            errors.optional_name(&name, NameRule::Subdomain);
            if !group.is_empty() {
                errors.not_supported(&group, &[""]);
            }
            let namespace = subject.child("namespace");
            if is_cluster_wide && namespace.is_empty() {
                errors.required(&namespace, "");
            }
        }
        "User" | "Group" => {
            if group.text() != RBAC {
                errors.not_supported(&group, &[RBAC]);
            }
        }
        _ => errors.not_supported(&kind, &["ServiceAccount", "User", "Group"]),
    }
}

/// `ValidateRole` and `ValidateClusterRole` of `pkg/apis/rbac/validation`.
pub(in crate::builtin) fn role(object: &Value, _: Option<&Value>) -> Vec<Cause> {
    Errors::of(|errors| {
        let is_cluster_role = object["kind"] == "ClusterRole";
        for rule in Field::root(object).child("rules").items() {
            policy_rule(&rule, !is_cluster_role, errors);
        }
        let aggregation = Field::root(object).child("aggregationRule");
        if aggregation.is_set() {
            let selectors = aggregation.child("clusterRoleSelectors");
            if selectors.is_empty() {
                errors.required(
                    &selectors,
                    "at least one clusterRoleSelector required if aggregationRule is non-nil",
                );
            }
            for selector in selectors.items() {
                errors.label_selector(&selector);
                if !crate::selector::is_valid(selector.value) {
                    // `LabelSelectorAsSelector` returns no selector with its error.
                    let null = json!(null);
                    errors.invalid(&selector.holding(&null), "invalid label selector.");
                }
            }
        }
    })
}

fn policy_rule(rule: &Field<'_>, is_namespaced: bool, errors: &mut Errors) {
    let verbs = rule.child("verbs");
    if verbs.is_empty() {
        errors.required(&verbs, "verbs must contain at least one value");
    }
    let (urls, groups, resources) =
        (rule.child("nonResourceURLs"), rule.child("apiGroups"), rule.child("resources"));
    if !urls.is_empty() {
        if is_namespaced {
            errors.invalid(&urls, "namespaced rules cannot apply to non-resource URLs");
        }
        if !groups.is_empty() || !resources.is_empty() || !rule.child("resourceNames").is_empty() {
            errors.invalid(&urls, "rules cannot apply to both regular resources and non-resource URLs");
        }
        return;
    }
    if groups.is_empty() {
        errors.required(&groups, "resource rules must supply at least one api group");
    }
    if resources.is_empty() {
        errors.required(&resources, "resource rules must supply at least one resource");
    }
}

pub(in crate::builtin) fn priority_class(object: &Value, old: Option<&Value>) -> Vec<Cause> {
    Errors::of(|errors| {
        let root = Field::root(object);
        let name = root.child("metadata").child("name");
        let (value, policy) = (root.child("value"), root.child("preemptionPolicy"));
        if let Some(old) = old {
            if old["value"] != object["value"] {
                errors.forbidden(&value, "may not be changed in an update.");
            }
            errors.immutable(&policy, &Field::root(old).child("preemptionPolicy"));
            return;
        }
        if name.text().starts_with("system-") {
            if let Some(fault) = system_class_fault(&root) {
                let detail = "priority class names with 'system-' prefix are reserved for system use only";
                errors.forbidden(&name, &format!("{detail}. error: {fault}"));
            }
        } else if value.number_or_zero() > 1_000_000_000 {
            errors.forbidden(&value, "maximum allowed value of a user defined priority is 1000000000");
        }
        if policy.is_set() {
            errors.one_of(&policy, &["PreemptLowerPriority", "Never"]);
        }
    })
}

/// Compares a class with the system's own of that name (`IsKnownSystemPriorityClass` of pkg/apis/scheduling/v1).
fn system_class_fault(class: &Field<'_>) -> Option<String> {
    let name = class.child("metadata").child("name");
    let name = name.text();
    match SYSTEM_PRIORITIES.iter().find(|(known, _)| *known == name) {
        None => Some(format!("{name} is not a known system priority class")),
        Some((_, value)) if class.child("value").number_or_zero() != *value => {
            Some(format!("value of {name} PriorityClass must be {value}"))
        }
        Some(_) if class.child("globalDefault").is_true() => {
            Some(format!("globalDefault of {name} PriorityClass must be false"))
        }
        Some(_) => None,
    }
}

/// Go's names of the internal `Toleration`.
const TOLERATION: &[(&str, &str)] = &[
    ("Key", "key"),
    ("Operator", "operator"),
    ("Value", "value"),
    ("Effect", "effect"),
    ("TolerationSeconds", "seconds"),
];

/// `ValidateRuntimeClass` of `pkg/apis/node/validation`, and its update.
pub(in crate::builtin) fn runtime_class(object: &Value, old: Option<&Value>) -> Vec<Cause> {
    Errors::of(|errors| {
        let root = Field::root(object);
        let text = json!(root.child("handler").text());
        let handler = root.child("handler").holding(&text);
        errors.required_name(&handler, NameRule::Label);
        // The path is that of the original.
        resources::overhead(&root.child("overhead").child("podFixed").at("overhead"), errors);
        let scheduling = root.child("scheduling");
        errors.labels(&scheduling.child("nodeSelector"));
        let list = scheduling.child("tolerations");
        scheduling::tolerations(&list, errors);
        let mut seen: Vec<[&str; 4]> = Vec::new();
        for toleration in list.items() {
            let key = ["key", "operator", "value", "effect"].map(|member| toleration.child(member).text());
            if seen.contains(&key) {
                let shown = json!({
                    "key": key[0], "operator": key[1], "value": key[2], "effect": key[3],
                    "seconds": toleration.child("tolerationSeconds").value,
                });
                errors.duplicate_as(&toleration, &go_struct(&shown, TOLERATION));
            }
            seen.push(key);
        }
        if old.is_some_and(|old| Field::root(old).child("handler").text() != handler.text()) {
            errors.invalid(&handler, "field is immutable");
        }
    })
}

/// `ValidateControllerRevision` of `pkg/apis/apps/validation`.
pub(in crate::builtin) fn controller_revision(object: &Value, old: Option<&Value>) -> Vec<Cause> {
    Errors::of(|errors| {
        let root = Field::root(object);
        let (data, revision) = (root.child("data"), root.child("revision"));
        if let Some(old) = old {
            errors.immutable(&data, &Field::root(old).child("data"));
        } else if data.value.is_null() {
            errors.required(&data, "data is mandatory");
        } else if !data.value.is_object() {
            errors.required(&data, "data must be a valid JSON object");
        }
        errors.not_negative(&revision);
    })
}

/// `ValidateAPIService` of kube-aggregator.
pub(in crate::builtin) fn api_service(object: &Value, _: Option<&Value>) -> Vec<Cause> {
    Errors::of(|errors| {
        let root = Field::root(object);
        let (spec, name) = (root.child("spec"), root.child("metadata").child("name"));
        let (group, version) = (spec.child("group"), spec.child("version"));
        let wanted = format!("{}.{}", version.text(), group.text());
        if name.text() != wanted {
            let detail =
                format!("must be `spec.version+\".\"+spec.group`: {}", crate::names::quoted(&wanted));
            errors.invalid(&name, &detail);
        }
        if group.is_empty() && version.text() != "v1" {
            errors.required(&group, "only v1 may have an empty group and it better be legacy kube");
        }
        errors.optional_name(&group, NameRule::Subdomain);
        let text = json!(version.text());
        errors.all_invalid(&version.holding(&text), NameRule::Label1035.check(version.text()));
        for (member, most) in [("groupPriorityMinimum", 20_000), ("versionPriority", 1000)] {
            let priority = spec.child(member);
            if !(1..=most).contains(&priority.number_or_zero()) {
                errors.invalid_number(&priority, &format!("must be positive and less than {most}"));
            }
        }
        let (service, authority) = (spec.child("service"), spec.child("caBundle"));
        let unchecked = spec.child("insecureSkipTLSVerify");
        if !service.is_set() {
            if !authority.is_empty() {
                let length = authority.text().trim_end_matches('=').len() * 3 / 4;
                errors.invalid_as(
                    &authority,
                    &format!("\"{length} bytes\""),
                    "local APIServices may not have a caBundle",
                );
            }
            if unchecked.is_true() {
                errors.invalid(&unchecked, "local APIServices may not have insecureSkipTLSVerify");
            }
            return;
        }
        for member in [service.child("namespace"), service.child("name")] {
            if member.is_empty() {
                errors.required(&member, "");
            }
        }
        let port = service.child("port");
        if !(1..=65_535).contains(&port.number_or_zero()) {
            errors.invalid_number(&port, "port is not valid: must be between 1 and 65535, inclusive");
        }
        if unchecked.is_true() && !authority.is_empty() {
            errors.invalid(&unchecked, "may not be true if caBundle is present");
        }
    })
}

/// `ValidateNamespaceStatusUpdate`: the phase is that of the namespace's life.
pub(in crate::builtin) fn namespace_status(new: &Value, _: &Value) -> Vec<Cause> {
    let (wanted, when) = match new["metadata"]["deletionTimestamp"].is_null() {
        true => ("Active", "is empty"),
        false => ("Terminating", "is not empty"),
    };
    Errors::of(|errors| {
        let phase = Field::root(new).child("status").child("phase");
        if phase.text() != wanted {
            let detail = format!("may only be '{wanted}' if `deletionTimestamp` {when}");
            errors.push(Cause::invalid("status.Phase", json!(phase.text()), &detail));
        }
    })
}

/// `ValidateNamespace` of `pkg/apis/core/validation`: the finalizers of a new one.
pub(in crate::builtin) fn namespace(object: &Value, old: Option<&Value>) -> Vec<Cause> {
    Errors::of(|errors| {
        let finalizers = Field::root(object).child("spec").child("finalizers");
        for finalizer in finalizers.items().filter(|_| old.is_none()) {
            let text = json!(finalizer.text());
            finalizer_name(&finalizers.holding(&text), errors);
        }
    })
}

/// `ValidateNamespaceFinalizeUpdate` of `pkg/apis/core/validation`, which names the faulty item.
pub(in crate::builtin) fn namespace_finalizers(object: &Value) -> Vec<Cause> {
    Errors::of(|errors| {
        for finalizer in Field::root(object).child("spec").child("finalizers").items() {
            finalizer_name(&finalizer, errors);
        }
    })
}

/// `validateFinalizerName` of `pkg/apis/core/validation`, with `standardFinalizers` of `pkg/apis/core/helper`.
fn finalizer_name(finalizer: &Field<'_>, errors: &mut Errors) {
    errors.qualified_name(finalizer);
    let is_standard = matches!(finalizer.text(), "kubernetes" | "orphan" | "foregroundDeletion");
    if !finalizer.text().contains('/') && !is_standard {
        errors.invalid(finalizer, "name is neither a standard finalizer name nor is it fully qualified");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// client-go's leader election releases a lease in this way.
    #[test]
    fn lease_without_holder_is_accepted() {
        let released =
            json!({"spec": {"holderIdentity": "", "leaseDurationSeconds": 1, "leaseTransitions": 3}});
        assert!(lease(&released, None).is_empty());
        assert_eq!(lease(&json!({"spec": {"leaseDurationSeconds": 0}}), None).len(), 1);
    }
}
