//! Autoscalers in the form in which they are stored. Source: `pkg/apis/autoscaling/validation`.

use serde_json::Value;

use super::field::{Errors, Field};
use super::resources;
use crate::names::NameRule;
use crate::status::Cause;

/// The longest period of policies and the longest stabilization window, in seconds.
const LONGEST_PERIOD: i64 = 1800;
const LONGEST_WINDOW: i64 = 3600;
/// The sources of metrics and the fields that hold them, in the order of the checks.
const SOURCES: [(&str, &str); 5] = [
    ("Object", "object"),
    ("External", "external"),
    ("Pods", "pods"),
    ("Resource", "resource"),
    ("ContainerResource", "containerResource"),
];
/// The names of the sources in the order of messages.
const SOURCE_NAMES: [&str; 5] = ["ContainerResource", "External", "Object", "Pods", "Resource"];

/// `ValidateHorizontalPodAutoscaler`.
pub(in crate::builtin) fn autoscaler(object: &Value, old: Option<&Value>) -> Vec<Cause> {
    Errors::of(|errors| {
        let spec = Field::root(object).child("spec");
        let (least, most) = (spec.child("minReplicas"), spec.child("maxReplicas"));
        // An object that has zero replicas may keep them, as if the gate `HPAScaleToZero` were enabled.
        let bound = i64::from(old.is_none_or(|old| old["spec"]["minReplicas"] != 0));
        if least.number().is_some_and(|number| number < bound) {
            errors.invalid(&least, &format!("must be greater than or equal to {bound}"));
        }
        match most.number_or_zero() {
            0 => errors.required(&most, "must be set and greater than 0"),
            number if number < 0 => errors.invalid(&most, "must be greater than or equal to 1"),
            _ => {}
        }
        if least.number().is_some_and(|least| most.number_or_zero() < least) {
            errors.invalid_number(&most, "must be greater than or equal to `minReplicas`");
        }
        let target = spec.child("scaleTargetRef");
        let before = old.map(|old| &old["spec"]["scaleTargetRef"]);
        let kept = |field: &str| before.is_some_and(|before| before[field] == target.value[field]);
        let version = match target.child("kind").text() {
            _ if kept("apiVersion") && kept("kind") => Version::Any,
            "ReplicationController" => Version::WithoutGroup,
            _ => Version::WithGroup,
        };
        reference(&target, version, errors);
        for metric in spec.child("metrics").items() {
            check_metric(&metric, errors);
        }
        let counts = |metric: Field<'_>| ["Object", "External"].contains(&metric.child("type").text());
        if least.number() == Some(0) && !spec.child("metrics").items().any(counts) {
            errors.forbidden(
                &spec.child("metrics"),
                "must specify at least one Object or External metric to support scaling to zero replicas",
            );
        }
        for rules in ["scaleUp", "scaleDown"].map(|name| spec.child("behavior").child(name)) {
            if rules.is_set() {
                scaling(&rules, errors);
            }
        }
    })
}

/// `ValidateHorizontalPodAutoscalerStatusUpdate`, of either version.
pub(in crate::builtin) fn autoscaler_status(new: &Value, _: &Value) -> Vec<Cause> {
    let status = Field::root(new).child("status");
    Errors::of(|errors| errors.none_negative(&status, &["currentReplicas", "desiredReplicas"]))
}

/// The rule for the `apiVersion` of a reference.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Version {
    Any,
    WithGroup,
    WithoutGroup,
}

/// `ValidateCrossVersionObjectReference`.
fn reference(reference: &Field<'_>, version: Version, errors: &mut Errors) {
    for field in ["kind", "name"].map(|name| reference.child(name)) {
        errors.required_name(&field, NameRule::PathSegment);
    }
    let given = reference.child("apiVersion");
    let text = Value::from(given.text());
    let shown = given.holding(&text);
    if version == Version::Any {
        return;
    }
    if given.text().matches('/').count() > 1 {
        errors.invalid(&shown, &format!("unexpected GroupVersion string: {}", given.text()));
    } else if version == Version::WithGroup
        && given.text().split_once('/').is_none_or(|(group, _)| group.is_empty())
    {
        errors.invalid(&shown, "apiVersion must specify API group");
    }
}

/// Checks that a metric names its source and sets its field, and no other.
fn check_metric(metric: &Field<'_>, errors: &mut Errors) {
    let type_ = metric.child("type");
    let text = Value::from(type_.text());
    let type_ = type_.holding(&text);
    if type_.is_empty() {
        errors.required(&type_, "must specify a metric source type");
    }
    let known = SOURCES.iter().find(|(name, _)| *name == type_.text());
    if known.is_none() {
        errors.not_supported(&type_, &SOURCE_NAMES);
    }
    let present: Vec<&str> =
        SOURCES.iter().map(|(_, field)| *field).filter(|field| metric.child(field).is_set()).collect();
    if let Some(first) = present.first() {
        source(&metric.child(first), first, errors);
    }
    match known {
        None => errors.not_supported(&type_, &SOURCE_NAMES),
        Some((_, field)) if !metric.child(field).is_set() => {
            errors.required(&metric.child(field), "must populate information for the given metric source");
        }
        Some(_) => {}
    }
    if present.len() != 1 {
        for other in present.iter().filter(|other| known.is_none_or(|(_, field)| field != *other)) {
            errors.forbidden(&metric.child(other), "must populate the given metric source only");
        }
    }
}

