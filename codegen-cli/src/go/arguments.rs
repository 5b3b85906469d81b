//! Settles the arguments of markers as controller-gen reads them: `Definition.Parse` and `Argument.parseSlice` of
//! controller-tools, pkg/markers/parse.go.

use kubesmith_core::diag::Code;
use kubesmith_core::grammar::{Definition, Place, Shape, marker_definition};

use super::markers;
use super::resolve::At;
use super::syntax::Word;
use super::translate::Translator;
use crate::diag::Diagnostic;

impl Translator<'_> {
    /// Refuses values of markers that take none.
    pub(super) fn refuse_values(&mut self, at: At, markers: &[Word], place: Place) {
        let is_refused = |(definition, value): &(&Definition, &str)| {
            !value.is_empty() && definition.fits(place) && self.options.release.knows(&definition.name)
        };
        let refused = |marker| Some((markers::flag(marker).filter(is_refused)?.0, marker));
        let refused: Vec<(&Definition, &Word)> = markers.iter().filter_map(refused).collect();
        for (definition, marker) in refused {
            self.refuse_value(at, marker, &definition.name);
        }
    }

    /// Refuses values of an input's markers of packages that take none: pkg/crd/markers/package.go.
    pub(super) fn refuse_package_values(&mut self, package: usize) {
        if !self.options.types || !self.resolver.packages.list[package].is_input {
            return;
        }
        let has_value =
            |marker: &Word| marker.text.split_once('=').is_some_and(|(_, value)| !value.trim().is_empty());
        let is_refused = |marker: &Word| PACKAGE_FLAGS.contains(&markers::name(marker)) && has_value(marker);
        let refused: Vec<(usize, Word)> = self
            .package_markers(package)
            .filter(|(_, marker)| is_refused(marker))
            .map(|(file, marker)| (file, marker.clone()))
            .collect();
        for (file, marker) in refused {
            self.refuse_value(At { package, file }, &marker, markers::name(&marker));
        }
    }

    fn refuse_value(&mut self, at: At, marker: &Word, name: &str) {
        let loc = self.resolver.loc(at, &marker.place);
        self.resolver.diagnostics.push(
            Diagnostic::error(Code::WRONG_VALUE, loc, format!("`+{name}` takes no value"))
                .help(format!("write +{name}, or remove the line")),
        );
    }
}

/// Markers of packages that take no value.
const PACKAGE_FLAGS: [&str; 3] =
    ["kubebuilder:skip", "kubebuilder:validation:Optional", "kubebuilder:validation:Required"];

/// A marker with the last of each argument, and without a flag's `=` and arguments that are empty lists, which equal absent ones;
/// `None`: the marker itself is an empty list.
pub(super) fn settled(marker: &Word) -> Option<Word> {
    let name = markers::name(marker);
    if name.ends_with(":Enum") && marker.text.split_once('=').is_some_and(|(_, value)| is_empty(value)) {
        return None;
    }
    if let Some((definition, "")) = markers::flag(marker) {
        return Some(Word { text: text(&definition.name, &[]), place: marker.place.clone() });
    }
    let all = of(marker);
    let kept: Vec<&str> = (0..all.len()).filter(|at| counts(marker, &all, *at)).map(|at| all[at]).collect();
    if kept.len() == all.len() {
        return Some(marker.clone());
    }
    let text = marker_definition(name).map_or_else(String::new, |found| text(&found.name, &kept));
    Some(Word { text, place: marker.place.clone() })
}

/// A marker with these arguments.
pub(super) fn text(name: &str, arguments: &[&str]) -> String {
    let colon = if arguments.is_empty() { "" } else { ":" };
    format!("+{name}{colon}{}", arguments.join(","))
}

/// The arguments of a marker, as written.
pub(super) fn of(marker: &Word) -> Vec<&str> {
    let arguments = definition(marker).and_then(|found| marker.text.get(1 + found.name.len()..));
    arguments.and_then(|rest| rest.strip_prefix(':')).map_or_else(Vec::new, split)
}

/// The definition of a marker that has arguments of controller-gen.
fn definition(marker: &Word) -> Option<&'static Definition> {
    let found = marker_definition(markers::name(marker))?;
    (found.name.starts_with("kubebuilder:") && marker.text[1..].starts_with(&found.name)).then_some(found)
}

/// The name of an argument.
pub(super) fn name(argument: &str) -> &str {
    argument.split_once('=').map_or(argument, |(name, _)| name).trim()
}

/// Whether an argument is the last of its name and no empty list.
fn counts(marker: &Word, all: &[&str], at: usize) -> bool {
    let own = name(all[at]);
    let key = definition(marker).and_then(|found| found.argument(own));
    let is_list = key.is_some_and(|key| {
        !key.required && matches!(key.shape, Shape::Strings | Shape::List | Shape::SomeOf(_))
    });
    let is_nothing = is_list && all[at].split_once('=').is_some_and(|(_, value)| is_empty(value));
    !is_nothing && !all[at + 1..].iter().any(|later| name(later) == own)
}

fn is_empty(value: &str) -> bool {
    let inside = value.trim();
    let inside = inside.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).unwrap_or(inside);
    inside.trim().is_empty()
}

/// The parts between commas outside quotes and braces.
fn split(text: &str) -> Vec<&str> {
    let (mut out, mut start, mut depth, mut quote, mut is_escaped) = (Vec::new(), 0, 0_usize, None, false);
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (Some('"'), '\\') if !is_escaped => {
                is_escaped = true;
                continue;
            }
            (Some(open), _) if open == c && !is_escaped => quote = None,
            (Some(_), _) => {}
            (None, '"' | '`') => quote = Some(c),
            (None, '{') => depth += 1,
            (None, '}') => depth = depth.saturating_sub(1),
            (None, ',') if depth == 0 => {
                out.push(&text[start..at]);
                start = at + 1;
            }
            (None, _) => {}
        }
        is_escaped = false;
    }
    out.push(&text[start..]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str) -> Option<String> {
        settled(&Word { text: text.to_string(), place: 0..0 }).map(|marker| marker.text)
    }

    #[test]
    fn last_of_repeated_arguments_counts_and_empty_lists_do_not() {
        for (text, expected) in [
            (
                "+kubebuilder:rbac:verbs=get,groups=,resources={},verbs=list;watch",
                "+kubebuilder:rbac:verbs=list;watch",
            ),
            (
                "+kubebuilder:rbac:groups=\"\",resources=a,verbs=",
                "+kubebuilder:rbac:groups=\"\",resources=a,verbs=",
            ),
            (
                "+kubebuilder:resource:categories=a,path=b,categories=c",
                "+kubebuilder:resource:path=b,categories=c",
            ),
            ("+kubebuilder:resource:shortName={}", "+kubebuilder:resource"),
            (
                "+kubebuilder:validation:XValidation:rule=\"a,message=\\\"b\",message=`c,message=d`,message=e",
                "+kubebuilder:validation:XValidation:rule=\"a,message=\\\"b\",message=e",
            ),
            ("+kubebuilder:validation:Enum=a;{}", "+kubebuilder:validation:Enum=a;{}"),
            ("+kubebuilder:default={a: b, a: c}", "+kubebuilder:default={a: b, a: c}"),
        ] {
            assert_eq!(said(text).as_deref(), Some(expected), "{text}");
        }
        for text in ["+kubebuilder:validation:Enum={ }", "+kubebuilder:validation:items:Enum="] {
            assert_eq!(said(text), None, "{text}");
        }
    }
}
