//! Functions whose body can be read: those that return a schema, and those that decide whether a field is left out.

use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{BinOp, Block, Expr, FnArg, Pat, ReturnType, Signature, Stmt, Type, UnOp};

use super::super::values::active;
use super::Parser;
use crate::syntax::kube::{JsonExpr, Predicate, SchemaFunction, SchemaStep};
use crate::syntax::{ValueExpr, ValueItem, ValueKind};

impl Parser<'_> {
    /// A function of one parameter that returns a schema or a truth value.
    pub(in crate::parse) fn unary_function(&self, signature: &Signature, block: &Block) -> Option<ValueItem> {
        let ReturnType::Type(_, output) = &signature.output else { return None };
        let Type::Path(output) = &**output else { return None };
        let kind = match output.path.segments.last()?.ident.to_string().as_str() {
            "Schema" => ValueKind::SchemaFunction(Box::new(self.schema_function(block))),
            "bool" => {
                let parameter = match signature.inputs.first()? {
                    FnArg::Receiver(_) => "self".to_string(),
                    FnArg::Typed(parameter) => match &*parameter.pat {
                        Pat::Ident(name) => name.ident.unraw().to_string(),
                        _ => return None,
                    },
                };
                ValueKind::Predicate(Box::new(self.predicate(&parameter, block)?))
            }
            _ => return None,
        };
        Some(ValueItem {
            name: self.name(&signature.ident),
            expr: ValueExpr { kind, loc: self.loc(block.span()) },
        })
    }

    fn schema_function(&self, block: &Block) -> SchemaFunction {
        let mut steps = Vec::new();
        let mut result = JsonExpr::Unknown(self.loc(block.span()));
        let active = active(self.cfg, block);
        let last = active.len().saturating_sub(1);
        for (at, stmt) in active.into_iter().enumerate() {
            match stmt {
                Stmt::Expr(Expr::Return(syn::ExprReturn { expr: Some(expr), .. }), _) if at == last => {
                    result = self.json_value(expr);
                }
                Stmt::Expr(expr, None) if at == last => result = self.json_value(expr),
                Stmt::Macro(call) if at == last && call.semi_token.is_none() => {
                    result = self.json_macro(call.mac.span(), &call.mac);
                }
                // Imports do nothing.
                Stmt::Item(syn::Item::Use(_)) => {}
                Stmt::Expr(Expr::If(branch), _) => self.object_steps(branch, &mut steps),
                stmt => steps.push(self.schema_step(stmt)),
            }
        }
        SchemaFunction { steps, result }
    }

    /// `if let Some(object) = schema.as_object_mut() { object.insert(..); }`: a schema that is written out is an object.
    fn object_steps(&self, branch: &syn::ExprIf, steps: &mut Vec<SchemaStep>) {
        let unknown = SchemaStep::Unknown(self.loc(branch.span()));
        let Some((object, schema)) = object_of(branch) else { return steps.push(unknown) };
        for stmt in &branch.then_branch.stmts {
            steps.push(match self.schema_step(stmt) {
                SchemaStep::Insert(name, key, value) if name == object => {
                    SchemaStep::Insert(schema.clone(), key, value)
                }
                SchemaStep::Remove(name, key) if name == object => SchemaStep::Remove(schema.clone(), key),
                _ => SchemaStep::Unknown(self.loc(stmt.span())),
            });
        }
    }

    fn schema_step(&self, stmt: &Stmt) -> SchemaStep {
        let unknown = || SchemaStep::Unknown(self.loc(stmt.span()));
        match stmt {
            Stmt::Local(local) => {
                let name = match &local.pat {
                    Pat::Ident(name) => Some(name.ident.unraw().to_string()),
                    Pat::Type(typed) => match &*typed.pat {
                        Pat::Ident(name) => Some(name.ident.unraw().to_string()),
                        _ => None,
                    },
                    _ => None,
                };
                match (name, &local.init) {
                    // What is done to a reference is done to what it refers to.
                    (_, Some(init)) if matches!(&*init.expr, Expr::Reference(inner) if inner.mutability.is_some()) => {
                        unknown()
                    }
                    (Some(name), Some(init)) if init.diverge.is_none() => {
                        SchemaStep::Let(name, self.json_value(&init.expr))
                    }
                    _ => unknown(),
                }
            }
            Stmt::Expr(Expr::MethodCall(call), _) => {
                let (Some(name), arguments) = (variable(&call.receiver), &call.args) else {
                    return unknown();
                };
                match (call.method.to_string().as_str(), arguments.len()) {
                    ("insert", 2) => {
                        SchemaStep::Insert(name, self.value(&arguments[0]), self.json_value(&arguments[1]))
                    }
                    ("remove", 1) => SchemaStep::Remove(name, self.value(&arguments[0])),
                    _ => unknown(),
                }
            }
            _ => unknown(),
        }
    }

    fn predicate(&self, parameter: &str, block: &Block) -> Option<Predicate> {
        match active(self.cfg, block)[..] {
            [Stmt::Expr(Expr::Return(syn::ExprReturn { expr: Some(expr), .. }), _)] => {
                self.predicate_of(parameter, expr)
            }
            [Stmt::Expr(expr, None)] => self.predicate_of(parameter, expr),
            [Stmt::Macro(call)] if call.semi_token.is_none() => {
                let mac = call.mac.clone();
                self.predicate_of(parameter, &Expr::Macro(syn::ExprMacro { attrs: Vec::new(), mac }))
            }
            _ => None,
        }
    }

    fn predicate_of(&self, parameter: &str, expr: &Expr) -> Option<Predicate> {
        if let Some((name, asked)) = field_of(parameter, expr) {
            let inner = self.predicate_of(FIELD, &asked)?;
            return Some(Predicate::Field(name, Box::new(inner)));
        }
        match expr {
            Expr::Paren(inner) => self.predicate_of(parameter, &inner.expr),
            Expr::Lit(syn::ExprLit { lit: syn::Lit::Bool(value), .. }) => {
                Some(Predicate::Always(value.value))
            }
            Expr::Binary(binary)
                if matches!(binary.op, BinOp::Eq(_)) && is_length(parameter, &binary.left) =>
            {
                matches!(self.value(&binary.right).kind, ValueKind::Int(0)).then_some(Predicate::IsEmpty)
            }
            Expr::Binary(binary) if matches!(binary.op, BinOp::And(_)) => {
                let sides =
                    [self.predicate_of(parameter, &binary.left), self.predicate_of(parameter, &binary.right)];
                Some(Predicate::All(sides.into_iter().collect::<Option<_>>()?))
            }
            Expr::Unary(unary) if matches!(unary.op, UnOp::Not(_)) => {
                is_parameter(parameter, &unary.expr).then_some(Predicate::IsFalse)
            }
            Expr::Macro(call) if call.mac.path.is_ident("matches") => {
                let parser = syn::punctuated::Punctuated::<Expr, syn::Token![,]>::parse_terminated;
                let arguments = call.mac.parse_body_with(parser).ok()?;
                let (asked, pattern) = (arguments.first()?, arguments.get(1)?);
                let is_value =
                    is_parameter(parameter, asked) && matches!(pattern, Expr::Path(_) | Expr::Lit(_));
                is_value.then(|| Predicate::Equals(self.value(pattern)))
            }
            Expr::MethodCall(call) if is_parameter(parameter, &call.receiver) && call.args.is_empty() => {
                match call.method.to_string().as_str() {
                    "is_empty" => Some(Predicate::IsEmpty),
                    "is_none" => Some(Predicate::IsNone),
                    _ => None,
                }
            }
            Expr::Binary(binary) if matches!(binary.op, BinOp::Eq(_)) => {
                let other =
                    match (is_parameter(parameter, &binary.left), is_parameter(parameter, &binary.right)) {
                        (true, false) => &binary.right,
                        (false, true) => &binary.left,
                        _ => return None,
                    };
                Some(if is_default(other) {
                    Predicate::IsDefault
                } else {
                    Predicate::Equals(self.value(other))
                })
            }
            expr if is_parameter(parameter, expr) => Some(Predicate::IsTrue),
            _ => None,
        }
    }
}

