//! Volumes of a pod. Source: `ValidateVolumes` of `pkg/apis/core/validation`.

use serde_json::Value;

use super::containers::PULL_POLICIES;
use super::downward::{self, VOLUME_FIELDS};
use super::field::{Errors, Field};
use super::iscsi;
use crate::names::{NameRule, ephemeral_claim, quoted};

/// The rule of one source.
pub(super) type Rule = fn(&Field<'_>, &mut Errors);

/// The sources of a volume, in the order of `validateVolumeSource`.
const SOURCES: &[(&str, Rule)] = &[
    ("emptyDir", empty_dir),
    ("hostPath", host_path),
    ("gitRepo", |source, errors| {
        required(source, &["repository"], errors);
        descending(&source.child("directory"), errors);
    }),
    ("gcePersistentDisk", |source, errors| disk(source, "pdName", errors)),
    ("awsElasticBlockStore", |source, errors| disk(source, "volumeID", errors)),
    ("secret", |source, errors| files(source, "secretName", errors)),
    ("nfs", nfs),
    ("iscsi", iscsi::of_pod),
    ("glusterfs", |source, errors| required(source, &["endpoints", "path"], errors)),
    ("flocker", flocker),
    ("persistentVolumeClaim", |source, errors| required(source, &["claimName"], errors)),
    ("rbd", |source, errors| required(source, &["monitors", "image"], errors)),
    ("cinder", |source, errors| with_secret(source, "volumeID", &["name"], errors)),
    ("cephfs", |source, errors| required(source, &["monitors"], errors)),
    ("quobyte", quobyte),
    ("downwardAPI", downward_api),
    ("fc", fibre_channel),
    ("flexVolume", flexible),
    ("configMap", |source, errors| files(source, "name", errors)),
    ("azureFile", |source, errors| required(source, &["secretName", "shareName"], errors)),
    ("vsphereVolume", |source, errors| required(source, &["volumePath"], errors)),
    ("photonPersistentDisk", |source, errors| required(source, &["pdID"], errors)),
    ("portworxVolume", |source, errors| required(source, &["volumeID"], errors)),
    ("azureDisk", azure_disk),
    ("storageos", |source, errors| storage_os(source, &["name"], errors)),
    ("projected", projected),
    ("scaleIO", |source, errors| required(source, &["gateway", "system", "volumeName"], errors)),
    ("csi", csi),
    ("ephemeral", ephemeral),
    ("image", |source, errors| errors.one_of(&source.child("pullPolicy"), PULL_POLICIES)),
];

const MODE: &str = "must be a number between 0 and 0777 (octal), both inclusive";

/// Checks volumes and returns the valid ones, which mounts may name. `pod` is the pod's name; a template has none.
pub(super) fn volumes<'v>(list: &Field<'v>, pod: &str, errors: &mut Errors) -> Vec<(&'v str, &'v Value)> {
    let mut sound: Vec<(&str, &Value)> = Vec::new();
    let ephemeral = list.items().filter(|volume| !pod.is_empty() && volume.child("ephemeral").is_set());
    let created: Vec<String> =
        ephemeral.map(|volume| ephemeral_claim(pod, volume.child("name").text())).collect();
    for volume in list.items() {
        let before = errors.len();
        source(&volume, pod, errors);
        let name = volume.child("name");
        errors.required_name(&name, NameRule::Label);
        if sound.iter().any(|(known, _)| *known == name.text()) {
            errors.duplicate(&name);
        }
        if errors.len() == before {
            sound.push((name.text(), volume.value));
        }
        let claim = volume.child("persistentVolumeClaim").child("claimName");
        if created.iter().any(|created| created == claim.text()) {
            errors.invalid(&claim, "must not reference a PVC that gets created for an ephemeral volume");
        }
    }
    sound
}

/// Checks the name of the claim that is made for an ephemeral volume.
fn created_claim(volume: &Field<'_>, pod: &str, errors: &mut Errors) {
    let name = volume.child("name");
    if pod.is_empty() || name.is_empty() {
        return;
    }
    let claim = ephemeral_claim(pod, name.text());
    for fault in NameRule::Subdomain.check(&claim) {
        errors.invalid(&name, &format!("PVC name {}: {fault}", quoted(&claim)));
    }
}

