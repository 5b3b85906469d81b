//! Reads variables of the environment, which are mostly unset when a program prints CRDs.

use syn::{Expr, ExprMethodCall};

use super::Parser;
use crate::syntax::{ValueExpr, ValueKind};

impl Parser<'_> {
    /// The value of a chain of methods after `env::var(..)` if the variable is unset; `None`: another
    /// expression.
    pub(super) fn environment(&self, call: &ExprMethodCall, depth: usize) -> Option<ValueKind> {
        let is_variable = match &*call.receiver {
            Expr::Call(inner) => matches!(&*inner.func, Expr::Path(path) if is_var(&path.path)),
            Expr::MethodCall(inner) => {
                matches!(self.environment(inner, depth), Some(ValueKind::Environment(None)))
            }
            _ => false,
        };
        if !is_variable {
            return None;
        }
        let other = |expr: &Expr| Some(Box::new(self.value_at(expr, depth)));
        let fallback = match (call.method.to_string().as_str(), call.args.first()) {
            ("ok", None) | ("map" | "and_then" | "filter", Some(_)) => None,
            ("unwrap_or", Some(value)) => other(value),
            ("unwrap_or_else", Some(Expr::Closure(closure))) => other(&closure.body),
            ("unwrap_or_default", None) => {
                let empty = ValueKind::Text(String::new());
                Some(Box::new(ValueExpr { kind: empty, loc: self.loc(call.method.span()) }))
            }
            _ => return None,
        };
        Some(ValueKind::Environment(fallback))
    }
}

/// `std::env::var`, `env::var`
fn is_var(path: &syn::Path) -> bool {
    let mut names = path.segments.iter().rev().map(|segment| &segment.ident);
    names.next().is_some_and(|name| name == "var") && names.next().is_some_and(|name| name == "env")
}
