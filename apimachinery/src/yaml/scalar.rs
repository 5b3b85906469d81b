//! The meaning of unquoted scalars in YAML 1.1, as goyaml reads them for kubectl and API servers.
//!
//! Readers of YAML 1.2 take some of these for strings: `yes`, `0777`, `1_000`. The writer quotes such strings for readers of 1.1,
//! and the reader gives them their meaning in 1.1.

use serde_json::{Number, Value};

use crate::golang;

/// The meaning of an unquoted scalar.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scalar {
    /// `~`, `null` or an empty scalar.
    Null,
    /// `true`, `yes`, `on`, `y` and their opposites.
    Bool(bool),
    /// An integer in any base.
    Integer(i64),
    /// An integer beyond `i64`.
    Unsigned(u64),
    /// Another number; JSON lacks infinity and NaN.
    Float(f64),
    /// A date, perhaps with a time, which becomes a string in JSON.
    Time,
    /// A string.
    Text,
}

impl Scalar {
    /// Returns the meaning of an unquoted text.
    #[must_use]
    pub fn of(text: &str) -> Scalar {
        if let Some(word) = word(text) {
            return word;
        }
        match text.as_bytes().first() {
            Some(b'.') => dotted(text).map_or(Scalar::Text, Scalar::Float),
            Some(b'+' | b'-' | b'0'..=b'9') if is_timestamp(text) => Scalar::Time,
            Some(b'+' | b'-' | b'0'..=b'9') => number(text),
            _ => Scalar::Text,
        }
    }

    /// Returns the JSON of an unquoted text; `None` if JSON has no such number.
    #[must_use]
    pub fn json(text: &str) -> Option<Value> {
        match Scalar::of(text) {
            Scalar::Null => Some(Value::Null),
            Scalar::Bool(value) => Some(value.into()),
            Scalar::Integer(value) => Some(value.into()),
            Scalar::Unsigned(value) => Some(value.into()),
            Scalar::Float(value) => json_number(value).map(Value::Number),
            Scalar::Time | Scalar::Text => Some(text.into()),
        }
    }
}

/// The text before a scalar that a parser borrowed from its source; `None` for one that it copied, which lies outside.
fn before<'s>(source: &'s str, scalar: &str) -> Option<&'s str> {
    let start = (scalar.as_ptr() as usize).checked_sub(source.as_ptr() as usize)?;
    let is_within = start.checked_add(scalar.len()).is_some_and(|end| end <= source.len());
    source.get(..start).filter(|_| is_within)
}

/// Returns the start of a scalar that a parser borrowed from its source, in bytes; `None` for one that it copied.
pub(super) fn offset_of(source: &str, scalar: &str) -> Option<usize> {
    before(source, scalar).map(str::len)
}

/// Reports whether a scalar that a parser borrowed from its source has neither quotes nor a tag there. If so, YAML 1.1
/// may give it another meaning than the string that a parser of YAML 1.2 found.
#[must_use]
pub fn is_plain(source: &str, scalar: &str) -> bool {
    let Some(mut before) = before(source, scalar) else { return false };
    if before.ends_with(['"', '\'']) {
        return false;
    }
    loop {
        before = before.trim_end();
        let word = before.rfind(|c: char| c.is_whitespace() || "[{,".contains(c)).map_or(0, |at| at + 1);
        match before.as_bytes().get(word) {
            Some(b'!') => return false,
            // A tag may stand before an anchor.
            Some(b'&') => before = &before[..word],
            _ => return true,
        }
    }
}

/// A float after a round trip through JSON in Go, where `1e3` and `1.0` become integers; `None` if JSON has no such number.
#[must_use]
pub fn json_number(value: f64) -> Option<Number> {
    // From here on Go writes an exponent, and reads a float again.
    const EXPONENT_FROM: f64 = 1e21;
    if value.fract() == 0.0 && value.abs() < EXPONENT_FROM {
        #[expect(clippy::cast_possible_truncation, reason = "it is whole, and small enough")]
        let whole = value as i128;
        // Go pads the shortest digits with zeros; they are not the digits of the exact value.
        let digits = format!("{value}").parse::<i128>().unwrap_or(whole);
        if let Ok(small) = i64::try_from(digits) {
            return Some(small.into());
        }
    }
    Number::from_f64(value)
}

