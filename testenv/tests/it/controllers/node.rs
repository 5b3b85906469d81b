//! The simulated node runs the pods that a cluster's node would run, and reports why others wait.

use std::sync::Arc;
use std::time::Duration;

use http::Method;
use kubesmith_testenv::{ManualClock, TestEnv};
use serde_json::{Value, json};

use super::{PODS, condition, create, env, get, items, quiet, until};
use crate::support::{call, patch};

const SECRETS: &str = "/api/v1/namespaces/default/secrets";
const MAPS: &str = "/api/v1/namespaces/default/configmaps";
const CLAIMS: &str = "/api/v1/namespaces/default/persistentvolumeclaims";
const NODE: &str = "/api/v1/nodes/node-1";
const EVENTS: &str = "/api/v1/namespaces/default/events";

async fn ready_env() -> TestEnv {
    let env = env(true).await;
    until(&env, NODE, |node| condition(node, "Ready")["status"] == "True").await;
    env
}

/// A pod whose only container and whose spec have further fields.
fn pod(name: &str, container: Value, spec: Value) -> Value {
    let mut own = json!({"name": "c", "image": "i"});
    merge(&mut own, container);
    let mut pod =
        json!({"metadata": {"name": name, "labels": {"app": "web"}}, "spec": {"containers": [own]}});
    merge(&mut pod["spec"], spec);
    pod
}

fn merge(into: &mut Value, from: Value) {
    let (Value::Object(into), Value::Object(from)) = (into, from) else { return };
    into.extend(from);
}

fn at(name: &str) -> String {
    format!("{PODS}/{name}")
}

fn is_ready(pod: &Value) -> bool {
    condition(pod, "Ready")["status"] == "True"
}

fn waiting(pod: &Value) -> &Value {
    &pod["status"]["containerStatuses"][0]["state"]["waiting"]
}

async fn has_event(env: &TestEnv, name: &str, reason: &str, message: &str) -> bool {
    items(env, EVENTS).await.iter().any(|event| {
        event["involvedObject"]["name"] == name && event["reason"] == reason && event["message"] == message
    })
}

/// Creates a pod that cannot be scheduled, and checks the reason.
#[track_caller]
fn refused<'a>(env: &'a TestEnv, pod: Value, text: &'a str) -> impl Future<Output = ()> + 'a {
    let place = std::panic::Location::caller();
    async move {
        let name = pod["metadata"]["name"].as_str().unwrap().to_owned();
        create(env, PODS, pod).await;
        quiet(env).await;
        let pod = get(env, &at(&name)).await;
        let scheduled = condition(&pod, "PodScheduled");
        let of = (&scheduled["status"], &scheduled["reason"], &scheduled["message"]);
        assert_eq!(of, (&json!("False"), &json!("Unschedulable"), &json!(text)), "{place}");
        assert_eq!(pod["status"]["phase"], "Pending", "{place}");
        assert!(has_event(env, &name, "FailedScheduling", text).await, "{place}");
    }
}

fn misfit(reasons: &str, preemption: &str) -> String {
    format!(
        "0/1 nodes are available: {reasons}. no new claims to deallocate, preemption: 0/1 nodes are available: 1 {preemption}."
    )
}

const UNHELPFUL: &str = "Preemption is not helpful for scheduling";
const NO_VICTIMS: &str = "No preemption victims found for incoming pod";

#[tokio::test]
async fn readiness_gate_decides_when_its_condition_is_patched() {
    let env = ready_env().await;
    create(&env, PODS, pod("p", json!({}), json!({"readinessGates": [{"conditionType": "x/y"}]}))).await;
    let waits = until(&env, &at("p"), |pod| pod["status"]["phase"] == "Running").await;
    assert_eq!(condition(&waits, "ContainersReady")["status"], "True");
    let ready = condition(&waits, "Ready");
    let text = "corresponding condition of pod readiness gate \"x/y\" does not exist.";
    assert_eq!(
        (&ready["status"], &ready["reason"], &ready["message"]),
        (&json!("False"), &json!("ReadinessGatesNotReady"), &json!(text))
    );
    let path = format!("{}/status", at("p"));
    for (status, wanted) in [("True", true), ("False", false)] {
        let change = json!({"status": {"conditions": [{"type": "x/y", "status": status}]}});
        assert_eq!(patch(&env, &path, "strategic-merge-patch+json", change).await.0, 200);
        until(&env, &at("p"), move |pod| is_ready(pod) == wanted).await;
    }
    env.stop().await;
}

