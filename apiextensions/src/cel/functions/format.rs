//! `'%s has %d'.format([a, 1])`, as in version 2 of cel-go's strings library: `%f` and `%e` format numbers for English, and a
//! literal format string is checked at compile time.

use kubesmith_apimachinery::golang;

use super::{no_overload, text_of};
use crate::cel::ast::{Expr, Kind, NodeId};
use crate::cel::types::Type;
use crate::cel::value::{Key, Value, is_visible};

/// The greatest length of a result.
const MAX_LENGTH: usize = 16 << 20;
/// The greatest precision. Go would pad with zeros.
const MAX_PRECISION: usize = 1000;
const DEFAULT_PRECISION: usize = 6;
/// The greatest depth of a formatted value.
const MAX_DEPTH: usize = 32;

/// A clause of a format string.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Clause {
    verb: char,
    precision: Option<usize>,
}

/// Formats the arguments by a format string.
pub(super) fn format(template: &str, args: &[Value]) -> Result<String, String> {
    let mut out = String::new();
    scan(template, args.len(), &mut out, &mut |clause, index| {
        let value = args.get(index).ok_or_else(|| out_of_range(index))?;
        one(clause, value).map_err(|fault| format!("error during formatting: {fault}"))
    })?;
    Ok(out)
}

/// Checks a format string against the arguments of a literal list. The error comes with its node; `None` is the call.
pub(in crate::cel) fn check(
    template: &str,
    args: &[Expr],
    type_of: &dyn Fn(&Expr) -> Type,
) -> Result<(), (Option<NodeId>, String)> {
    let mut place = None;
    let mut seen = 0;
    let mut unused = String::new();
    let found = scan(template, args.len(), &mut unused, &mut |clause, index| {
        seen += 1;
        let fitting = args.get(index).map_or(Ok(()), |arg| fits(clause.verb, arg, type_of));
        fitting.map(|()| String::new()).map_err(|(id, fault)| {
            place = Some(id);
            format!("error during formatting: {fault}")
        })
    });
    found.map_err(|fault| (place, fault))?;
    if args.len() > seen {
        let counts = format!("(expected {seen}, got {})", args.len());
        return Err((None, format!("too many arguments supplied to string.format {counts}")));
    }
    Ok(())
}

fn out_of_range(index: usize) -> String {
    format!("index {index} out of range")
}

/// Copies the text between clauses and gets the text of each clause from `fill`.
fn scan(
    template: &str,
    count: usize,
    out: &mut String,
    fill: &mut dyn FnMut(Clause, usize) -> Result<String, String>,
) -> Result<(), String> {
    let mut rest = template;
    let mut index = 0;
    while let Some(at) = rest.find('%') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix('%') {
            out.push('%');
            rest = after;
            continue;
        }
        if rest.is_empty() {
            return Err("unexpected end of string".to_owned());
        }
        if index >= count {
            return Err(out_of_range(index));
        }
        let (clause, after) =
            clause(rest).map_err(|fault| format!("could not parse formatting clause: {fault}"))?;
        out.push_str(&fill(clause, index)?);
        if out.len() > MAX_LENGTH {
            return Err("format result is too long".to_owned());
        }
        rest = after;
        index += 1;
    }
    out.push_str(rest);
    Ok(())
}

/// The clause after a percent sign, and the rest.
fn clause(text: &str) -> Result<(Clause, &str), String> {
    let (precision, rest) = match text.strip_prefix('.') {
        None => (None, text),
        Some(after) => {
            let end = after.find(|c: char| !c.is_ascii_digit());
            let end =
                end.ok_or("error while parsing precision: could not find end of precision specifier")?;
            let (digits, rest) = after.split_at(end);
            let fault = if digits.is_empty() { "invalid syntax" } else { "value out of range" };
            let precision = digits.parse::<i64>().map_err(|_| {
                format!("error while parsing precision: error while converting precision to integer: strconv.Atoi: parsing \"{digits}\": {fault}")
            })?;
            (Some(usize::try_from(precision).unwrap_or(MAX_PRECISION).min(MAX_PRECISION)), rest)
        }
    };
    let verb = rest.chars().next().unwrap_or('%');
    if !matches!(verb, 's' | 'd' | 'f' | 'e' | 'b' | 'x' | 'X' | 'o') {
        // cel-go reads one byte as a character.
        let byte = char::from(rest.as_bytes().first().copied().unwrap_or(b'%'));
        return Err(format!("unrecognized formatting clause \"{byte}\""));
    }
    Ok((Clause { verb, precision }, &rest[1..]))
}

