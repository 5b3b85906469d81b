//! Volumes of a pod. Source: `ValidateVolumes` of `pkg/apis/core/validation`.

use serde_json::Value;

use super::field::{Errors, Field};
use crate::names::NameRule;

/// A rule of a source.
type Rule = fn(&Field<'_>, &mut Errors);

/// The sources of a volume, in the order in which `validateVolumeSource` looks at them.
const SOURCES: &[(&str, Rule)] = &[
    ("emptyDir", empty_dir),
    ("hostPath", host_path),
    ("gitRepo", |source, errors| required(source, &["repository"], errors)),
    ("gcePersistentDisk", |source, errors| required(source, &["pdName"], errors)),
    ("awsElasticBlockStore", |source, errors| required(source, &["volumeID"], errors)),
    ("secret", |source, errors| files(source, "secretName", errors)),
    ("nfs", nfs),
    ("iscsi", |source, errors| required(source, &["targetPortal", "iqn"], errors)),
    ("glusterfs", |source, errors| required(source, &["endpoints", "path"], errors)),
    ("flocker", |_, _| {}),
    ("persistentVolumeClaim", |source, errors| required(source, &["claimName"], errors)),
    ("rbd", |source, errors| required(source, &["monitors", "image"], errors)),
    ("cinder", |source, errors| required(source, &["volumeID"], errors)),
    ("cephfs", |source, errors| required(source, &["monitors"], errors)),
    ("quobyte", |source, errors| required(source, &["registry", "volume"], errors)),
    ("downwardAPI", downward_api),
    ("fc", |_, _| {}),
    ("flexVolume", |source, errors| required(source, &["driver"], errors)),
    ("configMap", |source, errors| files(source, "name", errors)),
    ("azureFile", |source, errors| required(source, &["secretName", "shareName"], errors)),
    ("vsphereVolume", |source, errors| required(source, &["volumePath"], errors)),
    ("photonPersistentDisk", |source, errors| required(source, &["pdID"], errors)),
    ("portworxVolume", |source, errors| required(source, &["volumeID"], errors)),
    ("azureDisk", |source, errors| required(source, &["diskName", "diskURI"], errors)),
    ("storageos", |source, errors| required(source, &["volumeName"], errors)),
    ("projected", projected),
    ("scaleIO", |source, errors| required(source, &["gateway", "system", "volumeName"], errors)),
    ("csi", |source, errors| required(source, &["driver"], errors)),
    ("ephemeral", ephemeral),
    ("image", |_, _| {}),
];

const MODE: &str = "must be a number between 0 and 0777 (octal), both inclusive";

/// Checks volumes and returns those that are sound, which mounts may name.
pub(super) fn volumes<'v>(list: &Field<'v>, errors: &mut Errors) -> Vec<(&'v str, &'v Value)> {
    let mut sound: Vec<(&str, &Value)> = Vec::new();
    for volume in list.items() {
        let before = errors.len();
        source(&volume, errors);
        let name = volume.child("name");
        errors.required_name(&name, NameRule::Label);
        if sound.iter().any(|(known, _)| *known == name.text()) {
            errors.duplicate(&name);
        }
        if errors.len() == before {
            sound.push((name.text(), volume.value));
        }
    }
    sound
}

fn source(volume: &Field<'_>, errors: &mut Errors) {
    let mut given = SOURCES.iter().filter(|(name, _)| volume.child(name).is_set());
    match given.next() {
        None => errors.required(volume, "must specify a volume type"),
        Some((name, check)) => check(&volume.child(name), errors),
    }
    for (name, _) in given {
        errors.forbidden(&volume.child(name), "may not specify more than 1 volume type");
    }
}

fn required(source: &Field<'_>, members: &[&str], errors: &mut Errors) {
    for member in members {
        let member = source.child(member);
        if member.is_empty() {
            errors.required(&member, "");
        }
    }
}

fn empty_dir(source: &Field<'_>, errors: &mut Errors) {
    let limit = source.child("sizeLimit");
    if limit.is_set() && super::resources::amount(&limit) < 0 {
        errors.forbidden(&limit, "SizeLimit field must be a valid resource quantity");
    }
}

