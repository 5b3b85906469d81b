//! `ValidatingAdmissionPolicy`: expressions that a request has to meet.
//!
//! Source: apiserver's pkg/admission/plugin/policy/validating. There is no audit log, so audit annotations only matter
//! when they fail.

use kubesmith_apiextensions::admission::{Denial, INVALID, Validations};
use serde_json::Value;

use super::super::attributes::{Attributes, Versioned, Versions};
use super::super::input::Input;
use super::{Invocation, Misconfigured, applying, are_exempt, namespace_of};
use crate::status::{ApiError, ApiResult, Cause};

/// Runs the validating policies; `object` is the object to store.
///
/// # Errors
/// Returns the first refusal.
pub(in crate::admission) async fn validate(
    attributes: &Attributes<'_>,
    object: Option<&Value>,
) -> ApiResult<()> {
    let hooks = attributes.call.server.hooks();
    let policies = &hooks.policies.validating;
    if policies.is_empty() || are_exempt(attributes) {
        return Ok(());
    }
    let mut versions = Versions::new(attributes, object);
    let mut namespace = None;
    let mut first = None;
    for found in applying(policies, attributes, object).await {
        let refused = match found {
            Err(misconfigured) => refusal_of(&misconfigured),
            Ok(invocation) => match versions.index(&invocation.def).await {
                Err(error) => {
                    let text = format!("failed to convert object version: {}", error.message());
                    let Invocation { policy, binding, .. } = invocation;
                    refusal_of(&Misconfigured::binding(policy, binding, &text))
                }
                Ok(at) => {
                    let namespace = match &mut namespace {
                        Some(known) => known,
                        None => namespace.insert(namespace_of(attributes)?),
                    };
                    let denials = evaluate(attributes, &invocation, &versions.made[at], namespace);
                    act(attributes, &invocation, denials)
                }
            },
        };
        first = first.or(refused);
    }
    match first {
        Some((message, reason)) => Err(refused(attributes, object, &message, reason)),
        None => Ok(()),
    }
}

type Refusal = (String, &'static str);

fn refusal_of(misconfigured: &Misconfigured<'_, Validations>) -> Option<Refusal> {
    let Misconfigured { policy, binding, message } = misconfigured;
    let with = binding.map_or_else(String::new, |binding| format!(" with binding '{}'", binding.name));
    let text = format!("ValidatingAdmissionPolicy '{}'{with} denied request: {message}", policy.name);
    policy.fails.then_some((text, INVALID))
}

/// Carries out the actions of a binding; returns the first refusal.
fn act(
    attributes: &Attributes<'_>,
    invocation: &Invocation<'_, Validations>,
    denials: Vec<Denial>,
) -> Option<Refusal> {
    let Invocation { policy, binding, .. } = invocation;
    let place = format!("ValidatingAdmissionPolicy '{}' with binding '{}'", policy.name, binding.name);
    let mut first = None;
    for Denial { message, reason, by_action } in denials {
        let has = |action: &str| binding.actions.iter().any(|own| own == action);
        if by_action && has("Warn") {
            attributes.call.warn(&format!("Validation failed for {place}: {message}"));
        }
        if first.is_none() && (!by_action || has("Deny")) {
            first = Some((format!("{place} denied request: {message}"), reason));
        }
    }
    first
}

fn refused(
    attributes: &Attributes<'_>,
    object: Option<&Value>,
    message: &str,
    reason: &'static str,
) -> ApiError {
    let about = attributes.def().subject(&attributes.shown_name(object));
    let code = match reason {
        "Forbidden" => 403,
        "Unauthorized" => 401,
        "RequestEntityTooLarge" => 413,
        _ => 422,
    };
    ApiError::forbidden(about, message).with_reason(code, reason).with_causes(vec![Cause::new(
        "",
        "",
        message.to_owned(),
    )])
}

/// Evaluates a policy (`Validate` of validating/validator.go).
fn evaluate(
    attributes: &Attributes<'_>,
    invocation: &Invocation<'_, Validations>,
    versioned: &Versioned,
    namespace: &Value,
) -> Vec<Denial> {
    let Invocation { policy, params, .. } = invocation;
    let input = Input::new(attributes, versioned).with_params(params);
    match policy.conditions.hold(&input.bindings()) {
        Ok(true) => {}
        Ok(false) => return Vec::new(),
        Err(error) => return Denial::of_error(policy.fails, error).into_iter().collect(),
    }
    policy.body.check(&policy.variables, policy.fails, &input.with_namespace(namespace).bindings())
}
