//! The rollout from old templates to the current one.

use serde_json::Value;

use super::super::Outcome;
use super::super::cluster::Fault;
use super::super::pods::is_over;
use super::{Rollout, counted, replicas, status};

impl Rollout<'_> {
    /// The strategy `Recreate`: creates new pods after all old ones are gone.
    pub(super) async fn recreate(&mut self) -> Outcome {
        self.sync_revision(false).await?;
        if self.scale_down_all_old().await? || self.old_pods_remain() {
            return self.progress().await;
        }
        self.sync_revision(true).await?;
        self.scale_new(self.wanted()).await?;
        self.finish().await
    }

    async fn scale_down_all_old(&mut self) -> Result<bool, Fault> {
        let mut scaled = false;
        for mut set in self.old.clone().into_iter().filter(|set| replicas(set) > 0) {
            scaled |= self.scale_set(&mut set, 0).await?;
        }
        Ok(scaled)
    }

    fn old_pods_remain(&self) -> bool {
        self.old.iter().any(|set| self.pods_of(set).iter().any(|pod| !is_over(pod)))
    }

    /// The strategy `RollingUpdate`: adds new pods as limits allow, and removes old ones as new ones become available.
    pub(super) async fn roll(&mut self) -> Outcome {
        self.sync_revision(true).await?;
        let size = self.new.as_ref().map_or(0, replicas);
        let wanted = self.wanted();
        let next = if size > wanted { wanted } else { self.room_for_new(size) };
        if size != wanted && self.scale_new(next).await? {
            return self.progress().await;
        }
        if self.scale_down_old().await? {
            return self.progress().await;
        }
        self.finish().await
    }

    /// Scales the set of the current template.
    async fn scale_new(&mut self, size: i64) -> Result<bool, Fault> {
        let Some(mut new) = self.new.take() else { return Ok(false) };
        let scaled = if replicas(&new) == size { Ok(false) } else { self.scale_set(&mut new, size).await };
        self.new = Some(new);
        scaled
    }

    /// Scales old sets down: first by unavailable pods, then by as many as may be unavailable.
    async fn scale_down_old(&mut self) -> Result<bool, Fault> {
        let old: i64 = self.old.iter().map(replicas).sum();
        if old == 0 {
            return Ok(false);
        }
        let (_, unavailable) = self.limits();
        let least = self.wanted() - unavailable;
        let new = self.new.as_ref();
        let new_unavailable = new.map_or(0, |new| replicas(new) - counted(new, "availableReplicas"));
        let total = old + new.map_or(0, replicas);
        let may_go = total - least - new_unavailable;
        if may_go <= 0 {
            return Ok(false);
        }
        let mut sets = self.old.clone();
        let mut unhealthy_left = may_go;
        let mut scaled = 0;
        for set in sets.iter_mut().filter(|set| replicas(set) > 0) {
            let broken = (replicas(set) - counted(set, "availableReplicas")).min(unhealthy_left);
            if broken > 0 {
                self.scale_set(set, replicas(set) - broken).await?;
                unhealthy_left -= broken;
                scaled += broken;
            }
        }
        scaled += self.scale_down_healthy(&mut sets, least).await?;
        self.old = sets;
        Ok(scaled > 0)
    }

    async fn scale_down_healthy(&self, sets: &mut [Value], least: i64) -> Result<i64, Fault> {
        let available: i64 = self.sets().map(|set| counted(set, "availableReplicas")).sum();
        let mut left = available - least;
        let mut scaled = 0;
        for set in sets.iter_mut().filter(|set| replicas(set) > 0) {
            if left <= 0 {
                break;
            }
            let part = replicas(set).min(left);
            self.scale_set(set, replicas(set) - part).await?;
            left -= part;
            scaled += part;
        }
        Ok(scaled)
    }

    /// Cleans up after a complete rollout, and writes the progress.
    async fn finish(&mut self) -> Outcome {
        if status::is_complete(&self.deployment, &self.deployment["status"]) {
            self.clean_up().await?;
        }
        self.progress().await
    }
}
