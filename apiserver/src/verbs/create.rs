//! POST.

use std::sync::Arc;

use serde_json::Value;

use super::write::{self, Storage, Write};
use super::{admit, complete, read, services, update};
use crate::admission::{Attributes, Operation, Options};
use crate::authorization;
use crate::bodies::{self, identity};
use crate::builtin::{Generation, certificates};
use crate::conversion::Served;
use crate::http::query::WriteOptions;
use crate::http::reply::Reply;
use crate::registry::Behaviour;
use crate::server::Call;
use crate::status::{ApiError, ApiResult};
use crate::store::{Object, WriteError};
use crate::{crd, meta};

/// The limit of attempts at a generated name that is not taken.
const NAME_TRIES: usize = 8;

pub(super) async fn create(call: &Call<'_>) -> ApiResult<Reply> {
    let options = WriteOptions::parse(&call.query, "CreateOptions")?;
    let decoded = bodies::read_object(call)?;
    let mut value = decoded.value;
    identity::check(call, &mut value)?;
    bodies::settle_fields(call, &mut value, &decoded.duplicates, &options)?;
    bodies::check_kind(&call.def, &value)?;
    bodies::check_place(call, &mut value, "")?;
    admit::dedup_owners(call, &mut value, false);
    let object = store(call, value, &options, By::Create).await?;
    read::shown(call, 201, &object).await
}

/// The verb of the storage that creates the object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    Create,
    Update,
}

/// Completes, checks and stores a new object of an update or an apply.
pub(super) async fn insert(call: &Call<'_>, value: Value, options: &WriteOptions) -> ApiResult<Arc<Object>> {
    store(call, value, options, By::Update).await
}

async fn store(call: &Call<'_>, value: Value, options: &WriteOptions, by: By) -> ApiResult<Arc<Object>> {
    refuse_terminating(call)?;
    let name = meta::name(&value).to_owned();
    let generates = name.is_empty() && !meta::text(&value, "generateName").is_empty();
    let request = Attributes {
        call,
        operation: Operation::Create,
        name: &name,
        old: None,
        options: Options::Write(options),
        dry_run: options.dry_run,
    };
    let names_left = if generates { NAME_TRIES } else { 1 };
    let choices_left = services::TRIES;
    write::run(request, &mut Create { call, value, by, names_left, choices_left, dry_run: options.dry_run })
        .await
}

/// Refuses new objects of a terminating definition (apiextensions-apiserver's customresource_handler.go).
fn refuse_terminating(call: &Call<'_>) -> ApiResult<()> {
    let Behaviour::Custom(custom) = &call.def.behaviour else { return Ok(()) };
    let definition = call.server.store.get(crd::COLLECTION, &custom.crd);
    if definition.is_some_and(|definition| meta::is_terminating(&definition.value)) {
        let text = "create not allowed while custom resource definition is terminating";
        return Err(ApiError::method_not_supported(call.def.subject(""), "create").with_message(text));
    }
    Ok(())
}

/// A creation.
struct Create<'a> {
    call: &'a Call<'a>,
    value: Value,
    by: By,
    /// The number of further names to try.
    names_left: usize,
    /// The number of further attempts to choose a Service's addresses and ports.
    choices_left: usize,
    dry_run: bool,
}

