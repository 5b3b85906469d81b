//! Formats times and durations as kubectl does.

use jiff::Timestamp;

/// Formats the age of a time, as kubectl does.
pub(crate) fn age(text: &str, now: Timestamp) -> String {
    match text.parse::<Timestamp>() {
        Ok(then) => human_duration(now.as_second() - then.as_second()),
        Err(_) => "<invalid>".to_owned(),
    }
}

/// Formats the time since `text`, or `<unknown>`.
pub(crate) fn since(text: Option<&str>, now: Timestamp) -> String {
    text.map_or_else(|| "<unknown>".to_owned(), |text| age(text, now))
}

/// Formats the time between two times; empty when one of them is missing.
pub(crate) fn between(start: &str, end: &str) -> String {
    match (start.parse::<Timestamp>(), end.parse::<Timestamp>()) {
        (Ok(start), Ok(end)) => human_duration(end.as_second() - start.as_second()),
        _ => String::new(),
    }
}

/// Formats a duration in seconds as apimachinery's `HumanDuration` does.
pub(crate) fn human_duration(seconds: i64) -> String {
    let (minutes, hours) = (seconds / 60, seconds / 3600);
    let with = |big: i64, unit: char, small: i64, small_unit: char| match small {
        0 => format!("{big}{unit}"),
        small => format!("{big}{unit}{small}{small_unit}"),
    };
    match seconds {
        i64::MIN..=-2 => "<invalid>".to_owned(),
        -1 => "0s".to_owned(),
        0..120 => format!("{seconds}s"),
        120..600 => with(minutes, 'm', seconds % 60, 's'),
        600..10_800 => format!("{minutes}m"),
        10_800..28_800 => with(hours, 'h', minutes % 60, 'm'),
        28_800..172_800 => format!("{hours}h"),
        172_800..691_200 => with(hours / 24, 'd', hours % 24, 'h'),
        691_200..63_072_000 => format!("{}d", hours / 24),
        63_072_000..252_288_000 => with(hours / 8760, 'y', hours / 24 % 365, 'd'),
        _ => format!("{}y", hours / 8760),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_shown_as_kubectl_shows_them() {
        for (seconds, expected) in [
            (0, "0s"),
            (119, "119s"),
            (120, "2m"),
            (125, "2m5s"),
            (3600, "60m"),
            (11_100, "3h5m"),
            (86_400, "24h"),
            (190_800, "2d5h"),
            (864_000, "10d"),
            (70_000_000, "2y80d"),
            (-5, "<invalid>"),
        ] {
            assert_eq!(human_duration(seconds), expected, "{seconds}");
        }
    }
}
