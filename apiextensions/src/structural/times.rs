//! Times, parsed as Go's `time.Parse` does with the layouts of RFC 3339 (`parse` of Go's src/time/format.go).

use jiff::SignedDuration;
use jiff::civil::{Date, DateTime};
use serde_json::Value;

/// The layout of `metav1.Time`.
pub const SECONDS: &str = "2006-01-02T15:04:05Z07:00";
/// The layout of `metav1.MicroTime`.
pub const MICROSECONDS: &str = "2006-01-02T15:04:05.000000Z07:00";

/// Returns a time as Go writes it; null for the zero time.
///
/// # Errors
/// Returns Go's error.
pub fn canonical(text: &str, layout: &str) -> Result<Value, String> {
    let time = parse(text, layout)?;
    let format = if layout == MICROSECONDS { "%Y-%m-%dT%H:%M:%S.%6fZ" } else { "%Y-%m-%dT%H:%M:%SZ" };
    let is_zero = time == jiff::civil::date(1, 1, 1).at(0, 0, 0, 0);
    Ok(if is_zero { Value::Null } else { time.strftime(format).to_string().into() })
}

/// Returns the time in UTC.
///
/// # Errors
/// Go's error.
fn parse(text: &str, layout: &str) -> Result<DateTime, String> {
    let mut parser = Parser { text, layout, rest: text };
    let year = parser.year()?;
    parser.literal("-")?;
    let month = parser.number("01", 2, 1..=12, "month")?;
    parser.literal("-")?;
    let day = parser.number("02", 2, 0..=99, "day")?;
    parser.literal("T")?;
    let hour = parser.number("15", 1, 0..=23, "hour")?;
    parser.literal(":")?;
    let minute = parser.number("04", 2, 0..=59, "minute")?;
    parser.literal(":")?;
    let second = parser.number("05", 2, 0..=59, "second")?;
    let nanos = parser.fraction()?;
    let offset = parser.offset()?;
    if !parser.rest.is_empty() {
        return Err(parser.fault(&format!(": extra text: {:?}", parser.rest)));
    }
    let date = Date::new(year, month, day).map_err(|_| parser.fault(": day out of range"))?;
    let time = date.at(hour, minute, second, nanos);
    time.checked_sub(offset).map_err(|_| parser.fault(": year out of range"))
}

struct Parser<'a> {
    text: &'a str,
    layout: &'a str,
    rest: &'a str,
}

impl<'a> Parser<'a> {
    fn refused(&self, rest: &str, part: &str) -> String {
        let Self { text, layout, .. } = self;
        format!("parsing time {text:?} as {layout:?}: cannot parse {rest:?} as {part:?}")
    }

    fn fault(&self, why: &str) -> String {
        format!("parsing time {:?}{why}", self.text)
    }

    /// How many digits follow at `from`.
    fn digits(&self, from: usize) -> usize {
        self.rest.bytes().skip(from).take_while(u8::is_ascii_digit).count()
    }

    fn take(&mut self, count: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(count);
        self.rest = rest;
        taken
    }

    fn literal(&mut self, literal: &str) -> Result<(), String> {
        self.rest = self.rest.strip_prefix(literal).ok_or_else(|| self.refused(self.rest, literal))?;
        Ok(())
    }

    fn year(&mut self) -> Result<i16, String> {
        if self.digits(0) < 4 {
            return Err(self.refused(self.rest, "2006"));
        }
        Ok(self.take(4).parse().unwrap_or_default())
    }

    /// Reads one or two digits, at least `least`.
    fn number(
        &mut self,
        part: &str,
        least: usize,
        range: std::ops::RangeInclusive<i8>,
        name: &str,
    ) -> Result<i8, String> {
        let count = self.digits(0).min(2);
        if count < least {
            return Err(self.refused(self.rest, part));
        }
        let number = self.take(count).parse().unwrap_or_default();
        if range.contains(&number) { Ok(number) } else { Err(self.fault(&format!(": {name} out of range"))) }
    }

    /// Reads a fraction, which only one layout requires: exactly six digits then.
    fn fraction(&mut self) -> Result<i32, String> {
        let digits = if self.rest.starts_with(['.', ',']) { self.digits(1) } else { 0 };
        let count = match (self.layout == MICROSECONDS, digits) {
            (true, 0..6) => return Err(self.refused(self.rest, ".000000")),
            (true, _) => 6,
            (false, 0) => return Ok(0),
            (false, digits) => digits,
        };
        let taken = self.take(1 + count);
        Ok(format!("{:0<9.9}", &taken[1..]).parse().unwrap_or_default())
    }

