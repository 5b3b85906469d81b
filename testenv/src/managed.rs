//! Which manager owns which field: `metadata.managedFields`.

use std::collections::BTreeMap;
use std::sync::{LazyLock, OnceLock};

use serde_json::Value;

use crate::apply::{self, ApplyError, Manager, Typed};
use crate::http::query::WriteOptions;
use crate::registry::Behaviour;
use crate::server::Call;
use crate::status::{ApiError, ApiResult, Cause};

type Rules = BTreeMap<(&'static str, &'static str, &'static str), OnceLock<Typed>>;

/// The merge rules of the built-in kinds, by group, version and kind; each is worked out when it is first used.
static BUILT_IN: LazyLock<Rules> = LazyLock::new(|| {
    let kinds = crate::builtin::all();
    kinds.map(|kind| ((kind.group, kind.version, kind.kind), OnceLock::new())).collect()
});

fn typed<'a>(call: &'a Call<'_>) -> &'a Typed {
    match &call.def.behaviour {
        Behaviour::Custom(custom) => &custom.typed,
        Behaviour::BuiltIn(built_in) => {
            let (group, version, kind) = (built_in.group, built_in.version, built_in.kind);
            BUILT_IN[&(group, version, kind)].get_or_init(|| Typed::builtin(group, version, kind))
        }
    }
}

fn manager(call: &Call<'_>, options: &WriteOptions) -> Manager {
    let ignored = match call.path.subresource.as_str() {
        "status" => vec!["metadata".to_owned(), "spec".to_owned()],
        _ if call.def.status => vec!["status".to_owned()],
        _ => Vec::new(),
    };
    Manager {
        name: call.manager(&options.field_manager),
        api_version: call.def.api_version(),
        subresource: call.path.subresource.clone(),
        time: call.server.now(),
        ignored,
    }
}

/// Records who set which fields of `new` by a write that is no apply.
pub(crate) fn updated(call: &Call<'_>, old: Option<&Value>, new: &mut Value, options: &WriteOptions) {
    if options.applying {
        return;
    }
    if let ("scale", Some(paths)) = (call.path.subresource.as_str(), &call.def.scale) {
        apply::own_scale(new, &paths.spec, &manager(call, options));
        return;
    }
    let old = old.unwrap_or(&Value::Null);
    *new = apply::update(typed(call), old, new, &manager(call, options));
}

/// Merges an applied configuration into the live object.
///
/// # Errors
/// `Conflict` when other managers own the fields and the client does not force.
pub(crate) fn applied(
    call: &Call<'_>,
    live: Option<&Value>,
    wanted: &Value,
    options: &WriteOptions,
) -> ApiResult<Value> {
    let live = live.unwrap_or(&Value::Null);
    let manager = manager(call, options);
    match apply::apply(typed(call), live, wanted, &manager, options.force) {
        Ok(applied) => Ok(applied.object),
        Err(ApplyError::BadRequest(text)) => Err(ApiError::bad_request(text)),
        Err(ApplyError::Invalid(text)) => Err(ApiError::unexpected(text)),
        Err(error @ ApplyError::Conflicts(_)) => {
            let text = |value: &Value, key: &str| value[key].as_str().unwrap_or_default().to_owned();
            let causes = error
                .causes()
                .iter()
                .map(|cause| Cause::new(&text(cause, "reason"), text(cause, "field"), text(cause, "message")))
                .collect();
            Err(ApiError::apply_conflict(error.to_string(), causes))
        }
    }
}
