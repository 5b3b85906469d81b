//! The sample controller: a Deployment for each Foo, whose available replicas the Foo's status shows.
//!
//! [`deployment`] derives the Deployment from a Foo, [`reconcile`] writes it. [`Factories`] are the caches,
//! [`controller`] selects the watched objects.

pub mod deployment;
pub mod reconcile;
#[cfg(test)]
mod tests;

use std::time::Duration;

use anyhow::ensure;
use k8s_openapi::api::apps::v1::Deployment;
use kubesmith_runtime::cache::{Indexer, ObjectKey};
use kubesmith_runtime::client::Discovery;
use kubesmith_runtime::controller::{ControllerBuilder, Predicate, Reconciler, Watch};
use kubesmith_runtime::kube::Resource;
use kubesmith_runtime::kube::core::GroupVersionResource;
use kubesmith_runtime::manager::Manager;
use kubesmith_runtime::workqueue::{BucketRateLimiter, ItemExponentialFailureRateLimiter, MaxOfRateLimiter};
use sample_controller_api::v1alpha1::Foo;
use sample_controller_client::clientset::Clientset;
use sample_controller_client::informers::SharedInformerFactory;

use reconcile::FooReconciler;

/// The controller's name: its component in events, its field manager in writes.
pub const CONTROLLER_NAME: &str = "sample-controller";

/// The name of the lease that replicas compete for.
pub const LEASE_NAME: &str = "sample-controller";

/// The default number of Foos that are reconciled at a time.
pub const WORKERS: usize = 2;

/// The interval at which every Foo is reconciled again, changed or not.
const RESYNC: Duration = Duration::from_secs(30);

/// The index of Foos by the Deployment that they name.
const BY_DEPLOYMENT: &str = "deployment";

/// Checks that the server serves the watched kinds: otherwise informers would retry for two minutes.
///
/// # Errors
///
/// Returns an error if it does not serve them or does not respond.
pub async fn check_served(discovery: &Discovery) -> anyhow::Result<()> {
    for (version, plural) in [named::<Foo>(), named::<Deployment>()] {
        let served = discovery.serves(&version, &plural).await?;
        ensure!(served, "the server has no {plural} of {version}: install the CRD, as it is in config/crd");
    }
    Ok(())
}

fn named<K: Resource<DynamicType = ()>>() -> (String, String) {
    (K::api_version(&()).into_owned(), K::plural(&()).into_owned())
}

fn resource<K: Resource<DynamicType = ()>>() -> GroupVersionResource {
    GroupVersionResource::gvr(&K::group(&()), &K::version(&()), &K::plural(&()))
}

/// Adds the controller to `manager`; `workers` Foos are reconciled at a time, of one namespace or of all. `/readyz`
/// reports whether the caches are complete.
///
/// # Errors
///
/// Returns an error if an informer was shut down.
///
/// # Panics
///
/// Panics outside of a tokio runtime.
pub fn add_to(manager: &mut Manager, workers: usize, namespace: Option<&str>) -> anyhow::Result<()> {
    let factories = Factories::new(manager, namespace);
    let reconciler = reconciler(manager, &factories);
    let controller =
        controller(&factories).workers(workers).metrics(manager.metrics()).complete(reconciler)?;
    manager.add(controller);
    let followed = [(&factories.foos, resource::<Foo>()), (&factories.kubernetes, resource::<Deployment>())];
    for (factory, resource) in followed {
        let informer = factory.for_resource(&resource)?;
        manager.add_readyz_check(resource.resource, move || match informer.has_synced() {
            true => Ok(()),
            false => Err("the cache is not complete yet".to_owned()),
        });
    }
    Ok(())
}

/// The informers that the controller reads: those of Kubernetes' own kinds, and those of Foo.
#[derive(Clone, Debug)]
pub struct Factories {
    /// For Deployments.
    pub kubernetes: SharedInformerFactory,
    /// For Foos.
    pub foos: SharedInformerFactory,
}

impl Factories {
    /// Creates two factories, which `manager` will run; of one namespace or of all. Foos are reconciled again
    /// periodically; Deployments need not be, as the Foos check theirs.
    pub fn new(manager: &mut Manager, namespace: Option<&str>) -> Self {
        let mut factory = |name| {
            let builder = SharedInformerFactory::builder(manager.client().clone())
                .name(name)
                .resync_for::<Foo>(RESYNC)
                .metrics(manager.metrics());
            let factory = match namespace {
                Some(namespace) => builder.namespace(namespace).build(),
                None => builder.build(),
            };
            manager.add_informers(&factory);
            factory
        };
        Factories { kubernetes: factory("kubernetes"), foos: factory("foos") }
    }
}

/// Returns a controller of Foos, which reconciles whenever a Deployment has changed that a Foo controls or names.
#[must_use]
pub fn controller(factories: &Factories) -> ControllerBuilder {
    let foos = factories.foos.samplecontroller().v1alpha1().foos().informer();
    let deployments = factories.kubernetes.apps().v1().deployments().informer();
    // A Deployment that was only listed again is unchanged.
    let changed = Watch::on(&deployments).filter(Predicate::resource_version_changed());
    // A Deployment of another owner belongs to no Foo, and blocks one until it is deleted.
    let named = Watch::on(&deployments).filter(Predicate::new().on_update(|_, _| false));
    ControllerBuilder::new(CONTROLLER_NAME)
        .for_(&foos)
        .owns(changed)
        .watches_indexed(named, &foos, Indexer::new(BY_DEPLOYMENT, |foo: &Foo| vec![named_by(foo)]))
        .rate_limiter(rate_limiter())
}

/// Returns the key of the Deployment that a Foo names.
fn named_by(foo: &Foo) -> String {
    let namespace = foo.metadata.namespace.as_deref().unwrap_or_default();
    ObjectKey::namespaced(namespace, &foo.spec.deployment_name).to_string()
}

/// Returns the longer of a Foo's own delay (5 ms, doubling up to 1000 s) and an overall bucket (50 per second, burst
/// 300).
fn rate_limiter() -> MaxOfRateLimiter<ObjectKey> {
    let of_item = ItemExponentialFailureRateLimiter::new(Duration::from_millis(5), Duration::from_secs(1000));
    MaxOfRateLimiter::new(vec![Box::new(of_item), Box::new(BucketRateLimiter::new(50.0, 300))])
}

/// Returns the reconciler over the factories' caches and the manager's client.
///
/// # Panics
///
/// Panics outside of a tokio runtime.
#[must_use]
pub fn reconciler(manager: &mut Manager, factories: &Factories) -> impl Reconciler<Key = ObjectKey> + use<> {
    let recorder = manager.event_recorder_for(CONTROLLER_NAME);
    let clients = Clientset::new(manager.client().clone());
    FooReconciler::new(clients.samplecontroller_v1alpha1(), clients.apps_v1(), factories, recorder)
}
