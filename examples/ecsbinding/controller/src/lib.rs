//! The EcsBinding controller: adds a label to every EcsBinding, and records an event then.
//!
//! It reads from the generated lister, writes with the generated client, and takes its work from a queue that the
//! informer's handler fills.

use std::sync::Arc;

use ecsbinding_api::v1::EcsBinding;
use ecsbinding_client::clientset::Clientset;
use ecsbinding_client::clientset::typed::ecs::v1::EcsBindings;
use ecsbinding_client::informers::SharedInformerFactory;
use ecsbinding_client::listers::ecs::v1::EcsBindingLister;
use kubesmith_runtime::cache::ObjectKey;
use kubesmith_runtime::client::Error as ClientError;
use kubesmith_runtime::controller::{Action, Controller, ReconcileError, Reconciler};
use kubesmith_runtime::informer::{Deleted, InformerError, ResourceEventHandler};
use kubesmith_runtime::kube::api::{Patch, PatchParams};
use kubesmith_runtime::manager::Manager;
use kubesmith_runtime::rbac;
use kubesmith_runtime::record::{EventRecorder, EventType};
use kubesmith_runtime::workqueue::Queue;
use serde_json::json;

/// The controller's name: its component in events, its field manager in writes.
pub const CONTROLLER_NAME: &str = "ecsbinding_controller";

/// The name of the work queue in logs and metrics.
pub const QUEUE_NAME: &str = "EcsBinding";

/// The label that the controller adds to every EcsBinding.
pub const CLUSTER_LABEL: &str = "hopegi.com/cluster";

/// The value of [`CLUSTER_LABEL`].
pub const CLUSTER_NAME: &str = "k8s-cluster";

/// The name of the lease that replicas compete for.
pub const LEASE_NAME: &str = "ecsbinding.hopegi.com";

/// The definition of EcsBinding, as `kubesmith generate` writes it.
pub const CRD: &str = include_str!("../../config/crd/bases/hopegi.com_ecsbinding.yaml");

/// Adds the controller to `manager`; `workers` EcsBindings are reconciled at a time.
///
/// # Errors
///
/// Returns an error if the informer of the manager was shut down.
///
/// # Panics
///
/// Panics outside of a tokio runtime.
pub fn add_to(manager: &mut Manager, workers: usize) -> Result<(), InformerError> {
    let reconciler = reconciler(manager);
    let controller = controller(manager, reconciler)?.workers(workers);
    manager.add(controller);
    Ok(())
}

/// Returns a controller that calls `reconciler` with the keys of EcsBindings: a queue, which a handler of the manager's
/// informer fills. `/readyz` reports whether the handler has seen all existing objects.
///
/// # Errors
///
/// As [`add_to`].
pub fn controller<R: Reconciler<Key = ObjectKey>>(
    manager: &mut Manager,
    reconciler: R,
) -> Result<Controller<R>, InformerError> {
    let factory = SharedInformerFactory::from(manager.factory().clone());
    let bindings = factory.ecs_bind().v1().ecs_bindings().informer();
    let queue = Queue::builder(QUEUE_NAME).metrics(manager.metrics()).build();
    let registration = bindings.add_event_handler(Enqueue { queue: queue.clone() })?;
    let handler = registration.clone();
    manager.add_readyz_check("ecsbindings", move || match handler.has_synced() {
        true => Ok(()),
        false => Err("the EcsBindings that there are have not been seen yet".to_owned()),
    });
    let controller = Controller::new(CONTROLLER_NAME, queue, reconciler).metrics(manager.metrics());
    Ok(controller.wait_for("ecsbindings", async move { registration.synced().await }))
}

/// Returns the reconciler over the manager's informer and client.
///
/// # Panics
///
/// Panics outside of a tokio runtime.
#[must_use]
pub fn reconciler(manager: &mut Manager) -> LabelBindings {
    let factory = SharedInformerFactory::from(manager.factory().clone());
    LabelBindings {
        lister: factory.ecs_bind().v1().ecs_bindings().lister(),
        client: Clientset::new(manager.client().clone()).ecs_v1().ecs_bindings(),
        recorder: manager.event_recorder_for(CONTROLLER_NAME),
    }
}

/// Queues the key of an added, changed or deleted object.
struct Enqueue {
    queue: Queue<ObjectKey>,
}

impl ResourceEventHandler<EcsBinding> for Enqueue {
    fn on_add(&self, binding: Arc<EcsBinding>, _is_in_initial_list: bool) {
        let key = ObjectKey::of(&*binding);
        tracing::info!("controller: Add event, ecsbinding [{}]", key.name());
        self.queue.add(key);
    }

    fn on_update(&self, old: Arc<EcsBinding>, new: Arc<EcsBinding>) {
        if old == new {
            return;
        }
        let key = ObjectKey::of(&*new);
        tracing::info!("controller: Update event, ecsbinding [{}]", key.name());
        self.queue.add(key);
    }

    fn on_delete(&self, deleted: Deleted<EcsBinding>) {
        let key = deleted.key().clone();
        tracing::info!("controller: Delete event, ecsbinding [{}]", key.name());
        self.queue.add(key);
    }
}

/// Labels the EcsBinding of a key.
pub struct LabelBindings {
    lister: EcsBindingLister,
    client: EcsBindings,
    recorder: EventRecorder,
}

#[rbac(groups = "hopegi.com", resources = "ecsbinding", verbs("list", "watch", "patch"))]
#[rbac(groups = "", resources = "events", verbs("create", "patch"))]
impl Reconciler for LabelBindings {
    type Key = ObjectKey;

    async fn reconcile(&self, key: &ObjectKey) -> Result<Action, ReconcileError> {
        let Ok(binding) = self.lister.get(key.name()) else {
            tracing::info!("ecsbinding [{}] does not exist any more", key.name());
            return Ok(Action::done());
        };
        if has_label(&binding) {
            return Ok(Action::done());
        }
        let patch = Patch::Merge(json!({ "metadata": { "labels": { CLUSTER_LABEL: CLUSTER_NAME } } }));
        let params =
            PatchParams { field_manager: Some(CONTROLLER_NAME.to_owned()), ..PatchParams::default() };
        match self.client.patch(key.name(), &params, &patch).await {
            Ok(labelled) => {
                let message = format!("labelled {CLUSTER_LABEL}={CLUSTER_NAME}");
                self.recorder.event(&labelled, EventType::Normal, "Labelled", message);
                Ok(Action::done())
            }
            // Deleted since the cache read it: the delete event queues the key again.
            Err(error) if ClientError::is_not_found(&error) => Ok(Action::done()),
            Err(error) => Err(error.into()),
        }
    }
}

fn has_label(binding: &EcsBinding) -> bool {
    let labels = binding.metadata.labels.as_ref();
    labels.and_then(|labels| labels.get(CLUSTER_LABEL)).is_some_and(|value| value == CLUSTER_NAME)
}

#[cfg(test)]
mod tests;
