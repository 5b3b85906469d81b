//! Amounts of compute resources: requests and limits of pods and containers, limit ranges, capacities.
//!
//! Source: `pkg/apis/core/validation` and `pkg/apis/core/helper` of Kubernetes 1.36.

use kubesmith_apimachinery::names;
use kubesmith_apimachinery::quantity::Quantity;
use serde_json::{Value, json};

use super::field::{Errors, Field, NEGATIVE};
use crate::names::NameRule;
use crate::status::Cause;

/// `IsStandardContainerResourceName`, apart from huge pages.
const CONTAINER: &[&str] = &["cpu", "memory", "ephemeral-storage"];

/// `standardQuotaResources`.
pub(super) const QUOTA: &[&str] = &[
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

/// `integerResources`: resources in whole numbers.
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

/// Returns an amount in units of 10^-9; zero for amounts that decoding refuses.
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

pub(super) fn is_huge_pages(name: &str) -> bool {
    name.starts_with("hugepages-")
}

/// `IsNativeResource`: a resource that Kubernetes defines.
fn is_native(name: &str) -> bool {
    !name.contains('/') || name.contains("kubernetes.io/")
}

/// `IsExtendedResourceName`: a resource in a third party's domain.
pub(crate) fn is_extended(name: &str) -> bool {
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
pub(super) fn resource_name(name: &str, field: &Field<'_>, errors: &mut Errors) -> bool {
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

/// `validateBasicResource`: the amount, rounded up, is not negative.
pub(super) fn basic(field: &Field<'_>, errors: &mut Errors) {
    let whole = -(-amount(field)).div_euclid(NANO);
    if whole < 0 {
        errors.push(Cause::invalid(&field.path, whole, "must be a valid resource quantity"));
    }
}

/// `validatePersistentVolumeClaimResourceKey`, at the path of the map; reports whether the name passed.
pub(super) fn claim_resource(name: &str, map: &Field<'_>, errors: &mut Errors) -> bool {
    let text = Value::from(name);
    let (field, before) = (map.holding(&text), errors.len());
    errors.all_invalid(&field, names::qualified_name(name));
    if errors.len() == before && is_native(name) && name != "storage" {
        errors.not_supported(&field, &["storage"]);
    }
    errors.len() == before
}

/// `ValidateContainerResourceRequirements`.
pub(super) fn requirements(resources: &Field<'_>, claims: &[&str], errors: &mut Errors) {
    amounts(resources, container_resource, errors);
    claim_names(&resources.child("claims"), claims, errors);
}

/// `validateOverhead`: amounts, which are checked as limits.
pub(super) fn overhead(limits: &Field<'_>, errors: &mut Errors) {
    let holder = json!({"limits": limits.value});
    amounts(&limits.holding(&holder), container_resource, errors);
}

/// `validateResourceRequirements`, without the claims.
pub(super) fn amounts(
    resources: &Field<'_>,
    check_name: fn(&str, &Field<'_>, &mut Errors),
    errors: &mut Errors,
) {
    let (limits, requests) = (resources.child("limits"), resources.child("requests"));
    let (mut huge_pages, mut compute) = (false, false);
    for (name, limit) in limits.entries() {
        check_name(name, &limit, errors);
        value(name, &limit, errors);
        huge_page_value(name, &limit, errors);
        huge_pages |= is_huge_pages(name);
        compute |= matches!(name, "cpu" | "memory");
    }
    for (name, request) in requests.entries() {
        check_name(name, &request, errors);
        value(name, &request, errors);
        within_limit(name, &request, &requests, &limits, errors);
        huge_page_value(name, &request, errors);
        huge_pages |= is_huge_pages(name);
        compute |= matches!(name, "cpu" | "memory");
    }
    if huge_pages && !compute {
        errors.forbidden(resources, "HugePages require cpu or memory");
    }
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
pub(super) fn claim_names(list: &Field<'_>, known: &[&str], errors: &mut Errors) {
    let mut seen: Vec<String> = Vec::new();
    for claim in list.items() {
        let (name, request) = (claim.child("name"), claim.child("request"));
        if name.is_empty() {
            errors.required(&claim, "");
            continue;
        }
        let key = match request.text() {
            "" => name.text().to_owned(),
            text => {
                errors.all_invalid(&request, NameRule::Label.check(text));
                format!("{}/{text}", name.text())
            }
        };
        if seen.contains(&key) || seen.iter().any(|other| *other == name.text()) {
            errors.duplicate(&name.at(claim.path.clone()));
        }
        seen.push(key);
        if !known.contains(&name.text()) {
            let mut known: Vec<&str> = known.iter().copied().filter(|name| !name.is_empty()).collect();
            known.sort_unstable();
            let list = if known.is_empty() {
                " which is empty".to_owned()
            } else {
                format!(": {}", known.join(", "))
            };
            let detail = format!("must be one of the names in pod.spec.resourceClaims{list}");
            errors.not_found_because(&name.at(claim.path.clone()), &detail);
        }
    }
}

/// `ValidateLimitRange`.
pub(in crate::builtin) fn limit_range(object: &Value, _: Option<&Value>) -> Vec<Cause> {
    Errors::of(|errors| {
        let mut types: Vec<&str> = Vec::new();
        for limit in Field::root(object).child("spec").child("limits").items() {
            let type_ = limit.child("type");
            errors.qualified_name(&type_);
            let standard = ["Pod", "Container", "PersistentVolumeClaim"].contains(&type_.text());
            let is_name = names::qualified_name(type_.text()).is_empty();
            if !type_.text().contains('/') && !standard && is_name {
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

/// Checks that a ratio is at most that of the bounds.
#[expect(clippy::cast_precision_loss, reason = "Go compares doubles, too")]
fn ratio_within_bounds(limit: &Field<'_>, name: &str, errors: &mut Errors) {
    let part = |part: &str| limit.child(part).key(name);
    let (ratio, min, max) = (part("maxLimitRequestRatio"), part("min"), part("max"));
    if ![&ratio, &min, &max].iter().all(|bound| bound.is_set()) {
        return;
    }
    let most = amount(&max) as f64 / amount(&min) as f64;
    if amount(&ratio) as f64 / NANO as f64 > most {
        errors.invalid(&ratio, &format!("ratio {} is greater than max/min = {most:.6}", ratio.text()));
    }
}

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
    ratio_within_bounds(limit, name, errors);
    let (default, request) = (limit.child("default").key(name), limit.child("defaultRequest").key(name));
    let differ = default.is_set() && request.is_set() && amount(&default) != amount(&request);
    if !can_be_overcommitted(name) && differ {
        let (default, shown) = (default.text(), request.text());
        let detail = format!("default value {default} must equal to defaultRequest value {shown} in {name}");
        errors.invalid(&request, &detail);
    }
}
