//! Causes of refused amounts, sources of volumes and metadata of templates.

use serde_json::{Value, json};

use super::{causes, causes_of_status, of_container, pod_spec, refused};

/// Returns the causes of the kind's check of a written status.
fn of_status(kind: &str, status: Value) -> Vec<String> {
    causes_of_status(kind, &json!({"status": status}), &json!({}))
}

#[test]
fn class_with_a_name_of_the_system_is_the_systems_own() {
    let class = |value: i64, default: bool| {
        let name = "system-node-critical";
        json!({"metadata": {"name": name}, "value": value, "globalDefault": default})
    };
    let text = "metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for system use only. error: ";
    for (class, fault) in [
        (class(1, false), "value of system-node-critical PriorityClass must be 2000001000"),
        (class(2_000_001_000, true), "globalDefault of system-node-critical PriorityClass must be false"),
        (json!({"metadata": {"name": "system-x"}}), "system-x is not a known system priority class"),
    ] {
        refused("PriorityClass", &class, None, &[&format!("{text}{fault}")]);
    }
    refused("PriorityClass", &class(2_000_001_000, false), None, &[]);
}

#[test]
fn amounts_and_names_of_a_written_status_are_checked() {
    let negative = "must be greater than or equal to 0";
    let standard = "must be a standard resource type or fully qualified";
    for (kind, status, wanted) in [
        (
            "Node",
            json!({"capacity": {"cpu": "-1"}, "allocatable": {"nvidia.com/gpu": "1.5"}}),
            vec![
                format!("status.capacity.cpu: Invalid value: \"-1\": {negative}"),
                "status.allocatable.nvidia.com/gpu: Invalid value: \"1.5\": must be an integer".to_owned(),
            ],
        ),
        (
            "Node",
            json!({"addresses": [{"type": "a", "address": "b"}, {"type": "a", "address": "b"}]}),
            vec!["status.addresses[1]: Duplicate value: {\"Type\":\"a\",\"Address\":\"b\"}".to_owned()],
        ),
        (
            "Node",
            json!({"declaredFeatures": ["B/c", "A"]}),
            vec![
                "status.declaredFeatures[1]: Invalid value: \"A\": list must be sorted alphabetically"
                    .to_owned(),
            ],
        ),
        (
            "PersistentVolumeClaim",
            json!({"capacity": {"storage": "-1"}, "allocatedResources": {"cpu": "1", "storage": "-500m"},
                "allocatedResourceStatuses": {"storage": "Nope"}}),
            vec![
                "status.capacity[storage]: Invalid value: -1: must be a valid resource quantity".to_owned(),
                "status.allocatedResourceStatuses: Unsupported value: \"storage\": supported values: \
                 \"ControllerResizeInProgress\", \"ControllerResizeInfeasible\", \"NodeResizeInProgress\", \
                 \"NodeResizeInfeasible\", \"NodeResizePending\""
                    .to_owned(),
                "status.allocatedResources: Unsupported value: \"cpu\": supported values: \"storage\""
                    .to_owned(),
                format!("status.allocatedResources[storage]: Invalid value: \"-500m\": {negative}"),
            ],
        ),
        (
            "ResourceQuota",
            json!({"hard": {"a": "1"}, "used": {"pods": "-1"}}),
            vec![
                format!("status.hard[a]: Invalid value: \"a\": {standard}"),
                "status.hard[a]: Invalid value: \"a\": must be a standard resource for quota".to_owned(),
                format!("status.used[pods]: Invalid value: \"-1\": {negative}"),
            ],
        ),
        (
            "HorizontalPodAutoscaler",
            json!({"currentReplicas": -1, "desiredReplicas": 1}),
            vec![format!("status.currentReplicas: Invalid value: -1: {negative}")],
        ),
    ] {
        assert_eq!(of_status(kind, status), wanted, "{kind}");
    }
    let features = of_status("Node", json!({"declaredFeatures": ["a"]}));
    assert!(
        features[0].starts_with(
            "status.declaredFeatures[0]: Invalid value: \"a\": invalid feature name \"a\": must"
        )
    );
}

