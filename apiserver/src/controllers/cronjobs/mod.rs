//! Cron jobs: jobs at the times of a schedule, with a history of finished ones.
//!
//! Follows kube-controller-manager's `pkg/controller/cronjob` (1.36). A change of the schedule takes effect at once;
//! upstream waits for its next time. So a time of the new schedule that has passed since the last job starts one.

mod times;

use std::time::Duration;

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::Outcome;
use super::cluster::{CRON_JOBS, Cluster, Fault, JOBS, unless_gone};
use super::jobs::ended;
use super::owners::{controller_of, controller_reference, is_controlled_by, owner_keys};
use crate::clock::rfc3339;
use crate::cron::Schedule;
use crate::meta;

pub(super) const WATCHES: &[&str] = &[CRON_JOBS.collection, JOBS.collection];
const COMPONENT: &str = "cronjob-controller";
/// The annotation with the scheduled time of a job (`CronJobScheduledTimestampAnnotation` of k8s.io/api/batch/v1).
const SCHEDULED: &str = "batch.kubernetes.io/cronjob-scheduled-timestamp";
/// The delay of a job after its time, which allows for clock skew (`nextScheduleDelta`).
const DELTA: SignedDuration = SignedDuration::from_millis(100);

/// Returns the keys of an event. Jobs without an owner have none, as cron jobs adopt no jobs.
pub(super) fn keys(cluster: &Cluster, collection: &str, key: &str, object: &Value) -> Vec<String> {
    if collection == JOBS.collection && controller_of(object).is_none() {
        return Vec::new();
    }
    owner_keys(cluster, CRON_JOBS, collection, key, object)
}

pub(super) async fn reconcile(cluster: &Cluster, key: &str) -> Outcome {
    let Some(stored) = cluster.get(CRON_JOBS, key) else { return Ok(None) };
    let cron_job = stored.value.clone();
    let is_own = |job: &Value| controller_of(job).is_some_and(|owner| owner["name"] == meta::name(&cron_job));
    let jobs = cluster.list_where(JOBS, meta::namespace(&cron_job), is_own);
    let mut sync = Sync { cluster, cron_job, jobs };
    let again = sync.run().await;
    // The status is written even if the run failed.
    sync.clean_up().await;
    if sync.cron_job["status"] != stored.value["status"] {
        cluster.update_status(CRON_JOBS, &sync.cron_job).await?;
    }
    again
}

/// A cron job and its jobs, as read at the start of a run.
struct Sync<'a> {
    cluster: &'a Cluster,
    cron_job: Value,
    jobs: Vec<Value>,
}

