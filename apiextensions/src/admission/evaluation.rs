//! Evaluates the expressions of match conditions and policies within their budget.
//!
//! Source: apiserver's pkg/admission/plugin/cel.

use serde_json::Value;

use super::Compiled;
use crate::cel::{Answer, EvalError, EvaluationCost, Expression, PER_CALL_LIMIT, PatchFault, Session};

/// The cost limit of a policy's variables, validations and messages for one request; its audit annotations have the
/// same. Source: RuntimeCELCostBudget of the API server.
pub const POLICY_BUDGET: u64 = 10_000_000;

/// The reason why an expression has no value.
#[derive(Debug, PartialEq)]
pub enum Failed {
    /// The expression itself failed.
    Expression(String),
    /// The expression and those before it exceed the budget.
    Budget(String),
}

/// Evaluates expressions within a budget.
#[derive(Debug)]
pub struct Evaluation<'s, 'a> {
    /// The values of the expressions.
    pub session: &'s Session<'a>,
    /// The cost that is left.
    pub budget: u64,
}

impl Evaluation<'_, '_> {
    /// Evaluates an expression.
    ///
    /// # Errors
    /// Returns the reason why it has no value.
    pub fn run(&mut self, source: &str, expression: &Compiled) -> Result<Answer, Failed> {
        let expression = compiled(expression)?;
        let (outcome, spent) = self.session.run(expression, PER_CALL_LIMIT);
        self.settle(source, outcome, spent)
    }

    /// Evaluates the expression of a patch; the inner error describes a value that is no patch.
    ///
    /// # Errors
    /// Returns the reason why it has no value.
    pub fn patch(
        &mut self,
        source: &str,
        expression: &Expression,
    ) -> Result<Result<Value, PatchFault>, Failed> {
        let (outcome, spent) = self.session.patch(expression, PER_CALL_LIMIT);
        self.settle(source, outcome, spent)
    }

    fn settle<T>(
        &mut self,
        source: &str,
        outcome: Result<T, EvalError>,
        spent: EvaluationCost,
    ) -> Result<T, Failed> {
        let cost = spent.own.saturating_add(spent.variables);
        let Some(left) = self.budget.checked_sub(cost) else {
            let text = "validation failed due to running out of cost budget, no further validation rules will be run";
            return Err(Failed::Budget(text.to_owned()));
        };
        self.budget = left;
        outcome
            .map_err(|error| Failed::Expression(format!("expression '{source}' resulted in error: {error}")))
    }
}

fn compiled(expression: &Compiled) -> Result<&Expression, Failed> {
    expression.as_ref().map_err(|error| Failed::Expression(format!("compilation error: {error}")))
}
