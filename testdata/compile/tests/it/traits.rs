//! The clients' traits: controllers written against them run on the generated clients and on clients of their own.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use case_groups_versions::shop as api;
use case_namespaced_scope::{Cart, CartStatus};
use kube::api::ObjectMeta;
use kubesmith_expected::namespaced_scope::applyconfigurations::shop::v1::{
    CartApplyConfiguration, CartSpecApplyConfiguration, CartStatusApplyConfiguration,
};
use kubesmith_expected::namespaced_scope::clientset::typed::shop::v1::{CartInterface, CartsGetter};
use kubesmith_expected::{cluster_scope, groups_versions, namespaced_scope};
use kubesmith_runtime::client::prelude::*;
use kubesmith_runtime::client::verbs;
use kubesmith_runtime::serde::Serialize;
use kubesmith_testenv::TestEnv;
use serde_json::json;

fn cart(name: &str) -> Cart {
    let metadata = ObjectMeta { name: Some(name.to_owned()), ..ObjectMeta::default() };
    Cart { metadata, ..Cart::default() }
}

/// A controller that takes any client, and moves between threads.
struct Controller<G> {
    carts: G,
}

impl<G: CartsGetter> Controller<G> {
    async fn reconcile(&self, namespace: &str, name: &str) -> Result<Cart> {
        let carts = self.carts.carts(namespace);
        let mut cart = carts.get(name).await?;
        cart.status = CartStatus { phase: format!("size {}", cart.spec.size) };
        carts.update_status(&cart, &PostParams::default()).await
    }
}

fn is_send<F: Future + Send>(future: F) -> F {
    future
}

#[tokio::test]
async fn controller_accepts_the_generated_client() {
    let env = crate::crds::server("namespaced-scope").await;
    let clients = namespaced_scope::Clientset::new(env.client());
    let carts = clients.shop_v1().carts().namespace("default");
    carts.create(&cart("a"), &PostParams::default()).await.unwrap();
    let controller = Controller { carts: clients.shop_v1() };
    let done = is_send(controller.reconcile("default", "a")).await.unwrap();
    assert_eq!(done.status.phase, "size 0");
    assert_eq!(carts.get("a").await.unwrap().status.phase, "size 0");
    assert!(controller.reconcile("default", "b").await.unwrap_err().is_not_found());
}

/// Every verb, called by its trait.
async fn every_verb(carts: impl CartInterface) -> Result<()> {
    let (post, apply) = (PostParams::default(), PatchParams::apply("me"));
    let mut made = carts.create(&cart("a"), &post).await?;
    made.spec.size = 2;
    let mut made = carts.update(&made, &post).await?;
    assert_eq!(made.spec.size, 2);
    made.status.phase = "new".to_owned();
    assert_eq!(carts.update_status(&made, &post).await?.status.phase, "new");
    let listed = carts.list(&ListParams::default()).await?;
    assert_eq!(listed.items.len(), 1);
    let version = listed.metadata.resource_version.unwrap_or_default();
    let _events: WatchStream<Cart> = carts.watch(&WatchParams::default(), &version).await?;
    let patch = Patch::Merge(json!({"spec": {"size": 3}}));
    assert_eq!(carts.patch("a", &PatchParams::default(), &patch).await?.spec.size, 3);
    let patch = Patch::Merge(json!({"status": {"phase": "old"}}));
    let patched = carts.patch_subresource("status", "a", &PatchParams::default(), &patch).await?;
    assert_eq!(patched.status.phase, "old");
    let spec = CartSpecApplyConfiguration::default().with_size(1);
    carts.apply(&CartApplyConfiguration::new("b", "default").with_spec(spec), &apply).await?;
    let wanted = CartApplyConfiguration::new("b", "default");
    let status = CartStatusApplyConfiguration::default().with_phase("applied");
    assert_eq!(carts.apply_status(&wanted.with_status(status), &apply).await?.status.phase, "applied");
    assert_eq!(carts.get("b").await?.status.phase, "applied");
    assert!(carts.delete("a", &DeleteParams::default()).await?.is_deleted());
    carts.delete_collection(&DeleteParams::default(), &ListParams::default()).await?;
    assert!(carts.list(&ListParams::default()).await?.items.is_empty());
    Ok(())
}

