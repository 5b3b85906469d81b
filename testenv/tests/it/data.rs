//! Environments that keep their data in a folder.

use std::path::Path;

use futures::{StreamExt, TryStreamExt};
use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Service};
use kube::api::{
    Api, DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PostParams, WatchEvent, WatchParams,
};
use kube::{Client, ResourceExt};
use kubesmith_testenv::{DataError, Error, TestEnv, free_address};
use serde_json::json;

use crate::support::{widget, widget_crd, widget_resource};

async fn open(dir: &Path) -> TestEnv {
    TestEnv::builder().data_dir(dir).start().await.unwrap()
}

fn widgets(env: &TestEnv) -> Api<DynamicObject> {
    Api::namespaced_with(env.client(), "default", &widget_resource("a.example"))
}

#[tokio::test]
async fn objects_are_stored_across_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    let env = TestEnv::builder().data_dir(dir.path()).crds([widget_crd("a.example", "Namespaced")]);
    let env = env.start().await.unwrap();
    let created = widgets(&env)
        .create(&PostParams::default(), &widget("w", json!({"spec": {"size": 0.1}})))
        .await
        .unwrap();
    let namespaces: Api<Namespace> = Api::all(env.client());
    let before = namespaces.list(&ListParams::default()).await.unwrap();
    env.stop().await;

    // Nobody installs the CRD again.
    let env = open(dir.path()).await;
    assert_eq!(widgets(&env).get("w").await.unwrap(), created);
    let namespaces: Api<Namespace> = Api::all(env.client());
    assert_eq!(namespaces.list(&ListParams::default()).await.unwrap().items, before.items);
    let changed = Patch::Merge(json!({"spec": {"size": 2}}));
    let changed = widgets(&env).patch("w", &PatchParams::default(), &changed).await.unwrap();
    let version = |object: &DynamicObject| object.resource_version().unwrap().parse::<u64>().unwrap();
    assert!(version(&changed) > version(&created));
}

#[tokio::test]
async fn watch_continues_after_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    let env = open(dir.path()).await;
    let maps = |client| -> Api<ConfigMap> { Api::namespaced(client, "default") };
    let map = |name: &str| -> ConfigMap {
        serde_json::from_value(json!({"metadata": {"name": name, "labels": {"n": name}}})).unwrap()
    };
    let old =
        maps(env.client()).list(&ListParams::default()).await.unwrap().metadata.resource_version.unwrap();
    maps(env.client()).create(&PostParams::default(), &map("a")).await.unwrap();
    let seen = maps(env.client())
        .create(&PostParams::default(), &map("b"))
        .await
        .unwrap()
        .resource_version()
        .unwrap();
    maps(env.client()).delete("a", &DeleteParams::default()).await.unwrap();
    let relabelled = Patch::Merge(json!({"metadata": {"labels": {"n": "c"}}}));
    maps(env.client()).patch("b", &PatchParams::default(), &relabelled).await.unwrap();
    env.stop().await;

    let env = open(dir.path()).await;
    maps(env.client()).create(&PostParams::default(), &map("d")).await.unwrap();
    let events = async |params: WatchParams, from: &str, count: usize| {
        let watch = maps(env.client()).watch(&params, from).await.unwrap();
        let events: Vec<_> = watch.take(count).try_collect().await.unwrap();
        events
            .into_iter()
            .map(|event| match event {
                WatchEvent::Added(map) => format!("+{}", map.name_any()),
                WatchEvent::Modified(map) => format!("~{}", map.name_any()),
                WatchEvent::Deleted(map) => format!("-{}", map.name_any()),
                WatchEvent::Error(status) => status.code.to_string(),
                WatchEvent::Bookmark(_) => "bookmark".to_owned(),
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(events(WatchParams::default(), &seen, 3).await, ["-a", "~b", "+d"]);
    // The state before the change decides. It was written before the restart.
    assert_eq!(events(WatchParams::default().labels("n=b"), &seen, 1).await, ["-b"]);
    env.compact().unwrap();
    env.stop().await;

    let env = TestEnv::builder().data_dir(dir.path()).history(1).start().await.unwrap();
    let watch = Api::<ConfigMap>::namespaced(env.client(), "default");
    let mut watch = watch.watch(&WatchParams::default(), &old).await.unwrap().boxed();
    let event = watch.try_next().await.unwrap().unwrap();
    assert!(matches!(event, WatchEvent::Error(status) if status.code == 410));
}

#[tokio::test]
async fn kubeconfig_is_valid_after_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    let mut env = open(dir.path()).await;
    let addr = free_address().unwrap();
    env.serve(addr).await.unwrap();
    let config = env.config().await.unwrap();
    env.stop().await;

    let mut env = open(dir.path()).await;
    env.serve(addr).await.unwrap();
    let namespaces: Api<Namespace> = Api::all(Client::try_from(config).unwrap());
    assert_eq!(namespaces.list(&ListParams::default()).await.unwrap().items.len(), 4);
    env.stop().await;
}

#[tokio::test]
async fn addresses_and_ids_are_not_reused_after_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    let mut seen = std::collections::BTreeSet::new();
    for _ in 0..3 {
        let env = TestEnv::builder().data_dir(dir.path()).seed(7).start().await.unwrap();
        let services: Api<Service> = Api::namespaced(env.client(), "default");
        let service = json!({"metadata": {"name": "s"}, "spec": {"ports": [{"port": 80}]}});
        let service =
            services.create(&PostParams::default(), &serde_json::from_value(service).unwrap()).await.unwrap();
        services.delete("s", &DeleteParams::default()).await.unwrap();
        let new =
            seen.insert(service.uid().unwrap()) && seen.insert(service.spec.unwrap().cluster_ip.unwrap());
        assert!(new, "{seen:?}");
        env.stop().await;
    }
}

