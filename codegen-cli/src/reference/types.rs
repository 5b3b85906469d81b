//! Describes types and their fields, from the representation.

use std::collections::{BTreeMap, BTreeSet};

use kubesmith_apiextensions::sample::is_deprecated;

use super::names::Ids;
use super::{Field, Inline, Target, Text, Type, Variant, code, kubernetes, plain, text, words};
use crate::ir::{self, Element, Enum, Ir, Resource, Shape, Tagging, TypeId, TypeRef};
use crate::known;
use crate::schema::{Rule, Schema, Schemas};

/// Describes the types of a page.
pub(super) struct Builder<'a> {
    ir: &'a Ir,
    schemas: &'a Schemas,
    pub(super) ids: &'a mut Ids,
    /// Anchor of the page.
    pub(super) page: String,
    /// Anchors and names of the types on the page.
    anchors: BTreeMap<TypeId, (String, String)>,
    /// The users of an anchor: labels and anchors.
    users: BTreeMap<String, BTreeSet<(String, String)>>,
    /// Label and anchor of the current item.
    at: (String, String),
    /// Unnamed types found so far.
    pub(super) nested: Vec<Type>,
}

impl<'a> Builder<'a> {
    pub(super) fn new(
        ir: &'a Ir,
        schemas: &'a Schemas,
        ids: &'a mut Ids,
        page: String,
        anchors: BTreeMap<TypeId, (String, String)>,
    ) -> Self {
        let at = (String::new(), String::new());
        Self { ir, schemas, ids, page, anchors, users: BTreeMap::new(), at, nested: Vec::new() }
    }

    /// The fields and types that use an anchor.
    pub(super) fn users_of(&self, id: &str) -> Vec<Inline> {
        let users = self.users.get(id).into_iter().flatten();
        users.map(|(label, id)| Inline::Link(label.clone(), Target::Here(id.clone()))).collect()
    }

    /// Runs `f` for the item with this label and anchor, which owns the links.
    pub(super) fn within<T>(&mut self, label: String, id: &str, f: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(&mut self.at, (label, id.to_string()));
        let out = f(self);
        self.at = before;
        out
    }

    pub(super) fn link(&mut self, id: &str, label: &str) -> Inline {
        self.users.entry(id.to_string()).or_default().insert(self.at.clone());
        Inline::Link(label.to_string(), Target::Here(id.to_string()))
    }

    /// The root of a resource, without the fields of every object.
    pub(super) fn root(&mut self, resource: &Resource) -> Type {
        let mut out = self.definition(resource.root);
        // The manifest shows the example.
        out.rules = self
            .type_rules(resource.root, |schema| words::rules(&Schema { example: None, ..schema.clone() }));
        let added = [("apiVersion", "group and version"), ("kind", "kind")];
        for (at, (name, meaning)) in added.into_iter().enumerate() {
            if out.fields.iter().any(|field| field.name.as_deref() == Some(name)) {
                continue;
            }
            let field = Field {
                id: self.ids.take(&format!("{}-{name}", out.id)),
                name: Some(name.to_string()),
                ty: vec![plain("string")],
                required: true,
                default: None,
                description: text::blocks(&format!("The {meaning} of the object.")),
                deprecated: false,
                rules: Vec::new(),
            };
            out.fields.insert(at.min(out.fields.len()), field);
        }
        out
    }

