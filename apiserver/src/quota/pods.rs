//! The usage of pods. Source: `pkg/quota/v1/evaluator/core/pods.go`.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};
use kubesmith_apimachinery::quantity::Quantity;
use serde_json::Value;

use super::is_extended_in_quota;
use crate::amounts::{Quantities, is_of_pods, quantities, total};
use crate::{builtin, meta};

/// Resources of the node that each container has to request or limit when a quota counts them (`validationSet`).
const EXPLICIT: [&str; 6] =
    ["cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory"];

const EPHEMERAL: &str = "ephemeral-storage";

pub(super) fn uses(resource: &str) -> bool {
    let is_huge_pages = |name: &str| name.starts_with("hugepages-");
    let own = resource.strip_prefix("requests.").or_else(|| resource.strip_prefix("limits."));
    resource == "pods"
        || matches!(own.unwrap_or(resource), "cpu" | "memory" | EPHEMERAL)
        || is_huge_pages(resource)
        || resource.strip_prefix("requests.").is_some_and(is_huge_pages)
        || is_extended_in_quota(resource)
}

/// `PodUsageFunc`, without the count of objects: a pod that has ended uses nothing.
pub(super) fn usage(pod: &Value, now: Timestamp) -> Quantities {
    if has_ended(pod, now) {
        return Quantities::new();
    }
    of(&total(pod, "requests"), &total(pod, "limits"))
}

/// `QuotaV1Pod`, negated.
fn has_ended(pod: &Value, now: Timestamp) -> bool {
    if matches!(pod["status"]["phase"].as_str(), Some("Failed" | "Succeeded")) {
        return true;
    }
    let end: Option<Timestamp> = meta::text(pod, "deletionTimestamp").parse().ok();
    let grace = pod["metadata"]["deletionGracePeriodSeconds"].as_i64();
    let due = end.zip(grace).and_then(|(end, grace)| end.checked_add(SignedDuration::from_secs(grace)).ok());
    due.is_some_and(|due| now > due)
}

/// `podComputeUsageHelper`.
fn of(requests: &Quantities, limits: &Quantities) -> Quantities {
    let mut usage = Quantities::from([("pods".to_owned(), Quantity::from(1))]);
    for (name, amount) in requests {
        let is_basic =
            matches!(name.as_str(), "cpu" | "memory" | EPHEMERAL) || name.starts_with("hugepages-");
        if is_basic {
            usage.insert(name.clone(), *amount);
        }
        let is_device = name.starts_with("deviceclass.resource.kubernetes.io/");
        if is_basic || is_device || builtin::is_extended(name) {
            usage.insert(format!("requests.{name}"), *amount);
        }
    }
    for name in ["cpu", "memory", EPHEMERAL] {
        usage.extend(limits.get(name).map(|amount| (format!("limits.{name}"), *amount)));
    }
    usage
}

/// Describes the amounts that containers have to name because a quota counts them; `None` if nothing is missing
/// (`Constraints`).
pub(crate) fn missing_amounts<'n>(pod: &Value, counted: impl Iterator<Item = &'n str>) -> Option<String> {
    let spec = &pod["spec"];
    let own = ["requests", "limits"].map(|part| quantities(&spec["resources"][part]));
    if own.iter().flatten().any(|(name, _)| is_of_pods(name)) {
        return None;
    }
    let counted: Vec<&str> = counted.filter(|name| EXPLICIT.contains(name)).collect();
    let mut missing: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for list in ["containers", "initContainers"] {
        for container in spec[list].as_array().into_iter().flatten() {
            let resources = &container["resources"];
            let named = of(&quantities(&resources["requests"]), &quantities(&resources["limits"]));
            for name in counted.iter().filter(|name| !named.contains_key(**name)) {
                missing.entry(name).or_default().insert(container["name"].as_str().unwrap_or_default());
            }
        }
    }
    let described = |(name, containers): (&&str, &BTreeSet<&str>)| {
        format!("{name} for: {}", containers.iter().copied().collect::<Vec<_>>().join(","))
    };
    let texts: Vec<String> = missing.iter().map(described).collect();
    (!texts.is_empty()).then(|| format!("must specify {}", texts.join("; ")))
}

/// `IsTerminating`: the pod ends by itself.
pub(crate) fn has_deadline(pod: &Value) -> bool {
    pod["spec"]["activeDeadlineSeconds"].as_i64().is_some_and(|seconds| seconds >= 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn shown(pod: &Value) -> String {
        let now = Timestamp::UNIX_EPOCH;
        usage(pod, now).iter().map(|(name, amount)| format!("{name}={amount}")).collect::<Vec<_>>().join(",")
    }

    /// Cases of `TestPodEvaluatorUsage` in evaluator/core/pods_test.go.
    #[test]
    fn pod_uses_what_its_containers_request() {
        let with = |requests: Value| json!({"name": "c", "resources": {"requests": requests}});
        let sidecar =
            |requests: Value| json!({"restartPolicy": "Always", "resources": {"requests": requests}});
        for (spec, expected) in [
            (json!({"containers": [{}]}), "pods=1"),
            (json!({"containers": [with(json!({"cpu": "1m"}))]}), "cpu=1m,pods=1,requests.cpu=1m"),
            (
                json!({"containers": [with(json!({"memory": "1Mi", "hugepages-2Mi": "100Mi"}))]}),
                "hugepages-2Mi=100Mi,memory=1Mi,pods=1,requests.hugepages-2Mi=100Mi,requests.memory=1Mi",
            ),
            (
                json!({"containers": [with(json!({"example.com/gpu": "3"}))]}),
                "pods=1,requests.example.com/gpu=3",
            ),
            (
                json!({"containers": [{"resources": {"limits": {"cpu": "2", "memory": "1"}}}]}),
                "limits.cpu=2,limits.memory=1,pods=1",
            ),
            (
                json!({"containers": [with(json!({"cpu": "1"})), with(json!({"cpu": "1"}))],
                    "initContainers": [sidecar(json!({"cpu": "1"})), with(json!({"cpu": "4"}))],
                    "overhead": {"cpu": "1"}}),
                "cpu=6,pods=1,requests.cpu=6",
            ),
            (
                json!({"containers": [with(json!({"cpu": "1"}))], "resources": {"requests": {"cpu": "7"}}}),
                "cpu=7,pods=1,requests.cpu=7",
            ),
        ] {
            assert_eq!(shown(&json!({"spec": spec})), expected, "{spec}");
        }
    }

    #[test]
    fn pod_that_has_ended_uses_nothing() {
        let with = |grace: i64| json!({"metadata": {"deletionTimestamp": "1970-01-01T00:00:00Z", "deletionGracePeriodSeconds": grace}});
        assert_eq!(shown(&json!({"status": {"phase": "Succeeded"}})), "");
        assert_eq!(shown(&with(-1)), "");
        assert_eq!(shown(&with(5)), "pods=1");
    }

    #[test]
    fn containers_name_amounts_that_a_quota_counts() {
        let pod = json!({"spec": {"containers": [{"name": "b"}, {"name": "a"},
            {"name": "c", "resources": {"requests": {"cpu": "1"}}}]}});
        let names = ["requests.cpu", "limits.memory", "pods"];
        assert_eq!(
            missing_amounts(&pod, names.into_iter()).as_deref(),
            Some("must specify limits.memory for: a,b,c; requests.cpu for: a,b")
        );
        assert_eq!(missing_amounts(&pod, ["pods"].into_iter()), None);
    }
}
