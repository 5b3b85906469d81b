//! `x-kubernetes-validations`: compiling the rules of a schema, and running them on an object.

use std::collections::BTreeMap;
use std::sync::Arc;

use kubesmith_apimachinery::field::{Cause, CauseKind, Path};
use kubesmith_apimachinery::golang;
use serde_json::{Map, Value as Json};

use super::field_path::resolve_field_path;
use super::ratchet::{is_unchanged, old_item};
use super::types::MAX_REQUEST_BYTES;
use super::{
    Activation, Answer, Decl, EvalError, OBJECT_BUDGET, OldSelf, PER_CALL_LIMIT, Program, Type, Variables,
    compile, render,
};
use crate::schema::{Additional, Rule, Schema};

/// What a server finds in an object.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// The reasons to refuse it.
    pub causes: Vec<Cause>,
    /// Rules that unchanged parts break. The server warns of them.
    pub warnings: Vec<Cause>,
}

/// A rule that does not compile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RuleError {
    /// The rule's expression.
    Rule(String),
    /// The rule's message expression.
    Message(String),
}

impl RuleError {
    /// The text that follows `Invalid value: ...: ` in the server's message.
    #[must_use]
    pub fn detail(&self) -> &str {
        match self {
            Self::Rule(text) | Self::Message(text) => text,
        }
    }
}

/// A compiled rule.
#[derive(Debug)]
pub struct CompiledRule {
    /// The expression.
    pub program: Program,
    /// The message expression.
    pub message: Option<Program>,
    /// The declaration of `oldSelf`.
    pub old_self: OldSelf,
    /// The field that causes report, relative to the rule's place; empty for the place itself.
    pub field_path: String,
}

/// The number of values of a least size that fit into a request. A rule in an unbounded list or map runs at most that often.
#[must_use]
pub fn max_cardinality(min_size: u64) -> u64 {
    MAX_REQUEST_BYTES / (min_size + 1)
}

/// Compiles a rule for a place in a schema.
///
/// # Errors
/// The error of the rule or of its message expression.
pub fn compile_rule(schema: &Schema, decl: &Arc<Decl>, rule: &Rule) -> Result<CompiledRule, RuleError> {
    let old_self = if rule.optional_old_self == Some(true) { OldSelf::Optional } else { OldSelf::Plain };
    let program = compile(&rule.rule, decl, old_self)
        .map_err(|issues| RuleError::Rule(format!("compilation failed: {}", render(&rule.rule, &issues))))?;
    if program.result_type() != Type::Bool {
        return Err(RuleError::Rule("cel expression must evaluate to a bool".to_owned()));
    }
    if let Some(fault) = program.instantiation_fault() {
        return Err(RuleError::Rule(format!("program instantiation failed: {fault}")));
    }
    let message = rule.message_expression.as_deref();
    let message = message.map(|source| compile_message(source, decl, old_self)).transpose()?;
    let found = rule.field_path.as_deref().and_then(|path| resolve_field_path(path, schema, true).ok());
    let field_path = found.map(|found| found.text).unwrap_or_default();
    Ok(CompiledRule { program, message, old_self, field_path })
}

fn compile_message(source: &str, decl: &Arc<Decl>, old_self: OldSelf) -> Result<Program, RuleError> {
    let program = compile(source, decl, old_self).map_err(|issues| {
        RuleError::Message(format!("messageExpression compilation failed: {}", render(source, &issues)))
    })?;
    match (program.result_type(), program.instantiation_fault()) {
        (Type::String, None) => Ok(program),
        (Type::String, Some(fault)) => {
            Err(RuleError::Message(format!("messageExpression instantiation failed: {fault}")))
        }
        _ => Err(RuleError::Message("messageExpression must evaluate to a string".to_owned())),
    }
}

/// The compiled rules of a schema, in a tree like the schema's.
#[derive(Debug)]
pub struct Validator {
    schema: Schema,
    is_resource: bool,
    rules: Vec<Result<CompiledRule, RuleError>>,
    items: Option<Box<Validator>>,
    properties: BTreeMap<String, Validator>,
    additional: Option<Box<Validator>>,
}

/// The remaining cost budget. Rules stop when it is used up.
struct Budget(Option<u64>);

impl Budget {
    fn spend(&mut self, cost: u64) -> bool {
        self.0 = self.0.and_then(|left| left.checked_sub(cost));
        self.0.is_some()
    }
}

/// A value and its old value.
#[derive(Clone, Copy)]
struct Pair<'v> {
    new: &'v Json,
    old: Option<&'v Json>,
    /// The value that must be unchanged for a failing rule to be tolerated; `None` without ratcheting.
    compared: Option<Compared<'v>>,
}

/// A value with its schema and its old value: of the nearest ancestor that has one, or the value itself.
#[derive(Clone, Copy)]
struct Compared<'v> {
    schema: &'v Schema,
    new: &'v Json,
    old: &'v Json,
}

