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
/// The prefix of every encoded object.
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
        // The bytes after an object are the length of the next event, which the reader does not need.
        let of_one = end.map_or(rest, |end| &rest[..=end]);
        let event = (0..of_one.len()).rev().find_map(|cut| read_protobuf(&of_one[..=cut]));
        objects.push(event.unwrap());
        body = end.map_or(&[], |end| &rest[end + 1..]);
    }
    objects
}

#[tokio::test]
async fn objects_are_encoded_as_protobuf() {
    let env = TestEnv::builder().start().await.unwrap();
    let map = config_map(&env, "m").await;
    let path = "/api/v1/namespaces/default/configmaps/m";
    let (status, content_type, body) =
        get(&env, path, "application/vnd.kubernetes.protobuf,application/json").await;
    assert_eq!((status, content_type.as_str()), (200, PROTOBUF));
    assert_eq!(read_protobuf(&body).unwrap(), map);
    // The same object again changes nothing, its managers included.
    let request = http::Request::put(path).header(CONTENT_TYPE, PROTOBUF).body(Body::from(body)).unwrap();
    let response = env.client().send(request).await.unwrap();
    assert_eq!(response.status(), 200);
    let body = response.into_body().collect().await.unwrap().to_bytes();
    assert_eq!(serde_json::from_slice::<Value>(&body).unwrap(), map);
}

#[tokio::test]
async fn lists_and_errors_are_encoded_as_protobuf() {
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

/// The types of definitions that are one of two things in JSON are in it: lists and maps with schemas, and text that is
/// any JSON.
#[tokio::test]
async fn definitions_round_trip_as_protobuf() {
    let env = TestEnv::builder().start().await.unwrap();
    let root = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    let schema = json!({"type": "object", "properties": {
        "any": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
        "limits": {"type": "object", "additionalProperties": {"type": "number", "minimum": 0.5}},
        "list": {"type": "array", "maxItems": 3, "items": {"type": "string", "enum": ["a", "b"], "default": "a"}},
        "size": {"x-kubernetes-int-or-string": true, "x-kubernetes-validations": [{"rule": "self != 0"}]}}});
    let crd = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "boxes.a.example"},
        "spec": {"group": "a.example", "scope": "Namespaced", "names": {"plural": "boxes", "kind": "Box"},
                 "versions": [{"name": "v1", "served": true, "storage": true,
                               "schema": {"openAPIV3Schema": schema}}]},
    });
    let (_, mut created) = call(&env, Method::POST, root, crd).await;
    created["metadata"]["managedFields"] = Value::Null;
    let path = format!("{root}/boxes.a.example");
    let (status, content_type, body) = get(&env, &path, PROTOBUF).await;
    assert_eq!((status, content_type.as_str()), (200, PROTOBUF));
    let mut read = read_protobuf(&body).unwrap();
    // The server has written the status since.
    for part in ["managedFields", "resourceVersion"] {
        read["metadata"][part] = created["metadata"][part].clone();
    }
    assert_eq!(read["spec"], created["spec"]);
    assert_eq!(read["metadata"], created["metadata"]);
    assert_eq!(get(&env, root, "application/vnd.kubernetes.protobuf,application/json").await.1, PROTOBUF);
    let request = http::Request::put(format!("{path}?dryRun=All"))
        .header(CONTENT_TYPE, PROTOBUF)
        .body(Body::from(body))
        .unwrap();
    let response = env.client().send(request).await.unwrap();
    assert_eq!(response.status(), 200);
    let kept = response.into_body().collect().await.unwrap().to_bytes();
    assert_eq!(serde_json::from_slice::<Value>(&kept).unwrap()["spec"], created["spec"]);
}

