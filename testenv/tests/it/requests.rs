//! Bodies, patches and pages of requests.

use kubesmith_testenv::TestEnv;
use serde_json::{Value, json};

use crate::details::{POD, send, send_json, with_pod};
use crate::support::{widget_crd, widgets};

const POD_LIST: &str = "/api/v1/namespaces/default/pods";

#[tokio::test]
async fn list_at_a_future_version_times_out() {
    let env = TestEnv::builder().start().await.unwrap();
    let path = "/api/v1/configmaps?resourceVersion=999999&resourceVersionMatch=NotOlderThan";
    let (status, body) = send_json(&env, "GET", path, Value::Null).await;
    assert_eq!((status, &body["reason"]), (504, &json!("Timeout")));
    assert_eq!(body["details"]["causes"][0]["reason"], "ResourceVersionTooLarge");
}

#[tokio::test]
async fn pages_show_one_state_despite_writes_between_them() {
    let env = TestEnv::builder().start().await.unwrap();
    let maps = "/api/v1/namespaces/default/configmaps";
    let map = |name: &str| json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}});
    for name in ["a", "b", "c"] {
        send_json(&env, "POST", maps, map(name)).await;
    }
    let (_, first) = send_json(&env, "GET", &format!("{maps}?limit=1"), Value::Null).await;
    send_json(&env, "DELETE", &format!("{maps}/b"), Value::Null).await;
    send_json(&env, "POST", maps, map("bb")).await;
    let token = first["metadata"]["continue"].as_str().unwrap();
    let (_, rest) = send_json(&env, "GET", &format!("{maps}?limit=9&continue={token}"), Value::Null).await;
    let names: Vec<&Value> =
        rest["items"].as_array().unwrap().iter().map(|i| &i["metadata"]["name"]).collect();
    assert_eq!(names, ["b", "c"]);
    assert_eq!(rest["metadata"]["resourceVersion"], first["metadata"]["resourceVersion"]);
    env.compact().unwrap();
    send_json(&env, "POST", maps, map("d")).await;
    let (status, gone) = send_json(&env, "GET", &format!("{maps}?continue={token}"), Value::Null).await;
    assert_eq!((status, &gone["reason"]), (410, &json!("Expired")));
}

#[tokio::test]
async fn protobuf_body_is_accepted_for_built_in_kinds() {
    let env = TestEnv::builder().start().await.unwrap();
    let kind = "application/vnd.kubernetes.protobuf";
    let body = b"k8s\0\x0a\x0f\x0a\x02v1\x12\x09Namespace\x12\x07\x0a\x05\x0a\x03new";
    let (status, namespace) = send(&env, "POST", "/api/v1/namespaces", kind, &body[..]).await;
    assert_eq!((status, &namespace["metadata"]["name"]), (201, &json!("new")));
    widgets(&env).await;
    let path = "/apis/a.example/v1/namespaces/default/widgets";
    assert_eq!(send(&env, "POST", path, kind, &body[..]).await.0, 415);
}

#[tokio::test]
async fn unsupported_scopes_subresources_and_verbs_are_refused() {
    let env = TestEnv::builder().start().await.unwrap();
    widgets(&env).await;
    let (status, body) = send_json(&env, "GET", "/apis/a.example/v1/widgets/w", Value::Null).await;
    assert_eq!((status, body.get("message")), (404, None));
    assert_eq!(send_json(&env, "POST", "/apis/a.example/v1/widgets", json!({})).await.0, 404);
    assert_eq!(send_json(&env, "GET", "/apis/a.example/v1/widgets", Value::Null).await.0, 200);
    assert_eq!(send_json(&env, "GET", "/api/v1/%zz", Value::Null).await.0, 400);
    let path = "/apis/a.example/v1/namespaces/default/widgets/w/scale";
    assert_eq!(send_json(&env, "GET", path, Value::Null).await.0, 404);
    assert_eq!(send_json(&env, "PUT", "/api/v1/namespaces", json!({})).await.0, 405);
}

