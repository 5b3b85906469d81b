//! Jobs and cron jobs. Source: `pkg/apis/batch/validation`.

use serde_json::{Value, json};

use super::field::{Errors, Field};
use super::workloads;
use crate::cron::Schedule;
use crate::names::quoted;
use crate::status::Cause;

pub(in crate::builtin) fn job(object: &Value, old: Option<&Value>) -> Vec<Cause> {
    Errors::of(|errors| {
        let spec = Field::root(object).child("spec");
        if old.is_none() {
            generated_selector(object, &spec, errors);
        }
        job_spec(&spec, errors);
        if !spec.child("selector").is_set() {
            errors.required(&spec.child("selector"), "");
        }
        errors.label_selector(&spec.child("selector"));
        workloads::matching_labels(&spec, errors);
        if let Some(old) = old {
            job_update(&spec, &Field::root(old).child("spec"), errors);
        }
    })
}

/// `validateGeneratedSelector`: unless a user manages it, the selector is made from the job's UID.
fn generated_selector(object: &Value, spec: &Field<'_>, errors: &mut Errors) {
    let selector = spec.child("selector");
    if spec.child("manualSelector").is_true() || !selector.is_set() {
        return;
    }
    let (uid, name) = (&object["metadata"]["uid"], &object["metadata"]["name"]);
    let expected = json!({"controller-uid": uid, "job-name": name, "batch.kubernetes.io/controller-uid": uid,
        "batch.kubernetes.io/job-name": name});
    if !crate::selector::matches(selector.value, &expected) {
        errors.invalid(&selector, "`selector` not auto-generated");
    }
}

/// The most pods of an indexed job at a time: `maxParallelismForIndexedJob`.
const MOST_INDEXED: i64 = 100_000;

fn job_spec(spec: &Field<'_>, errors: &mut Errors) {
    let numbers =
        ["parallelism", "completions", "activeDeadlineSeconds", "backoffLimit", "ttlSecondsAfterFinished"];
    errors.none_negative(spec, &numbers);
    errors.none_negative(spec, &["backoffLimitPerIndex", "maxFailedIndexes"]);
    let (mode, completions) = (spec.child("completionMode"), spec.child("completions"));
    errors.optional_one_of(&mode, &["Indexed", "NonIndexed"]);
    if mode.text() == "Indexed" {
        if !completions.is_set() {
            errors.required(&completions, "when completion mode is Indexed");
        }
        let parallelism = spec.child("parallelism");
        if parallelism.number_or_zero() > MOST_INDEXED {
            let detail =
                format!("must be less than or equal to {MOST_INDEXED} when completion mode is Indexed");
            errors.invalid(&parallelism, &detail);
        }
    } else {
        for field in ["backoffLimitPerIndex", "maxFailedIndexes"] {
            let field = spec.child(field);
            if field.is_set() {
                errors.invalid(&field, "requires indexed completion mode");
            }
        }
    }
    let replacement = spec.child("podReplacementPolicy");
    errors.optional_one_of(&replacement, &["Failed", "TerminatingOrFailed"]);
    let pods = spec.child("template");
    workloads::template(&pods, errors);
    let policy = pods.child("spec").child("restartPolicy");
    if !["OnFailure", "Never"].contains(&policy.text()) {
        errors.required(&policy, "valid values: \"OnFailure\", \"Never\"");
    }
    if spec.child("podFailurePolicy").is_set() && policy.text() != "Never" {
        errors.invalid(&policy, "only \"Never\" is supported when podFailurePolicy is specified");
    }
}

/// `ValidateJobSpecUpdate`.
fn job_update(spec: &Field<'_>, old: &Field<'_>, errors: &mut Errors) {
    if spec.child("completionMode").text() != "Indexed" {
        errors.immutable(&spec.child("completions"), &old.child("completions"));
    }
    errors.immutable(&spec.child("selector"), &old.child("selector"));
    // A suspended job's template may still be arranged.
    if !old.child("suspend").is_true() {
        errors.immutable(&spec.child("template"), &old.child("template"));
    }
    for field in ["completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy", "successPolicy"]
    {
        errors.immutable(&spec.child(field), &old.child(field));
    }
}

