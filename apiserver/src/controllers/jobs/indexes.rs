//! The indexes of the pods of an indexed job. Source: `pkg/controller/job/indexed_job_utils.go`.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::is_tracked;
use crate::meta::{self, map_at};

/// The annotation and label with a pod's index (`JobCompletionIndexAnnotation` of k8s.io/api/batch/v1).
const INDEX: &str = "batch.kubernetes.io/job-completion-index";
/// The environment variable with a container's index.
const VARIABLE: &str = "JOB_COMPLETION_INDEX";

/// A set of indexes, as sorted ranges of first and last that neither overlap nor touch. A short text can name more
/// indexes than memory could hold one by one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Indexes(Vec<(i64, i64)>);

impl Indexes {
    /// Returns the indexes that have succeeded: those in the job's status, and those of pods not counted yet.
    pub(super) fn done(job: &Value, pods: &[Value]) -> Self {
        if job["spec"]["completionMode"] != "Indexed" {
            return Self::default();
        }
        let text = job["status"]["completedIndexes"].as_str().unwrap_or_default();
        let noted = Self::parse(text, completions(job));
        let succeeded = pods.iter().filter(|pod| is_tracked(pod) && pod["status"]["phase"] == "Succeeded");
        noted.with(succeeded.filter_map(|pod| of_pod(job, pod)))
    }

    /// Reads a text such as `1,3-5,7` and keeps the indexes below `end`.
    pub(super) fn parse(text: &str, end: i64) -> Self {
        let part = |part: &str| {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let (first, last) = (first.parse::<i64>().ok()?, last.parse::<i64>().ok()?);
            Some((first.max(0), last.min(end.saturating_sub(1))))
        };
        Self::of(text.split(',').filter_map(part).collect())
    }

    /// Builds the set of ranges in any order.
    fn of(mut ranges: Vec<(i64, i64)>) -> Self {
        ranges.retain(|(first, last)| first <= last);
        ranges.sort_unstable();
        let mut joined: Vec<(i64, i64)> = Vec::new();
        for (first, last) in ranges {
            match joined.last_mut() {
                Some((_, end)) if first <= end.saturating_add(1) => *end = last.max(*end),
                _ => joined.push((first, last)),
            }
        }
        Self(joined)
    }

    /// Returns this set with further indexes.
    pub(super) fn with(&self, more: impl Iterator<Item = i64>) -> Self {
        Self::of(self.0.iter().copied().chain(more.map(|index| (index, index))).collect())
    }

    pub(super) fn len(&self) -> i64 {
        // All indexes are between zero and the number of completions.
        self.0.iter().map(|(first, last)| last - first + 1).sum()
    }

    pub(super) fn has(&self, index: i64) -> bool {
        self.0.iter().any(|(first, last)| (*first..=*last).contains(&index))
    }

    /// Returns the number of indexes in both sets.
    pub(super) fn common(&self, other: &Self) -> i64 {
        let pairs = self.0.iter().flat_map(|one| other.0.iter().map(move |two| (one, two)));
        pairs.map(|(one, two)| (one.1.min(two.1) - one.0.max(two.0) + 1).max(0)).sum()
    }

    /// Returns the first indexes that have neither succeeded nor failed nor run.
    pub(super) fn pending(
        &self,
        failed: Option<&Self>,
        job: &Value,
        running: &[&Value],
        number: usize,
    ) -> Vec<i64> {
        let failed = failed.map_or(&[][..], |failed| &failed.0);
        let over = Self::of(self.0.iter().chain(failed).copied().collect());
        let taken = over.with(running.iter().filter_map(|pod| of_pod(job, pod)));
        let end = completions(job);
        // The gaps before each range, and after the last one.
        let mut next = 0;
        let mut gaps = Vec::new();
        for (first, last) in taken.0.into_iter().chain([(end, end)]) {
            gaps.push(next..first);
            next = last.saturating_add(1);
        }
        gaps.into_iter().flatten().take(number).collect()
    }
}

impl std::fmt::Display for Indexes {
    /// Three and more successive indexes are written as a range.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut text = String::new();
        for (first, last) in &self.0 {
            let comma = if text.is_empty() { "" } else { "," };
            match last - first {
                0 => write!(text, "{comma}{first}")?,
                1 => write!(text, "{comma}{first},{last}")?,
                _ => write!(text, "{comma}{first}-{last}")?,
            }
        }
        f.write_str(&text)
    }
}

pub(super) fn completions(job: &Value) -> i64 {
    job["spec"]["completions"].as_i64().unwrap_or(0)
}

/// Returns the index of a pod, if it is valid for its job.
pub(super) fn of_pod(job: &Value, pod: &Value) -> Option<i64> {
    let index: i64 = pod["metadata"]["annotations"][INDEX].as_str()?.parse().ok()?;
    (0..completions(job)).contains(&index).then_some(index)
}

/// Sets the index of a new pod.
pub(super) fn give(job: &Value, pod: &mut Value, index: i64) {
    let name = meta::name(job);
    for part in ["annotations", "labels"] {
        map_at(&mut pod["metadata"], part).insert(INDEX.to_owned(), index.to_string().into());
    }
    pod["metadata"]["generateName"] = format!("{name}-{index}-").into();
    pod["spec"]["hostname"] = format!("{name}-{index}").into();
    let path = format!("metadata.labels['{INDEX}']");
    let variable = json!({"name": VARIABLE, "valueFrom": {"fieldRef": {"fieldPath": path}}});
    for list in ["initContainers", "containers"] {
        for container in pod["spec"][list].as_array_mut().into_iter().flatten() {
            let own = meta::object_mut(container).entry("env").or_insert_with(|| json!([]));
            if let Some(own) = own.as_array_mut()
                && !own.iter().any(|own| own["name"] == VARIABLE)
            {
                own.push(variable.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indexes_round_trip_as_ranges() {
        for text in ["", "0", "0,1", "0-2", "1,3-5,7,8,10"] {
            assert_eq!(Indexes::parse(text, 11).to_string(), text);
        }
    }

    #[test]
    fn indexes_are_merged_and_cut_to_the_completions() {
        for (text, end, expected) in [
            ("4,0-1,1-2,8-6,x,2-", 11, "0-2,4"),
            ("-3-9,0-900000000000", 3, "0-2"),
            ("5-9223372036854775807", 7, "5,6"),
            ("0-9223372036854775807", 0, ""),
        ] {
            assert_eq!(Indexes::parse(text, end).to_string(), expected, "{text}");
        }
        let billions = json!({"spec": {"completions": 2_000_000_000, "completionMode": "Indexed"},
                              "status": {"completedIndexes": "0-1999999989"}});
        let done = Indexes::done(&billions, &[]);
        assert_eq!((done.len(), done.pending(None, &billions, &[], 1)), (1_999_999_990, vec![1_999_999_990]));
    }

    #[test]
    fn pending_indexes_are_the_first_not_running_and_not_done() {
        let job = json!({"spec": {"completions": 5, "completionMode": "Indexed"}, "status": {"completedIndexes": "0,2,9"}});
        let pod = json!({"metadata": {"annotations": {INDEX: "1"}}});
        let done = Indexes::done(&job, &[]);
        assert_eq!((done.len(), done.pending(None, &job, &[&pod], 1)), (2, vec![3]));
        assert_eq!(done.pending(None, &job, &[], 9), [1, 3, 4]);
        assert_eq!(done.pending(Some(&Indexes::parse("1-3", 5)), &job, &[], 9), [4]);
        assert_eq!((done.has(2), done.has(3), done.common(&Indexes::parse("1-4", 5))), (true, false, 1));
    }
}
