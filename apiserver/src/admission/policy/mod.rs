//! Admission policies: `ValidatingAdmissionPolicy` and `MutatingAdmissionPolicy` with their bindings.
//!
//! Source: apiserver's pkg/admission/plugin/policy. Policies and bindings apply in the order of their names; kube-apiserver has
//! no order.

mod mutating;
mod params;
mod patch;
mod validating;

pub(super) use mutating::mutate;
pub(super) use validating::validate;

use std::sync::Arc;

use serde_json::{Value, json};

use super::attributes::Attributes;
use crate::groups::ADMISSION_REGISTRATION;
use crate::hooks::{Binding, Policy};
use crate::meta;
use crate::registry::ResourceDef;
use crate::status::{ApiError, ApiResult, ErrorSubject};

/// A policy that applies to a request, with one of its bindings and one of the binding's parameters.
struct Invocation<'p, B> {
    policy: &'p Policy<B>,
    binding: &'p Binding,
    /// The version in which the policy sees the request.
    def: Arc<ResourceDef>,
    /// `null` without parameters.
    params: Value,
}

/// A policy with a faulty configuration.
struct Misconfigured<'p, B> {
    policy: &'p Policy<B>,
    binding: Option<&'p Binding>,
    message: String,
}

impl<'p, B> Misconfigured<'p, B> {
    fn policy(policy: &'p Policy<B>, error: &str) -> Self {
        Self { policy, binding: None, message: format!("failed to configure policy: {error}") }
    }

    fn binding(policy: &'p Policy<B>, binding: &'p Binding, error: &str) -> Self {
        Self { policy, binding: Some(binding), message: format!("failed to configure binding: {error}") }
    }
}

type Found<'p, B> = Vec<Result<Invocation<'p, B>, Misconfigured<'p, B>>>;

/// The policies that apply to a request, in order.
async fn applying<'p, B>(
    policies: &'p [Arc<Policy<B>>],
    attributes: &Attributes<'_>,
    object: Option<&Value>,
) -> Found<'p, B> {
    let mut found = Vec::new();
    for policy in policies {
        let def = match policy.criteria.matches(attributes, object) {
            Ok(Some(def)) => def,
            Ok(None) => continue,
            Err(error) => {
                found.push(Err(Misconfigured::policy(policy, error.message())));
                continue;
            }
        };
        let kind = match policy.param_kind.as_ref().map(|kind| kind.resolve(attributes)).transpose() {
            Ok(kind) => kind,
            Err(error) => {
                found.push(Err(Misconfigured::policy(policy, &error)));
                continue;
            }
        };
        for binding in &policy.bindings {
            match binding.criteria.as_ref().map(|criteria| criteria.matches(attributes, object)).transpose() {
                Ok(None | Some(Some(_))) => {}
                Ok(Some(None)) => continue,
                Err(error) => {
                    found.push(Err(Misconfigured::binding(policy, binding, error.message())));
                    continue;
                }
            }
            match params::collect(attributes, kind.as_ref(), binding.param_ref.as_ref()).await {
                Ok(all) => found.extend(
                    all.into_iter()
                        .map(|params| Ok(Invocation { policy, binding, def: def.clone(), params })),
                ),
                Err(error) => found.push(Err(Misconfigured::binding(policy, binding, &error))),
            }
        }
    }
    found
}

/// Reports whether policies skip the request: otherwise they could block their own repair (`admissionResources` of
/// generic/plugin.go).
fn are_exempt(attributes: &Attributes<'_>) -> bool {
    let def = attributes.def();
    def.group == ADMISSION_REGISTRATION
        && (def.plural.contains("admissionpolicies") || def.plural.contains("admissionpolicybindings"))
}

/// The namespace of a request as expressions see it (`CreateNamespaceObject`); `null` for namespaces themselves and for
/// cluster scope.
///
/// # Errors
/// Returns `NotFound` if the request needs the namespace and it does not exist.
fn namespace_of(attributes: &Attributes<'_>) -> ApiResult<Value> {
    const SHOWN: [&str; 12] = [
        "name",
        "generateName",
        "namespace",
        "uid",
        "resourceVersion",
        "generation",
        "creationTimestamp",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
        "labels",
        "annotations",
        "finalizers",
    ];
    let (name, server) = (attributes.namespace(), &attributes.call.server);
    if name.is_empty() || attributes.is_namespace() {
        return Ok(Value::Null);
    }
    let Some(stored) = server.store.get("namespaces", name) else {
        if !server.needs_namespaces() {
            return Ok(Value::Null);
        }
        return Err(ApiError::not_found(ErrorSubject::new("", "namespaces", name)));
    };
    let member = |name: &str| stored.value.get(name).cloned().unwrap_or_else(|| json!({}));
    let mut metadata = member("metadata");
    meta::object_mut(&mut metadata).retain(|name, _| SHOWN.contains(&name.as_str()));
    Ok(json!({"metadata": metadata, "spec": member("spec"), "status": member("status")}))
}
