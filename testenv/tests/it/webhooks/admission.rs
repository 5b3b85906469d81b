//! The requests to admission webhooks, and their effect on writes.

use futures::FutureExt;
use http::Method;
use k8s_openapi::api::core::v1::{ConfigMap, Service};
use kube::api::{Api, PostParams};
use kubesmith_testenv::{TestEnv, User};
use serde_json::{Value, json};

use super::server::{HookServer, answered, hook, mutating, patched, validating};
use crate::support::{call, patch, send, widget, widgets};

pub(super) const MAPS: &str = "/api/v1/namespaces/default/configmaps";
pub(super) const WIDGETS: &str = "/apis/a.example/v1/namespaces/default/widgets";

pub(super) fn map(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}})
}

/// Rules for one resource.
pub(super) fn rules(operations: &[&str], resources: &[&str]) -> Value {
    json!([{"operations": operations, "apiGroups": ["*"], "apiVersions": ["*"], "resources": resources}])
}

#[tokio::test]
async fn review_describes_the_request() {
    let env = TestEnv::builder().start().await.unwrap();
    let server = HookServer::responding(&env, |_, _| json!({"allowed": true})).await;
    let only = rules(&["*"], &["configmaps"]);
    mutating(&env, "m", &[hook("mutate", &json!({"rules": only}))]).await;
    validating(&env, "v", &[hook("validate", &json!({"rules": only}))]).await;
    let path = format!("{MAPS}?fieldManager=me&dryRun=All");
    let (code, _) =
        call(&env, Method::POST, &path, json!({"metadata": {"generateName": "m-"}, "data": {"a": "b"}}))
            .await;
    assert_eq!(code, 201);
    let calls = server.take_calls();
    let [(first, before), (second, after)] = &calls[..] else { panic!("{calls:?}") };
    assert_eq!((first.as_str(), second.as_str()), ("/mutate", "/validate"));
    let kind = json!({"group": "", "version": "v1", "kind": "ConfigMap"});
    let resource = json!({"group": "", "version": "v1", "resource": "configmaps"});
    for request in [before, after] {
        assert_eq!((&request["kind"], &request["requestKind"]), (&kind, &kind));
        assert_eq!((&request["resource"], &request["requestResource"]), (&resource, &resource));
        assert_eq!((&request["operation"], &request["namespace"]), (&json!("CREATE"), &json!("default")));
        assert_eq!((&request["oldObject"], &request["dryRun"]), (&Value::Null, &json!(true)));
        assert_eq!(request["userInfo"]["groups"], json!(["system:masters", "system:authenticated"]));
        assert_eq!(
            request["options"],
            json!({"kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1", "fieldManager": "me", "dryRun": ["All"]})
        );
        assert_eq!(request["object"]["data"], json!({"a": "b"}));
        assert_eq!(request["object"]["metadata"]["managedFields"][0]["manager"], "me");
    }
    // The server sets names and UIDs between the two.
    assert_eq!((&before["name"], &before["object"]["metadata"]["uid"]), (&Value::Null, &Value::Null));
    assert_eq!(after["name"], after["object"]["metadata"]["name"]);
    assert!(
        after["name"].as_str().unwrap().starts_with("m-") && after["object"]["metadata"]["uid"].is_string()
    );
    assert_ne!(before["uid"], after["uid"]);
    env.stop().await;
}

#[tokio::test]
async fn review_names_the_user() {
    let mut env = TestEnv::builder().start().await.unwrap();
    let server = HookServer::responding(&env, |_, _| json!({"allowed": true})).await;
    validating(&env, "v", &[hook("v", &json!({"rules": rules(&["*"], &["configmaps"])}))]).await;
    let jane = User { name: "jane".to_owned(), groups: vec!["team".to_owned()] };
    let user = env.add_user(&jane).await.unwrap();
    let maps: Api<ConfigMap> = Api::default_namespaced(user.client());
    let map: ConfigMap = serde_json::from_value(map("m")).unwrap();
    maps.create(&PostParams::default(), &map).await.unwrap();
    let calls = server.take_calls();
    let [(_, request)] = &calls[..] else { panic!("{calls:?}") };
    assert_eq!(request["userInfo"], json!({"username": "jane", "groups": ["team", "system:authenticated"]}));
    env.stop().await;
}

