//! Definitions of types: structs, newtypes and enums with their fields.

use std::collections::HashMap;

use kubesmith_core::diag::Code;

use super::Ctx;
use super::types::Scope;
use crate::diag::Diagnostic;
use crate::ir::{Field, Places, Shape, TaggedVariant, TypeDef, TypeId, TypeRef};
use crate::resolve::ItemId;
use crate::schema::Schema;
use crate::source::Loc;
use crate::syntax::{FieldItem, TypeItem, TypeKind, VariantItem, VariantKind};

impl Ctx<'_> {
    /// Lowers a definition; `None` after a diagnostic.
    pub(super) fn definition(&mut self, id: ItemId) -> Option<TypeDef> {
        let item = self.resolver.item(id);
        if let Some(proxy) = item.serde.proxy {
            self.report_functions(proxy, &format!("another type has the JSON form of `{}`", item.name.text));
            return None;
        }
        let shape = match &item.kind {
            TypeKind::Struct(fields) => self.structure(id, item, fields)?,
            TypeKind::Tuple(fields) => self.tuple(id, item, fields)?,
            TypeKind::Unit => {
                self.shape_error(
                    item,
                    "a unit struct is null in JSON",
                    "write it with braces: `struct Name {}`",
                );
                return None;
            }
            TypeKind::Enum(variants) => self.enumeration(id, item, variants)?,
            TypeKind::Alias(_) => return None,
            TypeKind::Other(what) => {
                self.shape_error(item, &format!("{what} has no JSON form"), "use a struct or an enum");
                return None;
            }
        };
        Some(TypeDef {
            path: self.resolver.definition_path(id),
            span: self.sources.span(item.name.loc),
            description: item.description.clone(),
            shape,
            facts: item.facts.schema.clone(),
            places: self.spans(&item.facts.places),
        })
    }

    fn shape_error(&mut self, item: &TypeItem, message: &str, help: &str) {
        self.diagnostics.push(
            Diagnostic::error(
                Code::UNSUPPORTED_TYPE,
                item.name.loc,
                format!("{message}, which no schema can describe"),
            )
            .help(help),
        );
    }

    fn report_functions(&mut self, loc: Loc, message: &str) {
        self.diagnostics.push(
            Diagnostic::error(Code::UNSUPPORTED_SERDE, loc, message.to_string())
                .note("the source is read, not run, so its result cannot be known")
                .help("say what the JSON is with `#[schema(schemaless)]` and `#[validation(type = \"...\")]` on the field"),
        );
    }

    fn structure(&mut self, id: ItemId, item: &TypeItem, fields: &[FieldItem]) -> Option<Shape> {
        if item.serde.transparent {
            let kept: Vec<&FieldItem> = fields.iter().filter(|field| !field.serde.skip).collect();
            return match kept[..] {
                [field] => self.newtype(id, field),
                _ => {
                    self.shape_error(item, "a transparent struct has one field", "remove `transparent`");
                    None
                }
            };
        }
        self.fields(id, fields, item.serde.default).map(Shape::Struct)
    }

    fn tuple(&mut self, id: ItemId, item: &TypeItem, fields: &[FieldItem]) -> Option<Shape> {
        match fields {
            [field] => self.newtype(id, field),
            _ => {
                self.shape_error(
                    item,
                    "a struct with several unnamed fields is a list of mixed types in JSON",
                    "name its fields",
                );
                None
            }
        }
    }

    fn newtype(&mut self, id: ItemId, field: &FieldItem) -> Option<Shape> {
        let inner = self.use_of(Scope::from(id), &field.ty)?;
        Some(Shape::Newtype(inner.ty))
    }

    /// Lowers fields; all of them are looked at even if one is wrong.
    fn fields(&mut self, id: ItemId, fields: &[FieldItem], all_default: bool) -> Option<Vec<Field>> {
        let mut out = Vec::with_capacity(fields.len());
        let mut names: HashMap<String, Loc> = HashMap::new();
        let mut complete = true;
        for field in fields.iter().filter(|field| !field.serde.skip) {
            let Some(lowered) = self.field(id, field, all_default) else {
                complete = false;
                continue;
            };
            if lowered.flatten {
                out.push(lowered);
                continue;
            }
            // Core has checked the types that have our derives.
            let first = names.insert(lowered.name.clone(), field.name.loc);
            if let Some(first) = first.filter(|_| !self.resolver.item(id).checked) {
                self.diagnostics.push(
                    Diagnostic::error(
                        Code::DUPLICATE_FIELD,
                        field.name.loc,
                        format!("two fields are called `{}` in JSON", lowered.name),
                    )
                    .secondary(first, "the first")
                    .help("rename one of them with `#[serde(rename = \"...\")]`"),
                );
                complete = false;
            }
            out.push(lowered);
        }
        complete.then_some(out)
    }

    fn field(&mut self, id: ItemId, field: &FieldItem, all_default: bool) -> Option<Field> {
        let serde = &field.serde;
        // What the attributes say in full needs no Rust type: it may be one that nothing is known of.
        let schemaless = field.facts.schemaless;
        let (ty, optional) = if schemaless {
            let optional = serde.option_hint;
            (TypeRef::Opaque, optional)
        } else {
            if let Some(with) = serde.with {
                self.report_functions(
                    with,
                    &format!("functions have the JSON form of `{}`", field.name.text),
                );
                return None;
            }
            let used = self.use_of(Scope::from(id), &field.ty)?;
            (used.ty, used.optional)
        };
        let by_default = self.resolver.requires_fields(id);
        let implied = by_default && !(optional || serde.default || all_default || serde.skip_serializing_if);
        Some(Field {
            name: field.json_name.clone(),
            rust_name: field.name.text.clone(),
            span: self.sources.span(field.name.loc),
            description: field.description.clone(),
            ty,
            required: field.facts.presence.unwrap_or(implied),
            flatten: serde.flatten,
            immutable: field.facts.immutable,
            schemaless,
            facts: field.facts.schema.clone(),
            places: self.spans(&field.facts.places),
        })
    }

    fn enumeration(&mut self, id: ItemId, item: &TypeItem, variants: &[VariantItem]) -> Option<Shape> {
        let kept: Vec<&VariantItem> = variants.iter().filter(|variant| !variant.skip).collect();
        if kept.is_empty() {
            self.shape_error(item, "an enum without variants has no values", "add a variant");
            return None;
        }
        if let (Some(tag), false, false) = (&item.serde.tag, item.serde.content, item.serde.untagged) {
            return self.tagged(id, tag, &kept);
        }
        let tagged = item.serde.tag.is_some() || item.serde.untagged;
        let units = kept.iter().filter(|variant| matches!(variant.kind, VariantKind::Unit)).count();
        if units == kept.len() && !tagged {
            let names = kept.iter().map(|variant| variant.json_name.clone());
            return Some(Shape::StringEnum(names.collect()));
        }
        if tagged || units > 0 {
            let what = if tagged {
                "untagged and adjacently tagged enums do not become schemas"
            } else {
                "an enum that mixes variants with and without data is a string or an object in JSON"
            };
            let unit = kept.iter().find(|variant| matches!(variant.kind, VariantKind::Unit));
            self.diagnostics.push(
                Diagnostic::error(
                    Code::UNSUPPORTED_ENUM,
                    item.name.loc,
                    format!("`{}` has no structural schema: {what}", item.name.text),
                )
                .secondary(unit.filter(|_| !tagged).map(|variant| variant.name.loc), "has no data")
                .help("give every variant data (`Name {}` will do), or use a struct with optional fields"),
            );
            return None;
        }
        let mut alternatives = Vec::new();
        let mut complete = true;
        for variant in kept {
            match self.alternative(id, variant) {
                Some(field) => alternatives.push(field),
                None => complete = false,
            }
        }
        complete.then_some(Shape::OneOf(alternatives))
    }

    /// `{"tag": "name", ..data}`
    fn tagged(&mut self, id: ItemId, tag: &str, variants: &[&VariantItem]) -> Option<Shape> {
        let mut out = Vec::new();
        let mut complete = true;
        for variant in variants {
            let fields = match &variant.kind {
                VariantKind::Unit => Some(Vec::new()),
                VariantKind::Struct(fields) => self.fields(id, fields, false),
                // What the variant holds stands beside the tag, as if it were flattened.
                VariantKind::Tuple(fields) => {
                    let held: Option<Vec<Field>> =
                        fields.iter().map(|field| self.field(id, field, false)).collect();
                    held.map(|held| held.into_iter().map(|field| Field { flatten: true, ..field }).collect())
                }
            };
            match fields {
                Some(fields) => out.push(TaggedVariant { name: variant.json_name.clone(), fields }),
                None => complete = false,
            }
        }
        complete.then(|| Shape::Tagged { tag: tag.to_string(), variants: out })
    }

    /// `{"name": data}`
    fn alternative(&mut self, id: ItemId, variant: &VariantItem) -> Option<Field> {
        let ty = match &variant.kind {
            VariantKind::Unit => return None,
            VariantKind::Tuple(fields) => match &fields[..] {
                [field] => self.use_of(Scope::from(id), &field.ty)?.ty,
                _ => {
                    self.diagnostics.push(
                        Diagnostic::error(
                            Code::UNSUPPORTED_ENUM,
                            variant.name.loc,
                            "a variant with several unnamed fields is a list of mixed types in JSON",
                        )
                        .help("name its fields"),
                    );
                    return None;
                }
            },
            VariantKind::Struct(fields) => {
                let fields = self.fields(id, fields, false)?;
                let definition = TypeDef {
                    path: format!("{}::{}", self.resolver.definition_path(id), variant.name.text),
                    span: self.sources.span(variant.name.loc),
                    description: None,
                    shape: Shape::Struct(fields),
                    facts: Schema::default(),
                    places: Places::new(),
                };
                self.types.push(definition);
                TypeRef::Named(TypeId(u32::try_from(self.types.len() - 1).unwrap_or(u32::MAX)))
            }
        };
        Some(Field {
            name: variant.json_name.clone(),
            rust_name: variant.name.text.clone(),
            span: self.sources.span(variant.name.loc),
            description: variant.description.clone(),
            ty,
            required: false,
            flatten: false,
            immutable: false,
            schemaless: false,
            facts: Schema::default(),
            places: Places::new(),
        })
    }
}
