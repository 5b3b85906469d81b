//! Models types: a struct or enum with the attributes of its fields and variants.

use proc_macro2::{Ident, Span};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned as _;
use syn::{
    Attribute, Data, DeriveInput, FieldModifiers, Fields, ItemEnum, ItemStruct, ItemType, Token, Type,
    Variant, Visibility,
};

use super::extra::check_extra;
use super::notation::Notation;
use super::one_of::check_one_ofs;
use super::serde::{self, SerdePlace};
use super::{
    RenameRule, SchemaAttrs, SerdeContainer, SerdeField, SerdeVariant, TypeShape, ValidationAttrs,
    check_constraints, check_default, is_option,
};
use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::grammar::{FAMILIES, Family, ItemAttributes, Place, Spanned, check_markers, parse_attributes};

/// A struct or enum.
#[derive(Clone, Debug)]
pub struct TypeModel {
    /// Its name.
    pub ident: Ident,
    /// Lines of documentation.
    pub docs: Vec<String>,
    /// serde's facts.
    pub serde: SerdeContainer,
    /// `#[validation(...)]`
    pub validation: ValidationAttrs,
    /// `#[schema(...)]`
    pub schema: SchemaAttrs,
    /// Its fields or variants.
    pub body: Body,
}

/// The fields or variants of a type.
#[derive(Clone, Debug)]
pub enum Body {
    /// A struct with named fields.
    Named(Vec<FieldModel>),
    /// A tuple struct.
    Tuple(Vec<FieldModel>),
    /// A struct without fields.
    Unit,
    /// An enum.
    Enum(Vec<VariantModel>),
}

/// A field of a struct or of a variant.
#[derive(Clone, Debug)]
pub struct FieldModel {
    /// Its name; `None` in tuples.
    pub ident: Option<Ident>,
    /// Its name in JSON; the index in tuples.
    pub name: String,
    /// Its type as written.
    pub ty: Type,
    /// Whether it is public.
    pub public: bool,
    /// Lines of documentation.
    pub docs: Vec<String>,
    /// serde's facts.
    pub serde: SerdeField,
    /// `#[validation(...)]`
    pub validation: ValidationAttrs,
    /// `#[schema(...)]`
    pub schema: SchemaAttrs,
    /// `required` or `optional` of either attribute.
    pub presence: Option<Spanned<Presence>>,
}

/// The explicit presence of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// `required`
    Required,
    /// `optional`
    Optional,
}

/// A variant of an enum.
#[derive(Clone, Debug)]
pub struct VariantModel {
    /// Its name.
    pub ident: Ident,
    /// Its name in JSON.
    pub name: String,
    /// Lines of documentation.
    pub docs: Vec<String>,
    /// serde's facts.
    pub serde: SerdeVariant,
    /// Its content; never an enum.
    pub body: Body,
}

impl TypeModel {
    /// Reads and checks a struct.
    pub fn from_struct(item: &ItemStruct, place: Place, diagnostics: &mut Diagnostics) -> Self {
        Self::read(&item.attrs, &item.ident, place, diagnostics, |serde, diagnostics| {
            fields(&item.fields, serde.rename_all, diagnostics)
        })
    }

    /// Reads and checks an enum.
    pub fn from_enum(item: &ItemEnum, diagnostics: &mut Diagnostics) -> Self {
        Self::read(&item.attrs, &item.ident, Place::Enum, diagnostics, |serde, diagnostics| {
            variants(&item.variants, serde, diagnostics)
        })
    }

    /// Reads and checks an alias, as a tuple struct of its type. As no macro applies to it, only its
    /// documentation is read.
    pub fn from_alias(item: &ItemType, diagnostics: &mut Diagnostics) -> Self {
        let docs: Vec<Attribute> =
            item.attrs.iter().filter(|attribute| attribute.path().is_ident("doc")).cloned().collect();
        let field = syn::Field {
            attrs: Vec::new(),
            vis: Visibility::Inherited,
            modifiers: FieldModifiers::default(),
            ident: None,
            colon_token: None,
            ty: (*item.ty).clone(),
            default: None,
        };
        Self::read(&docs, &item.ident, Place::Alias, diagnostics, |serde, diagnostics| {
            Body::Tuple(vec![FieldModel::read(&field, 0, serde.rename_all, diagnostics)])
        })
    }

