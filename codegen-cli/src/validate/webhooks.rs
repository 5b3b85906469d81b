//! Checks webhooks and their configurations as a whole. The parser has checked each attribute; values from
//! patches are checked here.

use kubesmith_core::diag::Code;

use super::Input;
use crate::diag::Diagnostic;
use crate::ir::Webhook;

/// Enumerated fields of a webhook.
const WORDS: [(&str, &[&str]); 4] = [
    ("failurePolicy", &["Fail", "Ignore"]),
    ("matchPolicy", &["Exact", "Equivalent"]),
    ("reinvocationPolicy", &["Never", "IfNeeded"]),
    ("sideEffects", &["None", "NoneOnDryRun"]),
];

/// Checks that the webhooks of a configuration have different names.
pub(super) fn names_are_unique(input: &Input<'_>, out: &mut Vec<Diagnostic>) {
    let webhooks = &input.ir.manifests.webhooks;
    for (at, webhook) in webhooks.iter().enumerate() {
        let same = |other: &&Webhook| other.mutating == webhook.mutating && other.name() == webhook.name();
        if let Some(first) = webhooks[..at].iter().find(same) {
            let kind = if webhook.mutating { "mutating" } else { "validating" };
            let message = format!("two {kind} webhooks are called {:?}", webhook.name());
            out.push(
                Diagnostic::error(Code::WEBHOOK_TWICE, input.loc(&webhook.span), message)
                    .secondary(input.loc(&first.span), "the first one")
                    .help("give each webhook a name of its own"),
            );
        }
    }
}

/// Checks that each kind has one configuration, with webhooks.
pub(super) fn configurations_are_unique(input: &Input<'_>, out: &mut Vec<Diagnostic>) {
    let manifests = &input.ir.manifests;
    for (at, configuration) in manifests.configurations.iter().enumerate() {
        let kind = if configuration.mutating { "mutating" } else { "validating" };
        let first =
            manifests.configurations[..at].iter().find(|other| other.mutating == configuration.mutating);
        if let Some(first) = first {
            let message = format!("the configuration of the {kind} webhooks is named twice");
            out.push(
                Diagnostic::error(Code::WEBHOOK_TWICE, input.loc(&configuration.span), message)
                    .secondary(input.loc(&first.span), "first named here")
                    .help("keep one of them"),
            );
        } else if !manifests.webhooks.iter().any(|webhook| webhook.mutating == configuration.mutating) {
            let message = format!("a configuration of {kind} webhooks is named, but there are none");
            out.push(
                Diagnostic::warning(Code::WEBHOOK, input.loc(&configuration.span), message)
                    .help("remove it, or add a #[webhook(...)]"),
            );
        }
    }
}

/// Checks that an API server accepts the patched values.
pub(super) fn values_fit(input: &Input<'_>, out: &mut Vec<Diagnostic>) {
    for webhook in &input.ir.manifests.webhooks {
        let object = &webhook.object;
        let mut refuse = |message: String, help: String| {
            out.push(Diagnostic::error(Code::WEBHOOK, input.loc(&webhook.span), message).help(help));
        };
        for (field, words) in WORDS {
            let value = object[field].as_str();
            if let Some(value) = value.filter(|value| !words.contains(value)) {
                let help = format!("the patch may set it to {}", words.join(" or "));
                refuse(format!("`{field}` is {value:?}"), help);
            }
        }
        if let Some(seconds) = object["timeoutSeconds"].as_i64().filter(|seconds| !(1..=30).contains(seconds))
        {
            refuse(format!("`timeoutSeconds` is {seconds}"), "the patch may set it to 1 to 30".to_string());
        }
        if object.get("reinvocationPolicy").is_some() && !webhook.mutating {
            let help = "remove `reinvocationPolicy` from the patch".to_string();
            refuse("a validating webhook is not called again".to_string(), help);
        }
    }
}
