//! Changes of metadata by mutating webhooks.

use http::Method;
use kubesmith_testenv::TestEnv;
use serde_json::{Value, json};

use super::admission::{MAPS, WIDGETS, map, rules};
use super::server::{HookServer, hook, mutating, patched};
use crate::scales::with_fleet;
use crate::support::{call, patch, send, widgets};

/// Starts a server with a map and a widget, both named `m` and with a label, whose writes get these JSON patch operations.
async fn changed_by(operations: Value) -> (TestEnv, HookServer) {
    let env = TestEnv::builder().start().await.unwrap();
    widgets(&env).await;
    for (path, version, kind) in [(MAPS, "v1", "ConfigMap"), (WIDGETS, "a.example/v1", "Widget")] {
        let metadata = json!({"name": "m", "labels": {"c": "d"}});
        let object = json!({"apiVersion": version, "kind": kind, "metadata": metadata});
        assert_eq!(call(&env, Method::POST, path, object).await.0, 201);
    }
    let server = HookServer::responding(&env, move |_, _| patched(&operations)).await;
    let only = rules(&["CREATE", "UPDATE"], &["configmaps", "widgets", "deployments/scale", "fleets/scale"]);
    mutating(&env, "m", &[hook("m", &json!({"rules": only}))]).await;
    (env, server)
}

#[tokio::test]
async fn update_is_refused_when_a_webhook_removes_the_name() {
    let (env, _server) = changed_by(json!([{"op": "remove", "path": "/metadata/name"}])).await;
    let text = "is invalid: [metadata.name: Required value: name or generateName is required, metadata.name: Invalid \
                value: \"\": field is immutable]";
    for (path, kind) in [(MAPS, "ConfigMap"), (WIDGETS, "Widget.a.example")] {
        let (code, body) = patch(
            &env,
            &format!("{path}/m"),
            "merge-patch+json",
            json!({"metadata": {"labels": {"a": "b"}}}),
        )
        .await;
        assert_eq!((code, body["message"].as_str()), (422, Some(&*format!("{kind} \"\" {text}"))));
    }
    env.stop().await;
}

#[tokio::test]
async fn created_object_has_its_namespace_when_a_webhook_removes_it() {
    let (env, _server) = changed_by(json!([{"op": "remove", "path": "/metadata/namespace"}])).await;
    let (code, body) = call(&env, Method::POST, MAPS, map("n")).await;
    assert_eq!((code, &body["metadata"]["namespace"]), (201, &json!("default")));
    env.stop().await;
}

#[tokio::test]
async fn applied_object_is_stored_under_the_name_of_its_path_when_a_webhook_renames_it() {
    let (env, _server) = changed_by(json!([{"op": "add", "path": "/metadata/name", "value": "m"}])).await;
    let path = format!("{MAPS}/n?fieldManager=f");
    let (code, body) = patch(&env, &path, "apply-patch+yaml", map("n")).await;
    assert_eq!((code, &body["metadata"]["name"]), (201, &json!("m")), "{body}");
    let (code, body) = call(&env, Method::GET, &format!("{MAPS}/n"), Value::Null).await;
    assert_eq!((code, &body["metadata"]["name"]), (200, &json!("m")));
    env.stop().await;
}

#[tokio::test]
async fn applied_object_is_refused_when_a_webhook_sets_a_malformed_version() {
    let (env, _server) =
        changed_by(json!([{"op": "add", "path": "/metadata/resourceVersion", "value": "x"}])).await;
    let (code, body) = patch(&env, &format!("{MAPS}/n?fieldManager=f"), "apply-patch+yaml", map("n")).await;
    assert_eq!(
        (code, body["message"].as_str()),
        (500, Some("strconv.ParseUint: parsing \"x\": invalid syntax"))
    );
    env.stop().await;
}

#[tokio::test]
async fn webhook_may_remove_all_managers_but_not_break_them() {
    let label = json!({"metadata": {"labels": {"a": "b"}}});
    for (managers, kept) in [(json!([]), false), (json!([{"manager": "x"}]), true)] {
        let operation = json!([{"op": "add", "path": "/metadata/managedFields", "value": managers}]);
        let (env, _server) = changed_by(operation).await;
        for path in [MAPS, WIDGETS] {
            let path = format!("{path}/m?fieldManager=f");
            let (code, body) = patch(&env, &path, "merge-patch+json", label.clone()).await;
            let found = body["metadata"]["managedFields"].as_array().map(Vec::len);
            assert_eq!((code, found), (200, kept.then_some(2)), "{body}");
        }
        env.stop().await;
    }
}

