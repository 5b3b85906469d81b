//! A client's daily work: install, write, read, watch.

use std::sync::Arc;

use futures::{StreamExt, TryStreamExt};
use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{
    Api, DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PostParams, WatchEvent, WatchParams,
};
use kube::{Client, ResourceExt};
use kubesmith_testenv::{ManualClock, TestEnv};
use serde_json::{Value, json};

use crate::support::{patch, widget, widget_crd, widget_resource, widgets};

#[tokio::test]
async fn installed_crd_is_established_and_served() {
    let env = TestEnv::builder().crds([widget_crd("a.example", "Namespaced")]).start().await.unwrap();
    let crds: Api<CustomResourceDefinition> = Api::all(env.client());
    let crd = crds.get("widgets.a.example").await.unwrap();
    let conditions = crd.status.unwrap().conditions.unwrap();
    assert!(conditions.iter().any(|c| c.type_ == "Established" && c.status == "True"));
    let api: Api<DynamicObject> =
        Api::namespaced_with(env.client(), "default", &widget_resource("a.example"));
    assert!(api.list(&ListParams::default()).await.unwrap().items.is_empty());
    env.stop().await;
}

#[tokio::test]
async fn crd_is_an_error_when_its_kind_is_taken() {
    let env = TestEnv::builder().crds([widget_crd("a.example", "Namespaced")]).start().await.unwrap();
    let mut rival = widget_crd("a.example", "Namespaced");
    rival.metadata.name = Some("rivals.a.example".to_owned());
    rival.spec.names.plural = "rivals".to_owned();
    rival.spec.names.singular = Some("rival".to_owned());
    let error = env.install_crds(vec![rival]).await.unwrap_err();
    assert!(error.to_string().contains("is already in use"), "{error}");
}

#[tokio::test]
async fn objects_are_created_changed_and_deleted() {
    let env = TestEnv::builder().start().await.unwrap();
    let api = widgets(&env).await;
    let created =
        api.create(&PostParams::default(), &widget("w", json!({"spec": {"size": 1}}))).await.unwrap();
    assert_eq!(created.metadata.generation, Some(1));

    let mut changed = created.clone();
    changed.data["spec"]["size"] = json!(2);
    let changed = api.replace("w", &PostParams::default(), &changed).await.unwrap();
    assert_eq!(changed.metadata.generation, Some(2));
    assert_ne!(changed.resource_version(), created.resource_version());
    let stale = api.replace("w", &PostParams::default(), &created).await.unwrap_err();
    assert!(matches!(stale, kube::Error::Api(e) if e.code == 409));

    let patch = Patch::Merge(json!({"status": {"ready": true}, "spec": {"size": 9}}));
    let patched = api.patch_status("w", &PatchParams::default(), &patch).await.unwrap();
    assert_eq!((&patched.data["spec"]["size"], &patched.data["status"]["ready"]), (&json!(2), &json!(true)));

    api.delete("w", &DeleteParams::default()).await.unwrap();
    assert!(api.get_opt("w").await.unwrap().is_none());
}

#[tokio::test]
async fn label_selectors_choose_objects() {
    let env = TestEnv::builder().start().await.unwrap();
    let api = widgets(&env).await;
    for (name, colour) in [("a", "red"), ("b", "blue"), ("c", "red")] {
        let object = widget(name, json!({"metadata": {"labels": {"colour": colour}}}));
        api.create(&PostParams::default(), &object).await.unwrap();
    }
    let red = api.list(&ListParams::default().labels("colour=red")).await.unwrap();
    assert_eq!(red.iter().map(ResourceExt::name_any).collect::<Vec<_>>(), ["a", "c"]);
}

#[tokio::test]
async fn watch_continues_from_a_list() {
    let env = TestEnv::builder().start().await.unwrap();
    let api = widgets(&env).await;
    let version = api.list(&ListParams::default()).await.unwrap().metadata.resource_version.unwrap();
    api.create(&PostParams::default(), &widget("before", json!({}))).await.unwrap();
    let mut watch = api.watch(&WatchParams::default(), &version).await.unwrap().boxed();
    api.create(&PostParams::default(), &widget("after", json!({}))).await.unwrap();
    api.delete("before", &DeleteParams::default()).await.unwrap();
    let mut seen = Vec::new();
    while seen.len() < 3 {
        seen.push(match watch.try_next().await.unwrap().unwrap() {
            WatchEvent::Added(o) => format!("+{}", o.name_any()),
            WatchEvent::Deleted(o) => format!("-{}", o.name_any()),
            other => panic!("{other:?}"),
        });
    }
    assert_eq!(seen, ["+before", "+after", "-before"]);
    env.stop().await;
    assert!(watch.try_next().await.unwrap().is_none(), "a stopped server ends its watches");
}

