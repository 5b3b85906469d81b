//! Pods: the rules for a spec, and the fields that updates may change. Source: `pkg/apis/core/validation`.

use serde_json::Value;

use super::containers::{self, Pod};
use super::field::{Errors, Field, go_struct};
use super::tolerated::Tolerated;
use super::{addresses, gated, pod_annotations, pod_resources, scheduling, security, volumes, windows};
use crate::names::NameRule;
use crate::status::Cause;

/// `ValidatePodCreate` and `ValidatePodUpdate`.
pub(in crate::builtin) fn pod(object: &Value, old: Option<&Value>) -> Vec<Cause> {
    Errors::of(|errors| {
        let (root, spec) = (Field::root(object), Field::root(object).child("spec"));
        let annotations = root.child("metadata").child("annotations");
        let tolerated = Tolerated::of(old.unwrap_or(&Value::Null));
        whole(object, tolerated, errors);
        match old {
            None => {
                let ephemeral = spec.child("ephemeralContainers");
                if !ephemeral.is_empty() {
                    errors.forbidden(&ephemeral, "cannot be set on create");
                }
                if !spec.child("nodeName").is_empty() && !spec.child("schedulingGates").is_empty() {
                    let detail = "cannot be set until all schedulingGates have been cleared";
                    errors.forbidden(&spec.child("nodeName"), detail);
                }
                pod_annotations::match_fields(&annotations, &spec, errors);
            }
            Some(old) => {
                pod_annotations::unchanged(&annotations, &old["metadata"]["annotations"], errors);
                pod_annotations::check(&annotations, &spec, tolerated, errors);
                updated(&spec, &old["spec"], errors);
            }
        }
    })
}

/// Refuses projected tokens of a pod without a service account.
fn tokens_without_account(spec: &Field<'_>, errors: &mut Errors) {
    if !spec.child("serviceAccountName").is_empty() {
        return;
    }
    for volume in spec.child("volumes").items() {
        for source in volume.child("projected").child("sources").items() {
            let token = source.child("serviceAccountToken");
            if token.is_set() {
                errors.forbidden(&token, "must not be specified when serviceAccountName is not set");
            }
        }
    }
}

/// `validatePodMetadataAndSpec`.
pub(super) fn whole(object: &Value, tolerated: Tolerated, errors: &mut Errors) {
    let at = Field::root(object).child("spec");
    let annotations = Field::root(object).child("metadata").child("annotations");
    pod_annotations::check(&annotations, &at, tolerated, errors);
    spec(&at, crate::meta::name(object), tolerated, errors);
    tokens_without_account(&at, errors);
    for list in ["containers", "initContainers"] {
        for container in at.child(list).items() {
            containers::image_of_a_pod(&container, errors);
        }
    }
    for image in at.child("volumes").items().map(|volume| volume.child("image")).filter(Field::is_set) {
        if image.child("reference").is_empty() {
            errors.required(&image.child("reference"), "");
        }
    }
}

/// The fields that an update may change, in the words of `updatablePodSpecFields`.
const UPDATABLE: &str = "pod updates may not change fields other than \
    `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,\
    `spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow \
    it to be set to 1 if it was previously negative)";

fn updated(spec: &Field<'_>, old: &Value, errors: &mut Errors) {
    for list in ["containers", "initContainers"] {
        let count = |value: &Value| value.as_array().map_or(0, Vec::len);
        if count(spec.child(list).value) != count(&old[list]) {
            errors.forbidden(&spec.child(list), "pod updates may not add or remove containers");
            return;
        }
    }
    let deadline = spec.child("activeDeadlineSeconds");
    match (deadline.number(), old["activeDeadlineSeconds"].as_i64()) {
        (Some(now), Some(before)) if before < now => {
            errors.invalid(&deadline, "must be less than or equal to previous value");
            return;
        }
        (None, Some(_)) => errors.invalid(&deadline, "must not update from a positive integer to nil value"),
        _ => {}
    }
    let gates: Vec<&str> = gate_names(&old["schedulingGates"]);
    for gate in spec.child("schedulingGates").items() {
        let name = gate.child("name");
        if !gates.contains(&name.text()) {
            let detail = format!("only deletion is allowed, but found new scheduling gate '{}'", name.text());
            errors.forbidden(&name, &detail);
        }
    }
    let merged = gated::merged(spec, old, errors);
    if !only_what_may_change(&merged, old, errors) {
        errors.forbidden(spec, UPDATABLE);
    }
}

