//! `apiVersion`, `kind` and `metadata` of objects and of embedded resources.

use serde_json::{Map, Value};

use super::cause::Cause;
use super::{Path, golang, names, object_meta, times};
use crate::schema::Schema;

/// Checks the types of metadata, at the root and in embedded resources, drops unknown and empty fields of it, and returns
/// the paths of the unknown ones, sorted.
///
/// # Errors
/// Returns the first metadata field of the wrong type.
pub fn coerce(schema: &Schema, object: &mut Value) -> Result<Vec<String>, Cause> {
    let mut unknown = Vec::new();
    walk(schema, object, &Path::root(), true, Invalid::Refused(&mut unknown))?;
    unknown.sort();
    Ok(unknown)
}

/// Drops metadata fields of the wrong type, at the root and in embedded resources, as a server does when it converts an
/// applied object (`unstructuredSchemaCoercer` of apiextensions-apiserver's pkg/apiserver/customresource_handler.go).
pub fn drop_invalid(schema: &Schema, object: &mut Value) {
    // Nothing is refused.
    let _ = walk(schema, object, &Path::root(), true, Invalid::Dropped);
}

/// The treatment of metadata of the wrong type.
enum Invalid<'u> {
    /// It is refused. The list gets the paths of unknown fields.
    Refused(&'u mut Vec<String>),
    Dropped,
}

impl Invalid<'_> {
    fn again(&mut self) -> Invalid<'_> {
        match self {
            Self::Refused(unknown) => Invalid::Refused(unknown),
            Self::Dropped => Invalid::Dropped,
        }
    }
}

fn walk(
    schema: &Schema,
    value: &mut Value,
    path: &Path,
    is_resource: bool,
    mut invalid: Invalid<'_>,
) -> Result<(), Cause> {
    match value {
        Value::Object(map) => {
            if is_resource {
                coerce_type_meta(map, path, &invalid)?;
                if let Some(metadata) = map.get_mut("metadata") {
                    coerce_metadata(metadata, &path.child("metadata"), invalid.again())?;
                }
            }
            for (name, value) in map {
                let below = match schema.properties.get(name) {
                    Some(property) => Some((property.as_ref(), path.child(name))),
                    None => schema.additional_schema().map(|all| (all, path.key(name))),
                };
                if let Some((field, path)) = below {
                    walk(field, value, &path, field.embedded_resource, invalid.again())?;
                }
            }
        }
        Value::Array(items) => {
            let Some(item_schema) = &schema.items else { return Ok(()) };
            for (i, item) in items.iter_mut().enumerate() {
                walk(item_schema, item, &path.index(i), item_schema.embedded_resource, invalid.again())?;
            }
        }
        _ => {}
    }
    Ok(())
}

fn coerce_type_meta(map: &mut Map<String, Value>, path: &Path, invalid: &Invalid<'_>) -> Result<(), Cause> {
    for name in ["apiVersion", "kind"] {
        let Some(value) = map.get(name).filter(|v| !v.is_string()) else { continue };
        match invalid {
            Invalid::Refused(_) => {
                return Err(Cause::invalid(path.child(name), value.clone(), "must be a string"));
            }
            Invalid::Dropped => map.remove(name),
        };
    }
    Ok(())
}

/// The types of fields of metadata.
#[derive(Clone, Copy)]
enum Kind {
    Text,
    Integer,
    Boolean,
    Time,
    TextMap,
    TextList,
    Objects(&'static [(&'static str, Kind)]),
    Any,
}

const OWNER: &[(&str, Kind)] = &[
    ("apiVersion", Kind::Text),
    ("kind", Kind::Text),
    ("name", Kind::Text),
    ("uid", Kind::Text),
    ("controller", Kind::Boolean),
    ("blockOwnerDeletion", Kind::Boolean),
];

