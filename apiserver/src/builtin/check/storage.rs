//! Volumes, claims and their classes. Source: `pkg/apis/core/validation` and `pkg/apis/storage/validation`.

use serde_json::{Value, json};

use super::field::{Errors, Field};
use super::resources;
use crate::names::NameRule;
use crate::status::Cause;

const ACCESS_MODES: &[&str] = &["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"];
const VOLUME_MODES: &[&str] = &["Block", "Filesystem"];

fn access_modes(modes: &Field<'_>, errors: &mut Errors) {
    for mode in modes.items() {
        if !ACCESS_MODES.contains(&mode.text()) {
            errors.not_supported(&mode.at(modes.path.clone()), ACCESS_MODES);
        }
    }
    let known: Vec<&str> = modes.texts().into_iter().filter(|mode| ACCESS_MODES.contains(mode)).collect();
    if known.contains(&"ReadWriteOncePod") && known.iter().any(|mode| *mode != "ReadWriteOncePod") {
        errors.forbidden(modes, "may not use ReadWriteOncePod with other access modes");
    }
}

pub(in crate::builtin) fn volume(object: &Value, old: Option<&Value>) -> Vec<Cause> {
    Errors::of(|errors| {
        let spec = Field::root(object).child("spec");
        let (modes, capacity) = (spec.child("accessModes"), spec.child("capacity"));
        if modes.is_empty() {
            errors.required(&modes, "");
        }
        access_modes(&modes, errors);
        if capacity.is_empty() {
            errors.required(&capacity, "");
        }
        if !capacity.key("storage").is_set() || capacity.entries().len() > 1 {
            errors.not_supported(&capacity, &["storage"]);
        }
        for (_, amount) in capacity.entries() {
            if resources::amount(&amount) <= 0 {
                errors.invalid(&amount, "must be greater than zero");
            }
        }
        let policies = &["Delete", "Recycle", "Retain"];
        errors.optional_one_of(&spec.child("persistentVolumeReclaimPolicy"), policies);
        let required = spec.child("nodeAffinity").child("required");
        if required.is_set() {
            super::scheduling::node_selector(&required, errors);
        } else if spec.child("nodeAffinity").is_set() {
            errors.required(&required, "must specify required node constraints");
        }
        errors.optional_name(&spec.child("storageClassName"), NameRule::Subdomain);
        errors.optional_one_of(&spec.child("volumeMode"), VOLUME_MODES);
        if let Some(old) = old {
            errors.immutable(&spec.child("volumeMode"), &Field::root(old).child("spec").child("volumeMode"));
        }
    })
}

/// `ValidatePersistentVolumeClaimSpec`.
pub(super) fn claim_spec(spec: &Field<'_>, errors: &mut Errors) {
    let modes = spec.child("accessModes");
    if modes.is_empty() {
        errors.required(&modes, "at least 1 access mode is required");
    }
    errors.label_selector(&spec.child("selector"));
    access_modes(&modes, errors);
    let storage = spec.child("resources").child("requests").key("storage");
    let place = storage.at(spec.child("resources").key("storage").path);
    if !storage.is_set() {
        errors.required(&place, "");
    } else if resources::amount(&storage) <= 0 {
        errors.invalid(&place, "must be greater than zero");
    }
    errors.optional_name(&spec.child("storageClassName"), NameRule::Subdomain);
    errors.optional_one_of(&spec.child("volumeMode"), VOLUME_MODES);
    errors.optional_name(&spec.child("volumeAttributesClassName"), NameRule::Subdomain);
}

pub(in crate::builtin) fn claim(object: &Value, old: Option<&Value>) -> Vec<Cause> {
    Errors::of(|errors| {
        let spec = Field::root(object).child("spec");
        claim_spec(&spec, errors);
        if let Some(old) = old {
            claim_update(&spec, object, old, errors);
        }
    })
}

/// What `ValidatePersistentVolumeClaimUpdate` lets a claim change: a bound one grows, and a volume is chosen once.
fn claim_update(spec: &Field<'_>, object: &Value, old: &Value, errors: &mut Errors) {
    let bound = object["status"]["phase"] == "Bound";
    let before = Field::root(old).child("spec");
    let kept = before.child("volumeName").is_empty();
    let frozen = |claim: &Value| {
        let mut spec = claim["spec"].clone();
        if bound {
            spec["resources"]["requests"]["storage"] = Value::Null;
            spec["volumeAttributesClassName"] = Value::Null;
        }
        if kept {
            spec["volumeName"] = Value::Null;
        }
        if before.child("storageClassName").value.is_null() {
            spec["storageClassName"] = Value::Null;
        }
        spec
    };
    if frozen(old) != frozen(object) {
        let detail = "spec is immutable after creation except resources.requests and \
                      volumeAttributesClassName for bound claims";
        errors.forbidden(spec, detail);
    }
    let size =
        |spec: &Field<'_>| resources::amount(&spec.child("resources").child("requests").key("storage"));
    let provided = resources::amount(&Field::root(old).child("status").child("capacity").key("storage"));
    if size(spec) < size(&before) && size(spec) <= provided {
        let place = spec.at("spec.resources.requests.storage");
        errors.forbidden(&place, "field can not be less than status.capacity");
    }
    let mode = spec.child("volumeMode").at("volumeMode");
    errors.immutable(&mode, &before.child("volumeMode"));
}

pub(in crate::builtin) fn storage_class(object: &Value, old: Option<&Value>) -> Vec<Cause> {
    Errors::of(|errors| {
        let root = Field::root(object);
        if let Some(old) = old {
            for field in ["parameters", "provisioner", "reclaimPolicy"] {
                if old[field] != object[field] {
                    errors.forbidden(&root.child(field), &format!("updates to {field} are forbidden."));
                }
            }
            errors.immutable(&root.child("volumeBindingMode"), &Field::root(old).child("volumeBindingMode"));
            return;
        }
        let provisioner = root.child("provisioner");
        if provisioner.is_empty() {
            errors.required(&provisioner, "");
        } else {
            let text = Value::from(provisioner.text().to_lowercase());
            errors.qualified_name(&provisioner.holding(&text));
        }
        for (key, _) in root.child("parameters").entries().iter().filter(|(key, _)| key.is_empty()) {
            let shown = json!(key);
            errors.invalid(&root.child("parameters").holding(&shown), "field can not be empty.");
        }
        errors.optional_one_of(&root.child("reclaimPolicy"), &["Delete", "Retain"]);
        errors.one_of(&root.child("volumeBindingMode"), &["Immediate", "WaitForFirstConsumer"]);
    })
}
