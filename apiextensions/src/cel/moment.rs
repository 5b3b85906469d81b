//! Timestamps as in Go's `time`: years 1 to 9999, nanoseconds, and the offset of the text that was parsed.

use std::cmp::Ordering;

use jiff::Timestamp;
use jiff::civil::{Date, date};
use jiff::tz::TimeZone;

/// A timestamp. The offset appears only in text: timestamps with different offsets can be equal.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment {
    /// The seconds since the epoch, rounded down.
    seconds: i64,
    nanos: u32,
    /// The offset from UTC in seconds.
    offset: i64,
}

/// The first second of the year 1, and the last one of the year 9999.
const RANGE: std::ops::RangeInclusive<i64> = -62_135_596_800..=253_402_300_799;
const EPOCH: Date = date(1970, 1, 1);
const DAY: i64 = 86_400;
const SECOND: i128 = 1_000_000_000;

impl PartialEq for Moment {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Moment {}

impl PartialOrd for Moment {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Moment {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.seconds, self.nanos).cmp(&(other.seconds, other.nanos))
    }
}

/// Reads a text from start to end.
struct Reader<'t> {
    rest: &'t str,
}

impl<'t> Reader<'t> {
    /// Between `least` and `most` digits.
    fn digits(&mut self, least: usize, most: usize) -> Option<&'t str> {
        let end = self.rest.bytes().take(most).take_while(u8::is_ascii_digit).count();
        let (digits, rest) = self.rest.split_at(end);
        self.rest = rest;
        (end >= least).then_some(digits)
    }

    /// A number of two digits, at most `most`.
    fn pair(&mut self, least_digits: usize, max: i64) -> Option<i64> {
        self.digits(least_digits, 2)?.parse().ok().filter(|number| *number <= max)
    }

    fn expect(&mut self, text: &str) -> Option<()> {
        self.rest = self.rest.strip_prefix(text)?;
        Some(())
    }

    /// A fraction of a second in nanoseconds. Digits after the ninth are ignored.
    fn fraction(&mut self) -> Option<u32> {
        let after =
            self.rest.strip_prefix(['.', ',']).filter(|t| t.starts_with(|c: char| c.is_ascii_digit()));
        let Some(after) = after else { return Some(0) };
        self.rest = after;
        let digits = self.digits(1, usize::MAX)?;
        format!("{:0<9}", &digits[..digits.len().min(9)]).parse().ok()
    }

    /// `Z` or an offset. Go accepts offsets up to 24 hours and 60 minutes.
    fn offset(&mut self) -> Option<i64> {
        if self.expect("Z").is_some() {
            return Some(0);
        }
        let sign = if self.expect("-").is_some() { -1 } else { self.expect("+").map(|()| 1)? };
        let hours = self.pair(2, 24)?;
        self.expect(":")?;
        Some(sign * (hours * 3600 + self.pair(2, 60)? * 60))
    }
}

