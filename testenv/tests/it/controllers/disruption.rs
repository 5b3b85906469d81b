//! Disruption budgets and the evictions that they allow.

use http::Method;
use kubesmith_testenv::TestEnv;
use serde_json::{Value, json};

use super::{DEPLOYMENTS, PODS, condition, create, deployment, env, get, items, quiet, until};
use crate::support::{call, patch};

const BUDGETS: &str = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
const BUDGET: &str = "/apis/policy/v1/namespaces/default/poddisruptionbudgets/web";

fn budget(name: &str, mut spec: Value) -> Value {
    spec["selector"] = json!({"matchLabels": {"app": "web"}});
    json!({"metadata": {"name": name}, "spec": spec})
}

async fn evict(env: &TestEnv, pod: &Value) -> (u16, Value) {
    let name = pod["metadata"]["name"].as_str().unwrap();
    let eviction = json!({"metadata": {"name": name}, "deleteOptions": {"gracePeriodSeconds": 0}});
    call(env, Method::POST, &format!("{PODS}/{name}/eviction"), eviction).await
}

/// A deployment of four pods that run, with a budget.
async fn web(spec: Value) -> (TestEnv, Value) {
    let env = env(true).await;
    create(&env, DEPLOYMENTS, deployment("web", 4, "i:1")).await;
    create(&env, BUDGETS, budget("web", spec)).await;
    quiet(&env).await;
    let status = get(&env, BUDGET).await["status"].clone();
    (env, status)
}

fn numbers(status: &Value) -> [i64; 4] {
    ["expectedPods", "desiredHealthy", "currentHealthy", "disruptionsAllowed"]
        .map(|field| status[field].as_i64().unwrap_or(-1))
}

#[tokio::test]
async fn status_of_a_budget_follows_its_pods() {
    for (spec, expected) in [
        (json!({"minAvailable": 3}), [4, 3, 4, 1]),
        (json!({"minAvailable": "60%"}), [4, 3, 4, 1]),
        (json!({"maxUnavailable": "50%"}), [4, 2, 4, 2]),
        (json!({"maxUnavailable": 0}), [4, 4, 4, 0]),
    ] {
        let (env, status) = web(spec.clone()).await;
        assert_eq!(numbers(&status), expected, "{spec}");
        assert_eq!(status["observedGeneration"], 1);
        let scale = json!({"spec": {"replicas": 6}});
        patch(&env, &format!("{DEPLOYMENTS}/web"), "merge-patch+json", scale).await;
        let scaled = until(&env, BUDGET, |budget| budget["status"]["currentHealthy"] == 6).await;
        assert_eq!(scaled["status"]["expectedPods"], 6, "{spec}");
        assert_eq!(condition(&scaled, "DisruptionAllowed")["observedGeneration"], 1);
    }
}

/// A pod of the budget that runs on no node of the environment's.
async fn pod(env: &TestEnv, name: &str) -> Value {
    let spec = json!({"containers": [{"name": "c", "image": "i"}]});
    let pod = json!({"metadata": {"name": name, "labels": {"app": "web"}}, "spec": spec});
    create(env, PODS, pod).await
}

async fn run(env: &TestEnv, name: &str, ready: &str) {
    let status = json!({"phase": "Running", "conditions": [{"type": "Ready", "status": ready}]});
    let change = json!({"status": status});
    assert_eq!(patch(env, &format!("{PODS}/{name}/status"), "merge-patch+json", change).await.0, 200);
}

#[tokio::test]
async fn evictions_are_allowed_until_too_few_pods_are_healthy() {
    let env = env(false).await;
    let pods = [pod(&env, "a").await, pod(&env, "b").await];
    run(&env, "a", "True").await;
    run(&env, "b", "True").await;
    create(&env, BUDGETS, budget("web", json!({"minAvailable": 1}))).await;
    let ready = until(&env, BUDGET, |budget| budget["status"]["disruptionsAllowed"] == 1).await;
    assert_eq!(condition(&ready, "DisruptionAllowed")["reason"], "SufficientPods");
    assert_eq!(evict(&env, &pods[0]).await.0, 201);
    quiet(&env).await;
    let (code, refused) = evict(&env, &pods[1]).await;
    let cause = &refused["details"]["causes"][0];
    assert_eq!((code, &cause["reason"]), (429, &json!("DisruptionBudget")));
    assert_eq!(cause["message"], "The disruption budget web needs 1 healthy pods and has 1 currently");
    let spent = get(&env, BUDGET).await;
    assert_eq!(numbers(&spent["status"]), [1, 1, 1, 0]);
    assert_eq!(condition(&spent, "DisruptionAllowed")["reason"], "InsufficientPods");
}

