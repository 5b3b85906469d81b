//! Causes of refused objects, as kube-apiserver 1.36.2 lists them.

mod amounts;
mod claims;
mod pods;

use serde_json::{Value, json};

/// Returns the causes of the kind's check, each with its field.
fn causes(kind: &str, object: &Value, old: Option<&Value>) -> Vec<String> {
    let kind = crate::builtin::all().find(|one| one.kind == kind).unwrap();
    (kind.check)(object, old).iter().map(|cause| format!("{}: {}", cause.field, cause.message)).collect()
}

#[track_caller]
fn refused(kind: &str, object: &Value, old: Option<&Value>, wanted: &[&str]) {
    assert_eq!(causes(kind, object, old), wanted);
}

/// Returns the causes of the kind's check of a status that replaces another.
fn causes_of_status(kind: &str, object: &Value, old: &Value) -> Vec<String> {
    let kind = crate::builtin::all().find(|one| one.kind == kind).unwrap();
    let found = (kind.check_status)(object, old);
    found.iter().map(|cause| format!("{}: {}", cause.field, cause.message)).collect()
}

/// A valid spec of a pod.
fn pod_spec() -> Value {
    let container =
        json!({"name": "c", "image": "i", "terminationMessagePolicy": "File", "imagePullPolicy": "Always"});
    json!({"restartPolicy": "Always", "dnsPolicy": "Default", "containers": [container]})
}

#[test]
fn ranges_of_a_network_policy_are_checked_one_by_one_and_kept_on_update() {
    let policy = |cidr: &str, except: &str| {
        let block = json!({"cidr": cidr, "except": [except, "10.0.0.0/8"]});
        json!({"spec": {"podSelector": {}, "ingress": [{"from": [{"ipBlock": block}]}]}})
    };
    let place = "spec.ingress[0].from[0].ipBlock";
    let bad = policy("10.0.0.1/8", "10.1.0.0/016");
    refused(
        "NetworkPolicy",
        &bad,
        None,
        &[
            &format!(
                "{place}.cidr: Invalid value: \"10.0.0.1/8\": must not have bits set beyond the prefix length"
            ),
            &format!(
                "{place}.except[0]: Invalid value: \"10.1.0.0/016\": must not have leading 0s in IP or prefix length"
            ),
            &format!("{place}.except[1]: Invalid value: \"10.0.0.0/8\": must be a strict subset of `cidr`"),
        ],
    );
    let found = causes("NetworkPolicy", &bad, Some(&bad));
    assert_eq!(found.len(), 1, "{found:?}");
}

#[test]
fn secret_and_class_of_an_ingress_are_checked() {
    let backend = json!({"service": {"name": "s", "port": {"number": 80}}});
    let spec = json!({"defaultBackend": backend, "ingressClassName": "x", "tls": [{"secretName": "A"}]});
    let ingress = json!({"metadata": {"annotations": {"kubernetes.io/ingress.class": "y"}}, "spec": spec});
    let found = causes("Ingress", &ingress, None);
    assert!(
        found[0].starts_with("spec.tls[0].secretName: Invalid value: \"A\": a lowercase RFC 1123 subdomain")
    );
    assert_eq!(
        found[1],
        "annotations.kubernetes.io/ingress.class: Invalid value: \"y\": must match `ingressClassName` when both are specified"
    );
}

#[test]
fn autoscaler_without_replicas_needs_a_metric_of_an_object() {
    let target = json!({"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"});
    let scaler = json!({"spec": {"scaleTargetRef": target, "minReplicas": 0, "maxReplicas": 1}});
    let metric = "spec.metrics: Forbidden: must specify at least one Object or External metric to support scaling to zero \
                  replicas";
    let least = "spec.minReplicas: Invalid value: 0: must be greater than or equal to 1";
    refused("HorizontalPodAutoscaler", &scaler, None, &[least, metric]);
    assert_eq!(causes("HorizontalPodAutoscaler", &scaler, Some(&scaler)), [metric]);
}

#[test]
fn stateful_set_without_a_selector_matches_no_template() {
    let set = json!({"spec": {"podManagementPolicy": "Parallel", "updateStrategy": {"type": "OnDelete"},
        "template": {"metadata": {"labels": {"a": "b"}}, "spec": pod_spec()}}});
    let labels = "spec.template.metadata.labels: Invalid value: {\"a\":\"b\"}: `selector` does not match template `labels`";
    refused("StatefulSet", &set, None, &["spec.selector: Required value", labels]);
}

