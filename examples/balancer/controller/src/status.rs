//! The status of a Balancer.

use balancer_api::v1alpha1::{Balancer, BalancerStatus};
use balancer_client::applyconfigurations::exposer::v1alpha1::{
    BalancerApplyConfiguration, extract_balancer_from,
};
use balancer_client::applyconfigurations::meta::v1::ConditionApplyConfiguration;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use k8s_openapi::jiff::Timestamp;
use kubesmith_runtime::applyconfigurations::ExtractError;
use kubesmith_runtime::controllerutil::{condition, find_status_condition, set_status_condition};

use crate::CONTROLLER_NAME;
use crate::plan::Plan;

/// The type of the one condition.
pub const READY: &str = "Ready";

/// The outcome of a reconcile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The number of backends whose Service selects pods; unchanged if unknown.
    pub active: Option<usize>,
    /// The number of remaining Services of backends that are not listed; unchanged if unknown.
    pub obsolete: Option<usize>,
    /// Whether the proxy runs with the configuration of the spec.
    pub ready: bool,
    /// The reason, as a word.
    pub reason: &'static str,
    /// The message, for humans.
    pub message: String,
}

impl Outcome {
    /// Returns the outcome with every child in the state of `plan`. A Service without a selector gets no endpoints from
    /// Kubernetes, so that its backend takes no traffic, unless somebody else adds some.
    #[must_use]
    pub fn of(plan: &Plan, rolled_out: bool, obsolete: usize) -> Self {
        let idle = plan.backends.iter().filter(|backend| backend.selector.is_empty());
        let idle: Vec<_> = idle.map(|backend| backend.service.as_str()).collect();
        let active = plan.backends.len() - idle.len();
        let (reason, message) = match rolled_out {
            false => ("RollingOut", "the proxy does not run with the newest configuration yet".to_owned()),
            true if idle.is_empty() => ("Serving", format!("traffic is shared over {active} backends")),
            true => ("NoSelector", format!("no selector gives these Services pods: {}", idle.join(", "))),
        };
        let ready = rolled_out && idle.is_empty();
        Outcome { active: Some(active), obsolete: Some(obsolete), ready, reason, message }
    }
}

/// Returns the status of `balancer` after `outcome`; the condition's time only changes with its status.
#[must_use]
pub fn status(balancer: &Balancer, outcome: &Outcome, now: Timestamp) -> BalancerStatus {
    let mut status = balancer.status.clone();
    let count = |count: usize| i32::try_from(count).unwrap_or(i32::MAX);
    status.active_backends_num = outcome.active.map_or(status.active_backends_num, count);
    status.obsolete_backends_num = outcome.obsolete.map_or(status.obsolete_backends_num, count);
    status.observed_generation = balancer.metadata.generation;
    let mut ready = condition(READY, outcome.ready, outcome.reason, &outcome.message, now);
    ready.observed_generation = balancer.metadata.generation;
    set_status_condition(&mut status.conditions, ready);
    status
}

/// Returns the status to apply: the fields that this controller has applied to `stored` before, and the new ones of
/// `outcome`. Omitted fields would be removed, such as counts that are unknown this time; those of other managers, such
/// as conditions of theirs, stay.
///
/// # Errors
///
/// Returns an error if `stored` has no `managedFields`, as in a cache, or they are malformed.
pub fn to_apply(
    stored: &Balancer,
    outcome: &Outcome,
    status: &BalancerStatus,
) -> Result<BalancerApplyConfiguration, ExtractError> {
    let mut applied = extract_balancer_from(stored, CONTROLLER_NAME, "status")?;
    let own = applied.status.get_or_insert_default();
    if outcome.active.is_some() {
        own.active_backends_num = Some(status.active_backends_num);
    }
    if outcome.obsolete.is_some() {
        own.obsolete_backends_num = Some(status.obsolete_backends_num);
    }
    own.observed_generation = status.observed_generation;
    own.conditions =
        find_status_condition(&status.conditions, READY).map(|ready| vec![applied_condition(ready)]);
    Ok(applied)
}

fn applied_condition(condition: &Condition) -> ConditionApplyConfiguration {
    let mut applied = ConditionApplyConfiguration::default()
        .with_type(&condition.type_)
        .with_status(&condition.status)
        .with_reason(&condition.reason)
        .with_message(&condition.message)
        .with_last_transition_time(condition.last_transition_time.clone());
    applied.observed_generation = condition.observed_generation;
    applied
}

