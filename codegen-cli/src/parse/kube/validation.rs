//! Reads `#[schemars(range(..))]`, `#[validate(..)]` and `#[garde(..)]`, as schemars reads them
//! (`attr/validation.rs`).

use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Attribute, Expr, ExprLit, Lit, Meta, MetaList, Token};

use super::{Parser, serde};
use crate::syntax::kube::{Limits, Validation};
use crate::syntax::{Name, ValueExpr, ValueKind};

/// The crate whose attribute is read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Owner {
    Schemars,
    Validate,
    Garde,
}

impl Parser<'_> {
    /// The constraints of the three attributes on a field; the first one to set a constraint wins.
    pub(super) fn validation(&self, attributes: &[Attribute], with_garde: bool) -> Validation {
        let mut out = Validation::default();
        let owners = [("schemars", Owner::Schemars), ("validate", Owner::Validate), ("garde", Owner::Garde)];
        for (name, owner) in owners.into_iter().filter(|(_, owner)| with_garde || *owner != Owner::Garde) {
            for meta in serde::metas(attributes, name) {
                self.validation_meta(&meta, owner, &mut out);
            }
        }
        out
    }

    fn validation_meta(&self, meta: &Meta, owner: Owner, out: &mut Validation) {
        let name = meta.path().get_ident().map(ToString::to_string).unwrap_or_default();
        if let Some(format) = format(&name) {
            out.format.get_or_insert(format);
            return;
        }
        match (name.as_str(), meta) {
            ("required", _) => out.required = true,
            ("length", Meta::List(list)) => {
                out.length.get_or_insert_with(|| self.limits(list));
            }
            ("range", Meta::List(list)) => {
                out.range.get_or_insert_with(|| self.limits(list));
            }
            ("pattern", Meta::List(list)) if owner != Owner::Validate => {
                let pattern = list.parse_args::<Expr>().ok().map(|expr| self.value(&expr));
                out.pattern = out.pattern.take().or(pattern);
            }
            ("regex", Meta::List(list)) if owner != Owner::Garde => {
                let key = if owner == Owner::Validate { "path" } else { "pattern" };
                // schemars 0.8 also accepts a path, in a string or bare.
                let path = || self.argument(list, "path", true);
                let pattern = self.argument(list, key, owner == Owner::Validate).or_else(path);
                out.pattern = out.pattern.take().or(pattern);
            }
            // Forms of schemars 0.8 and validator 0.16: the path of a pattern, and a text.
            ("regex", Meta::NameValue(pair)) if owner != Owner::Garde => {
                let unknown = ValueExpr { kind: ValueKind::Unknown, loc: self.loc(pair.value.span()) };
                let pattern = match &pair.value {
                    Expr::Lit(ExprLit { lit: Lit::Str(path), .. }) => {
                        path.parse::<Expr>().map_or(unknown, |expr| self.value(&expr))
                    }
                    value => self.value(value),
                };
                out.pattern.get_or_insert(pattern);
            }
            ("contains", Meta::NameValue(pair)) if owner != Owner::Garde => {
                out.contains = out.contains.take().or_else(|| Some(self.value(&pair.value)));
            }
            ("contains", Meta::List(list)) => {
                let text = self.argument(list, "pattern", false);
                let plain = || list.parse_args::<Expr>().ok().map(|expr| self.value(&expr));
                out.contains = out.contains.take().or(text).or_else(plain);
            }
            ("inner", Meta::List(list)) if owner != Owner::Validate => {
                let inner = out.inner.get_or_insert_default();
                for meta in nested(list) {
                    self.validation_meta(&meta, owner, inner);
                }
            }
            ("length" | "range" | "inner" | "pattern", _) => {
                out.malformed.push(Name { text: name, loc: self.loc(meta.span()) });
            }
            _ => {}
        }
    }

    fn limits(&self, list: &MetaList) -> Limits {
        Limits {
            min: self.argument(list, "min", true),
            max: self.argument(list, "max", true),
            equal: self.argument(list, "equal", true),
        }
    }

    /// The value of an argument; with `in_text`, the content of a string is an expression.
    fn argument(&self, list: &MetaList, name: &str, in_text: bool) -> Option<ValueExpr> {
        nested(list).iter().find_map(|meta| match meta {
            Meta::NameValue(pair) if pair.path.is_ident(name) => match &pair.value {
                Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) if in_text => {
                    text.parse::<Expr>().ok().map(|expr| self.value(&expr))
                }
                value => Some(self.value(value)),
            },
            _ => None,
        })
    }
}

/// The parts of a list that parse as metas: validator's and garde's have arguments of other forms.
fn nested(list: &MetaList) -> Vec<Meta> {
    struct Lenient(Option<Meta>);
    impl Parse for Lenient {
        fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
            let fork = input.fork();
            if let Ok(meta) = fork.parse::<Meta>()
                && (fork.is_empty() || fork.peek(Token![,]))
            {
                return input.parse().map(|_: Meta| Self(Some(meta)));
            }
            while !input.is_empty() && !input.peek(Token![,]) {
                input.parse::<proc_macro2::TokenTree>()?;
            }
            Ok(Self(None))
        }
    }
    let parsed = list.parse_args_with(Punctuated::<Lenient, Token![,]>::parse_terminated);
    parsed.into_iter().flatten().filter_map(|item| item.0).collect()
}

fn format(name: &str) -> Option<&'static str> {
    Some(match name {
        "email" => "email",
        "url" => "uri",
        "ip" => "ip",
        "ipv4" => "ipv4",
        "ipv6" => "ipv6",
        _ => return None,
    })
}
