//! The validations and audit annotations of a ValidatingAdmissionPolicy.
//!
//! Source: apiserver's pkg/admission/plugin/policy/validating. There is no audit log, so audit annotations only matter
//! when they fail.

use serde_json::Value;

use super::{Compiled, Compiler, Evaluation, Failed, POLICY_BUDGET, list, member};
use crate::cel::{Answer, Binding, NamedExpression, Session};

/// The longest message of a `messageExpression`, in bytes. Source: MaxEvaluatedMessageExpressionSizeBytes of the API server.
const MAX_MESSAGE: usize = 5 * 1024;

/// The default reason of a refusal.
pub const INVALID: &str = "Invalid";

/// The validations and audit annotations of a policy.
#[derive(Debug)]
pub struct Validations {
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

/// A refusal of a request.
#[derive(Debug)]
pub struct Denial {
    /// The message, without the names of the policy and the binding.
    pub message: String,
    /// The reason of the refusal.
    pub reason: &'static str,
    /// Whether the binding's actions decide on it; a failed audit annotation always refuses.
    pub by_action: bool,
}

impl Denial {
    /// The denial of an error, which counts only if the policy's failures do.
    pub fn of_error(fails: bool, message: String) -> Option<Self> {
        fails.then_some(Self { message, reason: INVALID, by_action: true })
    }
}

impl Validations {
    /// Compiles them from the spec of a policy whose variables the compiler knows.
    pub fn new(spec: &Value, compiler: &Compiler) -> Self {
        let annotation = |annotation: &Value| {
            let source = member(annotation, "valueExpression");
            (source.to_owned(), compiler.annotation(source))
        };
        Self {
            validations: list(spec, "validations").map(|v| Validation::of(v, compiler)).collect(),
            annotations: list(spec, "auditAnnotations").map(annotation).collect(),
        }
    }

    /// Evaluates validations and annotations (`Validate` of validating/validator.go). `fails`: errors of expressions are denials.
    pub fn check<'a>(
        &self,
        variables: &'a [NamedExpression],
        fails: bool,
        bindings: &'a [(&'a str, Binding<'a>)],
    ) -> Vec<Denial> {
        // Messages and annotations cannot check access, not even through variables.
        let bare: Vec<_> =
            bindings.iter().filter(|(name, _)| !name.starts_with("authorizer")).cloned().collect();
        let session = |bindings| Session::new(bindings, variables);
        let denials = self.validate(fails, &session(bindings), &session(&bare)).and_then(|mut denials| {
            denials.extend(self.annotate(fails, &session(&bare))?);
            Ok(denials)
        });
        denials.unwrap_or_else(|error| Denial::of_error(fails, error).into_iter().collect())
    }

    /// Evaluates the validations, then their messages.
    ///
    /// # Errors
    /// Returns an error if the validations exceed their budget.
    fn validate(
        &self,
        fails: bool,
        session: &Session<'_>,
        of_messages: &Session<'_>,
    ) -> Result<Vec<Denial>, String> {
        let mut evaluation = Evaluation { session, budget: POLICY_BUDGET };
        let mut outcomes = Vec::new();
        for validation in &self.validations {
            match evaluation.run(&validation.source, &validation.expression) {
                Err(Failed::Budget(error)) => return Err(error),
                outcome => outcomes.push(outcome),
            }
        }
        let mut evaluation = Evaluation { session: of_messages, budget: evaluation.budget };
        let messages: Result<Vec<Option<Answer>>, String> =
            self.validations.iter().map(|validation| message(validation, &mut evaluation)).collect();
        let denials = self.validations.iter().zip(outcomes).enumerate().filter_map(
            |(i, (validation, outcome))| match (outcome, &messages) {
                (Err(Failed::Expression(error) | Failed::Budget(error)), _) => Denial::of_error(fails, error),
                (_, Err(error)) => Denial::of_error(fails, format!("failed messageExpression: {error}")),
                (Ok(Answer::Bool(true)), _) => None,
                (Ok(_), Ok(messages)) => {
                    let message = validation.message(messages.get(i).cloned().flatten());
                    Some(Denial { message, reason: validation.reason, by_action: true })
                }
            },
        );
        Ok(denials.collect())
    }

    /// Evaluates the audit annotations.
    ///
    /// # Errors
    /// Returns an error if they exceed their budget.
    fn annotate(&self, fails: bool, session: &Session<'_>) -> Result<Vec<Denial>, String> {
        let mut evaluation = Evaluation { session, budget: POLICY_BUDGET };
        let mut denials = Vec::new();
        for (source, expression) in &self.annotations {
            match evaluation.run(source, expression) {
                Ok(_) => {}
                Err(Failed::Budget(error)) => return Err(error),
                Err(Failed::Expression(message)) if fails => {
                    denials.push(Denial { message, reason: INVALID, by_action: false });
                }
                Err(Failed::Expression(_)) => {}
            }
        }
        Ok(denials)
    }
}

impl Validation {
    fn of(validation: &Value, compiler: &Compiler) -> Self {
        let text = |name: &str| member(validation, name);
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

/// The value of a message expression; `None` if there is none, or it failed.
fn message(validation: &Validation, evaluation: &mut Evaluation<'_, '_>) -> Result<Option<Answer>, String> {
    let Some((source, expression)) = &validation.dynamic_message else { return Ok(None) };
    match evaluation.run(source, expression) {
        Ok(answer) => Ok(Some(answer)),
        Err(Failed::Expression(_)) => Ok(None),
        Err(Failed::Budget(error)) => Err(error),
    }
}
