//! Volumes, claims and their classes. Source: `pkg/apis/core/validation` and `pkg/apis/storage/validation`.

use serde_json::{Value, json};

use super::field::{Errors, Field, go_struct};
use super::{iscsi, resources, volumes};
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
    }
    for (_, amount) in capacity.entries() {
        if resources::amount(&amount) <= 0 {
            errors.invalid(&amount, "must be greater than zero");
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
    errors.optional_name(&spec.child("storageClassName"), NameRule::Subdomain);
    errors.optional_one_of(&spec.child("volumeMode"), VOLUME_MODES);
    volume_class(spec, errors);
}

/// The sources of a volume, in the order of `ValidatePersistentVolumeSpec`.
const SOURCES: [(&str, volumes::Rule); 22] = [
    ("hostPath", volumes::host_path),
    ("gcePersistentDisk", |source, errors| volumes::disk(source, "pdName", errors)),
    ("awsElasticBlockStore", |source, errors| volumes::disk(source, "volumeID", errors)),
    ("glusterfs", |source, errors| volumes::required(source, &["endpoints", "path"], errors)),
    ("flocker", volumes::flocker),
    ("nfs", volumes::nfs),
    ("rbd", |source, errors| volumes::required(source, &["monitors", "image"], errors)),
    ("quobyte", |source, errors| volumes::required(source, &["registry", "volume"], errors)),
    ("cephfs", |source, errors| volumes::required(source, &["monitors"], errors)),
    // Its rule needs the name of the volume.
    ("iscsi", |_, _| {}),
    ("cinder", |source, errors| volumes::required(source, &["volumeID"], errors)),
    ("fc", |_, _| {}),
    ("flexVolume", |source, errors| volumes::required(source, &["driver"], errors)),
    ("azureFile", |source, errors| volumes::required(source, &["secretName", "shareName"], errors)),
    ("vsphereVolume", |source, errors| volumes::required(source, &["volumePath"], errors)),
    ("photonPersistentDisk", |source, errors| volumes::required(source, &["pdID"], errors)),
    ("portworxVolume", |source, errors| volumes::required(source, &["volumeID"], errors)),
    ("azureDisk", volumes::azure_disk),
    ("scaleIO", |source, errors| volumes::required(source, &["gateway", "system", "volumeName"], errors)),
    ("local", local),
    ("storageos", |source, errors| volumes::required(source, &["volumeName"], errors)),
    ("csi", csi),
];

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
    let (source, reference) = (spec.child("dataSource"), spec.child("dataSourceRef"));
    for source in [&source, &reference] {
        if source.is_set() {
            data_source(source, errors);
        }
    }
    let namespace = reference.child("namespace");
    errors.optional_name(&namespace, NameRule::Label);
    if source.is_set() && reference.is_set() {
        let same =
            ["apiGroup", "kind", "name"].iter().all(|field| source.value[field] == reference.value[field]);
        if !namespace.is_empty() {
            let detail = "may not be specified when dataSourceRef.namespace is specified";
            errors.invalid_as(spec, "{}", detail);
        } else if !same {
            errors.invalid_as(spec, "{}", "must match dataSourceRef");
        }
    }
    errors.optional_name(&spec.child("volumeAttributesClassName"), NameRule::Subdomain);
}

