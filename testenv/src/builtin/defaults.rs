//! Values that kube-apiserver fills in, taken from the defaulting functions of its API packages (1.36).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Map, Value, json};

use super::Stage;
use crate::meta::map_at;

/// Sets `object[key]` when it is absent or null.
fn fill(object: &mut Value, key: &str, value: impl Into<Value>) {
    let Value::Object(map) = object else { return };
    if map.get(key).is_none_or(Value::is_null) {
        map.insert(key.to_owned(), value.into());
    }
}

/// Runs `f` on every element of the list `object[key]`.
fn each(object: &mut Value, key: &str, f: impl Fn(&mut Value)) {
    for item in object.get_mut(key).and_then(Value::as_array_mut).into_iter().flatten() {
        f(item);
    }
}

pub(super) fn namespace(object: &mut Value, stage: Stage) {
    let name = crate::meta::name(object).to_owned();
    let labels = map_at(&mut object["metadata"], "labels");
    labels.insert("kubernetes.io/metadata.name".to_owned(), Value::from(name));
    map_at(object, "spec");
    if stage == Stage::Create {
        fill(&mut object["spec"], "finalizers", json!(["kubernetes"]));
    }
    map_at(object, "status");
    fill(&mut object["status"], "phase", "Active");
}

pub(super) fn pod(object: &mut Value, _: Stage) {
    map_at(object, "spec");
    pod_spec(&mut object["spec"]);
    fill(&mut object["spec"], "enableServiceLinks", true);
    map_at(object, "status");
    fill(&mut object["status"], "phase", "Pending");
    let class = quality_of_service(&object["spec"]);
    fill(&mut object["status"], "qosClass", class);
}

/// Defaults of a pod's spec, alone or in a template.
fn pod_spec(spec: &mut Value) {
    fill(spec, "restartPolicy", "Always");
    fill(spec, "terminationGracePeriodSeconds", 30);
    fill(spec, "dnsPolicy", "ClusterFirst");
    fill(spec, "securityContext", json!({}));
    fill(spec, "schedulerName", "default-scheduler");
    mirror(spec, "serviceAccountName", "serviceAccount");
    for list in ["containers", "initContainers"] {
        each(spec, list, container);
    }
    each(spec, "volumes", volume);
}

/// The deprecated field carries the same value.
fn mirror(spec: &mut Value, from: &str, to: &str) {
    match (spec[from].as_str().map(str::to_owned), spec[to].as_str().map(str::to_owned)) {
        (Some(value), _) => spec[to] = Value::from(value),
        (None, Some(value)) => spec[from] = Value::from(value),
        (None, None) => {}
    }
}

fn container(container: &mut Value) {
    fill(container, "resources", json!({}));
    fill(container, "terminationMessagePath", "/dev/termination-log");
    fill(container, "terminationMessagePolicy", "File");
    let image = container["image"].as_str().unwrap_or_default();
    let policy = if is_latest(image) { "Always" } else { "IfNotPresent" };
    fill(container, "imagePullPolicy", policy);
    each(container, "env", |env| {
        if let Some(field) = env.get_mut("valueFrom").and_then(|v| v.get_mut("fieldRef")) {
            fill(field, "apiVersion", "v1");
        }
    });
    for probe in ["livenessProbe", "readinessProbe", "startupProbe"] {
        if let Some(probe) = container.get_mut(probe).filter(|p| p.is_object()) {
            fill(probe, "timeoutSeconds", 1);
            fill(probe, "periodSeconds", 10);
            fill(probe, "successThreshold", 1);
            fill(probe, "failureThreshold", 3);
            if let Some(get) = probe.get_mut("httpGet").filter(|p| p.is_object()) {
                fill(get, "path", "/");
                fill(get, "scheme", "HTTP");
            }
        }
    }
    if let (Some(limits), resources) = (container["resources"]["limits"].as_object().cloned(), "resources") {
        let requests = map_at(&mut container[resources], "requests");
        for (name, amount) in limits {
            requests.entry(name).or_insert(amount);
        }
    }
}

