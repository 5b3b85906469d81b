//! `ServiceAccount`: a pod without an account runs as `default` if the controllers run, which create it.

use serde_json::Value;

use super::super::{Attributes, Operation};
use super::object_of;
use crate::status::ApiResult;

pub(super) fn admit(attributes: &Attributes<'_>, object: Option<&mut Value>) -> ApiResult<()> {
    let Some(pod) = object_of(attributes, object, "pods", &[Operation::Create]) else { return Ok(()) };
    let named = !pod["spec"]["serviceAccountName"].as_str().unwrap_or_default().is_empty();
    if attributes.call.server.options().controllers && !named {
        for field in ["serviceAccountName", "serviceAccount"] {
            pod["spec"][field] = "default".into();
        }
    }
    Ok(())
}
