//! The schemas of built-in kinds as kube-apiserver publishes them: k8s-openapi's, with the facts of the table of types and
//! with the texts that k8s-openapi lacks.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde_json::{Value, json};

use super::{META, PREFIX, gvk_of};
use crate::registry::ResourceDef;
use crate::types::{self, Field, Merge, Shape, Type};

/// The values of enumerations with their texts, by the types in Go.
static ENUMS: LazyLock<BTreeMap<&'static str, Vec<(&'static str, &'static str)>>> = LazyLock::new(|| {
    let mut all = BTreeMap::<_, Vec<_>>::new();
    for [name, value, text] in rows(include_str!("enums.txt")) {
        all.entry(name).or_default().push((value, text));
    }
    all
});

/// The texts of lists: of themselves, their metadata and their items, by version and kind.
static LISTS: LazyLock<BTreeMap<&'static str, [&'static str; 3]>> = LazyLock::new(|| {
    let texts = |[kind, list, metadata, items]: [&'static str; 4]| (kind, [list, metadata, items]);
    rows(include_str!("lists.txt")).map(texts).collect()
});

/// Returns the rows of a table whose columns are separated by tabs.
fn rows<const COLUMNS: usize>(table: &'static str) -> impl Iterator<Item = [&'static str; COLUMNS]> {
    let lines = table.lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| line.split('\t').collect::<Vec<_>>().try_into().ok())
}

/// Returns the definition of a kind's list.
pub(super) fn list_of(def: &ResourceDef, object: &str, type_meta: &Value) -> Value {
    let reference = |name: &str| json!({"$ref": format!("{PREFIX}{name}")});
    let kind = format!("{} {}", def.api_version(), def.list_kind);
    let [list, metadata, items] = LISTS.get(kind.as_str()).copied().unwrap_or_default();
    let described = |description: &str, mut schema: Value| {
        if !description.is_empty() {
            schema["description"] = text(description).into();
        }
        schema
    };
    let metadata_schema = json!({"default": {}, "allOf": [reference(&format!("{META}.ListMeta"))]});
    described(
        list,
        json!({
            "type": "object", "required": ["items"],
            super::GROUP_VERSION_KIND: [gvk_of(&def.group, &def.version, &def.list_kind)],
            "properties": {
                "apiVersion": type_meta["apiVersion"],
                "kind": type_meta["kind"],
                "metadata": described(metadata, metadata_schema),
                "items": described(items, json!({"type": "array", "items": reference(object)})),
            },
        }),
    )
}

/// Returns a text of a table, in which lines end with `\\n`.
pub(super) fn text(of: &str) -> String {
    of.replace("\\n", "\n")
}

/// Moves the second part of the text of events to the object in them, which k8s-openapi's type describes together.
pub(super) fn describe_object(event: &mut Value) {
    let all = event["description"].as_str().unwrap_or_default().to_owned();
    if let Some((first, second)) = all.split_once("\n\n") {
        event["description"] = first.into();
        event["properties"]["object"]["description"] = second.trim_end().into();
        wrap(&mut event["properties"]["object"]);
    }
}

/// Returns the message that a definition describes; `None` for scalars and for types that the tables lack.
pub(super) fn message(name: &str) -> Option<&'static Type> {
    let (package, kind) = name.rsplit_once('.')?;
    match package {
        META => return types::message(&format!("meta.{kind}")),
        "io.k8s.apimachinery.pkg.version" => return types::message(&format!("version.{kind}")),
        _ => {}
    }
    let (group, version) = package.rsplit_once('.')?;
    let group = group.rsplit('.').next().unwrap_or_default();
    let version = if version == "v1" { "" } else { version };
    types::message(&format!("{group}{version}.{kind}"))
}

