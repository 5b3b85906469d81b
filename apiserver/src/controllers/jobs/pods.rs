//! The pods of a job: created while too few run, deleted while too many do. Source: `manageJob`.

use std::time::Duration;

use serde_json::Value;

use super::super::MOST_CREATED;
use super::super::cluster::{Fault, JOBS, PODS};
use super::super::owners::JOB_TRACKING;
use super::super::pods::{by_loss, create, delete, from_template, is_over, is_ready};
use super::{COMPONENT, Sync, count, indexes};
use crate::meta;

impl Sync<'_> {
    pub(super) async fn manage(&mut self) -> Result<(), Fault> {
        let active = count(self.active.len());
        let wanted = self.wanted();
        let surplus = self.surplus(usize::try_from(active - wanted).unwrap_or(0));
        if !surplus.is_empty() {
            for pod in &surplus {
                self.cluster.remove_finalizer(PODS, pod, JOB_TRACKING).await?;
                self.delete(pod).await?;
            }
            return Ok(());
        }
        let only_failed = self.job["spec"]["podReplacementPolicy"] == "Failed";
        let leaving = if only_failed { self.terminating() } else { 0 };
        let missing = usize::try_from(wanted - active - leaving).unwrap_or(0);
        if missing == 0 {
            return Ok(());
        }
        // Jobs with a limit per index delay each index separately.
        let wait = if self.failed_indexes.is_none() { self.backoff() } else { Duration::ZERO };
        if !wait.is_zero() {
            self.look_again(wait);
            return Ok(());
        }
        self.create(missing.min(MOST_CREATED)).await?;
        // If no pod was created, all the tried indexes have to wait.
        if missing > MOST_CREATED && self.created > 0 {
            self.again = Some(Duration::ZERO);
        }
        Ok(())
    }

    /// Schedules the next run after this time, unless an earlier one is scheduled.
    fn look_again(&mut self, wait: Duration) {
        self.again = Some(self.again.map_or(wait, |again| again.min(wait)));
    }

    /// Returns the number of pods that should run.
    fn wanted(&self) -> i64 {
        if self.is_suspended() {
            return 0;
        }
        let parallelism = self.spec("parallelism").unwrap_or(1);
        match self.spec("completions") {
            None if self.succeeded() > 0 => count(self.active.len()),
            None => parallelism,
            Some(completions) => (completions - self.succeeded()).clamp(0, parallelism),
        }
    }

    /// Returns the pods to delete: of an indexed job also those whose index is invalid or taken
    /// (`activePodsForRemoval`).
    fn surplus(&self, least: usize) -> Vec<Value> {
        let mut left: Vec<&Value> = self.active.iter().collect();
        left.sort_by(|a, b| by_loss(a, b));
        let mut surplus: Vec<&Value> = Vec::new();
        if self.is_indexed() {
            let index = |pod: &Value| indexes::of_pod(&self.job, pod);
            let mut kept: Vec<&Value> = Vec::new();
            // For each index, the pod that is most costly to lose stays.
            for pod in left.into_iter().rev() {
                let of_pod = index(pod);
                if of_pod.is_none() || kept.iter().any(|other| index(other) == of_pod) {
                    surplus.push(pod);
                } else {
                    kept.push(pod);
                }
            }
            left = kept.into_iter().rev().collect();
        }
        let more = least.saturating_sub(surplus.len());
        surplus.into_iter().chain(left.into_iter().take(more)).cloned().collect()
    }

    /// Deletes all pods of a job that ends. They keep their finalizers until they are counted.
    pub(super) async fn delete_active(&mut self) -> Result<(), Fault> {
        for pod in self.active.clone() {
            self.delete(&pod).await?;
        }
        Ok(())
    }

    async fn delete(&mut self, pod: &Value) -> Result<(), Fault> {
        delete(self.cluster, COMPONENT, &self.job, pod).await?;
        self.deleted.0 += 1;
        self.deleted.1 += usize::from(is_ready(pod));
        Ok(())
    }

    async fn create(&mut self, number: usize) -> Result<(), Fault> {
        let mut described = from_template(&self.job, JOBS, &self.job["spec"]["template"]);
        let mut finalizers = meta::finalizers(&described);
        finalizers.retain(|name| *name != JOB_TRACKING);
        finalizers.push(JOB_TRACKING);
        let finalizers: Vec<String> = finalizers.into_iter().map(str::to_owned).collect();
        described["metadata"]["finalizers"] = finalizers.into();
        let mut pods = vec![described; number];
        if self.is_indexed() {
            let running = self.pods.iter().filter(|pod| !is_over(pod) && !self.has_failed(pod));
            let running: Vec<&Value> = running.collect();
            let pending = self.done.pending(self.failed_indexes.as_ref(), &self.job, &running, number);
            let (pending, wait) = self.ready_again(pending);
            if let Some(wait) = wait {
                self.look_again(wait);
            }
            pods.truncate(pending.len());
            for (pod, index) in pods.iter_mut().zip(pending) {
                indexes::give(&self.job, pod, index);
                self.note_failures(pod, index);
            }
        }
        for pod in &pods {
            create(self.cluster, COMPONENT, &self.job, pod).await?;
            self.created += 1;
        }
        Ok(())
    }
}
