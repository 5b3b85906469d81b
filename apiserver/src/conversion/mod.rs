//! Serves objects in other versions of their resource than the stored one.
//!
//! A stored object keeps the version that it was written in. Reading fills in the defaults of that version, converts,
//! and drops fields that the requested version does not have; writing converts to the CRD's storage version. Without a
//! conversion webhook nothing has to be awaited.

mod review;
mod webhook;

use std::sync::Arc;

use bytes::Bytes;
use serde_json::Value;

use crate::custom::{Custom, Family};
use crate::meta;
use crate::registry::{Behaviour, ResourceDef};
use crate::server::Server;
use crate::status::ApiResult;
use crate::store::Object;

/// An object in the version of a request.
#[derive(Clone, Debug)]
pub(crate) struct Served(Arc<Object>);

impl Served {
    pub(crate) fn value(&self) -> &Value {
        &self.0.value
    }

    /// The object's JSON; shared by all readers when the object is served as stored.
    pub(crate) fn json(&self) -> Bytes {
        self.0.json()
    }

    /// [`Self::json`] with a newline.
    pub(crate) fn line(&self) -> Bytes {
        self.0.line()
    }

    fn like(object: &Object, value: Value) -> Self {
        // An object that was never stored has no version, and gets none here.
        let made = if object.rv == 0 { Object::unstored(value) } else { Object::new(value, object.rv) };
        Self(Arc::new(made))
    }
}

/// Reports whether reads and writes may have to wait for a conversion webhook.
pub(crate) fn is_by_webhook(def: &ResourceDef) -> bool {
    matches!(&def.behaviour, Behaviour::Custom(custom) if custom.family.conversion.is_some())
}

/// Returns the object in the definition's version; `None` when a webhook has to convert it.
pub(crate) fn at_once(def: &ResourceDef, object: &Arc<Object>) -> Option<Served> {
    let custom = match &def.behaviour {
        Behaviour::BuiltIn(built_in) => {
            let Some(conversion) = built_in.conversion else { return Some(Served(object.clone())) };
            return Some(Served::like(object, (conversion.from_stored)(object.value.clone())));
        }
        Behaviour::Custom(custom) => custom,
    };
    if object.mark() == custom.id {
        return Some(Served(object.clone()));
    }
    let stored = stored_version(object);
    let same = is_version(def, stored);
    if !same && custom.family.conversion.is_some() {
        return None;
    }
    let mut value = defaulted(custom, object);
    if !same {
        value["apiVersion"] = Value::from(def.api_version());
    }
    // The schema may have changed since the object was stored.
    custom.prune(&mut value);
    if same && value == *object.value {
        object.set_mark(custom.id);
        return Some(Served(object.clone()));
    }
    Some(Served::like(object, value))
}

/// Marks an object that was just written through the definition as needing no conversion.
pub(crate) fn written(def: &ResourceDef, object: &Object) {
    if let Behaviour::Custom(custom) = &def.behaviour
        && is_version(def, stored_version(object))
    {
        object.set_mark(custom.id);
    }
}

fn stored_version(object: &Object) -> &str {
    object.value["apiVersion"].as_str().unwrap_or_default()
}

/// Reports whether this `group/version` is the definition's.
fn is_version(def: &ResourceDef, api_version: &str) -> bool {
    api_version.rsplit_once('/').is_some_and(|(group, version)| group == def.group && version == def.version)
}

/// Returns the object with the defaults of its stored version.
fn defaulted(custom: &Custom, object: &Object) -> Value {
    let mut value = object.value.clone();
    if let Some(schema) = custom.family.version(stored_version(object)) {
        schema.default(&mut value);
    }
    value
}

/// Returns an object in the definition's version.
///
/// # Errors
/// When the conversion webhook fails.
pub(crate) async fn one(server: &Server, def: &ResourceDef, object: &Arc<Object>) -> ApiResult<Served> {
    if let Some(served) = at_once(def, object) {
        return Ok(served);
    }
    let mut all = converted(server, def, std::slice::from_ref(object)).await?;
    // The webhook returns as many objects as were sent.
    Ok(all.pop().unwrap_or_else(|| Served(object.clone())))
}

/// Returns objects in the definition's version; a webhook converts all it has to in one call.
///
/// # Errors
/// When the conversion webhook fails.
pub(crate) async fn all(
    server: &Server,
    def: &ResourceDef,
    objects: &[Arc<Object>],
) -> ApiResult<Vec<Served>> {
    let at_once: Option<Vec<Served>> = objects.iter().map(|object| at_once(def, object)).collect();
    match at_once {
        Some(all) => Ok(all),
        None => converted(server, def, objects).await,
    }
}