#[tokio::test]
async fn configuration_may_omit_the_name_when_the_object_exists() {
    let env = TestEnv::builder().start().await.unwrap();
    widgets(&env).await;
    let path = "/apis/a.example/v1/namespaces/default/widgets";
    let widget =
        |metadata: Value| json!({"apiVersion": "a.example/v1", "kind": "Widget", "metadata": metadata});
    let applied = format!("{path}/a?fieldManager=me");
    let apply = |body: Value| send(&env, "PATCH", &applied, "application/apply-patch+yaml", body.to_string());
    let (status, body) = apply(widget(json!({"labels": {"a": "b"}}))).await;
    let nameless = "the name of the object (a based on URL) was undeterminable: name must be provided";
    assert_eq!((status, &body["message"]), (400, &json!(nameless)));
    let (status, body) = apply(widget(json!({"uid": "u"}))).await;
    assert!(body["message"].as_str().unwrap().contains("uid mismatch"), "{status}: {body}");
    assert_eq!(apply(widget(json!({"name": "a"}))).await.0, 201);
    let (status, body) = apply(widget(json!({"labels": {"a": "b"}}))).await;
    assert_eq!((status, &body["metadata"]["labels"]["a"]), (200, &json!("b")));
    assert_eq!(apply(widget(json!({"name": "b"}))).await.0, 400);
}

#[tokio::test]
async fn patch_of_missing_object_is_not_decoded() {
    let env = with_pod().await;
    let kind = "application/json-patch+json";
    let missing =
        ["/api/v1/namespaces/default/pods/q", "/apis/apps/v1/namespaces/default/deployments/q/scale"];
    for path in missing {
        assert_eq!(send(&env, "PATCH", path, kind, "{}").await.0, 404, "{path}");
    }
    assert_eq!(send(&env, "PATCH", POD, kind, "{}").await.0, 400);
    env.stop().await;
}