#[tokio::test]
async fn discovery_is_encoded_as_protobuf() {
    let env = TestEnv::builder().start().await.unwrap();
    for (path, kind) in [
        ("/api", "APIVersions"),
        ("/apis", "APIGroupList"),
        ("/apis/apps", "APIGroup"),
        ("/apis/apps/v1", "APIResourceList"),
    ] {
        let (status, content_type, body) = get(&env, path, PROTOBUF).await;
        assert_eq!((status, content_type.as_str()), (200, PROTOBUF), "{path}");
        let read = read_protobuf(&body).unwrap();
        let (_, json) = call(&env, Method::GET, path, Value::Null).await;
        assert_eq!(read["kind"], kind);
        for part in ["groups", "versions", "resources"] {
            assert_eq!(read[part].as_array().map(Vec::len), json[part].as_array().map(Vec::len), "{path}");
        }
    }
    let aggregated = format!("{PROTOBUF};g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList");
    let (status, content_type, body) = get(&env, "/apis", &aggregated).await;
    assert_eq!((status, content_type), (200, aggregated));
    assert!(body.windows(11).any(|window| window == b"deployments"));
}

/// Sends a `GET` with headers and returns status, headers and body.
async fn get_with(env: &TestEnv, path: &str, headers: &[(&str, &str)]) -> (u16, http::HeaderMap, Vec<u8>) {
    let request = headers.iter().fold(http::Request::get(path), |r, (name, value)| r.header(*name, *value));
    let response = env.client().send(request.body(Body::empty()).unwrap()).await.unwrap();
    let (parts, body) = response.into_parts();
    (parts.status.as_u16(), parts.headers, body.collect().await.unwrap().to_bytes().to_vec())
}

/// `kubectl create` requests version 2 to create a list.
#[tokio::test]
async fn openapi_has_the_media_type_that_the_client_accepts() {
    let env = TestEnv::builder().start().await.unwrap();
    widgets(&env).await;
    for (path, version) in [("/openapi/v2", "v2"), ("/openapi/v3/apis/a.example/v1", "v3")] {
        let message = format!("application/com.github.proto-openapi.spec.{version}.v1.0+protobuf");
        let deprecated = format!("application/com.github.proto-openapi.spec.{version}@v1.0+protobuf");
        for accept in [&message, &deprecated] {
            let (status, headers, body) = get_with(&env, path, &[("accept", accept)]).await;
            assert_eq!((status, headers[CONTENT_TYPE].to_str().unwrap()), (200, message.as_str()));
            assert_eq!(headers["vary"], "Accept");
            assert!(body.windows(19).any(|window| window == b"example.a.v1.Widget"), "{path}");
        }
        let (_, headers, _) = get_with(&env, path, &[]).await;
        assert_eq!(headers[CONTENT_TYPE], "application/json");
        let tag = headers["etag"].to_str().unwrap();
        let (status, _, body) = get_with(&env, path, &[("if-none-match", tag)]).await;
        assert_eq!((status, body.len()), (304, 0));
        let (status, _, body) = get_with(&env, path, &[("accept", "text/csv")]).await;
        assert_eq!((status, body.len()), (406, 0));
    }
}

#[tokio::test]
async fn openapi_addresses_have_the_hash_of_the_document() {
    let env = TestEnv::builder().start().await.unwrap();
    let address = |index: &Value| index["paths"]["api/v1"]["serverRelativeURL"].as_str().unwrap().to_owned();
    let (_, index) = call(&env, Method::GET, "/openapi/v3", Value::Null).await;
    let (status, headers, _) = get_with(&env, &address(&index), &[]).await;
    assert_eq!((status, &headers["cache-control"]), (200, &"public, immutable".parse().unwrap()));
    let (status, headers, _) = get_with(&env, "/openapi/v3/api/v1?hash=old", &[]).await;
    assert_eq!((status, headers["location"].to_str().unwrap()), (301, address(&index).as_str()));
    let crd = |index: &Value| index["paths"]["apis/a.example/v1"].clone();
    widgets(&env).await;
    let (_, later) = call(&env, Method::GET, "/openapi/v3", Value::Null).await;
    assert_eq!(address(&later), address(&index), "a document that did not change has the same address");
    assert!(crd(&index).is_null() && crd(&later).is_object());
}

#[tokio::test]
async fn custom_resources_support_protobuf_for_metadata_only() {
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