/// The error for a value that a clause does not accept.
fn refused(verb: char, type_name: &str) -> String {
    let what = match verb {
        'd' => "decimal clause can only be used on integers",
        'f' => "fixed-point clause can only be used on doubles",
        'e' => "scientific clause can only be used on doubles",
        'b' => "only integers and bools can be formatted as binary",
        'o' => "octal clause can only be used on integers",
        'x' | 'X' => "only integers, byte buffers, and strings can be formatted as hex",
        _ => {
            "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps"
        }
    };
    format!("{what}, was given {type_name}")
}

/// Checks that a clause accepts an expression's type. The error is the part of the expression that it does not accept.
fn fits(verb: char, expr: &Expr, type_of: &dyn Fn(&Expr) -> Type) -> Result<(), (NodeId, String)> {
    let type_ = type_of(expr);
    let whole = matches!(type_, Type::Dyn | Type::Int | Type::Uint);
    let fine = match verb {
        'd' | 'o' => whole,
        'f' | 'e' => matches!(type_, Type::Dyn | Type::Double | Type::String),
        'b' => whole || type_ == Type::Bool,
        'x' | 'X' => whole || matches!(type_, Type::String | Type::Bytes),
        _ => !matches!(
            type_,
            Type::Optional(_) | Type::Opaque(_) | Type::Object(_) | Type::Error | Type::Param(_)
        ),
    };
    if !fine {
        let name = match &type_ {
            Type::Optional(_) => "optional_type".to_owned(),
            Type::List(_) => "list".to_owned(),
            Type::Map(..) => "map".to_owned(),
            Type::Type(_) => "type".to_owned(),
            other => other.to_string(),
        };
        return Err((expr.id, refused(verb, &name)));
    }
    match &expr.kind {
        Kind::List { elements, .. } if verb == 's' => {
            elements.iter().try_for_each(|element| fits(verb, element, type_of))
        }
        Kind::Map(entries) if verb == 's' => entries.iter().try_for_each(|entry| {
            fits(verb, &entry.key, type_of)?;
            fits(verb, &entry.value, type_of)
        }),
        _ => Ok(()),
    }
}

fn one(Clause { verb, precision }: Clause, value: &Value) -> Result<String, String> {
    let cased = |text: String| if verb == 'X' { text.to_uppercase() } else { text };
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let precision = precision.unwrap_or(DEFAULT_PRECISION);
    Ok(match (verb, value) {
        ('s', value) => text(value, 0)?,
        ('d', Value::Int(_) | Value::Uint(_)) => text_of(value),
        ('f' | 'e', value) => match (verb, double(value).ok_or_else(|| refused(verb, value.type_name()))?) {
            ('f', value) => fixed(value, precision),
            (_, value) => scientific(value, precision),
        },
        ('b', Value::Bool(b)) => u8::from(*b).to_string(),
        ('b', Value::Int(i)) => signed(*i, |u| format!("{u:b}")),
        ('b', Value::Uint(u)) => format!("{u:b}"),
        ('o', Value::Int(i)) => signed(*i, |u| format!("{u:o}")),
        ('o', Value::Uint(u)) => format!("{u:o}"),
        ('x' | 'X', Value::Int(i)) => cased(signed(*i, |u| format!("{u:x}"))),
        ('x' | 'X', Value::Uint(u)) => cased(format!("{u:x}")),
        ('x' | 'X', Value::String(s)) => cased(hex(s.as_bytes())),
        ('x' | 'X', Value::Bytes(bytes)) => cased(hex(bytes)),
        _ => return Err(refused(verb, value.type_name())),
    })
}

