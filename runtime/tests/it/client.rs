//! Typed clients over a scripted transport.

use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::autoscaling::v1::Scale;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{DeleteParams, ListParams, ObjectList, Patch, PatchParams, PostParams};
use kube::client::Body;
use kubesmith_runtime::client::{Discovery, Error, RestClient, TypedClient};

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
async fn errors_without_status_get_the_reason_of_their_code() {
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
    let objects = maps(200, list).list(&ListParams::default()).await.unwrap();
    let value = serde_json::to_value(&objects.items[0]).unwrap();
    assert_eq!((&value["apiVersion"], &value["kind"]), (&"v1".into(), &"ConfigMap".into()));
}

/// A client whose server never answers.
fn silent() -> kube::Client {
    let service = tower::service_fn(|_: Request<Body>| {
        std::future::pending::<Result<Response<Full<Bytes>>, std::convert::Infallible>>()
    });
    kube::Client::new(service, "default")
}

#[tokio::test]
async fn client_of_all_namespaces_refuses_requests_for_one_object() {
    for maps in [
        TypedClient::<ConfigMap>::namespaced(RestClient::new(silent(), "", "v1"), ""),
        TypedClient::all_namespaces(RestClient::new(silent(), "", "v1")),
    ] {
        let map = ConfigMap::default();
        let (post, patch) = (PostParams::default(), PatchParams::apply("me"));
        let errors = [
            maps.get("a").await.unwrap_err(),
            maps.get_opt("a").await.unwrap_err(),
            maps.get_status("a").await.unwrap_err(),
            maps.create(&map, &post).await.unwrap_err(),
            maps.update(&map, &post).await.unwrap_err(),
            maps.delete("a", &DeleteParams::default()).await.unwrap_err(),
            maps.delete_collection(&DeleteParams::default(), &ListParams::default()).await.unwrap_err(),
            maps.patch("a", &patch, &Patch::Merge(&map)).await.unwrap_err(),
            maps.apply(&map, &patch).await.unwrap_err(),
        ];
        for error in errors {
            assert!(error.to_string().ends_with("choose one with `namespace`"), "{error}");
        }
    }
    let all = r#"{"kind":"ConfigMapList","apiVersion":"v1","metadata":{},"items":[]}"#;
    let rest = maps(200, all).rest_client().clone();
    let all = TypedClient::<ConfigMap>::namespaced(rest, "").list(&ListParams::default()).await.unwrap();
    assert!(all.items.is_empty());
}

/// A client whose server has these pages.
fn pages(pages: &'static [(&'static str, u16, &'static str)]) -> kube::Client {
    let service = tower::service_fn(move |request: Request<Body>| async move {
        let page = pages.iter().find(|(path, ..)| *path == request.uri().path());
        let (_, code, answer) = page.unwrap_or(&("", 404, "404 page not found"));
        Response::builder().status(*code).body(Full::new(Bytes::from_static(answer.as_bytes())))
    });
    kube::Client::new(service, "default")
}