#[test]
fn addresses_of_a_service_are_strict_unless_the_old_one_has_them() {
    let service = |port: i64| {
        let spec = json!({"type": "LoadBalancer", "sessionAffinity": "None", "externalTrafficPolicy": "Local",
            "internalTrafficPolicy": "Cluster", "ports": [{"port": 80, "protocol": "TCP", "targetPort": 80}],
            "externalIPs": ["010.1.1.1"], "loadBalancerSourceRanges": ["10.0.0.1/8 "], "healthCheckNodePort": port});
        let modes = json!({"service.kubernetes.io/topology-mode": "a", "service.kubernetes.io/topology-aware-hints": "b"});
        json!({"metadata": {"annotations": modes}, "spec": spec})
    };
    let modes = "metadata.annotations[service.kubernetes.io/topology-mode]: Invalid value: \"a\": must match \
                 annotations[service.kubernetes.io/topology-aware-hints] when both are specified";
    refused(
        "Service",
        &service(32_000),
        None,
        &[
            modes,
            "spec.externalIPs[0]: Invalid value: \"010.1.1.1\": must not have leading 0s",
            "spec.LoadBalancerSourceRanges[0]: Invalid value: \"10.0.0.1/8\": must not have bits set beyond the prefix length",
        ],
    );
    assert_eq!(causes("Service", &service(32_000), Some(&service(32_000))), [modes]);
    let health = "spec.healthCheckNodePort: Forbidden: field is immutable";
    refused("Service", &service(32_001), Some(&service(32_000)), &[health, modes]);
    let annotation = "service.beta.kubernetes.io/load-balancer-source-ranges";
    let mut annotated = service(32_000);
    annotated["metadata"]["annotations"] = json!({annotation: "10.0.0.0/8,x"});
    crate::meta::object_mut(&mut annotated["spec"]).remove("loadBalancerSourceRanges");
    let detail = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";
    let fault = format!("metadata.annotations[{annotation}]: Invalid value: \"x\": {detail}");
    crate::meta::object_mut(&mut annotated["spec"]).remove("externalIPs");
    refused("Service", &annotated, None, &[&fault]);
}

#[test]
fn endpoints_are_accepted_as_they_were() {
    let subsets = json!([{"addresses": [{"ip": "010.1.1.1"}]}]);
    let endpoints = json!({"subsets": subsets});
    let fault = "subsets[0].addresses[0].ip: Invalid value: \"010.1.1.1\": must not have leading 0s";
    refused("Endpoints", &endpoints, None, &[fault]);
    refused("Endpoints", &endpoints, Some(&endpoints), &[]);
}

#[test]
fn addresses_of_a_slice_have_the_form_of_their_type() {
    let slice = |kind: &str, address: &str| {
        let hints = json!({"forNodes": [{"name": "n"}, {"name": "n"}]});
        json!({"addressType": kind, "endpoints": [{"addresses": [address], "hints": hints}]})
    };
    let twice = "endpoints[0].hints.forNodes[1].name: Duplicate value: \"n\"";
    let canonical = "endpoints[0].addresses[0]: Invalid value: \"2001:DB8::1\": must be in canonical form (\"2001:db8::1\")";
    refused("EndpointSlice", &slice("IPv6", "2001:DB8::1"), None, &[canonical, twice]);
    let family = "endpoints[0].addresses: Invalid value: \"2001:db8::1\": must be an IPv4 address";
    refused("EndpointSlice", &slice("IPv4", "2001:db8::1"), None, &[family, twice]);
    let segments = "endpoints[0].addresses[0]: Invalid value: \"a\": should be a domain with at least two segments separated \
                    by dots";
    refused("EndpointSlice", &slice("FQDN", "a"), None, &[segments, twice]);
    refused("EndpointSlice", &slice("FQDN", ""), None, &["endpoints[0].addresses[0]: Required value", twice]);
    let mut nameless = slice("FQDN", "a.b.");
    nameless["endpoints"][0]["nodeName"] = json!("");
    let found = causes("EndpointSlice", &nameless, None);
    assert!(found[0].starts_with("endpoints[0].nodeName: Invalid value: \"\""), "{found:?}");
    let old = slice("FQDN", "a");
    refused("EndpointSlice", &old, Some(&old), &[]);
    let ports = json!({"addressType": "IPv4", "ports": [{"name": "", "protocol": ""}]});
    let protocol = "ports[0].protocol: Unsupported value: \"\": supported values: \"SCTP\", \"TCP\", \"UDP\"";
    refused("EndpointSlice", &ports, None, &[protocol]);
}

