//! Jobs: pods that run until enough of them have succeeded.
//!
//! Follows kube-controller-manager's `pkg/controller/job` and, for finished jobs, `pkg/controller/ttlafterfinished`
//! (1.36).

mod backoff;
mod finish;
mod indexes;
mod pods;
mod policy;
mod retries;
mod track;

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};

use super::Outcome;
use super::cluster::{Cluster, Fault, JOBS, PODS, unless_gone};
use super::owners::{JOB_TRACKING, claim, controller_of, owner_keys};
use super::pods::{is_active, is_over, is_ready};
use crate::meta;
pub(super) use finish::ended;
use indexes::Indexes;

pub(super) const WATCHES: &[&str] = &[JOBS.collection, PODS.collection];
const COMPONENT: &str = "job-controller";
/// The value of `managedBy` for this controller.
const MANAGER: &str = "kubernetes.io/job-controller";

pub(super) fn keys(cluster: &Cluster, collection: &str, key: &str, object: &Value) -> Vec<String> {
    owner_keys(cluster, JOBS, collection, key, object)
}

pub(super) async fn reconcile(cluster: &Cluster, key: &str) -> Outcome {
    let stored = cluster.get(JOBS, key);
    release_orphans(cluster, key, stored.as_ref().map_or("", |stored| meta::text(&stored.value, "uid")))
        .await?;
    let Some(stored) = stored else { return Ok(None) };
    let job: &Value = &stored.value;
    if job["spec"]["managedBy"].as_str().is_some_and(|manager| manager != MANAGER) {
        return Ok(None);
    }
    if let Some(ended) = ended(job) {
        return expire(cluster, job, ended).await;
    }
    let pods = claim(cluster, PODS, job, JOBS, |_| true).await?;
    Sync::new(cluster, job.clone(), pods).run().await
}

/// Removes the finalizers of pods whose job no longer exists: `syncOrphanPod`.
async fn release_orphans(cluster: &Cluster, key: &str, uid: &str) -> Result<(), Fault> {
    let (namespace, name) = key.split_once('/').unwrap_or_default();
    let is_orphan = |pod: &Value| match controller_of(pod) {
        None => true,
        Some(owner) => owner["kind"] == JOBS.kind && owner["name"] == name && owner["uid"] != uid,
    };
    for pod in cluster.list_where(PODS, namespace, |pod| is_tracked(pod) && is_orphan(pod)) {
        cluster.remove_finalizer(PODS, &pod, JOB_TRACKING).await?;
    }
    Ok(())
}

/// Deletes a finished job after its time to live.
async fn expire(cluster: &Cluster, job: &Value, ended: &Value) -> Outcome {
    let Some(kept) = job["spec"]["ttlSecondsAfterFinished"].as_i64() else { return Ok(None) };
    if meta::is_terminating(job) {
        return Ok(None);
    }
    let left = left(cluster, &ended["lastTransitionTime"], kept);
    if left.is_zero() {
        let options = json!({"propagationPolicy": "Foreground"});
        unless_gone(cluster.delete(JOBS, job, options).await)?;
        return Ok(None);
    }
    Ok(Some(left))
}

/// Returns the rest of a span of seconds that began at `since`.
fn left(cluster: &Cluster, since: &Value, seconds: i64) -> Duration {
    let since = since.as_str().and_then(|time| time.parse().ok()).unwrap_or_else(|| cluster.now());
    let left = seconds.saturating_sub(cluster.now().as_second().saturating_sub(since.as_second()));
    Duration::from_secs(u64::try_from(left).unwrap_or_default())
}

/// A job and its pods, as read at the start of a run, and the changes of the run.
struct Sync<'a> {
    cluster: &'a Cluster,
    job: Value,
    pods: Vec<Value>,
    /// The pods that count as active.
    active: Vec<Value>,
    /// The numbers of pods deleted in this run, in total and ready.
    deleted: (usize, usize),
    /// The number of pods created in this run.
    created: usize,
    /// The indexes that have succeeded.
    done: Indexes,
    /// The indexes that have failed for good, if the job limits failures per index.
    failed_indexes: Option<Indexes>,
    /// The failed pods whose indexes are to be retried, by index.
    held: BTreeMap<i64, Value>,
    /// The time until the next run.
    again: Option<Duration>,
}

impl<'a> Sync<'a> {
    fn new(cluster: &'a Cluster, job: Value, pods: Vec<Value>) -> Self {
        let active = pods.iter().filter(|pod| is_active(pod)).cloned().collect();
        let done = Indexes::done(&job, &pods);
        let (failed_indexes, held, again) = (None, BTreeMap::new(), None);
        let mut this = Self {
            cluster,
            job,
            pods,
            active,
            deleted: (0, 0),
            created: 0,
            done,
            failed_indexes,
            held,
            again,
        };
        this.failed_indexes = this.find_failed();
        this.held = this.find_held();
        this
    }

