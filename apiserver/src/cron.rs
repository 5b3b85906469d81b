//! Schedules as `robfig/cron` v3 parses them (`ParseStandard`), with its messages and its times.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp, ToSpan as _, Zoned};

/// The five fields: their bounds, and the names of their numbers.
const FIELDS: [(u32, u32, &[&str]); 5] = [
    (0, 59, &[]),
    (0, 23, &[]),
    (1, 31, &[]),
    (1, 12, &["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]),
    (0, 6, &["sun", "mon", "tue", "wed", "thu", "fri", "sat"]),
];

/// Names of schedules with their fields.
const DESCRIPTORS: [(&str, &str); 7] = [
    ("@yearly", "0 0 1 1 *"),
    ("@annually", "0 0 1 1 *"),
    ("@monthly", "0 0 1 * *"),
    ("@weekly", "0 0 * * 0"),
    ("@daily", "0 0 * * *"),
    ("@midnight", "0 0 * * *"),
    ("@hourly", "0 * * * *"),
];

/// The limit of the search for the next time, in years (`SpecSchedule.Next`).
const YEARS: i16 = 5;

/// A schedule.
#[derive(Clone, Debug)]
pub(crate) enum Schedule {
    /// The times that match the fields, in a time zone.
    Fields { fields: [Field; 5], zone: TimeZone },
    /// An interval in whole seconds.
    Every(i64),
}

/// The values of a field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Field {
    bits: u64,
    /// Whether it is `*` or `?`: then the other field for days decides alone.
    star: bool,
}

impl Field {
    fn has(self, value: i8) -> bool {
        u32::try_from(value).is_ok_and(|value| self.bits & (1 << value) != 0)
    }
}

impl Schedule {
    /// Parses a schedule; the default time zone is UTC.
    ///
    /// # Errors
    /// The message of `robfig/cron`.
    pub(crate) fn parse(schedule: &str) -> Result<Self, String> {
        let (mut rest, mut zone) = (schedule, TimeZone::UTC);
        if schedule.starts_with("TZ=") || schedule.starts_with("CRON_TZ=") {
            let Some((name, after)) = schedule.split_once(' ') else {
                return Err(format!("provided bad location {schedule}"));
            };
            let name = name.split_once('=').map_or("", |(_, name)| name);
            zone = TimeZone::get(name)
                .map_err(|_| format!("provided bad location {name}: unknown time zone {name}"))?;
            rest = after.trim();
        }
        if rest.starts_with('@') {
            return descriptor(rest, zone);
        }
        Ok(Self::Fields { fields: fields(rest)?, zone })
    }

    /// Returns the first time after another one; `None` if there is none in the next five years.
    ///
    /// A time that daylight saving skips is left out.
    pub(crate) fn next(&self, after: Timestamp) -> Option<Timestamp> {
        match self {
            Self::Every(seconds) => {
                let whole = Timestamp::from_second(after.as_second()).ok()?;
                whole.checked_add(SignedDuration::from_secs(*seconds)).ok()
            }
            Self::Fields { fields, zone } => {
                let start = Timestamp::from_second(after.as_second().checked_add(1)?).ok()?;
                next(fields, start.to_zoned(zone.clone())).map(|zoned| zoned.timestamp())
            }
        }
    }
}

fn next([minutes, hours, days, months, weekdays]: &[Field; 5], mut time: Zoned) -> Option<Zoned> {
    let last = time.year().checked_add(YEARS)?;
    while time.year() <= last {
        let weekday = time.weekday().to_sunday_zero_offset();
        let (day, weekday) = (days.has(time.day()), weekdays.has(weekday));
        let is_day = if days.star || weekdays.star { day && weekday } else { day || weekday };
        if !months.has(time.month()) {
            time = start_of(&time, time.date().first_of_month().checked_add(1.month()).ok()?)?;
        } else if !is_day {
            time = start_of(&time, time.date().tomorrow().ok()?)?;
        } else if !hours.has(time.hour()) {
            let passed = i64::from(time.minute()) * 60 + i64::from(time.second());
            time = time.checked_add(SignedDuration::from_secs(3600 - passed)).ok()?;
        } else if !minutes.has(time.minute()) || time.second() != 0 {
            time = time.checked_add(SignedDuration::from_secs(60 - i64::from(time.second()))).ok()?;
        } else {
            return Some(time);
        }
    }
    None
}

/// Returns the first moment of a day in a time's zone.
fn start_of(time: &Zoned, day: Date) -> Option<Zoned> {
    day.to_zoned(time.time_zone().clone()).ok()?.start_of_day().ok()
}

fn fields(text: &str) -> Result<[Field; 5], String> {
    let texts: Vec<&str> = text.split_whitespace().collect();
    if texts.len() != 5 {
        return Err(format!("expected exactly 5 fields, found {}: [{}]", texts.len(), texts.join(" ")));
    }
    let mut fields = [Field::default(); 5];
    for ((field, text), (min, max, names)) in fields.iter_mut().zip(texts).zip(FIELDS) {
        // Go's `FieldsFunc` drops empty parts.
        for part in text.split(',').filter(|part| !part.is_empty()) {
            let range = range(part, min, max, names)?;
            field.bits |= range.bits;
            field.star |= range.star;
        }
    }
    Ok(fields)
}

fn descriptor(text: &str, zone: TimeZone) -> Result<Schedule, String> {
    if let Some((_, spec)) = DESCRIPTORS.iter().find(|(name, _)| *name == text) {
        return Ok(Schedule::Fields { fields: fields(spec)?, zone });
    }
    let Some(duration) = text.strip_prefix("@every ") else {
        return Err(format!("unrecognized descriptor: {text}"));
    };
    let nanos = nanoseconds(duration)
        .ok_or_else(|| format!("failed to parse duration {text}: time: invalid duration \"{duration}\""))?;
    // `cron.Every`: at least a second, without fractions.
    Ok(Schedule::Every((nanos / 1_000_000_000).max(1)))
}

/// The units of Go's `time.ParseDuration`, in nanoseconds.
const UNITS: [(&str, f64); 8] =
    [("ns", 1.0), ("us", 1e3), ("µs", 1e3), ("μs", 1e3), ("ms", 1e6), ("s", 1e9), ("m", 60e9), ("h", 3600e9)];

/// Parses a duration as Go's `time.ParseDuration` does; `None` if it is malformed.
fn nanoseconds(text: &str) -> Option<i64> {
    let (negative, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if rest == "0" {
        return Some(0);
    }
    let mut sum = 0.0;
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let (number, after) = rest.split_at(end);
        let unit =
            UNITS.iter().filter(|(unit, _)| after.starts_with(unit)).max_by_key(|(unit, _)| unit.len());
        let (unit, size) = unit?;
        sum += number.parse::<f64>().ok()? * size;
        rest = &after[unit.len()..];
    }
    let nanos = if negative { -sum } else { sum };
    (nanos.abs() < i64::MAX as f64).then_some(nanos as i64)
}

fn range(part: &str, min: u32, max: u32, names: &[&str]) -> Result<Field, String> {
    let steps: Vec<&str> = part.split('/').collect();
    let ends: Vec<&str> = steps[0].split('-').collect();
    let (start, mut end, is_single) = match ends.as_slice() {
        ["*" | "?"] => (min, max, false),
        [single] => {
            let value = number(single, names)?;
            (value, value, true)
        }
        [start, end] => (number(start, names)?, number(end, names)?, false),
        _ => return Err(format!("too many hyphens: {part}")),
    };
    let step = match steps.as_slice() {
        [_] => 1,
        [_, step] => {
            if is_single {
                end = max;
            }
            digits(step)?
        }
        _ => return Err(format!("too many slashes: {part}")),
    };
    if start < min {
        return Err(format!("beginning of range ({start}) below minimum ({min}): {part}"));
    }
    if end > max {
        return Err(format!("end of range ({end}) above maximum ({max}): {part}"));
    }
    if start > end {
        return Err(format!("beginning of range ({start}) beyond end of range ({end}): {part}"));
    }
    if step == 0 {
        return Err(format!("step of range should be a positive number: {part}"));
    }
    let values = (start..=end).step_by(usize::try_from(step).unwrap_or(usize::MAX));
    // With a step, a star does not match every value.
    let star = matches!(ends.as_slice(), ["*" | "?"]) && step == 1;
    Ok(Field { bits: values.fold(0, |bits, value| bits | 1 << value), star })
}

/// Parses a number, or its name; months count from one, days of the week from zero.
fn number(text: &str, names: &[&str]) -> Result<u32, String> {
    let offset = u32::from(names.len() == 12);
    let named = names.iter().zip(offset..).find(|(name, _)| text.eq_ignore_ascii_case(name));
    named.map_or_else(|| digits(text), |(_, value)| Ok(value))
}

fn digits(text: &str) -> Result<u32, String> {
    match text.parse::<i64>() {
        Ok(value) if value < 0 => Err(format!("negative number ({value}) not allowed: {text}")),
        Ok(value) => Ok(u32::try_from(value).unwrap_or(u32::MAX)),
        Err(_) => {
            Err(format!("failed to parse int from {text}: strconv.Atoi: parsing \"{text}\": invalid syntax"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schedule_is_parsed() {
        for schedule in [
            "* * * * *",
            "*/5 1-3,7 ? jan-MAR mon",
            "@every 1h30m",
            "@daily",
            "TZ=UTC 0 0 1 1 0",
            "5/10 * * * *",
        ] {
            assert!(Schedule::parse(schedule).is_ok(), "{schedule}");
        }
    }

    #[test]
    fn schedule_errors_have_the_text_of_robfig_cron() {
        for (schedule, error) in [
            ("61 * * * *", "end of range (61) above maximum (59): 61"),
            ("bad", "expected exactly 5 fields, found 1: [bad]"),
            ("* * 0 * *", "beginning of range (0) below minimum (1): 0"),
            ("9-5 * * * *", "beginning of range (9) beyond end of range (5): 9-5"),
            ("*/0 * * * *", "step of range should be a positive number: */0"),
            ("1-2-3 * * * *", "too many hyphens: 1-2-3"),
            ("x * * * *", "failed to parse int from x: strconv.Atoi: parsing \"x\": invalid syntax"),
            ("@often", "unrecognized descriptor: @often"),
            ("@every soon", "failed to parse duration @every soon: time: invalid duration \"soon\""),
        ] {
            assert_eq!(Schedule::parse(schedule).unwrap_err(), error, "{schedule}");
        }
    }

    /// Cases of `TestNext` in robfig/cron's spec_test.go, and of Kubernetes' documentation.
    #[test]
    fn next_time_is_the_first_that_the_schedule_matches() {
        for (schedule, after, expected) in [
            ("*/15 * * * *", "2012-07-09T14:59:59Z", Some("2012-07-09T15:00:00Z")),
            ("20-35/15 * * * *", "2012-07-09T15:35:00Z", Some("2012-07-09T16:20:00Z")),
            ("0 0 */5 Apr,Aug,Oct Mon", "2012-07-27T00:00:00Z", Some("2012-08-01T00:00:00Z")),
            ("0 0 1,15 * Mon", "2026-09-01T00:00:00Z", Some("2026-09-07T00:00:00Z")),
            ("0 0 * * Mon", "2026-09-01T00:00:00Z", Some("2026-09-07T00:00:00Z")),
            ("0 0 29 Feb ?", "2012-07-09T23:35:00Z", Some("2016-02-29T00:00:00Z")),
            ("* * 31 feb *", "2026-01-01T00:00:00Z", None),
            ("@every 90m", "2026-01-01T00:00:10.5Z", Some("2026-01-01T01:30:10Z")),
            ("@every 10ms", "2026-01-01T00:00:00Z", Some("2026-01-01T00:00:01Z")),
            ("@monthly", "2026-01-01T00:00:00Z", Some("2026-02-01T00:00:00Z")),
            // Clocks skip 2:00 on 2012-03-11 and have 1:00 twice on 2012-11-04.
            ("TZ=America/New_York 0 0 11 Mar ?", "2012-03-01T00:00:00Z", Some("2012-03-11T05:00:00Z")),
            ("TZ=America/New_York 0 2 11 Mar ?", "2012-03-11T05:00:00Z", Some("2013-03-11T06:00:00Z")),
            ("TZ=America/New_York 0 1 4 Nov ?", "2012-11-04T05:00:00Z", Some("2012-11-04T06:00:00Z")),
            ("CRON_TZ=Europe/Berlin 30 9 * * *", "2026-07-01T00:00:00Z", Some("2026-07-01T07:30:00Z")),
        ] {
            let next = Schedule::parse(schedule).unwrap().next(after.parse().unwrap());
            assert_eq!(next.map(|time| time.to_string()).as_deref(), expected, "{schedule}");
        }
    }
}