/// The unions: a message, the member that names the case, and the members of the cases (`+union` in core/v1/types.go and
/// flowcontrol/v1/types.go of k8s.io/api, read by `union.go` of kube-openapi's `pkg/generators`).
const UNIONS: [(&str, Option<&str>, &[&str]); 6] = [
    ("core.AppArmorProfile", Some("type"), &["localhostProfile"]),
    ("core.PodSchedulingGroup", None, &["podGroupName"]),
    ("core.SeccompProfile", Some("type"), &["localhostProfile"]),
    ("flowcontrol.LimitResponse", Some("type"), &["queuing"]),
    ("flowcontrol.PriorityLevelConfigurationSpec", Some("type"), &["exempt", "limited"]),
    ("flowcontrol.Subject", Some("kind"), &["group", "serviceAccount", "user"]),
];

/// Returns a definition as kube-apiserver writes it.
pub(super) fn finished(name: &str, mut schema: Value) -> Value {
    if let Some(scalar) = int_or_string(&schema) {
        return scalar;
    }
    // k8s-openapi describes what these may be, Go's definitions do not.
    if name.contains(".JSON") {
        let known = |key: &str| key != "oneOf" && (key != "type" || !name.ends_with(".JSON"));
        schema.as_object_mut().into_iter().for_each(|members| members.retain(|key, _| known(key)));
    }
    let Some(of) = message(name) else { return schema };
    if of.atomic {
        schema["x-kubernetes-map-type"] = json!("atomic");
    }
    if let Some((_, discriminator, fields)) = UNIONS.iter().find(|(name, ..)| *name == of.name) {
        let cases = fields.iter().map(|field| ((*field).to_owned(), json!(super::capitalized(field))));
        let mut union = json!({"fields-to-discriminateBy": Value::Object(cases.collect())});
        if let Some(discriminator) = discriminator {
            union["discriminator"] = json!(discriminator);
        }
        schema["x-kubernetes-unions"] = json!([union]);
    }
    let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
    for (name, property) in properties.into_iter().flatten() {
        if let Some(field) = of.members.get(name.as_str()) {
            annotate(property, field);
        }
    }
    require(&mut schema, of);
    schema
}

/// Members that upstream requires and k8s-openapi does not, or not everywhere (`Event` in core/v1/types.go and
/// events/v1/types.go of k8s.io/api, where these members lack `+optional`).
const REQUIRED: [(&str, &str); 2] = [("core.Event", "metadata"), ("events.Event", "eventTime")];

/// Sorts required members in Go's order, without those that only k8s-openapi requires: metadata, and names that may be empty.
fn require(schema: &mut Value, of: &Type) {
    let Some(members) = schema.as_object_mut() else { return };
    let mut required = match members.remove("required") {
        Some(Value::Array(required)) => required,
        _ => Vec::new(),
    };
    let field = |name: &Value| of.members.get(name.as_str().unwrap_or_default());
    required.retain(|name| name != "metadata" && field(name).is_none_or(|field| field.default != Some("")));
    let others = REQUIRED.iter().filter(|(message, _)| *message == of.name);
    required.extend(others.map(|(_, name)| Value::from(*name)));
    required.sort_by_key(|name| field(name).map(|field| field.position));
    if !required.is_empty() {
        members.insert("required".to_owned(), Value::Array(required));
    }
}

/// Returns the schema of quantities, and of numbers that may be names.
fn int_or_string(schema: &Value) -> Option<Value> {
    if schema["x-kubernetes-int-or-string"] != true {
        return None;
    }
    let of = |other: &str| json!([{"type": other}, {"type": if other == "integer" { "string" } else { "number" }}]);
    let amount = schema["description"].as_str().is_some_and(|text| text.starts_with("Quantity"));
    Some(match amount {
        true => json!({"description": schema["description"], "oneOf": of("string")}),
        false => {
            json!({"description": schema["description"], "format": "int-or-string", "oneOf": of("integer")})
        }
    })
}

