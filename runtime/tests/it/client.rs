//! Typed clients over a scripted transport.

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Patch, PatchParams};
use kube::client::Body;
use kubesmith_runtime::client::{Error, RestClient, TypedClient};

fn maps(code: u16, answer: &'static str) -> TypedClient<ConfigMap> {
    let service = tower::service_fn(move |_request: Request<Body>| async move {
        let body = Full::new(Bytes::from_static(answer.as_bytes()));
        Response::builder().status(code).body(body)
    });
    let client = kube::Client::new(service, "default");
    TypedClient::namespaced(RestClient::new(client, "", "v1"), "default")
}

#[tokio::test]
async fn errors_name_verb_resource_and_object() {
    let status = r#"{"kind":"Status","apiVersion":"v1","status":"Failure","message":"configmaps \"a\" not found","reason":"NotFound","code":404}"#;
    let error = maps(404, status).get("a").await.unwrap_err();
    assert!(error.is_not_found());
    assert_eq!(
        error.to_string(),
        "cannot get configmaps \"default/a\": configmaps \"a\" not found (NotFound, code 404)"
    );
}

#[tokio::test]
async fn answers_that_are_no_status_have_the_reason_of_their_code() {
    let error = maps(404, "404 page not found").get("a").await.unwrap_err();
    assert!(error.is_not_found());
    assert!(error.to_string().ends_with("404 page not found (NotFound, code 404)"), "{error}");
    assert!(maps(403, "<html>forbidden</html>").get("a").await.unwrap_err().is_forbidden());
}

#[tokio::test]
async fn apply_needs_a_field_manager() {
    let maps = maps(200, "{}");
    let patch = Patch::Apply(serde_json::json!({}));
    let error = maps.patch("a", &PatchParams::default(), &patch).await.unwrap_err();
    assert!(matches!(error, Error::BadRequest { .. }));
    assert!(error.to_string().contains("field manager"), "{error}");
}

#[tokio::test]
async fn built_in_objects_of_a_list_serialise_with_their_type() {
    let list =
        r#"{"kind":"ConfigMapList","apiVersion":"v1","metadata":{},"items":[{"metadata":{"name":"a"}}]}"#;
    let objects = maps(200, list).list(&kube::api::ListParams::default()).await.unwrap();
    let value = serde_json::to_value(&objects.items[0]).unwrap();
    assert_eq!((&value["apiVersion"], &value["kind"]), (&"v1".into(), &"ConfigMap".into()));
}
