//! Creates and deletes pods in order, then updates them. Source: `updateStatefulSet`.

use std::collections::BTreeMap;

use serde_json::Value;

use super::super::MOST_CREATED;
use super::super::cluster::{Fault, PODS};
use super::super::history;
use super::super::pods::{is_over, share};
use super::{COMPONENT, Sync, identity};
use crate::meta;

impl Sync<'_> {
    /// Takes the next steps: one at a time in order, unless the set allows all at once. Returns whether one call's
    /// limit leaves pods to create.
    pub(super) async fn run(&self, pods: &[Value]) -> Result<bool, Fault> {
        let in_order = self.set["spec"]["podManagementPolicy"] != "Parallel";
        let places = self.start()..self.start().saturating_add(self.replicas());
        let ordinal = |pod: &Value| identity::ordinal(self.set, pod).unwrap_or(-1);
        let placed: BTreeMap<i64, &Value> = pods.iter().map(|pod| (ordinal(pod), pod)).collect();
        let at = |place: i64| placed.get(&place).copied();
        let mut created = 0;
        for place in places.clone() {
            if at(place).is_none() {
                if created == MOST_CREATED {
                    return Ok(true);
                }
                created += 1;
            }
            let settled = self.settle(place, at(place)).await?;
            if !settled && in_order {
                return Ok(false);
            }
        }
        let mut condemned: Vec<&Value> = pods.iter().filter(|pod| !places.contains(&ordinal(pod))).collect();
        condemned.sort_by_key(|pod| ordinal(pod));
        if !self.scale_down(&condemned, in_order).await? || !pods_complete(&places, &at) {
            return Ok(false);
        }
        let replicas: Vec<&Value> = places.filter_map(at).collect();
        self.update(&replicas).await?;
        Ok(false)
    }

    /// Creates the pod of an ordinal, or corrects it; returns whether the next ordinal may be handled.
    async fn settle(&self, place: i64, pod: Option<&Value>) -> Result<bool, Fault> {
        let Some(pod) = pod else {
            self.create(place).await?;
            return Ok(false);
        };
        if is_over(pod) && !meta::is_terminating(pod) {
            let (set, name) = (meta::name(self.set), meta::name(pod));
            let set = format!("{}/{set}", meta::namespace(self.set));
            let text = format!("StatefulSet {set} is recreating failed Pod {name}");
            self.cluster.warn(COMPONENT, self.set, "RecreatingFailedPod", &text).await;
            self.delete(pod).await?;
            return Ok(false);
        }
        if meta::is_terminating(pod) {
            return Ok(false);
        }
        if let Some(patch) = identity::patch(pod, place) {
            self.cluster.patch(PODS, pod, &patch).await?;
        }
        self.ensure_claims(place).await?;
        self.own_claims(pod, place, false).await?;
        Ok(self.is_available(pod))
    }

    async fn create(&self, place: i64) -> Result<(), Fault> {
        self.ensure_claims(place).await?;
        // Below the partition, pods keep their revision.
        let strategy = &self.set["spec"]["updateStrategy"];
        let partition = strategy["rollingUpdate"]["partition"].as_i64().unwrap_or(0);
        let keeps = strategy["type"] == "RollingUpdate" && place < self.start().saturating_add(partition);
        let revision = if keeps { &self.current } else { &self.update };
        let template = history::template(revision);
        let pod = identity::pod(self.set, &template, meta::name(revision), place);
        let made = self.cluster.create(PODS, meta::namespace(self.set), &pod).await;
        let what = format!("Pod {} in StatefulSet {}", meta::name(&pod), meta::name(self.set));
        self.tell_created(&what, "successful", made).await
    }

    /// Deletes surplus pods, from the last one; returns whether none is left to wait for.
    async fn scale_down(&self, condemned: &[&Value], in_order: bool) -> Result<bool, Fault> {
        for pod in condemned {
            self.own_claims(pod, identity::ordinal(self.set, pod).unwrap_or(-1), true).await?;
        }
        for (at, pod) in condemned.iter().enumerate().rev() {
            if !meta::is_terminating(pod) {
                // An unhealthy pod before it may be the reason why this one is not available.
                let first = condemned.iter().position(|pod| !self.is_available(pod));
                if in_order && !self.is_available(pod) && first != Some(at) {
                    return Ok(false);
                }
                self.delete(pod).await?;
            }
            if in_order {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Deletes pods of other revisions, from the last one.
    async fn update(&self, replicas: &[&Value]) -> Result<(), Fault> {
        let strategy = &self.set["spec"]["updateStrategy"];
        if strategy["type"] == "OnDelete" {
            return Ok(());
        }
        let rolling = &strategy["rollingUpdate"];
        let partition = usize::try_from(rolling["partition"].as_i64().unwrap_or(0)).unwrap_or(0);
        let unavailable = |pod: &Value| meta::is_terminating(pod) || !self.is_available(pod);
        let most = match &rolling["maxUnavailable"] {
            Value::Null => 1,
            // `getStatefulSetMaxUnavailable`
            most => share(most, self.replicas(), false).max(1),
        };
        let mut missing =
            i64::try_from(replicas.iter().filter(|pod| unavailable(pod)).count()).unwrap_or(i64::MAX);
        for pod in replicas.iter().skip(partition).rev() {
            let is_missed = unavailable(pod);
            let is_old = identity::revision(pod) != Some(meta::name(&self.update));
            if is_old && !meta::is_terminating(pod) && (is_missed || missing < most) {
                missing += i64::from(!is_missed);
                self.delete(pod).await?;
            } else if !is_old && !is_missed {
                continue;
            }
            if missing >= most {
                return Ok(());
            }
        }
        Ok(())
    }
}

/// Reports whether each ordinal has its pod.
fn pods_complete<'a>(places: &std::ops::Range<i64>, at: &impl Fn(i64) -> Option<&'a Value>) -> bool {
    places.clone().all(|place| at(place).is_some())
}