/// A float as the key of a map: sigs.k8s.io/yaml rounds it to 32 bits.
#[must_use]
pub(super) fn float_key(value: f64) -> String {
    #[expect(clippy::cast_possible_truncation, reason = "that is the rounding")]
    let rounded = value as f32;
    match rounded {
        f32::INFINITY => ".inf".to_owned(),
        f32::NEG_INFINITY => "-.inf".to_owned(),
        _ if rounded.is_nan() => ".nan".to_owned(),
        _ => golang::float(rounded.to_string().parse().unwrap_or(value)),
    }
}

fn word(text: &str) -> Option<Scalar> {
    Some(match text {
        "" | "~" | "null" | "Null" | "NULL" => Scalar::Null,
        "y" | "Y" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" | "true" | "True" | "TRUE" => {
            Scalar::Bool(true)
        }
        "n" | "N" | "no" | "No" | "NO" | "off" | "Off" | "OFF" | "false" | "False" | "FALSE" => {
            Scalar::Bool(false)
        }
        ".nan" | ".NaN" | ".NAN" => Scalar::Float(f64::NAN),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => Scalar::Float(f64::INFINITY),
        "-.inf" | "-.Inf" | "-.INF" => Scalar::Float(f64::NEG_INFINITY),
        _ => return None,
    })
}

/// Reports whether a reader of YAML 1.1 interprets the unquoted text as something other than a string. Base-60 numbers
/// count too: goyaml does not read them, but quotes them.
#[must_use]
pub fn reads_as_other_than_string(text: &str) -> bool {
    Scalar::of(text) != Scalar::Text || is_base_60(text)
}

/// Go's `strconv.ParseFloat` on text that begins with a dot; underscores may stand between digits.
fn dotted(text: &str) -> Option<f64> {
    let fits = text.bytes().all(|b| b.is_ascii_digit() || b"+-.eE_".contains(&b));
    let ends_in_digit = |part: &str| part.ends_with(|c: char| c.is_ascii_digit());
    let begins_with_digit = |part: &str| part.starts_with(|c: char| c.is_ascii_digit());
    let mut parts = text.split('_').peekable();
    while let (Some(part), Some(next)) = (parts.next(), parts.peek()) {
        if !ends_in_digit(part) || !begins_with_digit(next) {
            return None;
        }
    }
    text.replace('_', "").parse().ok().filter(|value: &f64| fits && value.is_finite())
}

/// A number that begins with a sign or a digit.
fn number(text: &str) -> Scalar {
    let text: String = text.chars().filter(|&c| c != '_').collect();
    integer(&text)
        .or_else(|| float(&text).map(Scalar::Float))
        .or_else(|| binary(&text))
        .unwrap_or(Scalar::Text)
}

/// Go's `strconv.ParseInt(text, 0, 64)` or `ParseUint`, which takes no sign.
fn integer(text: &str) -> Option<Scalar> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let lower = digits.to_ascii_lowercase();
    let (radix, digits) = match lower.as_bytes() {
        [b'0', b'x', ..] => (16, &lower[2..]),
        [b'0', b'b', ..] => (2, &lower[2..]),
        [b'0', b'o', ..] => (8, &lower[2..]),
        [b'0', _, ..] => (8, &lower[1..]),
        _ => (10, lower.as_str()),
    };
    if !digits.bytes().all(|b| b.is_ascii_alphanumeric()) {
        return None;
    }
    let value = u64::from_str_radix(digits, radix).ok()?;
    match text.as_bytes().first() {
        Some(b'-') => 0_i64.checked_sub_unsigned(value).map(Scalar::Integer),
        sign => match i64::try_from(value) {
            Ok(small) => Some(Scalar::Integer(small)),
            Err(_) => (sign != Some(&b'+')).then_some(Scalar::Unsigned(value)),
        },
    }
}

