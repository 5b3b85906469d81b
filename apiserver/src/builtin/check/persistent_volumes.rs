//! Volumes of the cluster. Source: `ValidatePersistentVolume` and what it calls in `pkg/apis/core/validation`.

use serde_json::Value;

use super::field::{Errors, Field, go_struct};
use super::storage::{VOLUME_MODES, access_modes};
use super::{iscsi, resources, volumes};
use crate::names::NameRule;
use crate::status::Cause;

/// `ValidatePersistentVolume` and `ValidatePersistentVolumeUpdate`.
pub(in crate::builtin) fn volume(object: &Value, old: Option<&Value>) -> Vec<Cause> {
    Errors::of(|errors| {
        let spec = Field::root(object).child("spec");
        let name = crate::meta::name(object);
        volume_spec(&spec, name, false, errors);
        if let Some(old) = old {
            // An update is checked twice, as `ValidatePersistentVolumeUpdate` calls `ValidatePersistentVolume`.
            volume_spec(&spec, name, false, errors);
            volume_update(&spec, &Field::root(old).child("spec"), errors);
        }
    })
}

/// The further checks of `ValidatePersistentVolumeUpdate`.
fn volume_update(spec: &Field<'_>, old: &Field<'_>, errors: &mut Errors) {
    let source = |spec: &Field<'_>, without_secret: bool| {
        let mut source: Vec<Value> = SOURCES.iter().map(|(name, _)| spec.child(name).value.clone()).collect();
        if without_secret && let Some(csi) = source.last_mut().and_then(Value::as_object_mut) {
            csi.remove("controllerExpandSecretRef");
        }
        source
    };
    // An update may add the secret for expansion.
    let adds_secret = !old.child("csi").child("controllerExpandSecretRef").is_set();
    if source(spec, adds_secret) != source(old, adds_secret) {
        let place = spec.at("spec.persistentvolumesource");
        errors.forbidden(&place, "spec.persistentvolumesource is immutable after creation");
    }
    errors.immutable(&spec.child("volumeMode").at("volumeMode"), &old.child("volumeMode"));
    let (affinity, before) = (spec.child("nodeAffinity"), old.child("nodeAffinity"));
    if before.is_set() && !same_affinity(affinity.value, before.value) {
        let shown = affinity_in_go(&affinity);
        let detail = "field is immutable, except for updating from beta label to GA";
        errors.invalid_as(&affinity.at("nodeAffinity"), &shown, detail);
    }
    let class = spec.child("volumeAttributesClassName");
    if old.child("volumeAttributesClassName").is_set() && !class.is_set() {
        errors.forbidden(&class, "update from non-nil value to nil is forbidden");
    }
}

/// Labels that a node affinity may replace: `betaToGALabel`.
const STABLE: [(&str, &str); 5] = [
    ("failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone"),
    ("failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region"),
    ("beta.kubernetes.io/os", "kubernetes.io/os"),
    ("beta.kubernetes.io/arch", "kubernetes.io/arch"),
    ("beta.kubernetes.io/instance-type", "node.kubernetes.io/instance-type"),
];

/// `getMaskNodeSelectorLabelChangeEqualities`: equality in which a stable label may replace its beta one.
fn same_affinity(new: &Value, old: &Value) -> bool {
    match (new, old) {
        (Value::Array(new), Value::Array(old)) => {
            new.len() == old.len() && new.iter().zip(old).all(|(new, old)| same_affinity(new, old))
        }
        (Value::Object(new), Value::Object(old)) => {
            let is_same = |(name, new): (&String, &Value)| {
                let Some(old) = old.get(name) else { return false };
                let replaces = STABLE.iter().any(|(beta, stable)| old == beta && new == stable);
                same_affinity(new, old) || (name == "key" && replaces)
            };
            new.len() == old.len() && new.iter().all(is_same)
        }
        _ => new == old,
    }
}