#[tokio::test]
async fn eviction_reduces_the_budget_before_the_controller_sees_it() {
    let env = TestEnv::builder().start().await.unwrap();
    let pod = pod(&env, "a").await;
    run(&env, "a", "True").await;
    create(&env, BUDGETS, budget("web", json!({"minAvailable": 0}))).await;
    let status = json!({"status": {"observedGeneration": 1, "disruptionsAllowed": 1, "currentHealthy": 1}});
    patch(&env, &format!("{BUDGET}/status"), "merge-patch+json", status).await;
    let dry = json!({"metadata": {"name": "a"}, "deleteOptions": {"dryRun": ["All"]}});
    assert_eq!(call(&env, Method::POST, &format!("{PODS}/a/eviction"), dry).await.0, 201);
    assert_eq!(get(&env, BUDGET).await["status"]["disruptionsAllowed"], 1);
    assert_eq!(evict(&env, &pod).await.0, 201);
    let spent = get(&env, BUDGET).await;
    assert_eq!(spent["status"]["disruptionsAllowed"], 0);
    assert!(spent["status"]["disruptedPods"]["a"].is_string());
    assert_eq!(condition(&spent, "DisruptionAllowed")["status"], "False");
    // The server owns what it wrote.
    let owned = spent["metadata"]["managedFields"].as_array().unwrap().iter();
    let own: Vec<_> = owned.filter(|entry| entry["manager"] == "kube-apiserver").collect();
    assert_eq!((own.len(), &own[0]["subresource"]), (1, &json!("status")));
    assert!(own[0]["fieldsV1"]["f:status"]["f:disruptionsAllowed"].is_object());
}

#[tokio::test]
async fn refused_eviction_says_what_the_budget_says() {
    let env = TestEnv::builder().start().await.unwrap();
    pod(&env, "a").await;
    run(&env, "a", "True").await;
    create(&env, BUDGETS, budget("web", json!({"minAvailable": 0}))).await;
    let path = format!("{PODS}/a/eviction");
    for (healthy, reason, message, expected) in [
        (0, "", "", "needs 1 healthy pods and has 0 currently"),
        (2, "", "", "does not allow evicting pods currently"),
        (2, "Custom", "because", "does not allow evicting pods currently (Custom): because"),
        (
            0,
            "SyncFailed",
            "it broke",
            "does not allow evicting pods currently because it failed sync: it broke",
        ),
    ] {
        let condition = json!({"type": "DisruptionAllowed", "status": "False", "reason": reason, "message": message,
                               "lastTransitionTime": "2026-01-01T00:00:00Z"});
        let conditions = if reason.is_empty() { json!([]) } else { json!([condition]) };
        let status = json!({"observedGeneration": 1, "disruptionsAllowed": 0, "desiredHealthy": 1,
                            "currentHealthy": healthy, "conditions": conditions});
        patch(&env, &format!("{BUDGET}/status"), "merge-patch+json", json!({"status": status})).await;
        // The options are checked with the deletion, after the budget.
        let eviction = json!({"metadata": {"name": "a"}, "deleteOptions": {"propagationPolicy": "x"}});
        let (code, refused) = call(&env, Method::POST, &path, eviction).await;
        let text = format!("The disruption budget web {expected}");
        assert_eq!((code, &refused["details"]["causes"][0]["message"]), (429, &json!(text)));
    }
    assert_eq!(call(&env, Method::DELETE, BUDGET, Value::Null).await.0, 200);
    for options in
        [json!({"propagationPolicy": "x"}), json!({"ignoreStoreReadErrorWithClusterBreakingPotential": true})]
    {
        let eviction = json!({"metadata": {"name": "a"}, "deleteOptions": options});
        assert_eq!(call(&env, Method::POST, &path, eviction).await.0, 422);
    }
}

