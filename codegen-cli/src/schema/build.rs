//! Builds the schemas of resources from the intermediate representation.

use std::collections::{BTreeMap, HashMap};

use kubesmith_apiextensions::formats;
use kubesmith_apiextensions::schema::{KEYWORDS, Role, Rule, Schema};
use kubesmith_core::diag::Code;

use super::enums::{Place, is_object};
use super::forms;
use super::junctions::{add_junctions, optional, take_junctions};
use super::merge::{TypeConflict, overlay_with};
use super::union::Junction;
use crate::diag::Diagnostic;
use crate::docs;
use crate::ir::{Element, Field, Ir, Older, Resource, Shape, Span, TypeDef, TypeId, TypeRef};
use crate::known;
use crate::source::SourceMap;

/// Drops the formats that API servers do not know.
pub(crate) fn drop_unknown_formats(schema: &mut Schema) {
    schema.walk_mut(&mut |schema| {
        let is_known = match schema.type_name() {
            "integer" | "number" => formats::applies(schema),
            _ => formats::is_known(schema.format_name()),
        };
        if !is_known {
            schema.format = None;
        }
    });
}

/// Standard text of `apiVersion`, as in every Kubernetes API.
const API_VERSION: &str = "APIVersion defines the versioned schema of this representation of an object.\n\
    Servers should convert recognized schemas to the latest internal value, and\n\
    may reject unrecognized values.\n\
    More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#resources";

/// Standard text of `kind`, as in every Kubernetes API.
const KIND: &str = "Kind is a string value representing the REST resource this object represents.\n\
    Servers may infer this from the endpoint the client submits requests to.\n\
    Cannot be updated.\n\
    In CamelCase.\n\
    More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds";

/// Schemas of resources, by their root types.
#[derive(Debug, Default)]
pub struct Schemas {
    roots: BTreeMap<TypeId, Schema>,
    types: HashMap<TypeId, Schema>,
}

impl Schemas {
    /// The resources' schemas without documentation, which is most of a schema and does not affect checks.
    pub fn undocumented(&self) -> Self {
        let mut roots = self.roots.clone();
        for schema in roots.values_mut() {
            schema.walk_mut(&mut |part| {
                let documentation = KEYWORDS.iter().filter(|keyword| keyword.role == Role::Documentation);
                documentation.for_each(|keyword| keyword.clear(part));
            });
        }
        Self { roots, types: HashMap::new() }
    }

    /// The schema of a resource.
    pub fn of(&self, resource: &Resource) -> Option<&Schema> {
        self.roots.get(&resource.root)
    }

    /// The schema of a type, by its index in the arena.
    pub fn of_type(&self, index: usize) -> Option<&Schema> {
        self.types.get(&TypeId(u32::try_from(index).ok()?))
    }
}

/// Options for building schemas.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SchemaOptions {
    /// The length in bytes at which descriptions are cut; 0 drops all.
    pub max_desc_len: Option<usize>,
    /// Whether embedded metadata has fields; otherwise it is an object without a schema.
    pub embedded_object_meta: bool,
    /// Whether formats that API servers do not know stay in schemas of kube-rs's dialect.
    pub keep_unknown_formats: bool,
}

/// Builds the schema of every resource.
pub fn build(ir: &Ir, sources: &SourceMap, options: SchemaOptions) -> (Schemas, Vec<Diagnostic>) {
    let mut builder = Builder {
        ir,
        sources,
        options,
        done: HashMap::new(),
        known: HashMap::new(),
        sizes: HashMap::new(),
        known_sizes: HashMap::new(),
        diagnostics: Vec::new(),
    };
    let mut schemas = Schemas::default();
    for resource in ir.groups.iter().flat_map(|group| &group.versions).flat_map(|version| &version.resources)
    {
        if let Some(diagnostic) = builder.too_large(resource) {
            builder.diagnostics.push(diagnostic);
            continue;
        }
        let mut schema = builder.root(resource);
        if let Some(limit) = options.max_desc_len {
            schema.walk_mut(&mut |schema| limit_description(schema, limit, ir.older()));
        }
        schemas.roots.insert(resource.root, schema);
    }
    schemas.types = builder.done;
    (schemas, builder.diagnostics)
}

fn limit_description(schema: &mut Schema, limit: usize, older: Older) {
    let text = schema.description.take().filter(|_| limit > 0);
    let cut = |text: &str| docs::sentences(text, limit).0.to_string();
    schema.description =
        text.map(|text| if older.cuts_words { cut(&text) } else { docs::truncate(&text, limit) });
}

