//! Subresources of built-in kinds that are a part of the object.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use http::Method;
use kubesmith_testenv::{TestEnv, User};
use serde_json::{Value, json};

use crate::support::{call, patch};

const PODS: &str = "/api/v1/namespaces/default/pods";
const REQUESTS: &str = "/apis/certificates.k8s.io/v1/certificatesigningrequests";

async fn started(pod: Value) -> TestEnv {
    let env = TestEnv::builder().start().await.unwrap();
    let (code, body) = call(&env, Method::POST, PODS, pod).await;
    assert_eq!(code, 201, "{body}");
    env
}

fn web() -> Value {
    let resources = json!({"requests": {"cpu": "1", "memory": "1Gi"}});
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web"}, "spec": {
        "containers": [{"name": "web", "image": "nginx:1", "resources": resources}],
        "initContainers": [{"name": "first", "image": "first:1", "resources": resources}]}})
}

fn messages(body: &Value) -> Vec<String> {
    let causes = body["details"]["causes"].as_array().into_iter().flatten();
    causes.map(|c| format!("{}: {}", c["field"].as_str().unwrap(), c["message"].as_str().unwrap())).collect()
}

#[tokio::test]
async fn discovery_lists_the_subresources() {
    let env = TestEnv::builder().start().await.unwrap();
    let names = async |path: &str| {
        let (_, list) = call(&env, Method::GET, path, Value::Null).await;
        let resources = list["resources"].as_array().unwrap().clone();
        resources.into_iter().map(|r| (r["name"].as_str().unwrap().to_owned(), r)).collect::<Vec<_>>()
    };
    let all: Vec<_> =
        names("/api/v1").await.into_iter().chain(names("/apis/certificates.k8s.io/v1").await).collect();
    for (name, kind) in [
        ("pods/ephemeralcontainers", "Pod"),
        ("pods/resize", "Pod"),
        ("certificatesigningrequests/approval", "CertificateSigningRequest"),
    ] {
        let (_, found) = all.iter().find(|(known, _)| known == name).unwrap();
        assert_eq!(
            (&found["kind"], &found["verbs"]),
            (&json!(kind), &json!(["get", "patch", "update"])),
            "{name}"
        );
    }
    env.stop().await;
}

