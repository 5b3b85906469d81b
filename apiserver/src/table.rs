//! Output for humans and for caches of metadata: `Table` and `PartialObjectMetadata`.

use jiff::Timestamp;
use kubesmith_apimachinery::jsonpath::Found;
use serde_json::{Map, Value, json};

use crate::ages::{age, since};
use crate::builtin::{TEMPLATE_GENERATION, printers};
use crate::http::query::Query;
use crate::meta;
use crate::registry::{CREATION_TIMESTAMP, Column, ResourceDef};
use crate::server::Call;
use crate::status::{ApiError, ApiResult};

const NAME_DESCRIPTION: &str = "Name must be unique within a namespace. Is required when creating resources, although \
some resources may allow a client to request the generation of an appropriate name automatically. Name is primarily \
intended for creation idempotence and configuration definition. Cannot be updated. More info: \
https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names";

/// Returns `metadata` of a list with only its version.
pub(crate) fn list_metadata(object: &Value) -> Value {
    json!({"resourceVersion": meta::text(object, "resourceVersion")})
}

/// The part of the objects in a table's rows: the query parameter `includeObject`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Include {
    Metadata,
    Object,
    None,
}

impl Include {
    /// Reads the options of a table.
    ///
    /// # Errors
    /// Returns `BadRequest`, as apimachinery's `ValidateTableOptions` does.
    pub(crate) fn parse(query: &Query) -> ApiResult<Self> {
        match query.get("includeObject") {
            "" | "Metadata" => Ok(Self::Metadata),
            "Object" => Ok(Self::Object),
            "None" => Ok(Self::None),
            other => Err(ApiError::bad_request(format!(
                "Unable to convert to Table as requested: includeObject: Invalid value: {other:?}: must be 'Metadata', \
                 'Object', 'None', or empty"
            ))),
        }
    }
}

/// Builds a table of objects with the options of a request.
///
/// # Errors
/// Returns `BadRequest` for unknown options.
pub(crate) fn table(call: &Call<'_>, version: &str, items: &[Value], metadata: &Value) -> ApiResult<Value> {
    let include = Include::parse(&call.query)?;
    Ok(of(&call.def, version, items, metadata, true, call.server.timestamp(), include))
}

/// Builds a table of objects; in a watch only the first has `headers`.
pub(crate) fn of(
    def: &ResourceDef,
    version: &str,
    items: &[Value],
    metadata: &Value,
    headers: bool,
    now: Timestamp,
    include: Include,
) -> Value {
    let row = |item: &Value| {
        let mut row = Map::new();
        row.insert("cells".to_owned(), Value::Array(cells(def, item, now)));
        let conditions = if def.is_custom() { Value::Null } else { printers::conditions(&def.plural, item) };
        if !conditions.is_null() {
            row.insert("conditions".to_owned(), conditions);
        }
        let object = match include {
            Include::None => Value::Null,
            Include::Object => item.clone(),
            Include::Metadata => partial(item, version),
        };
        row.insert("object".to_owned(), object);
        Value::Object(row)
    };
    let mut items: Vec<&Value> = items.iter().collect();
    if !def.is_custom() && def.kind == "FlowSchema" {
        // `printFlowSchemaList` sorts by precedence; equal ones stay ordered by name.
        items.sort_by_key(|schema| schema["spec"]["matchingPrecedence"].as_i64());
    }
    let rows: Vec<Value> = items.into_iter().map(row).collect();
    let head = if headers { head(def).into() } else { Value::Null };
    made_of(version, metadata, &head, &rows)
}

fn made_of(version: &str, metadata: &Value, head: &Value, rows: &[Value]) -> Value {
    json!({
        "kind": "Table", "apiVersion": format!("meta.k8s.io/{version}"), "metadata": metadata,
        "columnDefinitions": head, "rows": rows,
    })
}