pub(super) struct Builder<'a> {
    pub(super) ir: &'a Ir,
    pub(super) sources: &'a SourceMap,
    options: SchemaOptions,
    done: HashMap<TypeId, Schema>,
    /// Cached schemas of known types: those of Kubernetes' larger types are slow to build.
    known: HashMap<String, Schema>,
    /// The number of schemas in those of types.
    pub(super) sizes: HashMap<TypeId, u64>,
    /// The same for known types.
    pub(super) known_sizes: HashMap<String, u64>,
    pub(super) diagnostics: Vec<Diagnostic>,
}

impl<'a> Builder<'a> {
    fn root(&mut self, resource: &Resource) -> Schema {
        let mut schema = self.named(resource.root);
        if let Shape::Given(_) = self.ir.types[resource.root.0 as usize].shape {
            return schema;
        }
        for (name, usual) in self.standard_fields() {
            schema.properties.insert(name.to_string(), usual.into());
        }
        for (name, given) in &resource.crd.standard_fields {
            match given {
                Some(given) => schema.properties.insert(name.clone(), given.clone().into()),
                None => schema.properties.remove(name),
            };
        }
        schema
    }

    fn named(&mut self, id: TypeId) -> Schema {
        if let Some(schema) = self.done.get(&id) {
            return schema.clone();
        }
        let mut schema = self.definition(&self.ir.types[id.0 as usize], Place::Value);
        if self.ir.go_kinds.contains(&id) {
            for (name, usual) in self.standard_fields() {
                schema.properties.entry(name.to_string()).or_insert_with(|| usual.into());
            }
        }
        self.done.insert(id, schema.clone());
        schema
    }

