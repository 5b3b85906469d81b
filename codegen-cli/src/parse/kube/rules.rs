//! Reads rules in CEL and merge strategies: `#[x_kube(..)]`, `#[kube(validation = ..)]`.

use syn::spanned::Spanned;
use syn::{Attribute, Block, Expr, ExprLit, Lit, Meta, ReturnType, Signature, Stmt, Type};

use super::super::statements::active;
use super::{Parser, serde};
use crate::syntax::kube::{Merge, RuleItem, XKube};

impl Parser<'_> {
    pub(super) fn x_kube_rules(&self, attributes: &[Attribute]) -> Vec<RuleItem> {
        self.x_kube(attributes).rules
    }

    /// The arguments of `#[x_kube]` on a field; `None`: it has none.
    pub(super) fn x_kube_field(&self, attributes: &[Attribute]) -> Option<XKube> {
        let found = self.x_kube(attributes);
        (!found.rules.is_empty() || found.merge.is_some() || !found.unreadable.is_empty()).then_some(found)
    }

    fn x_kube(&self, attributes: &[Attribute]) -> XKube {
        let mut out = XKube::default();
        // kube 0.98 and 0.99: `#[cel_validate(rule = ..)]` for `CELSchema`.
        let older = serde::metas(attributes, "cel_validate");
        for meta in serde::metas(attributes, "x_kube").into_iter().chain(older) {
            match &meta {
                Meta::NameValue(pair) if pair.path.is_ident("validation") || pair.path.is_ident("rule") => {
                    out.rules.push(self.rule(&pair.value));
                }
                Meta::NameValue(pair) if pair.path.is_ident("merge_strategy") => match merge(&pair.value) {
                    Some(strategy) => out.merge = Some(strategy),
                    None => out.unreadable.push(self.loc(pair.value.span())),
                },
                // Paths of crates matter only to the macro's code.
                other if other.path().is_ident("crates") => {}
                // On a struct, this also turns rules of fields into code.
                other if other.path().is_ident("cel") => {}
                other => {
                    let loc = self.loc(other.span());
                    out.rules.push(RuleItem { unreadable: true, ..RuleItem::at(loc) });
                }
            }
        }
        out
    }

    /// A string, a tuple of rule and message, or `Rule::new(..)` with methods.
    pub(super) fn rule(&self, expr: &Expr) -> RuleItem {
        let mut out = RuleItem::at(self.loc(expr.span()));
        if self.rule_parts(expr, &mut out).is_none() {
            out.unreadable = true;
        }
        out
    }

    /// A function without parameters that makes a rule.
    pub(in crate::parse) fn rule_function(&self, signature: &Signature, block: &Block) -> Option<RuleItem> {
        let (ReturnType::Type(_, output), true) = (&signature.output, signature.inputs.is_empty()) else {
            return None;
        };
        let is_rule = |ty: &Type| matches!(ty, Type::Path(ty) if ty.path.segments.last().is_some_and(|last| last.ident == "Rule"));
        let (true, [Stmt::Expr(expr, None)]) = (is_rule(output), &active(self.cfg, block)[..]) else {
            return None;
        };
        let rule = self.rule(expr);
        (!rule.unreadable).then_some(rule)
    }

    fn rule_parts(&self, expr: &Expr, out: &mut RuleItem) -> Option<()> {
        match expr {
            Expr::Lit(_) | Expr::Path(_) | Expr::Macro(_) | Expr::Reference(_) => {
                out.rule = Some(self.value(expr));
            }
            Expr::Tuple(tuple) => {
                let (rule, message) = (tuple.elems.first()?, tuple.elems.get(1)?);
                (out.rule, out.message) = (Some(self.value(rule)), Some(self.value(message)));
            }
            Expr::Call(call) => {
                if !["new", "from"].contains(&last_segment(&call.func)?.as_str()) {
                    let Expr::Path(path) = &*call.func else { return None };
                    out.made_by = self.function_path(path).filter(|_| call.args.is_empty());
                    return out.made_by.as_ref().map(|_| ());
                }
                return self.rule_parts(call.args.first()?, out);
            }
            Expr::MethodCall(call) => {
                let Some(argument) = call.args.first() else { return self.rule_parts(&call.receiver, out) };
                self.rule_parts(&call.receiver, out)?;
                self.rule_part(&call.method.to_string(), argument, out)?;
            }
            Expr::Struct(literal) => {
                for field in &literal.fields {
                    let syn::Member::Named(name) = &field.member else { return None };
                    match some(&field.expr) {
                        Some(value) => self.rule_part(&name.to_string(), value, out)?,
                        None => continue,
                    }
                }
            }
            Expr::Paren(inner) => return self.rule_parts(&inner.expr, out),
            Expr::Group(inner) => return self.rule_parts(&inner.expr, out),
            _ => return None,
        }
        Some(())
    }

    fn rule_part(&self, name: &str, value: &Expr, out: &mut RuleItem) -> Option<()> {
        match name {
            "rule" => out.rule = Some(self.value(value)),
            "message" => self.rule_message(value, out)?,
            "reason" => out.reason = Some(reason(value)?),
            "field_path" => out.field_path = Some(self.value(value)),
            "optional_old_self" => match value {
                Expr::Lit(ExprLit { lit: Lit::Bool(value), .. }) => out.optional_old_self = Some(value.value),
                _ => return None,
            },
            _ => return None,
        }
        Some(())
    }

    /// A string, or a variant of `Message`.
    fn rule_message(&self, expr: &Expr, out: &mut RuleItem) -> Option<()> {
        let Expr::Call(call) = expr else {
            out.message = Some(self.value(expr));
            return Some(());
        };
        let content = Some(self.value(call.args.first()?));
        match last_segment(&call.func)?.as_str() {
            "Message" | "from" => out.message = content,
            "Expression" => out.message_expression = content,
            _ => return None,
        }
        Some(())
    }
}

