//! Jobs and cron jobs. Source: `pkg/apis/batch/validation`.

use serde_json::{Map, Value, json};

use super::field::{Errors, Field};
use super::tolerated::Tolerated;
use super::{job_policies, job_status, workloads};
use crate::cron::Schedule;
use crate::meta::{copy_member, map_at, object_mut};
use crate::names::{NameRule, quoted};
use crate::status::Cause;

/// `ValidateJob`, and `ValidateJobUpdate`, which checks the spec once more.
pub(in crate::builtin) fn job(object: &Value, old: Option<&Value>) -> Vec<Cause> {
    Errors::of(|errors| {
        let spec = Field::root(object).child("spec");
        if old.is_none() {
            generated_selector(object, &spec, errors);
        }
        let tolerated = Tolerated::of_template(old);
        whole_spec(&spec, tolerated, errors);
        hostnames(object, &spec, errors);
        if let Some(old) = old {
            whole_spec(&spec, tolerated, errors);
            job_update(&spec, old, errors);
        }
    })
}

/// `ValidateJobSpec`.
fn whole_spec(spec: &Field<'_>, tolerated: Tolerated, errors: &mut Errors) {
    job_spec(spec, tolerated, errors);
    let selector = spec.child("selector");
    if !selector.is_set() {
        errors.required(&selector, "");
    }
    errors.label_selector(&selector);
    if crate::selector::is_valid(selector.value) {
        workloads::matching_labels(spec, errors);
    }
}

/// `validateGeneratedSelector`: unless a user manages it, the selector is built from the job's UID.
fn generated_selector(object: &Value, spec: &Field<'_>, errors: &mut Errors) {
    let selector = spec.child("selector");
    if spec.child("manualSelector").is_true() || !selector.is_set() {
        return;
    }
    let (uid, name) = (&object["metadata"]["uid"], &object["metadata"]["name"]);
    let labels = spec.child("template").child("metadata").child("labels");
    for (key, expected) in [
        ("controller-uid", uid),
        ("job-name", name),
        ("batch.kubernetes.io/controller-uid", uid),
        ("batch.kubernetes.io/job-name", name),
    ] {
        has_label(&labels, key, expected.as_str().unwrap_or_default(), errors);
    }
    let expected = json!({"controller-uid": uid, "job-name": name, "batch.kubernetes.io/controller-uid": uid,
        "batch.kubernetes.io/job-name": name});
    if crate::selector::is_valid(selector.value) && !crate::selector::matches(selector.value, &expected) {
        errors.invalid(&selector, "`selector` not auto-generated");
    }
}

/// `ValidateHasLabel`.
fn has_label(labels: &Field<'_>, key: &str, expected: &str, errors: &mut Errors) {
    let path = format!("{}[{key}]", labels.path);
    let detail = format!("must be '{expected}'");
    match labels.value[key].as_str() {
        None => errors.push(Cause::required(path, &detail)),
        Some(value) if value != expected => errors.push(Cause::invalid(path, labels.value, &detail)),
        Some(_) => {}
    }
}

/// Checks the hostnames of an indexed job's pods, which consist of the job's name and an index.
fn hostnames(object: &Value, spec: &Field<'_>, errors: &mut Errors) {
    let completions = spec.child("completions").number_or_zero();
    if spec.child("completionMode").text() != "Indexed" || completions <= 0 {
        return;
    }
    let name = crate::meta::name(object);
    let longest = format!("{name}-{}", completions - 1);
    if !NameRule::Label.check(&longest).is_empty() {
        let detail = format!("will not able to create pod with invalid DNS label: {longest}");
        errors.push(Cause::invalid("metadata.name", quoted(name), &detail));
    }
}

/// The limit of parallel pods of an indexed job: `maxParallelismForIndexedJob`.
const MOST_INDEXED: i64 = 100_000;
/// The limit of parallel pods and failed indexes of an indexed job with more completions than this.
const MOST_OF_MANY: i64 = 10_000;

