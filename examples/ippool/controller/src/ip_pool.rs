//! The controller of IPPool: keeps the status up to date with the pods' addresses, and blocks the deletion of a pool in
//! use.

use std::net::IpAddr;
use std::sync::Arc;

use ippool_api::tsi::v1alpha1::{ADDRESS_ANNOTATION, IPPool, IPPoolStatus, POOL_ANNOTATION};
use ippool_client::clientset::Clientset;
use ippool_client::clientset::typed::core::v1::Pods;
use ippool_client::clientset::typed::tsi::v1alpha1::IPPools;
use ippool_client::informers::SharedInformerFactory;
use ippool_client::listers::tsi::v1alpha1::IPPoolLister;
use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use k8s_openapi::jiff::Timestamp;
use kubesmith_runtime::cache::{ObjectKey, TypedIndex};
use kubesmith_runtime::client::{Error as ClientError, unless_deleted};
use kubesmith_runtime::controller::{Action, ControllerBuilder, ReconcileError, Reconciler, Watch};
use kubesmith_runtime::controllerutil::{
    add_finalizer, condition, contains_finalizer, is_status_condition_true, remove_finalizer,
    set_status_condition,
};
use kubesmith_runtime::kube::api::{ListParams, PostParams};
use kubesmith_runtime::manager::Manager;
use kubesmith_runtime::rbac;
use kubesmith_runtime::record::{EventRecorder, EventType};

use crate::range::{Range, SpecError, Usage};

/// The controller's name in logs, metrics and events.
pub const CONTROLLER_NAME: &str = "ippool";

/// The finalizer of a pool until no pod has an address from it.
pub const FINALIZER: &str = "tsi.tiduyun.com/in-use";

/// The reason of both conditions if the spec is invalid.
const INVALID_SPEC: &str = "InvalidSpec";

/// The index of pods by the pool that they name.
const BY_POOL: &str = "ippool";

/// Adds the controller to a manager; `workers` pools are reconciled at a time.
///
/// # Errors
///
/// Returns an error if an informer of the manager's factory has been stopped.
///
/// # Panics
///
/// Panics outside of a tokio runtime.
pub fn add_to_manager(manager: &mut Manager, workers: usize) -> anyhow::Result<()> {
    let reconciler = reconciler(manager)?;
    let controller = controller(manager).workers(workers).metrics(manager.metrics()).complete(reconciler)?;
    manager.add(controller);
    Ok(())
}

/// Returns a controller of pools over the manager's informers, which reconciles whenever one of their pods has changed.
#[must_use]
pub fn controller(manager: &Manager) -> ControllerBuilder {
    let factory = SharedInformerFactory::from(manager.factory().clone());
    let pool_of = |pod: &Pod| pool_of(pod).map(|pool| ObjectKey::cluster(&pool));
    ControllerBuilder::new(CONTROLLER_NAME)
        .for_(&factory.tsi().v1alpha1().ip_pools().informer())
        .watches(Watch::on(&factory.core().v1().pods().informer()), pool_of)
}

/// Returns the reconciler over the manager's informers and client.
///
/// # Errors
///
/// Returns an error if an informer of the manager's factory has been stopped.
///
/// # Panics
///
/// Panics outside of a tokio runtime.
pub fn reconciler(manager: &mut Manager) -> anyhow::Result<IPPoolReconciler> {
    let factory = SharedInformerFactory::from(manager.factory().clone());
    let pods = factory.core().v1().pods().informer();
    let clients = Clientset::new(manager.client().clone());
    Ok(IPPoolReconciler {
        pools: factory.tsi().v1alpha1().ip_pools().lister(),
        pods: pods.add_typed_index(BY_POOL, |pod: &Pod| pool_of(pod).into_iter().collect())?,
        client: clients.tsi_v1alpha1().ip_pools(),
        pod_client: clients.core_v1().pods(),
        recorder: manager.event_recorder_for(CONTROLLER_NAME),
        clock: Timestamp::now,
    })
}

fn pool_of(pod: &Pod) -> Option<String> {
    pod.metadata.annotations.as_ref()?.get(POOL_ANNOTATION).cloned()
}

