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

/// The reader of an attribute.
#[derive(Clone, Copy)]
struct Reader {
    owner: Owner,
    /// schemars 0.8, whose `attr/validation.rs` differs from that of schemars 1.
    is_0_8: bool,
}

impl Parser<'_> {
    /// The constraints of the three attributes on a field, as schemars 1 reads them; the first one to set a
    /// constraint wins.
    pub(super) fn validation(&self, attributes: &[Attribute], with_garde: bool) -> Validation {
        let owners = [("schemars", Owner::Schemars), ("validate", Owner::Validate), ("garde", Owner::Garde)];
        let read = &owners[..if with_garde { 3 } else { 2 }];
        self.constraints(attributes, read, false)
    }

    /// The same as schemars 0.8 reads them, which does not know garde (`ValidationAttrs::new`).
    pub(super) fn validation_by_0_8(&self, attributes: &[Attribute]) -> Validation {
        let owners = [("schemars", Owner::Schemars), ("validate", Owner::Validate)];
        self.constraints(attributes, &owners, true)
    }

    fn constraints(&self, attributes: &[Attribute], owners: &[(&str, Owner)], is_0_8: bool) -> Validation {
        let mut out = Validation::default();
        for &(name, owner) in owners {
            for meta in serde::metas(attributes, name) {
                self.validation_meta(&meta, Reader { owner, is_0_8 }, &mut out);
            }
        }
        out
    }

    fn validation_meta(&self, meta: &Meta, reader: Reader, out: &mut Validation) {
        let Reader { owner, is_0_8 } = reader;
        let name = meta.path().get_ident().map(ToString::to_string).unwrap_or_default();
        if let Some(format) = format(&name, is_0_8) {
            if matches!(meta, Meta::Path(_)) || (owner == Owner::Validate && !is_0_8) {
                out.format.get_or_insert(format);
            }
            return;
        }
        // The three exclude each other.
        let is_free = out.pattern.is_none() && out.contains.is_none();
        match (name.as_str(), meta) {
            ("required", Meta::Path(_)) => out.required = true,
            ("required_nested", Meta::Path(_)) if is_0_8 => out.required = true,
            ("length", Meta::List(list)) if out.length.is_none() => {
                out.length = Some(self.limits(list, owner, out));
            }
            ("range", Meta::List(list)) if out.range.is_none() => {
                out.range = Some(self.limits(list, owner, out));
            }
            ("pattern", Meta::List(list)) if owner != Owner::Validate && is_free => {
                out.pattern = list.parse_args::<Expr>().ok().map(|expr| self.value(&expr));
            }
            ("regex", _) if owner != Owner::Garde && is_free => out.pattern = self.regex(meta, owner),
            ("contains", Meta::NameValue(pair)) if owner != Owner::Garde && is_free => {
                out.contains = Some(self.value(&pair.value));
            }
            ("contains", Meta::List(list)) if is_free => {
                let text = self.argument(list, "pattern", false);
                let plain = || list.parse_args::<Expr>().ok().map(|expr| self.value(&expr));
                out.contains = text.or_else(plain);
            }
            ("inner", Meta::List(list)) if owner != Owner::Validate || is_0_8 => {
                let inner = out.inner.get_or_insert_default();
                for meta in nested(list) {
                    self.validation_meta(&meta, reader, inner);
                }
            }
            // schemars 0.8 ignores these in other forms, and schemars 1 those of validator that it does not know.
            ("inner" | "pattern", _) if owner == Owner::Validate => {}
            ("length" | "range" | "inner" | "pattern", Meta::Path(_) | Meta::NameValue(_)) if !is_0_8 => {
                out.malformed.push(Name { text: name, loc: self.loc(meta.span()) });
            }
            _ => {}
        }
    }

    /// The pattern of `regex(..)`, or of `regex = ".."`, as schemars 0.8 and validator 0.16 write the path of one.
    fn regex(&self, meta: &Meta, owner: Owner) -> Option<ValueExpr> {
        match meta {
            Meta::List(list) => {
                let key = if owner == Owner::Validate { "path" } else { "pattern" };
                // schemars 0.8 also accepts a path, in a string or bare.
                let path = || self.argument(list, "path", true);
                self.argument(list, key, owner == Owner::Validate).or_else(path)
            }
            Meta::NameValue(pair) => Some(match &pair.value {
                Expr::Lit(ExprLit { lit: Lit::Str(path), .. }) => {
                    let unknown = ValueExpr { kind: ValueKind::Unknown, loc: self.loc(pair.value.span()) };
                    path.parse::<Expr>().map_or(unknown, |expr| self.value(&expr))
                }
                value => self.value(value),
            }),
            Meta::Path(_) => None,
        }
    }

    fn limits(&self, list: &MetaList, owner: Owner, out: &mut Validation) -> Limits {
        let is_known = |meta: &Meta| ["min", "max", "equal"].iter().any(|name| meta.path().is_ident(name));
        if owner == Owner::Schemars {
            let unknown = nested(list).into_iter().filter(|meta| !is_known(meta));
            out.unknown.extend(unknown.filter_map(|meta| {
                let text = meta.path().get_ident()?.to_string();
                Some(Name { text, loc: self.loc(meta.span()) })
            }));
        }
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

/// The format of a key (`enum Format`). `phone` is gone since schemars 1, which has the addresses instead.
fn format(name: &str, is_0_8: bool) -> Option<&'static str> {
    Some(match name {
        "email" => "email",
        "url" => "uri",
        "phone" if is_0_8 => "phone",
        "ip" if !is_0_8 => "ip",
        "ipv4" if !is_0_8 => "ipv4",
        "ipv6" if !is_0_8 => "ipv6",
        _ => return None,
    })
}