#[tokio::test]
async fn webhooks_are_called_for_every_kind_of_write() {
    let env = TestEnv::builder().start().await.unwrap();
    widgets(&env).await;
    let server = HookServer::responding(&env, |_, _| json!({"allowed": true})).await;
    validating(&env, "v", &[hook("v", &json!({}))]).await;
    assert!(server.calls().is_empty(), "webhooks do not hear of their own configurations");
    let body =
        json!({"apiVersion": "a.example/v1", "kind": "Widget", "metadata": {"name": "w"}, "spec": {"a": 1}});
    let one = format!("{WIDGETS}/w");
    let (_, created) = call(&env, Method::POST, WIDGETS, body.clone()).await;
    let mut next = created.clone();
    next["spec"]["a"] = json!(2);
    call(&env, Method::PUT, &one, next).await;
    patch(&env, &one, "merge-patch+json", json!({"spec": {"a": 3}})).await;
    patch(&env, &format!("{one}/status"), "merge-patch+json", json!({"status": {"ok": true}})).await;
    let mut applied = body.clone();
    applied["metadata"]["name"] = json!("x");
    patch(&env, &format!("{WIDGETS}/x?fieldManager=m"), "apply-patch+yaml", applied).await;
    call(&env, Method::DELETE, &one, json!({"propagationPolicy": "Background"})).await;
    call(&env, Method::DELETE, WIDGETS, Value::Null).await;
    let calls = server.take_calls();
    let told: Vec<(&str, &str, &str)> = calls
        .iter()
        .map(|(_, r)| {
            let text = |key: &str| r[key].as_str().unwrap_or_default();
            (text("operation"), text("subResource"), text("name"))
        })
        .collect();
    assert_eq!(
        told,
        [
            ("CREATE", "", "w"),
            ("UPDATE", "", "w"),
            ("UPDATE", "", "w"),
            ("UPDATE", "status", "w"),
            ("CREATE", "", "x"),
            ("DELETE", "", "w"),
            ("DELETE", "", ""),
        ]
    );
    assert_eq!(
        (&calls[2].1["oldObject"]["spec"]["a"], &calls[2].1["object"]["spec"]["a"]),
        (&json!(2), &json!(3))
    );
    assert_eq!(calls[2].1["options"]["kind"], "UpdateOptions");
    let deletion = &calls[5].1;
    assert_eq!(
        (&deletion["object"], &deletion["oldObject"]["metadata"]["name"]),
        (&Value::Null, &json!("w"))
    );
    assert_eq!(deletion["options"]["propagationPolicy"], "Background");
    assert_eq!(calls[6].1["oldObject"]["metadata"]["name"], "x");
    env.stop().await;
}

