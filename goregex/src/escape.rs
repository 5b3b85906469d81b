//! Escapes: single code points, and the classes of Perl and Unicode.

use crate::ast::{Item, MAX};
use crate::error::{Error, ErrorCode, before};
use crate::unicode;

const DIGITS: &[(u8, u8)] = &[(b'0', b'9')];
const SPACES: &[(u8, u8)] = &[(b'\t', b'\n'), (0x0C, b'\r'), (b' ', b' ')];
const WORDS: &[(u8, u8)] = &[(b'0', b'9'), (b'A', b'Z'), (b'_', b'_'), (b'a', b'z')];

/// Reads a class such as `\d` or `\p{Greek}`, if the text begins with one.
///
/// # Errors
/// Returns an error if Go has no class of Unicode with the name.
pub(crate) fn group(text: &str, fold_case: bool) -> Result<Option<(Item, &str)>, Error> {
    let Some(letter) = text.strip_prefix('\\').and_then(|rest| rest.chars().next()) else { return Ok(None) };
    let ranges = match letter.to_ascii_lowercase() {
        'd' => DIGITS,
        's' => SPACES,
        'w' => WORDS,
        'p' => return unicode_class(text, fold_case).map(Some),
        _ => return Ok(None),
    };
    Ok(Some((Item::Ascii { ranges, negated: letter.is_ascii_uppercase(), fold_case }, &text[2..])))
}

/// Reads `\pN`, `\p{Name}` or `\p{^Name}`; `\P` is the opposite.
fn unicode_class(text: &str, fold_case: bool) -> Result<(Item, &str), Error> {
    let invalid = |part: &str| Error::new(ErrorCode::InvalidCharRange, part);
    let (name, rest) = match text[2..].strip_prefix('{') {
        Some(name) => name.split_once('}').ok_or_else(|| invalid(text))?,
        None => text[2..].split_at(text[2..].chars().next().map_or(0, char::len_utf8)),
    };
    let bare = name.strip_prefix('^');
    let negated = text[1..].starts_with('P') != bare.is_some();
    let name = unicode::canonical(bare.unwrap_or(name));
    match unicode::named(&name) {
        Some(_) => Ok((Item::Unicode { name, negated, fold_case }, rest)),
        None => Err(invalid(before(text, rest))),
    }
}

/// Reads an escape of one code point.
///
/// # Errors
/// The escape has no meaning in Go.
pub(crate) fn point(text: &str) -> Result<(u32, &str), Error> {
    let mut rest = &text[1..];
    let Some(c) = next(&mut rest) else { return Err(Error::new(ErrorCode::TrailingBackslash, "")) };
    let octal = |rest: &str| rest.starts_with(|c| matches!(c, '0'..='7'));
    let point = match c {
        '0' => Some(octal_digits(0, &mut rest)),
        // A digit alone is a back reference, which Go does not support.
        '1'..='7' if octal(rest) => Some(octal_digits(c as u32 - '0' as u32, &mut rest)),
        'x' => hexadecimal(&mut rest),
        'a' => Some(0x07),
        'f' => Some(0x0C),
        'n' => Some('\n'.into()),
        'r' => Some('\r'.into()),
        't' => Some('\t'.into()),
        'v' => Some(0x0B),
        c if c.is_ascii() && !c.is_ascii_alphanumeric() => Some(c.into()),
        _ => None,
    };
    match point {
        Some(point) => Ok((point, rest)),
        None => Err(Error::new(ErrorCode::InvalidEscape, before(text, rest))),
    }
}

fn next(rest: &mut &str) -> Option<char> {
    let c = rest.chars().next()?;
    *rest = &rest[c.len_utf8()..];
    Some(c)
}

/// Up to two more octal digits.
fn octal_digits(first: u32, rest: &mut &str) -> u32 {
    let mut point = first;
    for _ in 0..2 {
        let Some(digit) = rest.chars().next().and_then(|c| c.to_digit(8)) else { break };
        point = point * 8 + digit;
        *rest = &rest[1..];
    }
    point
}

/// Reads two hexadecimal digits, or any number of them in braces. The error includes the part of an invalid escape
/// that was read.
fn hexadecimal(rest: &mut &str) -> Option<u32> {
    let first = next(rest)?;
    if first != '{' {
        let second = next(rest);
        return Some(first.to_digit(16)? * 16 + second?.to_digit(16)?);
    }
    let mut point = None;
    loop {
        match next(rest)? {
            '}' => return point,
            c => point = Some(point.unwrap_or(0) * 16 + c.to_digit(16)?).filter(|point| *point <= MAX),
        }
        point?;
    }
}
