//! Finds places inside string literals.

use crate::source::{Loc, SourceMap};

/// The location of the character at this position of a literal's value; the position after the last is the
/// closing quote. `None` if the location is not a string literal.
pub(super) fn character(sources: &SourceMap, literal: Loc, position: usize) -> Option<Loc> {
    let source = sources.file(literal.file).text.get(literal.range())?;
    let (start, end) = offset(source, position)?;
    let at = |offset: usize| literal.start + u32::try_from(offset).unwrap_or(0);
    Some(Loc { file: literal.file, start: at(start), end: at(end) })
}

/// First and last byte of a character in the text of a literal.
fn offset(source: &str, position: usize) -> Option<(usize, usize)> {
    let raw = source.starts_with('r');
    let open = source.find('"')? + 1;
    if !source[..open - 1].chars().all(|c| c == 'r' || c == '#') {
        return None;
    }
    let mut at = open;
    for _ in 0..position {
        at += length(&source[at..], raw);
    }
    let rest = source.get(at..).filter(|rest| !rest.is_empty())?;
    Some((at, at + length(rest, raw)))
}

/// The number of bytes of the first character with its escape; line continuations belong to the next
/// character.
fn length(rest: &str, raw: bool) -> usize {
    let first = rest.chars().next().map_or(0, char::len_utf8);
    if raw || !rest.starts_with('\\') {
        return first;
    }
    match rest[1..].chars().next() {
        Some('x') => rest.len().min(4),
        Some('u') => rest.find('}').map_or(first, |end| end + 1),
        Some('\n' | '\r') => {
            let after = rest[1..].trim_start();
            let skipped = rest.len() - after.len();
            skipped + if after.is_empty() { 0 } else { length(after, raw) }
        }
        Some(c) => 1 + c.len_utf8(),
        None => first,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn character_position_accounts_for_escapes() {
        for (source, position, wanted) in [
            ("\"abc\"", 1, Some("b")),
            ("\"abc\"", 3, Some("\"")),
            ("\"a\\\"b\"", 1, Some("\\\"")),
            ("\"a\\u{e9}b\"", 2, Some("b")),
            ("\"a\\x41b\"", 1, Some("\\x41")),
            ("\"a\\\n   b\"", 1, Some("\\\n   b")),
            ("r#\"a\\n\"#", 1, Some("\\")),
            ("\"é\"", 0, Some("é")),
            ("\"abc\"", 9, None),
            ("/// +kubebuilder", 3, None),
            ("text \"x\"", 0, None),
        ] {
            let found = offset(source, position).map(|(start, end)| &source[start..end]);
            assert_eq!(found, wanted, "{source} {position}");
        }
    }
}