const MANAGED: &[(&str, Kind)] = &[
    ("manager", Kind::Text),
    ("operation", Kind::Text),
    ("apiVersion", Kind::Text),
    ("time", Kind::Time),
    ("fieldsType", Kind::Text),
    ("fieldsV1", Kind::Any),
    ("subresource", Kind::Text),
];

const METADATA: &[(&str, Kind)] = &[
    ("name", Kind::Text),
    ("generateName", Kind::Text),
    ("namespace", Kind::Text),
    ("selfLink", Kind::Text),
    ("uid", Kind::Text),
    ("resourceVersion", Kind::Text),
    ("generation", Kind::Integer),
    ("creationTimestamp", Kind::Time),
    ("deletionTimestamp", Kind::Time),
    ("deletionGracePeriodSeconds", Kind::Integer),
    ("labels", Kind::TextMap),
    ("annotations", Kind::TextMap),
    ("ownerReferences", Kind::Objects(OWNER)),
    ("finalizers", Kind::TextList),
    ("managedFields", Kind::Objects(MANAGED)),
];

fn mismatch(value: &Value, field: &str, wanted: &str) -> String {
    format!(
        "json: cannot unmarshal {} into Go struct field ObjectMeta.{field} of type {wanted}",
        golang::json_type(value)
    )
}

fn coerce_metadata(metadata: &mut Value, path: &Path, mut invalid: Invalid<'_>) -> Result<(), Cause> {
    let whole = metadata.clone();
    let fault = |detail: String| Cause::invalid(path, whole.clone(), detail);
    let map = match (&mut *metadata, &invalid) {
        (Value::Object(map), _) => map,
        (Value::Null, _) => {
            *metadata = Value::Object(Map::new());
            return Ok(());
        }
        (_, Invalid::Dropped) => return Ok(()),
        (other, Invalid::Refused(_)) => {
            let found = golang::json_type(other);
            return Err(fault(format!("json: cannot unmarshal {found} into Go value of type v1.ObjectMeta")));
        }
    };
    let names: Vec<String> = map.keys().cloned().collect();
    for name in names {
        let Some((_, kind)) = METADATA.iter().find(|(known, _)| *known == name) else {
            map.remove(&name);
            if let Invalid::Refused(unknown) = &mut invalid {
                unknown.push(path.child(&name).into());
            }
            continue;
        };
        let Some(value) = map.get_mut(&name) else { continue };
        let at = path.child(&name);
        match &mut invalid {
            Invalid::Refused(unknown) => coerce_field(value, &name, *kind, &at, unknown).map_err(&fault)?,
            Invalid::Dropped if coerce_field(value, &name, *kind, &at, &mut Vec::new()).is_err() => {
                *value = Value::Null;
            }
            Invalid::Dropped => {}
        }
        if is_empty(value) {
            map.remove(&name);
        }
    }
    Ok(())
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(s) => s.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.is_empty(),
        _ => false,
    }
}

fn coerce_field(
    value: &mut Value,
    name: &str,
    kind: Kind,
    path: &Path,
    unknown: &mut Vec<String>,
) -> Result<(), String> {
    if value.is_null() {
        return Ok(());
    }
    match (kind, &mut *value) {
        (Kind::Text, Value::String(_)) | (Kind::Boolean, Value::Bool(_)) | (Kind::Any, _) => Ok(()),
        (Kind::Text, other) => Err(mismatch(other, name, "string")),
        (Kind::Boolean, other) => Err(mismatch(other, name, "bool")),
        // A float without a fraction is written as an integer before it is decoded.
        (Kind::Integer, other) => match golang::json(other).parse::<i64>() {
            Ok(number) if other.is_number() => {
                *other = number.into();
                Ok(())
            }
            _ => Err(mismatch(other, name, "int64")),
        },
        (Kind::Time, Value::String(text)) => {
            *value = times::canonical(text, times::SECONDS)?;
            Ok(())
        }
        (Kind::Time, other) => Err(mismatch(other, name, "string")),
        (Kind::TextMap, Value::Object(map)) => match map.values().find(|v| !v.is_string() && !v.is_null()) {
            Some(other) => Err(mismatch(other, name, "string")),
            None => {
                map.values_mut().filter(|v| v.is_null()).for_each(|v| *v = Value::String(String::new()));
                Ok(())
            }
        },
        (Kind::TextMap, other) => Err(mismatch(other, name, "map[string]string")),
        (Kind::TextList, Value::Array(items)) => match items.iter().find(|v| !v.is_string()) {
            Some(other) => Err(mismatch(other, name, "string")),
            None => Ok(()),
        },
        (Kind::TextList, other) => Err(mismatch(other, name, "[]string")),
        (Kind::Objects(fields), Value::Array(items)) => {
            for (i, item) in items.iter_mut().enumerate() {
                coerce_item(item, name, fields, &path.index(i), unknown)?;
            }
            Ok(())
        }
        (Kind::Objects(_), other) => Err(mismatch(other, name, "[]v1.OwnerReference")),
    }
}

