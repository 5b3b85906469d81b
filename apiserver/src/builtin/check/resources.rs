//! Amounts of compute resources: requests and limits of pods and containers, quotas, limit ranges, capacities.
//!
//! Source: `pkg/apis/core/validation` and `pkg/apis/core/helper` of Kubernetes 1.36.

use kubesmith_apimachinery::names;
use kubesmith_apimachinery::quantity::Quantity;
use serde_json::Value;

use super::field::{Errors, Field, NEGATIVE};

/// `IsStandardContainerResourceName`, apart from huge pages.
const CONTAINER: &[&str] = &["cpu", "memory", "ephemeral-storage"];

/// `standardQuotaResources`.
const QUOTA: &[&str] = &[
    "cpu",
    "memory",
    "ephemeral-storage",
    "requests.cpu",
    "requests.memory",
    "requests.storage",
    "requests.ephemeral-storage",
    "limits.cpu",
    "limits.memory",
    "limits.ephemeral-storage",
    "pods",
    "resourcequotas",
    "services",
    "replicationcontrollers",
    "secrets",
    "persistentvolumeclaims",
    "configmaps",
    "services.nodeports",
    "services.loadbalancers",
];

/// `integerResources`: resources that come in whole pieces.
const WHOLE: &[&str] = &[
    "pods",
    "resourcequotas",
    "services",
    "replicationcontrollers",
    "secrets",
    "configmaps",
    "persistentvolumeclaims",
    "services.nodeports",
    "services.loadbalancers",
];

const NANO: i128 = 1_000_000_000;

/// An amount in units of 10^-9; zero for anything that decoding would have refused.
pub(super) fn amount(field: &Field<'_>) -> i128 {
    match field.value {
        Value::String(text) => nanos(text).unwrap_or_default(),
        Value::Number(number) => nanos(&number.to_string()).unwrap_or_default(),
        _ => 0,
    }
}

fn nanos(text: &str) -> Option<i128> {
    Quantity::parse(text).ok().map(Quantity::nanos)
}

fn is_huge_pages(name: &str) -> bool {
    name.starts_with("hugepages-")
}

/// `IsNativeResource`: Kubernetes defines it.
fn is_native(name: &str) -> bool {
    !name.contains('/') || name.contains("kubernetes.io/")
}

/// `IsExtendedResourceName`: somebody else's, in a domain of its own.
fn is_extended(name: &str) -> bool {
    !is_native(name)
        && !name.starts_with("requests.")
        && names::qualified_name(&format!("requests.{name}")).is_empty()
}

/// `IsOvercommitAllowed`.
fn can_be_overcommitted(name: &str) -> bool {
    is_native(name) && !is_huge_pages(name)
}

fn is_standard(name: &str) -> bool {
    CONTAINER.contains(&name) || QUOTA.contains(&name) || name == "storage" || is_huge_pages(name)
}

/// `validateResourceName`; reports whether the name passed.
fn resource_name(name: &str, field: &Field<'_>, errors: &mut Errors) -> bool {
    let text = Value::from(name);
    let field = field.holding(&text);
    let before = errors.len();
    errors.all_invalid(&field, names::qualified_name(name));
    if errors.len() == before && !name.contains('/') && !is_standard(name) {
        errors.invalid(&field, "must be a standard resource type or fully qualified");
    }
    errors.len() == before
}

/// `validateContainerResourceName`.
pub(super) fn container_resource(name: &str, field: &Field<'_>, errors: &mut Errors) {
    resource_name(name, field, errors);
    let text = Value::from(name);
    let field = field.holding(&text);
    if !name.contains('/') {
        if !CONTAINER.contains(&name) && !is_huge_pages(name) {
            errors.invalid(&field, "must be a standard resource for containers");
        }
    } else if !is_native(name) && !is_extended(name) {
        errors.invalid(&field, "doesn't follow extended resource name standard");
    }
}

