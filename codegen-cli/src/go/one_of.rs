//! Handles markers that count fields: their refusals, and their rules as controller-gen up to 0.21.0 writes
//! them.

use kubesmith_core::diag::Code;

use super::markers;
use super::packages::TypeId;
use super::syntax::{Field, Word};
use super::translate::Translator;
use crate::diag::Diagnostic;

/// Markers that count fields, in the order of their rules, with operators and messages:
/// `fieldsToOneOfCelRuleStr` of controller-tools 0.21.0, pkg/crd/markers/validation.go.
const COUNTS: [(&str, &str, [&str; 2]); 3] = [
    ("kubebuilder:validation:AtMostOneOf", "<= 1", ["at most one of the fields in [", "] may be set"]),
    ("kubebuilder:validation:ExactlyOneOf", "== 1", ["exactly one of the fields in [", "] must be set"]),
    ("kubebuilder:validation:AtLeastOneOf", ">= 1", ["at least one of the fields in [", "] must be set"]),
];

/// The index of a marker in [`COUNTS`].
pub(super) fn rank(marker: &Word) -> Option<usize> {
    COUNTS.iter().position(|(name, ..)| *name == markers::name(marker))
}

/// The names of the fields that a marker counts.
pub(super) fn fields(marker: &Word) -> Vec<&str> {
    let value = marker.text.split_once('=').map_or("", |(_, value)| value.trim());
    let fields = value.trim_start_matches('{').trim_end_matches('}').split([';', ',']);
    fields.map(|field| field.trim().trim_matches(['"', '`'])).filter(|field| !field.is_empty()).collect()
}

/// The marker for the CEL rule of a counting marker; `None`: it names no fields.
pub(super) fn rule(marker: &Word) -> Option<Word> {
    let (_, operator, [before, after]) = COUNTS[rank(marker)?];
    let fields = fields(marker);
    let has: Vec<String> = fields.iter().map(|field| format!("has(self.{field})")).collect();
    let rule = format!("[{}].filter(x,x==true).size() {operator}", has.join(","));
    let message = format!("{before}{}{after}", fields.join(" "));
    let text = format!("+kubebuilder:validation:XValidation:rule={rule:?},message={message:?}");
    (!fields.is_empty()).then(|| Word { text, place: marker.place.clone() })
}

impl Translator<'_> {
    /// Reports a required field that its struct counts: `structToSchema` of controller-tools,
    /// pkg/crd/schema.go.
    pub(super) fn refuse_if_counted(&mut self, id: TypeId, field: &Field, name: &str) {
        let decl = self.resolver.packages.decl(id);
        let mut counting = decl.comments.markers.iter().filter(|marker| rank(marker).is_some());
        let Some(marker) = counting.find(|marker| fields(marker).contains(&name)) else { return };
        let message = format!("`{name}` must be given, and `+{}` counts it", markers::name(marker));
        let place = field.name.as_ref().map_or(&field.place, |name| &name.place);
        let loc = self.resolver.loc(id.into(), place);
        self.resolver.diagnostics.push(
            Diagnostic::error(Code::WRONG_TYPE_FOR_KEY, loc, message).help("add `omitempty` to its tag"),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_counted_in_a_list() {
        let marker = |text: &str| Word { text: text.to_string(), place: 0..1 };
        let rule = rule(&marker("+kubebuilder:validation:AtMostOneOf=a;b")).unwrap();
        assert_eq!(
            rule.text,
            "+kubebuilder:validation:XValidation:rule=\"[has(self.a),has(self.b)].filter(x,x==true).size() <= 1\",message=\"at most \
             one of the fields in [a b] may be set\""
        );
    }
}