fn coerce_item(
    item: &mut Value,
    name: &str,
    fields: &[(&str, Kind)],
    path: &Path,
    unknown: &mut Vec<String>,
) -> Result<(), String> {
    let Some(map) = item.as_object_mut() else { return Err(mismatch(item, name, "v1.OwnerReference")) };
    let names: Vec<String> = map.keys().cloned().collect();
    for field in names {
        let Some((_, kind)) = fields.iter().find(|(known, _)| *known == field) else {
            map.remove(&field);
            unknown.push(path.child(&field).into());
            continue;
        };
        if let Some(value) = map.get_mut(&field) {
            coerce_field(value, &format!("{name}.{field}"), *kind, &path.child(&field), unknown)?;
        }
    }
    Ok(())
}

/// The faults of embedded resources below the root: each needs `apiVersion` and `kind`, and fine metadata.
#[must_use]
pub fn validate_embedded(schema: &Schema, object: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    walk_embedded(schema, object, &Path::root(), &mut causes);
    causes
}

fn walk_embedded(schema: &Schema, value: &Value, path: &Path, causes: &mut Vec<Cause>) {
    match value {
        Value::Object(map) => {
            if schema.embedded_resource {
                check_resource(map, path, causes);
            }
            for (name, value) in map {
                if let Some(property) = schema.properties.get(name) {
                    walk_embedded(property, value, &path.child(name), causes);
                } else if let Some(all) = schema.additional_schema() {
                    walk_embedded(all, value, &path.key(name), causes);
                }
            }
        }
        Value::Array(items) => {
            let Some(item_schema) = &schema.items else { return };
            for (i, item) in items.iter().enumerate() {
                walk_embedded(item_schema, item, &path.index(i), causes);
            }
        }
        _ => {}
    }
}