fn gate_names(gates: &Value) -> Vec<&str> {
    gates.as_array().into_iter().flatten().filter_map(|gate| gate["name"].as_str()).collect()
}

/// Reports whether the two specs differ only in images, the deadline and added tolerations.
fn only_what_may_change(new: &Value, old: &Value, errors: &mut Errors) -> bool {
    let frozen = |spec: &Value| {
        let mut spec = spec.clone();
        for list in ["containers", "initContainers"] {
            for container in spec.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten() {
                container["image"] = Value::Null;
            }
        }
        if let Some(spec) = spec.as_object_mut() {
            // The binding sets a gated pod's node, and gates are only removed.
            for free in ["activeDeadlineSeconds", "tolerations", "schedulingGates"] {
                spec.remove(free);
            }
        }
        spec
    };
    let without_seconds = |toleration: &Value| {
        let mut toleration = toleration.clone();
        crate::meta::object_mut(&mut toleration).remove("tolerationSeconds");
        toleration
    };
    let list = |spec: &Value| -> Vec<Value> {
        spec["tolerations"].as_array().into_iter().flatten().map(without_seconds).collect()
    };
    let tolerations = list(new);
    if !list(old).iter().all(|toleration| tolerations.contains(toleration)) {
        let field = Field::root(new).child("tolerations").at("spec.tolerations");
        errors.forbidden(&field, "existing toleration can not be modified except its tolerationSeconds");
    }
    let mut frozen_new = frozen(new);
    // A negative grace period from an older version may be corrected.
    if old["terminationGracePeriodSeconds"].as_i64().is_some_and(|seconds| seconds < 0)
        && new["terminationGracePeriodSeconds"] == 1
    {
        frozen_new["terminationGracePeriodSeconds"] = old["terminationGracePeriodSeconds"].clone();
    }
    frozen_new == frozen(old)
}

/// `ValidatePodSpec` of the pod with this name, or of a template without one.
pub(super) fn spec(spec: &Field<'_>, name: &str, tolerated: Tolerated, errors: &mut Errors) {
    let sound = volumes::volumes(&spec.child("volumes"), name, errors);
    let host_users = spec.child("hostUsers");
    let pod = Pod {
        volumes: sound,
        claims: resource_claims(&spec.child("resourceClaims"), errors),
        restart_policy: spec.child("restartPolicy").text(),
        grace_period: spec.child("terminationGracePeriodSeconds").number(),
        host_users: *host_users.value != Value::Bool(false),
        tolerated,
    };
    let regular = spec.child("containers");
    containers::regular(&regular, &pod, errors);
    containers::init(&spec.child("initContainers"), &regular, &pod, errors);
    containers::ephemeral(spec, &pod, errors);
    pod_resources::check(spec, &pod.claims, errors);
    host_network(spec, errors);
    errors.one_of(&spec.child("restartPolicy"), &["Always", "OnFailure", "Never"]);
    errors.one_of(&spec.child("dnsPolicy"), &["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"]);
    errors.labels(&spec.child("nodeSelector"));
    security::pod(&spec.child("securityContext"), spec, errors);
    scheduling::affinity(&spec.child("affinity"), errors);
    dns(spec, errors);
    for gate in spec.child("readinessGates").items() {
        errors.qualified_name(&gate.child("conditionType"));
    }
    scheduling_gates(&spec.child("schedulingGates"), errors);
    scheduling::spread(&spec.child("topologySpreadConstraints"), errors);
    windows::host_processes(spec, errors);
    if !pod.host_users {
        own_users(spec, errors);
    }
    names_and_limits(spec, errors);
    file_keys(spec, errors);
}

