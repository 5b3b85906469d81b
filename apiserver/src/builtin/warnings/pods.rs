//! Warnings about pods and their templates. Source: `pkg/api/pod/warnings.go` of Kubernetes 1.36.

use std::collections::BTreeMap;

use serde_json::Value;

use super::super::app_armor;
use super::storage::claim_spec;
use super::{fractional, items, labels, network, paths};
use crate::names::quoted;

/// Annotations without effect, with their replacements.
const ANNOTATIONS: [(&str, &str); 3] = [
    (
        "scheduler.alpha.kubernetes.io/critical-pod",
        "non-functional in v1.16+; use the \"priorityClassName\" field instead",
    ),
    ("security.alpha.kubernetes.io/sysctls", "non-functional in v1.11+; use the \"sysctls\" field instead"),
    (
        "security.alpha.kubernetes.io/unsafe-sysctls",
        "non-functional in v1.11+; use the \"sysctls\" field instead",
    ),
];

/// Deprecated kinds of volumes, with their names in a warning.
const VOLUMES: [(&str, &str, &str); 9] = [
    ("photonPersistentDisk", "photonPersistentDisk", "deprecated in v1.11, non-functional in v1.16+"),
    ("gitRepo", "gitRepo", "deprecated in v1.11, and disabled by default in v1.33+"),
    ("scaleIO", "scaleIO", "deprecated in v1.16, non-functional in v1.22+"),
    ("flocker", "flocker", "deprecated in v1.22, non-functional in v1.25+"),
    ("storageos", "storageOS", "deprecated in v1.22, non-functional in v1.25+"),
    ("quobyte", "quobyte", "deprecated in v1.22, non-functional in v1.25+"),
    ("glusterfs", "glusterfs", "deprecated in v1.25, non-functional in v1.26+"),
    ("cephfs", "cephfs", "deprecated in v1.28, non-functional in v1.31+"),
    ("rbd", "rbd", "deprecated in v1.28, non-functional in v1.31+"),
];

const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";
const NO_POD: &str = "a null labelSelector results in matching no pod";

/// Returns the warnings about a pod, whose path is empty, or about a template at a path.
pub(super) fn of(template: &Value, path: &str) -> Vec<String> {
    let at = |member: &str| if path.is_empty() { member.to_owned() } else { format!("{path}.{member}") };
    let (spec, place) = (&template["spec"], at("spec"));
    let mut warnings = labels::of_map(&spec["nodeSelector"], |key| format!("{place}.nodeSelector[{key}]"));
    node_affinity(
        &spec["affinity"]["nodeAffinity"],
        &format!("{place}.affinity.nodeAffinity"),
        &mut warnings,
    );
    for (i, constraint) in items(&spec["topologySpreadConstraints"]).enumerate() {
        let topology = format!("{place}.topologySpreadConstraints[{i}].topologyKey");
        warnings.extend(labels::named(&constraint["topologyKey"], &topology));
        if constraint["labelSelector"].is_null() {
            warnings.push(format!("{place}.topologySpreadConstraints[{i}].labelSelector: {NO_POD}"));
        }
    }
    for (key, text) in ANNOTATIONS {
        if template["metadata"]["annotations"].get(key).is_some() {
            warnings.push(format!("{}.annotations[{key}]: {text}", at("metadata")));
        }
    }
    volumes(spec, &place, &mut warnings);
    warnings.extend(paths::of(&spec["volumes"]));
    repeated(&spec["hostAliases"], "ip", &format!("{place}.hostAliases"), &mut warnings);
    let secrets = format!("{place}.imagePullSecrets");
    repeated(&spec["imagePullSecrets"], "name", &secrets, &mut warnings);
    for (i, secret) in items(&spec["imagePullSecrets"]).enumerate() {
        if secret["name"].as_str().unwrap_or_default().is_empty() {
            warnings.push(format!("{secrets}[{i}].name: invalid empty name \"\""));
        }
    }
    for resource in ["memory", "ephemeral-storage"] {
        let field = format!("{place}.overhead[{resource}]");
        warnings.extend(fractional(&spec["overhead"][resource], &field));
    }
    let containers = containers(spec, &place);
    profiles(template, &at("metadata"), &containers, &mut warnings);
    for (container, place) in &containers {
        resources(container, place, &mut warnings);
        variables(&container["env"], &format!("{place}.env"), &mut warnings);
    }
    ports(&containers, &mut warnings);
    if spec["terminationGracePeriodSeconds"].as_i64().is_some_and(|seconds| seconds < 0) {
        let text = "must be >= 0; negative values are invalid and will be treated as 1";
        warnings.push(format!("{place}.terminationGracePeriodSeconds: {text}"));
    }
    affinity(&spec["affinity"], &format!("{place}.affinity"), &mut warnings);
    let servers = format!("{place}.dnsConfig.nameservers");
    warnings.extend(network::listed(&spec["dnsConfig"]["nameservers"], &servers));
    warnings.extend(network::entries(&spec["hostAliases"], &format!("{place}.hostAliases")));
    warnings
}

