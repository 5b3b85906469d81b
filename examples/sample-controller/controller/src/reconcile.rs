//! The reconciler: from a Foo's key to its Deployment and its status.

use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::api::apps::v1::Deployment;
use kubesmith_runtime::cache::ObjectKey;
use kubesmith_runtime::client::verbs::{Create as _, Delete as _, Get as _, Update as _, UpdateStatus as _};
use kubesmith_runtime::client::{Error as ClientError, unless_deleted};
use kubesmith_runtime::controller::{Action, ReconcileError, Reconciler};
use kubesmith_runtime::controllerutil::{OwnerError, is_controlled_by};
use kubesmith_runtime::kube::ResourceExt;
use kubesmith_runtime::kube::api::{DeleteParams, PostParams, Preconditions};
use kubesmith_runtime::labels::Selector;
use kubesmith_runtime::rbac;
use kubesmith_runtime::record::{EventRecorder, EventType};
use sample_controller_api::v1alpha1::{Foo, FooStatus};
use sample_controller_client::clientset::typed::apps::v1::DeploymentsGetter;
use sample_controller_client::clientset::typed::samplecontroller::v1alpha1::FoosGetter;
use sample_controller_client::listers::apps::v1::DeploymentLister;
use sample_controller_client::listers::samplecontroller::v1alpha1::FooLister;

use crate::deployment::{labels, new_deployment};
use crate::{CONTROLLER_NAME, Factories};

/// The reason of the event when a Foo is synced.
pub const SUCCESS_SYNCED: &str = "Synced";

/// The message of that event.
pub const MESSAGE_RESOURCE_SYNCED: &str = "Foo synced successfully";

/// The reason of the event when the wanted name belongs to another owner's Deployment.
pub const ERR_RESOURCE_EXISTS: &str = "ErrResourceExists";

/// The delay of a key whose Deployment the cache does not show yet.
const SOON: Duration = Duration::from_millis(50);

