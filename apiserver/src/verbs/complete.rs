//! Completes built-in objects before validation: blank status, defaults and allocated addresses. These fields have no
//! owner.

use serde_json::Value;

use super::services;
use crate::builtin::{self, app_armor, autoscaling};
use crate::registry::{Behaviour, ResourceDef};
use crate::server::Server;
use crate::stage::Stage;
use crate::types;

/// Completes a new object after its name and UID are set; returns warnings. `given` is the object of the request.
pub(crate) fn created(server: &Server, def: &ResourceDef, given: &Value, value: &mut Value) -> Vec<String> {
    let Behaviour::BuiltIn(kind) = &def.behaviour else { return Vec::new() };
    if kind.status && value["status"].is_null() {
        let blank = kind.message().map(types::decode::blank);
        if let Some(status) = blank.and_then(|mut blank| blank.get_mut("status").map(Value::take)) {
            value["status"] = status;
        }
    }
    if def.collection == AUTOSCALERS {
        autoscaling::drop_status(value);
    }
    (kind.default)(value, Stage::Create);
    let shares_labels = def.collection == "jobs.batch" && builtin::shares_labels(given, value);
    (kind.prepare)(value);
    if shares_labels {
        value["metadata"]["labels"] = value["spec"]["template"]["metadata"]["labels"].clone();
    }
    drop_disabled(def, value);
    if def.collection == "persistentvolumes" {
        note_phase(server, &Value::Null, value);
    }
    if def.collection == "services" {
        services::created(server, value);
    }
    if def.collection == CLAIMS {
        // The feature `CrossNamespaceVolumeDataSource` is off.
        if !value["spec"]["dataSourceRef"]["namespace"].as_str().unwrap_or_default().is_empty() {
            crate::meta::object_mut(&mut value["spec"]).remove("dataSourceRef");
        }
        drop_foreign_source(&Value::Null, &mut value["spec"]);
        equal_sources(&mut value["spec"]);
    }
    if def.collection == "pods" { app_armor::sync(value) } else { Vec::new() }
}

/// Completes an object that replaces `current` through this subresource.
pub(crate) fn updated(
    server: &Server,
    def: &ResourceDef,
    subresource: &str,
    current: &Value,
    value: &mut Value,
) {
    drop_disabled(def, value);
    match def.collection.as_str() {
        // Only the subresource `finalize` changes them (pkg/registry/core/namespace/strategy.go).
        "namespaces" if subresource != "finalize" => {
            crate::meta::copy_member(&current["spec"], &mut value["spec"], "finalizers");
        }
        "resourceclaims.resource.k8s.io" if subresource == "status" => {
            builtin::drop_deallocated(current, value);
        }
        "pods" if subresource == "status" => keep_observed_generation(current, value),
        crate::crd::COLLECTION if subresource.is_empty() => crate::crd::remember_storage_version(value),
        AUTOSCALERS => autoscaling::keep_other_part(current, value, subresource),
        "daemonsets.apps" => builtin::count_template_generation(current, value),
        _ => {}
    }
    if def.collection == "persistentvolumes" {
        note_phase(server, current, value);
    }
    if def.collection == "services" && subresource.is_empty() {
        services::updated(server, current, value);
    }
    if def.collection == CLAIMS {
        drop_foreign_source(&current["spec"], &mut value["spec"]);
        equal_sources(&mut value["spec"]);
    }
}

/// `preserveOldObservedGeneration` of pkg/registry/core/pod/strategy.go.
fn keep_observed_generation(current: &Value, value: &mut Value) {
    const FIELD: &str = "observedGeneration";
    let fill = |new: &mut Value, old: Option<&Value>| {
        let old = old.and_then(|old| old[FIELD].as_i64()).filter(|old| *old != 0);
        if let Some(old) = old.filter(|_| new.is_object() && new[FIELD].as_i64().unwrap_or_default() == 0) {
            new[FIELD] = old.into();
        }
    };
    let Some(status) = value.get_mut("status") else { return };
    fill(status, Some(&current["status"]));
    let mut before: Vec<&Value> = current["status"]["conditions"].as_array().into_iter().flatten().collect();
    for condition in status.get_mut("conditions").and_then(Value::as_array_mut).into_iter().flatten() {
        let at = before.iter().position(|before| before["type"] == condition["type"]);
        fill(condition, at.map(|at| before.remove(at)));
    }
}

const AUTOSCALERS: &str = "horizontalpodautoscalers.autoscaling";
const CLAIMS: &str = "persistentvolumeclaims";

