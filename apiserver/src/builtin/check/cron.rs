//! Schedules as `robfig/cron` v3 reads them (`ParseStandard`), with its messages.

/// The five fields: their bounds, and the names that stand for numbers.
const FIELDS: [(u32, u32, &[&str]); 5] = [
    (0, 59, &[]),
    (0, 23, &[]),
    (1, 31, &[]),
    (1, 12, &["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]),
    (0, 6, &["sun", "mon", "tue", "wed", "thu", "fri", "sat"]),
];

const DESCRIPTORS: &[&str] =
    &["@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"];

/// Why a schedule cannot be read.
///
/// # Errors
/// The message of `robfig/cron`.
pub(super) fn check(schedule: &str) -> Result<(), String> {
    let mut rest = schedule;
    if schedule.starts_with("TZ=") || schedule.starts_with("CRON_TZ=") {
        let Some((zone, after)) = schedule.split_once(' ') else {
            return Err(format!("provided bad location {schedule}"));
        };
        let zone = zone.split_once('=').map_or("", |(_, zone)| zone);
        if jiff::tz::TimeZone::get(zone).is_err() {
            return Err(format!("provided bad location {zone}: unknown time zone {zone}"));
        }
        rest = after.trim();
    }
    if rest.starts_with('@') {
        return descriptor(rest);
    }
    let fields: Vec<&str> = rest.split_whitespace().collect();
    if fields.len() != 5 {
        return Err(format!("expected exactly 5 fields, found {}: [{}]", fields.len(), fields.join(" ")));
    }
    fields.iter().zip(FIELDS).try_for_each(|(field, (min, max, names))| {
        field.split(',').try_for_each(|part| range(part, min, max, names))
    })
}

fn descriptor(text: &str) -> Result<(), String> {
    if DESCRIPTORS.contains(&text) {
        return Ok(());
    }
    match text.strip_prefix("@every ") {
        None => Err(format!("unrecognized descriptor: {text}")),
        Some(duration) if is_duration(duration) => Ok(()),
        Some(duration) => {
            Err(format!("failed to parse duration {text}: time: invalid duration \"{duration}\""))
        }
    }
}

/// Whether Go's `time.ParseDuration` takes a text.
fn is_duration(text: &str) -> bool {
    let mut rest = text.trim_start_matches(['-', '+']);
    if rest == "0" {
        return true;
    }
    let mut parts = 0;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let (number, after) = rest.split_at(end);
        let units = ["ns", "us", "µs", "ms", "s", "m", "h"];
        let unit = units.iter().filter(|unit| after.starts_with(**unit)).max_by_key(|unit| unit.len());
        let (Some(unit), true) = (unit, number.bytes().any(|b| b.is_ascii_digit())) else { return false };
        rest = &after[unit.len()..];
        parts += 1;
    }
    parts > 0
}

fn range(part: &str, min: u32, max: u32, names: &[&str]) -> Result<(), String> {
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
    Ok(())
}

/// A number, or a name that stands for one; months count from one, days of the week from zero.
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
    use super::check;

    #[test]
    fn schedules_are_read() {
        for schedule in [
            "* * * * *",
            "*/5 1-3,7 ? jan-MAR mon",
            "@every 1h30m",
            "@daily",
            "TZ=UTC 0 0 1 1 0",
            "5/10 * * * *",
        ] {
            assert_eq!(check(schedule), Ok(()), "{schedule}");
        }
    }

    #[test]
    fn errors_have_the_words_of_robfig_cron() {
        for (schedule, error) in [
            ("61 * * * *", "end of range (61) above maximum (59): 61"),
            ("bad", "expected exactly 5 fields, found 1: [bad]"),
            ("* * 0 * *", "beginning of range (0) below minimum (1): 0"),
            ("9-5 * * * *", "beginning of range (9) beyond end of range (5): 9-5"),
            ("*/0 * * * *", "step of range should be a positive number: */0"),
            ("1-2-3 * * * *", "too many hyphens: 1-2-3"),
            ("x * * * *", "failed to parse int from x: strconv.Atoi: parsing \"x\": invalid syntax"),
            ("@often", "unrecognized descriptor: @often"),
        ] {
            assert_eq!(check(schedule).unwrap_err(), error, "{schedule}");
        }
    }
}