impl<'v> Pair<'v> {
    /// A value below this one, which has this schema.
    fn below(self, schema: &'v Schema, new: &'v Json, old: Option<&'v Json>) -> Self {
        let compared = self.compared.map(|parent| old.map_or(parent, |old| Compared { schema, new, old }));
        Self { new, old, compared }
    }

    fn is_unchanged(self) -> bool {
        self.compared.is_some_and(|Compared { schema, new, old }| is_unchanged(schema, new, old))
    }
}

impl Validator {
    /// Compiles the rules of a schema; `None` if there are none.
    #[must_use]
    pub fn new(schema: &Schema, is_resource: bool) -> Option<Self> {
        if !schema.any(&|s| !s.validations.is_empty()) {
            return None;
        }
        let is_resource = is_resource || schema.embedded_resource;
        let decl = match schema.validations.is_empty() {
            true => None,
            false => Decl::of(schema, is_resource, "selfType"),
        };
        let rules = match &decl {
            None => Vec::new(),
            Some(decl) => schema.validations.iter().map(|rule| compile_rule(schema, decl, rule)).collect(),
        };
        let additional = match &schema.additional_properties {
            Some(Additional::Schema(all)) => Self::new(all, false).map(Box::new),
            _ => None,
        };
        let properties = schema.properties.iter();
        Some(Self {
            is_resource,
            rules,
            items: schema.items.as_ref().and_then(|items| Self::new(items, false)).map(Box::new),
            properties: properties.filter_map(|(k, s)| Some((k.clone(), Self::new(s, false)?))).collect(),
            additional,
            schema: schema.clone(),
        })
    }

    /// Runs all rules on an object, which replaces `old`. A rule that does not use `oldSelf` is not enforced on unchanged
    /// parts, but is a warning there.
    #[must_use]
    pub fn validate(&self, object: &Json, old: Option<&Json>) -> Faults {
        let compared = old.map(|old| Compared { schema: &self.schema, new: object, old });
        self.run(&Path::root(), Pair { new: object, old, compared })
    }

    /// Runs all rules on a default: as on an update from the same value, then as on a creation, both without ratcheting.
    ///
    /// Source: `defaulting.validate` of apiextensions-apiserver.
    #[must_use]
    pub fn validate_default(&self, path: &Path, default: &Json) -> Vec<Cause> {
        let causes = self.run(path, Pair { new: default, old: Some(default), compared: None }).causes;
        if !causes.is_empty() {
            return causes;
        }
        self.run(path, Pair { new: default, old: None, compared: None }).causes
    }

