//! The steps of every write, in kube-apiserver's order.
//!
//! Creates, updates, patches, scales, deletions, bindings, evictions and tokens all use [`run`]. A verb implements the
//! differences as a [`Write`]; only this module has the order of the steps, the retry and the dry run.

use std::future::Future;
use std::sync::Arc;

use kubesmith_apimachinery::golang;
use serde_json::Value;

use super::admit;
use crate::admission::{self, Attributes, Operation};
use crate::authorization;
use crate::bodies;
use crate::conversion::{self, Served};
use crate::http::protobuf;
use crate::lifecycle;
use crate::meta;
use crate::names::NameRule;
use crate::registry::{Behaviour, ResourceDef};
use crate::server::{Call, Server};
use crate::stage::Stage;
use crate::status::{ApiError, ApiResult};
use crate::store::{Object, WriteError};
use crate::types;

/// The limit of attempts for a write when others write the same object. kube-apiserver has no limit except the client's
/// timeout.
const RETRIES: usize = 1000;

/// The parts of a write that its verb decides, in the order of the calls.
pub(super) trait Write: Send {
    /// The result of the write.
    type Done: Send;

    /// Finds the stored object to change; `None` for a verb that creates one.
    ///
    /// # Errors
    /// Returns an error if the object does not exist.
    fn stored(&mut self) -> ApiResult<Option<Arc<Object>>>;

    /// Builds the wanted object from the current one in the version of the request; `None` for a deletion. It runs
    /// again when another client wrote in between.
    ///
    /// # Errors
    /// Returns an error if the request does not fit the current object.
    fn wanted(&mut self, current: Option<&Value>) -> impl Future<Output = ApiResult<Option<Value>>> + Send;

    /// Turns the object after mutating admission into the one to store. Only a scale differs.
    ///
    /// # Errors
    /// Returns an error if the object cannot be stored.
    fn admitted(&mut self, _current: Option<&Value>, object: Value) -> ApiResult<Value> {
        Ok(object)
    }

    /// Completes and checks the object: `PrepareForCreate` and `ValidateUpdate` of a registry's strategy, and preconditions.
    ///
    /// # Errors
    /// Returns an error if the object is refused.
    fn prepare(&mut self, current: Option<&Served>, object: Option<&mut Value>) -> ApiResult<()>;

    /// Returns the object for admission. Only a scale differs.
    fn shown(&self, _object: &Value) -> Option<Value> {
        None
    }

    /// Stores the write; `None` if another client wrote in between.
    ///
    /// # Errors
    /// Returns an error if the write is refused.
    fn commit(
        &mut self,
        storage: &Storage<'_>,
        stored: Option<&Arc<Object>>,
        object: Option<Value>,
    ) -> ApiResult<Option<Self::Done>>;
}

/// Runs the steps of a write until no other client writes in between. `request` has no old object yet.
///
/// # Errors
/// Returns the first step's error.
///
/// # Cancel safety
/// Dropping the future before the last step changes nothing. No lock is held while webhooks are called.
pub(super) async fn run<W: Write>(request: Attributes<'_>, write: &mut W) -> ApiResult<W::Done> {
    for _ in 0..RETRIES {
        if let Some(done) = attempt(request, write).await? {
            return Ok(done);
        }
    }
    Err(ApiError::modified(request.call.def.subject(request.name)))
}

/// The steps, each with its place in kube-apiserver (staging/src/k8s.io/apiserver/pkg).
async fn attempt<W: Write>(request: Attributes<'_>, write: &mut W) -> ApiResult<Option<W::Done>> {
    let (server, def) = (&request.call.server, &request.call.def);

    // storage/etcd3/store.go, GuaranteedUpdate: the current object.
    let stored = write.stored()?;
    let current = match &stored {
        Some(stored) => Some(conversion::one(server, def, stored).await?),
        None => None,
    };
    let old = current.as_ref().map(Served::value);

    let mut object = wanted(&request, old, write).await?;

    // endpoints/handlers: mutating admission.
    let old_shown = old.and_then(|old| write.shown(old));
    let mut attributes = Attributes { old: old_shown.as_ref().or(old), ..request };
    let managers = object.as_ref().and_then(|object| object["metadata"].get("managedFields").cloned());
    let changed = admission::mutate(&attributes, object.as_mut()).await?;
    if let Some(object) = object.as_mut().filter(|_| changed) {
        admit::keep_valid_managers(request.call, managers, object);
    }
    if let Some(object) = object.as_mut() {
        admit::dedup_owners(request.call, object, true);
    }
    let mut object = match object {
        Some(object) => Some(write.admitted(old, object)?),
        None => None,
    };

    // registry/rbac: a writer of roles needs the rights in them.
    if let Some(object) = object.as_ref().filter(|_| request.is_resource()) {
        authorization::check_escalation(request.call, old, object)?;
    }

    // registry/rest: BeforeCreate, BeforeUpdate, BeforeDelete.
    write.prepare(current.as_ref(), object.as_mut())?;
    if let Some(object) = object.as_ref().filter(|_| request.is_resource()) {
        authorization::check_params(request.call, old, object)?;
    }

    // registry/generic/registry/store.go: validating admission sees the object as it will be stored.
    let shown = object.as_ref().and_then(|object| write.shown(object));
    let name = name_of(&request, object.as_ref());
    attributes.name = &name;
    let charge = admission::validate(&attributes, shown.as_ref().or(object.as_ref())).await?;

    // storage: convert, then write unless it is a dry run.
    let object = match object {
        Some(object) if request.is_resource() || shown.is_some() => {
            Some(as_stored(&request, stored.as_deref(), object, changed).await?)
        }
        other => other,
    };
    let done = write.commit(&Storage { server, dry_run: request.dry_run }, stored.as_ref(), object)?;
    if done.is_some() {
        charge.keep();
    }
    Ok(done)
}

