//! POST.

use serde_json::Value;

use super::{admit, read};
use crate::admission::{self, Attributes, Operation, Options};
use crate::builtin::{self, Stage, certificates};
use crate::conversion;
use crate::http::query::WriteOptions;
use crate::http::reply::Reply;
use crate::meta;
use crate::server::Call;
use crate::status::{About, ApiError, ApiResult};
use crate::store::{Object, WriteError};
use std::sync::Arc;

/// How often a generated name that is taken is replaced by another.
const NAME_TRIES: usize = 8;

pub(super) async fn create(call: &Call<'_>) -> ApiResult<Reply> {
    let options = WriteOptions::parse(&call.query, "CreateOptions")?;
    let decoded = admit::read_object(call)?;
    let mut value = decoded.value;
    admit::check_identity(call, &mut value)?;
    let warnings = admit::settle_fields(&call.def, &mut value, &decoded.duplicates, &options)?;
    admit::check_kind(&call.def, &value)?;
    admit::check_place(call, &mut value, "")?;
    let object = insert(call, value, &options).await.map_err(|e| e.with_warnings(warnings.clone()))?;
    Ok(read::shown(call, 201, &object).await?.with_warnings(warnings))
}

/// Completes, checks and stores a new object.
pub(super) async fn insert(
    call: &Call<'_>,
    mut value: Value,
    options: &WriteOptions,
) -> ApiResult<Arc<Object>> {
    let def = &call.def;
    if !meta::text(&value, "resourceVersion").is_empty() {
        return Err(ApiError::unexpected("resourceVersion should not be set on objects to be created"));
    }
    check_namespace(call)?;
    begin(call, &mut value, options).await;
    let name = meta::name(&value).to_owned();
    let attributes = Attributes {
        call,
        operation: Operation::Create,
        name: &name,
        old: None,
        options: Options::Write(options),
        dry_run: options.dry_run,
    };
    admission::mutate(&attributes, Some(&mut value)).await?;
    admit::check_namespace_of(call, &value)?;
    let generated = meta::name(&value).is_empty() && !meta::text(&value, "generateName").is_empty();
    for _ in 0..NAME_TRIES {
        if generated {
            let prefix: String = meta::text(&value, "generateName").chars().take(58).collect();
            meta::set(&mut value, "name", format!("{prefix}{}", call.server.ids.suffix()));
        }
        let mut complete = value.clone();
        prepare(call, &mut complete)?;
        admit::check(def, &complete, None, "")?;
        let name = meta::name(&complete);
        admission::validate(&Attributes { name, ..attributes }, Some(&complete)).await?;
        let key = def.key_of(&complete);
        let stored = conversion::stored(&call.server, def, complete).await?;
        if options.dry_run {
            return match call.server.store.get(&def.collection, &key) {
                Some(_) => Err(ApiError::already_exists(def.about(meta::name(&stored)))),
                None => Ok(Arc::new(Object::unstored(stored))),
            };
        }
        let name = meta::name(&stored).to_owned();
        match call.server.store.create(&def.collection, &key, stored) {
            Ok(object) => {
                super::written(call, &key, &object, None);
                return Ok(object);
            }
            // The resource went while the request was worked on.
            Err(WriteError::NotFound) => return Err(ApiError::NoSuchPath),
            Err(_) if generated => {}
            Err(WriteError::Exists | WriteError::Conflict) => {
                return Err(ApiError::already_exists(def.about(&name)));
            }
        }
    }
    Err(ApiError::already_exists(def.about(meta::name(&value))))
}

/// Takes out what only the server may set, fills in defaults and records who owns what.
async fn begin(call: &Call<'_>, value: &mut Value, options: &WriteOptions) {
    for field in [
        "selfLink",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
        "resourceVersion",
        "uid",
        "creationTimestamp",
    ] {
        meta::remove(value, field);
    }
    meta::tidy(value);
    admit::default(&call.def, value, Stage::Create);
    crate::managed::updated(call, None, value, options).await;
}

/// Sets what the server decides.
fn prepare(call: &Call<'_>, value: &mut Value) -> ApiResult<()> {
    let def = &call.def;
    meta::remove(value, "generation");
    meta::set(value, "uid", call.server.ids.uid());
    meta::set(value, "creationTimestamp", call.server.now());
    if counts_generation(def) {
        meta::set(value, "generation", 1);
    }
    if def.status {
        meta::object_mut(value).remove("status");
    }
    if def.collection == certificates::COLLECTION {
        certificates::requested_by(&call.user, value);
    }
    builtin::admission::created(&call.server, def, value)
}

pub(super) fn counts_generation(def: &crate::registry::ResourceDef) -> bool {
    match &def.behaviour {
        crate::registry::Behaviour::BuiltIn(built_in) => built_in.generation,
        crate::registry::Behaviour::Custom(_) => true,
    }
}

/// A new object's namespace has to be there and to stay.
fn check_namespace(call: &Call<'_>) -> ApiResult<()> {
    if !call.def.namespaced {
        return Ok(());
    }
    let name = &call.path.namespace;
    let Some(namespace) = call.server.store.get("namespaces", name) else {
        if !call.server.needs_namespaces() {
            return Ok(());
        }
        return Err(ApiError::not_found(About::new("", "namespaces", name)));
    };
    if meta::is_terminating(&namespace.value) {
        let text = format!("unable to create new content in namespace {name} because it is being terminated");
        return Err(ApiError::forbidden(call.def.about(""), &text));
    }
    Ok(())
}