/// As `kubectl debug` does it.
#[tokio::test]
async fn ephemeral_containers_are_added_and_cannot_be_removed() {
    let env = started(web()).await;
    let path = format!("{PODS}/web/ephemeralcontainers");
    let add = async |container: Value| {
        let body = json!({"metadata": {"labels": {"a": "b"}}, "spec": {"ephemeralContainers": [container]}});
        patch(&env, &path, "strategic-merge-patch+json", body).await
    };
    let (code, pod) = add(json!({"name": "debug", "image": "busybox", "targetContainerName": "web"})).await;
    assert_eq!(code, 200, "{pod}");
    let spec = &pod["spec"];
    assert_eq!(spec["ephemeralContainers"][0]["terminationMessagePath"], "/dev/termination-log", "{spec}");
    assert_eq!((spec["containers"].as_array().unwrap().len(), &pod["metadata"]["labels"]), (1, &Value::Null));
    assert_eq!(add(json!({"name": "more", "image": "busybox"})).await.0, 200);
    assert_eq!(
        call(&env, Method::GET, &path, Value::Null).await.1["spec"]["ephemeralContainers"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
    let (code, body) = add(json!({"name": "debug", "image": "other"})).await;
    assert_eq!((code, messages(&body)), (422, vec![
        "spec.ephemeralContainers: Forbidden: existing ephemeral containers \"debug\" may not be changed\n".to_owned()]));
    let gone = json!([{"op": "remove", "path": "/spec/ephemeralContainers/0"}]);
    let (code, body) = patch(&env, &path, "json-patch+json", gone).await;
    assert_eq!(code, 422);
    assert!(messages(&body)[0].contains("may not be removed"), "{body}");
    let (_, body) = add(json!({"name": "web", "image": "b", "ports": [{"containerPort": 1}],
        "targetContainerName": "debug"}))
    .await;
    assert_eq!(
        messages(&body),
        [
            "spec.ephemeralContainers[0].name: Duplicate value: \"web\"",
            "spec.ephemeralContainers[0].targetContainerName: Not found: \"debug\"",
            "spec.ephemeralContainers[0].ports: Forbidden: cannot be set for an Ephemeral Container",
        ]
    );
    let mut new = web();
    new["metadata"]["name"] = json!("other");
    new["spec"]["ephemeralContainers"] = json!([{"name": "debug", "image": "b"}]);
    let (_, body) = call(&env, Method::POST, PODS, new).await;
    assert_eq!(messages(&body), ["spec.ephemeralContainers: Forbidden: cannot be set on create"]);
    env.stop().await;
}

/// A manager that applies resources through the subresource owns only these.
#[tokio::test]
async fn resize_changes_and_owns_resources() {
    let env = started(web()).await;
    let path = format!("{PODS}/web/resize");
    let config = |cpu: &str| {
        json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web", "labels": {"a": "b"}}, "spec": {
            "containers": [{"name": "web", "image": "other", "resources": {"requests": {"cpu": cpu}}}]}})
    };
    let (code, body) = patch(&env, &format!("{path}?fieldManager=me"), "apply-patch+yaml", config("2")).await;
    let causes = body["details"]["causes"].as_array().unwrap();
    assert_eq!((code, causes.len()), (409, 1), "{body}");
    assert_eq!(causes[0]["field"], ".spec.containers[name=\"web\"].resources.requests.cpu");
    let forced = format!("{path}?fieldManager=me&force=true");
    let (code, pod) = patch(&env, &forced, "apply-patch+yaml", config("2")).await;
    assert_eq!(code, 200, "{pod}");
    let container = &pod["spec"]["containers"][0];
    assert_eq!(container["resources"]["requests"], json!({"cpu": "2", "memory": "1Gi"}));
    assert_eq!((&container["image"], &pod["metadata"]["labels"]), (&json!("nginx:1"), &Value::Null));
    let entries = pod["metadata"]["managedFields"].as_array().unwrap();
    let mine = entries.iter().find(|entry| entry["manager"] == "me").unwrap();
    assert_eq!(mine["subresource"], "resize");
    assert_eq!(
        mine["fieldsV1"],
        json!({"f:spec": {"f:containers": {"k:{\"name\":\"web\"}": {"f:resources": {"f:requests": {"f:cpu": {}}}}}}})
    );
    env.stop().await;
}

