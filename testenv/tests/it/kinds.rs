//! Every built-in kind can be created, and `kubectl get` shows it as on a cluster.

use http::Method;
use kubesmith_testenv::{ManualClock, TestEnv};
use serde_json::{Value, json};

use crate::support::{call, patch, send};

const CORE: &str = "/api/v1/namespaces/default";
const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io";

fn template(policy: &str) -> Value {
    json!({"metadata": {"labels": {"app": "a"}},
           "spec": {"restartPolicy": policy, "containers": [{"name": "c", "image": "i:1"}]}})
}

fn workload(extra: &[(&str, Value)]) -> Value {
    let mut spec = json!({"selector": {"matchLabels": {"app": "a"}}, "template": template("Always")});
    for (key, value) in extra {
        spec[*key] = value.clone();
    }
    spec
}

/// (collection, spec or whole body, name of the row and cells after it, wide ones included)
fn samples() -> Vec<(String, Value, Value)> {
    let named = |group: &str, plural: &str| format!("/apis/{group}/v1/namespaces/default/{plural}");
    let ports = json!([{"port": 80, "targetPort": 8080}]);
    let backend = json!({"service": {"name": "s", "port": {"number": 80}}});
    let path = json!({"path": "/", "pathType": "Prefix", "backend": backend});
    let claim = json!({"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}});
    let job = json!({"template": template("Never")});
    let spec = |spec: Value| json!({"spec": spec});
    vec![
        (format!("{CORE}/configmaps"), json!({"data": {"a": "1"}}), json!(["x", 1, "0s"])),
        (format!("{CORE}/secrets"), json!({"data": {"a": "MQ=="}}), json!(["x", "Opaque", 1, "0s"])),
        (format!("{CORE}/serviceaccounts"), json!({}), json!(["x", "0s"])),
        (
            format!("{CORE}/pods"),
            spec(template("Always")["spec"].clone()),
            json!(["x", "0/1", "Pending", "0", "0s", "<none>", "<none>", "<none>", "<none>"]),
        ),
        (
            format!("{CORE}/services"),
            spec(json!({"selector": {"app": "a"}, "ports": ports})),
            json!(["x", "ClusterIP", "10.0.1.1", "<none>", "80/TCP", "0s", "app=a"]),
        ),
        (format!("{CORE}/endpoints"), json!({}), json!(["x", "<none>", "0s"])),
        (
            format!("{CORE}/persistentvolumeclaims"),
            spec(claim),
            json!(["x", "Pending", "", "", "", "", "<unset>", "0s", "Filesystem"]),
        ),
        (format!("{CORE}/resourcequotas"), spec(json!({"hard": {"pods": "1"}})), json!(["x", "", "", "0s"])),
        (
            format!("{CORE}/replicationcontrollers"),
            spec(json!({"template": template("Always")})),
            json!(["x", 1, 0, 0, "0s", "c", "i:1", "app=a"]),
        ),
        (
            format!("{CORE}/podtemplates"),
            json!({"template": template("Always")}),
            json!(["x", "c", "i:1", "app=a"]),
        ),
        (
            named("apps", "deployments"),
            spec(workload(&[("replicas", json!(3))])),
            json!(["x", "0/3", 0, 0, "0s", "c", "i:1", "app=a"]),
        ),
        (named("apps", "replicasets"), spec(workload(&[])), json!(["x", 1, 0, 0, "0s", "c", "i:1", "app=a"])),
        (
            named("apps", "statefulsets"),
            spec(workload(&[("serviceName", json!("s"))])),
            json!(["x", "0/1", "0s", "c", "i:1"]),
        ),
        (
            named("apps", "daemonsets"),
            spec(workload(&[])),
            json!(["x", 0, 0, 0, 0, 0, "<none>", "0s", "c", "i:1", "app=a"]),
        ),
        (
            named("apps", "controllerrevisions"),
            json!({"revision": 2, "data": {}}),
            json!(["x", "<none>", 2, "0s"]),
        ),
        (
            named("batch", "cronjobs"),
            spec(json!({"schedule": "@daily", "jobTemplate": {"spec": job}})),
            json!(["x", "@daily", "<none>", "False", 0, "<none>", "0s", "c", "i:1", "<none>"]),
        ),
        (
            "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers".to_owned(),
            spec(
                json!({"maxReplicas": 3, "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}}),
            ),
            json!(["x", "Deployment/d", "cpu: <unknown>/80%", "1", 3, 0, "0s"]),
        ),
        (
            named("policy", "poddisruptionbudgets"),
            spec(json!({"minAvailable": "50%", "selector": {"matchLabels": {"app": "a"}}})),
            json!(["x", "50%", "N/A", 0, "0s"]),
        ),
        (
            named("networking.k8s.io", "ingresses"),
            spec(json!({"rules": [{"host": "h", "http": {"paths": [path]}}]})),
            json!(["x", "<none>", "h", "", "80", "0s"]),
        ),
        (
            named("networking.k8s.io", "networkpolicies"),
            spec(json!({"podSelector": {"matchLabels": {"app": "a"}}})),
            json!(["x", "app=a", "0s"]),
        ),
        (
            named("discovery.k8s.io", "endpointslices"),
            json!({"addressType": "IPv4", "endpoints": [{"addresses": ["10.1.0.1"]}], "ports": [{"port": 80}]}),
            json!(["x", "IPv4", "80", "10.1.0.1", "0s"]),
        ),
        (
            named("coordination.k8s.io", "leases"),
            spec(json!({"holderIdentity": "me"})),
            json!(["x", "me", "0s"]),
        ),
        (
            named("rbac.authorization.k8s.io", "roles"),
            json!({"rules": []}),
            json!(["x", "2026-01-01T00:00:00Z"]),
        ),
        (
            named("rbac.authorization.k8s.io", "rolebindings"),
            json!({"roleRef": {"kind": "Role", "name": "r"}, "subjects": [{"kind": "User", "name": "u"}]}),
            json!(["x", "Role/r", "0s", "u", "", ""]),
        ),
        (
            "/apis/storage.k8s.io/v1/storageclasses".to_owned(),
            json!({"provisioner": "p"}),
            json!(["x", "p", "Delete", "Immediate", false, "0s"]),
        ),
        (
            "/apis/storage.k8s.io/v1/csidrivers".to_owned(),
            spec(json!({})),
            json!(["x", true, false, false, "<unset>", false, "Persistent", "0s"]),
        ),
        ("/apis/storage.k8s.io/v1/csinodes".to_owned(), spec(json!({"drivers": []})), json!(["x", 0, "0s"])),
        (
            "/apis/scheduling.k8s.io/v1/priorityclasses".to_owned(),
            json!({"value": 7}),
            json!(["x", 7, false, "0s", "PreemptLowerPriority"]),
        ),
        ("/apis/node.k8s.io/v1/runtimeclasses".to_owned(), json!({"handler": "h"}), json!(["x", "h", "0s"])),
        (
            "/apis/networking.k8s.io/v1/ingressclasses".to_owned(),
            spec(json!({"controller": "a/b"})),
            json!(["x", "a/b", "<none>", "0s"]),
        ),
        (
            "/api/v1/nodes".to_owned(),
            json!({}),
            json!([
                "x",
                "Unknown",
                "<none>",
                "0s",
                "",
                "<none>",
                "<none>",
                "<unknown>",
                "<unknown>",
                "<unknown>"
            ]),
        ),
        (
            "/api/v1/persistentvolumes".to_owned(),
            spec(
                json!({"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/"}}),
            ),
            json!(["x", "1Gi", "RWO", "Retain", "Pending", "", "", "<unset>", "", "0s", "Filesystem"]),
        ),
        ("/api/v1/namespaces".to_owned(), json!({}), json!(["x", "Active", "0s"])),
    ]
}

#[tokio::test]
async fn built_in_kinds_are_created_and_have_table_rows() {
    let clock = ManualClock::new("2026-01-01T00:00:00Z".parse().unwrap());
    let env = TestEnv::builder().clock(std::sync::Arc::new(clock)).start().await.unwrap();
    for (collection, mut body, cells) in samples() {
        body["metadata"] = json!({"name": "x"});
        let (code, stored) = call(&env, Method::POST, &collection, body).await;
        assert_eq!(code, 201, "{collection}: {stored}");
        let path = format!("{collection}/x");
        let (code, table) = send(&env, Method::GET, &path, &[("accept", TABLE)], "").await;
        assert_eq!(code, 200, "{collection}: {table}");
        assert_eq!(table["rows"][0]["cells"], cells, "{collection}");
        let head = table["columnDefinitions"].as_array().unwrap();
        assert_eq!(head.len(), cells.as_array().unwrap().len(), "{collection}");
        let (code, again) = call(&env, Method::PUT, &path, stored.clone()).await;
        assert_eq!(code, 200, "{collection}: {again}");
        assert_eq!(stored, again, "{collection}: an update that changes nothing");
    }
}

#[tokio::test]
async fn job_selector_is_generated_without_a_manager() {
    let env = TestEnv::builder().start().await.unwrap();
    let path = "/apis/batch/v1/namespaces/default/jobs";
    let job = json!({"metadata": {"name": "j"}, "spec": {"template": template("Never")}});
    let (code, job) = call(&env, Method::POST, path, job).await;
    assert_eq!(code, 201, "{job}");
    let uid = &job["metadata"]["uid"];
    assert_eq!(job["spec"]["selector"], json!({"matchLabels": {"batch.kubernetes.io/controller-uid": uid}}));
    assert_eq!(&job["spec"]["template"]["metadata"]["labels"]["controller-uid"], uid);
    let owned = &job["metadata"]["managedFields"][0]["fieldsV1"]["f:spec"];
    assert!(owned["f:template"].is_object() && owned.get("f:selector").is_none(), "{owned}");
    // Without labels of its own, an object gets all labels of the template.
    for (name, own) in [("k", Value::Null), ("l", json!({"a": "b"}))] {
        let mut pods = template("Never");
        pods["metadata"] = json!({"labels": {"a": "b"}});
        let job = json!({"metadata": {"name": name, "labels": own}, "spec": {"template": pods}});
        let (_, job) = call(&env, Method::POST, path, job).await;
        let expected = if own.is_null() { &job["spec"]["template"]["metadata"]["labels"] } else { &own };
        assert_eq!(&job["metadata"]["labels"], expected);
    }
}

#[tokio::test]
async fn autoscalers_are_served_in_both_versions() {
    let env = TestEnv::builder().start().await.unwrap();
    let path =
        |version: &str| format!("/apis/autoscaling/{version}/namespaces/default/horizontalpodautoscalers");
    let spec = json!({"maxReplicas": 3, "targetCPUUtilizationPercentage": 50,
                      "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}});
    let body = json!({"metadata": {"name": "a"}, "spec": spec});
    assert_eq!(call(&env, Method::POST, &path("v1"), body).await.0, 201);
    let (_, two) = call(&env, Method::GET, &format!("{}/a", path("v2")), Value::Null).await;
    assert_eq!(two["spec"]["metrics"][0]["resource"]["target"]["averageUtilization"], 50);
    let (_, one) = call(&env, Method::GET, &format!("{}/a", path("v1")), Value::Null).await;
    assert_eq!(one["spec"]["targetCPUUtilizationPercentage"], 50);
    let current = json!({"type": "Resource", "resource": {"name": "cpu",
        "current": {"averageUtilization": 5, "averageValue": "1"}}});
    let condition = json!({"type": "AbleToScale", "status": "True"});
    let status =
        json!({"status": {"desiredReplicas": 1, "currentMetrics": [current], "conditions": [condition]}});
    let (code, two) = patch(&env, &format!("{}/a/status", path("v2")), "merge-patch+json", status).await;
    assert_eq!(code, 200, "{two}");
    let (_, one) = call(&env, Method::GET, &format!("{}/a", path("v1")), Value::Null).await;
    assert_eq!(
        one["metadata"]["annotations"]["autoscaling.alpha.kubernetes.io/current-metrics"],
        r#"[{"type":"Resource","resource":{"name":"cpu","currentAverageUtilization":5,"currentAverageValue":"1"}}]"#
    );
    let bare = json!({"metadata": {"annotations": null}, "spec": {"minReplicas": 2}});
    let (code, one) = patch(&env, &format!("{}/a", path("v1")), "merge-patch+json", bare).await;
    assert_eq!((code, &one["spec"]["minReplicas"]), (200, &json!(2)), "{one}");
    let (_, kept) = call(&env, Method::GET, &format!("{}/a", path("v2")), Value::Null).await;
    assert_eq!((&kept["status"], &kept["spec"]["metrics"]), (&two["status"], &two["spec"]["metrics"]));
    // `v1` has no field for the utilization of pods, and no annotation.
    let pods = json!({"type": "Pods", "pods": {"metric": {"name": "m"},
        "current": {"averageValue": "3", "averageUtilization": 7}}});
    let status = json!({"status": {"currentMetrics": [pods]}});
    let (code, two) = patch(&env, &format!("{}/a/status", path("v2")), "merge-patch+json", status).await;
    assert_eq!(code, 200, "{two}");
    let (code, one) = patch(&env, &format!("{}/a", path("v1")), "merge-patch+json", json!({})).await;
    assert_eq!((code, &one["metadata"]["resourceVersion"]), (200, &two["metadata"]["resourceVersion"]));
    let (_, kept) = call(&env, Method::GET, &format!("{}/a", path("v2")), Value::Null).await;
    assert_eq!(kept["status"], two["status"]);
    let none = json!({"metadata": {"name": "b"}, "spec": {"maxReplicas": 0, "scaleTargetRef": {"kind": "D", "name": "d"}}});
    assert_eq!(call(&env, Method::POST, &path("v1"), none).await.0, 422);
}

#[tokio::test]
async fn pod_gets_priority_and_default_tolerations() {
    let env = TestEnv::builder().start().await.unwrap();
    let path = format!("{CORE}/pods");
    let pod = |name: &str, class: Value| {
        let mut spec = template("Always")["spec"].clone();
        spec["priorityClassName"] = class;
        json!({"metadata": {"name": name}, "spec": spec})
    };
    let (_, plain) = call(&env, Method::POST, &path, pod("a", Value::Null)).await;
    assert_eq!(
        (&plain["spec"]["priority"], plain["spec"]["tolerations"].as_array().unwrap().len()),
        (&json!(0), 2)
    );
    let (code, status) = call(&env, Method::POST, &path, pod("b", json!("high"))).await;
    assert_eq!(
        (code, &status["message"]),
        (403, &json!("pods \"b\" is forbidden: no PriorityClass with name high was found"))
    );
    let class = json!({"metadata": {"name": "high"}, "value": 9, "preemptionPolicy": "Never"});
    call(&env, Method::POST, "/apis/scheduling.k8s.io/v1/priorityclasses", class).await;
    let (_, high) = call(&env, Method::POST, &path, pod("b", json!("high"))).await;
    assert_eq!((&high["spec"]["priority"], &high["spec"]["preemptionPolicy"]), (&json!(9), &json!("Never")));
}

#[tokio::test]
async fn deployment_status_update_changes_annotations_but_not_labels() {
    let env = TestEnv::builder().start().await.unwrap();
    let path = "/apis/apps/v1/namespaces/default/deployments";
    let body = json!({"metadata": {"name": "d"}, "spec": workload(&[])});
    let (_, mut deployment) = call(&env, Method::POST, path, body).await;
    deployment["metadata"]["annotations"] = json!({"a": "1"});
    deployment["metadata"]["labels"] = json!({"l": "1"});
    deployment["spec"]["replicas"] = json!(7);
    deployment["status"]["replicas"] = json!(2);
    let (code, stored) = call(&env, Method::PUT, &format!("{path}/d/status"), deployment).await;
    assert_eq!(code, 200, "{stored}");
    assert_eq!(stored["metadata"]["annotations"], json!({"a": "1"}));
    assert!(stored["metadata"].get("labels").is_none());
    assert_eq!((&stored["spec"]["replicas"], &stored["status"]["replicas"]), (&json!(1), &json!(2)));
}

#[tokio::test]
async fn pod_is_bound_once_and_evicted_when_budgets_allow() {
    let env = TestEnv::builder().start().await.unwrap();
    let path = format!("{CORE}/pods");
    let mut pod =
        json!({"metadata": {"name": "p", "labels": {"app": "a"}}, "spec": template("Always")["spec"]});
    call(&env, Method::POST, &path, pod.clone()).await;
    let binding = json!({"metadata": {"name": "p"}, "target": {"kind": "Node", "name": "n"}});
    let bind = format!("{path}/p/binding");
    assert_eq!(call(&env, Method::POST, &bind, binding.clone()).await.0, 201);
    let (_, bound) = call(&env, Method::GET, &format!("{path}/p"), Value::Null).await;
    assert_eq!(bound["spec"]["nodeName"], "n");
    assert_eq!(bound["status"]["conditions"][0]["type"], "PodScheduled");
    let (code, status) = call(&env, Method::POST, &bind, binding).await;
    assert_eq!(code, 409, "{status}");
    let running = json!({"status": {"phase": "Running"}});
    crate::support::patch(&env, &format!("{path}/p/status"), "merge-patch+json", running).await;
    let budget = json!({"metadata": {"name": "b"}, "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "a"}}}});
    let budgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
    call(&env, Method::POST, budgets, budget).await;
    let eviction = json!({"metadata": {"name": "p"}, "deleteOptions": {"gracePeriodSeconds": 0}});
    let evict = format!("{path}/p/eviction");
    let (code, status) = call(&env, Method::POST, &evict, eviction.clone()).await;
    assert_eq!((code, &status["reason"]), (429, &json!("TooManyRequests")));
    let allowed = json!({"status": {"disruptionsAllowed": 1, "observedGeneration": 1}});
    crate::support::patch(&env, &format!("{budgets}/b/status"), "merge-patch+json", allowed).await;
    assert_eq!(call(&env, Method::POST, &evict, eviction).await.0, 201);
    assert_eq!(call(&env, Method::GET, &format!("{path}/p"), Value::Null).await.0, 404);
    pod["metadata"]["name"] = json!("q");
    call(&env, Method::POST, &path, pod).await;
    // A pod without a node has no log (`LogLocation` of pkg/registry/core/pod/strategy.go).
    assert_eq!(call(&env, Method::GET, &format!("{path}/q/log"), Value::Null).await.0, 204);
    let (code, status) = call(&env, Method::GET, &format!("{path}/q/exec?command=ls"), Value::Null).await;
    assert_eq!((code, &status["message"]), (400, &json!("pod q does not have a host assigned")));
}

#[tokio::test]
async fn service_account_token_identifies_its_user() {
    let env = TestEnv::builder().start().await.unwrap();
    let accounts = format!("{CORE}/serviceaccounts");
    call(&env, Method::POST, &accounts, json!({"metadata": {"name": "robot"}})).await;
    let request = json!({"spec": {"expirationSeconds": 600}});
    let (code, answer) = call(&env, Method::POST, &format!("{accounts}/robot/token"), request).await;
    assert_eq!(code, 201, "{answer}");
    let token = answer["status"]["token"].as_str().unwrap();
    assert_eq!(token.split('.').count(), 3);
    let review = json!({"spec": {"token": token}});
    let reviews = "/apis/authentication.k8s.io/v1/tokenreviews";
    let (_, known) = call(&env, Method::POST, reviews, review).await;
    assert_eq!(known["status"]["user"]["username"], "system:serviceaccount:default:robot");
    let (_, unknown) =
        call(&env, Method::POST, reviews, json!({"spec": {"token": format!("{token}x")}})).await;
    assert!(unknown["status"].get("authenticated").is_none());
    let bearer = format!("Bearer {token}");
    let path = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
    let headers = [("authorization", bearer.as_str()), ("content-type", "application/json")];
    let (_, own) = send(&env, Method::POST, path, &headers, "{}").await;
    assert_eq!(own["status"]["userInfo"]["username"], "system:serviceaccount:default:robot");
    let headers = [("impersonate-user", "jane"), ("content-type", "application/json")];
    let (_, other) = send(&env, Method::POST, path, &headers, "{}").await;
    assert_eq!(other["status"]["userInfo"]["username"], "jane");
    call(&env, Method::DELETE, &format!("{accounts}/robot"), Value::Null).await;
    let (_, gone) = call(&env, Method::POST, reviews, json!({"spec": {"token": token}})).await;
    assert!(gone["status"].get("authenticated").is_none());
}

#[tokio::test]
async fn discovery_lists_subresources_and_reviews() {
    let env = TestEnv::builder().start().await.unwrap();
    let (_, core) = call(&env, Method::GET, "/api/v1", Value::Null).await;
    let find = |name: &str| core["resources"].as_array().unwrap().iter().find(|r| r["name"] == name).cloned();
    let eviction = find("pods/eviction").unwrap();
    assert_eq!((&eviction["group"], &eviction["kind"]), (&json!("policy"), &json!("Eviction")));
    assert_eq!(find("serviceaccounts/token").unwrap()["kind"], "TokenRequest");
    assert!(!find("namespaces").unwrap()["verbs"].as_array().unwrap().contains(&json!("deletecollection")));
    assert_eq!(call(&env, Method::DELETE, "/api/v1/namespaces", Value::Null).await.0, 405);
    let (_, reviews) = call(&env, Method::GET, "/apis/authorization.k8s.io/v1", Value::Null).await;
    assert_eq!(reviews["resources"][0]["verbs"], json!(["create"]));
    let path = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
    assert_eq!(call(&env, Method::GET, path, Value::Null).await.0, 405);
}

#[tokio::test]
async fn system_namespaces_cannot_be_deleted() {
    let env = TestEnv::builder().controllers(true).start().await.unwrap();
    for name in ["default", "kube-system", "kube-public"] {
        let (code, status) =
            call(&env, Method::DELETE, &format!("/api/v1/namespaces/{name}"), Value::Null).await;
        let text = format!("namespaces {name:?} is forbidden: this namespace may not be deleted");
        assert_eq!((code, &status["message"]), (403, &json!(text)));
    }
}

#[tokio::test]
async fn scale_is_shown_as_table_and_as_metadata() {
    let env = TestEnv::builder().start().await.unwrap();
    let path = "/apis/apps/v1/namespaces/default/deployments";
    let spec =
        json!({"replicas": 2, "selector": {"matchLabels": {"app": "a"}}, "template": template("Always")});
    let body = json!({"metadata": {"name": "x"}, "spec": spec}).to_string();
    send(&env, Method::POST, path, &[("content-type", "application/json")], body).await;
    let path = format!("{path}/x/scale");
    let (_, table) = send(&env, Method::GET, &path, &[("accept", TABLE)], "").await;
    assert_eq!(
        table["rows"][0]["cells"].as_array().unwrap()[..3],
        [json!("x"), json!(2), json!(0)],
        "{table}"
    );
    let names: Vec<&Value> =
        table["columnDefinitions"].as_array().unwrap().iter().map(|c| &c["name"]).collect();
    assert_eq!(names, ["Name", "Desired", "Available", "Age"]);
    let desired = "replicas is the desired number of instances for the scaled object.";
    assert_eq!(table["columnDefinitions"][1]["description"], desired);
    let accept = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io";
    let (_, metadata) = send(&env, Method::GET, &path, &[("accept", accept)], "").await;
    assert_eq!(
        (&metadata["kind"], &metadata["metadata"]["name"]),
        (&json!("PartialObjectMetadata"), &json!("x"))
    );
    env.stop().await;
}

#[tokio::test]
async fn empty_policies_of_an_autoscaler_are_refused() {
    let env = TestEnv::builder().start().await.unwrap();
    let path = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers";
    let scaler = |behavior: Value| {
        let target = json!({"kind": "Deployment", "apiVersion": "apps/v1", "name": "x"});
        json!({"metadata": {"name": "a"}, "spec": {"maxReplicas": 2, "scaleTargetRef": target, "behavior": behavior}})
    };
    for direction in ["scaleUp", "scaleDown"] {
        let (code, refused) =
            call(&env, Method::POST, path, scaler(json!({direction: {"policies": []}}))).await;
        let text = format!(
            "HorizontalPodAutoscaler.autoscaling \"a\" is invalid: spec.behavior.{direction}.policies: Required value: \
             must specify at least one Policy"
        );
        assert_eq!((code, &refused["message"]), (422, &json!(text)));
    }
    let (code, made) = call(&env, Method::POST, path, scaler(json!({"scaleUp": {"policies": null}}))).await;
    assert_eq!(
        (code, made["spec"]["behavior"]["scaleUp"]["policies"].as_array().map(Vec::len)),
        (201, Some(2))
    );
}
