//! Objects in other versions of their resource.

use std::sync::Arc;

use serde_json::Value;

use crate::registry::{Behaviour, ResourceDef};
use crate::server::Server;
use crate::status::ApiResult;
use crate::verbs::admit;

/// Converts an object from one version of a resource to another.
///
/// # Errors
/// When the conversion webhook fails.
pub(crate) async fn between(
    _server: &Server,
    from: &Arc<ResourceDef>,
    to: &Arc<ResourceDef>,
    mut value: Value,
) -> ApiResult<Value> {
    if Arc::ptr_eq(from, to) {
        return Ok(value);
    }
    Ok(match &to.behaviour {
        Behaviour::BuiltIn(_) => admit::from_stored(to, &admit::to_stored(from, value)),
        Behaviour::Custom(_) => {
            value["apiVersion"] = Value::from(to.api_version());
            value
        }
    })
}