#[test]
fn addresses_of_a_pod_are_strict_and_one_of_each_family() {
    let status = |ips: &[&str]| {
        let ips: Vec<Value> = ips.iter().map(|ip| json!({"ip": ip})).collect();
        json!({"status": {"podIPs": ips, "hostIPs": [{"ip": "10.1.1.1"}]}})
    };
    let found: Vec<String> = super::pod_status(&status(&["10.1.1.1", "010.1.1.2"]), &json!({}))
        .iter()
        .map(|cause| format!("{}: {}", cause.field, cause.message))
        .collect();
    assert_eq!(
        found,
        [
            "status.podIPs[1]: Invalid value: \"010.1.1.2\": must not have leading 0s",
            "status.podIPs: Invalid value: [{\"IP\":\"10.1.1.1\"},{\"IP\":\"010.1.1.2\"}]: may specify no more than one IP for \
             each IP family",
            "status.hostIPs[0].ip: Invalid value: \"10.1.1.1\": must be equal to `hostIP`",
        ]
    );
    let found = super::pod_status(&status(&["10.1.1.1", "x"]), &status(&["x"]));
    assert_eq!(
        found[0].message,
        "Internal error: failed to check for dual stack with error:invalid IP[1]: x"
    );
    assert!(found[1].message.ends_with("may specify no more than one IP for each IP family"));
}

/// Each object has an error that kube-apiserver refuses in new objects and tolerates in stored ones.
#[test]
fn stored_object_with_a_tolerated_fault_is_updated() {
    let spec = pod_spec();
    let costly = json!({"controller.kubernetes.io/pod-deletion-cost": "+1"});
    let mut init = spec.clone();
    init["initContainers"] = spec["containers"].clone();
    init["initContainers"][0]["name"] = json!("i");
    init["initContainers"][0]["resizePolicy"] =
        json!([{"resourceName": "cpu", "restartPolicy": "RestartContainer"}]);
    let labelled = |spec: &Value| json!({"metadata": {"labels": {"a": "b"}}, "spec": spec});
    let controller = |spec: &Value, mut more: Value| {
        let mut object =
            json!({"spec": {"selector": {"matchLabels": {"a": "b"}}, "template": labelled(spec)}});
        crate::meta::object_mut(&mut object["spec"]).append(crate::meta::object_mut(&mut more));
        object
    };
    let rolling = json!({"strategy": {"type": "Recreate"}});
    let stateful = json!({"podManagementPolicy": "Parallel", "updateStrategy": {"type": "OnDelete"}});
    let mut bad = spec.clone();
    bad["containers"][0]["image"] = json!("");
    let service = json!({"service": {"name": "s", "port": {"number": 80}}});
    let wildcard = json!([{"host": "*.a.b", "http": {"paths": []}}]);
    for (kind, object) in [
        ("Pod", json!({"metadata": {"annotations": costly}, "spec": spec})),
        ("Pod", json!({"spec": init})),
        ("Deployment", controller(&init, rolling)),
        ("PodTemplate", json!({"template": labelled(&init)})),
        ("StatefulSet", controller(&bad, stateful)),
        ("Ingress", json!({"spec": {"defaultBackend": service, "tls": [{"secretName": "A"}]}})),
        ("Ingress", json!({"spec": {"defaultBackend": service, "rules": wildcard}})),
    ] {
        let found = causes(kind, &object, None);
        assert_eq!(found.len(), 1, "{kind}: {found:?}");
        refused(kind, &object, Some(&object), &[]);
    }
}

#[test]
fn ranges_of_a_node_that_cannot_be_read_are_an_internal_error() {
    let node = json!({"spec": {"podCIDRs": ["10.1.0.0/16", "x"]}});
    let error = "spec.podCIDRs: Internal error: invalid PodCIDRs. failed to check with dual stack with error:invalid CIDR[1]: \
                 <nil> (invalid CIDR address: x)";
    let range = "spec.podCIDRs[1]: Invalid value: \"x\": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";
    let families = "spec.podCIDRs: Invalid value: [\"10.1.0.0/16\",\"x\"]: may specify no more than one CIDR for each IP family";
    refused("Node", &node, None, &[range, error, families]);
}

