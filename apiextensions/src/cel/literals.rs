//! Checks of literals, once the types of an expression are known.

use super::ast::{Ast, Entry, Expr, Kind, Literal, NodeId};
use super::checker::Checked;
use super::eval::literal_value;
use super::functions::{self, check_format};
use super::issue::Issue;
use super::types::Type;
use super::value::Value;

/// Reports invalid literal arguments, elements of lists and maps that differ in type, and format strings that do not fit
/// their arguments.
pub(super) fn issues(ast: &Ast, checked: &Checked) -> Vec<Issue> {
    let mut literals = Literals { ast, checked, issues: Vec::new() };
    literals.walk(&ast.root, false);
    literals.issues
}

struct Literals<'a> {
    ast: &'a Ast,
    checked: &'a Checked,
    issues: Vec<Issue>,
}

impl Literals<'_> {
    fn issue(&mut self, id: NodeId, message: String) {
        let position = self.ast.positions.get(id).copied().unwrap_or(0);
        self.issues.push(Issue { position, message });
    }

    fn type_of(&self, expr: &Expr) -> Type {
        self.checked.types.get(&expr.id).cloned().unwrap_or(Type::Dyn)
    }

    /// Elements in a call of `format` may differ in type.
    fn walk(&mut self, expr: &Expr, in_format: bool) {
        let is_format = matches!(&expr.kind, Kind::Call { function, .. } if function == "format");
        match &expr.kind {
            Kind::Call { target, function, args } => self.call(expr, target.as_deref(), function, args),
            Kind::List { elements, optional } if !in_format => self.list(elements, optional),
            Kind::Map(entries) if !in_format => self.map(entries),
            _ => {}
        }
        for child in expr.children() {
            self.walk(child, in_format || is_format);
        }
    }

    fn call(&mut self, expr: &Expr, target: Option<&Expr>, function: &str, args: &[Expr]) {
        let Some(first) = args.first() else { return };
        match (&first.kind, function) {
            (Kind::Literal(literal), "duration" | "timestamp")
                if functions::call(function, &[literal_value(literal)]).is_err() =>
            {
                self.issue(first.id, format!("invalid {function} argument"));
            }
            // As cel-go does, the first argument is checked even where the pattern is the second one.
            (Kind::Literal(Literal::String(text)), "matches") if kubesmith_goregex::check(text).is_err() => {
                self.issue(first.id, "invalid matches argument".to_owned());
            }
            (Kind::List { elements, .. }, "format") => {
                let Some(Kind::Literal(Literal::String(template))) = target.map(|target| &target.kind) else {
                    return;
                };
                if let Err((place, fault)) = check_format(template, elements, &|expr| self.type_of(expr)) {
                    self.issue(place.unwrap_or(expr.id), fault);
                }
            }
            _ => {}
        }
    }

    /// Refuses an optional element without the type of an optional: cel-go reads the parameter of its type, which `dyn` does
    /// not have (`homogeneousAggregateLiteralValidator` of cel/validator.go).
    fn check_optional(&mut self, element: &Expr) {
        if self.type_of(element) == Type::Dyn {
            let text = "optional element of type 'dyn', on which kube-apiserver panics; write object.?field or optional.of(...)";
            self.issue(element.id, text.to_owned());
        }
    }

    fn list(&mut self, elements: &[Expr], optional: &[usize]) {
        elements
            .iter()
            .enumerate()
            .filter(|(i, _)| optional.contains(i))
            .for_each(|(_, e)| self.check_optional(e));
        let types: Vec<Type> = elements.iter().map(|element| self.type_of(element)).collect();
        let held = |(i, type_): (usize, Type)| if optional.contains(&i) { inner(type_) } else { type_ };
        let mut types = types.into_iter().enumerate().map(held).zip(elements);
        let Some((wanted, _)) = types.next() else { return };
        // Only the first element that differs is reported.
        if let Some((found, element)) = types.find(|(found, _)| *found != wanted) {
            self.mismatch(element, &wanted, &found);
        }
    }

    fn map(&mut self, entries: &[Entry]) {
        let value_of = |literals: &Self, entry: &Entry| {
            let type_ = literals.type_of(&entry.value);
            if entry.optional { inner(type_) } else { type_ }
        };
        entries.iter().filter(|entry| entry.optional).for_each(|entry| self.check_optional(&entry.value));
        let Some((first, rest)) = entries.split_first() else { return };
        let (key, value) = (self.type_of(&first.key), value_of(self, first));
        for entry in rest {
            let (own_key, own_value) = (self.type_of(&entry.key), value_of(self, entry));
            if own_key != key {
                self.mismatch(&entry.key, &key, &own_key);
            }
            if own_value != value {
                self.mismatch(&entry.value, &value, &own_value);
            }
        }
    }

    fn mismatch(&mut self, expr: &Expr, wanted: &Type, found: &Type) {
        self.issue(expr.id, format!("expected type '{wanted}' but found '{found}'"));
    }
}

/// Functions that cel-go calls when it makes a program, if their argument is constant (`IsTypeConversionFunction` of
/// cel-go's common/overloads).
const CONVERSIONS: &[&str] =
    &["bool", "bytes", "double", "duration", "dyn", "int", "string", "timestamp", "type", "uint"];

/// Returns the value of a constant, as cel-go knows it when it makes a program: a literal, or the conversion of one
/// (`maybeOptimizeConstUnary` of interpreter/decorators.go).
///
/// # Errors
/// The error of the first conversion that fails, or of the first constant pattern (`FindRegexOptimization` of
/// apiserver/pkg/cel/library/regex.go).
pub(super) fn constant(expr: &Expr) -> Result<Option<Value>, String> {
    if let Kind::Literal(literal) = &expr.kind {
        return Ok(Some(literal_value(literal)));
    }
    let mut values = Vec::new();
    for child in expr.children() {
        values.push(constant(child)?);
    }
    match (&expr.kind, values.as_mut_slice()) {
        (Kind::Call { target: None, function, .. }, [value]) if CONVERSIONS.contains(&function.as_str()) => {
            value.take().map(|value| functions::call(function, &[value])).transpose()
        }
        (Kind::Call { function, .. }, [_, Some(Value::String(pattern)), ..])
            if matches!(function.as_str(), "matches" | "find" | "findAll") =>
        {
            kubesmith_goregex::check(pattern).map(|()| None).map_err(|fault| fault.to_string())
        }
        _ => Ok(None),
    }
}

/// The type inside an optional.
fn inner(type_: Type) -> Type {
    match type_ {
        Type::Optional(inner) => (*inner).clone(),
        other => other,
    }
}
