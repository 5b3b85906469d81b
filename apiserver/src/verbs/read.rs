//! GET of one object.

use std::sync::Arc;

use kubesmith_apimachinery::golang;
use serde_json::Value;

use super::write;
use crate::conversion;
use crate::http::negotiate::{Form, Shape};
use crate::http::reply::Reply;
use crate::registry::ResourceDef;
use crate::server::Call;
use crate::status::{ApiError, ApiResult};
use crate::store::Object;
use crate::table;

pub(super) async fn get(call: &Call<'_>) -> ApiResult<Reply> {
    let version = parse_version(call.query.get("resourceVersion")).map_err(ApiError::unexpected)?;
    if let Some(version) = version.filter(|version| *version > call.server.store.current()) {
        return Err(ApiError::future_version(version, call.server.store.current(), call.def.is_cached()));
    }
    shown(call, 200, &write::at_path(call)?).await
}

/// Sends a stored object in the client's form.
pub(super) async fn shown(call: &Call<'_>, code: u16, object: &Arc<Object>) -> ApiResult<Reply> {
    let served = conversion::one(&call.server, &call.def, object).await?;
    if call.accepted.shape == Shape::Plain && call.accepted.form == Form::Json {
        return Ok(Reply::json_bytes(code, served.line()));
    }
    Ok(Reply::value(code, &shaped(call, served.value().clone())?, call.accepted.form))
}

/// Returns a value in the client's shape.
fn shaped(call: &Call<'_>, value: Value) -> ApiResult<Value> {
    match &call.accepted.shape {
        Shape::Table(version) => {
            let metadata = table::list_metadata(&value);
            table::table(call, version, &[value], &metadata)
        }
        Shape::Partial(version) => Ok(table::partial(&value, version)),
        // Unstructured objects have the methods of lists, so only reading their items fails (`EachListItem`).
        Shape::PartialList(_) if call.def.is_custom() => Err(ApiError::unexpected("content is not a list")),
        Shape::PartialList(_) => Err(not_a_list(&go_type(&call.def, &call.def.kind))),
        Shape::Plain | Shape::Discovery(_) => Ok(value),
    }
}

/// Refuses an object of a Go type as a list of metadata.
pub(super) fn not_a_list(go_type: &str) -> ApiError {
    ApiError::no_such_form(format!(
        "you requested PartialObjectMetadataList, but the requested object is not a list ({go_type})"
    ))
}

/// Returns the Go type of an object or list in kube-apiserver's handlers, as `%T` writes it.
pub(super) fn go_type(def: &ResourceDef, kind: &str) -> String {
    let package = def.group.split('.').next().unwrap_or_default();
    match package {
        _ if def.is_custom() => {
            format!("*unstructured.Unstructured{}", if kind == def.kind { "" } else { "List" })
        }
        // Events of both groups are one internal type.
        "" | "events" => format!("*core.{kind}"),
        package => format!("*{package}.{kind}"),
    }
}

/// Parses a version in a query.
pub(super) fn parse_version(text: &str) -> Result<Option<u64>, String> {
    match text {
        "" => Ok(None),
        text => golang::parse_uint(text)
            .map(Some)
            .map_err(|error| format!("resourceVersion: Invalid value: {text:?}: {error}")),
    }
}