#[tokio::test]
async fn patch_is_checked_before_it_is_applied() {
    let env = TestEnv::builder().start().await.unwrap();
    let maps = "/api/v1/namespaces/default/configmaps";
    send_json(&env, "POST", maps, json!({"metadata": {"name": "a"}, "data": {"k": "v"}})).await;
    let (json_patch, merge) = ("application/json-patch+json", "application/merge-patch+json");
    let of = async |query: &str, kind: &str, patch: &str| {
        let (code, body) = send(&env, "PATCH", &format!("{maps}/a{query}"), kind, patch).await;
        (code, body["message"].as_str().unwrap_or_default().to_owned())
    };
    let odd = r#"[{"op": "add", "path": "/data/k", "value": "w", "extra": 1}]"#;
    let (code, message) = of("?fieldValidation=Strict", json_patch, odd).await;
    assert!(code == 422 && message.ends_with(r#"json patch unknown field "[0].extra""#), "{message}");
    assert_eq!(of("", json_patch, odd).await.0, 200);
    let wrong = "error decoding patch: json: cannot unmarshal number into Go struct field jsonPatchOp.op of type string";
    assert_eq!(of("", json_patch, r#"[{"op": 1}]"#).await, (400, wrong.to_owned()));
    assert_eq!(of("?fieldValidation=Ignore", json_patch, r#"[{"op": 1}]"#).await.0, 422);
    assert_eq!(of("?fieldValidation=Ignore", merge, "{").await, (400, "Invalid JSON Patch".to_owned()));
    // Also when it is false.
    assert_eq!(of("?force=false", merge, "{}").await.0, 422);
    assert_eq!(of("", "APPLICATION/MERGE-PATCH+JSON", "{}").await.0, 415);
    env.stop().await;
}

#[tokio::test]
async fn warnings_stay_when_the_name_is_refused() {
    let env = TestEnv::builder().start().await.unwrap();
    let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "zz": 1, "metadata": {"name": "a", "namespace": "other"}});
    let request = http::Request::post("/api/v1/namespaces/default/configmaps")
        .header("content-type", "application/json")
        .body(kube::client::Body::from(map.to_string().into_bytes()))
        .unwrap();
    let response = env.client().send(request).await.unwrap();
    assert_eq!(response.status(), 400);
    assert_eq!(response.headers()["warning"], r#"299 - "unknown field \"zz\"""#);
    env.stop().await;
}

#[tokio::test]
async fn continue_token_has_no_namespace() {
    let env = TestEnv::builder().start().await.unwrap();
    let maps = "/api/v1/namespaces/default/configmaps";
    for name in ["a", "b"] {
        send_json(&env, "POST", maps, json!({"metadata": {"name": name}})).await;
    }
    let (_, page) = send_json(&env, "GET", &format!("{maps}?limit=1"), Value::Null).await;
    let token = page["metadata"]["continue"].as_str().unwrap();
    // {"v":"meta.k8s.io/v1","rv":-1,"start":"a\u0000"}
    let own = "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6LTEsInN0YXJ0IjoiYVx1MDAwMCJ9";
    for token in [token, own] {
        let (_, rest) = send_json(&env, "GET", &format!("{maps}?continue={token}"), Value::Null).await;
        assert_eq!(rest["items"][0]["metadata"]["name"], "b", "{rest}");
    }
    env.stop().await;
}

#[tokio::test]
async fn patch_cannot_change_the_uid() {
    let env = TestEnv::builder().start().await.unwrap();
    let maps = "/api/v1/namespaces/default/configmaps";
    let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}});
    send_json(&env, "POST", maps, map).await;
    let patch = json!({"metadata": {"uid": "1"}}).to_string();
    let (status, body) =
        send(&env, "PATCH", &format!("{maps}/a"), "application/merge-patch+json", patch).await;
    assert_eq!((status, &body["details"]["causes"][0]["field"]), (422, &json!("metadata.uid")));
}

#[tokio::test]
async fn applied_configuration_names_the_object_of_the_path_or_none() {
    let env = TestEnv::builder().start().await.unwrap();
    let path = "/api/v1/namespaces/default/configmaps/a?fieldManager=f";
    let apply = async |metadata: Value| {
        let config = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}).to_string();
        send(&env, "PATCH", path, "application/apply-patch+yaml", config).await
    };
    let no_name = "the name of the object (a based on URL) was undeterminable: name must be provided";
    let (status, body) = apply(json!({})).await;
    assert_eq!((status, &body["message"]), (400, &json!(no_name)));
    assert_eq!(apply(json!({"name": "a"})).await.0, 201);
    assert_eq!(apply(json!({})).await.0, 200);
    let (status, body) = apply(json!({"name": ""})).await;
    assert_eq!((status, &body["message"]), (400, &json!(no_name)));
    let (status, body) = apply(json!({"name": "b", "namespace": "other"})).await;
    let text = "the namespace of the provided object does not match the namespace sent on the request";
    assert_eq!((status, &body["message"]), (400, &json!(text)));
    env.stop().await;
}

/// kube-apiserver decodes the fields of a Go type, and detects no duplicates in other fields.
#[tokio::test]
async fn repeated_member_is_reported_when_it_is_known() {
    let env = TestEnv::builder().start().await.unwrap();
    let body =
        r#"{"metadata": {"name": "a"}, "x": 1, "x": 2, "y": {"z": 1, "z": 1}, "data": {"b": "1", "b": "2"}}"#;
    let path = "/api/v1/namespaces/default/configmaps?fieldValidation=Strict";
    let (status, body) = send(&env, "POST", path, "application/json", body).await;
    let text = "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: strict decoding error: duplicate field \
                \"data.b\", unknown field \"x\", unknown field \"y\"";
    assert_eq!((status, &body["message"]), (400, &json!(text)));
    env.stop().await;
}

