//! The checks of the level `baseline` (policy/check_*.go).

use serde_json::Value;

use super::checks::{Pod, Texts, Violation, named, plural, quoted, setters, text};

const APP_ARMOR: &str = "container.apparmor.security.beta.kubernetes.io/";

pub(super) fn app_armor(pod: Pod<'_>, _: u32) -> Option<Violation> {
    let mut types = Texts::new();
    let is_bad = |security: &Value| {
        let profile = &security["appArmorProfile"];
        let bad = profile.is_object() && !matches!(text(&profile["type"]), "RuntimeDefault" | "Localhost");
        bad.then(|| text(&profile["type"]).to_owned())
    };
    let of_pod = is_bad(pod.security());
    let of_containers: Vec<(&str, String)> = pod
        .containers()
        .filter_map(|container| Some((text(&container["name"]), is_bad(&container["securityContext"])?)))
        .collect();
    types.extend(of_pod.as_deref());
    types.extend(of_containers.iter().map(|(_, type_)| type_.as_str()));
    let annotations = pod.metadata["annotations"].as_object().into_iter().flatten();
    let mut forbidden: Vec<String> = annotations
        .filter(|(key, _)| key.starts_with(APP_ARMOR))
        .map(|(key, value)| (key, text(value)))
        .filter(|(_, value)| !matches!(*value, "" | "runtime/default") && !value.starts_with("localhost/"))
        .map(|(key, value)| format!("{key}={value:?}"))
        .collect();
    forbidden.sort();
    let containers: Vec<&str> = of_containers.iter().map(|(name, _)| *name).collect();
    let mut bad: Vec<String> = setters(of_pod.is_some(), &containers).into_iter().collect();
    if !forbidden.is_empty() {
        bad.push(plural("annotation", "annotations", forbidden.len()).to_owned());
    }
    if bad.is_empty() {
        return None;
    }
    let values: Vec<&str> = types.into_iter().chain(forbidden.iter().map(String::as_str)).collect();
    let reason = plural("forbidden AppArmor profile", "forbidden AppArmor profiles", values.len());
    let detail = format!("{} must not set AppArmor profile type to {}", bad.join(" and "), quoted(values));
    Violation::new(reason, detail)
}

const CAPABILITIES: [&str; 13] = [
    "AUDIT_WRITE",
    "CHOWN",
    "DAC_OVERRIDE",
    "FOWNER",
    "FSETID",
    "KILL",
    "MKNOD",
    "NET_BIND_SERVICE",
    "SETFCAP",
    "SETGID",
    "SETPCAP",
    "SETUID",
    "SYS_CHROOT",
];

/// Returns the containers that add capabilities beyond the allowed ones, and those capabilities.
pub(super) fn adding<'v>(pod: Pod<'v>, allowed: &[&str]) -> (Vec<&'v str>, Texts<'v>) {
    let mut forbidden = Texts::new();
    let containers = pod.containers_that(|container| {
        let added = container.pointer("/securityContext/capabilities/add").and_then(Value::as_array);
        let bad: Vec<&'v str> =
            added.into_iter().flatten().map(text).filter(|name| !allowed.contains(name)).collect();
        forbidden.extend(&bad);
        !bad.is_empty()
    });
    (containers, forbidden)
}

/// Describes containers that add capabilities.
pub(super) fn must_not_add(containers: &[&str], forbidden: Texts<'_>) -> String {
    format!(
        "{} must not include {} in securityContext.capabilities.add",
        named(containers),
        quoted(forbidden)
    )
}

pub(super) fn capabilities(pod: Pod<'_>, _: u32) -> Option<Violation> {
    let (containers, forbidden) = adding(pod, &CAPABILITIES);
    if containers.is_empty() {
        return None;
    }
    Violation::new("non-default capabilities", must_not_add(&containers, forbidden))
}

pub(super) fn host_namespaces(pod: Pod<'_>, _: u32) -> Option<Violation> {
    let fields = ["hostNetwork", "hostPID", "hostIPC"];
    let set: Vec<String> = fields
        .iter()
        .filter(|field| pod.spec[**field] == true)
        .map(|field| format!("{field}=true"))
        .collect();
    if set.is_empty() { None } else { Violation::new("host namespaces", set.join(", ")) }
}

pub(super) fn host_path_volumes(pod: Pod<'_>, _: u32) -> Option<Violation> {
    let volumes = pod.spec["volumes"].as_array().into_iter().flatten();
    let bad: Vec<&str> =
        volumes.filter(|volume| volume["hostPath"].is_object()).map(|volume| text(&volume["name"])).collect();
    if bad.is_empty() {
        return None;
    }
    let word = plural("volume", "volumes", bad.len());
    Violation::new("hostPath volumes", format!("{word} {}", quoted(bad)))
}

