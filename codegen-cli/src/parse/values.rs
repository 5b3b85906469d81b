//! Constants and functions of which the value can be read: literals, and what is simply made of them.

use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{BinOp, Expr, ImplItem as SynImplItem, Item, Lit, Member, Stmt, Type, UnOp};

use super::Parser;
use crate::syntax::{ImplItem, Operator, ValueExpr, ValueItem, ValueKind};

/// Expressions nested deeper are no simple ones.
const DEPTH_LIMIT: usize = 64;

/// Methods that turn a value into an equal one of another type.
const CONVERSIONS: &[&str] = &["into", "to_owned", "to_string", "clone"];

impl Parser<'_> {
    /// A constant or a function without parameters.
    pub(super) fn value_item(&self, item: &Item) -> Option<ValueItem> {
        match item {
            Item::Const(item) => self.named_value(&item.ident, &item.expr),
            Item::Static(item) => self.named_value(&item.ident, &item.expr),
            Item::Fn(item) => self.function(&item.sig, &item.block),
            _ => None,
        }
    }

    pub(super) fn impl_item(&self, item: &syn::ItemImpl) -> Option<ImplItem> {
        let Type::Path(ty) = &*item.self_ty else { return None };
        let member = |member: &SynImplItem| match member {
            SynImplItem::Const(item) if self.cfg.active(&item.attrs) => {
                self.named_value(&item.ident, &item.expr)
            }
            SynImplItem::Fn(item) if self.cfg.active(&item.attrs) => self.function(&item.sig, &item.block),
            _ => None,
        };
        let of_trait = item.trait_.as_ref().and_then(|(path, _)| path.segments.last());
        Some(ImplItem {
            ty: self.path_expr(&ty.path),
            of_trait: of_trait.map(|segment| self.name(&segment.ident)),
            values: item.items.iter().filter_map(member).collect(),
        })
    }

    fn named_value(&self, name: &syn::Ident, expr: &Expr) -> Option<ValueItem> {
        Some(ValueItem { name: self.name(name), expr: self.value(expr) })
    }

    fn function(&self, signature: &syn::Signature, block: &syn::Block) -> Option<ValueItem> {
        if !signature.inputs.is_empty() {
            return None;
        }
        let expr = match &block.stmts[..] {
            [Stmt::Expr(expr, None)] => self.value(expr),
            _ => self.unknown(block.span()),
        };
        Some(ValueItem { name: self.name(&signature.ident), expr })
    }

    fn unknown(&self, span: proc_macro2::Span) -> ValueExpr {
        ValueExpr { kind: ValueKind::Unknown, loc: self.loc(span) }
    }

    pub(super) fn value(&self, expr: &Expr) -> ValueExpr {
        self.value_at(expr, 0)
    }

    fn value_at(&self, expr: &Expr, depth: usize) -> ValueExpr {
        let kind = if depth < DEPTH_LIMIT { self.value_kind(expr, depth + 1) } else { ValueKind::Unknown };
        ValueExpr { kind, loc: self.loc(expr.span()) }
    }

    fn value_kind(&self, expr: &Expr, depth: usize) -> ValueKind {
        let boxed = |expr: &Expr| Box::new(self.value_at(expr, depth));
        match expr {
            Expr::Lit(literal) => self::literal(&literal.lit),
            Expr::Paren(inner) => self.value_kind(&inner.expr, depth),
            Expr::Group(inner) => self.value_kind(&inner.expr, depth),
            Expr::Reference(inner) => self.value_kind(&inner.expr, depth),
            Expr::Cast(inner) => self.value_kind(&inner.expr, depth),
            Expr::Block(inner) => match &inner.block.stmts[..] {
                [Stmt::Expr(expr, None)] => self.value_kind(expr, depth),
                _ => ValueKind::Unknown,
            },
            Expr::Unary(unary) if matches!(unary.op, UnOp::Neg(_)) => ValueKind::Neg(boxed(&unary.expr)),
            Expr::Binary(binary) => match operator(&binary.op) {
                Some(operator) => ValueKind::Binary(operator, boxed(&binary.left), boxed(&binary.right)),
                None => ValueKind::Unknown,
            },
            Expr::Path(path) if path.qself.is_none() => ValueKind::Path(self.path_expr(&path.path)),
            Expr::Array(array) => ValueKind::List(self.values(&array.elems, depth)),
            Expr::Tuple(tuple) => ValueKind::Tuple(self.values(&tuple.elems, depth)),
            Expr::Macro(call) => self.list_macro(&call.mac, depth),
            Expr::Call(call) => match &*call.func {
                Expr::Path(path) if path.qself.is_none() => {
                    ValueKind::Call(self.path_expr(&path.path), self.values(&call.args, depth))
                }
                _ => ValueKind::Unknown,
            },
            Expr::MethodCall(call)
                if call.args.is_empty() && CONVERSIONS.iter().any(|name| call.method == name) =>
            {
                self.value_kind(&call.receiver, depth)
            }
            Expr::Struct(literal) => self.structure_value(literal, depth),
            _ => ValueKind::Unknown,
        }
    }

    fn values<'a>(&self, exprs: impl IntoIterator<Item = &'a Expr>, depth: usize) -> Vec<ValueExpr> {
        exprs.into_iter().map(|expr| self.value_at(expr, depth)).collect()
    }

    fn list_macro(&self, call: &syn::Macro, depth: usize) -> ValueKind {
        let parser = syn::punctuated::Punctuated::<Expr, syn::Token![,]>::parse_terminated;
        match call.parse_body_with(parser) {
            Ok(items) if call.path.is_ident("vec") => ValueKind::List(self.values(&items, depth)),
            _ => ValueKind::Unknown,
        }
    }

    fn structure_value(&self, literal: &syn::ExprStruct, depth: usize) -> ValueKind {
        if literal.qself.is_some() || literal.rest.is_some() {
            return ValueKind::Unknown;
        }
        let fields = literal.fields.iter().map(|field| {
            let name = match &field.member {
                Member::Named(ident) => ident.unraw().to_string(),
                Member::Unnamed(index) => index.index.to_string(),
            };
            (name, self.value_at(&field.expr, depth))
        });
        ValueKind::Struct(self.path_expr(&literal.path), fields.collect())
    }
}

fn literal(literal: &Lit) -> ValueKind {
    match literal {
        Lit::Int(number) => number.base10_parse().map_or(ValueKind::Unknown, ValueKind::Int),
        Lit::Float(number) => number.base10_parse().map_or(ValueKind::Unknown, ValueKind::Float),
        Lit::Bool(value) => ValueKind::Bool(value.value),
        Lit::Str(text) => ValueKind::Text(text.value()),
        Lit::Char(c) => ValueKind::Text(c.value().to_string()),
        _ => ValueKind::Unknown,
    }
}

fn operator(operator: &BinOp) -> Option<Operator> {
    Some(match operator {
        BinOp::Add(_) => Operator::Add,
        BinOp::Sub(_) => Operator::Sub,
        BinOp::Mul(_) => Operator::Mul,
        BinOp::Div(_) => Operator::Div,
        BinOp::Rem(_) => Operator::Rem,
        BinOp::Shl(_) => Operator::ShiftLeft,
        _ => return None,
    })
}
