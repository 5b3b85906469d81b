//! Attachments, drivers, nodes and capacities of volumes. Source: `pkg/apis/storage/validation`.

use serde_json::{Value, json};

use super::field::{Errors, Field, go_struct};
use super::{persistent_volumes, resources, storage, volumes};
use crate::names::NameRule;
use crate::status::Cause;

const LONGEST_NODE_ID: usize = 256;
const LONGEST_ERROR: usize = 1024;
const LARGEST_METADATA: usize = 256 * 1024;

/// `ValidateVolumeAttachment` and `ValidateVolumeAttachmentUpdate`.
pub(in crate::builtin) fn volume_attachment(object: &Value, old: Option<&Value>) -> Vec<Cause> {
    Errors::of(|errors| {
        let root = Field::root(object);
        let spec = root.child("spec");
        volumes::driver_name(&spec.child("attacher"), errors);
        let source = spec.child("source");
        let (inline, volume) = (source.child("inlineVolumeSpec"), source.child("persistentVolumeName"));
        let exactly_one = "must specify exactly one of inlineVolumeSpec and persistentVolumeName";
        match (inline.is_set(), volume.is_set()) {
            (false, false) => errors.required(&source, exactly_one),
            (true, true) => errors.forbidden(&source, exactly_one),
            (false, true) if volume.is_empty() => {
                errors.required(&volume, "must specify non empty persistentVolumeName");
            }
            (false, true) => {}
            (true, false) => persistent_volumes::inline_volume(&inline, errors),
        }
        subdomain(&spec.child("nodeName"), errors);
        attachment_status(&root.child("status"), errors);
        if volume.is_set() {
            subdomain(&volume, errors);
        }
        if let Some(old) = old
            && old["spec"] != object["spec"]
        {
            let shown = json!({
                "attacher": spec.child("attacher").text(),
                "source": {"PersistentVolumeName": volume.value, "InlineVolumeSpec": inline.value},
                "nodeName": spec.child("nodeName").text(),
            });
            let source = go_struct(
                &shown["source"],
                &[("PersistentVolumeName", "PersistentVolumeName"), ("InlineVolumeSpec", "InlineVolumeSpec")],
            );
            let shown = format!(
                "{{\"Attacher\":{},\"Source\":{source},\"NodeName\":{}}}",
                shown["attacher"], shown["nodeName"]
            );
            errors.invalid_as(&spec, &shown, "field is immutable");
        }
    })
}

/// Checks a name, which may not be empty; an absent one counts as empty.
fn subdomain(field: &Field<'_>, errors: &mut Errors) {
    let text = json!(field.text());
    errors.all_invalid(&field.holding(&text), NameRule::Subdomain.check(field.text()));
}

/// `validateVolumeAttachmentStatus`.
fn attachment_status(status: &Field<'_>, errors: &mut Errors) {
    let metadata = status.child("attachmentMetadata");
    let size: usize = metadata.entries().iter().map(|(key, value)| key.len() + value.text().len()).sum();
    if size > LARGEST_METADATA {
        errors.too_long(&metadata.path, LARGEST_METADATA);
    }
    for error in [status.child("attachError"), status.child("detachError")] {
        if error.child("message").text().len() > LONGEST_ERROR {
            // The message shows another limit than the one that applies, as in Kubernetes.
            errors.too_long(&error.child("message").path, LARGEST_METADATA);
        }
        let code = error.child("errorCode");
        if code.number_or_zero() < 0 {
            errors.invalid(&code, &format!("must be between 0 and {}, inclusive", i32::MAX));
        }
    }
}

/// `ValidateVolumeAttachment` of an object whose status is replaced.
pub(in crate::builtin) fn volume_attachment_status(object: &Value, old: &Value) -> Vec<Cause> {
    volume_attachment(object, Some(old))
}

/// `ValidateCSIDriver` and `ValidateCSIDriverUpdate`.
pub(in crate::builtin) fn csi_driver(object: &Value, old: Option<&Value>) -> Vec<Cause> {
    Errors::of(|errors| {
        let spec = Field::root(object).child("spec");
        errors.optional_one_of(&spec.child("fsGroupPolicy"), &["File", "None", "ReadWriteOnceWithFSType"]);
        token_requests(&spec.child("tokenRequests"), errors);
        let modes = spec.child("volumeLifecycleModes");
        let known = &["Persistent", "Ephemeral"];
        for mode in modes.items() {
            if !known.contains(&mode.text()) {
                let text = json!(mode.text());
                errors.not_supported(&modes.holding(&text), known);
            }
        }
        let period = spec.child("nodeAllocatableUpdatePeriodSeconds");
        if period.number().is_some_and(|seconds| seconds < 10) {
            errors.invalid(&period, "must be greater than or equal to 10 seconds");
        }
        let in_secrets = spec.child("serviceAccountTokenInSecrets");
        if in_secrets.is_set() && spec.child("tokenRequests").is_empty() {
            let detail = "serviceAccountTokenInSecrets is set but no tokenRequests are specified";
            errors.invalid(&in_secrets, detail);
        }
        if let Some(old) = old {
            let before = Field::root(old).child("spec");
            // The path is misspelled in Kubernetes, too.
            let required = spec.child("attachRequired").at("spec.attachedRequired");
            errors.immutable(&required, &before.child("attachRequired"));
            errors.immutable(&modes, &before.child("volumeLifecycleModes"));
        }
    })
}

