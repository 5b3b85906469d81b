//! Informers whose cache holds compact objects.

use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use kube::api::{Api, DeleteParams, ObjectMeta, PostParams};
use kube::core::PartialObjectMeta;
use kubesmith_runtime::cache::{Compact, ObjectKey};
use kubesmith_runtime::controller::{
    Action, CancellationToken, ControllerBuilder, Predicate, Watch, reconcile_fn,
};
use kubesmith_runtime::controllerutil::set_controller_reference;
use kubesmith_runtime::informer::{Cached, InformerOptions, SharedInformer};
use kubesmith_testenv::TestEnv;
use serde_json::{Value, json};

use crate::fake::{FakeServer, broken, map};

const PATIENCE: Duration = Duration::from_secs(3600);

fn started<K: Cached<DynamicType = ()>>(
    client: kube::Client,
    options: InformerOptions<K>,
) -> SharedInformer<K> {
    let informer = SharedInformer::new(client, options);
    informer.start();
    informer
}

fn show(informer: &SharedInformer<Compact<ConfigMap>>) -> Vec<String> {
    let one = |map: &Arc<Compact<ConfigMap>>| format!("{}@{}", map.key(), map.resource_version());
    informer.store().list().iter().map(one).collect()
}

async fn shows(informer: &SharedInformer<Compact<ConfigMap>>, expected: &[&str]) {
    let shown = async {
        while show(informer) != expected {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    let shown = tokio::time::timeout(PATIENCE, shown).await;
    assert!(shown.is_ok(), "{:?} instead of {expected:?}", show(informer));
}

fn labelled(name: &str, version: u64, app: &str) -> Value {
    let mut object = map(name, version);
    object["metadata"]["labels"] = json!({ "app": app });
    object
}

#[tokio::test(start_paused = true)]
async fn compact_cache_follows_the_server() {
    let mut server = FakeServer::new();
    let informer = started::<Compact<ConfigMap>>(server.client(), InformerOptions::new());
    let watch = server.sync(&[labelled("a", 1, "web"), labelled("b", 2, "web"), map("c", 3)], "5").await;
    shows(&informer, &["default/a@1", "default/b@2", "default/c@3"]).await;
    watch.event("MODIFIED", &labelled("a", 6, "db"));
    watch.event("DELETED", &map("c", 7));
    shows(&informer, &["default/a@6", "default/b@2"]).await;

    let web = informer.lister().namespace("default").list(&"app=web".parse().unwrap());
    assert_eq!(web.iter().map(|map| map.key().name()).collect::<Vec<_>>(), ["b"]);
    let a = informer.lister().get_by_key(&ObjectKey::namespaced("default", "a")).unwrap();
    let object = a.object().unwrap();
    assert_eq!(object.data.unwrap()["version"], "6");
    assert_eq!(object.metadata.managed_fields, None);
}

#[tokio::test(start_paused = true)]
async fn compact_relist_keeps_unchanged_objects_and_removes_deleted_ones() {
    let mut server = FakeServer::new();
    let options = InformerOptions::new().paged_lists();
    let informer = started::<Compact<ConfigMap>>(server.client(), options);
    server.list().await.page(&[map("a", 1), map("b", 2)], "5", None);
    let watch = server.watch().await.ok();
    shows(&informer, &["default/a@1", "default/b@2"]).await;
    let before = informer.store().get("default", "a").unwrap();
    watch.event("ERROR", &crate::fake::status(410, "Expired"));
    server.list().await.page(&[map("a", 1), map("c", 8)], "9", None);
    shows(&informer, &["default/a@1", "default/c@8"]).await;
    assert!(Arc::ptr_eq(&before, &informer.store().get("default", "a").unwrap()));
}

#[tokio::test(start_paused = true)]
async fn compact_cache_holds_misfits_and_reports_objects_without_a_name() {
    let mut server = FakeServer::new();
    let informer = started::<Compact<ConfigMap>>(server.client(), InformerOptions::new());
    let nameless = json!({ "kind": "ConfigMap", "metadata": { "resourceVersion": "4" } });
    let _watch = server.sync(&[broken("a", 1), nameless, map("b", 2)], "5").await;
    shows(&informer, &["default/a@1", "default/b@2"]).await;
    assert_eq!(informer.undecodable_total(), 1);
    let error = informer.store().get("default", "a").unwrap().object().unwrap_err();
    assert!(error.to_string().starts_with("cannot decode ConfigMap \"default/a\""), "{error}");
}

#[tokio::test(start_paused = true)]
async fn compact_metadata_requests_only_metadata() {
    let env = TestEnv::builder().start().await.unwrap();
    let api: Api<ConfigMap> = Api::namespaced(env.client(), "default");
    let metadata = ObjectMeta { name: Some("a".to_owned()), ..ObjectMeta::default() };
    let data = Some([("big".to_owned(), "x".repeat(10_000))].into());
    api.create(&PostParams::default(), &ConfigMap { metadata, data, ..ConfigMap::default() }).await.unwrap();

    let informer = started::<Compact<PartialObjectMeta<ConfigMap>>>(
        env.client(),
        InformerOptions::new().namespace("default"),
    );
    informer.wait_for_sync(PATIENCE).await.unwrap();
    let object = informer.store().get("default", "a").unwrap();
    assert!(object.json_len() < 1000, "{}", object.to_json());
    assert!(object.metadata().unwrap().creation_timestamp.is_some());
    informer.shutdown().await;
    env.stop().await;
}

#[tokio::test(start_paused = true)]
async fn controllers_run_on_compact_caches() {
    let env = TestEnv::builder().start().await.unwrap();
    let pods = SharedInformer::<Compact<Pod>>::new(env.client(), InformerOptions::new().namespace("default"));
    let maps =
        SharedInformer::<Compact<ConfigMap>>::new(env.client(), InformerOptions::new().namespace("default"));
    let (sender, mut keys) = tokio::sync::mpsc::unbounded_channel();
    let named_web = Predicate::matching(|pod: &Compact<Pod>| pod.label("app") == Some("web"));
    let reconciler = reconcile_fn(move |key: ObjectKey| {
        let sender = sender.clone();
        async move {
            sender.send(key.to_string()).unwrap();
            Ok(Action::done())
        }
    });
    let builder = ControllerBuilder::new("pods").for_(Watch::on(&pods).filter(named_web)).owns(&maps);
    let controller = builder.complete(reconciler).unwrap();
    let stop = CancellationToken::new();
    let running = tokio::spawn(controller.run(stop.clone()));
    pods.start();
    maps.start();

    let api: Api<Pod> = Api::namespaced(env.client(), "default");
    let create = async |name: &str, app: &str| {
        let pod = json!({
            "metadata": { "name": name, "labels": { "app": app } },
            "spec": { "containers": [{ "name": "c", "image": "i" }] },
        });
        api.create(&PostParams::default(), &serde_json::from_value(pod).unwrap()).await.unwrap()
    };
    create("other", "db").await;
    let web = create("web", "web").await;
    assert_eq!(keys.recv().await.unwrap(), "default/web");

    let metadata = ObjectMeta {
        name: Some("owned".to_owned()),
        namespace: Some("default".to_owned()),
        ..ObjectMeta::default()
    };
    let mut owned = ConfigMap { metadata, ..ConfigMap::default() };
    set_controller_reference(&web, &mut owned).unwrap();
    let owned_api: Api<ConfigMap> = Api::namespaced(env.client(), "default");
    owned_api.create(&PostParams::default(), &owned).await.unwrap();
    assert_eq!(keys.recv().await.unwrap(), "default/web");
    owned_api.delete("owned", &DeleteParams::default()).await.unwrap();
    assert_eq!(keys.recv().await.unwrap(), "default/web");

    stop.cancel();
    running.await.unwrap().unwrap();
    pods.shutdown().await;
    maps.shutdown().await;
    env.stop().await;
}
