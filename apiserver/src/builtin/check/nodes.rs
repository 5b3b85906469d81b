//! Nodes. Source: `ValidateNode` and `ValidateNodeUpdate` of `pkg/apis/core/validation`.

use kubesmith_apimachinery::{golang, names};
use serde_json::{Value, json};

use super::addresses::{self, Range};
use super::field::{Errors, Field, go_struct};
use super::{resources, scheduling};
use crate::names::quoted;
use crate::status::Cause;
use crate::types;

/// `ValidateNode`, and `ValidateNodeUpdate` for a node that replaces another.
pub(in crate::builtin) fn node(object: &Value, old: Option<&Value>) -> Vec<Cause> {
    Errors::of(|errors| {
        let spec = Field::root(object).child("spec");
        annotations(object, errors);
        taints(&spec.child("taints").at("metadata.taints"), errors);
        amounts(object, errors);
        let swap = Field::root(object).child("status").child("nodeInfo").child("swap").child("capacity");
        if swap.number().is_some_and(|capacity| capacity <= 0) {
            errors.invalid(&swap.at("metadata.nodeSwapStatus.capacity"), "must be greater than zero");
        }
        declared_features(&Field::root(object).child("status").child("declaredFeatures"), errors);
        pod_ranges(&spec.child("podCIDRs"), errors);
        if let Some(old) = old {
            updated(object, old, errors);
        }
    })
}

/// `ValidateNodeUpdate`, which is all that a write of the status is checked by.
pub(in crate::builtin) fn node_status(new: &Value, old: &Value) -> Vec<Cause> {
    Errors::of(|errors| updated(new, old, errors))
}

/// The annotation with taints of a node of old Kubernetes, which nothing reads.
const TAINTS: &str = "scheduler.alpha.kubernetes.io/taints";
const AVOIDED_PODS: &str = "scheduler.alpha.kubernetes.io/preferAvoidPods";

/// `ValidateNodeSpecificAnnotations`.
fn annotations(object: &Value, errors: &mut Errors) {
    let all = Field::root(object).child("metadata").child("annotations");
    let (listed, avoided) = (all.child(TAINTS), all.child(AVOIDED_PODS));
    match parsed(listed.text(), Value::is_array, "[]core.Taint") {
        Ok(list) => taints(&listed.holding(&list), errors),
        Err(fault) => errors.invalid(&all.holding(&TAINTS.into()), &fault),
    }
    let decoded = parsed(avoided.text(), Value::is_object, "v1.AvoidPods").and_then(|mut value| {
        let of = types::message("core.AvoidPods");
        of.map_or(Ok(Vec::new()), |of| types::decode::settle(&mut value, of)).map(|_| value)
    });
    match decoded {
        Ok(value) => avoided_pods(&avoided.holding(&value["preferAvoidPods"]), errors),
        Err(fault) => errors.invalid(&all.child("AvoidPods").holding(&AVOIDED_PODS.into()), &fault),
    }
}

/// Returns the JSON of an annotation, null if it is empty.
///
/// # Errors
/// Returns the message of Go's decoder.
fn parsed(text: &str, is_of_type: fn(&Value) -> bool, go_type: &str) -> Result<Value, String> {
    if text.is_empty() {
        return Ok(Value::Null);
    }
    let value: Value = serde_json::from_str(text)
        .map_err(|error| golang::json_error(text.as_bytes()).unwrap_or_else(|| error.to_string()))?;
    match is_of_type(&value) || value.is_null() {
        true => Ok(value),
        false => Err(golang::cannot_unmarshal(&value, go_type)),
    }
}

/// `validatePreferAvoidPodsEntry`. A reference without `controller` counts as false, where Go panics.
fn avoided_pods(list: &Field<'_>, errors: &mut Errors) {
    for entry in list.items() {
        let controller = entry.child("podSignature").child("podController");
        let place = entry.child("PodSignature");
        if !controller.is_set() {
            errors.required(&place, "");
        } else if !controller.child("controller").is_true() {
            let place = place.child("PodController").child("Controller");
            errors.invalid(&place.holding(&Value::Bool(false)), "must point to a controller");
        }
    }
}

