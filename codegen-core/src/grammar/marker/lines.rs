//! Finds the markers in doc comments, with their places.

use std::ops::Range;

use proc_macro2::{Literal, Span};
use syn::punctuated::Punctuated;
use syn::{Attribute, Expr, ExprLit, Lit, LitStr, Macro, Meta, Token};

/// A line of a doc comment.
#[derive(Clone, Debug)]
pub(crate) enum Line {
    /// Documentation, without the comment's own characters.
    Text(String),
    /// A marker.
    Marker(MarkerLine),
}

/// A marker as written.
#[derive(Clone, Debug)]
pub(crate) struct MarkerLine {
    /// From the `+` to the end of the line, without trailing spaces.
    pub(crate) text: String,
    literal: Literal,
    /// Characters of the source between the literal's start and the `+`; `None` if escapes or a macro hide
    /// them.
    offset: Option<usize>,
}

impl MarkerLine {
    /// The place of a part of the text, or of the whole comment if the compiler has no finer span.
    pub(crate) fn span(&self, range: Range<usize>) -> Span {
        let whole = self.literal.span();
        // A missing end is reported at the last character.
        let last = self.text.char_indices().next_back().map_or(0, |(at, _)| at);
        let range = if range.is_empty() { range.start.min(last)..self.text.len() } else { range };
        let (Some(offset), Some(before), Some(part)) =
            (self.offset, self.text.get(..range.start), self.text.get(range))
        else {
            return whole;
        };
        // Spans of proc_macro2 count characters.
        let start = offset + before.chars().count();
        self.literal.subspan(start..start + part.chars().count()).unwrap_or(whole)
    }

    /// The name: the text between `+` and `=`, and its place.
    pub(crate) fn name(&self) -> (&str, Range<usize>) {
        let end = self.text.find('=').unwrap_or(self.text.len());
        let name = self.text[1..end].trim_end();
        (name, 1..1 + name.len())
    }
}

/// The attributes of an item, with the lines of their doc comments.
#[derive(Debug)]
pub struct ItemAttributes<'a> {
    pub(crate) attributes: &'a [Attribute],
    /// Each line with the index of its attribute.
    pub(crate) lines: Vec<(usize, Line)>,
}

impl<'a> ItemAttributes<'a> {
    /// Reads the doc comments among the attributes.
    pub fn new(attributes: &'a [Attribute]) -> Self {
        Self { attributes, lines: lines(attributes) }
    }

    /// The documentation as the author sees it: without comment characters, the space after them, and
    /// markers; otherwise unchanged.
    pub fn docs(&self) -> Vec<String> {
        let texts = self.lines.iter().filter_map(|(_, line)| match line {
            Line::Text(text) => Some(text.clone()),
            Line::Marker(_) => None,
        });
        texts.collect()
    }

    /// The first marker: its name without `+`, and its place.
    pub fn first_marker(&self) -> Option<(&str, Span)> {
        let (_, line) = self.markers().next()?;
        let (name, range) = line.name();
        Some((name, line.span(0..range.end)))
    }

    /// The places of documentation whose text is unknown here, such as that of another file.
    pub(crate) fn unread(&self) -> impl Iterator<Item = Span> {
        let values = self.attributes.iter().filter_map(doc).filter(|value| text(value).is_none());
        values.filter_map(|value| match value {
            Expr::Macro(value) => value.mac.path.segments.last().map(|segment| segment.ident.span()),
            _ => None,
        })
    }

    /// The markers with the index of their attribute.
    pub(crate) fn markers(&self) -> impl Iterator<Item = (usize, &MarkerLine)> {
        self.lines.iter().filter_map(|(index, line)| match line {
            Line::Marker(marker) => Some((*index, marker)),
            Line::Text(_) => None,
        })
    }
}

/// The lines of doc comments. A marker begins with `+` and a letter, outside fences: `+ item` is a list.
fn lines(attributes: &[Attribute]) -> Vec<(usize, Line)> {
    let mut out = Vec::new();
    let mut fence: Option<&str> = None;
    for (index, attribute) in attributes.iter().enumerate() {
        let Some(text) = doc(attribute).and_then(text) else { continue };
        let literal = text.token();
        let value = text.value();
        for (at, line) in parts(&value, is_comment(&literal)) {
            match fence {
                Some(mark) if line.trim_start().starts_with(mark) => fence = None,
                Some(_) => {}
                None => fence = ["```", "~~~"].into_iter().find(|mark| line.trim_start().starts_with(mark)),
            }
            let trimmed = line.trim();
            let is_marker = fence.is_none()
                && trimmed.strip_prefix('+').is_some_and(|rest| rest.starts_with(char::is_alphabetic));
            if !is_marker {
                out.push((index, Line::Text(line.to_owned())));
                continue;
            }
            let before = at + (line.len() - line.trim_start().len());
            out.push((
                index,
                Line::Marker(MarkerLine {
                    text: trimmed.to_owned(),
                    literal: literal.clone(),
                    offset: start_of_text(&literal, &value)
                        .map(|start| start + value[..before].chars().count()),
                }),
            ));
        }
    }
    out
}

/// The value of a doc attribute.
fn doc(attribute: &Attribute) -> Option<&Expr> {
    match &attribute.meta {
        Meta::NameValue(meta) if meta.path.is_ident("doc") => Some(&meta.value),
        _ => None,
    }
}

