//! PATCH.

use std::sync::Arc;

use kubesmith_apimachinery::golang;
use kubesmith_apimachinery::patch::merge_patch;
use serde_json::{Value, json};

use super::update::{self, Edit};
use super::{create, read, write};
use crate::bodies::{self, identity};
use crate::http::decode::{self, Decoded};
use crate::http::negotiate::{self, PatchKind};
use crate::http::query::{FieldValidation, WriteOptions};
use crate::http::reply::Reply;
use crate::meta;
use crate::names;
use crate::patching;
use crate::registry::{Behaviour, ResourceDef};
use crate::server::Call;
use crate::status::{ApiError, ApiResult, Cause, ErrorSubject};
use crate::store::Object;
use crate::types::decode::{Settle, settle, settle_merged};
use crate::types::{Type, show};

pub(super) async fn patch(call: &Call<'_>) -> ApiResult<Reply> {
    let kind = negotiate::patch_kind(call.headers, call.def.is_custom())?;
    let options = options(call, kind)?;
    let patch = read_patch(call, kind, &options)?;
    if kind == PatchKind::Apply {
        return apply(call, patch, &options).await;
    }
    let mut edit = Patched { call, kind, patch: &patch, options: &options };
    let object = update::change(call, &options, &mut edit).await?;
    read::shown(call, 200, &object).await
}

/// The options of a patch of this kind.
pub(super) fn options(call: &Call<'_>, kind: PatchKind) -> ApiResult<WriteOptions> {
    let mut options = WriteOptions::parse(&call.query, "PatchOptions")?;
    options.applying = kind == PatchKind::Apply;
    let refuse = |cause| Err(ApiError::invalid_options("PatchOptions", vec![cause]));
    if kind != PatchKind::Apply && call.query.has("force") {
        return refuse(Cause::forbidden("force", "may not be specified for non-apply patch"));
    }
    if kind == PatchKind::Apply && options.field_manager.is_empty() {
        return refuse(Cause::required("fieldManager", "is required for apply patch"));
    }
    Ok(options)
}

/// A patch other than an apply.
struct Patched<'a> {
    call: &'a Call<'a>,
    kind: PatchKind,
    patch: &'a Decoded,
    options: &'a WriteOptions,
}

impl Edit for Patched<'_> {
    async fn edit(&mut self, current: &Value) -> ApiResult<Value> {
        let mut next = current.clone();
        carry_out(self.call, self.kind, &mut next, &self.patch.value)?;
        self.settle(current, &mut next)?;
        Ok(next)
    }
}

impl Patched<'_> {
    /// Completes a patched object. An error shows the object as the patch left it.
    fn settle(&self, current: &Value, next: &mut Value) -> ApiResult<()> {
        let call = self.call;
        self.check_identity(current, next)?;
        let settle = self.change().settle();
        bodies::fields(call, next, &self.patch.duplicates, self.options, settle)
            .map_err(|fault| self.refused(current, &fault))?;
        bodies::check_kind(&call.def, next)?;
        bodies::check_place(call, next, &call.path.name)
    }

    /// Checks the identity of a patched object, which is decoded as any other; a strategic merge patch always results
    /// in the resource's kind.
    fn check_identity(&self, current: &Value, next: &mut Value) -> ApiResult<()> {
        let (call, def) = (self.call, &self.call.def);
        if def.is_custom() {
            keeps_version(call, next)?;
            return identity::check(call, next);
        }
        if self.kind != PatchKind::Strategic {
            identity::not_internal(call, def, next)?;
        }
        let patched = || self.patched(current);
        self.change().identify(call, def, next, patched).map_err(|fault| self.refused(current, &fault))
    }

    /// Runs the patch once more: errors show its result, which the following steps changed.
    fn patched(&self, current: &Value) -> Value {
        let mut patched = current.clone();
        match carry_out(self.call, self.kind, &mut patched, &self.patch.value) {
            Ok(()) => patched,
            // The patch has succeeded before.
            Err(_) => Value::Null,
        }
    }

    fn change(&self) -> Change<'_> {
        Change { of: message(self.call), kind: self.kind, patch: &self.patch.value }
    }

    fn refused(&self, current: &Value, fault: &str) -> ApiError {
        self.change().refused(&self.patched(current), fault)
    }
}

/// A patch of an object of a built-in kind, or of its scale.
pub(super) struct Change<'a> {
    /// The type of the patched object.
    pub(super) of: Option<&'static Type>,
    pub(super) kind: PatchKind,
    pub(super) patch: &'a Value,
}