#[tokio::test]
async fn uid_conflict_of_a_dry_run_shows_the_key_without_its_prefix() {
    let env = TestEnv::builder().start().await.unwrap();
    let maps = "/api/v1/namespaces/default/configmaps";
    let map = |uid: &str| json!({"metadata": {"name": "a", "uid": uid}});
    send_json(&env, "POST", maps, map("")).await;
    for (query, key) in [("", "/registry/configmaps/default/a"), ("?dryRun=All", "/configmaps/default/a")] {
        let (status, body) = send_json(&env, "PUT", &format!("{maps}/a{query}"), map("z")).await;
        assert_eq!(status, 409);
        assert!(body["message"].as_str().unwrap().contains(&format!("Key: {key},")), "{body}");
    }
    env.stop().await;
}

#[tokio::test]
async fn next_page_has_the_version_of_the_first() {
    let env = TestEnv::builder().start().await.unwrap();
    let (_, first) = send_json(&env, "GET", "/api/v1/namespaces?limit=1", Value::Null).await;
    let token = first["metadata"]["continue"].as_str().unwrap();
    let path = format!("/api/v1/namespaces?limit=1&continue={token}&resourceVersion=");
    assert_eq!(send_json(&env, "GET", &format!("{path}0"), Value::Null).await.0, 200);
    let (status, body) = send_json(&env, "GET", &format!("{path}5"), Value::Null).await;
    let text = "specifying resource version is not allowed when using continue";
    assert_eq!((status, &body["message"]), (400, &json!(text)));
}

#[tokio::test]
async fn name_that_no_path_may_have_is_an_invalid_request() {
    let env = TestEnv::builder().start().await.unwrap();
    for (method, path, kind) in [
        ("GET", "/api/v1/nodes/a%25b", "application/json"),
        ("DELETE", "/api/v1/nodes/a%25b", "application/json"),
        ("PATCH", "/api/v1/nodes/a%25b", "application/merge-patch+json"),
        ("GET", "/apis/apps/v1/namespaces/default/deployments/a%25b/scale", "application/json"),
    ] {
        let (status, body) = send(&env, method, path, kind, "{}").await;
        let text = "Name parameter invalid: \"a%b\": may not contain '%'";
        assert_eq!((status, &body["message"]), (400, &json!(text)), "{method} {path}");
    }
    env.stop().await;
}

#[tokio::test]
async fn path_of_an_object_without_its_namespace_is_none_whatever_the_client_accepts() {
    let env = TestEnv::builder().start().await.unwrap();
    let request = http::Request::get("/api/v1/pods/a").header("accept", "text/x");
    let response = env.client().send(request.body(kube::client::Body::empty()).unwrap()).await.unwrap();
    assert_eq!(response.status(), 404);
    env.stop().await;
}

#[tokio::test]
async fn applied_null_is_no_status() {
    let env = TestEnv::builder().start().await.unwrap();
    let mut crd = serde_json::to_value(widget_crd("a.example", "Namespaced")).unwrap();
    let schema = crd.pointer_mut("/spec/versions/0/schema/openAPIV3Schema/properties").unwrap();
    schema["status"] = json!({"type": "object", "properties": {"a": {"type": "string"}}});
    env.install_crds(vec![serde_json::from_value(crd).unwrap()]).await.unwrap();
    let path = "/apis/a.example/v1/namespaces/default/widgets";
    let widget = json!({"apiVersion": "a.example/v1", "kind": "Widget", "metadata": {"name": "a"}});
    assert_eq!(send_json(&env, "POST", path, widget).await.0, 201);
    let apply = async |status: Value| {
        let config = json!({"apiVersion": "a.example/v1", "kind": "Widget", "status": status}).to_string();
        let path = format!("{path}/a/status?fieldManager=m");
        send(&env, "PATCH", &path, "application/apply-patch+yaml", config).await
    };
    let (status, body) = apply(Value::Null).await;
    assert_eq!((status, body.get("status")), (200, None), "{body}");
    assert_eq!(apply(json!({"a": null})).await.0, 422);
    env.stop().await;
}

