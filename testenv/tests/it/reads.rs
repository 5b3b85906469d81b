//! Responses to reads: lists, watches, forms and paths.

use http::Method;
use kubesmith_testenv::TestEnv;
use serde_json::{Value, json};

use crate::support::{call, send, widgets};

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

async fn read(env: &TestEnv, path: &str) -> (u16, Value) {
    call(env, Method::GET, path, Value::Null).await
}

async fn read_as(env: &TestEnv, path: &str, accept: &str) -> (u16, Value) {
    send(env, Method::GET, path, &[("accept", accept)], "").await
}

async fn with_maps() -> TestEnv {
    let env = TestEnv::builder().start().await.unwrap();
    for name in ["a", "b", "c"] {
        let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}});
        assert_eq!(call(&env, Method::POST, MAPS, map).await.0, 201);
    }
    env
}

#[tokio::test]
async fn items_of_built_in_kinds_carry_no_type() {
    let env = with_maps().await;
    let (_, list) = read(&env, MAPS).await;
    assert_eq!((&list["kind"], &list["apiVersion"]), (&json!("ConfigMapList"), &json!("v1")));
    assert_eq!(list["items"][0]["metadata"]["name"], "a");
    assert!(list["items"][0].get("kind").is_none() && list["items"][0].get("apiVersion").is_none());
    let (_, deleted) = call(&env, Method::DELETE, MAPS, Value::Null).await;
    assert_eq!(deleted["items"].as_array().map(Vec::len), Some(3));
    assert!(deleted["items"][0].get("kind").is_none());
    let api = widgets(&env).await;
    api.create(&Default::default(), &crate::support::widget("w", json!({}))).await.unwrap();
    let (_, list) = read(&env, "/apis/a.example/v1/namespaces/default/widgets").await;
    assert_eq!((&list["items"][0]["kind"], &list["metadata"]["continue"]), (&json!("Widget"), &json!("")));
    env.stop().await;
}

#[tokio::test]
async fn deletion_of_a_collection_stops_at_its_limit() {
    let env = with_maps().await;
    let (code, deleted) = call(&env, Method::DELETE, &format!("{MAPS}?limit=1"), Value::Null).await;
    assert_eq!((code, deleted["items"].as_array().map(Vec::len)), (200, Some(1)));
    assert_eq!(deleted["metadata"]["remainingItemCount"], 2);
    let (code, error) = call(&env, Method::DELETE, &format!("{MAPS}?limit=x"), Value::Null).await;
    assert_eq!((code, &error["message"]), (400, &json!("strconv.ParseInt: parsing \"x\": invalid syntax")));
    assert_eq!(read(&env, MAPS).await.1["items"].as_array().map(Vec::len), Some(2));
    env.stop().await;
}

#[tokio::test]
async fn media_type_that_does_not_fit_the_resource_is_refused() {
    let env = with_maps().await;
    let of = |kind: &str| format!("application/json;as={kind};v=v1;g=meta.k8s.io");
    let one = format!("{MAPS}/a");
    let (code, error) = read_as(&env, MAPS, &of("PartialObjectMetadata")).await;
    let text =
        "you requested PartialObjectMetadata, but the requested object is a list (*core.ConfigMapList)";
    assert_eq!((code, &error["message"]), (406, &json!(text)));
    let (code, error) = read_as(&env, &one, &of("PartialObjectMetadataList")).await;
    let text =
        "you requested PartialObjectMetadataList, but the requested object is not a list (*core.ConfigMap)";
    assert_eq!((code, &error["message"]), (406, &json!(text)));
    let (code, error) = read_as(&env, &format!("{one}?includeObject=All"), &of("Table")).await;
    assert_eq!(code, 400);
    assert!(
        error["message"]
            .as_str()
            .unwrap()
            .starts_with("Unable to convert to Table as requested: includeObject")
    );
    let (code, error) = read_as(&env, &format!("{MAPS}?watch=true"), "application/yaml").await;
    let text = error.as_str().unwrap_or_default();
    assert!(code == 406 && text.contains("application/json;stream=watch"), "{error}");
    env.stop().await;
}

#[tokio::test]
async fn error_has_the_media_type_of_the_response() {
    let env = with_maps().await;
    let (code, error) = read_as(&env, &format!("{MAPS}/none"), "application/yaml").await;
    assert_eq!((code, error.as_str().map(|text| text.contains("reason: NotFound"))), (404, Some(true)));
    let (code, error) =
        read_as(&env, &format!("{MAPS}/none"), "application/json;as=Table;v=v1;g=meta.k8s.io").await;
    assert_eq!((code, &error["reason"]), (404, &json!("NotFound")));
    env.stop().await;
}

/// As kube-apiserver 1.36.2 answered.
#[tokio::test]
async fn unknown_paths_are_refused_before_methods_and_media_types() {
    let env = TestEnv::builder().start().await.unwrap();
    let table = "application/json;as=Table;v=v1;g=meta.k8s.io";
    let subresource = "/apis/apps/v1/namespaces/default/deployments/d/foo";
    for path in ["/api/v2", "/apis/apps/v9", "/apis/apps/v1/foos", subresource] {
        for accept in ["text/html", table] {
            let (code, error) = read_as(&env, path, accept).await;
            assert_eq!((code, &error["reason"]), (404, &json!("NotFound")), "{path} {accept}");
        }
        let (code, error) = read_as(&env, path, "application/yaml").await;
        assert!(code == 404 && error.as_str().unwrap().contains("reason: NotFound"), "{path}: {error}");
        assert_eq!(call(&env, Method::POST, path, Value::Null).await.0, 404, "{path}");
    }
    for path in ["/apis/none", "/apis/none/v1", "/healthz/none", "/healthz/", "/metrics/", "/openapi/v2/"] {
        for method in [Method::GET, Method::POST] {
            let (code, text) = send(&env, method, path, &[("accept", "text/html")], "").await;
            assert_eq!((code, text), (404, json!("404 page not found\n")), "{path}");
        }
    }
    env.stop().await;
}