    fn standard_fields(&self) -> [(&'static str, Schema); 3] {
        let mut fields = standard_fields();
        for text in fields.iter_mut().filter_map(|(_, field)| field.description.as_mut()) {
            if self.ir.older().joins_lines {
                *text = text.replace('\n', " ");
            }
        }
        fields
    }

    fn definition(&mut self, definition: &TypeDef, place: Place) -> Schema {
        if let Shape::Given(schema) = &definition.shape {
            return self.given(schema);
        }
        let mut over = definition.facts.clone();
        let base = match &definition.shape {
            Shape::Struct(fields) => {
                // As in controller-gen, these precede the type's own rules.
                over.validations.splice(0..0, removal_rules(fields));
                self.object(fields)
            }
            Shape::Newtype(element) if place == Place::Object => {
                let inner = self.flattened(&element.ty);
                self.join(inner, element.facts.clone(), &element.span)
            }
            Shape::Newtype(element) => reformat(self.element(element), &over, &element.ty),
            Shape::Tuple(elements) => {
                let items = elements.iter().map(|element| self.element(element)).collect();
                self.tuple(items, &definition.span)
            }
            Shape::Unit if place == Place::Object => Schema::of_type("object"),
            Shape::Unit => forms::unit(),
            Shape::Enum(variants) => self.enumeration(variants, place, &definition.span),
            Shape::Given(schema) => self.given(schema),
        };
        over.description.clone_from(&definition.description);
        let replaceable = match &definition.shape {
            Shape::Newtype(element) => !matches!(element.ty, TypeRef::Named(_)),
            _ => true,
        };
        self.join(retype(base, &over, replaceable), over, &definition.span)
    }

    /// A complete schema. Formats that API servers do not know only cause warnings there.
    fn given(&self, schema: &Schema) -> Schema {
        let mut schema = schema.clone();
        if !self.options.keep_unknown_formats {
            drop_unknown_formats(&mut schema);
        }
        schema
    }

    /// The schema of a type that is flattened into an enclosing object.
    pub(super) fn flattened(&mut self, ty: &TypeRef) -> Schema {
        match ty {
            TypeRef::Named(id) => {
                let definition = &self.ir.types[id.0 as usize];
                match definition.shape {
                    Shape::Struct(_) | Shape::Tuple(_) => self.named(*id),
                    _ => self.definition(definition, Place::Object),
                }
            }
            TypeRef::Nullable(inner) => optional(self.flattened(inner)),
            TypeRef::Unit => Schema::of_type("object"),
            _ => self.reference(ty),
        }
    }

    /// The schema of an unnamed value.
    pub(super) fn element(&mut self, element: &Element) -> Schema {
        let base = reformat(self.reference(&element.ty), &element.facts, &element.ty);
        let base = retype(base, &element.facts, !matches!(element.ty, TypeRef::Named(_)));
        self.join(base, element.facts.clone(), &element.span)
    }

    /// A list of fixed length; all items share one schema.
    fn tuple(&mut self, mut items: Vec<Schema>, span: &Span) -> Schema {
        let len = i64::try_from(items.len()).ok();
        if items.iter().any(|item| *item != items[0]) {
            items.iter_mut().for_each(|item| item.description = None);
        }
        let items = self.joined(items, Junction::AnyOf, span);
        Schema { min_items: len, max_items: len, ..known::list_of(items) }
    }

    pub(super) fn join(&mut self, base: Schema, over: Schema, span: &Span) -> Schema {
        let fallback = over.clone();
        overlay_with(self.ir.older(), base, over).unwrap_or_else(|conflict| {
            self.report(&conflict, span);
            fallback
        })
    }

    fn report(&mut self, conflict: &TypeConflict, span: &Span) {
        self.diagnostics.push(
            Diagnostic::error(Code::WRONG_TYPE_FOR_KEY, self.sources.loc(span), conflict.to_string())
                .note("`type` on a field replaces the schema of a simple type, but not that of a type with its own definition")
                .help("put `#[validation(type = \"...\")]` on the definition, or `#[schema(schemaless)]` on the field"),
        );
    }

    fn reference(&mut self, ty: &TypeRef) -> Schema {
        match ty {
            TypeRef::Named(id) => self.named(*id),
            TypeRef::Known(path) => self.known(path),
            TypeRef::List(item) => known::list_of(self.reference(item)),
            TypeRef::Array(item, len) => {
                let list = known::list_of(self.reference(item));
                let len = i64::try_from(*len).ok();
                Schema { min_items: len, max_items: len, ..list }
            }
            TypeRef::Tuple(items) => {
                let items = items.iter().map(|item| self.reference(item)).collect();
                self.tuple(items, &Span::default())
            }
            TypeRef::Map(value) => known::map_of(self.reference(value)),
            TypeRef::Nullable(inner) => forms::nullable(self.reference(inner)),
            TypeRef::Unit => forms::unit(),
            TypeRef::Opaque => Schema::default(),
        }
    }

    pub(super) fn known(&mut self, path: &str) -> Schema {
        if let Some(schema) = self.known.get(path) {
            return schema.clone();
        }
        // Lowering accepts only known paths.
        let schema = known::schema_with(path, self.options.embedded_object_meta).unwrap_or_default();
        self.known.insert(path.to_string(), schema.clone());
        schema
    }

    fn object(&mut self, fields: &[Field]) -> Schema {
        let mut schema = Schema::of_type("object");
        let is_go = self.ir.is_go();
        let (embedded, own): (Vec<&Field>, Vec<&Field>) =
            fields.iter().partition(|field| is_go && field.flatten);
        // Embedded structs of Go come first; the struct may redefine their fields.
        for field in embedded.into_iter().chain(own) {
            if field.flatten {
                schema = self.flatten(schema, field, fields);
                continue;
            }
            let property = self.field(field);
            if field.required {
                schema.required.insert(field.name.clone());
            }
            let property = match schema.properties.remove(&field.name).filter(|_| is_go) {
                Some(first) => self.merged(&first, property, &field.span),
                None => property,
            };
            schema.properties.insert(field.name.clone(), property.into());
        }
        forms::close(&mut schema);
        schema
    }

    fn field(&mut self, field: &Field) -> Schema {
        let base = self.reference(&field.ty);
        let mut over = field.facts.clone();
        over.description.clone_from(&field.description);
        if field.immutable {
            let rule = Rule {
                rule: "self == oldSelf".to_string(),
                message: Some("field is immutable".to_string()),
                ..Rule::default()
            };
            over.validations.insert(0, rule);
        }
        let base = reformat(base, &over, &field.ty);
        let base = retype(base, &over, !matches!(field.ty, TypeRef::Named(_)));
        self.join(base, over, &field.span)
    }

    /// Adds the fields of a flattened field's type to the enclosing object, which has these fields.
    fn flatten(&mut self, mut schema: Schema, field: &Field, fields: &[Field]) -> Schema {
        let inner = self.flattened(&field.ty);
        let mut inner = self.join(inner, field.facts.clone(), &field.span);
        inner.description = None;
        if !is_object(&inner) {
            self.report_flattened(field);
            return schema;
        }
        inner.type_ = Some("object".to_string());
        if !field.required {
            inner = optional(inner);
        }
        self.check_doubles(&mut inner, &mut schema, field, fields);
        let junctions = take_junctions(&mut inner);
        let mut schema = self.beside(schema, inner, &field.span);
        add_junctions(&mut schema, junctions);
        schema
    }

    /// Reports a name from a flattened field that another field or an earlier flattened one has.
    fn check_doubles(&mut self, inner: &mut Schema, before: &mut Schema, field: &Field, fields: &[Field]) {
        if self.ir.is_go() {
            return self.merge_doubles(inner, before, field);
        }
        let own = |name: &str| fields.iter().any(|field| !field.flatten && field.name == name);
        inner.properties.retain(|name, _| {
            let is_double = own(name) || before.properties.contains_key(name);
            if is_double {
                self.diagnostics.push(
                    Diagnostic::error(
                        Code::DUPLICATE_FIELD,
                        self.sources.loc(&field.span),
                        format!("the flattened `{}` brings a second field `{name}`", field.rust_name),
                    )
                    .help("rename one of them with `#[serde(rename = \"...\")]`"),
                );
            }
            !is_double
        });
    }

    /// Merges fields that several embedded structs of Go have.
    fn merge_doubles(&mut self, inner: &mut Schema, before: &mut Schema, field: &Field) {
        for (name, first) in &mut before.properties {
            let Some(second) = inner.properties.remove(name) else { continue };
            *first = self.merged(first, (*second).clone(), &field.span).into();
        }
    }

    /// Merges two fields of the same name, with the description of the first: `flattenAllOfInto` of
    /// controller-gen, pkg/crd/flatten.go.
    fn merged(&mut self, first: &Schema, second: Schema, span: &Span) -> Schema {
        let description = first.description.clone();
        Schema { description, ..self.join(first.clone(), second, span) }
    }

    fn report_flattened(&mut self, field: &Field) {
        self.diagnostics.push(
            Diagnostic::error(
                Code::UNSUPPORTED_TYPE,
                self.sources.loc(&field.span),
                format!("`{}` is flattened but not always an object", field.rust_name),
            )
            .help("only structs, maps and enums of them can be flattened"),
        );
    }

    /// Joins two parts of an object. The last rule about additional fields wins. The rules of the part
    /// flattened last come first: `flattenAllOfInto` of controller-gen, pkg/crd/flatten.go.
    fn beside(&mut self, mut schema: Schema, mut inner: Schema, span: &Span) -> Schema {
        let mut rules = std::mem::take(&mut inner.validations);
        rules.append(&mut schema.validations);
        schema.preserve_unknown_fields |=
            schema.additional_properties.is_some() && inner.additional_properties.is_some();
        let mut out = self.join(schema, inner, span);
        out.validations = rules;
        out
    }
}

/// The usual schemas of the standard fields.
pub(crate) fn standard_fields() -> [(&'static str, Schema); 3] {
    let described = |text: &str| Schema { description: Some(text.to_string()), ..Schema::of_type("string") };
    // The API server knows metadata and refuses a description of it in a CRD.
    [
        ("apiVersion", described(API_VERSION)),
        ("kind", described(KIND)),
        ("metadata", Schema::of_type("object")),
    ]
}

/// Replaces the schema of a simple Rust type by an attribute's `type`.
fn retype(base: Schema, over: &Schema, replaceable: bool) -> Schema {
    match (&base.type_, &over.type_) {
        (Some(mine), Some(theirs)) if replaceable && mine != theirs => Schema::of_type(theirs),
        _ => base,
    }
}

/// Applies an attribute's `format`: it replaces that of a primitive type, and adds to that of a type with a
/// definition.
fn reformat(mut base: Schema, over: &Schema, ty: &TypeRef) -> Schema {
    if over.format.is_some() && matches!(ty, TypeRef::Known(path) if known::is_prelude(path)) {
        base.format = None;
    }
    base
}

/// The rules against removing immutable optional fields.
fn removal_rules(fields: &[Field]) -> Vec<Rule> {
    let optional = fields.iter().filter(|field| field.immutable && !field.required && !field.flatten);
    let rule = |field: &Field| {
        let name = crate::schema::cel_field(&field.name);
        Rule {
            rule: format!("!has(oldSelf.{name}) || has(self.{name})"),
            message: Some(format!("field {} is immutable once set", field.name)),
            ..Rule::default()
        }
    };
    optional.map(rule).collect()
}
