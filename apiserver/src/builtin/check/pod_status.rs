//! The status of pods. Source: `ValidatePodStatusUpdate` of `pkg/apis/core/validation`.

use serde_json::{Value, json};

use super::field::{Errors, Field};
use super::{addresses, restart};
use crate::status::Cause;

/// `validatePodIPs` and `validateHostIPs`: addresses of the old status stay valid.
fn status_addresses(status: &Field<'_>, old: &Value, errors: &mut Errors) {
    for name in ["podIPs", "hostIPs"] {
        let list = status.child(name);
        let first = list.items().next().map(|entry| entry.child("ip"));
        if let Some(first) =
            first.filter(|first| name == "hostIPs" && first.text() != status.child("hostIP").text())
        {
            errors.invalid(&first, "must be equal to `hostIP`");
        }
        let before = Field::root(old).child("status").child(name);
        let kept: Vec<&str> = before.items().map(|entry| entry.child("ip").text()).collect();
        let mut families = Vec::new();
        for entry in list.items() {
            let address = entry.child("ip").at(entry.path.clone());
            addresses::ip(&address, &kept, errors);
            families.push(addresses::parse(address.text()).map(|one| one.is_ipv4()));
        }
        if families.len() < 2 {
            continue;
        }
        if let Some(i) = families.iter().position(Option::is_none) {
            let text = list.items().nth(i).map_or("", |entry| entry.child("ip").text());
            let detail = format!("failed to check for dual stack with error:invalid IP[{i}]: {text}");
            errors.push(Cause::new("InternalError", &list.path, format!("Internal error: {detail}")));
        }
        let is_dual = matches!(*families, [Some(one), Some(other)] if one != other);
        if !is_dual {
            let shown =
                Value::Array(list.items().map(|entry| json!({"IP": entry.child("ip").text()})).collect());
            errors.invalid(&list.holding(&shown), "may specify no more than one IP for each IP family");
        }
    }
}

/// `ValidatePodStatusUpdate`, for restarts and addresses only.
pub(in crate::builtin) fn pod_status(new: &Value, old: &Value) -> Vec<Cause> {
    Errors::of(|errors| {
        let (status, spec) = (Field::root(new).child("status"), Field::root(old).child("spec"));
        let policy = spec.child("restartPolicy").text();
        for (list, containers) in
            [("containerStatuses", "containers"), ("initContainerStatuses", "initContainers")]
        {
            let of_spec = |name: &str| {
                spec.child(containers).items().find(|container| container.child("name").text() == name)
            };
            let may_restart = |name: &str, exit_code: i64| {
                restart::all_could_restart(&spec)
                    || of_spec(name).is_some_and(|one| restart::should_restart(&one, policy, exit_code))
            };
            restarts(&status.child(list), &old["status"][list], may_restart, errors);
        }
        let list = "ephemeralContainerStatuses";
        restarts(&status.child(list), &old["status"][list], |_, _| false, errors);
        status_addresses(&status, old, errors);
    })
}

/// `ValidateContainerStateTransition` and its siblings for init and ephemeral containers. `may_restart` gets the name and
/// the exit code of a container that ended.
fn restarts(new: &Field<'_>, old: &Value, may_restart: impl Fn(&str, i64) -> bool, errors: &mut Errors) {
    for before in Field::root(old).at(new.path.clone()).items() {
        let (name, ended) = (before.child("name").text(), before.child("state").child("terminated"));
        if !ended.is_set() || may_restart(name, ended.child("exitCode").number_or_zero()) {
            continue;
        }
        let runs = |now: &Field<'_>| {
            now.child("name").text() == name && !now.child("state").child("terminated").is_set()
        };
        if new.items().any(|now| runs(&now)) {
            errors.forbidden(&before.child("state"), "may not be transitioned to non-terminated state");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(spec: &Value, list: &str, exit_code: i64) -> Vec<String> {
        let status = |state: Value| json!({list: [{"name": "a"}, {"name": "c", "state": state}]});
        let old = json!({"spec": spec, "status": status(json!({"terminated": {"exitCode": exit_code}}))});
        let new = json!({"spec": spec, "status": status(json!({"running": {}}))});
        pod_status(&new, &old).into_iter().map(|cause| cause.field).collect()
    }

    #[test]
    fn container_restarts_only_if_its_policies_and_rules_say_so() {
        for (list, statuses) in
            [("containers", "containerStatuses"), ("initContainers", "initContainerStatuses")]
        {
            let refused = [format!("status.{statuses}[1].state")];
            let codes = json!({"operator": "In", "values": [42]});
            let rule = |action: &str| json!([{"action": action, "exitCodes": codes}]);
            for (policy, container, exit_code, restarts) in [
                ("Never", json!({"name": "c"}), 1, false),
                ("OnFailure", json!({"name": "c"}), 1, true),
                ("Always", json!({"name": "other"}), 1, false),
                ("Always", json!({"name": "c", "restartPolicy": "Never"}), 1, false),
                ("Never", json!({"name": "c", "restartPolicy": "Always"}), 0, true),
                (
                    "Never",
                    json!({"name": "c", "restartPolicy": "Never", "restartPolicyRules": rule("Restart")}),
                    42,
                    true,
                ),
                (
                    "Never",
                    json!({"name": "other", "restartPolicyRules": rule("RestartAllContainers")}),
                    0,
                    true,
                ),
            ] {
                let spec = json!({"restartPolicy": policy, list: [container]});
                let wanted = if restarts { &[][..] } else { &refused };
                assert_eq!(faults(&spec, statuses, exit_code), wanted, "{spec}");
            }
        }
        let always = json!({"restartPolicy": "Always", "containers": [{"name": "c"}]});
        let place = "status.ephemeralContainerStatuses[1].state";
        assert_eq!(faults(&always, "ephemeralContainerStatuses", 1), [place]);
    }
}