#[tokio::test]
async fn resize_of_other_fields_is_refused() {
    let env = started(web()).await;
    let path = format!("{PODS}/web/resize");
    let (_, pod) = call(&env, Method::GET, &format!("{PODS}/web"), Value::Null).await;
    let resize = async |edit: &dyn Fn(&mut Value)| {
        let mut wanted = pod.clone();
        edit(&mut wanted["spec"]);
        let (code, body) = call(&env, Method::PUT, &path, wanted).await;
        (code, messages(&body))
    };
    let refused = |fault: &str| (422, vec![fault.to_owned()]);
    let add_device = |spec: &mut Value| {
        for part in ["requests", "limits"] {
            spec["containers"][0]["resources"][part]["nvidia.com/gpu"] = json!("1");
        }
    };
    assert_eq!(
        resize(&add_device).await,
        refused("spec: Forbidden: only cpu and memory resources are mutable")
    );
    assert_eq!(
        resize(&|spec| spec["containers"][0]["resources"] = json!({"requests": {"cpu": "1"}})).await,
        refused("spec.containers[0].resources.requests: Forbidden: resource requests cannot be removed")
    );
    assert_eq!(
        resize(&|spec| spec["initContainers"][0]["resources"] = Value::Null).await,
        refused("spec.initContainers[0].resources.requests: Forbidden: resource requests cannot be removed")
    );
    let policy = json!([{"resourceName": "cpu", "restartPolicy": "RestartContainer"}]);
    assert_eq!(
        resize(&|spec| spec["containers"][0]["resizePolicy"] = policy.clone()).await,
        refused("spec: Forbidden: only cpu and memory resources are mutable")
    );
    assert_eq!(
        resize(&|spec| spec["initContainers"][0]["resizePolicy"] = json!([])).await,
        (200, Vec::new()),
        "there is none either way"
    );
    let faults = [
        "spec.initContainers[0].resizePolicy[0].restartPolicy: Invalid value: \"RestartContainer\": must not be set to \
         'RestartContainer' for non-sidecar initContainers",
        "spec.initContainers[0]: Forbidden: only cpu and memory resources for init or sidecar containers are mutable",
        "spec.initContainers[0]: Forbidden: non-sidecar init containers with a resize policy of RestartContainer cannot be resized",
    ];
    assert_eq!(
        resize(&|spec| spec["initContainers"][0]["resizePolicy"] = policy.clone()).await,
        (422, faults.map(str::to_owned).to_vec())
    );
    let (code, faults) = resize(&|spec| spec["containers"][0]["name"] = json!("other")).await;
    assert_eq!(code, 422);
    assert!(
        faults.contains(
            &"spec.containers[0].name: Forbidden: containers may not be renamed or reordered on resize"
                .to_owned()
        ),
        "{faults:?}"
    );
    assert_eq!(
        resize(&|spec| spec["initContainers"][0]["resources"]["requests"]["cpu"] = json!("2")).await,
        (200, Vec::new())
    );
    env.stop().await;
}

fn request() -> Value {
    // A block with the outer form of a request.
    let pem = block(
        "CERTIFICATE REQUEST",
        "MAgwADAAAwIAAQ==
",
    );
    json!({"apiVersion": "certificates.k8s.io/v1", "kind": "CertificateSigningRequest", "metadata": {"name": "mine"},
        "spec": {"request": pem, "signerName": "example.com/mine", "usages": ["client auth"], "username": "root"}})
}

/// A block with the outer form of a certificate, in base64. The signature is `signature`.
fn certificate(signature: &[u8]) -> String {
    let length = u8::try_from(signature.len()).unwrap();
    let der = [&[0x30, 7 + length, 0x30, 0, 0x30, 0, 0x03, 1 + length, 0], signature].concat();
    block("CERTIFICATE", &format!("{}\n", BASE64.encode(der)))
}

fn block(kind: &str, body: &str) -> String {
    BASE64.encode(format!("-----BEGIN {kind}-----\n{body}-----END {kind}-----\n"))
}

fn condition(kind: &str) -> Value {
    json!({"type": kind, "status": "True", "reason": "Because"})
}

#[tokio::test]
async fn certificate_request_names_its_user_and_is_validated() {
    let mut env = TestEnv::builder().start().await.unwrap();
    let user = User { name: "jane".to_owned(), groups: vec!["system:masters".to_owned()] };
    let jane = env.add_user(&user).await.unwrap().client();
    let body = serde_json::to_vec(&request()).unwrap();
    let post = http::Request::post(REQUESTS).header("content-type", "application/json").body(body).unwrap();
    let stored: Value = jane.request(post).await.unwrap();
    assert_eq!(stored["spec"]["username"], "jane");
    assert!(stored["spec"]["groups"].as_array().unwrap().contains(&json!("system:masters")));

    let mut wrong = request();
    wrong["spec"] = json!({"request": "", "usages": ["client auth", "tea"], "expirationSeconds": 1});
    let (code, body) = call(&env, Method::POST, REQUESTS, wrong).await;
    let fields: Vec<&str> =
        body["details"]["causes"].as_array().unwrap().iter().map(|c| c["field"].as_str().unwrap()).collect();
    assert_eq!(code, 422);
    assert_eq!(fields, ["spec.request", "spec.usages[1]", "spec.signerName", "spec.expirationSeconds"]);

    let mut changed = stored.clone();
    changed["spec"]["signerName"] = json!("example.com/other");
    changed["metadata"]["labels"] = json!({"a": "b"});
    let (_, kept) = call(&env, Method::PUT, &format!("{REQUESTS}/mine"), changed).await;
    assert_eq!(kept["spec"], stored["spec"]);
    assert_eq!(kept["metadata"]["labels"], json!({"a": "b"}));
    env.stop().await;
}

