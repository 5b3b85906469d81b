//! A child that is as it should be is left alone, whatever others have put into it.

use std::time::Duration;

use balancer_api::v1alpha1::Balancer;
use balancer_client::clientset::Clientset;
use balancer_controller::NGINX_IMAGE;
use balancer_controller::children::Children;
use balancer_controller::plan::Plan;
use balancer_controller::sync::{SyncError, ensure};
use k8s_openapi::api::core::v1::{ConfigMap, Service};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::cache::ObjectKey;
use kubesmith_runtime::controller::Reconciler;
use kubesmith_runtime::informer::{CachedClient, SharedInformerFactory};
use kubesmith_runtime::kube::api::{Patch, PatchParams, PostParams};
use kubesmith_runtime::kube::{Api, Client};
use kubesmith_runtime::manager::Manager;
use kubesmith_testenv::fault::{Fault, Rule, Schedule, Verb};
use operator_testing::{Cluster, Needs, eventually};
use serde_json::{Value, json};

use crate::support::{CRDS, cluster, sample};

/// Longer than anything here takes.
const LIMIT: Duration = Duration::from_secs(30);

/// The Service of the sample's first backend, over a cache.
struct Backend {
    cluster: Cluster,
    balancer: Balancer,
    wanted: Service,
    factory: SharedInformerFactory,
    services: CachedClient<Service>,
}

impl Backend {
    async fn of(sample: Balancer) -> Self {
        let cluster = cluster(Needs::Api).await;
        let client = cluster.client();
        Self::with(cluster, client, sample).await
    }

    /// The operator's part uses `client`, which may be a broken one.
    async fn with(cluster: Cluster, client: Client, sample: Balancer) -> Self {
        let balancers = Clientset::new(cluster.client()).exposer_v1alpha1().balancers();
        let balancers = balancers.namespace(&cluster.namespace);
        let balancer = balancers.create(&sample, &PostParams::default()).await.expect("created");
        let plan = Plan::new(&balancer).expect("accepted");
        let wanted = Children::new(&balancer, &plan, NGINX_IMAGE).expect("owned").backends.remove(0);
        let factory = SharedInformerFactory::builder(client.clone()).namespace(&cluster.namespace).build();
        let services = CachedClient::new(client, &factory.informer_for());
        factory.start();
        Backend { cluster, balancer, wanted, factory, services }
    }

    /// Whether that has changed anything.
    async fn ensure(&self) -> bool {
        ensure(&self.services, &self.balancer, &self.wanted).await.expect("written").changed
    }

    /// Somebody else writes, and the cache has seen it.
    async fn patch(&self, patch: Value) {
        let services: Api<Service> = Api::namespaced(self.cluster.client(), &self.cluster.namespace);
        let (name, patch) = (self.wanted.metadata.name.as_deref().expect("named"), Patch::Strategic(patch));
        let patched = services.patch(name, &PatchParams::default(), &patch).await.expect("patched");
        eventually("the cache has it", async || {
            let seen = self.services.lister().namespace(&self.cluster.namespace).get(name).ok()?;
            (seen.metadata.resource_version == patched.metadata.resource_version).then_some(())
        })
        .await;
    }

    async fn stop(self) {
        self.factory.shutdown().await;
        self.cluster.stop().await;
    }
}

#[tokio::test]
async fn empty_selector_is_written_once() {
    let mut balancer = sample();
    balancer.spec.selector.clear();
    balancer.spec.backends[0].selector.clear();
    let backend = Backend::of(balancer).await;
    assert!(backend.ensure().await);
    assert!(!backend.ensure().await);
    backend.patch(json!({ "spec": { "selector": { "app": "other" } } })).await;
    assert!(backend.ensure().await, "what others select is taken away");
    assert!(!backend.ensure().await);
    backend.stop().await;
}

#[tokio::test]
async fn child_is_not_written_when_only_fields_of_others_differ() {
    let backend = Backend::of(sample()).await;
    assert!(backend.ensure().await);
    // One that is there, or else the garbage collector takes it out again.
    let other = ConfigMap {
        metadata: ObjectMeta { name: Some("other".to_owned()), ..ObjectMeta::default() },
        ..ConfigMap::default()
    };
    let maps: Api<ConfigMap> = Api::namespaced(backend.cluster.client(), &backend.cluster.namespace);
    let uid = maps.create(&PostParams::default(), &other).await.expect("created").metadata.uid;
    let owner = json!({ "apiVersion": "v1", "kind": "ConfigMap", "name": "other", "uid": uid });
    backend.patch(json!({ "metadata": { "ownerReferences": [owner] } })).await;
    assert!(!backend.ensure().await, "a further owner");
    backend.patch(json!({ "spec": { "ports": [{ "name": "more", "port": 99 }] } })).await;
    assert!(!backend.ensure().await, "a further port");
    backend.patch(json!({ "spec": { "ports": [{ "port": 80, "targetPort": 1 }] } })).await;
    assert!(backend.ensure().await, "another target is changed back");
    backend.stop().await;
}

#[tokio::test]
async fn foreign_service_is_unchanged_when_the_cache_lacks_it() {
    let cluster = cluster(Needs::Api).await;
    let watch = |fault, n| Rule::new(fault).verb(Verb::Watch).resource("services").nth(n);
    // The first watch tells that there is none, the second one nothing.
    let schedule =
        Schedule::new().rule(watch(Fault::EndWatch(1), 1)).rule(watch(Fault::SilenceWatch(None), 2));
    let proxy = cluster.env.fault_proxy(schedule).await.expect("a proxy");
    let client = proxy.client();
    let backend = Backend::with(cluster, client, sample()).await;
    let is_silent = async || (proxy.injections().len() >= 2).then_some(());
    eventually("the watch is silent", is_silent).await;
    let metadata = ObjectMeta { name: backend.wanted.metadata.name.clone(), ..ObjectMeta::default() };
    let foreign = Service { metadata, ..backend.wanted.clone() };
    let services: Api<Service> = Api::namespaced(backend.cluster.client(), &backend.cluster.namespace);
    services.create(&PostParams::default(), &foreign).await.expect("created");
    let result = ensure(&backend.services, &backend.balancer, &backend.wanted).await;
    assert!(matches!(result, Err(SyncError::NotOurs { .. })), "{result:?}");
    backend.stop().await;
    proxy.stop().await;
}

#[tokio::test]
#[cfg_attr(backend = "existing_cluster", ignore = "a cluster's CRDs are everybody's")]
async fn missing_status_subresource_is_not_taken_for_a_deletion() {
    let cluster = Cluster::start_without_subresources(CRDS).await;
    let balancers = Clientset::new(cluster.client()).exposer_v1alpha1().balancers();
    let balancers = balancers.namespace(&cluster.namespace);
    let balancer = balancers.create(&sample(), &PostParams::default()).await.expect("created");
    let mut manager = Manager::builder(cluster.client()).build();
    let reconciler = balancer_controller::reconciler(&mut manager, NGINX_IMAGE);
    manager.factory().start();
    manager.factory().wait_for_cache_sync(LIMIT).await.expect("full caches");
    let error = reconciler.reconcile(&ObjectKey::of(&balancer)).await.expect_err("nowhere to write to");
    assert!(error.to_string().contains("the object exists, but the subresource does not"), "{error}");
    manager.factory().shutdown().await;
    cluster.stop().await;
}