    fn run<'v>(&'v self, path: &Path, pair: Pair<'v>) -> Faults {
        let mut found = Faults::default();
        let mut budget = Budget(Some(OBJECT_BUDGET));
        self.node(path, pair, &mut budget, &mut found);
        found
    }

    fn node<'v>(&'v self, path: &Path, pair: Pair<'v>, budget: &mut Budget, found: &mut Faults) {
        if pair.new.is_null() || budget.0.is_none() {
            return;
        }
        if !self.schema.validations.is_empty() {
            self.expressions(path, pair, budget, found);
        }
        match pair.new {
            Json::Array(items) => self.array(path, items, pair, budget, found),
            Json::Object(map) => self.object(path, map, pair, budget, found),
            _ => {}
        }
    }

    fn array<'v>(
        &'v self,
        path: &Path,
        items: &'v [Json],
        pair: Pair<'v>,
        budget: &mut Budget,
        found: &mut Faults,
    ) {
        let Some(validator) = &self.items else { return };
        let old_items = pair.old.and_then(Json::as_array);
        for (i, item) in items.iter().enumerate() {
            let old = old_items.and_then(|old| old_item(&self.schema, item, old));
            validator.node(&path.index(i), pair.below(&validator.schema, item, old), budget, found);
        }
    }

    fn object<'v>(
        &'v self,
        path: &Path,
        map: &'v Map<String, Json>,
        pair: Pair<'v>,
        budget: &mut Budget,
        found: &mut Faults,
    ) {
        let old_map = pair.old.and_then(Json::as_object);
        for (name, value) in map {
            let (validator, below) = match (self.properties.get(name), &self.additional) {
                (Some(validator), _) => (validator, path.child(name)),
                (None, Some(validator)) if !self.schema.properties.contains_key(name) => {
                    (&**validator, path.key(name))
                }
                _ => continue,
            };
            let old = old_map.and_then(|old| old.get(name));
            let mut pair = pair.below(&validator.schema, value, old);
            // Both objects have been converted to one version, so a change of these does not show.
            if path.as_str().is_empty() && matches!(name.as_str(), "apiVersion" | "kind") {
                pair.compared = None;
            }
            validator.node(&below, pair, budget, found);
        }
    }

    fn expressions(&self, path: &Path, pair: Pair<'_>, budget: &mut Budget, found: &mut Faults) {
        let type_ = self.schema.type_name();
        let old = pair.old.filter(|old| !old.is_null());
        let variables = Variables::new(&Activation {
            schema: &self.schema,
            is_resource: self.is_resource,
            object: pair.new,
            old,
        });
        for (rule, compiled) in self.schema.validations.iter().zip(&self.rules) {
            let compiled = match compiled {
                Ok(compiled) => compiled,
                Err(error) => {
                    let detail = format!("rule compile error: {}", error.detail());
                    found.causes.push(Cause::invalid(path, type_, detail));
                    continue;
                }
            };
            let uses_old = compiled.program.uses_old_self();
            if uses_old && old.is_none() && compiled.old_self == OldSelf::Plain {
                continue;
            }
            let (answer, cost) = compiled.program.run(&variables, compiled.old_self, PER_CALL_LIMIT);
            if !budget.spend(cost) {
                let detail = "validation failed due to running out of cost budget, no further validation rules will be run";
                found.causes.push(Cause::invalid(path, type_, detail));
                return;
            }
            match answer {
                Ok(Answer::Bool(true)) => {}
                Err(error) => {
                    found.causes.push(Cause::invalid(path, type_, error_detail(&error, rule)));
                    if error == EvalError::CostExceeded {
                        budget.0 = None;
                        return;
                    }
                }
                Ok(_) => {
                    let cause = self.failure(path, pair.new, rule, compiled, &variables, budget);
                    let is_warning = !uses_old && pair.is_unchanged();
                    if is_warning { &mut found.warnings } else { &mut found.causes }.push(cause);
                    if budget.0.is_none() {
                        return;
                    }
                }
            }
        }
    }

    /// The cause that reports a failed rule.
    fn failure(
        &self,
        path: &Path,
        object: &Json,
        rule: &Rule,
        compiled: &CompiledRule,
        variables: &Variables,
        budget: &mut Budget,
    ) -> Cause {
        let path = match compiled.field_path.as_str() {
            "" => path.clone(),
            below => path.child(below),
        };
        let detail = match message(compiled, rule, variables, budget) {
            Ok(Some(text)) => text,
            Ok(None) => default_message(rule),
            Err(detail) => return Cause::invalid(path, self.schema.type_name(), detail),
        };
        let value = object.clone();
        let cause = match rule.reason.as_deref() {
            Some("FieldValueForbidden") => Cause::forbidden(path, detail),
            Some("FieldValueRequired") => Cause::required(path, detail),
            Some("FieldValueDuplicate") => Cause::duplicate(path, value),
            _ => Cause::new(CauseKind::Invalid, path, value, detail),
        };
        match self.schema.type_name() {
            "object" | "array" => cause.without_value(),
            _ => cause,
        }
    }
}

fn rule_text(rule: &Rule) -> &str {
    rule.message.as_deref().unwrap_or(&rule.rule).trim()
}

fn default_message(rule: &Rule) -> String {
    match rule.message {
        None => format!("failed rule: {}", rule_text(rule)),
        Some(_) => rule_text(rule).to_owned(),
    }
}

fn error_detail(error: &EvalError, rule: &Rule) -> String {
    let shown = rule_text(rule);
    match error {
        EvalError::CostExceeded => {
            format!(
                "'{error}': no further validation rules will be run due to call cost exceeds limit for rule: {shown}"
            )
        }
        EvalError::Fault(text) if text.starts_with("no such overload") => format!(
            "'{text}': call arguments did not match a supported operator, function or macro signature for rule: {shown}"
        ),
        EvalError::Fault(text) => format!("{text} evaluating rule: {shown}"),
    }
}

/// The greatest length of an evaluated message. Source: MaxEvaluatedMessageExpressionSizeBytes of the API server.
const MAX_MESSAGE_BYTES: usize = 5 * 1024;

/// The message of a message expression; `None` if the fixed message is used instead, an error if rules stop.
fn message(
    compiled: &CompiledRule,
    rule: &Rule,
    variables: &Variables,
    budget: &mut Budget,
) -> Result<Option<String>, String> {
    let Some(program) = &compiled.message else { return Ok(None) };
    let (answer, cost) = program.run(variables, compiled.old_self, PER_CALL_LIMIT);
    if !budget.spend(cost) {
        return Err("messageExpression evaluation failed due to running out of cost budget, no further validation rules will be run".to_owned());
    }
    match answer {
        Ok(Answer::String(text)) => {
            let text = text.trim();
            let usable = !text.is_empty() && text.len() <= MAX_MESSAGE_BYTES && !text.contains('\n');
            Ok(usable.then(|| text.to_owned()))
        }
        Err(EvalError::CostExceeded) => {
            budget.0 = None;
            let source = golang::quote(rule.message_expression.as_deref().unwrap_or_default());
            Err(format!(
                "no further validation rules will be run due to call cost exceeds limit for messageExpression: {source}"
            ))
        }
        _ => Ok(None),
    }
}

#[cfg(test)]
mod tests;