fn source(volume: &Field<'_>, pod: &str, errors: &mut Errors) {
    let mut given = SOURCES.iter().filter(|(name, _)| volume.child(name).is_set());
    match given.next() {
        None => errors.required(volume, "must specify a volume type"),
        Some((name, check)) => {
            let source = volume.child(name);
            let place = if *name == "gcePersistentDisk" { "persistentDisk" } else { name };
            check(&source.at(volume.child(place).path), errors);
            if *name == "iscsi" {
                iscsi::name_of_pod_volume(volume, errors);
            }
            if *name == "ephemeral" {
                created_claim(volume, pod, errors);
            }
        }
    }
    for (name, _) in given {
        // Kubernetes misspells these two.
        let place = match *name {
            "downwardAPI" => "downwarAPI",
            "cephfs" => "cephFS",
            name => name,
        };
        errors.forbidden(&volume.child(place), "may not specify more than 1 volume type");
        if *name == "iscsi" {
            iscsi::name_of_pod_volume(volume, errors);
        }
    }
}

pub(super) fn required(source: &Field<'_>, members: &[&str], errors: &mut Errors) {
    for member in members {
        let member = source.child(member);
        if member.is_empty() {
            errors.required(&member, "");
        }
    }
}

/// Checks a source that needs its identifier and may name a secret by these members.
pub(super) fn with_secret(source: &Field<'_>, id: &str, of_secret: &[&str], errors: &mut Errors) {
    required(source, &[id], errors);
    let secret = source.child("secretRef");
    if secret.is_set() {
        required(&secret, of_secret, errors);
    }
}

/// `validateQuobyteVolumeSource`.
pub(super) fn quobyte(source: &Field<'_>, errors: &mut Errors) {
    const DETAIL: &str = "must be a host:port pair or multiple pairs separated by commas";
    let (registry, tenant) = (source.child("registry"), source.child("tenant"));
    if registry.is_empty() {
        errors.required(&registry, DETAIL);
    } else if tenant.text().len() >= 65 {
        errors.required(&tenant, "must be a UUID and may not exceed a length of 64 characters");
    } else {
        for _ in registry.text().split(',').filter(|pair| !is_host_and_port(pair)) {
            errors.invalid(&registry, DETAIL);
        }
    }
    required(source, &["volume"], errors);
}

/// Reports whether Go's `net.SplitHostPort` accepts a text.
fn is_host_and_port(text: &str) -> bool {
    let Some((host, port)) = text.rsplit_once(':') else { return false };
    match host.strip_prefix('[') {
        Some(inner) => {
            let inner = inner.strip_suffix(']');
            inner.is_some_and(|inner| !inner.contains(['[', ']'])) && !port.contains(['[', ']'])
        }
        None => !host.contains([':', '[', ']']) && !port.contains(['[', ']']),
    }
}

/// `validateFCVolumeSource`.
pub(super) fn fibre_channel(source: &Field<'_>, errors: &mut Errors) {
    let (names, ids, lun) = (source.child("targetWWNs"), source.child("wwids"), source.child("lun"));
    match (names.is_empty(), ids.is_empty()) {
        (true, true) => errors.required(&names, "must specify either targetWWNs or wwids, but not both"),
        (false, false) => {
            errors.invalid(&names, "targetWWNs and wwids can not be specified simultaneously");
        }
        _ => {}
    }
    match lun.number() {
        _ if names.is_empty() => {}
        None => errors.required(&lun, "lun is required if targetWWNs is specified"),
        Some(0..=255) => {}
        Some(_) => errors.invalid(&lun, "must be between 0 and 255, inclusive"),
    }
}

/// `validateFlexVolumeSource` and `validateFlexPersistentVolumeSource`.
pub(super) fn flexible(source: &Field<'_>, errors: &mut Errors) {
    required(source, &["driver"], errors);
    for (key, option) in source.child("options").entries() {
        let namespace = key.split_once('/').map_or(key, |(namespace, _)| namespace).to_lowercase();
        let normalized = format!(".{namespace}");
        if [".kubernetes.io", ".k8s.io"].iter().any(|reserved| normalized.ends_with(reserved)) {
            let text = Value::from(key);
            errors.invalid(&option.holding(&text), "kubernetes.io and k8s.io namespaces are reserved");
        }
    }
}