/// The refusals are those of kube-apiserver 1.36.2.
#[tokio::test]
async fn certificates_and_signers_are_checked() {
    let env = TestEnv::builder().start().await.unwrap();
    assert_eq!(call(&env, Method::POST, REQUESTS, request()).await.0, 201);
    let write = async |certificate: &str| {
        let path = format!("{REQUESTS}/mine/status");
        let (_, mut current) = call(&env, Method::GET, &path, Value::Null).await;
        current["status"] = json!({"certificate": certificate, "conditions": [condition("Failed")]});
        call(&env, Method::PUT, &path, current).await
    };
    for (certificate, expected) in [
        (BASE64.encode("hello"), "must contain at least one CERTIFICATE PEM block"),
        (
            block("RSA PRIVATE KEY", "YQ==\n"),
            "only CERTIFICATE PEM blocks are allowed, found \"RSA PRIVATE KEY\"",
        ),
        (block("CERTIFICATE", "A: b\n\nYQ==\n"), "no PEM block headers are permitted"),
        (block("CERTIFICATE", "YQ==\n"), "x509: malformed certificate"),
    ] {
        let (code, body) = write(&certificate).await;
        let expected = format!("status.certificate: Invalid value: \"<certificate data>\": {expected}");
        assert_eq!((code, messages(&body)), (422, vec![expected]));
    }
    assert_eq!(write(&certificate(b"")).await.0, 200);

    let label = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an \
                 alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is \
                 '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
    let whole = "must be a fully qualified domain and path of the form 'example.com/signer-name'";
    let short = "should be a domain with at least two segments separated by dots";
    for (signer, value, expected) in [
        ("a.example/b/c", "a.example/b/c", whole.to_owned()),
        ("nodomain/x", "nodomain", short.to_owned()),
        ("UP.com/x", "UP.com", format!("validating label \"UP\": {label}")),
        (
            "kubernetes.io/legacy-unknown",
            "kubernetes.io/legacy-unknown",
            "the legacy signerName is not allowed via this API version".to_owned(),
        ),
    ] {
        let mut wrong = request();
        wrong["metadata"]["name"] = json!("wrong");
        wrong["spec"]["signerName"] = json!(signer);
        let (code, body) = call(&env, Method::POST, REQUESTS, wrong).await;
        let expected = format!("spec.signerName: Invalid value: \"{value}\": {expected}");
        assert_eq!((code, messages(&body)), (422, vec![expected]));
    }
    env.stop().await;
}