    /// Reads and checks the input of a derive macro; `None` after a diagnostic for a union.
    pub fn from_derive(input: &DeriveInput, place: Place, diagnostics: &mut Diagnostics) -> Option<Self> {
        let place = if matches!(input.data, Data::Enum(_)) { Place::Enum } else { place };
        if let Data::Union(data) = &input.data {
            let message = "a union has no form in JSON";
            let diagnostic = Diagnostic::error(Code::WRONG_PLACE, data.union_token.span, message);
            diagnostics.push(diagnostic.help("use a struct or an enum"));
            return None;
        }
        Some(Self::read(&input.attrs, &input.ident, place, diagnostics, |serde, diagnostics| {
            match &input.data {
                Data::Struct(data) => fields(&data.fields, serde.rename_all, diagnostics),
                Data::Enum(data) => variants(&data.variants, serde, diagnostics),
                Data::Union(_) => Body::Unit,
            }
        }))
    }

    fn read(
        attributes: &[Attribute],
        ident: &Ident,
        place: Place,
        diagnostics: &mut Diagnostics,
        body: impl FnOnce(&SerdeContainer, &mut Diagnostics) -> Body,
    ) -> Self {
        let item = &ItemAttributes::new(attributes);
        if place != Place::Root {
            misplaced(item, place, diagnostics);
        }
        check_markers(item, diagnostics);
        let serde = SerdeContainer::read(attributes);
        let serde_place = if place == Place::Enum { SerdePlace::Enum } else { SerdePlace::Struct };
        serde::check(attributes, serde_place, diagnostics);
        let parsed = parse_attributes(Family::Validation, item, place, diagnostics);
        let schema = parse_attributes(Family::Schema, item, place, diagnostics);
        let notation = Notation::of(&[&parsed, &schema]);
        let validation = ValidationAttrs::from_parsed(&parsed);
        let schema = notation.check(diagnostics, |out| SchemaAttrs::from_parsed(&schema, out));
        let body = body(&serde, diagnostics);
        let shape = body.shape(&serde);
        notation.check(diagnostics, |out| {
            check_constraints(&validation.constraints, &shape, out);
            check_topology(&schema, &shape, &notation, out);
            check_one_ofs(&validation.one_ofs, &body, &serde, out);
            check_extra(&schema, &validation.constraints, out);
        });
        Self { ident: ident.clone(), docs: item.docs(), serde, validation, schema, body }
    }

    /// Named fields of a struct; empty for other types.
    pub fn named_fields(&self) -> &[FieldModel] {
        match &self.body {
            Body::Named(fields) => fields,
            _ => &[],
        }
    }
}

impl Body {
    /// The shape of the type in JSON, if its syntax shows it.
    fn shape(&self, serde: &SerdeContainer) -> TypeShape {
        if serde.read_as.is_some() || serde.written_as.is_some() {
            return TypeShape::Unknown;
        }
        match self {
            Self::Named(fields) if !serde.transparent || fields.len() != 1 => TypeShape::Object,
            Self::Named(fields) | Self::Tuple(fields) if fields.len() == 1 => TypeShape::of(&fields[0].ty),
            Self::Enum(variants) if serde.tag.is_none() && !serde.untagged => {
                let unit = !variants.is_empty() && variants.iter().all(|v| matches!(v.body, Body::Unit));
                if unit { TypeShape::String } else { TypeShape::Unknown }
            }
            _ => TypeShape::Unknown,
        }
    }
}

/// Reports attributes of the root type on other items.
fn misplaced(item: &ItemAttributes<'_>, place: Place, diagnostics: &mut Diagnostics) {
    for family in FAMILIES.iter().filter(|family| !family.places.contains(place)) {
        parse_attributes(family.family, item, place, diagnostics);
    }
}

fn fields(fields: &Fields, rename_all: (RenameRule, RenameRule), diagnostics: &mut Diagnostics) -> Body {
    let models: Vec<FieldModel> = fields
        .iter()
        .enumerate()
        .map(|(index, field)| FieldModel::read(field, index, rename_all, diagnostics))
        .collect();
    check_names(&models, diagnostics);
    match fields {
        Fields::Named(_) => Body::Named(models),
        Fields::Unnamed(_) => Body::Tuple(models),
        Fields::Unit => Body::Unit,
    }
}