#[tokio::test]
async fn pod_waits_for_objects_in_its_volumes() {
    let env = ready_env().await;
    let secret = json!({"name": "v", "secret": {"secretName": "s", "items": [{"key": "k", "path": "f"}]}});
    let optional = json!({"name": "o", "configMap": {"name": "none", "optional": true}});
    let projected = json!({"name": "j", "projected": {"sources": [{"configMap": {"name": "m"}}]}});
    create(&env, PODS, pod("p", json!({}), json!({"volumes": [secret, optional, projected]}))).await;
    let waits = until(&env, &at("p"), |pod| waiting(pod)["reason"] == "ContainerCreating").await;
    assert_eq!(waits["status"]["phase"], "Pending");
    assert_eq!(condition(&waits, "PodReadyToStartContainers")["status"], "False");
    assert_eq!(condition(&waits, "Ready")["message"], "containers with unready status: [c]");
    quiet(&env).await;
    for text in [
        "MountVolume.SetUp failed for volume \"v\" : secret \"s\" not found",
        "MountVolume.SetUp failed for volume \"j\" : configmap \"m\" not found",
    ] {
        assert!(has_event(&env, "p", "FailedMount", text).await, "{text}");
    }
    create(&env, SECRETS, json!({"metadata": {"name": "s"}})).await;
    create(&env, MAPS, json!({"metadata": {"name": "m"}})).await;
    quiet(&env).await;
    let text = "MountVolume.SetUp failed for volume \"v\" : references non-existent secret key: k";
    assert!(has_event(&env, "p", "FailedMount", text).await);
    let data = json!({"stringData": {"k": "v"}});
    assert_eq!(patch(&env, &format!("{SECRETS}/s"), "merge-patch+json", data).await.0, 200);
    until(&env, &at("p"), is_ready).await;
    env.stop().await;
}

#[tokio::test]
async fn container_waits_for_its_environment() {
    let env = ready_env().await;
    let key = |optional: bool| json!({"secretKeyRef": {"name": "s", "key": "k", "optional": optional}});
    let from = json!([{"configMapRef": {"name": "m"}}, {"secretRef": {"name": "none", "optional": true}}]);
    let variables = json!([{"name": "A", "valueFrom": key(false)}, {"name": "B", "valueFrom": key(true)}]);
    create(&env, PODS, pod("p", json!({"env": variables, "envFrom": from}), json!({}))).await;
    let error = |text: &'static str| {
        move |pod: &Value| {
            waiting(pod)["reason"] == "CreateContainerConfigError" && waiting(pod)["message"] == text
        }
    };
    let waits = until(&env, &at("p"), error("configmap \"m\" not found")).await;
    assert_eq!(waits["status"]["phase"], "Pending");
    create(&env, MAPS, json!({"metadata": {"name": "m"}})).await;
    until(&env, &at("p"), error("secret \"s\" not found")).await;
    quiet(&env).await;
    assert!(has_event(&env, "p", "Failed", "Error: secret \"s\" not found").await);
    create(&env, SECRETS, json!({"metadata": {"name": "s"}})).await;
    until(&env, &at("p"), error("couldn't find key k in Secret default/s")).await;
    let data = json!({"stringData": {"k": "v"}});
    assert_eq!(patch(&env, &format!("{SECRETS}/s"), "merge-patch+json", data).await.0, 200);
    until(&env, &at("p"), is_ready).await;
    env.stop().await;
}

fn requests(cpu: &str) -> Value {
    json!({"resources": {"requests": {"cpu": cpu}}})
}

#[tokio::test]
async fn pod_needs_room_on_the_node() {
    let env = ready_env().await;
    let gpu = json!({"resources": {"limits": {"nvidia.com/gpu": "1", "cpu": "100"}}});
    let text = misfit("1 Insufficient cpu, 1 Insufficient nvidia.com/gpu", UNHELPFUL);
    refused(&env, pod("huge", gpu, json!({})), &text).await;
    create(&env, PODS, pod("first", requests("5"), json!({}))).await;
    until(&env, &at("first"), is_ready).await;
    refused(&env, pod("second", requests("5"), json!({})), &misfit("1 Insufficient cpu", NO_VICTIMS)).await;
    call(&env, Method::DELETE, &at("first"), Value::Null).await;
    until(&env, &at("second"), is_ready).await;
    env.stop().await;
}

