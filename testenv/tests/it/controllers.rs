//! Controllers in the server's process: owners and children behave as in a cluster.

use http::Method;
use kubesmith_testenv::{ManualClock, TestEnv};
use serde_json::{Value, json};
use std::sync::Arc;

use crate::policies::install;
use crate::support::{call, patch};

mod cronjobs;
mod daemonsets;
mod devices;
mod disruption;
mod endpoints;
mod jobs;
mod node;
mod preemption;
mod statefulsets;
mod switches;
mod volumes;

const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/default/deployments";
const SETS: &str = "/apis/apps/v1/namespaces/default/replicasets";
const PODS: &str = "/api/v1/namespaces/default/pods";
const REVISION: &str = "deployment.kubernetes.io/revision";

/// The number of times that the controllers run before a test gives up.
const TURNS: usize = 20_000;

async fn get(env: &TestEnv, path: &str) -> Value {
    call(env, Method::GET, path, Value::Null).await.1
}

async fn items(env: &TestEnv, path: &str) -> Vec<Value> {
    get(env, path).await["items"].as_array().cloned().unwrap_or_default()
}

/// Waits until the object at `path` has the expected state.
#[track_caller]
fn until<'a>(
    env: &'a TestEnv,
    path: &'a str,
    wanted: impl Fn(&Value) -> bool + 'a,
) -> impl Future<Output = Value> + 'a {
    let place = std::panic::Location::caller();
    async move {
        for _ in 0..TURNS {
            let value = get(env, path).await;
            if wanted(&value) {
                return value;
            }
            tokio::task::yield_now().await;
        }
        panic!("{place}: {path} did not become as wanted: {}", get(env, path).await);
    }
}

/// Runs the controllers until they have nothing to do.
async fn quiet(env: &TestEnv) {
    let mut last = Value::Null;
    let mut same = 0;
    while same < 50 {
        let version = get(env, "/api/v1/namespaces").await["metadata"]["resourceVersion"].clone();
        same = if version == last { same + 1 } else { 0 };
        last = version;
        tokio::task::yield_now().await;
    }
}

async fn env(node: bool) -> TestEnv {
    TestEnv::builder().seed(7).controllers(true).simulated_node(node).start().await.unwrap()
}

fn deployment(name: &str, replicas: i64, image: &str) -> Value {
    let labels = json!({"app": name});
    json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}, "spec": {
        "replicas": replicas, "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": image}]}}}})
}

async fn create(env: &TestEnv, path: &str, body: Value) -> Value {
    let (code, stored) = call(env, Method::POST, path, body).await;
    assert_eq!(code, 201, "{stored}");
    stored
}

fn complete(deployment: &Value) -> bool {
    let (wanted, status) = (&deployment["spec"]["replicas"], &deployment["status"]);
    let counts = ["replicas", "updatedReplicas", "readyReplicas", "availableReplicas"];
    counts.iter().all(|count| status[*count] == *wanted)
        && status["observedGeneration"] == deployment["metadata"]["generation"]
}

fn condition<'a>(object: &'a Value, kind: &str) -> &'a Value {
    let all = object["status"]["conditions"].as_array().map_or(&[][..], Vec::as_slice);
    all.iter().find(|c| c["type"] == kind).unwrap_or(&Value::Null)
}

async fn set_image(env: &TestEnv, name: &str, image: &str) {
    let change = json!({"spec": {"template": {"spec": {"containers": [{"name": "c", "image": image}]}}}});
    let path = format!("{DEPLOYMENTS}/{name}");
    assert_eq!(patch(env, &path, "strategic-merge-patch+json", change).await.0, 200);
}