fn variants(
    variants: &Punctuated<Variant, Token![,]>,
    serde: &SerdeContainer,
    diagnostics: &mut Diagnostics,
) -> Body {
    let models: Vec<VariantModel> =
        variants.iter().map(|variant| VariantModel::read(variant, serde, diagnostics)).collect();
    let named: Vec<_> =
        models.iter().filter(|v| !serde.untagged && !v.serde.untagged && !v.serde.skip).collect();
    for (at, variant) in named.iter().enumerate() {
        if let Some(first) = named[..at].iter().find(|other| other.name == variant.name) {
            let message = format!("two variants are {:?} in JSON", variant.name);
            diagnostics.push(
                Diagnostic::error(Code::DUPLICATE_FIELD, variant.ident.span(), message)
                    .secondary(first.ident.span(), "the first one")
                    .help("rename one of them with #[serde(rename = \"...\")]"),
            );
        }
    }
    Body::Enum(models)
}

/// Checks that fields have different names in JSON.
fn check_names(fields: &[FieldModel], diagnostics: &mut Diagnostics) {
    let visible =
        |field: &&FieldModel| field.ident.is_some() && !field.serde.flatten && !field.serde.skipped();
    let named: Vec<&FieldModel> = fields.iter().filter(visible).collect();
    for (at, field) in named.iter().enumerate() {
        if let Some(first) = named[..at].iter().find(|other| other.name == field.name) {
            diagnostics.push(
                Diagnostic::error(
                    Code::DUPLICATE_FIELD,
                    field.span(),
                    format!("two fields are {:?} in JSON", field.name),
                )
                .secondary(first.span(), "the first one")
                .help("rename one of them with #[serde(rename = \"...\")]"),
            );
        }
    }
}

impl FieldModel {
    fn read(
        field: &syn::Field,
        index: usize,
        rename_all: (RenameRule, RenameRule),
        diagnostics: &mut Diagnostics,
    ) -> Self {
        let item = &ItemAttributes::new(&field.attrs);
        misplaced(item, Place::Field, diagnostics);
        check_markers(item, diagnostics);
        let serde = SerdeField::read(&field.attrs);
        serde::check(&field.attrs, SerdePlace::Field, diagnostics);
        let parsed = parse_attributes(Family::Validation, item, Place::Field, diagnostics);
        let schema = parse_attributes(Family::Schema, item, Place::Field, diagnostics);
        let notation = Notation::of(&[&parsed, &schema]);
        let validation = ValidationAttrs::from_parsed(&parsed);
        let mut schema = notation.check(diagnostics, |out| SchemaAttrs::from_parsed(&schema, out));
        let name = match &field.ident {
            Some(ident) => serde.name(ident, rename_all),
            None => index.to_string(),
        };
        let shape = if serde.with.is_some() { TypeShape::Unknown } else { TypeShape::of(&field.ty) };
        schema.settle_empty(&shape);
        let presence = notation.check(diagnostics, |out| {
            check_constraints(&validation.constraints, &shape, out);
            check_default(&schema, &validation.constraints, &shape, out);
            check_topology(&schema, &shape, &notation, out);
            check_extra(&schema, &validation.constraints, out);
            presence(&validation, &schema, &notation, out)
        });
        let docs = item.docs();
        let out = Self {
            ident: field.ident.clone(),
            name,
            ty: field.ty.clone(),
            public: matches!(field.vis, syn::Visibility::Public(_)),
            docs,
            serde,
            validation,
            schema,
            presence,
        };
        if let Some(ident) = &field.ident {
            out.check_one_name(ident, rename_all, diagnostics);
        }
        out
    }

    /// Checks that the field's name in JSON is the same in both directions.
    fn check_one_name(
        &self,
        ident: &Ident,
        rename_all: (RenameRule, RenameRule),
        diagnostics: &mut Diagnostics,
    ) {
        let read = self.serde.name_read(ident, rename_all);
        if read != self.name
            && !self.serde.flatten
            && !self.serde.skip_serializing
            && !self.serde.skip_deserializing
        {
            let span = self.serde.key("rename").unwrap_or_else(|| self.span());
            let message = format!("the field is written as {:?} but read as {read:?}", self.name);
            let diagnostic = Diagnostic::error(Code::SPLIT_NAME, span, message);
            diagnostics.push(diagnostic.help("use one name for both"));
        }
    }

