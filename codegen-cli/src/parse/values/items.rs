//! Reads constants, functions and `impl` blocks.

use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Expr, ImplItem as SynImplItem, Item, ReturnType, Type};

use crate::parse::{Parser, kube};
use crate::syntax::{ImplItem, TypeExpr, ValueExpr, ValueItem, ValueKind};

impl Parser<'_> {
    /// A constant or a function; the value of most functions is unknown.
    pub(in crate::parse) fn value_item(&self, item: &Item) -> Option<ValueItem> {
        match item {
            Item::Const(item) => self.named_value(&item.ident, &item.expr),
            Item::Static(item) => self.named_value(&item.ident, &item.expr),
            Item::Fn(item) => self.function(&item.sig, &item.block, false).or_else(|| {
                let expr = ValueExpr { kind: ValueKind::Unknown, loc: self.loc(item.block.span()) };
                Some(ValueItem { name: self.name(&item.sig.ident), expr, rule: None })
            }),
            _ => None,
        }
    }

    pub(in crate::parse) fn impl_item(&self, item: &syn::ItemImpl) -> Option<ImplItem> {
        let Type::Path(ty) = &*item.self_ty else { return None };
        let of_schema = kube::is_schema(&item.self_ty);
        let member = |member: &SynImplItem| match member {
            SynImplItem::Const(item) if self.cfg.active(&item.attrs) => {
                self.named_value(&item.ident, &item.expr)
            }
            SynImplItem::Fn(item) if self.cfg.active(&item.attrs) => {
                self.function(&item.sig, &item.block, of_schema)
            }
            _ => None,
        };
        let of_trait = item.trait_.as_ref().and_then(|(path, _)| path.segments.last());
        Some(ImplItem {
            ty: self.path_expr(&ty.path),
            of_trait: of_trait.map(|segment| self.name(&segment.ident)),
            values: item.items.iter().filter_map(member).collect(),
            types: item.items.iter().filter_map(|member| self.associated_type(member)).collect(),
        })
    }

    fn associated_type(&self, member: &SynImplItem) -> Option<(String, TypeExpr)> {
        match member {
            SynImplItem::Type(item) if self.cfg.active(&item.attrs) => {
                Some((item.ident.unraw().to_string(), self.type_expr(&item.ty)))
            }
            _ => None,
        }
    }

    pub(in crate::parse) fn named_value(&self, name: &syn::Ident, expr: &Expr) -> Option<ValueItem> {
        Some(ValueItem { name: self.name(name), expr: self.value(expr), rule: None })
    }

    /// `of_schema`: a method of a schema.
    fn function(&self, signature: &syn::Signature, block: &syn::Block, of_schema: bool) -> Option<ValueItem> {
        let special = self.schema_code(signature, block, of_schema);
        if let Some(kind) = special.or_else(|| self.predicate_function(signature, block)) {
            let expr = ValueExpr { kind, loc: self.loc(block.span()) };
            return Some(ValueItem { name: self.name(&signature.ident), expr, rule: None });
        }
        let parameters = parameters(signature)?;
        // Most bodies of a program are not read.
        let returns = signature.asyncness.is_none() && matches!(signature.output, ReturnType::Type(..));
        let kind = if returns { self.body_value(block) } else { ValueKind::Unknown };
        let body = ValueExpr { kind, loc: self.loc(block.span()) };
        let expr = match parameters.is_empty() {
            true => body,
            false => ValueExpr { loc: body.loc, kind: ValueKind::Function(parameters, Box::new(body)) },
        };
        let rule = self.rule_function(signature, block).map(Box::new);
        Some(ValueItem { name: self.name(&signature.ident), expr, rule })
    }
}

/// The names of a function's parameters, `_` for those without; `None` if one is another pattern.
fn parameters(signature: &syn::Signature) -> Option<Vec<String>> {
    let name = |input: &syn::FnArg| match input {
        syn::FnArg::Typed(typed) => match &*typed.pat {
            syn::Pat::Ident(name) => Some(name.ident.unraw().to_string()),
            syn::Pat::Wild(_) => Some("_".to_string()),
            _ => None,
        },
        syn::FnArg::Receiver(_) => None,
    };
    signature.inputs.iter().map(name).collect()
}