#[tokio::test]
async fn webhooks_get_a_scale_for_the_scale_subresource() {
    let env = TestEnv::builder().start().await.unwrap();
    let deployments = "/apis/apps/v1/namespaces/default/deployments";
    let deployment = json!({"metadata": {"name": "d"}, "spec": {
        "replicas": 1, "selector": {"matchLabels": {"a": "b"}},
        "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}}});
    let (code, answer) = call(&env, Method::POST, deployments, deployment).await;
    assert_eq!(code, 201, "{answer}");
    let server = HookServer::responding(&env, |path, request| match path {
        "/mutate" => patched(&json!([{"op": "replace", "path": "/spec/replicas", "value": 4}])),
        _ => json!({"allowed": request["object"]["spec"]["replicas"] == 4}),
    })
    .await;
    let only = json!({"rules": rules(&["UPDATE"], &["deployments/scale"])});
    mutating(&env, "m", &[hook("mutate", &only)]).await;
    validating(&env, "v", &[hook("validate", &only)]).await;
    let scale = format!("{deployments}/d/scale");
    let (code, answer) = patch(&env, &scale, "merge-patch+json", json!({"spec": {"replicas": 3}})).await;
    assert_eq!((code, &answer["spec"]["replicas"]), (200, &json!(4)), "{answer}");
    for (_, request) in server.calls() {
        assert_eq!(request["kind"], json!({"group": "autoscaling", "version": "v1", "kind": "Scale"}));
        assert_eq!(
            (&request["oldObject"]["kind"], &request["oldObject"]["spec"]["replicas"]),
            (&json!("Scale"), &json!(1))
        );
        assert_eq!(request["subResource"], "scale");
    }
    env.stop().await;
}

#[tokio::test]
async fn changes_of_mutating_webhooks_are_stored_in_their_order() {
    let env = TestEnv::builder().start().await.unwrap();
    let api = widgets(&env).await;
    let server = HookServer::responding(&env, |path, request| {
        let seen = request["object"]["spec"]["seen"].as_str().unwrap_or_default();
        patched(&json!([{"op": "add", "path": "/spec/seen", "value": format!("{seen}{path}")}]))
    })
    .await;
    mutating(&env, "b", &[hook("third", &json!({}))]).await;
    mutating(&env, "a", &[hook("first", &json!({})), hook("second", &json!({}))]).await;
    let created = api.create(&PostParams::default(), &widget("w", json!({"spec": {}}))).await.unwrap();
    assert_eq!(created.data["spec"]["seen"], "/first/second/third");
    let stored = api.get("w").await.unwrap();
    assert_eq!(stored.data["spec"]["seen"], "/first/second/third");
    let owners = serde_json::to_string(&stored.metadata.managed_fields).unwrap();
    assert!(!owners.contains("seen"), "nobody owns what a webhook adds: {owners}");
    assert_eq!(server.calls().len(), 3);
    env.stop().await;
}

#[tokio::test]
async fn webhook_is_reinvoked_when_a_later_one_changes_the_object() {
    let env = TestEnv::builder().start().await.unwrap();
    let server = HookServer::responding(&env, |path, request| {
        let mut labels = request["object"]["metadata"]["labels"].clone();
        if path == "/second" && labels.get("second").is_none() {
            labels["second"] = json!("yes");
            return patched(&json!([{"op": "add", "path": "/metadata/labels", "value": labels}]));
        }
        json!({"allowed": true})
    })
    .await;
    let again = json!({"reinvocationPolicy": "IfNeeded", "rules": rules(&["CREATE"], &["configmaps"])});
    let once = json!({"rules": rules(&["CREATE"], &["configmaps"])});
    mutating(
        &env,
        "m",
        &[hook("zero", &once), hook("first", &again), hook("second", &again), hook("third", &again)],
    )
    .await;
    call(&env, Method::POST, MAPS, map("m")).await;
    let paths: Vec<String> = server.take_calls().into_iter().map(|(path, _)| path).collect();
    assert_eq!(paths, ["/zero", "/first", "/second", "/third", "/first"]);
    env.stop().await;
}

#[tokio::test]
async fn webhook_changes_are_validated_like_client_input() {
    let env = TestEnv::builder().start().await.unwrap();
    let mut crd = serde_json::to_value(crate::support::widget_crd("a.example", "Namespaced")).unwrap();
    crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"] = json!({
        "type": "object", "properties": {
            "size": {"type": "integer", "maximum": 9},
            "sub": {"type": "object", "properties": {"mode": {"type": "string", "default": "slow"}}}}});
    env.install_crds(vec![serde_json::from_value(crd).unwrap()]).await.unwrap();
    let _server = HookServer::responding(&env, |_, request| {
        let size = request["object"]["spec"]["size"].as_i64().unwrap();
        patched(&json!([
            {"op": "add", "path": "/spec/unknown", "value": 1}, {"op": "add", "path": "/spec/sub", "value": {}},
            {"op": "replace", "path": "/spec/size", "value": size * 2}]))
    })
    .await;
    mutating(&env, "m", &[hook("m", &json!({}))]).await;
    let with = |size: i64| json!({"apiVersion": "a.example/v1", "kind": "Widget", "metadata": {"name": "w"}, "spec": {"size": size}});
    let (code, answer) = call(&env, Method::POST, WIDGETS, with(4)).await;
    assert_eq!(code, 201, "{answer}");
    assert_eq!(answer["spec"], json!({"size": 8, "sub": {"mode": "slow"}}));
    let (code, answer) = call(&env, Method::POST, WIDGETS, with(5)).await;
    assert_eq!(code, 422);
    assert!(answer["message"].as_str().unwrap().contains("spec.size: Invalid value: 10"), "{answer}");
    env.stop().await;
}

#[tokio::test]
async fn webhook_refusal_reaches_the_client_with_its_reason() {
    let env = TestEnv::builder().start().await.unwrap();
    let server = HookServer::responding(&env, |path, _| match path {
        "/why" => json!({"allowed": false, "warnings": ["look out"], "status": {
            "code": 409, "reason": "Conflict", "message": "already done",
            "details": {"causes": [{"reason": "FieldValueInvalid", "field": "data", "message": "bad"}]}}}),
        _ => json!({"allowed": false}),
    })
    .await;
    validating(&env, "v", &[hook("why", &json!({"rules": rules(&["CREATE"], &["configmaps"])}))]).await;
    let (code, answer) = call(&env, Method::POST, MAPS, map("m")).await;
    assert_eq!(code, 409);
    assert_eq!(
        answer,
        json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "code": 409,
               "message": "admission webhook \"why.hooks.example\" denied the request: already done", "reason": "Conflict",
               "details": {"causes": [{"reason": "FieldValueInvalid", "field": "data", "message": "bad"}]}})
    );
    let only = json!({"rules": rules(&["DELETE"], &["configmaps"])});
    validating(&env, "v", &[hook("silent", &only)]).await;
    call(&env, Method::POST, MAPS, map("m")).await;
    let (code, answer) = call(&env, Method::DELETE, &format!("{MAPS}/m"), Value::Null).await;
    let message = "admission webhook \"silent.hooks.example\" denied the request without explanation";
    assert_eq!((code, &answer["message"]), (400, &json!(message)));
    let (code, _) = call(&env, Method::GET, &format!("{MAPS}/m"), Value::Null).await;
    assert_eq!((code, server.calls().len()), (200, 2));
    env.stop().await;
}

