//! The scale subresource.

use ::http::Method;
use serde_json::{Value, json};

use super::admit;
use super::patch::{self, carry_out, decoded};
use super::update::{self, Edit};
use crate::admission;
use crate::conversion;
use crate::http::negotiate::{self, PatchKind};
use crate::http::query::WriteOptions;
use crate::http::reply::Reply;
use crate::meta;
use crate::registry::ScalePaths;
use crate::server::Call;
use crate::status::{ApiError, ApiResult, Cause};

pub(super) async fn dispatch(call: &Call<'_>, method: &Method) -> ApiResult<Reply> {
    let Some(paths) = call.def.scale.clone() else { return Err(ApiError::NoSuchPath) };
    match *method {
        Method::GET | Method::HEAD => {
            let key = call.def.key(&call.path.namespace, &call.path.name);
            let stored = call.server.store.get(&call.def.collection, &key);
            let stored = stored.ok_or_else(|| ApiError::not_found(call.def.about(&call.path.name)))?;
            let served = conversion::one(&call.server, &call.def, &stored).await?;
            Ok(shown(call, served.value(), &paths))
        }
        Method::PUT => {
            let options = WriteOptions::parse(&call.query, "UpdateOptions")?;
            let wanted = admit::read_object(call)?.value;
            write(call, &paths, &options, &|_| Ok(wanted.clone())).await
        }
        Method::PATCH => {
            let kind = negotiate::patch_kind(call.headers, call.def.is_custom())?;
            let options = patch::options(call, kind)?;
            let patch = decoded(call, kind)?;
            if kind == PatchKind::Apply {
                let mut applied = Applied { call, paths: &paths, options: &options, wanted: &patch.value };
                let object = update::change(call, &options, &mut applied).await?;
                let served = conversion::one(&call.server, &call.def, &object).await?;
                return Ok(shown(call, served.value(), &paths));
            }
            write(call, &paths, &options, &|scale| {
                let mut next = scale.clone();
                carry_out(call, kind, &mut next, &patch.value)?;
                Ok(next)
            })
            .await
        }
        _ => Err(ApiError::method_not_allowed()),
    }
}

async fn write(
    call: &Call<'_>,
    paths: &ScalePaths,
    options: &WriteOptions,
    edit: &(dyn Fn(&Value) -> ApiResult<Value> + Sync),
) -> ApiResult<Reply> {
    let object = update::change(call, options, &mut Scaled { call, paths, options, edit }).await?;
    let served = conversion::one(&call.server, &call.def, &object).await?;
    Ok(shown(call, served.value(), paths))
}

/// A change of the scale.
struct Scaled<'a> {
    call: &'a Call<'a>,
    paths: &'a ScalePaths,
    options: &'a WriteOptions,
    /// The wanted scale, made of the current one.
    edit: &'a (dyn Fn(&Value) -> ApiResult<Value> + Sync),
}

impl Edit for Scaled<'_> {
    async fn edit(&mut self, current: &Value) -> ApiResult<Value> {
        let old = scale_of(current, self.paths);
        let mut scale = (self.edit)(&old)?;
        let attributes = update::attributes(self.call, &old, self.options);
        admission::mutate(&attributes, Some(&mut scale)).await?;
        let number = replicas(self.call, self.paths, &scale)?;
        let mut next = current.clone();
        set(&mut next, &self.paths.spec, Value::from(number));
        let version = meta::text(&scale, "resourceVersion").to_owned();
        meta::set(&mut next, "resourceVersion", version);
        Ok(next)
    }
}

/// The replicas that a scale wants.
fn replicas(call: &Call<'_>, paths: &ScalePaths, scale: &Value) -> ApiResult<i64> {
    let replicas = &scale["spec"]["replicas"];
    let number = if replicas.is_null() { Some(0) } else { replicas.as_i64() };
    let Some(number) = number else {
        return Err(ApiError::bad_request("Scale in version \"v1\" cannot be handled as a Scale"));
    };
    if number < 0 {
        let cause = Cause::invalid(paths.spec.clone(), number, "should be a non-negative integer");
        return Err(ApiError::invalid(call.def.about_kind(&call.path.name), vec![cause]));
    }
    Ok(number)
}

/// A scale that is applied: who applies it owns the replicas of the object, if the scale has some.
struct Applied<'a> {
    call: &'a Call<'a>,
    paths: &'a ScalePaths,
    options: &'a WriteOptions,
    wanted: &'a Value,
}

impl Edit for Applied<'_> {
    async fn edit(&mut self, current: &Value) -> ApiResult<Value> {
        let (version, kind) = patch::type_of(self.wanted);
        if (version, kind) != ("autoscaling/v1", "Scale") {
            return Err(patch::no_object(version, kind));
        }
        let old = scale_of(current, self.paths);
        let mut scale = old.clone();
        let says = self.wanted["spec"].get("replicas").is_some();
        if says {
            scale["spec"]["replicas"] = self.wanted["spec"]["replicas"].clone();
        }
        let attributes = update::attributes(self.call, &old, self.options);
        admission::mutate(&attributes, Some(&mut scale)).await?;
        let (def, path) = (&self.call.def, &self.call.path);
        let mut wanted =
            json!({"apiVersion": def.api_version(), "kind": def.kind, "metadata": {"name": path.name}});
        if !path.namespace.is_empty() {
            meta::set(&mut wanted, "namespace", path.namespace.clone());
        }
        if says {
            set(&mut wanted, &self.paths.spec, Value::from(replicas(self.call, self.paths, &scale)?));
        }
        let mut next = patch::merged(self.call, Some(current), &wanted, self.options).await?;
        let version = meta::text(self.wanted, "resourceVersion").to_owned();
        meta::set(&mut next, "resourceVersion", version);
        Ok(next)
    }
}

/// The wanted and the old scale of a change of the scale; `None` for other changes.
pub(super) fn views(call: &Call<'_>, wanted: &Value, current: &Value) -> Option<(Value, Value)> {
    let paths = call.def.scale.as_ref().filter(|_| call.is_for_scale())?;
    Some((scale_of(wanted, paths), scale_of(current, paths)))
}

fn shown(call: &Call<'_>, object: &Value, paths: &ScalePaths) -> Reply {
    Reply::value(200, &scale_of(object, paths), call.accepted.yaml)
}

/// The `autoscaling/v1` view of an object.
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
        None => crate::label_selector::text(&object["spec"]["selector"]),
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
