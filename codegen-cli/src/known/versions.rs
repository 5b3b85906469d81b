//! The schemas of k8s-openapi's types in each of its versions, with each version of Kubernetes that it supports.
//!
//! hack/kubernetes-versions.py writes versions.txt and describes its lines.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

static TABLE: LazyLock<Table> = LazyLock::new(|| Table::read(include_str!("versions.txt")));

/// A version of Kubernetes: the number after `1.`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct KubernetesVersion(pub u16);

/// A set of schemas for k8s-openapi's types: a version of Kubernetes in the form of a version of k8s-openapi.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BuiltInTypes {
    /// Kubernetes.
    pub kubernetes: KubernetesVersion,
    /// k8s-openapi: the number after `0.`.
    pub k8s_openapi: u16,
}

impl Default for BuiltInTypes {
    /// The version of the tool: the last of k8s-openapi, with the Kubernetes of the other tables.
    fn default() -> Self {
        Self { kubernetes: KubernetesVersion(36), k8s_openapi: 29 }
    }
}

impl FromStr for KubernetesVersion {
    type Err = String;

    /// Reads `1.31`, `v1.31`, or `v1_31` as in k8s-openapi's features.
    fn from_str(text: &str) -> Result<Self, String> {
        let number = text.strip_prefix('v').unwrap_or(text).strip_prefix("1").unwrap_or_default();
        let number = number.strip_prefix(['.', '_']).and_then(|number| number.parse().ok());
        let found = number.map(Self).filter(|version| supported().any(|known| known.kubernetes == *version));
        found.ok_or_else(|| {
            let [first, last] = [supported().next(), supported().next_back()]
                .map(|known| known.unwrap_or_default().kubernetes);
            format!(
                "{text:?} is not a version of Kubernetes whose types are known: use one from {first} to {last}"
            )
        })
    }
}

impl TryFrom<String> for KubernetesVersion {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<KubernetesVersion> for String {
    fn from(version: KubernetesVersion) -> Self {
        version.to_string()
    }
}

impl fmt::Display for KubernetesVersion {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "1.{}", self.0)
    }
}

impl fmt::Display for BuiltInTypes {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Kubernetes {} in k8s-openapi 0.{}", self.kubernetes, self.k8s_openapi)
    }
}

impl BuiltInTypes {
    /// The nearest known versions: this or the nearest version of k8s-openapi, with this version of
    /// Kubernetes or the latest that it supports.
    pub fn nearest(k8s_openapi: Option<u16>, kubernetes: Option<KubernetesVersion>) -> Self {
        let distance = |known: &Self| {
            let own = k8s_openapi.map_or(0, |own| own.abs_diff(known.k8s_openapi));
            let version = kubernetes.map_or(0, |version| version.0.abs_diff(known.kubernetes.0));
            // The requested versions come first; of equals, the latest wins.
            (version, own, u16::MAX - known.kubernetes.0, u16::MAX - known.k8s_openapi)
        };
        let with_both = supported().min_by_key(|known| distance(known));
        with_both.unwrap_or_default()
    }

    /// The earliest version of Kubernetes for this version of k8s-openapi, its feature `earliest`.
    pub fn earliest(k8s_openapi: u16) -> Option<KubernetesVersion> {
        supported().filter(|known| known.k8s_openapi == k8s_openapi).map(|known| known.kubernetes).min()
    }

    /// The schema of a type by its path, with nested types inlined; `None`: this version has no such type.
    pub fn schema(self, path: &str) -> Option<Value> {
        TABLE.inlined(TABLE.name(path)?, self.column()?, &mut Vec::new())
    }

    /// The OpenAPI names of the types, sorted.
    pub(super) fn names(self) -> impl Iterator<Item = &'static str> {
        let types = self
            .column()
            .into_iter()
            .flat_map(|column| TABLE.types.iter().filter(move |(_, found)| is_in(found.columns, column)));
        types.map(|(name, _)| *name)
    }

    /// The definition of a type by its OpenAPI name; references are such names.
    pub(super) fn definition(self, name: &str) -> Option<Value> {
        TABLE.definition(name, self.column()?).map(Value::from)
    }

    fn column(self) -> Option<usize> {
        TABLE.columns.iter().position(|known| *known == self)
    }
}

/// The known versions, ordered by the version of Kubernetes.
fn supported() -> impl DoubleEndedIterator<Item = BuiltInTypes> {
    TABLE.columns.iter().copied()
}

/// Whether some version has a type at this path.
pub(super) fn has(path: &str) -> bool {
    TABLE.name(path).is_some()
}

