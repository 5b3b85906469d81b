//! Custom resources whose versions a webhook converts: `spec.size` of v1 is `spec.dimensions.width` of v2.

use futures::{FutureExt, StreamExt, TryStreamExt};
use http::Method;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, ApiResource, DynamicObject, GroupVersionKind, WatchEvent, WatchParams};
use kubesmith_testenv::TestEnv;
use serde_json::{Value, json};

use super::server::{HookServer, hook, mutating, patched};
use crate::support::{call, patch};

const V1: &str = "/apis/a.example/v1/namespaces/default/widgets";
const V2: &str = "/apis/a.example/v2/namespaces/default/widgets";
const CRD: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.a.example";

fn crd(stored: &str) -> CustomResourceDefinition {
    let version = |name: &str, spec: Value| {
        json!({"name": name, "served": true, "storage": name == stored, "subresources": {"status": {}},
               "selectableFields": if name == "v2" { json!([{"jsonPath": ".spec.dimensions.width"}]) } else { json!([]) },
               "schema": {"openAPIV3Schema": {"type": "object", "properties": {
                   "spec": spec, "status": {"type": "object", "properties": {"ok": {"type": "boolean"}}}}}}})
    };
    let size = json!({"type": "object", "properties": {
        "size": {"type": "integer"}, "mode": {"type": "string", "default": "slow"}}});
    let dimensions = json!({"type": "object", "properties": {
        "dimensions": {"type": "object", "properties": {"width": {"type": "integer"}}}, "mode": {"type": "string"},
        "only": {"type": "string", "default": "v2"}}});
    serde_json::from_value(json!({
        "metadata": {"name": "widgets.a.example"},
        "spec": {
            "group": "a.example", "scope": "Namespaced",
            "names": {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"},
            "versions": [version("v1", size), version("v2", dimensions)],
            "conversion": {"strategy": "Webhook", "webhook": {"conversionReviewVersions": ["v1"],
                "clientConfig": {"service": {"name": "hooks", "namespace": "system", "path": "/convert"}}}}}}))
    .unwrap()
}

/// Converts an object as the operator of widgets would.
fn convert(object: &Value, to: &str) -> Value {
    let mut next = object.clone();
    next["apiVersion"] = json!(to);
    // Server-side apply has objects converted without the fields that are given up.
    if let Some(spec) = next["spec"].as_object_mut() {
        if to == "a.example/v2" {
            let width = spec.remove("size");
            spec.extend(width.map(|width| ("dimensions".to_owned(), json!({"width": width}))));
        } else {
            let size = spec.remove("dimensions").map(|dimensions| dimensions["width"].clone());
            spec.extend(size.map(|size| ("size".to_owned(), size)));
        }
    }
    next["metadata"]["labels"] = json!({"seen-as": to.rsplit_once('/').unwrap().1});
    next
}

fn converted(request: &Value) -> Value {
    let to = request["desiredAPIVersion"].as_str().unwrap();
    let objects = request["objects"].as_array().unwrap().iter();
    json!({"result": {"status": "Success"}, "convertedObjects": objects.map(|o| convert(o, to)).collect::<Vec<_>>()})
}

/// An environment with widgets and the server that converts them.
async fn started() -> (TestEnv, HookServer) {
    let env = TestEnv::builder().start().await.unwrap();
    let server = HookServer::responding(&env, |path, request| match path {
        "/convert" => converted(request),
        _ => patched(&json!([{"op": "add", "path": "/spec/mode", "value": "fast"}])),
    })
    .await;
    env.install_crds(vec![crd("v1")]).await.unwrap();
    (env, server)
}

fn v1(name: &str, size: i64) -> Value {
    json!({"apiVersion": "a.example/v1", "kind": "Widget", "metadata": {"name": name}, "spec": {"size": size}})
}

fn v2(name: &str, width: i64) -> Value {
    json!({"apiVersion": "a.example/v2", "kind": "Widget", "metadata": {"name": name},
           "spec": {"dimensions": {"width": width}}})
}

#[tokio::test]
async fn objects_are_read_and_written_in_every_version() {
    let (env, server) = started().await;
    let (code, created) = call(&env, Method::POST, V1, v1("a", 1)).await;
    assert_eq!((code, &created["spec"]), (201, &json!({"size": 1, "mode": "slow"})));
    assert!(server.take_calls().is_empty(), "what is stored as it is asked for needs no webhook");

    let (_, read) = call(&env, Method::GET, &format!("{V2}/a"), Value::Null).await;
    // Defaults are those of the stored version.
    assert_eq!(read["spec"], json!({"dimensions": {"width": 1}, "mode": "slow"}));
    assert_eq!(
        (&read["apiVersion"], &read["metadata"]["labels"]),
        (&json!("a.example/v2"), &json!({"seen-as": "v2"}))
    );
    assert_eq!(read["metadata"]["uid"], created["metadata"]["uid"]);
    let calls = server.take_calls();
    let [(_, request)] = &calls[..] else { panic!("{calls:?}") };
    assert_eq!(
        (&request["desiredAPIVersion"], &request["objects"][0]["spec"]["size"]),
        (&json!("a.example/v2"), &json!(1))
    );
    assert_eq!(
        request["objects"][0]["metadata"]["resourceVersion"],
        Value::Null,
        "it is given after decoding"
    );
    assert_eq!(read["metadata"]["resourceVersion"], created["metadata"]["resourceVersion"]);

    let (code, created) = call(&env, Method::POST, V2, v2("b", 2)).await;
    assert_eq!(
        (code, &created["spec"]),
        (201, &json!({"dimensions": {"width": 2}, "mode": "slow"})),
        "{created}"
    );
    let (_, read) = call(&env, Method::GET, &format!("{V1}/b"), Value::Null).await;
    assert_eq!(read["spec"], json!({"size": 2, "mode": "slow"}));

    let (code, changed) =
        patch(&env, &format!("{V2}/a"), "merge-patch+json", json!({"spec": {"dimensions": {"width": 5}}}))
            .await;
    assert_eq!(
        (code, &changed["spec"]["dimensions"]["width"], &changed["metadata"]["generation"]),
        (200, &json!(5), &json!(2))
    );
    let status = json!({"status": {"ok": true}});
    let (code, changed) = patch(&env, &format!("{V2}/a/status"), "merge-patch+json", status).await;
    assert_eq!(
        (code, &changed["status"], &changed["metadata"]["generation"]),
        (200, &json!({"ok": true}), &json!(2))
    );
    let mut next = changed.clone();
    next["spec"]["dimensions"]["width"] = json!(6);
    let (code, _) = call(&env, Method::PUT, &format!("{V2}/a"), next).await;
    assert_eq!(code, 200);
    let (_, read) = call(&env, Method::GET, &format!("{V1}/a"), Value::Null).await;
    assert_eq!((&read["spec"]["size"], &read["status"]["ok"]), (&json!(6), &json!(true)));
    let (code, _) = call(&env, Method::DELETE, &format!("{V2}/a"), Value::Null).await;
    assert_eq!(code, 200);
    env.stop().await;
}

#[tokio::test]
async fn list_is_converted_in_one_call_and_filtered_as_converted() {
    let (env, server) = started().await;
    for size in 1..=5 {
        call(&env, Method::POST, V1, v1(&format!("w{size}"), size)).await;
    }
    let names = |list: &Value| -> Vec<String> {
        let items = list["items"].as_array().unwrap().iter();
        items.map(|i| i["metadata"]["name"].as_str().unwrap().to_owned()).collect()
    };
    let (_, list) = call(&env, Method::GET, V2, Value::Null).await;
    assert_eq!((&list["apiVersion"], &list["kind"]), (&json!("a.example/v2"), &json!("WidgetList")));
    assert_eq!(names(&list).len(), 5);
    assert_eq!(list["items"][2]["spec"]["dimensions"]["width"], 3);
    let calls = server.take_calls();
    assert_eq!((calls.len(), calls[0].1["objects"].as_array().unwrap().len()), (1, 5));
    let (_, page) = call(&env, Method::GET, &format!("{V2}?limit=2"), Value::Null).await;
    assert_eq!(
        (names(&page), &page["metadata"]["remainingItemCount"]),
        (vec!["w1".to_owned(), "w2".to_owned()], &json!(3))
    );
    assert_eq!(server.take_calls()[0].1["objects"].as_array().unwrap().len(), 2);
    let (_, list) =
        call(&env, Method::GET, &format!("{V2}?fieldSelector=spec.dimensions.width%3D4"), Value::Null).await;
    assert_eq!(names(&list), ["w4"]);
    let (_, list) = call(&env, Method::GET, &format!("{V2}?labelSelector=seen-as%3Dv2"), Value::Null).await;
    assert_eq!(names(&list).len(), 5);
    let (_, list) =
        call(&env, Method::DELETE, &format!("{V2}?fieldSelector=spec.dimensions.width%3D4"), Value::Null)
            .await;
    assert_eq!(names(&list), ["w4"]);
    let (_, list) = call(&env, Method::GET, V1, Value::Null).await;
    assert_eq!(names(&list).len(), 4);
    env.stop().await;
}

#[tokio::test]
async fn watch_has_the_requested_version() {
    let (env, _server) = started().await;
    call(&env, Method::POST, V1, v1("a", 1)).await;
    let gvk = GroupVersionKind::gvk("a.example", "v2", "Widget");
    let resource = ApiResource::from_gvk_with_plural(&gvk, "widgets");
    let api: Api<DynamicObject> = Api::namespaced_with(env.client(), "default", &resource);
    let mut all = api.watch(&WatchParams::default().disable_bookmarks(), "0").await.unwrap().boxed();
    let wide = WatchParams::default().disable_bookmarks().fields("spec.dimensions.width=2");
    let mut wide = api.watch(&wide, "0").await.unwrap().boxed();
    let shown = |event: WatchEvent<DynamicObject>| match event {
        WatchEvent::Added(o) => format!("+{}", o.data["spec"]["dimensions"]["width"]),
        WatchEvent::Modified(o) => format!("~{}", o.data["spec"]["dimensions"]["width"]),
        WatchEvent::Deleted(o) => format!("-{}", o.data["spec"]["dimensions"]["width"]),
        other => panic!("{other:?}"),
    };
    assert_eq!(shown(all.try_next().await.unwrap().unwrap()), "+1");
    for size in [2, 3] {
        patch(&env, &format!("{V1}/a"), "merge-patch+json", json!({"spec": {"size": size}})).await;
    }
    call(&env, Method::DELETE, &format!("{V1}/a"), Value::Null).await;
    for expected in ["~2", "~3", "-3"] {
        assert_eq!(shown(all.try_next().await.unwrap().unwrap()), expected);
    }
    for expected in ["+2", "-2"] {
        assert_eq!(shown(wide.try_next().await.unwrap().unwrap()), expected);
    }
    env.stop().await;
    assert!(all.try_next().await.unwrap().is_none());
}

#[tokio::test]
async fn objects_keep_their_stored_version_until_written() {
    let (env, server) = started().await;
    call(&env, Method::POST, V1, v1("a", 1)).await;
    env.install_crds(vec![crd("v2")]).await.unwrap();
    let (_, stored) = call(&env, Method::GET, CRD, Value::Null).await;
    assert_eq!(stored["status"]["storedVersions"], json!(["v1", "v2"]));
    server.take_calls();
    call(&env, Method::GET, &format!("{V1}/a"), Value::Null).await;
    assert!(server.take_calls().is_empty(), "it is still stored as v1");
    // A write that changes nothing but the stored version is what storage migrations do.
    let (_, read) = call(&env, Method::GET, &format!("{V2}/a"), Value::Null).await;
    let (_, written) = call(&env, Method::PUT, &format!("{V2}/a"), read.clone()).await;
    assert_ne!(read["metadata"]["resourceVersion"], written["metadata"]["resourceVersion"]);
    server.take_calls();
    let (_, read) = call(&env, Method::GET, &format!("{V2}/a"), Value::Null).await;
    assert!(server.take_calls().is_empty(), "now it is stored as v2");
    assert_eq!(read["spec"], json!({"dimensions": {"width": 1}, "mode": "slow", "only": "v2"}));
    call(&env, Method::POST, V1, v1("b", 2)).await;
    let (_, list) = call(&env, Method::GET, V1, Value::Null).await;
    assert_eq!(
        (&list["items"][0]["spec"]["size"], &list["items"][1]["spec"]["size"]),
        (&json!(1), &json!(2))
    );
    env.stop().await;
}

#[tokio::test]
async fn object_that_cannot_be_converted_is_an_error() {
    let env = TestEnv::builder().start().await.unwrap();
    let _server =
        HookServer::responding(&env, |_, request| match request["objects"][0]["metadata"]["name"].as_str() {
            Some("refused") => json!({"result": {"status": "Failure", "message": "too wide"}}),
            Some("lost") => json!({"result": {"status": "Success"}, "convertedObjects": []}),
            _ => {
                let mut response = converted(request);
                response["convertedObjects"][0]["metadata"]["name"] = json!("other");
                response
            }
        })
        .await;
    env.install_crds(vec![crd("v1")]).await.unwrap();
    for (name, expected) in [
        ("refused", "conversion webhook for a.example/v1, Kind=Widget failed: too wide"),
        ("lost", "conversion webhook for a.example/v1, Kind=Widget returned 0 objects, expected 1"),
        (
            "renamed",
            "conversion webhook for a.example/v1, Kind=Widget returned invalid object: must have the same name: renamed \
             != other",
        ),
    ] {
        let (code, _) = call(&env, Method::POST, V1, v1(name, 1)).await;
        assert_eq!(code, 201);
        for (method, path) in [
            (Method::GET, format!("{V2}/{name}")),
            (Method::GET, V2.to_owned()),
            (Method::DELETE, format!("{V2}/{name}")),
        ] {
            let (code, answer) = call(&env, method, &path, Value::Null).await;
            assert_eq!((code, &answer["message"]), (500, &json!(expected)), "{path}");
            assert!(answer.get("reason").is_none());
        }
        let (_, events) =
            call(&env, Method::GET, &format!("{V2}?watch=true&resourceVersion=0"), Value::Null).await;
        assert_eq!(events["type"], "ERROR");
        let status = &events["object"];
        assert_eq!(status["message"], format!("Internal error occurred: {expected}"));
        assert_eq!(
            (&status["reason"], &status["details"]["causes"]),
            (&json!("InternalError"), &json!([{"message": expected}]))
        );
        call(&env, Method::DELETE, &format!("{V1}/{name}"), Value::Null).await;
    }
    let (code, answer) = call(&env, Method::POST, V2, v2("refused", 1)).await;
    let expected = "conversion webhook for a.example/v2, Kind=Widget failed: too wide";
    assert_eq!((code, &answer["message"]), (500, &json!(expected)));
    env.stop().await;
}

#[tokio::test]
async fn admission_webhooks_get_the_version_that_their_rules_name() {
    let (env, server) = started().await;
    let rules = json!([{"operations": ["*"], "apiGroups": ["a.example"], "apiVersions": ["v1"], "resources": ["widgets"]}]);
    mutating(&env, "m", &[hook("m", &json!({"rules": rules}))]).await;
    let (code, created) = call(&env, Method::POST, V2, v2("a", 3)).await;
    assert_eq!(
        (code, &created["spec"]),
        (201, &json!({"dimensions": {"width": 3}, "mode": "fast"})),
        "{created}"
    );
    let (_, request) = server.calls().into_iter().find(|(path, _)| path == "/m").unwrap();
    assert_eq!(
        (&request["object"]["apiVersion"], &request["object"]["spec"]["size"]),
        (&json!("a.example/v1"), &json!(3))
    );
    env.stop().await;
}

#[tokio::test]
async fn field_ownership_keeps_the_version_of_the_write() {
    let (env, _server) = started().await;
    let apply = async |path: &str, manager: &str, body: Value| {
        patch(&env, &format!("{path}/a?fieldManager={manager}"), "apply-patch+yaml", body).await
    };
    let (code, answer) = apply(V1, "one", v1("a", 1)).await;
    assert_eq!(code, 201, "{answer}");
    // The same value is not a conflict, even if the field has another name in the version.
    let (code, answer) = apply(V2, "two", v2("a", 1)).await;
    assert_eq!(code, 200, "{answer}");
    let owners = |object: &Value| -> Vec<(String, String, Value)> {
        let entries = object["metadata"]["managedFields"].as_array().unwrap().iter();
        let text = |v: &Value| v.as_str().unwrap().to_owned();
        let owner =
            |e: &Value| (text(&e["manager"]), text(&e["apiVersion"]), e["fieldsV1"]["f:spec"].clone());
        let mut owners: Vec<_> = entries.map(owner).collect();
        owners.sort_by(|a, b| a.0.cmp(&b.0));
        owners
    };
    let (size, width) = (json!({"f:size": {}}), json!({"f:dimensions": {"f:width": {}}}));
    let own = |manager: &str, version: &str, fields: &Value| {
        (manager.to_owned(), format!("a.example/{version}"), fields.clone())
    };
    assert_eq!(owners(&answer), [own("one", "v1", &size), own("two", "v2", &width)]);
    let (code, answer) = apply(V2, "two", v2("a", 2)).await;
    assert_eq!(code, 409);
    let cause = &answer["details"]["causes"][0];
    assert_eq!(
        (&cause["message"], &cause["field"]),
        (&json!("conflict with \"one\""), &json!(".spec.size")),
        "{answer}"
    );
    let (code, answer) =
        patch(&env, &format!("{V2}/a?fieldManager=two&force=true"), "apply-patch+yaml", v2("a", 2)).await;
    assert_eq!((code, owners(&answer)), (200, vec![own("two", "v2", &width)]));
    // An update in the other version takes the field away.
    let (_, answer) =
        patch(&env, &format!("{V1}/a?fieldManager=three"), "merge-patch+json", json!({"spec": {"size": 3}}))
            .await;
    assert_eq!(owners(&answer), [own("three", "v1", &size)]);
    // A manager that applied in one version and omits a field in the other gives it up.
    patch(&env, &format!("{V1}/a?fieldManager=one&force=true"), "apply-patch+yaml", v1("a", 4)).await;
    let nothing =
        json!({"apiVersion": "a.example/v2", "kind": "Widget", "metadata": {"name": "a"}, "spec": {}});
    let (code, answer) = apply(V2, "one", nothing).await;
    assert_eq!((code, &answer["spec"]), (200, &json!({"mode": "slow"})), "{answer}");
    env.stop().await;
}

#[tokio::test]
async fn watch_ends_with_the_server_while_a_webhook_hangs() {
    let env = TestEnv::builder().start().await.unwrap();
    let _server = HookServer::start(&env, |_, _| std::future::pending().boxed()).await;
    env.install_crds(vec![crd("v1")]).await.unwrap();
    call(&env, Method::POST, V1, v1("a", 1)).await;
    let client = env.client();
    let request = http::Request::get(format!("{V2}?watch=true")).body(kube::client::Body::empty()).unwrap();
    let response = client.send(request).await.unwrap();
    let body = tokio::spawn(http_body_util::BodyExt::collect(response.into_body()));
    tokio::task::yield_now().await;
    env.stop().await;
    assert!(body.await.unwrap().unwrap().to_bytes().is_empty());
}

#[tokio::test]
async fn conversion_client_config_is_validated() {
    let env = TestEnv::builder().start().await.unwrap();
    let mut crd = serde_json::to_value(crd("v1")).unwrap();
    let path = CRD.rsplit_once('/').unwrap().0;
    crd["spec"]["conversion"]["webhook"] = json!({"conversionReviewVersions": ["v3"], "clientConfig": {"url": "http://h/#f", "caBundle": "Cg=="}});
    let (code, answer) = call(&env, Method::POST, path, crd.clone()).await;
    assert_eq!(code, 422);
    assert_eq!(
        answer["message"],
        "CustomResourceDefinition.apiextensions.k8s.io \"widgets.a.example\" is invalid: \
         [spec.conversion.webhookClientConfig.url: Invalid value: \"http\": 'https' is the only allowed URL scheme; desired \
         format: https://host[/path], spec.conversion.webhookClientConfig.url: Invalid value: \"f\": fragments are not \
         permitted in the URL, spec.conversion.conversionReviewVersions: Invalid value: [\"v3\"]: must include at least one \
         of v1, v1beta1]"
    );
    crd["spec"]["conversion"]["webhook"] = json!({"conversionReviewVersions": ["v1"], "clientConfig": {"service": {"name": "n", "namespace": "s"}}});
    let (code, stored) = call(&env, Method::POST, path, crd).await;
    assert_eq!(
        (code, &stored["spec"]["conversion"]["webhook"]["clientConfig"]["service"]["port"]),
        (201, &json!(443))
    );
    env.stop().await;
}