impl Change<'_> {
    /// Checks version and kind of the patched object; a strategic merge patch always results in the resource's kind.
    ///
    /// # Errors
    /// Returns an error for another kind, in kube-apiserver's words.
    pub(super) fn identify(
        &self,
        call: &Call<'_>,
        def: &ResourceDef,
        next: &mut Value,
        patched: impl Fn() -> Value,
    ) -> Result<(), String> {
        if self.kind == PatchKind::Strategic {
            for (field, own) in [("apiVersion", def.api_version()), ("kind", def.kind.clone())] {
                if next[field].is_number() {
                    return Err("cannot convert int64 to string".to_owned());
                }
                next[field] = own.into();
            }
            return Ok(());
        }
        identity::built_in(&call.server.registry(), def, next, || self.shown(&patched()))
            .map_err(|fault| fault.into_reason(def))
    }

    /// Returns the way to decode the patched object: a strategic merge results in Go's generic maps.
    pub(super) fn settle(&self) -> Settle {
        if self.kind == PatchKind::Strategic { settle_merged } else { settle }
    }

    /// Formats the patched object.
    fn shown(&self, next: &Value) -> String {
        match (self.of, self.kind) {
            (None, _) => golang::json(next),
            (Some(of), PatchKind::Json) => show::patched(next, of, &show::touched_by(self.patch)),
            (Some(of), _) => show::patched(next, of, self.patch),
        }
    }

    /// Refuses a patched object that is not of its kind (`applyJSPatch` and `strategicPatchObject` of
    /// endpoints/handlers/patch.go).
    pub(super) fn refused(&self, next: &Value, fault: &str) -> ApiError {
        let shown = match self.kind {
            PatchKind::Strategic => golang::display(self.patch),
            _ => self.shown(next),
        };
        let fault = match self.kind {
            PatchKind::Strategic => golang::from_unstructured(fault),
            _ => fault.to_owned(),
        };
        let cause = Cause::invalid("patch", golang::quote(&shown), &fault);
        ApiError::invalid(ErrorSubject::default(), vec![cause])
    }
}

/// Decodes the patch. kube-apiserver looks for the object before, unless a configuration is applied.
pub(super) fn read_patch(call: &Call<'_>, kind: PatchKind, options: &WriteOptions) -> ApiResult<Decoded> {
    decoded(&call.body, kind, options.field_validation).or_else(|fault| {
        if kind != PatchKind::Apply {
            write::at_path(call)?;
        }
        Err(fault)
    })
}

fn decoded(body: &[u8], kind: PatchKind, validation: FieldValidation) -> ApiResult<Decoded> {
    // Without field validation, only the library decodes JSON and merge patches.
    let by_library = validation == FieldValidation::Ignore;
    // Go's type of the patch, and the prefix of its errors (endpoints/handlers/patch.go).
    let (decoded, into, prefix) = match kind {
        PatchKind::Json if by_library => (decode::json(body), "jsonpatch.Patch", ""),
        PatchKind::Json => (decode::json_patch(body), "[]handlers.jsonPatchOp", "error decoding patch: "),
        PatchKind::Merge if by_library && decode::json(body).is_err() => return Err(bad_json_patch()),
        PatchKind::Merge => (decode::json(body), golang::MAP, "error decoding patch: "),
        PatchKind::Strategic => (decode::json(body), golang::MAP, ""),
        PatchKind::Apply => (configuration(body), golang::MAP, "error decoding YAML: "),
    };
    let refuse = |why: &str| Err(ApiError::bad_request(format!("{prefix}{why}")));
    let mut decoded = match decoded {
        Ok(decoded) => decoded,
        Err(why) => return refuse(&why),
    };
    match (kind, &decoded.value) {
        (PatchKind::Json, Value::Array(_)) => {}
        (PatchKind::Merge | PatchKind::Strategic | PatchKind::Apply, Value::Object(_)) => {}
        (PatchKind::Merge, Value::Null) => return Err(bad_json_patch()),
        (PatchKind::Json, Value::Null) => decoded.value = json!([]),
        (_, Value::Null) => decoded.value = json!({}),
        (PatchKind::Apply, other) => {
            let why = golang::cannot_unmarshal(other, into);
            return refuse(&format!("error unmarshaling JSON: while decoding JSON: {why}"));
        }
        (_, other) => return refuse(&golang::cannot_unmarshal(other, into)),
    }
    if kind == PatchKind::Apply {
        // kube-apiserver reads a configuration as YAML, and converting that to JSON normalizes numbers.
        meta::go_numbers(&mut decoded.value);
    }
    Ok(decoded)
}

/// The error of evanphx/json-patch (`ErrBadJSONPatch`).
fn bad_json_patch() -> ApiError {
    ApiError::bad_request("Invalid JSON Patch")
}

/// Decodes a configuration to apply: YAML, of which valid JSON is decoded by the faster parser.
fn configuration(body: &[u8]) -> Result<Decoded, String> {
    match decode::json(body) {
        Ok(decoded) if decoded.duplicates.is_empty() => Ok(decoded),
        _ => decode::yaml(body),
    }
}

/// Runs a patch other than an apply.
pub(super) fn carry_out(
    call: &Call<'_>,
    kind: PatchKind,
    target: &mut Value,
    patch: &Value,
) -> ApiResult<()> {
    match kind {
        PatchKind::Json => patching::json_patch(target, patch)?,
        PatchKind::Merge => merge_patch(target, patch),
        PatchKind::Strategic | PatchKind::Apply => {
            patching::strategic_merge_patch(target, patch, message(call))?;
        }
    }
    if target.is_object() { Ok(()) } else { Err(ApiError::unprocessable_patch()) }
}