#[tokio::test]
async fn preferred_resources_are_found_when_an_api_is_down() {
    let server = pages(&[
        ("/api", 200, r#"{"kind":"APIVersions","versions":["v1"]}"#),
        (
            "/apis",
            200,
            r#"{"kind":"APIGroupList","apiVersion":"v1","groups":[
                {"name":"scale","preferredVersion":{"groupVersion":"scale/v1","version":"v1"},"versions":[
                    {"groupVersion":"scale/v2","version":"v2"},{"groupVersion":"scale/v1","version":"v1"}]},
                {"name":"down","versions":[{"groupVersion":"down/v1","version":"v1"}]}]}"#,
        ),
        (
            "/api/v1",
            200,
            r#"{"kind":"APIResourceList","groupVersion":"v1","resources":[
                {"name":"pods","singularName":"","namespaced":true,"kind":"Pod","verbs":["list"]},
                {"name":"pods/log","singularName":"","namespaced":true,"kind":"Pod","verbs":["get"]}]}"#,
        ),
        (
            "/apis/scale/v1",
            200,
            r#"{"kind":"APIResourceList","groupVersion":"scale/v1","resources":[
                {"name":"a","singularName":"","namespaced":true,"kind":"A","verbs":["list"]}]}"#,
        ),
        (
            "/apis/scale/v2",
            200,
            r#"{"kind":"APIResourceList","groupVersion":"scale/v2","resources":[
                {"name":"a","singularName":"","namespaced":true,"kind":"A","verbs":["list"]},
                {"name":"b","singularName":"","namespaced":true,"kind":"B","verbs":["list"]}]}"#,
        ),
        ("/apis/down/v1", 503, "no endpoints"),
    ]);
    let discovery = Discovery::new(server);
    let found = discovery.server_preferred_resources().await.unwrap();
    let names: Vec<_> = found
        .resources
        .iter()
        .flat_map(|list| {
            list.resources.iter().map(|served| format!("{}/{}", list.group_version, served.name))
        })
        .collect();
    assert_eq!(names, ["v1/pods", "scale/v1/a", "scale/v2/b"]);
    let [(group_version, error)] = &found.failed[..] else { panic!("{:?}", found.failed) };
    assert_eq!(group_version, "down/v1");
    assert!(error.to_string().starts_with("cannot get /apis/down/v1: no endpoints"), "{error}");
    let (groups, all) = discovery.server_groups_and_resources().await.unwrap();
    assert_eq!(groups.iter().map(|group| group.name.as_str()).collect::<Vec<_>>(), ["", "scale", "down"]);
    assert_eq!(all.resources.iter().map(|list| list.resources.len()).sum::<usize>(), 5);
}

#[tokio::test(start_paused = true)]
async fn list_ends_at_its_timeout() {
    let maps = TypedClient::<ConfigMap>::namespaced(RestClient::new(silent(), "", "v1"), "default");
    #[allow(deprecated, reason = "kube has no other place for it")]
    let params = ListParams { timeout: Some(5), ..ListParams::default() };
    let error = maps.list(&params).await.unwrap_err();
    assert!(error.to_string().ends_with("the request took longer than the timeout of 5s"), "{error}");
    let error = maps.delete_collection(&DeleteParams::default(), &params).await.unwrap_err();
    assert!(error.to_string().ends_with("the request took longer than the timeout of 5s"), "{error}");
    #[allow(deprecated, reason = "kube has no other place for it")]
    let endless = ListParams { timeout: Some(0), ..ListParams::default() };
    let waited = tokio::time::timeout(std::time::Duration::from_secs(100), maps.list(&endless)).await;
    assert!(waited.is_err());
}

/// A client of deployments whose server answers a scale, and the requests that it got.
fn scales() -> (TypedClient<Deployment>, Arc<Mutex<Vec<String>>>) {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&asked);
    let service = tower::service_fn(move |request: Request<Body>| {
        let log = Arc::clone(&log);
        async move {
            let (parts, body) = request.into_parts();
            let body = body.collect_bytes().await.unwrap();
            let line = format!("{} {} {}", parts.method, parts.uri, String::from_utf8_lossy(&body));
            log.lock().unwrap().push(line.trim_end().to_owned());
            let scale = r#"{"kind":"Scale","apiVersion":"autoscaling/v1","metadata":{"name":"a"},"spec":{"replicas":3}}"#;
            let list = format!(
                r#"{{"kind":"ScaleList","apiVersion":"autoscaling/v1","metadata":{{}},"items":[{scale}]}}"#
            );
            let is_list = parts.uri.query().is_some_and(|query| query.contains("labelSelector"));
            let body = Full::new(Bytes::from(if is_list { list } else { scale.to_owned() }));
            Ok::<_, std::convert::Infallible>(Response::new(body))
        }
    });
    let client = kube::Client::new(service, "default");
    (TypedClient::namespaced(RestClient::new(client, "apps", "v1"), "default"), asked)
}

