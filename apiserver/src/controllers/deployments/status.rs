//! The status of a deployment.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::super::Outcome;
use super::super::cluster::{DEPLOYMENTS, Fault, unless_gone};
use super::{Rollout, counted, replicas};
use crate::meta;

const PROGRESSING: &str = "Progressing";
/// The reason of a finished rollout.
const COMPLETE: &str = "NewReplicaSetAvailable";
const PAUSED: &str = "DeploymentPaused";
const TIMED_OUT: &str = "ProgressDeadlineExceeded";

fn condition<'a>(status: &'a Value, kind: &str) -> Option<&'a Value> {
    status["conditions"].as_array()?.iter().find(|c| c["type"] == kind)
}

/// Sets a condition; its transition time only changes with its status. An equal condition stays as it is.
fn set_condition(status: &mut Value, kind: &str, value: bool, reason: &str, message: &str, time: &str) {
    let value = if value { "True" } else { "False" };
    let old = condition(status, kind);
    if old.is_some_and(|old| old["status"] == value && old["reason"] == reason) {
        return;
    }
    let transition = old.filter(|old| old["status"] == value).map(|old| old["lastTransitionTime"].clone());
    let new = json!({
        "type": kind, "status": value, "reason": reason, "message": message, "lastUpdateTime": time,
        "lastTransitionTime": transition.unwrap_or_else(|| json!(time)),
    });
    remove_condition(status, kind);
    match status["conditions"].as_array_mut() {
        Some(conditions) => conditions.push(new),
        None => status["conditions"] = json!([new]),
    }
}

fn remove_condition(status: &mut Value, kind: &str) {
    if let Some(conditions) = status["conditions"].as_array_mut() {
        conditions.retain(|condition| condition["type"] != kind);
        if conditions.is_empty()
            && let Some(status) = status.as_object_mut()
        {
            status.remove("conditions");
        }
    }
}

fn number(status: &Value, field: &str) -> i64 {
    status[field].as_i64().unwrap_or(0)
}

/// Reports whether all wanted pods are of the current template and available.
pub(super) fn is_complete(deployment: &Value, status: &Value) -> bool {
    let wanted = replicas(deployment);
    let all = ["updatedReplicas", "replicas", "availableReplicas"];
    let generation = deployment["metadata"]["generation"].as_i64().unwrap_or(0);
    all.iter().all(|field| number(status, field) == wanted)
        && number(status, "observedGeneration") >= generation
}

/// Reports whether the second status is a progress over the first.
fn has_progressed(old: &Value, new: &Value) -> bool {
    let old_pods = |status: &Value| number(status, "replicas") - number(status, "updatedReplicas");
    number(new, "updatedReplicas") > number(old, "updatedReplicas")
        || old_pods(new) < old_pods(old)
        || number(new, "readyReplicas") > number(old, "readyReplicas")
        || number(new, "availableReplicas") > number(old, "availableReplicas")
}

