//! Containers of a pod. Source: `validateContainers` and what it calls in `pkg/apis/core/validation`.

use kubesmith_apimachinery::names;
use serde_json::Value;

use super::downward::{self, POD_FIELDS};
use super::field::{Errors, Field};
use super::tolerated::Tolerated;
use super::{probes, resources, restart, security, volumes};
use crate::names::NameRule;

/// The parts of a pod that its containers refer to.
pub(super) struct Pod<'v> {
    /// The valid volumes.
    pub(super) volumes: Vec<(&'v str, &'v Value)>,
    /// The names of `spec.resourceClaims`.
    pub(super) claims: Vec<&'v str>,
    pub(super) restart_policy: &'v str,
    pub(super) grace_period: Option<i64>,
    /// Whether the pod shares its host's user namespace.
    pub(super) host_users: bool,
    pub(super) tolerated: Tolerated,
}

/// `validateContainers`.
pub(super) fn regular<'v>(list: &Field<'v>, pod: &Pod<'v>, errors: &mut Errors) {
    if list.is_empty() {
        errors.required(list, "");
        return;
    }
    let mut seen: Vec<&str> = Vec::new();
    for container in list.items() {
        common(&container, pod, errors);
        let name = container.child("name");
        if seen.contains(&name.text()) {
            errors.duplicate(&name);
        }
        seen.push(name.text());
        probes::lifecycle_and_probes(&container, pod, errors);
        restart::of_container(&container, errors);
    }
    host_ports(list.items(), errors);
}

/// `validateInitContainers`.
pub(super) fn init<'v>(list: &Field<'v>, containers: &Field<'v>, pod: &Pod<'v>, errors: &mut Errors) {
    let mut seen: Vec<&str> = containers.items().map(|container| container.child("name").text()).collect();
    for container in list.items() {
        common(&container, pod, errors);
        restart::of_init_container(&container, errors);
        let name = container.child("name");
        if seen.contains(&name.text()) {
            errors.duplicate(&name);
        } else if !name.is_empty() {
            seen.push(name.text());
        }
        host_ports(std::iter::once(container.clone()), errors);
        if container.child("restartPolicy").text() == "Always" {
            probes::lifecycle_and_probes(&container, pod, errors);
            continue;
        }
        for part in ["lifecycle", "livenessProbe", "readinessProbe", "startupProbe"] {
            let part = container.child(part);
            if part.is_set() {
                errors.forbidden(&part, "may not be set for init containers without restartPolicy=Always");
            }
        }
        for policy in restart::on_resize(&container) {
            if !pod.tolerated.init_restart_on_resize {
                let detail = "must not be set to 'RestartContainer' for non-sidecar initContainers";
                errors.invalid(&policy, detail);
            }
        }
    }
}

/// The fields that ephemeral containers may not set.
const NOT_EPHEMERAL: [&str; 9] = [
    "ports",
    "resources",
    "resizePolicy",
    "restartPolicy",
    "restartPolicyRules",
    "lifecycle",
    "livenessProbe",
    "readinessProbe",
    "startupProbe",
];

/// `validateEphemeralContainers`.
pub(super) fn ephemeral<'v>(spec: &Field<'v>, pod: &Pod<'v>, errors: &mut Errors) {
    const FORBIDDEN: &str = "cannot be set for an Ephemeral Container";
    let lists = [spec.child("containers"), spec.child("initContainers")];
    let others: Vec<&str> =
        lists.iter().flat_map(Field::items).map(|container| container.child("name").text()).collect();
    let mut seen = others.clone();
    for container in spec.child("ephemeralContainers").items() {
        common(&container, pod, errors);
        image_of_a_pod(&container, errors);
        let name = container.child("name");
        if seen.contains(&name.text()) {
            errors.duplicate(&name);
        }
        seen.push(name.text());
        let target = container.child("targetContainerName");
        if !target.is_empty() && !others.contains(&target.text()) {
            errors.not_found(&target);
        }
        for name in NOT_EPHEMERAL {
            let part = container.child(name);
            // Resources are no pointer.
            if part.is_set() && (name != "resources" || !part.is_empty()) {
                errors.forbidden(&part, FORBIDDEN);
            }
        }
        for mount in container.child("volumeMounts").items() {
            for part in [mount.child("subPath"), mount.child("subPathExpr")] {
                if !part.is_empty() {
                    errors.forbidden(&part, FORBIDDEN);
                }
            }
        }
    }
}