/// Returns the address of a pod that still has one.
fn address_of(pod: &Pod) -> Option<IpAddr> {
    let status = pod.status.as_ref();
    let phase = status.and_then(|status| status.phase.as_deref());
    if matches!(phase, Some("Succeeded" | "Failed")) {
        return None;
    }
    let annotated = pod.metadata.annotations.as_ref().and_then(|all| all.get(ADDRESS_ANNOTATION));
    // With a malformed annotation, the address of the status counts.
    let annotated = annotated.and_then(|text| text.parse().ok());
    annotated.or_else(|| status?.pod_ip.as_ref()?.parse().ok())
}

/// Counts the addresses of a pool.
pub struct IPPoolReconciler {
    pools: IPPoolLister,
    /// Pods by the pool that they name.
    pods: TypedIndex<Pod, String>,
    client: IPPools,
    /// For reads past the cache.
    pod_client: Pods,
    recorder: EventRecorder,
    /// For the times of conditions.
    clock: fn() -> Timestamp,
}

#[rbac(groups = "tsi.tiduyun.com", resources = "ippools", verbs("get", "list", "watch", "update"))]
#[rbac(groups = "tsi.tiduyun.com", resources = "ippools/status", verbs = "update")]
#[rbac(groups = "", resources = "pods", verbs("list", "watch"))]
#[rbac(groups = "", resources = "events", verbs("create", "patch"))]
impl Reconciler for IPPoolReconciler {
    type Key = ObjectKey;

    async fn reconcile(&self, key: &ObjectKey) -> Result<Action, ReconcileError> {
        let Ok(pool) = self.pools.get(key.name()) else { return Ok(Action::done()) };
        let result = self.bring_in_line(pool).await;
        match result {
            // The deletion queues the key again, if there is any work left.
            Err(error) if error.is_not_found() => Ok(Action::done()),
            // If the cache is behind, this is a conflict, and the key is retried.
            other => other.map(|()| Action::done()).map_err(Into::into),
        }
    }
}

impl IPPoolReconciler {
    async fn bring_in_line(&self, pool: Arc<IPPool>) -> Result<(), ClientError> {
        let name = pool.metadata.name.clone().unwrap_or_default();
        let in_use: Vec<IpAddr> = self.pods.list(&name).iter().filter_map(|pod| address_of(pod)).collect();
        let leaves = pool.metadata.deletion_timestamp.is_some();
        // The cache of pods may be behind that of pools, and a deleted pool cannot be restored.
        let unused = in_use.is_empty() && (!leaves || self.is_unused(&name).await?);
        let pool = self.finalize(pool, unused).await?;
        let Some(pool) = pool else { return Ok(()) };

        let usage = Range::new(&pool.spec).map(|range| range.usage(in_use));
        let mut changed = (*pool).clone();
        let status = changed.status.get_or_insert_default();
        let before = status.clone();
        observe(status, pool.metadata.generation, &usage, (self.clock)());
        if *status == before && pool.status.is_some() {
            return Ok(());
        }
        let news = news(&before, status);
        let written = self.client.update_status(&changed, &PostParams::default()).await;
        let Some(written) = unless_deleted(written, self.client.get(&name)).await? else { return Ok(()) };
        for (type_, reason, message) in news {
            self.recorder.event(&written, type_, reason, message);
        }
        Ok(())
    }

    /// Asks the server itself whether no pod has an address from the pool.
    async fn is_unused(&self, name: &str) -> Result<bool, ClientError> {
        let pods = self.pod_client.list(&ListParams::default()).await?;
        Ok(!pods.iter().any(|pod| pool_of(pod).as_deref() == Some(name) && address_of(pod).is_some()))
    }