/// Returns the type of the patched object.
fn message(call: &Call<'_>) -> Option<&'static Type> {
    match &call.def.behaviour {
        Behaviour::BuiltIn(built_in) => built_in.message(),
        Behaviour::Custom(_) => None,
    }
}

/// Refuses a patch that changes the `apiVersion` of a custom resource.
fn keeps_version(call: &Call<'_>, next: &Value) -> ApiResult<()> {
    let (version, kind) = type_of(next);
    let expected = call.def.api_version();
    if !call.def.is_custom() || version.is_empty() || kind.is_empty() || version == expected {
        return Ok(());
    }
    let group = version.split_once('/').map_or("", |(group, _)| group);
    let cause = Cause::invalid("apiVersion", names::quoted(version), &format!("must be {expected}"));
    Err(ApiError::invalid(ErrorSubject::new(group, kind, meta::name(next)), vec![cause]))
}

/// Runs a server-side apply.
async fn apply(call: &Call<'_>, patch: Decoded, options: &WriteOptions) -> ApiResult<Reply> {
    let def = &call.def;
    let wanted = patch.value;
    if !call.path.subresource.is_empty() && !update::creates(def) {
        write::at_path(call)?;
    }
    let (version, kind) = type_of(&wanted);
    let version = version.strip_prefix('/').unwrap_or(version);
    if (version, kind) != (def.api_version().as_str(), def.kind.as_str()) {
        // With a malformed group and version, the kind is dropped as well.
        let (version, kind) = if version.matches('/').count() > 1 { ("", "") } else { (version, kind) };
        return Err(no_object(version, kind));
    }
    let about = crate::apply::about(&wanted);
    crate::managed::unmanaged(&wanted)?;
    bodies::settle_applied(call, &wanted, &patch.duplicates, options)?;
    let applied = Applied { call, wanted, about, options };
    let (object, created) = applied.carry_out().await?;
    read::shown(call, if created { 201 } else { 200 }, &object).await
}

/// Returns `apiVersion` and kind of a configuration.
pub(super) fn type_of(value: &Value) -> (&str, &str) {
    let text = |key: &str| value[key].as_str().unwrap_or_default();
    (text("apiVersion"), text("kind"))
}

/// Refuses a configuration of another kind.
pub(super) fn no_object(version: &str, kind: &str) -> ApiError {
    let (group, version) = version.split_once('/').unwrap_or(("", version));
    ApiError::bad_request(format!("invalid object type: {group}/{version}, Kind={kind}"))
}

/// An applied configuration.
struct Applied<'a> {
    call: &'a Call<'a>,
    wanted: Value,
    /// The description of the configuration in errors.
    about: String,
    options: &'a WriteOptions,
}

impl Applied<'_> {
    /// Creates or changes the object; returns whether it is new.
    async fn carry_out(mut self) -> ApiResult<(Arc<Object>, bool)> {
        let Self { call, options, .. } = self;
        let def = &call.def;
        let key = def.key(&call.path.namespace, &call.path.name);
        let may_create = call.path.subresource.is_empty() || update::creates(def);
        let is_new = may_create && call.server.store.get(&def.collection, &key).is_none();
        if !is_new {
            return Ok((update::change(call, options, &mut self).await?, false));
        }
        let merged = self.merged(None).await?;
        Ok((create::insert(call, merged, options).await?, true))
    }

    /// Returns the configuration merged into the live object, normalized to its type (`applyPatch` of
    /// endpoints/handlers/patch.go).
    async fn merged(&self, live: Option<&Value>) -> ApiResult<Value> {
        let call = self.call;
        let mut merged = crate::managed::applied(call, live, &self.wanted, self.options).await?;
        if let Behaviour::Custom(custom) = &call.def.behaviour {
            custom.drop_invalid_metadata(&mut merged);
            // The live object may have an open part around what the configuration gives (`schemaCoercingConverter` of
            // apiextensions-apiserver's pkg/apiserver/customresource_handler.go).
            custom.prune_unknown(&mut merged);
        } else {
            bodies::unknown_fields(&call.def, &mut merged, settle_merged)
                .map_err(|fault| unconvertible(&self.about, &fault))?;
        }
        let uid = meta::text(&merged, "uid");
        if live.is_none() && !uid.is_empty() {
            let text = format!(
                "uid mismatch: the provided object specified uid {uid}, and no existing object was found"
            );
            return Err(ApiError::conflict(call.def.subject(&call.path.name), &text));
        }
        bodies::check_place(call, &mut merged, &call.path.name)?;
        Ok(merged)
    }
}

impl Edit for Applied<'_> {
    async fn edit(&mut self, current: &Value) -> ApiResult<Value> {
        self.merged(Some(current)).await
    }
}

/// Refuses a merged object that is not of its kind (`Apply` of apimachinery's
/// util/managedfields/internal/structuredmerge.go).
pub(super) fn unconvertible(about: &str, fault: &str) -> ApiError {
    let kind = about.split_once("; ").map_or(about, |(_, kind)| kind);
    let fault = golang::from_unstructured(fault);
    ApiError::unexpected(format!(
        "failed to convert new object ({about}) to proper version: unable to convert unstructured object to {kind}: {fault}"
    ))
}
