//! Reads markers in plain comments between items, as in Go.

use std::ops::Range;

use kubesmith_core::grammar::{Place, marker_family, marker_name};
use proc_macro2::{TokenStream, TokenTree};
use syn::{Attribute, ItemStruct};

use super::outline::Outline;

/// Whether this marker counts in a plain comment.
pub(in crate::parse) fn counts(name: &str) -> bool {
    marker_family(name).is_some_and(|family| family.stands_alone())
}

/// Calls `read` with each marker in a plain comment, in the form of a doc comment.
pub(super) fn read(text: &str, outline: &Outline, read: &mut dyn FnMut(&[Attribute], Place)) {
    let lines = candidates(text);
    let Some(tokens) = (!lines.is_empty()).then(|| text.parse::<TokenStream>().ok()).flatten() else {
        return;
    };
    for line in lines {
        let mut enclosing = Vec::new();
        let space = space_before(tokens.clone(), 0, line.start, &mut enclosing);
        let left_out = outline.left_out.iter().any(|item| item.contains(&line.start));
        let Some(space) = space.and_then(|space| text.get(space..line.start)).filter(|_| !left_out) else {
            continue;
        };
        if is_in_block_comment(space) {
            continue;
        }
        let between_items = enclosing.iter().all(|group| outline.open.contains(group));
        let place = if between_items { Place::Item } else { Place::Part };
        if let Some(attribute) = doc_comment(text, line) {
            read(&[attribute], place);
        }
    }
}

/// Lines that look like such a comment, from `//` to their end, possibly inside a string.
fn candidates(text: &str) -> Vec<Range<usize>> {
    let mut out = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let at = start + line.len() - line.trim_start().len();
        start += line.len();
        let trimmed = line.trim();
        let comment = trimmed.strip_prefix("//").filter(|rest| !rest.starts_with(['/', '!']));
        if comment.and_then(marker_name).is_some_and(counts) {
            out.push(at..at + trimmed.len());
        }
    }
    out
}

/// The start of the space between tokens around the byte `at`, from `start` on; collects the enclosing
/// groups, outermost first. `None`: the byte belongs to a token, such as a string.
fn space_before(
    tokens: TokenStream,
    start: usize,
    at: usize,
    groups: &mut Vec<Range<usize>>,
) -> Option<usize> {
    let mut space = start;
    for token in tokens {
        let range = token.span().byte_range();
        if !range.contains(&at) {
            space = if range.end <= at { range.end } else { space };
            continue;
        }
        let TokenTree::Group(group) = token else { return None };
        groups.push(range);
        return space_before(group.stream(), group.span_open().byte_range().end, at, groups);
    }
    Some(space)
}

/// Whether the end of a text without tokens lies in a block comment.
fn is_in_block_comment(text: &str) -> bool {
    let mut depth = 0_usize;
    let mut rest = text;
    while !rest.is_empty() {
        rest = if let Some(inner) = rest.strip_prefix("/*") {
            depth += 1;
            inner
        } else if let Some(outer) = rest.strip_prefix("*/") {
            depth = depth.saturating_sub(1);
            outer
        } else if depth == 0 && rest.starts_with("//") {
            rest.find('\n').map_or("", |end| &rest[end..])
        } else {
            let mut chars = rest.chars();
            chars.next();
            chars.as_str()
        };
    }
    depth > 0
}

/// The comment as a doc attribute whose text has the same offsets.
fn doc_comment(text: &str, line: Range<usize>) -> Option<Attribute> {
    let rest = text.get(line.start + 2..line.end)?;
    // The space after `//` becomes the third slash; without one, the line moves back by a byte.
    let (before, rest) = match rest.strip_prefix(' ') {
        Some(rest) => (line.start, rest),
        None => (line.start.saturating_sub(1), rest),
    };
    let source = format!("{}///{rest}\nstruct S;", " ".repeat(before));
    syn::parse_str::<ItemStruct>(&source).ok()?.attrs.pop()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The markers in a text, with their places.
    fn found(text: &str) -> Vec<(String, Place)> {
        let file = syn::parse_file(text).unwrap();
        let mut outline = Outline::default();
        outline.file(&file, &crate::cfg::Cfg::default(), &mut |_, _| {});
        let mut out = Vec::new();
        read(text, &outline, &mut |attributes, place| {
            let syn::Meta::NameValue(doc) = &attributes[0].meta else { panic!() };
            let range = syn::spanned::Spanned::span(&doc.value).byte_range();
            out.push((text[range].to_string(), place));
        });
        out
    }

    #[test]
    fn marker_comment_belongs_to_an_item_or_a_part_by_its_place() {
        let rule = "+kubebuilder:rbac:urls=/a,verbs=get";
        for (before, after, place) in [
            ("", "", Some(Place::Item)),
            ("ünï!();", "fn f() {}", Some(Place::Item)),
            ("mod a { impl B {", "} }", Some(Place::Item)),
            ("trait A {", "}", Some(Place::Item)),
            ("#[derive(A)]", "struct B;", Some(Place::Item)),
            ("fn f() {", "}", Some(Place::Part)),
            ("struct A {", "a: i32 }", Some(Place::Part)),
            ("mod a { fn f() {", "} }", Some(Place::Part)),
            ("a! {", "}", Some(Place::Part)),
            ("const A: &str = \"", "\";", None),
            ("#[cfg(test)] mod a {", "}", None),
            ("/* a", "*/ struct A;", None),
            ("/* a /* b */ */ // /* c", "struct A;", Some(Place::Item)),
        ] {
            let text = format!("{before}\n    // {rule}\n{after}");
            let markers: Vec<Place> = found(&text).into_iter().map(|(_, place)| place).collect();
            assert_eq!(markers, place.into_iter().collect::<Vec<_>>(), "{text}");
        }
    }

    #[test]
    fn marker_location_is_its_comment() {
        assert_eq!(found("fn f() {}\n//+kubebuilder:rbac:verbs=a\n")[0].0, "\n//+kubebuilder:rbac:verbs=a");
        assert_eq!(found("fn f() {}\n// +kubebuilder:rbac:verbs=a\n")[0].0, "// +kubebuilder:rbac:verbs=a");
    }
}