/// `validateDataSource`, and the same part of `validateDataSourceRef`.
fn data_source(source: &Field<'_>, errors: &mut Errors) {
    let (name, kind, group) = (source.child("name"), source.child("kind"), source.child("apiGroup"));
    for field in [&name, &kind] {
        if field.is_empty() {
            errors.required(field, "");
        }
    }
    if group.is_empty() && kind.text() != "PersistentVolumeClaim" {
        let text = Value::from(kind.text());
        let detail = "must be 'PersistentVolumeClaim' when referencing the default apiGroup";
        errors.invalid(&source.holding(&text), detail);
    }
    errors.optional_name(&group, NameRule::Subdomain);
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

/// The annotation that named a claim's class before the field did (`BetaStorageClassAnnotation`).
const CLASS: &str = "volume.beta.kubernetes.io/storage-class";

/// Checks the annotation with the class of a claim; returns whether an update may set the field: once, and to the class of the
/// annotation if the claim has one (`validateStorageClassUpgradeFromAnnotation` and `validateStorageClassUpgradeFromNil`).
fn may_set_class(object: &Value, old: &Value, errors: &mut Errors) -> bool {
    let annotation = |claim: &Value| claim["metadata"]["annotations"][CLASS].as_str().map(str::to_owned);
    let (given, before) = (annotation(object), annotation(old));
    let is_new = old["spec"]["storageClassName"].is_null();
    let class = object["spec"]["storageClassName"].as_str();
    let fits = is_new && class.is_some() && (before.is_none() || before.as_deref() == class);
    let upgrades = fits && before.is_some() && (given.is_none() || given == before);
    if !upgrades && given.as_deref().unwrap_or_default() != before.as_deref().unwrap_or_default() {
        let text = Value::from(given.unwrap_or_default());
        let place = Field::root(object).child("metadata").child("annotations").child(CLASS);
        errors.invalid(&place.holding(&text), "field is immutable");
    }
    fits
}

/// The changes that `ValidatePersistentVolumeClaimUpdate` allows: a bound claim may grow, and a volume is set once.
fn claim_update(spec: &Field<'_>, object: &Value, old: &Value, errors: &mut Errors) {
    let bound = object["status"]["phase"] == "Bound";
    let before = Field::root(old).child("spec");
    let kept = before.child("volumeName").is_empty();
    let may_set_class = may_set_class(object, old, errors);
    let frozen = |claim: &Value| {
        let mut spec = claim["spec"].clone();
        if bound {
            spec["resources"]["requests"]["storage"] = Value::Null;
            spec["volumeAttributesClassName"] = Value::Null;
        }
        if kept {
            spec["volumeName"] = Value::Null;
        }
        if may_set_class {
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
        provisioner(&root.child("provisioner"), errors);
        parameters(&root.child("parameters"), errors);
        let reclaim = root.child("reclaimPolicy");
        if !reclaim.is_empty() {
            errors.optional_one_of(&reclaim, &["Delete", "Retain"]);
        }
        let modes = &["Immediate", "WaitForFirstConsumer"];
        errors.optional_one_of(&root.child("volumeBindingMode"), modes);
        allowed_topologies(&root.child("allowedTopologies"), errors);
        if let Some(old) = old {
            for field in ["parameters", "provisioner", "reclaimPolicy", "volumeBindingMode"] {
                errors.immutable(&root.child(field), &Field::root(old).child(field));
            }
        }
    })
}

/// `validateProvisioner`.
pub(super) fn provisioner(name: &Field<'_>, errors: &mut Errors) {
    if name.is_empty() {
        errors.required(name, "");
    } else {
        let text = Value::from(name.text().to_lowercase());
        errors.qualified_name(&name.holding(&text));
    }
}

/// `validateParameters`.
pub(super) fn parameters(parameters: &Field<'_>, errors: &mut Errors) {
    const MOST: usize = 512;
    const LARGEST: usize = 256 * 1024;
    let entries = parameters.entries();
    if entries.len() > MOST {
        errors.too_long(&parameters.path, MOST);
        return;
    }
    if entries.iter().any(|(key, _)| key.is_empty()) {
        let shown = json!("");
        errors.invalid(&parameters.holding(&shown), "field can not be empty.");
    }
    if entries.iter().map(|(key, value)| key.len() + value.text().len()).sum::<usize>() > LARGEST {
        errors.too_long(&parameters.path, LARGEST);
    }
}

/// `validateAllowedTopologies`.
fn allowed_topologies(terms: &Field<'_>, errors: &mut Errors) {
    // The original begins with an empty entry for each term.
    let mut seen: Vec<Value> = vec![Value::Null; terms.items().count()];
    for term in terms.items() {
        let expressions = term.child("matchLabelExpressions");
        let mut keys: Vec<&str> = Vec::new();
        for expression in expressions.items() {
            let (key, values) = (expression.child("key"), expression.child("values"));
            if values.is_empty() {
                errors.required(&values, "");
            }
            let mut known: Vec<&str> = Vec::new();
            for value in values.items() {
                if known.contains(&value.text()) {
                    errors.duplicate(&value);
                }
                known.push(value.text());
            }
            errors.qualified_name(&key);
            if keys.contains(&key.text()) {
                let text = Value::from(key.text());
                errors.duplicate(&key.holding(&text));
            }
            keys.push(key.text());
        }
        let whole = if expressions.is_empty() { Value::Null } else { expressions.value.clone() };
        for _ in seen.iter().filter(|other| **other == whole) {
            errors.duplicate_as(&expressions, "\"\"");
        }
        seen.push(whole);
    }
}
