//! Simplifies rules when the values of some fields of `self` are known.

use serde_json::Value;

use super::ast::{Expr, Kind, Literal};
use super::implies::operands;
use super::parser;

/// A fact about a field.
#[derive(Clone, Debug, PartialEq)]
pub enum Known {
    /// The field is absent.
    Absent,
    /// The field has this value.
    Is(Value),
}

/// Reports whether a rule may read a field of `self`; `true` if in doubt.
#[must_use]
pub fn touches(source: &str, field: &str) -> bool {
    fn walk(expr: &Expr, field: &str) -> bool {
        let is_self =
            |expr: &Expr| matches!(&expr.kind, Kind::Ident(name) if name == "self" || name == "oldSelf");
        match &expr.kind {
            // Escaped names contain `__`.
            Kind::Select { operand, field: name, .. } if is_self(operand) => {
                name == field || name.contains("__")
            }
            _ => is_self(expr) || expr.children().into_iter().any(|child| walk(child, field)),
        }
    }
    parser::parse(source).map_or(true, |ast| walk(&ast.root, field))
}

/// The expression without the parts that are true or false by the known facts. As on a server, `false && error` is false.
pub(super) fn simplified(expr: &Expr, known: &dyn Fn(&str) -> Option<Known>) -> Expr {
    let literal = |value: bool| Expr { id: 0, kind: Kind::Literal(Literal::Bool(value)) };
    if let Some(value) = truth(expr, known) {
        return literal(value);
    }
    for (operator, neutral) in [("_&&_", true), ("_||_", false)] {
        let Some([left, right]) = operands(expr, operator) else { continue };
        let (left, right) = (simplified(left, known), simplified(right, known));
        return match (left == literal(neutral), right == literal(neutral)) {
            (true, _) => right,
            (_, true) => left,
            _ => {
                let kind =
                    Kind::Call { target: None, function: operator.to_owned(), args: vec![left, right] };
                Expr { id: 0, kind }
            }
        };
    }
    match operands(expr, "_?_:_").map(|[condition, yes, no]| (truth(condition, known), yes, no)) {
        Some((Some(true), yes, _)) => simplified(yes, known),
        Some((Some(false), _, no)) => simplified(no, known),
        _ => expr.clone(),
    }
}

/// The value of an expression, if the known facts decide it.
fn truth(expr: &Expr, known: &dyn Fn(&str) -> Option<Known>) -> Option<bool> {
    match &expr.kind {
        Kind::Literal(Literal::Bool(value)) => return Some(*value),
        Kind::Select { test: true, .. } => return Some(field(expr, known)? != Known::Absent),
        _ => {}
    }
    if let Some([operand]) = operands(expr, "!_") {
        return truth(operand, known).map(|value| !value);
    }
    for (operator, decisive) in [("_&&_", false), ("_||_", true)] {
        let Some([left, right]) = operands(expr, operator) else { continue };
        return match (truth(left, known), truth(right, known)) {
            (Some(left), _) if left == decisive => Some(decisive),
            (_, Some(right)) if right == decisive => Some(decisive),
            (Some(_), Some(_)) => Some(!decisive),
            _ => None,
        };
    }
    if let Some([condition, yes, no]) = operands(expr, "_?_:_") {
        return truth(if truth(condition, known)? { yes } else { no }, known);
    }
    for (operator, is_negated) in [("_==_", false), ("_!=_", true)] {
        let Some([left, right]) = operands(expr, operator) else { continue };
        let (Known::Is(value), Kind::Literal(literal)) = (field(left, known)?, &right.kind) else {
            return None;
        };
        return is(&value, literal).map(|same| same != is_negated);
    }
    None
}

/// The fact about the field of `self` that is selected or tested.
fn field(expr: &Expr, known: &dyn Fn(&str) -> Option<Known>) -> Option<Known> {
    let Kind::Select { operand, field, .. } = &expr.kind else { return None };
    matches!(&operand.kind, Kind::Ident(name) if name == "self").then(|| known(field))?
}

/// Reports whether a value equals a literal of its type.
fn is(value: &Value, literal: &Literal) -> Option<bool> {
    match (value, literal) {
        (Value::String(value), Literal::String(literal)) => Some(value.as_str() == &**literal),
        (Value::Bool(value), Literal::Bool(literal)) => Some(value == literal),
        (Value::Number(value), Literal::Int(literal)) => value.as_i64().map(|value| value == *literal),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_that_a_rule_reads_are_detected() {
        for (rule, wanted) in [
            ("self.a > 1", true),
            ("has(self.a)", true),
            ("self.b > 1 && size(self.c) < 2", false),
            ("self.b.a == 1", false),
            ("self.b == oldSelf.a", true),
            ("size(self) < 3", true),
            ("self['a'] == 1", true),
            ("self.all(k, k != 'a')", true),
            ("self.__namespace__ == 'x'", true),
            ("self.", true),
        ] {
            assert_eq!(touches(rule, "a"), wanted, "{rule}");
        }
    }
}
