//! Kinds that are neither workloads nor about the network.

use serde_json::Value;

use super::{fixed, is_empty, one_of, text};
use crate::names::{NameRule, quoted};
use crate::status::Cause;

pub(in crate::builtin) fn lease(object: &Value, _: Option<&Value>) -> Vec<Cause> {
    let mut causes = Vec::new();
    let spec = &object["spec"];
    for field in ["leaseDurationSeconds", "leaseTransitions"] {
        let Some(number) = spec[field].as_i64() else { continue };
        let (least, text) = if field == "leaseTransitions" {
            (0, "must be greater than or equal to 0")
        } else {
            (1, "must be greater than 0")
        };
        if number < least {
            causes.push(Cause::invalid(format!("spec.{field}"), number, text));
        }
    }
    causes
}

pub(in crate::builtin) fn role_binding(object: &Value, old: Option<&Value>) -> Vec<Cause> {
    let mut causes = Vec::new();
    if text(&object["roleRef"], "name").is_empty() {
        causes.push(Cause::required("roleRef.name", ""));
    }
    one_of(&object["roleRef"], "roleRef", "kind", &["ClusterRole", "Role"], &mut causes);
    if old.is_some_and(|old| old["roleRef"] != object["roleRef"]) {
        causes.push(Cause::invalid("roleRef", &object["roleRef"], "cannot change roleRef"));
    }
    causes
}

pub(in crate::builtin) fn volume(object: &Value, _: Option<&Value>) -> Vec<Cause> {
    let mut causes = Vec::new();
    let spec = &object["spec"];
    if is_empty(&spec["accessModes"]) {
        causes.push(Cause::required("spec.accessModes", ""));
    }
    if spec["capacity"]["storage"].is_null() {
        causes.push(Cause::required("spec.capacity", ""));
    }
    let policies = ["Delete", "Recycle", "Retain"];
    one_of(spec, "spec", "persistentVolumeReclaimPolicy", &policies, &mut causes);
    causes
}

pub(in crate::builtin) fn claim(object: &Value, old: Option<&Value>) -> Vec<Cause> {
    let mut causes = Vec::new();
    let spec = &object["spec"];
    if is_empty(&spec["accessModes"]) {
        causes.push(Cause::required("spec.accessModes", "at least 1 access mode is required"));
    }
    if spec["resources"]["requests"]["storage"].is_null() {
        causes.push(Cause::required("spec.resources[storage]", ""));
    }
    let modes = ["Block", "Filesystem"];
    one_of(spec, "spec", "volumeMode", &modes, &mut causes);
    if let Some(old) = old {
        let frozen = |claim: &Value| {
            let mut spec = claim["spec"].clone();
            for free in ["resources", "volumeAttributesClassName", "volumeName"] {
                if let Some(spec) = spec.as_object_mut() {
                    spec.remove(free);
                }
            }
            spec
        };
        if frozen(old) != frozen(object) {
            let text = "spec is immutable after creation except resources.requests and \
                        volumeAttributesClassName for bound claims";
            causes.push(Cause::forbidden("spec", text));
        }
    }
    causes
}

pub(in crate::builtin) fn storage_class(object: &Value, old: Option<&Value>) -> Vec<Cause> {
    let mut causes = Vec::new();
    if text(object, "provisioner").is_empty() {
        causes.push(Cause::required("provisioner", ""));
    }
    if let Some(old) = old {
        for field in ["parameters", "provisioner", "reclaimPolicy"] {
            if old[field] != object[field] {
                let text = format!("updates to {field} are forbidden.");
                causes.push(Cause::forbidden(field, &text));
            }
        }
        fixed(
            "volumeBindingMode",
            &object["volumeBindingMode"],
            Some(&old["volumeBindingMode"]),
            &mut causes,
        );
    }
    causes
}

pub(in crate::builtin) fn priority_class(object: &Value, old: Option<&Value>) -> Vec<Cause> {
    let mut causes = Vec::new();
    let name = crate::meta::name(object);
    if name.starts_with("system-") {
        let text = "priority class names with 'system-' prefix are reserved for system use only";
        causes.push(Cause::forbidden("metadata.name", text));
    } else if let Some(value) = object["value"].as_i64().filter(|v| *v > 1_000_000_000) {
        let text = format!("maximum allowed value of a user defined priority is 1000000000, got {value}");
        causes.push(Cause::forbidden("value", &text));
    }
    if let Some(old) = old {
        if old["value"] != object["value"] {
            causes.push(Cause::forbidden("value", "may not be changed in an update."));
        }
        fixed("preemptionPolicy", &object["preemptionPolicy"], Some(&old["preemptionPolicy"]), &mut causes);
    }
    causes
}

pub(in crate::builtin) fn runtime_class(object: &Value, old: Option<&Value>) -> Vec<Cause> {
    let mut causes = Vec::new();
    let handler = text(object, "handler");
    for fault in NameRule::Label.check(handler) {
        causes.push(Cause::invalid("handler", quoted(handler), &fault));
    }
    fixed("handler", &object["handler"], old.map(|old| &old["handler"]), &mut causes);
    causes
}
