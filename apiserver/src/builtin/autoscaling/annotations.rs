//! What `autoscaling/v1` has no fields for, as kube-apiserver writes it in annotations and reads it from them
//! (pkg/apis/autoscaling/v1/conversion.go): metrics in types of `v1`, the behaviour in the internal type.

use serde_json::{Value, json};

use crate::encode;
use crate::meta;
use crate::types::decode::settle;
use crate::types::{self, Type};

pub(super) const METRICS: &str = "autoscaling.alpha.kubernetes.io/metrics";
pub(super) const CURRENT_METRICS: &str = "autoscaling.alpha.kubernetes.io/current-metrics";
pub(super) const CONDITIONS: &str = "autoscaling.alpha.kubernetes.io/conditions";
pub(super) const BEHAVIOR: &str = "autoscaling.alpha.kubernetes.io/behavior";

/// The annotations that hold the rest of the spec, and of the status.
pub(super) const OF_SPEC: [&str; 2] = [METRICS, BEHAVIOR];
pub(super) const OF_STATUS: [&str; 2] = [CURRENT_METRICS, CONDITIONS];

/// Names of a source in `v1` and the paths of the same values in `v2`.
type Names = &'static [(&'static str, &'static str)];

/// The sources of metrics.
const SPECS: [(&str, Names); 5] = [
    (
        "object",
        &[
            ("target", "describedObject"),
            ("metricName", "metric.name"),
            ("selector", "metric.selector"),
            ("targetValue", "target.value"),
            ("averageValue", "target.averageValue"),
        ],
    ),
    (
        "pods",
        &[
            ("metricName", "metric.name"),
            ("selector", "metric.selector"),
            ("targetAverageValue", "target.averageValue"),
        ],
    ),
    (
        "resource",
        &[
            ("name", "name"),
            ("targetAverageUtilization", "target.averageUtilization"),
            ("targetAverageValue", "target.averageValue"),
        ],
    ),
    (
        "containerResource",
        &[
            ("name", "name"),
            ("container", "container"),
            ("targetAverageUtilization", "target.averageUtilization"),
            ("targetAverageValue", "target.averageValue"),
        ],
    ),
    (
        "external",
        &[
            ("metricName", "metric.name"),
            ("metricSelector", "metric.selector"),
            ("targetValue", "target.value"),
            ("targetAverageValue", "target.averageValue"),
        ],
    ),
];

/// The current values of metrics.
const STATUSES: [(&str, Names); 5] = [
    (
        "object",
        &[
            ("target", "describedObject"),
            ("metricName", "metric.name"),
            ("selector", "metric.selector"),
            ("currentValue", "current.value"),
            ("averageValue", "current.averageValue"),
        ],
    ),
    (
        "pods",
        &[
            ("metricName", "metric.name"),
            ("selector", "metric.selector"),
            ("currentAverageValue", "current.averageValue"),
        ],
    ),
    (
        "resource",
        &[
            ("name", "name"),
            ("currentAverageUtilization", "current.averageUtilization"),
            ("currentAverageValue", "current.averageValue"),
        ],
    ),
    (
        "containerResource",
        &[
            ("name", "name"),
            ("container", "container"),
            ("currentAverageUtilization", "current.averageUtilization"),
            ("currentAverageValue", "current.averageValue"),
        ],
    ),
    (
        "external",
        &[
            ("metricName", "metric.name"),
            ("metricSelector", "metric.selector"),
            ("currentValue", "current.value"),
            ("currentAverageValue", "current.averageValue"),
        ],
    ),
];

/// The values of an annotation, in the types of `v2`.
pub(super) fn read(annotation: &str, text: &str) -> Option<Value> {
    let value: Value = serde_json::from_str(text).ok()?;
    if annotation == BEHAVIOR {
        return behavior(&value);
    }
    let Value::Array(items) = value else { return value.is_null().then(|| json!([])) };
    items.into_iter().map(|item| item_to_v2(annotation, item)).collect()
}

fn item_to_v2(annotation: &str, item: Value) -> Option<Value> {
    match annotation {
        METRICS => {
            let mut metric = translated(&settled(item, "autoscaling.MetricSpec")?, &SPECS, to_v2_path);
            SPECS.iter().for_each(|(source, _)| set_type(&mut metric, source));
            settled(metric, "autoscalingv2.MetricSpec")
        }
        CURRENT_METRICS => {
            let metric = translated(&settled(item, "autoscaling.MetricStatus")?, &STATUSES, to_v2_path);
            settled(metric, "autoscalingv2.MetricStatus")
        }
        _ => settled(item, "autoscaling.HorizontalPodAutoscalerCondition"),
    }
}

