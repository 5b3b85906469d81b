//! String formats that an API server checks in custom resources.

use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::LazyLock;

use regex_automata::meta::Regex;

use crate::schema::Schema;
use kubesmith_apimachinery::golang;

/// Formats as the server normalises their names: without dashes.
/// Source: the table of supported formats of apiextensions-apiserver 1.36.
const KNOWN: &[&str] = &[
    "bsonobjectid",
    "uri",
    "email",
    "hostname",
    "ipv4",
    "ipv6",
    "cidr",
    "mac",
    "uuid",
    "uuid3",
    "uuid4",
    "uuid5",
    "isbn",
    "isbn10",
    "isbn13",
    "creditcard",
    "ssn",
    "hexcolor",
    "rgbcolor",
    "byte",
    "password",
    "date",
    "duration",
    "datetime",
    "k8sshortname",
    "k8slongname",
];

/// Reports whether the server checks a format of strings.
#[must_use]
pub fn is_known(format: &str) -> bool {
    KNOWN.contains(&normalised(format).as_str())
}

/// Reports whether the server checks the format of a schema, given its type.
#[must_use]
pub fn applies(schema: &Schema) -> bool {
    let format = schema.format_name();
    match schema.type_name() {
        _ if schema.int_or_string => is_known(format),
        "" | "string" => is_known(format),
        "integer" => matches!(format, "int32" | "int64"),
        "number" => matches!(format, "float" | "double"),
        _ => false,
    }
}

fn normalised(format: &str) -> String {
    format.replace('-', "")
}

/// Reports whether a string has a format; unknown formats accept everything.
#[must_use]
pub fn validates(format: &str, text: &str) -> bool {
    match normalised(format).as_str() {
        "bsonobjectid" => text.len() == 24 && text.bytes().all(|b| b.is_ascii_hexdigit()),
        "uri" => is_request_uri(text),
        "email" => is_email(text),
        "hostname" => is_hostname(text),
        "ipv4" => is_ipv4(text),
        "ipv6" => is_ipv6(text),
        "cidr" => is_cidr(text),
        "mac" => is_mac(text),
        "uuid" => is_uuid(text, None, false),
        "uuid3" => is_uuid(text, Some(b'3'), false),
        "uuid4" => is_uuid(text, Some(b'4'), true),
        "uuid5" => is_uuid(text, Some(b'5'), true),
        "isbn" => is_isbn10(text) || is_isbn13(text),
        "isbn10" => is_isbn10(text),
        "isbn13" => is_isbn13(text),
        "creditcard" => is_credit_card(text),
        // Only with its separators (`IsSSN` of govalidator).
        "ssn" => text.len() == 11 && SSN.is_match(text),
        "hexcolor" => HEX_COLOR.is_match(text),
        "rgbcolor" => RGB_COLOR.is_match(text),
        "byte" => is_base64(text),
        "date" => parse_date(text).is_some(),
        "datetime" => is_date_time(text),
        "duration" => parse_duration(text).is_some(),
        "k8sshortname" => text.len() <= 63 && SHORT_NAME.is_match(text),
        "k8slongname" => text.len() <= 253 && LONG_NAME.is_match(text),
        _ => true,
    }
}

macro_rules! regexes {
    ($($name:ident = $pattern:expr;)*) => {
        $(
            static $name: LazyLock<Regex> = LazyLock::new(|| Regex::new($pattern).expect("a valid literal"));
        )*
        #[cfg(test)]
        fn all_regexes() -> Vec<&'static Regex> { vec![$(&*$name),*] }
    };
}

