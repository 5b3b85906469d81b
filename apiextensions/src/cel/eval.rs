//! The evaluator. It counts costs as the server does and stops at the cost limit.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::ast::{Comprehension, Entry, Expr, FieldInit, Kind, Literal};
use super::checker::{Checked, type_name};
use super::cost::call_cost;
use super::functions;
use super::message::Message;
use super::native::Form;
use super::session::Session;
use super::types::field_of;
use super::value::{Key, List, ListKind, Value};

/// The reason why an evaluation has no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EvalError {
    /// The expression failed.
    Fault(String),
    /// The evaluation exceeded its cost limit.
    CostExceeded,
}

impl std::fmt::Display for EvalError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Fault(text) => f.write_str(text),
            Self::CostExceeded => f.write_str("operation cancelled: actual cost limit exceeded"),
        }
    }
}

pub(super) type Outcome = Result<Value, EvalError>;

pub(super) fn fault<T>(text: impl Into<String>) -> Result<T, EvalError> {
    Err(EvalError::Fault(text.into()))
}

/// The cost of making a list, a map or an object. Source: cel-go's cost constants.
pub(super) const LIST_COST: u64 = 10;
const MAP_COST: u64 = 30;
const MESSAGE_COST: u64 = 40;

pub(super) struct Evaluator<'a> {
    checked: &'a Checked,
    variables: Vec<(String, Outcome)>,
    /// The values of the variables that the expression does not bind itself.
    session: Option<&'a Session<'a>>,
    limit: u64,
    /// The cost so far.
    pub(super) cost: u64,
}

impl<'a> Evaluator<'a> {
    pub(super) fn new(checked: &'a Checked, variables: Vec<(String, Value)>, limit: u64) -> Self {
        let variables = variables.into_iter().map(|(name, value)| (name, Ok(value))).collect();
        Self { checked, variables, session: None, limit, cost: 0 }
    }

    /// Creates an evaluator with the variables of a session.
    pub(super) fn within(session: &'a Session<'a>, checked: &'a Checked, limit: u64) -> Self {
        Self { checked, variables: Vec::new(), session: Some(session), limit, cost: 0 }
    }

    fn charge(&mut self, cost: u64) -> Result<(), EvalError> {
        self.cost = self.cost.saturating_add(cost);
        if self.cost > self.limit { Err(EvalError::CostExceeded) } else { Ok(()) }
    }

    pub(super) fn eval(&mut self, expr: &Expr) -> Outcome {
        let outcome = match self.session {
            None => self.node(expr),
            Some(session) => {
                session.descend()?;
                let outcome = self.node(expr);
                session.ascend();
                outcome
            }
        };
        match outcome {
            Ok(Value::Unreadable(text)) => fault(&*text),
            outcome => outcome,
        }
    }

    fn node(&mut self, expr: &Expr) -> Outcome {
        match &expr.kind {
            Kind::Literal(literal) => Ok(literal_value(literal)),
            Kind::Ident(name) => self.ident(name),
            Kind::Select { operand, field, test } => match self.checked.qualified.get(&expr.id) {
                Some(variable) => self.ident(variable),
                None => self.select(operand, field, *test),
            },
            Kind::Call { target, function, args } => self.call(expr, target.as_deref(), function, args),
            Kind::List { elements, optional } => self.list(elements, optional),
            Kind::Map(entries) => self.map(entries),
            Kind::Struct { name, fields } => self.message(name, fields),
            Kind::Comprehension(comprehension) => self.comprehension(comprehension),
        }
    }

    fn ident(&mut self, name: &str) -> Outcome {
        self.charge(1)?;
        let bare = name.strip_prefix('.').unwrap_or(name);
        if let Some((_, value)) = self.variables.iter().rev().find(|(known, _)| known == bare) {
            return value.clone();
        }
        if let Some(value) = self.session.and_then(|session| session.value(bare)) {
            return Ok(value);
        }
        match type_name(name) {
            Some(_) => Ok(Value::Type(Arc::from(name))),
            None => fault(format!("no such attribute(s): {name}")),
        }
    }

