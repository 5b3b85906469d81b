//! Kinds whose controllers make pods.

use serde_json::{Value, json};

use super::pods::template_of;
use super::{Stage, each, fill};
use crate::meta::{self, map_at};

pub(in crate::builtin) fn deployment(object: &mut Value, _: Stage) {
    map_at(object, "spec");
    let spec = &mut object["spec"];
    fill(spec, "replicas", 1);
    template_of(spec);
    map_at(spec, "strategy");
    fill(&mut spec["strategy"], "type", "RollingUpdate");
    if spec["strategy"]["type"] == "RollingUpdate" {
        let rolling = "rollingUpdate";
        map_at(&mut spec["strategy"], rolling);
        fill(&mut spec["strategy"][rolling], "maxUnavailable", "25%");
        fill(&mut spec["strategy"][rolling], "maxSurge", "25%");
    }
    fill(spec, "revisionHistoryLimit", 10);
    fill(spec, "progressDeadlineSeconds", 600);
}

pub(in crate::builtin) fn replica_set(object: &mut Value, _: Stage) {
    map_at(object, "spec");
    fill(&mut object["spec"], "replicas", 1);
    template_of(&mut object["spec"]);
}

pub(in crate::builtin) fn replication_controller(object: &mut Value, _: Stage) {
    map_at(object, "spec");
    let spec = &mut object["spec"];
    fill(spec, "replicas", 1);
    if spec["template"].is_object() {
        template_of(spec);
    }
    let labels = spec["template"]["metadata"]["labels"].clone();
    if !labels.is_null() {
        fill(spec, "selector", labels);
        labels_of_template(object);
    }
}

/// Copies the template's labels to an object without labels.
fn labels_of_template(object: &mut Value) {
    let labels = object["spec"]["template"]["metadata"]["labels"].clone();
    if labels.is_object() && object["metadata"].is_object() {
        fill(&mut object["metadata"], "labels", labels);
    }
}

pub(in crate::builtin) fn stateful_set(object: &mut Value, _: Stage) {
    map_at(object, "spec");
    let spec = &mut object["spec"];
    fill(spec, "replicas", 1);
    template_of(spec);
    fill(spec, "podManagementPolicy", "OrderedReady");
    map_at(spec, "updateStrategy");
    let strategy = &mut spec["updateStrategy"];
    if strategy["type"].is_null() {
        fill(strategy, "type", "RollingUpdate");
        map_at(strategy, "rollingUpdate");
    }
    if strategy["type"] == "RollingUpdate" && strategy["rollingUpdate"].is_object() {
        fill(&mut strategy["rollingUpdate"], "partition", 0);
    }
    fill(spec, "revisionHistoryLimit", 10);
    let retention = "persistentVolumeClaimRetentionPolicy";
    map_at(spec, retention);
    for when in ["whenDeleted", "whenScaled"] {
        fill(&mut spec[retention], when, "Retain");
    }
    each(spec, "volumeClaimTemplates", |claim| {
        // `Convert_apps_StatefulSetSpec_To_v1_StatefulSetSpec` of pkg/apis/apps/v1/conversion.go.
        let members = crate::meta::object_mut(claim);
        members.insert("apiVersion".to_owned(), "v1".into());
        members.insert("kind".to_owned(), "PersistentVolumeClaim".into());
        super::claim(claim, Stage::Update);
    });
}

pub(in crate::builtin) fn daemon_set(object: &mut Value, _: Stage) {
    map_at(object, "spec");
    let spec = &mut object["spec"];
    template_of(spec);
    map_at(spec, "updateStrategy");
    fill(&mut spec["updateStrategy"], "type", "RollingUpdate");
    if spec["updateStrategy"]["type"] == "RollingUpdate" {
        map_at(&mut spec["updateStrategy"], "rollingUpdate");
        fill(&mut spec["updateStrategy"]["rollingUpdate"], "maxUnavailable", 1);
    }
    if let Some(rolling) = spec["updateStrategy"].get_mut("rollingUpdate") {
        // The fields of the internal `RollingUpdateDaemonSet` are never absent.
        fill(rolling, "maxUnavailable", 0);
        fill(rolling, "maxSurge", 0);
    }
    fill(spec, "revisionHistoryLimit", 10);
    map_at(&mut object["metadata"], "annotations").entry(TEMPLATE_GENERATION).or_insert_with(|| "0".into());
}

