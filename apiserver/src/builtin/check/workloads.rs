//! Kinds whose controllers make pods.

use serde_json::Value;

use super::{fixed, not_negative, one_of, pods, text};
use crate::label_selector;
use crate::names::quoted;
use crate::status::Cause;

/// Kinds with a selector, a template and perhaps a number of replicas.
pub(in crate::builtin) fn workload(object: &Value, old: Option<&Value>) -> Vec<Cause> {
    let mut causes = Vec::new();
    let spec = &object["spec"];
    for field in ["replicas", "minReadySeconds", "revisionHistoryLimit", "progressDeadlineSeconds"] {
        not_negative(spec, "spec", field, &mut causes);
    }
    let selector = &spec["selector"];
    let labels = &spec["template"]["metadata"]["labels"];
    if label_selector::is_empty(selector) {
        causes.push(Cause::required("spec.selector", ""));
    } else if !label_selector::matches(selector, labels) {
        mismatch(labels, &mut causes);
    }
    if object["kind"] == "StatefulSet" {
        causes.extend(old.and_then(|old| stateful_update(spec, &old["spec"])));
    } else {
        fixed("spec.selector", selector, old.map(|old| &old["spec"]["selector"]), &mut causes);
    }
    if let Some(strategy) = spec.get("strategy") {
        one_of(strategy, "spec.strategy", "type", &["Recreate", "RollingUpdate"], &mut causes);
        rolling_update(strategy, &mut causes);
    }
    template(&spec["template"]["spec"], &mut causes);
    causes
}

/// The pods of a controller that keeps them running are started again.
fn template(spec: &Value, causes: &mut Vec<Cause>) {
    pods::spec(spec, "spec.template.spec", causes);
    let policy = text(spec, "restartPolicy");
    if matches!(policy, "OnFailure" | "Never") {
        let field = "spec.template.spec.restartPolicy";
        causes.push(Cause::not_supported(field, &quoted(policy), &["Always"]));
    }
}

fn mismatch(labels: &Value, causes: &mut Vec<Cause>) {
    let shown = if labels.is_null() { "null".to_owned() } else { labels.to_string() };
    let text = "`selector` does not match template `labels`";
    causes.push(Cause::invalid("spec.template.metadata.labels", shown, text));
}

fn rolling_update(strategy: &Value, causes: &mut Vec<Cause>) {
    let rolling = &strategy["rollingUpdate"];
    let none = |value: &Value| *value == 0 || *value == "0%";
    if strategy["type"] == "Recreate" && rolling.is_object() {
        let text = "may not be specified when strategy `type` is 'Recreate'";
        causes.push(Cause::forbidden("spec.strategy.rollingUpdate", text));
    } else if rolling.is_object() && none(&rolling["maxUnavailable"]) && none(&rolling["maxSurge"]) {
        let text = "may not be 0 when `maxSurge` is 0";
        let field = "spec.strategy.rollingUpdate.maxUnavailable";
        causes.push(Cause::invalid(field, &rolling["maxUnavailable"], text));
    }
}

fn stateful_update(new: &Value, old: &Value) -> Option<Cause> {
    const FREE: &[&str] = &[
        "replicas",
        "ordinals",
        "template",
        "updateStrategy",
        "revisionHistoryLimit",
        "persistentVolumeClaimRetentionPolicy",
        "minReadySeconds",
    ];
    let frozen = |spec: &Value| {
        let mut spec = spec.clone();
        if let Some(spec) = spec.as_object_mut() {
            spec.retain(|key, _| !FREE.contains(&key.as_str()));
        }
        spec
    };
    let text = "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', \
                'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";
    (frozen(new) != frozen(old)).then(|| Cause::forbidden("spec", text))
}

pub(in crate::builtin) fn replication_controller(object: &Value, _: Option<&Value>) -> Vec<Cause> {
    let mut causes = Vec::new();
    let spec = &object["spec"];
    not_negative(spec, "spec", "replicas", &mut causes);
    if spec["selector"].as_object().is_none_or(serde_json::Map::is_empty) {
        causes.push(Cause::required("spec.selector", ""));
    }
    if spec["template"].is_null() {
        causes.push(Cause::required("spec.template", ""));
        return causes;
    }
    let labels = &spec["template"]["metadata"]["labels"];
    let selected = spec["selector"].as_object().into_iter().flatten().all(|(k, v)| labels.get(k) == Some(v));
    if !selected {
        mismatch(labels, &mut causes);
    }
    template(&spec["template"]["spec"], &mut causes);
    causes
}