#[tokio::test]
async fn webhook_warnings_reach_the_client() {
    let env = TestEnv::builder().start().await.unwrap();
    let _server = HookServer::responding(
        &env,
        |path, _| json!({"allowed": path == "/m", "warnings": ["look out", path]}),
    )
    .await;
    mutating(&env, "m", &[hook("m", &json!({}))]).await;
    let post = async |name: &str| {
        let request = http::Request::post(MAPS).header("content-type", "application/json");
        let body = kube::client::Body::from(map(name).to_string().into_bytes());
        let response = env.client().send(request.body(body).unwrap()).await.unwrap();
        let warnings = response.headers().get_all("warning").iter();
        let warnings: Vec<String> = warnings.map(|w| w.to_str().unwrap().to_owned()).collect();
        (response.status().as_u16(), warnings)
    };
    assert_eq!(post("a").await, (201, vec!["299 - \"look out\"".to_owned(), "299 - \"/m\"".to_owned()]));
    validating(&env, "v", &[hook("v", &json!({}))]).await;
    let expected = ["299 - \"look out\"", "299 - \"/m\"", "299 - \"/v\""].map(str::to_owned).to_vec();
    assert_eq!(post("b").await, (400, expected));
    env.stop().await;
}

#[tokio::test]
async fn webhook_may_read_and_write_during_its_call() {
    let env = TestEnv::builder().start().await.unwrap();
    let (_, created) = call(&env, Method::POST, MAPS, map("m")).await;
    assert!(created["metadata"]["uid"].is_string());
    let client = env.client();
    let server = HookServer::start(&env, move |_, review| {
        let api: Api<ConfigMap> = Api::default_namespaced(client.clone());
        async move {
            // The first time, the webhook writes before its caller, whose write then starts over.
            let mut stored = api.get("m").await.unwrap();
            let data = stored.data.get_or_insert_default();
            if !data.contains_key("webhook") && review["request"]["object"]["data"].get("webhook").is_none() {
                data.insert("webhook".to_owned(), "was here".to_owned());
                api.replace("m", &PostParams::default(), &stored).await.unwrap();
            }
            answered(&review, json!({"allowed": true}))
        }
        .boxed()
    })
    .await;
    let only = json!({"rules": rules(&["UPDATE"], &["configmaps"])});
    validating(&env, "v", &[hook("v", &only)]).await;
    let (code, answer) =
        patch(&env, &format!("{MAPS}/m"), "merge-patch+json", json!({"data": {"a": "b"}})).await;
    assert_eq!((code, &answer["data"]), (200, &json!({"a": "b", "webhook": "was here"})), "{answer}");
    // The client's write, the webhook's own, and the client's write once more.
    let told: Vec<Value> = server.calls().into_iter().map(|(_, r)| r["object"]["data"].clone()).collect();
    assert_eq!(
        told,
        [json!({"a": "b"}), json!({"webhook": "was here"}), json!({"a": "b", "webhook": "was here"})]
    );
    env.stop().await;
}

