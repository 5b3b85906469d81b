//! PUT, and the common path of all changes to stored objects.

use std::future::Future;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::write::{self, Storage, Write};
use super::{admit, complete, create, read, services};
use crate::admission::{Attributes, Operation, Options};
use crate::authorization;
use crate::bodies::{self, identity};
use crate::builtin::Generation;
use crate::conversion::Served;
use crate::groups;
use crate::http::query::WriteOptions;
use crate::http::reply::Reply;
use crate::lifecycle;
use crate::meta;
use crate::registry::{Behaviour, ResourceDef};
use crate::server::Call;
use crate::status::{ApiError, ApiResult, Cause};
use crate::store::{Object, WriteError};
use crate::types;

pub(super) async fn put(call: &Call<'_>) -> ApiResult<Reply> {
    let options = WriteOptions::parse(&call.query, "UpdateOptions")?;
    let decoded = bodies::read_object(call)?;
    let mut value = decoded.value;
    identity::check(call, &mut value)?;
    bodies::settle_fields(call, &mut value, &decoded.duplicates, &options)?;
    bodies::check_place(call, &mut value, &call.path.name)?;
    admit::dedup_owners(call, &mut value, false);
    let (object, created) = replace(call, &value, &options).await?;
    read::shown(call, if created { 201 } else { 200 }, &object).await
}

/// Reports whether an update of a missing object creates it. So does an update of its status.
pub(super) fn creates(def: &ResourceDef) -> bool {
    matches!(&def.behaviour, Behaviour::BuiltIn(built_in) if built_in.create_on_update)
}

async fn replace(call: &Call<'_>, value: &Value, options: &WriteOptions) -> ApiResult<(Arc<Object>, bool)> {
    let def = &call.def;
    let key = def.key(&call.path.namespace, &call.path.name);
    if creates(def) && call.server.store.get(&def.collection, &key).is_none() {
        has_uid(call, options, value, "")?;
        return Ok((create::insert(call, value.clone(), options).await?, true));
    }
    Ok((change(call, options, &mut Replacement { call, options, value }).await?, false))
}

/// The change that a request makes to an object.
pub(super) trait Edit: Send {
    /// Builds the wanted object from the current one in the version of the request. It runs again when another client
    /// wrote in between.
    fn edit(&mut self, current: &Value) -> impl Future<Output = ApiResult<Value>> + Send;

    /// The verb of the request, as rules name it.
    fn verb(&self) -> &'static str {
        "patch"
    }

    /// As [`Write::admitted`].
    ///
    /// # Errors
    /// Returns an error if the object cannot be stored.
    fn admitted(&mut self, _current: &Value, object: Value) -> ApiResult<Value> {
        Ok(object)
    }

    /// As [`Write::shown`].
    fn shown(&self, _object: &Value) -> Option<Value> {
        None
    }
}

/// The body of a PUT.
struct Replacement<'a> {
    call: &'a Call<'a>,
    options: &'a WriteOptions,
    value: &'a Value,
}

impl Edit for Replacement<'_> {
    fn verb(&self) -> &'static str {
        "update"
    }

    async fn edit(&mut self, current: &Value) -> ApiResult<Value> {
        has_uid(self.call, self.options, self.value, meta::text(current, "uid"))?;
        Ok(self.value.clone())
    }
}

/// Changes the object of the path by `edit`.
///
/// A `metadata.resourceVersion` in the wanted object has to be the current one.
pub(super) async fn change(
    call: &Call<'_>,
    options: &WriteOptions,
    edit: &mut impl Edit,
) -> ApiResult<Arc<Object>> {
    let request = Attributes {
        call,
        operation: Operation::Update,
        name: &call.path.name,
        old: None,
        options: Options::Write(options),
        dry_run: options.dry_run,
    };
    let choices_left = services::TRIES;
    write::run(request, &mut Update { call, edit, choices_left, dry_run: options.dry_run }).await
}

/// A change of a stored object.
struct Update<'a, E> {
    call: &'a Call<'a>,
    edit: &'a mut E,
    /// The number of further attempts to choose a Service's addresses and ports.
    choices_left: usize,
    dry_run: bool,
}

