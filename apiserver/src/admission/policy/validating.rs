//! `ValidatingAdmissionPolicy`: expressions that a request has to meet.
//!
//! Source: apiserver's pkg/admission/plugin/policy/validating. There is no audit log, so audit annotations only matter
//! when they fail.

use kubesmith_apiextensions::admission::Compiler;
use kubesmith_apiextensions::cel::{Answer, Expression, Session};
use serde_json::Value;

use super::super::attributes::{Attributes, Versioned, Versions};
use super::super::expressions::{Evaluation, Failed};
use super::super::input::{Input, without_authorizer};
use super::{BUDGET, Body, Invocation, Misconfigured, applying, are_exempt, namespace_of};
use crate::meta;
use crate::status::{ApiError, ApiResult, Cause};

/// The longest message of a `messageExpression`, in bytes. Source: MaxEvaluatedMessageExpressionSizeBytes of the API server.
const MAX_MESSAGE: usize = 5 * 1024;

/// The default reason of a refusal.
const INVALID: &str = "Invalid";

type Compiled = Result<Expression, String>;

/// The validations and audit annotations of a policy.
#[derive(Debug)]
pub(super) struct Validations {
    validations: Vec<Validation>,
    annotations: Vec<(String, Compiled)>,
}

#[derive(Debug)]
struct Validation {
    source: String,
    expression: Compiled,
    message: String,
    /// `messageExpression`.
    dynamic_message: Option<(String, Compiled)>,
    reason: &'static str,
}

impl Body for Validations {
    fn of(spec: &Value, compiler: &Compiler) -> Self {
        let list = |name: &str| spec[name].as_array().cloned().unwrap_or_default();
        let annotation = |annotation: &Value| {
            let source = meta::member(annotation, "valueExpression");
            (source.to_owned(), compiler.annotation(source))
        };
        Self {
            validations: list("validations").iter().map(|v| Validation::of(v, compiler)).collect(),
            annotations: list("auditAnnotations").iter().map(annotation).collect(),
        }
    }
}

impl Validation {
    fn of(validation: &Value, compiler: &Compiler) -> Self {
        let text = |name: &str| meta::member(validation, name);
        let dynamic = text("messageExpression");
        Self {
            source: text("expression").to_owned(),
            expression: compiler.condition(text("expression")),
            message: text("message").trim().to_owned(),
            dynamic_message: (!dynamic.is_empty()).then(|| (dynamic.to_owned(), compiler.message(dynamic))),
            reason: match text("reason") {
                "Forbidden" => "Forbidden",
                "Unauthorized" => "Unauthorized",
                "RequestEntityTooLarge" => "RequestEntityTooLarge",
                _ => INVALID,
            },
        }
    }

    /// The message of a failed validation; `dynamic` is the value of the message expression.
    fn message(&self, dynamic: Option<Answer>) -> String {
        let dynamic = match dynamic {
            Some(Answer::String(text)) => text.trim().to_owned(),
            _ => String::new(),
        };
        if !dynamic.is_empty() && dynamic.len() <= MAX_MESSAGE && !dynamic.contains('\n') {
            return dynamic;
        }
        match self.message.as_str() {
            "" => format!("failed expression: {}", self.source.trim()),
            message => message.to_owned(),
        }
    }
}

/// A refusal of a request.
struct Denial {
    message: String,
    reason: &'static str,
    /// Whether the binding's actions decide on it; a failed audit annotation always refuses.
    by_action: bool,
}

impl Denial {
    /// The denial of an error, which counts only if the policy's failures do.
    fn of_error(fails: bool, message: String) -> Option<Self> {
        fails.then_some(Self { message, reason: INVALID, by_action: true })
    }
}

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
    let about = attributes.def().about(&attributes.shown_name(object));
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
    match policy.conditions.hold(&input) {
        Ok(true) => {}
        Ok(false) => return Vec::new(),
        Err(error) => return Denial::of_error(policy.fails, error).into_iter().collect(),
    }
    let input = input.with_namespace(namespace);
    let denials = check(invocation, &input).and_then(|mut denials| {
        denials.extend(annotate(invocation, &input)?);
        Ok(denials)
    });
    denials.unwrap_or_else(|error| Denial::of_error(policy.fails, error).into_iter().collect())
}

/// Evaluates the validations, then their messages.
///
/// # Errors
/// Returns an error if the validations exceed their budget.
fn check(invocation: &Invocation<'_, Validations>, input: &Input<'_>) -> Result<Vec<Denial>, String> {
    let Invocation { policy, .. } = invocation;
    let bindings = input.bindings();
    let session = Session::new(&bindings, &policy.variables);
    let mut evaluation = Evaluation { session: &session, budget: BUDGET };
    let mut outcomes = Vec::new();
    for validation in &policy.body.validations {
        match evaluation.run(&validation.source, &validation.expression) {
            Err(Failed::Budget(error)) => return Err(error),
            outcome => outcomes.push(outcome),
        }
    }
    let bindings = without_authorizer(&bindings);
    let session = Session::new(&bindings, &policy.variables);
    let mut evaluation = Evaluation { session: &session, budget: evaluation.budget };
    let messages: Result<Vec<Option<Answer>>, String> =
        policy.body.validations.iter().map(|validation| message(validation, &mut evaluation)).collect();
    let denials =
        policy.body.validations.iter().zip(outcomes).enumerate().filter_map(|(i, (validation, outcome))| {
            match (outcome, &messages) {
                (Err(Failed::Expression(error) | Failed::Budget(error)), _) => {
                    Denial::of_error(policy.fails, error)
                }
                (_, Err(error)) => {
                    Denial::of_error(policy.fails, format!("failed messageExpression: {error}"))
                }
                (Ok(Answer::Bool(true)), _) => None,
                (Ok(_), Ok(messages)) => {
                    let message = validation.message(messages.get(i).cloned().flatten());
                    Some(Denial { message, reason: validation.reason, by_action: true })
                }
            }
        });
    Ok(denials.collect())
}

/// The value of a message expression; `None` if there is none, or it failed.
fn message(validation: &Validation, evaluation: &mut Evaluation<'_, '_>) -> Result<Option<Answer>, String> {
    let Some((source, expression)) = &validation.dynamic_message else { return Ok(None) };
    match evaluation.run(source, expression) {
        Ok(answer) => Ok(Some(answer)),
        Err(Failed::Expression(error)) => {
            tracing::debug!("the message expression {source:?} failed: {error}");
            Ok(None)
        }
        Err(Failed::Budget(error)) => Err(error),
    }
}

/// Evaluates the audit annotations.
///
/// # Errors
/// Returns an error if they exceed their budget.
fn annotate(invocation: &Invocation<'_, Validations>, input: &Input<'_>) -> Result<Vec<Denial>, String> {
    let Invocation { policy, .. } = invocation;
    let bindings = without_authorizer(&input.bindings());
    let session = Session::new(&bindings, &policy.variables);
    let mut evaluation = Evaluation { session: &session, budget: BUDGET };
    let mut denials = Vec::new();
    for (source, expression) in &policy.body.annotations {
        match evaluation.run(source, expression) {
            Ok(_) => {}
            Err(Failed::Budget(error)) => return Err(error),
            Err(Failed::Expression(message)) if policy.fails => {
                denials.push(Denial { message, reason: INVALID, by_action: false });
            }
            Err(Failed::Expression(_)) => {}
        }
    }
    Ok(denials)
}
