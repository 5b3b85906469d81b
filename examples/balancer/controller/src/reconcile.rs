//! The reconciler: from a Balancer's key to its children and its status.

use std::sync::Arc;

use balancer_api::v1alpha1::Balancer;
use balancer_client::clientset::typed::exposer::v1alpha1::Balancers;
use balancer_client::listers::exposer::v1alpha1::BalancerLister;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, Service};
use k8s_openapi::jiff::Timestamp;
use kubesmith_runtime::cache::ObjectKey;
use kubesmith_runtime::client::unless_deleted;
use kubesmith_runtime::controller::{Action, ReconcileError, Reconciler};
use kubesmith_runtime::controllerutil::{OwnerError, is_controlled_by};
use kubesmith_runtime::informer::CachedClient;
use kubesmith_runtime::kube::api::{DeleteParams, PatchParams, Preconditions};
use kubesmith_runtime::labels::Selector;
use kubesmith_runtime::rbac;
use kubesmith_runtime::record::{EventRecorder, EventType};

use crate::CONTROLLER_NAME;
use crate::children::{Children, labels, note_addresses};
use crate::plan::{Plan, Refusal};
use crate::status::{self, Outcome, is_rolled_out};
use crate::sync::{Child, Ensured, SyncError, ensure};

/// The reason why a Balancer is not in its wanted state.
#[derive(Debug, thiserror::Error)]
enum Fault {
    /// The spec has to be changed.
    #[error("the spec is refused: {0}")]
    Refused(#[from] Refusal),
    /// A name is taken.
    #[error("{}", join(.0))]
    Taken(Vec<SyncError>),
    /// Another error, which may be temporary.
    #[error("{}", join(.0))]
    Failed(Vec<SyncError>),
    /// The Balancer was not read from a server.
    #[error("{0}")]
    Owner(#[from] OwnerError),
}

fn join(errors: &[SyncError]) -> String {
    errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

/// Reconciles the children and the status of a Balancer.
pub struct BalancerReconciler {
    pub(crate) lister: BalancerLister,
    pub(crate) balancers: Balancers,
    pub(crate) services: CachedClient<Service>,
    pub(crate) config_maps: CachedClient<ConfigMap>,
    pub(crate) deployments: CachedClient<Deployment>,
    pub(crate) recorder: EventRecorder,
    pub(crate) image: String,
    /// For the times of conditions.
    pub(crate) clock: Box<dyn Fn() -> Timestamp + Send + Sync>,
}

impl BalancerReconciler {
    /// Sets the clock for the times of conditions; the system's by default.
    #[must_use]
    pub fn clock(mut self, clock: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        self.clock = Box::new(clock);
        self
    }
}

#[rbac(groups = "exposer.hliangzhao.io", resources = "balancers", verbs("get", "list", "watch"))]
#[rbac(groups = "exposer.hliangzhao.io", resources = "balancers/status", verbs("patch"))]
// Owners are set with blockOwnerDeletion, for which OwnerReferencesPermissionEnforcement requires this.
#[rbac(groups = "exposer.hliangzhao.io", resources = "balancers/finalizers", verbs("update"))]
#[rbac(groups = "", resources = "services", verbs("get", "list", "watch", "create", "patch", "delete"))]
#[rbac(groups = "", resources = "configmaps", verbs("get", "list", "watch", "create", "patch"))]
#[rbac(groups = "apps", resources = "deployments", verbs("get", "list", "watch", "create", "patch"))]
#[rbac(groups = "", resources = "events", verbs("create", "patch"))]
impl Reconciler for BalancerReconciler {
    type Key = ObjectKey;

    async fn reconcile(&self, key: &ObjectKey) -> Result<Action, ReconcileError> {
        let balancer = self.lister.namespace(key.namespace()).get(key.name());
        // Without its owner, or with a terminating one, the garbage collector deletes the children.
        let Ok(balancer) = balancer else { return Ok(Action::done()) };
        if balancer.metadata.deletion_timestamp.is_some() {
            return Ok(Action::done());
        }
        let result = self.bring_in_line(key, &balancer).await;
        let reported = self.report(key, &balancer, &result).await;
        match (result, reported) {
            (Ok(_), reported) => reported.map(|()| Action::done()),
            (Err(fault), Ok(())) if matches!(fault, Fault::Refused(_)) => {
                Err(ReconcileError::terminal(fault))
            }
            (Err(fault), Ok(())) => Err(fault.into()),
            (Err(fault), Err(error)) => Err(ReconcileError::new(format!("{fault}; and the status: {error}"))),
        }
    }
}

impl BalancerReconciler {
    async fn bring_in_line(&self, key: &ObjectKey, balancer: &Balancer) -> Result<Outcome, Fault> {
        let plan = Plan::new(balancer)?;
        let Children { backends, configuration, mut proxy, frontend } =
            Children::new(balancer, &plan, &self.image)?;
        let mut pass = Pass { balancer, written: Vec::new(), errors: Vec::new() };
        let mut served = Vec::new();
        for service in &backends {
            served.extend(pass.ensure(&self.services, service).await);
        }
        note_addresses(&mut proxy, served.iter().map(|service| &**service));
        // nginx does not start if the name of a backend cannot be resolved: first the backends, then the proxy.
        if pass.errors.is_empty() {
            pass.ensure(&self.config_maps, &configuration).await;
        }
        if pass.errors.is_empty() {
            pass.ensure(&self.deployments, &proxy).await;
            pass.ensure(&self.services, &frontend).await;
        }
        self.announce(&pass);
        pass.check()?;
        self.clean_up(key, balancer, &plan, &proxy).await.map_err(|error| Fault::Failed(vec![error]))
    }

    /// Deletes the Services of backends that are not listed, once no proxy uses them.
    async fn clean_up(
        &self,
        key: &ObjectKey,
        balancer: &Balancer,
        plan: &Plan,
        proxy: &Deployment,
    ) -> Result<Outcome, SyncError> {
        let rolled_out =
            self.deployments.get(&ObjectKey::of(proxy)).await?.is_some_and(|it| is_rolled_out(&it));
        let obsolete = self.obsolete(key, balancer, plan).await?;
        let mut left = obsolete.len();
        if rolled_out {
            for service in &obsolete {
                left -= usize::from(self.delete(service).await?);
            }
        }
        Ok(Outcome::of(plan, rolled_out, left))
    }

    /// Returns the backends' Services that belong to this very Balancer and are not in the plan.
    async fn obsolete(
        &self,
        key: &ObjectKey,
        balancer: &Balancer,
        plan: &Plan,
    ) -> Result<Vec<Arc<Service>>, SyncError> {
        let selector = Selector::from_labels(&labels(key.name())).unwrap_or_else(|_| Selector::nothing());
        let services = self.services.list_namespace(key.namespace(), &selector).await?;
        let is_listed = |service: &Service| {
            let name = service.metadata.name.as_deref();
            plan.backends.iter().any(|backend| Some(backend.service.as_str()) == name)
        };
        let obsolete = services.iter().filter(|it| is_controlled_by(&***it, balancer) && !is_listed(it));
        Ok(obsolete.cloned().collect())
    }

    /// Deletes a Service; returns false if the name belongs to another one by now, of which the cache reports a change.
    async fn delete(&self, service: &Service) -> Result<bool, SyncError> {
        // Only this Service: not another one that got the name meanwhile.
        let preconditions = Preconditions { uid: service.metadata.uid.clone(), resource_version: None };
        let params = DeleteParams { preconditions: Some(preconditions), ..DeleteParams::default() };
        match self.services.delete(&ObjectKey::of(service), &params).await {
            Err(error) if error.is_conflict() => Ok(false),
            Err(error) if !error.is_not_found() => Err(error.into()),
            _ => Ok(true),
        }
    }

    fn announce(&self, pass: &Pass<'_>) {
        if !pass.written.is_empty() {
            let message = format!("wrote {}", pass.written.join(", "));
            self.recorder.event(pass.balancer, EventType::Normal, "Synced", message);
        }
    }

    /// Writes the status if it has changed, and an event about a fault.
    async fn report(
        &self,
        key: &ObjectKey,
        balancer: &Balancer,
        result: &Result<Outcome, Fault>,
    ) -> Result<(), ReconcileError> {
        let outcome = match result {
            Ok(outcome) => outcome.clone(),
            Err(fault) => {
                let reason = fault.reason();
                tracing::warn!(balancer = %key, reason, %fault, "not as it should be");
                self.recorder.event(balancer, EventType::Warning, reason, fault.to_string());
                Outcome { active: None, obsolete: None, ready: false, reason, message: fault.to_string() }
            }
        };
        let status = status::status(balancer, &outcome, (self.clock)());
        if status == balancer.status {
            return Ok(());
        }
        let client = self.balancers.namespace(key.namespace());
        // From the server: caches have no managedFields, which show this controller's own part of the status.
        let stored = match client.get(key.name()).await {
            Err(error) if error.is_not_found() => return Ok(()),
            stored => stored?,
        };
        let applied = status::to_apply(&stored, &outcome, &status)?;
        let params = PatchParams::apply(CONTROLLER_NAME).force();
        let written = client.apply_status(&applied, &params).await;
        Ok(unless_deleted(written, client.get(key.name())).await.map(drop)?)
    }
}

impl Fault {
    /// Returns the reason for conditions and events.
    fn reason(&self) -> &'static str {
        match self {
            Fault::Refused(_) => "InvalidSpec",
            Fault::Taken(_) => "ErrResourceExists",
            Fault::Failed(_) | Fault::Owner(_) => "SyncFailed",
        }
    }
}

/// One pass over the children: the writes, and all errors.
struct Pass<'a> {
    balancer: &'a Balancer,
    written: Vec<String>,
    errors: Vec<SyncError>,
}

impl Pass<'_> {
    /// Ensures a child and returns it as stored; `None` on an error.
    async fn ensure<K: Child>(&mut self, client: &CachedClient<K>, wanted: &K) -> Option<Arc<K>> {
        match ensure(client, self.balancer, wanted).await {
            Ok(Ensured { object, changed }) => {
                if changed {
                    let name = wanted.meta().name.as_deref().unwrap_or_default();
                    self.written.push(format!("{} {name}", K::kind(&())));
                }
                Some(object)
            }
            Err(error) => {
                self.errors.push(error);
                None
            }
        }
    }

    /// Returns all errors.
    fn check(self) -> Result<(), Fault> {
        let errors = self.errors;
        if errors.is_empty() {
            return Ok(());
        }
        let taken = errors.iter().all(|error| matches!(error, SyncError::NotOurs { .. }));
        Err(if taken { Fault::Taken(errors) } else { Fault::Failed(errors) })
    }
}
