//! Kinds that are neither workloads nor about network or storage.

use kubesmith_apimachinery::names;
use serde_json::{Value, json};

use super::field::{Errors, Field, go_struct};
use super::{addresses, resources, scheduling};
use crate::names::NameRule;
use crate::status::Cause;

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
            errors.forbidden(&preferred, "may only be specified when `strategy` is defined");
        }
        let holder = spec.child("holderIdentity");
        if holder.is_set() && holder.is_empty() {
            errors.required(&holder, "must not be empty");
        }
    })
}

/// `ValidateNode` and `ValidateNodeUpdate` of `pkg/apis/core/validation`.
pub(in crate::builtin) fn node(object: &Value, old: Option<&Value>) -> Vec<Cause> {
    Errors::of(|errors| {
        let (spec, status) = (Field::root(object).child("spec"), Field::root(object).child("status"));
        taints(&spec.child("taints").at("metadata.taints"), errors);
        for part in ["capacity", "allocatable"] {
            for (name, amount) in status.child(part).entries() {
                resources::value(name, &amount.at(format!("status.{part}.{name}")), errors);
            }
        }
        for range in spec.child("podCIDRs").items() {
            _ = addresses::range(&range, errors);
        }
        let Some(old) = old else { return };
        let before = Field::root(old).child("spec");
        let ranges = spec.child("podCIDRs");
        if !before.child("podCIDRs").is_empty() && ranges.value != before.child("podCIDRs").value {
            errors.forbidden(&ranges, "node updates may not change podCIDR except from \"\" to valid");
        }
        let provider = spec.child("providerID");
        if !before.child("providerID").is_empty() && provider.value != before.child("providerID").value {
            errors.forbidden(&provider, "node updates may not change providerID except from \"\" to valid");
        }
    })
}

fn taints(list: &Field<'_>, errors: &mut Errors) {
    let mut seen: Vec<(&str, &str)> = Vec::new();
    for taint in list.items() {
        let (key, value, effect) = (taint.child("key"), taint.child("value"), taint.child("effect"));
        errors.qualified_name(&key);
        let faults = names::label_value(value.text());
        if !faults.is_empty() {
            errors.invalid(&value, &faults.join(";"));
        }
        scheduling::taint_effect(&effect, errors);
        if seen.contains(&(key.text(), effect.text())) {
            let fields =
                [("Key", "key"), ("Value", "value"), ("Effect", "effect"), ("TimeAdded", "timeAdded")];
            let message = format!(
                "Duplicate value: {}: taints must be unique by key and effect pair",
                go_struct(taint.value, &fields)
            );
            errors.push(Cause::new("FieldValueDuplicate", &taint.path, message));
        }
        seen.push((key.text(), effect.text()));
    }
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
        let value = root.child("value");
        if name.text().starts_with("system-") {
            let detail = "priority class names with 'system-' prefix are reserved for system use only";
            errors.forbidden(&name, detail);
        } else if value.number_or_zero() > 1_000_000_000 {
            errors.forbidden(&value, "maximum allowed value of a user defined priority is 1000000000");
        }
        let policy = root.child("preemptionPolicy");
        if policy.is_set() {
            errors.one_of(&policy, &["PreemptLowerPriority", "Never"]);
        }
        if let Some(old) = old {
            if old["value"] != object["value"] {
                errors.forbidden(&value, "may not be changed in an update.");
            }
            errors.immutable(&policy, &Field::root(old).child("preemptionPolicy"));
        }
    })
}

pub(in crate::builtin) fn runtime_class(object: &Value, old: Option<&Value>) -> Vec<Cause> {
    Errors::of(|errors| {
        let handler = Field::root(object).child("handler");
        let text = json!(handler.text());
        errors.all_invalid(&handler.holding(&text), NameRule::Label.check(handler.text()));
        if let Some(old) = old {
            errors.immutable(&handler, &Field::root(old).child("handler"));
        }
    })
}