#[tokio::test]
async fn watch_from_compacted_version_is_gone() {
    let env = TestEnv::builder().start().await.unwrap();
    let api = widgets(&env).await;
    let version = api.list(&ListParams::default()).await.unwrap().metadata.resource_version.unwrap();
    api.create(&PostParams::default(), &widget("w", json!({}))).await.unwrap();
    env.compact().unwrap();
    let mut watch = api.watch(&WatchParams::default(), &version).await.unwrap().boxed();
    let event = watch.try_next().await.unwrap().unwrap();
    let WatchEvent::Error(status) = event else { panic!("{event:?}") };
    let floor = version.parse::<u64>().unwrap() + 1;
    let message = format!("too old resource version: {version} ({floor})");
    assert_eq!((status.code, status.reason, status.message), (410, "Expired".to_owned(), message));
}

#[tokio::test]
async fn namespace_deletion_removes_its_content() {
    let env = TestEnv::builder().controllers(true).start().await.unwrap();
    let namespaces: Api<Namespace> = Api::all(env.client());
    let mut namespace = Namespace::default();
    namespace.metadata.name = Some("short".to_owned());
    namespaces.create(&PostParams::default(), &namespace).await.unwrap();
    let maps: Api<ConfigMap> = Api::namespaced(env.client(), "short");
    let mut map = ConfigMap::default();
    map.metadata.name = Some("m".to_owned());
    map.metadata.finalizers = Some(vec!["a.example/hold".to_owned()]);
    maps.create(&PostParams::default(), &map).await.unwrap();

    namespaces.delete("short", &DeleteParams::default()).await.unwrap();
    let phase = namespaces.get("short").await.unwrap().status.unwrap().phase;
    assert_eq!(phase.as_deref(), Some("Terminating"));
    map.metadata.name = Some("late".to_owned());
    let late = maps.create(&PostParams::default(), &map).await.unwrap_err();
    assert!(matches!(late, kube::Error::Api(e) if e.code == 403));

    let free = Patch::Merge(json!({"metadata": {"finalizers": null}}));
    maps.patch("m", &PatchParams::default(), &free).await.unwrap();
    assert!(maps.get_opt("m").await.unwrap().is_none());
    assert!(namespaces.get_opt("short").await.unwrap().is_none());
}

#[tokio::test]
async fn times_and_ids_repeat_with_clock_and_seed() {
    let run = async || {
        let clock = Arc::new(ManualClock::new("2026-01-02T03:04:05Z".parse().unwrap()));
        let env = TestEnv::builder().clock(clock).seed(42).start().await.unwrap();
        let api = widgets(&env).await;
        api.create(&PostParams::default(), &widget("w", json!({}))).await.unwrap()
    };
    let (first, second) = (run().await, run().await);
    assert_eq!(first.metadata, second.metadata);
    let time = first.metadata.creation_timestamp.unwrap();
    assert_eq!(time.0.to_string(), "2026-01-02T03:04:05Z");
}

#[tokio::test]
async fn clients_reach_the_server_over_tls() {
    let mut env = TestEnv::builder().start().await.unwrap();
    let config = env.config().await.unwrap();
    let client = Client::try_from(config).unwrap();
    let maps: Api<ConfigMap> = Api::default_namespaced(client);
    let mut map = ConfigMap::default();
    map.metadata.name = Some("m".to_owned());
    maps.create(&PostParams::default(), &map).await.unwrap();
    let local: Api<ConfigMap> = Api::namespaced(env.client(), "default");
    assert!(local.get_opt("m").await.unwrap().is_some());
    assert!(env.url().unwrap().starts_with("https://127.0.0.1:"));
    env.stop().await;
}