    /// `syncJob`.
    async fn run(mut self) -> Outcome {
        let stored = self.job["status"].clone();
        let suspended = self.is_suspended();
        if self.job["status"]["startTime"].is_null() && !suspended {
            self.job["status"]["startTime"] = self.cluster.time().into();
        }
        let mut finish = self.decided();
        let managed = if finish.is_some() {
            self.delete_active().await
        } else if meta::is_terminating(&self.job) {
            Ok(())
        } else {
            self.manage().await
        };
        if finish.is_none() && managed.is_ok() && self.is_complete() {
            finish = Some(self.condition(
                finish::SUCCESS_CRITERIA_MET,
                "CompletionsReached",
                "Reached expected number of succeeded pods",
            ));
        } else if finish.is_none() && managed.is_ok() && !meta::is_terminating(&self.job) {
            self.note_suspension().await;
        }
        self.count_pods();
        let tracked = self.track(finish.filter(|_| managed.is_ok()), &stored).await;
        managed.and(tracked)?;
        Ok(self.again)
    }

    fn spec(&self, field: &str) -> Option<i64> {
        self.job["spec"][field].as_i64()
    }

    fn is_suspended(&self) -> bool {
        self.job["spec"]["suspend"] == true
    }

    fn is_indexed(&self) -> bool {
        self.job["spec"]["completionMode"] == "Indexed"
    }

    /// Reports whether a pod counts as failed. A terminating one counts unless `podReplacementPolicy` is `Failed`.
    fn has_failed(&self, pod: &Value) -> bool {
        let only_failed = self.job["spec"]["podReplacementPolicy"] == "Failed";
        match pod["status"]["phase"].as_str() {
            Some("Failed") => true,
            Some("Succeeded") => false,
            _ => !only_failed && meta::is_terminating(pod),
        }
    }

    /// Counts the pods of a kind that the status has not counted yet.
    fn uncounted(&self, list: &str, is_one: impl Fn(&Value) -> bool) -> i64 {
        let noted = meta::strings(&self.job["status"]["uncountedTerminatedPods"][list]);
        let new = self.pods.iter().filter(|pod| {
            is_tracked(pod)
                && !noted.contains(&meta::text(pod, "uid"))
                && (!self.is_indexed() || indexes::of_pod(&self.job, pod).is_some())
                && is_one(pod)
        });
        count(noted.len() + new.count())
    }

    fn failed(&self) -> i64 {
        self.counted("failed") + self.uncounted("failed", |pod| self.has_failed(pod) && self.counts(pod))
    }

    fn succeeded(&self) -> i64 {
        if self.is_indexed() {
            return self.done.len();
        }
        self.counted("succeeded") + self.uncounted("succeeded", |pod| pod["status"]["phase"] == "Succeeded")
    }

    /// A count in the status.
    fn counted(&self, field: &str) -> i64 {
        self.job["status"][field].as_i64().unwrap_or(0)
    }

    /// Returns the number of active pods after creations and deletions.
    fn running(&self) -> i64 {
        count(self.active.len() + self.created - self.deleted.0)
    }

    fn terminating(&self) -> i64 {
        let ending = self.pods.iter().filter(|pod| meta::is_terminating(pod) && !is_over(pod));
        count(ending.count() + self.deleted.0)
    }

    fn is_complete(&self) -> bool {
        match self.spec("completions") {
            None => self.succeeded() > 0 && self.running() == 0,
            Some(wanted) => self.succeeded() >= wanted && self.running() == 0,
        }
    }

    /// Writes the numbers of active pods into the status.
    fn count_pods(&mut self) {
        let ready = self.active.iter().filter(|pod| is_ready(pod)).count() - self.deleted.1;
        let (running, terminating) = (self.running(), self.terminating());
        set_count(&mut self.job["status"], "active", running);
        self.job["status"]["ready"] = count(ready).into();
        self.job["status"]["terminating"] = terminating.into();
    }
}

/// Reports whether a job has not counted a pod yet.
fn is_tracked(pod: &Value) -> bool {
    meta::finalizers(pod).contains(&JOB_TRACKING)
}

fn count(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Sets a count that is omitted when it is zero.
fn set_count(status: &mut Value, field: &str, number: i64) {
    let status = meta::object_mut(status);
    if number == 0 {
        status.remove(field);
    } else {
        status.insert(field.to_owned(), number.into());
    }
}