/// `validateJobStatus`: a finished job says when it began and ended.
pub(in crate::builtin) fn job_status(new: &Value, _: &Value) -> Vec<Cause> {
    Errors::of(|errors| {
        let status = Field::root(new).child("status");
        errors.none_negative(&status, &["active", "succeeded", "failed", "ready", "terminating"]);
        let conditions = status.child("conditions");
        let holds = |type_: &str| {
            let is = |it: Field<'_>| it.child("type").text() == type_ && it.child("status").text() == "True";
            conditions.items().any(is)
        };
        let (complete, failed) = (holds("Complete"), holds("Failed"));
        let (started, ended) = (status.child("startTime"), status.child("completionTime"));
        if complete && !ended.is_set() {
            errors.required(&ended, "completionTime is required for Complete jobs");
        }
        if ended.is_set() && !complete {
            errors.invalid(&ended, "completionTime cannot be set when there is no Complete=True condition");
        }
        let invalid = |errors: &mut Errors, detail: &str| {
            errors.push(Cause::new(
                "FieldValueInvalid",
                &conditions.path,
                format!("Invalid value: {detail}"),
            ));
        };
        if complete && failed {
            invalid(errors, "cannot set Complete=True and Failed=true conditions");
        }
        if complete && !holds("SuccessCriteriaMet") {
            invalid(
                errors,
                "cannot set Complete=True condition without the SuccessCriteriaMet=true condition",
            );
        }
        if failed && !holds("FailureTarget") {
            invalid(errors, "cannot set Failed=True condition without the FailureTarget=true condition");
        }
        if (complete || failed) && !started.is_set() {
            errors.required(&started, "startTime is required for finished job");
        }
    })
}

/// The longest name of a cron job: its jobs add eleven characters.
const LONGEST_NAME: usize = 52;

pub(in crate::builtin) fn cron_job(object: &Value, _: Option<&Value>) -> Vec<Cause> {
    Errors::of(|errors| {
        let name = crate::meta::name(object);
        let spec = Field::root(object).child("spec");
        schedule(&spec, errors);
        errors.not_negative(&spec.child("startingDeadlineSeconds"));
        errors.one_of(&spec.child("concurrencyPolicy"), &["Allow", "Forbid", "Replace"]);
        let template = spec.child("jobTemplate");
        let own = template.child("spec");
        if own.child("selector").is_set() {
            errors.invalid(&own.child("selector"), "`selector` will be auto-generated");
        }
        if own.child("manualSelector").is_true() {
            errors.not_supported(&own.child("manualSelector"), &["nil", "false"]);
        }
        job_spec(&own, errors);
        errors.none_negative(&spec, &["successfulJobsHistoryLimit", "failedJobsHistoryLimit"]);
        if name.len() > LONGEST_NAME {
            let detail = format!("must be no more than {LONGEST_NAME} characters");
            errors.push(Cause::invalid("metadata.name", quoted(name), &detail));
        }
    })
}

fn schedule(spec: &Field<'_>, errors: &mut Errors) {
    let (schedule, zone) = (spec.child("schedule"), spec.child("timeZone"));
    if schedule.is_empty() {
        errors.required(&schedule, "");
    } else {
        if let Err(fault) = Schedule::parse(schedule.text()) {
            errors.invalid(&schedule, &fault);
        }
        if schedule.text().contains("TZ") {
            errors.invalid(&schedule, "cannot use TZ or CRON_TZ in schedule, use timeZone field instead");
        }
    }
    if !zone.is_set() {
        return;
    }
    if zone.is_empty() {
        errors.invalid(&zone, "timeZone must be nil or non-empty string");
    } else if zone.text().eq_ignore_ascii_case("local") {
        let detail = "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones";
        errors.invalid(&zone, detail);
    } else if jiff::tz::TimeZone::get(zone.text()).is_err() {
        errors.invalid(&zone, &format!("unknown time zone {}", zone.text()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn template(policy: &str) -> Value {
        let container = json!({"name": "c", "image": "i", "terminationMessagePolicy": "File", "imagePullPolicy": "Always"});
        json!({"metadata": {"labels": {"a": "b"}},
            "spec": {"restartPolicy": policy, "dnsPolicy": "Default", "containers": [container]}})
    }

    fn fields(causes: Vec<Cause>) -> Vec<String> {
        causes.into_iter().map(|cause| cause.field).collect()
    }

    #[test]
    fn job_pods_end() {
        let spec = json!({"manualSelector": true, "selector": {"matchLabels": {"a": "b"}}, "template": template("Always")});
        assert_eq!(fields(job(&json!({"spec": spec}), None)), ["spec.template.spec.restartPolicy"]);
    }

    #[test]
    fn schedule_has_five_fields() {
        let with = |schedule: &str| {
            let spec = json!({"schedule": schedule, "concurrencyPolicy": "Allow",
                "jobTemplate": {"spec": {"template": template("Never")}}});
            fields(cron_job(&json!({"spec": spec}), None))
        };
        assert!(with("*/5 * * * *").is_empty());
        assert!(with("@hourly").is_empty());
        assert_eq!(with("* * *"), ["spec.schedule"]);
    }

    #[test]
    fn finished_job_says_when() {
        let condition = json!({"type": "Complete", "status": "True"});
        let status = json!({"status": {"conditions": [condition], "succeeded": 1}});
        assert_eq!(
            fields(job_status(&status, &json!({}))),
            ["status.completionTime", "status.conditions", "status.startTime"]
        );
    }
}
