//! The generated API as a program uses it. Compiling it is half of the test.

use std::time::Duration;

use case_cluster_scope::EcsBinding;
use case_names::generic::{self, prelude::MyOption};
use case_namespaced_scope::Cart;
use kube::core::{GroupVersionKind, GroupVersionResource};
use kubesmith_expected::{
    cluster_scope, groups_versions, names, namespaced_scope, only_informer, only_lister, verbs,
};
use kubesmith_runtime::cache::Indexer;
use kubesmith_runtime::client::RestClient;
use kubesmith_runtime::informer::{ResourceEventHandlerFuncs, SharedInformer};
use kubesmith_runtime::labels::Selector;
use kubesmith_runtime::lister::Lister;

/// A client of a server that is never asked.
fn client() -> kube::Client {
    let service = tower::service_fn(|_: http::Request<kube::client::Body>| {
        std::future::pending::<Result<http::Response<kube::client::Body>, std::convert::Infallible>>()
    });
    kube::Client::new(service, "default")
}

#[tokio::test]
async fn informer_and_lister_share_the_cache_of_the_factory() {
    let clients = cluster_scope::Clientset::new(client());
    let factory = cluster_scope::SharedInformerFactory::builder(clients.clone())
        .resync(Duration::from_secs(30))
        .build();
    let bindings = factory.ecs_bind().v1().ecs_bindings();
    let informer: SharedInformer<EcsBinding> = bindings.informer();
    informer.add_event_handler(ResourceEventHandlerFuncs::new().on_add(|_, _| {})).unwrap();
    assert!(!informer.has_synced());

    let lister = bindings.lister();
    assert!(lister.list(&Selector::everything()).is_empty());
    let error = lister.get("x").unwrap_err();
    assert_eq!(error.to_string(), "ecsbinding.hopegi.com \"x\" not found");

    factory.start();
    let error = factory.wait_for_cache_sync(Duration::ZERO).await.unwrap_err();
    assert_eq!(error.not_synced.len(), 1);
    factory.shutdown().await;
}

#[tokio::test]
async fn namespaced_lister_selects_a_namespace() {
    let factory = namespaced_scope::SharedInformerFactory::builder(client()).namespace("default").build();
    let carts = factory.shop().v1().carts();
    carts
        .informer()
        .add_indexer(Indexer::new("size", |cart: &Cart| vec![cart.spec.size.to_string()]))
        .unwrap();
    let lister = carts.lister();
    let error = lister.namespace("default").get("x").unwrap_err();
    assert_eq!(error.to_string(), "cart.shop.example.com \"x\" not found");
    assert!(lister.namespace("default").list(&Selector::everything()).is_empty());
    assert_eq!(lister.by_index("size", "2").unwrap().len(), 0);
    assert!(lister.by_index("no such index", "x").is_err());
}

#[tokio::test]
async fn informers_are_found_by_resource() {
    let factory = groups_versions::SharedInformerFactory::builder(client()).build();
    let carts = factory.for_resource(&GroupVersionResource::gvr("shop.example.com", "v2", "carts")).unwrap();
    assert!(matches!(carts, groups_versions::informers::GenericInformer::ShopV2Carts(_)), "{carts:?}");
    assert!(!carts.has_synced());
    let error =
        factory.for_resource(&GroupVersionResource::gvr("shop.example.com", "v3", "carts")).unwrap_err();
    assert_eq!(error.to_string(), "no informer for carts in shop.example.com/v3");
}

#[test]
fn scheme_has_every_kind_and_its_list() {
    let scheme = verbs::clientset::scheme::scheme();
    for kind in ["Every", "EveryList", "WithoutClient", "WithoutClientList"] {
        assert!(scheme.get(&GroupVersionKind::gvk("shop.example.com", "v1", kind)).is_some(), "{kind}");
    }
    let cart = namespaced_scope::clientset::scheme::scheme();
    assert!(cart.kind_of::<Cart>().is_some_and(|kind| kind.is_namespaced()));
    let json = br#"{"apiVersion": "shop.example.com/v1", "kind": "Cart", "metadata": {"name": "a"}, "spec": {"size": 2}}"#;
    assert_eq!(cart.decode(json).unwrap().downcast::<Cart>().unwrap().spec.size, 2);
}

#[tokio::test]
async fn lister_and_informer_packages_work_without_other_parts() {
    let factory = only_informer::SharedInformerFactory::builder(client()).build();
    let lister: Lister<Cart> = factory.shop().v1().carts().lister();
    let lister: only_lister::listers::shop::v1::CartLister = lister;
    assert!(lister.list(&Selector::everything()).is_empty());
}

#[tokio::test]
async fn keyword_and_colliding_names_are_usable() {
    let clients = names::Clientset::new(client());
    let _client = clients.generic_v1().options().namespace("default");
    let factory = names::SharedInformerFactory::builder(clients).build();
    let informer: SharedInformer<MyOption> = factory.generic().v1().options().informer();
    assert!(!informer.has_synced());
    let _builders = factory.start_().v1().builders().lister();
    // The client of PatchParam objects cannot have the name of the parameters of a patch.
    let _: fn(RestClient) -> names::clientset::typed::generic_::v1::PatchParams_ =
        names::clientset::typed::generic_::v1::PatchParams_::new;
    // Both kinds Foo and FooFrom have an `extract_foo_from`: the second one ends in an underscore.
    let (foo, from) = (generic::Foo::default(), generic::FooFrom::default());
    assert!(names::applyconfigurations::generic_::v1::extract_foo_from(&foo, "manager", "status").is_err());
    assert!(names::applyconfigurations::generic_::v1::extract_foo_from_(&from, "manager").is_err());
}

#[tokio::test]
async fn hand_written_files_extend_the_generated_package() {
    use namespaced_scope::clientset::typed::shop::v1::cart_expansion::CartExpansion;

    let env = crate::crds::server("namespaced-scope").await;
    let carts = namespaced_scope::Clientset::new(env.client()).shop_v1().carts().namespace("default");
    assert!(!carts.exists("a").await.unwrap());
    let factory = namespaced_scope::SharedInformerFactory::builder(env.client()).build();
    assert_eq!(factory.shop().v1().carts().lister().count(), 0);
    let scheme = namespaced_scope::clientset::scheme::scheme();
    assert!(scheme.get(&GroupVersionKind::gvk("", "v1", "ConfigMap")).is_some());
}
