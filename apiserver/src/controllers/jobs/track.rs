//! Counting the pods of a job, each exactly once. Source: `trackJobStatusAndRemoveFinalizers`.
//!
//! A finished pod's UID is first noted in the status. Then its finalizer is removed, and then the pod moves from the
//! notes into the counters. Each step can be repeated without counting twice.

use serde_json::{Value, json};

use super::super::cluster::{Fault, JOBS, PODS};
use super::super::owners::JOB_TRACKING;
use super::finish::{COMPLETE, FAILED, FAILURE_TARGET, SUCCESS_CRITERIA_MET};
use super::{COMPONENT, Sync, count, indexes, is_tracked, set_count};
use crate::meta;

const UNCOUNTED: &str = "uncountedTerminatedPods";

impl Sync<'_> {
    /// Counts finished pods, and ends the job by a condition. `stored` is the status as read.
    pub(super) async fn track(&mut self, finish: Option<Value>, stored: &Value) -> Result<(), Fault> {
        if !self.job["status"][UNCOUNTED].is_object() {
            self.job["status"][UNCOUNTED] = json!({});
        }
        self.count_released(&[]);
        let ended = self.note_ended(finish.as_ref());
        if let Some(condition) = &finish {
            self.set_condition(condition.clone());
        }
        if self.job["status"] != *stored {
            self.job = self.cluster.update_status(JOBS, &self.job).await?;
        }
        let flushed = self.job["status"].clone();
        for pod in &ended {
            self.cluster.remove_finalizer(PODS, pod, JOB_TRACKING).await?;
        }
        self.count_released(&ended);
        let over = finish.and_then(|condition| self.finished(&condition));
        if self.job["status"] != flushed {
            self.job = self.cluster.update_status(JOBS, &self.job).await?;
        }
        if let Some(condition) = over {
            self.tell_end(&condition).await;
        }
        Ok(())
    }

    /// Notes finished pods, and returns those whose finalizer can be removed.
    fn note_ended(&mut self, finish: Option<&Value>) -> Vec<Value> {
        let failing = finish.is_some_and(|condition| condition["type"] != SUCCESS_CRITERIA_MET);
        let (mut ended, mut new) = (Vec::new(), Vec::new());
        for pod in self.pods.iter().filter(|pod| is_tracked(pod)) {
            let (failed, succeeded) = (self.has_failed(pod), pod["status"]["phase"] == "Succeeded");
            let is_over = succeeded || finish.is_some() || meta::is_terminating(&self.job);
            if !(failed || is_over) {
                continue;
            }
            if is_over || !self.is_held(pod) {
                ended.push(pod.clone());
            }
            let is_counted = !self.is_indexed() || indexes::of_pod(&self.job, pod).is_some();
            // For an indexed job's pod, the index is enough to count a success.
            let list = match succeeded {
                true if self.is_indexed() => None,
                true => Some("succeeded"),
                // A failing job counts all unfinished pods as failed.
                false if (failed || failing) && is_counted && self.counts(pod) => Some("failed"),
                false => None,
            };
            new.extend(list.map(|list| (list, meta::text(pod, "uid").to_owned())));
        }
        let uncounted = meta::object_mut(&mut self.job["status"][UNCOUNTED]);
        for (list, uid) in new {
            let noted = ["succeeded", "failed"].iter().any(|list| {
                uncounted.get(*list).is_some_and(|list| meta::strings(list).contains(&uid.as_str()))
            });
            let uids = uncounted.entry(list).or_insert_with(|| json!([]));
            if let Some(uids) = uids.as_array_mut().filter(|_| !noted) {
                uids.push(uid.into());
            }
        }
        if self.is_indexed() {
            let status = &mut self.job["status"];
            set_count(status, "succeeded", self.done.len());
            let text = self.done.to_string();
            let status = meta::object_mut(status);
            match text.is_empty() {
                true => status.remove("completedIndexes"),
                false => status.insert("completedIndexes".to_owned(), text.into()),
            };
            match &self.failed_indexes {
                None => status.remove("failedIndexes"),
                Some(failed) => status.insert("failedIndexes".to_owned(), failed.to_string().into()),
            };
        }
        ended
    }

    /// Moves noted pods without a finalizer into the counters; `released` lost theirs in this run.
    fn count_released(&mut self, released: &[Value]) {
        let uid = |pod: &Value| meta::text(pod, "uid").to_owned();
        let released: Vec<String> = released.iter().map(uid).collect();
        let tracked = self.pods.iter().filter(|pod| is_tracked(pod)).map(uid);
        let tracked: Vec<String> = tracked.filter(|uid| !released.contains(uid)).collect();
        for list in ["succeeded", "failed"] {
            let status = &mut self.job["status"];
            let noted = meta::strings(&status[UNCOUNTED][list]);
            let left: Vec<String> = noted
                .iter()
                .filter(|uid| tracked.iter().any(|t| t == *uid))
                .map(|uid| (*uid).to_owned())
                .collect();
            let counted = count(noted.len() - left.len());
            if counted == 0 {
                continue;
            }
            let sum = status[list].as_i64().unwrap_or(0) + counted;
            set_count(status, list, sum);
            let uncounted = meta::object_mut(&mut status[UNCOUNTED]);
            match left.is_empty() {
                true => uncounted.remove(list),
                false => uncounted.insert(list.to_owned(), left.into()),
            };
        }
    }

    /// Ends the job if all of its pods are counted and gone; returns its final condition.
    fn finished(&mut self, decided: &Value) -> Option<Value> {
        let noted = self.job["status"][UNCOUNTED].as_object().is_some_and(|lists| !lists.is_empty());
        if noted || self.terminating() > 0 {
            return None;
        }
        let text = |field: &str| decided[field].as_str().unwrap_or_default();
        let kind = if decided["type"] == FAILURE_TARGET { FAILED } else { COMPLETE };
        let condition = self.condition(kind, text("reason"), text("message"));
        self.set_condition(condition.clone());
        if kind == COMPLETE {
            self.job["status"]["completionTime"] = condition["lastTransitionTime"].clone();
        }
        Some(condition)
    }

    async fn tell_end(&self, condition: &Value) {
        if condition["type"] == COMPLETE {
            self.cluster.tell(COMPONENT, &self.job, "Completed", "Job completed").await;
        } else {
            let text = |field: &str| condition[field].as_str().unwrap_or_default();
            self.cluster.warn(COMPONENT, &self.job, text("reason"), text("message")).await;
        }
    }
}