#[tokio::test]
async fn discovery_follows_the_server_that_answers_it() {
    let env = TestEnv::builder().start().await.unwrap();
    let _api = widgets(&env).await;
    // Routes of go-restful accept only GET and their media types.
    for path in ["/api", "/api/v1", "/apis/apps/v1", "/version", "/openid/v1/jwks"] {
        let (code, error) = read_as(&env, path, "text/html").await;
        let text = error["message"].as_str().unwrap_or_default();
        assert!(code == 406 && text.contains("Available representations"), "{path}: {error}");
        assert_eq!(call(&env, Method::HEAD, path, Value::Null).await.0, 405, "{path}");
        assert_eq!(call(&env, Method::PUT, path, Value::Null).await.0, 405, "{path}");
    }
    let (code, error) = read_as(&env, "/version", "application/yaml").await;
    assert!(code == 406 && error.as_str().unwrap().contains("reason: NotAcceptable"), "{error}");
    // Handlers of kube-aggregator and apiextensions-apiserver take any method.
    for path in ["/apis", "/apis/apps", "/apis/a.example", "/apis/a.example/v1"] {
        let (code, error) = read_as(&env, path, "text/html").await;
        let text = error["message"].as_str().unwrap_or_default();
        assert!(code == 406 && text.starts_with("only the following media types"), "{path}: {error}");
        assert_eq!(call(&env, Method::PUT, path, Value::Null).await, read(&env, path).await, "{path}");
    }
    let aggregated = "application/json;as=APIGroupDiscoveryList;v=v2;g=apidiscovery.k8s.io";
    assert_eq!(read_as(&env, "/apis", aggregated).await.0, 200);
    assert_eq!(read_as(&env, "/apis/", aggregated).await.0, 406);
    env.stop().await;
}

#[tokio::test]
async fn unknown_paths_of_built_in_groups_return_a_status() {
    let env = TestEnv::builder().start().await.unwrap();
    let message = "the server could not find the requested resource";
    for path in [
        "/api/v2",
        "/api//v1",
        "/apis/apps/v9",
        "/apis/apps/v1/foos",
        "/api/v1/namespaces/default/foos/x",
        "/api/v1/namespaces/default/pods/a%2Fb",
        "/apis/apps/v1/namespaces/default/deployments/d/foo",
    ] {
        let (code, error) = read(&env, path).await;
        assert_eq!((code, &error["message"]), (404, &json!(message)), "{path}");
    }
    for path in ["/apis/none", "/apis/none/v1/foos", "/foo"] {
        assert_eq!(read(&env, path).await, (404, json!("404 page not found\n")), "{path}");
    }
    let (code, text) = read(&env, "/api/v1/watch").await;
    assert!(code == 500 && text.as_str().unwrap().contains("failed to create RequestInfo"), "{text}");
    assert_eq!(call(&env, Method::POST, "/version", Value::Null).await.0, 405);
    env.stop().await;
}

#[tokio::test]
async fn watch_of_one_object_needs_the_deprecated_prefix() {
    let env = with_maps().await;
    let (_, object) = read(&env, &format!("{MAPS}/a?watch=true&timeoutSeconds=1")).await;
    assert_eq!(object["kind"], "ConfigMap");
    let watched =
        format!("{}/a?timeoutSeconds=1&fieldSelector=metadata.name%3Db", MAPS.replace("/v1/", "/v1/watch/"));
    let (code, error) = read(&env, &watched).await;
    assert_eq!(
        (code, &error["message"]),
        (400, &json!("fieldSelector metadata.name doesn't match requested name"))
    );
    env.stop().await;
}

#[tokio::test]
async fn members_of_built_in_objects_begin_with_kind_and_version() {
    let env = with_maps().await;
    let request = http::Request::get(format!("{MAPS}/a")).body(kube::client::Body::empty()).unwrap();
    let response = env.client().send(request).await.unwrap();
    let bytes = http_body_util::BodyExt::collect(response.into_body()).await.unwrap().to_bytes();
    assert!(bytes.starts_with(br#"{"kind":"ConfigMap","apiVersion":"v1","metadata":{"#));
    env.stop().await;
}

#[tokio::test]
async fn metrics_count_stored_objects() {
    let env = with_maps().await;
    let (code, text) = read(&env, "/metrics").await;
    let text = text.as_str().unwrap();
    assert_eq!(code, 200);
    // Three of the test, and one that every server has.
    assert!(text.contains("apiserver_resource_objects{group=\"\",resource=\"configmaps\"} 4\n"), "{text}");
    env.stop().await;
}

#[tokio::test]
async fn watch_without_version_marks_the_end_of_existing_objects() {
    let env = with_maps().await;
    let (_, events) =
        read(&env, &format!("{MAPS}?watch=true&allowWatchBookmarks=true&timeoutSeconds=1")).await;
    let last = events.as_str().unwrap().lines().last().unwrap();
    assert!(
        last.starts_with("{\"type\":\"BOOKMARK\"") && last.contains("k8s.io/initial-events-end"),
        "{last}"
    );
    env.stop().await;
}
