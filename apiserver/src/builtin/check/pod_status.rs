//! The status of pods. Source: `ValidatePodStatusUpdate` of `pkg/apis/core/validation`.

use serde_json::{Value, json};

use super::addresses;
use super::field::{Errors, Field};
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
        let mut parsed = Vec::new();
        for entry in list.items() {
            let address = entry.child("ip").at(entry.path.clone());
            addresses::ip(&address, &kept, errors);
            parsed.extend(addresses::parse(address.text()));
        }
        let is_dual = parsed.iter().any(|one| one.is_ipv4()) && parsed.iter().any(|one| one.is_ipv6());
        if list.items().count() > 2 || (list.items().count() > 1 && !is_dual) {
            let shown =
                Value::Array(list.items().map(|entry| json!({"IP": entry.child("ip").text()})).collect());
            errors.invalid(&list.holding(&shown), "may specify no more than one IP for each IP family");
        }
    }
}

/// `ValidatePodStatusUpdate`, for addresses and restarts only.
pub(in crate::builtin) fn pod_status(new: &Value, old: &Value) -> Vec<Cause> {
    Errors::of(|errors| {
        let status = Field::root(new).child("status");
        status_addresses(&status, old, errors);
        let policy = old["spec"]["restartPolicy"].as_str().unwrap_or_default();
        for (list, policy) in [("containerStatuses", policy), ("ephemeralContainerStatuses", "Never")] {
            restarts(&status.child(list), &old["status"][list], policy, errors);
        }
    })
}

/// `ValidateContainerStateTransition`.
fn restarts(new: &Field<'_>, old: &Value, policy: &str, errors: &mut Errors) {
    if policy == "Always" {
        return;
    }
    for before in Field::root(old).at(new.path.clone()).items() {
        let ended = before.child("state").child("terminated");
        let may_restart = policy == "OnFailure" && ended.child("exitCode").number_or_zero() != 0;
        if !ended.is_set() || may_restart {
            continue;
        }
        let name = before.child("name").text();
        let runs = |now: &Field<'_>| {
            now.child("name").text() == name && !now.child("state").child("terminated").is_set()
        };
        if new.items().any(|now| runs(&now)) {
            errors.forbidden(&before.child("state"), "may not be transitioned to non-terminated state");
        }
    }
}
