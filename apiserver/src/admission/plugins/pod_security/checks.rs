//! The checks of each level and version, in the order of their names (policy/registry.go).

use std::collections::BTreeSet;

use serde_json::Value;

use super::policy::{Level, LevelVersion};
use super::{baseline, restricted};

/// A pod, or a template of pods.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pod<'v> {
    pub(super) metadata: &'v Value,
    pub(super) spec: &'v Value,
}

impl<'v> Pod<'v> {
    pub(super) fn of(object: &'v Value) -> Self {
        Self { metadata: &object["metadata"], spec: &object["spec"] }
    }

    /// `visitContainers`.
    pub(super) fn containers(self) -> impl Iterator<Item = &'v Value> {
        let lists = ["initContainers", "containers", "ephemeralContainers"];
        lists.into_iter().filter_map(move |list| self.spec[list].as_array()).flatten()
    }

    /// The names of the containers for which this holds.
    pub(super) fn containers_that(self, mut holds: impl FnMut(&'v Value) -> bool) -> Vec<&'v str> {
        let found = self.containers().filter(|container| holds(container));
        found.map(|container| text(&container["name"])).collect()
    }

    /// The security context of the pod.
    pub(super) fn security(self) -> &'v Value {
        &self.spec["securityContext"]
    }

    /// Reports whether the fields of Linux mean nothing to the pod's system.
    pub(super) fn is_for_windows(self) -> bool {
        self.spec["os"]["name"] == "windows"
    }

    /// `relaxPolicyForUserNamespacePod`.
    pub(super) fn has_own_users(self) -> bool {
        self.spec["hostUsers"] == false
    }
}

pub(super) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// A violated check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Violation {
    pub(super) reason: String,
    pub(super) detail: String,
}

impl Violation {
    pub(super) fn new(reason: impl Into<String>, detail: impl Into<String>) -> Option<Self> {
        Some(Self { reason: reason.into(), detail: detail.into() })
    }
}

/// `ForbiddenDetail`.
pub(super) fn details(violations: &[Violation]) -> String {
    let shown = |violation: &Violation| format!("{} ({})", violation.reason, violation.detail);
    violations.iter().map(shown).collect::<Vec<_>>().join(", ")
}

/// Returns the text for one thing or for several.
pub(super) fn plural<'t>(one: &'t str, many: &'t str, count: usize) -> &'t str {
    if count == 1 { one } else { many }
}

/// `joinQuote`.
pub(super) fn quoted<'t>(items: impl IntoIterator<Item = &'t str>) -> String {
    items.into_iter().map(|item| format!("\"{item}\"")).collect::<Vec<_>>().join(", ")
}

/// Names containers: `container "a"`.
pub(super) fn named(containers: &[&str]) -> String {
    let word = plural("container", "containers", containers.len());
    format!("{word} {}", quoted(containers.iter().copied()))
}

/// Names the pod if it is bad, and the bad containers; `None` if all are good.
pub(super) fn setters(pod: bool, containers: &[&str]) -> Option<String> {
    let mut bad = Vec::new();
    if pod {
        bad.push("pod".to_owned());
    }
    if !containers.is_empty() {
        bad.push(named(containers));
    }
    (!bad.is_empty()).then(|| bad.join(" and "))
}

/// Texts without repetition, in their order.
pub(super) type Texts<'t> = BTreeSet<&'t str>;

