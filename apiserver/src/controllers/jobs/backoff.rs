//! The delay of a job's next pod after failures. Source: `pkg/controller/job/backoff_utils.go`.
//!
//! kube-controller-manager remembers failures; here they are counted from the pods that still exist.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;

use super::Sync;
use crate::meta;

/// The delay after a first failure (`DefaultJobPodFailureBackOff`); it doubles with each further one.
const FIRST_SECONDS: u64 = 10;
/// The longest delay (`MaxJobPodFailureBackOff`).
const LONGEST_SECONDS: u64 = 10 * 60;

impl Sync<'_> {
    /// Returns the time for which no pod may be created.
    pub(super) fn backoff(&self) -> Duration {
        let ended = |wanted: &dyn Fn(&Value) -> bool| {
            let mut times: Vec<Timestamp> =
                self.pods.iter().filter(|pod| wanted(pod)).filter_map(ended).collect();
            times.sort_unstable();
            times
        };
        let succeeded = ended(&|pod| pod["status"]["phase"] == "Succeeded").pop();
        let mut failed = ended(&|pod| self.has_failed(pod));
        failed.retain(|time| succeeded.is_none_or(|succeeded| *time > succeeded));
        let Some(last) = failed.last() else { return Duration::ZERO };
        left_of_delay(self.cluster.now(), *last, failed.len())
    }
}

/// Returns the rest of the delay after this number of failures, given the time of the last one.
pub(super) fn left_of_delay(now: Timestamp, last: Timestamp, failures: usize) -> Duration {
    let wait = i64::try_from(delay(failures)).unwrap_or(i64::MAX);
    let left = last.as_second().saturating_add(wait).saturating_sub(now.as_second());
    Duration::from_secs(u64::try_from(left).unwrap_or_default())
}

/// The seconds between a failure and the next pod.
fn delay(failures: usize) -> u64 {
    let doublings = u32::try_from(failures.saturating_sub(1)).unwrap_or(u32::MAX);
    FIRST_SECONDS.saturating_mul(2_u64.saturating_pow(doublings)).min(LONGEST_SECONDS)
}

/// Returns the end of a pod: `getFinishedTime`.
pub(super) fn ended(pod: &Value) -> Option<Timestamp> {
    let containers = pod["status"]["containerStatuses"].as_array().into_iter().flatten();
    let last = containers.filter_map(|c| c["state"]["terminated"]["finishedAt"].as_str()).max();
    let conditions = || pod["status"]["conditions"].as_array().into_iter().flatten();
    let unready = || {
        let unready = conditions().find(|c| c["type"] == "Ready" && c["status"] == "False")?;
        unready["lastTransitionTime"].as_str()
    };
    let deleted = || pod["metadata"]["deletionTimestamp"].as_str();
    let time = last.or_else(unready).or_else(deleted);
    time.unwrap_or_else(|| meta::text(pod, "creationTimestamp")).parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delay_doubles_up_to_ten_minutes() {
        let delays: Vec<u64> = [1, 2, 3, 6, 7, 8, 200].into_iter().map(delay).collect();
        assert_eq!(delays, [10, 20, 40, 320, 600, 600, 600]);
    }
}
