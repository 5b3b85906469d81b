//! Behaviour that the recorded conversations do not show.

use http::Request;
use http_body_util::BodyExt;
use kube::api::PostParams;
use kube::client::Body;
use kubesmith_testenv::TestEnv;
use serde_json::{Value, json};

use crate::support::{widget, widgets};

/// Sends a request, and returns the status code and the body.
pub(crate) async fn send(
    env: &TestEnv,
    method: &str,
    path: &str,
    kind: &str,
    body: impl Into<Vec<u8>>,
) -> (u16, Value) {
    let request = Request::builder().method(method).uri(path).header("content-type", kind);
    let request = request.body(Body::from(body.into())).unwrap();
    let response = env.client().send(request).await.unwrap();
    let status = response.status().as_u16();
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    (status, serde_json::from_slice(&bytes).unwrap_or_default())
}

pub(crate) async fn send_json(env: &TestEnv, method: &str, path: &str, body: Value) -> (u16, Value) {
    let body = if body.is_null() { String::new() } else { body.to_string() };
    send(env, method, path, "application/json", body).await
}

/// The events of the pods since a version: type, grace period and generation.
async fn pod_events(env: &TestEnv, version: &str) -> Vec<(String, Value, Value)> {
    let path = format!("/api/v1/namespaces/default/pods?watch=1&timeoutSeconds=1&resourceVersion={version}");
    let request = Request::get(path).body(Body::empty()).unwrap();
    tokio::time::pause();
    let response = env.client().send(request).await.unwrap();
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    tokio::time::resume();
    let lines = bytes.split(|b| *b == b'\n').filter(|line| !line.is_empty());
    let event = |line: &[u8]| {
        let event: Value = serde_json::from_slice(line).unwrap();
        let metadata = &event["object"]["metadata"];
        let deleted = metadata["deletionTimestamp"].is_string();
        let grace = if deleted { metadata["deletionGracePeriodSeconds"].clone() } else { Value::Null };
        (event["type"].as_str().unwrap().to_owned(), grace, metadata["generation"].clone())
    };
    lines.map(event).collect()
}

/// A pod without grace period is marked as terminating first, so that informers see the mark.
#[tokio::test]
async fn watches_see_the_mark_of_a_pod_that_is_removed_at_once() {
    for (node, options, expected) in [
        ("", Value::Null, vec![("MODIFIED", 0, 2), ("DELETED", 0, 2)]),
        ("node-1", json!({"gracePeriodSeconds": 0}), vec![("MODIFIED", 0, 2), ("DELETED", 0, 2)]),
    ] {
        let env = TestEnv::builder().start().await.unwrap();
        let pods = "/api/v1/namespaces/default/pods";
        let spec = json!({"nodeName": node, "containers": [{"name": "c", "image": "i"}]});
        let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": spec});
        let (_, pod) = send_json(&env, "POST", pods, pod).await;
        let version = pod["metadata"]["resourceVersion"].as_str().unwrap();
        send_json(&env, "DELETE", &format!("{pods}/p"), options).await;
        let expected: Vec<_> = expected
            .into_iter()
            .map(|(kind, grace, generation)| (kind.to_owned(), json!(grace), json!(generation)))
            .collect();
        assert_eq!(pod_events(&env, version).await, expected, "{node}");
    }
}

#[tokio::test]
async fn pod_is_deleted_gracefully_when_bound_to_a_node() {
    let env = TestEnv::builder().start().await.unwrap();
    let pods = "/api/v1/namespaces/default/pods";
    for (name, node) in [("free", ""), ("bound", "node-1")] {
        let spec = json!({"nodeName": node, "containers": [{"name": "c", "image": "i"}]});
        let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec});
        assert_eq!(send_json(&env, "POST", pods, pod).await.0, 201);
    }
    let (_, free) = send_json(&env, "DELETE", &format!("{pods}/free"), Value::Null).await;
    assert_eq!(free["kind"], "Pod");
    assert_eq!(send_json(&env, "GET", &format!("{pods}/free"), Value::Null).await.0, 404);
    let (_, bound) = send_json(&env, "DELETE", &format!("{pods}/bound"), Value::Null).await;
    assert_eq!(bound["metadata"]["deletionGracePeriodSeconds"], 30);
    // Writes of its kubelet in the meantime do not remove the pod.
    let (code, mut pod) = send_json(&env, "GET", &format!("{pods}/bound"), Value::Null).await;
    pod["status"]["phase"] = "Failed".into();
    let (updated, _) = send_json(&env, "PUT", &format!("{pods}/bound/status"), pod).await;
    assert_eq!((code, updated), (200, 200));
    assert_eq!(send_json(&env, "GET", &format!("{pods}/bound"), Value::Null).await.0, 200);
    send_json(&env, "DELETE", &format!("{pods}/bound"), json!({"gracePeriodSeconds": 0})).await;
    assert_eq!(send_json(&env, "GET", &format!("{pods}/bound"), Value::Null).await.0, 404);
}

