//! Parses structs, enums, aliases and unions.

use kubesmith_core::diag::{Code, Diagnostics};
use kubesmith_core::grammar::Place;
use kubesmith_core::model::{
    Body, FieldModel, ResourceInput, SchemaAttrs, SerdeDefault, TypeModel, VariantModel, is_option,
};
use syn::{Attribute, Ident, Visibility as SynVisibility};

use super::derives::Derives;
use super::kube::KubeDerives;
use super::{Parser, markers, visibility};
use crate::docs;
use crate::syntax::kube::CustomResource;
use crate::syntax::{
    ContainerSerde, Derived, FieldItem, FieldSerde, Name, TypeItem, TypeKind, VariantItem, VariantKind,
};

impl Parser<'_> {
    pub(super) fn type_item(&self, ident: &Ident, vis: &SynVisibility, generics: &syn::Generics) -> TypeItem {
        TypeItem {
            name: self.name(ident),
            visibility: visibility(vis),
            non_exhaustive: false,
            description: None,
            generics: self.params(generics),
            kind: TypeKind::Unit,
            checked: false,
            is_broken: false,
            unread: None,
            facts: Default::default(),
            serde: ContainerSerde::default(),
            derived: Derived::default(),
            resource: None,
            genclient: None,
            schemars: None,
            custom_resource: None,
        }
    }

    pub(super) fn structure(&mut self, item: &syn::ItemStruct) -> TypeItem {
        let mut definition = self.type_item(&item.ident, &item.vis, &item.generics);
        let expanded = self.cfg.structure(item);
        let item = expanded.as_ref().unwrap_or(item);
        definition.non_exhaustive = is_non_exhaustive(&item.attrs);
        let names = self.derive_names.derives(&item.attrs);
        let (derives, kube) = (Derives::of(&names, &item.attrs), KubeDerives::of(&names));
        definition.schemars = self.derived_struct(item, kube).map(Box::new);
        definition.custom_resource = self.kube_item(&item.ident, &item.attrs, kube);
        let mut diagnostics = Diagnostics::new();
        if derives.resource {
            if let Some(input) = ResourceInput::from_struct(item, &mut diagnostics) {
                definition.resource = Some(Box::new(self.resource(&input)));
                definition.genclient = input.genclient.as_ref().map(|tags| self.genclient(tags));
                self.model(&input.model, &mut definition, true);
            }
        } else {
            let model = TypeModel::from_struct(item, Place::Struct, &mut diagnostics);
            self.model(&model, &mut definition, derives.schema);
        }
        definition.unread = self.unread_attribute(derives, &names, markers::of_struct(item));
        markers::misspelt(derives, markers::of_struct(item), &mut diagnostics);
        self.finish(&mut definition, derives, diagnostics);
        definition
    }

    fn kube_item(
        &mut self,
        ident: &Ident,
        attributes: &[Attribute],
        derives: KubeDerives,
    ) -> Option<Box<CustomResource>> {
        if !derives.resource {
            return None;
        }
        self.custom_resource(ident, attributes).map(Box::new)
    }

    pub(super) fn enumeration(&mut self, item: &syn::ItemEnum) -> TypeItem {
        let mut definition = self.type_item(&item.ident, &item.vis, &item.generics);
        let expanded = self.cfg.enumeration(item);
        let item = expanded.as_ref().unwrap_or(item);
        definition.non_exhaustive = is_non_exhaustive(&item.attrs);
        let names = self.derive_names.derives(&item.attrs);
        let (derives, kube) = (Derives::of(&names, &item.attrs), KubeDerives::of(&names));
        definition.non_exhaustive |= item.variants.iter().any(|variant| is_non_exhaustive(&variant.attrs));
        definition.schemars = self.derived_enum(item, kube).map(Box::new);
        definition.custom_resource = self.kube_item(&item.ident, &item.attrs, kube);
        let mut diagnostics = Diagnostics::new();
        if derives.resource {
            // Reports the macro's errors; an enum never becomes a resource.
            ResourceInput::from_derive(&derive_input(item), &mut diagnostics);
        } else {
            let model = TypeModel::from_enum(item, &mut diagnostics);
            self.model(&model, &mut definition, derives.schema);
        }
        definition.unread = self.unread_attribute(derives, &names, markers::of_enum(item));
        markers::misspelt(derives, markers::of_enum(item), &mut diagnostics);
        self.finish(&mut definition, derives, diagnostics);
        definition
    }

    /// Reads an alias. Its markers are ours, as no macro can read them.
    pub(super) fn alias(&mut self, item: &syn::ItemType) -> TypeItem {
        let mut definition = self.type_item(&item.ident, &item.vis, &item.generics);
        let item = syn::ItemType { attrs: self.cfg.expanded(&item.attrs), ..item.clone() };
        let mut diagnostics = Diagnostics::new();
        let model = TypeModel::from_alias(&item, &mut diagnostics);
        self.report(diagnostics);
        definition.description = description(&model.docs);
        definition.facts = self.facts(&model.validation, &model.schema, None);
        definition.kind = TypeKind::Alias(self.type_expr(&item.ty));
        definition
    }

    pub(super) fn union(&mut self, item: &syn::ItemUnion) -> TypeItem {
        let mut definition = self.type_item(&item.ident, &item.vis, &item.generics);
        definition.kind = TypeKind::Other("a union");
        let derives = Derives::of(&self.derive_names.derives(&item.attrs), &item.attrs);
        if derives.resource || derives.schema {
            let mut diagnostics = Diagnostics::new();
            let data = syn::DataUnion { union_token: item.union_token, fields: item.fields.clone() };
            let input = syn::DeriveInput {
                attrs: item.attrs.clone(),
                vis: item.vis.clone(),
                ident: item.ident.clone(),
                generics: item.generics.clone(),
                data: syn::Data::Union(data),
            };
            TypeModel::from_derive(&input, Place::Struct, &mut diagnostics);
            self.finish(&mut definition, derives, diagnostics);
        }
        definition
    }

    /// Finishes a definition. Without one of our derives, its attributes belong to rustc or another macro.
    fn finish(&mut self, definition: &mut TypeItem, derives: Derives, mut diagnostics: Diagnostics) {
        definition.checked = derives.resource || derives.schema;
        definition.derived = derives.serde;
        if !definition.checked {
            // Without a derive of ours, only serde's attributes and misspelt names are checked.
            let of_others = [Code::SERDE_ATTRIBUTE, Code::UNKNOWN_ATTRIBUTE];
            let found = diagnostics.take().into_iter().filter(|found| of_others.contains(&found.code));
            found.for_each(|found| diagnostics.push(found));
        }
        self.report(diagnostics);
    }

    fn model(&mut self, model: &TypeModel, definition: &mut TypeItem, ours: bool) {
        definition.description = description(&model.docs);
        if ours {
            definition.facts = self.facts(&model.validation, &model.schema, None);
            definition.description = said(&model.schema, definition.description.take());
        }
        let serde = &model.serde;
        definition.serde = ContainerSerde {
            default: serde.default.is_some(),
            transparent: serde.transparent,
            tag: serde.tag.as_ref().map(|tag| tag.value.clone()),
            content: serde.content.as_ref().map(|content| content.value.clone()),
            untagged: serde.untagged,
            read_as: serde.read_as.as_ref().and_then(|ty| self.type_in_text(&ty.value, ty.span)),
            written_as: serde.written_as.as_ref().and_then(|ty| self.type_in_text(&ty.value, ty.span)),
        };
        definition.kind = match &model.body {
            Body::Named(fields) => TypeKind::Struct(self.fields(fields, ours)),
            Body::Tuple(fields) => TypeKind::Tuple(self.fields(fields, ours)),
            Body::Unit => TypeKind::Unit,
            Body::Enum(variants) => {
                TypeKind::Enum(variants.iter().map(|variant| self.variant(variant, ours)).collect())
            }
        };
    }

    fn fields(&mut self, fields: &[FieldModel], ours: bool) -> Vec<FieldItem> {
        fields.iter().map(|field| self.field(field, ours)).collect()
    }

    fn field(&mut self, field: &FieldModel, ours: bool) -> FieldItem {
        let name = match &field.ident {
            Some(ident) => self.name(ident),
            None => Name { text: field.name.clone(), loc: self.loc(field.span()) },
        };
        let serde = &field.serde;
        FieldItem {
            description: if ours {
                said(&field.schema, description(&field.docs))
            } else {
                description(&field.docs)
            },
            ty: self.type_expr(&field.ty),
            public: field.public,
            json_name: field.name.clone(),
            serde: FieldSerde {
                default: serde.default.is_some(),
                default_fn: match &serde.default {
                    Some(SerdeDefault::Path(path)) => {
                        self.path_in_text(path, serde.key("default").unwrap_or_else(|| field.span()))
                    }
                    _ => None,
                },
                skip: serde.skipped(),
                skip_serializing_if: serde.skip_serializing_if.is_some(),
                flatten: serde.flatten,
                option_hint: is_option(&field.ty),
                with: serde.with.as_ref().map(|with| self.loc(with.span)),
                aliases: serde.aliases.clone(),
            },
            facts: if ours {
                self.facts(&field.validation, &field.schema, field.presence.as_ref())
            } else {
                Default::default()
            },
            name,
        }
    }

    fn variant(&mut self, variant: &VariantModel, ours: bool) -> VariantItem {
        VariantItem {
            name: self.name(&variant.ident),
            json_name: variant.name.clone(),
            description: description(&variant.docs),
            aliases: variant.serde.aliases.clone(),
            skip: variant.serde.skip_deserializing,
            untagged: variant.serde.untagged,
            other: variant.serde.other,
            with: variant.serde.with.as_ref().map(|with| self.loc(with.span)),
            kind: match &variant.body {
                Body::Named(fields) => VariantKind::Struct(self.fields(fields, ours)),
                Body::Tuple(fields) => VariantKind::Tuple(self.fields(fields, ours)),
                Body::Unit | Body::Enum(_) => VariantKind::Unit,
            },
        }
    }
}

fn is_non_exhaustive(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| attribute.path().is_ident("non_exhaustive"))
}

/// The description from an attribute, or else the doc comment.
fn said(attrs: &SchemaAttrs, documented: Option<String>) -> Option<String> {
    attrs.description.as_ref().map(|text| text.value.clone()).or(documented)
}

fn description(lines: &[String]) -> Option<String> {
    docs::description(lines.iter().map(String::as_str))
}

/// The enum in the form that derive macros get.
fn derive_input(item: &syn::ItemEnum) -> syn::DeriveInput {
    syn::DeriveInput {
        attrs: item.attrs.clone(),
        vis: item.vis.clone(),
        ident: item.ident.clone(),
        generics: item.generics.clone(),
        data: syn::Data::Enum(syn::DataEnum {
            enum_token: item.enum_token,
            brace_token: item.brace_token,
            variants: item.variants.clone(),
        }),
    }
}
