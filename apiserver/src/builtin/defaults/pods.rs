//! Pods and templates of pods.

use serde_json::{Value, json};

use super::{Stage, each, fill};
use crate::amounts::{Quantities, add, aggregate, is_of_pods, quantities};
use crate::meta::map_at;

pub(in crate::builtin) fn pod(object: &mut Value, _: Stage) {
    map_at(object, "spec");
    let spec = &mut object["spec"];
    each(spec, "containers", requests_from_limits);
    each(spec, "initContainers", requests_from_limits);
    pod_spec(spec);
    own_resources(spec);
    fill(spec, "enableServiceLinks", true);
    if spec["hostNetwork"] == true {
        for list in ["containers", "initContainers"] {
            each(spec, list, |container| each(container, "ports", host_port));
        }
    }
    map_at(object, "status");
    addresses(&mut object["status"]);
    fill(&mut object["status"], "phase", "Pending");
    let class = quality_of_service(&object["spec"]);
    fill(&mut object["status"], "qosClass", class);
}

/// Makes the address of a pod the first of its addresses; another one replaces them all
/// (`Convert_v1_PodStatus_To_core_PodStatus` of pkg/apis/core/v1, and back).
fn addresses(status: &mut Value) {
    let first = status["podIPs"][0]["ip"].as_str().unwrap_or_default().to_owned();
    match status["podIP"].as_str().unwrap_or_default() {
        "" if first.is_empty() => {}
        "" => status["podIP"] = first.into(),
        one if one == first => {}
        one => status["podIPs"] = json!([{"ip": one}]),
    }
}

pub(in crate::builtin) fn pod_template(object: &mut Value, _: Stage) {
    template_of(object);
}

/// Defaults of the template at `template`.
pub(super) fn template_of(holder: &mut Value) {
    map_at(holder, "template");
    map_at(&mut holder["template"], "metadata");
    map_at(&mut holder["template"], "spec");
    pod_spec(&mut holder["template"]["spec"]);
}

/// Adds the pod's own labels that terms and constraints name to their selectors (`mutatePodAffinity` and
/// `mutateTopologySpreadConstraints` of pkg/registry/core/pod/strategy.go).
fn join_label_keys(pod: &mut Value) {
    let labels = pod["metadata"]["labels"].clone();
    let spec = &mut pod["spec"];
    for affinity in ["podAffinity", "podAntiAffinity"] {
        let Some(affinity) = spec.get_mut("affinity").and_then(|all| all.get_mut(affinity)) else { continue };
        each(affinity, "preferredDuringSchedulingIgnoredDuringExecution", |term| {
            if let Some(term) = term.get_mut("podAffinityTerm") {
                join_labels(term, &labels);
            }
        });
        each(affinity, "requiredDuringSchedulingIgnoredDuringExecution", |term| join_labels(term, &labels));
    }
    each(spec, "topologySpreadConstraints", |constraint| join_labels(constraint, &labels));
}

fn join_labels(term: &mut Value, labels: &Value) {
    if !term["labelSelector"].is_object() {
        return;
    }
    for (keys, operator) in [("matchLabelKeys", "In"), ("mismatchLabelKeys", "NotIn")] {
        let named: Vec<Value> = crate::meta::strings(&term[keys])
            .into_iter()
            .filter_map(|key| Some(json!({"key": key, "operator": operator, "values": [labels.get(key)?]})))
            .collect();
        if named.is_empty() {
            continue;
        }
        let expressions =
            map_at(term, "labelSelector").entry("matchExpressions").or_insert_with(|| json!([]));
        if let Value::Array(expressions) = expressions {
            expressions.extend(named);
        }
    }
}

/// Sets what kube-apiserver sets in a new pod (`PrepareForCreate` of pkg/registry/core/pod/strategy.go).
pub(in crate::builtin) fn prepare_pod(pod: &mut Value) {
    end_in_time(pod);
    join_label_keys(pod);
    if pod["spec"]["schedulingGates"].as_array().is_some_and(|gates| !gates.is_empty()) {
        let now = pod["metadata"]["creationTimestamp"].clone();
        let conditions = map_at(pod, "status").entry("conditions").or_insert_with(|| json!([]));
        if let Value::Array(conditions) = conditions
            && conditions.iter().all(|condition| condition["type"] != "PodScheduled")
        {
            conditions.push(json!({
                "type": "PodScheduled", "status": "False", "reason": "SchedulingGated",
                "message": "Scheduling is blocked due to non-empty scheduling gates",
                "lastProbeTime": null, "lastTransitionTime": now,
            }));
        }
    }
}

