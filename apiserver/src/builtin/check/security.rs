//! Security contexts. Source: `ValidateSecurityContext` and `validatePodSpecSecurityContext` of `pkg/apis/core/validation`.

use std::borrow::Cow;

use super::field::{Errors, Field, go_struct};
use super::volumes::descending;
use super::windows;

const PROFILES: &[&str] = &["Localhost", "RuntimeDefault", "Unconfined"];

/// Go's names of the internal `SecurityContext`, in their order.
const CONTEXT: &[(&str, &str)] = &[
    ("Capabilities", "capabilities"),
    ("Privileged", "privileged"),
    ("SELinuxOptions", "seLinuxOptions"),
    ("WindowsOptions", "windowsOptions"),
    ("RunAsUser", "runAsUser"),
    ("RunAsGroup", "runAsGroup"),
    ("RunAsNonRoot", "runAsNonRoot"),
    ("ReadOnlyRootFilesystem", "readOnlyRootFilesystem"),
    ("AllowPrivilegeEscalation", "allowPrivilegeEscalation"),
    ("ProcMount", "procMount"),
    ("SeccompProfile", "seccompProfile"),
    ("AppArmorProfile", "appArmorProfile"),
];

/// A container's context.
pub(super) fn container(context: &Field<'_>, host_users: bool, errors: &mut Errors) {
    if !context.is_set() {
        return;
    }
    ids(context, &["runAsUser", "runAsGroup"], errors);
    let mount = context.child("procMount");
    if mount.is_set() {
        errors.optional_one_of(&mount, &["Default", "Unmasked"]);
        if host_users && mount.text() == "Unmasked" {
            errors.invalid(&mount, "`hostUsers` must be false to use `Unmasked`");
        }
    }
    seccomp(&context.child("seccompProfile"), errors);
    if *context.child("allowPrivilegeEscalation").value == serde_json::Value::Bool(false) {
        let shown = go_struct(context.value, CONTEXT);
        if context.child("privileged").is_true() {
            let detail = "cannot set `allowPrivilegeEscalation` to false and `privileged` to true";
            errors.invalid_as(context, &shown, detail);
        }
        if context.child("capabilities").child("add").texts().contains(&"CAP_SYS_ADMIN") {
            let detail =
                "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN";
            errors.invalid_as(context, &shown, detail);
        }
    }
    windows::options(&context.child("windowsOptions"), errors);
    app_armor(&context.child("appArmorProfile"), errors);
}

/// A pod's context.
pub(super) fn pod(context: &Field<'_>, spec: &Field<'_>, errors: &mut Errors) {
    if !context.is_set() {
        return;
    }
    ids(context, &["fsGroup", "runAsUser", "runAsGroup"], errors);
    for group in context.child("supplementalGroups").items() {
        id(&group, errors);
    }
    let shared = spec.child("shareProcessNamespace");
    if shared.is_true() && spec.child("hostPID").is_true() {
        let path = context.child("shareProcessNamespace").path;
        errors.invalid(&shared.at(path), "ShareProcessNamespace and HostPID cannot both be enabled");
    }
    sysctls(&context.child("sysctls"), spec, errors);
    errors.optional_one_of(&context.child("fsGroupChangePolicy"), &["Always", "OnRootMismatch"]);
    seccomp(&context.child("seccompProfile"), errors);
    windows::options(&context.child("windowsOptions"), errors);
    app_armor(&context.child("appArmorProfile"), errors);
    errors.optional_one_of(&context.child("supplementalGroupsPolicy"), &["Merge", "Strict"]);
    // `MountOption` needs a feature that is off by default.
    errors.optional_one_of(&context.child("seLinuxChangePolicy"), &["Recursive"]);
}

/// `IsValidUserID` and `IsValidGroupID`.
fn id(field: &Field<'_>, errors: &mut Errors) {
    if field.number().is_some_and(|id| !(0..=i64::from(i32::MAX)).contains(&id)) {
        errors.invalid(field, "must be between 0 and 2147483647, inclusive");
    }
}

fn ids(context: &Field<'_>, names: &[&str], errors: &mut Errors) {
    for name in names {
        id(&context.child(name), errors);
    }
}