/// Warns about annotations with security profiles that fields have replaced.
fn profiles(template: &Value, place: &str, containers: &[(&Value, String)], warnings: &mut Vec<String>) {
    let of_pod = &template["spec"]["securityContext"];
    let annotation = |key: &str| {
        let path = format!("{place}.annotations[{key}]");
        template["metadata"]["annotations"].get(key).map(|value| (path, value))
    };
    let seccomp = |(path, _): (String, &Value)| {
        format!("{path}: non-functional in v1.27+; use the \"seccompProfile\" field instead")
    };
    if of_pod["seccompProfile"].is_null() {
        warnings.extend(annotation("seccomp.security.alpha.kubernetes.io/pod").map(seccomp));
    }
    for (container, _) in containers {
        let (name, context) = (text(container, "name"), &container["securityContext"]);
        if context["seccompProfile"].is_null() {
            let key = format!("container.seccomp.security.alpha.kubernetes.io/{name}");
            warnings.extend(annotation(&key).map(seccomp));
        }
        // Those of a pod are from its creation.
        if place != "metadata" {
            warnings.extend(app_armor::warning(template, container, place));
        }
    }
}

/// `WarningsOnUpdate` of `podStatusStrategy`.
pub(super) fn of_status(status: &Value) -> Vec<String> {
    ["podIPs", "hostIPs"].map(|list| network::entries(&status[list], &format!("status.{list}"))).concat()
}

/// Warns about deprecated labels of nodes, and values of preferred terms that no label has.
fn node_affinity(affinity: &Value, place: &str, warnings: &mut Vec<String>) {
    for (i, term) in items(&affinity[REQUIRED]["nodeSelectorTerms"]).enumerate() {
        warnings.extend(labels::of_term(term, false, &format!("{place}.{REQUIRED}.nodeSelectorTerms[{i}]")));
    }
    for (i, term) in items(&affinity[PREFERRED]).enumerate() {
        let place = format!("{place}.{PREFERRED}[{i}].preference");
        warnings.extend(labels::of_term(&term["preference"], true, &place));
    }
}

fn volumes(spec: &Value, place: &str, warnings: &mut Vec<String>) {
    for (i, volume) in items(&spec["volumes"]).enumerate() {
        for (kind, shown, text) in VOLUMES {
            if !volume[kind].is_null() {
                warnings.push(format!("{place}.volumes[{i}].{shown}: {text}"));
            }
        }
        let template = &volume["ephemeral"]["volumeClaimTemplate"];
        let at = format!("{place}.volumes[{i}].ephemeral.volumeClaimTemplate.spec");
        warnings.extend(claim_spec(&template["spec"], &at));
    }
}

/// Warns about elements that repeat an earlier one.
fn repeated(list: &Value, member: &str, place: &str, warnings: &mut Vec<String>) {
    let mut seen = Vec::new();
    for (i, item) in items(list).enumerate() {
        let text = item[member].as_str().unwrap_or_default();
        if seen.contains(&text) {
            warnings.push(format!("{place}[{i}].{member}: duplicate {member} {}", quoted(text)));
        }
        seen.push(text);
    }
}

