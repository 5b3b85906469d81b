//! Autoscalers: stored as `autoscaling/v2`, served as `v1` too.

use serde_json::{Map, Value, json};

use super::{Stage, check};
use crate::meta::map_at;
use crate::status::Cause;

/// `v1` keeps metrics that it has no fields for in these annotations, as in kube-apiserver's conversion.
const METRICS: &str = "autoscaling.alpha.kubernetes.io/metrics";
const CURRENT_METRICS: &str = "autoscaling.alpha.kubernetes.io/current-metrics";
const CONDITIONS: &str = "autoscaling.alpha.kubernetes.io/conditions";
const BEHAVIOR: &str = "autoscaling.alpha.kubernetes.io/behavior";

/// (annotation, whether it is a part of the spec, the field of `v2`)
const CARRIED: &[(&str, bool, &str)] = &[
    (METRICS, true, "metrics"),
    (BEHAVIOR, true, "behavior"),
    (CURRENT_METRICS, false, "currentMetrics"),
    (CONDITIONS, false, "conditions"),
];

pub(super) fn default(object: &mut Value, _: Stage) {
    let spec = map_at(object, "spec");
    spec.entry("minReplicas").or_insert(json!(1));
    let none = spec.get("metrics").and_then(Value::as_array).is_none_or(Vec::is_empty);
    if none {
        spec.insert("metrics".to_owned(), json!([processor_share(80)]));
    }
    if let Some(behavior) = spec.get_mut("behavior").filter(|behavior| behavior.is_object()) {
        fill_rules(map_at(behavior, "scaleUp"), &scale_up());
        fill_rules(map_at(behavior, "scaleDown"), &scale_down());
    }
}

/// `SetDefaults_HorizontalPodAutoscaler` of pkg/apis/autoscaling/v1; metrics get their defaults in the conversion.
pub(super) fn default_v1(object: &mut Value, _: Stage) {
    map_at(object, "spec").entry("minReplicas").or_insert(json!(1));
}

/// Fills in the absent fields of a given behaviour: `GenerateHPAScaleUpRules` and `GenerateHPAScaleDownRules`.
fn fill_rules(rules: &mut Map<String, Value>, defaults: &Value) {
    for (key, value) in defaults.as_object().into_iter().flatten() {
        let given = rules.get(key).is_some_and(|given| !given.is_null());
        if !given {
            rules.insert(key.clone(), value.clone());
        }
    }
}

fn scale_up() -> Value {
    let policies = json!([{"type": "Pods", "value": 4, "periodSeconds": 15},
        {"type": "Percent", "value": 100, "periodSeconds": 15}]);
    json!({"stabilizationWindowSeconds": 0, "selectPolicy": "Max", "policies": policies})
}

fn scale_down() -> Value {
    let policies = json!([{"type": "Percent", "value": 100, "periodSeconds": 15}]);
    json!({"selectPolicy": "Max", "policies": policies})
}

fn processor_share(percent: i64) -> Value {
    json!({"type": "Resource", "resource": {"name": "cpu",
           "target": {"type": "Utilization", "averageUtilization": percent}}})
}

/// The checks of the stored form.
pub(super) fn check_v1(object: &Value, old: Option<&Value>) -> Vec<Cause> {
    check::autoscaler(&to_v2(object.clone()), old.cloned().map(to_v2).as_ref())
}

/// Returns the processor share if the metric is the one that `v1` has a field for.
fn share(metric: &Value, part: &str) -> Option<i64> {
    let resource = &metric["resource"];
    if metric["type"] != "Resource" || resource["name"] != "cpu" {
        return None;
    }
    resource[part]["averageUtilization"].as_i64()
}

