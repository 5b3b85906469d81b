//! The type checker: finds the type of every node and the signatures that fit every call.

use std::collections::HashMap;
use std::sync::Arc;

use super::ast::{Ast, Comprehension, Entry, Expr, FieldInit, Kind, Literal, NodeId};
use super::functions::Patterns;
use super::issue::Issue;
use super::literals;
use super::message;
use super::overloads::{self, Overload};
use super::types::{Type, field_of};
use super::unify::{Mappings, assignable, substitute};

/// The result of the type check.
#[derive(Debug)]
pub(super) struct Checked {
    pub(super) types: HashMap<NodeId, Type>,
    pub(super) overloads: HashMap<NodeId, Vec<&'static str>>,
    /// The variables that are used.
    pub(super) variables: Vec<String>,
    /// The dotted names of functions and variables, which parse as calls with a receiver and as selections.
    pub(super) qualified: HashMap<NodeId, String>,
    /// The patterns that evaluations have compiled.
    pub(super) patterns: Patterns,
    /// The error that keeps cel-go from making a program of the expression.
    pub(super) instantiation: Option<String>,
}

/// The declarations of an expression beside the standard library.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scope<'a> {
    pub(super) variables: &'a [(&'a str, Type)],
    /// Whether the expression may construct patches: messages, and the functions for them.
    pub(super) patches: bool,
}

/// Checks an expression in which these variables are known.
pub(super) fn check(ast: &Ast, scope: Scope<'_>) -> Result<Checked, Vec<Issue>> {
    let variables = scope.variables;
    let mut checker = Checker {
        ast,
        patches: scope.patches,
        scopes: vec![variables.iter().map(|(name, t)| ((*name).to_owned(), t.clone())).collect()],
        mappings: Mappings::new(),
        fresh: 0,
        issues: Vec::new(),
        has_dotted_variables: variables.iter().any(|(name, _)| name.contains('.')),
        found: Checked {
            types: HashMap::new(),
            overloads: HashMap::new(),
            variables: Vec::new(),
            qualified: HashMap::new(),
            patterns: Patterns::default(),
            instantiation: None,
        },
    };
    checker.expr(&ast.root);
    if !checker.issues.is_empty() {
        return Err(checker.issues);
    }
    let mut found = checker.found;
    for type_ in found.types.values_mut() {
        *type_ = substitute(&checker.mappings, type_, true);
    }
    let issues = literals::issues(ast, &found);
    if !issues.is_empty() {
        return Err(issues);
    }
    found.instantiation = literals::constant(&ast.root).err();
    Ok(found)
}

struct Checker<'a> {
    ast: &'a Ast,
    patches: bool,
    scopes: Vec<HashMap<String, Type>>,
    mappings: Mappings,
    fresh: usize,
    issues: Vec<Issue>,
    has_dotted_variables: bool,
    found: Checked,
}

impl<'a> Checker<'a> {
    fn issue(&mut self, id: NodeId, message: String) {
        let position = self.ast.positions.get(id).copied().unwrap_or(0);
        self.issues.push(Issue { position, message });
    }

    fn set(&mut self, expr: &Expr, type_: Type) -> Type {
        self.found.types.insert(expr.id, type_.clone());
        type_
    }

    fn fresh(&mut self) -> Type {
        self.fresh += 1;
        Type::Param(format!("_var{}", self.fresh - 1))
    }

    fn lookup(&self, name: &str) -> Option<Type> {
        let bare = name.strip_prefix('.').unwrap_or(name);
        self.scopes.iter().rev().find_map(|scope| scope.get(bare).cloned())
    }

    fn expr(&mut self, expr: &Expr) -> Type {
        let type_ = match &expr.kind {
            Kind::Literal(literal) => literal_type(literal),
            Kind::Ident(name) => self.ident(expr, name),
            Kind::Select { operand, field, test } => {
                let type_ = self.select(expr, operand, field, false);
                if *test { Type::Bool } else { type_ }
            }
            Kind::Call { target, function, args } => self.call(expr, target.as_deref(), function, args),
            Kind::List { elements, optional } => self.list(elements, optional),
            Kind::Map(entries) => self.map(entries),
            Kind::Struct { name, fields } => self.message(expr, name, fields),
            Kind::Comprehension(comprehension) => self.comprehension(comprehension),
        };
        self.set(expr, type_)
    }

