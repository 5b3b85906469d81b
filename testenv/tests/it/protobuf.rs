//! Answers in Kubernetes' protobuf encoding, for clients that accept it.

use http::Method;
use http::header::{ACCEPT, CONTENT_TYPE};
use http_body_util::BodyExt;
use kube::client::Body;
use kubesmith_apiserver::request::read_protobuf;
use kubesmith_testenv::TestEnv;
use serde_json::{Value, json};

use crate::support::{call, widgets};

const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";
/// What every encoded object begins with.
const MAGIC: &[u8] = b"k8s\0";

/// Status and content type of an answer, and its body as far as it comes at once.
async fn get(env: &TestEnv, path: &str, accept: &str) -> (u16, String, Vec<u8>) {
    let request = http::Request::get(path).header(ACCEPT, accept).body(Body::empty()).unwrap();
    let response = env.client().send(request).await.unwrap();
    let content_type = response.headers()[CONTENT_TYPE].to_str().unwrap().to_owned();
    let status = response.status().as_u16();
    (status, content_type, response.into_body().collect().await.unwrap().to_bytes().to_vec())
}

async fn config_map(env: &TestEnv, name: &str) -> Value {
    let map =
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"k": "v"}});
    call(env, Method::POST, "/api/v1/namespaces/default/configmaps", map).await.1
}

/// The objects in the body, each with its envelope.
fn objects(mut body: &[u8]) -> Vec<Value> {
    let mut objects = Vec::new();
    while let Some(at) = body.windows(MAGIC.len()).position(|window| window == MAGIC) {
        let rest = &body[at..];
        let end = rest[1..].windows(MAGIC.len()).position(|window| window == MAGIC);
        // What is behind an object belongs to the length of the next event, which the reader does not need.
        let of_one = end.map_or(rest, |end| &rest[..=end]);
        let event = (0..of_one.len()).rev().find_map(|cut| read_protobuf(&of_one[..=cut]));
        objects.push(event.unwrap());
        body = end.map_or(&[], |end| &rest[end + 1..]);
    }
    objects
}

#[tokio::test]
async fn objects_are_answered_as_protobuf() {
    let env = TestEnv::builder().start().await.unwrap();
    let mut map = config_map(&env, "m").await;
    let path = "/api/v1/namespaces/default/configmaps/m";
    let (status, content_type, body) =
        get(&env, path, "application/vnd.kubernetes.protobuf,application/json").await;
    assert_eq!((status, content_type.as_str()), (200, PROTOBUF));
    // The reader leaves the ownership of fields to the server.
    let metadata = map["metadata"].as_object_mut().unwrap();
    metadata["managedFields"][0].as_object_mut().unwrap().remove("fieldsV1");
    assert_eq!(read_protobuf(&body).unwrap(), map);
}

#[tokio::test]
async fn lists_and_errors_are_answered_as_protobuf() {
    let env = TestEnv::builder().start().await.unwrap();
    config_map(&env, "first-map").await;
    let (status, content_type, body) = get(&env, "/api/v1/namespaces/default/configmaps", PROTOBUF).await;
    assert_eq!((status, content_type.as_str()), (200, PROTOBUF));
    assert!(body.starts_with(b"k8s\0\x0a\x13\x0a\x02v1\x12\x0dConfigMapList\x12"));
    assert!(body.windows(9).any(|window| window == b"first-map"));
    let (status, content_type, body) =
        get(&env, "/api/v1/namespaces/default/configmaps/none", PROTOBUF).await;
    assert_eq!((status, content_type.as_str()), (404, PROTOBUF));
    assert_eq!(read_protobuf(&body).unwrap()["message"], "configmaps \"none\" not found");
}

#[tokio::test]
async fn watches_are_frames_of_protobuf() {
    let env = TestEnv::builder().start().await.unwrap();
    config_map(&env, "a").await;
    config_map(&env, "b").await;
    let path = "/api/v1/namespaces/default/configmaps?watch=true&timeoutSeconds=1&fieldSelector=metadata.name!=kube-root-ca.crt";
    tokio::time::pause();
    let (status, content_type, body) = get(&env, path, PROTOBUF).await;
    assert_eq!((status, content_type.as_str()), (200, "application/vnd.kubernetes.protobuf;stream=watch"));
    let names: Vec<Value> = objects(&body).iter().map(|object| object["metadata"]["name"].clone()).collect();
    assert_eq!(names, ["a", "b"]);
    let length = u32::from_be_bytes(body[..4].try_into().unwrap()) as usize;
    assert!(body[4..].starts_with(b"\x0a\x05ADDED\x12"));
    assert!(
        body[4 + length + 4..].starts_with(b"\x0a\x05ADDED\x12"),
        "the next event begins where the length says"
    );
}

/// Definitions have a Go type, but no message in the server's table.
#[tokio::test]
async fn definitions_are_answered_as_json() {
    let env = TestEnv::builder().start().await.unwrap();
    let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    let both = "application/vnd.kubernetes.protobuf,application/json";
    let (status, content_type, _) = get(&env, path, both).await;
    assert_eq!((status, content_type.as_str()), (200, "application/json"));
    assert_eq!(get(&env, path, PROTOBUF).await.0, 406);
}

#[tokio::test]
async fn custom_resources_have_metadata_in_protobuf_and_nothing_else() {
    let env = TestEnv::builder().start().await.unwrap();
    widgets(&env).await;
    let path = "/apis/a.example/v1/namespaces/default/widgets";
    let widget = json!({"apiVersion": "a.example/v1", "kind": "Widget", "metadata": {"name": "w"}});
    call(&env, Method::POST, path, widget).await;
    assert_eq!(get(&env, path, PROTOBUF).await.0, 406);
    let partial = format!("{PROTOBUF};as=PartialObjectMetadataList;g=meta.k8s.io;v=v1");
    let (status, content_type, body) = get(&env, path, &partial).await;
    assert_eq!((status, content_type.as_str()), (200, PROTOBUF));
    assert!(body.windows(25).any(|window| window == b"PartialObjectMetadataList"));
    let table = format!("{PROTOBUF};as=Table;g=meta.k8s.io;v=v1");
    assert_eq!(get(&env, path, &table).await.0, 406);
}