/// `validateContainerOnlyForPod`.
pub(super) fn image_of_a_pod(container: &Field<'_>, errors: &mut Errors) {
    let image = container.child("image");
    if image.text().trim() != image.text() {
        errors.invalid(&image, "must not have leading or trailing whitespace");
    }
}

/// `validateContainerCommon`.
fn common<'v>(container: &Field<'v>, pod: &Pod<'v>, errors: &mut Errors) {
    errors.required_name(&container.child("name"), NameRule::Label);
    let image = container.child("image");
    if image.is_empty() {
        errors.required(&image, "");
    }
    errors.one_of(&container.child("terminationMessagePolicy"), &["File", "FallbackToLogsOnError"]);
    ports(&container.child("ports"), errors);
    environment(container, errors);
    mounts(container, pod, errors);
    errors.one_of(&container.child("imagePullPolicy"), PULL_POLICIES);
    resources::requirements(&container.child("resources"), &pod.claims, errors);
    resize_policies(&container.child("resizePolicy"), pod, errors);
    security::container(&container.child("securityContext"), pod.host_users, errors);
}

pub(super) const PULL_POLICIES: &[&str] = &["Always", "IfNotPresent", "Never"];

fn ports(list: &Field<'_>, errors: &mut Errors) {
    let mut seen: Vec<&str> = Vec::new();
    for port in list.items() {
        let name = port.child("name");
        if !name.is_empty() {
            let faults = names::port_name(name.text());
            if !faults.is_empty() {
                errors.all_invalid(&name, faults);
            } else if seen.contains(&name.text()) {
                errors.duplicate(&name);
            } else {
                seen.push(name.text());
            }
        }
        let number = port.child("containerPort");
        if number.number_or_zero() == 0 {
            errors.required(&number, "");
        } else {
            errors.port_number(&number);
        }
        let host = port.child("hostPort");
        if host.number_or_zero() != 0 {
            errors.port_number(&host);
        }
        errors.one_of(&port.child("protocol"), &["SCTP", "TCP", "UDP"]);
    }
}

/// `checkHostPortConflicts`.
fn host_ports<'v>(containers: impl Iterator<Item = Field<'v>>, errors: &mut Errors) {
    let mut seen: Vec<String> = Vec::new();
    for port in containers.flat_map(|container| container.child("ports").items()) {
        let host = port.child("hostPort");
        if host.number_or_zero() == 0 {
            continue;
        }
        let (protocol, address) = (port.child("protocol").text(), port.child("hostIP").text());
        let key = format!("{protocol}/{address}/{}", host.number_or_zero());
        if seen.contains(&key) {
            let shown = Value::from(key.as_str());
            errors.duplicate(&host.holding(&shown));
        }
        seen.push(key);
    }
}

/// `IsRelaxedEnvVarName`.
fn variable_name(name: &str) -> Vec<String> {
    let fine = name.bytes().all(|b| (b' '..=b'~').contains(&b) && b != b'=');
    let fault =
        "a valid environment variable name must consist only of printable ASCII characters other than '='";
    if fine { Vec::new() } else { vec![fault.to_owned()] }
}

/// `ValidateEnv` and `ValidateEnvFrom`.
fn environment(container: &Field<'_>, errors: &mut Errors) {
    for variable in container.child("env").items() {
        let name = variable.child("name");
        if name.is_empty() {
            errors.required(&name, "");
        } else {
            errors.all_invalid(&name, variable_name(name.text()));
        }
        value_from(&variable, errors);
    }
    let from = container.child("envFrom");
    for source in from.items() {
        let prefix = source.child("prefix");
        errors.all_invalid(&prefix, variable_name(prefix.text()));
        let sources = [source.child("configMapRef"), source.child("secretRef")];
        for source in sources.iter().filter(|source| source.is_set()) {
            errors.required_name(&source.child("name"), NameRule::Subdomain);
        }
        let detail = match sources.iter().filter(|source| source.is_set()).count() {
            0 => "must specify one of: `configMapRef` or `secretRef`",
            1 => continue,
            _ => "may not have more than one field specified at a time",
        };
        let shown = Value::from("");
        errors.invalid(&from.holding(&shown), detail);
    }
}

