//! What all reviews have in common.

use super::object::TypeMeta;
use super::server::Refusal;

/// Checks that the body is a review of the version and kind that is answered here. `list` is where webhooks list the
/// versions that they take.
pub(super) fn check(body: &[u8], api_version: &str, kind: &str, list: &str) -> Result<(), Refusal> {
    let found: TypeMeta = serde_json::from_slice(body)
        .map_err(|error| Refusal::bad_request(format!("cannot decode the {kind}: {error}")))?;
    if found.kind == kind && found.api_version == api_version {
        return Ok(());
    }
    let group = api_version.split('/').next().unwrap_or_default();
    let is_other_version = found.kind == kind && found.api_version.split('/').next() == Some(group);
    let hint = if is_other_version { format!("; list only \"v1\" in {list}") } else { String::new() };
    Err(Refusal::bad_request(format!("expected {api_version}, Kind={kind}, got {found}{hint}")))
}