regexes! {
    HOSTNAME = r"^([a-zA-Z0-9\p{S}\p{L}]((-?[a-zA-Z0-9\p{S}\p{L}]{0,62})?)|([a-zA-Z0-9\p{S}\p{L}](([a-zA-Z0-9\-\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?)(\.)){1,}([a-zA-Z\p{L}]){2,63})$";
    SSN = r"^[0-9]{3}[- ]?[0-9]{2}[- ]?[0-9]{4}$";
    HEX_COLOR = "^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$";
    RGB_COLOR = r"^rgb\(\s*(0|[1-9][0-9]?|1[0-9][0-9]?|2[0-4][0-9]|25[0-5])\s*,\s*(0|[1-9][0-9]?|1[0-9][0-9]?|2[0-4][0-9]|25[0-5])\s*,\s*(0|[1-9][0-9]?|1[0-9][0-9]?|2[0-4][0-9]|25[0-5])\s*\)$";
    CREDIT_CARD = r"^(?:4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|6(?:011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}|3(?:0[0-5]|[68][0-9])[0-9]{11}|(?:2131|1800|35[0-9]{3})[0-9]{11})$";
    BASE64 = r"^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$";
    SHORT_NAME = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$";
    LONG_NAME = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$";
    EMAIL = r#"^(?:[^<>]*<)?\s*([A-Za-z0-9!#$%&'*+/=?^_`{|}~\-\u{80}-\u{10FFFF}]+(\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~\-\u{80}-\u{10FFFF}]+)*|"[^"]*")@([A-Za-z0-9!#$%&'*+/=?^_`{|}~\-\u{80}-\u{10FFFF}]+(\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~\-\u{80}-\u{10FFFF}]+)*|\[[^\]]+\])\s*>?$"#;
    TIME = r"^([0-1][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](.[0-9]+)?(z|([+-][0-9]{2}:[0-9]{2}))$";
    DURATION_PARTS = r"([0-9]+)[\t\n\x0C\r ]*([A-Za-zµ]+)";
}

fn is_email(text: &str) -> bool {
    let open = text.contains('<');
    open == text.ends_with('>') && EMAIL.is_match(text)
}

fn is_hostname(text: &str) -> bool {
    text.len() <= 255 && HOSTNAME.is_match(text) && text.split('.').all(|part| part.len() <= 63)
}

/// Like Go's net/url.ParseRequestURI: an absolute URI or an absolute path.
fn is_request_uri(text: &str) -> bool {
    if text.is_empty() || text.chars().any(|c| c.is_ascii_control()) || text.contains(' ') {
        return false;
    }
    if text.starts_with('/') {
        return has_good_escapes(text);
    }
    let Some((scheme, rest)) = text.split_once(':') else { return false };
    let good_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'));
    good_scheme && !rest.is_empty() && has_good_escapes(rest)
}

fn has_good_escapes(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.iter().enumerate().filter(|(_, b)| **b == b'%').all(|(i, _)| {
        bytes.get(i + 1).is_some_and(u8::is_ascii_hexdigit)
            && bytes.get(i + 2).is_some_and(u8::is_ascii_hexdigit)
    })
}

/// Leading zeros are accepted, as in the server.
fn is_ipv4(text: &str) -> bool {
    let parts: Vec<&str> = text.split('.').collect();
    let plain = parts.len() == 4
        && parts.iter().all(|p| {
            !p.is_empty()
                && p.bytes().all(|b| b.is_ascii_digit())
                && p.trim_start_matches('0').len() <= 3
                && p.parse::<u32>().is_ok_and(|n| n < 256)
        });
    plain || (text.contains('.') && text.contains(':') && text.parse::<Ipv6Addr>().is_ok())
}

fn is_ipv6(text: &str) -> bool {
    text.contains(':') && text.parse::<Ipv6Addr>().is_ok()
}

fn is_cidr(text: &str) -> bool {
    let Some((address, bits)) = text.split_once('/') else { return false };
    let bits: Option<u32> = match bits.bytes().all(|b| b.is_ascii_digit()) {
        true => bits.parse().ok(),
        false => None,
    };
    let v4 = address.parse::<Ipv4Addr>().is_ok() || (is_ipv4(address) && !address.contains(':'));
    match bits {
        Some(bits) if v4 => bits <= 32,
        Some(bits) => bits <= 128 && is_ipv6(address),
        None => false,
    }
}