/// `validateStorageOSVolumeSource` and `validateStorageOSPersistentVolumeSource`; the secret needs these members.
pub(super) fn storage_os(source: &Field<'_>, of_secret: &[&str], errors: &mut Errors) {
    errors.required_name(&source.child("volumeName"), NameRule::Label);
    errors.optional_name(&source.child("volumeNamespace"), NameRule::Label);
    let secret = source.child("secretRef");
    if secret.is_set() {
        required(&secret, of_secret, errors);
    }
}

/// Checks a cloud disk, which may name a partition.
pub(super) fn disk(source: &Field<'_>, id: &str, errors: &mut Errors) {
    required(source, &[id], errors);
    let partition = source.child("partition");
    if !(0..=255).contains(&partition.number_or_zero()) {
        errors.invalid(&partition, "must be between 1 and 255, inclusive");
    }
}

/// `validateFlockerVolumeSource`.
pub(super) fn flocker(source: &Field<'_>, errors: &mut Errors) {
    let (name, uuid) = (source.child("datasetName"), source.child("datasetUUID"));
    match (name.is_empty(), uuid.is_empty()) {
        (true, true) => errors.required(source, "one of datasetName and datasetUUID is required"),
        (false, false) => {
            let detail = "datasetName and datasetUUID can not be specified simultaneously";
            errors.invalid_as(source, "\"resource\"", detail);
        }
        _ => {}
    }
    if name.text().contains('/') {
        errors.invalid(&name, "must not contain '/'");
    }
}

/// `validateAzureDisk`; the field `kind` has a default.
pub(super) fn azure_disk(source: &Field<'_>, errors: &mut Errors) {
    required(source, &["diskName", "diskURI"], errors);
    let (uri, kind) = (source.child("diskURI"), source.child("kind"));
    errors.optional_one_of(&source.child("cachingMode"), &["None", "ReadOnly", "ReadWrite"]);
    errors.optional_one_of(&kind, &["Dedicated", "Managed", "Shared"]);
    let (start, form) = if kind.text() == "Managed" {
        (
            "/subscriptions/",
            "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}",
        )
    } else {
        ("https://", "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd")
    };
    if !uri.text().starts_with(start) {
        let text = Value::from(uri.text());
        errors.not_supported(&uri.holding(&text), &[form]);
    }
}

/// `validateCSIVolumeSource`.
fn csi(source: &Field<'_>, errors: &mut Errors) {
    driver_name(&source.child("driver"), errors);
    let secret = source.child("nodePublishSecretRef");
    let name = secret.child("name");
    if secret.is_set() && name.is_empty() {
        errors.required(&name, "");
    }
    errors.optional_name(&name.at(source.child("name").path), NameRule::Subdomain);
}

/// `ValidateCSIDriverName`.
pub(super) fn driver_name(name: &Field<'_>, errors: &mut Errors) {
    const LONGEST: usize = 63;
    if name.is_empty() {
        errors.required(name, "");
        return;
    }
    if name.text().len() > LONGEST {
        errors.too_long(&name.path, LONGEST);
    }
    for message in NameRule::Subdomain.check(&name.text().to_lowercase()) {
        let text = Value::from(name.text());
        errors.invalid(&name.holding(&text), &message);
    }
}

fn empty_dir(source: &Field<'_>, errors: &mut Errors) {
    let limit = source.child("sizeLimit");
    if limit.is_set() && super::resources::amount(&limit) < 0 {
        errors.forbidden(&limit, "SizeLimit field must be a valid resource quantity");
    }
}

pub(super) fn host_path(source: &Field<'_>, errors: &mut Errors) {
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

pub(super) fn nfs(source: &Field<'_>, errors: &mut Errors) {
    required(source, &["server", "path"], errors);
    let path = source.child("path");
    if !path.text().starts_with('/') {
        errors.invalid(&path, "must be an absolute path");
    }
}

/// Checks secrets and config maps as files.
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
        downward_file(&item.at(source.path.clone()), errors);
    }
}

