//! The server's own admission plugins, as in kube-apiserver's `plugin/pkg/admission`.
//!
//! A plugin is a file here and a line in [`ORDER`].

mod certificates;
mod claim_resize;
mod default_class;
mod default_toleration_seconds;
mod limit_ranger;
mod namespace_lifecycle;
mod pod_resize;
mod pod_security;
mod pod_topology_labels;
mod priority;
mod resource_quota;
mod runtime_class;
mod service_account;
mod storage_object_in_use_protection;
mod taint_nodes_by_condition;

pub(crate) use priority::is_system as is_system_priority_class;
pub(crate) use resource_quota::Charge;
pub(crate) use storage_object_in_use_protection::FINALIZERS as PROTECTION_FINALIZERS;
pub(crate) use taint_nodes_by_condition::NOT_READY;

use serde_json::Value;

use super::{Attributes, Operation};
use crate::status::ApiResult;

/// Changes or refuses the object of a request; a deletion has none.
type Plugin = fn(&Attributes<'_>, Option<&mut Value>) -> ApiResult<()>;

/// The plugins in kube-apiserver's order (`pkg/kubeapiserver/options/plugins.go`); webhooks come after them.
const ORDER: &[Plugin] = &[
    namespace_lifecycle::admit,
    limit_ranger::admit,
    service_account::admit,
    taint_nodes_by_condition::admit,
    priority::admit,
    default_toleration_seconds::admit,
    storage_object_in_use_protection::admit,
    default_class::admit_claim,
    runtime_class::admit,
    default_class::admit_ingress,
    pod_topology_labels::admit,
];

/// Refuses an object after mutating admission.
type Validator = fn(&Attributes<'_>, Option<&Value>) -> ApiResult<()>;

/// The plugins that check objects, in the same order; validating webhooks come after them.
const VALIDATORS: &[Validator] = &[
    limit_ranger::validate,
    service_account::validate,
    pod_security::validate,
    priority::validate,
    claim_resize::validate,
    runtime_class::validate,
    certificates::validate,
    pod_resize::validate,
];

/// Waits until the plugins can decide. It belongs before [`admit`].
///
/// # Cancel safety
/// Dropping the future loses nothing.
pub(super) async fn wait(attributes: &Attributes<'_>, object: Option<&Value>) {
    service_account::wait(attributes, object).await;
}

/// Runs all plugins.
///
/// # Errors
/// Returns the first refusal.
pub(super) fn admit(attributes: &Attributes<'_>, mut object: Option<&mut Value>) -> ApiResult<()> {
    ORDER.iter().try_for_each(|plugin| plugin(attributes, object.as_deref_mut()))
}

/// Runs all checks of plugins.
///
/// # Errors
/// Returns the first refusal.
pub(super) fn validate(attributes: &Attributes<'_>, object: Option<&Value>) -> ApiResult<()> {
    VALIDATORS.iter().try_for_each(|plugin| plugin(attributes, object))
}

/// Counts the object against the quotas of its namespace, after all that may refuse it.
///
/// # Errors
/// Returns the refusal of a quota.
pub(super) fn charge(attributes: &Attributes<'_>, object: Option<&Value>) -> ApiResult<Charge> {
    resource_quota::charge(attributes, object)
}

/// Returns the object if the request creates or updates it as a whole and in this collection.
fn object_of<'o>(
    attributes: &Attributes<'_>,
    object: Option<&'o mut Value>,
    collection: &str,
    operations: &[Operation],
) -> Option<&'o mut Value> {
    let concerned = attributes.call.def.collection == collection
        && attributes.call.path.subresource.is_empty()
        && operations.contains(&attributes.operation);
    object.filter(|_| concerned)
}
