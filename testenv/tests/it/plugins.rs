//! The admission plugins for pod security and quotas, and the removal of namespaces.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use http::Method;
use k8s_openapi::api::core::v1::ConfigMap;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Api;
use kube::api::PostParams;
use kubesmith_testenv::TestEnv;
use serde_json::{Value, json};

use crate::support::{call, patch};

/// A request of `O=system:masters`, as `spec.request` has it.
const MASTERS: &str = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIZ01JR0hBZ0VBTUNVeEZ6QVZCZ05WQkFvTURuTjVjM1JsYlRwdFlYTjBaWEp6TVFvd0NBWURWUVFEREFGNApNRmt3RXdZSEtvWkl6ajBDQVFZSUtvWkl6ajBEQVFjRFFnQUUzdVNiL1owOFdZNWZGd21hYkhCR3dMbjVubVI5Cm5taXV3eEJPYjhkNFdQdWgwUGNOS1BsWVRnWGhRWFc4SUQweGNzZ1FzTk1hSkJTalN1ODdOT3FOR2FBQU1Bb0cKQ0NxR1NNNDlCQU1DQTBnQU1FVUNJUUNqYXllRFpBNXlsN2dRcTlVVEF4c2l6azBWZWdySm94WnEyemJIV2xHSwpiUUlnTk8zUjFxNUdXbTQ5K1MvdUkzbW01RzV3VUZpK0dEVXl3dFVUMnpvSmp4Yz0KLS0tLS1FTkQgQ0VSVElGSUNBVEUgUkVRVUVTVC0tLS0tCg==";

/// Tags of DER.
const OCTET_STRING: u8 = 0x04;
const UTF8_STRING: u8 = 0x0c;
const T61_STRING: u8 = 0x14;

const SPACE: &str = "/api/v1/namespaces/default";

fn pod(name: &str, mut spec: Value) -> Value {
    let mut pod = json!({"metadata": {"name": name}, "spec": {"containers": [{"name": "c", "image": "i"}]}});
    pod["spec"].as_object_mut().unwrap().append(spec.as_object_mut().unwrap());
    pod
}

#[tokio::test]
async fn pod_is_refused_when_it_violates_the_level_of_its_namespace() {
    let env = TestEnv::builder().start().await.unwrap();
    let enforce =
        |level: &str| json!({"metadata": {"labels": {"pod-security.kubernetes.io/enforce": level}}});
    let pods = format!("{SPACE}/pods");
    let (status, refused) = patch(&env, SPACE, "merge-patch+json", enforce("loose")).await;
    let text = "Namespace \"default\" is invalid: metadata.labels[pod-security.kubernetes.io/enforce]: Invalid value: \"loose\": \
                must be one of privileged, baseline, restricted";
    assert_eq!((status, refused["message"].as_str()), (422, Some(text)));
    assert_eq!(patch(&env, SPACE, "merge-patch+json", enforce("baseline")).await.0, 200);
    let (status, refused) = call(&env, Method::POST, &pods, pod("a", json!({"hostPID": true}))).await;
    let text =
        "pods \"a\" is forbidden: violates PodSecurity \"baseline:latest\": host namespaces (hostPID=true)";
    assert_eq!((status, refused["message"].as_str()), (403, Some(text)));
    assert_eq!(call(&env, Method::POST, &pods, pod("a", json!({}))).await.0, 201);
    // Templates only get a warning.
    let template =
        json!({"metadata": {"labels": {"a": "b"}}, "spec": pod("", json!({"hostPID": true}))["spec"]});
    let deployment = json!({"metadata": {"name": "d"}, "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": template}});
    let path = "/apis/apps/v1/namespaces/default/deployments";
    assert_eq!(call(&env, Method::POST, path, deployment).await.0, 201);
    env.stop().await;
}

