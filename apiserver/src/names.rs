//! The rules for names, labels and annotations, with kube-apiserver's texts.

use serde_json::Value;

pub(crate) use kubesmith_apiextensions::structural::NameRule;

/// Returns the name of the claim that is made for a generic ephemeral volume (`VolumeClaimName` of component-helpers'
/// storage/ephemeral).
pub(crate) fn ephemeral_claim(pod: &str, volume: &str) -> String {
    format!("{pod}-{volume}")
}

/// Quotes a string as JSON.
pub(crate) fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}