#[tokio::test]
async fn deployment_creates_replica_set_and_running_pods() {
    let env = env(true).await;
    create(&env, DEPLOYMENTS, deployment("web", 3, "i:1")).await;
    let web = until(&env, &format!("{DEPLOYMENTS}/web"), complete).await;
    assert_eq!(web["metadata"]["annotations"][REVISION], "1");
    assert_eq!(web["metadata"]["generation"], 1, "the revision is no change of the deployment");
    assert_eq!(condition(&web, "Available")["reason"], "MinimumReplicasAvailable");
    assert_eq!(condition(&web, "Progressing")["reason"], "NewReplicaSetAvailable");
    let sets = items(&env, SETS).await;
    assert_eq!(sets.len(), 1);
    let hash = sets[0]["metadata"]["labels"]["pod-template-hash"].as_str().unwrap();
    assert_eq!(sets[0]["metadata"]["name"], format!("web-{hash}"));
    assert_eq!(sets[0]["metadata"]["managedFields"][0]["manager"], "kube-controller-manager");
    let pods = items(&env, PODS).await;
    assert_eq!(pods.len(), 3);
    for pod in pods {
        let owner = &pod["metadata"]["ownerReferences"][0];
        assert_eq!((&owner["uid"], &owner["controller"]), (&sets[0]["metadata"]["uid"], &json!(true)));
        assert_eq!(pod["metadata"]["labels"], json!({"app": "web", "pod-template-hash": hash}));
        assert_eq!(
            (&pod["status"]["phase"], &condition(&pod, "Ready")["status"]),
            (&json!("Running"), &json!("True"))
        );
        assert!(pod["status"]["podIP"].as_str().unwrap().starts_with("10.244."));
        assert_eq!(pod["spec"]["serviceAccountName"], "default");
    }
    env.stop().await;
}

#[tokio::test]
async fn pods_are_pending_when_no_node_exists() {
    let env = env(false).await;
    create(&env, DEPLOYMENTS, deployment("web", 2, "i:1")).await;
    quiet(&env).await;
    let pods = items(&env, PODS).await;
    assert_eq!(pods.len(), 2);
    assert!(
        pods.iter().all(|pod| pod["status"]["phase"] == "Pending" && pod["spec"].get("nodeName").is_none())
    );
    let web = get(&env, &format!("{DEPLOYMENTS}/web")).await;
    assert_eq!((&web["status"]["replicas"], &web["status"]["unavailableReplicas"]), (&json!(2), &json!(2)));
    assert_eq!(condition(&web, "Available")["status"], "False");
    env.stop().await;
}

