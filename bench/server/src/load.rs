//! The load of the server.

use http::Request;
use http_body_util::BodyExt;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::Client;
use kube::api::{Api, ApiResource, DynamicObject, GroupVersionKind, ListParams, PostParams};
use kube::client::Body;
use kubesmith_testenv::TestEnv;
use serde_json::json;
use tokio::task::JoinSet;

const PATH: &str = "/apis/bench.example.com/v1/namespaces/default/machines";

/// A kind with a realistic schema to check.
pub(crate) fn crd() -> CustomResourceDefinition {
    let text = json!({"type": "string", "maxLength": 100});
    serde_json::from_value(json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "machines.bench.example.com"},
        "spec": {
            "group": "bench.example.com", "scope": "Namespaced",
            "names": {"plural": "machines", "singular": "machine", "kind": "Machine", "listKind": "MachineList"},
            "versions": [{
                "name": "v1", "served": true, "storage": true, "subresources": {"status": {}},
                "schema": {"openAPIV3Schema": {"type": "object", "properties": {
                    "spec": {"type": "object", "required": ["image", "size"], "properties": {
                        "image": text, "size": {"type": "integer", "minimum": 1},
                        "zone": {"type": "string", "enum": ["a", "b", "c"], "default": "a"},
                        "disks": {"type": "array", "items": {"type": "object", "properties": {
                            "name": text, "gigabytes": {"type": "integer"},
                        }}},
                    }},
                    "status": {"type": "object", "properties": {"phase": text}},
                }}},
            }],
        },
    }))
    .unwrap()
}

fn machine(name: &str, n: usize) -> DynamicObject {
    let disks: Vec<_> = (0..4).map(|i| json!({"name": format!("disk-{i}"), "gigabytes": 100})).collect();
    serde_json::from_value(json!({
        "apiVersion": "bench.example.com/v1", "kind": "Machine",
        "metadata": {"name": name, "labels": {"app": "bench", "shard": (n % 16).to_string()}},
        "spec": {"image": "registry.example.com/machine:1.2.3", "size": n + 1, "zone": "b", "disks": disks},
    }))
    .unwrap()
}

fn machines(client: &Client) -> Api<DynamicObject> {
    let kind = GroupVersionKind::gvk("bench.example.com", "v1", "Machine");
    Api::default_namespaced_with(client.clone(), &ApiResource::from_gvk_with_plural(&kind, "machines"))
}

/// Returns the length of a stored object's JSON.
pub(crate) async fn stored_size() -> usize {
    let env = TestEnv::builder().crds([crd()]).start().await.unwrap();
    let stored = machines(&env.client()).create(&PostParams::default(), &machine("m", 0)).await.unwrap();
    serde_json::to_string(&stored).unwrap().len()
}

/// Creates `count` objects with this number of concurrent writers.
pub(crate) async fn create(client: &Client, prefix: &str, count: usize, writers: usize) {
    let mut tasks = JoinSet::new();
    for writer in 0..writers {
        let (api, prefix) = (machines(client), prefix.to_owned());
        tasks.spawn(async move {
            for n in (writer..count).step_by(writers) {
                let object = machine(&format!("{prefix}-{n}"), n);
                api.create(&PostParams::default(), &object).await.unwrap();
            }
        });
    }
    tasks.join_all().await;
}

/// Lists everything; returns the number of bytes.
pub(crate) async fn list(client: &Client) -> usize {
    let request = Request::get(PATH).body(Body::empty()).unwrap();
    let response = client.send(request).await.unwrap();
    assert!(response.status().is_success());
    response.into_body().collect().await.unwrap().to_bytes().len()
}

/// Opens this number of watches; each task ends when its watch has shown `events` events.
pub(crate) async fn watch(client: &Client, watchers: usize, events: usize) -> JoinSet<()> {
    let mut tasks = JoinSet::new();
    let listed = machines(client).list(&ListParams::default()).await.unwrap();
    let path = format!("{PATH}?watch=true&resourceVersion={}", listed.metadata.resource_version.unwrap());
    for _ in 0..watchers {
        let request = Request::get(&path).body(Body::empty());
        let response = client.send(request.unwrap()).await.unwrap();
        assert!(response.status().is_success());
        tasks.spawn(async move {
            let (mut body, mut seen) = (response.into_body(), 0);
            while seen < events {
                let frame = body.frame().await.unwrap().unwrap();
                let data = frame.into_data().unwrap();
                // Every event is one line.
                seen += data.iter().filter(|byte| **byte == b'\n').count();
            }
            assert_eq!(seen, events);
        });
    }
    tasks
}
