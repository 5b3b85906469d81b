//! The patches of mutating policies.
//!
//! Source: apiserver's pkg/admission/plugin/policy/mutating/patch.

use std::sync::Arc;

use kubesmith_apiextensions::admission::{Evaluation, Failed, POLICY_BUDGET};
use kubesmith_apiextensions::cel::{NamedExpression, PatchFault, Session};
use kubesmith_apimachinery::golang;
use kubesmith_apimachinery::patch::{JsonPatchError, json_patch};
use serde_json::Value;

use super::super::attributes::Attributes;
use super::super::input::Input;
use super::super::patched::check_kind;
use crate::apply::{self, Typed};
use crate::bodies::identity;
use crate::bodies::{self, Change};
use crate::hooks::Patch;
use crate::managed;
use crate::meta;
use crate::registry::ResourceDef;
use crate::status::ApiError;
use crate::types;

/// The reason why a patch is not applied.
#[derive(Debug)]
pub(super) enum Unpatched {
    /// The patch failed; it counts only if the policy's failures do.
    Failed(String),
    /// The request is refused.
    Refused(ApiError),
}

impl Patch {
    /// Returns the patched object in the version of `def`.
    ///
    /// # Errors
    /// Returns the reason why it is not applied.
    pub(super) fn apply(
        &self,
        attributes: &Attributes<'_>,
        def: &Arc<ResourceDef>,
        object: &Value,
        input: &Input<'_>,
        variables: &[NamedExpression],
    ) -> Result<Value, Unpatched> {
        let described = self.describe(input, variables)?;
        let patched = match self.is_json_patch {
            true => by_operations(attributes, def, object, &described),
            false => by_configuration(attributes, def, object, described),
        }?;
        let requested = attributes.def();
        if let (Some((group, version, _)), true) = (attributes.own_kind(), def.is_custom()) {
            // `ConvertToVersion` of apiextensions-apiserver's pkg/apiserver/conversion.
            let text = format!("request to convert CR to an invalid group/version: {group}/{version}");
            return Err(Unpatched::Failed(text));
        }
        if attributes.is_resource() && !def.is_custom() && def.api_version() != requested.api_version() {
            // `dispatchOne` of mutating/dispatcher.go converts to the version of the request, without the internal one.
            let (from, to) = (&def.version, &requested.version);
            return Err(Unpatched::Failed(format!(
                "converting ({from}.{}) to ({to}.{}): unknown conversion",
                def.kind, requested.kind
            )));
        }
        Ok(patched)
    }

    /// The configuration or the list of operations.
    fn describe(&self, input: &Input<'_>, variables: &[NamedExpression]) -> Result<Value, Unpatched> {
        let expression = self.expression.as_ref().map_err(|error| Unpatched::Failed(error.clone()))?;
        let bindings = input.bindings();
        let session = Session::new(&bindings, variables);
        let mut evaluation = Evaluation { session: &session, budget: POLICY_BUDGET };
        match evaluation.patch(&self.source, expression) {
            Ok(described) => described.map_err(|fault| match fault {
                PatchFault::Failed(error) => Unpatched::Failed(error),
                PatchFault::Panic(error) => Unpatched::Refused(ApiError::internal_of(error)),
            }),
            Err(Failed::Expression(error) | Failed::Budget(error)) => Err(Unpatched::Failed(error)),
        }
    }
}

/// Applies a JSON patch. One whose `test` fails changes nothing.
fn by_operations(
    attributes: &Attributes<'_>,
    def: &Arc<ResourceDef>,
    object: &Value,
    operations: &Value,
) -> Result<Value, Unpatched> {
    let operations = operations.as_array().map_or(&[][..], Vec::as_slice);
    // In a policy's patch, a null value is the text `null`. The library compares that with Go's nil, so such a test fails
    // (`test` of evanphx/json-patch, and `evaluatePatchExpression` of plugin/policy/mutating/patch/json_patch.go).
    let is_null_test =
        |operation: &Value| operation["op"] == "test" && operation.get("value").is_some_and(Value::is_null);
    let null_test = operations.iter().position(is_null_test);
    let run = null_test.map_or(operations, |at| &operations[..=at]);
    let mut patched = match json_patch(object, run) {
        Ok(_) if null_test.is_some() => return Ok(object.clone()),
        Ok(patched) => patched,
        Err(JsonPatchError::Test(_)) => return Ok(object.clone()),
        Err(error) => return Err(Unpatched::Failed(format!("JSON Patch: {error}"))),
    };
    let refused = |text: String| Unpatched::Refused(ApiError::internal_of(text));
    other_kind(attributes, def, object, &patched)?;
    check_kind(def, object, &mut patched).map_err(refused)?;
    if attributes.is_resource() {
        bodies::settle_changed(def, &mut patched, Change::Operations).map_err(refused)?;
    }
    Ok(patched)
}