    fn select(&mut self, operand: &Expr, field: &str, test: bool) -> Outcome {
        let value = self.eval(operand)?;
        if test {
            return Ok(Value::Bool(self.has(&value, field)?));
        }
        self.charge(1)?;
        match &value {
            Value::Variables => self.variable(field),
            Value::Optional(inner) => Ok(Value::Optional(match inner {
                Some(inner) => lookup(inner, field)?.map(Arc::new),
                None => None,
            })),
            value => match lookup(value, field)? {
                Some(found) => Ok(found),
                None => fault(format!("no such key: {field}")),
            },
        }
    }

    fn variable(&self, name: &str) -> Outcome {
        match self.session.and_then(|session| session.variable(name)) {
            Some(outcome) => outcome,
            None => fault(format!("no such key: {name}")),
        }
    }

    fn has(&self, value: &Value, field: &str) -> Result<bool, EvalError> {
        match value {
            // The checker has checked their names.
            Value::Variables => Ok(true),
            Value::Optional(None) => Ok(false),
            Value::Optional(Some(inner)) => Ok(lookup(inner, field)?.is_some()),
            value => Ok(lookup(value, field)?.is_some()),
        }
    }

    fn call(&mut self, expr: &Expr, target: Option<&Expr>, function: &str, args: &[Expr]) -> Outcome {
        match (function, args) {
            ("_&&_", [a, b]) => return self.logical(a, b, false),
            ("_||_", [a, b]) => return self.logical(a, b, true),
            ("_?_:_", [condition, yes, no]) => {
                return match self.eval(condition)? {
                    Value::Bool(true) => self.eval(yes),
                    Value::Bool(false) => self.eval(no),
                    _ => fault("no such overload"),
                };
            }
            ("@not_strictly_false", [a]) => {
                return match self.eval(a) {
                    Err(EvalError::CostExceeded) => Err(EvalError::CostExceeded),
                    Ok(Value::Bool(false)) => Ok(Value::Bool(false)),
                    _ => Ok(Value::Bool(true)),
                };
            }
            ("_?._", [operand, field]) => {
                let Kind::Literal(Literal::String(name)) = &field.kind else {
                    return fault("no such overload");
                };
                let value = self.eval(operand)?;
                self.charge(1)?;
                let found = match &value {
                    Value::Variables => Some(self.variable(name)?),
                    Value::Optional(None) => None,
                    Value::Optional(Some(inner)) => lookup(inner, name)?,
                    value => lookup(value, name)?,
                };
                return Ok(Value::Optional(found.map(Arc::new)));
            }
            ("or" | "orValue", [other]) if target.is_some() => {
                if let Some(target) = target {
                    return self.optional_or(target, function, other);
                }
            }
            _ => {}
        }
        let qualified = self.checked.qualified.get(&expr.id).map(String::as_str);
        let mut values = Vec::with_capacity(args.len() + 1);
        if let (Some(target), None) = (target, qualified) {
            values.push(self.eval(target)?);
        }
        for arg in args {
            values.push(self.eval(arg)?);
        }
        let function = qualified.unwrap_or(function);
        // Charged before the call, so that an expensive call does not run.
        self.charge(call_cost(function, &values))?;
        let called = match function {
            "matches" | "find" | "findAll" => functions::search(&self.checked.patterns, function, &values),
            _ => functions::call(function, &values),
        };
        called.map_err(EvalError::Fault)
    }

    /// An error on one side is ignored if the other side decides the result.
    fn logical(&mut self, a: &Expr, b: &Expr, decisive: bool) -> Outcome {
        let decides = |outcome: &Outcome| matches!(outcome, Ok(Value::Bool(value)) if *value == decisive);
        let left = self.eval(a);
        if decides(&left) || left == Err(EvalError::CostExceeded) {
            return left;
        }
        let right = self.eval(b);
        if decides(&right) || right == Err(EvalError::CostExceeded) {
            return right;
        }
        match (left, right) {
            (Ok(Value::Bool(_)), Ok(Value::Bool(value))) => Ok(Value::Bool(value)),
            (Err(error), _) | (_, Err(error)) => Err(error),
            _ => fault("no such overload"),
        }
    }

