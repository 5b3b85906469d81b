//! The validating webhooks: all that match a request are called at once.

use futures::StreamExt as _;
use futures::stream::FuturesUnordered;
use serde_json::Value;

use super::attributes::{Attributes, Versions};
use super::invoke::invoke;
use super::matching::conditions_hold;
use crate::hooks::Hook;
use crate::status::ApiResult;

/// Calls the validating webhooks; `object` is the object to store.
///
/// # Errors
/// Returns the refusal or failure that came first.
///
/// # Cancel safety
/// Dropping the future abandons the pending calls.
pub(crate) async fn validate(attributes: &Attributes<'_>, object: Option<&Value>) -> ApiResult<()> {
    let hooks = attributes.call.server.hooks();
    if hooks.validating.is_empty() || attributes.are_exempt() {
        return Ok(());
    }
    let mut versions = Versions::new(attributes, object);
    let mut concerned: Vec<(&Hook, usize)> = Vec::new();
    for hook in &hooks.validating {
        let Some(def) = hook.criteria.matches(attributes, object)? else { continue };
        let at = versions.index(&def).await?;
        if conditions_hold(hook, attributes, &versions.made[at])? {
            concerned.push((hook, at));
        }
    }
    let calls = concerned.into_iter().map(|(hook, at)| {
        let versioned = &versions.made[at];
        async move { invoke(hook, attributes, versioned, false).await.err().and_then(|f| f.outcome(hook)) }
    });
    let mut calls: FuturesUnordered<_> = calls.collect();
    let mut first = None;
    while let Some(outcome) = calls.next().await {
        first = first.or(outcome);
    }
    first.map_or(Ok(()), Err)
}
