//! Match conditions: expressions that a request has to meet before a webhook or a policy gets it.

use kubesmith_apiextensions::admission::Compiler;
use kubesmith_apiextensions::cel::{Answer, Expression, Session};
use kubesmith_apimachinery::errors::aggregate;
use serde_json::Value;

use super::expressions::{Evaluation, Failed};
use super::input::Input;
use crate::meta;

/// The cost limit of all conditions of a webhook for one request. Source: RuntimeCELCostBudgetMatchConditions of the
/// API server.
const BUDGET: u64 = 2_500_000;

/// The conditions of one webhook or policy, with their texts.
#[derive(Debug, Default)]
pub(super) struct Conditions(Vec<(String, Result<Expression, String>)>);

impl Conditions {
    /// Compiles `matchConditions`.
    pub(super) fn of(conditions: &Value, compiler: &Compiler) -> Self {
        let conditions = conditions.as_array().into_iter().flatten();
        let sources = conditions.map(|condition| meta::member(condition, "expression"));
        Self(sources.map(|source| (source.to_owned(), compiler.condition(source))).collect())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Reports whether all conditions hold. A false condition takes precedence over a failed one.
    ///
    /// # Errors
    /// Returns the evaluation errors.
    pub(super) fn hold(&self, input: &Input<'_>) -> Result<bool, String> {
        let bindings = input.bindings();
        let session = Session::new(&bindings, &[]);
        let mut evaluation = Evaluation { session: &session, budget: BUDGET };
        let mut errors: Vec<String> = Vec::new();
        for (source, expression) in &self.0 {
            match evaluation.run(source, expression) {
                Ok(Answer::Bool(false)) => return Ok(false),
                Ok(_) => {}
                Err(Failed::Budget(error)) => return Err(error),
                Err(Failed::Expression(error)) => errors.push(error),
            }
        }
        if errors.is_empty() { Ok(true) } else { Err(aggregate(errors)) }
    }
}