/// The annotation in which `apps/v1` shows a field of the internal type
/// (`Convert_apps_DaemonSet_To_v1_DaemonSet` of pkg/apis/apps/v1/conversion.go).
pub(crate) const TEMPLATE_GENERATION: &str = "deprecated.daemonset.template.generation";

/// Sets the template generation of a new daemon set.
pub(in crate::builtin) fn note_template_generation(set: &mut Value) {
    map_at(&mut set["metadata"], "annotations").insert(TEMPLATE_GENERATION.to_owned(), "1".into());
}

/// Updates the template generation of a daemon set (`PrepareForUpdate` of pkg/registry/apps/daemonset/strategy.go).
pub(crate) fn count_template_generation(current: &Value, set: &mut Value) {
    let number = current["metadata"]["annotations"][TEMPLATE_GENERATION].as_str();
    let number: i64 = number.and_then(|number| number.parse().ok()).unwrap_or_default();
    let next = if current["spec"]["template"] == set["spec"]["template"] { number } else { number + 1 };
    map_at(&mut set["metadata"], "annotations")
        .insert(TEMPLATE_GENERATION.to_owned(), next.to_string().into());
}

pub(in crate::builtin) fn job(object: &mut Value, _: Stage) {
    map_at(object, "spec");
    let spec = &mut object["spec"];
    template_of(spec);
    if spec["completions"].is_null() && spec["parallelism"].is_null() {
        fill(spec, "completions", 1);
    }
    fill(spec, "parallelism", 1);
    let limit = if spec["backoffLimitPerIndex"].is_null() { 6 } else { i32::MAX };
    fill(spec, "backoffLimit", limit);
    fill(spec, "completionMode", "NonIndexed");
    fill(spec, "suspend", false);
    fill(spec, "manualSelector", false);
    let replacement = if spec["podFailurePolicy"].is_null() { "TerminatingOrFailed" } else { "Failed" };
    fill(spec, "podReplacementPolicy", replacement);
    if let Some(policy) = spec.get_mut("podFailurePolicy") {
        each(policy, "rules", |rule| {
            each(rule, "onPodConditions", |condition| {
                if condition["status"].as_str().unwrap_or_default().is_empty() {
                    condition["status"] = "True".into();
                }
            });
        });
    }
    labels_of_template(object);
}

/// Reports whether a new job has its template's labels because the request gave none: then they are one map
/// (`SetDefaults_Job`), which the labels of the job's own pods join.
pub(crate) fn shares_labels(given: &Value, job: &Value) -> bool {
    let labels = &job["metadata"]["labels"];
    let has_own = given["metadata"]["labels"].as_object().is_some_and(|labels| !labels.is_empty());
    !has_own && labels.is_object() && *labels == job["spec"]["template"]["metadata"]["labels"]
}

/// Labels and selects a job's pods by its UID, so that no other job adopts them.
pub(in crate::builtin) fn select_own_pods(job: &mut Value) {
    if job["spec"]["manualSelector"] == true {
        return;
    }
    let (uid, name) = (meta::text(job, "uid").to_owned(), meta::name(job).to_owned());
    let labels = map_at(&mut job["spec"]["template"]["metadata"], "labels");
    for (key, value) in [("controller-uid", &uid), ("job-name", &name)] {
        labels.entry(key).or_insert_with(|| value.clone().into());
        labels.entry(format!("batch.kubernetes.io/{key}")).or_insert_with(|| value.clone().into());
    }
    let selector = map_at(&mut job["spec"], "selector");
    if let Value::Object(labels) = selector.entry("matchLabels").or_insert_with(|| json!({})) {
        labels.entry("batch.kubernetes.io/controller-uid").or_insert_with(|| uid.into());
    }
    labels_of_template(job);
}