/// `net.ParseMAC` of Go 1.26: 6, 8 or 20 bytes, in pairs parted by colons or dashes, in fours parted by dots, or without
/// separators.
fn is_mac(text: &str) -> bool {
    let groups: Vec<&str> = match (text.as_bytes().get(2), text.as_bytes().get(4)) {
        (Some(b':'), _) => text.split(':').collect(),
        (Some(b'-'), _) => text.split('-').collect(),
        (_, Some(b'.')) => text.split('.').collect(),
        _ => vec![text],
    };
    let width = if groups.len() == 1 { text.len() } else { groups[0].len() };
    matches!(groups.len() * width, 12 | 16 | 40)
        && groups.iter().all(|g| g.len() == width && g.bytes().all(|b| b.is_ascii_hexdigit()))
}

fn is_uuid(text: &str, version: Option<u8>, variant: bool) -> bool {
    let mut hex = Vec::with_capacity(32);
    for part in text.bytes() {
        match part {
            b'-' if matches!(hex.len(), 8 | 12 | 16 | 20) => {}
            b if b.is_ascii_hexdigit() => hex.push(b.to_ascii_lowercase()),
            _ => return false,
        }
    }
    let single_dashes = !text.contains("--") && !text.ends_with('-');
    hex.len() == 32
        && single_dashes
        && version.is_none_or(|v| hex[12] == v)
        && (!variant || matches!(hex[16], b'8' | b'9' | b'a' | b'b'))
}

fn compact(text: &str) -> String {
    text.chars().filter(|c| !matches!(c, ' ' | '-')).collect()
}

fn is_isbn10(text: &str) -> bool {
    let digits = compact(text);
    let bytes = digits.as_bytes();
    if bytes.len() != 10 || !bytes[..9].iter().all(u8::is_ascii_digit) {
        return false;
    }
    let last = match bytes[9] {
        b'X' | b'x' => 10,
        b if b.is_ascii_digit() => u32::from(b - b'0'),
        _ => return false,
    };
    let sum: u32 = bytes[..9].iter().zip(1..).map(|(b, i)| i * u32::from(b - b'0')).sum();
    (sum + 10 * last).is_multiple_of(11)
}

fn is_isbn13(text: &str) -> bool {
    let digits = compact(text);
    let bytes = digits.as_bytes();
    if bytes.len() != 13 || !bytes.iter().all(u8::is_ascii_digit) {
        return false;
    }
    let sum: u32 = bytes[..12].iter().enumerate().map(|(i, b)| [1, 3][i % 2] * u32::from(b - b'0')).sum();
    (10 - sum % 10) % 10 == u32::from(bytes[12] - b'0')
}

fn is_credit_card(text: &str) -> bool {
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    if !CREDIT_CARD.is_match(&digits) {
        return false;
    }
    let sum: u32 = digits
        .bytes()
        .rev()
        .enumerate()
        .map(|(i, b)| match (i % 2, u32::from(b - b'0')) {
            (0, d) => d,
            (_, d) if d > 4 => d * 2 - 9,
            (_, d) => d * 2,
        })
        .sum();
    sum.is_multiple_of(10)
}

fn is_base64(text: &str) -> bool {
    BASE64.is_match(text)
}

fn parse_date(text: &str) -> Option<jiff::civil::Date> {
    let shaped = text.len() == 10 && text.as_bytes()[4] == b'-' && text.as_bytes()[7] == b'-';
    if shaped { text.parse().ok() } else { None }
}

/// `IsDateTime` of kube-openapi's validation/strfmt: as RFC 3339, but any sign begins a fraction, zones have any hour and
/// minute, and only the first two parts between the letters T count.
fn is_date_time(text: &str) -> bool {
    let lower = text.to_lowercase();
    let mut parts = lower.split('t');
    let (date, time) = (parts.next().and_then(parse_date), parts.next());
    date.is_some() && time.is_some_and(|time| TIME.is_match(time))
}

/// A duration of the format `duration`, in nanoseconds: Go's notation, or amounts with units anywhere in the text, such as
/// `2 weeks` or `P1DT2H`. Source: `ParseDuration` of kube-openapi's validation/strfmt.
#[must_use]
pub fn parse_duration(text: &str) -> Option<i64> {
    if let Ok(duration) = parse_go_duration(text) {
        return Some(duration);
    }
    let mut found = None;
    for part in DURATION_PARTS.captures_iter(text) {
        let group = |i| part.get_group(i).map(|group| &text[group.range()]);
        let amount: i64 = group(1)?.parse().ok()?;
        if let Some(unit) = group(2).and_then(|unit| long_unit(&unit.to_lowercase())) {
            found = Some(found.unwrap_or(0_i64).wrapping_add(amount.wrapping_mul(unit)));
        }
    }
    found
}