#[tokio::test]
async fn access_review_allows_everything_without_rbac() {
    let env = TestEnv::builder().start().await.unwrap();
    let path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
    let review = json!({"spec": {"resourceAttributes": {"verb": "get", "resource": "pods"}}});
    let (status, body) = send_json(&env, "POST", path, review).await;
    assert_eq!((status, &body["status"]["allowed"]), (201, &json!(true)));
    let kind = "application/vnd.kubernetes.protobuf";
    let encoded = b"k8s\0\x0a\x32\x0a\x17authorization.k8s.io/v1\x12\x17SelfSubjectAccessReview\
                    \x12\x09\x12\x07\x0a\x05\x12\x03get";
    let (status, body) = send(&env, "POST", path, kind, &encoded[..]).await;
    assert_eq!((status, &body["status"]["allowed"]), (201, &json!(true)));
    let (_, service) =
        send_json(&env, "GET", "/api/v1/namespaces/default/services/kubernetes", Value::Null).await;
    assert_eq!(service["spec"]["clusterIP"], "10.0.0.1");
}

#[tokio::test]
async fn foreground_deletion_waits_for_a_garbage_collector() {
    let env = TestEnv::builder().start().await.unwrap();
    let maps = "/api/v1/namespaces/default/configmaps";
    let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m"}});
    send_json(&env, "POST", maps, map).await;
    let path = format!("{maps}/m?propagationPolicy=Foreground");
    let (_, held) = send_json(&env, "DELETE", &path, Value::Null).await;
    assert_eq!(held["metadata"]["finalizers"], json!(["foregroundDeletion"]));
    assert_eq!(send_json(&env, "GET", &format!("{maps}/m"), Value::Null).await.0, 200);
    let (status, body) =
        send_json(&env, "DELETE", &format!("{maps}/m?propagationPolicy=Maybe"), Value::Null).await;
    assert_eq!((status, &body["details"]["kind"]), (422, &json!("DeleteOptions")));
}

pub(crate) const POD: &str = "/api/v1/namespaces/default/pods/p";