/// `VisitContainersWithPath`.
pub(super) fn all_containers<'v>(spec: &Field<'v>) -> Vec<Field<'v>> {
    let lists = ["initContainers", "containers", "ephemeralContainers"];
    lists.iter().flat_map(|list| spec.child(list).items()).collect()
}

/// `validateFileKeyRefVolumes`.
fn file_keys(spec: &Field<'_>, errors: &mut Errors) {
    for variable in all_containers(spec).iter().flat_map(|container| container.child("env").items()) {
        let key = variable.child("valueFrom").child("fileKeyRef");
        let name = key.child("volumeName");
        let named = |volume: &Field<'_>| volume.child("name").text() == name.text();
        match spec.child("volumes").items().filter(named).last() {
            _ if !key.is_set() => {}
            None => errors.not_found(&name),
            Some(volume) if volume.child("emptyDir").is_set() => {}
            Some(_) => errors.invalid(&name, "referenced volume must be of type emptyDir"),
        }
    }
}

/// `validateHostUsers`, which names some fields as Go does.
fn own_users(spec: &Field<'_>, errors: &mut Errors) {
    const DETAIL: &str = "when `hostUsers` is false";
    for (member, shown) in [("hostNetwork", "hostNetwork"), ("hostPID", "HostPID"), ("hostIPC", "HostIPC")] {
        if spec.child(member).is_true() {
            errors.forbidden(&spec.child(shown), DETAIL);
        }
    }
    for devices in all_containers(spec).iter().map(|container| container.child("volumeDevices")) {
        if !devices.is_empty() {
            errors.forbidden(&devices, DETAIL);
        }
    }
}

/// `validatePodHostName`.
fn hostname_override(spec: &Field<'_>, errors: &mut Errors) {
    const LONGEST: usize = 64;
    let name = spec.child("hostnameOverride");
    if !name.is_set() {
        return;
    }
    for other in ["setHostnameAsFQDN", "hostNetwork"] {
        if spec.child(other).is_true() {
            errors.forbidden(&name, &format!("may not be specified when {other} is true"));
        }
    }
    if name.text().len() > LONGEST {
        errors.too_long(&name.path, LONGEST);
    }
    errors.all_invalid(&name, NameRule::Subdomain.check(name.text()));
}

fn names_and_limits(spec: &Field<'_>, errors: &mut Errors) {
    hostname_override(spec, errors);
    for name in ["serviceAccountName", "nodeName"] {
        errors.optional_name(&spec.child(name), NameRule::Subdomain);
    }
    let deadline = spec.child("activeDeadlineSeconds");
    if deadline.number().is_some_and(|seconds| !(1..=i64::from(i32::MAX)).contains(&seconds)) {
        errors.invalid(&deadline, "must be between 1 and 2147483647, inclusive");
    }
    for name in ["hostname", "subdomain"] {
        errors.optional_name(&spec.child(name), NameRule::Label);
    }
    scheduling::tolerations(&spec.child("tolerations"), errors);
    for alias in spec.child("hostAliases").items() {
        addresses::ip(&alias.child("ip"), &[], errors);
        for name in alias.child("hostnames").items() {
            errors.all_invalid(&name, NameRule::Subdomain.check(name.text()));
        }
    }
    errors.optional_name(&spec.child("priorityClassName"), NameRule::Subdomain);
    let runtime = spec.child("runtimeClassName");
    if runtime.is_set() {
        errors.all_invalid(&runtime, NameRule::Subdomain.check(runtime.text()));
    }
    let preemption = spec.child("preemptionPolicy");
    if preemption.is_set() {
        errors.one_of(&preemption, &["PreemptLowerPriority", "Never"]);
    }
    super::resources::overhead(&spec.child("overhead"), errors);
    let os = spec.child("os").child("name");
    if spec.child("os").is_set() {
        // An unknown name is reported at the parent.
        let place = if os.is_empty() { os.path.clone() } else { spec.child("os").path };
        errors.one_of(&os.at(place), &["linux", "windows"]);
    }
    match os.text() {
        "linux" => {
            unused_on(spec, &["windowsOptions"], "windows options cannot be set for a linux pod", errors);
        }
        "windows" => {
            for field in ["hostUsers", "hostPID", "hostIPC", "shareProcessNamespace"] {
                let field = spec.child(field);
                if field.is_set() && (field.path.ends_with("hostUsers") || !field.is_empty()) {
                    errors.forbidden(&field, NOT_ON_WINDOWS);
                }
            }
            unused_on(spec, ONLY_LINUX, NOT_ON_WINDOWS, errors);
        }
        _ => {}
    }
}

