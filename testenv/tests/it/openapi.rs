//! OpenAPI documents against those of kube-apiserver 1.36 with the same definitions installed.
//!
//! `testdata/apiserver/openapi.json` has the definitions, the schemas of their kinds in both versions, and a digest of each
//! document: FNV-1a of its JSON with sorted members and without spaces.

use http::Method;
use kubesmith_testenv::TestEnv;
use serde_json::{Map, Value, json};

use crate::support::call;

fn digest(document: &Value) -> String {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    format!("{:016x}", document.to_string().bytes().fold(0xcbf2_9ce4_8422_2325, step))
}

async fn published(env: &TestEnv, name: &str) -> Value {
    let (code, document) = call(env, Method::GET, &format!("/openapi/{name}"), Value::Null).await;
    assert_eq!(code, 200, "{name}");
    document
}

fn members<'a>(recorded: &'a Value, key: &str) -> &'a Map<String, Value> {
    recorded[key].as_object().unwrap()
}

#[tokio::test]
async fn documents_equal_those_of_kube_apiserver() {
    let file = format!("{}/../testdata/apiserver/openapi.json", env!("CARGO_MANIFEST_DIR"));
    let recorded: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    let env = TestEnv::builder().start().await.unwrap();
    for crd in recorded["crds"].as_array().unwrap() {
        let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
        let (code, answer) = call(&env, Method::POST, path, crd.clone()).await;
        assert_eq!(code, 201, "{answer}");
    }
    for (document, schemas) in members(&recorded, "schemas") {
        let all = published(&env, document).await;
        let ours = if document == "v2" { &all["definitions"] } else { &all["components"]["schemas"] };
        for (name, schema) in schemas.as_object().unwrap() {
            assert_eq!(&ours[name], schema, "{document}: {name}");
        }
    }
    let names = published(&env, "v3").await;
    let mut known: Vec<String> = members(&names, "paths").keys().map(|name| format!("v3/{name}")).collect();
    known.insert(0, "v2".to_owned());
    let mut differing = Vec::new();
    for (name, digest_there) in members(&recorded, "digests") {
        if digest(&published(&env, name).await) != *digest_there {
            differing.push(name);
        }
    }
    assert!(differing.is_empty(), "documents differ from those of kube-apiserver: {differing:?}");
    assert_eq!(known, members(&recorded, "digests").keys().cloned().collect::<Vec<_>>());
    env.stop().await;
}

#[tokio::test]
async fn definition_of_custom_resource_does_not_replace_a_built_in_one() {
    let env = TestEnv::builder().start().await.unwrap();
    let built_in = published(&env, "v2").await["definitions"]["io.k8s.api.core.v1.Pod"].clone();
    let crd = json!({
        "metadata": {
            "name": "pods.core.api.k8s.io",
            "annotations": {"api-approved.kubernetes.io": "https://github.com/kubernetes/kubernetes/pull/1"},
        },
        "spec": {
            "group": "core.api.k8s.io", "scope": "Namespaced", "names": {"plural": "pods", "kind": "Pod"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object"}}}],
        },
    });
    let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    let (code, answer) = call(&env, Method::POST, path, crd).await;
    assert_eq!(code, 201, "{answer}");
    let document = published(&env, "v2").await;
    let definition = |name: &str| &document["definitions"][format!("io.k8s.api.core.v1.{name}")];
    assert_eq!(*definition("Pod"), built_in);
    let kind = json!([{"group": "core.api.k8s.io", "version": "v1", "kind": "Pod"}]);
    assert_eq!(definition("Pod_v2")["x-kubernetes-group-version-kind"], kind);
    let reference = "#/definitions/io.k8s.api.core.v1.Pod_v2";
    assert_eq!(definition("PodList_v2")["properties"]["items"]["items"]["$ref"], reference);
    let answer = |path: &str| {
        let path = &document["paths"][format!("{path}/namespaces/{{namespace}}/pods/{{name}}")];
        path["get"]["responses"]["200"]["schema"]["$ref"].clone()
    };
    assert_eq!(answer("/apis/core.api.k8s.io/v1"), reference);
    assert_eq!(answer("/api/v1"), "#/definitions/io.k8s.api.core.v1.Pod");
    env.stop().await;
}
