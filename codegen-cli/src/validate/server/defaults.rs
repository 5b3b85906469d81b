//! Reports defaults that an API server refuses.

use kubesmith_apiextensions::structural::{Cause, CauseKind, Schema, Step, prune_part};
use kubesmith_core::diag::Code;
use kubesmith_core::names::closest;
use serde_json::Value;

use super::rules;
use super::site::Site;
use crate::diag::Diagnostic;

/// A default that does not fit its schema, or is not allowed there.
pub(super) fn refusal(site: &Site<'_>, cause: &Cause) -> Option<Diagnostic> {
    let node = site.node();
    let default = node.default.as_ref()?;
    if cause.detail.starts_with("rule compile error") {
        return rules::first_that_does_not_compile(
            &site.below(&inside(node, site.tail.strip_prefix(".default")?)),
        );
    }
    let (problem, help) = problem(node, default, site.tail.strip_prefix(".default")?, cause);
    let message = format!("the default of {} does not fit its schema: {problem}", site.name());
    let help = help.unwrap_or_else(|| "change the default or the constraint".to_string());
    Some(Diagnostic::error(Code::INVALID_DEFAULT, site.loc(), message).help(help))
}

fn problem(node: &Schema, default: &Value, below: &str, cause: &Cause) -> (String, Option<String>) {
    if cause.detail == "must not have unknown fields" {
        return unknown(node, default);
    }
    let (path, detail) = place_and_words(below.trim_start_matches('.'), &cause.detail);
    if cause.kind == CauseKind::Required {
        return (format!("the required field `{path}` is missing"), None);
    }
    let place = if path.is_empty() { String::new() } else { format!("`{path}`: ") };
    let value = value_at(default, path).unwrap_or(default);
    if is_neither(node, path, value) {
        return (format!("{place}{value} is neither an integer nor a string"), None);
    }
    let problem = match cause.kind {
        CauseKind::TypeInvalid => {
            let detail = detail.rsplit_once(": ").map_or(detail, |(wanted, _)| wanted);
            format!("{place}{value} {detail}")
        }
        CauseKind::NotSupported => {
            let allowed = detail.trim_start_matches("supported values: ");
            format!("{place}{value} is not one of {allowed}")
        }
        CauseKind::TooLong | CauseKind::TooMany | CauseKind::Forbidden => format!("{place}{detail}"),
        _ => format!("{place}{value} {detail}"),
    };
    (problem, None)
}

/// The part of a default that a cause is about, and the server's message without the path, which has three
/// forms: `spec....default in body must be of type string`, `"ports" must validate at least one schema
/// (anyOf)`, `Checked value must be of type integer (default format) in ports`.
fn place_and_words<'t>(path: &'t str, detail: &'t str) -> (&'t str, &'t str) {
    if let Some((_, words)) = detail.split_once("in body ") {
        return (path, words);
    }
    if let Some((inner, words)) = detail.strip_prefix('"').and_then(|rest| rest.split_once("\" must ")) {
        let words = &detail[detail.len() - words.len() - "must ".len()..];
        return (if path.is_empty() { inner } else { path }, words);
    }
    match detail.strip_prefix("Checked value ").and_then(|rest| rest.rsplit_once(" in ")) {
        Some((words, inner)) => {
            let words = words.trim_end_matches(" (default format)");
            (if path.is_empty() { inner } else { path }, words)
        }
        None => (path, detail),
    }
}

/// Whether a value is neither the required integer nor a string: the server reports this once per
/// alternative.
fn is_neither(node: &Schema, path: &str, value: &Value) -> bool {
    let is_integer = value.as_f64().is_some_and(|number| number.fract() == 0.0);
    node.at(&inside(node, path)).is_some_and(|node| node.int_or_string) && !value.is_string() && !is_integer
}

/// Fields of the default that the schema lacks.
fn unknown(node: &Schema, default: &Value) -> (String, Option<String>) {
    let dropped = prune_part(node, &mut default.clone(), node.embedded_resource);
    let Some(first) = dropped.first() else {
        return ("it has fields that the schema does not know".to_string(), None);
    };
    let near = closest(first, node.properties.keys().map(String::as_str));
    let names: Vec<String> = dropped.iter().map(|name| format!("`{name}`")).collect();
    let noun = if names.len() == 1 { "field" } else { "fields" };
    (format!("there is no {noun} {}", names.join(", ")), near.map(|near| format!("did you mean `{near}`?")))
}

/// The steps to the node for a part of a default.
fn inside(node: &Schema, path: &str) -> Vec<Step> {
    let mut steps = Vec::new();
    for part in path.split(['.', '[']).filter(|part| !part.is_empty()) {
        let step = match node.at(&steps) {
            Some(node) if node.items.is_some() => Step::Items,
            Some(node) if node.properties.contains_key(part) => Step::Property(part.to_string()),
            _ => Step::Values,
        };
        steps.push(step);
    }
    steps
}

/// The part of a default at a path such as `.sizes[0]`.
fn value_at<'v>(default: &'v Value, path: &str) -> Option<&'v Value> {
    let mut value = default;
    for part in path.split(['.', '[']).filter(|part| !part.is_empty()) {
        value = match part.strip_suffix(']').and_then(|index| index.parse::<usize>().ok()) {
            Some(index) => value.get(index)?,
            None => value.get(part.trim_end_matches(']'))?,
        };
    }
    Some(value)
}