/// Builds the table of a scale: `printScale` of kube-apiserver's printers, and `getScaleColumnsForVersion` of
/// apiextensions-apiserver, which has other types.
///
/// # Errors
/// Returns `BadRequest` for unknown options.
pub(crate) fn of_scale(call: &Call<'_>, version: &str, scale: &Value) -> ApiResult<Value> {
    let (format, age) = if call.def.is_custom() { ("name", "date") } else { ("", "string") };
    let column = |name, kind, format, description| json!({"name": name, "type": kind, "format": format, "description": description, "priority": 0});
    let [desired, available] = match call.def.is_custom() {
        true => ["Number of desired replicas", "Number of actual replicas"],
        false => [
            "replicas is the desired number of instances for the scaled object.",
            "replicas is the actual number of observed instances of the scaled object.",
        ],
    };
    let head = [
        column("Name", "string", format, NAME_DESCRIPTION),
        column("Desired", "integer", "", desired),
        column("Available", "integer", "", available),
        column("Age", age, "", CREATION_TIMESTAMP),
    ];
    let number = |part: &str| scale[part]["replicas"].as_i64().unwrap_or_default();
    let created = since(scale["metadata"]["creationTimestamp"].as_str(), call.server.timestamp());
    let object = match Include::parse(&call.query)? {
        Include::None => Value::Null,
        Include::Object => scale.clone(),
        Include::Metadata => partial(scale, version),
    };
    let row =
        json!({"cells": [meta::name(scale), number("spec"), number("status"), created], "object": object});
    Ok(made_of(version, &list_metadata(scale), &json!(head), &[row]))
}

/// Returns the metadata of one object, as kube-apiserver's internal type has it: without a daemon set's annotation that
/// is a field there.
pub(crate) fn partial(object: &Value, version: &str) -> Value {
    let mut metadata = object["metadata"].clone();
    if let Some(annotations) = metadata.get_mut("annotations").and_then(Value::as_object_mut)
        && object["kind"] == "DaemonSet"
        && object["apiVersion"] == "apps/v1"
    {
        annotations.remove(TEMPLATE_GENERATION);
        if annotations.is_empty() {
            meta::object_mut(&mut metadata).remove("annotations");
        }
    }
    json!({
        "kind": "PartialObjectMetadata", "apiVersion": format!("meta.k8s.io/{version}"), "metadata": metadata,
    })
}

/// Returns the metadata of several objects.
pub(crate) fn partial_list(items: &[Value], version: &str, metadata: &Value) -> Value {
    let items: Vec<Value> = items.iter().map(|item| partial(item, version)).collect();
    // Go's list is null without items.
    let items = if items.is_empty() { Value::Null } else { items.into() };
    json!({
        "kind": "PartialObjectMetadataList", "apiVersion": format!("meta.k8s.io/{version}"),
        "metadata": metadata, "items": items,
    })
}

/// Describes the columns of a table.
fn head(def: &ResourceDef) -> Vec<Value> {
    if !def.is_custom() {
        let description = |name: &str| if name == "Name" { NAME_DESCRIPTION } else { "" };
        let named = printers::columns(&def.plural).iter().filter(|column| !column.name.is_empty());
        return named.map(|column| column.head(description(column.name))).collect();
    }
    let mut head = vec![printers::NAME.head(NAME_DESCRIPTION)];
    head.extend(def.columns.iter().map(|c| {
        json!({"name": c.name, "type": c.kind, "format": c.format, "description": c.description, "priority": c.priority})
    }));
    head
}

/// Returns the cells of an object's row.
fn cells(def: &ResourceDef, item: &Value, now: Timestamp) -> Vec<Value> {
    if !def.is_custom() {
        return printers::columns(&def.plural).iter().map(|column| column.cell(item, now)).collect();
    }
    let mut cells = vec![Value::from(meta::name(item))];
    cells.extend(def.columns.iter().map(|column| cell(item, column, now)));
    cells
}

/// Returns a column's cell: the first value at its path, if it is of the column's type.
fn cell(item: &Value, column: &Column, now: Timestamp) -> Value {
    let Ok(results) = column.path.find_results(item) else { return Value::Null };
    let Some(found) = results.first().and_then(|first| first.first()) else { return Value::Null };
    if column.kind == "string" {
        return Value::from(found.print());
    }
    let Found::Value(value) = found else { return Value::Null };
    match (column.kind.as_str(), value) {
        ("integer" | "number", Value::Number(number)) => match (number.as_i64(), number.as_f64()) {
            // Go truncates floats in integer columns, and writes a float without a fraction as an integer.
            (None, Some(value))
                if column.kind == "integer" || (value == value.trunc() && value.abs() < 1e15) =>
            {
                Value::from(value as i64)
            }
            _ => (*value).clone(),
        },
        ("boolean", Value::Bool(_)) => (*value).clone(),
        ("date", Value::String(text)) if text.is_empty() || text == "null" => Value::from("<unknown>"),
        ("date", Value::String(text)) => Value::from(age(text, now)),
        _ => Value::Null,
    }
}