/// kube-apiserver stores `1.0` as `1`. An update to it counts as a change, an apply does not: its body comes through YAML.
#[tokio::test]
async fn whole_floats_are_stored_as_integers() {
    const WIDGETS: &str = "/apis/a.example/v1/namespaces/default/widgets";
    const MERGE: &str = "application/merge-patch+json";
    const APPLY: &str = "application/apply-patch+yaml";
    let env = TestEnv::builder().start().await.unwrap();
    env.install_crds(vec![widget_crd("a.example", "Namespaced")]).await.unwrap();
    let body = |number: &str| {
        format!(
            r#"{{"apiVersion": "a.example/v1", "kind": "Widget", "metadata": {{"name": "w"}}, "spec": {{"n": {number}}}}}"#
        )
    };
    let path = format!("{WIDGETS}/w?fieldManager=m");
    let told = |answer: &Value| (answer["metadata"]["generation"].as_i64(), answer["spec"]["n"].to_string());
    let (_, created) = send(&env, "PATCH", &path, APPLY, body("1")).await;
    assert_eq!(told(&created), (Some(1), "1".to_owned()));
    let (code, applied) = send(&env, "PATCH", &path, APPLY, body("1.0")).await;
    assert_eq!((code, told(&applied)), (200, (Some(1), "1".to_owned())));
    let (code, patched) = send(&env, "PATCH", &path, MERGE, r#"{"spec": {"n": 1e0}}"#).await;
    assert_eq!((code, told(&patched)), (200, (Some(2), "1".to_owned())));
}

/// kube-apiserver decodes with Go's encoding/json, and its messages reach the client.
#[tokio::test]
async fn malformed_bodies_are_refused_with_gos_message() {
    const MAPS: &str = "/api/v1/namespaces/default/configmaps";
    const JSON: &str = "application/json-patch+json";
    const MERGE: &str = "application/merge-patch+json";
    const STRATEGIC: &str = "application/strategic-merge-patch+json";
    const APPLY: &str = "application/apply-patch+yaml";
    let env = TestEnv::builder().start().await.unwrap();
    let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m"}});
    send_json(&env, "POST", MAPS, map).await;
    let one = format!("{MAPS}/m?fieldManager=f");
    let map_type = "json: cannot unmarshal array into Go value of type map[string]interface {}";
    for (kind, body, code, text) in [
        (JSON, "x", 400, "error decoding patch: invalid character 'x' looking for beginning of value"),
        (
            JSON,
            "\"x\"",
            400,
            "error decoding patch: json: cannot unmarshal string into Go value of type []handlers.jsonPatchOp",
        ),
        (MERGE, "[]", 400, &format!("error decoding patch: {map_type}")),
        (MERGE, "null", 400, "Invalid JSON Patch"),
        (STRATEGIC, "[]", 400, map_type),
        (STRATEGIC, "", 400, "unexpected end of JSON input"),
        (
            APPLY,
            "[]",
            400,
            &format!("error decoding YAML: error unmarshaling JSON: while decoding JSON: {map_type}"),
        ),
        (APPLY, "", 400, "invalid object type: /, Kind="),
        (
            APPLY,
            "a: b: c",
            400,
            "error decoding YAML: error converting YAML to JSON: yaml: mapping values are not allowed in this context",
        ),
        (
            JSON,
            r#"[{"op": "replace", "path": "", "value": {}}]"#,
            400,
            "the name of the object (m based on URL) was undeterminable: name must be provided",
        ),
        ("application/json", "{}", 415, "415: Unsupported Media Type"),
    ] {
        let (status, answer) = send(&env, "PATCH", &one, kind, body).await;
        assert_eq!((status, answer["message"].as_str()), (code, Some(text)), "{kind} {body}");
    }
    let (status, answer) = send(&env, "POST", MAPS, "application/json", "{\"a\":").await;
    let text = "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; \
                json parse error: unexpected end of JSON input ({\"a\":)";
    assert_eq!((status, answer["message"].as_str()), (400, Some(text)));
    let strict = format!("{one}&fieldValidation=Strict");
    let (status, answer) = send(&env, "PATCH", &strict, STRATEGIC, r#"{"data":{"a":"1","a":"2"}}"#).await;
    let text = " \"\" is invalid: patch: Invalid value: \"map[data:map[a:2]]\": strict decoding error: duplicate field \"data.a\"";
    assert_eq!((status, answer["message"].as_str()), (422, Some(text)));
    let twice = "apiVersion: v1\nkind: ConfigMap\ndata:\n  a: '1'\n  a: '2'\n";
    let (status, answer) = send(&env, "PATCH", &strict, APPLY, twice).await;
    let text = "error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n  line 5: key \"a\" already set in map";
    assert_eq!((status, answer["message"].as_str()), (400, Some(text)));
    let version =
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "n", "resourceVersion": "5"}});
    let path = format!("{MAPS}/n?fieldManager=f&dryRun=All");
    let (status, answer) = send(&env, "PATCH", &path, APPLY, version.to_string()).await;
    assert_eq!((status, &answer["kind"]), (201, &json!("ConfigMap")), "{answer}");
    let uid = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "n", "uid": "u"}});
    let (status, _) = send(&env, "PATCH", &format!("{MAPS}/n?fieldManager=f"), APPLY, uid.to_string()).await;
    assert_eq!(status, 409, "nothing with this uid is there to be changed");
}

