//! Authorizes writers of admission policies and their bindings to read the parameters:
//! pkg/registry/admissionregistration, `authz.go` of policies and bindings.

use serde_json::Value;

use super::decide;
use crate::access::{Attributes, AuthorizationMode, MASTERS, Resource, Target, is_member, username};
use crate::groups;
use crate::meta;
use crate::server::Call;
use crate::status::{ApiError, ApiResult, Cause};

const ANY: &str = "*";

/// Refuses parameters that the writer cannot read.
///
/// # Errors
/// Returns `Invalid`, as kube-apiserver does.
pub(crate) fn check(call: &Call<'_>, old: Option<&Value>, object: &Value) -> ApiResult<()> {
    let checked = call.def.group == groups::ADMISSION_REGISTRATION
        && call.server.options().authorization == AuthorizationMode::Rbac;
    if !checked || is_member(&call.user, MASTERS) {
        return Ok(());
    }
    let stays = |field: &str| old.is_some_and(|old| old["spec"][field] == object["spec"][field]);
    let (field, refusal) = match call.def.plural.as_str() {
        "validatingadmissionpolicies" | "mutatingadmissionpolicies" if !stays("paramKind") => {
            ("paramKind", of_policy(call, &object["spec"]["paramKind"]))
        }
        "validatingadmissionpolicybindings" | "mutatingadmissionpolicybindings"
            if !(stays("paramRef") && stays("policyName")) =>
        {
            ("paramRef", of_binding(call, &object["spec"]))
        }
        _ => return Ok(()),
    };
    let Some(refusal) = refusal else { return Ok(()) };
    let cause = Cause::forbidden(format!("spec.{field}"), &refusal);
    Err(ApiError::invalid(call.def.subject_of_kind(meta::name(object)), vec![cause]))
}

/// Returns the error if the writer of a policy cannot read every object of the parameters' kind.
fn of_policy(call: &Call<'_>, kind: &Value) -> Option<String> {
    let (group, resource, _) = resolved(call, kind)?;
    let everywhere =
        Resource { group: &group, resource: &resource, name: ANY, namespace: ANY, subresource: "" };
    if may(call, "get", everywhere) {
        return None;
    }
    Some(format!(
        "user {} must have \"get\" permission on all objects of the referenced paramKind (kind={}, apiVersion={})",
        shown(&call.user),
        meta::member(kind, "kind"),
        meta::member(kind, "apiVersion")
    ))
}

/// Returns the error if the writer of a binding cannot read the parameters that it names.
fn of_binding(call: &Call<'_>, spec: &Value) -> Option<String> {
    let reference = &spec["paramRef"];
    if !reference.is_object() {
        return None;
    }
    let (policies, policy) =
        (call.def.plural.replace("policybindings", "policies"), meta::member(spec, "policyName"));
    let registry = call.server.registry();
    let def = registry.find(&call.def.group, &call.def.version, &policies)?;
    let stored = call.server.store.get(&def.collection, policy);
    let kind = stored.as_ref().map(|policy| policy.value["spec"]["paramKind"].clone());
    let any = || (ANY.to_owned(), ANY.to_owned(), true);
    let (group, resource, is_known) = kind.as_ref().and_then(|kind| resolved(call, kind)).unwrap_or_else(any);
    let (name, namespace) = (meta::member(reference, "name"), meta::member(reference, "namespace"));
    let verb = if name.is_empty() { "list" } else { "get" };
    if may(call, verb, Resource { group: &group, resource: &resource, name, namespace, subresource: "" }) {
        return None;
    }
    let user = shown(&call.user);
    let all = format!(
        "to determine minimum required permissions and user {user} does not have \"{verb}\" permission for all groups, \
         versions and resources"
    );
    Some(match kind {
        None => format!("unable to get policy {policy} {all}"),
        Some(kind) if !is_known => {
            let (version, kind) = (meta::member(&kind, "apiVersion"), meta::member(&kind, "kind"));
            format!("unable to resolve paramKind &ParamKind{{APIVersion:{version},Kind:{kind},}} {all}")
        }
        Some(_) => {
            format!("user {user} does not have \"{verb}\" permission on the object referenced by paramRef")
        }
    })
}

/// Group and resource of a kind, and whether it is served; `None` if there is no kind.
fn resolved(call: &Call<'_>, kind: &Value) -> Option<(String, String, bool)> {
    if !kind.is_object() {
        return None;
    }
    let (version, kind) = (meta::member(kind, "apiVersion"), meta::member(kind, "kind"));
    let (group, version) = version.rsplit_once('/').unwrap_or(("", version));
    let served = call.server.registry().of_version(group, version);
    let def = served.iter().find(|def| def.kind == kind);
    let resource = def.map_or(ANY, |def| def.plural.as_str());
    Some((group.to_owned(), resource.to_owned(), def.is_some()))
}

fn may(call: &Call<'_>, verb: &str, on: Resource<'_>) -> bool {
    let attributes = Attributes { user: &call.user, verb, target: Target::Resource(on) };
    decide(&call.server, &attributes).is_allowed()
}

/// A user as Go's `%v` shows it.
fn shown(user: &Value) -> String {
    let list = |list: &Value| format!("[{}]", meta::strings(list).join(" "));
    let extra = user["extra"].as_object().into_iter().flatten();
    let extra: Vec<String> = extra.map(|(key, values)| format!("{key}:{}", list(values))).collect();
    let uid = user["uid"].as_str().unwrap_or_default();
    format!("&{{{} {uid} {} map[{}]}}", username(user), list(&user["groups"]), extra.join(" "))
}
