//! Lists and watches at versions, as kube-apiserver 1.36.2 answered them: pages, exact and future versions, bookmarks, and watches
//! whose definition changes.

use futures::{StreamExt, TryStreamExt};
use http::Method;
use k8s_openapi::api::core::v1::ConfigMap;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::ResourceExt;
use kube::api::{Api, DynamicObject, ListParams, Patch, PatchParams, PostParams, WatchEvent, WatchParams};
use kubesmith_testenv::TestEnv;
use serde_json::{Value, json};

use crate::support::{call, widget, widgets};

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

async fn read(env: &TestEnv, path: &str) -> (u16, Value) {
    call(env, Method::GET, path, Value::Null).await
}

/// Creates a map with labels; returns its version.
async fn create(env: &TestEnv, name: &str, labels: Value) -> u64 {
    let map = json!({"metadata": {"name": name, "labels": labels}});
    let (code, map) = call(env, Method::POST, MAPS, map).await;
    assert_eq!(code, 201, "{map}");
    map["metadata"]["resourceVersion"].as_str().unwrap().parse().unwrap()
}

fn names(list: &Value) -> Vec<&str> {
    list["items"].as_array().unwrap().iter().map(|item| item["metadata"]["name"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn limit_with_a_version_lists_exactly_that_version() {
    let env = TestEnv::builder().start().await.unwrap();
    for name in ["b", "c"] {
        create(&env, name, Value::Null).await;
    }
    let version = create(&env, "d", Value::Null).await;
    call(&env, Method::DELETE, &format!("{MAPS}/b"), Value::Null).await;
    let (_, list) = read(&env, &format!("{MAPS}?limit=1&resourceVersion={version}")).await;
    assert_eq!((names(&list), &list["metadata"]["remainingItemCount"]), (vec!["b"], &json!(2)));
    assert_eq!(list["metadata"]["resourceVersion"], version.to_string());
    // Without a limit, or with another rule, the version is a lower bound.
    for query in ["", "&limit=0", "&limit=9&resourceVersionMatch=NotOlderThan"] {
        let (_, list) = read(&env, &format!("{MAPS}?resourceVersion={version}{query}")).await;
        assert_eq!(names(&list), ["c", "d"], "{query}");
    }
    env.compact().unwrap();
    let (code, error) = read(&env, &format!("{MAPS}?limit=1&resourceVersion={version}")).await;
    let text = "The resourceVersion for the provided list is too old.";
    assert_eq!((code, &error["message"]), (410, &json!(text)));
    env.stop().await;
}

#[tokio::test]
async fn full_page_has_a_token_when_anything_follows() {
    let env = TestEnv::builder().start().await.unwrap();
    for (name, colour) in [("a", "red"), ("b", "blue"), ("c", "red"), ("d", "blue")] {
        create(&env, name, json!({"colour": colour})).await;
    }
    let page = async |query: &str| {
        let (code, list) = read(&env, &format!("{MAPS}?{query}")).await;
        assert_eq!(code, 200, "{list}");
        let token = list["metadata"]["continue"].as_str().map(str::to_owned);
        let names: Vec<String> = names(&list).into_iter().map(str::to_owned).collect();
        (names, token, list["metadata"]["remainingItemCount"].as_u64())
    };
    let (names, token, remaining) = page("limit=2&labelSelector=colour%3Dred").await;
    assert_eq!((names.join(" "), remaining), ("a c".to_owned(), None));
    // Only `d` follows, which is not selected.
    let (names, last, _) =
        page(&format!("limit=2&labelSelector=colour%3Dred&continue={}", token.unwrap())).await;
    assert_eq!((names.len(), last), (0, None));
    // An object that is selected by its name is the only one that is read.
    let (names, token, _) = page("limit=1&fieldSelector=metadata.name%3Db").await;
    assert_eq!((names.join(" "), token), ("b".to_owned(), None));
    let (names, token, _) = page("limit=2&labelSelector=colour%3Dnone").await;
    assert_eq!((names.len(), token), (0, None));
    env.stop().await;
}

#[tokio::test]
async fn streaming_list_at_a_future_version_is_an_error_event() {
    let env = TestEnv::builder().start().await.unwrap();
    let current = create(&env, "a", Value::Null).await;
    let initial = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan";
    for query in [initial.to_owned(), format!("{initial}&allowWatchBookmarks=true")] {
        let (code, event) =
            read(&env, &format!("{MAPS}?watch=true&timeoutSeconds=1&resourceVersion=99999&{query}")).await;
        let message = format!("Timeout: Too large resource version: 99999, current: {current}");
        let expected = json!({"type": "ERROR", "object": {
            "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": message, "reason": "Timeout",
            "details": {
                "causes": [{"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}],
                "retryAfterSeconds": 1,
            },
            "code": 504,
        }});
        assert_eq!((code, event), (200, expected), "{query}");
    }
    env.stop().await;
}

/// The bookmarks of an idle watch of 200 seconds.
async fn bookmarks(api: &Api<ConfigMap>, version: u64) -> Vec<u64> {
    let params = WatchParams::default().timeout(200);
    let events: Vec<_> = api.watch(&params, &version.to_string()).await.unwrap().try_collect().await.unwrap();
    let version = |event: &WatchEvent<ConfigMap>| match event {
        WatchEvent::Bookmark(mark) => mark.metadata.resource_version.parse::<u64>().unwrap(),
        other => panic!("{other:?}"),
    };
    events.iter().map(version).collect()
}

#[tokio::test(start_paused = true)]
async fn idle_watch_gets_a_bookmark_each_minute_when_versions_advance() {
    let env = TestEnv::builder().start().await.unwrap();
    let version = create(&env, "a", Value::Null).await;
    let api: Api<ConfigMap> = Api::namespaced(env.client(), "default");
    assert!(bookmarks(&api, version).await.is_empty());
    // A bookmark never has a version that does not exist.
    assert!(bookmarks(&api, version + 10).await.is_empty());
    let widgets = widgets(&env).await;
    let written = widgets.create(&PostParams::default(), &widget("w", json!({}))).await.unwrap();
    let written: u64 = written.resource_version().unwrap().parse().unwrap();
    // One each minute, and one two seconds before the end.
    assert_eq!(bookmarks(&api, version).await, [written; 4]);
    env.stop().await;
}

async fn definition(env: &TestEnv, change: Value) {
    let api: Api<CustomResourceDefinition> = Api::all(env.client());
    api.patch("widgets.a.example", &PatchParams::default(), &Patch::Merge(change)).await.unwrap();
}

/// Starts a watch that has one event to send.
async fn watch(
    api: &Api<DynamicObject>,
    name: &str,
) -> (String, impl StreamExt<Item = kube::Result<WatchEvent<DynamicObject>>> + Unpin + use<>) {
    let version = api.list(&ListParams::default()).await.unwrap().metadata.resource_version.unwrap();
    let mut watch = api.watch(&WatchParams::default(), &version).await.unwrap().boxed();
    api.create(&PostParams::default(), &widget(name, json!({}))).await.unwrap();
    assert!(matches!(watch.next().await.unwrap().unwrap(), WatchEvent::Added(_)));
    (version, watch)
}

#[tokio::test]
async fn watches_end_when_the_spec_of_their_definition_changes() {
    let env = TestEnv::builder().start().await.unwrap();
    let api = widgets(&env).await;
    let (old, mut running) = watch(&api, "a").await;
    let (_, mut labelled) = watch(&api, "b").await;
    definition(&env, json!({"metadata": {"labels": {"a": "b"}}})).await;
    api.create(&PostParams::default(), &widget("c", json!({}))).await.unwrap();
    for watch in [&mut running, &mut labelled] {
        assert!(matches!(watch.next().await.unwrap().unwrap(), WatchEvent::Added(_)));
    }
    let short = json!({"spec": {"names": {"shortNames": ["w"]}}});
    definition(&env, short.clone()).await;
    assert!(running.filter(|event| std::future::ready(event.is_err())).next().await.is_none());
    let list = api.list(&ListParams::default()).await.unwrap();
    let mut gone = api.watch(&WatchParams::default(), &old).await.unwrap().boxed();
    let event = gone.next().await.unwrap().unwrap();
    let WatchEvent::Error(status) = event else { panic!("{event:?}") };
    assert!(status.code == 410 && status.message.starts_with("too old resource version: "), "{status:?}");
    // Lists of the version are still possible, and so are watches from now on.
    let exact = ListParams::default().at(&old).matching(kube::api::VersionMatch::Exact);
    assert!(api.list(&exact).await.unwrap().items.is_empty());
    let version = list.metadata.resource_version.unwrap();
    let mut later = api.watch(&WatchParams::default(), &version).await.unwrap().boxed();
    // The same spec again changes nothing.
    definition(&env, short).await;
    api.create(&PostParams::default(), &widget("d", json!({}))).await.unwrap();
    assert!(matches!(later.next().await.unwrap().unwrap(), WatchEvent::Added(w) if w.name_any() == "d"));
    env.stop().await;
}