fn host_path(source: &Field<'_>, errors: &mut Errors) {
    let path = source.child("path");
    if path.is_empty() {
        errors.required(&path, "");
        return;
    }
    no_back_steps(&path, errors);
    const TYPES: &[&str] = &[
        "",
        "BlockDevice",
        "CharDevice",
        "Directory",
        "DirectoryOrCreate",
        "File",
        "FileOrCreate",
        "Socket",
    ];
    errors.optional_one_of(&source.child("type"), TYPES);
}

fn nfs(source: &Field<'_>, errors: &mut Errors) {
    required(source, &["server", "path"], errors);
    let path = source.child("path");
    if !path.text().starts_with('/') {
        errors.invalid(&path, "must be an absolute path");
    }
}

/// Secrets and config maps as files.
fn files(source: &Field<'_>, name: &str, errors: &mut Errors) {
    required(source, &[name], errors);
    mode(&source.child("defaultMode"), errors);
    items(&source.child("items"), errors);
}

fn items(list: &Field<'_>, errors: &mut Errors) {
    for item in list.items() {
        required(&item, &["key"], errors);
        path_within(&item.child("path"), errors);
        mode(&item.child("mode"), errors);
    }
}

fn downward_api(source: &Field<'_>, errors: &mut Errors) {
    mode(&source.child("defaultMode"), errors);
    for item in source.child("items").items() {
        path_within(&item.child("path"), errors);
        let (field, resource) = (item.child("fieldRef"), item.child("resourceFieldRef"));
        match (field.is_set(), resource.is_set()) {
            (false, false) => errors.required(&item, "one of fieldRef and resourceFieldRef is required"),
            (true, true) => {
                errors
                    .invalid(&resource, "fieldRef and resourceFieldRef can not be specified simultaneously");
            }
            _ => {}
        }
        mode(&item.child("mode"), errors);
    }
}

/// The sources of a projected volume.
const PROJECTIONS: &[&str] =
    &["secret", "configMap", "downwardAPI", "serviceAccountToken", "clusterTrustBundle", "podCertificate"];

fn projected(source: &Field<'_>, errors: &mut Errors) {
    mode(&source.child("defaultMode"), errors);
    for projection in source.child("sources").items() {
        let given: Vec<&&str> = PROJECTIONS.iter().filter(|name| projection.child(name).is_set()).collect();
        for name in &given {
            let part = projection.child(name);
            match **name {
                "secret" | "configMap" => {
                    required(&part, &["name"], errors);
                    items(&part.child("items"), errors);
                }
                "serviceAccountToken" => token(&part, errors),
                _ => {}
            }
        }
        if given.len() > 1 {
            errors.forbidden(&projection, "may not specify more than 1 volume type");
        }
    }
}

fn token(source: &Field<'_>, errors: &mut Errors) {
    let seconds = source.child("expirationSeconds");
    match seconds.number() {
        Some(value) if value < 600 => {
            errors.invalid(&seconds, "may not specify a duration less than 10 minutes");
        }
        Some(value) if value > 1 << 32 => {
            errors.invalid(&seconds, "may not specify a duration larger than 2^32 seconds");
        }
        _ => {}
    }
    required(source, &["path"], errors);
}

fn ephemeral(source: &Field<'_>, errors: &mut Errors) {
    let template = source.child("volumeClaimTemplate");
    if template.is_set() {
        super::storage::claim_spec(&template.child("spec"), errors);
    } else {
        errors.required(&template, "");
    }
}

pub(super) fn mode(field: &Field<'_>, errors: &mut Errors) {
    if field.number().is_some_and(|mode| !(0..=0o777).contains(&mode)) {
        errors.invalid(field, MODE);
    }
}

/// `validatePathNoBacksteps`.
pub(super) fn no_back_steps(path: &Field<'_>, errors: &mut Errors) {
    if path.text().split('/').any(|part| part == "..") {
        errors.invalid(path, "must not contain '..'");
    }
}

/// `validateLocalDescendingPath`.
pub(super) fn descending(path: &Field<'_>, errors: &mut Errors) {
    if path.text().starts_with('/') {
        errors.invalid(path, "must be a relative path");
    }
    no_back_steps(path, errors);
}

/// `validateLocalNonReservedPath` of a path that is required.
fn path_within(path: &Field<'_>, errors: &mut Errors) {
    if path.is_empty() {
        errors.required(path, "");
        return;
    }
    descending(path, errors);
    if path.text().starts_with("..") && !path.text().starts_with("../") {
        errors.invalid(path, "must not start with '..'");
    }
}