fn job_spec(spec: &Field<'_>, tolerated: Tolerated, errors: &mut Errors) {
    let numbers =
        ["parallelism", "completions", "activeDeadlineSeconds", "backoffLimit", "ttlSecondsAfterFinished"];
    errors.none_negative(spec, &numbers);
    let (per_index, failed) = (spec.child("backoffLimitPerIndex"), spec.child("maxFailedIndexes"));
    errors.not_negative(&per_index);
    errors.not_negative(&failed);
    if failed.is_set() && !per_index.is_set() {
        errors.required(&per_index, "when maxFailedIndexes is specified");
    }
    managed_by(&spec.child("managedBy"), errors);
    let mode = spec.child("completionMode");
    errors.optional_one_of(&mode, &["NonIndexed", "Indexed"]);
    if mode.text() == "Indexed" {
        indexed(spec, errors);
    } else if matches!(mode.value.as_str(), None | Some("NonIndexed")) {
        for field in ["backoffLimitPerIndex", "maxFailedIndexes"] {
            let field = spec.child(field);
            if field.is_set() {
                errors.invalid(&field, "requires indexed completion mode");
            }
        }
    }
    let (failure, success) = (spec.child("podFailurePolicy"), spec.child("successPolicy"));
    if failure.is_set() {
        job_policies::pod_failure(spec, errors);
    }
    if success.is_set() && mode.text() == "Indexed" {
        job_policies::success(spec, errors);
    } else if success.is_set() {
        let shown = job_policies::success_policy_in_go(success.value);
        errors.invalid_as(&success, &shown, "requires indexed completion mode");
    }
    let replacements: &[&str] =
        if failure.is_set() { &["Failed"] } else { &["Failed", "TerminatingOrFailed"] };
    errors.optional_one_of(&spec.child("podReplacementPolicy"), replacements);
    let pods = spec.child("template");
    workloads::template(&pods, tolerated, errors);
    let policy = pods.child("spec").child("restartPolicy");
    match policy.text() {
        "" | "Always" => errors.required(&policy, "valid values: \"OnFailure\", \"Never\""),
        "OnFailure" if failure.is_set() => {
            errors.invalid(&policy, "only \"Never\" is supported when podFailurePolicy is specified");
        }
        "OnFailure" | "Never" => {}
        _ => errors.not_supported(&policy, &["OnFailure", "Never"]),
    }
}

/// The longest value of `managedBy`.
const LONGEST_MANAGER: usize = 63;

fn managed_by(manager: &Field<'_>, errors: &mut Errors) {
    if manager.is_set() {
        errors.domain_prefixed_path(manager);
        if manager.text().len() > LONGEST_MANAGER {
            errors.too_long(&manager.path, LONGEST_MANAGER);
        }
    }
}

/// Checks the fields that an indexed job needs, and its limits.
fn indexed(spec: &Field<'_>, errors: &mut Errors) {
    let (completions, parallelism) = (spec.child("completions"), spec.child("parallelism"));
    let failed = spec.child("maxFailedIndexes");
    if !completions.is_set() {
        errors.required(&completions, "when completion mode is Indexed");
    }
    if parallelism.number_or_zero() > MOST_INDEXED {
        let detail = format!("must be less than or equal to {MOST_INDEXED} when completion mode is Indexed");
        errors.invalid(&parallelism, &detail);
    }
    if completions.is_set() && failed.number().is_some_and(|most| most > completions.number_or_zero()) {
        errors.invalid(&failed, "must be less than or equal to completions");
    }
    if failed.number_or_zero() > MOST_INDEXED {
        errors.invalid(&failed, &format!("must be less than or equal to {MOST_INDEXED}"));
    }
    if completions.number_or_zero() <= MOST_INDEXED || !spec.child("backoffLimitPerIndex").is_set() {
        return;
    }
    if !failed.is_set() {
        errors.required(&failed, &format!("must be specified when completions is above {MOST_INDEXED}"));
    }
    for bound in [parallelism, failed].iter().filter(|bound| bound.number_or_zero() > MOST_OF_MANY) {
        let detail = format!(
            "must be less than or equal to {MOST_OF_MANY} when completions are above {MOST_INDEXED} and used with \
             backoff limit per index"
        );
        errors.invalid(bound, &detail);
    }
}

/// `validateCompletions`: indexed jobs are scaled as a whole.
fn completions_update(spec: &Field<'_>, old: &Field<'_>, errors: &mut Errors) {
    let (completions, before) = (spec.child("completions"), old.child("completions"));
    if spec.child("completionMode").text() != "Indexed" {
        return errors.immutable(&completions, &before);
    }
    let is_changed = completions.is_set() && completions.value != before.value;
    if is_changed && completions.number() != spec.child("parallelism").number() {
        errors.invalid(&completions, "can only be modified in tandem with spec.parallelism");
    }
}

/// `ValidateJobSpecUpdate`.
fn job_update(spec: &Field<'_>, old: &Value, errors: &mut Errors) {
    let before = Field::root(old).child("spec");
    completions_update(spec, &before, errors);
    super::workloads::immutable_selector(&spec.child("selector"), before.child("selector").value, errors);
    template_update(&spec.child("template"), old, errors);
    for field in ["completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy", "successPolicy"]
    {
        errors.immutable(&spec.child(field), &before.child(field));
    }
}

