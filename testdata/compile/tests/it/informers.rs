//! Generated factories, informers and listers as a controller uses them, on the embedded server.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use k8s_openapi::api::core::v1::{ConfigMap, Event, Secret};
use kube::api::{ObjectMeta, PatchParams, PostParams};
use kube::core::GroupVersionResource;
use kubesmith_expected::built_in::applyconfigurations::core::v1::NamespaceApplyConfiguration;
use kubesmith_expected::built_in::informers::GenericInformer;
use kubesmith_expected::built_in::{Clientset, SharedInformerFactory};
use kubesmith_runtime::cache::{Indexer, TypedIndex};
use kubesmith_runtime::client::{RestClient, TypedClient};
use kubesmith_runtime::informer::ResourceEventHandlerFuncs;
use kubesmith_runtime::labels::Selector;
use kubesmith_testenv::TestEnv;

const LONG: Duration = Duration::from_secs(30);

/// A map with a label and one entry.
fn map(name: &str, tier: &str, color: &str) -> ConfigMap {
    let pair = |key: &str, value: &str| BTreeMap::from([(key.to_owned(), value.to_owned())]);
    ConfigMap {
        metadata: ObjectMeta {
            name: Some(name.to_owned()),
            labels: Some(pair("tier", tier)),
            annotations: Some(pair("note", "long")),
            ..ObjectMeta::default()
        },
        data: Some(pair("color", color)),
        ..ConfigMap::default()
    }
}

async fn create(clients: &Clientset, namespace: &str, map: ConfigMap) {
    let maps = clients.core_v1().config_maps().namespace(namespace);
    maps.create(&map, &PostParams::default()).await.unwrap();
}

/// Two namespaces with red and blue maps.
async fn server() -> (TestEnv, Clientset) {
    let env = TestEnv::builder().start().await.unwrap();
    let clients = Clientset::new(env.client());
    let west = NamespaceApplyConfiguration::new("west");
    clients.core_v1().namespaces().apply(&west, &PatchParams::apply("me")).await.unwrap();
    create(&clients, "default", map("a", "gold", "red")).await;
    create(&clients, "default", map("b", "silver", "blue")).await;
    create(&clients, "west", map("c", "gold", "red")).await;
    (env, clients)
}

