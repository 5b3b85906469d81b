//! Infers the types of print columns without one: the type of the field at the column's path.

use kubesmith_core::diag::Code;

use super::path;
use crate::diag::Diagnostic;
use crate::ir::{Ir, PrintColumn};
use crate::schema::{Schema, Schemas};
use crate::source::{Loc, SourceMap};

/// Fills in the types of columns; a type that cannot be inferred gets a diagnostic.
pub(crate) fn infer(ir: &mut Ir, schemas: &Schemas, sources: &SourceMap) -> Vec<Diagnostic> {
    let mut out = Vec::new();
    let versions = ir.groups.iter_mut().flat_map(|group| &mut group.versions);
    for resource in versions.flat_map(|version| &mut version.resources) {
        let Some(schema) = schemas.of(resource) else { continue };
        for (index, column) in resource.crd.print_columns.iter_mut().enumerate() {
            if column.type_.is_some() {
                continue;
            }
            match column_type(schema, &column.json_path) {
                Ok(name) => column.type_ = Some(name.to_string()),
                Err(why) => {
                    let place = resource.places.get(&format!("additionalPrinterColumns[{index}].jsonPath"));
                    out.push(unknown(column, why, sources.loc(place.unwrap_or(&resource.span))));
                }
            }
        }
    }
    out
}

const HELP: &str = "say it: `type` is one of integer, number, string, boolean, date";

/// The reason why a type is unknown, and the advice.
#[derive(Debug, PartialEq, Eq)]
struct Unknown {
    why: String,
    help: String,
}

fn unknown(column: &PrintColumn, unknown: Unknown, loc: Option<Loc>) -> Diagnostic {
    Diagnostic::error(
        Code::COLUMN_TYPE,
        loc,
        format!("the type of the column `{}` is not known: {}", column.name, unknown.why),
    )
    .help(unknown.help)
}

/// Columns may show these fields of every object's metadata, which no CRD's schema has.
const METADATA: &[(&str, &str)] = &[
    (".metadata.creationTimestamp", "date"),
    (".metadata.deletionTimestamp", "date"),
    (".metadata.generation", "integer"),
    (".metadata.deletionGracePeriodSeconds", "integer"),
    (".metadata.name", "string"),
    (".metadata.generateName", "string"),
    (".metadata.namespace", "string"),
    (".metadata.resourceVersion", "string"),
    (".metadata.uid", "string"),
];

fn column_type(root: &Schema, path: &str) -> Result<&'static str, Unknown> {
    if let Some((_, name)) = METADATA.iter().find(|(known, _)| *known == path) {
        return Ok(name);
    }
    // Their values are strings.
    if [".metadata.labels", ".metadata.annotations"]
        .iter()
        .any(|map| path.strip_prefix(map).is_some_and(|rest| rest.starts_with(['.', '['])))
    {
        return Ok("string");
    }
    let because = |why: &str| Err(Unknown { why: why.to_string(), help: HELP.to_string() });
    let schema = match path::walk(root, path) {
        Ok(Some(schema)) => schema,
        Ok(None) => return because("the schema leaves the field open"),
        Err(missing) => {
            return Err(Unknown {
                why: format!("there is no field `{}`", missing.name),
                help: missing.help(),
            });
        }
    };
    match (schema.type_.as_deref(), schema.format.as_deref()) {
        (Some("string"), Some("date-time")) => Ok("date"),
        (Some("string"), _) => Ok("string"),
        (Some("integer"), _) => Ok("integer"),
        (Some("number"), _) => Ok("number"),
        (Some("boolean"), _) => Ok("boolean"),
        (Some("object"), _) => because("its path names an object"),
        (Some("array"), _) => because("its path names a list"),
        _ if schema.int_or_string => Ok("string"),
        _ => because("the schema leaves the field open"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn column_type_follows_from_its_field() {
        let schema: Schema = serde_json::from_value(json!({"type": "object", "properties": {
            "spec": {"type": "object", "properties": {
                "when": {"type": "string", "format": "date-time"},
                "name": {"type": "string"},
                "count": {"type": "integer"},
                "share": {"type": "number"},
                "on": {"type": "boolean"},
                "port": {"x-kubernetes-int-or-string": true},
                "open": {"x-kubernetes-preserve-unknown-fields": true},
                "list": {"type": "array", "items": {"type": "integer"}},
            }},
        }}))
        .unwrap();
        for (path, expected) in [
            (".metadata.creationTimestamp", Ok("date")),
            (".metadata.labels.app", Ok("string")),
            (".metadata.annotations['a.b/c']", Ok("string")),
            (".spec.when", Ok("date")),
            (".spec.name", Ok("string")),
            (".spec.count", Ok("integer")),
            (".spec.share", Ok("number")),
            (".spec.on", Ok("boolean")),
            (".spec.port", Ok("string")),
            (".spec.list[0]", Ok("integer")),
            (".spec.list", Err("its path names a list")),
            (".spec", Err("its path names an object")),
            (".spec.open", Err("the schema leaves the field open")),
            (".spec.open.x", Err("the schema leaves the field open")),
            (".metadata.labels", Err("the schema leaves the field open")),
            (".spec.nothing", Err("there is no field `nothing`")),
        ] {
            let found = column_type(&schema, path).map_err(|unknown| unknown.why);
            assert_eq!(found, expected.map_err(str::to_string), "{path}");
        }
    }
}
