//! The scopes of quotas (`podMatchesScopeFunc` and `pvcMatchesScopeFunc` of pkg/quota/v1/evaluator/core).

use serde_json::Value;

use super::has_deadline;
use crate::builtin;
use crate::registry::ResourceDef;

/// Reports whether an object is in all scopes of a quota.
pub(crate) fn is_in_scope(def: &ResourceDef, quota: &Value, object: &Value) -> bool {
    let spec = &quota["spec"];
    let scopes = spec["scopes"].as_array().into_iter().flatten();
    let expressions = spec["scopeSelector"]["matchExpressions"].as_array().into_iter().flatten();
    let collection = def.collection.as_str();
    scopes.into_iter().all(|scope| matches(collection, scope, &Value::from("Exists"), &Value::Null, object))
        && expressions
            .into_iter()
            .all(|it| matches(collection, &it["scopeName"], &it["operator"], &it["values"], object))
}

fn matches(collection: &str, scope: &Value, operator: &Value, values: &Value, object: &Value) -> bool {
    let spec = &object["spec"];
    // `GetPodQOS` of pkg/apis/core/v1/helper/qos.
    let class = object["status"]["qosClass"].as_str().filter(|class| !class.is_empty());
    let is_best_effort = || class.unwrap_or_else(|| builtin::quality_of_service(spec)) == "BestEffort";
    match (collection, scope.as_str().unwrap_or_default()) {
        ("pods", "Terminating") => has_deadline(object),
        ("pods", "NotTerminating") => !has_deadline(object),
        ("pods", "BestEffort") => is_best_effort(),
        ("pods", "NotBestEffort") => !is_best_effort(),
        ("pods", "PriorityClass") => selected(&[&spec["priorityClassName"]], operator, values),
        ("pods", "CrossNamespacePodAffinity") => has_foreign_affinity(&spec["affinity"]),
        ("persistentvolumeclaims", "VolumeAttributesClass") => {
            let status = &object["status"];
            let names = [
                &spec["volumeAttributesClassName"],
                &status["currentVolumeAttributesClassName"],
                &status["modifyVolumeStatus"]["targetVolumeAttributesClassName"],
            ];
            selected(&names, operator, values)
        }
        _ => false,
    }
}

/// Reports whether one of these names fits the operator.
fn selected(names: &[&Value], operator: &Value, values: &Value) -> bool {
    let names: Vec<&str> =
        names.iter().filter_map(|name| name.as_str()).filter(|name| !name.is_empty()).collect();
    let is_named = |name: &&str| values.as_array().into_iter().flatten().any(|value| value == name);
    match operator.as_str().unwrap_or_default() {
        "Exists" => !names.is_empty(),
        "DoesNotExist" => names.is_empty(),
        "In" => names.iter().any(is_named),
        "NotIn" => names.is_empty() || names.iter().any(|name| !is_named(name)),
        _ => false,
    }
}

/// `usesCrossNamespacePodAffinity`.
fn has_foreign_affinity(affinity: &Value) -> bool {
    let foreign = |term: &Value| {
        term["namespaces"].as_array().is_some_and(|names| !names.is_empty())
            || term["namespaceSelector"].is_object()
    };
    ["podAffinity", "podAntiAffinity"].iter().any(|kind| {
        let required = affinity[*kind]["requiredDuringSchedulingIgnoredDuringExecution"].as_array();
        let preferred = affinity[*kind]["preferredDuringSchedulingIgnoredDuringExecution"].as_array();
        required.into_iter().flatten().any(foreign)
            || preferred.into_iter().flatten().any(|weighted| foreign(&weighted["podAffinityTerm"]))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Cases of `TestPodEvaluatorMatchingScopes` in evaluator/core/pods_test.go.
    #[test]
    fn scopes_select_pods() {
        let in_scope = |scope: &str, operator: &str, values: Value, spec: Value| {
            matches("pods", &json!(scope), &json!(operator), &values, &json!({"spec": spec}))
        };
        let term = json!([{"namespaces": ["a"]}]);
        let foreign = json!({"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": term}});
        for (scope, operator, values, spec, expected) in [
            ("BestEffort", "Exists", json!([]), json!({}), true),
            ("NotBestEffort", "Exists", json!([]), json!({}), false),
            ("NotTerminating", "Exists", json!([]), json!({}), true),
            ("Terminating", "Exists", json!([]), json!({"activeDeadlineSeconds": 0}), true),
            ("PriorityClass", "Exists", json!([]), json!({}), false),
            ("PriorityClass", "DoesNotExist", json!([]), json!({}), true),
            ("PriorityClass", "In", json!(["c"]), json!({"priorityClassName": "c"}), true),
            ("PriorityClass", "NotIn", json!(["c"]), json!({"priorityClassName": "c"}), false),
            ("PriorityClass", "NotIn", json!(["c"]), json!({}), true),
            ("CrossNamespacePodAffinity", "Exists", json!([]), json!({"affinity": foreign}), true),
            ("CrossNamespacePodAffinity", "Exists", json!([]), json!({}), false),
            ("VolumeAttributesClass", "Exists", json!([]), json!({}), false),
        ] {
            assert_eq!(in_scope(scope, operator, values, spec), expected, "{scope} {operator}");
        }
    }

    #[test]
    fn class_in_the_status_decides_the_scope() {
        let pod = json!({"spec": {}, "status": {"qosClass": "Burstable"}});
        let in_scope = |scope: &str| matches("pods", &json!(scope), &Value::Null, &Value::Null, &pod);
        assert!(in_scope("NotBestEffort") && !in_scope("BestEffort"));
    }
}
