//! Strings and regular expressions.

use super::{Called, items, no_overload, text_of};
use crate::cel::value::{Key, Value, double_text};
use crate::structural::{golang, pattern};

pub(super) fn call(function: &str, args: &[Value]) -> Called {
    match (function, args) {
        ("contains", [Value::String(s), Value::String(p)]) => Ok(Value::Bool(s.contains(p.as_ref()))),
        ("startsWith", [Value::String(s), Value::String(p)]) => Ok(Value::Bool(s.starts_with(p.as_ref()))),
        ("endsWith", [Value::String(s), Value::String(p)]) => Ok(Value::Bool(s.ends_with(p.as_ref()))),
        ("matches", [Value::String(s), Value::String(p)]) => {
            Ok(Value::Bool(pattern::compile(p)?.is_match(s)))
        }
        ("lowerAscii", [Value::String(s)]) => Ok(Value::string(s.to_ascii_lowercase())),
        ("upperAscii", [Value::String(s)]) => Ok(Value::string(s.to_ascii_uppercase())),
        ("trim", [Value::String(s)]) => Ok(Value::string(s.trim())),
        ("strings.quote", [Value::String(s)]) => Ok(Value::string(golang::quote(s))),
        ("format", [Value::String(s), list]) => format(s, items(list)?).map(Value::string),
        ("join", [list, rest @ ..]) => join(items(list)?, rest),
        ("find" | "findAll", [Value::String(s), Value::String(p), rest @ ..]) => find(function, s, p, rest),
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

fn find(function: &str, text: &str, source: &str, rest: &[Value]) -> Called {
    let regex = pattern::compile(source).map_err(|e| format!("Illegal regex: {e}"))?;
    if function == "find" {
        return Ok(Value::string(regex.find(text).map_or("", |m| m.as_str())));
    }
    let limit = match rest {
        [Value::Int(n)] => usize::try_from(*n).unwrap_or(usize::MAX),
        _ => usize::MAX,
    };
    Ok(Value::list(regex.find_iter(text).take(limit).map(|m| Value::string(m.as_str())).collect()))
}

/// Results longer than this are not built.
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
    let list = |parts: Vec<&str>| Ok(Value::list(parts.into_iter().map(Value::string).collect()));
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
            let part: Vec<char> = part.chars().collect();
            let offset = match offset {
                [Value::Int(i)] => Some(place(*i)?),
                _ => None,
            };
            Ok(index_of(&chars, &part, offset, function == "lastIndexOf"))
        }
        _ => no_overload(),
    }
}

fn index_of(chars: &[char], part: &[char], offset: Option<usize>, last: bool) -> Value {
    let Some(highest) = chars.len().checked_sub(part.len()) else { return Value::Int(-1) };
    let matches = |i: &usize| chars[*i..].starts_with(part);
    let found = match last {
        false => (offset.unwrap_or(0)..=highest).find(matches),
        true => (0..=offset.unwrap_or(highest).min(highest)).rev().find(matches),
    };
    Value::Int(found.and_then(|i| i64::try_from(i).ok()).unwrap_or(-1))
}

/// `'%s has %d'.format([a, 1])`.
fn format(template: &str, args: &[Value]) -> Result<String, String> {
    let mut out = String::new();
    let mut args = args.iter().enumerate();
    let mut chars = template.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        if chars.next_if_eq(&'%').is_some() {
            out.push('%');
            continue;
        }
        let mut precision = None;
        if chars.next_if_eq(&'.').is_some() {
            let mut digits = String::new();
            while let Some(digit) = chars.next_if(char::is_ascii_digit) {
                digits.push(digit);
            }
            precision =
                Some(digits.parse::<usize>().map_err(|_| "could not parse precision".to_owned())?.min(100));
        }
        let verb = chars.next().ok_or("unexpected end of string")?;
        let (i, value) = args.next().ok_or_else(|| {
            let index = args.len();
            format!("index {index} out of range")
        })?;
        out.push_str(
            &format_one(verb, precision, value)
                .map_err(|e| format!("error during formatting: {e} (argument {i})"))?,
        );
        if out.len() > MAX_LENGTH {
            return Err("format result is too long".to_owned());
        }
    }
    Ok(out)
}

fn format_one(verb: char, precision: Option<usize>, value: &Value) -> Result<String, String> {
    let refused = || format!("no formatting function for %{verb} and type {}", value.type_name());
    #[expect(clippy::cast_precision_loss, reason = "floating-point notation is asked for")]
    let float = match value {
        Value::Double(f) => Some(*f),
        Value::Int(i) => Some(*i as f64),
        Value::Uint(u) => Some(*u as f64),
        _ => None,
    };
    Ok(match (verb, value) {
        ('s', value) => show(value, 0),
        ('d', Value::Int(_) | Value::Uint(_)) => text_of(value),
        ('f', _) => format!("{:.*}", precision.unwrap_or(6), float.ok_or_else(refused)?),
        ('e', _) => exponent(float.ok_or_else(refused)?, precision.unwrap_or(6)),
        ('b', Value::Bool(b)) => u8::from(*b).to_string(),
        ('b', Value::Int(i)) => signed(*i, |u| format!("{u:b}")),
        ('b', Value::Uint(u)) => format!("{u:b}"),
        ('o', Value::Int(i)) => signed(*i, |u| format!("{u:o}")),
        ('o', Value::Uint(u)) => format!("{u:o}"),
        ('x' | 'X', Value::Int(i)) => cased(verb, signed(*i, |u| format!("{u:x}"))),
        ('x' | 'X', Value::Uint(u)) => cased(verb, format!("{u:x}")),
        ('x' | 'X', Value::String(s)) => cased(verb, s.bytes().map(|b| format!("{b:02x}")).collect()),
        ('x' | 'X', Value::Bytes(s)) => cased(verb, s.iter().map(|b| format!("{b:02x}")).collect()),
        ('d' | 'b' | 'o' | 'x' | 'X', _) => return Err(refused()),
        _ => return Err(format!("unrecognized formatting clause \"{verb}\"")),
    })
}

fn signed(value: i64, digits: impl Fn(u64) -> String) -> String {
    let sign = if value < 0 { "-" } else { "" };
    format!("{sign}{}", digits(value.unsigned_abs()))
}

fn cased(verb: char, text: String) -> String {
    if verb == 'X' { text.to_uppercase() } else { text }
}

fn exponent(value: f64, precision: usize) -> String {
    let text = format!("{value:.precision$e}");
    match text.split_once('e') {
        Some((mantissa, exponent)) => {
            let (sign, digits) = exponent.strip_prefix('-').map_or(('+', exponent), |d| ('-', d));
            format!("{mantissa}e{sign}{digits:0>2}")
        }
        None => text,
    }
}

/// A value within a text: containers are shown with their entries.
fn show(value: &Value, depth: usize) -> String {
    match value {
        _ if depth > 32 => "...".to_owned(),
        Value::Null => "null".to_owned(),
        Value::Double(f) => double_text(*f),
        Value::List(list) => {
            let items: Vec<String> = list.items.iter().map(|item| show(item, depth + 1)).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Map(map) => {
            let entry = |key: &Key, value: &Value| {
                let (key, value) = (show(&key.value(), depth + 1), show(value, depth + 1));
                format!("{key}: {value}")
            };
            let entries: Vec<String> = map.iter().map(|(key, value)| entry(key, value)).collect();
            format!("{{{}}}", entries.join(", "))
        }
        Value::Type(name) => name.to_string(),
        value => text_of(value),
    }
}
