//! Strings.

use super::format::format;
use super::{Called, items, no_overload};
use crate::cel::native::Form;
use crate::cel::value::Value;

pub(super) fn call(function: &str, args: &[Value]) -> Called {
    match (function, args) {
        ("contains", [Value::String(s), Value::String(p)]) => Ok(Value::Bool(s.contains(p.as_ref()))),
        ("startsWith", [Value::String(s), Value::String(p)]) => Ok(Value::Bool(s.starts_with(p.as_ref()))),
        ("endsWith", [Value::String(s), Value::String(p)]) => Ok(Value::Bool(s.ends_with(p.as_ref()))),
        ("lowerAscii", [Value::String(s)]) => Ok(Value::string(s.to_ascii_lowercase())),
        ("upperAscii", [Value::String(s)]) => Ok(Value::string(s.to_ascii_uppercase())),
        ("trim", [Value::String(s)]) => Ok(Value::string(s.trim())),
        // A key of a JSON pointer.
        ("jsonpatch.escapeKey", [Value::String(s)]) => {
            Ok(Value::string(s.replace('~', "~0").replace('/', "~1")))
        }
        ("strings.quote", [Value::String(s)]) => Ok(Value::string(quote(s))),
        ("format", [Value::String(s), list]) => format(s, items(list)?).map(Value::string),
        ("join", [list, rest @ ..]) => join(items(list)?, rest),
        ("replace", [Value::String(s), Value::String(old), Value::String(new), rest @ ..]) => {
            replace(s, old, new, rest)
        }
        ("split", [Value::String(s), Value::String(separator), rest @ ..]) => split(s, separator, rest),
        ("charAt" | "substring" | "indexOf" | "lastIndexOf", [Value::String(s), rest @ ..]) => {
            by_place(function, s, rest)
        }
        _ => no_overload(),
    }
}

fn join(list: &[Value], rest: &[Value]) -> Called {
    let separator = match rest {
        [] => "",
        [Value::String(s)] => s,
        _ => return no_overload(),
    };
    let mut parts = Vec::with_capacity(list.len());
    for item in list {
        match item {
            Value::String(s) => parts.push(s.as_ref()),
            _ => return no_overload(),
        }
    }
    Ok(Value::string(parts.join(separator)))
}

/// The greatest length of a result.
const MAX_LENGTH: usize = 16 << 20;

fn replace(text: &str, old: &str, new: &str, rest: &[Value]) -> Called {
    let limit = match rest {
        [Value::Int(n)] => usize::try_from(*n).unwrap_or(usize::MAX),
        _ => usize::MAX,
    };
    let count = text.matches(old).count().min(limit);
    if new.len().saturating_mul(count) > MAX_LENGTH {
        return Err("replace result is too long".to_owned());
    }
    Ok(Value::string(text.replacen(old, new, limit)))
}

fn split(text: &str, separator: &str, rest: &[Value]) -> Called {
    let limit = match rest {
        [Value::Int(n)] if *n >= 0 => usize::try_from(*n).unwrap_or(usize::MAX),
        _ => usize::MAX,
    };
    let list =
        |parts: Vec<&str>| Ok(Value::list_of(parts.into_iter().map(Value::string).collect(), Form::Texts));
    match limit {
        0 => list(Vec::new()),
        _ if separator.is_empty() => {
            let mut parts = Vec::new();
            let mut rest = text;
            while let Some(c) = rest.chars().next() {
                if parts.len() + 1 == limit {
                    parts.push(rest);
                    break;
                }
                let (first, after) = rest.split_at(c.len_utf8());
                parts.push(first);
                rest = after;
            }
            list(parts)
        }
        limit => list(text.splitn(limit, separator).collect()),
    }
}

fn by_place(function: &str, text: &str, rest: &[Value]) -> Called {
    let chars: Vec<char> = text.chars().collect();
    let out_of_range = |i: i64| format!("index out of range: {i}");
    let place = |i: i64| usize::try_from(i).ok().filter(|i| *i <= chars.len()).ok_or_else(|| out_of_range(i));
    let collected = |part: &[char]| Value::string(part.iter().collect::<String>());
    match (function, rest) {
        ("charAt", [Value::Int(i)]) => {
            let at = place(*i)?;
            Ok(collected(chars.get(at..at + 1).unwrap_or_default()))
        }
        ("substring", [Value::Int(start)]) => Ok(collected(&chars[place(*start)?..])),
        ("substring", [Value::Int(start), Value::Int(end)]) => {
            if start > end {
                return Err(format!("invalid substring range. start: {start}, end: {end}"));
            }
            Ok(collected(&chars[place(*start)?..place(*end)?]))
        }
        ("indexOf" | "lastIndexOf", [Value::String(part), offset @ ..]) => {
            let offset = match offset {
                [Value::Int(offset)] => Some(*offset),
                _ => None,
            };
            let part: Vec<char> = part.chars().collect();
            index_of(&chars, &part, offset, function == "lastIndexOf").map(Value::Int)
        }
        _ => no_overload(),
    }
}

/// Finds the empty text at the offset, and nothing from an offset beyond the end.
fn index_of(chars: &[char], part: &[char], offset: Option<i64>, last: bool) -> Result<i64, String> {
    let whole = |i: usize| i64::try_from(i).unwrap_or(i64::MAX);
    if part.is_empty() {
        return Ok(offset.unwrap_or(if last { whole(chars.len()) } else { 0 }));
    }
    let from = match offset {
        Some(offset) if offset < 0 => return Err(format!("index out of range: {offset}")),
        Some(offset) if offset >= whole(chars.len()) => return Ok(-1),
        offset => offset.and_then(|offset| usize::try_from(offset).ok()),
    };
    let Some(highest) = chars.len().checked_sub(part.len()) else { return Ok(-1) };
    let matches = |i: &usize| chars[*i..].starts_with(part);
    let found = match last {
        false => (from.unwrap_or(0)..=highest).find(matches),
        true => (0..=from.unwrap_or(highest).min(highest)).rev().find(matches),
    };
    Ok(found.map_or(-1, whole))
}

/// The text in quotes. Unlike Go's `%q`, this does not escape unprintable characters.
fn quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '\u{7}' => out.push_str("\\a"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{b}' => out.push_str("\\v"),
            '\\' => out.push_str("\\\\"),
            '"' => out.push_str("\\\""),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