    /// Adds the finalizer to a pool, and removes it from an unused terminating one. `None`: the pool is gone.
    async fn finalize(&self, pool: Arc<IPPool>, unused: bool) -> Result<Option<Arc<IPPool>>, ClientError> {
        let leaves = pool.metadata.deletion_timestamp.is_some();
        if !leaves && !contains_finalizer(&*pool, FINALIZER) {
            let mut kept = (*pool).clone();
            add_finalizer(&mut kept, FINALIZER);
            return self.client.update(&kept, &PostParams::default()).await.map(|kept| Some(Arc::new(kept)));
        }
        if leaves && unused && contains_finalizer(&*pool, FINALIZER) {
            let mut freed = (*pool).clone();
            remove_finalizer(&mut freed, FINALIZER);
            self.client.update(&freed, &PostParams::default()).await?;
            return Ok(None);
        }
        Ok(Some(pool))
    }
}

/// Updates the status from the observed addresses.
fn observe(
    status: &mut IPPoolStatus,
    generation: Option<i64>,
    usage: &Result<Usage, SpecError>,
    now: Timestamp,
) {
    status.observed_generation = generation;
    let counted = usage.as_ref().cloned().unwrap_or_default();
    (status.allocated, status.free, status.blocks) = (counted.allocated, counted.free, counted.blocks);
    let mut set = |type_: &str, holds, reason: &str, message: String| {
        let condition =
            Condition { observed_generation: generation, ..condition(type_, holds, reason, message, now) };
        set_status_condition(&mut status.conditions, condition);
    };
    match usage {
        Err(error) => set("Ready", false, INVALID_SPEC, error.to_string()),
        Ok(usage) if !usage.duplicates.is_empty() => {
            set(
                "Ready",
                false,
                "DuplicateAddress",
                format!("given to several pods: {}", list(&usage.duplicates)),
            );
        }
        Ok(usage) if !usage.foreign.is_empty() => {
            set(
                "Ready",
                false,
                "ForeignAddress",
                format!("not for pods of this pool: {}", list(&usage.foreign)),
            );
        }
        Ok(_) => set("Ready", true, "Counted", "every address is from the pool and given once".to_owned()),
    }
    match usage {
        Err(error) => set("Available", false, INVALID_SPEC, error.to_string()),
        Ok(usage) if usage.free == 0 => set("Available", false, "Exhausted", "no address is left".to_owned()),
        Ok(_) => set("Available", true, "AddressesLeft", "there are addresses left".to_owned()),
    }
}

fn is_refused(status: &IPPoolStatus) -> bool {
    status.conditions.iter().any(|condition| condition.reason == INVALID_SPEC)
}

/// Lists at most eight addresses, to keep messages readable.
fn list(addresses: &[IpAddr]) -> String {
    const SHOWN: usize = 8;
    let shown: Vec<String> = addresses.iter().take(SHOWN).map(ToString::to_string).collect();
    let more = addresses.len().saturating_sub(SHOWN);
    if more > 0 { format!("{} and {more} more", shown.join(", ")) } else { shown.join(", ") }
}

