//! The status of jobs. Source: `ValidateJobUpdateStatus` of `pkg/apis/batch/validation`, with the options of
//! `getStatusValidationOptions` in `pkg/registry/batch/job/strategy.go`: most faults count only if the update changes their
//! fields.

use serde_json::Value;

use super::field::{Errors, Field, go_struct};
use crate::names::quoted;
use crate::status::Cause;

/// Checks a job whose status replaces that of `old`.
pub(in crate::builtin) fn job_status(new: &Value, old: &Value) -> Vec<Cause> {
    let status = |job| Field::root(job).child("status");
    let change = Change { spec: Field::root(new).child("spec"), new: status(new), old: status(old) };
    Errors::of(|errors| {
        change.counts(errors);
        change.results(errors);
        change.reasons(errors);
        change.finished(errors);
        change.indexes(errors);
        change.pods(errors);
        change.policy(errors);
        change.terminal(errors);
        change.monotonous(errors);
    })
}

/// Reports whether a job's status has a condition of this type and status.
pub(super) fn has_condition(status: &Field<'_>, type_: &str, is: &str) -> bool {
    let matches = |it: Field<'_>| it.child("type").text() == type_ && it.child("status").text() == is;
    status.child("conditions").items().any(matches)
}

fn is_true(status: &Field<'_>, type_: &str) -> bool {
    has_condition(status, type_, "True")
}

fn is_finished(status: &Field<'_>) -> bool {
    is_true(status, "Complete") || is_true(status, "Failed")
}

/// A change of a job's status.
struct Change<'v> {
    spec: Field<'v>,
    new: Field<'v>,
    old: Field<'v>,
}

