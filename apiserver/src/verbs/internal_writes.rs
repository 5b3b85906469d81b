//! Writes without a client: objects are stored as they are, status included, past admission, validation and the
//! ownership of fields.

use std::sync::Arc;

use futures::FutureExt as _;
use kubesmith_apiextensions::structural::object_meta::validate_object_meta;
use serde_json::{Value, json};

use super::create;
use crate::bodies;
use crate::builtin::Generation;
use crate::conversion;
use crate::lifecycle;
use crate::registry::ResourceDef;
use crate::server::Server;
use crate::stage::Stage;
use crate::status::{ApiError, ApiResult, Cause};
use crate::store::{Object, WriteError};
use crate::types::decode::settle;
use crate::{crd, meta};

/// The limit of attempts for a write when clients write the same object.
const RETRIES: usize = 1000;

/// Stores a new object.
///
/// # Errors
/// Returns an error if the name is taken, and as for [`complete`].
pub(crate) fn add(server: &Arc<Server>, def: &Arc<ResourceDef>, value: Value) -> ApiResult<Arc<Object>> {
    let object = add_one_of_many(server, def, value)?;
    lifecycle::after_write(server, def);
    Ok(object)
}

/// As [`add`]; after the last one, [`refresh`](crate::definitions::refresh) serves the new CRDs.
///
/// # Errors
/// As for [`add`].
pub(crate) fn add_one_of_many(
    server: &Arc<Server>,
    def: &Arc<ResourceDef>,
    mut value: Value,
) -> ApiResult<Arc<Object>> {
    complete(server, def, &mut value)?;
    let name = meta::name(&value).to_owned();
    let stored = stored(server, def, value)?;
    let object = server.store.create(&def.collection, &def.key_of(&stored), stored);
    object.map_err(|_| ApiError::already_exists(def.subject(&name)))
}

/// Replaces an object at any version. Absent identity fields of the new one are kept.
///
/// # Errors
/// Returns an error if the object does not exist, and as for [`complete`].
pub(crate) fn replace(server: &Arc<Server>, def: &Arc<ResourceDef>, value: &Value) -> ApiResult<Arc<Object>> {
    let about = || def.subject(meta::name(value));
    for _ in 0..RETRIES {
        let key = def.key_of(value);
        let current = server.store.get(&def.collection, &key).ok_or_else(|| ApiError::not_found(about()))?;
        let mut next = value.clone();
        for field in ["uid", "creationTimestamp", "generation"] {
            if next["metadata"][field].is_null() {
                meta::copy(&current.value, &mut next, field);
            }
        }
        complete(server, def, &mut next)?;
        let next = stored(server, def, next)?;
        match server.store.update(&def.collection, &key, current.rv, next) {
            Ok(object) => {
                lifecycle::after_write(server, def);
                return Ok(object);
            }
            Err(WriteError::Conflict) => {}
            Err(_) => return Err(ApiError::not_found(about())),
        }
    }
    Err(ApiError::modified(about()))
}

/// Removes an object despite its finalizers.
///
/// # Errors
/// Returns an error if the object does not exist.
pub(crate) fn take(server: &Arc<Server>, def: &ResourceDef, namespace: &str, name: &str) -> ApiResult<()> {
    let key = def.key(namespace, name);
    for _ in 0..RETRIES {
        let current = server.store.get(&def.collection, &key);
        let current = current.ok_or_else(|| ApiError::not_found(def.subject(name)))?;
        match lifecycle::remove(server, def, &key, &current) {
            Err(WriteError::Conflict) => {}
            done => return done.map(|_| ()).map_err(|_| ApiError::not_found(def.subject(name))),
        }
    }
    Err(ApiError::modified(def.subject(name)))
}

/// Normalizes an object to its kind and adds the fields that every stored object has.
///
/// # Errors
/// Returns an error if the object is not of its kind, has an invalid name, or is one that every server would refuse.
fn complete(server: &Server, def: &ResourceDef, value: &mut Value) -> ApiResult<()> {
    bodies::check_depth(value)?;
    bodies::unknown_fields(def, value, settle).map_err(|fault| bodies::undecodable(def, &fault))?;
    // `unknown_fields` writes an empty list so for the management of fields, which these writes skip.
    if value["metadata"]["managedFields"] == json!([{}]) {
        meta::remove(value, "managedFields");
    }
    meta::tidy(value);
    if meta::name(value).is_empty() && !meta::text(value, "generateName").is_empty() {
        let name = format!("{}{}", meta::text(value, "generateName"), server.ids.suffix());
        meta::set(value, "name", name);
    }
    let mut causes: Vec<Cause> =
        validate_object_meta(value, def.name_rule()).into_iter().map(Cause::from).collect();
    if def.collection == crd::COLLECTION {
        // A CRD is served, so it has to be valid.
        crd::default(value, if value["status"].is_null() { Stage::Create } else { Stage::Update });
        causes.extend(crd::check(value, None));
    }
    if meta::is_terminating(value) && !lifecycle::is_held(def, value) {
        let text = "an object that is being deleted and has no finalizers is gone: give it a finalizer, or leave it out";
        causes.push(Cause::forbidden("metadata.deletionTimestamp", text));
    }
    if !causes.is_empty() {
        return Err(ApiError::invalid(def.subject_of_kind(meta::name(value)), causes));
    }
    for (field, made) in [("uid", server.ids.uid()), ("creationTimestamp", server.now())] {
        if meta::text(value, field).is_empty() {
            meta::set(value, field, made);
        }
    }
    if matches!(create::generation(def), Generation::First | Generation::Counted)
        && value["metadata"]["generation"].is_null()
    {
        meta::set(value, "generation", 1);
    }
    Ok(())
}

/// Converts the object to the storage version.
fn stored(server: &Server, def: &Arc<ResourceDef>, value: Value) -> ApiResult<Value> {
    let refused = || {
        let why = "its CRD has a conversion webhook: write it in the version that is stored";
        ApiError::forbidden(def.subject(""), why)
    };
    if conversion::is_by_webhook(def) && !def.is_storage_version() {
        return Err(refused());
    }
    // Only a webhook would make it wait.
    conversion::stored(server, def, value).now_or_never().unwrap_or_else(|| Err(refused()))
}
