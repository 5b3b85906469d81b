//! Slices of device pools, which drivers publish.

use serde_json::{Value, json};

use super::super::field::{Errors, Field};
use super::super::{scheduling, volumes};
use super::{EFFECTS, label_value, name, qualified_name, set};
use crate::names::NameRule;
use crate::status::Cause;

const MOST_DEVICES: usize = 128;
const MOST_DEVICES_WITH_MORE: usize = 64;
const MOST_COUNTER_SETS: usize = 8;
const MOST_CONSUMPTIONS: usize = 2;
const MOST_ATTRIBUTES: usize = 32;
const MOST_TAINTS: usize = 16;
const MOST_CONDITIONS: usize = 4;
const LONGEST_POOL: usize = 253;
const LONGEST_VALUE: usize = 64;

/// `ValidateResourceSlice` and `ValidateResourceSliceUpdate`.
pub(in crate::builtin) fn resource_slice(object: &Value, old: Option<&Value>) -> Vec<Cause> {
    Errors::of(|errors| {
        let spec = Field::root(object).child("spec");
        volumes::driver_name(&spec.child("driver"), errors);
        pool(&spec.child("pool"), errors);
        if let Some(old) = old {
            let before = Field::root(old).child("spec");
            errors.immutable(&spec.child("pool").child("name"), &before.child("pool").child("name"));
            for member in ["driver", "nodeName"] {
                errors.immutable(&spec.child(member), &before.child(member));
            }
        }
        place(&spec, errors);
        let (counters, devices) = (spec.child("sharedCounters"), spec.child("devices"));
        if counters.is_set() && devices.is_set() {
            errors.invalid_as(&spec, "\"\"", "only one of `sharedCounters` or `devices` is allowed");
        }
        let has_more = devices
            .items()
            .any(|device| !device.child("taints").is_empty() || !device.child("consumesCounters").is_empty());
        let most = if has_more { MOST_DEVICES_WITH_MORE } else { MOST_DEVICES };
        let is_per_device = spec.child("perDeviceNodeSelection").is_true();
        set(
            &devices,
            most,
            errors,
            |it| it.child("name").text(),
            |it, errors| device(it, is_per_device, errors),
        );
        set(
            &counters,
            MOST_COUNTER_SETS,
            errors,
            |it| it.child("name").text(),
            |it, errors| {
                errors.required_name(&it.child("name"), NameRule::Label);
                counters_of(it, errors);
            },
        );
    })
}

/// `validateResourcePool`.
fn pool(pool: &Field<'_>, errors: &mut Errors) {
    pool_name(&pool.child("name"), errors);
    let count = pool.child("resourceSliceCount");
    if count.number_or_zero() <= 0 {
        errors.invalid_number(&count, "must be greater than zero");
    }
    let generation = pool.child("generation");
    if generation.number_or_zero() < 0 {
        errors.invalid(&generation, "must be greater than or equal to zero");
    }
}

/// `validatePoolName`.
pub(super) fn pool_name(name: &Field<'_>, errors: &mut Errors) {
    if name.is_empty() {
        errors.required(name, "");
        return;
    }
    if name.text().len() > LONGEST_POOL {
        errors.too_long(&name.path, LONGEST_POOL);
    }
    for part in name.text().split('/') {
        let text = json!(part);
        errors.all_invalid(&name.holding(&text), NameRule::Subdomain.check(part));
    }
}

/// Checks that exactly one of the four fields for the nodes of a slice is set.
fn place(spec: &Field<'_>, errors: &mut Errors) {
    const FIELDS: &str = "`nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required";
    let set = places(spec, "must be either unset or set to a non-empty string", true, errors);
    match set.len() {
        0 => errors.required(spec, &format!("exactly one of {FIELDS}")),
        1 => {}
        _ => {
            let detail = format!("exactly one of {FIELDS}, but multiple fields are set");
            errors.invalid_as(spec, &format!("\"{{{}}}\"", set.join(", ")), &detail);
        }
    }
}