    fn ident(&mut self, expr: &Expr, name: &str) -> Type {
        if let Some(type_) = self.lookup(name) {
            let name = name.strip_prefix('.').unwrap_or(name).to_owned();
            if !self.found.variables.contains(&name) {
                self.found.variables.push(name);
            }
            return type_;
        }
        if let Some(type_) = type_name(name) {
            return Type::Type(Arc::new(type_));
        }
        self.issue(expr.id, format!("undeclared reference to '{name}' (in container '')"));
        Type::Error
    }

    fn select(&mut self, expr: &Expr, operand: &Expr, field: &str, optional: bool) -> Type {
        if let Some(type_) = self.dotted_variable(expr, operand, field) {
            return type_;
        }
        let operand_type = self.expr(operand);
        let operand_type = substitute(&self.mappings, &operand_type, false);
        let (target, was_optional) = match operand_type {
            Type::Optional(inner) => ((*inner).clone(), true),
            other => (other, false),
        };
        let result = match &target {
            Type::Map(_, value) => (**value).clone(),
            Type::Object(object) => match field_of(&object.fields, field) {
                Some(type_) => type_.clone(),
                None => {
                    self.issue(expr.id, format!("undefined field '{field}'"));
                    Type::Error
                }
            },
            Type::Message(name) => message::field_type(name, field),
            Type::Param(name) => {
                self.mappings.insert(name.clone(), Type::Dyn);
                Type::Dyn
            }
            other if other.is_dyn_or_error() => Type::Dyn,
            // cel-go treats these as objects without known fields.
            Type::Opaque(name) => {
                self.issue(expr.id, format!("unexpected failed resolution of '{name}'"));
                Type::Error
            }
            other => {
                self.issue(expr.id, format!("type '{other}' does not support field selection"));
                Type::Dyn
            }
        };
        if was_optional || optional { Type::optional(result) } else { result }
    }

    /// Variables and types whose names have dots parse as selections.
    fn dotted_variable(&mut self, expr: &Expr, operand: &Expr, field: &str) -> Option<Type> {
        let name = format!("{}.{field}", qualified_name(operand)?);
        let variable = if self.has_dotted_variables { self.lookup(&name) } else { None };
        let type_ = match variable {
            Some(type_) => {
                if !self.found.variables.contains(&name) {
                    self.found.variables.push(name.clone());
                }
                type_
            }
            None => Type::Type(Arc::new(type_name(&name).filter(|_| name.contains('.'))?)),
        };
        self.found.qualified.insert(expr.id, name);
        Some(type_)
    }

    fn call(&mut self, expr: &Expr, target: Option<&Expr>, function: &str, args: &[Expr]) -> Type {
        if let ("_?._", [operand, field]) = (function, args) {
            let Kind::Literal(Literal::String(name)) = &field.kind else { return Type::Error };
            self.set(field, Type::String);
            let type_ = self.select(expr, operand, name, true);
            self.found.overloads.insert(expr.id, vec!["select_optional_field"]);
            return type_;
        }
        let mut types: Vec<Type> = args.iter().map(|arg| self.expr(arg)).collect();
        let qualified = target.and_then(qualified_name).map(|prefix| format!("{prefix}.{function}"));
        let qualified = qualified.filter(|name| self.patches || !message::is_function(name));
        if let Some((name, signatures)) = qualified.and_then(|q| overloads::lookup(&q).map(|s| (q, s))) {
            self.found.qualified.insert(expr.id, name.clone());
            return self.resolve(expr, &name, signatures, None, args, &types);
        }
        if let Some(target) = target {
            let type_ = self.expr(target);
            types.insert(0, type_);
        }
        match overloads::lookup(function) {
            Some(signatures) => self.resolve(expr, function, signatures, target, args, &types),
            None => {
                self.issue(expr.id, format!("undeclared reference to '{function}' (in container '')"));
                Type::Error
            }
        }
    }

