//! The rules for names, labels and annotations, with kube-apiserver's texts.

use serde_json::Value;

pub(crate) use kubesmith_apiextensions::structural::NameRule;

/// Quotes a string as JSON.
pub(crate) fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}
