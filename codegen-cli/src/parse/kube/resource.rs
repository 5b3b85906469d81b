//! Translates `#[kube(..)]` to `#[resource(..)]`, so that the same rules check names, paths and columns.

use kubesmith_core::diag::{Code, Diagnostics};
use kubesmith_core::grammar::{Family, ItemAttributes, Place, parse_attributes, parse_each};
use kubesmith_core::model::{PolicyAttrs, ResourceAttrs};
use kubesmith_core::names;
use kubesmith_core::names::closest;
use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::ext::IdentExt;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Attribute, Expr, ExprLit, Ident, Lit, LitStr, Meta, Token, parse_quote};

use super::super::manifests::bare;
use super::Parser;
use crate::diag::Diagnostic;
use crate::ir::CrdStyle;
use crate::syntax::facts::PolicyFacts;
use crate::syntax::kube::{CustomResource, SchemaMode};
use crate::syntax::{Name, TypeExpr};

/// The keys of `#[kube(..)]` (kube-derive's `KubeAttrs`); the last two are those of old versions.
const KEYS: &[&str] = &[
    "group",
    "version",
    "kind",
    "doc",
    "root",
    "plural",
    "singular",
    "namespaced",
    "no_spec",
    "derive",
    "attr",
    "schema",
    "status",
    "category",
    "shortname",
    "printcolumn",
    "selectable",
    "scale",
    "crates",
    "annotation",
    "label",
    "validation",
    "rule",
    "cel",
    "storage",
    "served",
    "deprecated",
    "struct",
    "apiextensions",
];

/// Keys for paths of crates in kube-derive 0.63 (`CrateOptions`), which later versions have in `crates(..)`.
const CRATES: &[&str] = &["kube_core", "k8s_openapi", "schemars", "serde", "serde_json"];

/// Whether kube's own macro `Resource` has `#[resource(inherit = ..)]`.
pub(in crate::parse) fn inherits(attributes: &[Attribute]) -> bool {
    super::serde::metas(attributes, "resource").iter().any(|meta| meta.path().is_ident("inherit"))
}

/// The translated keys of `#[kube(..)]`.
#[derive(Default)]
struct Keys {
    /// The arguments of `#[resource(..)]`.
    resource: Vec<TokenStream>,
    group: Option<LitStr>,
    version: Option<LitStr>,
    kind: Option<LitStr>,
    root: Option<LitStr>,
    plural: Option<LitStr>,
    singular: Option<LitStr>,
    namespaced: bool,
    doc: Option<String>,
    no_spec: bool,
    status: Option<TypeExpr>,
    scale: Option<TokenStream>,
    rules: Vec<Expr>,
    schema: SchemaMode,
    storage: Option<bool>,
}

