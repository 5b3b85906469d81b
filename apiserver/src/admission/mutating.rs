//! The mutating webhooks: one after the other, and some again when others changed the object after them.

use kubesmith_apimachinery::golang;
use kubesmith_apimachinery::patch::json_patch;
use serde_json::Value;

use super::attributes::{Attributes, Versioned};
use super::invoke::{Failure, invoke};
use super::matching::conditions_hold;
use super::patched::check_kind;
use super::reinvocation::{Reinvocation, Round};
use super::review::{JSON_PATCH, Verdict};
use crate::bodies::{self, Change};
use crate::hooks::Hook;
use crate::meta;
use crate::patching;
use crate::status::{ApiError, ApiResult};
use crate::types;

/// Lets the mutating webhooks change the object of a request; `None` for a deletion, which has nothing to change. Returns
/// whether one of them did.
///
/// # Errors
/// The first refusal or failure.
///
/// # Cancel safety
/// Dropping the future abandons the pending call.
pub(super) async fn mutate(
    attributes: &Attributes<'_>,
    mut object: Option<&mut Value>,
    round: Round,
    again: &mut Reinvocation<usize>,
) -> ApiResult<bool> {
    let hooks = attributes.call.server.hooks();
    if hooks.mutating.is_empty() || attributes.are_exempt() {
        return Ok(false);
    }
    again.begin(round, object.as_deref());
    let mut state = State {
        versioned: Versioned::new(attributes, object.as_deref()),
        has_kind: attributes.is_resource(),
        dirty: false,
    };
    for (at, hook) in hooks.mutating.iter().enumerate() {
        state.put_to(hook, at, round, again, attributes).await?;
    }
    let dirty = state.dirty;
    if let (Some(object), true) = (object.as_deref_mut(), dirty) {
        state.versioned.write_back(attributes, object).await?;
    }
    again.end(object.as_deref());
    Ok(dirty)
}

struct State {
    versioned: Versioned,
    /// Whether the object is of the resource's kind.
    has_kind: bool,
    dirty: bool,
}

impl State {
    async fn put_to(
        &mut self,
        hook: &Hook,
        at: usize,
        round: Round,
        again: &mut Reinvocation<usize>,
        attributes: &Attributes<'_>,
    ) -> ApiResult<()> {
        let found = hook.criteria.matches(attributes, self.versioned.object.as_ref())?;
        let Some(def) = found else { return Ok(()) };
        // Only webhooks of the first round are called again.
        if !again.allows(round, &at) {
            return Ok(());
        }
        self.versioned.convert(attributes, &def).await?;
        if !conditions_hold(hook, attributes, &self.versioned)? {
            return Ok(());
        }
        let outcome = match invoke(hook, attributes, &self.versioned, true).await {
            Ok(verdict) => self.apply(hook, &verdict),
            Err(failure) => Err(failure),
        };
        if matches!(outcome, Ok(true)) {
            self.dirty = true;
            again.changed();
        }
        if hook.reinvoked {
            again.invoked(at);
        }
        outcome.err().and_then(|failure| failure.outcome(hook)).map_or(Ok(()), Err)
    }

    /// Applies a webhook's patch and returns whether it changed the object.
    fn apply(&mut self, hook: &Hook, verdict: &Verdict) -> Result<bool, Failure> {
        let Some(patch) = &verdict.patch else { return Ok(false) };
        let operations = patching::operations(patch)
            .map_err(|e| Failure::Calling(format!("received undecodable patch in webhook response: {e}")))?;
        if operations.is_empty() {
            return Ok(false);
        }
        let refused = |text: String| Failure::Refused(ApiError::internal_of(text));
        let Some(object) = &mut self.versioned.object else {
            return Err(refused(format!(
                "admission webhook {} attempted to modify the object, which is not supported for this operation",
                golang::quote(&hook.name)
            )));
        };
        if verdict.patch_type != JSON_PATCH {
            let given = golang::quote(&verdict.patch_type);
            return Err(Failure::Calling(format!("unsupported patch type {given}")));
        }
        let mut patched = json_patch(object, &operations).map_err(|error| refused(error.to_string()))?;
        check_kind(&self.versioned.def, object, &mut patched).map_err(refused)?;
        if self.has_kind {
            bodies::settle_changed(&self.versioned.def, &mut patched, Change::Webhook).map_err(refused)?;
        } else if !self.versioned.def.is_custom()
            && let Some(of) =
                types::of_kind(meta::member(&patched, "apiVersion"), meta::member(&patched, "kind"))
        {
            types::decode::settle(&mut patched, of).map_err(refused)?;
        }
        let changed = patched != *object;
        *object = patched;
        Ok(changed)
    }
}