#[tokio::test]
async fn pods_wait_for_ports_of_the_node() {
    let env = ready_env().await;
    let port = || json!({"ports": [{"containerPort": 80, "hostPort": 8080}]});
    create(&env, PODS, pod("first", port(), json!({}))).await;
    until(&env, &at("first"), is_ready).await;
    let text = misfit("1 node(s) didn't have free ports for the requested pod ports", NO_VICTIMS);
    refused(&env, pod("second", port(), json!({})), &text).await;
    call(&env, Method::DELETE, &at("first"), Value::Null).await;
    until(&env, &at("second"), is_ready).await;
    env.stop().await;
}

#[tokio::test]
async fn pods_attract_and_repel_each_other() {
    let env = ready_env().await;
    let term = |app: &str, key: &str| {
        let terms = json!([{"topologyKey": key, "labelSelector": {"matchLabels": {"app": app}}}]);
        json!({"requiredDuringSchedulingIgnoredDuringExecution": terms})
    };
    const HOST: &str = "kubernetes.io/hostname";
    let apart = || json!({"affinity": {"podAntiAffinity": term("web", HOST)}});
    let near = |app: &str, key: &str| json!({"affinity": {"podAffinity": term(app, key)}});
    let text = misfit("1 node(s) didn't match pod affinity rules", UNHELPFUL);
    refused(&env, pod("lonely", json!({}), near("db", HOST)), &text).await;
    refused(&env, pod("nowhere", json!({}), near("web", "zone")), &text).await;
    create(&env, PODS, pod("series", json!({}), near("web", HOST))).await;
    until(&env, &at("series"), is_ready).await;
    let text = misfit("1 node(s) didn't match pod anti-affinity rules", NO_VICTIMS);
    refused(&env, pod("apart", json!({}), apart()), &text).await;
    call(&env, Method::DELETE, &at("series"), Value::Null).await;
    until(&env, &at("apart"), is_ready).await;
    let text = misfit("1 node(s) didn't satisfy existing pods anti-affinity rules", NO_VICTIMS);
    refused(&env, pod("repelled", json!({}), json!({})), &text).await;
    let mut db = pod("db", json!({}), json!({}));
    db["metadata"]["labels"] = json!({"app": "db"});
    create(&env, PODS, db).await;
    call(&env, Method::DELETE, &at("apart"), Value::Null).await;
    until(&env, &at("lonely"), is_ready).await;
    env.stop().await;
}

#[tokio::test]
async fn pods_are_spread_over_the_node_s_labels() {
    let env = ready_env().await;
    let spread = |key: &str, domains: Value| {
        json!({"topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": "DoNotSchedule",
            "minDomains": domains, "labelSelector": {"matchLabels": {"app": "web"}}}]})
    };
    const HOST: &str = "kubernetes.io/hostname";
    for name in ["a", "b"] {
        create(&env, PODS, pod(name, json!({}), spread(HOST, Value::Null))).await;
        until(&env, &at(name), is_ready).await;
    }
    let reason = "1 node(s) didn't match pod topology spread constraints";
    refused(&env, pod("two", json!({}), spread(HOST, json!(2))), &misfit(reason, NO_VICTIMS)).await;
    let text = misfit(&format!("{reason} (missing required label)"), UNHELPFUL);
    refused(&env, pod("zone", json!({}), spread("zone", Value::Null)), &text).await;
    let labels = json!({"metadata": {"labels": {"zone": "z"}}});
    assert_eq!(patch(&env, NODE, "merge-patch+json", labels).await.0, 200);
    until(&env, &at("zone"), is_ready).await;
    env.stop().await;
}

#[tokio::test]
async fn pod_waits_for_its_claims() {
    let env = ready_env().await;
    let with = |claim: &str| volumes(&[claim]);
    let text = "0/1 nodes are available: persistentvolumeclaim \"data\" not found. not found";
    refused(&env, pod("p", json!({}), with("data")), text).await;
    create(&env, CLAIMS, claim("data", "standard", "ReadWriteOncePod")).await;
    until(&env, &at("p"), is_ready).await;
    let bound = get(&env, &format!("{CLAIMS}/data")).await;
    assert_eq!(bound["metadata"]["annotations"]["volume.kubernetes.io/selected-node"], "node-1");
    let text = misfit(
        "1 node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod",
        NO_VICTIMS,
    );
    refused(&env, pod("q", json!({}), with("data")), &text).await;
    create(&env, CLAIMS, claim("late", "none", "ReadWriteOnce")).await;
    let text = "0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims. not found";
    refused(&env, pod("r", json!({}), with("late")), text).await;
    env.stop().await;
}

