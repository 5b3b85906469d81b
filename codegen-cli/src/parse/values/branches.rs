//! Reads expressions that depend on another value: `if`, `match`, comparisons.

use syn::{BinOp, Expr, Pat};

use super::Parser;
use crate::syntax::{Operator, Test, ValueExpr, ValueKind};

impl Parser<'_> {
    /// `if a { b } else { c }`
    pub(super) fn branch(&self, branch: &syn::ExprIf, depth: usize) -> ValueKind {
        let Some((_, otherwise)) = &branch.else_branch else { return ValueKind::Unknown };
        let loc = self.loc(branch.if_token.span);
        let then = ValueExpr { kind: self.block_value(&branch.then_branch), loc };
        let is_true = ValueExpr { kind: ValueKind::Bool(true), loc };
        let condition = Box::new(self.value_at(&branch.cond, depth));
        ValueKind::Choice(
            condition,
            vec![(vec![is_true], then), (Vec::new(), self.value_at(otherwise, depth))],
        )
    }

    /// `match a { b | c => d, _ => e }`, with constant patterns.
    pub(super) fn choice(&self, choice: &syn::ExprMatch, depth: usize) -> ValueKind {
        let arms = choice.arms.iter().filter(|arm| self.cfg.active(&arm.attrs)).map(|arm| {
            let patterns = self.patterns(&arm.pat, depth)?;
            Some((patterns, self.value_at(&arm.body, depth)))
        });
        match arms.collect() {
            Some(arms) => ValueKind::Choice(Box::new(self.value_at(&choice.expr, depth)), arms),
            None => ValueKind::Unknown,
        }
    }

    /// The values that a pattern matches, none for `_`; `None`: it binds a variable.
    fn patterns(&self, pattern: &Pat, depth: usize) -> Option<Vec<ValueExpr>> {
        let value = |expr: &Expr| Some(vec![self.value_at(expr, depth)]);
        match pattern {
            Pat::Wild(_) => Some(Vec::new()),
            Pat::Lit(literal) => value(&Expr::Lit(literal.clone())),
            Pat::Path(path) => value(&Expr::Path(path.clone())),
            // A constant; a name in lower case would bind the value.
            Pat::Ident(name) if is_constant(&name.ident) => {
                let name = &name.ident;
                value(&syn::parse_quote!(#name))
            }
            Pat::Paren(inner) => self.patterns(&inner.pat, depth),
            Pat::Or(or) => {
                let all: Option<Vec<Vec<ValueExpr>>> =
                    or.cases.iter().map(|case| self.patterns(case, depth)).collect();
                let all = all?;
                // `_` among others matches any value.
                Some(if all.iter().any(Vec::is_empty) { Vec::new() } else { all.concat() })
            }
            _ => None,
        }
    }
}

fn is_constant(name: &syn::Ident) -> bool {
    name.to_string().starts_with(|first: char| first.is_ascii_uppercase())
}

/// The operator of a comparison.
pub(super) fn test(operator: &BinOp) -> Option<Test> {
    Some(match operator {
        BinOp::Eq(_) => Test::Equal,
        BinOp::Ne(_) => Test::NotEqual,
        BinOp::Lt(_) => Test::Less,
        BinOp::Le(_) => Test::LessOrEqual,
        BinOp::Gt(_) => Test::Greater,
        BinOp::Ge(_) => Test::GreaterOrEqual,
        BinOp::And(_) => Test::And,
        BinOp::Or(_) => Test::Or,
        _ => return None,
    })
}

/// Methods of integers that are operators. An overflow has no value.
pub(super) fn method_operator(name: &syn::Ident) -> Option<Operator> {
    Some(match name.to_string().as_str() {
        "pow" => Operator::Pow,
        "min" => Operator::Min,
        "max" => Operator::Max,
        _ => return None,
    })
}