impl Parser<'_> {
    /// The arguments of `#[derive(CustomResource)]`; `None` after a diagnostic.
    pub(in crate::parse) fn custom_resource(
        &mut self,
        ident: &Ident,
        attributes: &[Attribute],
    ) -> Option<CustomResource> {
        let span = attributes.iter().find(|attribute| attribute.path().is_ident("kube"));
        let span = span.map_or_else(|| ident.span(), |attribute| attribute.path().span());
        let mut keys = Keys::default();
        let mut complete = true;
        for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("kube")) {
            let Meta::List(list) = &attribute.meta else { continue };
            let parser = Punctuated::<KubeMeta, Token![,]>::parse_terminated;
            match list.parse_args_with(parser) {
                Ok(metas) => {
                    for meta in metas {
                        complete &= self.kube_key(&meta.0, &mut keys).is_some();
                    }
                }
                Err(error) => {
                    let message = format!("#[kube] cannot be read: {error}");
                    self.kube_error(
                        Code::MALFORMED_ATTRIBUTE,
                        error.span(),
                        &message,
                        "kube takes `key`, `key = value` and `key(...)`",
                    );
                    complete = false;
                }
            }
        }
        for (key, given) in [
            ("group", keys.group.is_some()),
            ("version", keys.version.is_some()),
            ("kind", keys.kind.is_some()),
        ] {
            if !given && complete {
                let message = format!("#[kube] needs the key `{key}`");
                self.kube_error(
                    Code::MISSING_KEY,
                    span,
                    &message,
                    "write `#[kube(group = \"example.com\", version = \"v1\", kind = \"Example\")]`",
                );
                return None;
            }
        }
        if !complete {
            return None;
        }
        let mut resource = self.kube_resource(ident, span, keys)?;
        resource.facts.policies = self.kube_policies(attributes);
        Some(resource)
    }

    /// Reads each `#[policy(..)]`, an attribute of ours that kube's macro ignores.
    fn kube_policies(&mut self, attributes: &[Attribute]) -> Vec<PolicyFacts> {
        let attributes: Vec<Attribute> = self.cfg.expanded(attributes).into_iter().map(bare).collect();
        let mut diagnostics = Diagnostics::new();
        let item = ItemAttributes::new(&attributes);
        let policies = parse_each(Family::Policy, &item, Place::Root, &mut diagnostics);
        let policies =
            policies.iter().filter_map(|parsed| PolicyAttrs::from_parsed(parsed, &mut diagnostics));
        let policies: Vec<PolicyAttrs> = policies.collect();
        self.report(diagnostics);
        policies.iter().map(|policy| self.policy(policy)).collect()
    }

    fn kube_resource(&mut self, ident: &Ident, span: Span, mut keys: Keys) -> Option<CustomResource> {
        let kind = keys.kind.clone()?;
        let root = keys.root.clone().unwrap_or_else(|| kind.clone());
        if ident == root.value().as_str() {
            let message = format!("`{ident}` is the name of the type that kube makes for the kind");
            let help = "call the struct by the kind and `Spec`, or name the made one with `root = \"...\"`";
            self.kube_error(Code::CONTRADICTION, root.span(), &message, help);
            return None;
        }
        let singular = keys
            .singular
            .clone()
            .unwrap_or_else(|| LitStr::new(&kind.value().to_ascii_lowercase(), kind.span()));
        let plural =
            keys.plural.clone().unwrap_or_else(|| LitStr::new(&plural(&singular.value()), singular.span()));
        let scope = if keys.namespaced { "Namespaced" } else { "Cluster" };
        let group = &keys.group;
        let said = keys.version.clone()?;
        // An API server accepts any label, but orders only versions like `v1`.
        let is_label = names::dns_label(&said.value()).is_ok();
        let is_other = is_label && names::Version::parse(&said.value()).is_err();
        let version = if is_other { LitStr::new("v1", said.span()) } else { said.clone() };
        let mut out = quote_spanned! {span=>
            group = #group, version = #version, kind = #kind, plural = #plural, singular = #singular, scope = #scope,
        };
        if keys.status.is_some() {
            keys.resource.push(quote_spanned! {span=> status });
            keys.resource.extend(keys.scale.take());
        }
        let rest = &keys.resource;
        out.extend(quote! { #(#rest,)* });
        let attribute: Attribute = parse_quote! { #[resource(#out)] };
        let mut diagnostics = Diagnostics::new();
        let attributes = [attribute];
        let item = ItemAttributes::new(&attributes);
        let parsed = parse_attributes(Family::Resource, &item, Place::Root, &mut diagnostics);
        let attrs = ResourceAttrs::from_parsed(&parsed, ident, &mut diagnostics);
        self.report(diagnostics);
        let mut facts = self.resource_facts(&attrs?);
        facts.loc = self.loc(span);
        if is_other {
            facts.version = Some(Name { text: said.value(), loc: self.loc(said.span()) });
        }
        facts.crd.style = CrdStyle::Kube;
        let doc = format!("Auto-generated derived type for {} via `CustomResource`", ident.unraw());
        Some(CustomResource {
            loc: self.loc(span),
            facts,
            root: Name { text: root.value(), loc: self.loc(root.span()) },
            doc: keys.doc.unwrap_or(doc),
            no_spec: keys.no_spec,
            status: keys.status,
            rules: keys.rules.iter().map(|rule| self.rule(rule)).collect(),
            schema: keys.schema,
            storage: keys.storage,
        })
    }

    /// Reads one key; `None` after a diagnostic.
    fn kube_key(&mut self, meta: &Meta, keys: &mut Keys) -> Option<()> {
        let name = meta.path().get_ident().map(|ident| ident.unraw().to_string()).unwrap_or_default();
        match name.as_str() {
            "group" => keys.group = Some(self.kube_text(meta)?),
            "version" => keys.version = Some(self.kube_text(meta)?),
            "kind" => keys.kind = Some(self.kube_text(meta)?),
            "root" | "struct" => keys.root = Some(self.kube_text(meta)?),
            "plural" => keys.plural = Some(self.kube_text(meta)?),
            "singular" => keys.singular = Some(self.kube_text(meta)?),
            "doc" => keys.doc = Some(self.kube_text(meta)?.value()),
            "namespaced" => keys.namespaced = self.kube_flag(meta)?,
            "no_spec" => keys.no_spec = self.kube_flag(meta)?,
            "storage" => keys.storage = Some(self.kube_flag(meta)?),
            "printcolumn" => {
                let columns = self.kube_columns(meta)?;
                keys.resource.extend(columns);
            }
            "scale" => keys.scale = Some(self.kube_scale(meta)?),
            "status" => keys.status = Some(self.kube_type(meta)?),
            "schema" => keys.schema = self.kube_schema(meta)?,
            // `rule` in kube 0.98 and 0.99.
            "validation" | "rule" => match meta {
                Meta::NameValue(pair) => keys.rules.push(pair.value.clone()),
                _ => return self.wrong_value(meta, "a rule: a string, a tuple or `Rule::new(...)`"),
            },
            "apiextensions" => {
                if self.kube_text(meta)?.value() != "v1" {
                    return self.wrong_value(meta, "\"v1\": no API server serves v1beta1");
                }
            }
            "derive" | "attr" | "crates" | "cel" => {}
            name if CRATES.contains(&name) => {}
            _ => keys.resource.extend(self.kube_key_of_resource(meta, &name)?),
        }
        Some(())
    }

    /// Reads a key that `#[resource]` has in another form.
    fn kube_key_of_resource(&mut self, meta: &Meta, name: &str) -> Option<Option<TokenStream>> {
        let span = meta.path().span();
        let key = match name {
            "served" if self.kube_flag(meta)? => return Some(None),
            "served" => quote_spanned! {span=> unserved_version },
            "shortname" => {
                let text = self.kube_text(meta)?;
                quote_spanned! {span=> short_name = #text }
            }
            "category" => {
                let text = self.kube_text(meta)?;
                quote_spanned! {span=> category = #text }
            }
            "selectable" => {
                let text = self.kube_text(meta)?;
                quote_spanned! {span=> selectable_field(json_path = #text) }
            }
            "deprecated" if matches!(meta, Meta::Path(_)) => quote_spanned! {span=> deprecated_version },
            "deprecated" => {
                let text = self.kube_text(meta)?;
                quote_spanned! {span=> deprecated_version(warning = #text) }
            }
            "annotation" => self.kube_pair(meta, "annotations")?,
            "label" => self.kube_pair(meta, "labels")?,
            _ => return self.unknown_kube_key(name, span),
        };
        Some(Some(key))
    }

    fn unknown_kube_key<T>(&mut self, name: &str, span: Span) -> Option<T> {
        let help = closest(name, KEYS.iter().copied()).map_or_else(
            || format!("the keys are {}", KEYS.join(", ")),
            |near| format!("did you mean `{near}`?"),
        );
        self.kube_error(Code::UNKNOWN_KEY, span, &format!("unknown key `{name}` in #[kube]"), &help);
        None
    }

    pub(super) fn kube_text(&mut self, meta: &Meta) -> Option<LitStr> {
        match meta {
            Meta::NameValue(pair) => match &pair.value {
                Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.clone()),
                _ => self.wrong_value(meta, "a string"),
            },
            _ => self.wrong_value(meta, "a string"),
        }
    }

    fn kube_flag(&mut self, meta: &Meta) -> Option<bool> {
        match meta {
            Meta::Path(_) => Some(true),
            Meta::NameValue(pair) => match &pair.value {
                Expr::Lit(ExprLit { lit: Lit::Bool(value), .. }) => Some(value.value),
                Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) if text.value() == "true" => Some(true),
                Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) if text.value() == "false" => Some(false),
                _ => self.wrong_value(meta, "`true` or `false`"),
            },
            Meta::List(_) => self.wrong_value(meta, "`true` or `false`"),
        }
    }

    fn kube_type(&mut self, meta: &Meta) -> Option<TypeExpr> {
        let Meta::NameValue(pair) = meta else { return self.wrong_value(meta, "a type") };
        match &pair.value {
            Expr::Path(path) if path.qself.is_none() => Some(TypeExpr::Path(self.path_expr(&path.path))),
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => {
                self.type_in_text(&text.value(), text.span()).or_else(|| self.wrong_value(meta, "a type"))
            }
            _ => self.wrong_value(meta, "a type"),
        }
    }

    fn kube_schema(&mut self, meta: &Meta) -> Option<SchemaMode> {
        match self.kube_text(meta)?.value().as_str() {
            "derived" => Some(SchemaMode::Derived),
            "manual" => Some(SchemaMode::Manual),
            "disabled" => Some(SchemaMode::Disabled),
            _ => self.wrong_value(meta, "\"derived\", \"manual\" or \"disabled\""),
        }
    }

    /// `label("key", "value")`
    fn kube_pair(&mut self, meta: &Meta, what: &str) -> Option<TokenStream> {
        let what = Ident::new(what, meta.path().span());
        let pair = match meta {
            Meta::List(list) => list.parse_args_with(Punctuated::<LitStr, Token![,]>::parse_terminated).ok(),
            _ => None,
        };
        match pair.map(|pair| pair.into_iter().collect::<Vec<_>>()).as_deref() {
            Some([key, value]) => Some(quote! { metadata(#what(#key = #value)) }),
            _ => self.wrong_value(meta, "a key and a value: `(\"key\", \"value\")`"),
        }
    }

    pub(super) fn wrong_value<T>(&mut self, meta: &Meta, wanted: &str) -> Option<T> {
        let name = meta.path().get_ident().map(ToString::to_string).unwrap_or_default();
        let message = format!("`{name}` in #[kube] takes {wanted}");
        self.kube_error(
            Code::WRONG_VALUE,
            meta.span(),
            &message,
            "see the documentation of kube's `CustomResource`",
        );
        None
    }

    pub(super) fn kube_error(&mut self, code: Code, span: Span, message: &str, help: &str) {
        self.diagnostics.push(Diagnostic::error(code, self.loc(span), message).help(help));
    }
}

/// An argument of `#[kube(..)]`, whose name may be a keyword: `struct = "Root"`.
struct KubeMeta(Meta);

impl syn::parse::Parse for KubeMeta {
    fn parse(input: syn::parse::ParseStream<'_>) -> syn::Result<Self> {
        if !input.peek(Token![struct]) {
            return input.parse().map(Self);
        }
        let name = input.call(Ident::parse_any)?;
        let raw = Ident::new_raw("struct", name.span());
        let eq_token: Token![=] = input.parse()?;
        let value: Expr = input.parse()?;
        Ok(Self(Meta::NameValue(syn::MetaNameValue { path: raw.into(), eq_token, value })))
    }
}

/// kube's plural of a word (`to_plural` of kube-derive), which has no irregular forms.
fn plural(word: &str) -> String {
    if ["s", "x", "z", "ch", "sh"].iter().any(|ending| word.ends_with(ending)) {
        return format!("{word}es");
    }
    let mut chars = word.chars().rev();
    if let (Some('y'), Some(before)) = (chars.next(), chars.next())
        && !matches!(before, 'a' | 'e' | 'i' | 'o' | 'u')
    {
        return format!("{}ies", &word[..word.len() - 1]);
    }
    format!("{word}s")
}

#[cfg(test)]
mod tests {
    use super::plural;

    #[test]
    fn plural_equals_that_of_kube() {
        for (word, expected) in [
            ("fox", "foxes"),
            ("puppy", "puppies"),
            ("day", "days"),
            ("balancer", "balancers"),
            ("bus", "buses"),
            ("y", "ys"),
        ] {
            assert_eq!(plural(word), expected);
        }
    }
}