impl Change<'_> {
    fn is(&self, type_: &str) -> bool {
        is_true(&self.new, type_)
    }

    fn was(&self, type_: &str) -> bool {
        is_true(&self.old, type_)
    }

    /// Reports whether one of these conditions becomes true or stops being so.
    fn turns(&self, types: &[&str]) -> bool {
        types.iter().any(|type_| self.is(type_) != self.was(type_))
    }

    fn finishes(&self) -> bool {
        is_finished(&self.new) != is_finished(&self.old)
    }

    /// Reports whether one of these members changes.
    fn differs(&self, members: &[&str]) -> bool {
        members.iter().any(|member| self.new.child(member).value != self.old.child(member).value)
    }

    fn conflict(&self, found: bool, detail: &str, errors: &mut Errors) {
        if found {
            errors.invalid_whole(&self.new.child("conditions"), detail);
        }
    }

    fn is_indexed(&self) -> bool {
        self.spec.child("completionMode").text() == "Indexed"
    }

    fn counts(&self, errors: &mut Errors) {
        errors.none_negative(&self.new, &["active", "succeeded", "failed", "ready", "terminating"]);
        let uncounted = self.new.child("uncountedTerminatedPods");
        let mut seen: Vec<&str> = Vec::new();
        for list in ["succeeded", "failed"] {
            for uid in uncounted.child(list).items() {
                if uid.is_empty() {
                    errors.invalid(&uid, "must not be empty");
                } else if seen.contains(&uid.text()) {
                    errors.duplicate(&uid);
                }
                seen.push(uid.text());
            }
        }
    }

    fn results(&self, errors: &mut Errors) {
        let complete = self.is("Complete");
        let both = complete && self.is("Failed") && self.turns(&["Complete", "Failed"]);
        self.conflict(both, "cannot set Complete=True and Failed=true conditions", errors);
        let both = complete && self.is("FailureTarget") && self.turns(&["Complete", "FailureTarget"]);
        self.conflict(both, "cannot set Complete=True and FailureTarget=true conditions", errors);
        let (started, ended) = (self.new.child("startTime"), self.new.child("completionTime"));
        if self.turns(&["Complete"]) || self.differs(&["completionTime"]) {
            if ended.is_set() && !complete {
                let detail = "cannot set completionTime when there is no Complete=True condition";
                errors.invalid(&ended, detail);
            }
            if !ended.is_set() && complete {
                errors.required(&ended, "completionTime is required for Complete jobs");
            }
        }
        // All times have the same format, so texts compare like times.
        let is_before = started.is_set() && ended.is_set() && ended.text() < started.text();
        if is_before && self.differs(&["startTime", "completionTime"]) {
            errors.invalid(&ended, "must be equal to or after `startTime`");
        }
    }

    /// The conditions that precede the end of a job.
    fn reasons(&self, errors: &mut Errors) {
        let lacks = self.is("Failed") && !self.is("FailureTarget");
        let changes = self.turns(&["Failed"]) || self.differs(&["failedIndexes"]);
        let detail = "cannot set Failed=True condition without the FailureTarget=true condition";
        self.conflict(lacks && changes, detail, errors);
        let lacks = self.is("Complete") && !self.is("SuccessCriteriaMet");
        let detail = "cannot set Complete=True condition without the SuccessCriteriaMet=true condition";
        self.conflict(lacks && self.turns(&["Complete", "SuccessCriteriaMet"]), detail, errors);
    }

    /// Checks that a finished job has a start time, and neither active nor uncounted pods.
    fn finished(&self, errors: &mut Errors) {
        if !is_finished(&self.new) {
            return;
        }
        let over = |member: &str| self.finishes() || self.differs(&[member]);
        let active = self.new.child("active");
        if active.number_or_zero() > 0 && over("active") {
            errors.invalid(&active, "active>0 is invalid for finished job");
        }
        let has_no_work =
            self.spec.child("suspend").is_true() && self.spec.child("completions").number() == Some(0);
        if !self.new.child("startTime").is_set() && over("startTime") && !has_no_work {
            errors.required(&self.new.child("startTime"), "startTime is required for finished job");
        }
        let uncounted = self.new.child("uncountedTerminatedPods");
        let is_empty = uncounted.child("succeeded").is_empty() && uncounted.child("failed").is_empty();
        if !is_empty && over("uncountedTerminatedPods") {
            let shown = go_struct(uncounted.value, &[("Succeeded", "succeeded"), ("Failed", "failed")]);
            errors.invalid_as(&uncounted, &shown, "must be empty for finished job");
        }
    }

    fn indexes(&self, errors: &mut Errors) {
        let (completed, failed) = (self.new.child("completedIndexes"), self.new.child("failedIndexes"));
        let completions = self.spec.child("completions").number();
        let per_index = self.spec.child("backoffLimitPerIndex").is_set();
        let changed = |member: &str| self.differs(&[member]);
        let wrong = |indexes: &Field<'_>| {
            let fault = ordered(indexes.text(), completions?).err()?;
            let name = indexes.path.rsplit('.').next().unwrap_or_default();
            Some(format!("error parsing {name}: {fault}"))
        };
        if let Some(detail) = wrong(&completed).filter(|_| changed("completedIndexes")) {
            errors.invalid(&completed, &detail);
        }
        let checked = per_index && changed("failedIndexes");
        if let Some(detail) = wrong(&failed).filter(|_| checked) {
            errors.invalid(&failed, &detail);
        }
        if changed("completedIndexes") && !completed.is_empty() && !self.is_indexed() {
            let detail = "cannot set non-empty completedIndexes when non-indexed completion mode";
            errors.invalid(&completed, detail);
        }
        if changed("failedIndexes") && !per_index && failed.is_set() {
            errors.invalid(&failed, "cannot set non-null failedIndexes when backoffLimitPerIndex is null");
        }
        let common = completions.and_then(|most| overlap(completed.text(), failed.text(), most));
        if let Some(index) = common.filter(|_| changed("completedIndexes") || changed("failedIndexes")) {
            let detail = format!("failedIndexes and completedIndexes overlap at index: {index}");
            errors.invalid(&failed, &detail);
        }
    }

    fn pods(&self, errors: &mut Errors) {
        let (terminating, ready) = (self.new.child("terminating"), self.new.child("ready"));
        let changes = self.finishes() || self.differs(&["terminating"]);
        if terminating.number_or_zero() > 0 && is_finished(&self.new) && changes {
            errors.invalid(&terminating, "terminating>0 is invalid for finished job");
        }
        let more = ready.is_set() && ready.number_or_zero() > self.new.child("active").number_or_zero();
        if more && self.differs(&["ready", "active"]) {
            errors.invalid(&ready, "cannot set more ready pods than active");
        }
    }

    fn policy(&self, errors: &mut Errors) {
        let met = self.is("SuccessCriteriaMet");
        let detail = "cannot set SuccessCriteriaMet=True and Failed=true conditions";
        self.conflict(met && self.is("Failed"), detail, errors);
        let detail = "cannot set SuccessCriteriaMet=True and FailureTarget=true conditions";
        self.conflict(met && self.is("FailureTarget"), detail, errors);
        let lacks = self.spec.child("successPolicy").is_set() && !met && self.is("Complete");
        let detail = "cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True";
        self.conflict(lacks, detail, errors);
    }

    /// Checks that conditions which end a job stay.
    fn terminal(&self, errors: &mut Errors) {
        for type_ in ["Failed", "Complete", "FailureTarget"] {
            let detail = format!("cannot disable the terminal {type_}=True condition");
            self.conflict(self.was(type_) && !self.is(type_), &detail, errors);
        }
    }

    /// Checks numbers that only grow, and times and conditions that stay.
    fn monotonous(&self, errors: &mut Errors) {
        let scales = self.is_indexed()
            && self.spec.child("completions").number() == self.spec.child("parallelism").number();
        for (counter, may_fall) in [("failed", false), ("succeeded", scales)] {
            let (new, old) = (self.new.child(counter), self.old.child(counter));
            if new.number_or_zero() < old.number_or_zero() && !may_fall {
                errors.invalid_number(&new, &format!("cannot decrease the {counter} counter"));
            }
        }
        let (ended, ended_before) = (self.new.child("completionTime"), self.old.child("completionTime"));
        if ended.is_set() && ended_before.is_set() {
            errors.immutable(&ended, &ended_before);
        }
        let resumes = self.was("Suspended") && has_condition(&self.new, "Suspended", "False");
        let restarts = self.old.child("startTime").is_set() && self.differs(&["startTime"]) && !resumes;
        if restarts && !self.spec.child("suspend").is_true() {
            let detail = "field is immutable for unsuspended job once set";
            errors.invalid(&self.new.child("startTime"), detail);
        }
        let (met, was_met) = (self.is("SuccessCriteriaMet"), self.was("SuccessCriteriaMet"));
        let detail = "cannot disable the SuccessCriteriaMet=True condition";
        self.conflict(was_met && !met, detail, errors);
        let detail = "cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions";
        self.conflict(self.was("Complete") && !was_met && met, detail, errors);
    }
}