/// Sets a negative grace period to one second (`applyNegativeTerminationGracePeriod` of registry/core/pod).
fn end_in_time(pod: &mut Value) {
    let seconds = &mut pod["spec"]["terminationGracePeriodSeconds"];
    if seconds.as_i64().is_some_and(|seconds| seconds < 0) {
        *seconds = 1.into();
    }
}

/// Defaults of a pod's spec, alone or in a template.
fn pod_spec(spec: &mut Value) {
    fill(spec, "restartPolicy", "Always");
    fill(spec, "terminationGracePeriodSeconds", 30);
    fill(spec, "dnsPolicy", "ClusterFirst");
    fill(spec, "securityContext", json!({}));
    fill(spec, "schedulerName", "default-scheduler");
    mirror(spec, "serviceAccountName", "serviceAccount");
    for list in ["containers", "initContainers", "ephemeralContainers"] {
        each(spec, list, container);
    }
    each(spec, "volumes", volume);
}

/// Sets the host's port of a container in the host's network; templates keep theirs (`defaultHostNetworkPorts`).
fn host_port(port: &mut Value) {
    let number = port["containerPort"].clone();
    fill(port, "hostPort", number);
}

/// Copies the value to the deprecated field, or from it.
fn mirror(spec: &mut Value, from: &str, to: &str) {
    match (spec[from].as_str().map(str::to_owned), spec[to].as_str().map(str::to_owned)) {
        (Some(value), _) => spec[to] = Value::from(value),
        (None, Some(value)) => spec[from] = Value::from(value),
        (None, None) => {}
    }
}

fn container(container: &mut Value) {
    fill(container, "terminationMessagePath", "/dev/termination-log");
    fill(container, "terminationMessagePolicy", "File");
    let policy = pull_policy(&container["image"]);
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
            handler(probe);
        }
    }
    for hook in ["postStart", "preStop"] {
        if let Some(hook) = container.get_mut("lifecycle").and_then(|l| l.get_mut(hook)) {
            handler(hook);
        }
    }
}

/// Sets the defaults of a probe or a hook.
fn handler(handler: &mut Value) {
    if let Some(get) = handler.get_mut("httpGet").filter(|p| p.is_object()) {
        fill(get, "path", "/");
        fill(get, "scheme", "HTTP");
    }
    if let Some(grpc) = handler.get_mut("grpc").filter(|p| p.is_object()) {
        fill(grpc, "service", "");
    }
}

/// Sets the requests of a pod's container to its limits; templates keep theirs.
fn requests_from_limits(container: &mut Value) {
    let Some(limits) = container["resources"]["limits"].as_object().cloned() else { return };
    let requests = map_at(&mut container["resources"], "requests");
    for (name, amount) in limits {
        requests.entry(name).or_insert(amount);
    }
}

/// Fills in the limits of huge pages, then the requests of a pod that has resources of its own, from the sums of its containers and
/// from its limits (`defaultHugePagePodLimits` and `defaultPodRequests`).
fn own_resources(spec: &mut Value) {
    let is_huge = |name: &str| name.starts_with("hugepages-");
    let mut own = ["limits", "requests"].map(|part| quantities(&spec["resources"][part]));
    let [limits, requests] = &mut own;
    if limits.is_empty() && requests.is_empty() {
        return;
    }
    for (name, sum) in aggregate(spec, "limits") {
        if is_huge(&name) && !requests.contains_key(&name) {
            limits.entry(name).or_insert(sum);
        }
    }
    if !limits.is_empty() {
        let mut sums = aggregate(spec, "requests");
        sums.retain(|name, _| is_of_pods(name) && !is_huge(name));
        for (name, amount) in sums.into_iter().chain(limits.clone()).filter(|(name, _)| is_of_pods(name)) {
            requests.entry(name).or_insert(amount);
        }
    }
    for (part, own) in ["limits", "requests"].iter().zip(own).filter(|(_, own)| !own.is_empty()) {
        let given = map_at(&mut spec["resources"], part);
        for (name, amount) in own {
            given.entry(name).or_insert_with(|| amount.to_string().into());
        }
    }
}