fn claim(name: &str, class: &str, mode: &str) -> Value {
    json!({"metadata": {"name": name}, "spec": {"accessModes": [mode], "storageClassName": class,
           "resources": {"requests": {"storage": "1Gi"}}}})
}

fn volumes(claims: &[&str]) -> Value {
    let volume = |claim: &&str| json!({"name": claim, "persistentVolumeClaim": {"claimName": claim}});
    json!({"volumes": claims.iter().map(volume).collect::<Vec<Value>>()})
}

#[tokio::test]
async fn claims_are_bound_to_volumes_that_the_node_reaches() {
    let env = ready_env().await;
    let class = json!({"metadata": {"name": "local"}, "provisioner": "kubernetes.io/no-provisioner",
                       "volumeBindingMode": "WaitForFirstConsumer"});
    create(&env, "/apis/storage.k8s.io/v1/storageclasses", class).await;
    create(&env, CLAIMS, claim("small", "local", "ReadWriteOnce")).await;
    let mut larger = claim("larger", "local", "ReadWriteOnce");
    larger["spec"]["resources"]["requests"]["storage"] = json!("2Gi");
    create(&env, CLAIMS, larger).await;
    let volume = |name: &str, size: &str, host: &str| {
        let host = json!({"key": "kubernetes.io/hostname", "operator": "In", "values": [host]});
        let affinity = json!({"required": {"nodeSelectorTerms": [{"matchExpressions": [host]}]}});
        json!({"metadata": {"name": name}, "spec": {"accessModes": ["ReadWriteOnce"], "capacity": {"storage": size},
            "local": {"path": "/x"}, "nodeAffinity": affinity, "storageClassName": "local"}})
    };
    const VOLUMES: &str = "/api/v1/persistentvolumes";
    // A smaller volume, in another place.
    create(&env, VOLUMES, volume("elsewhere", "1Gi", "node-2")).await;
    create(&env, VOLUMES, volume("two", "2Gi", "node-1")).await;
    let text = misfit("1 node(s) didn't find available persistent volumes to bind", UNHELPFUL);
    refused(&env, pod("p", json!({}), volumes(&["larger", "small"])), &text).await;
    create(&env, VOLUMES, volume("three", "3Gi", "node-1")).await;
    until(&env, &at("p"), is_ready).await;
    // The smallest claim comes first.
    for (claim, volume) in [("small", "two"), ("larger", "three")] {
        let bound = get(&env, &format!("{CLAIMS}/{claim}")).await;
        assert_eq!(bound["spec"]["volumeName"], volume, "{claim}");
        assert!(bound["metadata"]["annotations"]["volume.kubernetes.io/selected-node"].is_null());
    }
    assert_eq!(get(&env, &format!("{VOLUMES}/elsewhere")).await["status"]["phase"], "Available");
    env.stop().await;
}

#[tokio::test]
async fn node_without_controllers_binds_claims() {
    let env = TestEnv::builder().simulated_node(true).start().await.unwrap();
    create(&env, CLAIMS, claim("data", "standard", "ReadWriteOnce")).await;
    create(&env, PODS, pod("p", json!({}), volumes(&["data"]))).await;
    until(&env, &at("p"), is_ready).await;
    assert_eq!(get(&env, &format!("{CLAIMS}/data")).await["status"]["phase"], "Bound");
    // A new pod of the same name gets a new claim for its ephemeral volume.
    let template = claim("", "standard", "ReadWriteOnce");
    let volume = json!({"name": "v", "ephemeral": {"volumeClaimTemplate": {"spec": template["spec"]}}});
    for _ in 0..2 {
        create(&env, PODS, pod("q", json!({}), json!({"volumes": [volume]}))).await;
        let ready = until(&env, &at("q"), is_ready).await;
        let made = get(&env, &format!("{CLAIMS}/q-v")).await;
        assert_eq!(made["metadata"]["ownerReferences"][0]["uid"], ready["metadata"]["uid"]);
        call(&env, Method::DELETE, &at("q"), Value::Null).await;
        until(&env, &at("q"), |pod| pod["kind"] == "Status").await;
    }
    env.stop().await;
}

