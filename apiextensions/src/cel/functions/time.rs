//! Parts of timestamps and durations.

use super::{Called, no_overload};
use crate::cel::moment::Moment;
use crate::cel::value::Value;

pub(super) fn call(function: &str, args: &[Value]) -> Called {
    match args {
        [Value::Duration(nanos)] => of_duration(function, *nanos),
        [Value::Timestamp(moment)] => of_moment(function, *moment, 0),
        [Value::Timestamp(moment), Value::String(zone)] => {
            of_moment(function, *moment, moment.offset_in(zone)?)
        }
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

fn of_moment(function: &str, moment: Moment, offset: i64) -> Called {
    let (date, second, nanos) = moment.parts(offset).ok_or("timestamp overflow")?;
    Ok(Value::Int(match function {
        "getFullYear" => i64::from(date.year()),
        "getMonth" => i64::from(date.month()) - 1,
        "getDayOfYear" => i64::from(date.day_of_year()) - 1,
        "getDayOfMonth" => i64::from(date.day()) - 1,
        "getDate" => i64::from(date.day()),
        "getDayOfWeek" => i64::from(date.weekday().to_sunday_zero_offset()),
        "getHours" => second / 3600,
        "getMinutes" => second / 60 % 60,
        "getSeconds" => second % 60,
        "getMilliseconds" => i64::from(nanos / 1_000_000),
        _ => return no_overload(),
    }))
}
