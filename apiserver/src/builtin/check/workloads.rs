//! Kinds whose controllers keep pods running. Source: `pkg/apis/apps/validation` and `pkg/apis/core/validation`.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::field::{Errors, Field, amount, go_struct};
use super::tolerated::Tolerated;
use super::{pod_annotations, pods, storage};
use crate::names::NameRule;
use crate::status::Cause;

pub(in crate::builtin) fn deployment(object: &Value, old: Option<&Value>) -> Vec<Cause> {
    Errors::of(|errors| {
        let spec = Field::root(object).child("spec");
        errors.not_negative(&spec.child("replicas"));
        selector(&spec.child("selector"), "empty selector is invalid for deployment", errors);
        template_of_replicas(&spec, Tolerated::of_template(old), errors);
        strategy(&spec.child("strategy"), errors);
        errors.none_negative(&spec, &["minReadySeconds", "revisionHistoryLimit"]);
        let deadline = spec.child("progressDeadlineSeconds");
        errors.not_negative(&deadline);
        let ready = spec.child("minReadySeconds").number_or_zero();
        if deadline.number().is_some_and(|seconds| seconds <= ready) {
            errors.invalid(&deadline, "must be greater than minReadySeconds");
        }
        fixed_selector(&spec, old, errors);
    })
}

pub(in crate::builtin) fn replica_set(object: &Value, old: Option<&Value>) -> Vec<Cause> {
    Errors::of(|errors| {
        let spec = Field::root(object).child("spec");
        errors.none_negative(&spec, &["replicas", "minReadySeconds"]);
        selector(&spec.child("selector"), "empty selector is invalid for deployment", errors);
        template_of_replicas(&spec, Tolerated::of_template(old), errors);
        fixed_selector(&spec, old, errors);
    })
}

pub(in crate::builtin) fn daemon_set(object: &Value, old: Option<&Value>) -> Vec<Cause> {
    Errors::of(|errors| {
        let spec = Field::root(object).child("spec");
        errors.label_selector(&spec.child("selector"));
        if crate::selector::is_valid(spec.child("selector").value) {
            matching_labels(&spec, errors);
        }
        if spec.child("selector").is_set() && crate::selector::is_empty(spec.child("selector").value) {
            errors.invalid(&spec.child("selector"), "empty selector is invalid for daemonset");
        }
        template(&spec.child("template"), Tolerated::of_template(old), errors);
        pods_without_end(&spec.child("template"), "DaemonSet", errors);
        errors.none_negative(&spec, &["templateGeneration", "minReadySeconds"]);
        daemon_update(&spec.child("updateStrategy"), errors);
        errors.not_negative(&spec.child("revisionHistoryLimit"));
        fixed_selector(&spec, old, errors);
    })
}

/// `ValidateStatefulSet` and `ValidateStatefulSetUpdate`.
pub(in crate::builtin) fn stateful_set(object: &Value, old: Option<&Value>) -> Vec<Cause> {
    let tolerated = Tolerated::of_template(old);
    Errors::of(|errors| {
        let spec = Field::root(object).child("spec");
        let Some(old) = old else {
            stateful_spec(&spec, StatefulRules { is_new: true, skips_template: false }, tolerated, errors);
            return;
        };
        let mut rules = StatefulRules { is_new: false, skips_template: false };
        let before = Field::root(old).child("spec");
        rules.skips_template =
            !Errors::of(|errors| stateful_spec(&before, rules, tolerated, errors)).is_empty();
        stateful_spec(&spec, rules, tolerated, errors);
        stateful_update(&spec, before.value, errors);
    })
}

/// `StatefulSetValidationOptions`.
#[derive(Clone, Copy)]
struct StatefulRules {
    /// Updates skip the checks of fields that are immutable.
    is_new: bool,
    /// `SkipValidatePodTemplateSpec`: the old spec is invalid.
    skips_template: bool,
}

/// `ValidateStatefulSetSpec`.
fn stateful_spec(spec: &Field<'_>, rules: StatefulRules, tolerated: Tolerated, errors: &mut Errors) {
    let policy = spec.child("podManagementPolicy");
    if policy.is_empty() {
        errors.required(&policy, "");
    } else if !["OrderedReady", "Parallel"].contains(&policy.text()) {
        errors.invalid(&policy, "must be 'OrderedReady' or 'Parallel'");
    }
    stateful_strategy(&spec.child("updateStrategy"), errors);
    let retention = spec.child("persistentVolumeClaimRetentionPolicy");
    for when in ["whenDeleted", "whenScaled"] {
        errors.optional_one_of(&retention.child(when), &["Retain", "Delete"]);
    }
    if rules.is_new {
        for claim in spec.child("volumeClaimTemplates").items() {
            storage::claim_spec(&claim.child("spec"), errors);
        }
    }
    errors.none_negative(spec, &["replicas", "minReadySeconds"]);
    errors.not_negative(&spec.child("ordinals").child("start"));
    if rules.is_new {
        errors.optional_name(&spec.child("serviceName"), NameRule::Label);
    }
    selector(&spec.child("selector"), "empty selector is invalid for statefulset", errors);
    if readable_selector(spec, "", errors) {
        stateful_template(spec, rules, tolerated, errors);
    }
    pods_without_end(&spec.child("template"), "StatefulSet", errors);
}