impl Moment {
    /// A timestamp in RFC 3339, as Go's `time.Parse` reads it: hours may have one digit, fractions may follow a comma.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut reader = Reader { rest: text };
        let year = reader.digits(4, 4)?.parse().ok()?;
        reader.expect("-")?;
        let month = reader.digits(2, 2)?.parse().ok()?;
        reader.expect("-")?;
        let day = Date::new(year, month, reader.digits(2, 2)?.parse().ok()?).ok()?;
        reader.expect("T")?;
        let hours = reader.pair(1, 23)?;
        reader.expect(":")?;
        let minutes = reader.pair(2, 59)?;
        reader.expect(":")?;
        let seconds = reader.pair(2, 59)?;
        let nanos = reader.fraction()?;
        let offset = reader.offset()?;
        let days = i64::from(EPOCH.until(day).ok()?.get_days());
        let seconds = days * DAY + hours * 3600 + minutes * 60 + seconds - offset;
        let moment = Self { seconds, nanos, offset };
        (reader.rest.is_empty() && RANGE.contains(&seconds)).then_some(moment)
    }

    /// Seconds since the epoch.
    pub(super) fn from_seconds(seconds: i64) -> Option<Self> {
        RANGE.contains(&seconds).then_some(Self { seconds, nanos: 0, offset: 0 })
    }

    /// Seconds since the epoch, rounded down.
    pub(super) fn seconds(self) -> i64 {
        self.seconds
    }

    /// Reports whether it is Go's zero time.
    pub(super) fn is_first(self) -> bool {
        (self.seconds, self.nanos) == (*RANGE.start(), 0)
    }

    /// Nanoseconds since the epoch.
    pub(super) fn nanoseconds(self) -> i128 {
        i128::from(self.seconds) * SECOND + i128::from(self.nanos)
    }

    /// The timestamp this many nanoseconds later.
    pub(super) fn plus(self, nanos: i128) -> Option<Self> {
        let total = self.nanoseconds().checked_add(nanos)?;
        let seconds = i64::try_from(total.div_euclid(SECOND)).ok().filter(|s| RANGE.contains(s))?;
        Some(Self { seconds, nanos: u32::try_from(total.rem_euclid(SECOND)).ok()?, offset: self.offset })
    }

    /// The date, the second of the day and the nanoseconds at an offset; `None` after the year 9999.
    pub(super) fn parts(self, offset: i64) -> Option<(Date, i64, u32)> {
        let local = self.seconds.checked_add(offset)?;
        let days = i32::try_from(local.div_euclid(DAY)).ok()?;
        let date = EPOCH.checked_add(jiff::Span::new().try_days(days).ok()?).ok()?;
        Some((date, local.rem_euclid(DAY), self.nanos))
    }

    /// The offset from UTC, in seconds, of a time zone or of an offset such as `-02:30` at this time.
    pub(super) fn offset_in(self, zone: &str) -> Result<i64, String> {
        let Some((hours, minutes)) = zone.split_once(':') else { return self.named_offset(zone) };
        let number = |text: &str| {
            let fault = || {
                format!(
                    "strconv.Atoi: parsing {}: invalid syntax",
                    kubesmith_apimachinery::golang::quote(text)
                )
            };
            text.parse::<i32>().map(i64::from).map_err(|_| fault())
        };
        let (hours, minutes) = (number(hours)?, number(minutes)?);
        Ok(hours * 3600 + minutes * if zone.starts_with('-') { -60 } else { 60 })
    }

    fn named_offset(self, zone: &str) -> Result<i64, String> {
        // `Local` would depend on the server's own time zone.
        if matches!(zone, "" | "UTC" | "Local") {
            return Ok(0);
        }
        if zone.contains("..") || zone.starts_with(['/', '\\']) || zone.contains('\\') {
            return Err("time: invalid location name".to_owned());
        }
        // Go reads zones from files, so names are case-sensitive.
        let found = TimeZone::get(zone).ok().filter(|found| found.iana_name() == Some(zone));
        let found = found.ok_or_else(|| format!("unknown time zone {zone}"))?;
        let limits = (Timestamp::MIN.as_second(), Timestamp::MAX.as_second());
        let at = Timestamp::from_second(self.seconds.clamp(limits.0, limits.1)).unwrap_or(Timestamp::MAX);
        Ok(i64::from(found.to_offset(at).seconds()))
    }
}

impl std::fmt::Display for Moment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Some((date, second, nanos)) = self.parts(self.offset) else { return f.write_str("?") };
        let (hour, minute) = (second / 3600, second / 60 % 60);
        write!(f, "{date}T{hour:02}:{minute:02}:{:02}", second % 60)?;
        if nanos > 0 {
            write!(f, ".{}", format!("{nanos:09}").trim_end_matches('0'))?;
        }
        if self.offset == 0 {
            return f.write_str("Z");
        }
        let (sign, minutes) = (if self.offset < 0 { '-' } else { '+' }, self.offset.abs() / 60);
        write!(f, "{sign}{:02}:{:02}", minutes / 60, minutes % 60)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamp_parses_as_in_go() {
        for (text, shown) in [
            ("2024-02-29T12:30:15.5Z", Some("2024-02-29T12:30:15.5Z")),
            ("2024-01-01T00:00:00+02:00", Some("2024-01-01T00:00:00+02:00")),
            ("2024-01-01T0:00:00,25-00:00", Some("2024-01-01T00:00:00.25Z")),
            ("9999-12-31T23:59:59.9999999999Z", Some("9999-12-31T23:59:59.999999999Z")),
            ("0001-01-01T00:00:00Z", Some("0001-01-01T00:00:00Z")),
            ("0001-01-01T00:00:00+01:00", None),
            ("0000-01-01T00:00:00Z", None),
            ("2024-01-01t00:00:00z", None),
            ("2024-01-01T23:59:60Z", None),
            ("2024-02-30T00:00:00Z", None),
            ("2024-01-01T00:00:00+0200", None),
            ("2024-01-01T00:00:00", None),
            ("2024-01-01T00:00:00.Z", None),
        ] {
            assert_eq!(Moment::parse(text).map(|m| m.to_string()).as_deref(), shown, "{text}");
        }
    }

    #[test]
    fn time_zone_offset_is_resolved_by_name_or_offset() {
        let moment = Moment::parse("9999-12-31T23:59:59Z").unwrap();
        assert_eq!(moment.offset_in("-01:30"), Ok(-5400));
        assert_eq!(moment.offset_in("100:00"), Ok(360_000));
        // Only where the system has time zones.
        if let Ok(offset) = moment.offset_in("America/New_York") {
            assert_eq!(offset, -5 * 3600);
        }
        assert_eq!(
            moment.offset_in("america/new_york"),
            Err("unknown time zone america/new_york".to_owned())
        );
        assert_eq!(moment.offset_in("a:b"), Err("strconv.Atoi: parsing \"a\": invalid syntax".to_owned()));
        assert!(moment.plus(1_000_000_000).is_none() && moment.plus(-1).is_some());
    }
}