/// The text of a doc attribute: a literal, or a concatenation of several. `None`: unknown here.
fn text(value: &Expr) -> Option<LitStr> {
    match value {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.clone()),
        Expr::Macro(value) => concatenated(&value.mac),
        _ => None,
    }
}

fn concatenated(mac: &Macro) -> Option<LitStr> {
    if !mac.path.is_ident("concat") {
        return None;
    }
    let parts = mac.parse_body_with(Punctuated::<Lit, Token![,]>::parse_terminated).ok()?;
    let mut out = String::new();
    for part in &parts {
        match part {
            Lit::Str(text) => out.push_str(&text.value()),
            Lit::Char(text) => out.push(text.value()),
            Lit::Int(number) => out.push_str(number.base10_digits()),
            Lit::Bool(value) => out.push_str(if value.value { "true" } else { "false" }),
            _ => return None,
        }
    }
    let span = mac.path.segments.first().map_or_else(Span::call_site, |segment| segment.ident.span());
    Some(LitStr::new(&out, span))
}

/// Whether the literal is a comment rather than an attribute's string.
fn is_comment(literal: &Literal) -> bool {
    literal.span().source_text().is_none_or(|source| source.starts_with('/'))
}

/// Characters of the source before the text of a doc attribute: those of `///` or of a quote.
fn start_of_text(literal: &Literal, value: &str) -> Option<usize> {
    let source = literal.span().source_text()?;
    // The literal of a comment has the place of the comment.
    if source.starts_with("//") || source.starts_with("/*") {
        return source.get(3..).filter(|rest| rest.starts_with(value)).map(|_| 3);
    }
    let quoted = source.strip_prefix('"')?.strip_suffix('"')?;
    (quoted == value).then_some(1)
}

/// The lines of a doc attribute's value with their offsets, without the `*` of block comments and the space
/// after the comment's characters. In a comment without `*`, the indentation is that of the source.
fn parts(value: &str, is_comment: bool) -> Vec<(usize, &str)> {
    if !value.contains('\n') {
        return vec![strip_space(0, value)];
    }
    let mut all = Vec::new();
    let mut at = 0;
    for line in value.split('\n') {
        all.push((at, line.trim_end()));
        at += line.len() + 1;
    }
    let later = || all.iter().skip(1).map(|(_, line)| line.trim_start());
    let stars =
        later().all(|line| line.starts_with('*') || line.is_empty()) && later().any(|l| !l.is_empty());
    let last = all.len() - 1;
    let kept = all.iter().enumerate().filter(|(index, (_, line))| {
        // The first and the last line are usually empty.
        !((*index == 0 || *index == last) && line.trim().is_empty())
    });
    kept.map(|(index, &(at, line))| match index {
        0 => strip_space(at, line),
        _ if stars => {
            let bare = line.trim_start().trim_start_matches('*');
            strip_space(at + line.len() - bare.len(), bare)
        }
        _ if is_comment => (at + line.len() - line.trim_start().len(), line.trim()),
        _ => (at, line),
    })
    .collect()
}

fn strip_space(at: usize, line: &str) -> (usize, &str) {
    match line.strip_prefix(' ') {
        Some(rest) => (at + 1, rest.trim_end()),
        None => (at, line.trim_end()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(source: &str) -> Vec<String> {
        let item: syn::ItemStruct = syn::parse_str(source).unwrap();
        ItemAttributes::new(&item.attrs).docs()
    }

    #[test]
    fn line_comments_lose_one_space() {
        assert_eq!(
            lines("/// One\n///   two  \n///\n#[doc = \"three\"]\nstruct S;"),
            ["One", "  two", "", "three"]
        );
        assert!(lines("// not a doc\n#[doc(hidden)] struct S;").is_empty());
    }

    #[test]
    fn block_comments_lose_their_stars() {
        assert_eq!(lines("/** One\n * two\n *\n */\nstruct S;"), ["One", "two", ""]);
        assert_eq!(lines("/**\n    One\n      two\n    */ struct S;"), ["One", "two"]);
    }

    #[test]
    fn literals_of_concat_in_doc_are_joined() {
        assert_eq!(lines("#[doc = concat!(\"a \", 1, true, 'c', \"\\nb\")] struct S;"), ["a 1truec", "b"]);
        assert!(lines("#[doc = concat!(\"a\", env!(\"B\"))] struct S;").is_empty());
        let item: syn::ItemStruct = syn::parse_str("/// a\n#[doc = include_str!(\"b\")]\nstruct S;").unwrap();
        assert_eq!(ItemAttributes::new(&item.attrs).unread().count(), 1);
    }

    #[test]
    fn markers_are_not_in_the_description() {
        assert_eq!(lines("/// One\n/// +optional\n///  +k8s:x=y\n/// two\nstruct S;"), ["One", "two"]);
        assert_eq!(lines("/** One\n * +optional\n */\nstruct S;"), ["One"]);
        let text = ["+ item", "+1", "a +b", "```", "+optional", "```"];
        let source: String = text.iter().map(|line| format!("/// {line}\n")).collect();
        assert_eq!(lines(&(source + "struct S;")), text);
    }
}
