//! The managers of fields: `metadata.managedFields`.

use std::collections::BTreeMap;
use std::sync::{LazyLock, OnceLock};

use serde_json::Value;

use crate::apply::{self, ApplyError, Manager, ReplicasPaths, Typed, Unconverted, Versions};
use crate::builtin::BuiltIn;
use crate::builtin::parts::Part;
use crate::conversion;
use crate::groups;
use crate::http::query::WriteOptions;
use crate::registry::{Behaviour, ResourceDef};
use crate::server::Call;
use crate::status::{ApiError, ApiResult, Cause};
use crate::tokens;

type Rules = BTreeMap<(&'static str, &'static str, &'static str), OnceLock<Typed>>;

/// The merge rules of the built-in kinds, by group, version and kind; each is computed on first use.
static BUILT_IN: LazyLock<Rules> = LazyLock::new(|| {
    let kinds = crate::builtin::all();
    kinds.map(|kind| ((kind.group, kind.version, kind.kind), OnceLock::new())).collect()
});

static DEFINITION: LazyLock<Typed> =
    LazyLock::new(|| Typed::builtin(groups::API_EXTENSIONS, "v1", "CustomResourceDefinition"));

fn typed(built_in: &BuiltIn) -> &'static Typed {
    let (group, version, kind) = (built_in.group, built_in.version, built_in.kind);
    BUILT_IN[&(group, version, kind)].get_or_init(|| Typed::builtin(group, version, kind))
}

/// Returns the merge rules of a resource in its version.
pub(crate) fn rules_of(def: &ResourceDef) -> Option<&Typed> {
    match &def.behaviour {
        Behaviour::Custom(custom) => custom.family.version(&def.api_version()).map(|schema| &schema.typed),
        Behaviour::BuiltIn(built_in) => Some(typed(built_in)),
    }
}

fn manager(call: &Call<'_>, options: &WriteOptions) -> Manager {
    let part = call.def.part(&call.path.subresource);
    let ignored: &[&str] = match (part.and_then(Part::ignored), call.path.subresource.as_str()) {
        (Some(ignored), _) => ignored,
        (None, "status") => call.def.ignored_by_status(),
        (None, _) if call.def.status => &["status"],
        (None, _) => &[],
    };
    Manager {
        name: call.manager(&options.field_manager),
        api_version: call.def.api_version(),
        subresource: call.path.subresource.clone(),
        time: call.server.now(),
        ignored,
        only: part.map_or(&[], Part::owned),
    }
}

/// Records the manager of the changed fields of `new`, after a write other than an apply.
pub(crate) async fn updated(call: &Call<'_>, old: Option<&Value>, new: &mut Value, options: &WriteOptions) {
    if options.applying {
        return;
    }
    // The owners of a scale's fields are decided in the scale.
    if call.is_for_scale() {
        return;
    }
    let (old, manager) = (old.unwrap_or(&Value::Null), manager(call, options));
    let mut versions = Converted::new(call);
    loop {
        match apply::update_in(&versions, old, new, &manager) {
            Ok(()) => return,
            Err(needed) => {
                if let Err(error) = versions.make(needed).await {
                    tracing::error!("the ownership of fields is lost: {}", error.message());
                    crate::meta::remove(new, "managedFields");
                    return;
                }
            }
        }
    }
}

/// Merges an applied configuration into the live object.
///
/// # Errors
/// Returns `Conflict` when other managers own the fields and the client does not force.
pub(crate) async fn applied(
    call: &Call<'_>,
    live: Option<&Value>,
    wanted: &Value,
    options: &WriteOptions,
) -> ApiResult<Value> {
    let (live, manager) = (live.unwrap_or(&Value::Null), manager(call, options));
    let mut versions = Converted::new(call);
    loop {
        match apply::apply_in(&versions, live, wanted, &manager, options.force) {
            Ok(applied) => return Ok(applied.object),
            Err(ApplyError::Unconverted(needed)) => versions.make(needed).await?,
            Err(error) => return Err(refused(&error)),
        }
    }
}

/// Refuses a configuration with managed fields, before any other check of it.
///
/// # Errors
/// Returns `BadRequest`.
pub(crate) fn unmanaged(config: &Value) -> ApiResult<()> {
    apply::unmanaged(config).map_err(|error| refused(&error))
}

/// Refuses a configuration of a custom resource that does not fit its schema.
///
/// # Errors
/// Returns all of its faults.
pub(crate) fn check_config(call: &Call<'_>, config: &Value) -> ApiResult<()> {
    let versions = Converted::new(call);
    let typed = versions.typed(&call.def.api_version());
    typed.map_or(Ok(()), |typed| apply::check_config(typed, config).map_err(|error| refused(&error)))
}

/// Records the manager of the changed fields of a scale, after a write other than an apply.
pub(crate) fn updated_scale(call: &Call<'_>, old: &Value, new: &Value, options: &WriteOptions) -> Value {
    apply::update(apply::scale(), old, new, &manager_of_scale(call, options))
}

/// Returns a definition whose status the server changed, with the server as the manager of the change.
pub(crate) fn updated_definition(old: &Value, new: &Value, now: &str) -> Value {
    apply::update(&DEFINITION, old, new, &server_itself(&format!("{}/v1", groups::API_EXTENSIONS), now))
}

/// As [`updated_definition`], for a quota.
pub(crate) fn updated_quota(old: &Value, new: &Value, now: &str) -> Value {
    static QUOTA: LazyLock<Typed> = LazyLock::new(|| Typed::builtin("", "v1", "ResourceQuota"));
    apply::update(&QUOTA, old, new, &server_itself("v1", now))
}