#[tokio::test]
async fn dependents_follow_their_owner() {
    let env = TestEnv::builder().controllers(true).start().await.unwrap();
    let api = widgets(&env).await;
    let owner = |object: &DynamicObject| {
        json!({"metadata": {"ownerReferences": [{
            "apiVersion": "a.example/v1", "kind": "Widget", "name": object.name_any(), "uid": object.uid(),
            "blockOwnerDeletion": true,
        }]}})
    };
    for (policy, child_stays) in [
        (DeleteParams::background(), false),
        (DeleteParams::foreground(), false),
        (DeleteParams::orphan(), true),
    ] {
        let parent = api.create(&PostParams::default(), &widget("parent", json!({}))).await.unwrap();
        let child = api.create(&PostParams::default(), &widget("child", owner(&parent))).await.unwrap();
        api.create(&PostParams::default(), &widget("grandchild", owner(&child))).await.unwrap();
        api.delete("parent", &policy).await.unwrap();
        assert!(api.get_opt("parent").await.unwrap().is_none(), "{policy:?}");
        let child = api.get_opt("child").await.unwrap();
        assert_eq!(child.is_some(), child_stays, "{policy:?}");
        assert_eq!(api.get_opt("grandchild").await.unwrap().is_some(), child_stays, "{policy:?}");
        if let Some(child) = child {
            assert!(child.owner_references().is_empty());
        }
    }
}

#[tokio::test]
async fn watch_sees_deletions_when_its_crd_is_deleted() {
    let env = TestEnv::builder().start().await.unwrap();
    let api = widgets(&env).await;
    api.create(&PostParams::default(), &widget("w", json!({}))).await.unwrap();
    let version = api.list(&ListParams::default()).await.unwrap().metadata.resource_version.unwrap();
    let watch = api.watch(&WatchParams::default(), &version).await.unwrap();
    let crds: Api<CustomResourceDefinition> = Api::all(env.client());
    crds.delete("widgets.a.example", &DeleteParams::default()).await.unwrap();
    let events: Vec<_> = watch.try_collect().await.unwrap();
    assert!(matches!(&events[..], [WatchEvent::Deleted(w)] if w.name_any() == "w"), "{events:?}");
    let gone = api.list(&ListParams::default()).await.unwrap_err();
    assert!(matches!(gone, kube::Error::Api(status) if status.code == 404));
}

/// A server with a kind of which version `v2` has the field `b`, and the stored version `v1` has not.
async fn with_versions() -> TestEnv {
    let env = TestEnv::builder().start().await.unwrap();
    let version = |name: &str, stored: bool, fields: Value| {
        let spec = json!({"type": "object", "properties": fields});
        json!({"name": name, "served": true, "storage": stored,
            "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}}})
    };
    let text = json!({"type": "string"});
    let versions =
        [version("v1", true, json!({"a": text})), version("v2", false, json!({"a": text, "b": text}))];
    let crd = json!({"metadata": {"name": "vs.a.example"}, "spec": {"group": "a.example", "scope": "Namespaced",
        "names": {"plural": "vs", "kind": "V"}, "versions": versions}});
    env.install_crds(vec![serde_json::from_value(crd).unwrap()]).await.unwrap();
    env
}

#[tokio::test]
async fn field_that_the_version_of_another_manager_lacks_fails_an_apply() {
    let env = with_versions().await;
    let path = |version: &str| format!("/apis/a.example/{version}/namespaces/default/vs/x");
    let apply = async |version: &str, manager: &str, spec: Value| {
        let api_version = format!("a.example/{version}");
        let body = json!({"apiVersion": api_version, "kind": "V", "metadata": {"name": "x"}, "spec": spec});
        let path = format!("{}?fieldManager={manager}&force=true", path(version));
        let (status, body) = patch(&env, &path, "apply-patch+yaml", body).await;
        (status, body["message"].as_str().unwrap_or_default().to_owned())
    };
    let done = (200, String::new());
    assert_eq!(apply("v2", "m2", json!({"a": "1", "b": "2"})).await.0, 201);
    // Nobody owns fields in another version yet.
    assert_eq!(apply("v2", "m2", json!({"a": "1", "b": "3"})).await, done);
    assert_eq!(apply("v1", "m1", json!({"a": "2"})).await, done);
    let fault = ".spec.b: field not declared in schema";
    let text = format!("failed to convert new object: {fault}");
    assert_eq!(apply("v2", "m3", json!({"b": "4"})).await, (500, text));
    let text =
        format!("failed to prune fields: failed to convert merged object to last applied version: {fault}");
    assert_eq!(apply("v2", "m1", json!({"b": "4"})).await, (500, text));
    // A write other than an apply loses all managers.
    let (status, body) = patch(&env, &path("v2"), "merge-patch+json", json!({"spec": {"b": "5"}})).await;
    assert_eq!((status, body["metadata"].get("managedFields")), (200, None));
    env.stop().await;
}