pub(super) fn host_ports(pod: Pod<'_>, _: u32) -> Option<Violation> {
    let mut ports = std::collections::BTreeSet::new();
    let containers = pod.containers_that(|container| {
        let all = container["ports"].as_array().into_iter().flatten();
        let bad: Vec<i64> =
            all.filter_map(|port| port["hostPort"].as_i64()).filter(|port| *port != 0).collect();
        ports.extend(bad.iter().map(i64::to_string));
        !bad.is_empty()
    });
    if containers.is_empty() {
        return None;
    }
    let (uses, word) =
        (plural("uses", "use", containers.len()), plural("hostPort", "hostPorts", ports.len()));
    let ports = ports.into_iter().collect::<Vec<_>>().join(", ");
    Violation::new("hostPort", format!("{} {uses} {word} {ports}", named(&containers)))
}

/// The hosts of probes and of handlers of the lifecycle.
pub(super) fn hosts_of_handlers(pod: Pod<'_>, _: u32) -> Option<Violation> {
    const HANDLERS: [&str; 5] =
        ["/livenessProbe", "/readinessProbe", "/startupProbe", "/lifecycle/postStart", "/lifecycle/preStop"];
    let (mut containers, mut hosts) = (Texts::new(), Texts::new());
    for container in pod.containers() {
        let handlers = HANDLERS.iter().filter_map(|place| container.pointer(place));
        let bad: Vec<&str> = handlers
            .flat_map(|handler| ["httpGet", "tcpSocket"].map(|kind| text(&handler[kind]["host"])))
            .filter(|host| !host.is_empty())
            .collect();
        if !bad.is_empty() {
            containers.insert(text(&container["name"]));
            hosts.extend(bad);
        }
    }
    if containers.is_empty() {
        return None;
    }
    let containers: Vec<&str> = containers.into_iter().collect();
    let (uses, word) = (
        plural("uses", "use", containers.len()),
        plural("probe or lifecycle host", "probe or lifecycle hosts", hosts.len()),
    );
    let detail = format!("{} {uses} {word} {}", named(&containers), quoted(hosts));
    Violation::new("probe or lifecycle host", detail)
}

pub(super) fn privileged(pod: Pod<'_>, _: u32) -> Option<Violation> {
    let bad = pod.containers_that(|container| container["securityContext"]["privileged"] == true);
    if bad.is_empty() {
        return None;
    }
    Violation::new("privileged", format!("{} must not set securityContext.privileged=true", named(&bad)))
}

/// From 1.35 on, pods with users of their own may unmask `/proc`.
pub(super) fn proc_mount(pod: Pod<'_>, minor: u32) -> Option<Violation> {
    if minor >= 35 && pod.has_own_users() { None } else { masked_proc_mount(pod) }
}

/// `procMount_1_0`.
pub(super) fn masked_proc_mount(pod: Pod<'_>) -> Option<Violation> {
    let mut types = Texts::new();
    let containers = pod.containers_that(|container| {
        let type_ = container["securityContext"]["procMount"].as_str().filter(|type_| *type_ != "Default");
        types.extend(type_);
        type_.is_some()
    });
    if containers.is_empty() {
        return None;
    }
    let detail =
        format!("{} must not set securityContext.procMount to {}", named(&containers), quoted(types));
    Violation::new("procMount", detail)
}

pub(super) fn selinux(pod: Pod<'_>, minor: u32) -> Option<Violation> {
    let (mut types, mut user, mut role) = (Texts::new(), false, false);
    let mut is_bad = |options: &Value| {
        let type_ = text(&options["type"]);
        let is_engine = type_ == "container_engine_t" && minor >= 31;
        let allowed =
            is_engine || matches!(type_, "" | "container_t" | "container_init_t" | "container_kvm_t");
        let (has_user, has_role) = (!text(&options["user"]).is_empty(), !text(&options["role"]).is_empty());
        user |= has_user;
        role |= has_role;
        (!allowed || has_user || has_role, (!allowed).then(|| type_.to_owned()))
    };
    let (of_pod, type_) = is_bad(&pod.security()["seLinuxOptions"]);
    let mut found: Vec<String> = type_.into_iter().collect();
    let containers = pod.containers_that(|container| {
        let (bad, type_) = is_bad(&container["securityContext"]["seLinuxOptions"]);
        found.extend(type_);
        bad
    });
    let bad = setters(of_pod, &containers)?;
    types.extend(found.iter().map(String::as_str));
    let mut data = Vec::new();
    if !types.is_empty() {
        data.push(format!("{} {}", plural("type", "types", types.len()), quoted(types)));
    }
    data.extend(user.then(|| "user may not be set".to_owned()));
    data.extend(role.then(|| "role may not be set".to_owned()));
    let detail = format!("{bad} set forbidden securityContext.seLinuxOptions: {}", data.join("; "));
    Violation::new("seLinuxOptions", detail)
}

