//! The scale subresource.

use ::http::Method;
use kubesmith_apiextensions::structural::object_meta::{validate_core_finalizers, validate_object_meta};
use kubesmith_apimachinery::golang;
use serde_json::{Value, json};

use super::patch::{self, Change, carry_out};
use super::read;
use super::update::{self, Edit};
use crate::apply::SCALE_VERSION;
use crate::bodies::{self, identity};
use crate::conversion;
use crate::http::decode::Decoded;
use crate::http::negotiate::{self, PatchKind, Shape};
use crate::http::query::WriteOptions;
use crate::http::reply::Reply;
use crate::meta;
use crate::names::NameRule;
use crate::registry::{ResourceDef, ScalePaths};
use crate::server::Call;
use crate::status::{ApiError, ApiResult, Cause, ErrorSubject};
use crate::table;
use crate::types::decode::{Settle, settle, settle_merged};
use crate::types::{self, Type};

pub(super) async fn dispatch(call: &Call<'_>, method: &Method) -> ApiResult<Reply> {
    let Some(paths) = call.def.scale.clone() else { return Err(ApiError::NoSuchPath) };
    match *method {
        Method::GET | Method::HEAD => {
            let served = conversion::one(&call.server, &call.def, &super::write::at_path(call)?).await?;
            if get(served.value(), &paths.spec).is_null() && call.def.is_custom() {
                let text = format!("the spec replicas field {} does not exist", golang::quote(&paths.spec));
                return Err(ApiError::internal_of(text));
            }
            shown(call, served.value(), &paths)
        }
        Method::PUT => updated(call, &paths).await,
        Method::PATCH => patched(call, &paths).await,
        _ => Err(super::not_supported(call, method)),
    }
}

async fn updated(call: &Call<'_>, paths: &ScalePaths) -> ApiResult<Reply> {
    let options = WriteOptions::parse(&call.query, "UpdateOptions")?;
    let mut wanted = if call.def.is_custom() {
        // The message of apiextensions' handler about any scale that it cannot decode.
        let undecodable = || {
            ApiError::bad_request(
                "no kind is registered for the type v1.Scale in scheme \
                 \"k8s.io/apiextensions-apiserver/pkg/apiserver/customresource_handler.go:781\"",
            )
        };
        let Decoded { value: mut wanted, duplicates } =
            bodies::read_object(call).map_err(|_| undecodable())?;
        let (version, kind) = identity::interpret(&wanted).map_err(|_| undecodable())?;
        if !matches!(version.as_str(), "" | SCALE_VERSION) || !matches!(kind.as_str(), "" | KIND) {
            return Err(undecodable());
        }
        (wanted["apiVersion"], wanted["kind"]) = (SCALE_VERSION.into(), KIND.into());
        let mut unknown = typed(&mut wanted, settle).map_err(|_| undecodable())?;
        duplicates.order(&mut unknown);
        let duplicates = duplicates.of_known(&unknown);
        bodies::report(call, &unknown, &duplicates, &options).map_err(|_| undecodable())?;
        wanted
    } else {
        bodies::read_typed(call, (GROUP, "v1", KIND), &options)?
    };
    bodies::check_place(call, &mut wanted, &call.path.name)?;
    let edit = |old: &Value| {
        update::has_uid(call, &options, &wanted, meta::text(old, "uid"))?;
        Ok(crate::managed::updated_scale(call, old, &wanted, &options))
    };
    write(call, paths, &options, &edit).await
}

async fn patched(call: &Call<'_>, paths: &ScalePaths) -> ApiResult<Reply> {
    let kind = negotiate::patch_kind(call.headers, call.def.is_custom())?;
    let options = patch::options(call, kind)?;
    let Decoded { value: patch, duplicates } = patch::read_patch(call, kind, &options)?;
    if kind == PatchKind::Apply {
        super::write::at_path(call)?;
        let (version, of) = patch::type_of(&patch);
        if (version, of) != (SCALE_VERSION, KIND) {
            return Err(patch::no_object(version, of));
        }
        crate::managed::unmanaged(&patch)?;
        return write(call, paths, &options, &|old: &Value| applied(call, old, &patch, &options)).await;
    }
    let edit = |old: &Value| {
        let mut next = old.clone();
        carry_out(call, kind, &mut next, &patch)?;
        let patched = next.clone();
        let change = Change { of: message(), kind, patch: &patch };
        let def = scale_def(call);
        if let Some(def) = def.as_ref().filter(|_| kind != PatchKind::Strategic) {
            identity::not_internal(call, def, &next)?;
        }
        read_patched(call, def.as_ref(), &change, &mut next, &patched)
            .and_then(|unknown| bodies::report(call, &unknown, &duplicates, &options))
            .map_err(|fault| change.refused(&patched, &fault))?;
        bodies::check_place(call, &mut next, &call.path.name)?;
        Ok(crate::managed::updated_scale(call, old, &next, &options))
    };
    write(call, paths, &options, &edit).await
}

