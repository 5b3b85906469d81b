//! Go's notation of values, which messages of an API server use.

mod convert;
mod scan;

pub use convert::from_unstructured;
pub use scan::{json_error, json_number_error};

use std::io;

use serde_json::ser::Formatter;
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

/// Go's `strconv.ParseUint(text, 10, 64)`, which takes no sign.
///
/// # Errors
/// Go's message.
pub fn parse_uint(text: &str) -> Result<u64, String> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let why = if digits { "value out of range" } else { "invalid syntax" };
    let number = text.parse().ok().filter(|_| digits);
    number.ok_or_else(|| format!("strconv.ParseUint: parsing {}: {why}", quote(text)))
}

/// Reports whether a character is printable in Go: letters, marks, numbers, punctuation, symbols and the ASCII space.
#[must_use]
pub fn is_print(c: char) -> bool {
    // Rust escapes by the same classes. It leaves marks that follow another character.
    let mut buffer = [b'a'; 5];
    let length = c.encode_utf8(&mut buffer[1..]).len();
    let text = std::str::from_utf8(&buffer[..=length]).unwrap_or_default();
    matches!(c, '"' | '\'' | '\\') || text.escape_debug().nth(1) == Some(c)
}

/// A duration in nanoseconds as Go's `time.Duration` prints it: `1h0m0s`, `1.5s`, `20ms`.
#[must_use]
pub fn duration(nanos: i64) -> String {
    let sign = if nanos < 0 { "-" } else { "" };
    let total = nanos.unsigned_abs();
    // The whole part, and the fraction of `unit` nanoseconds without zeros at the end.
    let decimal = |whole: u64, rest: u64, unit: u64| {
        let digits = unit.ilog10() as usize;
        let fraction = format!("{rest:0digits$}");
        match fraction.trim_end_matches('0') {
            "" => whole.to_string(),
            fraction => format!("{whole}.{fraction}"),
        }
    };
    let text = match total {
        0 => return "0s".to_owned(),
        1..1_000 => format!("{total}ns"),
        1_000..1_000_000 => format!("{}\u{b5}s", decimal(total / 1_000, total % 1_000, 1_000)),
        1_000_000..1_000_000_000 => {
            format!("{}ms", decimal(total / 1_000_000, total % 1_000_000, 1_000_000))
        }
        _ => {
            let (minutes, rest) = (total / 60_000_000_000, total % 60_000_000_000);
            let seconds = decimal(rest / 1_000_000_000, rest % 1_000_000_000, 1_000_000_000);
            match (minutes / 60, minutes % 60) {
                (0, 0) => format!("{seconds}s"),
                (0, minutes) => format!("{minutes}m{seconds}s"),
                (hours, minutes) => format!("{hours}h{minutes}m{seconds}s"),
            }
        }
    };
    format!("{sign}{text}")
}

/// A float as `strconv.FormatFloat(value, 'g', -1, 64)` prints it: the shortest text that reads back, with an exponent outside of
/// 1e-4..1e6.
#[must_use]
pub fn float(value: f64) -> String {
    shortest(value, -4, 6)
}

/// A float as Go's encoding/json prints it.
#[must_use]
pub fn json_float(value: f64) -> String {
    let text = shortest(value, -6, 21);
    // encoding/json writes e-9 where fmt writes e-09.
    match text.find("e-0") {
        Some(at) => format!("{}e-{}", &text[..at], &text[at + 3..]),
        None => text,
    }
}

/// The shortest text, with an exponent if that is below `lowest` or at least `highest`.
fn shortest(value: f64, lowest: i32, highest: i32) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "+Inf" } else { "-Inf" }.to_owned();
    }
    if value == 0.0 {
        return if value.is_sign_negative() { "-0" } else { "0" }.to_owned();
    }
    // `{:e}` finds the number of digits, but rounds a last digit that is halfway up; Go rounds it to even, as `{:.N$e}` does.
    let text = format!("{value:e}");
    let fraction = text.find('.').map_or(0, |at| text.find('e').unwrap_or(text.len()) - at - 1);
    let text = format!("{value:.fraction$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if exponent < lowest || exponent >= highest {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{mantissa}e{sign}{:02}", exponent.abs());
    }
    plain(mantissa, exponent)
}

/// `mantissa` times ten to the power of `exponent`, without an exponent.
fn plain(mantissa: &str, exponent: i32) -> String {
    let sign = if mantissa.starts_with('-') { "-" } else { "" };
    let digits = mantissa.replace(['-', '.'], "");
    // The number of digits before the point.
    match usize::try_from(exponent + 1) {
        Ok(0) | Err(_) => format!("{sign}0.{}{digits}", "0".repeat(exponent.abs_diff(-1) as usize)),
        Ok(before) if before >= digits.len() => format!("{sign}{digits:0<before$}"),
        Ok(before) => format!("{sign}{}.{}", &digits[..before], &digits[before..]),
    }
}

/// A JSON number as Go's `%v` prints it after decoding, which makes an int64 or a float64 of it.
#[must_use]
pub fn number(number: &Number) -> String {
    match number.as_i64() {
        Some(i) => i.to_string(),
        None => float(number.as_f64().unwrap_or(f64::NAN)),
    }
}

