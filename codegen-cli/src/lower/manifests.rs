//! Lowers rules of roles and webhooks: stores locations and applies patches.

use k8s_openapi::api::admissionregistration::v1::MutatingWebhook;
use kubesmith_core::diag::Code;
use serde_json::Value;

use crate::diag::Diagnostic;
use crate::ir::{Manifests, PolicyRule, Webhook, WebhookConfiguration};
use crate::load::Crates;
use crate::source::SourceMap;
use crate::syntax::facts::WebhookFacts;

/// The facts of the crates beside types.
pub(super) fn lower(crates: &Crates, sources: &SourceMap, diagnostics: &mut Vec<Diagnostic>) -> Manifests {
    let mut out = Manifests::default();
    for facts in crates.list.iter().map(|krate| &krate.manifests) {
        let rules = facts.rules.iter();
        out.rules.extend(rules.map(|(rule, loc)| PolicyRule { span: sources.span(*loc), ..rule.clone() }));
        let configurations = facts.configurations.iter();
        out.configurations.extend(configurations.map(|(configuration, loc)| WebhookConfiguration {
            span: sources.span(*loc),
            ..configuration.clone()
        }));
        for facts in &facts.webhooks {
            match object(facts) {
                Ok(object) => {
                    let span = sources.span(facts.loc);
                    out.webhooks.push(Webhook { mutating: facts.webhook.mutating, object, span });
                }
                Err(diagnostic) => diagnostics.push(*diagnostic),
            }
        }
    }
    out
}

/// The webhook with its patch.
fn object(facts: &WebhookFacts) -> Result<MutatingWebhook, Box<Diagnostic>> {
    let plain = &facts.webhook.object;
    let Some((patch, loc)) = &facts.patch else { return Ok(plain.clone()) };
    let refuse = |problem: String| {
        Box::new(
            Diagnostic::error(Code::WEBHOOK, *loc, format!("the patch of the webhook {:?} {problem}", plain.name))
                .help("a patch holds fields of a webhook, such as namespaceSelector, objectSelector or matchConditions"),
        )
    };
    if let Some(directive) = directive(patch) {
        return Err(refuse(format!("has the directive `{directive}`, which is not known")));
    }
    // Plain values always have a JSON form.
    let mut merged = serde_json::to_value(plain).unwrap_or_default();
    merge(&mut merged, patch);
    let object: MutatingWebhook =
        serde_json::from_value(merged.clone()).map_err(|error| refuse(format!("does not fit: {error}")))?;
    let kept = serde_json::to_value(&object).unwrap_or_default();
    match lost(&merged, &kept) {
        Some(path) => Err(refuse(format!("sets `{path}`, which a webhook does not have"))),
        None => Ok(object),
    }
}

/// Merges like a strategic merge patch: objects by their fields, `null` removes, any other value replaces.
/// The lists of a webhook are replaced; the target never has match conditions, which would be merged by name.
pub(super) fn merge(target: &mut Value, patch: &Value) {
    match (target, patch) {
        (Value::Object(fields), Value::Object(changes)) => {
            for (name, change) in changes {
                if change.is_null() {
                    fields.remove(name);
                } else {
                    merge(fields.entry(name).or_insert(Value::Null), change);
                }
            }
        }
        (target, Value::Object(changes)) => {
            *target = Value::Object(serde_json::Map::new());
            if !changes.is_empty() {
                merge(target, patch);
            }
        }
        (target, other) => *target = other.clone(),
    }
}

/// A directive of strategic merge patches, such as `$patch`.
pub(super) fn directive(patch: &Value) -> Option<&str> {
    match patch {
        Value::Object(members) => members.iter().find_map(|(name, value)| {
            if name.starts_with('$') { Some(name.as_str()) } else { directive(value) }
        }),
        Value::Array(items) => items.iter().find_map(directive),
        _ => None,
    }
}

/// The path of a value that the second object lacks.
pub(super) fn lost(all: &Value, kept: &Value) -> Option<String> {
    let prefixed =
        |name: &str, rest: String| if rest.is_empty() { name.to_string() } else { format!("{name}.{rest}") };
    match (all, kept) {
        (Value::Object(all), Value::Object(kept)) => {
            all.iter().find_map(|(name, value)| match kept.get(name) {
                Some(other) => lost(value, other).map(|rest| prefixed(name, rest)),
                None => Some(name.clone()),
            })
        }
        (Value::Array(all), Value::Array(kept)) => {
            all.iter().zip(kept).enumerate().find_map(|(at, (value, other))| {
                lost(value, other).map(|rest| prefixed(&at.to_string(), rest))
            })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn patches_are_merged() {
        let mut target = json!({"a": {"b": 1, "c": 2}, "list": [1, 2], "d": 1});
        merge(&mut target, &json!({"a": {"b": 3, "e": {"f": null, "g": {}}}, "list": [3], "d": null}));
        assert_eq!(target, json!({"a": {"b": 3, "c": 2, "e": {"g": {}}}, "list": [3]}));
    }

    #[test]
    fn dropped_fields_and_patch_directives_are_detected() {
        assert_eq!(directive(&json!({"a": [{"$patch": "delete"}]})), Some("$patch"));
        assert_eq!(directive(&json!({"a": [{"b": "$c"}]})), None);
        assert_eq!(
            lost(&json!({"a": {"b": [{"c": 1}]}}), &json!({"a": {"b": [{}]}})).as_deref(),
            Some("a.b.0.c")
        );
        assert_eq!(lost(&json!({"a": 1}), &json!({"a": 1, "b": 2})), None);
    }
}