/// All containers with their paths, in the order of `VisitContainersWithPath`.
fn containers<'v>(spec: &'v Value, place: &str) -> Vec<(&'v Value, String)> {
    let lists = ["initContainers", "containers", "ephemeralContainers"];
    let of = |list: &'static str| {
        items(&spec[list]).enumerate().map(move |(i, container)| (container, format!("{place}.{list}[{i}]")))
    };
    lists.into_iter().flat_map(of).collect()
}

fn resources(container: &Value, place: &str, warnings: &mut Vec<String>) {
    for resource in ["memory", "ephemeral-storage"] {
        for part in ["limits", "requests"] {
            let field = format!("{place}.resources.{part}[{resource}]");
            warnings.extend(fractional(&container["resources"][part][resource], &field));
        }
    }
}

/// Warns about a variable that is defined again without a reference to its old value.
fn variables(list: &Value, place: &str, warnings: &mut Vec<String>) {
    let mut seen = Vec::new();
    for (i, variable) in items(list).enumerate() {
        let name = variable["name"].as_str().unwrap_or_default();
        let (value, reference) = (variable["value"].as_str().unwrap_or_default(), format!("$({name})"));
        let hides = !variable["valueFrom"].is_null() || value == reference || !value.contains(&reference);
        if seen.contains(&name) && hides {
            let quoted = quoted(name);
            warnings.push(format!(
                "{place}[{i}]: hides previous definition of {quoted}, which may be dropped when using apply"
            ));
        }
        seen.push(name);
    }
}

fn ports(containers: &[(&Value, String)], warnings: &mut Vec<String>) {
    let mut all: BTreeMap<String, Vec<(&Value, String)>> = BTreeMap::new();
    let mut names: BTreeMap<&str, String> = BTreeMap::new();
    let mut of_names = Vec::new();
    for (container, place) in containers {
        for (i, port) in items(&container["ports"]).enumerate() {
            let place = format!("{place}.ports[{i}]");
            if !text(port, "hostIP").is_empty() && number(port, "hostPort") == 0 {
                warnings.push(format!("{place}: hostIP set without hostPort: {}", in_go(port)));
            }
            let others = all.entry(format!("{}/{}", port["containerPort"], port["protocol"])).or_default();
            for (other, first) in others.iter() {
                if let Some(how) = conflict(port, other) {
                    warnings.push(format!("{place}: {how} port definition with {first}"));
                }
            }
            others.push((port, place.clone()));
            let name = port["name"].as_str().unwrap_or_default();
            match names.get(name) {
                _ if name.is_empty() => {}
                Some(first) => of_names.push(format!(
                    "{place}: duplicate port name {} with {first}, services and probes that select ports by name will use \
                     {first}",
                    quoted(name)
                )),
                None => _ = names.insert(name, place),
            }
        }
    }
    warnings.extend(of_names);
}

fn text<'v>(holder: &'v Value, member: &str) -> &'v str {
    holder[member].as_str().unwrap_or_default()
}

fn number(holder: &Value, member: &str) -> i64 {
    holder[member].as_i64().unwrap_or_default()
}

/// Formats a port as Go's `%+v` does.
fn in_go(port: &Value) -> String {
    format!(
        "{{Name:{} HostPort:{} ContainerPort:{} Protocol:{} HostIP:{}}}",
        text(port, "name"),
        number(port, "hostPort"),
        number(port, "containerPort"),
        text(port, "protocol"),
        text(port, "hostIP")
    )
}

/// Returns how two definitions of a port conflict.
fn conflict(port: &Value, other: &Value) -> Option<&'static str> {
    let (host, address) = (|port| number(port, "hostPort"), |port| text(port, "hostIP"));
    let (same_host, same_address) = (host(port) == host(other), address(port) == address(other));
    if same_host && same_address {
        Some("duplicate")
    } else if host(port) == 0 || host(other) == 0 {
        Some("overlapping")
    } else {
        let one_of_all = address(port).is_empty() != address(other).is_empty();
        (same_host && one_of_all).then_some("dangerously ambiguous")
    }
}