async fn eventually(what: &str, is_so: impl Fn() -> bool) {
    let wait = async {
        while !is_so() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(LONG, wait).await.unwrap_or_else(|_| panic!("not in time: {what}"));
}

/// Whether it is one of those that a new cluster has.
fn is_system(map: &ConfigMap) -> bool {
    map.metadata.namespace.as_deref() == Some("kube-system")
}

fn color(map: &ConfigMap) -> Option<String> {
    map.data.as_ref()?.get("color").cloned()
}

#[tokio::test]
async fn listers_find_by_selector_namespace_name_and_index() {
    let (_env, clients) = server().await;
    let factory = SharedInformerFactory::builder(clients.clone()).build();
    let maps = factory.core().v1().config_maps();
    maps.informer().add_indexer(Indexer::new("color", |map| color(map).into_iter().collect())).unwrap();
    // A key of two parts, one of which may be missing.
    let by_kind: TypedIndex<ConfigMap, (Option<String>, usize)> = maps
        .informer()
        .add_typed_index("kind", |map: &ConfigMap| match is_system(map) {
            true => Vec::new(),
            false => vec![(color(map), map.data.iter().flatten().count())],
        })
        .unwrap();
    assert!(maps.informer().add_typed_index("kind", |_: &ConfigMap| vec![0_u8]).is_err());
    factory.start();
    factory.wait_for_cache_sync(LONG).await.unwrap();

    let lister = maps.lister();
    let names = |listing: kubesmith_runtime::cache::Listing<ConfigMap>| {
        listing.iter().map(|map| map.metadata.name.clone().unwrap()).collect::<Vec<_>>()
    };
    let gold: Selector = "tier=gold".parse().unwrap();
    assert_eq!(names(lister.list(&gold)), ["a", "c"]);
    assert_eq!(names(lister.namespace("west").list(&Selector::everything())), ["c"]);
    assert_eq!(names(lister.namespace("default").list(&gold)), ["a"]);
    assert!(lister.namespace("west").get("c").is_ok());
    assert_eq!(lister.namespace("west").get("a").unwrap_err().to_string(), "configmap \"a\" not found");
    assert_eq!(names(lister.by_index("color", "red").unwrap()), ["a", "c"]);
    let red = (Some("red".to_owned()), 1);
    assert_eq!(names(lister.by(&by_kind, &red).unwrap()), ["a", "c"]);
    assert_eq!(names(by_kind.list(&(None, 0))), [""; 0]);
    assert_eq!(by_kind.values(), [(Some("blue".to_owned()), 1), red.clone()]);

    create(&clients, "west", map("d", "gold", "red")).await;
    eventually("the index is kept", || by_kind.list(&red).len() == 3).await;
    let other = SharedInformerFactory::builder(clients).build();
    assert!(other.core().v1().config_maps().lister().by(&by_kind, &red).is_err(), "another informer's index");
    factory.shutdown().await;
}

#[tokio::test]
async fn factory_applies_namespaces_list_options_and_transforms() {
    let (_env, clients) = server().await;
    let factory = SharedInformerFactory::builder(clients)
        .name("west")
        .namespaces(["west", "default"])
        .tweak_list_options(|params| params.label_selector = Some("tier=gold".to_owned()))
        .transform_for(|map: &mut ConfigMap| map.metadata.annotations = None)
        .build();
    let maps = factory.core().v1().config_maps().lister();
    factory.start();
    factory.wait_for_cache_sync(LONG).await.unwrap();
    let all = maps.list(&Selector::everything());
    assert_eq!(all.len(), 2, "{all:?}");
    assert!(all.iter().all(|map| map.metadata.annotations.is_none()));
    assert_eq!(
        (factory.name(), factory.namespaces()),
        (Some("west"), &["west".to_owned(), "default".to_owned()][..])
    );
    factory.shutdown().await;
}

#[tokio::test]
async fn kinds_and_handlers_have_their_own_resync_periods() {
    let (_env, clients) = server().await;
    let events = clients.core_v1().events().namespace("default");
    let involved = k8s_openapi::api::core::v1::ObjectReference {
        namespace: Some("default".to_owned()),
        ..Default::default()
    };
    let metadata = ObjectMeta { name: Some("e".to_owned()), ..ObjectMeta::default() };
    let event = Event { metadata, involved_object: involved, ..Event::default() };
    events.create(&event, &PostParams::default()).await.unwrap();
    let factory = SharedInformerFactory::builder(clients)
        .resync(Duration::from_secs(3600))
        .resync_for::<Event>(Duration::from_secs(1))
        .build();
    let [maps, often, of_events] = [(); 3].map(|()| Arc::new(AtomicUsize::new(0)));
    let count = |seen: &Arc<AtomicUsize>| {
        let seen = Arc::clone(seen);
        move || {
            seen.fetch_add(1, Ordering::Relaxed);
        }
    };
    let handler = |seen| {
        let count = count(seen);
        ResourceEventHandlerFuncs::<ConfigMap>::new().on_update(move |_, _| count())
    };
    let informer = factory.core().v1().config_maps().informer();
    let registration = informer.add_event_handler(handler(&maps)).unwrap();
    assert!(!registration.has_synced());
    informer.add_event_handler_with_resync_period(handler(&often), Duration::from_secs(1)).unwrap();
    let counted = count(&of_events);
    let handler = ResourceEventHandlerFuncs::<Event>::new().on_update(move |_, _| counted());
    factory.core().v1().events().informer().add_event_handler(handler).unwrap();
    factory.start();
    factory.wait_for_cache_sync(LONG).await.unwrap();
    registration.synced().await;
    assert!(registration.has_synced());
    let seen = |counter: &AtomicUsize| counter.load(Ordering::Relaxed);
    eventually("resyncs", || seen(&often) > 0 && seen(&of_events) > 0).await;
    assert_eq!(seen(&maps), 0, "the factory's period");
    factory.shutdown().await;
}

#[tokio::test]
async fn factory_restarts_for_new_informers_and_shuts_down() {
    let (_env, clients) = server().await;
    let factory = SharedInformerFactory::builder(clients.clone()).build();
    let names = Arc::new(Mutex::new(Vec::new()));
    let told = Arc::clone(&names);
    let handler = ResourceEventHandlerFuncs::new().on_add(move |map: Arc<ConfigMap>, _| {
        if !is_system(&map) {
            told.lock().unwrap().push(map.metadata.name.clone().unwrap());
        }
    });
    let maps = factory.core().v1().config_maps();
    maps.informer().add_event_handler(handler).unwrap();
    factory.start();
    factory.wait_for_cache_sync(LONG).await.unwrap();

    // By the name of the resource, and of a kind that the package does not have.
    let resource = GroupVersionResource::gvr("coordination.k8s.io", "v1", "leases");
    let leases = factory.for_resource(&resource).unwrap();
    assert!(matches!(leases, GenericInformer::CoordinationV1Leases(_)) && !leases.has_synced());
    let secrets = factory.informer_for::<Secret>();
    let secret = Secret {
        metadata: ObjectMeta { name: Some("s".to_owned()), ..ObjectMeta::default() },
        ..Secret::default()
    };
    let rest = RestClient::new(clients.client().clone(), "", "v1");
    TypedClient::namespaced(rest, "default").create(&secret, &PostParams::default()).await.unwrap();
    assert!(!secrets.is_started());
    factory.start();
    factory.wait_for_cache_sync(LONG).await.unwrap();
    assert!(secrets.lister().namespace("default").get("s").is_ok());

    factory.shutdown().await;
    assert!(maps.informer().is_stopped() && secrets.is_stopped());
    let before = names.lock().unwrap().len();
    assert_eq!(before, 3);
    create(&clients, "default", map("late", "gold", "red")).await;
    tokio::time::sleep(Duration::from_millis(20)).await;
    assert_eq!(names.lock().unwrap().len(), before, "nobody is told after the shutdown");
    assert!(maps.lister().namespace("default").get("a").is_ok(), "the cache can still be read");
    let late = factory.core().v1().events().informer();
    factory.start();
    assert!(!late.is_started(), "nothing starts after the shutdown");
}

#[tokio::test]
async fn sync_timeout_names_the_unsynced_resources() {
    let (_env, clients) = server().await;
    let factory = SharedInformerFactory::builder(clients)
        .name("west")
        .tweak_list_options(|params| params.label_selector = Some("no selector (".to_owned()))
        .build();
    let _ = factory.core().v1().config_maps().informer();
    let _ = factory.coordination().v1().leases().informer();
    factory.start();
    let error = factory.wait_for_cache_sync(Duration::from_secs(1)).await.unwrap_err();
    let resources: Vec<&str> = error.not_synced.iter().map(|it| it.resource.as_str()).collect();
    assert_eq!(resources, ["configmaps", "leases.coordination.k8s.io"]);
    assert!(error.to_string().starts_with("west has not synced within 1s: configmaps: "), "{error}");
    factory.shutdown().await;
}