#[test]
fn sources_of_a_volume_are_checked() {
    let faults = |source: &str, value: Value| {
        let spec = json!({"accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"}, source: value});
        causes("PersistentVolume", &json!({"spec": spec}), None)
    };
    let either = "must specify either targetWWNs or wwids, but not both";
    let pair = "must be a host:port pair or multiple pairs separated by commas";
    for (source, value, wanted) in [
        ("fc", json!({}), format!("spec.fc.targetWWNs: Required value: {either}")),
        (
            "fc",
            json!({"targetWWNs": ["a"], "wwids": ["b"], "lun": 1}),
            "spec.fc.targetWWNs: Invalid value: [\"a\"]: targetWWNs and wwids can not be specified simultaneously".to_owned(),
        ),
        (
            "fc",
            json!({"targetWWNs": ["a"], "lun": 256}),
            "spec.fc.lun: Invalid value: 256: must be between 0 and 255, inclusive".to_owned(),
        ),
        ("quobyte", json!({"registry": "a", "volume": "v"}), format!("spec.quobyte.registry: Invalid value: \"a\": {pair}")),
        (
            "glusterfs",
            json!({"endpoints": "e", "path": "p", "endpointsNamespace": ""}),
            "spec.glusterfs.endpointsNamespace: Invalid value: \"\": if the endpointnamespace is set, it must be a valid \
             namespace name"
                .to_owned(),
        ),
        (
            "azureFile",
            json!({"secretName": "s", "shareName": "h", "secretNamespace": ""}),
            "spec.azureFile.secretNamespace: Required value".to_owned(),
        ),
        (
            "flexVolume",
            json!({"driver": "d", "options": {"A.Kubernetes.io/b": "c"}}),
            "spec.flexVolume.options[A.Kubernetes.io/b]: Invalid value: \"A.Kubernetes.io/b\": kubernetes.io and k8s.io \
             namespaces are reserved"
                .to_owned(),
        ),
        (
            "cinder",
            json!({"volumeID": "v", "secretRef": {"name": "n"}}),
            "spec.cinder.secretRef.namespace: Required value".to_owned(),
        ),
        (
            "storageos",
            json!({"volumeName": "v", "secretRef": {"namespace": "n"}}),
            "spec.storageos.secretRef.name: Required value".to_owned(),
        ),
    ] {
        assert_eq!(faults(source, value), [wanted]);
    }
    for fine in ["a:1", "[::1]:2,b:", "a:1,b:2"] {
        assert!(faults("quobyte", json!({"registry": fine, "volume": "v"})).is_empty(), "{fine}");
    }
    let name = faults("storageos", json!({"volumeName": "A", "volumeNamespace": "B"}));
    assert!(name[0].starts_with("spec.storageos.volumeName: Invalid value: \"A\""), "{name:?}");
    assert!(name[1].starts_with("spec.storageos.volumeNamespace: Invalid value: \"B\""), "{name:?}");
}

#[test]
fn resources_of_a_pod_cover_those_of_its_containers() {
    let faults = |resources: Value, container: Value| {
        let mut spec = pod_spec();
        spec["resources"] = resources;
        spec["containers"][0]["resources"] = container;
        causes("Pod", &json!({"metadata": {}, "spec": spec}), None)
    };
    let two = json!({"cpu": "2"});
    let one = json!({"cpu": "1"});
    let sum = "must be greater than or equal to aggregate container requests of 2";
    assert_eq!(
        faults(json!({"requests": one}), json!({"requests": two})),
        [format!("spec.resources.requests[cpu]: Invalid value: \"1\": {sum}")]
    );
    assert_eq!(
        faults(json!({"limits": one}), json!({"limits": two})),
        [
            "spec.resources.containers[0][cpu].limits: Invalid value: \"2\": must be less than or equal to pod limits of 1"
        ]
    );
    assert!(
        faults(json!({"limits": two, "requests": two}), json!({"requests": one, "limits": two})).is_empty()
    );
    let huge = |amount: &str| json!({"limits": {"hugepages-2Mi": amount, "cpu": "1"}, "requests": {"hugepages-2Mi": amount}});
    let found = faults(huge("2Mi"), huge("4Mi"));
    let sum = "must be greater than or equal to aggregate container limits of 4Mi";
    assert!(
        found.contains(&format!("spec.resources.limits[hugepages-2Mi]: Invalid value: \"2Mi\": {sum}")),
        "{found:?}"
    );
    let mut windows = pod_spec();
    windows["os"] = json!({"name": "windows"});
    windows["resources"] = json!({"limits": {"nonsense": "1"}});
    let refusal = "spec.resources: Forbidden: may not be set for a windows pod";
    refused("Pod", &json!({"metadata": {}, "spec": windows}), None, &[refusal]);
}

#[test]
fn requests_of_a_container_name_claims_of_the_pod() {
    let faults = |claim: Value| of_container(json!({"resources": {"claims": [claim]}}));
    let found = faults(json!({"name": "a", "request": "A_b"}));
    assert!(
        found[0].starts_with("spec.containers[0].resources.claims[0].request: Invalid value: \"A_b\""),
        "{found:?}"
    );
    let unknown = "Not found: \"a\": must be one of the names in pod.spec.resourceClaims which is empty";
    assert_eq!(found[1], format!("spec.containers[0].resources.claims[0]: {unknown}"));
}

#[test]
fn metadata_of_a_template_of_claims_has_only_labels_and_annotations() {
    let exactly = json!({"deviceClassName": "c", "allocationMode": "ExactCount", "count": 1});
    let spec = json!({"devices": {"requests": [{"name": "r", "exactly": exactly}]}});
    let metadata =
        json!({"finalizers": [], "uid": "u", "name": "n", "generateName": "", "labels": {"a": "b"}});
    let refusals =
        ["name", "uID", "finalizers"].map(|field| format!("spec.metadata.{field}: Forbidden: cannot be set"));
    let template = json!({"spec": {"metadata": metadata, "spec": spec}});
    refused("ResourceClaimTemplate", &template, None, &refusals.each_ref().map(String::as_str));
}