#[tokio::test]
async fn ephemeral_volume_gets_a_claim_of_the_pod() {
    let env = ready_env().await;
    let mut template = claim("", "standard", "ReadWriteOnce");
    template["metadata"] = json!({"labels": {"a": "b"}});
    let volume = json!({"name": "v", "ephemeral": {"volumeClaimTemplate": template}});
    let pod = |name: &str| pod(name, json!({}), json!({"volumes": [volume]}));
    create(&env, PODS, pod("p")).await;
    let ready = until(&env, &at("p"), is_ready).await;
    let made = get(&env, &format!("{CLAIMS}/p-v")).await;
    let owner = json!([{"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": ready["metadata"]["uid"],
                        "controller": true, "blockOwnerDeletion": true}]);
    assert_eq!(made["metadata"]["ownerReferences"], owner);
    assert_eq!(
        (&made["metadata"]["labels"], &made["status"]["phase"]),
        (&json!({"a": "b"}), &json!("Bound"))
    );
    // A claim of another owner is not used.
    create(&env, CLAIMS, claim("q-v", "standard", "ReadWriteOnce")).await;
    let foreign = "PVC default/q-v was not created for pod default/q (pod is not owner)";
    refused(&env, pod("q"), &format!("0/1 nodes are available: {foreign}. not found")).await;
    assert!(has_event(&env, "q", "FailedBinding", &format!("ephemeral volume v: {foreign}")).await);
    call(&env, Method::DELETE, &format!("{CLAIMS}/q-v"), Value::Null).await;
    until(&env, &at("q"), is_ready).await;
    env.stop().await;
}

#[tokio::test]
async fn pod_with_a_node_fails_when_it_does_not_fit() {
    let env = ready_env().await;
    let on_node = |mut spec: Value| {
        spec["nodeName"] = json!("node-1");
        spec
    };
    let port = || json!({"ports": [{"containerPort": 80, "hostPort": 8080}]});
    let first = pod("first", merged(requests("1500m"), port()), on_node(json!({})));
    create(&env, PODS, first).await;
    until(&env, &at("first"), is_ready).await;
    let gpu = json!({"resources": {"limits": {"nvidia.com/gpu": "1"}}});
    create(&env, PODS, pod("unknown", gpu, on_node(json!({})))).await;
    until(&env, &at("unknown"), is_ready).await;
    let short = "Node didn't have enough resource: cpu, requested: 7000, used: 1500, capacity: 8000";
    let selected = "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector";
    let taken = "Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports";
    let selector = json!({"nodeSelector": {"disk": "none"}});
    for (name, container, spec, reason, message) in [
        ("cpu", requests("7"), json!({}), "OutOfcpu", short),
        ("affinity", json!({}), selector, "NodeAffinity", selected),
        ("port", port(), json!({}), "NodePorts", taken),
    ] {
        create(&env, PODS, pod(name, container, on_node(spec))).await;
        let failed = until(&env, &at(name), |pod| pod["status"]["phase"] == "Failed").await;
        let status = &failed["status"];
        assert_eq!(status["reason"], reason, "{status}");
        assert_eq!(status["message"], format!("Pod was rejected: {message}"));
        assert!(status["conditions"].is_null() && status["startTime"].is_string(), "{status}");
        quiet(&env).await;
        assert!(has_event(&env, name, reason, message).await, "{name}");
    }
    let taint = json!({"spec": {"taints": [{"key": "k", "effect": "NoExecute"}]}});
    assert_eq!(patch(&env, NODE, "merge-patch+json", taint).await.0, 200);
    create(&env, PODS, pod("taint", json!({}), on_node(json!({})))).await;
    let failed = until(&env, &at("taint"), |pod| pod["status"]["phase"] == "Failed").await;
    assert_eq!(failed["status"]["reason"], "TaintToleration");
    env.stop().await;
}

#[tokio::test]
async fn rejected_pods_do_not_delay_other_keys() {
    let env = ready_env().await;
    let mut large = pod("large", requests("9"), json!({"nodeName": "node-1"}));
    large["metadata"] = json!({"labels": {"a": "b"}});
    let spec = json!({"replicas": 1, "selector": {"matchLabels": {"a": "b"}}, "template": large});
    let set = json!({"metadata": {"name": "r"}, "spec": spec});
    create(&env, "/apis/apps/v1/namespaces/default/replicasets", set).await;
    let template = pod("small", json!({}), json!({"restartPolicy": "Never"}));
    let job = json!({"metadata": {"name": "j"}, "spec": {"template": {"spec": template["spec"]}}});
    let jobs = "/apis/batch/v1/namespaces/default/jobs";
    create(&env, jobs, job).await;
    until(&env, &format!("{jobs}/j"), |job| job["status"]["succeeded"] == 1).await;
    env.stop().await;
}

