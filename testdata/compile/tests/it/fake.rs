//! The fake clientset of a generated package, as unit tests of controllers use it.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use case_package::{Cart, CartSpec};
use case_package_client::applyconfigurations::shop::v1::{
    CartApplyConfiguration, CartSpecApplyConfiguration,
};
use case_package_client::clientset::Interface;
use case_package_client::clientset::fake::FakeClientset;
use case_package_client::{Clientset, SharedInformerFactory};
use k8s_openapi::api::core::v1::{Pod, Secret};
use kube::api::{DeleteParams, ListParams, Patch, PatchParams, PostParams};
use kube::{Api, ResourceExt as _};
use kubesmith_runtime::cache::ObjectKey;
use kubesmith_runtime::controller::{Action, CancellationToken, Controller, ReconcileError, Reconciler};
use kubesmith_runtime::informer::ResourceEventHandlerFuncs;
use kubesmith_runtime::workqueue::Queue;
use kubesmith_testenv::fake::{self, FakeWatcher, Reaction};
use kubesmith_testenv::objects;

const LIMIT: Duration = Duration::from_secs(30);

fn cart(name: &str) -> Cart {
    let mut cart = Cart { spec: CartSpec { size: 2 }, ..Cart::default() };
    cart.metadata.name = Some(name.to_owned());
    cart.metadata.namespace = Some("a".to_owned());
    cart
}

fn seen(clients: &FakeClientset) -> Vec<String> {
    clients.actions().iter().map(ToString::to_string).collect()
}

#[tokio::test]
async fn every_verb_works_and_is_recorded() {
    let mut full = cart("full");
    full.status.phase = "Paid".to_owned();
    let clients = FakeClientset::new(objects![full, Pod::default_named("p")]).unwrap();
    let carts = clients.shop_v1().carts().namespace("a");
    assert_eq!(carts.get("full").await.unwrap().status.phase, "Paid", "seeds keep their status");

    let mut made = carts.create(&cart("new"), &PostParams::default()).await.unwrap();
    made.status.phase = "Open".to_owned();
    assert_eq!(carts.update(&made, &PostParams::default()).await.unwrap().status.phase, "");
    let stale = carts.update_status(&made, &PostParams::default()).await.unwrap();
    assert_eq!(stale.status.phase, "Open");
    made.spec.size = 3;
    assert!(carts.update(&made, &PostParams::default()).await.unwrap_err().is_conflict());
    let all = ListParams::default();
    assert_eq!(clients.shop_v1().carts().list(&all).await.unwrap().items.len(), 2);
    carts.delete("new", &DeleteParams::default()).await.unwrap();
    clients.discovery().server_version().await.unwrap();
    let expected = [
        "get carts.shop.example.com a/full",
        "create carts.shop.example.com a/new",
        "update carts.shop.example.com a/new",
        "update carts.shop.example.com/status a/new",
        "update carts.shop.example.com a/new",
        "list carts.shop.example.com",
        "delete carts.shop.example.com a/new",
        "get version",
    ];
    assert_eq!(seen(&clients), expected);
    assert_eq!(clients.actions()[1].object::<Cart>().unwrap().spec.size, 2);
    let pods: Api<Pod> = Api::namespaced(clients.client(), "default");
    assert_eq!(pods.get("p").await.unwrap().name_any(), "p");
}

/// A pod with a name, which is all that the tracker asks for.
trait Named {
    fn default_named(name: &str) -> Self;
}

impl Named for Pod {
    fn default_named(name: &str) -> Self {
        let mut pod = Pod::default();
        pod.metadata.name = Some(name.to_owned());
        pod
    }
}

#[tokio::test]
async fn server_side_apply_tracks_field_managers() {
    let clients = FakeClientset::builder().build().unwrap();
    let carts = clients.shop_v1().carts().namespace("a");
    let sized = |size| {
        CartApplyConfiguration::new("full", "a")
            .with_spec(CartSpecApplyConfiguration::default().with_size(size))
    };
    carts.apply(&sized(1), &PatchParams::apply("one")).await.unwrap();
    let error = carts.apply(&sized(2), &PatchParams::apply("two")).await.unwrap_err();
    let conflicts: Vec<_> = error.apply_conflicts().iter().map(ToString::to_string).collect();
    assert!(conflicts[0].contains(".spec.size") && conflicts[0].contains("one"), "{conflicts:?}");
    let forced = carts.apply(&sized(2), &PatchParams::apply("two").force()).await.unwrap();
    assert_eq!(forced.spec.size, 2);
}

#[tokio::test]
async fn informers_see_seeds_the_tracker_and_other_clients() {
    let clients = FakeClientset::new([cart("seed")]).unwrap();
    let factory = SharedInformerFactory::builder(clients.clone()).build();
    let lister = factory.shop().v1().carts().lister();
    let heard = Arc::new(Mutex::new(Vec::new()));
    let (told, mut more) = tokio::sync::mpsc::unbounded_channel();
    let handler = ResourceEventHandlerFuncs::new().on_add({
        let heard = heard.clone();
        move |cart: Arc<Cart>, initial| {
            heard.lock().unwrap().push((cart.name_any(), initial));
            let _ = told.send(());
        }
    });
    factory.shop().v1().carts().informer().add_event_handler(handler).unwrap();
    factory.start();
    factory.wait_for_cache_sync(LIMIT).await.unwrap();
    assert_eq!(lister.namespace("a").get("seed").unwrap().spec.size, 2);
    assert_eq!(seen(&clients), ["watch carts.shop.example.com"], "a streaming list is one watch");

    clients.tracker().add(cart("tracked")).unwrap();
    clients.shop_v1().carts().namespace("a").create(&cart("made"), &PostParams::default()).await.unwrap();
    for _ in 0..3 {
        tokio::time::timeout(LIMIT, more.recv()).await.unwrap();
    }
    let expected = [("seed", true), ("tracked", false), ("made", false)];
    let expected = expected.map(|(name, initial)| (name.to_owned(), initial));
    assert_eq!(*heard.lock().unwrap(), expected);
    factory.shutdown().await;
}

