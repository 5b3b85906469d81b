//! The API groups that kube-apiserver itself serves.

pub(crate) const ADMISSION_REGISTRATION: &str = "admissionregistration.k8s.io";
pub(crate) const API_EXTENSIONS: &str = "apiextensions.k8s.io";
pub(crate) const API_REGISTRATION: &str = "apiregistration.k8s.io";

/// Returns a group and version as objects have it.
pub(crate) fn api_version(group: &str, version: &str) -> String {
    if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") }
}

/// The priorities of groups (`DefaultGenericAPIServicePriorities` in `pkg/controlplane/apiserver/aggregator.go`).
pub(crate) const PRIORITIES: &[(&str, i64)] = &[
    ("", 18_000),
    ("apps", 17_800),
    ("events.k8s.io", 17_750),
    ("authentication.k8s.io", 17_700),
    ("authorization.k8s.io", 17_600),
    ("autoscaling", 17_500),
    ("batch", 17_400),
    ("certificates.k8s.io", 17_300),
    ("networking.k8s.io", 17_200),
    ("policy", 17_100),
    ("rbac.authorization.k8s.io", 17_000),
    ("storage.k8s.io", 16_800),
    (ADMISSION_REGISTRATION, 16_700),
    (API_EXTENSIONS, 16_700),
    ("scheduling.k8s.io", 16_600),
    ("coordination.k8s.io", 16_500),
    ("node.k8s.io", 16_300),
    ("discovery.k8s.io", 16_200),
    ("resource.k8s.io", 16_200),
    ("flowcontrol.apiserver.k8s.io", 16_100),
];

/// Reports whether kube-apiserver itself serves a group; the core group has the empty name.
pub(crate) fn is_built_in(group: &str) -> bool {
    group == API_REGISTRATION || PRIORITIES.iter().any(|(name, _)| *name == group)
}

/// Returns the priority of a group in discovery: the aggregator's own comes first, groups of CRDs last.
pub(crate) fn priority(group: &str) -> i64 {
    match PRIORITIES.iter().find(|(name, _)| *name == group) {
        Some((_, priority)) => *priority,
        None if group == API_REGISTRATION => i64::MAX,
        None => 1_000,
    }
}
