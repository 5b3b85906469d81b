//! Applies a job's policies to failed pods and to successful indexes.
//! Source: `pkg/controller/job/pod_failure_policy.go` and `success_policy.go`.

use serde_json::Value;

use super::Sync;
use super::indexes::{Indexes, completions};
use crate::meta;

/// The effect of a failed pod on its job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The failure counts against the limit.
    Count,
    /// The failure does not count.
    Ignore,
    /// The failure counts, and its index has failed for good.
    FailIndex,
    /// The job has failed, for this reason.
    FailJob(String),
}

/// Returns the verdict of the first rule that matches; without one, the failure counts (`matchPodFailurePolicy`).
pub(super) fn verdict(job: &Value, pod: &Value) -> Verdict {
    let rules = job["spec"]["podFailurePolicy"]["rules"].as_array().into_iter().flatten();
    let mut matches = rules.enumerate().filter_map(|(index, rule)| {
        let what = match rule["onExitCodes"].is_object() {
            true => by_exit_code(rule, pod),
            false => by_condition(rule, pod),
        };
        what.map(|what| (index, rule["action"].as_str().unwrap_or_default(), what))
    });
    match matches.next() {
        Some((_, "Ignore", _)) => Verdict::Ignore,
        Some((_, "FailIndex", _)) => Verdict::FailIndex,
        Some((index, "FailJob", what)) => {
            Verdict::FailJob(format!("{what} matching FailJob rule at index {index}"))
        }
        _ => Verdict::Count,
    }
}

fn full_name(pod: &Value) -> String {
    format!("{}/{}", meta::namespace(pod), meta::name(pod))
}

/// Returns the message of a rule that matches a container's exit code.
fn by_exit_code(rule: &Value, pod: &Value) -> Option<String> {
    let rule = &rule["onExitCodes"];
    let codes = rule["values"].as_array()?;
    let lists = ["containerStatuses", "initContainerStatuses"];
    let statuses = lists.iter().filter_map(|list| pod["status"][*list].as_array()).flatten();
    let mut matching = statuses.filter_map(|status| {
        let code = status["state"]["terminated"]["exitCode"].as_i64().filter(|code| *code != 0)?;
        let is_named = rule["containerName"].is_null() || rule["containerName"] == status["name"];
        let is_in = codes.iter().any(|known| known.as_i64() == Some(code));
        (is_named && is_in == (rule["operator"] == "In")).then_some((status, code))
    });
    let (status, code) = matching.next()?;
    let name = status["name"].as_str().unwrap_or_default();
    Some(format!("Container {name} for pod {} failed with exit code {code}", full_name(pod)))
}

/// Returns the message of a rule that matches a condition of the pod.
fn by_condition(rule: &Value, pod: &Value) -> Option<String> {
    let patterns = rule["onPodConditions"].as_array()?;
    let is_meant = |condition: &&Value| {
        let same = |pattern: &Value| ["type", "status"].iter().all(|part| pattern[part] == condition[part]);
        patterns.iter().any(same)
    };
    let condition = pod["status"]["conditions"].as_array()?.iter().find(is_meant)?;
    let kind = condition["type"].as_str().unwrap_or_default();
    Some(format!("Pod {} has condition {kind}", full_name(pod)))
}

impl Sync<'_> {
    /// Reports whether a failed pod counts against the job's limit.
    pub(super) fn counts(&self, pod: &Value) -> bool {
        verdict(&self.job, pod) != Verdict::Ignore
    }

    /// Returns the message if the job has failed by its policy (`getFailJobMessage`).
    pub(super) fn failure(&self) -> Option<String> {
        let failed = self.pods.iter().filter(|pod| self.has_failed(pod));
        failed.map(|pod| verdict(&self.job, pod)).find_map(|verdict| match verdict {
            Verdict::FailJob(message) => Some(message),
            _ => None,
        })
    }

    /// Returns the message of the rule that enough indexes meet (`matchSuccessPolicy`).
    pub(super) fn success(&self) -> Option<String> {
        let rules = self.job["spec"]["successPolicy"]["rules"].as_array()?;
        let is_met = |rule: &Value| {
            let least = rule["succeededCount"].as_i64();
            let Some(text) = rule["succeededIndexes"].as_str() else {
                return least.is_some_and(|least| self.done.len() >= least);
            };
            let wanted = Indexes::parse(text, completions(&self.job));
            self.done.common(&wanted) >= least.unwrap_or(wanted.len())
        };
        let rule = rules.iter().position(is_met).filter(|_| self.done.len() > 0)?;
        Some(format!("Matched rules at index {rule}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn first_rule_that_matches_gives_the_verdict() {
        let job = json!({"spec": {"podFailurePolicy": {"rules": [
            {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]},
            {"action": "FailIndex", "onExitCodes": {"operator": "In", "values": [3], "containerName": "c"}},
            {"action": "FailJob", "onExitCodes": {"operator": "NotIn", "values": [4, 5]}},
        ]}}});
        let pod = |status: Value| json!({"metadata": {"name": "p", "namespace": "n"}, "status": status});
        let exit = |name: &str, code: i64| {
            let status = json!({"name": name, "state": {"terminated": {"exitCode": code}}});
            verdict(&job, &pod(json!({"containerStatuses": [status]})))
        };
        let message = |name: &str| {
            let text = format!(
                "Container {name} for pod n/p failed with exit code 3 matching FailJob rule at index 2"
            );
            Verdict::FailJob(text)
        };
        assert_eq!(exit("c", 3), Verdict::FailIndex);
        assert_eq!(exit("d", 3), message("d"));
        assert_eq!([exit("c", 4), exit("c", 0)], [Verdict::Count, Verdict::Count]);
        let condition = json!({"type": "DisruptionTarget", "status": "True"});
        assert_eq!(verdict(&job, &pod(json!({"conditions": [condition]}))), Verdict::Ignore);
        assert_eq!(verdict(&json!({}), &pod(json!({}))), Verdict::Count);
    }
}
