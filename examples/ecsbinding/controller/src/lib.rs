//! The EcsBinding controller: puts a label on every EcsBinding, and records an event when it did.
//!
//! It reads from the generated lister, writes with the generated client, and takes its work from a queue that the
//! informer's handler fills.

use std::sync::Arc;
use std::time::Duration;

use ecsbinding_api::v1::EcsBinding;
use ecsbinding_client::clientset::Clientset;
use ecsbinding_client::clientset::typed::ecs::v1::EcsBindings;
use ecsbinding_client::informers::SharedInformerFactory;
use ecsbinding_client::listers::ecs::v1::EcsBindingLister;
use kubesmith_runtime::cache::ObjectKey;
use kubesmith_runtime::client::Error as ClientError;
use kubesmith_runtime::controller::{
    Action, CancellationToken, Controller, ControllerError, ReconcileError, Reconciler,
};
use kubesmith_runtime::informer::{Deleted, InformerError, ResourceEventHandler};
use kubesmith_runtime::kube::api::{Patch, PatchParams};
use kubesmith_runtime::rbac;
use kubesmith_runtime::record::{EventBroadcaster, EventRecorder, EventType};
use kubesmith_runtime::workqueue::Queue;
use serde_json::json;

/// The controller's name: its component in events, its field manager in writes.
pub const CONTROLLER_NAME: &str = "ecsbinding_controller";

/// The name of the work queue in logs and metrics.
pub const QUEUE_NAME: &str = "EcsBinding";

/// The label that the controller puts on every EcsBinding.
pub const CLUSTER_LABEL: &str = "hopegi.com/cluster";

/// The value of [`CLUSTER_LABEL`].
pub const CLUSTER_NAME: &str = "k8s-cluster";

/// How often every object comes by again, changed or not.
const RESYNC: Duration = Duration::from_secs(30);

/// Why the controller ended badly.
#[derive(Debug)]
pub enum Error {
    /// The informer took no handler.
    Informer(InformerError),
    /// The caches did not fill, or the workers did not end.
    Controller(ControllerError),
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Error::Informer(error) => write!(f, "informer: {error}"),
            Error::Controller(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Error {}

impl From<InformerError> for Error {
    fn from(error: InformerError) -> Self {
        Error::Informer(error)
    }
}

impl From<ControllerError> for Error {
    fn from(error: ControllerError) -> Self {
        Error::Controller(error)
    }
}

/// Runs the controller until `stop` is cancelled; returns when its queue is worked off and every task has ended.
///
/// # Errors
///
/// The cache does not fill (is the CRD installed, may EcsBindings be listed?), or work goes on longer than the grace
/// period after the stop.
pub async fn run(clients: Clientset, workers: usize, stop: CancellationToken) -> Result<(), Error> {
    let factory = SharedInformerFactory::builder(clients.clone()).resync(RESYNC).build();
    let bindings = factory.ecs_bind().v1().ecs_bindings();
    let queue = Queue::new(QUEUE_NAME);
    let registration = bindings.informer().add_event_handler(Enqueue { queue: queue.clone() })?;

    let events = EventBroadcaster::new(clients.client().clone());
    let reconciler = LabelBindings {
        lister: bindings.lister(),
        client: clients.ecs_v1().ecs_bindings(),
        recorder: events.recorder(CONTROLLER_NAME),
    };

    factory.start();
    let result = Controller::new(CONTROLLER_NAME, queue, reconciler)
        .workers(workers)
        .wait_for("ecsbindings", async move { registration.synced().await })
        .run(stop)
        .await;
    factory.shutdown().await;
    events.shutdown().await;
    Ok(result?)
}

/// Queues the key of what was added, changed or deleted.
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

/// Labels the EcsBinding that a key names.
struct LabelBindings {
    lister: EcsBindingLister,
    client: EcsBindings,
    recorder: EventRecorder,
}

#[rbac(groups = "hopegi.com", resources = "ecsbinding", verbs("get", "list", "watch", "patch"))]
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
            // Deleted since the cache heard of it: the delete event queues the key again.
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