/// Applies a configuration to a scale. That of a custom resource cannot change: kube-apiserver converts it as if it were
/// one (`crConverter` of apiextensions-apiserver's pkg/apiserver/conversion/converter.go).
fn applied(call: &Call<'_>, old: &Value, wanted: &Value, options: &WriteOptions) -> ApiResult<Value> {
    let unconverted = |what: &str, namespace: &str, name: &str| {
        ApiError::unexpected(format!(
            "{what} ({namespace}/{name}; {SCALE_VERSION}, Kind={KIND}) to proper version: request to convert CR to an invalid \
             group/version: {SCALE_VERSION}"
        ))
    };
    let managers = old["metadata"]["managedFields"].as_array();
    if call.def.is_custom() && managers.is_none_or(Vec::is_empty) {
        let what = "failed to create manager for existing fields: failed to convert live object";
        return Err(unconverted(what, "", ""));
    }
    if let Some(message) = message() {
        bodies::check_declared(wanted, message)?;
    }
    let (mut scale, changed) = crate::managed::applied_scale(call, old, wanted, options)?;
    if !call.def.is_custom() {
        let about = crate::apply::about(wanted);
        typed(&mut scale, settle_merged).map_err(|fault| patch::unconvertible(&about, &fault))?;
    } else if changed {
        return Err(unconverted("failed to convert new object", meta::namespace(wanted), meta::name(wanted)));
    }
    bodies::check_place(call, &mut scale, &call.path.name)?;
    Ok(scale)
}

async fn write(
    call: &Call<'_>,
    paths: &ScalePaths,
    options: &WriteOptions,
    edit: &(dyn Fn(&Value) -> ApiResult<Value> + Sync),
) -> ApiResult<Reply> {
    let object =
        update::change(call, options, &mut Scaled { call, paths, managed: Value::Null, edit }).await?;
    let served = conversion::one(&call.server, &call.def, &object).await?;
    shown(call, served.value(), paths)
}

/// A change of a scale.
struct Scaled<'a> {
    call: &'a Call<'a>,
    paths: &'a ScalePaths,
    /// The wanted scale, with the managers of its fields.
    managed: Value,
    /// Builds the wanted scale with its managers from the current one.
    edit: &'a (dyn Fn(&Value) -> ApiResult<Value> + Sync),
}

/// The replicas of a scale whose object has none, so that a change that does not set them is detected.
const UNSET: i64 = i32::MIN as i64;

impl Edit for Scaled<'_> {
    async fn edit(&mut self, current: &Value) -> ApiResult<Value> {
        let mut old = scale_of(current, self.paths);
        if get(current, &self.paths.spec).is_null() {
            old["spec"]["replicas"] = UNSET.into();
        }
        // Zero replicas are omitted, as in Go.
        if old["spec"]["replicas"] == 0 {
            meta::map_at(&mut old, "spec").remove("replicas");
        }
        let managers = crate::managed::replicas_paths(self.call).to_scale(current);
        if managers.as_array().is_some_and(|managers| !managers.is_empty()) {
            old["metadata"]["managedFields"] = managers;
        }
        let scale = (self.edit)(&old)?;
        self.managed = scale.clone();
        Ok(scale)
    }

    /// Returns the object with the scale's replicas, and their owners from before admission.
    fn admitted(&mut self, current: &Value, mut scale: Value) -> ApiResult<Value> {
        // Admission works on that of a custom resource without its type.
        if self.call.def.is_custom() {
            typed(&mut scale, settle_merged).map_err(|fault| {
                let fault = golang::from_unstructured(&fault);
                let of = format!("{SCALE_VERSION}, Kind={KIND}");
                ApiError::unknown(format!("unable to convert unstructured object to {of}: {fault}"))
            })?;
        }
        let number = replicas(self.call, self.paths, &scale)?;
        let (wanted, uid) = (meta::text(&scale, "uid"), meta::text(current, "uid"));
        // `UpdatedObject` of the scales in pkg/registry; that of a custom resource ignores the UID.
        if !self.call.def.is_custom() && !wanted.is_empty() && wanted != uid {
            let def = &self.call.def;
            let about = ErrorSubject::new(&def.group, &format!("{}/scale", def.plural), &self.call.path.name);
            let text =
                format!("Precondition failed: UID in precondition: {wanted}, UID in object meta: {uid}");
            return Err(ApiError::conflict(about, &text));
        }
        let mut next = current.clone();
        set(&mut next, &self.paths.spec, Value::from(number));
        let owners = crate::managed::replicas_paths(self.call);
        owners.to_object(&mut next, &self.managed, &self.call.def.api_version());
        let version = meta::text(&scale, "resourceVersion");
        if !version.is_empty() {
            meta::set(&mut next, "resourceVersion", version.to_owned());
        }
        Ok(next)
    }

    fn shown(&self, object: &Value) -> Option<Value> {
        Some(scale_of(object, self.paths))
    }
}