/// `validatePodTemplateUpdate`: only a suspended job without pods may get other resources and scheduling directives.
fn template_update(template: &Field<'_>, old: &Value, errors: &mut Errors) {
    let before = &old["spec"]["template"];
    if !has_mutable_template(old) {
        errors.immutable(template, &template.holding(before));
        return;
    }
    let (spec, mut before) = (template.child("spec"), before["spec"].clone());
    allow_affinity(spec.value, &mut before);
    for directive in ["nodeSelector", "tolerations", "schedulingGates"] {
        copy_member(spec.value, &mut before, directive);
    }
    for list in ["containers", "initContainers"] {
        let given = spec.child(list);
        let containers = before.get_mut(list).and_then(Value::as_array_mut);
        let same = containers.filter(|containers| containers.len() == given.items().count());
        for (container, given) in same.into_iter().flatten().zip(given.items()) {
            if container["name"] == given.value["name"] {
                copy_member(given.value, container, "resources");
            }
        }
    }
    errors.immutable(&spec, &spec.holding(&before));
}

/// `shouldAllowMutablePodTemplate` of pkg/registry/batch/job/strategy.go.
fn has_mutable_template(job: &Value) -> bool {
    let status = Field::root(job).child("status");
    let may = !status.child("startTime").is_set() || job_status::has_condition(&status, "Suspended", "True");
    job["spec"]["suspend"] == true && may && status.child("active").number_or_zero() == 0
}

/// Takes over the node affinity of the new template.
fn allow_affinity(spec: &Value, before: &mut Value) {
    let (is_set, was_set) = (!spec["affinity"].is_null(), !before["affinity"].is_null());
    if !is_set && !was_set {
        return;
    }
    copy_member(&spec["affinity"], map_value(before, "affinity"), "nodeAffinity");
    if !is_set && before["affinity"].as_object().is_some_and(Map::is_empty) {
        object_mut(before).remove("affinity");
    }
}

/// Returns the member as a map; creates it when absent.
fn map_value<'a>(object: &'a mut Value, member: &str) -> &'a mut Value {
    map_at(object, member);
    &mut object[member]
}

/// The longest name of a cron job: its jobs add eleven characters.
const LONGEST_NAME: usize = 52;

pub(in crate::builtin) fn cron_job(object: &Value, old: Option<&Value>) -> Vec<Cause> {
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
        let before = old.map(|old| &old["spec"]["jobTemplate"]);
        job_spec(&own, Tolerated::of_template(before), errors);
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
    fn indexed_job_is_scaled_as_a_whole() {
        let job = |completions: i64, parallelism: i64| json!({"spec": {"completionMode": "Indexed", "completions": completions, "parallelism": parallelism}});
        let found = |new: &Value, old: &Value| {
            let causes = super::job(new, Some(old));
            causes
                .iter()
                .any(|cause| cause.field == "spec.completions" && cause.message.contains("in tandem with"))
        };
        assert!(found(&job(5, 2), &job(2, 2)));
        assert!(!found(&job(5, 5), &job(2, 2)));
        assert!(!found(&job(2, 1), &job(2, 2)));
    }

    #[test]
    fn absent_limit_of_failed_indexes_is_not_compared() {
        let spec = json!({"completionMode": "Indexed", "completions": -1, "backoffLimitPerIndex": 1,
                          "template": template("Never")});
        let found = fields(super::job(&json!({"spec": spec}), None));
        assert!(found.contains(&"spec.completions".to_owned()), "{found:?}");
        assert!(!found.contains(&"spec.maxFailedIndexes".to_owned()), "{found:?}");
    }

    #[test]
    fn job_pods_need_a_restart_policy_that_ends() {
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
    fn suspended_job_without_pods_gets_other_resources_and_directives() {
        let job = |status: Value, template: Value| json!({"spec": {"suspend": true, "template": {"spec": template}}, "status": status});
        let before =
            json!({"containers": [{"name": "a", "image": "i"}], "affinity": {"nodeAffinity": {"x": 1}}});
        let after = json!({"containers": [{"name": "a", "image": "i", "resources": {"limits": {"cpu": "1"}}}],
            "nodeSelector": {"a": "b"}, "tolerations": [{"key": "k"}]});
        let image = json!({"containers": [{"name": "a", "image": "j"}]});
        let suspended = json!({"startTime": "t", "conditions": [{"type": "Suspended", "status": "True"}]});
        for (status, new, expected) in [
            (json!({}), &after, vec![]),
            (suspended, &after, vec![]),
            (json!({}), &image, vec!["spec.template.spec"]),
            (json!({"startTime": "t"}), &after, vec!["spec.template"]),
            (json!({"active": 1}), &after, vec!["spec.template"]),
        ] {
            let (old, new) = (job(status.clone(), before.clone()), job(status, new.clone()));
            let causes = Errors::of(|errors| {
                template_update(&Field::root(&new).child("spec").child("template"), &old, errors);
            });
            assert_eq!(fields(causes), expected, "{new}");
        }
    }
}