/// `validateTokenRequests`.
fn token_requests(requests: &Field<'_>, errors: &mut Errors) {
    const SHORTEST: i64 = 600;
    const LONGEST: i64 = 1 << 32;
    let mut seen: Vec<&str> = Vec::new();
    for request in requests.items() {
        let (audience, seconds) = (request.child("audience"), request.child("expirationSeconds"));
        if seen.contains(&audience.text()) {
            let text = json!(audience.text());
            errors.duplicate(&audience.holding(&text));
            continue;
        }
        seen.push(audience.text());
        match seconds.number() {
            Some(number) if number < SHORTEST => {
                errors.invalid(&seconds, "may not specify a duration less than 10 minutes");
            }
            Some(number) if number > LONGEST => {
                errors.invalid(&seconds, "may not specify a duration larger than 2^32 seconds");
            }
            _ => {}
        }
    }
}

/// `ValidateCSINode` and `ValidateCSINodeUpdate`.
pub(in crate::builtin) fn csi_node(object: &Value, old: Option<&Value>) -> Vec<Cause> {
    Errors::of(|errors| {
        let drivers = Field::root(object).child("spec").child("drivers");
        let mut seen: Vec<&str> = Vec::new();
        for driver in drivers.items() {
            node_driver(&driver, &seen, errors);
            seen.push(driver.child("name").text());
        }
        let Some(old) = old else { return };
        for before in Field::root(old).child("spec").child("drivers").items() {
            for driver in drivers.items().filter(|it| it.value["name"] == before.value["name"]) {
                let fixed = |driver: &Field<'_>| {
                    let keys = driver.child("topologyKeys").value.clone();
                    json!({"name": driver.child("name").text(), "id": driver.child("nodeID").text(), "keys": keys})
                };
                let shown = fixed(&driver);
                if shown != fixed(&before) {
                    let names =
                        [("Name", "name"), ("NodeID", "id"), ("TopologyKeys", "keys"), ("Allocatable", "")];
                    errors.invalid_as(&drivers, &go_struct(&shown, &names), "field is immutable");
                }
            }
        }
    })
}

/// `validateCSINodeDriver`.
fn node_driver(driver: &Field<'_>, seen: &[&str], errors: &mut Errors) {
    let (name, id) = (driver.child("name"), driver.child("nodeID"));
    volumes::driver_name(&name, errors);
    if id.is_empty() {
        errors.required(&id, "");
    }
    if id.text().len() > LONGEST_NODE_ID {
        errors.invalid(&id, &format!("must be {LONGEST_NODE_ID} characters or less"));
    }
    errors.not_negative(&driver.child("allocatable").child("count"));
    if seen.contains(&name.text()) {
        let text = json!(name.text());
        errors.duplicate(&name.holding(&text));
    }
    let mut keys: Vec<&str> = Vec::new();
    for key in driver.child("topologyKeys").texts() {
        let text = json!(key);
        let place = driver.holding(&text);
        if key.is_empty() {
            errors.required(&place, "");
        }
        if keys.contains(&key) {
            errors.duplicate(&place);
        }
        keys.push(key);
        errors.qualified_name(&place);
    }
}

/// `ValidateCSIStorageCapacity` and `ValidateCSIStorageCapacityUpdate`.
pub(in crate::builtin) fn csi_storage_capacity(object: &Value, old: Option<&Value>) -> Vec<Cause> {
    Errors::of(|errors| {
        let root = Field::root(object);
        let (topology, class) = (root.child("nodeTopology"), root.child("storageClassName"));
        errors.label_selector(&topology);
        subdomain(&class, errors);
        let capacity = root.child("capacity");
        if capacity.is_set() && resources::amount(&capacity) < 0 {
            errors.invalid(&capacity, "must be greater than or equal to 0");
        }
        let Some(old) = old else { return };
        if old["nodeTopology"] != object["nodeTopology"] {
            let names = [("matchLabels", "matchLabels"), ("matchExpressions", "matchExpressions")];
            let shown: Vec<_> =
                names.into_iter().filter(|(name, _)| topology.value.get(name).is_some()).collect();
            errors.invalid_as(&topology, &go_struct(topology.value, &shown), "field is immutable");
        }
        if class.text() != Field::root(old).child("storageClassName").text() {
            let text = json!(class.text());
            errors.invalid(&class.holding(&text), "field is immutable");
        }
    })
}

/// `ValidateVolumeAttributesClass` and `ValidateVolumeAttributesClassUpdate`.
pub(in crate::builtin) fn volume_attributes_class(object: &Value, old: Option<&Value>) -> Vec<Cause> {
    Errors::of(|errors| {
        let root = Field::root(object);
        if let Some(old) = old {
            for field in ["driverName", "parameters"] {
                if old[field] != object[field] {
                    errors.forbidden(&root.child(field), &format!("updates to {field} are forbidden."));
                }
            }
        }
        storage::provisioner(&root.child("driverName"), errors);
        storage::parameters(&root.child("parameters"), errors);
        if root.child("parameters").is_empty() {
            errors.required(&root.child("parameters"), "must contain at least one key/value pair");
        }
    })
}