/// A server without controllers leaves the same state as a server that is killed while it works.
#[tokio::test]
async fn unfinished_deletions_continue_after_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    let env = TestEnv::builder().data_dir(dir.path()).crds([widget_crd("a.example", "Namespaced")]);
    let env = env.start().await.unwrap();
    let api = widgets(&env);
    let (gone, here) = (widget("gone", json!({})), widget("here", json!({})));
    let gone = api.create(&PostParams::default(), &gone).await.unwrap();
    let here = api.create(&PostParams::default(), &here).await.unwrap();
    for (name, owners) in [("orphan", vec![&gone]), ("kept", vec![&gone, &here])] {
        let owners = owners.into_iter().map(|owner| {
            json!({"apiVersion": "a.example/v1", "kind": "Widget", "name": owner.name_any(), "uid": owner.uid()})
        });
        let owners: Vec<_> = owners.collect();
        let object = widget(name, json!({"metadata": {"ownerReferences": owners}}));
        api.create(&PostParams::default(), &object).await.unwrap();
    }
    api.delete("gone", &DeleteParams::background()).await.unwrap();
    let namespaces: Api<Namespace> = Api::all(env.client());
    let short = serde_json::from_value(json!({"metadata": {"name": "short"}})).unwrap();
    namespaces.create(&PostParams::default(), &short).await.unwrap();
    namespaces.delete("short", &DeleteParams::default()).await.unwrap();
    env.stop().await;

    let env = TestEnv::builder().data_dir(dir.path()).controllers(true).start().await.unwrap();
    let left = widgets(&env).list(&ListParams::default()).await.unwrap();
    assert_eq!(left.iter().map(ResourceExt::name_any).collect::<Vec<_>>(), ["here", "kept"]);
    assert_eq!(left.items[1].owner_references().len(), 1);
    assert!(Api::<Namespace>::all(env.client()).get_opt("short").await.unwrap().is_none());
    env.stop().await;
}

#[tokio::test]
async fn unusable_data_folder_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let env = open(dir.path()).await;
    let error = TestEnv::builder().data_dir(dir.path()).start().await.unwrap_err();
    assert!(matches!(&error, Error::Data { source: DataError::InUse, .. }), "{error}");
    assert!(error.to_string().contains(dir.path().to_str().unwrap()), "{error}");
    // The folder is free once the environment is dropped, even without a stop.
    drop(env);
    std::fs::write(dir.path().join("store.log"), "something else").unwrap();
    let error = TestEnv::builder().data_dir(dir.path()).start().await.unwrap_err();
    assert!(matches!(&error, Error::Data { source: DataError::Foreign, .. }), "{error}");
    assert!(error.to_string().contains("store.log"), "{error}");
}
