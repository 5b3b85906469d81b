//! The objects in the bodies of requests, and those that admission changed: their kind, place, unknown fields and defaults.

pub(crate) mod identity;

use kubesmith_apimachinery::golang;
use serde_json::{Value, json};

use crate::apply;
use crate::builtin;
use crate::http::decode::{self, Decoded, Duplicates};
use crate::http::negotiate::{self, Form};
use crate::http::protobuf;
use crate::http::query::{FieldValidation, WriteOptions};
use crate::managed;
use crate::meta;
use crate::names;
use crate::registry::{Behaviour, ResourceDef};
use crate::server::Call;
use crate::stage::Stage;
use crate::status::{ApiError, ApiResult, Cause, ErrorSubject};
use crate::types::decode::{Settle, settle, settle_merged};
use crate::types::{self, Type};

/// Decodes the body as an object of the resource.
pub(crate) fn read_object(call: &Call<'_>) -> ApiResult<Decoded> {
    read_object_as(call, &call.def.kind)
}

/// Decodes the body as an object of a kind.
pub(crate) fn read_object_as(call: &Call<'_>, kind: &str) -> ApiResult<Decoded> {
    let format = negotiate::object_format(call.headers, call.def.is_custom())?;
    let decoded = match format {
        Form::Json => match decode::json(&call.body) {
            // Go finds the error after kind and version.
            Err(fault) if golang::json_number_error(&call.body).as_ref() == Some(&fault) => {
                return Err(undecodable_as(kind, &call.def.version, &fault));
            }
            decoded => decoded.map_err(|e| format!("json parse error: {e}")),
        },
        Form::Yaml => decode::yaml(&call.body),
        Form::Protobuf => {
            protobuf::decode(&call.body).map(|value| Decoded { value, duplicates: Duplicates::default() })
        }
    };
    let decoded = decoded.and_then(|decoded| match &decoded.value {
        Value::Object(_) => Ok(Decoded { duplicates: decoded.duplicates.of_body(&call.body), ..decoded }),
        Value::Null => Ok(Decoded { value: json!({}), ..decoded }),
        other => Err(format!("json parse error: {}", golang::cannot_unmarshal(other, golang::TYPE_META))),
    });
    decoded.map_err(|why| unrecognised(kind, &format!("couldn't get version/kind; {why}"), &call.body))
}

/// Refuses a body that is no object of a known kind (`transformDecodeError` of endpoints/handlers/rest.go).
pub(crate) fn unrecognised(kind: &str, why: &str, body: &[u8]) -> ApiError {
    let summary = summary(body);
    ApiError::bad_request(format!(
        "the object provided is unrecognized (must be of type {kind}): {why} ({summary})"
    ))
}

/// Returns the beginning of a body (`summarizeData` of endpoints/handlers/rest.go).
fn summary(body: &[u8]) -> String {
    const LENGTH: usize = 30;
    let (start, more) = match body.len() {
        0 => return "<empty>".to_owned(),
        length if length > LENGTH => (&body[..LENGTH], " ..."),
        _ => (body, ""),
    };
    match start.first() {
        Some(b'{') => format!("{}{more}", String::from_utf8_lossy(start)),
        _ => format!("{}{more}", start.iter().map(|byte| format!("{byte:02x}")).collect::<String>()),
    }
}

/// Checks the kind; that of a custom resource is checked late, as one of its fields.
pub(crate) fn check_kind(def: &ResourceDef, value: &Value) -> ApiResult<()> {
    let kind = value["kind"].as_str().unwrap_or_default();
    if kind == def.kind {
        return Ok(());
    }
    let about = ErrorSubject::new(&def.group, kind, meta::name(value));
    let text = format!("must be {}", def.kind);
    Err(ApiError::invalid(about, vec![Cause::invalid("kind", names::quoted(kind), &text)]))
}

/// Checks that name and namespace of the body are those of the path (`checkName` of endpoints/handlers/rest.go); fills in
/// the namespace.
pub(crate) fn check_place(call: &Call<'_>, value: &mut Value, name: &str) -> ApiResult<()> {
    settle_namespace(call, value)?;
    match meta::name(value) {
        given if name.is_empty() || given == name => Ok(()),
        "" => Err(nameless(name)),
        given => Err(ApiError::bad_request(format!(
            "the name of the object ({given}) does not match the name on the URL ({name})"
        ))),
    }
}

/// Refuses a body without a name.
pub(crate) fn nameless(name: &str) -> ApiError {
    ApiError::bad_request(format!(
        "the name of the object ({name} based on URL) was undeterminable: name must be provided"
    ))
}