#[tokio::test]
async fn node_port_that_is_taken_during_admission_is_replaced_by_a_free_one() {
    let env = TestEnv::builder().start().await.unwrap();
    let client = env.client();
    let server = HookServer::start(&env, move |_, review| {
        let api: Api<Service> = Api::default_namespaced(client.clone());
        async move {
            let object = &review["request"]["object"];
            if object["metadata"]["name"] == "slow" && api.get_opt("quick").await.unwrap().is_none() {
                let spec = json!({"type": "NodePort", "ports": [{"port": 80, "nodePort": object["spec"]["ports"][0]["nodePort"]}]});
                let quick = json!({"metadata": {"name": "quick"}, "spec": spec});
                api.create(&PostParams::default(), &serde_json::from_value(quick).unwrap()).await.unwrap();
            }
            answered(&review, json!({"allowed": true}))
        }
        .boxed()
    })
    .await;
    let only = json!({"rules": rules(&["CREATE"], &["services"])});
    validating(&env, "v", &[hook("v", &only)]).await;
    let slow = json!({"metadata": {"name": "slow"}, "spec": {"type": "NodePort", "ports": [{"port": 80}]}});
    let path = "/api/v1/namespaces/default/services";
    let (code, answer) = call(&env, Method::POST, path, slow).await;
    assert_eq!(code, 201, "{answer}");
    let (_, quick) = call(&env, Method::GET, &format!("{path}/quick"), Value::Null).await;
    let port = |service: &Value| service["spec"]["ports"][0]["nodePort"].clone();
    assert_ne!(port(&answer), port(&quick));
    assert_eq!(server.calls().len(), 3);
    env.stop().await;
}

#[tokio::test]
async fn create_fails_when_every_chosen_node_port_is_taken_during_admission() {
    let env = TestEnv::builder().start().await.unwrap();
    let client = env.client();
    let server = HookServer::start(&env, move |_, review| {
        let api: Api<Service> = Api::default_namespaced(client.clone());
        async move {
            let object = &review["request"]["object"];
            if object["metadata"]["name"] == "slow" {
                let port = &object["spec"]["ports"][0]["nodePort"];
                let spec = json!({"type": "NodePort", "ports": [{"port": 80, "nodePort": port}]});
                let quick = json!({"metadata": {"name": format!("quick-{port}")}, "spec": spec});
                api.create(&PostParams::default(), &serde_json::from_value(quick).unwrap()).await.unwrap();
            }
            answered(&review, json!({"allowed": true}))
        }
        .boxed()
    })
    .await;
    let only = json!({"rules": rules(&["CREATE"], &["services"])});
    validating(&env, "v", &[hook("v", &only)]).await;
    let slow = json!({"metadata": {"name": "slow"}, "spec": {"type": "NodePort", "ports": [{"port": 80}]}});
    let (code, answer) = call(&env, Method::POST, "/api/v1/namespaces/default/services", slow).await;
    let text = answer["message"].as_str().unwrap();
    assert!(code == 422 && text.ends_with("provided port is already allocated"), "{answer}");
    assert_eq!(server.calls().len(), 8);
    env.stop().await;
}

