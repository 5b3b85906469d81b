//! How Go prints values: messages of an API server repeat values in Go's notation.

use serde_json::{Number, Value};

/// A string as Go's `%q` prints it.
#[must_use]
pub fn quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{7}' => out.push_str("\\a"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{b}' => out.push_str("\\v"),
            c if (c as u32) < 0x20 || c as u32 == 0x7f => out.push_str(&format!("\\x{:02x}", c as u32)),
            c if is_print(c) => out.push(c),
            c if (c as u32) < 0x10000 => out.push_str(&format!("\\u{:04x}", c as u32)),
            c => out.push_str(&format!("\\U{:08x}", c as u32)),
        }
    }
    out.push('"');
    out
}

/// Whether Go counts a character as printable: letters, marks, numbers, punctuation, symbols and the ASCII space.
#[must_use]
pub fn is_print(c: char) -> bool {
    let hidden = matches!(c as u32,
        0x80..=0xa0 | 0xad | 0x1680 | 0x2000..=0x200f | 0x2028..=0x202f | 0x205f..=0x206f | 0x3000
        | 0xfeff | 0xfff0..=0xfffb | 0xe000..=0xf8ff | 0xe0000..=0x10ffff);
    !c.is_control() && !hidden
}

/// A float as Go's `%v` prints it: the shortest text that reads back, with an exponent outside of 1e-4..1e21.
#[must_use]
pub fn float(value: f64) -> String {
    shortest(value, -4)
}

/// A float as Go's encoding/json prints it.
#[must_use]
pub fn json_float(value: f64) -> String {
    let text = shortest(value, -6);
    // encoding/json writes e-9 where fmt writes e-09.
    match text.find("e-0") {
        Some(at) => format!("{}e-{}", &text[..at], &text[at + 3..]),
        None => text,
    }
}

fn shortest(value: f64, lowest_exponent: i32) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "+Inf" } else { "-Inf" }.to_owned();
    }
    if value == 0.0 {
        return if value.is_sign_negative() { "-0" } else { "0" }.to_owned();
    }
    let scientific = format!("{value:e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if exponent < lowest_exponent || exponent >= 21 {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{mantissa}e{sign}{:02}", exponent.abs());
    }
    format!("{value}")
}

/// A JSON number as Go's `%v` prints it once decoded (integers as int64, all else as float64).
#[must_use]
pub fn number(number: &Number) -> String {
    match number.as_i64() {
        Some(i) => i.to_string(),
        None => float(number.as_f64().unwrap_or(f64::NAN)),
    }
}

/// A value as Go's encoding/json writes it: keys sorted, HTML characters escaped.
#[must_use]
pub fn json(value: &Value) -> String {
    let mut out = String::new();
    write_json(value, &mut out, 0);
    out
}

/// Deeper values are not printed: no message needs them, and the stack is finite.
const MAX_DEPTH: usize = 512;

fn write_json(value: &Value, out: &mut String, depth: usize) {
    if depth > MAX_DEPTH {
        out.push_str("null");
        return;
    }
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(b) => out.push_str(if *b { "true" } else { "false" }),
        Value::Number(n) => match n.as_i64() {
            Some(i) => out.push_str(&i.to_string()),
            None => out.push_str(&json_float(n.as_f64().unwrap_or(0.0))),
        },
        Value::String(s) => write_json_string(s, out),
        Value::Array(items) => {
            out.push('[');
            for (i, item) in items.iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                write_json(item, out, depth + 1);
            }
            out.push(']');
        }
        Value::Object(map) => {
            let mut keys: Vec<&String> = map.keys().collect();
            keys.sort();
            out.push('{');
            for (i, key) in keys.into_iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                write_json_string(key, out);
                out.push(':');
                write_json(&map[key.as_str()], out, depth + 1);
            }
            out.push('}');
        }
    }
}

/// A string as Go's encoding/json writes it.
#[must_use]
pub fn json_string(text: &str) -> String {
    let mut out = String::new();
    write_json_string(text, &mut out);
    out
}

fn write_json_string(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            c if (c as u32) < 0x20 || matches!(c, '<' | '>' | '&' | '\u{2028}' | '\u{2029}') => {
                out.push_str(&format!("\\u{:04x}", c as u32));
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_read_as_in_go() {
        for (value, text) in [
            (1.0, "1"),
            (0.5, "0.5"),
            (1e21, "1e+21"),
            (1e20, "100000000000000000000"),
            (0.00001, "1e-05"),
            (1.5e-7, "1.5e-07"),
        ] {
            assert_eq!(float(value), text);
        }
        assert_eq!(json_float(1e-7), "1e-7");
        assert_eq!(json_float(0.00001), "0.00001");
    }

    #[test]
    fn strings_are_quoted_as_in_go() {
        assert_eq!(quote("a\"b\\\u{1}é\u{200b}"), "\"a\\\"b\\\\\\x01é\\u200b\"");
        assert_eq!(
            json(&serde_json::json!({"b": [1, 2.0], "a": "<&>"})),
            r#"{"a":"\u003c\u0026\u003e","b":[1,2]}"#
        );
    }
}