#[tokio::test]
async fn malformed_timeouts_are_refused_before_anything_else() {
    let env = TestEnv::builder().start().await.unwrap();
    let invalid = "invalid timeout specified in the request URL - time:";
    for (path, code, message) in [
        ("/api/v1/namespaces?timeout=5s", 200, ""),
        ("/api/v1/namespaces?timeout=0", 200, ""),
        ("/api/v1/namespaces?timeout=5", 400, "missing unit in duration \"5\""),
        ("/api/v1/namespaces?timeout=x", 400, "invalid duration \"x\""),
        ("/nowhere?timeout=5x", 400, "unknown unit \"x\" in duration \"5x\""),
    ] {
        let (status, body) = send_json(&env, "GET", path, Value::Null).await;
        let expected = if code == 400 { json!(format!("{invalid} {message}")) } else { Value::Null };
        assert_eq!((status, &body["message"]), (code, &expected), "{path}");
    }
    // Requests without a deadline have none.
    let watch = "/api/v1/namespaces?watch=1&timeoutSeconds=1&timeout=x";
    let request = http::Request::get(watch).body(kube::client::Body::empty()).unwrap();
    assert_eq!(env.client().send(request).await.unwrap().status(), 200);
}

#[tokio::test]
async fn empty_namespace_in_a_path_names_all_namespaces() {
    let env = TestEnv::builder().start().await.unwrap();
    env.install_crds(vec![widget_crd("a.example", "Namespaced")]).await.unwrap();
    const EMPTY: &str = "/api/v1/namespaces//configmaps";
    const MAPS: &str = "/api/v1/namespaces/default/configmaps";
    let map = json!({"metadata": {"name": "m", "namespace": "default"}});
    assert_eq!(send_json(&env, "POST", MAPS, map.clone()).await.0, 201);
    let is_listed =
        |body: &Value| body["items"].as_array().unwrap().iter().any(|map| map["metadata"]["name"] == "m");
    for path in [EMPTY, "/api/v1/namespaces//configmaps/"] {
        let (status, body) = send_json(&env, "GET", path, Value::Null).await;
        assert!(status == 200 && is_listed(&body), "{path}: {body}");
    }
    let required = "ConfigMap \"m\" is invalid: metadata.namespace: Required value";
    for (method, path, code, message) in [
        ("POST", EMPTY, 422, required),
        ("PUT", "/api/v1/namespaces//configmaps/m", 400, "Namespace parameter required."),
        ("GET", "/api/v1/namespaces//configmaps/m", 400, "Namespace parameter required."),
        ("GET", "/apis/apps/v1/namespaces//deployments/m/status", 400, "Namespace parameter required."),
        ("GET", "/apis/apps/v1/namespaces//deployments/m/scale", 400, "Namespace parameter required."),
        ("GET", "/api/v1/namespaces//pods/m/log", 400, "Namespace parameter required."),
        ("POST", "/api/v1/namespaces//bindings", 400, "Namespace parameter required."),
        ("GET", "/api/v1/namespaces//status", 400, "name must be provided"),
        ("GET", "/api/v1/namespaces//nodes", 404, "the server could not find the requested resource"),
        ("GET", "/api/v1//configmaps", 404, "the server could not find the requested resource"),
    ] {
        let (status, body) = send_json(&env, method, path, map.clone()).await;
        assert_eq!((status, body["message"].as_str().unwrap()), (code, message), "{method} {path}");
    }
    let review = json!({"spec": {"user": "u", "resourceAttributes": {"verb": "get"}}});
    let path = "/apis/authorization.k8s.io/v1/namespaces//localsubjectaccessreviews";
    let (status, body) = send_json(&env, "POST", path, review).await;
    assert_eq!((status, &body["message"]), (400, &json!("namespace is required on this type: ")));
    let widgets = "/apis/a.example/v1/namespaces//widgets";
    assert_eq!(send_json(&env, "GET", widgets, Value::Null).await.0, 200);
    assert_eq!(send_json(&env, "POST", widgets, map).await.0, 404);
    let (status, body) = send_json(&env, "DELETE", EMPTY, Value::Null).await;
    assert!(status == 200 && is_listed(&body), "{body}");
    assert_eq!(send_json(&env, "GET", &format!("{MAPS}/m"), Value::Null).await.0, 404);
}

