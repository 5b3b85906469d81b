//! Merge rules of built-in kinds, as schemas that name only what is special: list maps, sets and atomic structures.
//! Everything else merges by its shape. They are put together from the table of types.

use kubesmith_apiextensions::structural::Schema;
use serde_json::{Map, Value, json};

use crate::groups;
use crate::types::{self, Field, Merge, Shape, Type};

/// Parses a schema. A malformed one would merge by shape alone; a test reads them all.
pub(super) fn parse(schema: &Value) -> Schema {
    Schema::enforced(schema).unwrap_or_default()
}

#[expect(clippy::needless_pass_by_value, reason = "every caller builds the value in place")]
fn object(properties: Value) -> Value {
    json!({"type": "object", "properties": properties, "x-kubernetes-preserve-unknown-fields": true})
}

fn atomic() -> Value {
    json!({"type": "object", "x-kubernetes-map-type": "atomic", "x-kubernetes-preserve-unknown-fields": true})
}

/// The rules of metadata, with every field named: it is the same in all kinds.
pub(super) fn object_meta() -> Value {
    let mut rules = declared("meta.ObjectMeta");
    let mut owner = declared("meta.OwnerReference");
    owner["x-kubernetes-map-type"] = json!("atomic");
    // A field that is always written has its zero value as the default of the key.
    owner["properties"]["uid"]["default"] = json!("");
    rules["properties"]["ownerReferences"]["items"] = owner;
    rules
}

/// The rules of a message with all of its members.
fn declared(name: &str) -> Value {
    let members = types::find(name).into_iter().flat_map(|of| of.members.values());
    let properties: Map<String, Value> = members
        .map(|field| (field.name.to_owned(), rules(field).unwrap_or_else(|| by_type(field))))
        .collect();
    json!({"type": "object", "properties": properties})
}

/// The type of a field that merges by its shape.
fn by_type(field: &Field) -> Value {
    match (field.shape, field.of) {
        (Shape::List, _) => json!({"type": "array"}),
        (Shape::Map, _) => json!({"type": "object", "additionalProperties": scalar("string")}),
        (Shape::One | Shape::Inline, of) => scalar(of),
    }
}

fn scalar(of: &str) -> Value {
    match of {
        "bool" => json!({"type": "boolean"}),
        "int32" | "int64" => json!({"type": "integer"}),
        "meta.Time" => json!({"type": "string", "format": "date-time"}),
        _ => json!({"type": "string"}),
    }
}

/// The rules of a message: its special members.
fn message(of: &Type) -> Value {
    if of.atomic {
        return atomic();
    }
    let special: Map<String, Value> =
        of.members.values().filter_map(|field| Some((field.name.to_owned(), rules(field)?))).collect();
    object(Value::Object(special))
}

/// The rules of a field that does not merge by its shape alone.
fn rules(field: &Field) -> Option<Value> {
    let inner = types::find(field.of);
    match (field.shape, field.merge) {
        (Shape::List, Merge::Set) => {
            Some(json!({"type": "array", "x-kubernetes-list-type": "set", "items": scalar(field.of)}))
        }
        (Shape::List, Merge::Keys(keys)) => {
            let keys: Vec<&str> = keys.split(',').collect();
            let mut items = inner.map(message).unwrap_or_else(|| object(json!({})));
            for key in inner.into_iter().flat_map(|t| keys.iter().filter_map(|key| t.members.get(key))) {
                items["properties"][key.name] = scalar(key.of);
                if let Some(default) = key.key_default() {
                    items["properties"][key.name]["default"] = default;
                }
            }
            Some(json!({"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": keys,
                        "items": items}))
        }
        (Shape::List, _) => None,
        (_, Merge::Atomic) => Some(atomic()),
        (Shape::One, Merge::Granular) => Some(object(json!({}))),
        // Untyped values are atomic.
        (Shape::One, _) if field.of == "RawExtension" => Some(atomic()),
        (Shape::Map, _) => None,
        (Shape::One | Shape::Inline, _) => {
            inner.map(message).filter(|rules| rules["properties"] != json!({}))
        }
    }
}

/// The merge rules of a built-in kind.
pub(super) fn schema(group: &str, version: &str, kind: &str) -> Value {
    if group == crate::groups::API_EXTENSIONS {
        let conditions = json!({"type": "array", "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["type"], "items": object(json!({"type": scalar("string")}))});
        return object(json!({"status": object(json!({"conditions": conditions}))}));
    }
    types::of_kind(&groups::api_version(group, version), kind).map_or_else(|| object(json!({})), message)
}

/// Returns an empty object of a built-in kind: inner structures that Go always writes, so that nobody owns their
/// existence.
pub(super) fn blank(group: &str, version: &str, kind: &str) -> Value {
    if group == crate::groups::API_EXTENSIONS {
        return json!({
            "spec": {"group": "", "names": {"plural": "", "kind": ""}, "scope": "", "versions": null},
            "status": {"conditions": null, "acceptedNames": {"plural": "", "kind": ""}, "storedVersions": null}});
    }
    types::of_kind(&groups::api_version(group, version), kind).map_or_else(|| json!({}), types::decode::unset)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schema_of_every_built_in_kind_is_valid() {
        for kind in crate::builtin::all() {
            let rules = schema(kind.group, kind.version, kind.kind);
            assert!(Schema::enforced(&rules).is_ok(), "{kind:?}: {rules}");
        }
        assert!(Schema::enforced(&object_meta()).is_ok());
    }

    #[test]
    fn schema_of_built_in_kind_lists_only_special_fields() {
        let pod = schema("", "v1", "Pod");
        let spec = &pod["properties"]["spec"]["properties"];
        let container = &spec["containers"]["items"]["properties"];
        assert_eq!(spec["containers"]["x-kubernetes-list-map-keys"], json!(["name"]));
        assert_eq!(container["ports"]["items"]["properties"]["protocol"]["default"], "TCP");
        assert_eq!(spec["nodeSelector"]["x-kubernetes-map-type"], "atomic");
        assert!(container.get("args").is_none());
    }
}
