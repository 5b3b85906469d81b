//! What a Balancer's status says.

use balancer_api::v1alpha1::{Balancer, BalancerStatus};
use balancer_client::applyconfigurations::exposer::v1alpha1::{
    BalancerApplyConfiguration, BalancerStatusApplyConfiguration,
};
use balancer_client::applyconfigurations::meta::v1::ConditionApplyConfiguration;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::jiff::Timestamp;
use kubesmith_runtime::controllerutil::{condition, set_status_condition};

use crate::plan::Plan;

/// The type of the one condition.
pub const READY: &str = "Ready";

/// What a reconcile has found or come to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// How many backends have a Service that selects pods; as before where that is not known.
    pub active: Option<usize>,
    /// How many Services of backends that are not listed are left; as before where that is not known.
    pub obsolete: Option<usize>,
    /// Whether the proxy runs with the configuration of the spec.
    pub ready: bool,
    /// Why, as a word.
    pub reason: &'static str,
    /// Why, for people.
    pub message: String,
}

impl Outcome {
    /// With every child as `plan` has it. A Service without a selector gets no endpoints from Kubernetes, so that its backend
    /// takes no traffic, unless somebody else gives it some.
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

/// The status of `balancer` after `outcome`; the condition's time changes only with its status.
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

/// The same, to be applied.
#[must_use]
pub fn to_apply(name: &str, namespace: &str, status: &BalancerStatus) -> BalancerApplyConfiguration {
    let conditions = status.conditions.iter().map(|it| {
        let mut applied = ConditionApplyConfiguration::default()
            .with_type(&it.type_)
            .with_status(&it.status)
            .with_reason(&it.reason)
            .with_message(&it.message)
            .with_last_transition_time(it.last_transition_time.clone());
        applied.observed_generation = it.observed_generation;
        applied
    });
    let mut applied = BalancerStatusApplyConfiguration::default()
        .with_active_backends_num(status.active_backends_num)
        .with_obsolete_backends_num(status.obsolete_backends_num)
        .with_conditions(conditions);
    applied.observed_generation = status.observed_generation;
    BalancerApplyConfiguration::new(name, namespace).with_status(applied)
}

/// Whether every pod of the Deployment is of its newest template and works, and no other is left.
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
    fn times_change_with_the_state_and_unknown_counts_stay() {
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
    fn a_backend_that_selects_no_pods_does_not_serve() {
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
    fn a_rollout_is_over_when_only_new_pods_are_left() {
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
