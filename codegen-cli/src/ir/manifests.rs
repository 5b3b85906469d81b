//! Facts of attributes and markers beside types: rules of roles, and webhooks.

use k8s_openapi::api::admissionregistration::v1::MutatingWebhook;
use serde::Serialize;
use serde_json::Value;

use super::{Places, Span};

/// Everything that becomes a manifest and is no CRD.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Manifests {
    /// Rules of roles, as they were written.
    pub rules: Vec<PolicyRule>,
    /// Webhooks.
    pub webhooks: Vec<Webhook>,
    /// Names of webhook configurations.
    pub configurations: Vec<WebhookConfiguration>,
}

impl Manifests {
    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty() && self.webhooks.is_empty() && self.configurations.is_empty()
    }
}

/// A rule of a role.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PolicyRule {
    /// API groups; the core group is empty.
    pub groups: Vec<String>,
    /// `deployments`, `deployments/status`.
    pub resources: Vec<String>,
    /// The only objects that are meant; empty: all.
    pub resource_names: Vec<String>,
    /// `get`, `*`.
    pub verbs: Vec<String>,
    /// Paths that are no resources: `/metrics`.
    pub urls: Vec<String>,
    /// Namespace of the Role; `None`: the rule belongs to a ClusterRole.
    pub namespace: Option<String>,
    /// Name of the role; `None`: the one that the command was given.
    pub role_name: Option<String>,
    /// Where it was written.
    pub span: Span,
}

/// The service that serves webhooks, as controller-gen names it: name and namespace.
pub(crate) const WEBHOOK_SERVICE: (&str, &str) = ("webhook-service", "system");

/// A webhook.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Webhook {
    /// Whether it may change objects.
    pub mutating: bool,
    /// The webhook; a validating one never has a reinvocation policy.
    pub object: MutatingWebhook,
    /// Where it was written.
    pub span: Span,
}

/// An admission policy with its bindings.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Policy {
    /// The ValidatingAdmissionPolicy or MutatingAdmissionPolicy.
    pub object: Value,
    /// Its bindings.
    pub bindings: Vec<(Value, Span)>,
    /// Whether it applies to objects of the kind on which it stands, and of no other.
    pub is_own: bool,
    /// Where its values are said, by their paths.
    #[serde(skip_serializing_if = "Places::is_empty")]
    pub places: Places,
    /// Where it was written.
    pub span: Span,
}

/// The name of the configuration that holds the mutating or the validating webhooks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WebhookConfiguration {
    /// Which webhooks are meant.
    pub mutating: bool,
    /// The object's name; `None`: the usual one.
    pub name: Option<String>,
    /// Where it was written.
    pub span: Span,
}