impl Rollout<'_> {
    /// The counts and the condition `Available`.
    fn counted_status(&self) -> Value {
        let sum = |field: &str| self.sets().map(|set| counted(set, field)).sum::<i64>();
        let (total, available) = (sum("replicas"), sum("availableReplicas"));
        let mut status = json!({
            "observedGeneration": self.deployment["metadata"]["generation"],
            "replicas": total,
            "updatedReplicas": self.new.as_ref().map_or(0, |set| counted(set, "replicas")),
            "readyReplicas": sum("readyReplicas"),
            "availableReplicas": available,
            "unavailableReplicas": (total - available).max(0),
            "terminatingReplicas": sum("terminatingReplicas"),
        });
        if let Some(map) = status.as_object_mut() {
            map.retain(|key, value| *value != 0 || key == "terminatingReplicas");
        }
        for kept in ["collisionCount", "conditions"] {
            if !self.deployment["status"][kept].is_null() {
                status[kept] = self.deployment["status"][kept].clone();
            }
        }
        let (_, unavailable) = self.limits();
        let time = self.cluster.time();
        if available >= self.wanted() - unavailable {
            let text = "Deployment has minimum availability.";
            set_condition(&mut status, "Available", true, "MinimumReplicasAvailable", text, &time);
        } else {
            let text = "Deployment does not have minimum availability.";
            set_condition(&mut status, "Available", false, "MinimumReplicasUnavailable", text, &time);
        }
        status
    }

    /// Writes the counts, and `Progressing` if given.
    pub(super) async fn write_status(&self, status: Option<Value>) -> Outcome {
        let status = status.unwrap_or_else(|| self.counted_status());
        if status == self.deployment["status"] {
            return Ok(None);
        }
        let mut next = self.deployment.clone();
        next["status"] = status;
        unless_gone(self.cluster.update_status(DEPLOYMENTS, &next).await)?;
        Ok(None)
    }

    /// Writes the counts and the progress; returns the time until the deadline.
    pub(super) async fn progress(&self) -> Outcome {
        let mut status = self.counted_status();
        let before = self.deployment["status"].clone();
        let deadline = self.deadline();
        if deadline.is_none() {
            remove_condition(&mut status, PROGRESSING);
        }
        let over = condition(&before, PROGRESSING).is_some_and(|c| c["reason"] == COMPLETE)
            && number(&status, "replicas") == number(&status, "updatedReplicas");
        if deadline.is_some() && !over {
            self.judge(&before, &mut status);
        }
        self.carry_failures(&mut status);
        self.write_status(Some(status.clone())).await?;
        Ok(self.time_left(&status))
    }

    /// Decides whether the rollout is complete, in progress or late.
    fn judge(&self, before: &Value, status: &mut Value) {
        let who = self.subject();
        let time = self.cluster.time();
        if is_complete(&self.deployment, status) {
            let text = format!("{who} has successfully progressed.");
            set_condition(status, PROGRESSING, true, COMPLETE, &text, &time);
        } else if has_progressed(before, status) {
            let text = format!("{who} is progressing.");
            let since = condition(before, PROGRESSING)
                .filter(|c| c["status"] == "True")
                .map(|c| c["lastTransitionTime"].as_str().unwrap_or_default().to_owned());
            remove_condition(status, PROGRESSING);
            set_condition(status, PROGRESSING, true, "ReplicaSetUpdated", &text, &time);
            if let (Some(since), Some(list)) = (since, status["conditions"].as_array_mut())
                && let Some(last) = list.last_mut()
            {
                last["lastTransitionTime"] = since.into();
            }
        } else if self.is_late(before) {
            let text = format!("{who} has timed out progressing.");
            set_condition(status, PROGRESSING, false, TIMED_OUT, &text, &time);
        }
    }

    fn subject(&self) -> String {
        match &self.new {
            Some(set) => format!("ReplicaSet {:?}", meta::name(set)),
            None => format!("Deployment {:?}", meta::name(&self.deployment)),
        }
    }

    /// Copies `ReplicaFailure` from a set to the deployment.
    fn carry_failures(&self, status: &mut Value) {
        let failing = self.sets().find_map(|set| condition(&set["status"], "ReplicaFailure"));
        remove_condition(status, "ReplicaFailure");
        if let Some(failure) = failing {
            let text = |field: &str| failure[field].as_str().unwrap_or_default().to_owned();
            let time = text("lastTransitionTime");
            set_condition(status, "ReplicaFailure", true, &text("reason"), &text("message"), &time);
        }
    }

    /// The progress deadline; `None` if there is none.
    fn deadline(&self) -> Option<i64> {
        let seconds = self.deployment["spec"]["progressDeadlineSeconds"].as_i64();
        seconds.filter(|seconds| *seconds != i64::from(i32::MAX))
    }

    /// Returns the seconds until a rollout in this state is late.
    fn seconds_left(&self, status: &Value) -> Option<i64> {
        let condition = condition(status, PROGRESSING)?;
        let since: Timestamp = condition["lastUpdateTime"].as_str()?.parse().ok()?;
        Some(since.as_second() + self.deadline()? - self.cluster.now().as_second())
    }

    fn is_late(&self, status: &Value) -> bool {
        let condition = condition(status, PROGRESSING);
        match condition.and_then(|c| c["reason"].as_str()) {
            None | Some(COMPLETE) => false,
            Some(TIMED_OUT) => true,
            Some(_) => self.seconds_left(status).is_some_and(|left| left < 0),
        }
    }

    /// Returns the time until the next check of the deadline.
    fn time_left(&self, status: &Value) -> Option<Duration> {
        let reason = condition(status, PROGRESSING)?["reason"].as_str()?;
        if matches!(reason, COMPLETE | TIMED_OUT) || is_complete(&self.deployment, status) {
            return None;
        }
        let left = self.seconds_left(status)?.max(0) + 1;
        u64::try_from(left).ok().map(Duration::from_secs)
    }

    /// Sets `Progressing` in the deployment at hand, unless it is set.
    pub(super) fn note_progress_once(&mut self, reason: &str, message: &str) -> bool {
        if self.deadline().is_none() || condition(&self.deployment["status"], PROGRESSING).is_some() {
            return false;
        }
        self.note_progress(reason, message, true);
        true
    }

    /// Sets `Progressing` in the deployment at hand.
    pub(super) fn note_progress(&mut self, reason: &str, message: &str, value: bool) {
        if self.deadline().is_some() {
            let time = self.cluster.time();
            set_condition(&mut self.deployment["status"], PROGRESSING, value, reason, message, &time);
        }
    }

    /// Sets `Progressing` when the rollout is paused or resumed; returns whether a write was needed.
    pub(super) async fn pause_condition(&mut self) -> Result<bool, Fault> {
        let paused = self.deployment["spec"]["paused"] == true;
        let current = condition(&self.deployment["status"], PROGRESSING);
        let reason = current.and_then(|c| c["reason"].as_str()).unwrap_or_default();
        if self.deadline().is_none() || reason == TIMED_OUT || paused == (reason == PAUSED) {
            return Ok(false);
        }
        let time = self.cluster.time();
        let (reason, text) = match paused {
            true => (PAUSED, "Deployment is paused"),
            false => ("DeploymentResumed", "Deployment is resumed"),
        };
        let mut next = self.deployment.clone();
        remove_condition(&mut next["status"], PROGRESSING);
        set_condition(&mut next["status"], PROGRESSING, true, reason, text, &time);
        let value = json!("Unknown");
        if let Some(last) = next["status"]["conditions"].as_array_mut().and_then(|list| list.last_mut()) {
            last["status"] = value;
        }
        unless_gone(self.cluster.update_status(DEPLOYMENTS, &next).await)?;
        Ok(true)
    }
}
