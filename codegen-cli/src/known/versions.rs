//! The schemas of k8s-openapi's types in each of its versions, with each version of Kubernetes that it supports.
//!
//! hack/kubernetes-versions.py writes versions.txt and describes its lines.

use std::collections::HashMap;
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
    /// The compiled-in version.
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
        let name = TABLE.name(path)?;
        let column = TABLE.columns.iter().position(|known| *known == self)?;
        TABLE.definition(name, column, &mut Vec::new())
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
    types: HashMap<&'static str, TypeLines>,
}

/// The lines of a type.
struct TypeLines {
    columns: &'static str,
    members: Vec<&'static str>,
}

impl Table {
    fn read(text: &'static str) -> Self {
        let mut lines = text.lines();
        let columns = lines.next().unwrap_or_default().split(' ').filter_map(|column| {
            let (kubernetes, own) = column.strip_prefix("1.")?.split_once("/0.")?;
            Some(BuiltInTypes {
                kubernetes: KubernetesVersion(kubernetes.parse().ok()?),
                k8s_openapi: own.parse().ok()?,
            })
        });
        let columns = columns.collect();
        let texts = lines.by_ref().take_while(|line| !line.is_empty()).collect();
        let mut types: HashMap<&str, TypeLines> = HashMap::new();
        let mut current = "";
        for line in lines {
            match (line.strip_prefix(' '), line.split_once(' ')) {
                (Some(member), _) => {
                    if let Some(found) = types.get_mut(current) {
                        found.members.push(member);
                    }
                }
                (None, Some((name, columns))) => {
                    current = name;
                    types.insert(name, TypeLines { columns, members: Vec::new() });
                }
                (None, None) => {}
            }
        }
        Self { columns, texts, types }
    }

    /// The name in OpenAPI of the type at a path. Names have dashes, which paths cannot have.
    fn name(&self, path: &str) -> Option<&'static str> {
        let name = format!("io.k8s.{}", path.strip_prefix("k8s_openapi::")?.replace("::", "."));
        let known = |name: &str| self.types.get_key_value(name).map(|(name, _)| *name);
        known(&name).or_else(|| known(&name.replace('_', "-")))
    }

    /// The schema of a type; `open` has the enclosing types.
    fn definition(&self, name: &'static str, column: usize, open: &mut Vec<&'static str>) -> Option<Value> {
        let found = self.types.get(name).filter(|found| is_in(found.columns, column))?;
        if open.contains(&name) {
            // JSON schemas are recursive; schemars leaves a reference.
            return Some(json!({"$ref": format!("#/components/schemas/{name}")}));
        }
        open.push(name);
        let mut schema = Map::new();
        let mut properties = Map::new();
        for member in &found.members {
            let mut parts = member.splitn(3, ' ');
            let (Some(key), Some(columns), Some(text)) = (parts.next(), parts.next(), parts.next()) else {
                continue;
            };
            if !columns.is_empty() && !is_in(columns, column) {
                continue;
            }
            // A test checks that all of them are JSON.
            let value = serde_json::from_str(text).unwrap_or_default();
            match key.strip_prefix('.') {
                Some(field) => properties.insert(field.to_string(), self.value(value, column, open)),
                None if key == "description" => schema.insert(key.to_string(), self.text(&value)),
                None => schema.insert(key.to_string(), self.value(value, column, open)),
            };
        }
        open.pop();
        if !properties.is_empty() {
            schema.insert("properties".to_string(), properties.into());
        }
        Some(schema.into())
    }

    /// The value with descriptions in place of their numbers, and types in place of their names.
    fn value(&self, value: Value, column: usize, open: &mut Vec<&'static str>) -> Value {
        match value {
            Value::Object(members) => {
                let reference = members.get("$ref").and_then(Value::as_str);
                let reference = reference.and_then(|name| self.types.get_key_value(name));
                let mut out = match reference {
                    Some((name, _)) => match self.definition(name, column, open) {
                        Some(Value::Object(target)) => target,
                        _ => Map::new(),
                    },
                    None => Map::new(),
                };
                for (key, inner) in
                    members.into_iter().filter(|(key, _)| reference.is_none() || key != "$ref")
                {
                    let inner = match (key.as_str(), &inner) {
                        ("description", Value::Number(_)) => self.text(&inner),
                        _ => self.value(inner, column, open),
                    };
                    out.insert(key, inner);
                }
                out.into()
            }
            Value::Array(items) => items.into_iter().map(|item| self.value(item, column, open)).collect(),
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

    use super::*;

    #[test]
    fn table_equals_schemas_of_the_compiled_version() {
        for (path, make) in super::super::k8s_types::TABLE.iter().copied().flatten() {
            let settings = SchemaSettings::openapi3().with(|settings| settings.inline_subschemas = true);
            let compiled = make(&mut SchemaGenerator::new(settings)).to_value();
            assert_eq!(BuiltInTypes::default().schema(path), Some(compiled), "{path}");
        }
    }

    #[test]
    fn every_line_of_the_table_parses() {
        assert!(TABLE.columns.len() > 90 && TABLE.types.len() > 900);
        let texts = TABLE.texts.iter();
        assert!(texts.map(|text| serde_json::from_str(text)).all(|text: Result<String, _>| text.is_ok()));
        for (name, found) in &TABLE.types {
            for member in &found.members {
                let text = member.splitn(3, ' ').nth(2).unwrap_or_default();
                assert!(serde_json::from_str::<Value>(text).is_ok(), "{name} {member}");
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