/// What a field is called while it is asked for.
const FIELD: &str = "__field";

/// The field that an expression asks for, and the same expression of the field alone.
fn field_of(parameter: &str, expr: &Expr) -> Option<(String, Expr)> {
    let replaced = |inner: &Expr| {
        let Expr::Field(field) = inner else { return None };
        let syn::Member::Named(name) = &field.member else { return None };
        is_parameter(parameter, &field.base).then(|| name.unraw().to_string())
    };
    let placeholder = || -> Expr {
        syn::parse_quote! { __field }
    };
    match expr {
        Expr::Field(_) => Some((replaced(expr)?, placeholder())),
        Expr::MethodCall(call) => {
            let name = replaced(&call.receiver)?;
            let mut call = call.clone();
            *call.receiver = placeholder();
            Some((name, Expr::MethodCall(call)))
        }
        Expr::Unary(unary) => {
            let name = replaced(&unary.expr)?;
            let mut unary = unary.clone();
            *unary.expr = placeholder();
            Some((name, Expr::Unary(unary)))
        }
        Expr::Binary(binary) if matches!(binary.op, BinOp::Eq(_)) => {
            let name = replaced(&binary.left)?;
            let mut binary = binary.clone();
            *binary.left = placeholder();
            Some((name, Expr::Binary(binary)))
        }
        _ => None,
    }
}