/// The pull policy of an image (`SetDefaults_Container` and `SetDefaults_Volume`).
fn pull_policy(image: &Value) -> &'static str {
    if is_latest(image.as_str().unwrap_or_default()) { "Always" } else { "IfNotPresent" }
}

/// Reports whether an image has no digest, and no tag or the tag `latest`.
fn is_latest(image: &str) -> bool {
    if image.contains('@') {
        return false;
    }
    let (path, last) = image.rsplit_once('/').unwrap_or(("", image));
    let (name, tag) = last.split_once(':').map_or((last, None), |(name, tag)| (name, Some(tag)));
    // A malformed reference has no tag (`SetDefaults_Container`).
    let is_reference = [path, name].iter().all(|part| {
        let fits = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"._-/:".contains(&b);
        part.bytes().all(fits) && part.split('/').all(|part| part.is_empty() || is_component(part))
    });
    match tag {
        None => is_reference && !name.is_empty() && image.len() <= LONGEST_REFERENCE,
        Some(tag) => tag == "latest",
    }
}

/// The length limit of an image's name.
const LONGEST_REFERENCE: usize = 255;

/// Reports whether a part of an image's name begins and ends with a letter or a digit.
fn is_component(part: &str) -> bool {
    let ends = [part.bytes().next(), part.bytes().last()];
    ends.into_iter().flatten().all(|b| b.is_ascii_alphanumeric())
}

fn volume(volume: &mut Value) {
    if volume.as_object().is_some_and(|v| v.keys().all(|key| key == "name")) {
        fill(volume, "emptyDir", json!({}));
    }
    for source in ["configMap", "secret", "projected", "downwardAPI"] {
        if let Some(source) = volume.get_mut(source).filter(|v| v.is_object()) {
            fill(source, "defaultMode", 420);
            each(source, "sources", projection);
            each(source, "items", field_version);
        }
    }
    if let Some(path) = volume.get_mut("hostPath").filter(|v| v.is_object()) {
        fill(path, "type", "");
    }
    if let Some(image) = volume.get_mut("image").filter(|v| v.is_object()) {
        let policy = pull_policy(&image["reference"]);
        fill(image, "pullPolicy", policy);
    }
    if let Some(claim) = volume.get_mut("ephemeral").and_then(|e| e.get_mut("volumeClaimTemplate")) {
        fill(&mut claim["spec"], "volumeMode", "Filesystem");
    }
}

fn projection(source: &mut Value) {
    if let Some(token) = source.get_mut("serviceAccountToken").filter(|v| v.is_object()) {
        fill(token, "expirationSeconds", 3600);
    }
    if let Some(fields) = source.get_mut("downwardAPI") {
        each(fields, "items", field_version);
    }
}

fn field_version(item: &mut Value) {
    if let Some(field) = item.get_mut("fieldRef").filter(|v| v.is_object()) {
        fill(field, "apiVersion", "v1");
    }
}

