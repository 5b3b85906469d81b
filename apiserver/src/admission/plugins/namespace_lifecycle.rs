//! `NamespaceLifecycle`: creation needs an existing namespace that is not terminating; some namespaces are never
//! deleted.

use serde_json::Value;

use super::super::{Attributes, Operation};
use crate::meta;
use crate::status::{ApiError, ApiResult, Cause, ErrorSubject};

/// Namespaces that every cluster keeps.
const IMMORTAL: &[&str] = &["default", "kube-public", "kube-system"];

#[expect(clippy::needless_pass_by_value, reason = "every plugin has this signature")]
pub(super) fn admit(attributes: &Attributes<'_>, object: Option<&mut Value>) -> ApiResult<()> {
    let call = attributes.call;
    if attributes.operation == Operation::Delete {
        if call.def.collection == "namespaces" && IMMORTAL.contains(&attributes.name) {
            let about = call.def.subject(attributes.name);
            return Err(ApiError::forbidden(about, "this namespace may not be deleted"));
        }
        return Ok(());
    }
    let name = &call.path.namespace;
    // An empty namespace is refused by the object's check.
    if !call.def.namespaced || name.is_empty() || attributes.operation != Operation::Create {
        return Ok(());
    }
    let Some(namespace) = call.server.store.get("namespaces", name) else {
        if !call.server.needs_namespaces() {
            return Ok(());
        }
        return Err(ApiError::not_found(ErrorSubject::new("", "namespaces", name)));
    };
    if !meta::is_terminating(&namespace.value) {
        return Ok(());
    }
    let text = format!("unable to create new content in namespace {name} because it is being terminated");
    let cause = Cause::new(
        "NamespaceTerminating",
        "metadata.namespace",
        format!("namespace {name} is being terminated"),
    );
    let about = call.def.subject(&attributes.shown_name(object.as_deref()));
    Err(ApiError::forbidden(about, &text).with_causes(vec![cause]))
}
