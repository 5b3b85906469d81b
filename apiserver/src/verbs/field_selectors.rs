//! Field selectors: the fields that a kind supports, and whether those of an object match.

use kubesmith_apimachinery::fields;
use serde_json::Value;

use crate::builtin::selectable;
use crate::registry::{Behaviour, ResourceDef};
use crate::status::{ApiError, ApiResult};

/// Checks that the kind supports the fields of a selector. A kind with selectable fields has its own conversion
/// function (`AddFieldLabelConversionFunc` in `pkg/apis/*/v1/conversion.go`; `crConverter` for custom resources), which
/// accepts no others. Any other kind has apimachinery's `DefaultMetaV1FieldSelectorConversion`, whatever its scope.
pub(super) fn check_fields(selector: &fields::Selector, def: &ResourceDef) -> ApiResult<()> {
    let by_default = !def.is_custom() && def.selectable.is_empty();
    let is_offered = |field: &str| match field {
        "metadata.name" => true,
        "metadata.namespace" if by_default || def.namespaced => true,
        other => def.selectable.iter().any(|one| one == other),
    };
    let Some(field) = selector.fields().find(|field| !is_offered(field)) else { return Ok(()) };
    Err(ApiError::bad_request(match (def.group.as_str(), def.kind.as_str()) {
        _ if by_default => {
            format!("{field:?} is not a known field selector: only \"metadata.name\", \"metadata.namespace\"")
        }
        ("batch", "Job") => format!("field label {field:?} not supported for Job"),
        ("resource.k8s.io", "ResourceSlice") => {
            format!("field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: {field}")
        }
        _ => format!("field label not supported: {field}"),
    }))
}

/// Reports whether the fields of an object match. Scalars compare as text. A missing field is empty, or has the zero
/// value that Go writes for it.
pub(super) fn fields_match(selector: &fields::Selector, def: &ResourceDef, object: &Value) -> bool {
    selector.matches_by(|path| match &def.behaviour {
        Behaviour::BuiltIn(kind) => selectable::text(kind, object, path),
        Behaviour::Custom(_) => text_at(object, path),
    })
}

/// Returns the scalar at a path of members as text; empty if there is none.
fn text_at(object: &Value, path: &str) -> String {
    match path.trim_start_matches('.').split('.').fold(object, |value, part| &value[part]) {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::Registry;
    use crate::selector::fields;
    use serde_json::json;

    #[test]
    fn field_selector_takes_offered_fields_only() {
        let registry = Registry::new([]);
        let refused = |group: &str, plural: &str, text: &str| {
            let def = registry.find(group, "v1", plural).unwrap();
            check_fields(&fields(text).unwrap(), &def).err().map(|error| error.message().to_owned())
        };
        assert_eq!(refused("", "pods", "spec.nodeName=n,metadata.namespace!=y"), None);
        assert_eq!(refused("", "pods", "spec.foo=1").unwrap(), "field label not supported: spec.foo");
        let of_node = refused("", "nodes", "metadata.namespace=y").unwrap();
        assert_eq!(of_node, "field label not supported: metadata.namespace");
        let of_job = refused("batch", "jobs", "status.active=1").unwrap();
        assert_eq!(of_job, "field label \"status.active\" not supported for Job");
        assert_eq!(refused("storage.k8s.io", "storageclasses", "metadata.namespace=y"), None);
        assert_eq!(
            refused("apps", "deployments", "status.replicas=0").unwrap(),
            "\"status.replicas\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\""
        );
    }

    #[test]
    fn field_that_is_missing_has_its_zero_value() {
        let registry = Registry::new([]);
        let matches = |group: &str, plural: &str, text: &str, object: Value| {
            let def = registry.find(group, "v1", plural).unwrap();
            fields_match(&fields(text).unwrap(), &def, &object)
        };
        assert!(matches("", "nodes", "spec.unschedulable=false", json!({"metadata": {"name": "n"}})));
        assert!(matches("", "pods", "spec.hostNetwork=false", json!({"spec": {}})));
        assert!(matches("", "pods", "spec.nodeName=", json!({"spec": {}})));
        assert!(matches("", "pods", "spec.host=n", json!({"spec": {"nodeName": "n"}})));
        assert!(matches("", "replicationcontrollers", "status.replicas=0", json!({})));
        assert!(matches("batch", "jobs", "status.successful=2", json!({"status": {"succeeded": 2}})));
        assert!(matches(
            "",
            "events",
            "source=a",
            json!({"source": {"component": "a"}, "reportingComponent": "b"})
        ));
        assert!(matches("", "events", "source=b", json!({"reportingComponent": "b"})));
        assert!(!matches("", "pods", "status.podIPs=1", json!({"status": {"podIPs": [{"ip": "1"}]}})));
    }
}
