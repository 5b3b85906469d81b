//! Parts of moments and durations.

use jiff::tz::{Offset, TimeZone};

use super::{Called, no_overload};
use crate::cel::value::Value;

pub(super) fn call(function: &str, args: &[Value]) -> Called {
    match args {
        [Value::Duration(nanos)] => of_duration(function, *nanos),
        [Value::Timestamp(timestamp)] => of_moment(function, &timestamp.to_zoned(TimeZone::UTC)),
        [Value::Timestamp(timestamp), Value::String(zone)] => match time_zone(zone) {
            Some(zone) => of_moment(function, &timestamp.to_zoned(zone)),
            None => Err(format!("unknown time zone {zone}")),
        },
        _ => no_overload(),
    }
}

fn of_duration(function: &str, nanos: i64) -> Called {
    Ok(Value::Int(match function {
        "getHours" => nanos / 3_600_000_000_000,
        "getMinutes" => nanos / 60_000_000_000,
        "getSeconds" => nanos / 1_000_000_000,
        "getMilliseconds" => nanos / 1_000_000,
        _ => return no_overload(),
    }))
}

fn of_moment(function: &str, moment: &jiff::Zoned) -> Called {
    Ok(Value::Int(match function {
        "getFullYear" => i64::from(moment.year()),
        "getMonth" => i64::from(moment.month()) - 1,
        "getDayOfYear" => i64::from(moment.day_of_year()) - 1,
        "getDayOfMonth" => i64::from(moment.day()) - 1,
        "getDate" => i64::from(moment.day()),
        "getDayOfWeek" => i64::from(moment.weekday().to_sunday_zero_offset()),
        "getHours" => i64::from(moment.hour()),
        "getMinutes" => i64::from(moment.minute()),
        "getSeconds" => i64::from(moment.second()),
        "getMilliseconds" => i64::from(moment.millisecond()),
        _ => return no_overload(),
    }))
}

/// A zone by name, or an offset such as `-02:30`.
fn time_zone(text: &str) -> Option<TimeZone> {
    let Some((hours, minutes)) = text.split_once(':') else {
        return if text.is_empty() { Some(TimeZone::UTC) } else { TimeZone::get(text).ok() };
    };
    let sign = if hours.starts_with('-') { -1 } else { 1 };
    let hours: i32 = hours.trim_start_matches(['+', '-']).parse().ok()?;
    let minutes: i32 = minutes.parse().ok()?;
    let seconds = sign * (hours.checked_mul(3600)?.checked_add(minutes.checked_mul(60)?)?);
    Offset::from_seconds(seconds).ok().map(TimeZone::fixed)
}