    fn resolve(
        &mut self,
        expr: &Expr,
        function: &str,
        signatures: &'static [Overload],
        target: Option<&Expr>,
        args: &[Expr],
        types: &[Type],
    ) -> Type {
        if matches!(function, "_&&_" | "_||_") {
            return self.logical(expr, signatures, args, types);
        }
        let mut result: Option<Type> = None;
        let mut fitting = Vec::new();
        for signature in signatures.iter().filter(|s| s.member == target.is_some()) {
            let mut names = Mappings::new();
            let instance = |checker: &mut Self, names: &mut Mappings, t: &Type| checker.instantiate(names, t);
            let wanted: Vec<Type> =
                signature.args.iter().map(|arg| instance(self, &mut names, arg)).collect();
            let own = instance(self, &mut names, &signature.result);
            let mut mappings = self.mappings.clone();
            let fits = wanted.len() == types.len()
                && types.iter().zip(&wanted).all(|(found, wanted)| assignable(&mut mappings, found, wanted));
            if !fits {
                continue;
            }
            self.mappings = mappings;
            fitting.push(signature.id);
            let own = substitute(&self.mappings, &own, false);
            result = Some(match result {
                None => own,
                Some(previous) if previous == own || previous == Type::Dyn => previous,
                Some(_) => Type::Dyn,
            });
        }
        if let Some(result) = result {
            self.found.overloads.insert(expr.id, fitting);
            return result;
        }
        let shown: Vec<String> =
            types.iter().map(|t| substitute(&self.mappings, t, true).to_string()).collect();
        let shown = match target {
            Some(_) => format!("{}.({})", shown[0], shown[1..].join(", ")),
            None => format!("({})", shown.join(", ")),
        };
        self.issue(expr.id, format!("found no matching overload for '{function}' applied to '{shown}'"));
        Type::Error
    }

    fn instantiate(&mut self, names: &mut Mappings, type_: &Type) -> Type {
        match type_ {
            Type::Param(name) => match names.get(name) {
                Some(known) => known.clone(),
                None => {
                    let fresh = self.fresh();
                    names.insert(name.clone(), fresh.clone());
                    fresh
                }
            },
            Type::List(item) => Type::list(self.instantiate(names, item)),
            Type::Map(key, value) => Type::map(self.instantiate(names, key), self.instantiate(names, value)),
            Type::Optional(inner) => Type::optional(self.instantiate(names, inner)),
            Type::Type(inner) => Type::Type(Arc::new(self.instantiate(names, inner))),
            other => other.clone(),
        }
    }

    fn logical(
        &mut self,
        expr: &Expr,
        signatures: &'static [Overload],
        args: &[Expr],
        types: &[Type],
    ) -> Type {
        let mut fine = true;
        for (arg, type_) in args.iter().zip(types) {
            if !assignable(&mut self.mappings, type_, &Type::Bool) {
                let found = substitute(&self.mappings, type_, true);
                self.issue(arg.id, format!("expected type 'bool' but found '{found}'"));
                fine = false;
            }
        }
        if !fine {
            return Type::Error;
        }
        self.found.overloads.insert(expr.id, signatures.iter().map(|s| s.id).collect());
        Type::Bool
    }

    fn unwrap_optional(&mut self, expr: &Expr, type_: Type, optional: bool) -> Type {
        if !optional {
            return type_;
        }
        match substitute(&self.mappings, &type_, false) {
            Type::Optional(inner) => (*inner).clone(),
            other => {
                if !other.is_dyn_or_error() {
                    self.issue(
                        expr.id,
                        format!("expected type 'optional_type({other})' but found '{other}'"),
                    );
                }
                other
            }
        }
    }

    fn list(&mut self, elements: &[Expr], optional: &[usize]) -> Type {
        let mut joined = None;
        for (i, element) in elements.iter().enumerate() {
            let type_ = self.expr(element);
            let type_ = self.unwrap_optional(element, type_, optional.contains(&i));
            joined = Some(self.join(joined, type_));
        }
        let item = joined.unwrap_or_else(|| self.fresh());
        Type::list(item)
    }

    fn map(&mut self, entries: &[Entry]) -> Type {
        let (mut keys, mut values) = (None, None);
        for entry in entries {
            let key = self.expr(&entry.key);
            keys = Some(self.join(keys, key));
            let value = self.expr(&entry.value);
            let value = self.unwrap_optional(&entry.value, value, entry.optional);
            values = Some(self.join(values, value));
        }
        let key = keys.unwrap_or_else(|| self.fresh());
        let value = values.unwrap_or_else(|| self.fresh());
        Type::map(key, value)
    }