/// `validateIndexesFormat`: intervals such as `1,3-5` in increasing order.
fn ordered(indexes: &str, completions: i64) -> Result<(), String> {
    let mut last = None;
    for text in indexes.split(',').filter(|_| !indexes.is_empty()) {
        let (first, end) = interval(text, completions)?;
        if let Some(last) = last.filter(|last| *last >= first) {
            return Err(format!("non-increasing order, previous: {last}, current: {first}"));
        }
        last = Some(end);
    }
    Ok(())
}

/// `parseIndexInterval`.
fn interval(text: &str, completions: i64) -> Result<(i64, i64), String> {
    let mut ends = text.split('-');
    let (first, end) = (ends.next().unwrap_or_default(), ends.next());
    if ends.next().is_some() {
        return Err(format!(
            "the fragment {} violates the requirement that an index interval can have at most two parts separated by '-'",
            quoted(text)
        ));
    }
    let index = |text: &str| {
        let parsed: Result<i64, _> = text.parse();
        let index =
            parsed.map_err(|_| format!("cannot convert string to integer for index: {}", quoted(text)))?;
        if index >= completions { Err(format!("too large index: {}", quoted(text))) } else { Ok(index) }
    };
    let first = index(first)?;
    let Some(end) = end else { return Ok((first, first)) };
    let end = index(end)?;
    if first >= end {
        return Err(format!("non-increasing order, previous: {first}, current: {end}"));
    }
    Ok((first, end))
}