/// Formats the internal `VolumeNodeAffinity` as Go does.
fn affinity_in_go(affinity: &Field<'_>) -> String {
    const TERM: &[(&str, &str)] = &[("Key", "key"), ("Operator", "operator"), ("Values", "values")];
    if !affinity.child("required").is_set() {
        return go_struct(affinity.value, &[("Required", "required")]);
    }
    let list = |list: &Field<'_>| {
        let terms: Vec<String> = list.items().map(|term| go_struct(term.value, TERM)).collect();
        if list.is_set() { format!("[{}]", terms.join(",")) } else { "null".to_owned() }
    };
    let terms = affinity.child("required").child("nodeSelectorTerms").items().map(|term| {
        let (labels, fields) = (list(&term.child("matchExpressions")), list(&term.child("matchFields")));
        format!("{{\"MatchExpressions\":{labels},\"MatchFields\":{fields}}}")
    });
    let terms: Vec<String> = terms.collect();
    format!("{{\"Required\":{{\"NodeSelectorTerms\":[{}]}}}}", terms.join(","))
}

/// Checks a volume that is inlined in an attachment.
pub(super) fn inline_volume(spec: &Field<'_>, errors: &mut Errors) {
    const INLINE: &str = "in the context of inline volumes";
    if spec.child("claimRef").is_set() {
        errors.forbidden(&spec.child("claimRef"), &format!("may not be specified {INLINE}"));
    }
    if !spec.child("capacity").is_empty() {
        errors.forbidden(&spec.child("capacity"), &format!("may not be specified {INLINE}"));
    }
    if !spec.child("csi").is_set() {
        errors.required(&spec.child("csi"), &format!("has to be specified {INLINE}"));
    }
    volume_spec(spec, "", true, errors);
}

/// `ValidatePersistentVolumeSpec`.
fn volume_spec(spec: &Field<'_>, name: &str, inline: bool, errors: &mut Errors) {
    let (modes, capacity) = (spec.child("accessModes"), spec.child("capacity"));
    if modes.is_empty() {
        errors.required(&modes, "");
    }
    access_modes(&modes, errors);
    if !inline {
        if capacity.is_empty() {
            errors.required(&capacity, "");
        }
        if !capacity.key("storage").is_set() || capacity.entries().len() > 1 {
            errors.not_supported(&capacity, &["storage"]);
        }
        for (_, amount) in capacity.entries() {
            resources::basic(&amount, errors);
            if resources::amount(&amount) <= 0 {
                errors.invalid(&amount, "must be greater than zero");
            }
        }
    }
    let policies = &["Delete", "Recycle", "Retain"];
    let reclaim = spec.child("persistentVolumeReclaimPolicy");
    if inline && !reclaim.is_empty() && reclaim.text() != "Retain" {
        errors.forbidden(&reclaim, "may only be Retain in the context of inline volumes");
    } else if !inline {
        errors.optional_one_of(&reclaim, policies);
    }
    let required = spec.child("nodeAffinity").child("required");
    if inline && spec.child("nodeAffinity").is_set() {
        errors
            .forbidden(&spec.child("nodeAffinity"), "may not be specified in the context of inline volumes");
    } else if required.is_set() {
        super::scheduling::node_selector(&required, errors);
    } else if spec.child("nodeAffinity").is_set() {
        errors.required(&required, "must specify required node constraints");
    }
    volume_source(spec, name, errors);
    let (class, mode) = (spec.child("storageClassName"), spec.child("volumeMode"));
    if inline && !class.is_empty() {
        errors.forbidden(&class, "may not be specified in the context of inline volumes");
    } else {
        errors.optional_name(&class, NameRule::Subdomain);
    }
    if !inline {
        errors.optional_one_of(&mode, VOLUME_MODES);
    } else if mode.is_set() && mode.text() != "Filesystem" {
        let detail = "may not specify volumeMode other than Filesystem in the context of inline volumes";
        errors.forbidden(&mode, detail);
    }
    volume_class(spec, errors);
}

