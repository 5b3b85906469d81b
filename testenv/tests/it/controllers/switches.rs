//! Annotations let the containers, image pulls and probes of the simulated node fail, and its kubelet stop.

use std::sync::Arc;
use std::time::Duration;

use http::Method;
use kubesmith_testenv::{ManualClock, TestEnv};
use serde_json::{Value, json};

use super::{PODS, condition, create, get, items, quiet, until};
use crate::support::{call, patch};

const NODE: &str = "/api/v1/nodes/node-1";

/// An environment whose time a test moves.
struct Timed {
    env: TestEnv,
    clock: Arc<ManualClock>,
}

impl Timed {
    async fn start() -> Self {
        let clock = Arc::new(ManualClock::new("2026-01-01T00:00:00Z".parse().unwrap()));
        let builder = TestEnv::builder().clock(clock.clone()).controllers(true).simulated_node(true);
        Self { env: builder.start().await.unwrap(), clock }
    }

    async fn pass(&self, seconds: i64) {
        self.clock.advance(seconds);
        tokio::time::sleep(Duration::from_secs(seconds.unsigned_abs() + 1)).await;
    }

    async fn create(&self, name: &str, container: Value, annotations: Value) {
        let mut own = json!({"name": "c", "image": "i"});
        own.as_object_mut().unwrap().extend(container.as_object().unwrap().clone());
        let pod =
            json!({"metadata": {"name": name, "annotations": annotations}, "spec": {"containers": [own]}});
        create(&self.env, PODS, pod).await;
    }

    async fn annotate(&self, path: &str, key: &str, value: Value) {
        let change = json!({"metadata": {"annotations": {key: value}}});
        assert_eq!(patch(&self.env, path, "merge-patch+json", change).await.0, 200);
    }

    async fn pod(&self, name: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        until(&self.env, &at(name), wanted).await
    }

    async fn events(&self, name: &str) -> Vec<String> {
        quiet(&self.env).await;
        let all = items(&self.env, "/api/v1/namespaces/default/events").await;
        let of = all.iter().filter(|event| event["involvedObject"]["name"] == name);
        of.map(|event| {
            format!("{}: {}", event["reason"].as_str().unwrap(), event["message"].as_str().unwrap())
        })
        .collect()
    }
}

fn at(name: &str) -> String {
    format!("{PODS}/{name}")
}

fn is_ready(object: &Value) -> bool {
    condition(object, "Ready")["status"] == "True"
}

fn container(pod: &Value) -> &Value {
    &pod["status"]["containerStatuses"][0]
}

fn waits_for(pod: &Value, reason: &str) -> bool {
    container(pod)["state"]["waiting"]["reason"] == reason
}

#[tokio::test(start_paused = true)]
async fn container_restarts_with_back_off_while_it_exits() {
    let timed = Timed::start().await;
    timed.create("p", json!({}), json!({"exit.kubesmith.dev/c": "3"})).await;
    let pod = timed.pod("p", |pod| waits_for(pod, "CrashLoopBackOff")).await;
    assert_eq!((&pod["status"]["phase"], is_ready(&pod)), (&json!("Running"), false));
    let ended = &container(&pod)["lastState"]["terminated"];
    assert_eq!((&ended["exitCode"], &container(&pod)["restartCount"]), (&json!(3), &json!(1)));
    let events = timed.events("p").await;
    assert!(
        events
            .iter()
            .any(|event| event.starts_with("BackOff: Back-off restarting failed container c in pod p_")),
        "{events:?}"
    );
    timed.annotate(&at("p"), "exit.kubesmith.dev/c", Value::Null).await;
    assert!(waits_for(&get(&timed.env, &at("p")).await, "CrashLoopBackOff"));
    timed.pass(10).await;
    let pod = timed.pod("p", is_ready).await;
    assert_eq!(container(&pod)["restartCount"], 2);
    timed.env.stop().await;
}

#[tokio::test(start_paused = true)]
async fn image_is_pulled_late_or_not_at_all() {
    let timed = Timed::start().await;
    timed.create("p", json!({}), json!({"pull.kubesmith.dev/c": "no such tag"})).await;
    let pod = timed.pod("p", |pod| waits_for(pod, "ImagePullBackOff")).await;
    assert_eq!(pod["status"]["phase"], "Pending");
    let message = "Back-off pulling image \"i\": ErrImagePull: no such tag";
    assert_eq!(container(&pod)["state"]["waiting"]["message"], message);
    let events = timed.events("p").await;
    for event in ["Failed: Failed to pull image \"i\": no such tag", "Failed: Error: ImagePullBackOff"] {
        assert!(events.iter().any(|one| one == event), "{events:?}");
    }
    timed.annotate(&at("p"), "pull.kubesmith.dev/c", json!("30s")).await;
    timed.pod("p", |pod| waits_for(pod, "ContainerCreating")).await;
    timed.pass(30).await;
    timed.pod("p", is_ready).await;
    timed.env.stop().await;
}

#[tokio::test(start_paused = true)]
async fn container_is_ready_when_its_probe_succeeds() {
    let timed = Timed::start().await;
    let probe = json!({"readinessProbe": {"initialDelaySeconds": 20, "tcpSocket": {"port": 80}}});
    timed.create("p", probe, json!({})).await;
    let pod = timed.pod("p", |pod| pod["status"]["phase"] == "Running").await;
    assert_eq!((is_ready(&pod), &container(&pod)["started"]), (false, &json!(true)));
    timed.pass(20).await;
    timed.pod("p", is_ready).await;
    timed.annotate(&at("p"), "ready.kubesmith.dev/c", json!("false")).await;
    timed.pod("p", |pod| !is_ready(pod)).await;
    timed.annotate(&at("p"), "ready.kubesmith.dev/c", Value::Null).await;
    timed.pod("p", is_ready).await;
    timed.env.stop().await;
}

#[tokio::test(start_paused = true)]
async fn pods_are_not_ready_while_the_kubelet_has_stopped() {
    let timed = Timed::start().await;
    for name in ["p", "q"] {
        timed.create(name, json!({}), json!({})).await;
        timed.pod(name, is_ready).await;
    }
    timed.annotate(NODE, "kubelet.kubesmith.dev/stopped", json!("true")).await;
    timed.pass(60).await;
    let node = until(&timed.env, NODE, |node| condition(node, "Ready")["status"] == "Unknown").await;
    let ready = condition(&node, "Ready");
    let message = "Kubelet stopped posting node status.";
    assert_eq!((&ready["reason"], &ready["message"]), (&json!("NodeStatusUnknown"), &json!(message)));
    until(&timed.env, NODE, |node| node["spec"]["taints"][0]["key"] == "node.kubernetes.io/unreachable")
        .await;
    timed.pod("p", |pod| !is_ready(pod)).await;
    assert!(timed.events("p").await.contains(&"NodeNotReady: Node is not ready".to_owned()));
    // Nobody ends the containers of a pod that is deleted.
    assert_eq!(call(&timed.env, Method::DELETE, &at("q"), Value::Null).await.0, 200);
    timed.pass(60).await;
    assert!(get(&timed.env, &at("q")).await["metadata"]["deletionTimestamp"].is_string());
    timed.annotate(NODE, "kubelet.kubesmith.dev/stopped", Value::Null).await;
    until(&timed.env, NODE, |node| is_ready(node) && node["spec"]["taints"].is_null()).await;
    timed.pod("p", is_ready).await;
    quiet(&timed.env).await;
    assert_eq!(call(&timed.env, Method::GET, &at("q"), Value::Null).await.0, 404);
    timed.env.stop().await;
}