/// The nanoseconds of a unit: a short name, or anything that begins with the long one.
fn long_unit(unit: &str) -> Option<i64> {
    const SECOND: i64 = 1_000_000_000;
    let units: [(&[&str], &str, i64); 8] = [
        (&["ns"], "nano", 1),
        (&["us", "µs"], "micro", 1_000),
        (&["ms"], "milli", 1_000_000),
        (&["s"], "sec", SECOND),
        (&["m"], "min", 60 * SECOND),
        (&["h", "hr"], "hour", 3_600 * SECOND),
        (&["d"], "day", 86_400 * SECOND),
        (&["w", "wk"], "week", 604_800 * SECOND),
    ];
    let named = |(short, long, _): &&(&[&str], &str, i64)| short.contains(&unit) || unit.starts_with(long);
    units.iter().find(named).map(|(.., nanoseconds)| *nanoseconds)
}

/// A duration in Go's notation (`1h30m`, `1.5s`, `-300ms`), in nanoseconds.
///
/// # Errors
/// Returns the text of Go's `time.ParseDuration`.
pub fn parse_go_duration(text: &str) -> Result<i64, String> {
    let invalid = || format!("time: invalid duration {}", golang::quote(text));
    let (negative, mut rest) = match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    };
    if rest == "0" {
        return Ok(0);
    }
    if rest.is_empty() {
        return Err(invalid());
    }
    let mut total: i128 = 0;
    while !rest.is_empty() {
        let (amount, after) = amount_and_rest(text, rest)?;
        total = amount.and_then(|amount| total.checked_add(amount)).ok_or_else(invalid)?;
        if total > i128::from(i64::MAX) + i128::from(negative) {
            return Err(invalid());
        }
        rest = after;
    }
    i64::try_from(if negative { -total } else { total }).map_err(|_| invalid())
}

/// The first amount of a duration, in nanoseconds, and what follows; no amount if it is too large. `text` is the whole.
fn amount_and_rest<'t>(text: &str, rest: &'t str) -> Result<(Option<i128>, &'t str), String> {
    let shown = golang::quote(text);
    let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let (whole, tail) = rest.split_at(digits);
    let (fraction, tail) = match tail.strip_prefix('.') {
        Some(tail) => tail.split_at(tail.find(|c: char| !c.is_ascii_digit()).unwrap_or(tail.len())),
        None => ("", tail),
    };
    if whole.is_empty() && fraction.is_empty() {
        return Err(format!("time: invalid duration {shown}"));
    }
    let (unit, after) =
        tail.split_at(tail.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(tail.len()));
    if unit.is_empty() {
        return Err(format!("time: missing unit in duration {shown}"));
    }
    let Some(nanos) = unit_nanos(unit) else {
        return Err(format!("time: unknown unit {} in duration {shown}", golang::quote(unit)));
    };
    let whole: Option<i128> = if whole.is_empty() { Some(0) } else { whole.parse().ok() };
    let mut scale = nanos;
    let parts: i128 = fraction
        .bytes()
        .map(|digit| {
            scale /= 10;
            i128::from(digit - b'0') * scale
        })
        .sum();
    Ok((whole.and_then(|whole| whole.checked_mul(nanos)).and_then(|whole| whole.checked_add(parts)), after))
}