impl Sync<'_> {
    /// `syncCronJob`.
    async fn run(&mut self) -> Outcome {
        self.note_jobs().await;
        self.forget_missing().await;
        if meta::is_terminating(&self.cron_job) || self.cron_job["spec"]["suspend"] == true {
            return Ok(None);
        }
        let schedule = match Schedule::parse(&self.schedule()) {
            Ok(schedule) => schedule,
            Err(why) => {
                let schedule = self.cron_job["spec"]["schedule"].as_str().unwrap_or_default();
                self.warn("UnparseableSchedule", &format!("unparseable schedule: {schedule:?} : {why}"))
                    .await;
                return Ok(None);
            }
        };
        let now = self.cluster.now();
        let deadline = self.cron_job["spec"]["startingDeadlineSeconds"].as_i64();
        let recent = match times::most_recent(&self.cron_job, now, &schedule, deadline) {
            Ok(recent) => recent,
            Err(why) => {
                let text = self.cron_job["spec"]["schedule"].as_str().unwrap_or_default();
                self.warn("InvalidSchedule", &format!("invalid schedule: {text} : {why}")).await;
                return Ok(None);
            }
        };
        if let Some(time) = recent.time {
            if recent.missed > times::MANY {
                let text = "too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew";
                self.warn("TooManyMissedTimes", text).await;
            }
            if self.may_start(time, deadline).await {
                self.start(time).await?;
            }
        }
        Ok(self.wait(now, &schedule))
    }

    /// Returns the schedule with the time zone of the spec, unless it has one itself (`formatSchedule`).
    fn schedule(&self) -> String {
        let spec = &self.cron_job["spec"];
        let schedule = spec["schedule"].as_str().unwrap_or_default();
        match spec["timeZone"].as_str() {
            Some(zone) if !schedule.contains("TZ") => format!("TZ={zone} {schedule}"),
            _ => schedule.to_owned(),
        }
    }

    /// Returns the time until the schedule's next job.
    fn wait(&self, now: Timestamp, schedule: &Schedule) -> Option<Duration> {
        let next = times::next(&self.cron_job, now, schedule)?;
        let wait = next.duration_since(now).saturating_add(DELTA);
        // A wait of zero would requeue the key at once.
        Some(Duration::try_from(wait).unwrap_or_default().max(Duration::from_millis(1)))
    }

    /// Reports whether a job may start at its time: it is not too late, not done, and concurrency allows it.
    async fn may_start(&mut self, time: Timestamp, deadline: Option<i64>) -> bool {
        let now = self.cluster.now();
        let until = deadline.and_then(|seconds| time.checked_add(SignedDuration::from_secs(seconds)).ok());
        if until.is_some_and(|until| until < now) {
            let time = time.strftime("%a, %d %b %Y %H:%M:%S +0000");
            self.warn("MissSchedule", &format!("Missed scheduled time to start a job: {time}")).await;
            return false;
        }
        let name = self.job_name(time);
        let is_done = self.cron_job["status"]["lastScheduleTime"] == rfc3339(time);
        if is_done || self.active().iter().any(|job| job["name"] == name) {
            return false;
        }
        if self.cron_job["spec"]["concurrencyPolicy"] == "Forbid" && !self.active().is_empty() {
            let text = "Not starting job because prior execution is running and concurrency policy is Forbid";
            self.tell("JobAlreadyActive", text).await;
            return false;
        }
        true
    }

    /// Starts the job of a time; `Replace` deletes the running ones first.
    async fn start(&mut self, time: Timestamp) -> Result<(), Fault> {
        if self.cron_job["spec"]["concurrencyPolicy"] == "Replace" {
            for active in self.active() {
                let running = self.jobs.iter().find(|job| meta::text(job, "uid") == active["uid"]).cloned();
                if let Some(job) = running {
                    self.delete(&job).await?;
                }
            }
        }
        let namespace = meta::namespace(&self.cron_job);
        let wanted = self.job(time);
        let job = match self.cluster.create(JOBS, namespace, &wanted).await {
            Ok(job) => {
                self.tell("SuccessfulCreate", &format!("Created job {}", meta::name(&job))).await;
                job
            }
            // The status was not written when the job was created, and the job may be finished by now. A job of another
            // owner stays as it is.
            Err(fault) if fault.code == 409 => {
                let known = self.cluster.get(JOBS, &format!("{namespace}/{}", meta::name(&wanted)));
                match known.filter(|job| is_controlled_by(&job.value, &self.cron_job)) {
                    Some(job) => job.value.clone(),
                    None => return Ok(()),
                }
            }
            Err(fault) => {
                self.warn("FailedCreate", &format!("Error creating job: {}", fault.message())).await;
                return Err(fault);
            }
        };
        let mut active = self.active();
        active.push(json!({
            "kind": JOBS.kind, "apiVersion": JOBS.api_version, "namespace": namespace, "name": meta::name(&job),
            "uid": meta::text(&job, "uid"), "resourceVersion": meta::text(&job, "resourceVersion"),
        }));
        self.set_active(active);
        self.cron_job["status"]["lastScheduleTime"] = rfc3339(time).into();
        Ok(())
    }

    /// Builds the job of a time, named after its minute (`getJobFromTemplate2`).
    fn job(&self, time: Timestamp) -> Value {
        let template = &self.cron_job["spec"]["jobTemplate"];
        let zone = self.cron_job["spec"]["timeZone"].as_str().and_then(|name| TimeZone::get(name).ok());
        let local = time.to_zoned(zone.unwrap_or(TimeZone::UTC));
        let text = match local.offset().is_zero() {
            true => rfc3339(time),
            false => local.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string(),
        };
        let mut metadata = json!({
            "name": self.job_name(time), "namespace": meta::namespace(&self.cron_job),
            "ownerReferences": [controller_reference(&self.cron_job, CRON_JOBS)],
        });
        for part in ["labels", "annotations"] {
            if let Some(members) = template["metadata"][part].as_object() {
                metadata[part] = members.clone().into();
            }
        }
        metadata["annotations"][SCHEDULED] = text.into();
        json!({"apiVersion": JOBS.api_version, "kind": JOBS.kind, "metadata": metadata, "spec": template["spec"]})
    }

    fn job_name(&self, time: Timestamp) -> String {
        format!("{}-{}", meta::name(&self.cron_job), time.as_second().div_euclid(60))
    }

    async fn tell(&self, reason: &str, text: &str) {
        self.cluster.tell(COMPONENT, &self.cron_job, reason, text).await;
    }

    async fn warn(&self, reason: &str, text: &str) {
        self.cluster.warn(COMPONENT, &self.cron_job, reason, text).await;
    }
}