#[tokio::test]
async fn traits_have_every_verb_of_the_client() {
    let env = crate::crds::server("namespaced-scope").await;
    let clients = namespaced_scope::Clientset::new(env.client());
    every_verb(clients.shop_v1().carts().namespace("default")).await.unwrap();
}

#[tokio::test]
async fn empty_namespace_selects_all_namespaces() {
    let env = crate::crds::server("namespaced-scope").await;
    let clients = namespaced_scope::Clientset::new(env.client()).shop_v1();
    for namespace in ["default", "kube-system"] {
        clients.carts().namespace(namespace).create(&cart("a"), &PostParams::default()).await.unwrap();
    }
    let all = CartsGetter::carts(&clients, "");
    assert_eq!(all.list(&ListParams::default()).await.unwrap().items.len(), 2);
    let error = all.get("a").await.unwrap_err().to_string();
    assert!(error.contains("the client is of all namespaces"), "{error}");
}

/// A client of one's own: carts in a map.
#[derive(Clone, Default)]
struct InMemory(Arc<Mutex<BTreeMap<String, Cart>>>);

impl CartsGetter for InMemory {
    type Carts = Self;

    fn carts(&self, _namespace: &str) -> Self {
        self.clone()
    }
}

impl verbs::Create<Cart> for InMemory {
    async fn create(&self, object: &Cart, _: &PostParams) -> Result<Cart> {
        let name = object.metadata.name.clone().unwrap_or_default();
        self.0.lock().unwrap().insert(name, object.clone());
        Ok(object.clone())
    }
}

impl verbs::Update<Cart> for InMemory {
    async fn update(&self, object: &Cart, params: &PostParams) -> Result<Cart> {
        self.create(object, params).await
    }
}

impl verbs::UpdateStatus<Cart> for InMemory {
    async fn update_status(&self, object: &Cart, params: &PostParams) -> Result<Cart> {
        self.create(object, params).await
    }
}

impl verbs::Delete<Cart> for InMemory {
    async fn delete(&self, _: &str, _: &DeleteParams) -> Result<Deletion<Cart>> {
        panic!("it is not called")
    }
}

impl verbs::DeleteCollection<Cart> for InMemory {
    async fn delete_collection(
        &self,
        _: &DeleteParams,
        _: &ListParams,
    ) -> Result<Deletion<ObjectList<Cart>>> {
        panic!("it is not called")
    }
}

impl verbs::Get<Cart> for InMemory {
    async fn get(&self, name: &str) -> Result<Cart> {
        Ok(self.0.lock().unwrap()[name].clone())
    }
}

impl verbs::List<Cart> for InMemory {
    async fn list(&self, _: &ListParams) -> Result<ObjectList<Cart>> {
        panic!("it is not called")
    }
}

impl verbs::Watch<Cart> for InMemory {
    async fn watch(&self, _: &WatchParams, _: &str) -> Result<WatchStream<Cart>> {
        panic!("it is not called")
    }
}

impl verbs::Patch<Cart> for InMemory {
    async fn patch<P>(&self, _: &str, _: &PatchParams, _: &Patch<P>) -> Result<Cart>
    where
        P: Serialize + std::fmt::Debug + Sync,
    {
        panic!("it is not called")
    }

    async fn patch_subresource<P>(&self, _: &str, _: &str, _: &PatchParams, _: &Patch<P>) -> Result<Cart>
    where
        P: Serialize + std::fmt::Debug + Sync,
    {
        panic!("it is not called")
    }
}

impl verbs::Apply<Cart, CartApplyConfiguration> for InMemory {
    async fn apply(&self, _: &CartApplyConfiguration, _: &PatchParams) -> Result<Cart> {
        panic!("it is not called")
    }
}

impl verbs::ApplyStatus<Cart, CartApplyConfiguration> for InMemory {
    async fn apply_status(&self, _: &CartApplyConfiguration, _: &PatchParams) -> Result<Cart> {
        panic!("it is not called")
    }
}

impl CartInterface for InMemory {}

#[tokio::test]
async fn controller_accepts_a_hand_written_client() {
    let controller = Controller { carts: InMemory::default() };
    controller.carts.create(&cart("a"), &PostParams::default()).await.unwrap();
    assert_eq!(controller.reconcile("anywhere", "a").await.unwrap().status.phase, "size 0");
}