/// The name of the request's object. A created one may have got it from the server.
fn name_of(request: &Attributes<'_>, object: Option<&Value>) -> String {
    match object {
        Some(object) if request.operation == Operation::Create && request.is_resource() => {
            meta::name(object).to_owned()
        }
        _ => request.name.to_owned(),
    }
}

/// The object that the client wants (endpoints/handlers: decode, default, patch).
async fn wanted<W: Write>(
    request: &Attributes<'_>,
    old: Option<&Value>,
    write: &mut W,
) -> ApiResult<Option<Value>> {
    let mut object = write.wanted(old).await?;
    if let Some(object) = object.as_mut().filter(|_| request.is_resource()) {
        meta::tidy(object);
        bodies::default(&request.call.def, object, stage(request));
        // endpoints/handlers/fieldmanager: records the manager of the fields. Admission's changes have no manager of
        // their own.
        if let Some(options) = request.write_options() {
            crate::managed::updated(request.call, old, object, options).await;
        }
    }
    Ok(object)
}

/// The object as the store keeps it. `changed`: admission changed the object. Its unknown fields are pruned only here, so that they
/// have counted as a change of the generation.
async fn as_stored(
    request: &Attributes<'_>,
    stored: Option<&Object>,
    object: Value,
    changed: bool,
) -> ApiResult<Value> {
    let call = request.call;
    let mut object = conversion::stored(&call.server, &call.def, object).await?;
    if let (Behaviour::BuiltIn(_), Some(stored)) = (&call.def.behaviour, stored)
        && call.def.status
        && !call.def.is_storage_version()
    {
        // The part that the request does not write is not converted (`PrepareForUpdate` of the kinds' strategies).
        let other = if call.path.subresource == "status" { "spec" } else { "status" };
        meta::copy_member(&stored.value, &mut object, other);
    }
    if let (Behaviour::Custom(custom), true) = (&call.def.behaviour, changed) {
        // A conversion has pruned by the schema of the stored version.
        if call.def.is_storage_version() {
            custom.prune_unknown(&mut object);
        }
        meta::tidy(&mut object);
    }
    check_size(request, &object)?;
    // `PrepareObjectForStorage` of apiserver's pkg/storage/api_object_versioner.go, which dry runs do not reach.
    if !request.dry_run {
        meta::remove(&mut object, "selfLink");
    }
    let (version, kind) = (meta::member(&object, "apiVersion"), meta::member(&object, "kind"));
    if let Some(of) = types::of_kind(version, kind).filter(|_| !call.def.is_custom()) {
        types::decode::forget_empty(&mut object, of);
    }
    Ok(object)
}

/// etcd's limit of a request, in bytes (`DefaultMaxRequestBytes`).
const LARGEST: usize = 1_572_864;

/// Refuses an object that is too large for etcd, where most built-in kinds are in protobuf.
fn check_size(request: &Attributes<'_>, object: &Value) -> ApiResult<()> {
    let def = &request.call.def;
    if request.dry_run || meta::json_len(object) <= LARGEST {
        return Ok(());
    }
    let is_json = def.is_custom() || def.collection == crate::crd::COLLECTION;
    let encoded = if is_json { None } else { protobuf::encode(object) };
    if encoded.is_some_and(|encoded| encoded.len() <= LARGEST) {
        return Ok(());
    }
    Err(ApiError::unexpected("etcdserver: request is too large"))
}

fn stage(request: &Attributes<'_>) -> Stage {
    if request.operation == Operation::Create { Stage::Create } else { Stage::Update }
}

/// The store for a write: kube-apiserver's `DryRunnableStorage`. It implements dry runs, so no verb can forget them.
pub(super) struct Storage<'a> {
    server: &'a Arc<Server>,
    dry_run: bool,
}

