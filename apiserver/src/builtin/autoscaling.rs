//! Autoscalers: stored as `autoscaling/v2`, served as `v1` too.

mod annotations;

use serde_json::{Map, Value, json};

use self::annotations::{BEHAVIOR, CONDITIONS, CURRENT_METRICS, METRICS, OF_SPEC, OF_STATUS};
use super::{Stage, check};
use crate::meta::{self, map_at};
use crate::status::Cause;

/// (annotation, the part, its field of `v2`)
const CARRIED: [(&str, &str, &str); 4] = [
    (METRICS, "spec", "metrics"),
    (BEHAVIOR, "spec", "behavior"),
    (CURRENT_METRICS, "status", "currentMetrics"),
    (CONDITIONS, "status", "conditions"),
];

/// Annotations that no object keeps, beside those above (`DropRoundTripHorizontalPodAutoscalerAnnotations`).
const TOLERANCES: [&str; 2] = [
    "autoscaling.alpha.kubernetes.io/scale-down-tolerance",
    "autoscaling.alpha.kubernetes.io/scale-up-tolerance",
];

pub(super) fn default(object: &mut Value, _: Stage) {
    drop_carried(object);
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

/// `SetDefaults_HorizontalPodAutoscaler` of pkg/apis/autoscaling/v1; then the object is what the internal one is in `v1`.
pub(super) fn default_v1(object: &mut Value, _: Stage) {
    map_at(object, "spec").entry("minReplicas").or_insert(json!(1));
    *object = from_v2(internal(std::mem::take(object)));
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

/// The checks of the internal form, which has no defaults of `v2`.
pub(super) fn check_v1(object: &Value, old: Option<&Value>) -> Vec<Cause> {
    check::autoscaler(&internal(object.clone()), old.cloned().map(internal).as_ref())
}

/// Returns the share if the metric is the processor's.
fn share(metric: &Value, part: &str) -> Option<i64> {
    let resource = &metric["resource"];
    if metric["type"] != "Resource" || resource["name"] != "cpu" {
        return None;
    }
    resource[part]["averageUtilization"].as_i64()
}

/// Restores the part that a write through this subresource does not change (pkg/registry/autoscaling/horizontalpodautoscaler). In
/// `v1` it is in annotations, too.
pub(crate) fn keep_other_part(current: &Value, object: &mut Value, subresource: &str) {
    let (part, carried) = if subresource == "status" { ("spec", OF_SPEC) } else { ("status", OF_STATUS) };
    meta::copy_member(current, object, part);
    for annotation in carried {
        let kept = current["metadata"]["annotations"].get(annotation);
        if let Some(kept) = kept {
            map_at(&mut object["metadata"], "annotations").insert(annotation.to_owned(), kept.clone());
        } else {
            drop_annotations(object, &[annotation]);
        }
    }
}

/// Drops the annotations that hold a part of the status, which a new object does not have.
pub(crate) fn drop_status(object: &mut Value) {
    drop_annotations(object, &OF_STATUS);
}

fn drop_annotations(object: &mut Value, names: &[&str]) {
    let annotations = object["metadata"].get_mut("annotations").and_then(Value::as_object_mut);
    let Some(annotations) = annotations else { return };
    annotations.retain(|name, _| !names.contains(&name.as_str()));
    if annotations.is_empty() {
        meta::remove(object, "annotations");
    }
}

fn drop_carried(object: &mut Value) {
    for names in [OF_SPEC, OF_STATUS, TOLERANCES] {
        drop_annotations(object, &names);
    }
}

/// The `v1` form of a stored autoscaler.
pub(super) fn from_v2(mut object: Value) -> Value {
    object["apiVersion"] = "autoscaling/v1".into();
    drop_carried(&mut object);
    if object["status"].is_object() {
        // `v2` omits zero, `v1` does not.
        map_at(&mut object, "status").entry("currentReplicas").or_insert(json!(0));
    }
    let shares = |part: &str, list: &str, value: &str| -> Vec<i64> {
        meta::items(&object[part][list]).filter_map(|metric| share(metric, value)).collect()
    };
    // The first one of the spec, and the last one of the status.
    let target = shares("spec", "metrics", "target").first().copied();
    let current = shares("status", "currentMetrics", "current").last().copied();
    if let Some(metrics) = object["spec"].get_mut("metrics").and_then(Value::as_array_mut) {
        metrics.retain(|metric| share(metric, "target").is_none());
    }
    for (annotation, part, field) in CARRIED {
        let carried = object[part].as_object_mut().and_then(|part| part.remove(field)).unwrap_or_default();
        if let Some(text) = annotations::written(annotation, &carried) {
            map_at(&mut object["metadata"], "annotations").insert(annotation.to_owned(), text.into());
        }
    }
    if let Some(target) = target {
        object["spec"]["targetCPUUtilizationPercentage"] = target.into();
    }
    if let Some(current) = current {
        object["status"]["currentCPUUtilizationPercentage"] = current.into();
    }
    object
}

/// The stored form of a `v1` autoscaler.
pub(super) fn to_v2(object: Value) -> Value {
    let mut object = internal(object);
    default(&mut object, Stage::Update);
    if object["status"]["currentMetrics"].is_null() {
        object["status"]["currentMetrics"] = Value::Null;
    }
    object
}

/// The internal form of a `v1` autoscaler, which is that of `v2` without its defaults.
fn internal(mut object: Value) -> Value {
    object["apiVersion"] = "autoscaling/v2".into();
    let carried = CARRIED.map(|(annotation, ..)| {
        let text = object["metadata"]["annotations"][annotation].as_str()?;
        annotations::read(annotation, text)
    });
    let [metrics, behavior, current_metrics, conditions] = carried;
    drop_carried(&mut object);
    let spec = map_at(&mut object, "spec");
    let target = spec.remove("targetCPUUtilizationPercentage").and_then(|percent| percent.as_i64());
    let others = metrics.and_then(|metrics| metrics.as_array().cloned()).unwrap_or_default();
    let mut metrics: Vec<Value> = others.into_iter().chain(target.map(processor_share)).collect();
    if metrics.is_empty() {
        metrics.push(processor_share(80));
    }
    spec.insert("metrics".to_owned(), metrics.into());
    spec.extend(behavior.map(|behavior| ("behavior".to_owned(), behavior)));
    let status = map_at(&mut object, "status");
    // `v2` omits zero.
    if status.get("currentReplicas").and_then(Value::as_i64) == Some(0) {
        status.remove("currentReplicas");
    }
    let current = status.remove("currentCPUUtilizationPercentage").filter(Value::is_i64).map(|percent| {
        json!([{"type": "Resource", "resource": {"name": "cpu", "current": {"averageUtilization": percent}}}])
    });
    // The annotation knows more.
    let current = current_metrics.or(current);
    status.extend(current.map(|current| ("currentMetrics".to_owned(), current)));
    status.extend(conditions.map(|conditions| ("conditions".to_owned(), conditions)));
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
        let external = json!({"type": "External", "external": {"metric": {"name": "m"}, "target": {"type": "Value", "value": "30"}}});
        let behavior = json!({"scaleUp": {"stabilizationWindowSeconds": 5, "selectPolicy": "Max",
            "policies": [{"type": "Pods", "value": 4, "periodSeconds": 15}]}, "scaleDown": scale_down()});
        let current = json!({"type": "Resource", "resource": {"name": "cpu",
            "current": {"averageUtilization": 5, "averageValue": "1"}}});
        let condition = json!({"type": "AbleToScale", "status": "True", "lastTransitionTime": null});
        let two = json!({"apiVersion": "autoscaling/v2", "metadata": {"name": "a"}, "spec": {"maxReplicas": 3, "minReplicas": 1,
            "metrics": [external, processor_share(50)], "behavior": behavior},
            "status": {"currentMetrics": [current], "conditions": [condition]}});
        let one = from_v2(two.clone());
        assert_eq!(one["spec"]["targetCPUUtilizationPercentage"], 50);
        assert_eq!(one["status"]["currentCPUUtilizationPercentage"], 5);
        assert!(CARRIED.iter().all(|(name, ..)| one["metadata"]["annotations"][*name].is_string()), "{one}");
        assert_eq!(to_v2(one), two);
    }

    #[test]
    fn annotations_of_the_other_part_stay_as_they_were() {
        let with = |metrics: &str, conditions: &str| {
            json!({"metadata": {"annotations": {METRICS: metrics, CONDITIONS: conditions}},
                "spec": {"maxReplicas": metrics}, "status": {"desiredReplicas": conditions}})
        };
        let mut object = with("new", "new");
        keep_other_part(&with("old", "old"), &mut object, "");
        assert_eq!(object, with("new", "old"));
        keep_other_part(&with("old", "x"), &mut object, "status");
        assert_eq!(object, with("old", "old"));
        let mut object = json!({"metadata": {"annotations": {CONDITIONS: "[]"}}});
        keep_other_part(&Value::Null, &mut object, "");
        assert_eq!(object, json!({"metadata": {}}));
    }

    #[test]
    fn behaviour_of_v1_is_checked_without_defaults() {
        let behavior = r#"{"ScaleUp":{"StabilizationWindowSeconds":1}}"#;
        let object = json!({"metadata": {"annotations": {BEHAVIOR: behavior}}, "spec": {"maxReplicas": 1,
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}}});
        let fields: Vec<String> = check_v1(&object, None).into_iter().map(|cause| cause.field).collect();
        assert_eq!(fields, ["spec.behavior.scaleUp.policies"]);
    }
}