fn merged(mut into: Value, from: Value) -> Value {
    merge(&mut into, from);
    into
}

#[tokio::test]
async fn status_of_a_pod_has_its_generation_and_writers() {
    let env = ready_env().await;
    let gpu = json!({"resources": {"limits": {"nvidia.com/gpu": "1"}}});
    create(&env, PODS, pod("p", gpu, json!({}))).await;
    let managers = |pod: &Value| -> Vec<(String, String)> {
        let text = |entry: &Value, field: &str| entry[field].as_str().unwrap_or_default().to_owned();
        let entries = pod["metadata"]["managedFields"].as_array().unwrap().iter();
        entries.map(|entry| (text(entry, "manager"), text(entry, "subresource"))).collect()
    };
    let writer = |name: &str| (name.to_owned(), "status".to_owned());
    let waits = until(&env, &at("p"), |pod| condition(pod, "PodScheduled")["status"] == "False").await;
    assert_eq!(condition(&waits, "PodScheduled")["observedGeneration"], 1);
    assert!(managers(&waits).contains(&writer("kube-scheduler")), "{waits}");
    let room = json!({"status": {"allocatable": {"nvidia.com/gpu": "4"}}});
    assert_eq!(patch(&env, &format!("{NODE}/status"), "merge-patch+json", room).await.0, 200);
    let ready = until(&env, &at("p"), is_ready).await;
    assert!(managers(&ready).contains(&writer("kubelet")), "{ready}");
    let image = json!({"spec": {"containers": [{"name": "c", "image": "j"}]}});
    assert_eq!(patch(&env, &at("p"), "strategic-merge-patch+json", image).await.0, 200);
    let seen = until(&env, &at("p"), |pod| pod["status"]["observedGeneration"] == 2).await;
    for kind in ["PodScheduled", "Initialized", "ContainersReady", "Ready", "PodReadyToStartContainers"] {
        assert_eq!(condition(&seen, kind)["observedGeneration"], 2, "{kind}");
    }
    env.stop().await;
}

#[tokio::test]
async fn init_container_with_a_fault_holds_the_others() {
    let env = ready_env().await;
    let from = |name: &str| json!([{"secretRef": {"name": name}}]);
    let init = json!([{"name": "i", "image": "i", "envFrom": from("first")}]);
    create(&env, PODS, pod("p", json!({"envFrom": from("second")}), json!({"initContainers": init}))).await;
    let waits = until(&env, &at("p"), |pod| waiting(pod)["reason"] == "PodInitializing").await;
    let first = &waits["status"]["initContainerStatuses"][0]["state"]["waiting"];
    assert_eq!(first["reason"], "CreateContainerConfigError");
    quiet(&env).await;
    assert!(has_event(&env, "p", "Failed", "Error: secret \"first\" not found").await);
    assert!(!has_event(&env, "p", "Failed", "Error: secret \"second\" not found").await);
    create(&env, SECRETS, json!({"metadata": {"name": "first"}})).await;
    until(&env, &at("p"), |pod| waiting(pod)["reason"] == "CreateContainerConfigError").await;
    create(&env, SECRETS, json!({"metadata": {"name": "second"}})).await;
    until(&env, &at("p"), is_ready).await;
    env.stop().await;
}

#[tokio::test(start_paused = true)]
async fn pod_fails_at_its_deadline() {
    let clock = Arc::new(ManualClock::new("2026-01-01T00:00:00Z".parse().unwrap()));
    let builder = TestEnv::builder().clock(clock.clone()).controllers(true).simulated_node(true);
    let env = builder.start().await.unwrap();
    create(&env, PODS, pod("p", json!({}), json!({"activeDeadlineSeconds": 5}))).await;
    until(&env, &at("p"), is_ready).await;
    clock.advance(5);
    tokio::time::sleep(Duration::from_secs(6)).await;
    let failed = until(&env, &at("p"), |pod| pod["status"]["phase"] == "Failed").await;
    let text = "Pod was active on the node longer than the specified deadline";
    assert_eq!(
        (&failed["status"]["reason"], &failed["status"]["message"]),
        (&json!("DeadlineExceeded"), &json!(text))
    );
    assert_eq!(failed["status"]["containerStatuses"][0]["state"]["terminated"]["exitCode"], 137);
    quiet(&env).await;
    assert!(has_event(&env, "p", "DeadlineExceeded", text).await);
    env.stop().await;
}