/// The content of `Some`, or the expression itself without `Some`; `None` for `None`.
fn some(expr: &Expr) -> Option<&Expr> {
    match expr {
        Expr::Call(call) if last_segment(&call.func).as_deref() == Some("Some") => call.args.first(),
        Expr::Path(_) if last_segment(expr).as_deref() == Some("None") => None,
        expr => Some(expr),
    }
}

/// A variant of `Reason`.
fn reason(expr: &Expr) -> Option<String> {
    if let Expr::Call(call) = expr {
        return (last_segment(&call.func)? == "default").then(|| "FieldValueInvalid".to_string());
    }
    last_segment(expr)
}

fn last_segment(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Path(path) => path.path.segments.last().map(|segment| segment.ident.to_string()),
        _ => None,
    }
}

/// A string, with or without conversions.
fn text(expr: &Expr) -> Option<String> {
    match expr {
        Expr::MethodCall(call) if call.args.is_empty() => text(&call.receiver),
        Expr::Call(call) if call.args.len() == 1 => text(&call.args[0]),
        Expr::Reference(inner) => text(&inner.expr),
        _ => super::super::string(expr),
    }
}

/// `ListMerge::Atomic`, `MergeStrategy::ListType(ListMerge::Map(vec!["name".into()]))` and similar.
fn merge(expr: &Expr) -> Option<Merge> {
    let (path, arguments) = match expr {
        Expr::Call(call) => match &*call.func {
            Expr::Path(path) => (&path.path, Some(&call.args)),
            _ => return None,
        },
        Expr::Path(path) => (&path.path, None),
        _ => return None,
    };
    let mut names = path.segments.iter().rev().map(|segment| segment.ident.to_string());
    let (variant, owner) = (names.next()?, names.next().unwrap_or_default());
    Some(match (owner.as_str(), variant.as_str(), arguments) {
        ("MergeStrategy", "ListType" | "MapType" | "StructType", Some(arguments)) => {
            return merge(arguments.first()?);
        }
        ("ListMerge", "Atomic", None) => Merge::List("atomic"),
        ("ListMerge", "Set", None) => Merge::List("set"),
        ("ListMerge", "Map", Some(arguments)) => Merge::ListMap(keys(arguments.first()?)?),
        ("MapMerge" | "StructMerge", "Atomic", None) => Merge::Map("atomic"),
        ("MapMerge" | "StructMerge", "Granular", None) => Merge::Map("granular"),
        _ => return None,
    })
}

fn keys(expr: &Expr) -> Option<Vec<String>> {
    match expr {
        Expr::Array(array) => array.elems.iter().map(text).collect(),
        Expr::MethodCall(call) => keys(&call.receiver),
        Expr::Macro(call) if call.mac.path.is_ident("vec") => {
            let parser = syn::punctuated::Punctuated::<Expr, syn::Token![,]>::parse_terminated;
            call.mac.parse_body_with(parser).ok()?.iter().map(text).collect()
        }
        _ => None,
    }
}