/// As [`updated_definition`], for a disruption budget.
pub(crate) fn updated_budget(old: &Value, new: &Value, now: &str) -> Value {
    static BUDGET: LazyLock<Typed> = LazyLock::new(|| Typed::builtin("policy", "v1", "PodDisruptionBudget"));
    apply::update(&BUDGET, old, new, &server_itself("policy/v1", now))
}

/// As [`updated_definition`], for the conditions of a namespace, which the namespace controller writes.
pub(crate) fn updated_namespace(old: &Value, new: &Value, now: &str) -> Value {
    static NAMESPACE: LazyLock<Typed> = LazyLock::new(|| Typed::builtin("", "v1", "Namespace"));
    let manager = Manager { name: "kube-controller-manager".to_owned(), ..server_itself("v1", now) };
    apply::update(&NAMESPACE, old, new, &manager)
}

/// The server as the manager of a status.
fn server_itself(api_version: &str, now: &str) -> Manager {
    Manager {
        name: "kube-apiserver".to_owned(),
        api_version: api_version.to_owned(),
        subresource: "status".to_owned(),
        time: now.to_owned(),
        ignored: &["metadata", "spec"],
        only: &[],
    }
}

/// Records the manager of the fields of a token request, as its client sent it.
pub(crate) fn updated_token(call: &Call<'_>, request: &Value, options: &WriteOptions) -> Value {
    static TOKEN: LazyLock<Typed> = LazyLock::new(|| Typed::builtin(tokens::GROUP, "v1", tokens::REQUEST));
    let api_version = format!("{}/v1", tokens::GROUP);
    let manager = Manager { api_version, ignored: &[], ..manager(call, options) };
    apply::update(&TOKEN, &Value::Null, request, &manager)
}

/// As [`applied`], for a scale; also reports whether anything but ownership changed.
///
/// # Errors
/// As for [`applied`].
pub(crate) fn applied_scale(
    call: &Call<'_>,
    live: &Value,
    wanted: &Value,
    options: &WriteOptions,
) -> ApiResult<(Value, bool)> {
    let manager = manager_of_scale(call, options);
    let applied = apply::apply(apply::scale(), live, wanted, &manager, options.force);
    applied.map(|applied| (applied.object, applied.changed)).map_err(|error| refused(&error))
}

fn manager_of_scale(call: &Call<'_>, options: &WriteOptions) -> Manager {
    let api_version = apply::SCALE_VERSION.to_owned();
    Manager { api_version, ignored: &[], ..manager(call, options) }
}

/// Returns the path of the replicas in each version of a resource.
pub(crate) fn replicas_paths(call: &Call<'_>) -> ReplicasPaths {
    match &call.def.behaviour {
        Behaviour::Custom(custom) => custom.family.replicas_paths(),
        Behaviour::BuiltIn(own) => {
            let kinds = crate::builtin::all().filter(|kind| kind.shares_objects_with(own));
            kinds.fold(ReplicasPaths::default(), |paths, kind| {
                paths.with(&kind.api_version(), kind.replicas())
            })
        }
    }
}

fn refused(error: &ApplyError) -> ApiError {
    let text = error.to_string();
    match error {
        ApplyError::BadRequest(_) => ApiError::bad_request(text),
        ApplyError::Invalid(_) | ApplyError::Unconverted(_) => ApiError::unexpected(text),
        ApplyError::Conflicts(_) => {
            let part = |value: &Value, key: &str| value[key].as_str().unwrap_or_default().to_owned();
            let causes = error
                .causes()
                .iter()
                .map(|cause| Cause::new(&part(cause, "reason"), part(cause, "field"), part(cause, "message")))
                .collect();
            ApiError::apply_conflict(text, causes)
        }
    }
}

/// The versions of an object that have been needed so far.
struct Converted<'a> {
    call: &'a Call<'a>,
    /// Objects, their target `apiVersion`, and the converted objects.
    made: Vec<(Value, String, Value)>,
}

impl<'a> Converted<'a> {
    fn new(call: &'a Call<'a>) -> Self {
        Self { call, made: Vec::new() }
    }

    /// Performs a conversion that is needed.
    async fn make(&mut self, needed: Unconverted) -> ApiResult<()> {
        let Unconverted::Needed { object, to } = needed else {
            return Err(ApiError::unexpected(needed.to_string()));
        };
        let made = conversion::to_version(&self.call.server, &self.call.def, &to, (*object).clone()).await?;
        self.made.push((*object, to, made));
        Ok(())
    }
}

impl Versions for Converted<'_> {
    fn typed(&self, api_version: &str) -> Option<&Typed> {
        match &self.call.def.behaviour {
            Behaviour::Custom(custom) => custom.family.version(api_version).map(|schema| &schema.typed),
            Behaviour::BuiltIn(own) => {
                let mut kinds = crate::builtin::all().filter(|kind| kind.shares_objects_with(own));
                kinds.find(|kind| kind.api_version() == api_version).map(typed)
            }
        }
    }

    fn convert(&self, mut object: Value, to: &str) -> Result<Value, Unconverted> {
        let is_custom = self.call.def.is_custom();
        if is_custom && !conversion::is_by_webhook(&self.call.def) {
            object["apiVersion"] = Value::from(to);
        } else {
            let made = self.made.iter().find(|(from, version, _)| version == to && *from == object);
            match made {
                Some((_, _, made)) => object = made.clone(),
                None => return Err(Unconverted::Needed { object: Box::new(object), to: to.to_owned() }),
            }
        }
        // The conversion of a custom resource does not prune (`Convert` of apimachinery's
        // pkg/util/managedfields/internal/versionconverter.go).
        if let Some(typed) = self.typed(to).filter(|_| is_custom) {
            apply::check_changed(typed, &object).map_err(Unconverted::Unfit)?;
        }
        Ok(object)
    }
}