/// `ValidatePodTemplateSpecForStatefulSet`: the controller sets hostname and subdomain, and adds a volume for each claim template.
fn stateful_template(spec: &Field<'_>, rules: StatefulRules, tolerated: Tolerated, errors: &mut Errors) {
    matching_labels(spec, errors);
    let mut pods = spec.child("template").value.clone();
    let names: BTreeSet<&str> = spec
        .child("volumeClaimTemplates")
        .items()
        .map(|claim| claim.value["metadata"]["name"].as_str().unwrap_or_default())
        .collect();
    if let Some(of_pod) = pods.get_mut("spec").and_then(Value::as_object_mut) {
        of_pod.remove("hostname");
        of_pod.remove("subdomain");
        let own = of_pod.remove("volumes");
        let own = own.iter().filter_map(Value::as_array).flatten();
        let own = own.filter(|volume| !volume["name"].as_str().is_some_and(|name| names.contains(name)));
        let claimed = |name: &&str| json!({"name": name, "persistentVolumeClaim": {"claimName": name}});
        let volumes: Vec<Value> = names.iter().map(claimed).chain(own.cloned()).collect();
        of_pod.insert("volumes".to_owned(), volumes.into());
    }
    let pods = spec.child("template").holding(&pods);
    if !rules.skips_template {
        template(&pods, tolerated, errors);
    }
    // Upstream checks these twice.
    let metadata = pods.child("metadata");
    errors.labels(&metadata.child("labels").at("spec.template.labels"));
    let annotations = metadata.child("annotations").at("spec.template.annotations");
    errors.annotations(&annotations);
    pod_annotations::check(&annotations, &pods.child("spec"), tolerated, errors);
}

fn selector(selector: &Field<'_>, empty: &str, errors: &mut Errors) {
    if !selector.is_set() {
        errors.required(selector, "");
        return;
    }
    errors.label_selector(selector);
    if crate::selector::is_empty(selector.value) {
        errors.invalid(selector, empty);
    }
}

/// Formats a selector with its members in Go's order.
fn selector_in_go(selector: &Value) -> String {
    let of = crate::types::find("meta.LabelSelector");
    of.map_or_else(|| selector.to_string(), |of| crate::types::show::json(selector, of))
}

/// Checks that the selector of a controller does not change: a rule of `apps/v1`.
fn fixed_selector(spec: &Field<'_>, old: Option<&Value>, errors: &mut Errors) {
    if let Some(old) = old {
        immutable_selector(&spec.child("selector"), &old["spec"]["selector"], errors);
    }
}

/// `ValidateImmutableField`, of a selector, which the error shows as Go writes it.
pub(super) fn immutable_selector(selector: &Field<'_>, old: &Value, errors: &mut Errors) {
    if old != selector.value {
        errors.invalid_as(selector, &selector_in_go(selector.value), "field is immutable");
    }
}

/// As [`matching_labels`] for a well-formed selector; a malformed one is an error with this detail.
fn readable_selector(spec: &Field<'_>, detail: &str, errors: &mut Errors) -> bool {
    let selector = spec.child("selector");
    if crate::selector::is_valid(selector.value) {
        return true;
    }
    let shown = selector_in_go(selector.value);
    let detail = if detail.is_empty() { shown } else { format!("{shown}: {detail}") };
    errors.push(Cause::new("FieldValueInvalid", &selector.path, format!("Invalid value: {detail}")));
    false
}

/// Checks that the template's labels match the selector; an absent one matches nothing.
pub(super) fn matching_labels(spec: &Field<'_>, errors: &mut Errors) {
    let (selector, labels) =
        (spec.child("selector"), spec.child("template").child("metadata").child("labels"));
    let matches = selector.is_set() && crate::selector::matches(selector.value, labels.value);
    if !matches {
        errors.invalid(&labels, "`selector` does not match template `labels`");
    }
}

fn template_of_replicas(spec: &Field<'_>, tolerated: Tolerated, errors: &mut Errors) {
    if !readable_selector(spec, "invalid label selector", errors) {
        return;
    }
    matching_labels(spec, errors);
    template(&spec.child("template"), tolerated, errors);
    pods_without_end(&spec.child("template"), "ReplicaSet", errors);
}