/// Adds to a member the facts from the table of types.
fn annotate(property: &mut Value, field: &Field) {
    if let Some(values) = field.go.and_then(|name| ENUMS.get(name)) {
        enumerate(property, field, values);
    }
    let zero = match field.of {
        _ if field.optional || field.shape != Shape::One => None,
        name if types::message(name).is_some() => Some(json!({})),
        _ if !field.always => None,
        "string" => Some(json!("")),
        "bool" => Some(json!(false)),
        "int32" | "int64" => Some(json!(0)),
        _ => None,
    };
    let default = field.default.map(|text| match field.of {
        "string" => text.into(),
        _ => serde_json::from_str(text).unwrap_or_default(),
    });
    if let Some(default) = default.or(zero) {
        property["default"] = default;
    }
    match (field.shape, field.merge) {
        (Shape::List, Merge::Keys(keys)) => {
            property["x-kubernetes-list-type"] = json!("map");
            property["x-kubernetes-list-map-keys"] = keys.split(',').collect();
        }
        (Shape::List, Merge::Set) => property["x-kubernetes-list-type"] = json!("set"),
        (Shape::List, _) => property["x-kubernetes-list-type"] = json!("atomic"),
        (_, Merge::Atomic) if field.of == "bytes" => property["x-kubernetes-list-type"] = json!("atomic"),
        (_, Merge::Atomic) => property["x-kubernetes-map-type"] = json!("atomic"),
        (_, Merge::Granular) => property["x-kubernetes-map-type"] = json!("granular"),
        _ => {}
    }
    if let Some(key) = field.patch.key {
        property["x-kubernetes-patch-merge-key"] = json!(key);
    }
    let patch = field.patch;
    let strategies = [(patch.merge, "merge"), (patch.retain_keys, "retainKeys"), (patch.replace, "replace")];
    let given: Vec<&str> = strategies.into_iter().filter(|(on, _)| *on).map(|(_, name)| name).collect();
    if !given.is_empty() {
        property["x-kubernetes-patch-strategy"] = json!(given.join(","));
    }
    wrap(property);
}

/// Moves a reference into an `allOf` if it is not alone (`WrapRefs` of kube-openapi's `pkg/builder3/util`).
fn wrap(schema: &mut Value) {
    if let Some(members) = schema.as_object_mut()
        && members.len() > 1
        && let Some(reference) = members.remove("$ref")
    {
        members.insert("allOf".to_owned(), json!([{"$ref": reference}]));
    }
}

/// Enumerations whose members have documentation that ends with an empty line, which k8s-openapi removes (`+enum` in
/// resource/v1/types.go and admissionregistration/v1/types.go of k8s.io/api).
const SPACED: [&str; 6] = [
    "v1.AllocationConfigSource",
    "v1.DeviceAllocationMode",
    "v1.DeviceTaintEffect",
    "v1.DeviceTolerationOperator",
    "v1.PatchType",
    "v1.ScopeType",
];

/// Adds the values of an enumeration (`enum.go` of kube-openapi's `pkg/generators`).
fn enumerate(property: &mut Value, field: &Field, values: &[(&str, &str)]) {
    let names: Value = values.iter().map(|(value, _)| *value).collect();
    match field.shape {
        Shape::List => return property["items"]["enum"] = names,
        Shape::Map => return property["additionalProperties"]["enum"] = names,
        Shape::One | Shape::Inline => property["enum"] = names,
    }
    let row = |(value, documentation): &(&str, &str)| {
        let space = if documentation.is_empty() { "" } else { " " };
        format!("\n - `{value:?}`{space}{}", text(documentation))
    };
    let rows: String = values.iter().map(row).collect();
    let space = if field.go.is_some_and(|name| SPACED.contains(&name)) { "\n\n\n" } else { "\n\n" };
    let known = property["description"].as_str().map(|known| format!("{known}{space}")).unwrap_or_default();
    property["description"] = format!("{known}Possible enum values:{rows}").into();
}
