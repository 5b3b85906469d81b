//! Definitions are installed and upgraded, and objects migrated, on the embedded server.

mod kill_points;
mod migrate;
mod upgrade;
mod written;

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use http::Request;
use kube::Client;
use kube::api::{Api, ApiResource, DynamicObject, ListParams, PostParams};
use kube::client::Body;
use kubesmith_testenv::TestEnv;
use serde_json::{Value, json};

pub(crate) const WIDGETS: &str = "widgets.a.example";

/// A version of a definition: its name, whether it is the storage version, and the fields of `spec`.
pub(crate) fn version(name: &str, storage: bool, spec: &Value) -> Value {
    json!({"name": name, "served": true, "storage": storage, "schema": {"openAPIV3Schema": {
        "type": "object", "properties": {"spec": {"type": "object", "properties": spec}}}}})
}

/// The definition of widgets with these versions.
pub(crate) fn widgets(versions: &[Value]) -> Value {
    definition("Widget", "widgets", versions)
}

pub(crate) fn definition(kind: &str, plural: &str, versions: &[Value]) -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.a.example")},
        "spec": {
            "group": "a.example", "scope": "Namespaced", "versions": versions,
            "names": {"plural": plural, "singular": kind.to_lowercase(), "kind": kind, "listKind": format!("{kind}List")},
        },
    })
}

pub(crate) fn size() -> Value {
    json!({"size": {"type": "integer"}})
}

pub(crate) fn api(client: &Client, version: &str) -> Api<DynamicObject> {
    Api::namespaced_with(client.clone(), "default", &resource(version))
}

fn resource(version: &str) -> ApiResource {
    ApiResource {
        group: "a.example".to_owned(),
        version: version.to_owned(),
        api_version: format!("a.example/{version}"),
        kind: "Widget".to_owned(),
        plural: "widgets".to_owned(),
    }
}

pub(crate) async fn create(client: &Client, version: &str, name: &str, spec: Value) {
    let object = DynamicObject::new(name, &resource(version)).data(json!({"spec": spec}));
    api(client, version).create(&PostParams::default(), &object).await.unwrap();
}

/// Names, resource versions and specs, in the order of the server.
pub(crate) async fn objects(client: &Client, version: &str) -> Vec<(String, String, Value)> {
    let list = api(client, version).list(&ListParams::default()).await.unwrap();
    let seen = |object: DynamicObject| {
        let (name, version) = (object.metadata.name, object.metadata.resource_version);
        (name.unwrap(), version.unwrap(), object.data["spec"].clone())
    };
    list.items.into_iter().map(seen).collect()
}

/// The definition of widgets as the server has it.
pub(crate) async fn live(client: &Client) -> Value {
    let path = format!("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{WIDGETS}");
    client.request(Request::get(path).body(Vec::new()).unwrap()).await.unwrap()
}

pub(crate) async fn server() -> (TestEnv, Client) {
    let env = TestEnv::builder().start().await.unwrap();
    let client = env.client();
    (env, client)
}

/// A client some of whose requests are answered with a failure. `answer` gets how many requests it has answered.
pub(crate) fn answering(
    client: &Client,
    answer: impl Fn(&Request<Body>, usize) -> Option<(u16, &'static str)> + Send + Sync + 'static,
) -> Client {
    let (client, answer, answered) = (client.clone(), Arc::new(answer), Arc::new(AtomicUsize::new(0)));
    let service = tower::service_fn(move |request: Request<Body>| {
        let (client, answer, answered) = (client.clone(), answer.clone(), answered.clone());
        async move {
            let Some((code, message)) = answer(&request, answered.load(Ordering::Relaxed)) else {
                return client.send(request).await;
            };
            answered.fetch_add(1, Ordering::Relaxed);
            let status = json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
                "reason": if code == 403 { "Forbidden" } else { "" }, "code": code, "message": message});
            let body = Body::from(status.to_string().into_bytes());
            let answer = http::Response::builder().status(code).header("content-type", "application/json");
            Ok(answer.body(body).unwrap())
        }
    });
    Client::new(service, "default")
}

/// A process that is killed at its request `at`: before the server gets it, or before its answer arrives.
pub(crate) fn killed_at(client: &Client, at: usize, after_request: bool) -> (Client, Arc<AtomicUsize>) {
    let sent = Arc::new(AtomicUsize::new(0));
    let (counter, client) = (sent.clone(), client.clone());
    let service = tower::service_fn(move |request: Request<Body>| {
        let number = counter.fetch_add(1, Ordering::Relaxed);
        let client = client.clone();
        async move {
            let killed = || io::Error::other("killed");
            if number > at || (number == at && !after_request) {
                return Err(killed());
            }
            let answer = client.send(request).await.map_err(io::Error::other)?;
            if number == at { Err(killed()) } else { Ok(answer) }
        }
    });
    (Client::new(service, "default"), sent)
}
