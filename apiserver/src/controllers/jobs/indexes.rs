//! The indexes of the pods of an indexed job. Source: `pkg/controller/job/indexed_job_utils.go`.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde_json::{Value, json};

use super::{count, is_tracked};
use crate::meta::{self, map_at};

/// The annotation and label that hold a pod's index (`JobCompletionIndexAnnotation` of k8s.io/api/batch/v1).
const INDEX: &str = "batch.kubernetes.io/job-completion-index";
/// The environment variable that tells a container its index.
const VARIABLE: &str = "JOB_COMPLETION_INDEX";

/// A set of indexes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Indexes(BTreeSet<i64>);

impl Indexes {
    /// The indexes that have succeeded: those in the job's status, and those of pods that it has yet to count.
    pub(super) fn done(job: &Value, pods: &[Value]) -> Self {
        if job["spec"]["completionMode"] != "Indexed" {
            return Self::default();
        }
        let completions = job["spec"]["completions"].as_i64().unwrap_or(0);
        let mut done = Self::parse(job["status"]["completedIndexes"].as_str().unwrap_or_default());
        done.0.retain(|index| *index < completions);
        let succeeded = pods.iter().filter(|pod| is_tracked(pod) && pod["status"]["phase"] == "Succeeded");
        done.0.extend(succeeded.filter_map(|pod| of_pod(job, pod)));
        done
    }

    /// Reads a text such as `1,3-5,7`.
    fn parse(text: &str) -> Self {
        let part = |part: &str| {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            Some(first.parse::<i64>().ok()?..=last.parse::<i64>().ok()?)
        };
        Self(text.split(',').filter_map(part).flatten().collect())
    }

    pub(super) fn len(&self) -> i64 {
        count(self.0.len())
    }

    /// The first indexes that neither have succeeded nor run.
    pub(super) fn pending(&self, job: &Value, running: &[&Value], number: usize) -> Vec<i64> {
        let running: BTreeSet<i64> = running.iter().filter_map(|pod| of_pod(job, pod)).collect();
        let all = 0..job["spec"]["completions"].as_i64().unwrap_or(0);
        all.filter(|index| !self.0.contains(index) && !running.contains(index)).take(number).collect()
    }
}

impl std::fmt::Display for Indexes {
    /// Three and more that follow each other are a range.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut text = String::new();
        let mut left = self.0.iter().copied().peekable();
        while let Some(first) = left.next() {
            let mut last = first;
            while let Some(next) = left.next_if(|next| *next == last + 1) {
                last = next;
            }
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

/// The index of a pod, if it is one of its job's.
pub(super) fn of_pod(job: &Value, pod: &Value) -> Option<i64> {
    let index: i64 = pod["metadata"]["annotations"][INDEX].as_str()?.parse().ok()?;
    (0..job["spec"]["completions"].as_i64().unwrap_or(0)).contains(&index).then_some(index)
}

/// Gives a new pod its index.
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
    fn indexes_are_read_and_written_as_ranges() {
        for text in ["", "0", "0,1", "0-2", "1,3-5,7,8,10"] {
            assert_eq!(Indexes::parse(text).to_string(), text);
        }
    }

    #[test]
    fn pending_indexes_are_the_first_that_neither_run_nor_are_done() {
        let job = json!({"spec": {"completions": 5, "completionMode": "Indexed"}, "status": {"completedIndexes": "0,2,9"}});
        let pod = json!({"metadata": {"annotations": {INDEX: "1"}}});
        let done = Indexes::done(&job, &[]);
        assert_eq!((done.len(), done.pending(&job, &[&pod], 1)), (2, vec![3]));
        assert_eq!(done.pending(&job, &[], 9), [1, 3, 4]);
    }
}