    /// A type with source.
    pub(super) fn definition(&mut self, id: TypeId) -> Type {
        let definition = &self.ir.types[id.0 as usize];
        let (anchor, name) = self.anchors.get(&id).cloned().unwrap_or_default();
        let mut out = Type {
            id: anchor.clone(),
            name: name.clone(),
            description: text::optional(definition.description.as_ref()),
            deprecated: is_deprecated(definition.description.as_ref()),
            form: Text::new(),
            fields: Vec::new(),
            variants: Vec::new(),
            rules: self.type_rules(id, words::rules),
            appears_in: Vec::new(),
        };
        self.within(name.clone(), &anchor, |builder| match &definition.shape {
            Shape::Struct(fields) => {
                out.fields = fields.iter().map(|field| builder.field(id, &name, &anchor, field)).collect();
            }
            Shape::Newtype(element) => {
                let joined = builder.schemas.of_type(id.0 as usize).filter(|_| is_simple(&element.ty));
                out.form = match joined {
                    Some(joined) => builder.schema_text(joined, &name),
                    None => builder.element(element, &name),
                };
            }
            Shape::Tuple(elements) => {
                let items = elements.iter().map(|element| builder.element(element, &name)).collect();
                out.form = tuple(items);
            }
            Shape::Unit => out.form = vec![code("null")],
            Shape::Enum(variants) => {
                out.form = form(variants);
                out.variants = variants.variants.iter().map(|v| builder.variant(&name, &anchor, v)).collect();
            }
            Shape::Given(schema) => {
                if out.description.is_empty() {
                    out.description = text::optional(schema.description.as_ref());
                }
                builder.given(schema, &mut out);
            }
        });
        out
    }

    /// The checks of the type's schemas, in the words of `rules`.
    fn type_rules(&self, id: TypeId, rules: impl Fn(&Schema) -> Vec<Text>) -> Vec<Text> {
        let definition = &self.ir.types[id.0 as usize];
        let joined = self.schemas.of_type(id.0 as usize);
        let schema = match (&definition.shape, joined) {
            (Shape::Struct(_), Some(joined)) => joined,
            (Shape::Newtype(element), Some(joined)) if !leads_away(&element.ty) => joined,
            (Shape::Newtype(element), _) => {
                return rules(&element.facts).into_iter().chain(rules(&definition.facts)).collect();
            }
            (Shape::Given(schema), _) => schema,
            _ => &definition.facts,
        };
        rules(schema)
    }

    fn field(&mut self, owner: TypeId, owner_name: &str, owner_id: &str, field: &ir::Field) -> Field {
        let id = self.ids.take(&format!("{owner_id}-{}", field.name));
        let joined =
            self.schemas.of_type(owner.0 as usize).and_then(|schema| schema.properties.get(&field.name));
        let joined = joined.map_or(&field.facts, AsRef::as_ref);
        let label = format!("{owner_name}.{}", field.name);
        let ty = self.within(label.clone(), &id, |builder| {
            if (field.schemaless || is_simple(&field.ty)) && !field.flatten {
                return builder.schema_text(joined, &label);
            }
            builder.reference(&field.ty, &label)
        });
        let default = joined.default.as_ref().or(field.facts.default.as_ref()).filter(|_| !field.flatten);
        Field {
            id,
            name: (!field.flatten).then(|| field.name.clone()),
            ty,
            // Servers set defaults before they validate, so the field is optional.
            required: field.required && default.is_none(),
            default: default.map(ToString::to_string),
            description: text::optional(field.description.as_ref()),
            deprecated: is_deprecated(field.description.as_ref()),
            rules: field_rules(field, joined),
        }
    }

    fn variant(&mut self, owner_name: &str, owner_id: &str, variant: &ir::Variant) -> Variant {
        let id = self.ids.take(&format!("{owner_id}-{}", variant.name));
        let label = format!("{owner_name}.{}", variant.name);
        let mut holds = self.within(label.clone(), &id, |builder| match &variant.content {
            Some(element) => builder.element(element, &label),
            None => Text::new(),
        });
        for name in &variant.aliases {
            also(&mut holds, "also read as ");
            holds.push(code(name));
        }
        if variant.other {
            also(&mut holds, "stands for every other name");
        }
        if variant.untagged {
            also(&mut holds, "nothing names it: any other value that has this form");
        }
        Variant {
            id,
            name: variant.name.clone(),
            holds,
            description: text::optional(variant.description.as_ref()),
            deprecated: is_deprecated(variant.description.as_ref()),
        }
    }

    fn element(&mut self, element: &Element, hint: &str) -> Text {
        if element.facts.type_.is_some() && !leads_away(&element.ty) {
            return self.schema_text(&element.facts, hint);
        }
        self.reference(&element.ty, hint)
    }