/// Tracks running and finished jobs.
impl Sync<'_> {
    /// Records finished jobs and the time of the last success.
    async fn note_jobs(&mut self) {
        for job in self.jobs.clone() {
            let is_active = self.active().iter().any(|active| active["uid"] == meta::text(&job, "uid"));
            let Some(end) = ended(&job) else {
                if !is_active {
                    let name = meta::name(&job);
                    let text = format!("Saw a job that the controller did not create or forgot: {name}");
                    self.warn("UnexpectedJob", &text).await;
                }
                continue;
            };
            let kind = end["type"].as_str().unwrap_or_default();
            if is_active {
                self.forget(&job);
                let text = format!("Saw completed job: {}, condition: {kind}", meta::name(&job));
                self.tell("SawCompletedJob", &text).await;
            }
            let completed = job["status"]["completionTime"].as_str().filter(|_| kind == "Complete");
            let last = self.cron_job["status"]["lastSuccessfulTime"].as_str();
            // All times have the same format, so they compare as text.
            if completed.is_some_and(|time| last.is_none_or(|last| last < time)) {
                self.cron_job["status"]["lastSuccessfulTime"] = job["status"]["completionTime"].clone();
            }
        }
    }

    /// Forgets jobs that no longer exist.
    async fn forget_missing(&mut self) {
        for active in self.active() {
            if !self.jobs.iter().any(|job| meta::text(job, "uid") == active["uid"]) {
                let left = self.active().into_iter().filter(|other| other["uid"] != active["uid"]).collect();
                self.set_active(left);
                let name = active["name"].as_str().unwrap_or_default();
                self.tell("MissingJob", &format!("Active job went missing: {name}")).await;
            }
        }
    }

    /// Deletes the oldest finished jobs beyond the history limits (`cleanupFinishedJobs`).
    async fn clean_up(&mut self) {
        for (kind, limit) in
            [("Complete", "successfulJobsHistoryLimit"), ("Failed", "failedJobsHistoryLimit")]
        {
            let Some(kept) = self.cron_job["spec"][limit].as_u64() else { continue };
            let is_so = |job: &&Value| ended(job).is_some_and(|end| end["type"] == kind);
            let mut over: Vec<Value> = self.jobs.iter().filter(is_so).cloned().collect();
            // Jobs without a start time come last.
            over.sort_by_cached_key(|job| {
                let start = job["status"]["startTime"].as_str().map(str::to_owned);
                (start.is_none(), start, meta::name(job).to_owned())
            });
            let surplus = over.len().saturating_sub(usize::try_from(kept).unwrap_or(usize::MAX));
            for job in over.iter().take(surplus).filter(|job| !meta::is_terminating(job)) {
                // A failed deletion is retried at the next event.
                let _ = self.delete(job).await;
            }
        }
    }

    async fn delete(&mut self, job: &Value) -> Result<(), Fault> {
        let options = json!({"propagationPolicy": "Background"});
        if let Err(fault) = unless_gone(self.cluster.delete(JOBS, job, options).await) {
            self.warn("FailedDelete", &format!("Deleted job: {}", fault.message())).await;
            return Err(fault);
        }
        self.forget(job);
        self.tell("SuccessfulDelete", &format!("Deleted job {}", meta::name(job))).await;
        Ok(())
    }

    /// The references to running jobs.
    fn active(&self) -> Vec<Value> {
        self.cron_job["status"]["active"].as_array().cloned().unwrap_or_default()
    }

    fn forget(&mut self, job: &Value) {
        let left = self.active().into_iter().filter(|active| active["uid"] != meta::text(job, "uid"));
        self.set_active(left.collect());
    }

    fn set_active(&mut self, active: Vec<Value>) {
        let status = meta::object_mut(&mut self.cron_job["status"]);
        match active.is_empty() {
            true => status.remove("active"),
            false => status.insert("active".to_owned(), active.into()),
        };
    }
}
