//! The approval of definitions in groups of the Kubernetes community.

use serde_json::Value;

use super::shape::text;
use crate::structural::Path;
use crate::structural::cause::Cause;

/// Groups of the Kubernetes community need an approval annotation.
pub(super) fn check_approval(crd: &Value, old: Option<&Value>, causes: &mut Vec<Cause>) {
    const ANNOTATION: &str = "api-approved.kubernetes.io";
    let group = text(crd, "/spec/group");
    let is_protected = ["k8s.io", "kubernetes.io"]
        .iter()
        .any(|suffix| group == *suffix || group.ends_with(&format!(".{suffix}")));
    if !is_protected {
        return;
    }
    let annotation = |crd: &Value| {
        crd.pointer("/metadata/annotations").and_then(|a| a.get(ANNOTATION)?.as_str().map(str::to_owned))
    };
    let value = annotation(crd);
    if old.is_some_and(|old| annotation(old) == value) {
        return;
    }
    let field = Path::new("metadata.annotations").key(ANNOTATION);
    match value.filter(|value| !value.is_empty()) {
        None => {
            let detail = format!(
                "protected groups must have approval annotation \"{ANNOTATION}\", see https://github.com/kubernetes/enhancements/pull/1111"
            );
            causes.push(Cause::required(field, detail));
        }
        Some(value) if value.starts_with("unapproved") || is_absolute_url(&value) => {}
        Some(value) => {
            let detail = format!(
                "protected groups must have approval annotation \"{ANNOTATION}\" with either a URL or a reason starting with \"unapproved\", see https://github.com/kubernetes/enhancements/pull/1111"
            );
            causes.push(Cause::invalid(field, value, detail));
        }
    }
}

/// Reports whether a text is a URL with a scheme and a host.
fn is_absolute_url(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once("://") else { return false };
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let letters = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(letters)
        && !host.is_empty()
        && !text.contains(|c: char| c.is_control() || c == ' ')
}