    fn optional_or(&mut self, target: &Expr, function: &str, other: &Expr) -> Outcome {
        let value = self.eval(target)?;
        self.charge(1)?;
        match (value, function) {
            (Value::Optional(Some(inner)), "orValue") => Ok((*inner).clone()),
            (Value::Optional(None), _) => self.eval(other),
            (value @ Value::Optional(Some(_)), _) => Ok(value),
            _ => fault("no such overload"),
        }
    }

    fn list(&mut self, elements: &[Expr], optional: &[usize]) -> Outcome {
        let mut items = Vec::with_capacity(elements.len());
        for (i, element) in elements.iter().enumerate() {
            match self.eval(element)? {
                Value::Optional(inner) if optional.contains(&i) => items.extend(inner.as_deref().cloned()),
                value => items.push(value),
            }
        }
        self.charge(LIST_COST)?;
        Ok(Value::list(items))
    }

    fn map(&mut self, entries: &[Entry]) -> Outcome {
        let mut map = BTreeMap::new();
        for entry in entries {
            let key = self.eval(&entry.key)?;
            let Some(key) = Key::of(&key) else {
                return fault(format!("unsupported key type: {}", key.type_name()));
            };
            let value = match self.eval(&entry.value)? {
                Value::Optional(inner) if entry.optional => match inner {
                    Some(inner) => (*inner).clone(),
                    None => continue,
                },
                value => value,
            };
            if map.insert(key.clone(), value).is_some() {
                return fault(format!(
                    "insert failed: key {} already exists",
                    functions::text_of(&key.value())
                ));
            }
        }
        self.charge(MAP_COST)?;
        Ok(Value::map(map))
    }

    fn message(&mut self, name: &str, fields: &[FieldInit]) -> Outcome {
        let mut values = BTreeMap::new();
        for field in fields {
            match self.eval(&field.value)? {
                Value::Optional(inner) if field.optional => {
                    values.extend(inner.map(|inner| (field.name.clone(), (*inner).clone())));
                }
                value => {
                    values.insert(field.name.clone(), value);
                }
            }
        }
        self.charge(MESSAGE_COST)?;
        match Message::new(name, values) {
            Ok(message) => Ok(Value::Message(Arc::new(message))),
            Err(error) => fault(error),
        }
    }

    fn comprehension(&mut self, c: &Comprehension) -> Outcome {
        let range = self.eval(&c.range)?;
        let entries = entries_of(&range, c.var2.is_some())?;
        let init = self.eval(&c.accu_init);
        if init == Err(EvalError::CostExceeded) {
            return init;
        }
        let base = self.variables.len();
        self.variables.push((c.accu_var.clone(), init));
        for (first, second) in entries {
            self.variables.truncate(base + 1);
            self.variables.push((c.var.clone(), Ok(first)));
            if let (Some(var2), Some(second)) = (&c.var2, second) {
                self.variables.push((var2.clone(), Ok(second)));
            }
            match self.eval(&c.condition) {
                Ok(Value::Bool(false)) => break,
                Err(EvalError::CostExceeded) => return self.leave(base, Err(EvalError::CostExceeded)),
                _ => {}
            }
            let step = self.step(c, base);
            if step == Err(EvalError::CostExceeded) {
                return self.leave(base, step);
            }
            if let Some((_, accu)) = self.variables.get_mut(base) {
                *accu = step;
            }
        }
        self.variables.truncate(base + 1);
        let result = self.eval(&c.result);
        self.leave(base, result)
    }

    fn leave(&mut self, base: usize, outcome: Outcome) -> Outcome {
        self.variables.truncate(base);
        outcome
    }