/// Sets an object's namespace to that of the path, unless it names another one
/// (`EnsureObjectNamespaceMatchesRequestNamespace` of apiserver's pkg/registry/rest/meta.go).
pub(crate) fn settle_namespace(call: &Call<'_>, value: &mut Value) -> ApiResult<()> {
    if !call.def.namespaced {
        meta::remove(value, "namespace");
        return Ok(());
    }
    let given = meta::namespace(value);
    if !given.is_empty() && given != call.path.namespace && !call.path.empty_namespace {
        return Err(ApiError::bad_request(
            "the namespace of the provided object does not match the namespace sent on the request",
        ));
    }
    meta::set(value, "namespace", call.path.namespace.clone());
    Ok(())
}

/// Removes unknown fields and reports them as the client requested.
pub(crate) fn settle_fields(
    call: &Call<'_>,
    value: &mut Value,
    duplicates: &Duplicates,
    options: &WriteOptions,
) -> ApiResult<()> {
    fields(call, value, duplicates, options, settle).map_err(|fault| undecodable(&call.def, &fault))
}

/// Refuses a body that is no object of its kind (`transformDecodeError` of endpoints/handlers/rest.go).
pub(crate) fn undecodable(def: &ResourceDef, fault: &str) -> ApiError {
    undecodable_as(&def.kind, &def.version, fault)
}

/// As [`undecodable`], for an object of another kind.
pub(crate) fn undecodable_as(kind: &str, version: &str, fault: &str) -> ApiError {
    let version = golang::quote(version);
    ApiError::bad_request(format!("{kind} in version {version} cannot be handled as a {kind}: {fault}"))
}

/// As [`settle_fields`], with the bare fault, and another way to decode built-in kinds.
pub(crate) fn fields(
    call: &Call<'_>,
    value: &mut Value,
    duplicates: &Duplicates,
    options: &WriteOptions,
    settle: Settle,
) -> Result<(), String> {
    let mut unknown = unknown_fields(&call.def, value, settle)?;
    if call.def.is_custom() {
        return report(call, &unknown, duplicates, options);
    }
    duplicates.order(&mut unknown);
    report(call, &unknown, &duplicates.of_known(&unknown), options)
}

/// Decodes an object as one of its kind, and removes the fields that this does not know; returns their paths.
///
/// # Errors
/// Returns the fault of an object that is not of its kind.
pub(crate) fn unknown_fields(
    def: &ResourceDef,
    value: &mut Value,
    settle: Settle,
) -> Result<Vec<String>, String> {
    match &def.behaviour {
        Behaviour::BuiltIn(built_in) => {
            let managers = value.pointer("/metadata/managedFields").and_then(Value::as_array);
            let resets = managers.is_some_and(Vec::is_empty);
            let unknown = builtin::settle(built_in, value, settle)?;
            if resets {
                // Objects of Go types keep an empty list, which removes all ownership as an empty entry does
                // (`isResetManagedFields` of apimachinery's pkg/util/managedfields). For custom resources, `SetObjectMeta` of
                // apiextensions' pkg/apiserver/schema/objectmeta has dropped the list before that.
                meta::set(value, "managedFields", json!([{}]));
            }
            Ok(unknown)
        }
        Behaviour::Custom(custom) => {
            let of_metadata = custom.coerce(value)?;
            // In kube-apiserver's order: the object's metadata, then the schema, then embedded metadata.
            let is_own = |path: &String| path.starts_with("metadata.");
            let (mut unknown, embedded): (Vec<_>, Vec<_>) = of_metadata.into_iter().partition(is_own);
            let mut pruned = custom.prune(value);
            pruned.sort();
            unknown.extend(pruned);
            unknown.extend(embedded);
            Ok(unknown)
        }
    }
}

/// Decodes the body as an object of a type that is no resource of its own.
pub(crate) fn read_typed(
    call: &Call<'_>,
    (group, version, kind): (&str, &str, &str),
    options: &WriteOptions,
) -> ApiResult<Value> {
    let Decoded { mut value, duplicates } = read_object_as(call, kind)?;
    let def = ResourceDef {
        group: group.to_owned(),
        version: version.to_owned(),
        kind: kind.to_owned(),
        ..call.def.as_ref().clone()
    };
    let is_named = |kind: &Value| kind.as_str().is_none_or(|kind| matches!(kind, "" | "Eviction"));
    if kind == "Eviction" && is_named(&value["kind"]) && value["apiVersion"] == "policy/v1beta1" {
        // `AcceptsGroupVersion` of pkg/registry/core/pod/storage/eviction.go.
        value["apiVersion"] = def.api_version().into();
    }
    identity::check_as(call, &def, &mut value)?;
    let undecodable = |fault: String| undecodable_as(kind, version, &fault);
    let Some(message) = types::of_kind(&def.api_version(), kind) else { return Ok(value) };
    let mut unknown = settle(&mut value, message).map_err(undecodable)?;
    duplicates.order(&mut unknown);
    report(call, &unknown, &duplicates.of_known(&unknown), options).map_err(undecodable)?;
    Ok(value)
}