/// `ValidatePodTemplateSpec`.
pub(super) fn template(template: &Field<'_>, tolerated: Tolerated, errors: &mut Errors) {
    let metadata = template.child("metadata");
    errors.labels(&metadata.child("labels").at(template.child("labels").path));
    let annotations = metadata.child("annotations").at(template.child("annotations").path);
    errors.annotations(&annotations);
    let spec = template.child("spec");
    pod_annotations::check(&annotations, &spec, tolerated, errors);
    pods::spec(&spec, "", tolerated, errors);
    pod_annotations::match_fields(&annotations, &spec, errors);
    let ephemeral = spec.child("ephemeralContainers");
    if !ephemeral.is_empty() {
        errors.forbidden(&ephemeral, "ephemeral containers not allowed in pod template");
    }
}

/// Checks that the pods of a controller restart always and have no deadline.
fn pods_without_end(template: &Field<'_>, kind: &str, errors: &mut Errors) {
    let spec = template.child("spec");
    let policy = spec.child("restartPolicy");
    if policy.is_set() && policy.text() != "Always" {
        errors.not_supported(&policy, &["Always"]);
    }
    let deadline = spec.child("activeDeadlineSeconds");
    if deadline.is_set() {
        errors.forbidden(&deadline, &format!("activeDeadlineSeconds in {kind} is not Supported"));
    }
}

/// Formats an internal strategy as Go does, with these names of its `RollingUpdate`.
fn strategy_in_go(strategy: &Value, rolling: &[(&str, &str)]) -> String {
    let rolling = go_struct(&strategy["rollingUpdate"], rolling);
    format!("{{\"Type\":{},\"RollingUpdate\":{rolling}}}", strategy["type"])
}

const ROLLING: &[(&str, &str)] = &[("MaxUnavailable", "maxUnavailable"), ("MaxSurge", "maxSurge")];
const STATEFUL_ROLLING: &[(&str, &str)] = &[("Partition", "partition"), ("MaxUnavailable", "maxUnavailable")];

fn strategy(strategy: &Field<'_>, errors: &mut Errors) {
    let rolling = strategy.child("rollingUpdate");
    match strategy.child("type").text() {
        "Recreate" => {
            if rolling.is_set() {
                errors.forbidden(&rolling, "may not be specified when strategy `type` is 'Recreate'");
            }
        }
        "RollingUpdate" if rolling.is_set() => rolling_update(&rolling, errors),
        "RollingUpdate" => errors.required(&rolling, "this should be defaulted and never be nil"),
        _ => {
            let shown = strategy_in_go(strategy.value, ROLLING);
            errors.not_supported_as(strategy, &shown, &["Recreate", "RollingUpdate"]);
        }
    }
}

fn rolling_update(rolling: &Field<'_>, errors: &mut Errors) {
    let (unavailable, surge) = (rolling.child("maxUnavailable"), rolling.child("maxSurge"));
    errors.number_or_percentage(&unavailable);
    errors.number_or_percentage(&surge);
    if amount(&unavailable) == 0 && amount(&surge) == 0 {
        errors.invalid(&unavailable, "may not be 0 when `maxSurge` is 0");
    }
    errors.at_most_100_percent(&unavailable);
}

fn daemon_update(strategy: &Field<'_>, errors: &mut Errors) {
    let rolling = strategy.child("rollingUpdate");
    match strategy.child("type").text() {
        "OnDelete" => {}
        "RollingUpdate" if !rolling.is_set() => errors.required(&rolling, ""),
        "RollingUpdate" => {
            let (unavailable, surge) = (rolling.child("maxUnavailable"), rolling.child("maxSurge"));
            errors.number_or_percentage(&unavailable);
            errors.number_or_percentage(&surge);
            errors.at_most_100_percent(&unavailable);
            errors.at_most_100_percent(&surge);
            match (amount(&unavailable) != 0, amount(&surge) != 0) {
                (true, true) => errors.invalid(&surge, "may not be set when maxUnavailable is non-zero"),
                (false, false) => errors.required(&unavailable, "cannot be 0 when maxSurge is 0"),
                _ => {}
            }
        }
        _ => {
            let shown = strategy_in_go(strategy.value, ROLLING);
            errors.not_supported_as(strategy, &shown, &["RollingUpdate", "OnDelete"]);
        }
    }
}

fn stateful_strategy(strategy: &Field<'_>, errors: &mut Errors) {
    let rolling = strategy.child("rollingUpdate");
    match strategy.child("type").text() {
        "" => errors.required(strategy, ""),
        "OnDelete" if rolling.is_set() => {
            errors.invalid(&rolling, "only allowed for updateStrategy 'RollingUpdate'");
        }
        "OnDelete" => {}
        "RollingUpdate" => {
            errors.not_negative(&rolling.child("partition"));
            let unavailable = rolling.child("maxUnavailable");
            if unavailable.is_set() {
                errors.number_or_percentage(&unavailable);
                if amount(&unavailable) == 0 {
                    errors.invalid(&unavailable, "cannot be 0");
                }
                errors.at_most_100_percent(&unavailable);
            }
        }
        _ => {
            let shown = strategy_in_go(strategy.value, STATEFUL_ROLLING);
            errors.invalid_as(strategy, &shown, "must be 'RollingUpdate' or 'OnDelete'");
        }
    }
}