#[tokio::test]
async fn approval_writes_conditions_only_and_status_the_certificate() {
    let env = TestEnv::builder().start().await.unwrap();
    assert_eq!(call(&env, Method::POST, REQUESTS, request()).await.0, 201);
    let write = async |part: &str, status: Value| {
        let path = format!("{REQUESTS}/mine/{part}");
        let (_, mut current) = call(&env, Method::GET, &path, Value::Null).await;
        current["status"] = status;
        call(&env, Method::PUT, &path, current).await
    };
    let certificate = certificate(b"");
    let (code, body) =
        write("approval", json!({"conditions": [condition("Approved")], "certificate": certificate})).await;
    assert_eq!(code, 200, "{body}");
    let approved = &body["status"]["conditions"][0];
    assert!(approved["lastUpdateTime"].is_string() && approved["lastTransitionTime"].is_string(), "{body}");
    assert_eq!(body["status"].get("certificate"), None, "an approval issues nothing");

    let both = json!({"conditions": [condition("Approved"), condition("Denied")]});
    let (code, body) = write("approval", both.clone()).await;
    assert_eq!((code, messages(&body)), (422, vec![
        "status.conditions: Invalid value: \"Denied\": Approved and Denied conditions are mutually exclusive".to_owned()]));
    let (_, body) = write("approval", json!({"conditions": []})).await;
    assert_eq!(
        messages(&body),
        ["status.conditions: Forbidden: updates may not remove a condition of type \"Approved\""]
    );
    let (_, body) = write("status", both).await;
    assert!(
        messages(&body).contains(
            &"status.conditions: Forbidden: updates may not add a condition of type \"Denied\"".to_owned()
        ),
        "{body}"
    );

    let mut reworded = condition("Approved");
    reworded["reason"] = json!("Otherwise");
    let (code, body) = write("status", json!({"conditions": [reworded], "certificate": certificate})).await;
    assert_eq!(code, 200, "{body}");
    assert_eq!(body["status"]["conditions"][0]["reason"], "Because", "who issues does not decide");
    assert_eq!(body["status"]["certificate"], certificate);
    let other = self::certificate(b"x");
    let (_, body) =
        write("status", json!({"conditions": [condition("Approved")], "certificate": other})).await;
    assert_eq!(
        messages(&body),
        ["status.certificate: Forbidden: updates may not modify existing certificate content"]
    );
    env.stop().await;
}

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/// The answers are those of kube-apiserver 1.36.2.
#[tokio::test]
async fn status_of_a_definition_is_stored_as_written_with_its_defaults() {
    let env = TestEnv::builder().start().await.unwrap();
    let version = |name: &str, storage: bool| {
        json!({"name": name, "served": true, "storage": storage,
                                                     "schema": {"openAPIV3Schema": {"type": "object"}}})
    };
    let definition = json!({"metadata": {"name": "as.a.example"}, "spec": {"group": "a.example", "scope": "Namespaced",
        "names": {"plural": "as", "kind": "A"}, "versions": [version("v1", true), version("v2", false)]}});
    assert_eq!(call(&env, Method::POST, DEFINITIONS, definition).await.0, 201);
    let path = format!("{DEFINITIONS}/as.a.example");
    let put = async |part: &str, change: &dyn Fn(&mut Value)| {
        let (_, mut current) = call(&env, Method::GET, &path, Value::Null).await;
        change(&mut current);
        let (code, answer) = call(&env, Method::PUT, &format!("{path}{part}"), current).await;
        assert_eq!(code, 200, "{answer}");
        (answer, call(&env, Method::GET, &path, Value::Null).await.1)
    };
    let served = async || call(&env, Method::GET, "/apis/a.example/v1/as", Value::Null).await.0 == 200;
    let conditions = |definition: &Value| -> Vec<String> {
        let all = definition["status"]["conditions"].as_array().into_iter().flatten();
        all.map(|condition| condition["type"].as_str().unwrap().to_owned()).collect()
    };

    // Only an update of the spec adds the storage version.
    let (_, after) = put("/status", &|crd| crd["status"]["storedVersions"] = json!(["v2"])).await;
    assert_eq!(after["status"]["storedVersions"], json!(["v2"]));
    let (_, after) = put("", &|crd| crd["status"]["storedVersions"] = json!(["v9"])).await;
    assert_eq!(after["status"]["storedVersions"], json!(["v2", "v1"]));
    let (_, after) = put("/status", &|crd| crd["status"]["storedVersions"] = json!([])).await;
    assert_eq!(after["status"]["storedVersions"], json!(["v1"]));

    // A status cannot change the spec, but labels and finalizers.
    let (_, after) = put("/status", &|crd| {
        crd["spec"]["names"]["shortNames"] = json!(["x"]);
        crd["metadata"]["labels"] = json!({"a": "b"});
    })
    .await;
    assert!(after["spec"]["names"].get("shortNames").is_none() && after["metadata"]["labels"]["a"] == "b");

    // The server restores accepted names. It does not restore removed conditions, and no longer serves the
    // definition.
    let (_, after) =
        put("/status", &|crd| crd["status"]["acceptedNames"] = json!({"plural": "bs", "kind": "B"})).await;
    assert_eq!(after["status"]["acceptedNames"], after["spec"]["names"]);
    let (answer, after) =
        put("/status", &|crd| crd["status"]["conditions"] = json!([{"type": "Mine", "status": "True"}]))
            .await;
    let own = json!([{"type": "Mine", "status": "True", "lastTransitionTime": null}]);
    assert_eq!((&answer["status"]["conditions"], &after["status"]["conditions"]), (&own, &own));
    assert!(!served().await);
    let accepted = json!([{"type": "NamesAccepted", "status": "True", "reason": "NoConflicts", "message": "no conflicts found"}]);
    let (_, after) = put("/status", &|crd| crd["status"]["conditions"] = accepted.clone()).await;
    assert_eq!(conditions(&after), ["NamesAccepted", "Established"]);
    assert!(served().await);

    // An omitted status is empty, and controllers compute it again.
    let (answer, after) = put("/status", &|crd| drop(crd.as_object_mut().unwrap().remove("status"))).await;
    let empty =
        json!({"conditions": null, "acceptedNames": {"plural": "", "kind": ""}, "storedVersions": ["v1"]});
    assert_eq!(answer["status"], empty);
    assert_eq!(conditions(&after), ["NamesAccepted", "Established"]);
    env.stop().await;
}