/// Reports unknown and repeated fields as the client requested: as warnings or as an error.
pub(crate) fn report(
    call: &Call<'_>,
    unknown: &[String],
    duplicates: &Duplicates,
    options: &WriteOptions,
) -> Result<(), String> {
    let unknown = unknown.iter().map(|path| unknown_field(path));
    match options.field_validation {
        FieldValidation::Ignore => Ok(()),
        FieldValidation::Warn => {
            duplicates.warnings().into_iter().chain(unknown).for_each(|warning| call.warn(&warning));
            Ok(())
        }
        FieldValidation::Strict => refuse_strictly(duplicates.errors().into_iter().chain(unknown)),
    }
}

fn unknown_field(path: &str) -> String {
    format!("unknown field {}", golang::quote(path))
}

fn refuse_strictly(faults: impl Iterator<Item = String>) -> Result<(), String> {
    let faults: Vec<String> = faults.collect();
    if faults.is_empty() { Ok(()) } else { Err(format!("strict decoding error: {}", faults.join(", "))) }
}

/// As [`settle_fields`] for an applied configuration, which stays as the client wrote it, and has to fit its schema.
pub(crate) fn settle_applied(
    call: &Call<'_>,
    value: &Value,
    duplicates: &Duplicates,
    options: &WriteOptions,
) -> ApiResult<()> {
    let def = &call.def;
    match &def.behaviour {
        Behaviour::BuiltIn(built_in) => {
            let faults = match built_in.message() {
                Some(message) => apply::declared_faults(value, message),
                None => {
                    let unknown = builtin::settle(built_in, &mut value.clone(), settle);
                    let unknown = unknown.map_err(|fault| undecodable(def, &fault))?;
                    unknown.iter().map(|path| format!(".{path}: field not declared in schema")).collect()
                }
            };
            refuse_untyped(value, &faults)?;
        }
        Behaviour::Custom(_) => managed::check_config(call, value)?,
    }
    match options.field_validation {
        FieldValidation::Ignore => Ok(()),
        FieldValidation::Warn => {
            duplicates.warnings().iter().for_each(|warning| call.warn(warning));
            Ok(())
        }
        FieldValidation::Strict if duplicates.is_empty() => Ok(()),
        FieldValidation::Strict => {
            let prefix = "error strict decoding YAML: error converting YAML to JSON: ";
            Err(ApiError::bad_request(format!("{prefix}{}", duplicates.errors().join(", "))))
        }
    }
}

/// Refuses a configuration that does not fit its type.
pub(crate) fn check_declared(config: &Value, message: &'static Type) -> ApiResult<()> {
    refuse_untyped(config, &apply::declared_faults(config, message))
}

fn refuse_untyped(config: &Value, faults: &[String]) -> ApiResult<()> {
    apply::joined(faults).map_err(|faults| {
        let about = apply::about(config);
        ApiError::unexpected(format!("failed to create typed patch object ({about}): {faults}"))
    })
}

/// The way in which admission changed an object, which decides how it is decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// The patch of a webhook.
    Webhook,
    /// The JSON patch of a policy, which may set no unknown fields.
    Operations,
    /// The apply configuration of a policy.
    Configuration,
}

/// Normalizes an object that admission changed. Custom resources keep nulls without a default, which are validated. Their unknown
/// fields and empty metadata stay until the object is stored.
///
/// # Errors
/// Returns the fault of an object that is not of its kind.
pub(crate) fn settle_changed(def: &ResourceDef, value: &mut Value, change: Change) -> Result<(), String> {
    if let Behaviour::Custom(custom) = &def.behaviour {
        // Only reading the stored object decodes its metadata, and drops what it cannot decode.
        custom.drop_invalid_metadata(value);
        custom.coerce(value)?;
        custom.fill_defaults(value);
        return Ok(());
    }
    let settle = if change == Change::Configuration { settle_merged } else { settle };
    // Only a request takes all ownership away by an empty list. Admission leaves the object without managers.
    if value["metadata"]["managedFields"].as_array().is_some_and(Vec::is_empty) {
        meta::remove(value, "managedFields");
    }
    let unknown = unknown_fields(def, value, settle)?;
    if change == Change::Operations {
        refuse_strictly(unknown.iter().map(|path| unknown_field(path)))?;
    }
    meta::tidy(value);
    default(def, value, Stage::Update);
    Ok(())
}

pub(crate) fn default(def: &ResourceDef, value: &mut Value, stage: Stage) {
    match &def.behaviour {
        Behaviour::BuiltIn(built_in) => (built_in.default)(value, stage),
        Behaviour::Custom(custom) => custom.fill_defaults(value),
    }
}

/// Refuses an object that is nested too deeply to be read again from its JSON.
pub(crate) fn check_depth(value: &Value) -> ApiResult<()> {
    if meta::is_deeper(value, meta::MAX_DEPTH) {
        let text = format!("the object is nested deeper than {} levels", meta::MAX_DEPTH);
        return Err(ApiError::bad_request(text));
    }
    Ok(())
}