    /// The place of the field's name, or of its type in tuples.
    pub fn span(&self) -> Span {
        self.ident.as_ref().map_or_else(|| self.ty.span(), Ident::span)
    }

    /// Whether an object must have the field: as an attribute says (`required`, `optional`), or else if it is no `Option`,
    /// has no default and is always serialized.
    pub fn is_required(&self, container: &SerdeContainer) -> bool {
        match &self.presence {
            Some(presence) => presence.value == Presence::Required,
            None => {
                !is_option(&self.ty)
                    && self.serde.default.is_none()
                    && container.default.is_none()
                    && self.serde.skip_serializing_if.is_none()
            }
        }
    }
}

fn presence(
    validation: &ValidationAttrs,
    schema: &SchemaAttrs,
    notation: &Notation,
    diagnostics: &mut Diagnostics,
) -> Option<Spanned<Presence>> {
    let required = validation.required.or(schema.required);
    let optional = validation.optional.or(schema.optional);
    for (key, both) in [
        ("required", (validation.required, schema.required)),
        ("optional", (validation.optional, schema.optional)),
    ] {
        if let (Some(first), Some(second)) = both
            && !notation.is_marked_twice(key)
        {
            let message = format!("`{key}` is given twice, in #[validation] and in #[schema]");
            let diagnostic = Diagnostic::error(Code::DUPLICATE_KEY, second, message);
            diagnostics.push(diagnostic.secondary(first, "first given here").help("keep one of them"));
        }
    }
    if let (Some(required), Some(optional)) = (required, optional) {
        let message = "the field is `required` and `optional`";
        let diagnostic = Diagnostic::error(Code::PRESENCE, optional, message);
        diagnostics.push(diagnostic.secondary(required, "required here").help("keep one of them"));
    }
    let required = required.map(|span| Spanned::new(Presence::Required, span));
    required.or(optional.map(|span| Spanned::new(Presence::Optional, span)))
}

/// Checks that keys about merging are on lists, maps and structs.
fn check_topology(
    schema: &SchemaAttrs,
    shape: &TypeShape,
    notation: &Notation,
    diagnostics: &mut Diagnostics,
) {
    let list = matches!(shape, TypeShape::Array(_) | TypeShape::Unknown);
    let object = matches!(shape, TypeShape::Map(_) | TypeShape::Object | TypeShape::Unknown);
    let map_type = if schema.keys.contains("struct_type") { "struct_type" } else { "map_type" };
    let keys = [
        ("list_type", "x-kubernetes-list-type", list, "lists"),
        (map_type, "x-kubernetes-map-type", object, if map_type == "map_type" { "maps" } else { "structs" }),
        (
            "preserve_unknown_fields",
            "x-kubernetes-preserve-unknown-fields",
            // controller-gen writes the marker on any type, and servers accept it.
            object || list || notation.is_marked("preserve_unknown_fields"),
            "maps and structs",
        ),
        ("embedded_resource", "x-kubernetes-embedded-resource", object, "maps and structs"),
    ];
    for (key, name, fits, what) in keys {
        if let Some(span) = schema.facts.places.get(name).filter(|_| !fits) {
            let message = format!("`{key}` is for {what}, but the type is {}", shape.describe());
            let help = "remove it, or put it where such a value is";
            diagnostics.push(Diagnostic::error(Code::WRONG_TYPE_FOR_KEY, *span, message).help(help));
        }
    }
}

impl VariantModel {
    fn read(variant: &Variant, container: &SerdeContainer, diagnostics: &mut Diagnostics) -> Self {
        let item = &ItemAttributes::new(&variant.attrs);
        misplaced(item, Place::Variant, diagnostics);
        check_markers(item, diagnostics);
        let serde = SerdeVariant::read(&variant.attrs);
        serde::check(&variant.attrs, SerdePlace::Variant, diagnostics);
        let rename_fields = serde.rename_all.unwrap_or(container.rename_all_fields);
        Self {
            ident: variant.ident.clone(),
            name: serde.name(&variant.ident, container.rename_all),
            docs: item.docs(),
            serde,
            body: fields(&variant.fields, rename_fields, diagnostics),
        }
    }
}
