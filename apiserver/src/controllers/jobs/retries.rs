//! Failures of indexed jobs with a limit per index (`backoffLimitPerIndex`).
//! Source: `pkg/controller/job/indexed_job_utils.go` and `backoff_utils.go`.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;

use super::backoff::{ended, left_of_delay};
use super::indexes::{self, Indexes, completions};
use super::policy::{Verdict, verdict};
use super::{Sync, is_tracked};
use crate::meta::{self, map_at};

/// The number of earlier failures of the index (`JobIndexFailureCountAnnotation` of k8s.io/api/batch/v1).
const FAILURES: &str = "batch.kubernetes.io/job-index-failure-count";
/// The number of earlier failures that were ignored (`JobIndexIgnoredFailureCountAnnotation`).
const IGNORED: &str = "batch.kubernetes.io/job-index-ignored-failure-count";

/// A count in an annotation; 0 unless it fits into 32 bits (`getIndexFailureCount`).
fn noted(pod: &Value, annotation: &str) -> i64 {
    let text = pod["metadata"]["annotations"][annotation].as_str();
    text.and_then(|text| text.parse::<i32>().ok()).map_or(0, |count| i64::from(count.max(0)))
}

/// The failures of the index before this pod, counted or ignored.
fn all_noted(pod: &Value) -> i64 {
    noted(pod, FAILURES).saturating_add(noted(pod, IGNORED))
}

impl Sync<'_> {
    /// The limit of failures of one index.
    fn limit_per_index(&self) -> Option<i64> {
        self.spec("backoffLimitPerIndex").filter(|_| self.is_indexed())
    }

    /// Returns the indexes that have failed for good; `None` if the job does not count them (`calculateFailedIndexes`).
    pub(super) fn find_failed(&self) -> Option<Indexes> {
        let limit = self.limit_per_index()?;
        let text = self.job["status"]["failedIndexes"].as_str().unwrap_or_default();
        let is_last = |pod: &&Value| {
            is_tracked(pod)
                && self.has_failed(pod)
                && match verdict(&self.job, pod) {
                    Verdict::FailIndex => true,
                    Verdict::Ignore => false,
                    Verdict::Count | Verdict::FailJob(_) => noted(pod, FAILURES) >= limit,
                }
        };
        let new = self.pods.iter().filter(is_last).filter_map(|pod| indexes::of_pod(&self.job, pod));
        Some(Indexes::parse(text, completions(&self.job)).with(new))
    }

    /// Returns the failed pods whose index is to be retried, by index. They keep their finalizer until then, since the
    /// next pod continues their count (`getPodsWithDelayedDeletionPerIndex`).
    pub(super) fn find_held(&self) -> BTreeMap<i64, Value> {
        let mut held: BTreeMap<i64, Value> = BTreeMap::new();
        let Some(failed) = self.failed_indexes.as_ref().filter(|_| self.limit_per_index().is_some()) else {
            return held;
        };
        let is_active = |index| self.active.iter().any(|pod| indexes::of_pod(&self.job, pod) == Some(index));
        for pod in self.pods.iter().filter(|pod| is_tracked(pod) && self.has_failed(pod)) {
            let Some(index) = indexes::of_pod(&self.job, pod) else { continue };
            if self.done.has(index) || failed.has(index) || is_active(index) {
                continue;
            }
            let is_later = held
                .get(&index)
                .is_none_or(|last| all_noted(last) <= all_noted(pod) && ended(last) <= ended(pod));
            if is_later {
                held.insert(index, pod.clone());
            }
        }
        held
    }

    /// Reports whether a pod keeps its finalizer until its index is retried.
    pub(super) fn is_held(&self, pod: &Value) -> bool {
        self.held.values().any(|held| meta::text(held, "uid") == meta::text(pod, "uid"))
    }

    /// Returns the indexes whose delay is over, and the delay of the next one
    /// (`getPodCreationInfoForIndependentIndexes`).
    pub(super) fn ready_again(&self, pending: Vec<i64>) -> (Vec<i64>, Option<Duration>) {
        let left = |index: &i64| {
            let last = self.held.get(index)?;
            let failures = usize::try_from(all_noted(last) + 1).unwrap_or(usize::MAX);
            let left = left_of_delay(self.cluster.now(), ended(last)?, failures);
            Some(left).filter(|left| !left.is_zero())
        };
        let wait = pending.iter().filter_map(left).min();
        (pending.into_iter().filter(|index| left(index).is_none()).collect(), wait)
    }

    /// Writes the failures of its index into a new pod (`addIndexFailureCountAnnotation`).
    pub(super) fn note_failures(&self, pod: &mut Value, index: i64) {
        if self.limit_per_index().is_none() {
            return;
        }
        let (mut failures, mut ignored) = (0, 0);
        if let Some(last) = self.held.get(&index) {
            (failures, ignored) = (noted(last, FAILURES), noted(last, IGNORED));
            match self.counts(last) {
                true => failures += 1,
                false => ignored += 1,
            }
        }
        let annotations = map_at(&mut pod["metadata"], "annotations");
        annotations.insert(FAILURES.to_owned(), failures.to_string().into());
        if ignored > 0 {
            annotations.insert(IGNORED.to_owned(), ignored.to_string().into());
        }
    }

    /// Returns reason and message if too many indexes have failed.
    pub(super) fn past_index_limit(&self) -> Option<(&'static str, &'static str)> {
        let failed = self.failed_indexes.as_ref()?.len();
        if self.spec("maxFailedIndexes").is_some_and(|most| failed > most) {
            let text = "Job has exceeded the specified maximal number of failed indexes";
            return Some(("MaxFailedIndexesExceeded", text));
        }
        let is_over = failed > 0 && failed + self.done.len() >= completions(&self.job);
        is_over.then_some(("FailedIndexes", "Job has failed indexes"))
    }
}