/// `ValidateResourceQuantityValue`.
pub(super) fn value(name: &str, field: &Field<'_>, errors: &mut Errors) {
    let amount = amount(field);
    if amount < 0 {
        errors.invalid(field, NEGATIVE);
    }
    if (WHOLE.contains(&name) || is_extended(name)) && amount % NANO != 0 {
        errors.invalid(field, "must be an integer");
    }
}

/// `ValidateContainerResourceRequirements`.
pub(super) fn requirements(resources: &Field<'_>, claims: &[&str], errors: &mut Errors) {
    let (limits, requests) = (resources.child("limits"), resources.child("requests"));
    let (mut huge_pages, mut compute) = (false, false);
    for (name, limit) in limits.entries() {
        container_resource(name, &limit, errors);
        value(name, &limit, errors);
        huge_page_value(name, &limit, errors);
        huge_pages |= is_huge_pages(name);
        compute |= matches!(name, "cpu" | "memory");
    }
    for (name, request) in requests.entries() {
        container_resource(name, &request, errors);
        value(name, &request, errors);
        within_limit(name, &request, &requests, &limits, errors);
        huge_page_value(name, &request, errors);
        huge_pages |= is_huge_pages(name);
        compute |= matches!(name, "cpu" | "memory");
    }
    if huge_pages && !compute {
        errors.forbidden(resources, "HugePages require cpu or memory");
    }
    claim_names(&resources.child("claims"), claims, errors);
}

fn within_limit(
    name: &str,
    request: &Field<'_>,
    requests: &Field<'_>,
    limits: &Field<'_>,
    errors: &mut Errors,
) {
    let limit = limits.key(name);
    if !limit.is_set() {
        if !can_be_overcommitted(name) {
            errors.required(limits, "Limit must be set for non overcommitable resources");
        }
        return;
    }
    let shown = request.at(requests.path.clone());
    let most = limit.text();
    if !can_be_overcommitted(name) && amount(request) != amount(&limit) {
        errors.invalid(&shown, &format!("must be equal to {name} limit of {most}"));
    } else if amount(request) > amount(&limit) {
        errors.invalid(&shown, &format!("must be less than or equal to {name} limit of {most}"));
    }
}

/// `IsHugePageResourceValueDivisible`.
fn huge_page_value(name: &str, field: &Field<'_>, errors: &mut Errors) {
    let Some(page) = name.strip_prefix("hugepages-").and_then(nanos) else { return };
    if page > 0 && amount(field) % page != 0 {
        errors.invalid(field, &format!("{} is not positive integer multiple of {name}", field.text()));
    }
}

/// `validateResourceClaimNames`, for claims as a whole.
fn claim_names(list: &Field<'_>, known: &[&str], errors: &mut Errors) {
    let mut seen: Vec<String> = Vec::new();
    for claim in list.items() {
        let (name, request) = (claim.child("name"), claim.child("request"));
        if name.is_empty() {
            errors.required(&claim, "");
            continue;
        }
        let key = match request.text() {
            "" => name.text().to_owned(),
            request => format!("{}/{request}", name.text()),
        };
        if seen.contains(&key) || seen.iter().any(|other| *other == name.text()) {
            errors.duplicate(&name.at(claim.path.clone()));
        }
        seen.push(key);
        if !known.contains(&name.text()) {
            errors.not_found(&name.at(claim.path.clone()));
        }
    }
}