#[tokio::test]
async fn subresources_have_every_verb_and_types_of_their_own() {
    let (deployments, asked) = scales();
    let scales = deployments.subresource("scale");
    let (post, apply) = (PostParams::default(), PatchParams::apply("me").force());
    let mut scale: Scale = scales.get("a").await.unwrap();
    assert_eq!(scale.spec.as_ref().unwrap().replicas, Some(3));
    scale.spec = None;
    let _: Scale = scales.create("a", &scale, &PostParams { dry_run: true, ..post.clone() }).await.unwrap();
    let _: Scale = scales.update("a", &scale, &post).await.unwrap();
    let patch = Patch::Merge(serde_json::json!({"spec": {}}));
    let _: serde_json::Value = scales.patch("a", &PatchParams::default(), &patch).await.unwrap();
    let _: Scale = scales.apply("a", &scale, &apply).await.unwrap();
    let list: ObjectList<Scale> = scales.list("a", &ListParams::default().labels("a=b")).await.unwrap();
    assert_eq!(list.items.len(), 1);
    let body = r#"{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"a"}}"#;
    let path = "/apis/apps/v1/namespaces/default/deployments/a/scale";
    let expected = [
        format!("GET {path}"),
        format!("POST {path}?&dryRun=All {body}"),
        format!("PUT {path}? {body}"),
        format!("PATCH {path}? {{\"spec\":{{}}}}"),
        format!("PATCH {path}?&force=true&fieldManager=me {body}"),
        format!("GET {path}?&labelSelector=a%3Db"),
    ];
    assert_eq!(*asked.lock().unwrap(), expected);
}

#[tokio::test]
async fn requests_to_the_resource_may_have_other_types() {
    let (deployments, asked) = scales();
    let requests = deployments.resource();
    let (post, apply) = (PostParams::default(), PatchParams::apply("me"));
    let scale: Scale = requests.get("a").await.unwrap();
    let _: Scale = requests.create(&scale, &post).await.unwrap();
    let _: Scale = requests.update("b", &scale, &post).await.unwrap();
    let _: Scale = requests.patch("a", &PatchParams::default(), &Patch::Merge(())).await.unwrap();
    let _: Scale = requests.apply("a", &(), &apply).await.unwrap();
    let _: ObjectList<Scale> = requests.list(&ListParams::default().labels("a")).await.unwrap();
    let lines = asked.lock().unwrap().clone();
    let lines = lines.iter().map(|line| line.split(['?', '{']).next().unwrap_or_default().trim_end());
    let path = "/apis/apps/v1/namespaces/default/deployments";
    let expected = ["GET /a", "POST ", "PUT /b", "PATCH /a", "PATCH /a", "GET "].map(|line| {
        let (method, rest) = line.split_once(' ').unwrap();
        format!("{method} {path}{rest}")
    });
    assert_eq!(lines.collect::<Vec<_>>(), expected);
}

#[tokio::test(start_paused = true)]
async fn requests_to_subresources_have_the_same_errors() {
    let post = PostParams::default();
    let everywhere = TypedClient::<ConfigMap>::all_namespaces(RestClient::new(silent(), "", "v1"));
    let error = everywhere.subresource("scale").get::<Scale>("a").await.unwrap_err();
    assert!(matches!(error, Error::BadRequest { .. }), "{error}");
    let error = everywhere.resource().create::<_, Scale>(&(), &post).await.unwrap_err();
    assert!(matches!(error, Error::BadRequest { .. }), "{error}");
    let maps = maps(200, "[]");
    let error = maps.subresource("scale").get::<Scale>("a").await.unwrap_err();
    assert!(error.to_string().starts_with("cannot get configmaps/scale \"default/a\": "), "{error}");
    let nameless = maps.subresource("scale").update::<_, Scale>("", &(), &post).await.unwrap_err();
    assert!(matches!(nameless, Error::Transport { .. }), "{nameless}");
    let nobody = PatchParams::default();
    for error in [
        maps.subresource("scale").apply::<_, Scale>("a", &(), &nobody).await.unwrap_err(),
        maps.resource().apply::<_, Scale>("a", &(), &nobody).await.unwrap_err(),
        maps.resource().patch::<_, Scale>("a", &nobody, &Patch::Apply(())).await.unwrap_err(),
    ] {
        assert!(error.to_string().contains("field manager"), "{error}");
    }
    let silent = TypedClient::<ConfigMap>::namespaced(RestClient::new(silent(), "", "v1"), "default");
    #[allow(deprecated, reason = "kube has no other place for it")]
    let params = ListParams { timeout: Some(1), ..ListParams::default() };
    let error = silent.subresource("x").list::<Scale>("a", &params).await.unwrap_err();
    assert!(error.to_string().ends_with("the request took longer than the timeout of 1s"), "{error}");
}
