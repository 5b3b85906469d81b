//! Turns a definition without its schemas into attributes of the root types.

use kubesmith_core::names;
use serde_json::Value;

use super::attributes::Key;
use super::{keys, naming};
use crate::schema::{Schema, standard_fields};

/// The attributes of the root type `name` for a version of a canonical definition; `group` is the group's
/// short name in code.
pub(super) fn attributes(
    crd: &Value,
    version: &Value,
    schema: &Schema,
    (name, group): (&str, &str),
) -> Vec<(&'static str, Vec<Key>)> {
    let spec = &crd["spec"];
    let mut out = Vec::new();
    let mut keys =
        vec![Key::text("group", text(&spec["group"])), Key::text("version", text(&version["name"]))];
    if text(&spec["group"]).split('.').next().is_some_and(|first| first != group) {
        keys.push(Key::text("group_name_in_code", &naming::code_name(group)));
    }
    name_keys(&spec["names"], name, &mut keys);
    let is_cluster = spec["scope"] == "Cluster";
    if is_cluster {
        keys.push(Key::text("scope", "Cluster"));
    }
    version_keys(spec, version, &mut keys);
    let approval =
        crd["metadata"]["annotations"][names::API_APPROVED].as_str().filter(|text| is_approval(text));
    keys.extend(approval.map(|text| Key::text("api_approved", text)));
    // Only the stored version has these.
    if version["storage"] == true {
        conversion_keys(&spec["conversion"], &mut keys);
        metadata_keys(&crd["metadata"], &mut keys);
    }
    keys.extend(standard(schema));
    out.push(("resource", keys));
    let genclient = if is_cluster { vec![Key::Plain("non_namespaced".to_string())] } else { Vec::new() };
    out.push(("genclient", genclient));
    out.push(("deepcopy", Vec::new()));
    out
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn name_keys(names: &Value, name: &str, keys: &mut Vec<Key>) {
    let kind = text(&names["kind"]);
    if kind != name {
        keys.push(Key::text("kind", kind));
    }
    for (key, member, default) in [
        ("plural", "plural", names::pluralize_kind(kind)),
        ("singular", "singular", kind.to_lowercase()),
        ("list_kind", "listKind", format!("{kind}List")),
    ] {
        if text(&names[member]) != default {
            keys.push(Key::text(key, text(&names[member])));
        }
    }
    for (key, member) in [("short_name", "shortNames"), ("category", "categories")] {
        let texts: Vec<&str> = list(&names[member]).map(text).collect();
        match texts[..] {
            [] => {}
            [one] => keys.push(Key::text(key, one)),
            _ => keys.push(Key::List(key.to_string(), texts.iter().map(|text| literal(text)).collect())),
        }
    }
}

fn literal(text: &str) -> Key {
    Key::Plain(super::attributes::string(text))
}

fn version_keys(spec: &Value, version: &Value, keys: &mut Vec<Key>) {
    let flag = |name: &str| Key::Plain(name.to_string());
    if list(&spec["versions"]).count() > 1 && version["storage"] == true {
        keys.push(flag("storage_version"));
    }
    if version["served"] != true {
        keys.push(flag("unserved_version"));
    }
    if version["deprecated"] == true {
        keys.push(match version["deprecationWarning"].as_str() {
            Some(warning) => Key::List("deprecated_version".to_string(), vec![Key::text("warning", warning)]),
            None => flag("deprecated_version"),
        });
    }
    let subresources = &version["subresources"];
    if subresources.get("status").is_some() {
        keys.push(flag("status"));
    }
    if let Some(scale) = subresources.get("scale") {
        let paths = [
            ("spec_path", "specReplicasPath"),
            ("status_path", "statusReplicasPath"),
            ("selector_path", "labelSelectorPath"),
        ];
        keys.push(members("scale", scale, &paths));
    }
    for column in list(&version["additionalPrinterColumns"]) {
        let names = [
            ("name", "name"),
            ("type", "type"),
            ("json_path", "jsonPath"),
            ("description", "description"),
            ("format", "format"),
            ("priority", "priority"),
        ];
        keys.push(members("print_column", column, &names));
    }
    for field in list(&version["selectableFields"]) {
        keys.push(members("selectable_field", field, &[("json_path", "jsonPath")]));
    }
}

/// A key with the members that an object has.
fn members(name: &str, object: &Value, names: &[(&str, &str)]) -> Key {
    let keys = names.iter().filter_map(|(key, member)| match object.get(*member)? {
        Value::String(text) => Some(Key::text(key, text)),
        Value::Number(number) => Some(Key::number(key, number)),
        _ => None,
    });
    Key::List(name.to_string(), keys.collect())
}

fn conversion_keys(conversion: &Value, keys: &mut Vec<Key>) {
    if text(&conversion["strategy"]) != "Webhook" {
        return;
    }
    let client = &conversion["webhook"]["clientConfig"];
    let mut inner = vec![Key::text("strategy", "Webhook")];
    let service = [("namespace", "service_namespace"), ("name", "service_name"), ("path", "path")];
    for (member, key) in service {
        inner.extend(client["service"][member].as_str().map(|text| Key::text(key, text)));
    }
    if let Value::Number(port) = &client["service"]["port"] {
        inner.push(Key::number("port", port));
    }
    inner.extend(client["url"].as_str().map(|url| Key::text("url", url)));
    inner.extend(client["caBundle"].as_str().map(|bundle| Key::text("ca_bundle", bundle)));
    let versions: Vec<&str> = list(&conversion["webhook"]["conversionReviewVersions"]).map(text).collect();
    if versions != ["v1"] {
        let versions = versions.iter().map(|version| literal(version)).collect();
        inner.push(Key::List("review_versions".to_string(), versions));
    }
    keys.push(Key::List("conversion".to_string(), inner));
}

fn metadata_keys(metadata: &Value, keys: &mut Vec<Key>) {
    let mut inner = Vec::new();
    for member in ["annotations", "labels"] {
        let mut pairs = Vec::new();
        for (name, value) in metadata[member].as_object().into_iter().flatten() {
            if name == names::API_APPROVED && is_approval(text(value)) {
                continue;
            }
            pairs.push(Key::text(&super::attributes::string(name), text(value)));
        }
        if !pairs.is_empty() {
            inner.push(Key::List(member.to_string(), pairs));
        }
    }
    if !inner.is_empty() {
        keys.push(Key::List("metadata".to_string(), inner));
    }
}

/// Whether the annotation's value has a key of its own.
fn is_approval(text: &str) -> bool {
    text.starts_with("unapproved") || text.starts_with("https://")
}

/// The key for standard fields with another schema than usual.
fn standard(schema: &Schema) -> Option<Key> {
    let unusual =
        standard_fields().into_iter().filter_map(|(name, usual)| match schema.properties.get(name) {
            Some(own) if **own == usual => None,
            Some(own) => Some((name.to_string(), own.to_value())),
            None => Some((name.to_string(), Value::Null)),
        });
    let unusual = keys::object(unusual);
    let has_some = unusual.as_object().is_some_and(|members| !members.is_empty());
    has_some.then(|| Key::Json("standard_fields".to_string(), unusual))
}