/// `ValidateResourceQuota`.
pub(in crate::builtin) fn quota(object: &Value, old: Option<&Value>) -> Vec<crate::status::Cause> {
    Errors::of(|errors| {
        let root = Field::root(object);
        let spec = root.child("spec");
        for part in
            [spec.child("hard"), root.child("status").child("hard"), root.child("status").child("used")]
        {
            for (name, hard) in part.entries() {
                quota_resource(name, &hard, errors);
                value(name, &hard, errors);
            }
        }
        let scopes = spec.child("scopes");
        for scope in scopes.texts() {
            if !SCOPES.contains(&scope) {
                errors.invalid(&scopes, "unsupported scope");
            }
        }
        for pair in [["BestEffort", "NotBestEffort"], ["Terminating", "NotTerminating"]] {
            if pair.iter().all(|scope| scopes.texts().contains(scope)) {
                errors.invalid(&scopes, "conflicting scopes");
            }
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

/// `ValidateLimitRange`.
pub(in crate::builtin) fn limit_range(object: &Value, _: Option<&Value>) -> Vec<crate::status::Cause> {
    Errors::of(|errors| {
        let mut types: Vec<&str> = Vec::new();
        for limit in Field::root(object).child("spec").child("limits").items() {
            let type_ = limit.child("type");
            errors.qualified_name(&type_);
            let standard = ["Pod", "Container", "PersistentVolumeClaim"].contains(&type_.text());
            if !type_.text().contains('/') && !standard && !type_.is_empty() {
                errors.invalid(&type_, "must be a standard limit type or fully qualified");
            }
            if types.contains(&type_.text()) {
                errors.duplicate(&type_);
            }
            types.push(type_.text());
            limits_of_a_type(&limit, errors);
        }
    })
}

fn limits_of_a_type(limit: &Field<'_>, errors: &mut Errors) {
    let type_ = limit.child("type").text();
    let mut names: Vec<&str> = Vec::new();
    for part in ["max", "min", "default", "defaultRequest", "maxLimitRequestRatio"] {
        let amounts = limit.child(part);
        if type_ == "Pod" && part.starts_with("default") {
            if !amounts.is_empty() {
                errors.forbidden(&amounts, "may not be specified when `type` is 'Pod'");
            }
            continue;
        }
        for (name, field) in amounts.entries() {
            match type_ {
                "Pod" | "Container" => container_resource(name, &field, errors),
                _ => _ = resource_name(name, &field, errors),
            }
            names.push(name);
        }
    }
    let bounds = [limit.child("min"), limit.child("max")];
    if type_ == "PersistentVolumeClaim" && bounds.iter().all(|bound| !bound.key("storage").is_set()) {
        let detail = "either minimum or maximum storage value is required, but neither was provided";
        errors.required(&limit.child("limits"), detail);
    }
    names.sort_unstable();
    names.dedup();
    for name in names {
        limits_of_a_resource(limit, name, errors);
    }
}

/// Pairs of bounds that must be in this order; the last column says which value the message shows.
const ORDERED: &[(&str, &str, &str, &str, &str, &str)] = &[
    ("min", "max", "min", "min", "min value", "max value"),
    ("min", "defaultRequest", "defaultRequest", "defaultRequest", "min value", "default request value"),
    ("defaultRequest", "max", "defaultRequest", "defaultRequest", "default request value", "max value"),
    (
        "defaultRequest",
        "default",
        "defaultRequest",
        "defaultRequest",
        "default request value",
        "default limit value",
    ),
    ("min", "default", "default", "min", "min value", "default value"),
    ("default", "max", "default", "max", "default value", "max value"),
];

fn limits_of_a_resource(limit: &Field<'_>, name: &str, errors: &mut Errors) {
    for (low, high, place, shown, low_words, high_words) in ORDERED {
        let (low, high) = (limit.child(low).key(name), limit.child(high).key(name));
        if low.is_set() && high.is_set() && amount(&low) > amount(&high) {
            let detail = format!("{low_words} {} is greater than {high_words} {}", low.text(), high.text());
            errors.invalid(&limit.child(shown).key(name).at(limit.child(place).key(name).path), &detail);
        }
    }
    let ratio = limit.child("maxLimitRequestRatio").key(name);
    if ratio.is_set() && amount(&ratio) < NANO {
        errors.invalid(&ratio, &format!("ratio {} is less than 1", ratio.text()));
    }
    let (default, request) = (limit.child("default").key(name), limit.child("defaultRequest").key(name));
    let differ = default.is_set() && request.is_set() && amount(&default) != amount(&request);
    if !can_be_overcommitted(name) && differ {
        let (default, shown) = (default.text(), request.text());
        let detail = format!("default value {default} must equal to defaultRequest value {shown} in {name}");
        errors.invalid(&request, &detail);
    }
}