const NOT_ON_WINDOWS: &str = "cannot be set for a windows pod";

/// The members of security contexts that a Windows pod cannot have.
const ONLY_LINUX: &[&str] = &[
    "appArmorProfile",
    "seLinuxOptions",
    "seccompProfile",
    "fsGroup",
    "fsGroupChangePolicy",
    "sysctls",
    "capabilities",
    "readOnlyRootFilesystem",
    "privileged",
    "allowPrivilegeEscalation",
    "procMount",
    "runAsUser",
    "runAsGroup",
    "supplementalGroups",
    "supplementalGroupsPolicy",
    "seLinuxChangePolicy",
];

/// Refuses members of the security contexts of a pod and its containers (`ValidateWindows`, `ValidateLinux`).
fn unused_on(spec: &Field<'_>, members: &[&str], detail: &str, errors: &mut Errors) {
    let lists = ["initContainers", "containers", "ephemeralContainers"].map(|list| spec.child(list));
    let containers = lists.iter().flat_map(|list| list.items());
    let contexts = containers.map(|container| container.child("securityContext"));
    for context in std::iter::once(spec.child("securityContext")).chain(contexts) {
        for member in members.iter().map(|member| context.child(member)).filter(Field::is_set) {
            errors.forbidden(&member, detail);
        }
    }
}

/// `validatePodResourceClaims`; returns the claims' names.
fn resource_claims<'v>(list: &Field<'v>, errors: &mut Errors) -> Vec<&'v str> {
    let mut names: Vec<&str> = Vec::new();
    for claim in list.items() {
        let name = claim.child("name");
        if names.contains(&name.text()) && !name.is_empty() {
            errors.duplicate(&name);
        } else {
            errors.required_name(&name, NameRule::Label);
            names.push(name.text());
        }
        let fields = [
            ("Name", "name"),
            ("ResourceClaimName", "resourceClaimName"),
            ("ResourceClaimTemplateName", "resourceClaimTemplateName"),
        ];
        let shown = go_struct(claim.value, &fields);
        let (claimed, template) =
            (claim.child("resourceClaimName"), claim.child("resourceClaimTemplateName"));
        match (claimed.is_set(), template.is_set()) {
            (true, true) => {
                let detail =
                    "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified";
                errors.invalid_as(&claim, &shown, detail);
            }
            (false, false) => {
                let detail = "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`";
                errors.invalid_as(&claim, &shown, detail);
            }
            _ => {}
        }
        for name in [claimed, template].iter().filter(|name| name.is_set()) {
            errors.all_invalid(name, NameRule::Subdomain.check(name.text()));
        }
    }
    names
}

fn host_network(spec: &Field<'_>, errors: &mut Errors) {
    if !spec.child("hostNetwork").is_true() {
        return;
    }
    let is_pod = spec.path == "spec";
    for port in spec.child("containers").items().flat_map(|container| container.child("ports").items()) {
        let (host, own) = (port.child("hostPort"), port.child("containerPort"));
        let number = host.number_or_zero();
        if (is_pod || number != 0) && number != own.number_or_zero() {
            let shown = Value::from(number);
            errors.invalid(&host.holding(&shown), "must match `containerPort` when `hostNetwork` is true");
        }
    }
}

