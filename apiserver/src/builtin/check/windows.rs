//! Windows containers. Source: `validateWindowsSecurityContextOptions` and `validateWindowsHostProcessPod` of
//! `pkg/apis/core/validation`.

use serde_json::Value;

use super::field::{Errors, Field};
use super::pods::all_containers;
use crate::names::NameRule;

/// Checks the options of a security context.
pub(super) fn options(options: &Field<'_>, errors: &mut Errors) {
    const LONGEST_SPEC: usize = 64 * 1024;
    let (name, spec) = (options.child("gmsaCredentialSpecName"), options.child("gmsaCredentialSpec"));
    if name.is_set() {
        errors.all_invalid(&name, NameRule::Subdomain.check(name.text()));
    }
    if spec.is_set() && spec.is_empty() {
        errors.invalid(&spec, "gmsaCredentialSpec cannot be an empty string");
    } else if spec.text().len() > LONGEST_SPEC {
        errors.invalid(&spec, "gmsaCredentialSpec size must be under 64 KiB");
    }
    let user = options.child("runAsUserName");
    if user.is_set() {
        for fault in user_faults(user.text()) {
            errors.invalid(&user, &format!("runAsUserName{fault}"));
        }
    }
}

/// Returns the faults of a name such as `DOMAIN\USER`.
fn user_faults(name: &str) -> Vec<&'static str> {
    const LONGEST_DOMAIN: usize = 256;
    const LONGEST_USER: usize = 104;
    if name.is_empty() {
        return vec![" cannot be an empty string"];
    }
    if name.bytes().any(|b| b.is_ascii_control()) {
        return vec![" cannot contain control characters"];
    }
    let (domain, user) = name.split_once('\\').map_or((None, name), |(domain, user)| (Some(domain), user));
    if user.contains('\\') {
        return vec![" cannot contain more than one backslash"];
    }
    let mut faults = Vec::new();
    if domain.is_some_and(|domain| domain.len() >= LONGEST_DOMAIN) {
        faults.push("'s Domain length must be under 256 characters");
    }
    if domain.is_some_and(|domain| !is_net_bios(domain) && !domain.split('.').all(is_label)) {
        faults.push("'s Domain doesn't match the NetBios nor the DNS format");
    }
    if user.is_empty() {
        faults.push("'s User cannot be empty");
    } else if user.len() > LONGEST_USER {
        faults.push("'s User length must not be longer than 104 characters");
    }
    if !user.is_empty() && user.bytes().all(|b| matches!(b, b'.' | b' ')) {
        faults.push("'s User cannot contain only periods or spaces");
    }
    if user.contains(['"', '/', '\\', ':', ';', '|', '=', ',', '+', '*', '?', '<', '>', '@', '[', ']']) {
        faults.push(r#"'s User cannot contain the following characters: "/\:;|=,+*?<>@[]"#);
    }
    faults
}

/// `validNetBiosRegex`.
fn is_net_bios(domain: &str) -> bool {
    (1..=15).contains(&domain.chars().count())
        && !domain.starts_with('.')
        && !domain.contains(['\\', '/', ':', '*', '?', '"', '<', '>', '|'])
}

/// `dnsLabelFormat`.
fn is_label(label: &str) -> bool {
    (1..=63).contains(&label.len())
        && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
        && !label.starts_with('-')
        && !label.ends_with('-')
}

/// `hostProcess` of a pod or container.
fn choice<'v>(holder: &Field<'v>) -> Field<'v> {
    holder.child("securityContext").child("windowsOptions").child("hostProcess")
}

/// Checks containers that are processes of their host: all or none are, and the pod is in its host's network.
pub(super) fn host_processes(spec: &Field<'_>, errors: &mut Errors) {
    let of_pod = choice(spec);
    let (mut count, mut all) = (0, 0);
    for container in all_containers(spec) {
        let own = choice(&container);
        if of_pod.is_set() && own.is_set() && of_pod.value != own.value {
            let detail = format!(
                "pod hostProcess value must be identical if both are specified, was {}",
                of_pod.value
            );
            errors.invalid(&own, &detail);
        }
        all += 1;
        count += usize::from(if own.is_set() { own.is_true() } else { of_pod.is_true() });
    }
    if count == 0 {
        return;
    }
    if count != all {
        let detail =
            "If pod contains any hostProcess containers then all containers must be HostProcess containers";
        errors.invalid_as(spec, "\"\"", detail);
    }
    let network = spec.child("hostNetwork");
    if !network.is_true() {
        let detail = "hostNetwork must be true if pod contains any hostProcess containers";
        errors.invalid(&network.holding(&Value::Bool(false)), detail);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn faults(check: fn(&Field<'_>, &mut Errors), value: &Value) -> Vec<String> {
        let causes = Errors::of(|errors| check(&Field::root(value).at("w"), errors));
        causes.iter().map(|cause| format!("{}: {}", cause.field, cause.message)).collect()
    }

    /// Cases of `TestValidateWindowsSecurityContextOptions`.
    #[test]
    fn user_of_a_container_has_at_most_one_domain() {
        for name in ["ContainerAdministrator", r"NT AUTHORITY\SYSTEM", r"a.b-c.d\user", r"test-group\foo"] {
            assert!(user_faults(name).is_empty(), "{name}");
        }
        for (name, wanted) in [
            ("", " cannot be an empty string"),
            ("a\tb", " cannot contain control characters"),
            (r"a\b\c", " cannot contain more than one backslash"),
            (r".a\b", "'s Domain doesn't match the NetBios nor the DNS format"),
            (r"a\", "'s User cannot be empty"),
            ("...", "'s User cannot contain only periods or spaces"),
            ("a@b", r#"'s User cannot contain the following characters: "/\:;|=,+*?<>@[]"#),
        ] {
            assert_eq!(user_faults(name), [wanted], "{name}");
        }
        assert_eq!(user_faults(&"u".repeat(105)), ["'s User length must not be longer than 104 characters"]);
        let options_of = json!({"gmsaCredentialSpec": "", "runAsUserName": ""});
        let empty =
            |member: &str| format!("w.{member}: Invalid value: \"\": {member} cannot be an empty string");
        assert_eq!(faults(options, &options_of), [empty("gmsaCredentialSpec"), empty("runAsUserName")]);
    }

    #[test]
    fn all_containers_are_processes_of_the_host_or_none() {
        let own = |on: bool| json!({"securityContext": {"windowsOptions": {"hostProcess": on}}});
        let mixed = json!({"containers": [own(true), {}], "hostNetwork": true});
        let all =
            "If pod contains any hostProcess containers then all containers must be HostProcess containers";
        assert_eq!(faults(host_processes, &mixed), [format!("w: Invalid value: \"\": {all}")]);
        let mut whole = own(true);
        whole["containers"] = json!([own(false)]);
        let place = "w.containers[0].securityContext.windowsOptions.hostProcess";
        let detail = "pod hostProcess value must be identical if both are specified, was true";
        assert_eq!(faults(host_processes, &whole), [format!("{place}: Invalid value: false: {detail}")]);
        whole["containers"] = json!([{}]);
        let detail = "hostNetwork must be true if pod contains any hostProcess containers";
        assert_eq!(
            faults(host_processes, &whole),
            [format!("w.hostNetwork: Invalid value: false: {detail}")]
        );
    }
}