fn check_resource(map: &Map<String, Value>, path: &Path, causes: &mut Vec<Cause>) {
    for name in ["apiVersion", "kind"] {
        let field = path.child(name);
        match map.get(name) {
            None => causes.push(Cause::required(field, "")),
            Some(Value::String(text)) if text.is_empty() => {
                causes.push(Cause::invalid(field, "", "must not be empty"));
            }
            Some(Value::String(text)) if name == "kind" => {
                let faults = names::dns1035_label(&text.to_lowercase());
                if !faults.is_empty() {
                    let detail =
                        format!("may have mixed case, but should otherwise match: {}", faults.join(","));
                    causes.push(Cause::invalid(field, text.as_str(), detail));
                }
            }
            Some(Value::String(text)) if text.matches('/').count() > 1 => {
                let detail = format!("unexpected GroupVersion string: {text}");
                causes.push(Cause::invalid(field, text.as_str(), detail));
            }
            Some(Value::String(_)) => {}
            Some(other) => causes.push(Cause::invalid(field, other.clone(), "must be a string")),
        }
    }
    if let Some(metadata) = map.get("metadata") {
        let mut metadata = metadata.clone();
        let unknown = &mut Vec::new();
        if let Err(cause) = coerce_metadata(&mut metadata, &path.child("metadata"), Invalid::Refused(unknown))
        {
            causes.push(cause);
            return;
        }
        causes.extend(object_meta::validate_embedded_meta(&metadata).into_iter().map(|mut cause| {
            if !path.as_str().is_empty() {
                cause.field = format!("{path}.{}", cause.field);
            }
            cause
        }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn schema() -> Schema {
        Schema::enforced(&json!({"type": "object", "properties": {"pod": {"type": "object",
            "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true}}}))
        .unwrap()
    }

    #[test]
    fn metadata_of_an_embedded_resource_is_checked_as_that_of_an_object() {
        let metadata = json!({"namespace": "A", "generateName": "a/b", "name": "a/b", "generation": -1,
            "finalizers": ["-"], "ownerReferences": [{}]});
        let object = json!({"pod": {"apiVersion": "v1", "kind": "K", "metadata": metadata}});
        let fields: Vec<String> =
            validate_embedded(&schema(), &object).into_iter().map(|cause| cause.field).collect();
        let owner = ["apiVersion", "kind", "name", "uid"].map(|member| format!("ownerReferences.{member}"));
        let members = ["generateName", "name", "namespace", "generation"].map(str::to_owned);
        let members = members.into_iter().chain(owner).chain(["finalizers".to_owned()]);
        let wanted: Vec<String> = members.map(|member| format!("pod.metadata.{member}")).collect();
        assert_eq!(fields, wanted);
        let bare = json!({"pod": {"apiVersion": "v1", "kind": "K", "metadata": {}}});
        assert!(validate_embedded(&schema(), &bare).is_empty());
        let null = json!({"pod": {"apiVersion": "v1", "kind": "K", "metadata": null}});
        assert!(validate_embedded(&schema(), &null).is_empty());
        for (metadata, fault) in [
            (json!("a"), "json: cannot unmarshal string into Go value of type v1.ObjectMeta"),
            (
                json!({"name": "a/b", "labels": 1}),
                "json: cannot unmarshal number into Go struct field ObjectMeta.labels of type map[string]string",
            ),
        ] {
            let object = json!({"pod": {"apiVersion": "v1", "kind": "K", "metadata": metadata}});
            let found = validate_embedded(&schema(), &object);
            assert_eq!(found, [Cause::invalid("pod.metadata", metadata, fault)]);
        }
    }

    #[test]
    fn metadata_is_coerced() {
        let mut object = json!({"apiVersion": "v1", "kind": "K", "metadata": {"name": "n", "labels": {}, "odd": 1,
            "creationTimestamp": null, "ownerReferences": [{"uid": "u", "x": 1}]},
            "pod": {"metadata": {"nope": true}}});
        let unknown = coerce(&schema(), &mut object).unwrap();
        assert_eq!(unknown, ["metadata.odd", "metadata.ownerReferences[0].x", "pod.metadata.nope"]);
        assert_eq!(object["metadata"], json!({"name": "n", "ownerReferences": [{"uid": "u"}]}));
        let error = coerce(&schema(), &mut json!({"metadata": {"labels": {"a": 1}}})).unwrap_err();
        assert_eq!(
            error.detail,
            "json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string"
        );
    }

    #[test]
    fn embedded_resources_are_objects() {
        let texts: Vec<String> =
            validate_embedded(&schema(), &json!({"pod": {"kind": "no kind", "metadata": {"name": "a/b"}}}))
                .iter()
                .map(|c| format!("{} {}", c.field, c.reason()))
                .collect();
        assert_eq!(
            texts,
            [
                "pod.apiVersion FieldValueRequired",
                "pod.kind FieldValueInvalid",
                "pod.metadata.name FieldValueInvalid"
            ]
        );
    }
}
