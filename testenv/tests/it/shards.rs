//! Sharded lists and watches (KEP-5866), as kube-apiserver 1.36.2 answered them with `ShardedListAndWatch=true`.

use std::collections::BTreeSet;

use futures::{Stream, StreamExt};
use http::Method;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Api, DynamicObject, WatchEvent};
use kubesmith_apimachinery::sharding::{ShardKey, ShardSelector};
use kubesmith_testenv::TestEnv;
use serde_json::{Value, json};

use crate::support::{call, patch, send, widget, widgets};

const MAPS: &str = "/api/v1/namespaces/default/configmaps";
const SHARDS: u32 = 3;

async fn sharded() -> TestEnv {
    let gates = "ShardedListAndWatch=true".parse().unwrap();
    TestEnv::builder().seed(7).feature_gates(gates).start().await.unwrap()
}

/// Creates a map; returns its UID.
async fn create(env: &TestEnv, name: &str) -> String {
    let (code, map) = call(env, Method::POST, MAPS, json!({"metadata": {"name": name}})).await;
    assert_eq!(code, 201, "{map}");
    map["metadata"]["uid"].as_str().unwrap().to_owned()
}

fn shard(index: u32) -> ShardSelector {
    ShardSelector::nth(ShardKey::Uid, index, SHARDS).unwrap()
}

/// Returns a query with this selector.
fn query(selector: &str) -> String {
    format!("shardSelector={}", selector.bytes().map(|byte| format!("%{byte:02x}")).collect::<String>())
}

async fn read(env: &TestEnv, path: &str, query: &str) -> Value {
    let (code, list) = call(env, Method::GET, &format!("{path}?{query}"), Value::Null).await;
    assert_eq!(code, 200, "{list}");
    list
}

