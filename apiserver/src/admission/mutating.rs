//! The mutating webhooks: one after the other, and some again when others changed the object after them.

use std::collections::BTreeSet;

use kubesmith_apimachinery::patch::json_patch;
use serde_json::Value;

use super::attributes::{Attributes, Versioned};
use super::hook::Hook;
use super::invoke::{Failure, invoke};
use crate::conversion;
use crate::status::{ApiError, ApiResult};
use crate::verbs::admit;

/// Lets the mutating webhooks change the object of a request; `None` for a deletion, which has nothing to change.
///
/// # Errors
/// The first refusal or failure.
///
/// # Cancel safety
/// Dropping the future gives up the call that is under way.
pub(super) async fn mutate(attributes: &Attributes<'_>, object: Option<&mut Value>) -> ApiResult<()> {
    let hooks = attributes.call.server.hooks();
    if hooks.mutating.is_empty() || attributes.are_exempt() {
        return Ok(());
    }
    let mut state = State {
        versioned: Versioned::new(attributes, object.as_deref()),
        has_kind: attributes.is_resource(),
        dirty: false,
        again: Again::default(),
    };
    for round in [Round::First, Round::Again] {
        for (at, hook) in hooks.mutating.iter().enumerate() {
            state.put_to(hook, at, round, attributes).await?;
        }
        if !state.dirty {
            break;
        }
    }
    let (Some(object), true, Some(changed)) = (object, state.dirty, state.versioned.object) else {
        return Ok(());
    };
    let server = &attributes.call.server;
    *object = match state.has_kind {
        true => conversion::between(server, &state.versioned.def, attributes.def(), changed).await?,
        false => changed,
    };
    Ok(())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Round {
    First,
    Again,
}

/// Which webhooks are called a second time; webhooks by their place in the list.
#[derive(Default)]
struct Again {
    /// Called already, and willing to be called again.
    willing: BTreeSet<usize>,
    needed: BTreeSet<usize>,
}

struct State {
    versioned: Versioned,
    /// Whether the object is of the resource's kind.
    has_kind: bool,
    dirty: bool,
    again: Again,
}

impl State {
    async fn put_to(
        &mut self,
        hook: &Hook,
        at: usize,
        round: Round,
        attributes: &Attributes<'_>,
    ) -> ApiResult<()> {
        let Some(def) = hook.matches(attributes, self.versioned.object.as_ref())? else { return Ok(()) };
        // A webhook that did not hear of the request at first does not hear of it now.
        if round == Round::Again && !self.again.needed.contains(&at) {
            return Ok(());
        }
        self.versioned.convert(attributes, &def).await?;
        if !hook.conditions_hold(attributes, &self.versioned)? {
            return Ok(());
        }
        let outcome = match invoke(hook, attributes, &self.versioned, true).await {
            Ok(verdict) => verdict.patch.map_or(Ok(false), |patch| self.apply(hook, &patch)),
            Err(failure) => Err(failure),
        };
        if matches!(outcome, Ok(true)) {
            self.dirty = true;
            self.again.needed.append(&mut self.again.willing);
        }
        if hook.reinvoked {
            self.again.willing.insert(at);
        }
        outcome.err().and_then(|failure| failure.outcome(hook)).map_or(Ok(()), Err)
    }

    /// Carries out a webhook's patch; answers whether it changed the object.
    fn apply(&mut self, hook: &Hook, patch: &[u8]) -> Result<bool, Failure> {
        let operations: Vec<Value> = serde_json::from_slice(patch)
            .map_err(|e| Failure::Calling(format!("received undecodable patch in webhook response: {e}")))?;
        if operations.is_empty() {
            return Ok(false);
        }
        let refused = |text: String| Failure::Refused(ApiError::internal_of(text));
        let Some(object) = &mut self.versioned.object else {
            return Err(refused(format!(
                "admission webhook {:?} attempted to modify the object, which is not supported for this operation",
                hook.name
            )));
        };
        let mut patched = json_patch(object, &operations).map_err(|error| refused(error.to_string()))?;
        if !patched.is_object() {
            return Err(refused("couldn't get version/kind; the patched object is none".to_owned()));
        }
        if self.has_kind {
            admit::settle_changed(&self.versioned.def, &mut patched)
                .map_err(|e| refused(e.message().to_owned()))?;
        }
        let changed = patched != *object;
        *object = patched;
        Ok(changed)
    }
}