/// Reports whether every pod of the Deployment is of its newest template and available, and no other is left.
#[must_use]
pub fn is_rolled_out(proxy: &Deployment) -> bool {
    let (Some(spec), Some(status)) = (&proxy.spec, &proxy.status) else { return false };
    let wanted = spec.replicas.unwrap_or(1);
    let counts = [status.replicas, status.updated_replicas, status.available_replicas];
    status.observed_generation >= proxy.metadata.generation
        && counts.iter().all(|it| it.unwrap_or(0) == wanted)
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::apps::v1::{DeploymentSpec, DeploymentStatus};
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

    use super::*;
    use crate::fixtures::balancer;

    fn outcome(ready: bool) -> Outcome {
        Outcome { active: Some(3), obsolete: None, ready, reason: "Tested", message: String::new() }
    }

    #[test]
    fn transition_time_changes_with_state_and_unknown_counts_are_kept() {
        let at = |second| Timestamp::from_second(second).expect("a time");
        let mut balancer = balancer();
        balancer.status.obsolete_backends_num = 2;
        balancer.status = status(&balancer, &outcome(true), at(1));
        assert_eq!((balancer.status.active_backends_num, balancer.status.obsolete_backends_num), (3, 2));
        assert_eq!(status(&balancer, &outcome(true), at(2)), balancer.status, "nothing has changed");
        let failed = status(&balancer, &outcome(false), at(3));
        assert_eq!(failed.conditions[0].last_transition_time.0, at(3));
    }

    #[test]
    fn status_apply_keeps_unknown_counts_and_fields_of_others() {
        let managed_fields = |fields: serde_json::Value| {
            serde_json::json!({
                "manager": CONTROLLER_NAME, "operation": "Apply", "subresource": "status",
                "apiVersion": "exposer.hliangzhao.io/v1alpha1", "fieldsType": "FieldsV1", "fieldsV1": fields,
            })
        };
        let own = managed_fields(serde_json::json!({
            "f:status": { "f:activeBackendsNum": {}, "f:conditions": { "k:{\"type\":\"Ready\"}": {
                ".": {}, "f:type": {}, "f:status": {}, "f:reason": {}, "f:message": {}, "f:lastTransitionTime": {}
            } } }
        }));
        let mut stored = balancer();
        stored.metadata.managed_fields = serde_json::from_value(serde_json::json!([own])).expect("fields");
        stored.status = status(&stored, &outcome(true), Timestamp::UNIX_EPOCH);
        stored.status.obsolete_backends_num = 2;
        let audited = condition("Audited", true, "Tested", "by somebody else", Timestamp::UNIX_EPOCH);
        stored.status.conditions.push(audited);

        let failed = Outcome { active: None, ..outcome(false) };
        let status = status(&stored, &failed, Timestamp::UNIX_EPOCH);
        let applied = to_apply(&stored, &failed, &status).expect("its fields are known").status;
        let applied = applied.expect("a status");
        assert_eq!(applied.active_backends_num, Some(3), "as it was said before");
        assert_eq!(applied.obsolete_backends_num, None, "somebody else's");
        let conditions = applied.conditions.expect("one");
        assert_eq!((conditions.len(), conditions[0].type_.as_deref()), (1, Some(READY)));
        assert_eq!(conditions[0].status.as_deref(), Some("False"));

        stored.metadata.managed_fields = None;
        assert!(to_apply(&stored, &failed, &status).is_err(), "a cache does not tell what is whose");
    }

    #[test]
    fn backend_without_selector_is_not_active() {
        let mut balancer = balancer();
        let of = |balancer: &Balancer, rolled_out| {
            Outcome::of(&Plan::new(balancer).expect("accepted"), rolled_out, 0)
        };
        assert_eq!((of(&balancer, true).reason, of(&balancer, true).active), ("Serving", Some(3)));
        balancer.spec.backends[1].selector.clear();
        assert!(of(&balancer, true).ready, "the Balancer's selector is left");
        balancer.spec.selector.clear();
        let outcome = of(&balancer, true);
        assert_eq!((outcome.ready, outcome.reason, outcome.active), (false, "NoSelector", Some(2)));
        assert_eq!(outcome.message, "no selector gives these Services pods: balancer-sample-v2-backend");
        assert_eq!(of(&balancer, false).reason, "RollingOut");
    }

    #[test]
    fn rollout_is_complete_when_only_new_pods_are_left() {
        let count = |all, updated, available| DeploymentStatus {
            observed_generation: Some(2),
            replicas: Some(all),
            updated_replicas: Some(updated),
            available_replicas: Some(available),
            ..DeploymentStatus::default()
        };
        let proxy = |generation, status| Deployment {
            metadata: ObjectMeta { generation: Some(generation), ..ObjectMeta::default() },
            spec: Some(DeploymentSpec { replicas: Some(1), ..DeploymentSpec::default() }),
            status,
        };
        assert!(is_rolled_out(&proxy(2, Some(count(1, 1, 1)))));
        for (generation, status) in [
            (3, Some(count(1, 1, 1))),
            (2, Some(count(2, 1, 2))),
            (2, Some(count(1, 0, 1))),
            (2, Some(count(1, 1, 0))),
            (2, None),
        ] {
            assert!(!is_rolled_out(&proxy(generation, status.clone())), "{generation} {status:?}");
        }
    }
}