pub(in crate::builtin) fn cron_job(object: &mut Value, _: Stage) {
    map_at(object, "spec");
    let spec = &mut object["spec"];
    fill(spec, "concurrencyPolicy", "Allow");
    fill(spec, "suspend", false);
    fill(spec, "successfulJobsHistoryLimit", 3);
    fill(spec, "failedJobsHistoryLimit", 1);
    map_at(spec, "jobTemplate");
    map_at(&mut spec["jobTemplate"], "spec");
    template_of(&mut spec["jobTemplate"]["spec"]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn update_strategies_get_their_defaults() {
        let daemons = |strategy: Value| {
            let mut set = json!({"metadata": {}, "spec": {"updateStrategy": strategy}});
            daemon_set(&mut set, Stage::Create);
            set["spec"]["updateStrategy"]["rollingUpdate"].take()
        };
        assert_eq!(daemons(json!({})), json!({"maxUnavailable": 1, "maxSurge": 0}));
        let empty = json!({"type": "OnDelete", "rollingUpdate": {}});
        assert_eq!(daemons(empty), json!({"maxUnavailable": 0, "maxSurge": 0}));
        assert_eq!(daemons(json!({"type": "OnDelete"})), Value::Null);
        let stateful = |spec: Value| {
            let mut set = json!({"spec": spec});
            stateful_set(&mut set, Stage::Create);
            set["spec"].take()
        };
        let strategy =
            |strategy: Value| stateful(json!({"updateStrategy": strategy}))["updateStrategy"].take();
        let rolling = json!({"type": "RollingUpdate", "rollingUpdate": {"partition": 0}});
        assert_eq!(strategy(json!({})), rolling);
        assert_eq!(strategy(json!({"type": "RollingUpdate"})), json!({"type": "RollingUpdate"}));
        let claims = stateful(json!({"volumeClaimTemplates": [{"apiVersion": "x", "kind": "X"}]}))
            ["volumeClaimTemplates"]
            .take();
        assert_eq!(
            (&claims[0]["apiVersion"], &claims[0]["kind"]),
            (&json!("v1"), &json!("PersistentVolumeClaim"))
        );
        let policy = "persistentVolumeClaimRetentionPolicy";
        let kept = stateful(json!({policy: {"whenDeleted": "Delete"}}))[policy].take();
        assert_eq!(kept, json!({"whenDeleted": "Delete", "whenScaled": "Retain"}));
    }

    #[test]
    fn job_selector_is_generated_unless_manual() {
        let mut one = json!({"metadata": {"name": "j", "uid": "u"}});
        job(&mut one, Stage::Create);
        select_own_pods(&mut one);
        let labels = &one["spec"]["template"]["metadata"]["labels"];
        assert_eq!(labels["batch.kubernetes.io/job-name"], "j");
        assert_eq!(&one["metadata"]["labels"], labels);
        assert_eq!(
            one["spec"]["selector"],
            json!({"matchLabels": {"batch.kubernetes.io/controller-uid": "u"}})
        );
        assert_eq!((&one["spec"]["completions"], &one["spec"]["parallelism"]), (&json!(1), &json!(1)));
        let labelled = json!({"metadata": {"labels": {"a": "b"}}, "spec": {"template": {"metadata": {"labels": {"a": "b"}}}}});
        assert!(shares_labels(&json!({"metadata": {"labels": {}}}), &labelled));
        assert!(!shares_labels(&labelled, &labelled));
        let mut manual = json!({"metadata": {"name": "j", "uid": "u"}, "spec": {"manualSelector": true, "parallelism": 2}});
        job(&mut manual, Stage::Create);
        select_own_pods(&mut manual);
        assert!(manual["spec"].get("selector").is_none() && manual["spec"].get("completions").is_none());
    }
}
