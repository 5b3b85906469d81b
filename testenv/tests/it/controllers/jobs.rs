//! Jobs.

use std::sync::Arc;
use std::time::Duration;

use http::Method;
use kubesmith_testenv::{ManualClock, TestEnv};
use serde_json::{Value, json};

use super::{PODS, condition, create, env, get, items, quiet, until};
use crate::support::{call, patch};

const JOBS: &str = "/apis/batch/v1/namespaces/default/jobs";
const JOB: &str = "/apis/batch/v1/namespaces/default/jobs/job";
const FINALIZER: &str = "batch.kubernetes.io/job-tracking";

fn job(spec: Value) -> Value {
    let template = json!({"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}});
    let mut job = json!({"metadata": {"name": "job"}});
    job["spec"] = spec;
    job["spec"]["template"] = template;
    job
}

/// An environment whose time the test advances. No pod runs by itself.
pub(super) async fn env_with_clock() -> (TestEnv, Arc<ManualClock>) {
    let clock = Arc::new(ManualClock::new("2026-01-01T00:00:00Z".parse().unwrap()));
    let env = TestEnv::builder().seed(7).clock(clock.clone()).controllers(true).start().await.unwrap();
    (env, clock)
}

pub(super) async fn pass(clock: &ManualClock, seconds: u32) {
    clock.advance(seconds.into());
    tokio::time::sleep(Duration::from_secs(seconds.into())).await;
}

async fn active(env: &TestEnv) -> Vec<Value> {
    let mut pods = items(env, PODS).await;
    let over = |pod: &Value| matches!(pod["status"]["phase"].as_str(), Some("Failed" | "Succeeded"));
    pods.retain(|pod| !over(pod) && pod["metadata"].get("deletionTimestamp").is_none());
    pods
}

/// Ends a pod as if its container had.
pub(super) async fn end(env: &TestEnv, pod: &Value, phase: &str) {
    let path = format!("{PODS}/{}/status", pod["metadata"]["name"].as_str().unwrap());
    assert_eq!(patch(env, &path, "merge-patch+json", json!({"status": {"phase": phase}})).await.0, 200);
}

async fn reasons(env: &TestEnv) -> Vec<String> {
    let events = items(env, "/api/v1/namespaces/default/events?fieldSelector=involvedObject.kind=Job").await;
    events.iter().map(|event| event["reason"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn job_is_complete_when_its_pods_have_succeeded() {
    let env = env(true).await;
    create(&env, JOBS, job(json!({"completions": 3, "parallelism": 2}))).await;
    let done = until(&env, JOB, |job| condition(job, "Complete")["status"] == "True").await;
    let status = &done["status"];
    assert_eq!(
        (&status["succeeded"], &status["ready"], &status["terminating"]),
        (&json!(3), &json!(0), &json!(0))
    );
    assert_eq!(status["uncountedTerminatedPods"], json!({}));
    assert!(status.get("active").is_none() && status.get("failed").is_none(), "{status}");
    let kinds: Vec<&Value> = status["conditions"].as_array().unwrap().iter().map(|c| &c["type"]).collect();
    assert_eq!(kinds, ["SuccessCriteriaMet", "Complete"]);
    let complete = condition(&done, "Complete");
    assert_eq!(complete["reason"], "CompletionsReached");
    assert_eq!(status["completionTime"], complete["lastTransitionTime"]);
    assert!(status["startTime"].is_string());
    let pods = items(&env, PODS).await;
    assert_eq!(pods.len(), 3);
    for pod in pods {
        assert!(pod["metadata"].get("finalizers").is_none(), "{pod}");
        assert_eq!(pod["metadata"]["ownerReferences"][0]["uid"], done["metadata"]["uid"]);
        assert_eq!(pod["metadata"]["labels"]["batch.kubernetes.io/job-name"], "job");
    }
    quiet(&env).await;
    let mut reasons = reasons(&env).await;
    reasons.sort();
    assert_eq!(reasons, ["Completed", "SuccessfulCreate", "SuccessfulCreate", "SuccessfulCreate"]);
    env.stop().await;
}

#[tokio::test]
async fn job_runs_at_most_its_parallelism() {
    let env = env(false).await;
    create(&env, JOBS, job(json!({"completions": 3, "parallelism": 2}))).await;
    for (succeeded, running) in [(None, 2), (Some(1), 2), (Some(2), 1), (Some(3), 0)] {
        quiet(&env).await;
        let pods = active(&env).await;
        assert_eq!(pods.len(), running);
        let status = get(&env, JOB).await["status"].clone();
        assert_eq!(status["succeeded"].as_i64(), succeeded, "{status}");
        assert_eq!(status["active"].as_u64().unwrap_or(0), running as u64);
        if let Some(pod) = pods.first() {
            assert_eq!(pod["metadata"]["finalizers"], json!([FINALIZER]));
            end(&env, pod, "Succeeded").await;
        }
    }
    assert_eq!(condition(&get(&env, JOB).await, "Complete")["status"], "True");
    env.stop().await;
}

#[tokio::test]
async fn job_without_completions_ends_with_its_first_success() {
    let env = env(false).await;
    create(&env, JOBS, job(json!({"parallelism": 2}))).await;
    quiet(&env).await;
    let pods = active(&env).await;
    end(&env, &pods[0], "Succeeded").await;
    quiet(&env).await;
    assert_eq!(active(&env).await.len(), 1, "no pod takes the place of the one that succeeded");
    assert!(condition(&get(&env, JOB).await, "Complete").is_null());
    end(&env, &pods[1], "Failed").await;
    let done = until(&env, JOB, |job| condition(job, "Complete")["status"] == "True").await;
    assert_eq!((&done["status"]["succeeded"], &done["status"]["failed"]), (&json!(1), &json!(1)));
    env.stop().await;
}

#[tokio::test(start_paused = true)]
async fn job_fails_when_too_many_pods_have_failed() {
    let (env, clock) = env_with_clock().await;
    create(&env, JOBS, job(json!({"backoffLimit": 1, "parallelism": 2, "completions": 2}))).await;
    quiet(&env).await;
    end(&env, &active(&env).await[0], "Failed").await;
    quiet(&env).await;
    assert_eq!(active(&env).await.len(), 1, "the next pod waits for ten seconds");
    pass(&clock, 11).await;
    quiet(&env).await;
    let pods = active(&env).await;
    assert_eq!(pods.len(), 2);
    end(&env, &pods[0], "Failed").await;
    let failed = until(&env, JOB, |job| condition(job, "Failed")["status"] == "True").await;
    assert_eq!(condition(&failed, "Failed")["reason"], "BackoffLimitExceeded");
    assert_eq!(condition(&failed, "FailureTarget")["status"], "True");
    assert_eq!(failed["status"]["failed"], 3, "the pod that ran is deleted and counts as failed");
    assert!(active(&env).await.is_empty());
    quiet(&env).await;
    assert!(reasons(&env).await.contains(&"BackoffLimitExceeded".to_owned()));
    env.stop().await;
}

#[tokio::test]
async fn indexed_job_runs_each_index_until_it_succeeds() {
    let env = env(false).await;
    let spec = json!({"completions": 3, "parallelism": 3, "completionMode": "Indexed"});
    create(&env, JOBS, job(spec)).await;
    quiet(&env).await;
    let index = "batch.kubernetes.io/job-completion-index";
    let pods = active(&env).await;
    let mut indexes: Vec<&str> =
        pods.iter().map(|pod| pod["metadata"]["annotations"][index].as_str().unwrap()).collect();
    indexes.sort_unstable();
    assert_eq!(indexes, ["0", "1", "2"]);
    let of = |pods: &[Value], wanted: &str| {
        pods.iter().find(|pod| pod["metadata"]["labels"][index] == wanted).unwrap().clone()
    };
    let first = of(&pods, "0");
    assert_eq!(first["spec"]["hostname"], "job-0");
    assert!(first["metadata"]["name"].as_str().unwrap().starts_with("job-0-"));
    let variable = &first["spec"]["containers"][0]["env"][0];
    assert_eq!(variable["name"], "JOB_COMPLETION_INDEX");
    assert_eq!(variable["valueFrom"]["fieldRef"]["fieldPath"], format!("metadata.labels['{index}']"));
    end(&env, &first, "Succeeded").await;
    end(&env, &of(&pods, "2"), "Succeeded").await;
    quiet(&env).await;
    assert_eq!(get(&env, JOB).await["status"]["completedIndexes"], "0,2");
    assert_eq!(active(&env).await.len(), 1);
    end(&env, &of(&pods, "1"), "Succeeded").await;
    let done = until(&env, JOB, |job| condition(job, "Complete")["status"] == "True").await;
    assert_eq!(
        (&done["status"]["completedIndexes"], &done["status"]["succeeded"]),
        (&json!("0-2"), &json!(3))
    );
    env.stop().await;
}

#[tokio::test]
async fn suspended_job_has_no_pods() {
    let env = env(false).await;
    create(&env, JOBS, job(json!({"suspend": true}))).await;
    let suspended = until(&env, JOB, |job| condition(job, "Suspended")["status"] == "True").await;
    assert!(suspended["status"].get("startTime").is_none());
    assert!(items(&env, PODS).await.is_empty());
    let suspend = async |value: bool| {
        assert_eq!(patch(&env, JOB, "merge-patch+json", json!({"spec": {"suspend": value}})).await.0, 200);
        let status = if value { "True" } else { "False" };
        until(&env, JOB, |job| condition(job, "Suspended")["status"] == status).await
    };
    assert!(suspend(false).await["status"]["startTime"].is_string());
    assert_eq!(active(&env).await.len(), 1);
    suspend(true).await;
    quiet(&env).await;
    assert!(items(&env, PODS).await.is_empty());
    let status = get(&env, JOB).await["status"].clone();
    assert!(status.get("failed").is_none() && status.get("active").is_none(), "{status}");
    env.stop().await;
}

#[tokio::test(start_paused = true)]
async fn job_fails_after_its_deadline_and_is_deleted_after_its_ttl() {
    let (env, clock) = env_with_clock().await;
    let spec = json!({"activeDeadlineSeconds": 60, "ttlSecondsAfterFinished": 30});
    create(&env, JOBS, job(spec)).await;
    quiet(&env).await;
    pass(&clock, 59).await;
    quiet(&env).await;
    assert!(condition(&get(&env, JOB).await, "FailureTarget").is_null());
    pass(&clock, 2).await;
    let failed = until(&env, JOB, |job| condition(job, "Failed")["status"] == "True").await;
    assert_eq!(condition(&failed, "Failed")["reason"], "DeadlineExceeded");
    quiet(&env).await;
    pass(&clock, 31).await;
    until(&env, JOB, |job| job["code"] == 404).await;
    env.stop().await;
}

#[tokio::test]
async fn pods_are_deleted_or_orphaned_with_their_job() {
    let env = env(false).await;
    for (policy, left) in [("Background", 0), ("Foreground", 0), ("Orphan", 1)] {
        create(&env, JOBS, job(json!({}))).await;
        quiet(&env).await;
        assert_eq!(items(&env, PODS).await.len(), 1);
        let options = json!({"propagationPolicy": policy});
        assert_eq!(call(&env, Method::DELETE, JOB, options).await.0, 200);
        until(&env, JOB, |job| job["code"] == 404).await;
        quiet(&env).await;
        let pods = items(&env, PODS).await;
        assert_eq!(pods.len(), left, "{policy}");
        assert!(pods.iter().all(|pod| pod["metadata"].get("finalizers").is_none()));
    }
    env.stop().await;
}

#[tokio::test]
async fn job_of_another_controller_is_left_alone() {
    let env = env(false).await;
    create(&env, JOBS, job(json!({"managedBy": "example.com/queue"}))).await;
    quiet(&env).await;
    assert!(items(&env, PODS).await.is_empty());
    assert_eq!(get(&env, JOB).await["status"], json!({}));
    env.stop().await;
}

/// The demands of one job neither end the controllers nor block their other work.
#[tokio::test]
async fn job_of_billions_of_pods_can_be_stopped() {
    let env = env(false).await;
    let billions = 2_000_000_000;
    let spec = json!({"parallelism": billions, "completions": billions, "activeDeadlineSeconds": i64::MAX});
    create(&env, JOBS, job(spec)).await;
    until(&env, JOB, |job| job["status"]["active"].as_i64() >= Some(500)).await;
    assert_eq!(patch(&env, JOB, "merge-patch+json", json!({"spec": {"suspend": true}})).await.0, 200);
    until(&env, JOB, |job| {
        condition(job, "Suspended")["status"] == "True" && job["status"].get("active").is_none()
    })
    .await;
    quiet(&env).await;
    assert!(items(&env, PODS).await.is_empty());
    env.stop().await;
}

#[tokio::test]
async fn job_ignores_completed_indexes_beyond_its_completions() {
    let env = env(false).await;
    let spec = json!({"completions": 10, "parallelism": 10, "completionMode": "Indexed", "suspend": true});
    create(&env, JOBS, job(spec)).await;
    until(&env, JOB, |job| condition(job, "Suspended")["status"] == "True").await;
    let status = json!({"status": {"completedIndexes": "0,1,7-9"}});
    assert_eq!(patch(&env, &format!("{JOB}/status"), "merge-patch+json", status).await.0, 200);
    let smaller = json!({"spec": {"completions": 3, "parallelism": 3, "suspend": false}});
    assert_eq!(patch(&env, JOB, "merge-patch+json", smaller).await.0, 200);
    let running = until(&env, JOB, |job| job["status"]["active"] == 1).await;
    assert_eq!(running["status"]["completedIndexes"], "0,1");
    env.stop().await;
}

/// Ends a container of a pod with a code, and so the pod as failed.
async fn exit(env: &TestEnv, pod: &Value, code: i64) {
    let path = format!("{PODS}/{}/status", pod["metadata"]["name"].as_str().unwrap());
    let status = json!({"name": "c", "state": {"terminated": {"exitCode": code}}});
    let change = json!({"status": {"phase": "Failed", "containerStatuses": [status]}});
    assert_eq!(patch(env, &path, "merge-patch+json", change).await.0, 200);
}

fn failure_policy() -> Value {
    json!({"rules": [
        {"action": "Ignore", "onExitCodes": {"operator": "In", "values": [7]}},
        {"action": "FailJob", "onExitCodes": {"operator": "In", "values": [42]}},
    ]})
}

#[tokio::test(start_paused = true)]
async fn pod_failure_policy_ignores_pods_and_fails_the_job() {
    let (env, clock) = env_with_clock().await;
    create(&env, JOBS, job(json!({"backoffLimit": 0, "podFailurePolicy": failure_policy()}))).await;
    quiet(&env).await;
    exit(&env, &active(&env).await[0], 7).await;
    quiet(&env).await;
    pass(&clock, 11).await;
    quiet(&env).await;
    let again = active(&env).await;
    assert_eq!(again.len(), 1, "an ignored failure is within a limit of none");
    assert!(get(&env, JOB).await["status"].get("failed").is_none());
    exit(&env, &again[0], 42).await;
    let failed = until(&env, JOB, |job| condition(job, "Failed")["status"] == "True").await;
    assert_eq!(condition(&failed, "Failed")["reason"], "PodFailurePolicy");
    let name = again[0]["metadata"]["name"].as_str().unwrap();
    let expected = format!(
        "Container c for pod default/{name} failed with exit code 42 matching FailJob rule at index 1"
    );
    assert_eq!(condition(&failed, "Failed")["message"], expected);
    assert_eq!(failed["status"]["failed"], 1);
}

const FAILURES: &str = "batch.kubernetes.io/job-index-failure-count";

#[tokio::test(start_paused = true)]
async fn indexes_of_a_job_fail_one_by_one_with_a_limit_per_index() {
    let (env, clock) = env_with_clock().await;
    let spec =
        json!({"completions": 3, "parallelism": 3, "completionMode": "Indexed", "backoffLimitPerIndex": 1});
    create(&env, JOBS, job(spec)).await;
    quiet(&env).await;
    let of_index = |pods: &[Value], index: &str| -> Value {
        let is_meant =
            |pod: &&Value| pod["metadata"]["labels"]["batch.kubernetes.io/job-completion-index"] == index;
        pods.iter().find(is_meant).cloned().unwrap_or_default()
    };
    let first = active(&env).await;
    let failed = of_index(&first, "1");
    assert_eq!(failed["metadata"]["annotations"][FAILURES], "0");
    end(&env, &of_index(&first, "0"), "Succeeded").await;
    end(&env, &failed, "Failed").await;
    quiet(&env).await;
    let held = get(&env, &format!("{PODS}/{}", failed["metadata"]["name"].as_str().unwrap())).await;
    assert_eq!(held["metadata"]["finalizers"], json!([FINALIZER]), "its successor needs its count");
    assert_eq!(of_index(&active(&env).await, "1"), Value::default());
    pass(&clock, 11).await;
    quiet(&env).await;
    let second = of_index(&active(&env).await, "1");
    assert_eq!(second["metadata"]["annotations"][FAILURES], "1");
    end(&env, &second, "Failed").await;
    quiet(&env).await;
    let status = &get(&env, JOB).await["status"];
    assert_eq!((&status["failedIndexes"], &status["completedIndexes"]), (&json!("1"), &json!("0")));
    assert_eq!(status["failed"], 2);
    end(&env, &of_index(&first, "2"), "Succeeded").await;
    let failed = until(&env, JOB, |job| condition(job, "Failed")["status"] == "True").await;
    assert_eq!(condition(&failed, "Failed")["reason"], "FailedIndexes");
    assert_eq!(failed["status"]["completedIndexes"], "0,2");
}

#[tokio::test(start_paused = true)]
async fn job_fails_when_too_many_indexes_have_failed() {
    let (env, _) = env_with_clock().await;
    let spec = json!({"completions": 3, "parallelism": 3, "completionMode": "Indexed", "backoffLimitPerIndex": 0,
                      "maxFailedIndexes": 1});
    create(&env, JOBS, job(spec)).await;
    quiet(&env).await;
    for pod in &active(&env).await[..2] {
        end(&env, pod, "Failed").await;
    }
    let failed = until(&env, JOB, |job| condition(job, "Failed")["status"] == "True").await;
    assert_eq!(condition(&failed, "Failed")["reason"], "MaxFailedIndexesExceeded");
    assert!(active(&env).await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn job_is_complete_when_its_success_policy_is_met() {
    let (env, _) = env_with_clock().await;
    let rules = json!([{"succeededIndexes": "0", "succeededCount": 1}]);
    let spec = json!({"completions": 3, "parallelism": 3, "completionMode": "Indexed",
                      "successPolicy": {"rules": rules}});
    create(&env, JOBS, job(spec)).await;
    quiet(&env).await;
    let pods = active(&env).await;
    let index =
        |pod: &Value| pod["metadata"]["annotations"]["batch.kubernetes.io/job-completion-index"].clone();
    end(&env, pods.iter().find(|pod| index(pod) == "1").unwrap(), "Succeeded").await;
    quiet(&env).await;
    assert_eq!(active(&env).await.len(), 2);
    end(&env, pods.iter().find(|pod| index(pod) == "0").unwrap(), "Succeeded").await;
    let done = until(&env, JOB, |job| condition(job, "Complete")["status"] == "True").await;
    assert_eq!(condition(&done, "Complete")["reason"], "SuccessPolicy");
    assert_eq!(condition(&done, "Complete")["message"], "Matched rules at index 0");
    assert_eq!(done["status"]["succeeded"], 2);
    assert!(active(&env).await.is_empty() && done["status"].get("failed").is_none());
}