#[tokio::test]
async fn evicted_pod_has_disruption_condition() {
    let (env, _) = web(json!({"minAvailable": 3})).await;
    let pod = items(&env, PODS).await.remove(0);
    let path = format!("{PODS}/{}", pod["metadata"]["name"].as_str().unwrap());
    let finalizers = json!({"metadata": {"finalizers": ["a.example/hold"]}});
    patch(&env, &path, "merge-patch+json", finalizers).await;
    assert_eq!(evict(&env, &pod).await.0, 201);
    let held = get(&env, &path).await;
    assert_eq!(condition(&held, "DisruptionTarget")["reason"], "EvictionByEvictionAPI");
    assert!(held["metadata"]["deletionTimestamp"].is_string());
}

#[tokio::test]
async fn unhealthy_pods_are_evicted_by_the_policy_of_the_budget() {
    for (policy, code) in [("IfHealthyBudget", 429), ("AlwaysAllow", 201)] {
        let env = env(false).await;
        let spec = json!({"minAvailable": 1, "unhealthyPodEvictionPolicy": policy});
        create(&env, BUDGETS, budget("web", spec)).await;
        let pod = pod(&env, "p").await;
        run(&env, "p", "False").await;
        quiet(&env).await;
        assert_eq!(evict(&env, &pod).await.0, code, "{policy}");
    }
}

#[tokio::test]
async fn pod_with_two_budgets_is_not_evicted() {
    let (env, _) = web(json!({"minAvailable": 1})).await;
    create(&env, BUDGETS, budget("other", json!({"minAvailable": 1}))).await;
    quiet(&env).await;
    let pod = items(&env, PODS).await.remove(0);
    let (code, answer) = evict(&env, &pod).await;
    assert_eq!((code, &answer["status"], &answer["code"]), (500, &json!("Failure"), &json!(500)));
    assert_eq!(items(&env, PODS).await.len(), 4);
}

#[tokio::test]
async fn budget_over_pods_without_a_scale_allows_no_eviction() {
    let env = env(true).await;
    let template = json!({"metadata": {"labels": {"app": "web"}},
                          "spec": {"nodeName": "elsewhere", "restartPolicy": "Never",
                                   "containers": [{"name": "c", "image": "i"}]}});
    let job = json!({"metadata": {"name": "job"}, "spec": {"template": template}});
    create(&env, "/apis/batch/v1/namespaces/default/jobs", job).await;
    create(&env, BUDGETS, budget("web", json!({"maxUnavailable": 1}))).await;
    let failed = |budget: &Value| condition(budget, "DisruptionAllowed")["reason"] == "SyncFailed";
    let budget = until(&env, BUDGET, failed).await;
    let message = "jobs.batch does not implement the scale subresource";
    assert_eq!(condition(&budget, "DisruptionAllowed")["message"], message);
    assert_eq!(budget["status"]["disruptionsAllowed"], 0);
}

#[tokio::test]
async fn evicted_pod_that_is_terminating_has_the_condition() {
    let env = TestEnv::builder().start().await.unwrap();
    let made = pod(&env, "a").await;
    let path = format!("{PODS}/a");
    let held = json!({"metadata": {"finalizers": ["a.example/hold"]}});
    patch(&env, &path, "merge-patch+json", held).await;
    assert_eq!(call(&env, Method::DELETE, &path, Value::Null).await.0, 200);
    for _ in 0..2 {
        assert_eq!(evict(&env, &made).await.0, 201);
    }
    let pod = get(&env, &path).await;
    let conditions = pod["status"]["conditions"].as_array().unwrap().iter();
    assert_eq!(conditions.filter(|condition| condition["type"] == "DisruptionTarget").count(), 1);
}

/// client-go tries again after this time.
#[tokio::test]
async fn refused_eviction_says_when_to_try_again() {
    let env = TestEnv::builder().start().await.unwrap();
    pod(&env, "a").await;
    run(&env, "a", "True").await;
    create(&env, BUDGETS, budget("web", json!({"minAvailable": 0}))).await;
    let body = json!({"metadata": {"name": "a"}}).to_string().into_bytes();
    let request =
        http::Request::post(format!("{PODS}/a/eviction")).header("content-type", "application/json");
    let response = env.client().send(request.body(kube::client::Body::from(body)).unwrap()).await.unwrap();
    assert_eq!(response.status(), 429);
    assert_eq!(response.headers()["retry-after"], "10");
}