/// Returns the replicas of a scale.
fn replicas(call: &Call<'_>, paths: &ScalePaths, scale: &Value) -> ApiResult<i64> {
    let replicas = &scale["spec"]["replicas"];
    let number = if replicas.is_null() { Some(0) } else { replicas.as_i64() };
    let Some(number) = number else {
        return Err(ApiError::bad_request("Scale in version \"v1\" cannot be handled as a Scale"));
    };
    if number == UNSET && call.def.is_custom() {
        let text = format!("the spec replicas field {} cannot be empty", golang::quote(&paths.spec));
        return Err(ApiError::bad_request(text));
    }
    let name = &call.path.name;
    let custom = call.def.is_custom();
    // `ValidateScale` of pkg/apis/autoscaling/validation.
    let metadata: Vec<Cause> = match custom {
        true => Vec::new(),
        false => {
            let core = validate_core_finalizers(scale);
            let own = validate_object_meta(scale, NameRule::Subdomain);
            // Admission may have removed the namespace.
            let namespace =
                meta::namespace(scale).is_empty().then(|| Cause::required("metadata.namespace", ""));
            own.into_iter().chain(core).map(Cause::from).chain(namespace).collect()
        }
    };
    if number >= 0 && metadata.is_empty() {
        return Ok(number);
    }
    if custom {
        let cause = Cause::invalid(paths.spec.clone(), number, "should be a non-negative integer");
        return Err(ApiError::invalid(call.def.subject_of_kind(name), vec![cause]));
    }
    let text = "must be greater than or equal to 0";
    let negative = (number < 0).then(|| Cause::invalid("spec.replicas", number, text));
    Err(ApiError::invalid(
        ErrorSubject::new(GROUP, KIND, name),
        metadata.into_iter().chain(negative).collect(),
    ))
}

/// Group and kind of every scale.
const GROUP: &str = "autoscaling";
const KIND: &str = "Scale";

/// Returns the type of scales.
fn message() -> Option<&'static Type> {
    types::of_kind(SCALE_VERSION, KIND)
}

/// Normalizes a scale to its type; returns the paths of unknown members.
fn typed(scale: &mut Value, settle: Settle) -> Result<Vec<String>, String> {
    message().map_or(Ok(Vec::new()), |message| settle(scale, message))
}

/// Returns the definition of scales, which are no resource of their own: they use the group and version of one.
fn scale_def(call: &Call<'_>) -> Option<ResourceDef> {
    let registry = call.server.registry();
    let of_group = registry.all().find(|def| def.api_version() == SCALE_VERSION)?;
    Some(ResourceDef { kind: KIND.to_owned(), ..of_group.as_ref().clone() })
}

/// Decodes a patched scale.
fn read_patched(
    call: &Call<'_>,
    def: Option<&ResourceDef>,
    change: &Change<'_>,
    next: &mut Value,
    patched: &Value,
) -> Result<Vec<String>, String> {
    if let Some(def) = def {
        change.identify(call, def, next, || patched.clone())?;
    }
    typed(next, change.settle())
}

fn shown(call: &Call<'_>, object: &Value, paths: &ScalePaths) -> ApiResult<Reply> {
    let mut scale = scale_of(object, paths);
    // The types are right; zero replicas are omitted, as in Go.
    let _ = typed(&mut scale, settle);
    let shaped = match &call.accepted.shape {
        Shape::Table(version) => table::of_scale(call, version, &scale)?,
        Shape::Partial(version) => table::partial(&scale, version),
        Shape::PartialList(_) => {
            return Err(read::not_a_list(if call.def.is_custom() {
                "*v1.Scale"
            } else {
                "*autoscaling.Scale"
            }));
        }
        Shape::Plain | Shape::Discovery(_) => scale,
    };
    Ok(Reply::value(200, &shaped, call.accepted.form))
}

/// Returns the `autoscaling/v1` scale of an object.
fn scale_of(object: &Value, paths: &ScalePaths) -> Value {
    let mut metadata = json!({});
    for field in ["name", "namespace", "uid", "resourceVersion", "creationTimestamp"] {
        if let Some(value) = object["metadata"].get(field) {
            metadata[field] = value.clone();
        }
    }
    let number = |path: &str| get(object, path).as_i64().unwrap_or_default();
    let mut status = json!({"replicas": number(&paths.status)});
    let selector = match &paths.selector {
        Some(path) => get(object, path).as_str().unwrap_or_default().to_owned(),
        // A replication controller has a map.
        None if object["kind"] == "ReplicationController" => {
            crate::selector::text(&json!({"matchLabels": object["spec"]["selector"]}))
        }
        None => crate::selector::text(&object["spec"]["selector"]),
    };
    if !selector.is_empty() {
        status["selector"] = Value::from(selector);
    }
    json!({
        "kind": "Scale", "apiVersion": "autoscaling/v1", "metadata": metadata,
        "spec": {"replicas": number(&paths.spec)}, "status": status,
    })
}

fn get<'a>(object: &'a Value, path: &str) -> &'a Value {
    path.split('.').filter(|p| !p.is_empty()).fold(object, |at, part| &at[part])
}

fn set(object: &mut Value, path: &str, value: Value) {
    let parts: Vec<&str> = path.split('.').filter(|p| !p.is_empty()).collect();
    let Some((last, parents)) = parts.split_last() else { return };
    let mut at = object;
    for part in parents {
        at = meta::object_mut(at).entry(*part).or_insert(Value::Null);
    }
    meta::object_mut(at).insert((*last).to_owned(), value);
}
