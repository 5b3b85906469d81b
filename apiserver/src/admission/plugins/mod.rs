//! The server's own admission plugins, as in kube-apiserver's `plugin/pkg/admission`.
//!
//! A plugin is a file here and a line in [`ORDER`].

mod default_storage_class;
mod default_toleration_seconds;
mod namespace_lifecycle;
mod priority;
mod service_account;

use serde_json::Value;

use super::{Attributes, Operation};
use crate::status::ApiResult;

/// Changes or refuses the object of a request; a deletion has none.
type Plugin = fn(&Attributes<'_>, Option<&mut Value>) -> ApiResult<()>;

/// The plugins in kube-apiserver's order (`pkg/kubeapiserver/options/plugins.go`); webhooks come after them.
const ORDER: &[Plugin] = &[
    namespace_lifecycle::admit,
    service_account::admit,
    priority::admit,
    default_toleration_seconds::admit,
    default_storage_class::admit,
];

/// Runs all plugins.
///
/// # Errors
/// Returns the first refusal.
pub(super) fn admit(attributes: &Attributes<'_>, mut object: Option<&mut Value>) -> ApiResult<()> {
    ORDER.iter().try_for_each(|plugin| plugin(attributes, object.as_deref_mut()))
}

/// The object, if it is created or updated as a whole and of this collection.
fn object_of<'o>(
    attributes: &Attributes<'_>,
    object: Option<&'o mut Value>,
    collection: &str,
    operations: &[Operation],
) -> Option<&'o mut Value> {
    let concerned = attributes.call.def.collection == collection
        && attributes.call.path.subresource.is_empty()
        && operations.contains(&attributes.operation);
    object.filter(|_| concerned)
}
