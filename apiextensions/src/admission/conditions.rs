//! Match conditions: expressions that a request has to meet before a webhook or a policy gets it.

use kubesmith_apimachinery::errors::aggregate;
use serde_json::Value;

use super::{Compiled, Compiler, Evaluation, Failed, member};
use crate::cel::{Answer, Binding, Session};

/// The cost limit of all conditions of a webhook for one request. Source: RuntimeCELCostBudgetMatchConditions of the
/// API server.
const BUDGET: u64 = 2_500_000;

/// The conditions of one webhook or policy, with their texts.
#[derive(Debug, Default)]
pub struct Conditions(Vec<(String, Compiled)>);

impl Conditions {
    /// Compiles `matchConditions`.
    pub fn of(conditions: &Value, compiler: &Compiler) -> Self {
        let conditions = conditions.as_array().into_iter().flatten();
        let sources = conditions.map(|condition| member(condition, "expression"));
        Self(sources.map(|source| (source.to_owned(), compiler.condition(source))).collect())
    }

    /// Reports whether there are no conditions.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Reports whether all conditions hold. A false condition takes precedence over a failed one.
    ///
    /// # Errors
    /// Returns the evaluation errors.
    pub fn hold<'a>(&self, bindings: &'a [(&'a str, Binding<'a>)]) -> Result<bool, String> {
        let session = Session::new(bindings, &[]);
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