/// `validateFailedIndexesNotOverlapCompleted`: the first common index, which intervals in decreasing order may hide.
fn overlap(completed: &str, failed: &str, completions: i64) -> Option<i64> {
    let intervals = |text: &str| -> Vec<(i64, i64)> {
        text.split(',').filter_map(|text| interval(text, completions).ok()).collect()
    };
    let (completed, failed) = (intervals(completed), intervals(failed));
    let (mut completed, mut failed) = (completed.into_iter(), failed.into_iter());
    let (mut done, mut lost) = (completed.next()?, failed.next()?);
    loop {
        if done.0 <= lost.1 && lost.0 <= done.1 {
            return Some(done.0.max(lost.0));
        }
        if done.0 <= lost.0 {
            done = completed.next()?;
        } else {
            lost = failed.next()?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn causes(spec: &Value, old: &Value, new: &Value) -> Vec<(String, String)> {
        let job = |status: &Value| json!({"spec": spec, "status": status});
        let found = job_status(&job(new), &job(old));
        found.into_iter().map(|cause| (cause.field, cause.message)).collect()
    }

    fn fields(spec: &Value, old: &Value, new: &Value) -> Vec<String> {
        causes(spec, old, new).into_iter().map(|(field, _)| field).collect()
    }

    fn conditions(types: &[&str]) -> Value {
        types.iter().map(|type_| json!({"type": type_, "status": "True"})).collect()
    }

    #[test]
    fn finished_job_needs_start_and_completion_time() {
        let status = json!({"conditions": conditions(&["Complete"]), "succeeded": 1});
        assert_eq!(
            fields(&json!({}), &json!({}), &status),
            ["status.completionTime", "status.conditions", "status.startTime"]
        );
    }

    /// `TestValidateJobUpdateStatus` and `TestJobStatusUpdate...` of pkg/registry/batch/job/strategy_test.go.
    #[test]
    fn faults_count_only_if_the_update_makes_them() {
        let spec = json!({});
        let wrong = json!({"conditions": conditions(&["Complete", "Failed"]), "active": 1});
        assert_eq!(fields(&spec, &wrong, &wrong), Vec::<String>::new());
        let ready = json!({"ready": 2, "active": 1});
        assert_eq!(fields(&spec, &ready, &ready), Vec::<String>::new());
        assert_eq!(fields(&spec, &json!({"active": 2, "ready": 2}), &ready), ["status.ready"]);
    }

    #[test]
    fn counters_times_and_terminal_conditions_do_not_go_back() {
        let indexed = json!({"completionMode": "Indexed", "completions": 2, "parallelism": 2});
        let failed = json!({"conditions": conditions(&["Failed", "FailureTarget"]), "startTime": "t"});
        for (spec, old, new, expected) in [
            (&json!({}), json!({"failed": 2}), json!({"failed": 1}), vec!["status.failed"]),
            (&json!({}), json!({"succeeded": 2}), json!({"succeeded": 1}), vec!["status.succeeded"]),
            (&indexed, json!({"succeeded": 2}), json!({"succeeded": 1}), vec![]),
            (&json!({}), json!({"startTime": "a"}), json!({"startTime": "b"}), vec!["status.startTime"]),
            (&json!({"suspend": true}), json!({"startTime": "a"}), json!({"startTime": "b"}), vec![]),
            (&json!({}), failed, json!({"startTime": "t"}), vec!["status.conditions", "status.conditions"]),
        ] {
            assert_eq!(fields(spec, &old, &new), expected, "{new}");
        }
    }

    #[test]
    fn indexes_are_ordered_and_disjoint() {
        let spec = json!({"completionMode": "Indexed", "completions": 6, "parallelism": 1, "backoffLimitPerIndex": 1});
        let found = |completed: &str, failed: &str| {
            let new = json!({"completedIndexes": completed, "failedIndexes": failed});
            causes(&spec, &json!({}), &new).into_iter().map(|(_, message)| message).collect::<Vec<_>>()
        };
        assert_eq!(found("1,3-5", "0,2"), Vec::<String>::new());
        for (completed, failed, text) in [
            ("1-2-3", "", "the fragment \"1-2-3\" violates the requirement"),
            ("x", "", "error parsing completedIndexes: cannot convert string to integer for index: \"x\""),
            ("", "6", "error parsing failedIndexes: too large index: \"6\""),
            ("3,1", "", "non-increasing order, previous: 3, current: 1"),
            ("1-4", "4-5", "failedIndexes and completedIndexes overlap at index: 4"),
        ] {
            let messages = found(completed, failed);
            assert!(messages.iter().any(|message| message.contains(text)), "{messages:?}");
        }
    }
}