#[test]
fn node_affinity_of_a_volume_stays_as_it_is() {
    let volume = |key: &str| {
        let terms = json!([{"matchExpressions": [{"key": key, "operator": "Exists"}]}]);
        json!({"spec": {"accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"}, "flocker": {},
            "nodeAffinity": {"required": {"nodeSelectorTerms": terms}}}})
    };
    let source = "spec.flocker: Required value: one of datasetName and datasetUUID is required";
    let shown = "{\"Required\":{\"NodeSelectorTerms\":[{\"MatchExpressions\":[{\"Key\":\"b\",\"Operator\":\"Exists\",\
                 \"Values\":null}],\"MatchFields\":null}]}}";
    let fixed = format!(
        "nodeAffinity: Invalid value: {shown}: field is immutable, except for updating from beta label to GA"
    );
    // An update checks the volume twice.
    refused("PersistentVolume", &volume("b"), Some(&volume("a")), &[source, source, &fixed]);
    let found =
        causes("PersistentVolume", &volume("kubernetes.io/os"), Some(&volume("beta.kubernetes.io/os")));
    assert!(!found.iter().any(|cause| cause.starts_with("nodeAffinity")), "{found:?}");
}

#[test]
fn volumes_and_amounts_of_a_template_are_checked() {
    let disk = json!({"name": "d", "azureDisk": {"diskName": "n", "diskURI": "x", "kind": "Managed"}});
    let claim = json!({"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}});
    let template = json!({"metadata": {"name": "n"}, "spec": claim});
    let ephemeral = json!({"name": "e", "ephemeral": {"volumeClaimTemplate": template}});
    let mut pods = pod_spec();
    pods["containers"][0]["livenessProbe"] =
        json!({"httpGet": {"path": "/", "port": 1, "httpHeaders": [{"name": "*"}]}, "successThreshold": 1});
    pods["volumes"] = json!([disk, ephemeral]);
    pods["overhead"] = json!({"hugepages-2Mi": "2Mi"});
    pods["tolerations"] = json!([{"key": "k", "operator": "Lt"}]);
    refused(
        "PodTemplate",
        &json!({"template": {"spec": pods}}),
        None,
        &[
            "template.spec.volumes[0].azureDisk.diskURI: Unsupported value: \"x\": supported values: \
             \"/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}\"",
            "template.spec.volumes[1].ephemeral.volumeClaimTemplate.metadata.name: Forbidden: cannot be set",
            "template.spec.containers[0].livenessProbe.httpGet.httpHeaders: Invalid value: \"*\": a valid HTTP header must \
             consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')",
            "template.spec.tolerations[0].operator: Unsupported value: \"Lt\": supported values: \"Equal\", \"Exists\", \"Lt\", \
             \"Gt\"",
            "template.spec.overhead: Forbidden: HugePages require cpu or memory",
        ],
    );
}

#[test]
fn empty_topologies_of_a_class_repeat_each_other() {
    let class = json!({"provisioner": "p", "allowedTopologies": [{}, {}]});
    let found = causes("StorageClass", &class, None);
    let duplicates =
        found.iter().filter(|cause| cause.contains("matchLabelExpressions: Duplicate value: \"\"")).count();
    assert_eq!(duplicates, 5, "{found:?}");
}

#[test]
fn spec_of_a_job_is_checked_twice_on_update() {
    let pods = json!({"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]});
    let spec = json!({"manualSelector": true, "selector": {"matchLabels": {"a": "b"}}, "managedBy": "x",
        "template": {"metadata": {"labels": {"a": "b"}}, "spec": pods}});
    let job = json!({"metadata": {"name": "j"}, "spec": spec});
    let count =
        |old| causes("Job", &job, old).iter().filter(|cause| cause.starts_with("spec.managedBy")).count();
    assert_eq!((count(None), count(Some(&job))), (1, 2));
}

#[test]
fn new_namespace_has_the_finalizer_of_kubernetes() {
    let mut namespace = json!({"spec": {"finalizers": ["a.b/c"]}});
    crate::builtin::defaults::hold_namespace(&mut namespace);
    assert_eq!(namespace["spec"]["finalizers"], json!(["a.b/c", "kubernetes"]));
}

/// Returns the causes of a pod whose container has these members.
fn of_container(more: Value) -> Vec<String> {
    let mut spec = pod_spec();
    crate::meta::object_mut(&mut spec["containers"][0]).extend(more.as_object().cloned().unwrap_or_default());
    spec["volumes"] = json!([{"name": "v", "emptyDir": {}}]);
    causes("Pod", &json!({"metadata": {}, "spec": spec}), None)
}

#[test]
fn mount_is_recursively_read_only_when_it_is_read_only_and_private() {
    let mount = |mut mount: Value| {
        mount["name"] = "v".into();
        mount["mountPath"] = "/a".into();
        of_container(json!({"volumeMounts": [mount]}))
    };
    let place = "spec.containers[0].volumeMounts.recursiveReadOnly";
    let writable = format!("{place}: Forbidden: may only be specified when readOnly is true");
    let shared =
        format!("{place}: Forbidden: may only be specified when mountPropagation is None or not specified");
    assert_eq!(mount(json!({"recursiveReadOnly": "Enabled"})), [writable]);
    let with = |propagation: &str| json!({"recursiveReadOnly": "IfPossible", "readOnly": true, "mountPropagation": propagation});
    assert_eq!(mount(with("HostToContainer")), [shared]);
    assert!(mount(with("None")).is_empty());
    assert!(mount(json!({"recursiveReadOnly": "Disabled"})).is_empty());
    let supported = "supported values: \"Disabled\", \"Enabled\", \"IfPossible\"";
    assert_eq!(
        mount(json!({"recursiveReadOnly": ""})),
        [format!("{place}: Unsupported value: \"\": {supported}")]
    );
}

#[test]
fn mount_propagates_to_the_host_only_from_a_privileged_container() {
    let mounts =
        |propagation: &str| json!([{"name": "v", "mountPath": "/a", "mountPropagation": propagation}]);
    let detail = "Bidirectional mount propagation is available only to privileged containers";
    let place = "spec.containers[0].volumeMounts.mountPropagation";
    let both = mounts("Bidirectional");
    assert_eq!(of_container(json!({"volumeMounts": both})), [format!("{place}: Forbidden: {detail}")]);
    let privileged = json!({"privileged": true});
    assert!(of_container(json!({"volumeMounts": both, "securityContext": privileged})).is_empty());
    let supported = "supported values: \"Bidirectional\", \"HostToContainer\", \"None\"";
    let empty = of_container(json!({"volumeMounts": mounts("")}));
    assert_eq!(empty, [format!("{place}: Unsupported value: \"\": {supported}")]);
}

#[test]
fn empty_names_and_pull_policies_of_a_pod_are_refused() {
    let with = |member: &str, value: Value| {
        let mut spec = pod_spec();
        spec[member] = value;
        causes("Pod", &json!({"metadata": {}, "spec": spec}), None)
    };
    let starts = |found: Vec<String>, text: &str| {
        assert!(found.len() == 1 && found[0].starts_with(text), "{found:?}");
    };
    starts(with("runtimeClassName", json!("")), "spec.runtimeClassName: Invalid value: \"\"");
    for name in ["resourceClaimName", "resourceClaimTemplateName"] {
        let claims = json!([{"name": "a", name: ""}]);
        starts(
            with("resourceClaims", claims),
            &format!("spec.resourceClaims[0].{name}: Invalid value: \"\""),
        );
    }
    let volumes = json!([{"name": "v", "image": {"reference": "r", "pullPolicy": "x"}}]);
    starts(with("volumes", volumes), "spec.volumes[0].image.pullPolicy: Unsupported value: \"x\"");
    let portal = "p".repeat(64);
    let iscsi = json!({"targetPortal": portal, "iqn": "iqn.2001-04.a:b", "initiatorName": "iqn.2001-04.a:b"});
    let volumes = json!([{"name": "v", "iscsi": iscsi}]);
    starts(with("volumes", volumes), "spec.volumes[0].name: Invalid value: \"v\": Total length");
}

#[test]
fn class_of_a_claim_moves_once_from_its_annotation_to_its_field() {
    const CLASS: &str = "volume.beta.kubernetes.io/storage-class";
    let claim = |annotation: Option<&str>, class: Option<&str>| {
        let spec = json!({"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1"}},
            "storageClassName": class});
        let annotations = annotation.map(|text| json!({CLASS: text}));
        json!({"metadata": {"annotations": annotations}, "spec": spec})
    };
    let fixed =
        |given: &str| format!("metadata.annotations.{CLASS}: Invalid value: \"{given}\": field is immutable");
    let frozen = "spec: Forbidden: spec is immutable after creation except resources.requests and \
                  volumeAttributesClassName for bound claims";
    let old = claim(Some("a"), None);
    let changed = |annotation: Option<&str>, class: Option<&str>| {
        causes("PersistentVolumeClaim", &claim(annotation, class), Some(&old))
    };
    assert_eq!(changed(Some("b"), None), [fixed("b")]);
    assert_eq!(changed(None, None), [fixed("")]);
    assert_eq!(changed(Some("b"), Some("a")), [fixed("b")]);
    assert_eq!(changed(Some("a"), Some("b")), [frozen]);
    assert_eq!(changed(Some("b"), Some("b")), [&fixed("b"), frozen]);
    assert!(changed(None, Some("a")).is_empty() && changed(Some("a"), Some("a")).is_empty());
    let without = claim(None, None);
    assert!(causes("PersistentVolumeClaim", &claim(None, Some("b")), Some(&without)).is_empty());
}

#[test]
fn changed_template_of_a_claim_is_checked_as_a_new_one() {
    let template = |name: &str| {
        let exactly = json!({"deviceClassName": "c", "allocationMode": "ExactCount", "count": 1});
        json!({"spec": {"spec": {"devices": {"requests": [{"name": name, "exactly": exactly}]}}}})
    };
    let found = causes("ResourceClaimTemplate", &template("R"), Some(&template("r")));
    assert!(found[0].starts_with("spec.spec.devices.requests[0].name: Invalid value: \"R\""), "{found:?}");
    assert!(found[1].starts_with("spec: Invalid value: ") && found[1].ends_with("field is immutable"));
}

#[test]
fn expression_about_a_device_is_typed() {
    let faults = |text: &str| {
        let class = json!({"spec": {"selectors": [{"cel": {"expression": text}}]}});
        causes("DeviceClass", &class, None).join("")
    };
    for fine in [
        "device.driver == \"x\" && device.allowMultipleAllocations",
        "device.attributes[\"d\"].a > 1 || device.attributes[\"d\"].b",
        "device.capacity[\"d\"].m.compareTo(quantity(\"1Gi\")) >= 0",
    ] {
        assert_eq!(faults(fine), "", "{fine}");
    }
    for (text, fault) in [
        ("device", "must evaluate to bool or the unknown type, not kubernetes.DRADevice"),
        ("device.foo", "undefined field 'foo'"),
        ("device.driver + 1 == 2", "found no matching overload for '_+_' applied to '(string, int)'"),
        ("device.capacity[\"d\"].m > 1", "found no matching overload for '_>_'"),
        ("device.attributes.foo", "must evaluate to bool or the unknown type, not map(string, "),
    ] {
        assert!(faults(text).contains(fault), "{text}: {}", faults(text));
    }
}

#[test]
fn ephemeral_container_sets_no_field_of_a_service_even_empty() {
    let container = json!({"name": "e", "image": "i", "terminationMessagePolicy": "File", "imagePullPolicy": "Always",
        "lifecycle": {}, "resources": {}});
    let mut spec = pod_spec();
    spec["ephemeralContainers"] = json!([container]);
    let lifecycle =
        "spec.ephemeralContainers[0].lifecycle: Forbidden: cannot be set for an Ephemeral Container";
    let create = "spec.ephemeralContainers: Forbidden: cannot be set on create";
    refused("Pod", &json!({"metadata": {}, "spec": spec}), None, &[lifecycle, create]);
}

#[test]
fn reference_to_a_key_of_a_file_is_whole() {
    let found =
        of_container(json!({"env": [{"name": "A", "valueFrom": {"fileKeyRef": {"volumeName": "v"}}}]}));
    let place = "spec.containers[0].env[0].valueFrom.fileKeyRef";
    assert_eq!(found, [format!("{place}.key: Required value"), format!("{place}.path: Required value")]);
}

#[test]
fn empty_choices_of_a_pod_are_no_choices() {
    let found = of_container(json!({"securityContext": {"procMount": ""}}));
    let supported = "supported values: \"Default\", \"Unmasked\"";
    assert_eq!(
        found,
        [format!("spec.containers[0].securityContext.procMount: Unsupported value: \"\": {supported}")]
    );
    let mut spec = pod_spec();
    spec["topologySpreadConstraints"] =
        json!([{"maxSkew": 1, "topologyKey": "k", "whenUnsatisfiable": "", "minDomains": 2}]);
    let found = causes("Pod", &json!({"metadata": {}, "spec": spec}), None);
    let domains = "can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ";
    assert!(
        found.contains(&format!("spec.topologySpreadConstraints[0].minDomains: Invalid value: 2: {domains}")),
        "{found:?}"
    );
}
