//! Definitions of the metadata that every object and list carries (`k8s.io/apimachinery/pkg/apis/meta/v1`), without
//! descriptions.

use std::collections::BTreeMap;

use serde_json::{Value, json};

const PACKAGE: &str = "io.k8s.apimachinery.pkg.apis.meta.v1";

/// The value of a `$ref` to one of the definitions.
pub(super) fn reference(kind: &str) -> String {
    format!("#/components/schemas/{PACKAGE}.{kind}")
}

/// The definitions that those of custom resources refer to, by name.
pub fn definitions() -> BTreeMap<String, Value> {
    let all = [
        ("FieldsV1", json!({"type": "object"})),
        ("ListMeta", list_meta()),
        ("ManagedFieldsEntry", managed_fields_entry()),
        ("ObjectMeta", object_meta()),
        ("OwnerReference", owner_reference()),
        ("Time", json!({"type": "string", "format": "date-time"})),
    ];
    all.into_iter().map(|(kind, schema)| (format!("{PACKAGE}.{kind}"), schema)).collect()
}

fn string() -> Value {
    json!({"type": "string"})
}

/// A string inside another type, which is empty when absent.
fn text() -> Value {
    json!({"type": "string", "default": ""})
}

fn number() -> Value {
    json!({"type": "integer", "format": "int64"})
}

fn to(kind: &str) -> Value {
    json!({"$ref": reference(kind)})
}

fn object_meta() -> Value {
    let map = json!({"type": "object", "additionalProperties": text()});
    let managed = json!({"allOf": [to("ManagedFieldsEntry")], "default": {}});
    let owner = json!({"allOf": [to("OwnerReference")], "default": {}});
    json!({
        "type": "object",
        "properties": {
            "annotations": map,
            "creationTimestamp": to("Time"),
            "deletionGracePeriodSeconds": number(),
            "deletionTimestamp": to("Time"),
            "finalizers": {
                "type": "array", "items": text(),
                "x-kubernetes-list-type": "set", "x-kubernetes-patch-strategy": "merge",
            },
            "generateName": string(),
            "generation": number(),
            "labels": map,
            "managedFields": {"type": "array", "items": managed, "x-kubernetes-list-type": "atomic"},
            "name": string(),
            "namespace": string(),
            "ownerReferences": {
                "type": "array", "items": owner,
                "x-kubernetes-list-map-keys": ["uid"], "x-kubernetes-list-type": "map",
                "x-kubernetes-patch-merge-key": "uid", "x-kubernetes-patch-strategy": "merge",
            },
            "resourceVersion": string(),
            "selfLink": string(),
            "uid": string(),
        },
    })
}

fn list_meta() -> Value {
    json!({
        "type": "object",
        "properties": {
            "continue": string(),
            "remainingItemCount": number(),
            "resourceVersion": string(),
            "selfLink": string(),
        },
    })
}

fn managed_fields_entry() -> Value {
    json!({
        "type": "object",
        "properties": {
            "apiVersion": string(),
            "fieldsType": string(),
            "fieldsV1": to("FieldsV1"),
            "manager": string(),
            "operation": string(),
            "subresource": string(),
            "time": to("Time"),
        },
    })
}

fn owner_reference() -> Value {
    json!({
        "type": "object",
        "required": ["apiVersion", "kind", "name", "uid"],
        "properties": {
            "apiVersion": text(),
            "blockOwnerDeletion": {"type": "boolean"},
            "controller": {"type": "boolean"},
            "kind": text(),
            "name": text(),
            "uid": text(),
        },
        "x-kubernetes-map-type": "atomic",
    })
}
