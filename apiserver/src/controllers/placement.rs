//! Decides whether a pod may be on a node: node selectors, required node affinity, and taints.
//!
//! Source: `staging/src/k8s.io/component-helpers/scheduling/corev1`.

use serde_json::{Value, json};

use super::cluster::has_labels;
use crate::meta::{self, member};
use crate::selector;

/// The effects of taints that refuse new pods.
pub(super) const KEEPS_OFF: &[&str] = &["NoSchedule", "NoExecute"];
/// The effect of taints that evict pods.
pub(super) const DRIVES_OUT: &[&str] = &["NoExecute"];

/// Reports whether the selectors in a pod's spec match a node.
pub(super) fn selects(spec: &Value, node: &Value) -> bool {
    let required = &spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"];
    has_labels(&node["metadata"]["labels"], &spec["nodeSelector"]) && meets(required, node)
}

/// Reports whether a volume can be used on a node (`CheckNodeAffinity` of component-helpers/storage/volume).
pub(super) fn reaches(volume: &Value, node: &Value) -> bool {
    meets(&volume["spec"]["nodeAffinity"]["required"], node)
}

/// Reports whether a node selector, if there is one, matches a node.
pub(super) fn meets(selector: &Value, node: &Value) -> bool {
    let terms = selector["nodeSelectorTerms"].as_array();
    terms.is_none_or(|terms| terms.iter().any(|term| matches(term, node)))
}

/// Reports whether volumes of a storage class can be made for a node (`MatchTopologySelectorTerms`).
pub(super) fn is_allowed(class: &Value, node: &Value) -> bool {
    let list = |of: &Value, field: &str| of[field].as_array().cloned().unwrap_or_default();
    let terms = list(class, "allowedTopologies");
    let holds = |requirement: &Value| {
        let label = node["metadata"]["labels"].get(member(requirement, "key")).and_then(Value::as_str);
        label.is_some_and(|label| meta::strings(&requirement["values"]).contains(&label))
    };
    terms.is_empty() || terms.iter().any(|term| list(term, "matchLabelExpressions").iter().all(holds))
}

/// Reports whether all requirements of a term hold. A term without any matches nothing.
fn matches(term: &Value, node: &Value) -> bool {
    let list = |name: &str| term[name].as_array().map_or(&[][..], Vec::as_slice);
    let (labels, fields) = (list("matchExpressions"), list("matchFields"));
    // The only field of node selectors.
    let own = json!({"metadata.name": meta::name(node)});
    !(labels.is_empty() && fields.is_empty())
        && labels.iter().all(|requirement| holds(requirement, &node["metadata"]["labels"]))
        && fields.iter().all(|requirement| holds(requirement, &own))
}

fn holds(requirement: &Value, labels: &Value) -> bool {
    let number = |value: &Value| value.as_str().and_then(|text| text.parse::<i64>().ok());
    let bound = number(&requirement["values"][0]);
    let value = number(&labels[member(requirement, "key")]);
    match member(requirement, "operator") {
        "Gt" => value.zip(bound).is_some_and(|(value, bound)| value > bound),
        "Lt" => value.zip(bound).is_some_and(|(value, bound)| value < bound),
        _ => selector::matches(&json!({"matchExpressions": [requirement]}), labels),
    }
}

/// Reports whether a pod's spec tolerates all taints of a node with one of the effects.
pub(super) fn is_tolerated(spec: &Value, node: &Value, effects: &[&str]) -> bool {
    let mut taints = node["spec"]["taints"].as_array().into_iter().flatten();
    taints.all(|taint| !effects.contains(&member(taint, "effect")) || tolerates(spec, taint))
}

/// `ToleratesTaint` of k8s.io/api/core/v1/toleration.go.
pub(super) fn tolerates(spec: &Value, taint: &Value) -> bool {
    spec["tolerations"].as_array().into_iter().flatten().any(|toleration| {
        let (key, effect) = (member(toleration, "key"), member(toleration, "effect"));
        let exists = toleration["operator"] == "Exists";
        (key == member(taint, "key") || (key.is_empty() && exists))
            && (effect == member(taint, "effect") || effect.is_empty())
            && (exists || member(toleration, "value") == member(taint, "value"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn taints_are_tolerated_by_key_value_and_effect() {
        let taint = json!({"key": "k", "value": "v", "effect": "NoSchedule"});
        for (toleration, fits) in [
            (json!({"key": "k", "value": "v"}), true),
            (json!({"key": "k", "operator": "Exists", "effect": "NoSchedule"}), true),
            (json!({"operator": "Exists"}), true),
            (json!({"key": "k", "value": "w"}), false),
            (json!({"key": "k", "value": "v", "effect": "NoExecute"}), false),
        ] {
            let spec = json!({"tolerations": [toleration]});
            assert_eq!(tolerates(&spec, &taint), fits, "{toleration}");
        }
    }

    #[test]
    fn storage_class_is_allowed_where_one_topology_holds() {
        let node = json!({"metadata": {"labels": {"zone": "a"}}});
        let zones = |zones: Value| json!({"matchLabelExpressions": [{"key": "zone", "values": zones}]});
        for (terms, fits) in [
            (Value::Null, true),
            (json!([zones(json!(["b"]))]), false),
            (json!([zones(json!(["b"])), zones(json!(["b", "a"]))]), true),
            (json!([{"matchLabelExpressions": [{"key": "rack", "values": ["a"]}]}]), false),
        ] {
            assert_eq!(is_allowed(&json!({"allowedTopologies": terms}), &node), fits, "{terms}");
        }
    }

    #[test]
    fn node_affinity_needs_one_term_with_all_its_requirements() {
        let node = json!({"metadata": {"name": "n", "labels": {"zone": "a", "cores": "8"}}});
        let require = |key: &str, operator: &str, values: Value| json!({"key": key, "operator": operator, "values": values});
        let (zone, many) = (require("zone", "In", json!(["a"])), require("cores", "Gt", json!(["16"])));
        let (few, name) =
            (require("cores", "Lt", json!(["16"])), require("metadata.name", "In", json!(["n"])));
        for (terms, fits) in [
            (json!([{"matchExpressions": [zone, many]}]), false),
            (json!([{"matchExpressions": [many]}, {"matchExpressions": [zone, few]}]), true),
            (json!([{"matchFields": [name], "matchExpressions": [zone]}]), true),
            (json!([{}]), false),
        ] {
            let required =
                json!({"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}});
            let spec = json!({"affinity": {"nodeAffinity": required}});
            assert_eq!(selects(&spec, &node), fits, "{terms}");
        }
        assert!(selects(&json!({"nodeSelector": {"zone": "a"}}), &node));
        assert!(!selects(&json!({"nodeSelector": {"zone": "b"}}), &node));
    }
}