/// Returns the events: one for each condition that became true or false. One pass may see several such changes at once.
fn news(before: &IPPoolStatus, after: &IPPoolStatus) -> Vec<(EventType, &'static str, String)> {
    let holds = |status: &IPPoolStatus, type_| is_status_condition_true(&status.conditions, type_);
    let message = |type_: &str| {
        let found = after.conditions.iter().find(|condition| condition.type_ == type_);
        found.map(|condition| condition.message.clone()).unwrap_or_default()
    };
    let is_new = before.conditions.is_empty();
    let mut news = Vec::new();
    match (holds(before, "Ready"), holds(after, "Ready")) {
        (was, false) if was || is_new => news.push((EventType::Warning, "NotReady", message("Ready"))),
        (false, true) if !is_new => news.push((EventType::Normal, "Ready", message("Ready"))),
        _ => {}
    }
    match (holds(before, "Available"), holds(after, "Available")) {
        // An invalid spec gets one event, whatever its effect on the conditions.
        (true, false) if is_refused(after) && news.is_empty() => {
            news.push((EventType::Warning, "NotReady", message("Available")));
        }
        (was, false) if (was || is_new || is_refused(before)) && !is_refused(after) => {
            news.push((EventType::Warning, "Exhausted", message("Available")));
        }
        (false, true) if !is_new && !is_refused(before) => {
            news.push((EventType::Normal, "AddressesLeft", message("Available")));
        }
        _ => {}
    }
    news
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::PodStatus;

    use super::*;

    fn pod(annotation: Option<&str>, ip: Option<&str>, phase: &str) -> Pod {
        let mut pod = Pod::default();
        let annotation = annotation.map(|text| (ADDRESS_ANNOTATION.to_owned(), text.to_owned()));
        pod.metadata.annotations = Some(annotation.into_iter().collect());
        let (pod_ip, phase) = (ip.map(str::to_owned), Some(phase.to_owned()));
        pod.status = Some(PodStatus { pod_ip, phase, ..PodStatus::default() });
        pod
    }

    #[test]
    fn pod_address_is_its_annotation_or_else_its_ip() {
        for (annotation, ip, phase, address) in [
            (Some("10.1.0.2"), Some("10.1.0.3"), "Running", Some("10.1.0.2")),
            (None, Some("10.1.0.3"), "Running", Some("10.1.0.3")),
            (Some("10.1.0"), Some("10.1.0.3"), "Running", Some("10.1.0.3")),
            (Some(""), Some("fd00::1"), "Pending", Some("fd00::1")),
            (Some("10.1.0"), None, "Pending", None),
            (Some("10.1.0.2"), Some("10.1.0.3"), "Succeeded", None),
        ] {
            let found = address_of(&pod(annotation, ip, phase));
            assert_eq!(found.map(|it| it.to_string()).as_deref(), address, "{annotation:?} {ip:?} {phase}");
        }
    }

    #[test]
    fn refused_spec_is_not_reported_as_exhausted() {
        let mut status = IPPoolStatus::default();
        let usage = Err(SpecError::Cidr("10.1".to_owned()));
        observe(&mut status, Some(1), &usage, Timestamp::UNIX_EPOCH);
        let said: Vec<_> =
            status.conditions.iter().map(|it| (it.type_.as_str(), it.reason.as_str())).collect();
        assert_eq!(said, [("Ready", "InvalidSpec"), ("Available", "InvalidSpec")]);
        assert_eq!(reasons(&IPPoolStatus::default(), &status), ["NotReady"]);

        let mut before = status.clone();
        before.conditions[1].status = "True".to_owned();
        assert_eq!(reasons(&before, &status), ["NotReady"], "no address was used up");
    }

    fn reasons(before: &IPPoolStatus, after: &IPPoolStatus) -> Vec<&'static str> {
        news(before, after).into_iter().map(|(_, reason, _)| reason).collect()
    }

    #[test]
    fn changed_conditions_are_all_reported_when_several_change() {
        let status = |usage: Result<Usage, SpecError>| {
            let mut status = IPPoolStatus::default();
            observe(&mut status, Some(1), &usage, Timestamp::UNIX_EPOCH);
            status
        };
        let unseen = IPPoolStatus::default();
        let counted = status(Ok(Usage { free: 1, ..Usage::default() }));
        let full = status(Ok(Usage::default()));
        let address = "10.9.0.1".parse().expect("an address");
        let foreign = |free| status(Ok(Usage { free, foreign: vec![address], ..Usage::default() }));
        let refused = status(Err(SpecError::Cidr("10.1".to_owned())));
        for (before, after, told) in [
            (&unseen, &counted, &[][..]),
            (&unseen, &full, &["Exhausted"]),
            (&unseen, &foreign(0), &["NotReady", "Exhausted"]),
            (&unseen, &refused, &["NotReady"]),
            (&counted, &counted, &[]),
            (&counted, &full, &["Exhausted"]),
            (&counted, &foreign(0), &["NotReady", "Exhausted"]),
            (&counted, &refused, &["NotReady"]),
            (&foreign(1), &full, &["Ready", "Exhausted"]),
            (&foreign(1), &refused, &["NotReady"]),
            (&foreign(0), &counted, &["Ready", "AddressesLeft"]),
            (&full, &counted, &["AddressesLeft"]),
            (&full, &refused, &["NotReady"]),
            (&refused, &counted, &["Ready"]),
            (&refused, &full, &["Ready", "Exhausted"]),
            (&refused, &refused, &[]),
        ] {
            assert_eq!(reasons(before, after), told, "{before:?} -> {after:?}");
        }
    }
}