impl<E: Edit> Write for Update<'_, E> {
    type Done = Arc<Object>;

    fn stored(&mut self) -> ApiResult<Option<Arc<Object>>> {
        write::at_path(self.call).map(Some)
    }

    async fn wanted(&mut self, current: Option<&Value>) -> ApiResult<Option<Value>> {
        self.edit.edit(current.unwrap_or(&Value::Null)).await.map(Some)
    }

    fn admitted(&mut self, current: Option<&Value>, object: Value) -> ApiResult<Value> {
        self.edit.admitted(current.unwrap_or(&Value::Null), object)
    }

    fn prepare(&mut self, current: Option<&Served>, object: Option<&mut Value>) -> ApiResult<()> {
        let (Some(current), Some(wanted)) = (current, object) else { return Ok(()) };
        let (def, current) = (&self.call.def, current.value());
        readable_version(wanted)?;
        has_version(self.call, wanted)?;
        let version = meta::text(wanted, "resourceVersion");
        if !matches!(version, "" | "0") && version != meta::text(current, "resourceVersion") {
            return Err(ApiError::modified(def.subject(&self.call.path.name)));
        }
        // Admission may have moved it (`BeforeUpdate` of apiserver's pkg/registry/rest/update.go).
        bodies::settle_namespace(self.call, wanted)?;
        complete(self.call, current, wanted);
        services::check(self.call, Some(current), wanted, self.dry_run)?;
        bodies::check_kind(def, wanted)?;
        let unauthorized = authorization::check_claim(self.call, self.edit.verb(), current, wanted);
        admit::check(self.call, wanted, Some(current), unauthorized)?;
        admit::warn(self.call, wanted, Some(current));
        Ok(())
    }

    fn shown(&self, object: &Value) -> Option<Value> {
        self.edit.shown(object)
    }

    /// Stores the object unless nothing changed; a terminating object is removed with its last finalizer.
    fn commit(
        &mut self,
        storage: &Storage<'_>,
        stored: Option<&Arc<Object>>,
        object: Option<Value>,
    ) -> ApiResult<Option<Arc<Object>>> {
        let def = &self.call.def;
        let (Some(stored), Some(wanted)) = (stored, object) else { return Ok(None) };
        let key = def.key(&self.call.path.namespace, &self.call.path.name);
        let gone = lifecycle::goes_with_update(def, &stored.value, &wanted);
        if crate::apply::same_but_times(&wanted, &stored.value) && !gone {
            return Ok(Some(stored.clone()));
        }
        let free = services::check_free(self.call, Some(&stored.value), &wanted, storage.is_dry_run());
        let _lock = match free {
            Ok(lock) => lock,
            Err(error) => return services::choose_again(&mut self.choices_left, error),
        };
        let written = if gone {
            storage.remove(def, &key, stored).map(|_| Arc::new(Object::new(wanted, stored.rv)))
        } else {
            storage.update(def, &key, stored, wanted)
        };
        match written {
            Ok(object) => Ok(Some(object)),
            Err(WriteError::NotFound) => Err(ApiError::not_found(def.subject(&self.call.path.name))),
            Err(_) => Ok(None),
        }
    }
}

/// Refuses an object with another UID than the stored one, which is empty if there is no object.
pub(super) fn has_uid(call: &Call<'_>, options: &WriteOptions, wanted: &Value, uid: &str) -> ApiResult<()> {
    let (def, wanted) = (&call.def, meta::text(wanted, "uid"));
    if wanted.is_empty() || wanted == uid {
        return Ok(());
    }
    let key = def.storage_key(&call.path.namespace, &call.path.name);
    // For a missing object and a dry run, the precondition is checked before the prefix of keys is added
    // (registry/generic/registry/dryrun.go).
    let key = if uid.is_empty() || options.dry_run { key.trim_start_matches("/registry") } else { &key };
    Err(precondition_failed(def, key, &call.path.name, ("UID", wanted, uid)))
}

/// Refuses a write of an object whose field is not as the write demands (`Check` of apiserver's pkg/storage/interfaces.go).
pub(super) fn precondition_failed(
    def: &ResourceDef,
    key: &str,
    name: &str,
    (field, wanted, is): (&str, &str, &str),
) -> ApiError {
    let text = format!(
        "StorageError: invalid object, Code: 4, Key: {key}, ResourceVersion: 0, AdditionalErrorMsg: Precondition \
         failed: {field} in precondition: {wanted}, {field} in object meta: {is}"
    );
    ApiError::conflict(def.subject(name), &text)
}

/// Refuses a malformed version.
pub(super) fn readable_version(wanted: &Value) -> ApiResult<()> {
    let version = meta::text(wanted, "resourceVersion");
    if version.is_empty() {
        return Ok(());
    }
    kubesmith_apimachinery::golang::parse_uint(version).map(drop).map_err(ApiError::unexpected)
}

/// Refuses an object without a version, unless its kind allows that.
///
/// # Errors
/// `Invalid`.
fn has_version(call: &Call<'_>, wanted: &Value) -> ApiResult<()> {
    let unconditional = matches!(&call.def.behaviour, Behaviour::BuiltIn(b) if b.unconditional_update);
    if !unconditional && matches!(meta::text(wanted, "resourceVersion"), "" | "0") {
        let cause = Cause::invalid("metadata.resourceVersion", 0, "must be specified for an update");
        return Err(ApiError::invalid(call.def.subject(&call.path.name), vec![cause]));
    }
    Ok(())
}

/// Completes an object that replaces `current`.
fn complete(call: &Call<'_>, current: &Value, wanted: &mut Value) {
    let def = &call.def;
    keep_metadata(current, wanted);
    meta::set(wanted, "resourceVersion", meta::text(current, "resourceVersion").to_owned());
    keep_other_part(call, current, wanted);
    complete::updated(&call.server, def, &call.path.subresource, current, wanted);
    if matches!(create::generation(def), Generation::Changes | Generation::Counted)
        && call.path.subresource != "status"
        && counts_as_change(def, current, wanted)
    {
        let generation = current["metadata"]["generation"].as_i64().unwrap_or_default();
        meta::set(wanted, "generation", generation + 1);
    }
}

