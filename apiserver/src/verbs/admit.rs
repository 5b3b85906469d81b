//! Checks of an object before it is stored, and what admission may not leave in it.

use std::iter;

use kubesmith_apiextensions::structural::object_meta::{
    UpdateChecks, validate_core_finalizers, validate_object_meta, validate_object_meta_update,
    warn_of_finalizers,
};
use serde_json::Value;

use crate::apply;
use crate::bodies::check_depth;
use crate::builtin;
use crate::meta;
use crate::registry::{Behaviour, ResourceDef};
use crate::server::Call;
use crate::status::{ApiError, ApiResult, Cause};

/// Checks a whole object; `old` is the one that it replaces, `unauthorized` says what its writer may not write.
pub(super) fn check(
    call: &Call<'_>,
    value: &Value,
    old: Option<&Value>,
    unauthorized: Vec<Cause>,
) -> ApiResult<()> {
    check_depth(value)?;
    let (def, subresource) = (&call.def, call.path.subresource.as_str());
    let causes: Vec<Cause> = match &def.behaviour {
        Behaviour::BuiltIn(built_in) => {
            let (strategy, core) = metadata_checks(def, subresource);
            let causes = match old {
                Some(old) => validate_object_meta_update(value, old, built_in.name_rule, strategy),
                None => validate_object_meta(value, built_in.name_rule),
            };
            let checks = match old {
                _ if !core => 0,
                Some(_) => strategy.whole + usize::from(strategy.changes),
                None => 1,
            };
            let core = iter::repeat_n(validate_core_finalizers(value), checks).flatten();
            let causes = causes.into_iter().chain(core);
            let part = old.zip(def.part(subresource)).and_then(|(old, part)| part.check(value, old));
            let own = part.unwrap_or_else(|| match old {
                Some(old) if subresource == "status" => (built_in.check_status)(value, old),
                _ => (built_in.check)(value, old),
            });
            let namespace = call.server.store.get("namespaces", &call.path.namespace);
            let place = namespace.filter(|_| old.is_none() || subresource == "status");
            let first = place.and_then(|namespace| built_in.refused_in(&namespace.value, value, old));
            let homeless = call.path.empty_namespace.then(|| Cause::required("metadata.namespace", ""));
            let causes = homeless.into_iter().chain(causes.map(Cause::from));
            first.into_iter().chain(unauthorized).chain(causes).chain(own).collect()
        }
        Behaviour::Custom(custom) => {
            let (causes, warnings) = custom.check(value, old, subresource == "status");
            warnings.iter().for_each(|warning| call.warn(warning));
            causes
        }
    };
    if causes.is_empty() {
        return Ok(());
    }
    Err(ApiError::invalid(def.subject_of_kind(meta::name(value)), causes))
}

/// Returns the checks of metadata of a kind's strategy on an update (`ValidateUpdate` below pkg/registry), and whether
/// they are those of pkg/apis/core/validation, which also check finalizers.
fn metadata_checks(def: &ResourceDef, subresource: &str) -> (UpdateChecks, bool) {
    let (whole, changes, core) = match (def.group.as_str(), def.plural.as_str()) {
        ("", "events") | ("policy", "poddisruptionbudgets") => (0, false, false),
        ("admissionregistration.k8s.io", _) => (1, false, false),
        ("apiextensions.k8s.io", _) | ("coordination.k8s.io", "leases") => (0, true, false),
        ("apiregistration.k8s.io", _) | ("node.k8s.io", _) => (1, true, false),
        ("", "persistentvolumes") => (2, false, true),
        ("", "limitranges")
        | ("discovery.k8s.io" | "flowcontrol.apiserver.k8s.io", _)
        | ("storage.k8s.io", "csinodes" | "volumeattachments") => (1, false, true),
        (
            "",
            "configmaps"
            | "endpoints"
            | "namespaces"
            | "nodes"
            | "persistentvolumeclaims"
            | "pods"
            | "secrets"
            | "serviceaccounts",
        )
        | ("apps", "controllerrevisions")
        | ("batch", "jobs")
        | ("certificates.k8s.io" | "rbac.authorization.k8s.io", _)
        | ("networking.k8s.io", "ingressclasses" | "ingresses" | "ipaddresses")
        | ("resource.k8s.io", "deviceclasses" | "resourceclaims" | "resourceclaimtemplates")
        | ("storage.k8s.io", "csistoragecapacities" | "storageclasses" | "volumeattributesclasses") => {
            (1, true, true)
        }
        _ => (0, true, true),
    };
    // Strategies of subresources check changes only.
    let whole = if subresource.is_empty() { whole } else { 0 };
    (UpdateChecks { whole, changes }, core)
}

/// Warns of values that are valid but discouraged.
pub(super) fn warn(call: &Call<'_>, value: &Value, old: Option<&Value>) {
    let warnings = match &call.def.behaviour {
        Behaviour::BuiltIn(kind) => builtin::warnings::of(kind, value, old, &call.path.subresource),
        Behaviour::Custom(_) => warn_of_finalizers(value, old),
    };
    warnings.iter().for_each(|text| call.warn(text));
}

/// Restores the managers from before mutating admission, with a warning, if it left malformed ones (`Admit` of
/// endpoints/handlers/fieldmanager/admission.go).
pub(super) fn keep_valid_managers(call: &Call<'_>, before: Option<Value>, value: &mut Value) {
    let entries = value.pointer("/metadata/managedFields");
    let Some(Err(fault)) = entries.map(apply::check_managers) else { return };
    match before {
        Some(before) => meta::set(value, "managedFields", before),
        None => meta::remove(value, "managedFields"),
    }
    call.warn(&format!(
        ".metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating \
         admission controller; please fix your requests: {fault}"
    ));
}

/// Drops repeated owner references with a warning, before mutating admission of a create or update and after every one
/// (`dedupOwnerReferencesAndAddWarning` of endpoints/handlers/rest.go).
pub(super) fn dedup_owners(call: &Call<'_>, value: &mut Value, after_admission: bool) {
    let owners = value.pointer_mut("/metadata/ownerReferences").and_then(Value::as_array_mut);
    let Some(owners) = owners else { return };
    let (mut kept, mut repeated) = (Vec::new(), Vec::new());
    for owner in owners.drain(..) {
        if kept.contains(&owner) {
            repeated.push(owner["uid"].as_str().unwrap_or_default().to_owned());
        } else {
            kept.push(owner);
        }
    }
    *owners = kept;
    if !repeated.is_empty() {
        let when = if after_admission { " after mutating admission happens" } else { "" };
        call.warn(&format!(
            ".metadata.ownerReferences contains duplicate entries{when}; API server dedups owner references in 1.20+, and \
             may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: {}",
            repeated.join(", ")
        ));
    }
}