/// Whether an image has no tag, or the tag `latest`, and no digest.
fn is_latest(image: &str) -> bool {
    if image.contains('@') {
        return false;
    }
    let last = image.rsplit('/').next().unwrap_or_default();
    last.split_once(':').is_none_or(|(_, tag)| tag == "latest")
}

fn volume(volume: &mut Value) {
    for source in ["configMap", "secret", "projected", "downwardAPI"] {
        if let Some(source) = volume.get_mut(source).filter(|v| v.is_object()) {
            fill(source, "defaultMode", 420);
        }
    }
}

fn quality_of_service(spec: &Value) -> &'static str {
    let containers = spec["containers"].as_array().map_or(&[][..], Vec::as_slice);
    let named = |c: &Value, part: &str| c["resources"][part].as_object().cloned().unwrap_or_default();
    let empty = |m: &Map<String, Value>| !m.contains_key("cpu") && !m.contains_key("memory");
    if containers.iter().all(|c| empty(&named(c, "limits")) && empty(&named(c, "requests"))) {
        return "BestEffort";
    }
    let guaranteed = containers.iter().all(|c| {
        let (limits, requests) = (named(c, "limits"), named(c, "requests"));
        ["cpu", "memory"].iter().all(|r| limits.contains_key(*r) && limits.get(*r) == requests.get(*r))
    });
    if guaranteed { "Guaranteed" } else { "Burstable" }
}

pub(super) fn service(object: &mut Value, _: Stage) {
    map_at(object, "spec");
    let spec = &mut object["spec"];
    fill(spec, "type", "ClusterIP");
    fill(spec, "sessionAffinity", "None");
    each(spec, "ports", |port| {
        let number = port["port"].clone();
        if port["targetPort"].is_null() || port["targetPort"] == 0 || port["targetPort"] == "" {
            port["targetPort"] = number;
        }
    });
    if spec["type"] != "ExternalName" {
        fill(spec, "internalTrafficPolicy", "Cluster");
        fill(spec, "ipFamilies", json!(["IPv4"]));
        fill(spec, "ipFamilyPolicy", "SingleStack");
    }
    if spec["type"] == "NodePort" || spec["type"] == "LoadBalancer" {
        fill(spec, "externalTrafficPolicy", "Cluster");
    }
    if spec["type"] == "LoadBalancer" {
        fill(spec, "allocateLoadBalancerNodePorts", true);
    }
    map_at(object, "status");
    fill(&mut object["status"], "loadBalancer", json!({}));
}

pub(super) fn secret(object: &mut Value, _: Stage) {
    let plain = object.as_object_mut().and_then(|o| o.remove("stringData"));
    if let Some(Value::Object(plain)) = plain {
        let data = map_at(object, "data");
        for (key, value) in plain {
            let text = value.as_str().unwrap_or_default();
            data.insert(key, Value::from(BASE64.encode(text)));
        }
    }
    fill(object, "type", "Opaque");
}

pub(super) fn claim(object: &mut Value, _: Stage) {
    map_at(object, "spec");
    fill(&mut object["spec"], "volumeMode", "Filesystem");
    map_at(object, "status");
    fill(&mut object["status"], "phase", "Pending");
}

fn template(spec: &mut Value) {
    map_at(spec, "template");
    map_at(&mut spec["template"], "metadata");
    map_at(&mut spec["template"], "spec");
    pod_spec(&mut spec["template"]["spec"]);
}

pub(super) fn deployment(object: &mut Value, _: Stage) {
    map_at(object, "spec");
    let spec = &mut object["spec"];
    fill(spec, "replicas", 1);
    template(spec);
    map_at(spec, "strategy");
    fill(&mut spec["strategy"], "type", "RollingUpdate");
    if spec["strategy"]["type"] == "RollingUpdate" {
        let rolling = "rollingUpdate";
        map_at(&mut spec["strategy"], rolling);
        fill(&mut spec["strategy"][rolling], "maxUnavailable", "25%");
        fill(&mut spec["strategy"][rolling], "maxSurge", "25%");
    }
    fill(spec, "revisionHistoryLimit", 10);
    fill(spec, "progressDeadlineSeconds", 600);
    map_at(object, "status");
}