fn unit_nanos(unit: &str) -> Option<i128> {
    Some(match unit {
        "ns" => 1,
        "us" | "µs" | "μs" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_literal_pattern_compiles() {
        assert_eq!(all_regexes().len(), 11);
    }

    #[test]
    fn format_accepts_valid_and_refuses_invalid_values() {
        for (format, good, bad) in [
            ("date-time", "2020-01-02T03:04:05Z", "2020-01-02"),
            ("date-time", "2020-01-02T03:04:05.123+01:00", "2020-13-02T03:04:05Z"),
            ("date-time", "2020-01-02t03:04:05z", "2020-01-02T03:04:05"),
            ("date-time", "2020-01-02T03:04:05,5Z", "2020-01-02 03:04:05Z"),
            ("date-time", "2020-01-02T03:04:05+24:00", "2020-01-02T03:04:05+0100"),
            ("datetime", "2020-01-02T23:59:59Z", "2020-01-02T03:04:60Z"),
            ("date", "2020-02-29", "2021-02-29"),
            ("duration", "1h30m", "1x"),
            ("duration", "22 ns", ""),
            ("duration", "P1D", "P"),
            ("duration", "-P1DT2H", "PT"),
            ("duration", "1h-2m", "5"),
            ("email", "a@b.c", "a.b"),
            ("hostname", "a.example.com", "-a"),
            ("ipv4", "10.0.0.1", "10.0.0.256"),
            ("ipv6", "::1", "10.0.0.1"),
            ("cidr", "10.0.0.0/8", "10.0.0.0/33"),
            ("mac", "00:00:5e:00:53:01", "00:00:5e:00:53"),
            ("mac", "00005e005301", "00005e0053010"),
            ("mac", "0000.5e00.5301", "0000.5e00:5301"),
            ("uuid", "123e4567-e89b-12d3-a456-426614174000", "123"),
            ("uuid4", "123e4567-e89b-42d3-a456-426614174000", "123e4567-e89b-12d3-a456-426614174000"),
            ("uri", "https://a/b", "a b"),
            ("byte", "YWI=", "YWI"),
            ("isbn10", "0321751043", "0321751044"),
            ("isbn13", "978-0321751041", "978-0321751042"),
            ("creditcard", "4111 1111 1111 1111", "4111 1111 1111 1112"),
            ("ssn", "123-45-6789", "123456789"),
            ("hexcolor", "#FFFFFF", "#FFFFF"),
            ("rgbcolor", "rgb(1,2,3)", "rgb(1,2)"),
            ("bsonobjectid", "507f1f77bcf86cd799439011", "507f"),
            ("k8s-short-name", "a-b", "a.b"),
            ("k8s-long-name", "a.b", "a..b"),
        ] {
            assert!(is_known(format), "{format}");
            assert!(validates(format, good), "{format} {good}");
            assert!(!validates(format, bad), "{format} {bad}");
        }
        assert!(!is_known("made-up") && validates("made-up", "x"));
    }

    #[test]
    fn duration_reads_amounts_anywhere_in_the_text() {
        for (text, wanted) in [
            ("1h30m", Some(5_400_000_000_000)),
            ("P1D", Some(86_400_000_000_000)),
            ("p1dt2h", Some(7_200_000_000_000)),
            ("2 weeks", Some(1_209_600_000_000_000)),
            ("1h-2m", Some(3_720_000_000_000)),
            ("3 Seconds", Some(3_000_000_000)),
            ("99999999999999999999 days", None),
            ("P1Y", None),
            ("5", None),
        ] {
            assert_eq!(parse_duration(text), wanted, "{text}");
        }
    }

    #[test]
    fn go_duration_parses_to_nanoseconds() {
        assert_eq!(parse_go_duration("1.5h"), Ok(5_400_000_000_000));
        assert_eq!(parse_go_duration("-1m1s"), Ok(-61_000_000_000));
        // The texts are those of Go 1.26.
        for (bad, fault) in [
            ("", "invalid duration \"\""),
            ("1", "missing unit in duration \"1\""),
            ("1h5", "missing unit in duration \"1h5\""),
            ("s", "invalid duration \"s\""),
            ("5x", "unknown unit \"x\" in duration \"5x\""),
            ("1.2.3s", "missing unit in duration \"1.2.3s\""),
            ("99999999999999999999h", "invalid duration \"99999999999999999999h\""),
            ("-", "invalid duration \"-\""),
        ] {
            assert_eq!(parse_go_duration(bad).unwrap_err(), format!("time: {fault}"));
        }
    }
}
