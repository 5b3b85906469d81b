//! The Common Expression Language in `x-kubernetes-validations` and match conditions.
//!
//! An expression is parsed (macros expanded), checked against the types that a schema declares, estimated for its worst
//! cost, and evaluated on JSON. Error texts are cel-go's. The module depends on schemas and JSON, not on a server.
//!
//! The depth of expressions, types and values is bounded. Evaluation stops at a cost limit.

mod access;
mod ast;
mod checker;
mod compared;
mod cost;
mod estimate;
mod eval;
mod expression;
mod field_path;
mod functions;
mod implies;
mod issue;
mod known;
mod lexer;
mod literals;
mod macros;
mod message;
mod moment;
mod native;
mod overloads;
mod parser;
mod patched;
pub(crate) mod ratchet;
mod rules;
mod semver;
mod session;
mod shards;
#[cfg(test)]
mod tests;
mod types;
mod unify;
mod url;
mod value;

use std::sync::Arc;

use serde_json::Value as Json;

use crate::schema::Schema;
use ast::Ast;
use checker::Checked;
use estimate::Estimate;
use eval::Evaluator;
use value::Value;

pub use access::{AccessDecision, AccessRequest, AllowAll, Authorizer};
pub use compared::{Compared, EACH, compared};
pub use eval::EvalError;
pub use expression::{Binding, Environment, Expression};
pub use field_path::{FieldPath, resolve_field_path};
pub use implies::{Relation, follows, mentions, relation};
pub use issue::{Issue, render};
pub use known::{Known, touches};
pub use native::{Foreign, PatchFault, shown, syntax};
pub use patched::Patched;
pub use rules::{CompiledRule, Faults, RuleError, Validator, compile_rule, max_cardinality};
pub use session::{EvaluationCost, NamedExpression, Session};
pub use shards::shard_selector;
pub use types::{Decl, ObjectType, Type, escape, is_reserved};

/// The cost limit of one evaluation. Source: PerCallLimit of the API server.
pub const PER_CALL_LIMIT: u64 = 1_000_000;
/// The cost limit of all rules of an object. Source: RuntimeCELCostBudget of the API server.
pub const OBJECT_BUDGET: u64 = 10_000_000;

/// An expression compiled for a place in a schema.
#[derive(Debug)]
pub struct Program {
    ast: Ast,
    checked: Checked,
    estimate: Estimate,
}

/// The variables of an evaluation.
#[derive(Debug)]
pub struct Activation<'a> {
    /// The schema of the place.
    pub schema: &'a Schema,
    /// Whether the place is the root of a resource.
    pub is_resource: bool,
    /// The value.
    pub object: &'a Json,
    /// The old value, if there is one.
    pub old: Option<&'a Json>,
}

/// The values of the variables, converted once for all rules of a place.
#[derive(Clone, Debug)]
pub struct Variables {
    own: Value,
    old: Option<Value>,
}

impl Variables {
    /// Converts the values of an activation.
    #[must_use]
    pub fn new(activation: &Activation<'_>) -> Self {
        let typed = |json: &Json| Value::of(activation.schema, json, activation.is_resource);
        Self { own: typed(activation.object), old: activation.old.map(typed) }
    }
}

/// The result of an evaluation.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// `true` or `false`.
    Bool(bool),
    /// A text.
    String(String),
    /// `null`.
    Null,
    /// Anything else, by the name of its type.
    Other(String),
}

/// The declaration of `oldSelf`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OldSelf {
    /// A variable of the type of `self`. Rules that use it run on updates only.
    Plain,
    /// An optional, with `optionalOldSelf`.
    Optional,
}

/// Compiles an expression in which `self` (and `oldSelf`) are of a declared type.
///
/// # Errors
/// All errors of the expression, which [`render`] formats.
pub fn compile(source: &str, decl: &Arc<Decl>, old: OldSelf) -> Result<Program, Vec<Issue>> {
    let ast = parser::parse(source)?;
    let own = decl.type_.clone();
    let old_type = match old {
        OldSelf::Plain => own.clone(),
        OldSelf::Optional => Type::optional(own.clone()),
    };
    let variables = [("self", own), ("oldSelf", old_type)];
    let checked = checker::check(&ast, checker::Scope { variables: &variables, patches: false })?;
    let estimate = estimate::estimate(&ast, &checked, decl);
    Ok(Program { ast, checked, estimate })
}

impl Program {
    /// The type of the result.
    #[must_use]
    pub fn result_type(&self) -> Type {
        self.checked.types.get(&self.ast.root.id).cloned().unwrap_or(Type::Dyn)
    }

    /// As [`Expression::instantiation_fault`].
    #[must_use]
    pub fn instantiation_fault(&self) -> Option<&str> {
        self.checked.instantiation.as_deref()
    }

    /// Reports whether the expression uses `oldSelf`.
    #[must_use]
    pub fn uses_old_self(&self) -> bool {
        self.checked.variables.iter().any(|name| name == "oldSelf")
    }

    /// The greatest cost of one evaluation.
    #[must_use]
    pub fn max_cost(&self) -> u64 {
        self.estimate.max_cost
    }

    /// Returns the declared places whose size the greatest cost depends on, sorted: `["self", "ports", "@items",
    /// "name"]`, with `@items`, `@keys` and `@values` for the contents of lists and maps.
    #[must_use]
    pub fn sized(&self) -> &[Vec<String>] {
        &self.estimate.sized
    }

    /// Evaluates the expression. Returns the result and the cost.
    pub fn run(&self, variables: &Variables, old: OldSelf, limit: u64) -> (Result<Answer, EvalError>, u64) {
        let mut values = vec![("self".to_owned(), variables.own.clone())];
        match (old, &variables.old) {
            (OldSelf::Plain, Some(old)) => values.push(("oldSelf".to_owned(), old.clone())),
            (OldSelf::Plain, None) => {}
            (OldSelf::Optional, old) => {
                values.push(("oldSelf".to_owned(), Value::Optional(old.clone().map(Arc::new))));
            }
        }
        let mut evaluator = Evaluator::new(&self.checked, values, limit);
        let outcome = evaluator.eval(&self.ast.root);
        (outcome.map(answer), evaluator.cost)
    }
}

fn answer(value: Value) -> Answer {
    match value {
        Value::Bool(b) => Answer::Bool(b),
        Value::String(s) => Answer::String(s.to_string()),
        Value::Null => Answer::Null,
        other => Answer::Other(other.type_name().to_owned()),
    }
}