/// Refuses an object that has become one of another built-in kind (`Patch` of mutating/patch/json_patch.go): it is decoded as that
/// kind. One of another group or version cannot be converted to the version of the request, which fails the policy (`dispatchOne`
/// of mutating/dispatcher.go). Only another kind of this version fails the request (`dispatchInvocations` there).
fn other_kind(
    attributes: &Attributes<'_>,
    def: &ResourceDef,
    object: &Value,
    patched: &Value,
) -> Result<(), Unpatched> {
    let stated = |value| (meta::member(value, "apiVersion"), meta::member(value, "kind"));
    let (version, kind) = stated(patched);
    if def.is_custom() || (version, kind) == stated(object) {
        return Ok(());
    }
    let is_it = |other: &&Arc<ResourceDef>| {
        !other.is_custom() && other.kind == kind && other.api_version() == version
    };
    let Some(other) = attributes.call.server.registry().all().find(is_it).cloned() else { return Ok(()) };
    let refused = |text: String| Unpatched::Refused(ApiError::internal_of(text));
    bodies::settle_changed(&other, &mut patched.clone(), Change::Operations).map_err(refused)?;
    let (group, version, own) = attributes.own_kind().unwrap_or((&def.group, &def.version, &def.kind));
    let given = format!("{}.{kind}", other.version);
    let fault = if other.group != group {
        let target = if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") };
        let (target, scheme) = (golang::quote(&target), golang::quote(identity::SCHEME));
        format!("{given} is not suitable for converting to {target} in scheme {scheme}")
    } else if other.version != version {
        format!("converting ({given}) to ({version}.{kind}): unknown conversion")
    } else {
        let internal = match group.split('.').next() {
            None | Some("") => "core",
            Some(name) => name,
        };
        return Err(refused(format!(
            "failed to convert object: converting ({given}) to ({internal}.{own}): unknown conversion"
        )));
    };
    Err(Unpatched::Failed(fault))
}

/// Merges an apply configuration, which gets no manager.
fn by_configuration(
    attributes: &Attributes<'_>,
    def: &Arc<ResourceDef>,
    object: &Value,
    mut configuration: Value,
) -> Result<Value, Unpatched> {
    for name in ["apiVersion", "kind"] {
        configuration[name] = object[name].clone();
    }
    let of_subresource;
    let (typed, api_version) = match attributes.own_kind() {
        None => (managed::rules_of(def), def.api_version()),
        // The types are those of the OpenAPI document of the kind's own group and version. The other kinds of subresources are
        // in that of the resource, or in none.
        Some((group, version, kind)) if kind != "Binding" => {
            return Err(Unpatched::Failed(format!(
                "error applying patch: failed to convert patch object to typed object: no corresponding type for \
                 {group}/{version}, Kind={kind}"
            )));
        }
        Some((group, version, kind)) => {
            of_subresource = Typed::builtin(group, version, kind);
            (Some(&of_subresource), meta::member(object, "apiVersion").to_owned())
        }
    };
    let kind = meta::member(object, "kind");
    let Some(typed) = typed else {
        return Err(Unpatched::Failed(format!("there is no version {api_version} of {kind}")));
    };
    let declared = types::of_kind(&api_version, kind).filter(|_| !def.is_custom());
    let mut merged = apply::merge_unowned(typed, declared, object, &configuration)
        .map_err(|error| Unpatched::Failed(format!("error applying patch: {error}")))?;
    if attributes.is_resource() {
        bodies::settle_changed(def, &mut merged, Change::Configuration).map_err(|fault| {
            let (group, version) = (&def.group, &def.version);
            let api = if group.is_empty() { format!("/{version}") } else { format!("{group}/{version}") };
            let fault = golang::from_unstructured(&fault);
            Unpatched::Failed(format!("unable to convert unstructured object to {api}, Kind={kind}: {fault}"))
        })?;
    }
    Ok(merged)
}
