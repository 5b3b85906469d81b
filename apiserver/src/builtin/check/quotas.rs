//! Resource quotas. Source: `ValidateResourceQuota` and what it calls in `pkg/apis/core/validation`.

use serde_json::Value;

use super::field::{Errors, Field, NOT_AN_OPERATOR, go_struct};
use super::resources::{QUOTA, is_huge_pages, resource_name, value};
use crate::status::Cause;

/// `ValidateResourceQuota`.
pub(in crate::builtin) fn quota(object: &Value, old: Option<&Value>) -> Vec<Cause> {
    Errors::of(|errors| {
        let root = Field::root(object);
        let spec = root.child("spec");
        quota_amounts(&spec.child("hard"), errors);
        let scopes = spec.child("scopes");
        for scope in scopes.texts() {
            if !SCOPES.contains(&scope) {
                errors.invalid(&scopes, "unsupported scope");
            }
            for _ in out_of_scope(scope, &spec) {
                errors.invalid(&scopes, "unsupported scope applied to resource");
            }
        }
        for pair in CONFLICTING {
            if pair.iter().all(|scope| scopes.texts().contains(scope)) {
                errors.invalid(&scopes, "conflicting scopes");
            }
        }
        scope_selector(&spec, errors);
        if old.is_none() {
            quota_status_amounts(&root.child("status"), errors);
        }
        if let Some(old) = old {
            let mut before = Field::root(old).child("spec").child("scopes").texts();
            let mut after = scopes.texts();
            before.sort_unstable();
            after.sort_unstable();
            if before != after {
                errors.invalid(&scopes, "field is immutable");
            }
        }
    })
}

/// `ValidateResourceQuotaStatusUpdate`.
pub(in crate::builtin) fn quota_status(new: &Value, _: &Value) -> Vec<Cause> {
    Errors::of(|errors| quota_status_amounts(&Field::root(new).child("status"), errors))
}

/// `ValidateResourceQuotaStatus`.
fn quota_status_amounts(status: &Field<'_>, errors: &mut Errors) {
    for part in ["hard", "used"] {
        quota_amounts(&status.child(part), errors);
    }
}

fn quota_amounts(amounts: &Field<'_>, errors: &mut Errors) {
    for (name, hard) in amounts.entries() {
        quota_resource(name, &hard, errors);
        value(name, &hard, errors);
    }
}

/// `validateScopedResourceSelectorRequirement`. Its paths carry no index.
fn scope_selector(spec: &Field<'_>, errors: &mut Errors) {
    const EXISTS: &str = "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, \
        ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or \
        ResourceQuotaScopeCrossNamespacePodAffinity";
    let list = spec.child("scopeSelector").child("matchExpressions");
    let at = |field: &Field<'_>, name: &str| field.at(format!("{}.{name}", list.path)).path;
    let mut seen: Vec<&str> = Vec::new();
    for term in list.items() {
        let text = |name: &str| Value::from(term.child(name).text());
        let (scope, operator, values) = (text("scopeName"), text("operator"), term.child("values"));
        let scope_name = term.child("scopeName").text();
        let place = |value| Field { path: String::new(), value };
        if !SCOPES.contains(&scope_name) {
            let scope = place(&scope);
            errors.invalid(&scope.at(at(&term, "scopeName")), "unsupported scope");
        }
        for _ in out_of_scope(scope_name, spec) {
            let shown = scope_selector_in_go(list.value);
            errors.invalid_as(&list, &shown, "unsupported scope applied to resource");
        }
        let operator_place = place(&operator).at(at(&term, "operator"));
        let is_plain = !matches!(scope_name, "PriorityClass" | "VolumeAttributesClass");
        if SCOPES.contains(&scope_name) && is_plain && operator != "Exists" {
            errors.invalid(&operator_place, EXISTS);
        }
        let values = values.at(at(&term, "values"));
        match term.child("operator").text() {
            "In" | "NotIn" if values.is_empty() => errors.required(
                &values,
                "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector",
            ),
            "In" | "NotIn" => {}
            "Exists" | "DoesNotExist" if !values.is_empty() => errors.invalid(
                &values,
                "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector",
            ),
            "Exists" | "DoesNotExist" => {}
            _ => errors.invalid(&operator_place, NOT_AN_OPERATOR),
        }
        seen.push(scope_name);
    }
    for pair in CONFLICTING {
        if pair.iter().all(|scope| seen.contains(scope)) {
            errors.invalid(&spec.child("scopes").at(list.path.clone()), "conflicting scopes");
        }
    }
}

/// Go's names of the internal `ScopeSelector`.
fn scope_selector_in_go(terms: &Value) -> String {
    const TERM: &[(&str, &str)] =
        &[("ScopeName", "scopeName"), ("Operator", "operator"), ("Values", "values")];
    let terms: Vec<String> =
        terms.as_array().into_iter().flatten().map(|term| go_struct(term, TERM)).collect();
    format!("{{\"MatchExpressions\":[{}]}}", terms.join(","))
}

/// The resources with a hard limit to which a scope does not apply (`IsResourceQuotaScopeValidForResource`).
fn out_of_scope<'v>(scope: &'v str, spec: &Field<'v>) -> impl Iterator<Item = &'v str> {
    const COUNTED: [&str; 1] = ["pods"];
    const COMPUTED: [&str; 7] =
        ["pods", "cpu", "memory", "limits.cpu", "limits.memory", "requests.cpu", "requests.memory"];
    const STORED: [&str; 2] = ["persistentvolumeclaims", "requests.storage"];
    let fits = move |name: &str| match scope {
        "Terminating"
        | "NotTerminating"
        | "NotBestEffort"
        | "PriorityClass"
        | "CrossNamespacePodAffinity" => COMPUTED.contains(&name),
        "BestEffort" => COUNTED.contains(&name),
        "VolumeAttributesClass" => STORED.contains(&name),
        _ => true,
    };
    let is_quota = |name: &&str| QUOTA.contains(name) || is_huge_pages(name);
    let names = spec.child("hard").entries().into_iter().map(|(name, _)| name);
    names.filter(is_quota).filter(move |name| !fits(name))
}

/// Scopes that exclude each other.
const CONFLICTING: [[&str; 2]; 2] = [["BestEffort", "NotBestEffort"], ["Terminating", "NotTerminating"]];

const SCOPES: &[&str] = &[
    "Terminating",
    "NotTerminating",
    "BestEffort",
    "NotBestEffort",
    "PriorityClass",
    "CrossNamespacePodAffinity",
    "VolumeAttributesClass",
];

fn quota_resource(name: &str, field: &Field<'_>, errors: &mut Errors) {
    resource_name(name, field, errors);
    let standard = QUOTA.contains(&name) || is_huge_pages(name) || name.starts_with("requests.hugepages-");
    if !name.contains('/') && !standard {
        let text = Value::from(name);
        errors.invalid(&field.holding(&text), "must be a standard resource for quota");
    }
}
