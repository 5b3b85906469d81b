//! `RuntimeClass`: a new pod gets the overhead and the scheduling of its runtime class.
//!
//! Source: plugin/pkg/admission/runtimeclass/admission.go.

use std::sync::Arc;

use kubesmith_apimachinery::golang;
use serde_json::Value;

use super::super::{Attributes, Operation};
use super::object_of;
use crate::amounts::quantities;
use crate::meta;
use crate::names::NameRule;
use crate::status::{ApiError, ApiResult};
use crate::store::Object;

const MISMATCH: &str = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead";

pub(super) fn admit(attributes: &Attributes<'_>, object: Option<&mut Value>) -> ApiResult<()> {
    let Some(pod) = object_of(attributes, object, "pods", &[Operation::Create]) else { return Ok(()) };
    let Some(class) = class(attributes, pod)? else { return Ok(()) };
    let (overhead, scheduling) = (&class.value["overhead"]["podFixed"], &class.value["scheduling"]);
    if !class.value["overhead"].is_null() {
        let own = quantities(&pod["spec"]["overhead"]);
        if !own.is_empty() && own != quantities(overhead) {
            return Err(rejected(attributes, pod, MISMATCH));
        }
        pod["spec"]["overhead"] = overhead.clone();
    }
    for (key, value) in scheduling["nodeSelector"].as_object().into_iter().flatten() {
        let own = &pod["spec"]["nodeSelector"][key];
        if !own.is_null() && own != value {
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            let conflict = format!(
                "conflict: runtimeClass.scheduling.nodeSelector[{key}] = {}; pod.spec.nodeSelector[{key}] = {}",
                text(value),
                text(own)
            );
            return Err(rejected(attributes, pod, &conflict));
        }
        meta::map_at(&mut pod["spec"], "nodeSelector").insert(key.clone(), value.clone());
    }
    if !scheduling.is_null() {
        let lists = [&pod["spec"]["tolerations"], &scheduling["tolerations"]];
        let all: Vec<&Value> = lists.into_iter().filter_map(Value::as_array).flatten().collect();
        let merged = merged(&all);
        if !merged.is_empty() {
            pod["spec"]["tolerations"] = merged.into();
        }
    }
    Ok(())
}

pub(super) fn validate(attributes: &Attributes<'_>, object: Option<&Value>) -> ApiResult<()> {
    let call = attributes.call;
    let Some(pod) = object.filter(|_| {
        call.def.collection == "pods"
            && call.path.subresource.is_empty()
            && attributes.operation == Operation::Create
    }) else {
        return Ok(());
    };
    let class = class(attributes, pod)?;
    let overhead =
        class.as_ref().map(|class| &class.value["overhead"]).filter(|overhead| !overhead.is_null());
    match overhead {
        Some(overhead) if quantities(&overhead["podFixed"]) != quantities(&pod["spec"]["overhead"]) => {
            Err(rejected(attributes, pod, MISMATCH))
        }
        None if !pod["spec"]["overhead"].is_null() => {
            let text = "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead";
            Err(rejected(attributes, pod, text))
        }
        _ => Ok(()),
    }
}

/// Drops tolerations that others include (`MergeTolerations` of pkg/util/tolerations).
fn merged(all: &[&Value]) -> Vec<Value> {
    let mut merged: Vec<Value> = Vec::new();
    for (i, toleration) in all.iter().copied().enumerate() {
        let includes = |other: &Value| includes(other, toleration);
        let later = all[i + 1..].iter().copied().filter(|other| *other != toleration);
        if !merged.iter().chain(later).any(includes) {
            merged.push(toleration.clone());
        }
    }
    merged
}

/// Reports whether a toleration tolerates all that another does (`isSuperset`).
fn includes(toleration: &Value, other: &Value) -> bool {
    if toleration == other {
        return true;
    }
    let text = |field: &str| meta::member(toleration, field);
    let same = |field: &str| text(field) == meta::member(other, field);
    let seconds = |of: &Value| of["tolerationSeconds"].as_i64();
    let for_all_keys = text("key").is_empty() && text("operator") == "Exists";
    let lasts = text("effect") != "NoExecute"
        || seconds(toleration).is_none_or(|longest| seconds(other).is_some_and(|other| other <= longest));
    let for_value = match text("operator") {
        "Exists" => true,
        "" | "Equal" => other["operator"] == "Equal" && same("value"),
        _ => false,
    };
    (same("key") || for_all_keys) && (same("effect") || text("effect").is_empty()) && lasts && for_value
}

/// Returns the runtime class that a pod names.
fn class(attributes: &Attributes<'_>, pod: &Value) -> ApiResult<Option<Arc<Object>>> {
    let Some(name) = pod["spec"]["runtimeClassName"].as_str() else { return Ok(None) };
    // The words of client-go, with which the plugin looks for a class that its cache lacks.
    if name.is_empty() {
        return Err(ApiError::unknown("resource name may not be empty".to_owned()));
    }
    let faults = NameRule::PathSegment.check(name);
    if !faults.is_empty() {
        let text = format!("invalid resource name {}: [{}]", golang::quote(name), faults.join(" "));
        return Err(ApiError::unknown(text));
    }
    let found = attributes.call.server.store.get("runtimeclasses.node.k8s.io", name);
    let missing = || {
        rejected(attributes, pod, &format!("pod rejected: RuntimeClass {} not found", golang::quote(name)))
    };
    found.ok_or_else(missing).map(Some)
}

fn rejected(attributes: &Attributes<'_>, pod: &Value, text: &str) -> ApiError {
    ApiError::forbidden(attributes.call.def.subject(meta::name(pod)), text)
}