/// Drops `dataSource` of other kinds than claims and snapshots if it is given alone, and the claim had no source
/// (`EnforceDataSourceBackwardsCompatibility` of pkg/api/persistentvolumeclaim/util.go).
fn drop_foreign_source(before: &Value, spec: &mut Value) {
    if !before["dataSource"].is_null() || !before["dataSourceRef"].is_null() {
        return;
    }
    let source = &spec["dataSource"];
    let kind = source["kind"].as_str().unwrap_or_default();
    let is_known = match source["apiGroup"].as_str().unwrap_or_default() {
        "" => kind == "PersistentVolumeClaim",
        "snapshot.storage.k8s.io" => kind == "VolumeSnapshot",
        _ => false,
    };
    if spec["dataSourceRef"].is_null() && !source.is_null() && !is_known {
        crate::meta::object_mut(spec).remove("dataSource");
    }
}

/// Copies each field into the other one, unless the source is in another namespace (`NormalizeDataSources`).
fn equal_sources(spec: &mut Value) {
    let (source, reference) = (&spec["dataSource"], &spec["dataSourceRef"]);
    let is_local = reference["namespace"].as_str().unwrap_or_default().is_empty();
    match (source.is_null(), reference.is_null()) {
        (false, true) => spec["dataSourceRef"] = source.clone(),
        (true, false) if is_local => {
            let mut source = reference.clone();
            crate::meta::object_mut(&mut source).remove("namespace");
            spec["dataSource"] = source;
        }
        _ => {}
    }
}

/// Drops fields of features that are off. They keep their owners.
fn drop_disabled(def: &ResourceDef, value: &mut Value) {
    // `cleanSecretReferences` of pkg/registry/core/serviceaccount/strategy.go.
    if def.collection == "serviceaccounts" {
        let secrets = value.get_mut("secrets").and_then(Value::as_array_mut);
        for secret in secrets.into_iter().flatten().filter_map(Value::as_object_mut) {
            secret.retain(|field, _| field == "name");
        }
    }
    // The configuration of kubelets by ConfigMaps is gone (`dropDisabledFields` of pkg/registry/core/node/strategy.go).
    if def.collection == "nodes" {
        for (part, field) in [("spec", "configSource"), ("status", "config")] {
            _ = value.get_mut(part).and_then(Value::as_object_mut).map(|part| part.remove(field));
        }
    }
    // Coordinated leader election: `dropDisabledFields` of pkg/registry/coordination/lease/strategy.go.
    if def.collection == "leases.coordination.k8s.io"
        && let Some(spec) = value.get_mut("spec").and_then(Value::as_object_mut)
    {
        spec.retain(|field, _| !matches!(field.as_str(), "strategy" | "preferredHolder"));
    }
    // `MaxUnavailableStatefulSet`.
    if def.collection == "statefulsets.apps"
        && let Some(rolling) =
            value.pointer_mut("/spec/updateStrategy/rollingUpdate").and_then(Value::as_object_mut)
    {
        rolling.remove("maxUnavailable");
    }
    // The topology of endpoints is a field of `v1beta1` only (pkg/registry/discovery/endpointslice/strategy.go).
    if def.collection == "endpointslices.discovery.k8s.io" {
        let endpoints = value.get_mut("endpoints").and_then(Value::as_array_mut);
        for endpoint in endpoints.into_iter().flatten().filter_map(Value::as_object_mut) {
            endpoint.remove("deprecatedTopology");
        }
    }
    let pods = match def.kind.as_str() {
        "Pod" => "/spec",
        "PodTemplate" => "/template/spec",
        "CronJob" => "/spec/jobTemplate/spec/template/spec",
        _ => "/spec/template/spec",
    };
    if !def.is_custom()
        && let Some(pods) = value.pointer_mut(pods)
    {
        drop_disabled_of_pods(pods);
    }
}

/// Fields of pods whose features are off: `GenericWorkload` and `ContainerStopSignals` (`dropDisabledFields` of
/// pkg/api/pod/util.go).
fn drop_disabled_of_pods(spec: &mut Value) {
    let Some(spec) = spec.as_object_mut() else { return };
    spec.remove("schedulingGroup");
    for list in ["containers", "initContainers", "ephemeralContainers"] {
        for container in spec.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten() {
            let Some(lifecycle) = container.get_mut("lifecycle").and_then(Value::as_object_mut) else {
                continue;
            };
            let is_only = lifecycle.len() == 1;
            if lifecycle.remove("stopSignal").is_some() && is_only {
                _ = container.as_object_mut().map(|container| container.remove("lifecycle"));
            }
        }
    }
}

/// Records when a volume entered its phase (pkg/registry/core/persistentvolume/strategy.go).
fn note_phase(server: &Server, current: &Value, volume: &mut Value) {
    const SINCE: &str = "lastPhaseTransitionTime";
    let (old, new) = (&current["status"], &mut volume["status"]);
    let is_same_phase = old["phase"] == new["phase"];
    if is_same_phase && new[SINCE].is_null() && !old[SINCE].is_null() {
        new[SINCE] = old[SINCE].clone();
    } else if !is_same_phase && (new[SINCE].is_null() || old[SINCE] == new[SINCE]) {
        new[SINCE] = server.now().into();
    }
}
