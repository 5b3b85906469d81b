//! Finds fields by the JSON paths of columns, scale and selectable fields.

use kubesmith_core::names::closest;

use crate::schema::{Additional, Schema};

/// A field on a path that the schema lacks.
#[derive(Debug)]
pub(crate) struct Missing {
    pub(crate) name: String,
    near: Option<String>,
}

impl Missing {
    /// The replacement.
    pub(crate) fn help(&self) -> String {
        match &self.near {
            Some(near) => format!("did you mean `{near}`?"),
            None => "names are those of the JSON, after serde's renaming".to_string(),
        }
    }
}

/// Follows a path; fields below an open part of the schema are assumed to exist.
pub(crate) fn walk<'a>(root: &'a Schema, path: &str) -> Result<Option<&'a Schema>, Missing> {
    let mut schema = root;
    for (depth, step) in steps(path).into_iter().enumerate() {
        match step {
            // The CRD does not have the API server's own schema of metadata.
            Step::Field(name) if depth == 0 && name == "metadata" => return Ok(None),
            Step::Field(name) => {
                schema = match (schema.properties.get(&name), values(schema)) {
                    (Some(property), _) => property,
                    (None, Some(values)) => values,
                    (None, None) if is_open(schema) => return Ok(None),
                    (None, None) => {
                        let near =
                            closest(&name, schema.properties.keys().map(String::as_str)).map(str::to_string);
                        return Err(Missing { name, near });
                    }
                }
            }
            Step::Item => match &schema.items {
                Some(items) => schema = items,
                None => return Ok(None),
            },
            Step::Unknown => return Ok(None),
        }
    }
    Ok(Some(schema))
}

/// Schema of the values of a map, if the schema describes one.
pub(crate) fn values(schema: &Schema) -> Option<&Schema> {
    match &schema.additional_properties {
        Some(Additional::Schema(values)) => Some(values),
        _ => None,
    }
}

fn is_open(schema: &Schema) -> bool {
    schema.preserve_unknown_fields || schema.embedded_resource || schema.type_.as_deref() != Some("object")
}

enum Step {
    Field(String),
    Item,
    Unknown,
}

/// Splits `.spec.ports[*].name`, `.a['b']`, `.a.b\.c`.
fn steps(path: &str) -> Vec<Step> {
    let mut out = Vec::new();
    let mut rest = path;
    while !rest.is_empty() {
        if let Some(field) = rest.strip_prefix('.') {
            let mut name = String::new();
            let mut chars = field.char_indices().peekable();
            let mut end = field.len();
            while let Some((at, c)) = chars.next() {
                match c {
                    '\\' => name.extend(chars.next().map(|(_, c)| c)),
                    '.' | '[' => {
                        end = at;
                        break;
                    }
                    c => name.push(c),
                }
            }
            rest = &field[end..];
            if name == "*" || name.is_empty() {
                out.push(Step::Unknown);
            } else {
                out.push(Step::Field(name));
            }
        } else if let Some(bracket) = rest.strip_prefix('[') {
            // Filters may contain brackets; the path after one is ignored.
            let Some((inside, after)) = bracket.split_once(']') else {
                out.push(Step::Unknown);
                break;
            };
            rest = after;
            match inside.strip_prefix('\'').and_then(|text| text.strip_suffix('\'')) {
                // A dot also separates fields inside quotes.
                Some(name) => out.extend(steps(&format!(".{name}"))),
                None if inside.starts_with('?') && inside.contains('[') => out.push(Step::Unknown),
                None => out.push(Step::Item),
            }
        } else {
            out.push(Step::Unknown);
            break;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn missing(path: &str) -> Option<String> {
        let schema: Schema = serde_json::from_value(json!({"type": "object", "properties": {
            "spec": {"type": "object", "properties": {
                "replicas": {"type": "integer"},
                "open": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
                "labels": {"type": "object", "additionalProperties": {"type": "string"}},
                "ports": {"type": "array", "items": {"type": "object", "properties": {"name": {"type": "string"}}}},
            }},
        }}))
        .unwrap();
        walk(&schema, path).err().map(|missing| missing.name)
    }

    #[test]
    fn path_resolves_to_its_schema() {
        for path in [
            ".spec.replicas",
            ".spec.open.x.y",
            ".spec.labels.any",
            ".spec.labels['a.b']",
            ".spec.ports[*].name",
            ".spec.ports[?(@.name==\"x\")].name",
            ".spec.ports[0].name",
            ".metadata.name",
            ".spec.labels.a\\.b",
            ".spec..x",
        ] {
            assert_eq!(missing(path), None, "{path}");
        }
        assert_eq!(missing(".spec.replica").as_deref(), Some("replica"));
        assert_eq!(missing(".spec['replica']").as_deref(), Some("replica"));
        assert_eq!(missing(".spec['ports.name']"), None);
        assert_eq!(missing(r".spec['ports\.name']").as_deref(), Some("ports.name"));
        assert_eq!(missing(".status.x").as_deref(), Some("status"));
        assert_eq!(missing(".spec.ports[*].nmae").as_deref(), Some("nmae"));
    }
}