#[tokio::test]
async fn path_with_two_slashes_at_its_start_is_unknown() {
    let env = TestEnv::builder().start().await.unwrap();
    for path in ["//api/v1/namespaces", "//healthz", "//"] {
        let request = http::Request::get(path).body(kube::client::Body::empty()).unwrap();
        assert_eq!(env.client().send(request).await.unwrap().status(), 404, "{path}");
    }
}

#[tokio::test]
async fn custom_resource_is_limited_by_the_size_of_etcds_requests() {
    let env = TestEnv::builder().start().await.unwrap();
    widgets(&env).await;
    let path = "/apis/a.example/v1/namespaces/default/widgets";
    let widget = |size: usize| {
        let metadata = json!({"name": format!("w{size}")});
        json!({"apiVersion": "a.example/v1", "kind": "Widget", "metadata": metadata, "spec": {"x": "x".repeat(size)}})
    };
    assert_eq!(send_json(&env, "POST", path, widget(1_570_000)).await.0, 201);
    let (status, body) = send_json(&env, "POST", path, widget(1_600_000)).await;
    assert_eq!((status, &body["message"]), (500, &json!("etcdserver: request is too large")));
    // The limit is that of a built-in kind's protobuf.
    let pod = |size: usize| {
        let container = json!({"name": "c", "image": "i", "args": ["x".repeat(size)]});
        let metadata = json!({"name": format!("p{size}")});
        json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": [container]}})
    };
    assert_eq!(send_json(&env, "POST", POD_LIST, pod(1_570_000)).await.0, 201);
    assert_eq!(send_json(&env, "POST", POD_LIST, pod(1_600_000)).await.0, 500);
    // A dry run does not reach etcd.
    assert_eq!(send_json(&env, "POST", &format!("{path}?dryRun=All"), widget(1_600_000)).await.0, 201);
}
