//! Fields of a pod and resources of containers that containers and volumes show. Source: `validateObjectFieldSelector` and
//! `validateContainerResourceFieldSelector` of `pkg/apis/core/validation`.

use serde_json::Value;

use super::field::{Errors, Field};
use super::resources::amount;

/// `validEnvDownwardAPIFieldPathExpressions`.
pub(super) const POD_FIELDS: &[&str] = &[
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.serviceAccountName",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
];

/// `validVolumeDownwardAPIFieldPathExpressions`.
pub(super) const VOLUME_FIELDS: &[&str] =
    &["metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid"];

/// `validateObjectFieldSelector`.
pub(super) fn field(field: &Field<'_>, supported: &[&str], errors: &mut Errors) {
    for member in [field.child("apiVersion"), field.child("fieldPath")] {
        if member.is_empty() {
            errors.required(&member, "");
            return;
        }
    }
    let path = field.child("fieldPath");
    let subscripted = path.text().strip_suffix("']").and_then(|rest| rest.split_once("['"));
    let subscripted = subscripted.filter(|(path, _)| !path.is_empty());
    if let Some(why) = unconvertible(field.child("apiVersion").text(), path.text(), subscripted) {
        errors.invalid(&path, &format!("error converting fieldPath: {why}"));
        return;
    }
    match (subscripted, path.text()) {
        (Some(("metadata.annotations", key)), _) => {
            let text = Value::from(key.to_lowercase());
            errors.qualified_name(&field.holding(&text));
        }
        (Some((_, key)), _) => {
            let text = Value::from(key);
            errors.qualified_name(&field.holding(&text));
        }
        // The old name of `spec.nodeName`.
        (None, "spec.host") => {
            let text = Value::from("spec.nodeName");
            errors.optional_one_of(&path.holding(&text), supported);
        }
        (None, _) => errors.optional_one_of(&path, supported),
    }
}

/// `validContainerResourceFieldPathExpressions`.
const RESOURCES: &[&str] = &[
    "limits.cpu",
    "limits.ephemeral-storage",
    "limits.memory",
    "requests.cpu",
    "requests.ephemeral-storage",
    "requests.memory",
];

/// `validateContainerResourceFieldSelector`; only a volume has to name the container.
pub(super) fn resource(reference: &Field<'_>, is_volume: bool, errors: &mut Errors) {
    let (container, resource) = (reference.child("containerName"), reference.child("resource"));
    if is_volume && container.is_empty() {
        errors.required(&container, "");
    } else if resource.is_empty() {
        errors.required(&resource, "");
    } else if !RESOURCES.contains(&resource.text()) && !is_huge_pages(resource.text()) {
        errors.not_supported(&resource, RESOURCES);
    }
    divisor(&reference.child("divisor"), resource.text(), errors);
}

fn is_huge_pages(resource: &str) -> bool {
    ["requests.hugepages-", "limits.hugepages-"].iter().any(|prefix| resource.starts_with(prefix))
}

/// `validateContainerResourceDivisor`, whose error shows the resource.
fn divisor(divisor: &Field<'_>, resource: &str, errors: &mut Errors) {
    const OF_PROCESSORS: &[&str] = &["1m", "1"];
    const OF_BYTES: &[&str] =
        &["1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"];
    let (supported, words, subject) = match resource {
        "limits.cpu" | "requests.cpu" => (OF_PROCESSORS, "1m and 1".to_owned(), "cpu"),
        "limits.memory" | "requests.memory" => (OF_BYTES, OF_BYTES.join(", "), "memory"),
        "limits.ephemeral-storage" | "requests.ephemeral-storage" => {
            (OF_BYTES, OF_BYTES.join(", "), "local ephemeral storage")
        }
        name if is_huge_pages(name) => (OF_BYTES, OF_BYTES.join(", "), "hugepages"),
        _ => return,
    };
    if amount(divisor) != 0 && !supported.contains(&divisor.text()) {
        let text = Value::from(resource);
        let detail = format!("only divisor's values {words} are supported with the {subject} resource");
        errors.invalid(&divisor.holding(&text), &detail);
    }
}

/// Returns the reason why a path is no path of a pod (`ConvertDownwardAPIFieldLabel` of pkg/apis/core/pods/helpers.go).
fn unconvertible(version: &str, path: &str, subscripted: Option<(&str, &str)>) -> Option<String> {
    const OTHERS: [&str; 4] = ["spec.host", "spec.restartPolicy", "spec.schedulerName", "status.phase"];
    if version != "v1" {
        return Some(format!("unsupported pod version: {version}"));
    }
    let known = || [POD_FIELDS, VOLUME_FIELDS, &OTHERS].iter().any(|fields| fields.contains(&path));
    match subscripted {
        Some(("metadata.annotations" | "metadata.labels", _)) => None,
        Some(_) => Some(format!("field label does not support subscript: {path}")),
        None => (!known()).then(|| format!("field label not supported: {path}")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn divisor_fits_the_resource_that_it_divides() {
        let faults = |name: &str, divisor: &str, is_volume: bool| {
            let reference = json!({"resource": name, "divisor": divisor});
            let causes = Errors::of(|errors| resource(&Field::root(&reference).at("f"), is_volume, errors));
            causes.iter().map(|cause| format!("{}: {}", cause.field, cause.message)).collect::<Vec<_>>()
        };
        let bytes = "1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei";
        for (name, divisor, supported, subject) in [
            ("limits.cpu", "1Ki", "1m and 1", "cpu"),
            ("requests.memory", "1m", bytes, "memory"),
            ("limits.ephemeral-storage", "5", bytes, "local ephemeral storage"),
            ("requests.hugepages-2Mi", "-1", bytes, "hugepages"),
        ] {
            let detail =
                format!("only divisor's values {supported} are supported with the {subject} resource");
            let fault = format!("f.divisor: Invalid value: \"{name}\": {detail}");
            assert_eq!(faults(name, divisor, false), [fault]);
        }
        for (name, divisor) in [("limits.cpu", "1m"), ("limits.cpu", "0"), ("limits.memory", "1Gi")] {
            assert!(faults(name, divisor, false).is_empty(), "{name} {divisor}");
        }
        assert_eq!(faults("limits.cpu", "1", true), ["f.containerName: Required value"]);
    }

    #[test]
    fn path_is_refused_when_version_or_subscript_is_unknown() {
        let faults = |version: &str, path: &str| {
            let reference = json!({"apiVersion": version, "fieldPath": path});
            let causes = Errors::of(|errors| field(&Field::root(&reference).at("f"), VOLUME_FIELDS, errors));
            causes.iter().map(|cause| format!("{}: {}", cause.field, cause.message)).collect::<Vec<_>>()
        };
        let invalid = |path: &str, why: &str| {
            vec![format!("f.fieldPath: Invalid value: \"{path}\": error converting fieldPath: {why}")]
        };
        assert!(faults("v1", "metadata.name").is_empty());
        assert!(faults("v1", "metadata.annotations['A.Example/b']").is_empty());
        assert_eq!(faults("v2", "metadata.name"), invalid("metadata.name", "unsupported pod version: v2"));
        let path = "metadata.name['a']";
        let why = format!("field label does not support subscript: {path}");
        assert_eq!(faults("v1", path), invalid(path, &why));
        assert_eq!(faults("v1", "x"), invalid("x", "field label not supported: x"));
        let unsupported = faults("v1", "spec.host");
        assert!(unsupported[0].starts_with("f.fieldPath: Unsupported value: \"spec.nodeName\": supported"));
        assert!(faults("v1", "metadata.labels['A b']")[0].starts_with("f: Invalid value: \"A b\""));
    }
}