/// The `v1` form of a stored autoscaler.
pub(super) fn from_v2(mut object: Value) -> Value {
    object["apiVersion"] = "autoscaling/v1".into();
    if object["status"].is_object() {
        // `v2` omits zero, `v1` does not.
        map_at(&mut object, "status").entry("currentReplicas").or_insert(json!(0));
    }
    for (target, field, part) in [
        ("spec", "targetCPUUtilizationPercentage", "target"),
        ("status", "currentCPUUtilizationPercentage", "current"),
    ] {
        let list = if target == "spec" { "metrics" } else { "currentMetrics" };
        let Some(metrics) = object[target].get_mut(list).and_then(Value::as_array_mut) else { continue };
        if let Some(at) = metrics.iter().position(|metric| share(metric, part).is_some()) {
            let percent = share(&metrics.remove(at), part);
            object[target][field] = percent.into();
        }
    }
    for (annotation, in_spec, field) in CARRIED {
        let part = if *in_spec { "spec" } else { "status" };
        let carried = object[part].as_object_mut().and_then(|part| part.remove(*field));
        let empty = |v: &Value| v.is_null() || v.as_array().is_some_and(Vec::is_empty);
        if let Some(carried) = carried.filter(|v| !empty(v)) {
            map_at(&mut object["metadata"], "annotations")
                .insert((*annotation).to_owned(), carried.to_string().into());
        }
    }
    object
}

/// The stored form of a `v1` autoscaler.
pub(super) fn to_v2(mut object: Value) -> Value {
    object["apiVersion"] = "autoscaling/v2".into();
    for (annotation, in_spec, field) in CARRIED {
        let annotations = object["metadata"].get_mut("annotations").and_then(Value::as_object_mut);
        let Some(Value::String(text)) = annotations.and_then(|a| a.remove(*annotation)) else { continue };
        let part = if *in_spec { "spec" } else { "status" };
        if let Ok(carried) = serde_json::from_str(&text) {
            map_at(&mut object, part).insert((*field).to_owned(), carried);
        }
    }
    if object["metadata"]["annotations"].as_object().is_some_and(Map::is_empty) {
        crate::meta::remove(&mut object, "annotations");
    }
    let spec = map_at(&mut object, "spec");
    if let Some(percent) = spec.remove("targetCPUUtilizationPercentage").and_then(|v| v.as_i64())
        && let Value::Array(metrics) = spec.entry("metrics").or_insert(json!([]))
    {
        metrics.push(processor_share(percent));
    }
    let status = map_at(&mut object, "status");
    // `v2` omits zero.
    if status.get("currentReplicas").and_then(Value::as_i64) == Some(0) {
        status.remove("currentReplicas");
    }
    if let Some(percent) = status.remove("currentCPUUtilizationPercentage").filter(Value::is_i64) {
        let current = json!({"type": "Resource", "resource": {"name": "cpu", "current": {"averageUtilization": percent}}});
        if let Value::Array(metrics) = status.entry("currentMetrics").or_insert(json!([])) {
            metrics.push(current);
        }
    }
    default(&mut object, Stage::Update);
    if object["status"]["currentMetrics"].is_null() {
        object["status"]["currentMetrics"] = Value::Null;
    }
    object
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn v1_autoscaler_round_trips_through_v2() {
        let one = json!({"apiVersion": "autoscaling/v1", "metadata": {"name": "a"},
            "spec": {"maxReplicas": 3, "minReplicas": 1, "targetCPUUtilizationPercentage": 50}});
        let stored = to_v2(one.clone());
        assert_eq!(stored["spec"]["metrics"], json!([processor_share(50)]));
        let back = from_v2(stored);
        assert_eq!(back["spec"], one["spec"]);
        assert_eq!(back["status"]["currentReplicas"], 0);
        assert!(to_v2(back.clone())["status"].get("currentReplicas").is_none());
        assert_eq!(back["metadata"], one["metadata"]);
    }

    #[test]
    fn metrics_beyond_v1_round_trip_in_annotations() {
        let external = json!({"type": "External", "external": {"target": {"value": "30"}}});
        let two = json!({"apiVersion": "autoscaling/v2", "metadata": {"name": "a"},
            "spec": {"maxReplicas": 3, "minReplicas": 1, "metrics": [external, processor_share(50)]}, "status": {}});
        let one = from_v2(two);
        assert_eq!(one["spec"]["targetCPUUtilizationPercentage"], 50);
        assert!(one["metadata"]["annotations"][METRICS].is_string());
        let back = to_v2(one);
        assert_eq!(back["spec"]["metrics"].as_array().unwrap().len(), 2);
        assert!(back["metadata"].get("annotations").is_none());
    }
}
