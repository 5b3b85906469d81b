//! The facts of a file beside types, with places.

use serde_json::Value;

use crate::ir::{PolicyRule, Webhook, WebhookConfiguration};
use crate::source::Loc;

/// Rules of roles, webhooks and names of webhook configurations, in source order. Their spans are not set.
#[derive(Clone, Debug, Default)]
pub struct ManifestFacts {
    /// `#[rbac(...)]`
    pub rules: Vec<(PolicyRule, Loc)>,
    /// `#[webhook(...)]`
    pub webhooks: Vec<WebhookFacts>,
    /// `#[webhook_configuration(...)]`
    pub configurations: Vec<(WebhookConfiguration, Loc)>,
}

impl ManifestFacts {
    /// Adds the facts of another file.
    pub fn append(&mut self, mut other: Self) {
        self.rules.append(&mut other.rules);
        self.webhooks.append(&mut other.webhooks);
        self.configurations.append(&mut other.configurations);
    }
}

/// A webhook before its patch is applied.
#[derive(Clone, Debug)]
pub struct WebhookFacts {
    /// The values of the keys.
    pub webhook: Webhook,
    /// `patch`, an object.
    pub patch: Option<(Value, Loc)>,
    /// The location of the webhook.
    pub loc: Loc,
}
