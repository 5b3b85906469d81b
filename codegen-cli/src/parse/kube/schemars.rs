//! Reads `#[schemars(..)]` and documentation on types, variants and fields.

use syn::spanned::Spanned;
use syn::{Attribute, Expr, ExprLit, Lit, LitStr, Meta, Token};

use super::{Parser, serde, with_type};
use crate::syntax::kube::{Common, Example, With};
use crate::syntax::{Name, ValueKind, code};

/// Keys that other code reads or that do not affect the schema: those of validation (`attr/validation.rs`,
/// also of schemars 0.8), and those only for the macro.
const KEYS: &[&str] = &[
    "length",
    "range",
    "regex",
    "pattern",
    "contains",
    "inner",
    "required",
    "email",
    "url",
    "ip",
    "ipv4",
    "ipv6",
    "phone",
    "crate",
    "bound",
    "inline",
    "_unstable_ref_variants",
];

impl Parser<'_> {
    /// Attributes of schemars, and serde's attributes that schemars reads.
    pub(super) fn schemars(&self, attributes: &[Attribute], serde_with: bool) -> (Common, Option<With>) {
        let mut common = Common {
            deprecated: attributes.iter().any(|attribute| attribute.path().is_ident("deprecated")),
            ..Common::default()
        };
        self.documentation(attributes, &mut common);
        let mut with = None;
        for meta in serde::metas(attributes, "schemars") {
            self.schemars_meta(&meta, &mut common, &mut with);
        }
        for meta in serde::metas(attributes, "serde").iter().filter(|meta| meta.path().is_ident("with")) {
            if let (true, None, Meta::NameValue(pair)) = (serde_with, &with, meta) {
                with = with_type(self, &pair.value);
            }
        }
        (common, with)
    }

    fn schemars_meta(&self, meta: &Meta, common: &mut Common, with: &mut Option<With>) {
        let name = meta.path().get_ident().map(ToString::to_string).unwrap_or_default();
        match (name.as_str(), meta) {
            ("title", Meta::NameValue(pair)) => common.title = Some(self.value(&pair.value)),
            ("description", Meta::NameValue(pair)) => common.description = Some(self.value(&pair.value)),
            ("example", Meta::NameValue(pair)) => common.examples.push(self.example(&pair.value)),
            ("transform", Meta::NameValue(pair)) => common.transforms.push(self.code(&pair.value)),
            ("with", Meta::NameValue(pair)) => *with = with_type(self, &pair.value).or(with.take()),
            ("schema_with", Meta::NameValue(pair)) => {
                let text = super::super::string(&pair.value).unwrap_or_default();
                let path = self.path_in_text(&text, pair.value.span());
                *with = path.map(With::Function).or(with.take());
            }
            ("extend", Meta::List(list)) => {
                let parsed = list.parse_args_with(|input: syn::parse::ParseStream<'_>| {
                    let mut out = Vec::new();
                    while !input.is_empty() {
                        let key: LitStr = input.parse()?;
                        input.parse::<Token![=]>()?;
                        out.push((key.value(), self.json_tokens(input)?));
                        if !input.is_empty() {
                            input.parse::<Token![,]>()?;
                        }
                    }
                    Ok(out)
                });
                match parsed {
                    Ok(extensions) => common.extensions.extend(extensions),
                    Err(_) => {
                        common.transforms.push(code::Expr::new(code::Kind::Unknown, self.loc(meta.span())));
                    }
                }
            }
            (name, meta) if !KEYS.contains(&name) && !serde::KEYWORDS.contains(&name) => {
                let text = meta.path().get_ident().map_or_else(String::new, ToString::to_string);
                common.unknown.push(Name { text, loc: self.loc(meta.span()) });
            }
            _ => {}
        }
    }

    fn example(&self, value: &Expr) -> Example {
        let function = match value {
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => text.parse::<syn::ExprPath>().ok(),
            _ => None,
        };
        let call = function.map(|function| self.code(&syn::parse_quote!(#function())));
        Example { value: self.code(value), call }
    }

    /// The lines of the documentation, each without the space after `///`.
    fn documentation(&self, attributes: &[Attribute], common: &mut Common) {
        let mut lines: Vec<String> = Vec::new();
        for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("doc")) {
            let Meta::NameValue(pair) = &attribute.meta else { continue };
            match (doc_text(&pair.value), self.value(&pair.value).kind) {
                (Some(text), _) | (None, ValueKind::Text(text)) => lines.push(text),
                _ => common.unread_docs.push(self.loc(pair.value.span())),
            }
        }
        common.doc = (!lines.is_empty()).then(|| lines.join("\n"));
    }
}

fn doc_text(value: &Expr) -> Option<String> {
    match value {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => {
            let text = text.value();
            Some(text.strip_prefix(' ').map(str::to_string).unwrap_or(text))
        }
        _ => None,
    }
}
