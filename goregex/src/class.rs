//! Classes in brackets.

use crate::ast::{Class, Item};
use crate::error::{Error, ErrorCode, before};
use crate::escape;
use crate::parse::Parser;

/// The classes of POSIX by name.
const POSIX: &[(&str, &[(u8, u8)])] = &[
    ("alnum", &[(b'0', b'9'), (b'A', b'Z'), (b'a', b'z')]),
    ("alpha", &[(b'A', b'Z'), (b'a', b'z')]),
    ("ascii", &[(0, 0x7F)]),
    ("blank", &[(b'\t', b'\t'), (b' ', b' ')]),
    ("cntrl", &[(0, 0x1F), (0x7F, 0x7F)]),
    ("digit", &[(b'0', b'9')]),
    ("graph", &[(b'!', b'~')]),
    ("lower", &[(b'a', b'z')]),
    ("print", &[(b' ', b'~')]),
    ("punct", &[(b'!', b'/'), (b':', b'@'), (b'[', b'`'), (b'{', b'~')]),
    ("space", &[(b'\t', b'\r'), (b' ', b' ')]),
    ("upper", &[(b'A', b'Z')]),
    ("word", &[(b'0', b'9'), (b'A', b'Z'), (b'_', b'_'), (b'a', b'z')]),
    ("xdigit", &[(b'0', b'9'), (b'A', b'F'), (b'a', b'f')]),
];

impl<'a> Parser<'a> {
    /// Reads a class from its `[` on.
    pub(crate) fn class(&self, text: &'a str) -> Result<(Class, &'a str), Error> {
        let fold_case = self.flags.fold_case;
        let negated = text[1..].strip_prefix('^');
        let mut class = Class { negated: negated.is_some(), items: Vec::new() };
        let mut rest = negated.unwrap_or(&text[1..]);
        // The first bracket stands for itself.
        let mut is_first = true;
        loop {
            if !is_first && let Some(after) = rest.strip_prefix(']') {
                return Ok((class, after));
            }
            is_first = false;
            let (item, after) = match posix(rest, fold_case)? {
                Some(found) => found,
                None => match escape::group(rest, fold_case)? {
                    Some(found) => found,
                    None => range(rest, text, fold_case)?,
                },
            };
            class.items.push(item);
            rest = after;
        }
    }
}

/// Reads `[:name:]`, if the text begins with one.
fn posix(text: &str, fold_case: bool) -> Result<Option<(Item, &str)>, Error> {
    let Some((name, rest)) = text.strip_prefix("[:").and_then(|name| name.split_once(":]")) else {
        return Ok(None);
    };
    let bare = name.strip_prefix('^');
    let wanted = bare.unwrap_or(name);
    match POSIX.iter().find(|(known, _)| *known == wanted) {
        Some((_, ranges)) => Ok(Some((Item::Ascii { ranges, negated: bare.is_some(), fold_case }, rest))),
        None => Err(Error::new(ErrorCode::InvalidCharRange, before(text, rest))),
    }
}

/// Reads a character or a range. `class` is the text from the bracket on.
fn range<'a>(text: &'a str, class: &str, fold_case: bool) -> Result<(Item, &'a str), Error> {
    let (first, mut rest) = point(text, class)?;
    let mut last = first;
    // A hyphen before the closing bracket stands for itself.
    if let Some(after) = rest.strip_prefix('-')
        && !after.is_empty()
        && !after.starts_with(']')
    {
        (last, rest) = point(after, class)?;
        if last < first {
            return Err(Error::new(ErrorCode::InvalidCharRange, before(text, rest)));
        }
    }
    Ok((Item::Range { first, last, fold_case }, rest))
}

fn point<'a>(text: &'a str, class: &str) -> Result<(u32, &'a str), Error> {
    match text.chars().next() {
        None => Err(Error::new(ErrorCode::MissingBracket, class)),
        Some('\\') => escape::point(text),
        Some(c) => Ok((c.into(), &text[c.len_utf8()..])),
    }
}
