//! Admission: the server's own plugins, then webhooks.
//!
//! [`mutate`] comes before the server completes and checks an object, [`validate`] after it. Both run again when a write is
//! tried again, as in kube-apiserver. `verbs/write.rs` is their only caller.

mod attributes;
mod conditions;
mod hook;
mod invoke;
mod mutating;
mod plugins;
mod review;
mod rules;
mod validating;

pub(crate) use attributes::{Attributes, Operation, Options, kind_of_subresource};
pub(crate) use conditions::fault as condition_fault;
pub(crate) use hook::Hooks;
pub(crate) use plugins::{NOT_READY, PROTECTION_FINALIZERS};

use serde_json::Value;

use crate::status::ApiResult;

/// Lets plugins and mutating webhooks change or refuse the object of a request; `None` for a deletion.
///
/// # Errors
/// Returns the first refusal or failure.
///
/// # Cancel safety
/// Dropping the future gives up the call that is under way.
pub(crate) async fn mutate(attributes: &Attributes<'_>, mut object: Option<&mut Value>) -> ApiResult<()> {
    plugins::admit(attributes, object.as_deref_mut())?;
    mutating::mutate(attributes, object).await
}

/// Lets plugins and validating webhooks refuse the object of a request as it will be stored; `None` for a deletion.
///
/// # Errors
/// Returns the first refusal or failure.
///
/// # Cancel safety
/// Dropping the future gives up the calls that are under way.
pub(crate) async fn validate(attributes: &Attributes<'_>, object: Option<&Value>) -> ApiResult<()> {
    plugins::validate(attributes, object)?;
    validating::validate(attributes, object).await
}

/// The API group of the configurations.
pub(crate) const GROUP: &str = "admissionregistration.k8s.io";
/// The store's collection of configurations of mutating webhooks.
pub(crate) const MUTATING: &str = "mutatingwebhookconfigurations.admissionregistration.k8s.io";
/// The store's collection of configurations of validating webhooks.
pub(crate) const VALIDATING: &str = "validatingwebhookconfigurations.admissionregistration.k8s.io";