    /// Appending to a list would copy it at each step, so the accumulator is taken and extended in place.
    fn step(&mut self, c: &Comprehension, base: usize) -> Outcome {
        let (filter, element) = match collected(&c.step, &c.accu_var) {
            Some(parts) => parts,
            None => return self.eval(&c.step),
        };
        if let Some(filter) = filter {
            match self.eval(filter)? {
                Value::Bool(true) => {}
                Value::Bool(false) => return self.variables[base].1.clone_cheaply(),
                _ => return fault("no such overload"),
            }
        }
        let element = self.eval(element)?;
        self.charge(1 + LIST_COST + 1)?;
        let taken = std::mem::replace(&mut self.variables[base].1, Ok(Value::Null));
        match taken? {
            Value::List(mut list) => {
                match Arc::get_mut(&mut list) {
                    Some(own) => own.items.push(element),
                    None => {
                        let mut items = list.items.clone();
                        items.push(element);
                        list = Arc::new(List { items, kind: ListKind::Atomic(Form::Written) });
                    }
                }
                Ok(Value::List(list))
            }
            _ => fault("no such overload"),
        }
    }
}

trait CloneCheaply {
    fn clone_cheaply(&mut self) -> Self;
}

impl CloneCheaply for Outcome {
    /// Takes the value, which the caller puts back at once.
    fn clone_cheaply(&mut self) -> Self {
        std::mem::replace(self, Ok(Value::Null))
    }
}

/// The filter and the element of a step of the form `accu + [element]` or `filter ? accu + [element] : accu`.
fn collected<'e>(step: &'e Expr, accu: &str) -> Option<(Option<&'e Expr>, &'e Expr)> {
    let Kind::Call { target: None, function, args } = &step.kind else { return None };
    let is_accu = |expr: &Expr| matches!(&expr.kind, Kind::Ident(name) if name == accu);
    match (function.as_str(), args.as_slice()) {
        ("_+_", [first, second]) if is_accu(first) => match &second.kind {
            Kind::List { elements, optional } if optional.is_empty() => match elements.as_slice() {
                [element] => Some((None, element)),
                _ => None,
            },
            _ => None,
        },
        ("_?_:_", [filter, yes, no]) if is_accu(no) => match collected(yes, accu)? {
            (None, element) => Some((Some(filter), element)),
            _ => None,
        },
        _ => None,
    }
}

pub(super) fn literal_value(literal: &Literal) -> Value {
    match literal {
        Literal::Null => Value::Null,
        Literal::Bool(b) => Value::Bool(*b),
        Literal::Int(i) => Value::Int(*i),
        Literal::Uint(u) => Value::Uint(*u),
        Literal::Double(f) => Value::Double(*f),
        Literal::String(s) => Value::String(s.clone()),
        Literal::Bytes(b) => Value::Bytes(b.clone()),
    }
}

fn lookup(value: &Value, field: &str) -> Result<Option<Value>, EvalError> {
    match value {
        Value::Object(fields) => {
            Ok(field_of(fields, field).filter(|value| !matches!(value, Value::Null)).cloned())
        }
        Value::Map(map) => Ok(map.get(&Key::String(Arc::from(field))).cloned()),
        Value::Message(message) => Ok(message.fields.get(field).cloned()),
        Value::List(_) => fault("unsupported index type 'string' in list"),
        // cel-go finds no key in a value without keys (`refQualify` of interpreter/attributes.go).
        _ => Ok(None),
    }
}

type Entries = Vec<(Value, Option<Value>)>;

/// The entries of a fold: items or keys, or both with two variables.
fn entries_of(range: &Value, two: bool) -> Result<Entries, EvalError> {
    let index = |i: usize| Value::Int(i64::try_from(i).unwrap_or(i64::MAX));
    match range {
        Value::List(list) if two => {
            Ok(list.items.iter().enumerate().map(|(i, item)| (index(i), Some(item.clone()))).collect())
        }
        Value::List(list) => Ok(list.items.iter().map(|item| (item.clone(), None)).collect()),
        Value::Map(map) => {
            Ok(map.iter().map(|(key, value)| (key.value(), two.then(|| value.clone()))).collect())
        }
        _ => fault("no such overload"),
    }
}

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        super::value::equal(self, other)
    }
}