/// Returns the quality of service class of a pod from its resources (`ComputePodQOS` of pkg/apis/core/helper/qos).
pub(crate) fn quality_of_service(spec: &Value) -> &'static str {
    let (mut requests, mut limits, mut is_guaranteed) = (Quantities::new(), Quantities::new(), true);
    let counted = |resources: &Value, part: &str| {
        let mut amounts = quantities(&resources[part]);
        amounts.retain(|name, amount| matches!(name.as_str(), "cpu" | "memory") && amount.sign() > 0);
        amounts
    };
    let mut take = |resources: &Value, needs_limits: bool| {
        let limited = counted(resources, "limits");
        is_guaranteed &= limited.len() == 2 || !needs_limits;
        add(&mut requests, &counted(resources, "requests"));
        add(&mut limits, &limited);
    };
    match &spec["resources"] {
        // Resources of the pod replace those of its containers.
        of_pod if of_pod.is_object() => {
            take(of_pod, of_pod["limits"].as_object().is_some_and(|limits| !limits.is_empty()));
        }
        _ => {
            let lists = ["containers", "initContainers"].map(|list| spec[list].as_array());
            lists.into_iter().flatten().flatten().for_each(|container| take(&container["resources"], true));
        }
    }
    match (requests.is_empty() && limits.is_empty(), is_guaranteed && requests == limits) {
        (true, _) => "BestEffort",
        (_, true) => "Guaranteed",
        _ => "Burstable",
    }
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
    fn quality_of_service_follows_the_resources() {
        let class = |resources: Value| quality_of_service(&json!({"containers": [{"resources": resources}]}));
        assert_eq!(class(json!({})), "BestEffort");
        assert_eq!(class(json!({"requests": {"cpu": "1"}})), "Burstable");
        let both = json!({"cpu": "1", "memory": "1"});
        assert_eq!(class(json!({"requests": both, "limits": both})), "Guaranteed");
        let same = json!({"cpu": "1000m", "memory": "1"});
        assert_eq!(class(json!({"requests": both, "limits": same})), "Guaranteed");
        assert_eq!(class(json!({"requests": {"cpu": "0"}, "limits": {"memory": "0"}})), "BestEffort");
    }

    /// Cases of `TestComputePodQOS` of pkg/apis/core/helper/qos/qos_test.go.
    #[test]
    fn quality_of_service_is_that_of_the_resources_of_the_pod() {
        let both = json!({"cpu": "1", "memory": "1"});
        let class = |resources: Value| {
            let containers = json!([{"resources": {"requests": both, "limits": both}}]);
            quality_of_service(&json!({"resources": resources, "containers": containers}))
        };
        assert_eq!(class(json!({})), "BestEffort");
        assert_eq!(class(json!({"requests": {"cpu": "1"}})), "Burstable");
        assert_eq!(class(json!({"requests": {"cpu": "1"}, "limits": {"cpu": "1"}})), "Burstable");
        assert_eq!(class(json!({"requests": both, "limits": both})), "Guaranteed");
    }

    #[test]
    fn requests_of_a_pod_come_from_its_containers_and_limits() {
        let of = |resources: Value, container: Value| {
            let containers = json!([{"name": "c", "resources": container}]);
            let mut pod = json!({"spec": {"resources": resources, "containers": containers}});
            super::pod(&mut pod, Stage::Create);
            pod["spec"]["resources"].take()
        };
        let limits = json!({"cpu": "2", "memory": "1Gi"});
        assert_eq!(
            of(json!({"limits": limits}), json!({"requests": {"cpu": "500m"}})),
            json!({"limits": limits, "requests": {"cpu": "500m", "memory": "1Gi"}})
        );
        let huge = json!({"hugepages-2Mi": "4Mi"});
        let both = json!({"cpu": "1", "hugepages-2Mi": "4Mi"});
        assert_eq!(
            of(json!({"limits": {"cpu": "1"}}), json!({"limits": huge})),
            json!({"limits": both, "requests": both})
        );
        let given = json!({"requests": {"cpu": "1"}});
        assert_eq!(of(given.clone(), json!({"requests": {"memory": "1Gi"}})), given);
        assert_eq!(of(Value::Null, json!({"requests": {"cpu": "1"}})), Value::Null);
    }

    #[test]
    fn only_a_pod_gets_host_ports_in_the_network_of_its_host() {
        let containers = json!([{"name": "c", "ports": [{"containerPort": 80}]}]);
        let mut pod = json!({"spec": {"hostNetwork": true, "containers": containers}});
        super::pod(&mut pod, Stage::Create);
        assert_eq!(pod["spec"]["containers"][0]["ports"][0]["hostPort"], 80);
        let mut template = json!({"template": {"spec": {"hostNetwork": true, "containers": containers}}});
        template_of(&mut template);
        assert_eq!(template["template"]["spec"]["containers"][0]["ports"], json!([{"containerPort": 80}]));
    }

    #[test]
    fn volume_source_gets_its_defaults() {
        let mut spec = json!({"volumes": [{"name": "a"}, {"name": "b", "hostPath": {"path": "/"}},
            {"name": "c", "projected": {"sources": [{"serviceAccountToken": {"path": "t"}}]}}]});
        pod_spec(&mut spec);
        assert_eq!(
            spec["volumes"],
            json!([{"name": "a", "emptyDir": {}}, {"name": "b", "hostPath": {"path": "/", "type": ""}},
                {"name": "c", "projected": {"defaultMode": 420,
                    "sources": [{"serviceAccountToken": {"path": "t", "expirationSeconds": 3600}}]}}])
        );
    }
}