/// Starts a server with a pod.
pub(crate) async fn with_pod() -> TestEnv {
    let env = TestEnv::builder().start().await.unwrap();
    let pod = json!({"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}});
    assert_eq!(send_json(&env, "POST", "/api/v1/namespaces/default/pods", pod).await.0, 201);
    env
}

#[tokio::test]
async fn binding_is_checked_before_its_pod() {
    let env = with_pod().await;
    let path = format!("{POD}/binding");
    for (binding, code, message) in [
        (
            json!({"metadata": {"name": "q"}, "target": {"name": "n"}}),
            400,
            "name in URL does not match name in Binding object",
        ),
        (json!({"metadata": {"name": "p"}, "target": {}}), 500, "target.name: Required value"),
        (
            json!({"metadata": {"name": "p"}, "target": {"kind": "Pod", "name": "n"}}),
            500,
            "target.kind: Unsupported value: \"Pod\": supported values: \"Node\", \"<empty>\"",
        ),
        (
            json!({"kind": "Pod", "metadata": {"name": "p"}, "target": {"name": "n"}}),
            400,
            "Pod in version \"v1\" cannot be handled as a Binding: converting (v1.Pod) to (core.Binding): unknown conversion",
        ),
    ] {
        let (status, body) = send_json(&env, "POST", &path, binding).await;
        assert_eq!((status, body["message"].as_str()), (code, Some(message)));
    }
    let (status, body) = send_json(
        &env,
        "POST",
        &path,
        json!({"metadata": {"name": "p", "uid": "x"}, "target": {"name": "n"}}),
    )
    .await;
    assert_eq!(status, 409);
    assert!(
        body["message"].as_str().unwrap().contains("Precondition failed: UID in precondition: x"),
        "{body}"
    );
    let bound = json!({"metadata": {"name": "p", "annotations": {"a": "b"}}, "target": {"name": "n"}});
    assert_eq!(send_json(&env, "POST", &path, bound).await.0, 201);
    let (_, pod) = send_json(&env, "GET", POD, Value::Null).await;
    assert_eq!((&pod["spec"]["nodeName"], &pod["metadata"]["annotations"]["a"]), (&json!("n"), &json!("b")));
    env.stop().await;
}

#[tokio::test]
async fn actions_are_decoded_as_their_kind() {
    let env = with_pod().await;
    let evict = |eviction: Value| {
        send_json(&env, "POST", "/api/v1/namespaces/default/pods/p/eviction?fieldValidation=Strict", eviction)
    };
    let (status, body) =
        evict(json!({"apiVersion": "v1", "kind": "Eviction", "metadata": {"name": "p"}})).await;
    let text = "Eviction in version \"v1\" cannot be handled as a Eviction: no kind \"Eviction\" is registered for version \
                \"v1\" in scheme \"pkg/api/legacyscheme/scheme.go:30\"";
    assert_eq!((status, body["message"].as_str()), (400, Some(text)));
    let (status, body) = evict(json!({"metadata": {"name": "p"}, "x": 1})).await;
    let text = "Eviction in version \"v1\" cannot be handled as a Eviction: strict decoding error: unknown field \"x\"";
    assert_eq!((status, body["message"].as_str()), (400, Some(text)));
    assert_eq!(evict(json!({"apiVersion": "policy/v1beta1", "metadata": {"name": "p"}})).await.0, 201);
    let accounts = "/api/v1/namespaces/default/serviceaccounts";
    assert_eq!(send_json(&env, "POST", accounts, json!({"metadata": {"name": "a"}})).await.0, 201);
    let token = "/api/v1/namespaces/default/serviceaccounts/a/token";
    let (status, body) = send_json(&env, "POST", token, json!({"metadata": {"uid": "x"}, "spec": {}})).await;
    assert_eq!((status, &body["reason"]), (409, &json!("Conflict")), "{body}");
    env.stop().await;
}

#[tokio::test]
async fn address_of_pod_is_the_first_of_its_addresses() {
    let env = with_pod().await;
    let patch = async |status: Value| {
        let kind = "application/merge-patch+json";
        let (_, pod) =
            send(&env, "PATCH", &format!("{POD}/status"), kind, json!({"status": status}).to_string()).await;
        (pod["status"]["podIP"].clone(), pod["status"]["podIPs"].clone())
    };
    let (one, two) = (json!("10.1.1.1"), json!("10.1.1.2"));
    assert_eq!(patch(json!({"podIPs": [{"ip": one}]})).await, (one.clone(), json!([{"ip": one}])));
    assert_eq!(patch(json!({"podIP": two})).await, (two.clone(), json!([{"ip": two}])));
    env.stop().await;
}

#[tokio::test]
async fn later_defaults_are_read_from_old_objects() {
    let env = TestEnv::builder().start().await.unwrap();
    let api = widgets(&env).await;
    api.create(&PostParams::default(), &widget("w", json!({"spec": {"size": 1}}))).await.unwrap();
    assert_eq!(api.get("w").await.unwrap().data["spec"], json!({"size": 1}));
    for colour in ["red", "blue"] {
        let schema = json!({"type": "object", "properties": {
            "colour": {"type": "string", "default": colour}, "size": {"type": "integer", "default": 9},
        }});
        let place = "/spec/versions/0/schema/openAPIV3Schema/properties/spec";
        let patch = json!([{"op": "replace", "path": place, "value": schema}]).to_string();
        let crd = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.a.example";
        let (status, _) = send(&env, "PATCH", crd, "application/json-patch+json", patch).await;
        assert_eq!(status, 200);
        for _ in 0..2 {
            assert_eq!(api.get("w").await.unwrap().data["spec"], json!({"colour": colour, "size": 1}));
        }
        let complete = widget(colour, json!({"spec": {"colour": "green", "size": 2}}));
        api.create(&PostParams::default(), &complete).await.unwrap();
    }
    // Complete, and found complete twice, also with the rules of another day.
    for _ in 0..2 {
        assert_eq!(api.get("red").await.unwrap().data["spec"], json!({"colour": "green", "size": 2}));
    }
}

/// Admission plugins that are on by default on every cluster.
#[tokio::test]
async fn admission_plugins_change_pods_namespaces_claims_and_nodes() {
    const SPACE: &str = "/api/v1/namespaces/default";
    let env = TestEnv::builder().start().await.unwrap();
    let range = json!({"metadata": {"name": "r"}, "spec": {"limits": [
        {"type": "Container", "default": {"cpu": "1"}, "defaultRequest": {"cpu": "500m"}, "max": {"cpu": "2"}},
        {"type": "PersistentVolumeClaim", "max": {"storage": "1Gi"}}]}});
    assert_eq!(send_json(&env, "POST", &format!("{SPACE}/limitranges"), range).await.0, 201);
    let pods = format!("{SPACE}/pods");
    let pod = |name: &str, resources: Value| {
        let container = json!({"name": "c", "image": "i", "resources": resources});
        json!({"metadata": {"name": name}, "spec": {"containers": [container]}})
    };
    let (_, filled) = send_json(&env, "POST", &pods, pod("a", json!({}))).await;
    let resources = &filled["spec"]["containers"][0]["resources"];
    assert_eq!(*resources, json!({"limits": {"cpu": "1"}, "requests": {"cpu": "500m"}}));
    let text = "LimitRanger plugin set: cpu request for container c; cpu limit for container c";
    assert_eq!(filled["metadata"]["annotations"]["kubernetes.io/limit-ranger"], text);
    let (status, refused) = send_json(&env, "POST", &pods, pod("b", json!({"limits": {"cpu": "3"}}))).await;
    let text = "pods \"b\" is forbidden: maximum cpu usage per Container is 2, but limit is 3";
    assert_eq!((status, refused["message"].as_str()), (403, Some(text)));

    let claims = format!("{SPACE}/persistentvolumeclaims");
    let claim = |storage: &str| {
        json!({"metadata": {"name": "c"},
               "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": storage}}}})
    };
    let (status, refused) = send_json(&env, "POST", &claims, claim("2Gi")).await;
    let text = "persistentvolumeclaims \"c\" is forbidden: maximum storage usage per PersistentVolumeClaim is 1Gi, but request is 2Gi";
    assert_eq!((status, refused["message"].as_str()), (403, Some(text)));
    let (_, stored) = send_json(&env, "POST", &claims, claim("1Gi")).await;
    assert_eq!(stored["metadata"]["finalizers"], json!(["kubernetes.io/pvc-protection"]));
    let (_, node) = send_json(&env, "POST", "/api/v1/nodes", json!({"metadata": {"name": "n"}})).await;
    assert_eq!(
        node["spec"]["taints"],
        json!([{"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}])
    );
}

#[tokio::test]
async fn service_releases_addresses_and_ports_when_its_type_changes() {
    const SERVICES: &str = "/api/v1/namespaces/default/services";
    const MERGE: &str = "application/merge-patch+json";
    let env = TestEnv::builder().start().await.unwrap();
    let service = json!({"metadata": {"name": "s"}, "spec": {"type": "NodePort", "ports": [{"port": 80}]}});
    let (_, made) = send_json(&env, "POST", SERVICES, service).await;
    let number = made["spec"]["ports"][0]["nodePort"].clone();
    let other = json!({"metadata": {"name": "o"}, "spec": {"type": "NodePort", "ports": [{"port": 80, "nodePort": number.as_u64().unwrap() + 1}]}});
    assert_eq!(send_json(&env, "POST", SERVICES, other).await.0, 201);
    let third = json!({"metadata": {"name": "t"}, "spec": {"type": "NodePort", "ports": [{"port": 80}]}});
    let (_, third) = send_json(&env, "POST", SERVICES, third).await;
    assert_eq!(third["spec"]["ports"][0]["nodePort"], number.as_u64().unwrap() + 2, "no port is given twice");
    let patch = r#"{"spec": {"type": "ExternalName", "externalName": "a.b"}}"#;
    let (status, external) = send(&env, "PATCH", &format!("{SERVICES}/s"), MERGE, patch).await;
    let spec = json!({"type": "ExternalName", "externalName": "a.b", "sessionAffinity": "None",
                      "ports": [{"port": 80, "protocol": "TCP", "targetPort": 80}]});
    assert_eq!((status, &external["spec"]), (200, &spec));
}

/// The strategies of kinds check metadata in different ways. The responses are those of kube-apiserver
/// 1.36.2.
#[tokio::test]
async fn updates_check_metadata_as_often_as_the_strategy_of_the_kind() {
    let env = TestEnv::builder().start().await.unwrap();
    let core = "/api/v1/namespaces/default";
    let spec = json!({"holderIdentity": "me"});
    let roles = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
    let address = json!({"parentRef": {"resource": "services", "name": "a", "namespace": "b"}});
    let lease = json!({"metadata": {"name": "x", "finalizers": ["plain"]}, "spec": spec});
    let made = [
        (format!("{core}/configmaps"), json!({"metadata": {"name": "x"}})),
        (format!("{core}/services"), json!({"metadata": {"name": "x"}, "spec": {"ports": [{"port": 1}]}})),
        (roles.to_owned(), json!({"metadata": {"name": "x"}})),
        ("/apis/coordination.k8s.io/v1/namespaces/default/leases".to_owned(), lease),
        (
            "/apis/networking.k8s.io/v1/ipaddresses".to_owned(),
            json!({"metadata": {"name": "10.0.9.9"}, "spec": address}),
        ),
    ];
    for (path, object) in &made {
        let (status, body) = send_json(&env, "POST", path, object.clone()).await;
        assert_eq!(status, 201, "{path}: {body}");
    }
    let causes = async |path: &str, metadata: Value| {
        let body = json!({"metadata": metadata}).to_string();
        let (status, body) = send(&env, "PATCH", path, "application/merge-patch+json", body).await;
        let count = body["details"]["causes"].as_array().map_or(0, Vec::len);
        (status, count)
    };
    let named = async |path: &str, metadata: Value| causes(&format!("{path}/x"), metadata).await;
    let prefix = || json!({"generateName": "G_/"});
    assert_eq!(named(&made[0].0, prefix()).await, (422, 2));
    assert_eq!(named(&made[1].0, prefix()).await, (422, 1));
    assert_eq!(named(roles, prefix()).await, (422, 2));
    let suffixed = json!({"generateName": "g-"});
    assert_eq!(causes(&format!("{}/10.0.9.9", made[4].0), suffixed.clone()).await, (422, 1));
    assert_eq!(named(&made[0].0, suffixed).await, (200, 0));
    let finalizer = || json!({"finalizers": ["plain"]});
    assert_eq!(named(&made[0].0, finalizer()).await, (422, 2));
    assert_eq!(named(&made[1].0, finalizer()).await, (422, 1));
    assert_eq!(named(&made[3].0, finalizer()).await, (200, 0), "only pkg/apis/core refuses it");
}

#[tokio::test]
async fn taken_name_of_an_object_with_generate_name_asks_for_a_retry() {
    let env = TestEnv::builder().start().await.unwrap();
    let maps = "/api/v1/namespaces/default/configmaps";
    let map = json!({"metadata": {"name": "m", "generateName": "m-"}});
    assert_eq!(send_json(&env, "POST", maps, map.clone()).await.0, 201);
    let (status, body) = send_json(&env, "POST", maps, map).await;
    let text =
        "configmaps \"m\" already exists, the server was not able to generate a unique name for the object";
    assert_eq!(
        (status, &body["message"], &body["details"]["retryAfterSeconds"]),
        (409, &json!(text), &json!(1))
    );
}

#[tokio::test]
async fn references_without_a_name_are_refused() {
    let env = with_pod().await;
    let core = "/api/v1/namespaces/default";
    let account = json!({"metadata": {"name": "a"}});
    assert_eq!(send_json(&env, "POST", &format!("{core}/serviceaccounts"), account).await.0, 201);
    let target = json!({"metadata": {"name": ""}, "target": {"name": "n"}});
    let bound = json!({"spec": {"boundObjectRef": {"apiVersion": "v1", "kind": "Secret", "name": ""}}});
    for (path, body) in [("bindings", target), ("serviceaccounts/a/token", bound)] {
        let (status, body) = send_json(&env, "POST", &format!("{core}/{path}"), body).await;
        assert_eq!((status, &body["message"]), (400, &json!("Name parameter required.")), "{path}");
    }
}

#[tokio::test]
async fn certificate_request_must_be_a_signed_sequence_in_pem() {
    use base64::Engine as _;
    let env = TestEnv::builder().start().await.unwrap();
    let post = async |pem: &str| {
        let request = base64::engine::general_purpose::STANDARD.encode(pem);
        let spec = json!({"request": request, "signerName": "a.b/c", "usages": ["client auth"]});
        let body = json!({"metadata": {"name": "c"}, "spec": spec});
        let path = "/apis/certificates.k8s.io/v1/certificatesigningrequests?dryRun=All";
        send_json(&env, "POST", path, body).await.0
    };
    let pem = |body: &str| {
        format!("-----BEGIN CERTIFICATE REQUEST-----\n{body}\n-----END CERTIFICATE REQUEST-----\n")
    };
    // A sequence of two sequences and a bit string.
    assert_eq!(post(&pem("MAgwADAAAwIAAQ==")).await, 201);
    assert_eq!(post(&pem("YQ==")).await, 422);
    assert_eq!(post(&format!("  {}", pem("MAgwADAAAwIAAQ=="))).await, 422);
}

#[tokio::test]
async fn repeated_port_names_of_a_slice_are_reported_by_index() {
    let env = TestEnv::builder().start().await.unwrap();
    let ports = json!([{"name": "a", "port": 80}, {"name": "a", "port": 81}]);
    let slice = json!({"metadata": {"name": "s"}, "addressType": "IPv4", "endpoints": [], "ports": ports});
    let path = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";
    let (status, body) = send_json(&env, "POST", path, slice).await;
    assert_eq!((status, &body["details"]["causes"][0]["field"]), (422, &json!("ports[1].name")));
}

#[tokio::test]
async fn beta_form_of_aggregated_discovery_is_no_longer_served() {
    let env = TestEnv::builder().start().await.unwrap();
    for (version, expected) in [("v2", 200), ("v2beta1", 406)] {
        let accept = format!("application/json;g=apidiscovery.k8s.io;v={version};as=APIGroupDiscoveryList");
        let request = Request::get("/apis").header("accept", accept).body(Body::empty()).unwrap();
        assert_eq!(env.client().send(request).await.unwrap().status().as_u16(), expected, "{version}");
    }
}

#[tokio::test]
async fn eviction_with_repeated_owners_warns() {
    let env = with_pod().await;
    let owner = || json!({"apiVersion": "v1", "kind": "Pod", "name": "n", "uid": "u"});
    let eviction = json!({"metadata": {"name": "p", "ownerReferences": [owner(), owner()]}}).to_string();
    let request = Request::post(format!("{POD}/eviction")).header("content-type", "application/json");
    let request = request.body(Body::from(eviction.into_bytes())).unwrap();
    let response = env.client().send(request).await.unwrap();
    assert_eq!(response.status().as_u16(), 201);
    let warning = response.headers().get("warning").unwrap().to_str().unwrap();
    assert!(warning.contains("contains duplicate entries"), "{warning}");
}

/// Names as the kinds' strategies check them. The responses are those of kube-apiserver 1.36.2.
#[tokio::test]
async fn names_follow_the_rule_of_the_kind() {
    let env = TestEnv::builder().start().await.unwrap();
    let template =
        json!({"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "a", "image": "a"}]}});
    let set = json!({"selector": {"matchLabels": {"a": "b"}}, "template": template});
    let budget = json!({"minAvailable": 1, "selector": {"matchLabels": {"a": "b"}}});
    let post = async |path: &str, name: &str, spec: &Value| {
        let body = json!({"metadata": {"name": name}, "spec": spec});
        let (status, body) = send_json(&env, "POST", path, body).await;
        (status, body["details"]["causes"][0]["message"].as_str().unwrap_or_default().to_owned())
    };
    let sets = "/apis/apps/v1/namespaces/default/statefulsets";
    let dots = "Invalid value: \"a.b\": must not contain dots";
    assert_eq!(post(sets, "a.b", &set).await, (422, dots.to_owned()));
    assert_eq!(post("/apis/apps/v1/namespaces/default/replicasets", "a.b", &set).await.0, 201);
    let budgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
    assert_eq!(post(budgets, "A_b", &budget).await.0, 201);
    assert_eq!(post(budgets, "a%b", &budget).await.0, 422);
}

#[tokio::test]
async fn applied_owner_without_uid_is_invalid() {
    let env = TestEnv::builder().start().await.unwrap();
    let map =
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "ownerReferences": [{}]}});
    let path = "/api/v1/namespaces/default/configmaps/c?fieldManager=me";
    let (status, body) = send(&env, "PATCH", path, "application/apply-patch+yaml", map.to_string()).await;
    assert_eq!((status, &body["reason"]), (422, &json!("Invalid")), "{body}");
}
