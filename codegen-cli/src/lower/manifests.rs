//! Lowers rules of roles and webhooks: stores locations and applies patches.

use kubesmith_apiextensions::structural::{prune_part, validate};
use kubesmith_apimachinery::field::{Cause, CauseKind};
use kubesmith_core::diag::Code;
use serde_json::Value;

use crate::diag::Diagnostic;
use crate::ir::{Manifests, PolicyRule, Webhook, WebhookConfiguration};
use crate::known;
use crate::load::Crates;
use crate::source::SourceMap;
use crate::syntax::facts::WebhookFacts;

/// The facts of the crates beside types.
pub(super) fn lower(crates: &Crates, sources: &SourceMap, diagnostics: &mut Vec<Diagnostic>) -> Manifests {
    let older = crates.list.iter().find(|krate| krate.is_go).map(|krate| krate.older);
    let mut out = Manifests { older: older.unwrap_or_default(), ..Manifests::default() };
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
fn object(facts: &WebhookFacts) -> Result<Value, Box<Diagnostic>> {
    let plain = &facts.webhook.object;
    let Some((patch, loc)) = &facts.patch else { return Ok(plain.clone()) };
    let refuse = |problem: String| {
        Box::new(
            Diagnostic::error(Code::WEBHOOK, *loc, format!("the patch of the webhook {:?} {problem}", facts.webhook.name()))
                .help("a patch holds fields of a webhook, such as namespaceSelector, objectSelector or matchConditions"),
        )
    };
    if let Some(directive) = directive(patch) {
        return Err(refuse(format!("has the directive `{directive}`, which is not known")));
    }
    let mut object = plain.clone();
    merge(&mut object, patch);
    match misfit("MutatingWebhook", &object, "a webhook") {
        Some(problem) => Err(refuse(problem)),
        None => Ok(object),
    }
}

/// The reason why a value is not of the type in `admissionregistration.k8s.io/v1`, which `holder` names; `None`: it is.
pub(super) fn misfit(name: &str, value: &Value, holder: &str) -> Option<String> {
    let schema = known::schema(&format!("k8s_openapi::api::admissionregistration::v1::{name}"))?;
    if let Some(path) = prune_part(&schema, &mut value.clone(), false).first() {
        return Some(format!("sets `{path}`, which {holder} does not have"));
    }
    // Other faults are found in the finished object.
    let is_of_type = |cause: &Cause| cause.kind == CauseKind::TypeInvalid;
    let cause = validate(&schema, value).into_iter().find(is_of_type)?;
    Some(format!("does not fit: {cause}"))
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
    fn patch_directives_are_detected() {
        assert_eq!(directive(&json!({"a": [{"$patch": "delete"}]})), Some("$patch"));
        assert_eq!(directive(&json!({"a": [{"b": "$c"}]})), None);
    }
}