/// The variable that a chain of accessors begins with.
fn variable(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Path(path) => path.path.get_ident().map(|name| name.unraw().to_string()),
        // schemars 0.8 keeps keywords that it does not know apart.
        Expr::Field(field) if matches!(&field.member, syn::Member::Named(name) if name == "extensions") => {
            variable(&field.base)
        }
        Expr::MethodCall(call)
            if ["ensure_object", "as_object_mut", "unwrap", "expect"]
                .iter()
                .any(|name| call.method == name) =>
        {
            variable(&call.receiver)
        }
        _ => None,
    }
}

/// The name of the object and the variable that it is of.
fn object_of(branch: &syn::ExprIf) -> Option<(String, String)> {
    let (Expr::Let(condition), None) = (&*branch.cond, &branch.else_branch) else { return None };
    let Pat::TupleStruct(pattern) = &*condition.pat else { return None };
    let (Some(Pat::Ident(name)), true) = (pattern.elems.first(), pattern.path.is_ident("Some")) else {
        return None;
    };
    let Expr::MethodCall(call) = &*condition.expr else { return None };
    (call.method == "as_object_mut")
        .then(|| variable(&call.receiver))?
        .map(|schema| (name.ident.unraw().to_string(), schema))
}

/// `value.len()`
fn is_length(parameter: &str, expr: &Expr) -> bool {
    match expr {
        Expr::MethodCall(call) => {
            call.method == "len" && call.args.is_empty() && is_parameter(parameter, &call.receiver)
        }
        _ => false,
    }
}

fn is_parameter(parameter: &str, expr: &Expr) -> bool {
    match expr {
        Expr::Path(path) => path.path.get_ident().is_some_and(|name| name.unraw() == parameter),
        Expr::Unary(unary) if matches!(unary.op, UnOp::Deref(_)) => is_parameter(parameter, &unary.expr),
        Expr::Reference(inner) => is_parameter(parameter, &inner.expr),
        Expr::Paren(inner) => is_parameter(parameter, &inner.expr),
        _ => false,
    }
}

/// `T::default()`, behind references.
fn is_default(expr: &Expr) -> bool {
    match expr {
        Expr::Reference(inner) => is_default(&inner.expr),
        Expr::Paren(inner) => is_default(&inner.expr),
        Expr::Call(call) => match &*call.func {
            Expr::Path(path) => path.path.segments.last().is_some_and(|segment| segment.ident == "default"),
            _ => false,
        },
        _ => false,
    }
}