fn scheduling_gates(list: &Field<'_>, errors: &mut Errors) {
    let mut seen: Vec<&str> = Vec::new();
    for gate in list.items() {
        let name = gate.child("name").at(gate.path.clone());
        errors.qualified_name(&name);
        if seen.contains(&name.text()) {
            errors.duplicate(&name);
        }
        seen.push(name.text());
    }
}

/// `validatePodDNSConfig`.
fn dns(spec: &Field<'_>, errors: &mut Errors) {
    let config = spec.child("dnsConfig");
    let (servers, searches) = (config.child("nameservers"), config.child("searches"));
    if spec.child("dnsPolicy").text() == "None" {
        if !config.is_set() {
            errors.required(&config, "must provide `dnsConfig` when `dnsPolicy` is None");
            return;
        }
        if servers.is_empty() {
            errors.required(&servers, "must provide at least one DNS nameserver when `dnsPolicy` is None");
            return;
        }
    }
    if servers.texts().len() > 3 {
        errors.invalid(&servers, "must not have more than 3 nameservers");
    }
    for server in servers.items() {
        addresses::ip(&server, &[], errors);
    }
    if searches.texts().len() > 32 {
        errors.invalid(&searches, "must not have more than 32 search paths");
    }
    if searches.texts().join(" ").len() > 2048 {
        errors.invalid(
            &searches,
            "must not have more than 2048 characters (including spaces) in the search list",
        );
    }
    for search in searches.items().filter(|search| search.text() != ".") {
        let text = Value::from(search.text().strip_suffix('.').unwrap_or(search.text()));
        errors.subdomain_with_underscores(&search.holding(&text));
    }
    for option in config.child("options").items() {
        if option.child("name").is_empty() {
            errors.required(&option, "must not be empty");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn pod_with_its_own_users_has_no_namespace_of_the_host_and_no_devices() {
        let containers = json!([{"name": "c", "volumeDevices": [{"name": "v"}]}]);
        let pod = json!({"hostUsers": false, "hostPID": true, "containers": containers});
        let causes = Errors::of(|errors| own_users(&Field::root(&pod).at("spec"), errors));
        let fields: Vec<&str> = causes.iter().map(|cause| cause.field.as_str()).collect();
        assert_eq!(fields, ["spec.HostPID", "spec.containers[0].volumeDevices"]);
        assert_eq!(causes[0].message, "Forbidden: when `hostUsers` is false");
    }

    #[test]
    fn variable_from_a_file_names_a_volume_of_the_pod() {
        let env = |volume: &str| json!([{"name": "A", "valueFrom": {"fileKeyRef": {"volumeName": volume}}}]);
        let volumes = json!([{"name": "e", "emptyDir": {}}, {"name": "c", "configMap": {}}]);
        let count = |volume: &str| {
            let spec = json!({"volumes": volumes, "containers": [{"env": env(volume)}]});
            Errors::of(|errors| file_keys(&Field::root(&spec), errors)).len()
        };
        assert_eq!([count("e"), count("c"), count("x")], [0, 1, 1]);
    }

    #[test]
    fn pod_update_may_change_images_and_add_tolerations() {
        let old = json!({"containers": [{"name": "a", "image": "1"}], "tolerations": [{"key": "a"}]});
        let faults = |key: &str, value: Value| {
            let mut new = old.clone();
            new[key] = value;
            Errors::of(|errors| updated(&Field::root(&new).at("spec"), &old, errors)).len()
        };
        assert_eq!(faults("containers", json!([{"name": "a", "image": "2"}])), 0);
        assert_eq!(faults("tolerations", json!([{"key": "a", "tolerationSeconds": 3}, {"key": "b"}])), 0);
        assert_eq!(faults("tolerations", json!([{"key": "b"}])), 1);
        assert_eq!(faults("containers", json!([{"name": "b", "image": "1"}])), 1);
        assert_eq!(faults("containers", json!([])), 1);
        assert_eq!(faults("nodeName", json!("n")), 1);
    }
}
