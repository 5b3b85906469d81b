//! Fields of a pod that its containers and volumes show. Source: `validateObjectFieldSelector` of `pkg/apis/core/validation`.

use serde_json::Value;

use super::field::{Errors, Field};

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