#[tokio::test]
async fn volume_keeps_the_time_of_its_phase_and_a_claim_drops_a_foreign_source() {
    let env = TestEnv::builder().start().await.unwrap();
    let volumes = "/api/v1/persistentvolumes";
    let spec =
        json!({"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/a"}});
    let volume = json!({"metadata": {"name": "v"}, "spec": spec});
    let (_, created) = call(&env, Method::POST, volumes, volume.clone()).await;
    let (code, body) = call(&env, Method::PUT, &format!("{volumes}/v/status"), volume).await;
    assert_eq!((code, &body["status"]), (200, &created["status"]), "{body}");
    assert!(body["status"]["lastPhaseTransitionTime"].is_string(), "{body}");

    let claims = "/api/v1/namespaces/default/persistentvolumeclaims";
    let spec = json!({"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}});
    call(&env, Method::POST, claims, json!({"metadata": {"name": "c"}, "spec": spec})).await;
    let foreign = json!({"spec": {"dataSource": {"apiGroup": "x.y", "kind": "Z", "name": "b"}}});
    let (code, body) = patch(&env, &format!("{claims}/c"), "merge-patch+json", foreign).await;
    assert_eq!((code, &body["spec"]["dataSource"]), (200, &Value::Null), "{body}");
    env.stop().await;
}

#[tokio::test]
async fn applied_part_of_a_missing_object_is_not_found_before_its_type_is_checked() {
    let env = TestEnv::builder().start().await.unwrap();
    let other = json!({"apiVersion": "example.com/v1", "kind": "Other"});
    for path in
        [format!("{PODS}/q/status"), "/apis/apps/v1/namespaces/default/deployments/q/scale".to_owned()]
    {
        let (code, body) =
            patch(&env, &format!("{path}?fieldManager=m"), "apply-patch+yaml", other.clone()).await;
        assert_eq!(code, 404, "{path}: {body}");
    }
    env.stop().await;
}