/// Until 1.18, seccomp profiles are annotations.
pub(super) fn seccomp(pod: Pod<'_>, minor: u32) -> Option<Violation> {
    if minor < 19 {
        return annotated_seccomp(pod);
    }
    let profiles = Seccomp::of(pod);
    profiles.violation()
}

/// The seccomp profiles of a pod.
pub(super) struct Seccomp<'v> {
    pub(super) pod_is_good: bool,
    pod_is_bad: bool,
    containers: Vec<&'v str>,
    types: Texts<'v>,
}

impl<'v> Seccomp<'v> {
    pub(super) fn of(pod: Pod<'v>) -> Self {
        let bad = |profile: &'v Value| {
            let type_ = text(&profile["type"]);
            let bad = profile.is_object() && !matches!(type_, "RuntimeDefault" | "Localhost");
            bad.then_some(type_)
        };
        let of_pod = &pod.security()["seccompProfile"];
        let mut types: Texts<'v> = bad(of_pod).into_iter().collect();
        let mut containers = Vec::new();
        for container in pod.containers() {
            if let Some(type_) = bad(&container["securityContext"]["seccompProfile"]) {
                types.insert(type_);
                containers.push(text(&container["name"]));
            }
        }
        let pod_is_bad = bad(of_pod).is_some();
        Self { pod_is_good: of_pod.is_object() && !pod_is_bad, pod_is_bad, containers, types }
    }

    pub(super) fn violation(self) -> Option<Violation> {
        let bad = setters(self.pod_is_bad, &self.containers)?;
        let types = quoted(self.types);
        let detail = format!("{bad} must not set securityContext.seccompProfile.type to {types}");
        Violation::new("seccompProfile", detail)
    }
}

fn annotated_seccomp(pod: Pod<'_>) -> Option<Violation> {
    let of_pod = "seccomp.security.alpha.kubernetes.io/pod".to_owned();
    let of_container = |container: &Value| {
        format!("container.seccomp.security.alpha.kubernetes.io/{}", text(&container["name"]))
    };
    let keys = std::iter::once(of_pod).chain(pod.containers().map(of_container));
    let forbidden: std::collections::BTreeSet<String> = keys
        .filter_map(|key| {
            let value = pod.metadata["annotations"][&key].as_str()?;
            let allowed =
                matches!(value, "runtime/default" | "docker/default") || value.starts_with("localhost/");
            (!allowed).then(|| format!("{key}={value:?}"))
        })
        .collect();
    if forbidden.is_empty() {
        return None;
    }
    let word = plural("annotation", "annotations", forbidden.len());
    let forbidden = forbidden.into_iter().collect::<Vec<_>>().join(", ");
    Violation::new("seccompProfile", format!("forbidden {word} {forbidden}"))
}

/// Safe sysctls, with the minor version that first allows them.
const SYSCTLS: [(&str, u32); 12] = [
    ("kernel.shm_rmid_forced", 0),
    ("net.ipv4.ip_local_port_range", 0),
    ("net.ipv4.tcp_syncookies", 0),
    ("net.ipv4.ping_group_range", 0),
    ("net.ipv4.ip_unprivileged_port_start", 0),
    ("net.ipv4.ip_local_reserved_ports", 27),
    ("net.ipv4.tcp_keepalive_time", 29),
    ("net.ipv4.tcp_fin_timeout", 29),
    ("net.ipv4.tcp_keepalive_intvl", 29),
    ("net.ipv4.tcp_keepalive_probes", 29),
    ("net.ipv4.tcp_rmem", 32),
    ("net.ipv4.tcp_wmem", 32),
];

pub(super) fn sysctls(pod: Pod<'_>, minor: u32) -> Option<Violation> {
    let set = pod.security()["sysctls"].as_array().into_iter().flatten();
    let is_safe = |name: &str| SYSCTLS.iter().any(|(safe, since)| *safe == name && *since <= minor);
    let bad: Vec<&str> = set.map(|sysctl| text(&sysctl["name"])).filter(|name| !is_safe(name)).collect();
    if bad.is_empty() { None } else { Violation::new("forbidden sysctls", bad.join(", ")) }
}

pub(super) fn host_process(pod: Pod<'_>, _: u32) -> Option<Violation> {
    let is_set = |security: &Value| security["windowsOptions"]["hostProcess"] == true;
    let containers = pod.containers_that(|container| is_set(&container["securityContext"]));
    let bad = setters(is_set(pod.security()), &containers)?;
    Violation::new(
        "hostProcess",
        format!("{bad} must not set securityContext.windowsOptions.hostProcess=true"),
    )
}
