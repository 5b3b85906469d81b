//! Warnings about volumes, claims and their classes. Source: `pkg/api/persistentvolume`, `pkg/api/persistentvolumeclaim`,
//! `pkg/api/storage` and the strategies below `pkg/registry/storage`.

use serde_json::Value;

use super::{fractional, items, labels};

/// The annotation that named the class of a volume or a claim.
const CLASS: &str = "volume.beta.kubernetes.io/storage-class";
const USE_CLASS: &str = "deprecated since v1.8; use \"storageClassName\" attribute instead";

/// Deprecated annotations of volumes.
const ANNOTATIONS: [(&str, &str); 2] = [
    (CLASS, USE_CLASS),
    (
        "volume.beta.kubernetes.io/mount-options",
        "deprecated since v1.31; use \"mountOptions\" attribute instead",
    ),
];

/// Deprecated sources of volumes, with their names in a warning.
const SOURCES: [(&str, &str, &str); 6] = [
    ("cephfs", "cephfs", "deprecated in v1.28, non-functional in v1.31+"),
    ("photonPersistentDisk", "photonPersistentDisk", "deprecated in v1.11, non-functional in v1.16+"),
    ("scaleIO", "scaleIO", "deprecated in v1.16, non-functional in v1.22+"),
    ("storageos", "storageOS", "deprecated in v1.22, non-functional in v1.25+"),
    ("glusterfs", "glusterfs", "deprecated in v1.25, non-functional in v1.26+"),
    ("rbd", "rbd", "deprecated in v1.28, non-functional in v1.31+"),
];

/// `GetWarningsForPersistentVolume`.
pub(super) fn volume(volume: &Value) -> Vec<String> {
    let (spec, annotations) = (&volume["spec"], &volume["metadata"]["annotations"]);
    let mut warnings = Vec::new();
    for (key, text) in ANNOTATIONS {
        if annotations.get(key).is_some() {
            warnings.push(format!("metadata.annotations[{key}]: {text}"));
        }
    }
    if spec["persistentVolumeReclaimPolicy"] == "Recycle" {
        let text = "The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic \
                    provisioning.";
        warnings.push(format!("spec.persistentVolumeReclaimPolicy: {text}"));
    }
    for (i, term) in items(&spec["nodeAffinity"]["required"]["nodeSelectorTerms"]).enumerate() {
        let path = format!("spec.nodeAffinity.required.nodeSelectorTerms[{i}]");
        warnings.extend(labels::of_term(term, false, &path));
    }
    for (source, shown, text) in SOURCES {
        if !spec[source].is_null() {
            warnings.push(format!("spec.{shown}: {text}"));
        }
    }
    warnings
}

/// `GetWarningsForPersistentVolumeClaim`.
pub(super) fn claim(claim: &Value) -> Vec<String> {
    let has_class = claim["metadata"]["annotations"].get(CLASS).is_some();
    let of_class = has_class.then(|| format!("metadata.annotations[{CLASS}]: {USE_CLASS}"));
    of_class.into_iter().chain(claim_spec(&claim["spec"], "spec")).collect()
}

/// `GetWarningsForPersistentVolumeClaimSpec`.
pub(super) fn claim_spec(spec: &Value, path: &str) -> Vec<String> {
    let part = |part: &str| {
        fractional(&spec["resources"][part]["storage"], &format!("{path}.resources.{part}[storage]"))
    };
    part("requests").into_iter().chain(part("limits")).collect()
}

/// `GetWarningsForStorageClass`.
pub(super) fn class(class: &Value) -> Vec<String> {
    let mut warnings = Vec::new();
    for (i, topology) in items(&class["allowedTopologies"]).enumerate() {
        for (j, expression) in items(&topology["matchLabelExpressions"]).enumerate() {
            if let Some(text) = expression["key"].as_str().and_then(labels::text) {
                warnings.push(format!("allowedTopologies[{i}].matchLabelExpressions[{j}].key: {text}"));
            }
        }
    }
    warnings
}

/// The warnings of pkg/registry/storage/csidriver.
pub(super) fn tokens_in_attributes(spec: &Value, old: Option<&Value>) -> Vec<String> {
    let (requests, is_chosen) = (&spec["tokenRequests"], !spec["serviceAccountTokenInSecrets"].is_null());
    let changes = old.is_none_or(|old| old["spec"]["tokenRequests"] != *requests);
    if is_chosen || !changes || items(requests).next().is_none() {
        return Vec::new();
    }
    vec!["spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent possible \
          logging of tokens in volume attributes"
        .to_owned()]
}

#[cfg(test)]
mod tests {
    use super::super::tests::of_kind;
    use serde_json::json;

    #[test]
    fn claim_of_part_of_a_byte_gets_a_warning() {
        let claim = |size: &str| json!({"spec": {"resources": {"requests": {"storage": size}}}});
        let text =
            "spec.resources.requests[storage]: fractional byte value \"500m\" is invalid, must be an integer";
        assert_eq!(of_kind("PersistentVolumeClaim", &claim("500m")), [text]);
        assert!(of_kind("PersistentVolumeClaim", &claim("1500Mi")).is_empty());
    }

    #[test]
    fn deprecated_fields_of_a_volume_get_a_warning() {
        let class = "volume.beta.kubernetes.io/storage-class";
        let volume = json!({"metadata": {"annotations": {class: "x"}},
            "spec": {"storageos": {}, "persistentVolumeReclaimPolicy": "Recycle"}});
        let warnings = of_kind("PersistentVolume", &volume);
        let text = "deprecated since v1.8; use \"storageClassName\" attribute instead";
        assert_eq!(warnings[0], format!("metadata.annotations[{class}]: {text}"));
        assert!(warnings[1].starts_with("spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy"));
        assert_eq!(warnings[2], "spec.storageOS: deprecated in v1.22, non-functional in v1.25+");
        let topologies = json!([{"matchLabelExpressions": [{"key": "node-role.kubernetes.io/master"}]}]);
        assert_eq!(
            of_kind("StorageClass", &json!({"allowedTopologies": topologies})),
            [
                "allowedTopologies[0].matchLabelExpressions[0].key: use \"node-role.kubernetes.io/control-plane\" instead"
            ]
        );
    }
}