fn signed(value: i64, digits: impl Fn(u64) -> String) -> String {
    let sign = if value < 0 { "-" } else { "" };
    format!("{sign}{}", digits(value.unsigned_abs()))
}

/// A double, or one of the texts for infinities and NaN.
fn double(value: &Value) -> Option<f64> {
    match value {
        Value::Double(value) => Some(*value),
        Value::String(text) => match text.as_ref() {
            "NaN" => Some(f64::NAN),
            "Infinity" => Some(f64::INFINITY),
            "-Infinity" => Some(f64::NEG_INFINITY),
            _ => None,
        },
        _ => None,
    }
}

/// The text for an infinity or NaN; `None` for other numbers.
fn no_number(value: f64) -> Option<&'static str> {
    match value {
        value if value.is_nan() => Some("NaN"),
        value if value.is_finite() => None,
        value if value > 0.0 => Some("∞"),
        _ => Some("-∞"),
    }
}

/// `12,345.68`.
fn fixed(value: f64, precision: usize) -> String {
    if let Some(text) = no_number(value) {
        return text.to_owned();
    }
    let text = format!("{:.precision$}", value.abs());
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let mut grouped = String::from(if value < 0.0 { "-" } else { "" });
    for (i, digit) in whole.chars().enumerate() {
        if i > 0 && (whole.len() - i) % 3 == 0 {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    if !fraction.is_empty() {
        grouped.push('.');
        grouped.push_str(fraction);
    }
    grouped
}

/// `1.234500×10⁰³`. cel-go uses the precision as the width and always writes six digits.
fn scientific(value: f64, width: usize) -> String {
    if let Some(text) = no_number(value) {
        return format!("{text:>width$}");
    }
    let text = format!("{value:.DEFAULT_PRECISION$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let mantissa = if value == 0.0 { mantissa.trim_start_matches('-') } else { mantissa };
    let (sign, digits) = exponent.strip_prefix('-').map_or(("", exponent), |digits| ("⁻", digits));
    let raised = |digit: char| match digit {
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        digit => digit.to_digit(10).and_then(|digit| char::from_u32(u32::from('⁰') + digit)).unwrap_or(digit),
    };
    let digits: String = format!("{digits:0>2}").chars().map(raised).collect();
    let text = format!("{mantissa}×10{sign}{digits}");
    format!("{text:>width$}")
}

/// Formats a value for `%s`.
fn text(value: &Value, depth: usize) -> Result<String, String> {
    match value {
        Value::List(_) | Value::Map(_) | Value::Object(_) => inner(value, depth),
        Value::Null => Ok("null".to_owned()),
        Value::Type(name) => Ok(name.to_string()),
        Value::Int(_)
        | Value::Uint(_)
        | Value::Double(_)
        | Value::Bool(_)
        | Value::String(_)
        | Value::Bytes(_)
        | Value::Timestamp(_)
        | Value::Duration(_) => match super::convert::call("string", std::slice::from_ref(value)) {
            Ok(Value::String(text)) => Ok(text.to_string()),
            Ok(_) => no_overload(),
            Err(fault) => Err(format!("could not convert argument {} to string", golang::quote(&fault))),
        },
        other => Err(refused('s', other.type_name())),
    }
}

/// Formats a value inside a list or a map, as a literal.
fn inner(value: &Value, depth: usize) -> Result<String, String> {
    if depth > MAX_DEPTH {
        return Ok("...".to_owned());
    }
    Ok(match value {
        Value::List(list) => {
            let items: Result<Vec<String>, String> =
                list.items.iter().map(|item| inner(item, depth + 1)).collect();
            format!("[{}]", items?.join(", "))
        }
        Value::Map(map) => entries(map.iter().map(|(key, value)| (key.value(), value)), depth)?,
        Value::Object(fields) => {
            let visible = fields.iter().filter(|(name, _)| is_visible(name));
            entries(visible.map(|(name, value)| (Value::string(name), value)), depth)?
        }
        Value::String(text) => golang::quote(text),
        Value::Bytes(_) => format!("b{}", golang::quote(&text(value, depth)?)),
        Value::Double(value) if value.is_nan() => "\"NaN\"".to_owned(),
        Value::Double(value) if value.is_infinite() => {
            format!("\"{}Inf\"", if *value > 0.0 { '+' } else { '-' })
        }
        Value::Double(value) => format!("{value:.DEFAULT_PRECISION$}"),
        Value::Timestamp(_) => format!("timestamp({})", golang::quote(&text(value, depth)?)),
        Value::Duration(_) => format!("duration({})", golang::quote(&text(value, depth)?)),
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::Uint(_) | Value::Type(_) => text(value, depth)?,
        other => return Err(format!("no formatting function for {}", other.type_name())),
    })
}

/// The entries of a map, sorted by the text of their keys.
fn entries<'v>(entries: impl Iterator<Item = (Value, &'v Value)>, depth: usize) -> Result<String, String> {
    let mut pairs = Vec::new();
    for (key, value) in entries {
        if Key::of(&key).is_none() || matches!(key, Value::Double(_)) {
            return Err(format!("no formatting function for map key of type {}", key.type_name()));
        }
        pairs.push((inner(&key, depth + 1)?, inner(value, depth + 1)?));
    }
    pairs.sort_by(|(a, _), (b, _)| a.cmp(b));
    let pairs: Vec<String> = pairs.into_iter().map(|(key, value)| format!("{key}:{value}")).collect();
    Ok(format!("{{{}}}", pairs.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn format_prints_floats_with_english_separators() {
        for (template, value, text) in [
            ("%.2f", 12_345.678, "12,345.68"),
            ("%f", -1_234_567.5, "-1,234,567.500000"),
            ("%.0f", 999.5, "1,000"),
            ("%f", f64::INFINITY, "∞"),
            ("%.2e", 1_052.032_911_275, "1.052033×10⁰³"),
            ("%e", -1e-7, "-1.000000×10⁻⁰⁷"),
            ("%e", f64::NEG_INFINITY, "    -∞"),
        ] {
            assert_eq!(format(template, &[Value::Double(value)]).as_deref(), Ok(text), "{template} {value}");
        }
        assert_eq!(format("%f", &[Value::string("NaN")]).as_deref(), Ok("NaN"));
        let refused =
            "error during formatting: fixed-point clause can only be used on doubles, was given int"
                .to_owned();
        assert_eq!(format("%f", &[Value::Int(1)]), Err(refused));
    }

    #[test]
    fn format_prints_nested_values_as_cel_literals() {
        let list = Value::list(vec![
            Value::string("a\"b"),
            Value::Double(1.5),
            Value::Duration(1_500_000_000),
            Value::Null,
            Value::list(vec![Value::Int(1)]),
        ]);
        let text = r#"["a\"b", 1.500000, duration("1.5s"), null, [1]]"#;
        assert_eq!(format("%s", &[list]).as_deref(), Ok(text));
        let map = [(Key::Int(10), Value::string("b")), (Key::Int(2), Value::string("a"))].into();
        assert_eq!(format("%s", &[Value::map(map)]).as_deref(), Ok(r#"{10:"b", 2:"a"}"#));
    }

    #[test]
    fn format_reports_invalid_clauses() {
        for (template, fault) in [
            ("%", "unexpected end of string"),
            ("%d %d", "index 1 out of range"),
            ("%z", "could not parse formatting clause: unrecognized formatting clause \"z\""),
            (
                "%.f",
                "could not parse formatting clause: error while parsing precision: error while converting precision to integer: strconv.Atoi: parsing \"\": invalid syntax",
            ),
            (
                "%.2",
                "could not parse formatting clause: error while parsing precision: could not find end of precision specifier",
            ),
        ] {
            assert_eq!(format(template, &[Value::Int(1)]), Err(fault.to_owned()), "{template}");
        }
    }
}