    /// A message literal. Source: cel-go's `checkCreateStruct`.
    fn message(&mut self, expr: &Expr, name: &str, fields: &[FieldInit]) -> Type {
        if !self.patches || !message::is_known(name) {
            self.issue(expr.id, format!("undeclared reference to '{name}' (in container '')"));
            return Type::Error;
        }
        for field in fields {
            let found = self.expr(&field.value);
            let wanted = message::field_type(name, &field.name);
            let found = self.unwrap_optional(&field.value, found, field.optional);
            if !assignable(&mut self.mappings, &wanted, &found) {
                let found = substitute(&self.mappings, &found, true);
                let message = format!(
                    "expected type of field '{}' is '{wanted}' but provided type is '{found}'",
                    field.name
                );
                self.issue(field.id, message);
            }
        }
        Type::Message(name.into())
    }

    /// The common type of the elements of a literal. `literals` checks for differences once all types are known.
    fn join(&mut self, previous: Option<Type>, current: Type) -> Type {
        let Some(previous) = previous else { return current };
        let mut mappings = self.mappings.clone();
        if assignable(&mut mappings, &previous, &current) {
            self.mappings = mappings;
            return if previous == Type::Dyn || current == Type::Null { previous } else { current };
        }
        Type::Dyn
    }

    fn comprehension(&mut self, c: &Comprehension) -> Type {
        let range = self.expr(&c.range);
        let accu = self.expr(&c.accu_init);
        let range = substitute(&self.mappings, &range, false);
        self.scopes.push(HashMap::from([(c.accu_var.clone(), accu.clone())]));
        let two = c.var2.is_some();
        let (first, second) = match &range {
            Type::List(item) if two => (Type::Int, (**item).clone()),
            Type::List(item) => ((**item).clone(), Type::Dyn),
            Type::Map(key, value) => ((**key).clone(), (**value).clone()),
            Type::Param(name) => {
                self.mappings.insert(name.clone(), Type::Dyn);
                (Type::Dyn, Type::Dyn)
            }
            Type::Dyn | Type::Error => (Type::Dyn, Type::Dyn),
            other => {
                let message = format!(
                    "expression of type '{other}' cannot be range of a comprehension (must be list, map, or dynamic)"
                );
                self.issue(c.range.id, message);
                (Type::Error, Type::Error)
            }
        };
        let mut scope = HashMap::from([(c.var.clone(), first)]);
        if let Some(var2) = &c.var2 {
            scope.insert(var2.clone(), second);
        }
        self.scopes.push(scope);
        let condition = self.expr(&c.condition);
        self.assert(&c.condition, &Type::Bool, &condition);
        let step = self.expr(&c.step);
        self.assert(&c.step, &accu, &step);
        self.scopes.pop();
        let result = self.expr(&c.result);
        self.scopes.pop();
        substitute(&self.mappings, &result, false)
    }

    fn assert(&mut self, expr: &Expr, wanted: &Type, found: &Type) {
        if !assignable(&mut self.mappings, wanted, found) {
            let show = |t: &Type| substitute(&self.mappings, t, true);
            let message = format!("expected type '{}' but found '{}'", show(wanted), show(found));
            self.issue(expr.id, message);
        }
    }
}

fn qualified_name(expr: &Expr) -> Option<String> {
    match &expr.kind {
        Kind::Ident(name) => Some(name.clone()),
        Kind::Select { operand, field, test: false } => Some(format!("{}.{field}", qualified_name(operand)?)),
        _ => None,
    }
}

fn literal_type(literal: &Literal) -> Type {
    match literal {
        Literal::Null => Type::Null,
        Literal::Bool(_) => Type::Bool,
        Literal::Int(_) => Type::Int,
        Literal::Uint(_) => Type::Uint,
        Literal::Double(_) => Type::Double,
        Literal::String(_) => Type::String,
        Literal::Bytes(_) => Type::Bytes,
    }
}

/// The type that an identifier names: type names are values.
pub(super) fn type_name(name: &str) -> Option<Type> {
    Some(match name {
        "bool" => Type::Bool,
        "int" => Type::Int,
        "uint" => Type::Uint,
        "double" => Type::Double,
        "string" => Type::String,
        "bytes" => Type::Bytes,
        "list" => Type::list(Type::Dyn),
        "map" => Type::map(Type::Dyn, Type::Dyn),
        "null_type" => Type::Null,
        "type" => Type::Type(Arc::new(Type::Dyn)),
        "optional_type" => Type::optional(Type::Dyn),
        "google.protobuf.Timestamp" => Type::Timestamp,
        "google.protobuf.Duration" => Type::Duration,
        _ => return None,
    })
}