/// The reason why a Foo is not synced.
#[derive(Debug, thiserror::Error)]
enum SyncError {
    /// The spec names no Deployment, since the CRD lacks the rule for it.
    #[error("the spec names no Deployment")]
    NoName,
    /// The name is taken.
    #[error("Resource {0:?} already exists and is not managed by Foo")]
    ResourceExists(String),
    /// The API server has refused, or was not reached.
    #[error("{0}")]
    Client(#[from] ClientError),
    /// The Foo was not read from a server.
    #[error("{0}")]
    Owner(#[from] OwnerError),
}

/// Reconciles the Deployment and the status of a Foo.
///
/// It writes with any provider of these kinds' clients: the generated clientset, real or fake, or a custom one.
pub struct FooReconciler<F, D> {
    foos: FooLister,
    deployments: DeploymentLister,
    foo_clients: F,
    deployment_clients: D,
    recorder: EventRecorder,
}

#[rbac(groups = "samplecontroller.k8s.io", resources = "foos", verbs("get", "list", "watch"))]
#[rbac(groups = "samplecontroller.k8s.io", resources = "foos/status", verbs = "update")]
// Owners are set with blockOwnerDeletion, for which OwnerReferencesPermissionEnforcement requires this.
#[rbac(groups = "samplecontroller.k8s.io", resources = "foos/finalizers", verbs = "update")]
#[rbac(groups = "apps", resources = "deployments", verbs("list", "watch", "create", "update", "delete"))]
#[rbac(groups = "", resources = "events", verbs("create", "patch"))]
impl<F: FoosGetter, D: DeploymentsGetter> Reconciler for FooReconciler<F, D> {
    type Key = ObjectKey;

    async fn reconcile(&self, key: &ObjectKey) -> Result<Action, ReconcileError> {
        let Ok(foo) = self.foos.namespace(key.namespace()).get(key.name()) else {
            tracing::debug!(foo = %key, "does not exist any more");
            return Ok(Action::done());
        };
        // The garbage collector deletes the Deployment; a new one would only add work.
        if foo.metadata.deletion_timestamp.is_some() {
            return Ok(Action::done());
        }
        match self.sync(&foo).await {
            Ok(()) => Ok(Action::done()),
            // The cache is behind this controller's own last write. (A conflict is retried anyway.)
            Err(SyncError::Client(error)) if error.is_already_exists() => {
                tracing::debug!(foo = %key, %error, "the cache is behind");
                Ok(Action::requeue_after(SOON))
            }
            // Until the Foo changes, or the blocking Deployment is deleted; both queue the key.
            Err(error @ (SyncError::NoName | SyncError::ResourceExists(_))) => {
                Err(ReconcileError::terminal(error))
            }
            Err(error) => Err(error.into()),
        }
    }
}

impl<F: FoosGetter, D: DeploymentsGetter> FooReconciler<F, D> {
    /// Creates a reconciler that reads from the caches of `factories` and writes with the other clients.
    #[must_use]
    pub fn new(
        foo_clients: F,
        deployment_clients: D,
        factories: &Factories,
        recorder: EventRecorder,
    ) -> Self {
        FooReconciler {
            foos: factories.foos.samplecontroller().v1alpha1().foos().lister(),
            deployments: factories.kubernetes.apps().v1().deployments().lister(),
            foo_clients,
            deployment_clients,
            recorder,
        }
    }

    async fn sync(&self, foo: &Foo) -> Result<(), SyncError> {
        let (deployment, written) = self.ensure_deployment(foo).await?;
        let deleted = self.delete_others(foo).await?;
        let reported = self.update_status(foo, &deployment).await?;
        if written || deleted || reported {
            self.recorder.event(foo, EventType::Normal, SUCCESS_SYNCED, MESSAGE_RESOURCE_SYNCED);
        }
        Ok(())
    }

    /// Returns the Deployment as stored afterwards, and whether it had to be written.
    async fn ensure_deployment(&self, foo: &Foo) -> Result<(Arc<Deployment>, bool), SyncError> {
        let name = &foo.spec.deployment_name;
        if name.is_empty() {
            return Err(SyncError::NoName);
        }
        let namespace = foo.namespace().unwrap_or_default();
        let client = self.deployment_clients.deployments(&namespace);
        let Ok(deployment) = self.deployments.namespace(&namespace).get(name) else {
            let created = client.create(&new_deployment(foo)?, &written_by_us()).await?;
            return Ok((Arc::new(created), true));
        };
        if !is_controlled_by(&*deployment, foo) {
            let error = SyncError::ResourceExists(name.clone());
            self.recorder.event(foo, EventType::Warning, ERR_RESOURCE_EXISTS, error.to_string());
            return Err(error);
        }
        let current = deployment.spec.as_ref().and_then(|spec| spec.replicas);
        if foo.spec.replicas.is_none() || foo.spec.replicas == current {
            return Ok((deployment, false));
        }
        tracing::info!(foo = %ObjectKey::of(foo), ?current, desired = ?foo.spec.replicas, "scaling the Deployment");
        // A copy of the current one: changes of others stay, and concurrent ones are a conflict.
        let mut scaled = (*deployment).clone();
        scaled.spec.get_or_insert_default().replicas = foo.spec.replicas;
        Ok((Arc::new(client.update(&scaled, &written_by_us()).await?), true))
    }

    /// Deletes the Deployments of the Foo with other names. Returns whether there were any.
    async fn delete_others(&self, foo: &Foo) -> Result<bool, SyncError> {
        let namespace = foo.namespace().unwrap_or_default();
        let selector = Selector::from_labels(&labels(foo)).unwrap_or_else(|_| Selector::nothing());
        let mut others = self.deployments.namespace(&namespace).controlled_by(foo, &selector);
        others.retain(|it| it.name_any() != foo.spec.deployment_name);
        let mut deleted = false;
        for other in others {
            // Only this one: not another one that got the name meanwhile.
            let preconditions = Preconditions { uid: other.uid(), resource_version: None };
            let params = DeleteParams { preconditions: Some(preconditions), ..DeleteParams::background() };
            let client = self.deployment_clients.deployments(&namespace);
            match client.delete(&other.name_any(), &params).await {
                Ok(_) => deleted = true,
                // Deleted already, and the cache is behind.
                Err(error) if error.is_not_found() => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(deleted)
    }

    /// Writes the status if it has changed; returns whether it had.
    async fn update_status(&self, foo: &Foo, deployment: &Deployment) -> Result<bool, SyncError> {
        let available = deployment.status.as_ref().and_then(|status| status.available_replicas);
        let status = Some(FooStatus { available_replicas: available.unwrap_or(0) });
        if foo.status == status {
            return Ok(false);
        }
        let changed = Foo { status, ..foo.clone() };
        let client = self.foo_clients.foos(foo.metadata.namespace.as_deref().unwrap_or_default());
        let written = client.update_status(&changed, &written_by_us()).await;
        Ok(unless_deleted(written, client.get(&foo.name_any())).await?.is_some())
    }
}

fn written_by_us() -> PostParams {
    PostParams { field_manager: Some(CONTROLLER_NAME.to_owned()), ..PostParams::default() }
}