/// `validateEnvVarValueFrom`.
fn value_from(variable: &Field<'_>, errors: &mut Errors) {
    let from = variable.child("valueFrom");
    if !from.is_set() {
        return;
    }
    let field = from.child("fieldRef");
    if field.is_set() {
        downward::field(&field, POD_FIELDS, errors);
    }
    let resource = from.child("resourceFieldRef");
    if resource.is_set() {
        downward::resource(&resource, false, errors);
    }
    let file = from.child("fileKeyRef");
    if file.is_set() {
        file_key(&file, errors);
    }
    for reference in [from.child("configMapKeyRef"), from.child("secretKeyRef")] {
        if reference.is_set() {
            key_reference(&reference, errors);
        }
    }
    let sources = ["fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef"];
    let given = sources.iter().filter(|source| from.child(source).is_set()).count();
    let detail = if given == 0 {
        "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`"
    } else if !variable.child("value").is_empty() {
        "may not be specified when `value` is not empty"
    } else if given > 1 {
        "may not have more than one field specified at a time"
    } else {
        return;
    };
    let shown = Value::from("");
    errors.invalid(&from.holding(&shown), detail);
}

fn key_reference(reference: &Field<'_>, errors: &mut Errors) {
    let name = reference.child("name");
    let text = Value::from(name.text());
    errors.all_invalid(&name.holding(&text), NameRule::Subdomain.check(name.text()));
    let key = reference.child("key");
    if key.is_empty() {
        errors.required(&key, "");
    } else {
        errors.all_invalid(&key, super::data::key_faults(key.text()));
    }
}

/// `validateFileKeySelector`.
fn file_key(reference: &Field<'_>, errors: &mut Errors) {
    let (key, path) = (reference.child("key"), reference.child("path"));
    if key.is_empty() {
        errors.required(&key, "");
    } else {
        errors.all_invalid(&key, variable_name(key.text()));
    }
    errors.required_name(&reference.child("volumeName"), NameRule::Label);
    volumes::required(reference, &["path"], errors);
    volumes::no_back_steps(&path, errors);
}

/// `validateMountPropagation`, at the path of the list.
fn propagation(mount: &Field<'_>, container: &Field<'_>, errors: &mut Errors) {
    let list = container.child("volumeMounts");
    let propagation = mount.child("mountPropagation").at(list.child("mountPropagation").path);
    errors.optional_one_of(&propagation, &["Bidirectional", "HostToContainer", "None"]);
    if propagation.text() == "Bidirectional"
        && !container.child("securityContext").child("privileged").is_true()
    {
        let detail = "Bidirectional mount propagation is available only to privileged containers";
        errors.forbidden(&propagation, detail);
    }
}

/// `validateMountRecursiveReadOnly`, at the path of the list.
fn recursive_read_only(mount: &Field<'_>, list: &Field<'_>, errors: &mut Errors) {
    let mode = mount.child("recursiveReadOnly").at(list.child("recursiveReadOnly").path);
    errors.optional_one_of(&mode, &["Disabled", "Enabled", "IfPossible"]);
    if !matches!(mode.text(), "Enabled" | "IfPossible") {
        return;
    }
    if !mount.child("readOnly").is_true() {
        errors.forbidden(&mode, "may only be specified when readOnly is true");
    }
    if !matches!(mount.child("mountPropagation").value.as_str(), None | Some("None")) {
        errors.forbidden(&mode, "may only be specified when mountPropagation is None or not specified");
    }
}