    fn offset(&mut self) -> Result<SignedDuration, String> {
        if let Some(rest) = self.rest.strip_prefix('Z') {
            self.rest = rest;
            return Ok(SignedDuration::ZERO);
        }
        let refused = self.refused(self.rest, "Z07:00");
        let bytes = self.rest.as_bytes();
        let [sign @ (b'+' | b'-'), h1, h2, b':', m1, m2, ..] = bytes else { return Err(refused) };
        let number = |tens: &u8, ones: &u8| -> Option<i64> {
            let digit = |byte: &u8| byte.is_ascii_digit().then(|| i64::from(byte - b'0'));
            Some(digit(tens)? * 10 + digit(ones)?)
        };
        let (Some(hours), Some(minutes)) = (number(h1, h2), number(m1, m2)) else { return Err(refused) };
        let sign = if *sign == b'-' { -1 } else { 1 };
        self.take(6);
        // Some people write offsets of 24 hours or 60 minutes.
        for (number, greatest, name) in [(hours, 24, "hour"), (minutes, 60, "minute")] {
            if number > greatest {
                return Err(self.fault(&format!(": time zone offset {name} out of range")));
            }
        }
        Ok(SignedDuration::from_secs(sign * (hours * 60 + minutes) * 60))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The answers of kube-apiserver 1.36.2.
    #[test]
    fn times_are_parsed_as_in_go() {
        for (text, expected) in [
            ("2020-01-01T00:00:00Z", Ok("2020-01-01T00:00:00")),
            ("2020-01-01T0:00:00Z", Ok("2020-01-01T00:00:00")),
            ("2020-01-01T00:00:00,5Z", Ok("2020-01-01T00:00:00.5")),
            ("2020-01-01T00:00:00.1234567891Z", Ok("2020-01-01T00:00:00.123456789")),
            ("2020-01-01T00:00:00+24:00", Ok("2019-12-31T00:00:00")),
            ("2020-01-01T00:00:00+01:60", Ok("2019-12-31T22:00:00")),
            ("9999-12-31T23:59:59Z", Ok("9999-12-31T23:59:59")),
            ("2020-01-01 00:00:00Z", Err((" 00:00:00Z", "T"))),
            ("2020-01-01t00:00:00z", Err(("t00:00:00z", "T"))),
            ("2020-01-01T00:00Z", Err(("Z", ":"))),
            ("20200101T000000Z", Err(("0101T000000Z", "-"))),
            ("2020-01-01T00:00:00", Err(("", "Z07:00"))),
            ("2020-01-01T00:00:00+0100", Err(("+0100", "Z07:00"))),
            ("2020-1-1T00:00:00Z", Err(("1-1T00:00:00Z", "01"))),
            ("2020-01-01T00:00:00.Z", Err((".Z", "Z07:00"))),
            ("10000-01-01T00:00:00Z", Err(("0-01-01T00:00:00Z", "-"))),
            ("+002020-01-01T00:00:00Z", Err(("+002020-01-01T00:00:00Z", "2006"))),
            ("2020-01-01T00:00:5Z", Err(("5Z", "05"))),
            ("x", Err(("x", "2006"))),
        ] {
            let parsed = parse(text, SECONDS).map(|time| time.to_string());
            let expected = expected.map(str::to_owned).map_err(|(rest, part)| {
                format!("parsing time {text:?} as {SECONDS:?}: cannot parse {rest:?} as {part:?}")
            });
            assert_eq!(parsed, expected);
        }
        for (text, expected) in [
            ("2020-01-01T00:00:00+01:00[Europe/Paris]", "extra text: \"[Europe/Paris]\""),
            ("2020-01-01T24:00:00Z", "hour out of range"),
            ("2020-01-01T00:00:60Z", "second out of range"),
            ("2020-01-01T00:61:00Z", "minute out of range"),
            ("2020-02-30T00:00:00Z", "day out of range"),
            ("2020-01-00T00:00:00Z", "day out of range"),
            ("2020-13-01T00:00:00Z", "month out of range"),
            ("2020-01-01T00:00:00+25:00", "time zone offset hour out of range"),
        ] {
            assert_eq!(parse(text, SECONDS).unwrap_err(), format!("parsing time {text:?}: {expected}"));
        }
        let micro = |text: &str| parse(text, MICROSECONDS);
        assert!(micro("2020-01-01T00:00:00,123456Z").is_ok());
        assert!(
            micro("2020-01-01T00:00:00.5Z").unwrap_err().ends_with("cannot parse \".5Z\" as \".000000\"")
        );
        assert!(
            micro("2020-01-01T00:00:00.1234567Z").unwrap_err().ends_with("cannot parse \"7Z\" as \"Z07:00\"")
        );
        assert!(micro("2020-01-01T00:00:00Z").unwrap_err().ends_with("cannot parse \"Z\" as \".000000\""));
    }
}
