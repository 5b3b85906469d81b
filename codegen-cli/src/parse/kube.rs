//! Reads the attributes of kube's and schemars' derive macros as plain values: see [`crate::lower::kube`].

mod code;
mod columns;
mod functions;
mod json;
mod resource;
mod root;
mod rules;
mod schemars;
mod serde;
mod validation;

pub(super) use self::code::is_schema;
use kubesmith_core::model::{RenameRule, SerdeContainer, SerdeDefault, SerdeField, SerdeVariant};
use proc_macro2::Span;
use syn::ext::IdentExt;
use syn::{Attribute, Fields, Meta};

use super::Parser;
use crate::source::Loc;
use crate::syntax::kube::{
    Body, Container, DefaultExpr, Derived, Field, FieldSerde, Function, Variant, With,
};
use crate::syntax::{Name, PathExpr};

pub(super) use resource::inherits;

/// A pair of rename rules: for writing and for reading.
type Rules = (RenameRule, RenameRule);

/// The rename rules of fields.
#[derive(Clone, Copy)]
struct Renames {
    all: Rules,
    /// Without `rename_all_fields`, which is not among the keys that schemars 0.8 takes from serde
    /// (`SERDE_KEYWORDS`).
    by_0_8: Rules,
}

/// The derive macros of kube and schemars that a type has.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct KubeDerives {
    /// `CustomResource`
    pub(super) resource: bool,
    /// `KubeSchema`
    schema: bool,
    /// `JsonSchema`
    json: bool,
    /// `JsonSchema_repr`
    repr: bool,
    /// `Default`
    default: bool,
    /// `Serialize`
    serialize: bool,
    /// A derive of ours, whose types have schemas of another dialect.
    ours: bool,
}

impl KubeDerives {
    pub(super) fn of(derives: &[(String, String)]) -> Self {
        let mut out = Self::default();
        for (krate, name) in derives {
            match name.as_str() {
                "CustomResource" => out.resource = true,
                "KubeSchema" | "ValidateSchema" | "CELSchema" => out.schema = true,
                "JsonSchema" => out.json = true,
                "JsonSchema_repr" => out.repr = true,
                "Default" => out.default = true,
                "Serialize" => out.serialize = true,
                "Schema" | "Resource" => {
                    out.ours |= !krate.starts_with("kube") || krate.starts_with("kubesmith");
                }
                _ => {}
            }
        }
        out
    }

    /// Whether one of the macros makes a schema.
    fn makes_schema(self) -> bool {
        self.schema || self.json || self.repr
    }

    /// Whether one of the macros makes a schema or a kind.
    pub(super) fn makes_definition(self) -> bool {
        self.resource || self.makes_schema()
    }

    /// Whether the type may have a schema of this dialect or be part of a default.
    fn any(self) -> bool {
        self.makes_definition() || (self.serialize && !self.ours)
    }
}

/// Whether the macros of educe or derivative implement `Default` from that of every field.
fn has_default_of_fields(attributes: &[Attribute], fields: &syn::Fields) -> bool {
    let is_default = |meta: &Meta| meta.path().is_ident("Default");
    let is_plain = |meta: &Meta| match meta {
        Meta::Path(_) => true,
        Meta::List(list) => !list.tokens.to_string().contains("expression"),
        Meta::NameValue(_) => false,
    };
    ["educe", "derivative"].into_iter().any(|name| {
        let of_type = serde::metas(attributes, name).into_iter().find(is_default);
        let of_field = |field: &syn::Field| serde::metas(&field.attrs, name).iter().any(is_default);
        of_type.is_some_and(|meta| is_plain(&meta)) && !fields.iter().any(of_field)
    })
}

