//! Admission: the server's own plugins, then policies, then webhooks, in the order of kube-apiserver's
//! pkg/kubeapiserver/options/plugins.go.
//!
//! [`mutate`] comes before the server completes and checks an object, [`validate`] after it. Both run again when a
//! write is retried, as in kube-apiserver. `verbs/write.rs` is their only caller.

mod attributes;
mod input;
mod invoke;
mod matching;
mod mutating;
mod patched;
mod plugins;
mod policy;
mod reinvocation;
mod review;
mod typed;
mod validating;

pub(crate) use attributes::{Attributes, Operation, Options, kind_of_subresource};
pub(crate) use plugins::{Charge, NOT_READY, PROTECTION_FINALIZERS, is_system_priority_class};
pub(crate) use typed::object_type;

use serde_json::Value;

use self::reinvocation::{Reinvocation, Round};
use crate::status::ApiResult;

/// Lets plugins, mutating policies and mutating webhooks change or refuse the object of a request; `None` for a deletion.
/// Returns whether a policy or a webhook changed it.
///
/// # Errors
/// Returns the first refusal or failure.
///
/// # Cancel safety
/// Dropping the future abandons the pending call.
pub(crate) async fn mutate(attributes: &Attributes<'_>, mut object: Option<&mut Value>) -> ApiResult<bool> {
    let mut changed = false;
    plugins::wait(attributes, object.as_deref()).await;
    let (mut policies, mut hooks) = (Reinvocation::default(), Reinvocation::default());
    for round in [Round::First, Round::Again] {
        plugins::admit(attributes, object.as_deref_mut())?;
        let by_policy = policy::mutate(attributes, object.as_deref_mut(), round, &mut policies).await?;
        let by_hook = mutating::mutate(attributes, object.as_deref_mut(), round, &mut hooks).await?;
        if !by_policy && !by_hook {
            break;
        }
        changed = true;
    }
    Ok(changed)
}

/// Lets plugins, validating policies and validating webhooks refuse the object of a request as it will be stored; `None` for
/// a deletion. The charge has to be kept when the object is stored.
///
/// # Errors
/// Returns the first refusal or failure.
///
/// # Cancel safety
/// Dropping the future abandons the pending calls.
pub(crate) async fn validate(attributes: &Attributes<'_>, object: Option<&Value>) -> ApiResult<Charge> {
    plugins::validate(attributes, object)?;
    policy::validate(attributes, object).await?;
    validating::validate(attributes, object).await?;
    plugins::charge(attributes, object)
}