/// goyaml reads a sign after `0b`, too.
fn binary(text: &str) -> Option<Scalar> {
    let digits = text.strip_prefix("0b").filter(|digits| digits.starts_with(['-', '+']))?;
    i64::from_str_radix(digits, 2).ok().map(Scalar::Integer)
}

/// `[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?`, if the value is finite.
fn float(text: &str) -> Option<f64> {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let mantissa_fits = match mantissa.split_once('.') {
        Some(("", fraction)) => digits(fraction),
        Some((whole, fraction)) => digits(whole) && (fraction.is_empty() || digits(fraction)),
        None => digits(mantissa),
    };
    let exponent_fits = exponent.is_none_or(|e| digits(e.strip_prefix(['-', '+']).unwrap_or(e)));
    text.parse().ok().filter(|value: &f64| mantissa_fits && exponent_fits && value.is_finite())
}

/// A base-60 number of YAML 1.1, such as `1:30`: `[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?`.
fn is_base_60(text: &str) -> bool {
    let text = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let mut parts = whole.split(':');
    let first = parts.next().unwrap_or("");
    let first_fits = first.starts_with(|c: char| c.is_ascii_digit())
        && first.bytes().all(|b| b.is_ascii_digit() || b == b'_');
    let mut rest = parts.peekable();
    let has_rest = rest.peek().is_some();
    let rest_fits = rest.all(|part| match part.as_bytes() {
        [digit] => digit.is_ascii_digit(),
        [b'0'..=b'5', digit] => digit.is_ascii_digit(),
        _ => false,
    });
    first_fits && has_rest && rest_fits && fraction.bytes().all(|b| b.is_ascii_digit() || b == b'_')
}

/// The date and time forms that goyaml reads as a timestamp, by Go's `time.Parse`.
fn is_timestamp(text: &str) -> bool {
    let Some((year, rest)) = text.split_at_checked(4) else { return false };
    let (Ok(year), Some(rest)) = (year.parse::<u16>(), rest.strip_prefix('-')) else { return false };
    let Some((month, rest)) = number_below(rest, 13) else { return false };
    let Some((day, rest)) = rest.strip_prefix('-').and_then(|rest| number_below(rest, 32)) else {
        return false;
    };
    let is_date = month > 0 && day > 0 && day <= days(year, month);
    is_date && (rest.is_empty() || is_time(rest))
}