#[tokio::test]
async fn rolling_update_respects_its_limits_and_can_be_undone() {
    let env = env(true).await;
    let mut body = deployment("web", 4, "i:1");
    body["spec"]["strategy"] = json!({"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 1}});
    create(&env, DEPLOYMENTS, body).await;
    let path = format!("{DEPLOYMENTS}/web");
    until(&env, &path, complete).await;
    let start = get(&env, SETS).await["metadata"]["resourceVersion"].as_str().unwrap().to_owned();
    set_image(&env, "web", "i:2").await;
    let web =
        until(&env, &path, |web| complete(web) && web["metadata"]["annotations"][REVISION] == "2").await;
    assert_eq!(condition(&web, "Progressing")["reason"], "NewReplicaSetAvailable");
    for sizes in history(&env, &start).await {
        let total: i64 = sizes.iter().sum();
        assert!(total <= 5, "more pods than the limit allows: {sizes:?}");
    }
    let sets = items(&env, SETS).await;
    let size = |image: &str| {
        let of = |set: &&Value| set["spec"]["template"]["spec"]["containers"][0]["image"] == image;
        sets.iter().find(of).unwrap()["spec"]["replicas"].clone()
    };
    assert_eq!((size("i:1"), size("i:2")), (json!(0), json!(4)));
    set_image(&env, "web", "i:1").await;
    until(&env, &path, |web| complete(web) && web["metadata"]["annotations"][REVISION] == "3").await;
    let sets = items(&env, SETS).await;
    assert_eq!(sets.len(), 2, "going back takes the set that was there");
    let histories: Vec<&Value> = sets
        .iter()
        .map(|set| &set["metadata"]["annotations"]["deployment.kubernetes.io/revision-history"])
        .collect();
    assert!(histories.contains(&&json!("1")), "{histories:?}");
    env.stop().await;
}

/// The events of a watch of a collection since a version.
async fn events(env: &TestEnv, path: &str, start: &str) -> Vec<Value> {
    let path = format!("{path}?watch=1&resourceVersion={start}&timeoutSeconds=1");
    let request = http::Request::get(path).body(kube::client::Body::empty()).unwrap();
    tokio::time::pause();
    let response = env.client().send(request).await.unwrap();
    let bytes = http_body_util::BodyExt::collect(response.into_body()).await.unwrap().to_bytes();
    tokio::time::resume();
    let lines = bytes.split(|b| *b == b'\n').filter(|line| !line.is_empty());
    lines.map(|line| serde_json::from_slice(line).unwrap()).collect()
}

/// The sizes of all replica sets after each of their changes.
async fn history(env: &TestEnv, start: &str) -> Vec<Vec<i64>> {
    let mut sizes = std::collections::BTreeMap::new();
    let mut out = Vec::new();
    for event in events(env, SETS, start).await {
        let set = &event["object"];
        sizes.insert(set["metadata"]["name"].to_string(), set["spec"]["replicas"].as_i64().unwrap());
        out.push(sizes.values().copied().collect());
    }
    out
}

#[tokio::test]
async fn recreate_deployment_deletes_all_old_pods_first() {
    let env = env(true).await;
    let mut body = deployment("web", 2, "i:1");
    body["spec"]["strategy"] = json!({"type": "Recreate"});
    create(&env, DEPLOYMENTS, body).await;
    let path = format!("{DEPLOYMENTS}/web");
    until(&env, &path, complete).await;
    let start = get(&env, PODS).await["metadata"]["resourceVersion"].as_str().unwrap().to_owned();
    set_image(&env, "web", "i:2").await;
    until(&env, &path, |web| complete(web) && web["metadata"]["annotations"][REVISION] == "2").await;
    let request = http::Request::get(format!("{PODS}?watch=1&resourceVersion={start}&timeoutSeconds=1"));
    tokio::time::pause();
    let response = env.client().send(request.body(kube::client::Body::empty()).unwrap()).await.unwrap();
    let bytes = http_body_util::BodyExt::collect(response.into_body()).await.unwrap().to_bytes();
    let kinds: Vec<String> = bytes
        .split(|b| *b == b'\n')
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_slice::<Value>(line).unwrap()["type"].as_str().unwrap().to_owned())
        .collect();
    let last_deleted = kinds.iter().rposition(|kind| kind == "DELETED").unwrap();
    let first_added = kinds.iter().position(|kind| kind == "ADDED").unwrap();
    assert!(last_deleted < first_added, "{kinds:?}");
    env.stop().await;
}

#[tokio::test]
async fn deployment_is_scaled_and_paused() {
    let env = env(true).await;
    create(&env, DEPLOYMENTS, deployment("web", 1, "i:1")).await;
    let path = format!("{DEPLOYMENTS}/web");
    until(&env, &path, complete).await;
    let scale = json!({"spec": {"replicas": 3}});
    assert_eq!(patch(&env, &format!("{path}/scale"), "merge-patch+json", scale).await.0, 200);
    until(&env, &path, |web| complete(web) && web["spec"]["replicas"] == 3).await;
    assert_eq!(patch(&env, &path, "merge-patch+json", json!({"spec": {"paused": true}})).await.0, 200);
    until(&env, &path, |web| condition(web, "Progressing")["reason"] == "DeploymentPaused").await;
    set_image(&env, "web", "i:2").await;
    quiet(&env).await;
    assert_eq!(items(&env, SETS).await.len(), 1, "a paused deployment rolls nothing out");
    assert_eq!(
        patch(&env, &path, "merge-patch+json", json!({"spec": {"paused": null, "replicas": 0}})).await.0,
        200
    );
    until(&env, &path, |web| {
        web["status"]["observedGeneration"] == web["metadata"]["generation"]
            && web["status"].get("replicas").is_none()
    })
    .await;
    quiet(&env).await;
    assert!(items(&env, PODS).await.is_empty());
    env.stop().await;
}

#[tokio::test]
async fn replica_set_adopts_and_releases_pods() {
    let env = env(false).await;
    let orphan = json!({"metadata": {"name": "orphan", "labels": {"app": "a"}},
                        "spec": {"containers": [{"name": "c", "image": "i"}]}});
    create(&env, PODS, orphan).await;
    let template =
        json!({"metadata": {"labels": {"app": "a"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}});
    let set = json!({"metadata": {"name": "s"}, "spec": {"replicas": 2,
        "selector": {"matchLabels": {"app": "a"}}, "template": template}});
    let set = create(&env, SETS, set).await;
    quiet(&env).await;
    let orphan = format!("{PODS}/orphan");
    assert_eq!(get(&env, &orphan).await["metadata"]["ownerReferences"][0]["uid"], set["metadata"]["uid"]);
    assert_eq!(items(&env, PODS).await.len(), 2);
    patch(&env, &orphan, "merge-patch+json", json!({"metadata": {"labels": {"app": "b"}}})).await;
    quiet(&env).await;
    assert!(get(&env, &orphan).await["metadata"].get("ownerReferences").is_none());
    assert_eq!(items(&env, PODS).await.len(), 3, "the one that left is replaced");
    assert_eq!(get(&env, &format!("{SETS}/s")).await["status"]["replicas"], 2);
    env.stop().await;
}

/// Refusals name the pod, so each is different. The status and the events stay bounded nevertheless.
#[tokio::test(start_paused = true)]
async fn refused_pods_are_retried_with_backoff() {
    let env = env(false).await;
    let rules =
        json!([{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}]);
    let spec =
        json!({"matchConstraints": {"resourceRules": rules}, "validations": [{"expression": "false"}]});
    install(&env, "validating", "no-pods", &spec, &json!({})).await;
    create(&env, DEPLOYMENTS, deployment("web", 1, "i:1")).await;
    let path = format!("{DEPLOYMENTS}/web");
    let failing = |web: &Value| condition(web, "ReplicaFailure").clone();
    let first = failing(&until(&env, &path, |web| failing(web)["status"] == "True").await);
    quiet(&env).await;
    assert_eq!(failing(&get(&env, &path).await)["message"], first["message"]);
    let mut events = items(&env, "/api/v1/namespaces/default/events").await;
    events.retain(|event| event["reason"] == "FailedCreate");
    assert!((1..=10).contains(&events.len()), "{events:?}");
    for event in events {
        assert_eq!(
            (&event["type"], &event["involvedObject"]["kind"]),
            (&json!("Warning"), &json!("ReplicaSet"))
        );
        assert!(event["message"].as_str().unwrap().starts_with("Error creating: pods \"web-"), "{event}");
    }
    env.stop().await;
}

#[tokio::test]
async fn children_are_deleted_or_orphaned_with_their_deployment() {
    let env = env(true).await;
    for (name, policy) in [("gone", "Foreground"), ("kept", "Orphan")] {
        create(&env, DEPLOYMENTS, deployment(name, 1, "i:1")).await;
        let path = format!("{DEPLOYMENTS}/{name}");
        until(&env, &path, complete).await;
        let options = json!({"propagationPolicy": policy});
        assert_eq!(call(&env, Method::DELETE, &path, options).await.0, 200);
        until(&env, &path, |value| value["code"] == 404).await;
    }
    quiet(&env).await;
    let names = |list: Vec<Value>| -> Vec<String> {
        list.iter().map(|o| o["metadata"]["labels"]["app"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(items(&env, SETS).await), ["kept"]);
    assert_eq!(names(items(&env, PODS).await), ["kept"]);
    assert!(items(&env, SETS).await[0]["metadata"].get("ownerReferences").is_none());
    env.stop().await;
}

#[tokio::test]
async fn dependent_is_deleted_when_written_after_its_owner_is_gone() {
    let env = env(false).await;
    let maps = "/api/v1/namespaces/default/configmaps";
    let owned_by = |name: &str, kind: &str, uid: &Value| {
        let owner = json!({"apiVersion": "v1", "kind": kind, "name": "owner", "uid": uid});
        json!({"metadata": {"name": name, "ownerReferences": [owner]}})
    };
    let owner = create(&env, maps, json!({"metadata": {"name": "owner"}})).await;
    let uid = &owner["metadata"]["uid"];
    create(&env, maps, json!({"metadata": {"name": "adopted"}})).await;
    call(&env, Method::DELETE, &format!("{maps}/owner"), Value::Null).await;
    // Another object with the same name is another owner.
    create(&env, maps, json!({"metadata": {"name": "owner"}})).await;

    create(&env, maps, owned_by("late", "ConfigMap", uid)).await;
    let adopt = owned_by("adopted", "ConfigMap", uid);
    patch(&env, &format!("{maps}/adopted"), "merge-patch+json", adopt).await;
    create(&env, maps, owned_by("of-a-kind-that-nobody-knows", "Riddle", uid)).await;
    quiet(&env).await;
    let left: Vec<Value> =
        items(&env, maps).await.iter().map(|map| map["metadata"]["name"].clone()).collect();
    assert_eq!(left, ["kube-root-ca.crt", "of-a-kind-that-nobody-knows", "owner"]);
    env.stop().await;
}

#[tokio::test]
async fn namespace_gets_default_account_and_root_certificate() {
    let env = env(false).await;
    create(&env, "/api/v1/namespaces", json!({"metadata": {"name": "n"}})).await;
    let account = "/api/v1/namespaces/n/serviceaccounts/default";
    let map = "/api/v1/namespaces/n/configmaps/kube-root-ca.crt";
    until(&env, account, |value| value["kind"] == "ServiceAccount").await;
    let text = |value: &Value| value["data"]["ca.crt"].as_str().unwrap_or_default().to_owned();
    let made = until(&env, map, |value| text(value).starts_with("-----BEGIN CERTIFICATE")).await;
    call(&env, Method::DELETE, account, Value::Null).await;
    patch(&env, map, "merge-patch+json", json!({"data": {"ca.crt": "x"}})).await;
    until(&env, account, |value| value["kind"] == "ServiceAccount").await;
    until(&env, map, |value| text(value) == text(&made)).await;
    assert_eq!(call(&env, Method::DELETE, "/api/v1/namespaces/n", Value::Null).await.0, 200);
    until(&env, "/api/v1/namespaces/n", |value| value["code"] == 404).await;
    env.stop().await;
}

#[tokio::test]
async fn deleted_pod_is_ended_by_its_node_and_replaced() {
    let env = env(true).await;
    create(&env, DEPLOYMENTS, deployment("web", 1, "i:1")).await;
    let path = format!("{DEPLOYMENTS}/web");
    until(&env, &path, complete).await;
    let name = items(&env, PODS).await[0]["metadata"]["name"].as_str().unwrap().to_owned();
    let (code, leaving) = call(&env, Method::DELETE, &format!("{PODS}/{name}"), Value::Null).await;
    assert_eq!((code, &leaving["metadata"]["deletionGracePeriodSeconds"]), (200, &json!(30)));
    until(&env, &format!("{PODS}/{name}"), |value| value["code"] == 404).await;
    until(&env, &path, complete).await;
    assert_eq!(items(&env, PODS).await.len(), 1);
    env.stop().await;
}

/// As `kubectl wait --for=condition=Ready=False` sees it.
#[tokio::test]
async fn deleted_pod_is_not_ready_before_removal() {
    let env = env(true).await;
    create(
        &env,
        PODS,
        json!({"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}),
    )
    .await;
    let path = format!("{PODS}/p");
    let ready = until(&env, &path, |pod| condition(pod, "Ready")["status"] == "True").await;
    let from = ready["metadata"]["resourceVersion"].as_str().unwrap();
    call(&env, Method::DELETE, &path, Value::Null).await;
    until(&env, &path, |value| value["code"] == 404).await;
    let events = events(&env, PODS, from).await;
    let seen: Vec<&Value> =
        events.iter().map(|event| &condition(&event["object"], "Ready")["status"]).collect();
    // Terminating, not ready, without grace period, removed.
    let not_ready = json!("False");
    assert_eq!(seen, [&json!("True"), &not_ready, &not_ready, &not_ready]);
    env.stop().await;
}

/// A deployment whose pods never become ready is late after its deadline, by the server's clock.
#[tokio::test(start_paused = true)]
async fn rollout_without_progress_exceeds_its_deadline() {
    let clock = Arc::new(ManualClock::new("2026-01-01T00:00:00Z".parse().unwrap()));
    let env = TestEnv::builder().clock(clock.clone()).controllers(true).start().await.unwrap();
    let mut body = deployment("web", 1, "i:1");
    body["spec"]["progressDeadlineSeconds"] = json!(60);
    create(&env, DEPLOYMENTS, body).await;
    quiet(&env).await;
    let path = format!("{DEPLOYMENTS}/web");
    assert_eq!(condition(&get(&env, &path).await, "Progressing")["status"], "True");
    clock.advance(61);
    tokio::time::sleep(std::time::Duration::from_secs(62)).await;
    let late = until(&env, &path, |web| condition(web, "Progressing")["status"] == "False").await;
    assert_eq!(condition(&late, "Progressing")["reason"], "ProgressDeadlineExceeded");
    env.stop().await;
}

/// Controllers write nothing if nothing has to change.
#[tokio::test]
async fn settled_cluster_writes_no_objects() {
    let env = env(true).await;
    create(&env, DEPLOYMENTS, deployment("web", 2, "i:1")).await;
    until(&env, &format!("{DEPLOYMENTS}/web"), complete).await;
    quiet(&env).await;
    let version = get(&env, "/api/v1/pods").await["metadata"]["resourceVersion"].clone();
    for _ in 0..500 {
        tokio::task::yield_now().await;
    }
    assert_eq!(get(&env, "/api/v1/pods").await["metadata"]["resourceVersion"], version);
    env.stop().await;
}

#[tokio::test]
async fn pod_is_pending_when_the_node_has_a_taint() {
    let env = env(true).await;
    let node = "/api/v1/nodes/node-1";
    until(&env, node, |node| condition(node, "Ready")["status"] == "True").await;
    let taint = json!({"spec": {"taints": [{"key": "k", "value": "v", "effect": "NoSchedule"}]}});
    assert_eq!(patch(&env, node, "merge-patch+json", taint).await.0, 200);
    let pod = |name: &str, tolerations: Value| {
        json!({"metadata": {"name": name},
               "spec": {"containers": [{"name": "c", "image": "i"}], "tolerations": tolerations}})
    };
    create(&env, PODS, pod("stays", Value::Null)).await;
    create(&env, PODS, pod("runs", json!([{"key": "k", "operator": "Exists"}]))).await;
    let runs = |pod: &Value| pod["status"]["phase"] == "Running";
    until(&env, &format!("{PODS}/runs"), runs).await;
    quiet(&env).await;
    let stays = get(&env, &format!("{PODS}/stays")).await;
    assert_eq!(condition(&stays, "PodScheduled")["reason"], "Unschedulable");
    assert_eq!(patch(&env, node, "merge-patch+json", json!({"spec": {"taints": null}})).await.0, 200);
    until(&env, &format!("{PODS}/stays"), runs).await;
    env.stop().await;
}

#[tokio::test(start_paused = true)]
async fn simulated_node_renews_its_lease() {
    let clock = Arc::new(ManualClock::new("2026-01-01T00:00:00Z".parse().unwrap()));
    let builder = TestEnv::builder().clock(clock.clone()).controllers(true).simulated_node(true);
    let env = builder.start().await.unwrap();
    let path = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/node-1";
    let lease = until(&env, path, |lease| lease["spec"]["renewTime"] == "2026-01-01T00:00:00.000000Z").await;
    assert_eq!(lease["spec"]["holderIdentity"], "node-1");
    assert_eq!(lease["metadata"]["ownerReferences"][0]["kind"], "Node");
    clock.advance(10);
    tokio::time::sleep(std::time::Duration::from_secs(11)).await;
    let lease = until(&env, path, |lease| lease["spec"]["renewTime"] == "2026-01-01T00:00:10.000000Z").await;
    let managed = lease["metadata"]["managedFields"].as_array().unwrap();
    assert_eq!((managed.len(), &managed[0]["time"]), (1, &json!("2026-01-01T00:00:10Z")), "{lease}");
    env.stop().await;
}