#[tokio::test]
async fn informer_follows_a_fake_watcher() {
    let clients = FakeClientset::new([cart("seed")]).unwrap();
    let watcher = FakeWatcher::new();
    clients.prepend_watch_reactor("carts", watcher.reactor());
    let factory = SharedInformerFactory::builder(clients.clone()).build();
    let (told, mut more) = tokio::sync::mpsc::unbounded_channel();
    let handler = ResourceEventHandlerFuncs::new().on_add(move |cart: Arc<Cart>, _| {
        let _ = told.send(cart.name_any());
    });
    factory.shop().v1().carts().informer().add_event_handler(handler).unwrap();
    factory.start();
    factory.wait_for_cache_sync(LIMIT).await.unwrap();
    let mut made = cart("made");
    made.metadata.resource_version = Some("1000".to_owned());
    made.metadata.uid = Some("u".to_owned());
    watcher.add(made);
    for expected in ["seed", "made"] {
        assert_eq!(tokio::time::timeout(LIMIT, more.recv()).await.unwrap().unwrap(), expected);
    }
    let lists = clients.actions().iter().filter(|action| action.matches("list", "carts")).count();
    assert_eq!(lists, 1, "{:?}", seen(&clients));
    factory.shutdown().await;
}

/// Writes into the status of each cart what it saw.
struct Pay(Clientset);

impl Reconciler for Pay {
    type Key = ObjectKey;

    async fn reconcile(&self, key: &ObjectKey) -> Result<Action, ReconcileError> {
        let carts = self.0.shop_v1().carts().namespace(key.namespace());
        let mut cart = carts.get(key.name()).await?;
        cart.status.phase = "Paid".to_owned();
        carts.update_status(&cart, &PostParams::default()).await?;
        Ok(Action::done())
    }
}

#[tokio::test]
async fn controller_retries_after_conflicts() {
    let clients = FakeClientset::new([cart("full")]).unwrap();
    clients.prepend_reactor("update", "carts/status", fake::first(3, Reaction::conflict));
    let queue = Queue::new("carts");
    queue.add(ObjectKey::namespaced("a", "full"));
    let stop = CancellationToken::new();
    let controller = Controller::new("pay", queue, Pay((*clients).clone()));
    let running = tokio::spawn(controller.run(stop.clone()));
    let paid = async {
        while clients.tracker().get::<Cart>("a", "full").unwrap().unwrap().status.phase != "Paid" {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::time::timeout(LIMIT, paid).await.unwrap();
    stop.cancel();
    running.await.unwrap().unwrap();
    let updates = clients.actions().into_iter().filter(|action| action.matches("update", "carts/status"));
    assert_eq!(updates.count(), 4);
}

#[tokio::test]
async fn clients_of_a_package_work_on_the_fake_of_another() {
    let fake = fake::Fake::<kube::Client>::builder().kinds_of::<Clientset>().build().unwrap();
    let clients: Clientset = fake.clients();
    clients.shop_v1().carts().namespace("a").create(&cart("x"), &PostParams::default()).await.unwrap();
    let secrets: Api<Secret> = Api::namespaced(fake.client(), "a");
    let secret = serde_json::json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}});
    let patch = Patch::Apply(secret);
    secrets.patch("s", &PatchParams::apply("me"), &patch).await.unwrap();
    assert_eq!(fake.actions().len(), 2);
}

/// What a controller that takes any clientset does.
async fn count(clients: &impl Interface) -> usize {
    use case_package_client::clientset::typed::shop::v1::CartsGetter as _;
    use kubesmith_runtime::client::verbs::List as _;

    clients.shop_v1().carts("a").list(&ListParams::default()).await.unwrap().items.len()
}

#[tokio::test]
async fn fake_clientset_implements_the_clientset_trait() {
    let clients = FakeClientset::new([cart("one"), cart("two")]).unwrap();
    assert_eq!(count(&clients).await, 2);
    assert_eq!(count(&*clients).await, 2);
}

#[tokio::test]
async fn fake_clientset_may_start_empty() {
    let clients = FakeClientset::new(kubesmith_testenv::objects![]).unwrap();
    assert_eq!(count(&clients).await, 0);
}

#[tokio::test]
async fn list_applies_label_selector() {
    let mut labelled = cart("labelled");
    labelled.metadata.labels = Some([("a".to_owned(), "b".to_owned())].into());
    let clients = FakeClientset::new([cart("plain"), labelled]).unwrap();
    let params = ListParams::default().labels("a=b");
    let found = clients.shop_v1().carts().list(&params).await.unwrap().items;
    assert_eq!(found.iter().map(|cart| cart.name_any()).collect::<Vec<_>>(), ["labelled"]);
}