pub(in crate::builtin) fn job(object: &Value, old: Option<&Value>) -> Vec<Cause> {
    let mut causes = Vec::new();
    let spec = &object["spec"];
    job_spec(spec, "spec", &mut causes);
    if let Some(old) = old.map(|old| &old["spec"]) {
        for field in ["selector", "template", "completionMode"] {
            // A suspended job's template may still be arranged.
            let open = field == "template" && old["suspend"] == true;
            if !open {
                fixed(&format!("spec.{field}"), &spec[field], Some(&old[field]), &mut causes);
            }
        }
        if spec["completionMode"] != "Indexed" {
            fixed("spec.completions", &spec["completions"], Some(&old["completions"]), &mut causes);
        }
    }
    causes
}

fn job_spec(spec: &Value, path: &str, causes: &mut Vec<Cause>) {
    for field in
        ["parallelism", "completions", "backoffLimit", "activeDeadlineSeconds", "ttlSecondsAfterFinished"]
    {
        not_negative(spec, path, field, causes);
    }
    let template = format!("{path}.template.spec");
    pods::spec(&spec["template"]["spec"], &template, causes);
    if !matches!(text(&spec["template"]["spec"], "restartPolicy"), "OnFailure" | "Never") {
        let text = "valid values: \"OnFailure\", \"Never\"";
        causes.push(Cause::required(format!("{template}.restartPolicy"), text));
    }
}

pub(in crate::builtin) fn cron_job(object: &Value, _: Option<&Value>) -> Vec<Cause> {
    let mut causes = Vec::new();
    let spec = &object["spec"];
    let name = crate::meta::name(object);
    if name.len() > 52 {
        let text = "must be no more than 52 characters";
        causes.push(Cause::invalid("metadata.name", quoted(name), text));
    }
    let schedule = text(spec, "schedule");
    let fields = schedule.split_whitespace().count();
    if schedule.is_empty() {
        causes.push(Cause::required("spec.schedule", ""));
    } else if !schedule.starts_with('@') && fields != 5 {
        let text = format!("expected exactly 5 fields, found {fields}: {:?}", fields_of(schedule));
        causes.push(Cause::invalid("spec.schedule", quoted(schedule), &text));
    }
    one_of(spec, "spec", "concurrencyPolicy", &["Allow", "Forbid", "Replace"], &mut causes);
    for field in ["startingDeadlineSeconds", "successfulJobsHistoryLimit", "failedJobsHistoryLimit"] {
        not_negative(spec, "spec", field, &mut causes);
    }
    job_spec(&spec["jobTemplate"]["spec"], "spec.jobTemplate.spec", &mut causes);
    causes
}

fn fields_of(schedule: &str) -> Vec<&str> {
    schedule.split_whitespace().collect()
}

pub(in crate::builtin) fn disruption_budget(object: &Value, _: Option<&Value>) -> Vec<Cause> {
    let mut causes = Vec::new();
    let spec = &object["spec"];
    if !spec["minAvailable"].is_null() && !spec["maxUnavailable"].is_null() {
        let text = "minAvailable and maxUnavailable cannot be both set";
        causes.push(Cause::invalid("spec", spec, text));
    }
    for field in ["minAvailable", "maxUnavailable"] {
        not_negative(spec, "spec", field, &mut causes);
    }
    causes
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn fields(causes: Vec<Cause>) -> Vec<String> {
        causes.into_iter().map(|cause| cause.field).collect()
    }

    #[test]
    fn a_rolling_update_has_to_move() {
        let spec = json!({"selector": {"matchLabels": {"a": "b"}}, "strategy": {"type": "RollingUpdate",
            "rollingUpdate": {"maxSurge": 0, "maxUnavailable": "0%"}},
            "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}});
        assert_eq!(
            fields(workload(&json!({"spec": spec}), None)),
            ["spec.strategy.rollingUpdate.maxUnavailable"]
        );
    }

    #[test]
    fn a_job_s_pods_end() {
        let template =
            json!({"spec": {"restartPolicy": "Always", "containers": [{"name": "c", "image": "i"}]}});
        let causes = job(&json!({"spec": {"template": template}}), None);
        assert_eq!(fields(causes), ["spec.template.spec.restartPolicy"]);
    }

    #[test]
    fn a_schedule_has_five_fields() {
        let with = |schedule: &str| {
            let template =
                json!({"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}});
            cron_job(
                &json!({"spec": {"schedule": schedule, "jobTemplate": {"spec": {"template": template}}}}),
                None,
            )
        };
        assert!(with("*/5 * * * *").is_empty());
        assert!(with("@hourly").is_empty());
        assert_eq!(fields(with("* * *")), ["spec.schedule"]);
    }
}