fn affinity(affinity: &Value, place: &str, warnings: &mut Vec<String>) {
    for kind in ["podAffinity", "podAntiAffinity"] {
        for (i, term) in items(&affinity[kind][REQUIRED]).enumerate() {
            if term["labelSelector"].is_null() {
                warnings.push(format!("{place}.{kind}.{REQUIRED}[{i}].labelSelector: {NO_POD}"));
            }
        }
        for (i, term) in items(&affinity[kind][PREFERRED]).enumerate() {
            if term["podAffinityTerm"]["labelSelector"].is_null() {
                let field = format!("{place}.{kind}.{PREFERRED}[{i}].podAffinityTerm.labelSelector");
                warnings.push(format!("{field}: {NO_POD}"));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn annotations_with_fields_of_their_own_get_a_warning() {
        let (seccomp, armor) = (
            "container.seccomp.security.alpha.kubernetes.io/c",
            "container.apparmor.security.beta.kubernetes.io/c",
        );
        let template = |profile: &str| {
            let context = json!({"appArmorProfile": {"type": "Localhost", "localhostProfile": profile}});
            json!({"metadata": {"annotations": {seccomp: "x", armor: "localhost/a"}},
                "spec": {"containers": [{"name": "c"}], "securityContext": context}})
        };
        let of_seccomp = format!(
            "t.metadata.annotations[{seccomp}]: non-functional in v1.27+; use the \"seccompProfile\" field instead"
        );
        assert_eq!(of(&template("a"), "t"), std::slice::from_ref(&of_seccomp));
        let of_armor = format!(
            "t.metadata.annotations[{armor}]: deprecated since v1.30; use the \"appArmorProfile\" field instead"
        );
        assert_eq!(of(&template("b"), "t"), [of_seccomp, of_armor]);
    }

    #[test]
    fn addresses_of_a_pod_get_a_warning() {
        let ports = json!([{"containerPort": 80, "protocol": "TCP", "hostIP": "10.1.1.1"}]);
        let spec =
            json!({"containers": [{"name": "c", "ports": ports}], "hostAliases": [{"ip": "2001:DB8::1"}]});
        let form = "IPv6 address \"2001:DB8::1\" should be in RFC 5952 canonical format (\"2001:db8::1\")";
        assert_eq!(
            of(&json!({"spec": spec}), ""),
            [
                "spec.containers[0].ports[0]: hostIP set without hostPort: {Name: HostPort:0 ContainerPort:80 Protocol:TCP \
                 HostIP:10.1.1.1}"
                    .to_owned(),
                format!("spec.hostAliases[0].ip: {form}")
            ]
        );
        assert_eq!(
            of_status(&json!({"podIPs": [{"ip": "2001:DB8::1"}]})),
            [format!("status.podIPs[0].ip: {form}")]
        );
    }

    #[test]
    fn duplicate_and_hidden_fields_of_a_pod_get_a_warning() {
        let port = |host: i64| json!({"containerPort": 80, "protocol": "TCP", "hostPort": host, "name": "p"});
        let env = json!([{"name": "A", "value": "1"}, {"name": "A", "value": "$(A)2"}, {"name": "A", "value": "3"}]);
        let container = json!({"name": "c", "env": env, "ports": [port(0), port(1)],
            "resources": {"limits": {"memory": "1m"}}});
        let pod = json!({"spec": {"containers": [container], "terminationGracePeriodSeconds": -1,
            "imagePullSecrets": [{"name": "a"}, {"name": "a"}, {}]}});
        assert_eq!(
            of(&pod, ""),
            [
                "spec.imagePullSecrets[1].name: duplicate name \"a\"",
                "spec.imagePullSecrets[2].name: invalid empty name \"\"",
                "spec.containers[0].resources.limits[memory]: fractional byte value \"1m\" is invalid, must be an integer",
                "spec.containers[0].env[2]: hides previous definition of \"A\", which may be dropped when using apply",
                "spec.containers[0].ports[1]: overlapping port definition with spec.containers[0].ports[0]",
                "spec.containers[0].ports[1]: duplicate port name \"p\" with spec.containers[0].ports[0], services and probes that \
                 select ports by name will use spec.containers[0].ports[0]",
                "spec.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1",
            ]
        );
    }
}