fn days(year: u16, month: u8) -> u8 {
    let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    match month {
        2 => 28 + u8::from(is_leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// A time after a `T`, with a zone, or after spaces, without one.
fn is_time(text: &str) -> bool {
    let (clock, has_zone) = match text.strip_prefix(['T', 't']) {
        Some(clock) => (clock, true),
        None => (text.trim_start_matches(' '), false),
    };
    if clock.len() == text.len() {
        return false;
    }
    let part = |text, below| number_below(text, below).map(|(_, rest)| rest);
    let seconds = part(clock, 24)
        .and_then(|rest| part(rest.strip_prefix(':')?, 60))
        .and_then(|rest| part(rest.strip_prefix(':')?, 60));
    let Some(rest) = seconds.map(without_fraction) else { return false };
    if has_zone { is_zone(rest) } else { rest.is_empty() }
}

/// A number of one or two digits, and the text after it.
fn number_below(text: &str, below: u8) -> Option<(u8, &str)> {
    let digits = text.bytes().take(2).take_while(u8::is_ascii_digit).count();
    let (number, rest) = text.split_at(digits);
    number.parse().ok().filter(|number| *number < below).map(|number| (number, rest))
}

fn without_fraction(text: &str) -> &str {
    let rest = text.strip_prefix(['.', ',']).unwrap_or(text);
    let behind = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    if behind.len() == rest.len() { text } else { behind }
}

fn is_zone(text: &str) -> bool {
    let two = |text: &[u8], most: u8| {
        text.iter().all(u8::is_ascii_digit) && (text[0] - b'0') * 10 + (text[1] - b'0') <= most
    };
    match text.as_bytes() {
        b"Z" => true,
        [b'+' | b'-', hours @ .., b':', a, b] if hours.len() == 2 => two(hours, 24) && two(&[*a, *b], 60),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn unquoted_scalar_has_its_meaning_in_goyaml() {
        for (text, value) in [
            ("", json!(null)),
            ("~", json!(null)),
            ("yes", json!(true)),
            ("N", json!(false)),
            ("Off", json!(false)),
            ("oN", json!("oN")),
            ("0777", json!(511)),
            ("0o17", json!(15)),
            ("0X1f", json!(31)),
            ("-0b11", json!(-3)),
            ("0b+1", json!(1)),
            ("1_000", json!(1000)),
            ("+5", json!(5)),
            ("-0", json!(0)),
            ("08", json!(8)),
            ("09.5", json!(9.5)),
            ("1e3", json!(1000)),
            ("1.", json!(1)),
            (".5", json!(0.5)),
            (".5_5", json!(0.55)),
            ("._5", json!("._5")),
            ("1e400", json!("1e400")),
            ("1e21", json!(1e21)),
            ("18446744073709551615", json!(u64::MAX)),
            ("+18446744073709551615", json!(18_446_744_073_709_551_615.0)),
            ("-9223372036854775808", json!(i64::MIN)),
            ("1:30", json!("1:30")),
            ("2001-01-01", json!("2001-01-01")),
            ("0x", json!("0x")),
            ("<<", json!("<<")),
        ] {
            assert_eq!(Scalar::json(text), Some(value), "{text}");
        }
        assert_eq!(Scalar::json(".inf"), None);
        assert_eq!(Scalar::json(".NaN"), None);
    }

    #[test]
    fn float_key_is_rounded_to_32_bits() {
        for (value, name) in
            [(1.5, "1.5"), (1e21, "1e+21"), (0.1, "0.1"), (1e-7, "1e-07"), (1e90, ".inf"), (-0.0, "-0")]
        {
            assert_eq!(float_key(value), name);
        }
    }

    #[test]
    fn quoted_or_tagged_scalar_is_not_plain() {
        let source = "a: yes\nb: \"no\"\nc: !!str on\nd: &x off\ne: !!str &y 'n'\nf: [!!str &z y,N]";
        let is = |word: &str| is_plain(source, &source[source.find(word).unwrap()..][..word.len()]);
        assert!(is("yes") && is("off") && is("N"));
        assert!(!is("no") && !is("on") && !is("n'") && !is("y,"));
        assert!(!is_plain(source, "yes"));
    }

    #[test]
    fn date_is_a_timestamp_exactly_when_go_parses_it() {
        for date in [
            "2001-1-1",
            "2000-02-29",
            "2001-12-14t21:59:43.10-05:00",
            "2001-12-14T1:2:3Z",
            "2001-12-14  1:2:3",
            "2001-12-14 01:02:03,5",
        ] {
            assert_eq!(Scalar::of(date), Scalar::Time, "{date}");
        }
        for text in [
            "2001-02-29",
            "2001-9-31",
            "2001-13-1",
            "2001-0-1",
            "2001-1-1T24:0:0Z",
            "2001-1-1T1:2:3",
            "2001-1-1 1:2:3Z",
            "2001-1-1 1:2:60",
            "2001-1-1 1:2:3.",
            "2001-1-1 ",
            "201-1-1",
            "2001-1-1T1:2:3+1:00",
        ] {
            assert_eq!(Scalar::of(text), Scalar::Text, "{text}");
        }
    }
}
