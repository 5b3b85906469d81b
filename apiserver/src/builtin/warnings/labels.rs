//! Warnings about deprecated labels of nodes. Source: `pkg/api/node/util.go`.

use kubesmith_apimachinery::names;
use serde_json::Value;

use super::items;

/// The deprecated labels of nodes, with what to use instead.
const DEPRECATED: [(&str, &str); 8] = [
    ("beta.kubernetes.io/arch", "deprecated since v1.14; use \"kubernetes.io/arch\" instead"),
    ("beta.kubernetes.io/os", "deprecated since v1.14; use \"kubernetes.io/os\" instead"),
    (
        "failure-domain.beta.kubernetes.io/region",
        "deprecated since v1.17; use \"topology.kubernetes.io/region\" instead",
    ),
    (
        "failure-domain.beta.kubernetes.io/zone",
        "deprecated since v1.17; use \"topology.kubernetes.io/zone\" instead",
    ),
    (
        "beta.kubernetes.io/instance-type",
        "deprecated since v1.17; use \"node.kubernetes.io/instance-type\" instead",
    ),
    ("app.kubernetes.io/created-by", "deprecated since v1.9"),
    (
        "scheduler.alpha.kubernetes.io/preferAvoidPods",
        "deprecated since v1.22; use Taints and Tolerations instead",
    ),
    ("node-role.kubernetes.io/master", "use \"node-role.kubernetes.io/control-plane\" instead"),
];

/// Returns the text about a label, if it is deprecated.
pub(super) fn text(label: &str) -> Option<&'static str> {
    DEPRECATED.iter().find(|(name, _)| *name == label).map(|(_, text)| *text)
}

/// Warns about deprecated keys of a map, at the place of each key.
pub(super) fn of_map(map: &Value, place: impl Fn(&str) -> String) -> Vec<String> {
    let keys = map.as_object().into_iter().flat_map(|map| map.keys());
    keys.filter_map(|key| Some(format!("{}: {}", place(key), text(key)?))).collect()
}

/// Warns about a deprecated label that a field names.
pub(super) fn named(label: &Value, path: &str) -> Option<String> {
    let label = label.as_str()?;
    text(label).map(|text| format!("{path}: {label} is {text}"))
}

/// `GetWarningsForNodeSelectorTerm`, with or without the values.
pub(super) fn of_term(term: &Value, checks_values: bool, path: &str) -> Vec<String> {
    let mut warnings = Vec::new();
    for (i, expression) in items(&term["matchExpressions"]).enumerate() {
        let path = format!("{path}.matchExpressions[{i}]");
        warnings.extend(named(&expression["key"], &format!("{path}.key")));
        let values = items(&expression["values"]).filter_map(Value::as_str).enumerate();
        for (i, value) in values.filter(|_| checks_values) {
            for fault in names::label_value(value) {
                warnings.push(format!("{path}.values[{i}]: {value} is invalid, {fault}"));
            }
        }
    }
    warnings
}

/// `GetWarningsForNodeSelector`, of a label selector.
pub(super) fn of_selector(selector: &Value, path: &str) -> Vec<String> {
    let mut warnings = of_term(selector, false, path);
    warnings.extend(of_map(&selector["matchLabels"], |label| format!("{path}.matchLabels.{label}")));
    warnings
}

#[cfg(test)]
mod tests {
    use super::super::tests::of_kind;
    use serde_json::json;

    #[test]
    fn deprecated_labels_of_nodes_get_a_warning() {
        let (os, arch) = ("beta.kubernetes.io/os", "beta.kubernetes.io/arch");
        let terms = json!([{"matchExpressions": [{"key": os, "operator": "Exists"}]}]);
        let preferred =
            json!([{"preference": {"matchExpressions": [{"key": "k", "operator": "In", "values": ["-"]}]}}]);
        let affinity = json!({"nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms},
            "preferredDuringSchedulingIgnoredDuringExecution": preferred}});
        let spec = json!({"nodeSelector": {arch: "x"}, "affinity": affinity,
            "topologySpreadConstraints": [{"topologyKey": os, "labelSelector": {}}]});
        let pod = json!({"metadata": {"name": "p"}, "spec": spec});
        let use_os = "deprecated since v1.14; use \"kubernetes.io/os\" instead";
        let use_arch = "deprecated since v1.14; use \"kubernetes.io/arch\" instead";
        let warnings = of_kind("Pod", &pod);
        assert_eq!(warnings[0], format!("spec.nodeSelector[{arch}]: {use_arch}"));
        let required =
            "requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].key";
        assert_eq!(warnings[1], format!("spec.affinity.nodeAffinity.{required}: {os} is {use_os}"));
        assert!(
            warnings[2].contains("preference.matchExpressions[0].values[0]: - is invalid, a valid label")
        );
        assert_eq!(warnings[3], format!("spec.topologySpreadConstraints[0].topologyKey: {os} is {use_os}"));
        let class = json!({"scheduling": {"nodeSelector": {os: "x"}}});
        assert_eq!(of_kind("RuntimeClass", &class), [format!("scheduling.nodeSelector: {use_os}")]);
        let capacity = json!({"nodeTopology": {"matchLabels": {os: "x"}}});
        assert_eq!(
            of_kind("CSIStorageCapacity", &capacity),
            [format!("nodeTopology.matchLabels.{os}: {use_os}")]
        );
    }
}