    /// A use of a type; `hint` names an unnamed type.
    fn reference(&mut self, ty: &TypeRef, hint: &str) -> Text {
        let of = |before: &str, mut inner: Text| {
            inner.insert(0, plain(before));
            inner
        };
        match ty {
            TypeRef::Named(id) => match self.anchors.get(id).cloned() {
                Some((id, name)) => vec![self.link(&id, &name)],
                None => vec![plain("object")],
            },
            TypeRef::Known(path) => match kubernetes::link(path) {
                Some((name, url)) => vec![Inline::Link(name, Target::Url(url))],
                None => self.schema_text(&known::schema(path).unwrap_or_default(), hint),
            },
            TypeRef::List(item) => of("list of ", self.reference(item, hint)),
            TypeRef::Array(item, length) => of(&format!("list of {length} "), self.reference(item, hint)),
            TypeRef::Tuple(items) => tuple(items.iter().map(|item| self.reference(item, hint)).collect()),
            TypeRef::Nullable(inner) => {
                let mut text = self.reference(inner, hint);
                text.extend([plain(" or "), code("null")]);
                text
            }
            TypeRef::Unit => vec![code("null")],
            TypeRef::Map(value) => of("map of string to ", self.reference(value, hint)),
            TypeRef::Opaque => vec![plain("any value")],
        }
    }
}

/// Adds to a variant's content.
fn also(holds: &mut Text, text: &str) {
    let separator = if holds.is_empty() { "" } else { "; " };
    holds.push(plain(format!("{separator}{text}")));
}

/// A list with a type for each item.
fn tuple(items: Vec<Text>) -> Text {
    let mut out = vec![plain("list of ")];
    for (at, item) in items.into_iter().enumerate() {
        if at > 0 {
            out.push(plain(", then "));
        }
        out.extend(item);
    }
    out
}

/// The representation of variants in JSON.
fn form(variants: &Enum) -> Text {
    let holding = variants.variants.iter().filter(|variant| variant.content.is_some()).count();
    match &variants.tagging {
        Tagging::Untagged => vec![plain("one of these forms, which nothing names")],
        Tagging::External if holding == 0 => vec![plain("string, one of these")],
        Tagging::External if holding == variants.variants.len() => {
            vec![plain("object with one of these fields")]
        }
        Tagging::External => {
            vec![plain("object with one of these fields; the name alone, as a string, where nothing is held")]
        }
        Tagging::Internal { tag } => {
            vec![
                plain("object whose field "),
                code(tag),
                plain(" names one of these; what it holds stands beside it"),
            ]
        }
        Tagging::Adjacent { tag, content } => vec![
            plain("object whose field "),
            code(tag),
            plain(" names one of these; what it holds stands in "),
            code(content),
        ],
    }
}

/// Whether a link describes the type's checks.
fn leads_away(ty: &TypeRef) -> bool {
    match ty {
        TypeRef::Named(_) => true,
        TypeRef::Known(path) => kubernetes::link(path).is_some(),
        TypeRef::List(inner) | TypeRef::Array(inner, _) | TypeRef::Map(inner) | TypeRef::Nullable(inner) => {
            leads_away(inner)
        }
        TypeRef::Tuple(items) => items.iter().any(leads_away),
        TypeRef::Unit | TypeRef::Opaque => false,
    }
}

/// Whether the schema describes the type completely.
fn is_simple(ty: &TypeRef) -> bool {
    match ty {
        TypeRef::Known(path) => kubernetes::link(path).is_none(),
        TypeRef::List(inner) | TypeRef::Map(inner) | TypeRef::Nullable(inner) => is_simple(inner),
        TypeRef::Opaque => true,
        TypeRef::Named(_) | TypeRef::Array(..) | TypeRef::Tuple(_) | TypeRef::Unit => false,
    }
}

/// The checks of a field, without those in its type's description.
fn field_rules(field: &ir::Field, joined: &Schema) -> Vec<Text> {
    if !leads_away(&field.ty) && !field.flatten {
        return words::rules(joined);
    }
    let mut facts = field.facts.clone();
    if field.immutable {
        facts.validations.insert(0, Rule { rule: "self == oldSelf".to_string(), ..Rule::default() });
    }
    words::rules(&facts)
}
