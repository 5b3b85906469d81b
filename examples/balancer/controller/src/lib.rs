//! The Balancer operator: a proxy (nginx) in front of weighted backends, for each Balancer.
//!
//! For a Balancer `NAME` there are a Service for each backend, a ConfigMap with nginx's configuration, a Deployment
//! that runs nginx with it, and a Service for clients. [`plan`] parses a spec, [`nginx`] and [`children`] derive the
//! children from it, [`reconcile`] writes them.

pub mod children;
#[cfg(test)]
mod fixtures;
pub mod hash;
pub mod nginx;
pub mod plan;
pub mod reconcile;
pub mod status;
pub mod sync;

use balancer_client::clientset::Clientset;
use balancer_client::informers::SharedInformerFactory;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, Service};
use k8s_openapi::jiff::Timestamp;
use kubesmith_runtime::controller::{BuildError, ControllerBuilder};
use kubesmith_runtime::manager::Manager;

use reconcile::BalancerReconciler;

/// The controller's name: its component in events, its field manager in writes.
pub const CONTROLLER_NAME: &str = "balancer-controller";

/// The name of the lease that replicas compete for.
pub const LEASE_NAME: &str = "24a4cdb8.hliangzhao.io";

/// The default image of the proxy.
pub const NGINX_IMAGE: &str = "nginx:1.15.9";

/// Adds the controller to `manager`; `workers` Balancers are reconciled at a time, nginx is of `image`.
///
/// # Errors
///
/// Returns an error if an informer of the manager was shut down.
///
/// # Panics
///
/// Panics outside of a tokio runtime.
pub fn add_to(manager: &mut Manager, workers: usize, image: &str) -> Result<(), BuildError> {
    let reconciler = reconciler(manager, image);
    let controller = controller(manager).workers(workers).metrics(manager.metrics()).complete(reconciler)?;
    manager.add(controller);
    Ok(())
}

/// Returns a controller of Balancers over the manager's informers, which reconciles whenever a child has changed.
#[must_use]
pub fn controller(manager: &Manager) -> ControllerBuilder {
    let factory = SharedInformerFactory::from(manager.factory().clone());
    ControllerBuilder::new(CONTROLLER_NAME)
        .for_(&factory.exposer().v1alpha1().balancers().informer())
        .owns(&factory.informer_for::<Service>())
        .owns(&factory.informer_for::<ConfigMap>())
        .owns(&factory.informer_for::<Deployment>())
}

/// Returns the reconciler over the manager's informers and client.
///
/// # Panics
///
/// Panics outside of a tokio runtime.
#[must_use]
pub fn reconciler(manager: &mut Manager, image: &str) -> BalancerReconciler {
    let factory = SharedInformerFactory::from(manager.factory().clone());
    BalancerReconciler {
        lister: factory.exposer().v1alpha1().balancers().lister(),
        balancers: Clientset::new(manager.client().clone()).exposer_v1alpha1().balancers(),
        services: manager.cached_client(),
        config_maps: manager.cached_client(),
        deployments: manager.cached_client(),
        recorder: manager.event_recorder_for(CONTROLLER_NAME),
        image: image.to_owned(),
        clock: Box::new(Timestamp::now),
    }
}