/// Waits until the quota `q` has counted this.
async fn until_used(env: &TestEnv, wanted: Value) {
    for _ in 0..600 {
        let (_, quota) = call(env, Method::GET, &format!("{SPACE}/resourcequotas/q"), Value::Null).await;
        if quota["status"]["used"] == wanted {
            return;
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    panic!("the quota never counted {wanted}");
}

#[tokio::test(start_paused = true)]
async fn quota_counts_objects_and_refuses_more() {
    let env = TestEnv::builder().controllers(true).start().await.unwrap();
    let quotas = format!("{SPACE}/resourcequotas");
    let quota = json!({"metadata": {"name": "q"}, "spec": {"hard": {"configmaps": "3", "pods": "1"}}});
    assert_eq!(call(&env, Method::POST, &quotas, quota).await.0, 201);
    // The CA of the namespace (`kube-root-ca.crt`) is a config map, too.
    until_used(&env, json!({"configmaps": "1", "pods": "0"})).await;
    let pods = format!("{SPACE}/pods");
    assert_eq!(call(&env, Method::POST, &format!("{pods}?dryRun=All"), pod("a", json!({}))).await.0, 201);
    assert_eq!(call(&env, Method::POST, &pods, pod("a", json!({}))).await.0, 201);
    until_used(&env, json!({"configmaps": "1", "pods": "1"})).await;
    let (status, refused) = call(&env, Method::POST, &pods, pod("b", json!({}))).await;
    let text = "pods \"b\" is forbidden: exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1";
    assert_eq!((status, refused["message"].as_str()), (403, Some(text)));
    assert_eq!(call(&env, Method::DELETE, &format!("{pods}/a"), Value::Null).await.0, 200);
    until_used(&env, json!({"configmaps": "1", "pods": "0"})).await;
    env.stop().await;
}

#[tokio::test(start_paused = true)]
async fn usage_of_a_quota_that_is_wrong_is_counted_again() {
    let env = TestEnv::builder().controllers(true).start().await.unwrap();
    let quotas = format!("{SPACE}/resourcequotas");
    let quota = json!({"metadata": {"name": "q"}, "spec": {"hard": {"configmaps": "3"}}});
    assert_eq!(call(&env, Method::POST, &quotas, quota).await.0, 201);
    until_used(&env, json!({"configmaps": "1"})).await;
    let wrong = json!({"status": {"used": {"configmaps": "2"}}});
    assert_eq!(patch(&env, &format!("{quotas}/q/status"), "merge-patch+json", wrong).await.0, 200);
    until_used(&env, json!({"configmaps": "1"})).await;
    env.stop().await;
}

/// A server with the quota `q`, which its controller has counted.
async fn with_quota() -> TestEnv {
    let env = TestEnv::builder().seed(1).start().await.unwrap();
    let quotas = format!("{SPACE}/resourcequotas");
    let quota = json!({"metadata": {"name": "q"}, "spec": {"hard": {"configmaps": "900"}}});
    assert_eq!(call(&env, Method::POST, &quotas, quota).await.0, 201);
    let counted = json!({"status": {"hard": {"configmaps": "900"}, "used": {"configmaps": "0"}}});
    assert_eq!(patch(&env, &format!("{quotas}/q/status"), "merge-patch+json", counted).await.0, 200);
    env
}

#[tokio::test(start_paused = true)]
async fn quota_does_not_count_an_object_that_is_not_stored() {
    let env = with_quota().await;
    let maps = format!("{SPACE}/configmaps");
    for expected in [201, 409] {
        assert_eq!(call(&env, Method::POST, &maps, json!({"metadata": {"name": "a"}})).await.0, expected);
    }
    until_used(&env, json!({"configmaps": "1"})).await;
    env.stop().await;
}

/// All clients create the same objects, so most of their writes fail while others count.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn quota_is_exact_when_many_writes_fail_at_once() {
    let env = with_quota().await;
    let client = env.client();
    let tasks = (0..6).map(|_| {
        let maps: Api<ConfigMap> = Api::namespaced(client.clone(), "default");
        tokio::spawn(async move {
            for at in 0..60 {
                let metadata = ObjectMeta { name: Some(format!("m{at}")), ..ObjectMeta::default() };
                let _ = maps
                    .create(&PostParams::default(), &ConfigMap { metadata, ..ConfigMap::default() })
                    .await;
            }
        })
    });
    for task in tasks.collect::<Vec<_>>() {
        task.await.unwrap();
    }
    let (_, quota) = call(&env, Method::GET, &format!("{SPACE}/resourcequotas/q"), Value::Null).await;
    assert_eq!(quota["status"]["used"], json!({"configmaps": "60"}));
    env.stop().await;
}

#[tokio::test]
async fn limit_of_a_pod_counts_its_sidecars() {
    let env = TestEnv::builder().start().await.unwrap();
    let range =
        json!({"metadata": {"name": "r"}, "spec": {"limits": [{"type": "Pod", "max": {"memory": "1Gi"}}]}});
    assert_eq!(call(&env, Method::POST, &format!("{SPACE}/limitranges"), range).await.0, 201);
    let container =
        |name: &str| json!({"name": name, "image": "i", "resources": {"limits": {"memory": "700Mi"}}});
    let mut sidecar = container("s");
    let pods = format!("{SPACE}/pods");
    let spec = |init: &Value| json!({"containers": [container("c")], "initContainers": [init]});
    assert_eq!(call(&env, Method::POST, &pods, pod("a", spec(&sidecar))).await.0, 201);
    sidecar["restartPolicy"] = json!("Always");
    let (status, refused) = call(&env, Method::POST, &pods, pod("b", spec(&sidecar))).await;
    assert_eq!(status, 403);
    let text = refused["message"].as_str().unwrap();
    assert!(text.ends_with("maximum memory usage per Pod is 1Gi, but limit is 1400Mi"), "{text}");
    env.stop().await;
}

#[tokio::test(start_paused = true)]
async fn quota_counts_an_object_once_when_its_generated_name_was_taken() {
    let generated = json!({"metadata": {"generateName": "a"}});
    let maps = format!("{SPACE}/configmaps");
    // The same seed generates the same name after the same requests.
    let env = with_quota().await;
    assert_eq!(call(&env, Method::POST, &maps, json!({"metadata": {"name": "b"}})).await.0, 201);
    let (_, first) = call(&env, Method::POST, &maps, generated.clone()).await;
    env.stop().await;
    let env = with_quota().await;
    let taken = json!({"metadata": {"name": first["metadata"]["name"]}});
    assert_eq!(call(&env, Method::POST, &maps, taken).await.0, 201);
    let (status, second) = call(&env, Method::POST, &maps, generated).await;
    assert_eq!(status, 201);
    assert_ne!(second["metadata"]["name"], first["metadata"]["name"]);
    until_used(&env, json!({"configmaps": "2"})).await;
    env.stop().await;
}

#[tokio::test]
async fn job_keeps_its_pods_when_it_is_deleted_without_a_policy() {
    let env = TestEnv::builder().controllers(true).start().await.unwrap();
    let jobs = "/apis/batch/v1/namespaces/default/jobs";
    let template = json!({"spec": pod("", json!({"restartPolicy": "Never"}))["spec"]});
    let job = json!({"metadata": {"name": "j"}, "spec": {"suspend": true, "template": template}});
    let (_, job) = call(&env, Method::POST, jobs, job).await;
    let owner =
        json!([{"apiVersion": "batch/v1", "kind": "Job", "name": "j", "uid": job["metadata"]["uid"]}]);
    let mut map = json!({"metadata": {"name": "m"}});
    map["metadata"]["ownerReferences"] = owner;
    let maps = format!("{SPACE}/configmaps");
    assert_eq!(call(&env, Method::POST, &maps, map).await.0, 201);
    let (_, last) = call(&env, Method::DELETE, &format!("{jobs}/j"), Value::Null).await;
    assert_eq!(last["metadata"]["finalizers"], json!(["orphan"]));
    let (status, map) = call(&env, Method::GET, &format!("{maps}/m"), Value::Null).await;
    assert_eq!((status, map["metadata"].get("ownerReferences")), (200, None));
    assert_eq!(call(&env, Method::GET, &format!("{jobs}/j"), Value::Null).await.0, 404);
    env.stop().await;
}

#[tokio::test(start_paused = true)]
async fn terminating_namespace_reports_remaining_content_until_it_is_empty() {
    let env = TestEnv::builder().namespace_deletion(true).start().await.unwrap();
    let path = "/api/v1/namespaces/a";
    assert_eq!(
        call(&env, Method::POST, "/api/v1/namespaces", json!({"metadata": {"name": "a"}})).await.0,
        201
    );
    let held = json!({"metadata": {"name": "m", "finalizers": ["a.b/c"]}});
    for map in [held, json!({"metadata": {"name": "n"}})] {
        assert_eq!(call(&env, Method::POST, &format!("{path}/configmaps"), map).await.0, 201);
    }
    assert_eq!(call(&env, Method::DELETE, path, Value::Null).await.1["status"]["phase"], "Terminating");
    let until = async |wanted: &dyn Fn(&Value) -> bool| {
        for _ in 0..100 {
            let (_, namespace) = call(&env, Method::GET, path, Value::Null).await;
            if wanted(&namespace) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        panic!("the namespace stays");
    };
    let remains = |namespace: &Value| {
        let conditions = namespace["status"]["conditions"].as_array().into_iter().flatten();
        let texts: Vec<&str> = conditions
            .filter(|condition| condition["status"] == "True")
            .filter_map(|condition| condition["message"].as_str())
            .collect();
        texts
            == [
                "Some resources are remaining: configmaps. has 1 resource instances",
                "Some content in the namespace has finalizers remaining: a.b/c in 1 resource instances",
            ]
    };
    until(&remains).await;
    let free = json!({"metadata": {"finalizers": null}});
    assert_eq!(patch(&env, &format!("{path}/configmaps/m"), "merge-patch+json", free).await.0, 200);
    until(&|namespace| namespace["code"] == 404).await;
    env.stop().await;
}

#[tokio::test(start_paused = true)]
async fn deleted_namespace_keeps_its_content_for_five_seconds() {
    let env = TestEnv::builder().namespace_deletion(true).start().await.unwrap();
    let path = "/api/v1/namespaces/a";
    let namespace = json!({"metadata": {"name": "a"}});
    assert_eq!(call(&env, Method::POST, "/api/v1/namespaces", namespace).await.0, 201);
    let maps = format!("{path}/configmaps");
    for name in ["m", "n"] {
        assert_eq!(call(&env, Method::POST, &maps, json!({"metadata": {"name": name}})).await.0, 201);
    }
    assert_eq!(call(&env, Method::DELETE, path, Value::Null).await.0, 200);
    assert_eq!(call(&env, Method::DELETE, &format!("{maps}/m"), Value::Null).await.0, 200);
    tokio::time::sleep(Duration::from_secs(4)).await;
    assert_eq!(call(&env, Method::GET, &format!("{maps}/n"), Value::Null).await.0, 200);
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!(call(&env, Method::GET, path, Value::Null).await.0, 404);
    env.stop().await;
}

#[tokio::test]
async fn deleted_namespace_stays_without_its_controller() {
    let env = TestEnv::builder().start().await.unwrap();
    let namespace = json!({"metadata": {"name": "a"}});
    assert_eq!(call(&env, Method::POST, "/api/v1/namespaces", namespace).await.0, 201);
    assert_eq!(call(&env, Method::DELETE, "/api/v1/namespaces/a", Value::Null).await.0, 200);
    let finalize =
        json!({"metadata": {"name": "a", "labels": {"x": "y"}}, "spec": {"finalizers": ["a.b/c"]}});
    let path = "/api/v1/namespaces/a/finalize";
    assert_eq!(patch(&env, path, "merge-patch+json", json!({"spec": {"finalizers": []}})).await.0, 405);
    assert_eq!(call(&env, Method::GET, path, Value::Null).await.0, 405);
    let mut faulty = finalize.clone();
    faulty["spec"]["finalizers"] = json!(["a.b/c", "orphan", "bad"]);
    let (code, refusal) = call(&env, Method::PUT, path, faulty).await;
    let fault = "spec.finalizers[2]: Invalid value: \"bad\": name is neither a standard finalizer name nor is it fully qualified";
    assert_eq!(code, 422);
    assert_eq!(refusal["message"], format!("Namespace \"a\" is invalid: {fault}"));
    let (_, kept) = call(&env, Method::PUT, path, finalize).await;
    assert_eq!(kept["metadata"]["labels"], json!({"kubernetes.io/metadata.name": "a", "x": "y"}));
    assert_eq!(kept["status"]["phase"], "Terminating");

    // A namespace without finalizers has none after an update, and is marked as terminating before it is
    // removed.
    let free = json!({"metadata": {"name": "free"}});
    assert_eq!(call(&env, Method::POST, "/api/v1/namespaces", free.clone()).await.0, 201);
    assert_eq!(call(&env, Method::PUT, "/api/v1/namespaces/free/finalize", free).await.0, 200);
    let labels = json!({"metadata": {"labels": {"x": "y"}}});
    let (_, changed) = patch(&env, "/api/v1/namespaces/free", "merge-patch+json", labels).await;
    assert_eq!(changed["spec"], json!({}));
    let (_, marked) = call(&env, Method::DELETE, "/api/v1/namespaces/free", Value::Null).await;
    assert_eq!(marked["status"]["phase"], "Terminating");
    env.stop().await;
}

#[tokio::test]
async fn ingress_gets_the_default_class_and_a_claim_grows_only_if_its_class_allows_it() {
    let env = TestEnv::builder().start().await.unwrap();
    let default = json!({"ingressclass.kubernetes.io/is-default-class": "true"});
    let class = json!({"metadata": {"name": "web", "annotations": default}, "spec": {"controller": "a.b/c"}});
    let path = "/apis/networking.k8s.io/v1/ingressclasses";
    assert_eq!(call(&env, Method::POST, path, class).await.0, 201);
    let backend = json!({"defaultBackend": {"service": {"name": "s", "port": {"number": 80}}}});
    let ingress = json!({"metadata": {"name": "i"}, "spec": backend});
    let path = "/apis/networking.k8s.io/v1/namespaces/default/ingresses";
    assert_eq!(call(&env, Method::POST, path, ingress).await.1["spec"]["ingressClassName"], "web");

    for (name, grows) in [("fixed", false), ("growing", true)] {
        let class =
            json!({"metadata": {"name": name}, "provisioner": "a.b/c", "allowVolumeExpansion": grows});
        assert_eq!(call(&env, Method::POST, "/apis/storage.k8s.io/v1/storageclasses", class).await.0, 201);
        let claims = format!("{SPACE}/persistentvolumeclaims");
        let claim = json!({"metadata": {"name": name}, "spec": {"accessModes": ["ReadWriteOnce"],
            "storageClassName": name, "resources": {"requests": {"storage": "1Gi"}}}});
        assert_eq!(call(&env, Method::POST, &claims, claim).await.0, 201);
        let larger = json!({"spec": {"resources": {"requests": {"storage": "2Gi"}}}});
        let path = format!("{claims}/{name}");
        let bound = json!({"status": {"phase": "Bound"}});
        assert_eq!(patch(&env, &format!("{path}/status"), "merge-patch+json", bound).await.0, 200);
        let (status, answer) = patch(&env, &path, "merge-patch+json", larger).await;
        let text = "persistentvolumeclaims \"fixed\" is forbidden: only dynamically provisioned pvc can be resized and the \
                    storageclass that provisions the pvc must support resize";
        let expected = if grows { (200, None) } else { (403, Some(text)) };
        assert_eq!((status, answer["message"].as_str()), expected);
    }
    env.stop().await;
}

#[tokio::test]
async fn certificate_of_administrators_is_refused() {
    let env = TestEnv::builder().start().await.unwrap();
    let path = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
    let refused = async |pem: &str| {
        let spec = json!({"request": BASE64.encode(pem), "signerName": "kubernetes.io/kube-apiserver-client",
            "usages": ["client auth"]});
        let request = json!({"metadata": {"name": "r"}, "spec": spec});
        let (status, refused) = call(&env, Method::POST, path, request).await;
        let text = refused["message"].as_str().unwrap_or_default();
        let about = "certificatesigningrequests.certificates.k8s.io \"r\" is forbidden: ";
        (status, text.strip_prefix(about).unwrap_or(text).to_owned())
    };
    let pem = String::from_utf8(BASE64.decode(MASTERS).unwrap()).unwrap();
    let body: String = pem.lines().filter(|line| !line.starts_with('-')).collect();
    // The request with another type of the organization.
    let with_type = |tag: u8| {
        let mut der = BASE64.decode(&body).unwrap();
        let at = der.windows(14).position(|part| part == b"system:masters").unwrap();
        der[at - 2] = tag;
        let begin = "-----BEGIN CERTIFICATE REQUEST-----";
        format!("{begin}\n{}\n-----END CERTIFICATE REQUEST-----\n", BASE64.encode(der))
    };
    let text = "use of kubernetes.io/kube-apiserver-client signer with system:masters group is not allowed";
    let (begin, rest) = pem.split_once('\n').unwrap();
    let bare = with_type(UTF8_STRING).replace("CERTIFICATE REQUEST-----", "OTHER-----");
    for pem in [
        pem.clone(),
        format!("a request\n{pem}"),
        format!("{pem}{pem}"),
        format!("{begin}\nA: b\n\n{rest}"),
        with_type(T61_STRING),
    ] {
        assert_eq!(refused(&pem).await, (403, text.to_owned()), "{pem}");
    }
    let unread = (403, "failed to parse CSR: asn1: syntax error: sequence truncated".to_owned());
    assert_eq!(refused(&with_type(OCTET_STRING)).await, unread);
    // Only the first block counts.
    assert_eq!(refused(&format!("{bare}{pem}")).await.0, 422);
    env.stop().await;
}
