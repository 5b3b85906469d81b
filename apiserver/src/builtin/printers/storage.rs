//! The tables of volumes and devices, with their classes and drivers.

use serde_json::Value;

use super::{AGE, BuiltInColumn, Cell, NAME, column, list, made, of_names, string, text, wide};

pub(super) const VOLUMES: &[BuiltInColumn] = &[
    NAME,
    text("Capacity", Cell::At("/spec/capacity/storage")),
    made("Access Modes", |o, _| access_modes(&o["spec"]["accessModes"])),
    text("Reclaim Policy", Cell::At("/spec/persistentVolumeReclaimPolicy")),
    made("Status", |o, _| phase(o)),
    made("Claim", |o, _| claim(&o["spec"]["claimRef"])),
    text("StorageClass", Cell::At("/spec/storageClassName")),
    made("VolumeAttributesClass", |o, _| or_unset(&o["spec"]["volumeAttributesClassName"])),
    text("Reason", Cell::At("/status/reason")),
    AGE,
    wide(made("VolumeMode", |o, _| or_unset(&o["spec"]["volumeMode"]))),
];

pub(super) const CLAIMS: &[BuiltInColumn] = &[
    NAME,
    made("Status", |o, _| phase(o)),
    text("Volume", Cell::At("/spec/volumeName")),
    made("Capacity", |o, _| if bound(o) { o["status"]["capacity"]["storage"].clone() } else { "".into() }),
    made("Access Modes", |o, _| if bound(o) { access_modes(&o["status"]["accessModes"]) } else { "".into() }),
    text("StorageClass", Cell::At("/spec/storageClassName")),
    made("VolumeAttributesClass", |o, _| or_unset(&o["spec"]["volumeAttributesClassName"])),
    AGE,
    wide(made("VolumeMode", |o, _| or_unset(&o["spec"]["volumeMode"]))),
];

pub(super) const CLASSES: &[BuiltInColumn] = &[
    of_names(made("Name", |o, _| class_name(o).into())),
    text("Provisioner", Cell::At("/provisioner")),
    text("ReclaimPolicy", Cell::At("/reclaimPolicy")),
    text("VolumeBindingMode", Cell::At("/volumeBindingMode")),
    column("AllowVolumeExpansion", "string", Cell::Made(|o, _| (o["allowVolumeExpansion"] == true).into())),
    AGE,
];

pub(super) const ATTACHMENTS: &[BuiltInColumn] = &[
    NAME,
    of_names(text("Attacher", Cell::At("/spec/attacher"))),
    text("PV", Cell::At("/spec/source/persistentVolumeName")),
    text("Node", Cell::At("/spec/nodeName")),
    column("Attached", "boolean", Cell::Made(|o, _| (o["status"]["attached"] == true).into())),
    AGE,
];

pub(super) const DRIVERS: &[BuiltInColumn] = &[
    NAME,
    column("AttachRequired", "boolean", Cell::Made(|o, _| (o["spec"]["attachRequired"] != false).into())),
    column("PodInfoOnMount", "boolean", Cell::Made(|o, _| (o["spec"]["podInfoOnMount"] == true).into())),
    column("StorageCapacity", "boolean", Cell::Made(|o, _| (o["spec"]["storageCapacity"] == true).into())),
    made("TokenRequests", |o, _| audiences(o).into()),
    column(
        "RequiresRepublish",
        "boolean",
        Cell::Made(|o, _| (o["spec"]["requiresRepublish"] == true).into()),
    ),
    made("Modes", |o, _| crate::meta::strings(&o["spec"]["volumeLifecycleModes"]).join(",").into()),
    AGE,
];

pub(super) const NODES: &[BuiltInColumn] =
    &[NAME, column("Drivers", "integer", Cell::Made(|o, _| list(&o["spec"]["drivers"]).len().into())), AGE];

fn phase(object: &Value) -> Value {
    if crate::meta::is_terminating(object) {
        "Terminating".into()
    } else {
        string(&object["status"], "phase").into()
    }
}

fn bound(claim: &Value) -> bool {
    !string(&claim["spec"], "volumeName").is_empty()
}

pub(super) const ATTRIBUTES: &[BuiltInColumn] = &[NAME, text("DriverName", Cell::At("/driverName")), AGE];

pub(super) const RESOURCE_CLAIMS: &[BuiltInColumn] =
    &[NAME, made("State", |o, _| claim_state(o).into()), AGE];

pub(super) const RESOURCE_SLICES: &[BuiltInColumn] = &[
    NAME,
    made("Node", |o, _| or_unset(&o["spec"]["nodeName"])),
    text("Driver", Cell::At("/spec/driver")),
    text("Pool", Cell::At("/spec/pool/name")),
    AGE,
];

/// Returns the states of a claim of devices.
fn claim_state(claim: &Value) -> String {
    let mut states = Vec::new();
    if !claim["metadata"]["deletionTimestamp"].is_null() {
        states.push("deleted");
    }
    match claim["status"]["allocation"].is_null() {
        true if states.is_empty() => states.push("pending"),
        true => {}
        false => states.push("allocated"),
    }
    if !list(&claim["status"]["reservedFor"]).is_empty() {
        states.push("reserved");
    }
    states.join(",")
}

fn or_unset(value: &Value) -> Value {
    value.as_str().unwrap_or("<unset>").into()
}

fn claim(reference: &Value) -> Value {
    if reference.is_null() {
        return "".into();
    }
    format!("{}/{}", string(reference, "namespace"), string(reference, "name")).into()
}

/// Access modes by their short names, in a fixed order.
fn access_modes(modes: &Value) -> Value {
    let given = crate::meta::strings(modes);
    let known = [
        ("ReadWriteOnce", "RWO"),
        ("ReadOnlyMany", "ROX"),
        ("ReadWriteMany", "RWX"),
        ("ReadWriteOncePod", "RWOP"),
    ];
    let short: Vec<&str> =
        known.iter().filter(|(mode, _)| given.contains(mode)).map(|(_, short)| *short).collect();
    short.join(",").into()
}

/// Reports whether claims that name no class get this one (`IsDefaultAnnotation` of pkg/volume/util/storageclass.go).
pub(crate) fn is_default_storage_class(class: &Value) -> bool {
    ["storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class"]
        .iter()
        .any(|annotation| class["metadata"]["annotations"][*annotation] == "true")
}

fn class_name(class: &Value) -> String {
    let name = crate::meta::name(class);
    if is_default_storage_class(class) { format!("{name} (default)") } else { name.to_owned() }
}

fn audiences(driver: &Value) -> String {
    let requests = list(&driver["spec"]["tokenRequests"]);
    let all: Vec<&str> = requests.iter().map(|request| string(request, "audience")).collect();
    if all.is_empty() { "<unset>".to_owned() } else { all.join(",") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::Timestamp;
    use serde_json::json;

    #[test]
    fn claim_row_shows_volume_when_bound() {
        let row = |claim: &Value| -> Vec<Value> {
            CLAIMS[1..5].iter().map(|column| column.cell(claim, Timestamp::UNIX_EPOCH)).collect()
        };
        let status = json!({"phase": "Bound", "capacity": {"storage": "1Gi"},
                            "accessModes": ["ReadWriteMany", "ReadWriteOnce"]});
        assert_eq!(row(&json!({"spec": {}, "status": {"phase": "Pending"}})), ["Pending", "", "", ""]);
        let bound = json!({"spec": {"volumeName": "v"}, "status": status});
        assert_eq!(row(&bound), ["Bound", "v", "1Gi", "RWO,RWX"]);
    }
}
