//! Facts of attributes and markers beside types: rules of roles, and webhooks.

use serde::Serialize;
use serde_json::Value;

use super::{Older, Places, Span};

/// The contents of manifests other than CRDs.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Manifests {
    /// Rules of roles, as written.
    pub rules: Vec<PolicyRule>,
    /// Webhooks.
    pub webhooks: Vec<Webhook>,
    /// Names of webhook configurations.
    pub configurations: Vec<WebhookConfiguration>,
    /// The differences of an older release of controller-gen.
    #[serde(skip)]
    pub older: Older,
}

impl Manifests {
    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty() && self.webhooks.is_empty() && self.configurations.is_empty()
    }
}

/// The facts beside types to read. Markers of generators that do not run are not even checked in Go, as in
/// controller-gen.
#[derive(Clone, Copy, Debug, Default)]
pub struct Beside {
    /// Rules of roles.
    pub rules: bool,
    /// Webhooks and their configurations.
    pub webhooks: bool,
}

/// A rule of a role.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PolicyRule {
    /// API groups; the core group is empty or `core`, as written.
    pub groups: Vec<String>,
    /// `deployments`, `deployments/status`.
    pub resources: Vec<String>,
    /// Names of the only objects that it applies to; empty: all.
    pub resource_names: Vec<String>,
    /// `get`, `*`.
    pub verbs: Vec<String>,
    /// Paths of URLs that are no resources: `/metrics`.
    pub urls: Vec<String>,
    /// Namespace of the Role; `None`: the rule belongs to a ClusterRole.
    pub namespace: Option<String>,
    /// Name of the role; `None`: the name given to the command.
    pub role_name: Option<String>,
    /// The location of its attribute.
    pub span: Span,
}

/// The name of a group in a role: `core` is short for the empty one.
pub(crate) fn api_group(written: &str) -> &str {
    if written == "core" { "" } else { written }
}

/// The service of webhooks in controller-gen: name and namespace.
pub(crate) const WEBHOOK_SERVICE: (&str, &str) = ("webhook-service", "system");

/// A webhook.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Webhook {
    /// Whether it may change objects.
    pub mutating: bool,
    /// The webhook, as in the API; a validating one never has a reinvocation policy.
    pub object: Value,
    /// The location of its attribute.
    pub span: Span,
}

impl Webhook {
    /// The name.
    pub fn name(&self) -> &str {
        self.object["name"].as_str().unwrap_or_default()
    }
}

/// An admission policy with its bindings.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Policy {
    /// The ValidatingAdmissionPolicy or MutatingAdmissionPolicy.
    pub object: Value,
    /// Its bindings.
    pub bindings: Vec<(Value, Span)>,
    /// Whether it applies only to objects of the kind with the attribute.
    pub is_own: bool,
    /// The locations of its values, by their paths.
    #[serde(skip_serializing_if = "Places::is_empty")]
    pub places: Places,
    /// The location of its attribute.
    pub span: Span,
}

/// The name of the configuration for the mutating or the validating webhooks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WebhookConfiguration {
    /// Whether it is for mutating webhooks.
    pub mutating: bool,
    /// The object's name; `None`: the default.
    pub name: Option<String>,
    /// The location of its attribute.
    pub span: Span,
}
