//! Pods and nodes.

use serde_json::json;

use super::{pod_spec, refused};

#[test]
fn sysctls_of_the_host_are_refused_with_dots_and_slashes() {
    let mut spec = pod_spec();
    spec["hostNetwork"] = true.into();
    spec["hostIPC"] = true.into();
    let names = ["net/ipv4.x", "net.ipv4/x", "kernel/shmall", "kernel.shm_next_id", "fs/mqueue/x"];
    spec["securityContext"] = json!({"sysctls": names.map(|name| json!({"name": name, "value": "1"}))});
    let cause = |i: usize, host: &str| {
        let (place, name) = (format!("spec.securityContext.sysctls[{i}].name"), names[i]);
        format!("{place}: Invalid value: \"{name}\": may not be specified when '{host}' is true")
    };
    let wanted = [cause(0, "hostNetwork"), cause(1, "hostNetwork"), cause(2, "hostIPC"), cause(4, "hostIPC")];
    let wanted = wanted.each_ref().map(String::as_str);
    refused("Pod", &json!({"metadata": {"name": "p"}, "spec": spec}), None, &wanted);
}

#[test]
fn claim_of_an_ephemeral_volume_has_a_valid_name_of_its_own() {
    let claim = json!({"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}});
    let mut spec = pod_spec();
    spec["volumes"] = json!([
        {"name": "v", "ephemeral": {"volumeClaimTemplate": {"spec": claim}}},
        {"name": "w", "persistentVolumeClaim": {"claimName": "p-v"}},
    ]);
    let created = "spec.volumes[1].persistentVolumeClaim.claimName: Invalid value: \"p-v\": must not reference a PVC that gets \
                   created for an ephemeral volume";
    let pod = |name: &str| json!({"metadata": {"name": name}, "spec": spec});
    refused("Pod", &pod("p"), None, &[created]);
    refused("Pod", &pod("q"), None, &[]);
    let long = "a".repeat(252);
    let fault = format!(
        "spec.volumes[0].name: Invalid value: \"v\": PVC name \"{long}-v\": must be no more than 253 characters"
    );
    refused("Pod", &pod(&long), None, &[&fault]);
}

#[test]
fn annotations_and_swap_of_a_node_are_checked() {
    const PLACE: &str = "metadata.annotations.scheduler.alpha.kubernetes.io";
    const AVOIDED: &str = "scheduler.alpha.kubernetes.io/preferAvoidPods";
    const TAINTS: &str = "scheduler.alpha.kubernetes.io/taints";
    let node = |avoided: &str, taints: &str| json!({"metadata": {"name": "n", "annotations": {AVOIDED: avoided, TAINTS: taints}}});
    let controller = r#"{"apiVersion": "v1", "kind": "K", "name": "n", "uid": "u", "controller": true}"#;
    let entry = format!(r#"{{"preferAvoidPods": [{{"podSignature": {{"podController": {controller}}}}}]}}"#);
    refused("Node", &node(&entry, "[]"), None, &[]);
    refused("Node", &node("", "null"), None, &[]);
    let other = entry.replace("true", "false").replace('[', r#"[{"podSignature": {}}, "#);
    let faulty = node(&other, r#"[{"key": "a", "effect": "x"}]"#);
    let wanted = [
        format!(
            "{PLACE}/taints[0].effect: Unsupported value: \"x\": supported values: \"NoSchedule\", \"PreferNoSchedule\", \
             \"NoExecute\""
        ),
        format!("{PLACE}/preferAvoidPods[0].PodSignature: Required value"),
        format!(
            "{PLACE}/preferAvoidPods[1].PodSignature.PodController.Controller: Invalid value: false: must point to a \
             controller"
        ),
    ];
    refused("Node", &faulty, None, &wanted.each_ref().map(String::as_str));
    let unreadable =
        |fault: &str| format!("metadata.annotations.AvoidPods: Invalid value: \"{AVOIDED}\": {fault}");
    let taints = format!(
        "metadata.annotations: Invalid value: \"{TAINTS}\": json: cannot unmarshal object into Go value of type []core.Taint"
    );
    refused("Node", &node("{", "{}"), None, &[&taints, &unreadable("unexpected end of JSON input")]);
    let of_number = "json: cannot unmarshal number into Go struct field AvoidPods.preferAvoidPods of type []v1.PreferAvoidPodsEntry";
    refused("Node", &node(r#"{"preferAvoidPods": 7}"#, ""), None, &[&unreadable(of_number)]);
    let swap = json!({"metadata": {"name": "n"}, "status": {"nodeInfo": {"swap": {"capacity": -1}}}});
    let fault = "metadata.nodeSwapStatus.capacity: Invalid value: -1: must be greater than zero";
    refused("Node", &swap, None, &[fault]);
}