/// A value as Go's `%v` prints it after decoding: `map[a:1 b:[x y]]`.
#[must_use]
pub fn display(value: &Value) -> String {
    match value {
        Value::Null => "<nil>".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Number(value) => number(value),
        Value::String(text) => text.clone(),
        Value::Array(items) => format!("[{}]", items.iter().map(display).collect::<Vec<_>>().join(" ")),
        Value::Object(fields) => {
            let mut entries: Vec<_> = fields.iter().collect();
            entries.sort_by_key(|(name, _)| *name);
            let entries: Vec<_> =
                entries.into_iter().map(|(name, value)| format!("{name}:{}", display(value))).collect();
            format!("map[{}]", entries.join(" "))
        }
    }
}

/// The type in Go of a decoded value, as `%s` prints it.
#[must_use]
pub fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "%!s(<nil>)",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_f64() => "float64",
        Value::Number(_) => "int64",
        Value::String(_) => "string",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
    }
}

/// The error of encoding/json for a value that does not fit a Go type.
///
/// ```
/// use kubesmith_apimachinery::golang::cannot_unmarshal;
///
/// let text = cannot_unmarshal(&serde_json::json!([]), "int64");
/// assert_eq!(text, "json: cannot unmarshal array into Go value of type int64");
/// ```
#[must_use]
pub fn cannot_unmarshal(value: &Value, into: &str) -> String {
    format!("json: cannot unmarshal {} into Go value of type {into}", json_type(value))
}

/// The kind of a JSON value in errors of encoding/json (`UnmarshalTypeError.Value`).
#[must_use]
pub fn json_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// The Go type of objects with any content.
pub const MAP: &str = "map[string]interface {}";

/// The Go type into which apimachinery reads the kind of an object (runtime/serializer/json/meta.go).
pub const TYPE_META: &str =
    r#"struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }"#;

/// A value as Go's encoding/json writes it: keys sorted, HTML characters escaped.
#[must_use]
pub fn json(value: &Value) -> String {
    let mut out = String::new();
    write_json(value, &mut out, 0);
    out
}

/// Deeper values print as `null`, since the stack is finite and no message needs them.
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

/// A formatter for serde_json that writes as Go's encoding/json: HTML characters escaped, floats in Go's form.
///
/// Members keep the order in which they are serialized.
#[derive(Clone, Copy, Debug, Default)]
pub struct JsonFormatter;

impl Formatter for JsonFormatter {
    fn write_f64<W: ?Sized + io::Write>(&mut self, writer: &mut W, value: f64) -> io::Result<()> {
        writer.write_all(json_float(value).as_bytes())
    }

    fn write_string_fragment<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        let mut rest = fragment;
        while let Some(at) = rest.find(HTML) {
            writer.write_all(&rest.as_bytes()[..at])?;
            let mut chars = rest[at..].chars();
            if let Some(c) = chars.next() {
                write!(writer, "\\u{:04x}", u32::from(c))?;
            }
            rest = chars.as_str();
        }
        writer.write_all(rest.as_bytes())
    }
}

/// Characters that encoding/json escapes so that HTML and JavaScript can contain its output (`Encoder.SetEscapeHTML`).
const HTML: [char; 5] = ['<', '>', '&', '\u{2028}', '\u{2029}'];

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
            c if (c as u32) < 0x20 || HTML.contains(&c) => {
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

    /// 980366611.67578125, which is halfway between the two nearest texts of 16 digits.
    const HALFWAY: f64 = 250_973_852_589.0 / 256.0;

    #[test]
    fn duration_prints_as_go_prints_it() {
        for (nanos, text) in [
            (0, "0s"),
            (-1, "-1ns"),
            (1_500, "1.5\u{b5}s"),
            (20_000_000, "20ms"),
            (1_500_000_000, "1.5s"),
            (60_000_000_000, "1m0s"),
            (3_600_000_000_000, "1h0m0s"),
            (i64::MIN, "-2562047h47m16.854775808s"),
        ] {
            assert_eq!(duration(nanos), text);
        }
    }

    #[test]
    fn float_prints_as_go_prints_it() {
        for (value, text) in [
            (1.0, "1"),
            (0.5, "0.5"),
            (1e21, "1e+21"),
            (999_999.5, "999999.5"),
            (1_000_000.0, "1e+06"),
            (1_234_567.5, "1.2345675e+06"),
            (-0.25, "-0.25"),
            (-1200.0, "-1200"),
            (0.0123, "0.0123"),
            (HALFWAY, "9.803666116757812e+08"),
            (0.0001, "0.0001"),
            (0.00001, "1e-05"),
            (1.5e-7, "1.5e-07"),
        ] {
            assert_eq!(float(value), text);
        }
        assert_eq!(json_float(1e-7), "1e-7");
        assert_eq!(json_float(1e20), "100000000000000000000");
        assert_eq!(json_float(HALFWAY), "980366611.6757812");
        assert_eq!(json_float(0.00001), "0.00001");
    }

    #[test]
    fn display_prints_maps_and_lists_as_fmt_does() {
        let value = serde_json::json!({"b": [1, "x", null], "a": {"c": true}});
        assert_eq!(display(&value), "map[a:map[c:true] b:[1 x <nil>]]");
    }

    #[test]
    fn quote_escapes_what_go_escapes() {
        assert_eq!(quote("a\"b\\\u{1}é\u{200b}"), "\"a\\\"b\\\\\\x01é\\u200b\"");
        // Marks and symbols stay; unassigned and invisible characters are escaped.
        assert_eq!(quote("e\u{301}'→\u{378}\u{a0}\u{e000}"), "\"e\u{301}'→\\u0378\\u00a0\\ue000\"");
        assert_eq!(
            json(&serde_json::json!({"b": [1, 2.0], "a": "<&>"})),
            r#"{"a":"\u003c\u0026\u003e","b":[1,2]}"#
        );
    }
}
