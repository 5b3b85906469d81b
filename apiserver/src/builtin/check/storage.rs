//! Claims and the classes of volumes. Source: `pkg/apis/core/validation` and `pkg/apis/storage/validation`.

use serde_json::{Value, json};

use super::field::{Errors, Field};
use super::resources;
use crate::names::NameRule;
use crate::status::Cause;

const ACCESS_MODES: &[&str] = &["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"];
pub(super) const VOLUME_MODES: &[&str] = &["Block", "Filesystem"];

pub(super) fn access_modes(modes: &Field<'_>, errors: &mut Errors) {
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

/// `ValidatePersistentVolumeClaimStatusUpdate`.
pub(in crate::builtin) fn claim_status(new: &Value, _: &Value) -> Vec<Cause> {
    const STATUSES: &[&str] = &[
        "ControllerResizeInProgress",
        "ControllerResizeInfeasible",
        "NodeResizeInProgress",
        "NodeResizeInfeasible",
        "NodeResizePending",
    ];
    Errors::of(|errors| {
        let status = Field::root(new).child("status");
        for (_, amount) in status.child("capacity").entries() {
            resources::basic(&amount, errors);
        }
        let resizing = status.child("allocatedResourceStatuses");
        for (name, state) in resizing.entries() {
            resources::claim_resource(name, &resizing, errors);
            if !STATUSES.contains(&state.text()) {
                // The error shows the name of the resource.
                let text = Value::from(name);
                errors.not_supported(&resizing.holding(&text), STATUSES);
            }
        }
        let allocated = status.child("allocatedResources");
        for (name, amount) in allocated.entries() {
            if resources::claim_resource(name, &allocated, errors) {
                let before = errors.len();
                resources::basic(&amount, errors);
                if errors.len() == before {
                    resources::value("storage", &amount, errors);
                }
            }
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