/// `ValidateVolumeMounts` and `ValidateVolumeDevices`.
fn mounts<'v>(container: &Field<'v>, pod: &Pod<'v>, errors: &mut Errors) {
    let devices = container.child("volumeDevices");
    let known = |name: &str| pod.volumes.iter().find(|(known, _)| *known == name).map(|(_, volume)| *volume);
    let mut seen: Vec<&str> = Vec::new();
    for mount in container.child("volumeMounts").items() {
        let (name, path) = (mount.child("name"), mount.child("mountPath"));
        if name.is_empty() {
            errors.required(&name, "");
        }
        let volume = known(name.text());
        if volume.is_none() {
            let text = Value::from(name.text());
            errors.not_found(&name.holding(&text));
        }
        if path.is_empty() {
            errors.required(&path, "");
        }
        if seen.contains(&path.text()) {
            errors.invalid(&path, "must be unique");
        }
        seen.push(path.text());
        if devices.items().any(|device| device.child("name").text() == name.text()) {
            errors.invalid(&name, "must not already exist in volumeDevices");
        }
        if devices.items().any(|device| device.child("devicePath").text() == path.text()) {
            errors.invalid(&path, "must not already exist as a path in volumeDevices");
        }
        let list = container.child("volumeMounts");
        let (sub_path, expression) = (mount.child("subPath"), mount.child("subPathExpr"));
        volumes::descending(&sub_path.at(list.child("subPath").path), errors);
        if !expression.is_empty() && !sub_path.is_empty() {
            errors.invalid(&expression, "subPathExpr and subPath are mutually exclusive");
        }
        volumes::descending(&expression.at(list.child("subPathExpr").path), errors);
        propagation(&mount, container, errors);
        recursive_read_only(&mount, &list, errors);
    }
    for device in devices.items() {
        let (name, path) = (device.child("name"), device.child("devicePath"));
        if name.is_empty() {
            errors.required(&name, "");
        }
        if known(name.text()).is_none() {
            errors.not_found(&name);
        }
        if path.is_empty() {
            errors.required(&path, "");
        }
    }
}

fn resize_policies(list: &Field<'_>, pod: &Pod<'_>, errors: &mut Errors) {
    let mut seen: Vec<&str> = Vec::new();
    for policy in list.items() {
        let (resource, restart) = (policy.child("resourceName"), policy.child("restartPolicy"));
        if seen.contains(&resource.text()) {
            errors.duplicate(&resource.at(policy.path.clone()));
        }
        seen.push(resource.text());
        errors.one_of(&resource.at(list.path.clone()), &["cpu", "memory"]);
        errors.one_of(&restart.at(list.path.clone()), &["NotRequired", "RestartContainer"]);
        if pod.restart_policy == "Never" && restart.text() != "NotRequired" {
            let detail = "must be 'NotRequired' when `restartPolicy` is 'Never'";
            errors.invalid(&restart.at(list.path.clone()), detail);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn fields(container: Value) -> Vec<String> {
        let list = json!([container]);
        let volume = json!({"name": "v"});
        let pod = Pod {
            volumes: vec![("v", &volume)],
            claims: Vec::new(),
            restart_policy: "Always",
            grace_period: Some(30),
            host_users: true,
            tolerated: Tolerated::of(&Value::Null),
        };
        let causes = Errors::of(|errors| regular(&Field::root(&list).at("c"), &pod, errors));
        causes.into_iter().map(|cause| cause.field).collect()
    }

    fn defaulted(mut container: Value) -> Value {
        container["terminationMessagePolicy"] = "File".into();
        container["imagePullPolicy"] = "Always".into();
        container
    }

    #[test]
    fn container_errors_name_their_field() {
        assert!(fields(defaulted(json!({"name": "a", "image": "i"}))).is_empty());
        let container = json!({"name": "A_", "ports": [{"containerPort": 0, "protocol": "TCP"}],
            "volumeMounts": [{"name": "x", "mountPath": "/"}], "livenessProbe": {"successThreshold": 1}, "env": [{}]});
        let expected = [
            "c[0].name",
            "c[0].image",
            "c[0].ports[0].containerPort",
            "c[0].env[0].name",
            "c[0].volumeMounts[0].name",
            "c[0].livenessProbe",
        ];
        assert_eq!(fields(defaulted(container)), expected);
    }

    #[test]
    fn request_is_refused_when_above_limit() {
        let with =
            |resources: Value| fields(defaulted(json!({"name": "a", "image": "i", "resources": resources})));
        assert!(with(json!({"limits": {"cpu": "1"}, "requests": {"cpu": "500m"}})).is_empty());
        assert_eq!(
            with(json!({"limits": {"cpu": "1"}, "requests": {"cpu": "2"}})),
            ["c[0].resources.requests"]
        );
        assert_eq!(with(json!({"limits": {"cpu": "-1"}})), ["c[0].resources.limits[cpu]"]);
        assert_eq!(with(json!({"limits": {"gpus": "1"}})), ["c[0].resources.limits[gpus]"; 2]);
    }
}