fn names(list: &Value) -> BTreeSet<String> {
    let items = list["items"].as_array().unwrap();
    items.iter().map(|item| item["metadata"]["name"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn every_object_is_listed_in_one_shard() {
    let env = sharded().await;
    let custom: Api<DynamicObject> = widgets(&env).await;
    for number in 0..12 {
        create(&env, &format!("map-{number}")).await;
        let widget = widget(&format!("widget-{number}"), json!({}));
        custom.create(&Default::default(), &widget).await.unwrap();
    }
    for path in [MAPS, "/apis/a.example/v1/namespaces/default/widgets"] {
        let mut seen = BTreeSet::new();
        for index in 0..SHARDS {
            let selector = shard(index).to_string();
            let list = read(&env, path, &query(&format!("({})", selector.replace(", ", ",")))).await;
            for item in list["items"].as_array().unwrap() {
                assert!(shard(index).matches(item["metadata"]["uid"].as_str().unwrap(), "default"));
            }
            // The text of the parsed selector. kube-apiserver's lists of custom resources lack the field,
            // although they are sharded.
            let info = if path == MAPS { json!({"selector": selector}) } else { Value::Null };
            assert_eq!(list["metadata"]["shardInfo"], info, "{path}");
            let found = names(&list);
            assert!(!found.is_empty() && seen.is_disjoint(&found), "{found:?}");
            seen.extend(found);
        }
        assert_eq!(seen.len(), 12, "{path}");
    }
    // The other forms of lists lack the field too.
    let whole = names(&read(&env, MAPS, &query(&shard(0).to_string())).await).len();
    for form in ["PartialObjectMetadataList", "Table"] {
        let accept = format!("application/json;as={form};g=meta.k8s.io;v=v1");
        let path = format!("{MAPS}?{}", query(&shard(0).to_string()));
        let (_, list) = send(&env, Method::GET, &path, &[("accept", &accept)], "").await;
        let rows = if form == "Table" { &list["rows"] } else { &list["items"] };
        assert_eq!((rows.as_array().unwrap().len(), &list["metadata"]["shardInfo"]), (whole, &Value::Null));
    }
    env.stop().await;
}

#[tokio::test]
async fn namespaces_are_shards_of_all_kinds() {
    let env = sharded().await;
    for namespace in ["alpha", "payments", "shop", "web"] {
        let body = json!({"metadata": {"name": namespace}});
        call(&env, Method::POST, "/api/v1/namespaces", body).await;
        for kind in ["secrets", "serviceaccounts"] {
            let path = format!("/api/v1/namespaces/{namespace}/{kind}");
            call(&env, Method::POST, &path, json!({"metadata": {"name": namespace}})).await;
        }
    }
    let mut seen = Vec::new();
    for index in 0..2 {
        let selector = ShardSelector::nth(ShardKey::Namespace, index, 2).unwrap();
        let query = query(&selector.to_string());
        let maps = names(&read(&env, "/api/v1/serviceaccounts", &query).await);
        assert_eq!(maps, names(&read(&env, "/api/v1/secrets", &query).await));
        assert!(!maps.is_empty() && maps.iter().all(|namespace| selector.matches("", namespace)), "{maps:?}");
        seen.extend(maps);
    }
    seen.sort();
    assert_eq!(seen, ["alpha", "payments", "shop", "web"]);
    env.stop().await;
}

#[tokio::test]
async fn pages_of_a_shard_count_the_rest_of_all_shards() {
    let env = sharded().await;
    let mut expected = BTreeSet::new();
    for number in 0..8 {
        let (name, shard) = (format!("map-{number}"), shard(0));
        if shard.matches(&create(&env, &name).await, "default") {
            expected.insert(name);
        }
    }
    let selector = query(&shard(0).to_string());
    let (mut seen, mut token) = (BTreeSet::new(), String::new());
    loop {
        let page = read(&env, MAPS, &format!("{selector}&limit=1&continue={token}")).await;
        if token.is_empty() {
            assert_eq!(page["metadata"]["remainingItemCount"], 7);
        }
        seen.extend(names(&page));
        token = page["metadata"]["continue"].as_str().unwrap_or_default().to_owned();
        if token.is_empty() {
            break;
        }
    }
    assert_eq!(seen, expected);
    env.stop().await;
}

/// Reads events until the bookmark that ends the initial ones, or until `count` others.
async fn events(
    stream: &mut (impl Stream<Item = kube::Result<WatchEvent<ConfigMap>>> + Unpin),
    count: usize,
) -> Vec<(&'static str, String)> {
    let mut out = Vec::new();
    while out.len() < count {
        let (verb, map) = match stream.next().await.unwrap().unwrap() {
            WatchEvent::Added(map) => ("added", map),
            WatchEvent::Modified(map) => ("modified", map),
            WatchEvent::Deleted(map) => ("deleted", map),
            other => panic!("{other:?}"),
        };
        out.push((verb, map.metadata.name.unwrap()));
    }
    out
}

#[tokio::test]
async fn watch_has_the_events_of_its_shard() {
    let env = sharded().await;
    let mut shards: Vec<BTreeSet<String>> = vec![BTreeSet::new(); SHARDS as usize];
    let mut place = |name: &str, uid: &str| {
        let index = (0..SHARDS).find(|index| shard(*index).matches(uid, "default")).unwrap();
        shards[index as usize].insert(name.to_owned());
    };
    for number in 0..5 {
        let name = format!("early-{number}");
        place(&name, &create(&env, &name).await);
    }
    let mut watches = Vec::new();
    for index in 0..SHARDS {
        let path = format!("{MAPS}?watch=true&{}", query(&shard(index).to_string()));
        let request = http::Request::get(path).body(Vec::new()).unwrap();
        watches.push(Box::pin(env.client().request_events::<ConfigMap>(request).await.unwrap()));
    }
    for number in 0..5 {
        let name = format!("late-{number}");
        place(&name, &create(&env, &name).await);
    }
    for name in shards.iter().flatten() {
        let path = format!("{MAPS}/{name}");
        patch(&env, &path, "merge-patch+json", json!({"data": {"a": "b"}})).await;
        call(&env, Method::DELETE, &path, Value::Null).await;
    }
    for (names, watch) in shards.iter().zip(&mut watches) {
        let all = events(watch, 3 * names.len()).await;
        for verb in ["added", "modified", "deleted"] {
            let seen: BTreeSet<String> =
                all.iter().filter(|(of, _)| *of == verb).map(|(_, name)| name.clone()).collect();
            assert_eq!(&seen, names, "{verb}");
        }
    }
    env.stop().await;
}

#[tokio::test]
async fn selector_is_refused_after_that_of_fields_and_before_versions() {
    let env = sharded().await;
    let shards =
        "invalid shard selector: unexpected expression kind 3; expected shardRange() call or || operator";
    for query in ["", "&watch=true", "&resourceVersion=x", "&watch=true&resourceVersion=x", "&continue=x"] {
        let (code, error) =
            call(&env, Method::GET, &format!("{MAPS}?shardSelector=x{query}"), Value::Null).await;
        assert_eq!(
            (code, &error["message"], &error["reason"]),
            (500, &json!(shards), &Value::Null),
            "{query}"
        );
    }
    let path = format!("{MAPS}?shardSelector=x&fieldSelector=spec.x%3D1");
    assert_eq!(call(&env, Method::GET, &path, Value::Null).await.0, 400);
    let (code, _) = call(&env, Method::DELETE, &format!("{MAPS}?shardSelector=x"), Value::Null).await;
    assert_eq!(code, 500);
    env.stop().await;
}

#[tokio::test]
async fn selector_is_ignored_unless_the_feature_is_enabled() {
    let env = TestEnv::builder().start().await.unwrap();
    for number in 0..8 {
        create(&env, &format!("map-{number}")).await;
    }
    for selector in ["x", &shard(0).to_string()] {
        let list = read(&env, MAPS, &query(selector)).await;
        assert_eq!((names(&list).len(), &list["metadata"]["shardInfo"]), (8, &Value::Null));
    }
    env.stop().await;
}