#[tokio::test]
async fn metadata_of_a_wrong_type_is_refused_for_built_in_kinds_and_dropped_for_others() {
    let (env, _server) = changed_by(json!([{"op": "add", "path": "/metadata/labels", "value": []}])).await;
    let change = json!({"metadata": {"annotations": {"a": "b"}}});
    let (code, body) = patch(&env, &format!("{MAPS}/m"), "merge-patch+json", change.clone()).await;
    let text = "Internal error occurred: json: cannot unmarshal array into Go struct field ObjectMeta.metadata.labels of \
                type map[string]string";
    assert_eq!((code, body["message"].as_str()), (500, Some(text)));
    let (code, body) = patch(&env, &format!("{WIDGETS}/m"), "merge-patch+json", change).await;
    assert_eq!((code, &body["metadata"]["labels"]), (200, &Value::Null), "{body}");
    env.stop().await;
}

#[tokio::test]
async fn scale_is_refused_when_a_webhook_breaks_its_metadata() {
    let spec = json!({"selector": {"matchLabels": {"a": "b"}}, "template": {"metadata": {"labels": {"a": "b"}},
        "spec": {"containers": [{"name": "a", "image": "a"}]}}});
    for (operation, code, text) in [
        (
            json!({"op": "remove", "path": "/metadata/namespace"}),
            422,
            "Scale.autoscaling \"d\" is invalid: metadata.namespace: Required value",
        ),
        (
            json!({"op": "add", "path": "/metadata/name", "value": 3}),
            500,
            "Internal error occurred: json: cannot unmarshal number into Go struct field ObjectMeta.metadata.name of type \
             string",
        ),
    ] {
        let (env, _server) = changed_by(json!([operation])).await;
        let deployments = "/apis/apps/v1/namespaces/default/deployments";
        call(&env, Method::POST, deployments, json!({"metadata": {"name": "d"}, "spec": spec})).await;
        let path = format!("{deployments}/d/scale");
        let (found, body) = patch(&env, &path, "merge-patch+json", json!({"spec": {"replicas": 2}})).await;
        assert_eq!((found, body["message"].as_str()), (code, Some(text)));
        env.stop().await;
    }
}

#[tokio::test]
async fn scale_of_a_custom_resource_is_converted_to_its_type_after_admission() {
    for (path, value, fault) in [
        ("/metadata", json!("x"), "cannot restore struct from: string"),
        ("/metadata/name", json!(3), "cannot convert int64 to string"),
        ("/metadata/labels", json!("x"), "cannot restore map from string"),
        ("/spec/replicas", json!("x"), "unrecognized type: int32"),
    ] {
        let (env, _server) = changed_by(json!([{"op": "add", "path": path, "value": value}])).await;
        let fleet = with_fleet(&env).await;
        let (code, body) =
            call(&env, Method::PUT, &format!("{fleet}/scale"), json!({"metadata": {"name": "f"}})).await;
        let text = format!("unable to convert unstructured object to autoscaling/v1, Kind=Scale: {fault}");
        assert_eq!((code, body["message"].as_str(), body.get("reason")), (500, Some(&*text), None));
        env.stop().await;
    }
}

#[tokio::test]
async fn self_link_is_shown_by_dry_runs_alone() {
    let env = TestEnv::builder().start().await.unwrap();
    call(&env, Method::POST, MAPS, map("m")).await;
    let change = json!({"metadata": {"selfLink": "/x"}}).to_string();
    let merge = [("content-type", "application/merge-patch+json")];
    for (query, shown) in [("?dryRun=All", json!("/x")), ("", Value::Null)] {
        let (code, body) =
            send(&env, Method::PATCH, &format!("{MAPS}/m{query}"), &merge, change.clone()).await;
        assert_eq!((code, &body["metadata"]["selfLink"]), (200, &shown), "{query}");
    }
    env.stop().await;
}