fn stateful_update(spec: &Field<'_>, old: &Value, errors: &mut Errors) {
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
        crate::meta::object_mut(&mut spec).retain(|key, _| !FREE.contains(&key.as_str()));
        spec
    };
    if frozen(spec.value) != frozen(old) {
        let detail = "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', \
                      'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and \
                      'minReadySeconds' are forbidden";
        errors.forbidden(spec, detail);
    }
}

pub(in crate::builtin) fn replication_controller(object: &Value, old: Option<&Value>) -> Vec<Cause> {
    Errors::of(|errors| {
        let spec = Field::root(object).child("spec");
        errors.not_negative(&spec.child("minReadySeconds"));
        let selector = spec.child("selector");
        if selector.is_empty() {
            errors.required(&selector, "");
        }
        errors.not_negative(&spec.child("replicas"));
        let pods = spec.child("template");
        if !pods.is_set() {
            errors.required(&pods, "");
            return;
        }
        let labels = pods.child("metadata").child("labels");
        let wanted = selector.value.as_object().into_iter().flatten();
        if wanted.into_iter().any(|(key, value)| labels.value.get(key) != Some(value)) {
            errors.invalid(&labels, "`selector` does not match template `labels`");
        }
        template(&pods, Tolerated::of_template(old), errors);
        pods_without_end(&pods, "ReplicationController", errors);
    })
}

pub(in crate::builtin) fn pod_template(object: &Value, old: Option<&Value>) -> Vec<Cause> {
    let tolerated = Tolerated::of(old.map_or(&Value::Null, |old| &old["template"]));
    Errors::of(|errors| template(&Field::root(object).child("template"), tolerated, errors))
}

pub(in crate::builtin) fn disruption_budget(object: &Value, _: Option<&Value>) -> Vec<Cause> {
    /// Go's names of the internal `PodDisruptionBudgetSpec`.
    const SPEC: &[(&str, &str)] = &[
        ("MinAvailable", "minAvailable"),
        ("Selector", "selector"),
        ("MaxUnavailable", "maxUnavailable"),
        ("UnhealthyPodEvictionPolicy", "unhealthyPodEvictionPolicy"),
    ];
    Errors::of(|errors| {
        let spec = Field::root(object).child("spec");
        let (least, most) = (spec.child("minAvailable"), spec.child("maxUnavailable"));
        if least.is_set() && most.is_set() {
            let (selector, mut shown) = (spec.child("selector"), go_struct(spec.value, SPEC));
            if selector.is_set() {
                shown = shown.replace(&selector.value.to_string(), &selector_in_go(selector.value));
            }
            errors.invalid_as(&spec, &shown, "minAvailable and maxUnavailable cannot be both set");
        }
        for bound in [least, most] {
            errors.number_or_percentage(&bound);
            errors.at_most_100_percent(&bound);
        }
        errors.label_selector(&spec.child("selector"));
        let policies = &["AlwaysAllow", "IfHealthyBudget"];
        errors.optional_one_of(&spec.child("unhealthyPodEvictionPolicy"), policies);
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn fields(causes: Vec<Cause>) -> Vec<String> {
        causes.into_iter().map(|cause| cause.field).collect()
    }

    fn with(strategy: Value) -> Vec<String> {
        let container = json!({"name": "c", "image": "i", "terminationMessagePolicy": "File", "imagePullPolicy": "Always"});
        let pod = json!({"restartPolicy": "Always", "dnsPolicy": "Default", "containers": [container]});
        let spec = json!({"selector": {"matchLabels": {"a": "b"}}, "strategy": strategy,
            "template": {"metadata": {"labels": {"a": "b"}}, "spec": pod}});
        fields(deployment(&json!({"spec": spec}), None))
    }

    #[test]
    fn rolling_update_needs_surge_or_unavailable_pods() {
        let rolling = |surge: Value, unavailable: Value| {
            let update = json!({"maxSurge": surge, "maxUnavailable": unavailable});
            with(json!({"type": "RollingUpdate", "rollingUpdate": update}))
        };
        assert!(rolling(json!(1), json!("0%")).is_empty());
        assert_eq!(rolling(json!(0), json!("0%")), ["spec.strategy.rollingUpdate.maxUnavailable"]);
        assert_eq!(rolling(json!("x%"), json!(1)), ["spec.strategy.rollingUpdate.maxSurge"]);
        assert_eq!(with(json!({"type": "X"})), ["spec.strategy"]);
    }
}