/// Returns the fields that are set of those that select nodes.
fn places(holder: &Field<'_>, empty: &str, is_slice: bool, errors: &mut Errors) -> Vec<&'static str> {
    let mut found = Vec::new();
    let (node, selector) = (holder.child("nodeName"), holder.child("nodeSelector"));
    if node.is_set() {
        if node.is_empty() {
            errors.invalid(&node, empty);
        } else {
            found.push("`nodeName`");
            name(&node, NameRule::Subdomain, errors);
        }
    }
    if selector.is_set() {
        found.push("`nodeSelector`");
        scheduling::node_selector(&selector, errors);
        let terms = selector.child("nodeSelectorTerms");
        if is_slice && terms.items().count() != 1 {
            errors.invalid(&terms, "must have exactly one node selector term");
        }
    }
    let flags: &[(&str, &str)] = if is_slice {
        &[("allNodes", "`allNodes`"), ("perDeviceNodeSelection", "`perDeviceNodeSelection`")]
    } else {
        &[("allNodes", "`allNodes`")]
    };
    for (flag, shown) in flags.iter().map(|(flag, shown)| (holder.child(flag), *shown)) {
        if flag.is_true() {
            found.push(shown);
        } else if flag.is_set() {
            errors.invalid(&flag, "must be either unset or set to true");
        }
    }
    found
}

/// `validateDevice`.
fn device(device: &Field<'_>, is_per_device: bool, errors: &mut Errors) {
    name(&device.child("name"), NameRule::Label, errors);
    let (attributes, capacity) = (device.child("attributes"), device.child("capacity"));
    let count = attributes.entries().len() + capacity.entries().len();
    if count > MOST_ATTRIBUTES {
        let detail =
            format!("the total number of attributes and capacities must not exceed {MOST_ATTRIBUTES}");
        errors.invalid_as(device, &count.to_string(), &detail);
    }
    for (key, value) in attributes.entries() {
        let text = json!(key);
        qualified_name(&attributes.holding(&text), key, errors);
        attribute(&value, errors);
    }
    for (key, value) in capacity.entries() {
        let text = json!(key);
        qualified_name(&capacity.holding(&text), key, errors);
        let policy = value.child("requestPolicy");
        if policy.is_set() && !device.child("allowMultipleAllocations").is_true() {
            errors.forbidden(&policy, "allowMultipleAllocations must be true");
        }
    }
    super::each(&device.child("taints"), MOST_TAINTS, errors, taint);
    let consumptions = device.child("consumesCounters");
    set(
        &consumptions,
        MOST_CONSUMPTIONS,
        errors,
        |it| it.child("counterSet").text(),
        |it, errors| {
            errors.required_name(&it.child("counterSet"), NameRule::Label);
            counters_of(it, errors);
        },
    );
    if is_per_device {
        let detail = "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when \
                      `perDeviceNodeSelection` is set to true in the ResourceSlice spec";
        let found = places(device, "must not be empty", false, errors);
        match found.len() {
            0 => errors.required(device, detail),
            1 => {}
            _ => errors.invalid_as(device, &format!("\"{{{}}}\"", found.join(", ")), detail),
        }
    } else if ["nodeName", "nodeSelector", "allNodes"].iter().any(|member| device.child(member).is_set()) {
        let detail = "`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to \
                      true in the ResourceSlice spec";
        errors.invalid_as(device, "null", detail);
    }
    binding(device, errors);
}

/// `validateDeviceAttribute`.
fn attribute(attribute: &Field<'_>, errors: &mut Errors) {
    const KINDS: &[&str] = &["bool", "int", "string", "version"];
    let (text, version) = (attribute.child("string"), attribute.child("version"));
    if version.is_set() && !is_semantic(version.text()) {
        errors.invalid(&version, "must be a string compatible with semver.org spec 2.0.0");
    }
    for value in [&text, &version] {
        if value.text().len() > LONGEST_VALUE {
            errors.too_long(&value.path, LONGEST_VALUE);
        }
    }
    let detail = "exactly one value must be specified";
    match KINDS.iter().filter(|kind| attribute.child(kind).is_set()).count() {
        0 => errors.invalid_as(attribute, "\"\"", detail),
        1 => {}
        _ => errors.invalid(attribute, detail),
    }
}

/// Reports whether a text matches the version pattern of semver.org.
fn is_semantic(version: &str) -> bool {
    let (version, build) = version.split_once('+').map_or((version, None), |(v, build)| (v, Some(build)));
    let (core, pre) = version.split_once('-').map_or((version, None), |(core, pre)| (core, Some(pre)));
    let is_number = |text: &str| {
        text.bytes().all(|b| b.is_ascii_digit())
            && (text == "0" || !text.starts_with('0'))
            && !text.is_empty()
    };
    let is_word =
        |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    let is_label =
        |text: &str| is_word(text) && (is_number(text) || !text.bytes().all(|b| b.is_ascii_digit()));
    core.split('.').count() == 3
        && core.split('.').all(is_number)
        && pre.is_none_or(|pre| pre.split('.').all(is_label))
        && build.is_none_or(|build| build.split('.').all(is_word))
}

/// `validateDeviceTaint`.
fn taint(taint: &Field<'_>, errors: &mut Errors) {
    errors.qualified_name(&taint.child("key"));
    if !taint.child("value").is_empty() {
        label_value(&taint.child("value"), errors);
    }
    errors.one_of(&taint.child("effect"), EFFECTS);
}

/// The counters of a set, or those that a device consumes.
fn counters_of(holder: &Field<'_>, errors: &mut Errors) {
    let counters = holder.child("counters");
    if counters.is_empty() {
        errors.required(&counters, "");
    }
    for (key, _) in counters.entries() {
        let text = json!(key);
        errors.all_invalid(&counters.holding(&text), NameRule::Label.check(key));
    }
}

/// `validateDeviceBindingParameters`.
pub(super) fn binding(device: &Field<'_>, errors: &mut Errors) {
    let (wanted, failed) = (device.child("bindingConditions"), device.child("bindingFailureConditions"));
    for list in [&wanted, &failed] {
        super::each(list, MOST_CONDITIONS, errors, |it, errors| {
            let text = json!(it.text());
            errors.qualified_name(&it.holding(&text));
        });
    }
    for (list, others) in [(&wanted, Vec::new()), (&failed, wanted.texts())] {
        let mut seen: Vec<&str> = Vec::new();
        for condition in list.items() {
            if seen.contains(&condition.text()) {
                errors.duplicate(&condition);
            }
            seen.push(condition.text());
            if others.contains(&condition.text()) {
                errors
                    .invalid(&condition, "bindingFailureConditions must not overlap with bindingConditions");
            }
        }
    }
    if wanted.is_empty() && !failed.is_empty() {
        errors.invalid(&wanted, "bindingConditions are required to use bindingFailureConditions");
    }
    if failed.is_empty() && !wanted.is_empty() {
        errors.invalid(&failed, "bindingFailureConditions are required to use bindingConditions");
    }
}
