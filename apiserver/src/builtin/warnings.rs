//! Warnings about objects that the server accepts. Source: `pkg/api/pod/warnings.go` of Kubernetes 1.36.

use serde_json::Value;

use super::BuiltIn;

/// The warnings about a new object.
pub(crate) fn of(kind: &BuiltIn, object: &Value) -> Vec<String> {
    let path = match kind.kind {
        "Pod" => "spec",
        "PodTemplate" => "template.spec",
        "CronJob" => "spec.jobTemplate.spec.template.spec",
        "DaemonSet" | "Deployment" | "Job" | "ReplicaSet" | "ReplicationController" | "StatefulSet" => {
            "spec.template.spec"
        }
        _ => return Vec::new(),
    };
    let spec = path.split('.').fold(object, |value, member| &value[member]);
    let constraints = spec["topologySpreadConstraints"].as_array().into_iter().flatten().enumerate();
    constraints
        .filter(|(_, constraint)| constraint["labelSelector"].is_null())
        .map(|(i, _)| {
            format!(
                "{path}.topologySpreadConstraints[{i}].labelSelector: a null labelSelector results in matching no pod"
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn null_selector_of_a_constraint_gets_a_warning() {
        let constraints = json!([{"labelSelector": {}}, {"topologyKey": "zone"}]);
        let kind = |name: &str| super::super::all().find(|kind| kind.kind == name).unwrap();
        let pod = json!({"spec": {"topologySpreadConstraints": constraints}});
        let text =
            "topologySpreadConstraints[1].labelSelector: a null labelSelector results in matching no pod";
        assert_eq!(of(kind("Pod"), &pod), [format!("spec.{text}")]);
        let deployment = json!({"spec": {"template": pod}});
        assert_eq!(of(kind("Deployment"), &deployment), [format!("spec.template.spec.{text}")]);
        assert!(of(kind("ConfigMap"), &pod).is_empty());
    }
}
