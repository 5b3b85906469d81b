//! Reads functions that decide whether to skip a field.

use syn::ext::IdentExt;
use syn::{BinOp, Block, Expr, FnArg, Pat, ReturnType, Signature, Stmt, Type, UnOp};

use super::super::statements::active;
use super::Parser;
use crate::syntax::ValueKind;
use crate::syntax::kube::Predicate;

impl Parser<'_> {
    /// A function of one parameter that returns a `bool`.
    pub(in crate::parse) fn predicate_function(
        &self,
        signature: &Signature,
        block: &Block,
    ) -> Option<ValueKind> {
        let (ReturnType::Type(_, output), 1) = (&signature.output, signature.inputs.len()) else {
            return None;
        };
        if !matches!(&**output, Type::Path(output) if output.path.is_ident("bool")) {
            return None;
        }
        let parameter = match signature.inputs.first()? {
            FnArg::Receiver(_) => "self".to_string(),
            FnArg::Typed(parameter) => match &*parameter.pat {
                Pat::Ident(name) => name.ident.unraw().to_string(),
                _ => return None,
            },
        };
        Some(ValueKind::Predicate(Box::new(self.predicate(&parameter, block)?)))
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

/// The placeholder for the tested field.
const FIELD: &str = "__field";

/// The field that an expression tests, and the same expression with a placeholder for the field.
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