impl Write for Create<'_> {
    type Done = Arc<Object>;

    fn stored(&mut self) -> ApiResult<Option<Arc<Object>>> {
        Ok(None)
    }

    /// Returns the object without the fields that only the server may set.
    async fn wanted(&mut self, _: Option<&Value>) -> ApiResult<Option<Value>> {
        let mut value = self.value.clone();
        let fields: &[&str] = match self.by {
            By::Create => {
                &["selfLink", "deletionTimestamp", "deletionGracePeriodSeconds", "uid", "creationTimestamp"]
            }
            // Only a POST wipes the rest (`WipeObjectMetaSystemFields` of apiserver's pkg/registry/rest/meta.go).
            By::Update => &["uid", "creationTimestamp"],
        };
        for field in fields {
            meta::remove(&mut value, field);
        }
        Ok(Some(value))
    }

    fn prepare(&mut self, _: Option<&Served>, object: Option<&mut Value>) -> ApiResult<()> {
        let Some(value) = object else { return Ok(()) };
        if self.by == By::Update {
            update::readable_version(value)?;
        }
        bodies::settle_namespace(self.call, value)?;
        if meta::name(value).is_empty() && !meta::text(value, "generateName").is_empty() {
            let prefix: String = meta::text(value, "generateName").chars().take(58).collect();
            meta::set(value, "name", format!("{prefix}{}", self.call.server.ids.suffix()));
        }
        complete(self.call, &self.value, value);
        services::check(self.call, None, value, self.dry_run)?;
        admit::check(self.call, value, None, Vec::new())?;
        admit::warn(self.call, value, None);
        // Only the update was authorized.
        if self.by == By::Update { authorization::authorize_creation(self.call) } else { Ok(()) }
    }

    fn commit(
        &mut self,
        storage: &Storage<'_>,
        _: Option<&Arc<Object>>,
        object: Option<Value>,
    ) -> ApiResult<Option<Arc<Object>>> {
        let def = &self.call.def;
        let object = object.unwrap_or_default();
        let version = meta::text(&object, "resourceVersion").parse::<u64>();
        // storage/etcd3/store.go, Create, which updates and dry runs skip.
        if self.by == By::Create && !storage.is_dry_run() && version.is_ok_and(|version| version != 0) {
            return Err(ApiError::unexpected("resourceVersion should not be set on objects to be created"));
        }
        let _lock = match services::check_free(self.call, None, &object, storage.is_dry_run()) {
            Ok(lock) => lock,
            Err(error) => return services::choose_again(&mut self.choices_left, error),
        };
        let name = meta::name(&object).to_owned();
        // An update stores it under the name of the path, even if admission has changed the name.
        let key = match self.by {
            By::Create => def.key_of(&object),
            By::Update => def.key(&self.call.path.namespace, &self.call.path.name),
        };
        let generates = !meta::text(&object, "generateName").is_empty();
        match storage.create(def, &key, object) {
            Ok(object) => Ok(Some(object)),
            // The resource was removed during the request.
            Err(WriteError::NotFound) => Err(ApiError::NoSuchPath),
            Err(WriteError::Exists | WriteError::Conflict) => {
                self.names_left -= 1;
                match self.names_left {
                    0 => Err(self.taken(&key, &name, generates)),
                    _ => Ok(None),
                }
            }
        }
    }
}

impl Create<'_> {
    fn taken(&self, key: &str, name: &str, generates: bool) -> ApiError {
        let def = &self.call.def;
        let there = self.call.server.store.get(&def.collection, key);
        let is_going = there.is_some_and(|object| meta::is_terminating(&object.value));
        let mut error = ApiError::already_exists(def.subject(name));
        // `CheckGeneratedNameError` of apiserver's pkg/registry/rest/create.go.
        if generates {
            error = error.not_generated();
        }
        // registry/generic/registry/store.go, Create.
        if is_going { error.with_prefix("object is being deleted: ") } else { error }
    }
}

/// Sets the fields that the server decides; `given` is the object of the request.
fn complete(call: &Call<'_>, given: &Value, value: &mut Value) {
    let def = &call.def;
    meta::set(value, "uid", call.server.ids.uid());
    meta::set(value, "creationTimestamp", call.server.now());
    if matches!(generation(def), Generation::First | Generation::Counted) {
        meta::set(value, "generation", 1);
    }
    // Only `PrepareForCreate` of pkg/registry/core/node/strategy.go keeps it: a kubelet registers itself with its
    // status.
    if def.status && def.collection != "nodes" {
        meta::object_mut(value).remove("status");
    }
    if def.collection == certificates::COLLECTION {
        certificates::requested_by(&call.user, value);
    }
    for warning in complete::created(&call.server, def, given, value) {
        call.warn(&warning);
    }
}

pub(super) fn generation(def: &crate::registry::ResourceDef) -> Generation {
    match &def.behaviour {
        Behaviour::BuiltIn(built_in) => built_in.generation,
        Behaviour::Custom(_) => Generation::Counted,
    }
}