impl Storage<'_> {
    /// Reports whether nothing is stored.
    pub(super) fn is_dry_run(&self) -> bool {
        self.dry_run
    }

    /// Returns the storage for a part of the write, which may be a dry run of its own.
    pub(super) fn with_dry_run(&self, dry_run: bool) -> Self {
        Self { server: self.server, dry_run: self.dry_run || dry_run }
    }

    /// Stores a new object.
    pub(super) fn create(
        &self,
        def: &Arc<ResourceDef>,
        key: &str,
        mut object: Value,
    ) -> Result<Arc<Object>, WriteError> {
        meta::go_numbers(&mut object);
        if self.dry_run {
            return match self.server.store.get(&def.collection, key) {
                Some(_) => Err(WriteError::Exists),
                None => Ok(Arc::new(Object::unstored(object))),
            };
        }
        let created = self.server.store.create(&def.collection, key, object)?;
        lifecycle::written(self.server, def, key, &created, None);
        Ok(created)
    }

    /// Replaces an object unless it changed since it was read.
    pub(super) fn update(
        &self,
        def: &Arc<ResourceDef>,
        key: &str,
        stored: &Arc<Object>,
        mut object: Value,
    ) -> Result<Arc<Object>, WriteError> {
        meta::go_numbers(&mut object);
        if self.dry_run {
            return Ok(Arc::new(Object::new(object, stored.rv)));
        }
        let updated = self.server.store.update(&def.collection, key, stored.rv, object)?;
        lifecycle::written(self.server, def, key, &updated, Some(&stored.value));
        Ok(updated)
    }

    /// Marks an object as being deleted.
    pub(super) fn mark(
        &self,
        def: &Arc<ResourceDef>,
        key: &str,
        stored: &Arc<Object>,
        marked: Value,
    ) -> Result<Arc<Object>, WriteError> {
        if self.dry_run {
            return Ok(Arc::new(Object::new(marked, stored.rv)));
        }
        lifecycle::mark(self.server, def, key, stored, marked)
    }

    /// Removes an object unless it changed since it was read.
    pub(super) fn remove(
        &self,
        def: &ResourceDef,
        key: &str,
        stored: &Arc<Object>,
    ) -> Result<Arc<Object>, WriteError> {
        if self.dry_run {
            return Ok(stored.clone());
        }
        lifecycle::remove(self.server, def, key, stored)
    }

    /// Removes an object that has just been marked, and returns its last state. Who sees the mark may change the object first, which
    /// does not keep it, or remove it, which is what the request wants (`ignoreNotFound` of
    /// `updateForGracefulDeletionAndFinalizers` in apiserver's pkg/registry/generic/registry/store.go).
    pub(super) fn remove_marked(&self, def: &ResourceDef, key: &str, marked: Arc<Object>) -> Arc<Object> {
        let uid = marked.value["metadata"]["uid"].clone();
        let mut last = marked;
        loop {
            match self.remove(def, key, &last) {
                Ok(removed) => return removed,
                Err(WriteError::Conflict) => {}
                Err(_) => return last,
            }
            let current = self.server.store.get(&def.collection, key);
            match current.filter(|object| object.value["metadata"]["uid"] == uid) {
                Some(object) => last = object,
                None => return last,
            }
        }
    }
}

/// Returns the object of a request's path.
///
/// # Errors
/// Returns `NotFound` if there is none.
pub(super) fn at_path(call: &Call<'_>) -> ApiResult<Arc<Object>> {
    let key = call.def.key(&call.path.namespace, &call.path.name);
    let stored = call.server.store.get(&call.def.collection, &key);
    stored.ok_or_else(|| missing(&call.def, &call.path.name))
}

/// The error for a name without an object; a name that no path may have is an invalid request (`NamespaceKeyFunc` of
/// apiserver's pkg/registry/generic/registry/store.go).
pub(super) fn missing(def: &ResourceDef, name: &str) -> ApiError {
    let faults = NameRule::PathSegment.check(name);
    if faults.is_empty() {
        return ApiError::not_found(def.subject(name));
    }
    ApiError::bad_request(format!("Name parameter invalid: {}: {}", golang::quote(name), faults.join(";")))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::api_server::{ApiServer, ApiServerOptions};

    fn pod(uid: &str) -> Value {
        json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "namespace": "default", "uid": uid}})
    }

    #[tokio::test]
    async fn marked_object_goes_whatever_others_do_with_it() {
        let running = ApiServer::start(ApiServerOptions::default()).unwrap();
        let server = running.server();
        let def = server.registry().find("", "v1", "pods").unwrap();
        let key = def.key("default", "a");
        let (storage, store) = (Storage { server, dry_run: false }, &server.store);

        let marked = store.create(&def.collection, &key, pod("changed")).unwrap();
        store.update(&def.collection, &key, marked.rv, pod("changed")).unwrap();
        storage.remove_marked(&def, &key, marked);
        assert!(store.get(&def.collection, &key).is_none());

        let marked = store.create(&def.collection, &key, pod("removed")).unwrap();
        store.delete(&def.collection, &key, marked.rv).unwrap();
        assert_eq!(storage.remove_marked(&def, &key, marked.clone()).rv, marked.rv);

        store.create(&def.collection, &key, pod("new")).unwrap();
        storage.remove_marked(&def, &key, marked);
        assert!(store.get(&def.collection, &key).is_some(), "another object has the name now");
    }
}