/// What needs two verbs asks for two verbs.
async fn resize<C: verbs::Get<Cart> + verbs::Update<Cart>>(carts: &C, name: &str) -> Result<i32> {
    let mut cart = carts.get(name).await?;
    cart.spec.size += 1;
    Ok(carts.update(&cart, &PostParams::default()).await?.spec.size)
}

/// Has two verbs, and no more.
struct Two(Mutex<Cart>);

impl verbs::Get<Cart> for Two {
    async fn get(&self, _: &str) -> Result<Cart> {
        Ok(self.0.lock().unwrap().clone())
    }
}

impl verbs::Update<Cart> for Two {
    async fn update(&self, object: &Cart, _: &PostParams) -> Result<Cart> {
        self.0.lock().unwrap().clone_from(object);
        Ok(object.clone())
    }
}

#[tokio::test]
async fn function_may_require_single_verbs() {
    let two = Two(Mutex::new(cart("a")));
    assert_eq!(is_send(resize(&two, "a")).await.unwrap(), 1);
    assert_eq!(two.0.lock().unwrap().spec.size, 1);
    let env = crate::crds::server("namespaced-scope").await;
    let clients = namespaced_scope::Clientset::new(env.client());
    let carts = clients.shop_v1().carts().namespace("default");
    carts.create(&cart("a"), &PostParams::default()).await.unwrap();
    assert_eq!(is_send(resize(&carts, "a")).await.unwrap(), 1);
    // The runtime's client implements them, too.
    let typed = TypedClient::<Cart>::namespaced(carts_rest(&env), "default");
    assert_eq!(is_send(resize(&typed, "a")).await.unwrap(), 2);
}

fn carts_rest(env: &TestEnv) -> RestClient {
    RestClient::new(env.client(), "shop.example.com", "v1")
}

/// Takes any clientset; the traits of both versions have the same names, and their methods do not meet.
async fn both_versions(clients: &impl groups_versions::clientset::Interface) -> Result<usize> {
    use groups_versions::clientset::typed::library::v1beta1::*;
    use groups_versions::clientset::typed::shop::{v1, v2};
    use {v1::CartsGetter as _, v2::CartsGetter as _};

    clients.library_v1beta1().books("default").list(&ListParams::default()).await?;
    let old = clients.shop_v1().carts("default");
    let new = clients.shop_v2().carts("default");
    let made: api::v1::Cart = old.get("a").await?;
    let same: api::v2::Cart = new.get("a").await?;
    assert_eq!(made.metadata.uid, same.metadata.uid);
    Ok(old.list(&ListParams::default()).await?.items.len())
}

#[tokio::test]
async fn traits_of_two_versions_do_not_conflict() {
    #[allow(
        unused_imports,
        reason = "methods of the clients themselves come first, whatever is imported"
    )]
    use groups_versions::clientset::typed::{library::v1beta1::*, shop::v1::*, shop::v2::*};

    let env = crate::crds::server("groups-versions").await;
    let clients = groups_versions::Clientset::new(env.client());
    let metadata = ObjectMeta { name: Some("a".to_owned()), ..ObjectMeta::default() };
    let cart = api::v1::Cart { metadata, ..api::v1::Cart::default() };
    clients.shop_v1().carts().namespace("default").create(&cart, &PostParams::default()).await.unwrap();
    assert_eq!(is_send(both_versions(&clients)).await.unwrap(), 1);
    assert!(version(&clients).await.starts_with('v'));
}

async fn version(clients: &impl groups_versions::clientset::Interface) -> String {
    clients.discovery().server_version().await.unwrap().git_version
}

#[tokio::test]
async fn cluster_scoped_client_takes_no_namespace() {
    use cluster_scope::clientset::Interface;
    use cluster_scope::clientset::typed::ecs::v1::EcsBindingsGetter;

    async fn names(clients: &impl Interface) -> Result<usize> {
        let all = clients.ecs_v1().ecs_bindings().list(&ListParams::default()).await?;
        Ok(all.items.len())
    }
    let env = crate::crds::server("cluster-scope").await;
    assert_eq!(names(&cluster_scope::Clientset::new(env.client())).await.unwrap(), 0);
}