/// The text of an annotation with these values of `v2`; `None` if there is nothing to write.
pub(super) fn written(annotation: &str, value: &Value) -> Option<String> {
    if annotation == BEHAVIOR {
        let parts = ["scaleUp", "scaleDown"].map(|name| rules_in_go(&value[name]));
        return value.is_object().then(|| format!(r#"{{"ScaleUp":{},"ScaleDown":{}}}"#, parts[0], parts[1]));
    }
    let (of, sources): (&str, &[(&str, Names)]) = match annotation {
        METRICS => ("autoscaling.MetricSpec", &SPECS),
        CURRENT_METRICS => ("autoscaling.MetricStatus", &STATUSES),
        _ => ("autoscaling.HorizontalPodAutoscalerCondition", &[]),
    };
    let of_v1 = |item: &Value| {
        let item = if sources.is_empty() { item.clone() } else { translated(item, sources, to_v1_path) };
        Some(encode::message(&settled(item, of)?, message(of)?))
    };
    let items: Vec<String> = meta::items(value).filter_map(of_v1).collect();
    (!items.is_empty()).then(|| format!("[{}]", items.join(",")))
}

fn message(name: &str) -> Option<&'static Type> {
    types::message(name)
}

/// Returns a value of this type with all members that Go writes; `None` if it is of another.
fn settled(value: Value, of: &str) -> Option<Value> {
    let mut value = if value.is_null() { json!({}) } else { value };
    settle(&mut value, message(of)?).ok()?;
    Some(value)
}

/// Returns where a value is read and written.
type Direction = fn(&'static str, &'static str) -> (&'static str, &'static str);

fn to_v2_path(v1: &'static str, v2: &'static str) -> (&'static str, &'static str) {
    (v1, v2)
}

fn to_v1_path(v1: &'static str, v2: &'static str) -> (&'static str, &'static str) {
    (v2, v1)
}

/// Returns a metric with the names of the other version.
fn translated(metric: &Value, sources: &[(&str, Names)], direction: Direction) -> Value {
    let mut new = json!({"type": metric["type"]});
    for (source, names) in sources.iter().filter(|(source, _)| metric[*source].is_object()) {
        let mut values = json!({});
        for (v1, v2) in *names {
            let (from, to) = direction(v1, v2);
            let pointer = |path: &str| format!("/{}", path.replace('.', "/"));
            let Some(value) = metric[*source].pointer(&pointer(from)).filter(|value| !value.is_null()) else {
                continue;
            };
            match to.split_once('.') {
                Some((part, member)) => values[part][member] = value.clone(),
                None => values[to] = value.clone(),
            }
        }
        new[*source] = values;
    }
    new
}

/// Sets the type of a target, which `v1` does not have.
fn set_type(metric: &mut Value, source: &str) {
    let Some(target) = metric.get_mut(source).map(|source| &mut source["target"]) else { return };
    let has = |member: &str| !target[member].is_null();
    let type_ = match source {
        "object" if has("averageValue") => "AverageValue",
        "object" => "Value",
        "external" if has("value") => "Value",
        "resource" | "containerResource" if has("averageUtilization") => "Utilization",
        _ => "AverageValue",
    };
    // `v1` always has the value of an object's metric.
    if source == "object" && type_ == "AverageValue" && target["value"] == "0" {
        meta::object_mut(target).remove("value");
    }
    target["type"] = type_.into();
}

/// Formats the internal `HPAScalingRules` as Go does.
fn rules_in_go(rules: &Value) -> String {
    if rules.is_null() {
        return "null".to_owned();
    }
    let policy = |policy: &Value| {
        let (type_, value, period) = (&policy["type"], &policy["value"], &policy["periodSeconds"]);
        format!(r#"{{"Type":{type_},"Value":{value},"PeriodSeconds":{period}}}"#)
    };
    let policies = match rules["policies"].as_array() {
        None => "null".to_owned(),
        Some(list) => format!("[{}]", list.iter().map(policy).collect::<Vec<_>>().join(",")),
    };
    format!(
        r#"{{"StabilizationWindowSeconds":{},"SelectPolicy":{},"Policies":{policies},"Tolerance":{}}}"#,
        rules["stabilizationWindowSeconds"], rules["selectPolicy"], rules["tolerance"]
    )
}

/// Reads the internal `HorizontalPodAutoscalerBehavior`; `None` if it is empty or of another type.
fn behavior(value: &Value) -> Option<Value> {
    let mut behavior = json!({});
    for (name, of) in [("ScaleUp", "scaleUp"), ("ScaleDown", "scaleDown")] {
        let rules = member(value, name)?;
        if !rules.is_null() {
            behavior[of] = rules_of(rules)?;
        }
    }
    (behavior != json!({})).then_some(behavior)
}

fn rules_of(rules: &Value) -> Option<Value> {
    const RULES: [(&str, &str); 3] = [
        ("StabilizationWindowSeconds", "stabilizationWindowSeconds"),
        ("SelectPolicy", "selectPolicy"),
        ("Tolerance", "tolerance"),
    ];
    const POLICY: [(&str, &str); 3] =
        [("Type", "type"), ("Value", "value"), ("PeriodSeconds", "periodSeconds")];
    let renamed = |value: &Value, names: [(&str, &str); 3]| {
        let mut new = json!({});
        for (go, own) in names {
            let value = member(value, go)?;
            if !value.is_null() {
                new[own] = value.clone();
            }
        }
        Some(new)
    };
    let mut new = renamed(rules, RULES)?;
    match member(rules, "Policies")? {
        Value::Null => {}
        Value::Array(policies) => {
            let policies: Option<Vec<Value>> =
                policies.iter().map(|policy| renamed(policy, POLICY)).collect();
            new["policies"] = policies?.into();
        }
        _ => return None,
    }
    settled(new, "autoscalingv2.HPAScalingRules")
}

/// Returns the member of an object that Go's `encoding/json` takes for a field of this name, whose case it ignores; null if there is
/// none, `None` if the value is no object.
fn member<'v>(value: &'v Value, name: &str) -> Option<&'v Value> {
    static NULL: Value = Value::Null;
    if value.is_null() {
        return Some(&NULL);
    }
    let object = value.as_object()?;
    let alike = || object.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value);
    Some(object.get(name).or_else(alike).unwrap_or(&NULL))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_have_the_types_of_v1() {
        let metrics = json!([
            {"type": "Pods", "pods": {"metric": {"name": "m", "selector": {"matchLabels": {"a": "b"}}},
                "target": {"type": "AverageValue", "averageValue": "1"}}},
            {"type": "Object", "object": {"describedObject": {"apiVersion": "v1", "kind": "S", "name": "n"},
                "metric": {"name": "m"}, "target": {"type": "AverageValue", "averageValue": "2"}}},
            {"type": "External", "external": {"metric": {"name": "m"}, "target": {"type": "Value", "value": "30"}}},
            {"type": "ContainerResource", "containerResource": {"name": "cpu", "container": "c",
                "target": {"type": "Utilization", "averageUtilization": 50}}}
        ]);
        let text = written(METRICS, &metrics).unwrap();
        let pods = r#"{"type":"Pods","pods":{"metricName":"m","targetAverageValue":"1","selector":{"matchLabels":{"a":"b"}}}}"#;
        let object = r#"{"type":"Object","object":{"target":{"kind":"S","name":"n","apiVersion":"v1"},"metricName":"m","targetValue":"0","averageValue":"2"}}"#;
        let external = r#"{"type":"External","external":{"metricName":"m","targetValue":"30"}}"#;
        let container = r#"{"type":"ContainerResource","containerResource":{"name":"cpu","targetAverageUtilization":50,"container":"c"}}"#;
        assert_eq!(text, format!("[{pods},{object},{external},{container}]"));
        assert_eq!(read(METRICS, &text), Some(metrics));
    }

    #[test]
    fn absent_amounts_of_v1_are_zero() {
        let metric = |text: &str| read(METRICS, text).map(|metrics| metrics[0].clone());
        let pods = metric(r#"[{"type":"Pods","pods":{"metricName":"m"}}]"#).unwrap();
        assert_eq!(pods["pods"]["target"], json!({"type": "AverageValue", "averageValue": "0"}));
        let object = metric(r#"[{"type":"Object","object":{}}]"#).unwrap();
        assert_eq!(object["object"]["target"], json!({"type": "Value", "value": "0"}));
        assert_eq!(metric("bad"), None);
        assert_eq!(metric(r#"[{"type":1}]"#), None);
        let current =
            json!([{"type": "Resource", "resource": {"name": "cpu", "current": {"averageUtilization": 5}}}]);
        let text = r#"[{"type":"Resource","resource":{"name":"cpu","currentAverageUtilization":5,"currentAverageValue":"0"}}]"#;
        assert_eq!(written(CURRENT_METRICS, &current).as_deref(), Some(text));
    }

    #[test]
    fn behaviour_has_the_names_of_the_internal_type() {
        let policies = json!([{"type": "Pods", "value": 4, "periodSeconds": 15}]);
        let behavior =
            json!({"scaleUp": {"stabilizationWindowSeconds": 0, "policies": policies, "tolerance": "100m"}});
        let text = r#"{"ScaleUp":{"StabilizationWindowSeconds":0,"SelectPolicy":null,"Policies":[{"Type":"Pods","Value":4,"PeriodSeconds":15}],"Tolerance":"100m"},"ScaleDown":null}"#;
        assert_eq!(written(BEHAVIOR, &behavior).as_deref(), Some(text));
        assert_eq!(read(BEHAVIOR, text), Some(behavior));
        let any_case = read(BEHAVIOR, r#"{"scaleup":{"selectPolicy":"Max"}}"#);
        assert_eq!(any_case, Some(json!({"scaleUp": {"selectPolicy": "Max"}})));
        for empty in ["{}", "null", "[]", r#"{"ScaleUp":{"SelectPolicy":1}}"#] {
            assert_eq!(read(BEHAVIOR, empty), None, "{empty}");
        }
    }
}