async fn converted(server: &Server, def: &ResourceDef, objects: &[Arc<Object>]) -> ApiResult<Vec<Served>> {
    let Behaviour::Custom(custom) = &def.behaviour else { return Ok(Vec::new()) };
    // An object has no version yet when it is decoded and converted (`decode` of apiserver's pkg/storage/etcd3).
    let unversioned = |object| {
        let mut value = defaulted(custom, object);
        meta::remove(&mut value, "resourceVersion");
        value
    };
    let values = objects.iter().map(|object| unversioned(object)).collect();
    let values = convert(server, &custom.family, &def.api_version(), values).await?;
    let served = objects.iter().zip(values).map(|(object, mut value)| {
        if !is_version(def, stored_version(object)) {
            custom.prune(&mut value);
        }
        Served::like(object, value)
    });
    Ok(served.collect())
}

/// Converts an object of the definition's version to the storage version.
///
/// # Errors
/// When the conversion webhook fails.
pub(crate) async fn stored(server: &Server, def: &ResourceDef, value: Value) -> ApiResult<Value> {
    match &def.behaviour {
        Behaviour::BuiltIn(built_in) => Ok(match built_in.conversion {
            Some(conversion) => (conversion.to_stored)(value),
            None => value,
        }),
        Behaviour::Custom(_) if def.is_storage_version() => Ok(value),
        Behaviour::Custom(custom) => {
            let mut value = convert_one(server, &custom.family, &def.stored_as, value).await?;
            if let Some(schema) = custom.family.version(&def.stored_as) {
                schema.prune(&mut value);
            }
            Ok(value)
        }
    }
}

/// Converts an object of the definition's resource to an `apiVersion`; an unknown version leaves it as it is.
///
/// # Errors
/// When the conversion webhook fails.
pub(crate) async fn to_version(
    server: &Server,
    def: &ResourceDef,
    to: &str,
    value: Value,
) -> ApiResult<Value> {
    let from = value["apiVersion"].as_str().unwrap_or_default().to_owned();
    let registry = server.registry();
    let find =
        |version: &str| registry.all().find(|d| d.collection == def.collection && d.api_version() == version);
    match (&def.behaviour, find(&from), find(to)) {
        (Behaviour::Custom(custom), ..) => convert_one(server, &custom.family, to, value).await,
        (Behaviour::BuiltIn(_), Some(from), Some(to)) => between(server, from, to, value).await,
        _ => Ok(value),
    }
}

/// Converts an object from one version of a resource to another.
///
/// # Errors
/// When the conversion webhook fails.
pub(crate) async fn between(
    server: &Server,
    from: &Arc<ResourceDef>,
    to: &Arc<ResourceDef>,
    value: Value,
) -> ApiResult<Value> {
    match (&from.behaviour, &to.behaviour) {
        _ if Arc::ptr_eq(from, to) => Ok(value),
        (Behaviour::BuiltIn(from), Behaviour::BuiltIn(to)) => {
            let stored = from.conversion.map_or(value.clone(), |conversion| (conversion.to_stored)(value));
            Ok(to.conversion.map_or(stored.clone(), |conversion| (conversion.from_stored)(stored)))
        }
        (_, Behaviour::Custom(custom)) => convert_one(server, &custom.family, &to.api_version(), value).await,
        _ => Ok(value),
    }
}

/// Converts objects of a CRD to an `apiVersion`.
///
/// # Errors
/// When the conversion webhook fails.
async fn convert(
    server: &Server,
    family: &Family,
    to: &str,
    mut objects: Vec<Value>,
) -> ApiResult<Vec<Value>> {
    match &family.conversion {
        Some(webhook) => webhook::convert(webhook, server, to, objects).await,
        None => {
            for object in &mut objects {
                object["apiVersion"] = Value::from(to);
            }
            Ok(objects)
        }
    }
}

/// As [`convert`], for one object.
async fn convert_one(server: &Server, family: &Family, to: &str, mut object: Value) -> ApiResult<Value> {
    if let Some(webhook) = &family.conversion {
        let mut converted = webhook::convert(webhook, server, to, vec![object]).await?;
        // The webhook returns as many objects as were sent.
        return Ok(converted.pop().unwrap_or_default());
    }
    object["apiVersion"] = Value::from(to);
    Ok(object)
}