/// `ValidateNodeResources`.
fn amounts(object: &Value, errors: &mut Errors) {
    let status = Field::root(object).child("status");
    for part in ["capacity", "allocatable"] {
        for (name, amount) in status.child(part).entries() {
            resources::value(name, &amount.at(format!("status.{part}.{name}")), errors);
        }
    }
}

fn updated(object: &Value, old: &Value, errors: &mut Errors) {
    annotations(object, errors);
    amounts(object, errors);
    declared_features(&Field::root(object).child("status").child("declaredFeatures"), errors);
    unique_addresses(&Field::root(object).child("status").child("addresses"), errors);
    let (spec, before) = (Field::root(object).child("spec"), Field::root(old).child("spec"));
    let ranges = spec.child("podCIDRs");
    if !before.child("podCIDRs").is_empty() && ranges.value != before.child("podCIDRs").value {
        errors.forbidden(&ranges, "node updates may not change podCIDR except from \"\" to valid");
    }
    let provider = spec.child("providerID");
    if !before.child("providerID").is_empty() && provider.value != before.child("providerID").value {
        errors.forbidden(&provider, "node updates may not change providerID except from \"\" to valid");
    }
    taints(&spec.child("taints").at("metadata.taints"), errors);
    if spec.child("externalID").text() != before.child("externalID").text() {
        errors.forbidden(&spec.child("externalID"), "may not be updated");
    }
}

/// Refuses an address that is listed twice.
fn unique_addresses(list: &Field<'_>, errors: &mut Errors) {
    const ADDRESS: &[(&str, &str)] = &[("Type", "type"), ("Address", "address")];
    let mut seen: Vec<(&str, &str)> = Vec::new();
    for address in list.items() {
        let key = (address.child("type").text(), address.child("address").text());
        if seen.contains(&key) {
            let shown = json!({"type": key.0, "address": key.1});
            errors.duplicate_as(&address, &go_struct(&shown, ADDRESS));
        }
        seen.push(key);
    }
}

/// `validateNodeDeclaredFeatures`.
fn declared_features(list: &Field<'_>, errors: &mut Errors) {
    let mut before: Option<&str> = None;
    for feature in list.items() {
        let name = feature.text();
        match before {
            Some(before) if before == name => errors.duplicate(&feature),
            Some(before) if before > name => errors.invalid(&feature, "list must be sorted alphabetically"),
            _ => {}
        }
        before = Some(name);
        if let Some(fault) = feature_fault(name) {
            errors.invalid(&feature, &format!("invalid feature name {}: {fault}", quoted(name)));
        }
    }
}

/// `validateNodeDeclaredFeatureName`.
fn feature_fault(name: &str) -> Option<&'static str> {
    const LONGEST: usize = 253;
    let is_segment = |segment: &str| {
        segment.starts_with(|c: char| c.is_ascii_alphabetic())
            && segment.bytes().all(|b| b.is_ascii_alphanumeric())
    };
    if name.len() > LONGEST {
        return Some("must be no more than 253 characters");
    }
    let fits = name.starts_with(|c: char| c.is_ascii_uppercase()) && name.split('/').all(is_segment);
    (!fits).then_some(
        "must start with an UpperCamelCase segment, with subsequent segments separated by '/' (e.g., MyFeature or \
         MyFeature/mySubFeature), and contain only alphanumeric characters and slashes",
    )
}

/// Checks the ranges of pods, which `ValidateNodeUpdate` checks once.
fn pod_ranges(list: &Field<'_>, errors: &mut Errors) {
    for range in list.items() {
        addresses::range(&range, &[], errors);
    }
    let families: Vec<_> =
        list.texts().into_iter().map(|range| Range::parse(range).map(Range::is_ipv6)).collect();
    if families.len() < 2 {
        return;
    }
    if let Some((i, text)) = list.texts().into_iter().enumerate().find(|(i, _)| families[*i].is_none()) {
        let error = format!("invalid CIDR[{i}]: <nil> (invalid CIDR address: {text})");
        let detail =
            format!("Internal error: invalid PodCIDRs. failed to check with dual stack with error:{error}");
        errors.push(Cause::new("InternalError", &list.path, detail));
    }
    let is_pair = matches!(*families, [Some(one), Some(other)] if one != other);
    if !is_pair {
        errors.invalid(list, "may specify no more than one CIDR for each IP family");
    }
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
