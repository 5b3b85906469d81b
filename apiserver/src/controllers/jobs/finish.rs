//! The end of a job: its reason and its conditions.

use serde_json::{Value, json};

use super::{COMPONENT, Sync, left};
use crate::meta;

/// The job will be complete when its pods are gone.
pub(super) const SUCCESS_CRITERIA_MET: &str = "SuccessCriteriaMet";
/// The job will have failed when its pods are gone.
pub(super) const FAILURE_TARGET: &str = "FailureTarget";
pub(super) const COMPLETE: &str = "Complete";
pub(super) const FAILED: &str = "Failed";
const SUSPENDED: &str = "Suspended";

fn holding<'a>(job: &'a Value, kind: &str) -> Option<&'a Value> {
    let mut conditions = job["status"]["conditions"].as_array()?.iter();
    conditions.find(|condition| condition["type"] == kind && condition["status"] == "True")
}

/// Returns the condition of a finished job.
pub(in crate::controllers) fn ended(job: &Value) -> Option<&Value> {
    holding(job, COMPLETE).or_else(|| holding(job, FAILED))
}

impl Sync<'_> {
    /// Builds a condition that is true.
    pub(super) fn condition(&self, kind: &str, reason: &str, message: &str) -> Value {
        let time = self.cluster.time();
        json!({"type": kind, "status": "True", "reason": reason, "message": message, "lastProbeTime": time,
               "lastTransitionTime": time})
    }

    /// Returns the condition that ends the job, if it is decided already, too many pods have failed, or its deadline
    /// has passed.
    pub(super) fn decided(&mut self) -> Option<Value> {
        for kind in [SUCCESS_CRITERIA_MET, FAILURE_TARGET] {
            if let Some(condition) = holding(&self.job, kind) {
                return Some(condition.clone());
            }
        }
        if let Some(text) = self.failure() {
            return Some(self.condition(FAILURE_TARGET, "PodFailurePolicy", &text));
        }
        if self.is_past_limit() {
            let text = "Job has reached the specified backoff limit";
            return Some(self.condition(FAILURE_TARGET, "BackoffLimitExceeded", text));
        }
        if let Some(deadline) = self.spec("activeDeadlineSeconds").filter(|_| !self.is_suspended()) {
            let left = left(self.cluster, &self.job["status"]["startTime"], deadline);
            if left.is_zero() {
                let text = "Job was active longer than specified deadline";
                return Some(self.condition(FAILURE_TARGET, "DeadlineExceeded", text));
            }
            self.again = Some(left);
        }
        if let Some((reason, text)) = self.past_index_limit() {
            return Some(self.condition(FAILURE_TARGET, reason, text));
        }
        let met = self.success()?;
        Some(self.condition(SUCCESS_CRITERIA_MET, "SuccessPolicy", &met))
    }

    /// Reports whether too many pods have failed, or restarted in place (`pastBackoffLimitOnFailure`).
    fn is_past_limit(&self) -> bool {
        let limit = self.spec("backoffLimit").unwrap_or(6);
        if self.failed() > limit {
            return true;
        }
        if self.job["spec"]["template"]["spec"]["restartPolicy"] != "OnFailure" {
            return false;
        }
        let running = self
            .pods
            .iter()
            .filter(|pod| matches!(pod["status"]["phase"].as_str(), Some("Running" | "Pending")));
        let lists = ["initContainerStatuses", "containerStatuses"];
        let statuses = running.flat_map(|pod| lists.iter().flat_map(|list| pod["status"][*list].as_array()));
        let restarts: i64 =
            statuses.flatten().map(|status| status["restartCount"].as_i64().unwrap_or(0)).sum();
        restarts > 0 && restarts >= limit
    }

    /// Sets the condition for suspension, and resets the start time when the job is resumed.
    pub(super) async fn note_suspension(&mut self) {
        let (status, reason, text) = match self.is_suspended() {
            true => ("True", "JobSuspended", "Job suspended"),
            false => ("False", "JobResumed", "Job resumed"),
        };
        let mut condition = self.condition(SUSPENDED, reason, text);
        condition["status"] = status.into();
        if !self.set_condition(condition) {
            return;
        }
        if !self.is_suspended() {
            self.job["status"]["startTime"] = self.cluster.time().into();
        }
        let event = if self.is_suspended() { "Suspended" } else { "Resumed" };
        self.cluster.tell(COMPONENT, &self.job, event, text).await;
    }

    /// Sets a condition, which is only added when it is true; returns whether that changed anything
    /// (`ensureJobConditionStatus`).
    pub(super) fn set_condition(&mut self, condition: Value) -> bool {
        let status = meta::object_mut(&mut self.job["status"]);
        let list = status.entry("conditions").or_insert_with(|| json!([]));
        let Some(list) = list.as_array_mut() else { return false };
        match list.iter_mut().find(|old| old["type"] == condition["type"]) {
            Some(old) if ["status", "reason", "message"].iter().all(|f| old[*f] == condition[*f]) => false,
            Some(old) => {
                *old = condition;
                true
            }
            None if condition["status"] == "False" => {
                if list.is_empty() {
                    status.remove("conditions");
                }
                false
            }
            None => {
                list.push(condition);
                true
            }
        }
    }
}