impl Parser<'_> {
    pub(super) fn derived_struct(&self, item: &syn::ItemStruct, derives: KubeDerives) -> Option<Derived> {
        derives.any().then(|| {
            let serde = SerdeContainer::read(&serde::effective(&item.attrs));
            let default = derives.default || has_default_of_fields(&item.attrs, &item.fields);
            let derives = KubeDerives { default, ..derives };
            let renames = Renames { all: serde.rename_all, by_0_8: serde.rename_all };
            let body = self.kube_body(&item.fields, renames, derives);
            self.derived(&item.attrs, &item.generics, &serde, body, derives)
        })
    }

    pub(super) fn derived_enum(&self, item: &syn::ItemEnum, derives: KubeDerives) -> Option<Derived> {
        derives.any().then(|| {
            let serde = SerdeContainer::read(&serde::effective(&item.attrs));
            let variants = item.variants.iter().map(|variant| self.kube_variant(variant, &serde, derives));
            let body = Body::Enum(variants.collect());
            self.derived(&item.attrs, &item.generics, &serde, body, derives)
        })
    }

    fn derived(
        &self,
        attributes: &[Attribute],
        generics: &syn::Generics,
        serde: &SerdeContainer,
        body: Body,
        derives: KubeDerives,
    ) -> Derived {
        let (common, with) = self.schemars(attributes, false);
        let text = |key: Option<&kubesmith_core::grammar::Spanned<String>>| key.map(|key| key.value.clone());
        let default_loc = || serde.key("default").map(|span| self.loc(span));
        Derived {
            common,
            with,
            serde: Container {
                transparent: serde.transparent,
                default: serde.default.as_ref().and_then(|value| self.default_expr(value, default_loc()?)),
                deny_unknown_fields: serde.deny_unknown_fields,
                tag: text(serde.tag.as_ref()),
                content: text(serde.content.as_ref()),
                untagged: serde.untagged,
                read_as: serde.read_as.as_ref().and_then(|ty| self.type_in_text(&ty.value, ty.span)),
                written_as: serde.written_as.as_ref().and_then(|ty| self.type_in_text(&ty.value, ty.span)),
            },
            body,
            rules: if derives.schema { self.x_kube_rules(attributes) } else { Vec::new() },
            derives_default: derives.default,
            derives_serialize: derives.serialize,
            derives_schema: derives.makes_schema(),
            is_repr: derives.repr,
            serialize_params: serde::written_params(generics),
        }
    }

    fn default_expr(&self, default: &SerdeDefault, loc: Loc) -> Option<DefaultExpr> {
        let function = match default {
            SerdeDefault::Trait => None,
            SerdeDefault::Path(path) => Some(self.function_in_text(path, loc)),
        };
        Some(DefaultExpr { function, loc })
    }

    /// A function in an attribute: `path`, `<Type as Trait>::name`. Other text resolves to nothing and is
    /// reported at its use.
    fn function_in_text(&self, text: &str, loc: Loc) -> PathExpr {
        let parsed = syn::LitStr::new(text, Span::call_site()).parse::<syn::ExprPath>().ok();
        let path = parsed.and_then(|path| self.function_path(&path));
        let nowhere =
            || PathExpr { global: false, segments: vec![text.to_string()], arguments: Vec::new(), loc };
        PathExpr { loc, ..path.unwrap_or_else(nowhere) }
    }

    /// The functions and modules that serde's attributes name.
    fn functions_of_serde(&self, attributes: &[Attribute]) -> Vec<Function> {
        let function = |meta: &Meta| {
            let Meta::NameValue(pair) = meta else { return None };
            let key = pair.path.get_ident()?.to_string();
            let is_named = matches!(
                key.as_str(),
                "with" | "serialize_with" | "deserialize_with" | "skip_serializing_if"
            );
            let text = super::string(&pair.value).filter(|_| is_named)?;
            let path = self.path_in_text(&text, syn::spanned::Spanned::span(&pair.value))?;
            Some(Function { path, is_module: key == "with" })
        };
        serde::metas(attributes, "serde").iter().filter_map(function).collect()
    }

    fn kube_body(&self, fields: &Fields, renames: Renames, derives: KubeDerives) -> Body {
        let field = |(at, field)| self.kube_field(at, field, renames, derives);
        match fields {
            Fields::Named(_) => Body::Named(fields.iter().enumerate().map(field).collect()),
            Fields::Unnamed(_) => Body::Tuple(fields.iter().enumerate().map(field).collect()),
            Fields::Unit => Body::Unit,
        }
    }

    fn kube_field(&self, at: usize, field: &syn::Field, renames: Renames, derives: KubeDerives) -> Field {
        let serde = SerdeField::read(&serde::effective(&field.attrs));
        let name = field.ident.as_ref().map_or_else(
            || Name { text: at.to_string(), loc: self.loc(syn::spanned::Spanned::span(&field.ty)) },
            |ident| self.name(ident),
        );
        let in_json =
            |name: &dyn Fn(&syn::Ident) -> String| field.ident.as_ref().map_or_else(|| at.to_string(), name);
        let (common, with) = self.schemars(&field.attrs, true);
        let written_by_type = serde::serde_as(&field.attrs);
        let has_serde_as_default =
            written_by_type == Some(serde::SerdeAs::Option) && serde.default.is_none() && !serde.flatten;
        let default = serde.default.as_ref().or(has_serde_as_default.then_some(&SerdeDefault::Trait));
        let default_loc = serde.key("default").map_or(name.loc, |span| self.loc(span));
        Field {
            read: in_json(&|ident| serde.name_read(ident, renames.all)),
            read_by_0_8: in_json(&|ident| serde.name_read(ident, renames.by_0_8)),
            written: in_json(&|ident| serde.name(ident, renames.all)),
            ty: self.type_expr(&field.ty),
            common,
            with,
            // The macro `KubeSchema` does not pass garde's attributes on.
            validation: self.validation(&field.attrs, !derives.schema),
            validation_by_0_8: self.validation_by_0_8(&field.attrs),
            serde: FieldSerde {
                default: default.and_then(|default| self.default_expr(default, default_loc)),
                flatten: serde.flatten,
                skip_serializing: serde.skip_serializing,
                skip_deserializing: serde.skip_deserializing,
                skip_serializing_if: serde.skip_serializing_if.as_ref().map(|path| {
                    let loc = serde.key("skip_serializing_if").map_or(name.loc, |span| self.loc(span));
                    self.function_in_text(path, loc)
                }),
                serialize_with: serde::has_serialize_with(&field.attrs)
                    || written_by_type == Some(serde::SerdeAs::Other),
                deserialize_with: serde::has_deserialize_with(&field.attrs) || written_by_type.is_some(),
                functions: self.functions_of_serde(&field.attrs),
            },
            x_kube: derives.schema.then(|| self.x_kube_field(&field.attrs)).flatten(),
            name,
        }
    }

    fn kube_variant(&self, variant: &syn::Variant, outer: &SerdeContainer, derives: KubeDerives) -> Variant {
        let serde = SerdeVariant::read(&serde::effective(&variant.attrs));
        let name = variant.ident.unraw();
        let (common, with) = self.schemars(&variant.attrs, true);
        let renames = Renames {
            all: serde.rename_all.unwrap_or(outer.rename_all_fields),
            by_0_8: serde.rename_all.unwrap_or_default(),
        };
        let read = serde.rename_deserialize.clone();
        Variant {
            name: self.name(&variant.ident),
            read: read.unwrap_or_else(|| outer.rename_all.1.apply_to_variant(&name.to_string())),
            written: serde.name(&variant.ident, outer.rename_all),
            common,
            with,
            body: self.kube_body(&variant.fields, renames, KubeDerives { schema: false, ..derives }),
            untagged: serde.untagged,
            skip_deserializing: serde.skip_deserializing,
            is_default: variant.attrs.iter().any(|attribute| attribute.path().is_ident("default")),
            discriminant: variant.discriminant.as_ref().map(|(_, value)| self.value(value)),
        }
    }
}

/// A type in an attribute, in a string or bare.
fn with_type(parser: &Parser<'_>, value: &syn::Expr) -> Option<With> {
    let text = super::string(value)?;
    parser.type_in_text(&text, syn::spanned::Spanned::span(value)).map(With::Type)
}