fn source(source: &Field<'_>, kind: &str, errors: &mut Errors) {
    let target = source.child("target");
    let (value, average) = (target.child("value"), target.child("averageValue"));
    let share = target.child("averageUtilization");
    let name = source.child("name");
    match kind {
        "resource" | "containerResource" if name.is_empty() => {
            errors.required(&name, "must specify a resource name");
        }
        "containerResource" => resources::container_resource(name.text(), &name, errors),
        "resource" => {}
        _ => {
            if kind == "object" {
                reference(&source.child("describedObject"), Version::WithoutGroup, errors);
            }
            let metric = source.child("metric").child("name");
            if metric.is_empty() {
                errors.required(&metric, "must specify a metric name");
            }
            errors.optional_name(&metric, NameRule::PathSegment);
        }
    }
    if kind == "containerResource" {
        let container = source.child("container");
        if container.is_empty() {
            errors.required(&container, "must specify a container");
        }
        errors.optional_name(&container, NameRule::Label);
    }
    check_target(&target, errors);
    match kind {
        "object" if !value.is_set() && !average.is_set() => {
            errors.required(&average, "must set either a target value or averageValue");
        }
        "external" if !value.is_set() && !average.is_set() => {
            errors.required(&average, "must set either a target value for metric or a per-pod target");
        }
        "external" if value.is_set() && average.is_set() => {
            let detail = "may not set both a target value for metric and a per-pod target";
            errors.forbidden(&value, detail);
        }
        "pods" if !average.is_set() => {
            errors.required(&average, "must specify a positive target averageValue");
        }
        "resource" | "containerResource" if !share.is_set() && !average.is_set() => {
            errors.required(&share, "must set either a target raw value or a target utilization");
        }
        "resource" | "containerResource" if share.is_set() && average.is_set() => {
            errors.forbidden(&average, "may not set both a target raw value and a target utilization");
        }
        _ => {}
    }
}

/// `validateMetricTarget`.
fn check_target(target: &Field<'_>, errors: &mut Errors) {
    let type_ = target.child("type");
    let text = Value::from(type_.text());
    let type_ = type_.holding(&text);
    if type_.is_empty() {
        errors.required(&type_, "must specify a metric target type");
    }
    if !["Utilization", "Value", "AverageValue"].contains(&type_.text()) {
        errors.invalid(&type_, "must be either Utilization, Value, or AverageValue");
    }
    for amount in ["value", "averageValue"].map(|name| target.child(name)) {
        if amount.is_set() && resources::amount(&amount) <= 0 {
            errors.invalid(&amount, "must be positive");
        }
    }
    let share = target.child("averageUtilization");
    if share.number().is_some_and(|share| share < 1) {
        errors.invalid(&share, "must be greater than 0");
    }
}

/// `validateScalingRules`.
fn scaling(rules: &Field<'_>, errors: &mut Errors) {
    let window = rules.child("stabilizationWindowSeconds");
    if window.number_or_zero() < 0 {
        errors.invalid(&window, "must be greater than or equal to zero");
    }
    if window.number_or_zero() > LONGEST_WINDOW {
        errors.invalid(&window, &format!("must be less than or equal to {LONGEST_WINDOW}"));
    }
    errors.optional_one_of(&rules.child("selectPolicy"), &["Disabled", "Max", "Min"]);
    let policies = rules.child("policies");
    if policies.is_empty() {
        errors.required(&policies, "must specify at least one Policy");
    }
    for policy in policies.items() {
        let (type_, period) = (policy.child("type"), policy.child("periodSeconds"));
        if !["Pods", "Percent"].contains(&type_.text()) {
            let text = Value::from(type_.text());
            errors.not_supported(&type_.holding(&text), &["Percent", "Pods"]);
        }
        for number in [&policy.child("value"), &period] {
            if number.number_or_zero() <= 0 {
                errors.invalid_number(number, "must be greater than zero");
            }
        }
        if period.number_or_zero() > LONGEST_PERIOD {
            errors.invalid(&period, &format!("must be less than or equal to {LONGEST_PERIOD}"));
        }
    }
    let tolerance = rules.child("tolerance");
    if resources::amount(&tolerance) < 0 {
        errors.invalid(&tolerance, "must be greater than or equal to 0");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn metric_needs_the_source_that_its_type_names() {
        let fields = |metric: Value| -> Vec<String> {
            let target = json!({"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"});
            let spec = json!({"maxReplicas": 1, "scaleTargetRef": target, "metrics": [metric]});
            autoscaler(&json!({"spec": spec}), None).into_iter().map(|cause| cause.field).collect()
        };
        let cpu = json!({"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}});
        assert!(fields(json!({"type": "Resource", "resource": cpu})).is_empty());
        assert_eq!(fields(json!({"type": "Pods"})), ["spec.metrics[0].pods"]);
        let both =
            json!({"type": "Resource", "resource": cpu, "pods": {"metric": {"name": "m"}, "target": {}}});
        assert_eq!(
            fields(both),
            [
                "spec.metrics[0].pods.target.type",
                "spec.metrics[0].pods.target.type",
                "spec.metrics[0].pods.target.averageValue",
                "spec.metrics[0].pods"
            ]
        );
    }
}
