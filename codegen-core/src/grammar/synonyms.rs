//! Accepts equal values of a key from two markers, as in Kubernetes' own types: `+optional` beside
//! `+k8s:optional`.

use proc_macro2::Span;

use super::marker::Definition;
use super::parse::Parser;
use super::{Entry, Json, KeySpec, Value};
use crate::diag::{Code, Diagnostic};

/// The marker whose value takes precedence over those of the key's other markers.
const WINNER: &str = "kubebuilder:default";

impl Parser<'_> {
    /// Whether another marker has set the same value already.
    pub(super) fn is_said(
        &mut self,
        marker: &'static Definition,
        key: &'static KeySpec,
        span: Span,
        value: &Value,
        entries: &mut [Entry],
    ) -> bool {
        let is_other = |entry: &&mut Entry| {
            entry.key.name == key.name && entry.marker.is_some_and(|other| other.name != marker.name)
        };
        let mut others = entries.iter_mut().filter(is_other);
        let Some(first) =
            others.find(|entry| same(&entry.value, value) || entry.key.markers.contains(&WINNER))
        else {
            return false;
        };
        let equal = same(&first.value, value);
        let (mut loser, mut winner) = (span, first.span);
        if marker.name == WINNER {
            (loser, winner) = (winner, loser);
            *first = Entry { key, span, value: value.clone(), marker: Some(marker) };
        }
        if !equal {
            self.diagnostics.push(
                Diagnostic::warning(
                    Code::MEANINGLESS_MARKER,
                    loser,
                    format!("`+default` has no effect beside `+{WINNER}`"),
                )
                .secondary(winner, "this value is the default")
                .help("keep one of them"),
            );
        }
        true
    }
}

/// Whether two values of a key are equal, ignoring places.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Flag, Value::Flag) => true,
        (Value::String(a), Value::String(b)) => a == b,
        (Value::Strings(a), Value::Strings(b)) => a == b,
        (Value::Reference(a), Value::Reference(b)) => a == b,
        (Value::Json(a), Value::Json(b)) => a == b || is_empty(&a.value) && is_empty(&b.value),
        _ => false,
    }
}

/// Whether it is an empty list or object, or becomes one.
fn is_empty(json: &Json) -> bool {
    match json {
        Json::Empty => true,
        Json::Array(items) => items.is_empty(),
        Json::Object(members) => members.is_empty(),
        _ => false,
    }
}
