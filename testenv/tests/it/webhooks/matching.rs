//! Which requests admission webhooks are called for.

use http::Method;
use kubesmith_testenv::TestEnv;
use serde_json::{Value, json};

use super::admission::{MAPS, WIDGETS, map, rules};
use super::server::{HookServer, hook, mutating, patched, validating};
use crate::support::{call, patch, widgets};

fn named(calls: &[(String, Value)]) -> Vec<String> {
    calls
        .iter()
        .map(|(path, r)| {
            format!(
                "{path} {} {}",
                r["operation"].as_str().unwrap(),
                r["resource"]["resource"].as_str().unwrap()
            )
        })
        .collect()
}

#[tokio::test]
async fn webhook_is_called_by_selectors_and_rules() {
    let env = TestEnv::builder().start().await.unwrap();
    widgets(&env).await;
    let server = HookServer::responding(&env, |_, _| json!({"allowed": true})).await;
    let cluster = json!([{"operations": ["CREATE"], "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*"], "scope": "Cluster"}]);
    let hooks = [
        hook("labelled", &json!({"objectSelector": {"matchLabels": {"a": "b"}}})),
        hook(
            "marked",
            &json!({"namespaceSelector": {"matchExpressions": [{"key": "mark", "operator": "Exists"}]}}),
        ),
        hook("cluster", &json!({"rules": cluster})),
        hook("widgets", &json!({"rules": rules(&["CREATE"], &["widgets"])})),
        hook("status", &json!({"rules": rules(&["UPDATE"], &["widgets/status"])})),
    ];
    validating(&env, "v", &hooks).await;
    let called = || {
        let mut calls = named(&server.take_calls());
        calls.sort();
        calls
    };
    call(&env, Method::POST, MAPS, map("plain")).await;
    assert!(called().is_empty());
    call(
        &env,
        Method::POST,
        "/api/v1/namespaces",
        json!({"metadata": {"name": "n", "labels": {"mark": ""}}}),
    )
    .await;
    assert_eq!(called(), ["/cluster CREATE namespaces", "/marked CREATE namespaces"]);
    let mut labelled = map("m");
    labelled["metadata"]["labels"] = json!({"a": "b"});
    call(&env, Method::POST, "/api/v1/namespaces/n/configmaps", labelled).await;
    assert_eq!(called(), ["/labelled CREATE configmaps", "/marked CREATE configmaps"]);
    // The old object counts as well, so that removing the label does not avoid the webhook.
    let off = json!({"metadata": {"labels": null}});
    patch(&env, "/api/v1/namespaces/n/configmaps/m", "merge-patch+json", off).await;
    assert_eq!(called(), ["/labelled UPDATE configmaps", "/marked UPDATE configmaps"]);
    let widget = json!({"apiVersion": "a.example/v1", "kind": "Widget", "metadata": {"name": "w"}});
    call(&env, Method::POST, WIDGETS, widget).await;
    assert_eq!(called(), ["/widgets CREATE widgets"]);
    patch(&env, &format!("{WIDGETS}/w/status"), "merge-patch+json", json!({"status": {}})).await;
    assert_eq!(called(), ["/status UPDATE widgets"]);
    env.stop().await;
}

#[tokio::test]
async fn rules_match_other_versions_of_a_resource() {
    let env = TestEnv::builder().start().await.unwrap();
    let mut crd = serde_json::to_value(crate::support::widget_crd("a.example", "Namespaced")).unwrap();
    let mut second = crd["spec"]["versions"][0].clone();
    second["name"] = json!("v2");
    second["storage"] = json!(false);
    crd["spec"]["versions"].as_array_mut().unwrap().push(second);
    env.install_crds(vec![serde_json::from_value(crd).unwrap()]).await.unwrap();
    let server = HookServer::responding(&env, |path, _| match path {
        "/equivalent" => patched(&json!([{"op": "add", "path": "/spec/by", "value": "v1"}])),
        _ => json!({"allowed": true}),
    })
    .await;
    let v1 = json!([{"operations": ["*"], "apiGroups": ["a.example"], "apiVersions": ["v1"], "resources": ["widgets"]}]);
    let hooks = [
        hook("equivalent", &json!({"rules": v1})),
        hook("exact", &json!({"rules": v1, "matchPolicy": "Exact"})),
    ];
    mutating(&env, "m", &hooks).await;
    let widget =
        json!({"apiVersion": "a.example/v2", "kind": "Widget", "metadata": {"name": "w"}, "spec": {}});
    let (_, answer) = call(&env, Method::POST, &WIDGETS.replace("v1", "v2"), widget).await;
    assert_eq!(
        (&answer["apiVersion"], &answer["spec"]["by"]),
        (&json!("a.example/v2"), &json!("v1")),
        "{answer}"
    );
    let calls = server.take_calls();
    let [(path, request)] = &calls[..] else { panic!("{calls:?}") };
    assert_eq!((path.as_str(), &request["object"]["apiVersion"]), ("/equivalent", &json!("a.example/v1")));
    assert_eq!(
        (&request["kind"]["version"], &request["requestKind"]["version"]),
        (&json!("v1"), &json!("v2"))
    );
    env.stop().await;
}

#[tokio::test]
async fn webhook_is_called_by_match_conditions() {
    let env = TestEnv::builder().start().await.unwrap();
    let server = HookServer::responding(&env, |_, _| json!({"allowed": true})).await;
    let when = |expressions: &[&str], policy: &str| {
        let conditions: Vec<Value> = expressions
            .iter()
            .enumerate()
            .map(|(i, e)| json!({"name": format!("c{i}"), "expression": e}))
            .collect();
        json!({"matchConditions": conditions, "failurePolicy": policy,
               "rules": rules(&["CREATE"], &["configmaps"])})
    };
    let not_skipped = "!has(object.metadata.labels) || !('skip' in object.metadata.labels)";
    let hooks = [
        hook("unskipped", &when(&[not_skipped, "request.namespace == 'default'"], "Fail")),
        hook("bypassed", &when(&["!authorizer.requestResource.check('bypass').allowed()"], "Fail")),
        hook("erroneous", &when(&["object.nope == 1"], "Ignore")),
        hook("decided", &when(&["object.nope == 1", "false"], "Fail")),
    ];
    validating(&env, "v", &hooks).await;
    call(&env, Method::POST, MAPS, map("a")).await;
    assert_eq!(named(&server.take_calls()), ["/unskipped CREATE configmaps"]);
    let mut skipped = map("b");
    skipped["metadata"]["labels"] = json!({"skip": ""});
    call(&env, Method::POST, MAPS, skipped).await;
    assert!(server.take_calls().is_empty());
    validating(&env, "v", &[hook("v", &when(&["object.nope == 1"], "Fail"))]).await;
    let (code, answer) = call(&env, Method::POST, MAPS, map("c")).await;
    let expected =
        "configmaps \"c\" is forbidden: expression 'object.nope == 1' resulted in error: no such key: nope";
    assert_eq!((code, &answer["message"]), (403, &json!(expected)));
    let path = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
    let body = json!({"metadata": {"name": "w"}, "webhooks": [hook("w", &when(&["object.spec"], "Fail"))]});
    let (code, answer) = call(&env, Method::POST, path, body).await;
    let expected = "webhooks[0].matchConditions[0].expression: Invalid value: \"object.spec\": must evaluate to bool but \
                    got dyn";
    assert_eq!(code, 422);
    assert!(answer["message"].as_str().unwrap().ends_with(expected), "{answer}");
    env.stop().await;
}