/// The sources of a volume, in the order of `ValidatePersistentVolumeSpec`.
const SOURCES: [(&str, volumes::Rule); 22] = [
    ("hostPath", volumes::host_path),
    ("gcePersistentDisk", |source, errors| volumes::disk(source, "pdName", errors)),
    ("awsElasticBlockStore", |source, errors| volumes::disk(source, "volumeID", errors)),
    ("glusterfs", gluster),
    ("flocker", volumes::flocker),
    ("nfs", volumes::nfs),
    ("rbd", |source, errors| volumes::required(source, &["monitors", "image"], errors)),
    ("quobyte", volumes::quobyte),
    ("cephfs", |source, errors| volumes::required(source, &["monitors"], errors)),
    // Its rule needs the name of the volume.
    ("iscsi", |_, _| {}),
    ("cinder", |source, errors| volumes::with_secret(source, "volumeID", SECRET, errors)),
    ("fc", volumes::fibre_channel),
    ("flexVolume", volumes::flexible),
    ("azureFile", azure_file),
    ("vsphereVolume", |source, errors| volumes::required(source, &["volumePath"], errors)),
    ("photonPersistentDisk", |source, errors| volumes::required(source, &["pdID"], errors)),
    ("portworxVolume", |source, errors| volumes::required(source, &["volumeID"], errors)),
    ("azureDisk", volumes::azure_disk),
    ("scaleIO", |source, errors| volumes::required(source, &["gateway", "system", "volumeName"], errors)),
    ("local", local),
    ("storageos", |source, errors| volumes::storage_os(source, SECRET, errors)),
    ("csi", csi),
];

/// The members by which a volume names a secret.
const SECRET: &[&str] = &["name", "namespace"];

/// `validateGlusterfsPersistentVolumeSource`.
fn gluster(source: &Field<'_>, errors: &mut Errors) {
    volumes::required(source, &["endpoints", "path"], errors);
    let namespace = source.child("endpointsNamespace");
    if namespace.is_set() && namespace.is_empty() {
        errors.invalid(&namespace, "if the endpointnamespace is set, it must be a valid namespace name");
    }
    errors.optional_name(&namespace, NameRule::Label);
}

/// `validateAzureFilePV`.
fn azure_file(source: &Field<'_>, errors: &mut Errors) {
    volumes::required(source, &["secretName", "shareName"], errors);
    let namespace = source.child("secretNamespace");
    if namespace.is_set() && namespace.is_empty() {
        errors.required(&namespace, "");
    }
}

fn volume_source(spec: &Field<'_>, name_of_volume: &str, errors: &mut Errors) {
    let mut found = false;
    for (name, check) in &SOURCES {
        let source = spec.child(name);
        if !source.is_set() {
            continue;
        }
        // A flexible volume is checked even after another source.
        if found && *name != "flexVolume" {
            let place = if *name == "cephfs" { "cephFS" } else { name };
            errors.forbidden(&spec.child(place), "may not specify more than 1 volume type");
            continue;
        }
        found = true;
        let place = if *name == "gcePersistentDisk" { "persistentDisk" } else { name };
        check(&source.at(spec.child(place).path), errors);
        if *name == "iscsi" {
            iscsi::of_volume(&source, name_of_volume, errors);
        }
        if *name == "local" && !spec.child("nodeAffinity").is_set() {
            errors.required(&spec.child("nodeAffinity"), "Local volume requires node affinity");
        }
    }
    if !found {
        errors.required(spec, "must specify a volume type");
    }
    let reclaim = spec.child("persistentVolumeReclaimPolicy");
    if reclaim.text() == "Recycle" && spec.child("hostPath").child("path").text() == "/" {
        errors.forbidden(&reclaim, "may not be 'recycle' for a hostPath mount of '/'");
    }
}

/// `validateLocalVolumeSource`.
fn local(source: &Field<'_>, errors: &mut Errors) {
    volumes::required(source, &["path"], errors);
    volumes::no_back_steps(&source.child("path"), errors);
}

/// `validateCSIPersistentVolumeSource`.
fn csi(source: &Field<'_>, errors: &mut Errors) {
    volumes::driver_name(&source.child("driver"), errors);
    volumes::required(source, &["volumeHandle"], errors);
    let secrets = ["controllerPublish", "controllerExpand", "nodePublish", "nodeExpand"];
    for secret in secrets.map(|use_| source.child(&format!("{use_}SecretRef"))) {
        if secret.is_set() {
            errors.required_name(&secret.child("name"), NameRule::Subdomain);
            errors.required_name(&secret.child("namespace"), NameRule::Label);
        }
    }
}

fn volume_class(spec: &Field<'_>, errors: &mut Errors) {
    let class = spec.child("volumeAttributesClassName");
    if !class.is_set() {
        return;
    }
    if class.is_empty() {
        errors.required(&class, "an empty string is disallowed");
    }
    errors.optional_name(&class, NameRule::Subdomain);
    if !spec.child("csi").is_set() {
        errors.required(&spec.child("csi"), "has to be specified when using volumeAttributesClassName");
    }
}