/// A check of a pod, by the rules of a minor version.
type Run = fn(Pod<'_>, u32) -> Option<Violation>;

/// A check, and where it applies.
struct Check {
    level: Level,
    /// The minor version that introduces it.
    since: u32,
    /// The minor version from which on a stricter check replaces it at the level `restricted`.
    replaced: u32,
    run: Run,
}

const NEVER: u32 = u32::MAX;

/// The last minor version that changed a check; later ones are the same.
const LAST: u32 = 35;

const fn baseline(since: u32, replaced: u32, run: Run) -> Check {
    Check { level: Level::Baseline, since, replaced, run }
}

const fn restricted(since: u32, run: Run) -> Check {
    Check { level: Level::Restricted, since, replaced: NEVER, run }
}

const CHECKS: &[Check] = &[
    baseline(0, NEVER, baseline::app_armor),
    baseline(0, 22, baseline::capabilities),
    baseline(0, NEVER, baseline::host_namespaces),
    baseline(0, 0, baseline::host_path_volumes),
    baseline(0, NEVER, baseline::host_ports),
    baseline(34, NEVER, baseline::hosts_of_handlers),
    baseline(0, NEVER, baseline::privileged),
    baseline(0, 35, baseline::proc_mount),
    baseline(0, NEVER, baseline::selinux),
    baseline(0, 19, baseline::seccomp),
    baseline(0, NEVER, baseline::sysctls),
    baseline(0, NEVER, baseline::host_process),
    restricted(8, restricted::privilege_escalation),
    restricted(22, restricted::capabilities),
    restricted(35, restricted::proc_mount),
    restricted(0, restricted::volumes),
    restricted(0, restricted::run_as_non_root),
    restricted(23, restricted::run_as_user),
    restricted(19, restricted::seccomp),
];

/// `EvaluatePod` of policy/registry.go.
pub(super) fn violations(policy: LevelVersion, pod: Pod<'_>) -> Vec<Violation> {
    let minor = policy.minor.unwrap_or(LAST).min(LAST);
    let applies = |check: &&Check| {
        let is_replaced = policy.level == Level::Restricted && minor >= check.replaced;
        check.level <= policy.level && check.since <= minor && !is_replaced
    };
    CHECKS.iter().filter(applies).filter_map(|check| (check.run)(pod, minor)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// The details of a pod's violations, by the rules of a minor version.
    fn found(level: Level, minor: u32, spec: &Value) -> String {
        let pod = json!({"spec": spec});
        details(&violations(LevelVersion { level, minor: Some(minor) }, Pod::of(&pod)))
    }

    /// Cases of policy/check_*_test.go.
    #[test]
    fn check_names_what_a_pod_violates_by_the_rules_of_the_version() {
        use Level::{Baseline, Restricted};
        let container = |own: Value| json!({"containers": [{"name": "c", "securityContext": own}]});
        let sysctl = json!({"securityContext": {"sysctls": [{"name": "net.ipv4.ip_local_reserved_ports"}]}});
        let engine = json!({"securityContext": {"seLinuxOptions": {"type": "container_engine_t"}}});
        let probe = json!({"containers": [{"name": "c", "livenessProbe": {"httpGet": {"host": "h"}}}]});
        let volumes = json!({"volumes": [{"name": "a", "hostPath": {}}, {"name": "b", "nfs": {}}]});
        let ports = json!({"containers": [{"name": "c", "ports": [{"hostPort": 80}, {"hostPort": 81}]}]});
        for (level, minor, spec, expected) in [
            (
                Baseline,
                35,
                json!({"hostPID": true, "hostIPC": true}),
                "host namespaces (hostPID=true, hostIPC=true)",
            ),
            (Baseline, 35, ports, "hostPort (container \"c\" uses hostPorts 80, 81)"),
            (Baseline, 35, volumes.clone(), "hostPath volumes (volume \"a\")"),
            (
                Baseline,
                35,
                container(json!({"privileged": true})),
                "privileged (container \"c\" must not set securityContext.privileged=true)",
            ),
            (Baseline, 26, sysctl.clone(), "forbidden sysctls (net.ipv4.ip_local_reserved_ports)"),
            (Baseline, 27, sysctl, ""),
            (
                Baseline,
                30,
                engine.clone(),
                "seLinuxOptions (pod set forbidden securityContext.seLinuxOptions: type \"container_engine_t\")",
            ),
            (Baseline, 31, engine, ""),
            (Baseline, 33, probe.clone(), ""),
            (
                Baseline,
                34,
                probe,
                "probe or lifecycle host (container \"c\" uses probe or lifecycle host \"h\")",
            ),
            (
                Restricted,
                0,
                volumes,
                "restricted volume types (volumes \"a\", \"b\" use restricted volume types \"hostPath\", \"nfs\")",
            ),
            (
                Restricted,
                7,
                container(json!({})),
                "runAsNonRoot != true (pod or container \"c\" must set securityContext.runAsNonRoot=true)",
            ),
            (
                Restricted,
                22,
                container(
                    json!({"runAsNonRoot": true, "seccompProfile": {"type": "Localhost"}, "runAsUser": 0}),
                ),
                "allowPrivilegeEscalation != false (container \"c\" must set securityContext.allowPrivilegeEscalation=false), \
                 unrestricted capabilities (container \"c\" must set securityContext.capabilities.drop=[\"ALL\"])",
            ),
        ] {
            assert_eq!(found(level, minor, &spec), expected, "{spec}");
        }
    }

    #[test]
    fn stricter_checks_replace_those_of_baseline() {
        let container = json!({"name": "c", "securityContext": {"capabilities": {"add": ["X"]}, "seccompProfile":
            {"type": "Unconfined"}, "procMount": "Unmasked"}});
        let spec = json!({"hostUsers": false, "containers": [container],
            "volumes": [{"name": "v", "hostPath": {}}]});
        let reasons = |level, minor| {
            let pod = json!({"spec": spec});
            let found = violations(LevelVersion { level, minor }, Pod::of(&pod));
            found.into_iter().map(|violation| violation.reason).collect::<Vec<_>>()
        };
        assert_eq!(reasons(Level::Privileged, None), Vec::<String>::new());
        assert_eq!(
            reasons(Level::Baseline, Some(34)),
            ["non-default capabilities", "hostPath volumes", "procMount", "seccompProfile"]
        );
        assert_eq!(
            reasons(Level::Baseline, None),
            ["non-default capabilities", "hostPath volumes", "seccompProfile"]
        );
        assert_eq!(
            reasons(Level::Restricted, None),
            [
                "allowPrivilegeEscalation != false",
                "unrestricted capabilities",
                "procMount",
                "restricted volume types",
                "seccompProfile"
            ]
        );
    }
}
