//! Cron jobs. The clock of the environment begins at midnight of the first of January 2026, a Thursday.

use http::Method;
use kubesmith_testenv::TestEnv;
use serde_json::{Value, json};

use super::jobs::{end, env_with_clock, pass};
use super::{PODS, create, get, items, quiet};
use crate::support::{call, patch};

const CRON_JOBS: &str = "/apis/batch/v1/namespaces/default/cronjobs";
const CRON_JOB: &str = "/apis/batch/v1/namespaces/default/cronjobs/tick";
const JOBS: &str = "/apis/batch/v1/namespaces/default/jobs";

fn cron_job(schedule: &str, mut spec: Value) -> Value {
    spec["schedule"] = schedule.into();
    spec["jobTemplate"] = json!({
        "metadata": {"labels": {"app": "tick"}, "annotations": {"a": "b"}},
        "spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}},
    });
    json!({"metadata": {"name": "tick"}, "spec": spec})
}

async fn jobs(env: &TestEnv) -> Vec<String> {
    let jobs = items(env, JOBS).await;
    jobs.iter().map(|job| job["metadata"]["name"].as_str().unwrap().to_owned()).collect()
}

/// Ends all pods that run.
async fn end_all(env: &TestEnv, phase: &str) {
    for pod in items(env, PODS).await {
        if pod["status"]["phase"] == "Pending" {
            end(env, &pod, phase).await;
        }
    }
    quiet(env).await;
}

async fn reasons(env: &TestEnv) -> Vec<String> {
    let path = "/api/v1/namespaces/default/events?fieldSelector=involvedObject.kind=CronJob";
    let events = items(env, path).await;
    events.iter().map(|event| event["reason"].as_str().unwrap().to_owned()).collect()
}

/// 29454726 minutes and more have passed since 1970.
#[tokio::test(start_paused = true)]
async fn cron_job_starts_a_job_at_its_time() {
    let (env, clock) = env_with_clock().await;
    let stored = create(&env, CRON_JOBS, cron_job("*/2 * * * *", json!({"timeZone": "Europe/Berlin"}))).await;
    pass(&clock, 119).await;
    quiet(&env).await;
    assert!(jobs(&env).await.is_empty());
    pass(&clock, 2).await;
    quiet(&env).await;
    let job = items(&env, JOBS).await.remove(0);
    assert_eq!(job["metadata"]["name"], "tick-29453762");
    assert_eq!(job["metadata"]["labels"]["app"], "tick");
    let annotations =
        json!({"a": "b", "batch.kubernetes.io/cronjob-scheduled-timestamp": "2026-01-01T01:02:00+01:00"});
    assert_eq!(job["metadata"]["annotations"], annotations);
    let owner = &job["metadata"]["ownerReferences"][0];
    assert_eq!((&owner["uid"], &owner["controller"]), (&stored["metadata"]["uid"], &json!(true)));
    let status = get(&env, CRON_JOB).await["status"].clone();
    assert_eq!(status["lastScheduleTime"], "2026-01-01T00:02:00Z");
    assert_eq!(status["active"][0]["uid"], job["metadata"]["uid"]);
    end_all(&env, "Succeeded").await;
    let status = get(&env, CRON_JOB).await["status"].clone();
    assert_eq!(status["lastSuccessfulTime"], "2026-01-01T00:02:01Z");
    assert!(status.get("active").is_none());
    assert_eq!(reasons(&env).await, ["SuccessfulCreate", "SawCompletedJob"]);
}

#[tokio::test(start_paused = true)]
async fn concurrency_policy_forbids_allows_or_replaces_a_second_job() {
    for (policy, expected) in [("Allow", 2), ("Forbid", 1), ("Replace", 1)] {
        let (env, clock) = env_with_clock().await;
        create(&env, CRON_JOBS, cron_job("* * * * *", json!({"concurrencyPolicy": policy}))).await;
        pass(&clock, 61).await;
        quiet(&env).await;
        let first = jobs(&env).await;
        pass(&clock, 60).await;
        quiet(&env).await;
        let second = jobs(&env).await;
        assert_eq!((first.len(), second.len()), (1, expected), "{policy}");
        assert_eq!(second.contains(&first[0]), policy != "Replace", "{policy}");
        let active = get(&env, CRON_JOB).await["status"]["active"].clone();
        assert_eq!(active.as_array().unwrap().len(), expected, "{policy}");
        if policy == "Forbid" {
            end_all(&env, "Succeeded").await;
            assert_eq!(jobs(&env).await.len(), 2, "the missed time is made up for");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn history_of_a_cron_job_keeps_the_newest_jobs() {
    let (env, clock) = env_with_clock().await;
    let limits = json!({"successfulJobsHistoryLimit": 2, "failedJobsHistoryLimit": 0});
    create(&env, CRON_JOBS, cron_job("* * * * *", limits)).await;
    for _ in 0..3 {
        pass(&clock, 61).await;
        quiet(&env).await;
        end_all(&env, "Succeeded").await;
    }
    assert_eq!(jobs(&env).await, ["tick-29453762", "tick-29453763"]);
}

#[tokio::test(start_paused = true)]
async fn suspended_cron_job_drops_missed_times_after_its_deadline() {
    let (env, clock) = env_with_clock().await;
    let spec = json!({"suspend": true, "startingDeadlineSeconds": 30});
    create(&env, CRON_JOBS, cron_job("0 * * * *", spec)).await;
    pass(&clock, 3700).await;
    quiet(&env).await;
    let resume = json!({"spec": {"suspend": false}});
    assert_eq!(patch(&env, CRON_JOB, "merge-patch+json", resume).await.0, 200);
    quiet(&env).await;
    assert!(jobs(&env).await.is_empty(), "its time was 100 s ago");
    pass(&clock, 3510).await;
    quiet(&env).await;
    assert_eq!(jobs(&env).await, ["tick-29453880"]);
}

#[tokio::test(start_paused = true)]
async fn cron_job_starts_the_last_of_many_missed_times() {
    let (env, clock) = env_with_clock().await;
    create(&env, CRON_JOBS, cron_job("* * * * *", json!({"suspend": true}))).await;
    pass(&clock, 3 * 3600).await;
    let resume = json!({"spec": {"suspend": false}});
    assert_eq!(patch(&env, CRON_JOB, "merge-patch+json", resume).await.0, 200);
    quiet(&env).await;
    assert_eq!(jobs(&env).await, ["tick-29453940"]);
    assert_eq!(reasons(&env).await, ["TooManyMissedTimes", "SuccessfulCreate"]);
}

#[tokio::test(start_paused = true)]
async fn jobs_are_deleted_with_their_cron_job() {
    let (env, clock) = env_with_clock().await;
    create(&env, CRON_JOBS, cron_job("* * * * *", json!({}))).await;
    pass(&clock, 61).await;
    quiet(&env).await;
    assert_eq!(jobs(&env).await.len(), 1);
    assert_eq!(call(&env, Method::DELETE, CRON_JOB, Value::Null).await.0, 200);
    quiet(&env).await;
    assert!(jobs(&env).await.is_empty());
}