#[tokio::test]
async fn webhook_configurations_from_files_point_to_the_local_server() {
    let folder = tempfile::tempdir().unwrap();
    let text = "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\nmetadata: {name: v}\nwebhooks:\n\
                - name: a.b.c\n  sideEffects: None\n  admissionReviewVersions: [v1]\n  failurePolicy: Ignore\n\
                \x20 clientConfig: {service: {name: s, namespace: a, path: /p}}\n---\nkind: Other\n";
    std::fs::write(folder.path().join("w.yaml"), text).unwrap();
    let env = TestEnv::builder().webhook_paths([folder.path()]).start().await.unwrap();
    let path = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/v";
    let (_, stored) = call(&env, Method::GET, path, Value::Null).await;
    let config = &stored["webhooks"][0]["clientConfig"];
    let serving = env.local_serving().unwrap();
    assert_eq!(config["url"], format!("https://{}:{}/p", serving.host(), serving.port()));
    assert!(config["caBundle"].is_string() && config["service"].is_null());
    assert!(serving.cert_dir().join("tls.key").is_file());
    env.install_webhooks_from(folder.path()).await.unwrap();
    let accept = "application/json;as=Table;g=meta.k8s.io;v=v1";
    let (_, table) = send(&env, Method::GET, path, &[("accept", accept)], "").await;
    assert_eq!(table["rows"][0]["cells"][1], 1, "{table}");
    let refused = text.replace("registration.k8s.io/v1", "registration.k8s.io/v1beta1");
    std::fs::write(folder.path().join("w.yaml"), refused).unwrap();
    let error = env.install_webhooks_from(folder.path()).await.unwrap_err();
    assert!(
        error.to_string().contains("only v1 is supported for ValidatingWebhookConfiguration (name: v)"),
        "{error}"
    );
    let folder = serving.cert_dir().to_owned();
    env.stop().await;
    assert!(!folder.exists());
}

#[tokio::test]
async fn webhooks_get_bindings_and_evictions_with_their_kind() {
    let env = TestEnv::builder().start().await.unwrap();
    let pods = "/api/v1/namespaces/default/pods";
    let pod = json!({"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}});
    let (code, answer) = call(&env, Method::POST, pods, pod).await;
    assert_eq!(code, 201, "{answer}");
    let server =
        HookServer::responding(&env, |_, request| json!({"allowed": request["subResource"] != "eviction"}))
            .await;
    let only = json!({"rules": rules(&["*"], &["pods/*"])});
    validating(&env, "v", &[hook("v", &only)]).await;
    let binding = json!({"metadata": {"name": "p"}, "target": {"kind": "Node", "name": "n"}});
    let path = format!("{pods}/p/binding");
    let headers = [("content-type", "application/json"), ("impersonate-user", "scheduler")];
    let (code, answer) = send(&env, Method::POST, &path, &headers, binding.to_string()).await;
    assert_eq!(code, 201, "{answer}");
    let (code, _) =
        call(&env, Method::POST, &format!("{pods}/p/eviction"), json!({"metadata": {"name": "p"}})).await;
    assert_eq!(code, 400);
    let told: Vec<Value> = server
        .take_calls()
        .into_iter()
        .map(|(_, r)| {
            json!([r["operation"], r["kind"]["kind"], r["object"]["kind"], r["userInfo"]["username"]])
        })
        .collect();
    assert_eq!(
        told,
        [
            json!(["CREATE", "Binding", "Binding", "scheduler"]),
            json!(["CREATE", "Eviction", "Eviction", "kubesmith-testenv"]),
        ]
    );
    env.stop().await;
}
