//! A pod that does not fit on the simulated node preempts pods of lower priority.

use http::Method;
use kubesmith_testenv::TestEnv;
use serde_json::{Value, json};

use super::{PODS, condition, create, env, get, items, quiet, until};
use crate::support::call;

const EVENTS: &str = "/api/v1/namespaces/default/events";

async fn classes(env: &TestEnv) {
    for (name, value, policy) in [
        ("low", 1, "PreemptLowerPriority"),
        ("high", 1000, "PreemptLowerPriority"),
        ("polite", 1000, "Never"),
    ] {
        let class = json!({"metadata": {"name": name}, "value": value, "preemptionPolicy": policy});
        create(env, "/apis/scheduling.k8s.io/v1/priorityclasses", class).await;
    }
}

fn pod(name: &str, class: &str, cpu: &str) -> Value {
    let container = json!({"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}});
    json!({"metadata": {"name": name, "labels": {"app": name}},
           "spec": {"priorityClassName": class, "containers": [container]}})
}

fn at(name: &str) -> String {
    format!("{PODS}/{name}")
}

async fn run(env: &TestEnv, name: &str, class: &str, cpu: &str) -> Value {
    create(env, PODS, pod(name, class, cpu)).await;
    until(env, &at(name), |pod| condition(pod, "Ready")["status"] == "True").await
}

async fn messages(env: &TestEnv, name: &str, reason: &str) -> Vec<Value> {
    let about = |event: &Value| event["involvedObject"]["name"] == name && event["reason"] == reason;
    items(env, EVENTS).await.into_iter().filter(about).map(|event| event["message"].clone()).collect()
}

#[tokio::test]
async fn fewest_pods_of_lower_priority_go() {
    let env = env(true).await;
    classes(&env).await;
    run(&env, "large", "low", "5").await;
    run(&env, "small", "low", "2").await;
    let text = "0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: not eligible due to \
                preemptionPolicy=Never.";
    create(&env, PODS, pod("polite", "polite", "5")).await;
    until(&env, &at("polite"), |pod| condition(pod, "PodScheduled")["message"] == text).await;
    let ready = run(&env, "high", "high", "5").await;
    assert!(ready["status"]["nominatedNodeName"].is_null(), "{ready}");
    quiet(&env).await;
    assert_eq!(
        messages(&env, "high", "FailedScheduling").await[0],
        "0/1 nodes are available: 1 Insufficient cpu."
    );
    let uid = ready["metadata"]["uid"].as_str().unwrap();
    let wanted = [json!(format!("Preempted by pod {uid} on node node-1"))];
    assert_eq!(messages(&env, "large", "Preempted").await, wanted);
    assert_eq!(call(&env, Method::GET, &at("large"), Value::Null).await.0, 404);
    assert_eq!(get(&env, &at("small")).await["status"]["phase"], "Running");
    env.stop().await;
}

#[tokio::test]
async fn pod_waits_when_the_end_of_others_makes_too_little_room() {
    let env = env(true).await;
    classes(&env).await;
    run(&env, "equal", "high", "5").await;
    run(&env, "low", "low", "1").await;
    create(&env, PODS, pod("late", "high", "5")).await;
    let text = "0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: 0/1 nodes are available: \
                1 Insufficient cpu.";
    until(&env, &at("late"), |pod| condition(pod, "PodScheduled")["message"] == text).await;
    quiet(&env).await;
    assert_eq!(get(&env, &at("low")).await["status"]["phase"], "Running");
    env.stop().await;
}

#[tokio::test]
async fn pod_with_a_budget_stays_if_another_can_go() {
    let env = env(true).await;
    classes(&env).await;
    run(&env, "free", "low", "3").await;
    run(&env, "kept", "low", "3").await;
    let budget = json!({"metadata": {"name": "b"}, "spec": {"minAvailable": "100%", "selector": {"matchLabels": {"app": "kept"}}}});
    create(&env, "/apis/policy/v1/namespaces/default/poddisruptionbudgets", budget).await;
    quiet(&env).await;
    run(&env, "high", "high", "5").await;
    quiet(&env).await;
    assert!(messages(&env, "kept", "Preempted").await.is_empty());
    assert_eq!(messages(&env, "free", "Preempted").await.len(), 1);
    env.stop().await;
}