/// The parts of the text.
struct Table {
    columns: Vec<BuiltInTypes>,
    /// Descriptions, as JSON.
    texts: Vec<&'static str>,
    types: BTreeMap<&'static str, TypeLines>,
}

/// The lines of a type.
struct TypeLines {
    columns: &'static str,
    /// The lines of its properties and other keywords.
    members: &'static str,
}

impl TypeLines {
    /// Key, columns and JSON of each property and keyword.
    fn members(&self) -> impl Iterator<Item = [&'static str; 3]> {
        self.members.lines().filter_map(|line| {
            let mut parts = line.strip_prefix(' ')?.splitn(3, ' ');
            Some([parts.next()?, parts.next()?, parts.next()?])
        })
    }
}

impl Table {
    fn read(text: &'static str) -> Self {
        let (head, body) = text.split_at(text.find("\n\n").map_or(text.len(), |end| end + 1));
        let mut lines = head.lines();
        let columns = lines.next().unwrap_or_default().split(' ').filter_map(|column| {
            let (kubernetes, own) = column.strip_prefix("1.")?.split_once("/0.")?;
            Some(BuiltInTypes {
                kubernetes: KubernetesVersion(kubernetes.parse().ok()?),
                k8s_openapi: own.parse().ok()?,
            })
        });
        let columns = columns.collect();
        // Members, which are indented, are read on demand.
        let starts: Vec<usize> = body.match_indices("\nio.").map(|(at, _)| at + 1).collect();
        let ends = starts.iter().skip(1).copied().chain([body.len()]);
        let types = starts.iter().zip(ends).filter_map(|(start, end)| {
            let (first, members) = body[*start..end].split_once('\n')?;
            let (name, columns) = first.split_once(' ')?;
            Some((name, TypeLines { columns, members }))
        });
        Self { columns, texts: lines.collect(), types: types.collect() }
    }

    /// The name in OpenAPI of the type at a path. Names have dashes, which paths cannot have.
    fn name(&self, path: &str) -> Option<&'static str> {
        let name = format!("io.k8s.{}", path.strip_prefix("k8s_openapi::")?.replace("::", "."));
        let known = |name: &str| self.types.get_key_value(name).map(|(name, _)| *name);
        known(&name).or_else(|| known(&name.replace('_', "-")))
    }

    /// The definition of a type; references are names of types.
    fn definition(&self, name: &str, column: usize) -> Option<Map<String, Value>> {
        let found = self.types.get(name).filter(|found| is_in(found.columns, column))?;
        let mut schema = Map::new();
        let mut properties = Map::new();
        for [key, columns, text] in found.members() {
            if !columns.is_empty() && !is_in(columns, column) {
                continue;
            }
            // A test checks that all of them are JSON.
            let mut value = serde_json::from_str(text).unwrap_or_default();
            match key.strip_prefix('.') {
                Some(field) => {
                    self.describe(&mut value);
                    properties.insert(field.to_string(), value);
                }
                None if key == "description" => {
                    schema.insert(key.to_string(), self.text(&value));
                }
                None => {
                    self.describe(&mut value);
                    schema.insert(key.to_string(), value);
                }
            }
        }
        if !properties.is_empty() {
            schema.insert("properties".to_string(), properties.into());
        }
        Some(schema)
    }

    /// Replaces numbers of descriptions by the descriptions.
    fn describe(&self, value: &mut Value) {
        match value {
            Value::Object(members) => {
                for (key, inner) in members {
                    match key.as_str() {
                        "description" if inner.is_number() => *inner = self.text(inner),
                        _ => self.describe(inner),
                    }
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.describe(item)),
            _ => {}
        }
    }

    /// The definition of a type with nested types in place of their names; `open` has the enclosing types.
    fn inlined(&self, name: &'static str, column: usize, open: &mut Vec<&'static str>) -> Option<Value> {
        let definition = self.definition(name, column)?;
        if open.contains(&name) {
            // JSON schemas are recursive; schemars leaves a reference.
            return Some(json!({"$ref": format!("#/components/schemas/{name}")}));
        }
        open.push(name);
        let schema = self.inline(definition.into(), column, open);
        open.pop();
        Some(schema)
    }

    /// The value with types in place of their names.
    fn inline(&self, value: Value, column: usize, open: &mut Vec<&'static str>) -> Value {
        match value {
            Value::Object(mut members) => {
                let reference = members.get("$ref").and_then(Value::as_str);
                let target = reference.and_then(|name| self.types.get_key_value(name));
                let mut out = Map::new();
                if let Some((name, _)) = target {
                    members.remove("$ref");
                    if let Some(Value::Object(target)) = self.inlined(name, column, open) {
                        out = target;
                    }
                }
                out.extend(members.into_iter().map(|(key, inner)| (key, self.inline(inner, column, open))));
                out.into()
            }
            Value::Array(items) => items.into_iter().map(|item| self.inline(item, column, open)).collect(),
            other => other,
        }
    }

    /// The description of this number.
    fn text(&self, number: &Value) -> Value {
        let at = number.as_u64().and_then(|at| usize::try_from(at).ok());
        at.and_then(|at| serde_json::from_str(self.texts.get(at)?).ok()).unwrap_or_default()
    }
}

