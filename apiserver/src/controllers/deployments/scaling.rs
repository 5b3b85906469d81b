//! The size of replica sets: one at a time, or all in proportion when a deployment is scaled during a rollout.

use serde_json::Value;

use super::super::cluster::{Fault, REPLICA_SETS};
use super::{COMPONENT, Rollout, annotations, by_age, counted, replicas};
use crate::meta;

impl Rollout<'_> {
    /// Reports whether the deployment's size changed since its sets were scaled.
    pub(super) fn is_scaled(&self) -> bool {
        let active = self.sets().filter(|set| replicas(set) > 0);
        active.filter_map(|set| annotations::number(set, annotations::DESIRED)).any(|n| n != self.wanted())
    }

    /// Scales a set and returns whether its size changed.
    pub(super) async fn scale_set(&self, set: &mut Value, size: i64) -> Result<bool, Fault> {
        let (surge, _) = self.limits();
        let before = replicas(set);
        let mut next = set.clone();
        next["spec"]["replicas"] = size.into();
        annotations::set_sizes(&mut next, self.wanted(), self.wanted() + surge);
        if next == *set {
            return Ok(false);
        }
        *set = self.cluster.update(REPLICA_SETS, &next).await?;
        if size == before {
            return Ok(false);
        }
        let direction = if size > before { "up" } else { "down" };
        let message = format!("Scaled {direction} replica set {} from {before} to {size}", meta::name(set));
        self.cluster.tell(COMPONENT, &self.deployment, "ScalingReplicaSet", &message).await;
        Ok(true)
    }

    /// Returns the size that the current template's set may have, which is now `size`.
    pub(super) fn room_for_new(&self, size: i64) -> i64 {
        if self.deployment["spec"]["strategy"]["type"] == "Recreate" {
            return self.wanted();
        }
        let (surge, _) = self.limits();
        let room = self.wanted() + surge - self.sets().map(replicas).sum::<i64>();
        if room <= 0 { size } else { size + room.min(self.wanted() - size) }
    }

    /// Scales the sets to a new size of the deployment.
    pub(super) async fn scale(&mut self) -> Result<(), Fault> {
        let wanted = self.wanted();
        if let Some(mut only) = self.only_active() {
            self.scale_set(&mut only, wanted).await?;
            return Ok(());
        }
        if self.new.as_ref().is_some_and(|new| self.is_saturated(new)) {
            for mut set in self.old.clone().into_iter().filter(|set| replicas(set) > 0) {
                self.scale_set(&mut set, 0).await?;
            }
            return Ok(());
        }
        if self.deployment["spec"]["strategy"]["type"] != "RollingUpdate" {
            return Ok(());
        }
        let (surge, _) = self.limits();
        let allowed = if wanted > 0 { wanted + surge } else { 0 };
        let most_before = counted(&self.deployment, "replicas");
        let active: Vec<Value> = self.sets().filter(|set| replicas(set) > 0).cloned().collect();
        for (mut set, size) in in_proportion(active, wanted, surge, allowed, most_before) {
            self.scale_set(&mut set, size).await?;
        }
        Ok(())
    }

    /// Returns the set that has all pods; the newest when none has any. `None` when several have.
    fn only_active(&self) -> Option<Value> {
        let mut active = self.sets().filter(|set| replicas(set) > 0);
        match (active.next(), active.next()) {
            (None, _) => self.new.as_ref().or(self.old.last()).cloned(),
            (Some(only), None) => Some(only.clone()),
            (Some(_), Some(_)) => None,
        }
    }

    /// Reports whether a set has all wanted pods and all of them are available.
    fn is_saturated(&self, set: &Value) -> bool {
        let desired = annotations::number(set, annotations::DESIRED);
        let wanted = self.wanted();
        replicas(set) == wanted && desired == Some(wanted) && counted(set, "availableReplicas") == wanted
    }
}

/// Distributes `allowed` pods over sets in proportion; the largest set takes the remainder.
fn in_proportion(
    mut sets: Vec<Value>,
    wanted: i64,
    surge: i64,
    allowed: i64,
    most_before: i64,
) -> Vec<(Value, i64)> {
    let to_add = allowed - sets.iter().map(replicas).sum::<i64>();
    // More pods go to newer sets first, fewer come from older ones first, among sets of one size.
    sets.sort_by(|a, b| {
        let age = if to_add > 0 { by_age(b, a) } else { by_age(a, b) };
        replicas(b).cmp(&replicas(a)).then(age)
    });
    let mut added = 0;
    let mut sizes: Vec<i64> = Vec::new();
    for set in &sets {
        let mut part = 0;
        if to_add != 0 && replicas(set) != 0 && to_add != added {
            let fraction = fraction(set, wanted, surge, most_before);
            let left = to_add - added;
            part = if to_add > 0 { fraction.min(left) } else { fraction.max(left) };
        }
        added += part;
        sizes.push(replicas(set) + part);
    }
    if let Some(first) = sizes.first_mut() {
        *first = (*first + to_add - added).max(0);
    }
    sets.into_iter().zip(sizes).collect()
}

/// Returns the number of pods that a set gains or loses when the deployment's size changes.
fn fraction(set: &Value, wanted: i64, surge: i64, most_before: i64) -> i64 {
    if wanted == 0 {
        return -replicas(set);
    }
    let before = annotations::number(set, annotations::MAX).filter(|n| *n > 0).unwrap_or(most_before);
    if before == 0 {
        return 0;
    }
    let size = (replicas(set) * (wanted + surge)) as f64 / before as f64;
    size.round() as i64 - replicas(set)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn set(name: &str, size: i64, most: &str) -> Value {
        json!({"metadata": {"name": name, "creationTimestamp": name, "annotations": {annotations::MAX: most}},
               "spec": {"replicas": size}})
    }

    fn sizes(sets: Vec<Value>, wanted: i64, surge: i64) -> Vec<(String, i64)> {
        let sized = in_proportion(sets, wanted, surge, wanted + surge, 0);
        sized.into_iter().map(|(set, size)| (meta::name(&set).to_owned(), size)).collect()
    }

    /// The example of the Kubernetes documentation on proportional scaling: 10 replicas, 3 beyond, 8 old and 5 new; at
    /// 15 replicas the old set gets 3 more and the new one 2.
    #[test]
    fn rollout_is_scaled_in_proportion() {
        let sized = sizes(vec![set("1", 8, "13"), set("2", 5, "13")], 15, 3);
        assert_eq!(sized, [("1".to_owned(), 11), ("2".to_owned(), 7)]);
    }

    #[test]
    fn scale_down_shrinks_all_replica_sets() {
        let sized = sizes(vec![set("1", 8, "13"), set("2", 5, "13")], 5, 1);
        assert_eq!(sized.iter().map(|(_, size)| size).sum::<i64>(), 6);
        let none = in_proportion(vec![set("1", 8, "13"), set("2", 5, "13")], 0, 3, 0, 0);
        assert!(none.iter().all(|(_, size)| *size == 0));
    }
}