fn seccomp(profile: &Field<'_>, errors: &mut Errors) {
    if !profile.is_set() {
        return;
    }
    let (type_, path) = (profile.child("type"), profile.child("localhostProfile"));
    match type_.text() {
        "" => errors.required(&type_, "type is required when seccompProfile is set"),
        text if PROFILES.contains(&text) => {}
        _ => errors.not_supported(&type_, PROFILES),
    }
    match (type_.text(), path.is_set()) {
        ("Localhost", false) => errors.required(&path, "must be set when seccomp type is Localhost"),
        ("Localhost", true) => descending(&path, errors),
        (_, true) => {
            let fields = [("Type", "type"), ("LocalhostProfile", "localhostProfile")];
            let shown = go_struct(profile.value, &fields);
            errors.invalid_as(&path, &shown, "can only be set when seccomp type is Localhost");
        }
        (_, false) => {}
    }
}

fn app_armor(profile: &Field<'_>, errors: &mut Errors) {
    if !profile.is_set() {
        return;
    }
    let (type_, path) = (profile.child("type"), profile.child("localhostProfile"));
    let needed = "must be set when AppArmor type is Localhost";
    match type_.text() {
        "" => errors.required(&type_, "type is required when appArmorProfile is set"),
        "Localhost" if path.text().trim() != path.text() => {
            errors.invalid(&path, "must not be padded with whitespace");
        }
        "Localhost" if path.is_empty() => errors.required(&path, needed),
        "Localhost" => {}
        "RuntimeDefault" | "Unconfined" if path.is_set() => {
            errors.invalid(&path, "can only be set when AppArmor type is Localhost");
        }
        "RuntimeDefault" | "Unconfined" => {}
        _ => errors.not_supported(&type_, PROFILES),
    }
}

/// `ValidateHostSysctl`: refuses kernel parameters that the pod shares with its host.
fn host_sysctl(name: &Field<'_>, spec: &Field<'_>, errors: &mut Errors) {
    let text = dotted_sysctl(name.text());
    let is_of_processes = || text.starts_with("fs.mqueue.") || IPC_SYSCTLS.contains(&&*text);
    if spec.child("hostNetwork").is_true() && text.starts_with("net.") {
        errors.invalid(name, "may not be specified when 'hostNetwork' is true");
    } else if spec.child("hostIPC").is_true() && is_of_processes() {
        errors.invalid(name, "may not be specified when 'hostIPC' is true");
    }
}

/// The kernel parameters of the IPC namespace (`nameToNamespace` of component-helpers' node/util/sysctl).
const IPC_SYSCTLS: [&str; 10] = [
    "kernel.sem",
    "kernel.shmall",
    "kernel.shmmax",
    "kernel.shmmni",
    "kernel.shm_rmid_forced",
    "kernel.shm",
    "kernel.msgmax",
    "kernel.msgmnb",
    "kernel.msgmni",
    "kernel.msg",
];

/// Returns a parameter's name with dots as separators (`NormalizeName` of component-helpers' node/util/sysctl). A name
/// whose first separator is a slash has dots within its parts.
fn dotted_sysctl(name: &str) -> Cow<'_, str> {
    match name.find(['.', '/']) {
        Some(at) if name[at..].starts_with('/') => {
            let swapped = |c| match c {
                '.' => '/',
                '/' => '.',
                c => c,
            };
            name.chars().map(swapped).collect()
        }
        _ => name.into(),
    }
}

fn sysctls(list: &Field<'_>, spec: &Field<'_>, errors: &mut Errors) {
    const EXPECTED: &str = "must have at most 253 characters and match regex \
                            ^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$";
    let mut seen: Vec<&str> = Vec::new();
    for sysctl in list.items() {
        let name = sysctl.child("name");
        if name.is_empty() {
            errors.required(&name, "");
        } else if !is_sysctl(name.text()) {
            errors.invalid(&name, EXPECTED);
        } else if seen.contains(&name.text()) {
            errors.duplicate(&name);
        }
        host_sysctl(&name, spec, errors);
        seen.push(name.text());
    }
}

fn is_sysctl(name: &str) -> bool {
    let alphanumeric = |b: &u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    let segment = |part: &str| {
        let bytes = part.as_bytes();
        bytes.first().is_some_and(alphanumeric)
            && bytes.last().is_some_and(alphanumeric)
            && bytes.iter().all(|b| alphanumeric(b) || matches!(b, b'-' | b'_'))
    };
    name.len() <= 253 && name.split(['.', '/']).all(segment)
}