/// `validateDownwardAPIVolumeFile`, at the path of the volume.
fn downward_file(item: &Field<'_>, errors: &mut Errors) {
    path_within(&item.child("path"), errors);
    let (field, resource) = (item.child("fieldRef"), item.child("resourceFieldRef"));
    if field.is_set() {
        downward::field(&field, VOLUME_FIELDS, errors);
        if resource.is_set() {
            let detail = "fieldRef and resourceFieldRef can not be specified simultaneously";
            errors.invalid_as(item, "\"resource\"", detail);
        }
    } else if resource.is_set() {
        downward::resource(&resource, true, errors);
    } else {
        errors.required(item, "one of fieldRef and resourceFieldRef is required");
    }
    mode(&item.child("mode"), errors);
}

/// The sources of a projected volume.
const PROJECTIONS: &[&str] =
    &["secret", "configMap", "downwardAPI", "serviceAccountToken", "clusterTrustBundle", "podCertificate"];

fn projected(source: &Field<'_>, errors: &mut Errors) {
    mode(&source.child("defaultMode"), errors);
    let mut paths: Vec<String> = Vec::new();
    for projection in source.child("sources").items() {
        let given: Vec<&&str> = PROJECTIONS.iter().filter(|name| projection.child(name).is_set()).collect();
        for name in &given {
            let part = projection.child(name);
            match **name {
                "secret" | "configMap" => {
                    required(&part, &["name"], errors);
                    items(&part.child("items"), errors);
                    let name = Value::from(part.child("name").text());
                    for item in part.child("items").items() {
                        no_conflict(source, item.child("path").text(), &name, &mut paths, errors);
                    }
                }
                "downwardAPI" => {
                    for item in part.child("items").items() {
                        downward_file(&item.at(part.path.clone()), errors);
                        let path = Value::from(item.child("path").text());
                        no_conflict(source, item.child("path").text(), &path, &mut paths, errors);
                    }
                }
                "serviceAccountToken" => token(&part, source, errors),
                _ => {}
            }
        }
        if given.len() > 1 {
            errors.forbidden(&projection, "may not specify more than 1 volume type per source");
        }
    }
}

/// Refuses a path that another source of the projected volume has.
fn no_conflict(volume: &Field<'_>, path: &str, shown: &Value, seen: &mut Vec<String>, errors: &mut Errors) {
    if path.is_empty() {
        return;
    }
    if seen.iter().any(|other| other == path) {
        errors.invalid(&volume.holding(shown), "conflicting duplicate paths");
    } else {
        seen.push(path.to_owned());
    }
}

/// Checks a token; errors show its path as the volume's.
fn token(source: &Field<'_>, volume: &Field<'_>, errors: &mut Errors) {
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
    path_within(&source.child("path").at(volume.child("path").path), errors);
}

fn ephemeral(source: &Field<'_>, errors: &mut Errors) {
    let template = source.child("volumeClaimTemplate");
    if template.is_set() {
        template_metadata(&template.child("metadata"), errors);
        super::storage::claim_spec(&template.child("spec"), errors);
    } else {
        errors.required(&template, "");
    }
}

/// `ValidateTemplateObjectMeta`: only labels and annotations may be set. Errors name fields in the order of Go's, and as Go does.
pub(super) fn template_metadata(metadata: &Field<'_>, errors: &mut Errors) {
    const OTHERS: [(&str, &str); 13] = [
        ("name", "name"),
        ("generateName", "generateName"),
        ("namespace", "namespace"),
        ("selfLink", "selfLink"),
        ("uid", "uID"),
        ("resourceVersion", "resourceVersion"),
        ("generation", "generation"),
        ("creationTimestamp", "creationTimestamp"),
        ("deletionTimestamp", "deletionTimestamp"),
        ("deletionGracePeriodSeconds", "deletionGracePeriodSeconds"),
        ("ownerReferences", "ownerReferences"),
        ("finalizers", "finalizers"),
        ("managedFields", "managedFields"),
    ];
    errors.annotations(&metadata.child("annotations"));
    errors.labels(&metadata.child("labels"));
    for (name, shown) in OTHERS {
        let field = metadata.child(name);
        let is_zero = *field.value == "" || name == "generation" && *field.value == 0;
        if field.is_set() && !is_zero {
            errors.forbidden(&metadata.child(shown), "cannot be set");
        }
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
