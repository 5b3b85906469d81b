//! The due times of a schedule. Source: `pkg/controller/cronjob/utils.go`.

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use crate::cron::Schedule;
use crate::meta;

/// More missed times than this get a warning.
pub(super) const MANY: i64 = 100;

/// The times since the last job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Recent {
    /// The time of the last job, or the creation of the cron job.
    pub(super) since: Timestamp,
    /// The last due time since then.
    pub(super) time: Option<Timestamp>,
    /// The number of due times since then, an estimate if it is more than one.
    pub(super) missed: i64,
}

/// Returns the last due time (`mostRecentScheduleTime`). Times before the deadline in seconds do not count.
///
/// # Errors
/// Returns an error if the schedule never fires.
pub(super) fn most_recent(
    cron_job: &Value,
    now: Timestamp,
    schedule: &Schedule,
    deadline: Option<i64>,
) -> Result<Recent, &'static str> {
    let last = cron_job["status"]["lastScheduleTime"].as_str();
    let last = last.unwrap_or_else(|| meta::text(cron_job, "creationTimestamp")).parse().unwrap_or(now);
    let earliest = deadline.and_then(|seconds| now.checked_sub(SignedDuration::from_secs(seconds)).ok());
    let since = earliest.map_or(last, |earliest| earliest.max(last));
    let never = "time difference between two schedules is less than 1 second";
    let first = schedule.next(since).ok_or(never)?;
    if now < first {
        return Ok(Recent { since, time: None, missed: 0 });
    }
    let second = schedule.next(first).ok_or(never)?;
    if now < second {
        return Ok(Recent { since, time: Some(first), missed: 0 });
    }
    // Intervals may differ, so the number of missed times is an estimate. The walk begins one interval before the estimated end.
    let between = (second.as_second() - first.as_second()).max(1);
    let missed = (now.as_second() - first.as_second()) / between + 1;
    let start = first.as_second().saturating_add((missed - 2).saturating_mul(between));
    let start = Timestamp::from_second(start).map_err(|_| never)?;
    let times = std::iter::successors(schedule.next(start), |time| schedule.next(*time));
    let time = times.take_while(|time| *time <= now).last();
    Ok(Recent { since, time, missed })
}

/// Returns the next time (`nextScheduleTimeDuration`).
pub(super) fn next(cron_job: &Value, now: Timestamp, schedule: &Schedule) -> Option<Timestamp> {
    let from = match most_recent(cron_job, now, schedule, None) {
        Ok(Recent { time: Some(time), .. }) => time,
        Ok(Recent { since, missed: 0, .. }) => since,
        Ok(_) | Err(_) => now,
    };
    schedule.next(from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn most_recent_time_is_the_last_that_has_come() {
        let recent = |schedule: &str, now: &str, deadline| {
            let cron_job = json!({"metadata": {"creationTimestamp": "2026-01-01T00:00:30Z"}});
            let schedule = Schedule::parse(schedule).unwrap();
            let recent = most_recent(&cron_job, now.parse().unwrap(), &schedule, deadline).unwrap();
            (recent.time.map(|time| time.to_string()).unwrap_or_default(), recent.missed)
        };
        let time = |text: &str| text.to_owned();
        assert_eq!(recent("* * * * *", "2026-01-01T00:00:59Z", None), (time(""), 0));
        assert_eq!(recent("* * * * *", "2026-01-01T00:01:59Z", None), (time("2026-01-01T00:01:00Z"), 0));
        assert_eq!(recent("* * * * *", "2026-01-01T00:05:20Z", None), (time("2026-01-01T00:05:00Z"), 5));
        assert_eq!(recent("* * * * *", "2026-01-01T05:00:00Z", None), (time("2026-01-01T05:00:00Z"), 300));
        assert_eq!(recent("0 * * * *", "2026-01-01T05:10:00Z", Some(600)), (time(""), 0));
        // 6:00, 10:00 and 14:00 on working days; the first of January was a Thursday.
        let uneven = recent("30 6-16/4 * * 1-5", "2026-01-05T09:00:00Z", None);
        assert_eq!(uneven.0, "2026-01-05T06:30:00Z");
    }

    #[test]
    fn schedule_without_times_is_refused() {
        let cron_job = json!({"metadata": {"creationTimestamp": "2026-01-01T00:00:30Z"}});
        let schedule = Schedule::parse("59 23 31 2 *").unwrap();
        let now = "2026-01-02T00:00:00Z".parse().unwrap();
        assert!(most_recent(&cron_job, now, &schedule, None).is_err());
        assert_eq!(next(&cron_job, now, &schedule), None);
    }
}