pub(super) fn replica_set(object: &mut Value, _: Stage) {
    map_at(object, "spec");
    fill(&mut object["spec"], "replicas", 1);
    template(&mut object["spec"]);
    map_at(object, "status");
    fill(&mut object["status"], "replicas", 0);
}

pub(super) fn stateful_set(object: &mut Value, _: Stage) {
    map_at(object, "spec");
    let spec = &mut object["spec"];
    fill(spec, "replicas", 1);
    template(spec);
    fill(spec, "podManagementPolicy", "OrderedReady");
    map_at(spec, "updateStrategy");
    fill(&mut spec["updateStrategy"], "type", "RollingUpdate");
    if spec["updateStrategy"]["type"] == "RollingUpdate" {
        map_at(&mut spec["updateStrategy"], "rollingUpdate");
        fill(&mut spec["updateStrategy"]["rollingUpdate"], "partition", 0);
    }
    fill(spec, "revisionHistoryLimit", 10);
    fill(
        spec,
        "persistentVolumeClaimRetentionPolicy",
        json!({"whenDeleted": "Retain", "whenScaled": "Retain"}),
    );
    map_at(object, "status");
    fill(&mut object["status"], "replicas", 0);
    fill(&mut object["status"], "availableReplicas", 0);
}

pub(super) fn daemon_set(object: &mut Value, _: Stage) {
    map_at(object, "spec");
    let spec = &mut object["spec"];
    template(spec);
    map_at(spec, "updateStrategy");
    fill(&mut spec["updateStrategy"], "type", "RollingUpdate");
    if spec["updateStrategy"]["type"] == "RollingUpdate" {
        map_at(&mut spec["updateStrategy"], "rollingUpdate");
        fill(&mut spec["updateStrategy"]["rollingUpdate"], "maxUnavailable", 1);
        fill(&mut spec["updateStrategy"]["rollingUpdate"], "maxSurge", 0);
    }
    fill(spec, "revisionHistoryLimit", 10);
    map_at(object, "status");
    for count in ["currentNumberScheduled", "numberMisscheduled", "desiredNumberScheduled", "numberReady"] {
        fill(&mut object["status"], count, 0);
    }
}

pub(super) fn role(object: &mut Value, _: Stage) {
    fill(object, "rules", Value::Null);
}

pub(super) fn role_binding(object: &mut Value, _: Stage) {
    let group = "rbac.authorization.k8s.io";
    map_at(object, "roleRef");
    fill(&mut object["roleRef"], "apiGroup", group);
    each(object, "subjects", |subject| {
        let users = subject["kind"] == "User" || subject["kind"] == "Group";
        if users {
            fill(subject, "apiGroup", group);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_without_a_fixed_tag_are_always_pulled() {
        for (image, latest) in [
            ("nginx", true),
            ("nginx:latest", true),
            ("nginx:1.27", false),
            ("registry:5000/nginx", true),
            ("registry:5000/nginx:1", false),
            ("nginx@sha256:00", false),
        ] {
            assert_eq!(is_latest(image), latest, "{image}");
        }
    }

    #[test]
    fn a_secret_s_plain_text_moves_into_data() {
        let mut secret_value = json!({"data": {"a": "YQ=="}, "stringData": {"k": "v"}});
        secret(&mut secret_value, Stage::Create);
        assert_eq!(secret_value, json!({"data": {"a": "YQ==", "k": "dg=="}, "type": "Opaque"}));
    }

    #[test]
    fn quality_of_service_follows_the_resources() {
        let class = |resources: Value| quality_of_service(&json!({"containers": [{"resources": resources}]}));
        assert_eq!(class(json!({})), "BestEffort");
        assert_eq!(class(json!({"requests": {"cpu": "1"}})), "Burstable");
        let both = json!({"cpu": "1", "memory": "1"});
        assert_eq!(class(json!({"requests": both, "limits": both})), "Guaranteed");
    }
}