/// Whether columns such as `1-3,5` include this one.
fn is_in(columns: &str, column: usize) -> bool {
    columns.split(',').any(|range| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        first.parse().is_ok_and(|first| column >= first) && last.parse().is_ok_and(|last| column <= last)
    })
}

#[cfg(test)]
mod tests {
    use k8s_openapi::schemars::SchemaGenerator;
    use k8s_openapi::schemars::generate::SchemaSettings;

    use super::super::k8s_types::TABLE as COMPILED;
    use super::*;

    #[test]
    fn table_equals_schemas_of_k8s_openapi() {
        for (path, make) in COMPILED.iter().copied().flatten() {
            let settings = SchemaSettings::openapi3().with(|settings| settings.inline_subschemas = true);
            let compiled = make(&mut SchemaGenerator::new(settings)).to_value();
            assert_eq!(BuiltInTypes::default().schema(path), Some(compiled), "{path}");
        }
    }

    #[test]
    fn definitions_equal_those_of_k8s_openapi() {
        let mut generator = SchemaGenerator::new(SchemaSettings::openapi3());
        for (_, make) in COMPILED.iter().copied().flatten() {
            make(&mut generator);
        }
        let definitions = generator.take_definitions(false);
        let types = BuiltInTypes::default();
        assert_eq!(types.names().collect::<Vec<_>>(), definitions.keys().collect::<Vec<_>>());
        for (name, compiled) in definitions {
            let mut own = types.definition(&name).unwrap();
            refer(&mut own);
            assert_eq!(own, compiled, "{name}");
        }
    }

    /// Writes references as schemars does.
    fn refer(value: &mut Value) {
        match value {
            Value::Object(members) => {
                if let Some(Value::String(name)) = members.get_mut("$ref") {
                    name.insert_str(0, "#/components/schemas/");
                }
                members.values_mut().for_each(refer);
            }
            Value::Array(items) => items.iter_mut().for_each(refer),
            _ => {}
        }
    }

    #[test]
    fn every_line_of_the_table_parses() {
        assert!(TABLE.columns.len() > 90 && TABLE.types.len() > 900);
        let texts = TABLE.texts.iter();
        assert!(texts.map(|text| serde_json::from_str(text)).all(|text: Result<String, _>| text.is_ok()));
        for (name, found) in &TABLE.types {
            assert_eq!(found.members().count(), found.members.lines().count(), "{name}");
            for [key, _, text] in found.members() {
                assert!(serde_json::from_str::<Value>(text).is_ok(), "{name} {key}");
            }
        }
    }

    #[test]
    fn built_in_types_differ_by_kubernetes_and_k8s_openapi_version() {
        let schema = |kubernetes, own, path| {
            BuiltInTypes::nearest(Some(own), Some(KubernetesVersion(kubernetes))).schema(path)
        };
        let container = "k8s_openapi::api::core::v1::Container";
        assert!(schema(31, 23, container).unwrap()["properties"].get("resizePolicy").is_some());
        assert!(schema(26, 23, container).unwrap()["properties"].get("resizePolicy").is_none());
        let quantity = "k8s_openapi::apimachinery::pkg::api::resource::Quantity";
        assert_eq!(schema(31, 25, quantity).unwrap()["type"], "string");
        assert_eq!(schema(31, 26, quantity).unwrap().get("type"), None);
        let removed = "k8s_openapi::api::policy::v1beta1::PodDisruptionBudget";
        assert!(schema(21, 19, removed).is_some() && schema(31, 25, removed).is_none());
    }

    #[test]
    fn kubernetes_version_parses_in_each_spelling() {
        for text in ["1.31", "v1.31", "v1_31"] {
            assert_eq!(text.parse(), Ok(KubernetesVersion(31)));
        }
        for text in ["", "31", "1.31.2", "2.31", "1.99", "latest"] {
            let error = text.parse::<KubernetesVersion>().unwrap_err();
            assert!(error.ends_with("use one from 1.16 to 1.37"), "{error}");
        }
    }
}