/// Restores the fields that updates keep (`BeforeUpdate` of apiserver's pkg/registry/rest/update.go). The check refuses
/// other values of these fields.
fn keep_metadata(current: &Value, wanted: &mut Value) {
    for field in ["creationTimestamp", "generation"] {
        meta::copy(current, wanted, field);
    }
    if meta::text(wanted, "uid").is_empty() {
        meta::copy(current, wanted, "uid");
    }
    if meta::is_terminating(current) {
        meta::copy(current, wanted, "deletionTimestamp");
    }
    if wanted["metadata"]["deletionGracePeriodSeconds"].is_null() {
        meta::copy(current, wanted, "deletionGracePeriodSeconds");
    }
}

/// Restores the status on updates of the main resource, and all other fields on updates of the status.
fn keep_other_part(call: &Call<'_>, current: &Value, wanted: &mut Value) {
    if let Some(part) = call.def.part(&call.path.subresource) {
        return part.keep_rest(current, wanted, &call.server.now());
    }
    match call.path.subresource.as_str() {
        "status" => {
            let given = std::mem::replace(wanted, current.clone());
            put_back(meta::object_mut(wanted), "status", given.get("status").cloned());
            meta::copy(&given, wanted, "managedFields");
            match &call.def.behaviour {
                Behaviour::BuiltIn(_) => bring_metadata(&call.def, current, &given, wanted),
                // A null that replaces no status is unchanged, so that it is not checked. Reading drops it.
                Behaviour::Custom(custom)
                    if current.get("status").is_none() && wanted["status"].is_null() =>
                {
                    custom.prune(wanted);
                }
                Behaviour::Custom(_) => {}
            }
        }
        _ if call.def.status => put_back(meta::object_mut(wanted), "status", current.get("status").cloned()),
        _ => {}
    }
}

/// The status of a built-in kind brings metadata along, except for the fields that its strategy keeps
/// (`ResetObjectMetaForStatus` of apimachinery's pkg/apis/meta/v1/helpers.go, and `PrepareForUpdate` of the strategies).
fn bring_metadata(def: &ResourceDef, current: &Value, given: &Value, wanted: &mut Value) {
    let kept: &[&str] = match def.plural.as_str() {
        _ if def.ignored_by_status().contains(&"metadata") => {
            &["deletionTimestamp", "selfLink", "labels", "annotations", "finalizers", "ownerReferences"]
        }
        "deployments" => &["labels"],
        "pods" => &["ownerReferences", "deletionTimestamp"],
        _ => &[],
    };
    wanted["metadata"] = given["metadata"].clone();
    for field in kept {
        meta::copy(current, wanted, field);
    }
}

/// Sets or removes a member.
fn put_back(object: &mut Map<String, Value>, key: &str, value: Option<Value>) {
    match value {
        Some(value) => {
            object.insert(key.to_owned(), value);
        }
        None => {
            object.remove(key);
        }
    }
}

/// Reports whether a change increments the generation.
fn counts_as_change(def: &ResourceDef, current: &Value, wanted: &Value) -> bool {
    if def.is_custom() || !spec_differs(def, current, wanted) {
        return spec_differs(def, current, wanted);
    }
    // A float of a Go type is the same number whether it is written `20` or `20.0`, and `Semantic.DeepEqual` of apimachinery's
    // pkg/api/equality does not distinguish an empty list or map from none.
    let mut stored = wanted.clone();
    meta::go_numbers(&mut stored);
    if let Some(of) = types::of_kind(&def.api_version(), &def.kind) {
        types::decode::forget_empty(&mut stored, of);
    }
    spec_differs(def, current, &stored)
}

fn spec_differs(def: &ResourceDef, current: &Value, wanted: &Value) -> bool {
    if def.group == groups::ADMISSION_REGISTRATION && current["spec"].is_null() {
        return current["webhooks"] != wanted["webhooks"];
    }
    // `PrepareForUpdate` of pkg/registry/discovery/endpointslice/strategy.go.
    if def.collection == "endpointslices.discovery.k8s.io"
        && current["metadata"]["labels"] != wanted["metadata"]["labels"]
    {
        return true;
    }
    if !def.is_custom() && !current["spec"].is_null() {
        // A deployment's annotations are copied to its replica sets.
        let annotated = def.plural == "deployments"
            && current["metadata"]["annotations"] != wanted["metadata"]["annotations"];
        return annotated || current["spec"] != wanted["spec"];
    }
    let counts = |(key, _): &(&String, &Value)| *key != "metadata" && !(def.status && *key == "status");
    let (current, wanted) = (current.as_object(), wanted.as_object());
    !current.into_iter().flatten().filter(counts).eq(wanted.into_iter().flatten().filter(counts))
}
