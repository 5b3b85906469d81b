//! Builds the schemas of resources from the intermediate representation.

use std::collections::{BTreeMap, HashMap};

use kubesmith_core::diag::Code;

use super::merge::{TypeConflict, overlay};
use super::props::{Additional, Rule, Schema};
use crate::diag::Diagnostic;
use crate::docs;
use crate::ir::{Field, Ir, Resource, Shape, Span, TaggedVariant, TypeId, TypeRef};
use crate::known;
use crate::source::SourceMap;

/// Standard text of `apiVersion`, as every Kubernetes API has it.
const API_VERSION: &str = "APIVersion defines the versioned schema of this representation of an object.\n\
    Servers should convert recognized schemas to the latest internal value, and\n\
    may reject unrecognized values.\n\
    More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#resources";

/// Standard text of `kind`, as every Kubernetes API has it.
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
    /// The schema of a resource.
    pub fn of(&self, resource: &Resource) -> Option<&Schema> {
        self.roots.get(&resource.root)
    }

    /// The schema of a type that a resource reaches, by its place in the arena.
    pub fn of_type(&self, index: usize) -> Option<&Schema> {
        self.types.get(&TypeId(u32::try_from(index).ok()?))
    }
}

/// How schemas are built.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SchemaOptions {
    /// Descriptions longer than these bytes are cut; 0 drops all.
    pub max_desc_len: Option<usize>,
    /// Embedded metadata has its fields; otherwise it is an object of which nothing is known.
    pub embedded_object_meta: bool,
}

/// Builds the schema of every resource.
pub fn build(ir: &Ir, sources: &SourceMap, options: SchemaOptions) -> (Schemas, Vec<Diagnostic>) {
    let mut builder = Builder {
        ir,
        sources,
        options,
        done: HashMap::new(),
        known: HashMap::new(),
        diagnostics: Vec::new(),
    };
    let mut schemas = Schemas::default();
    for resource in ir.groups.iter().flat_map(|group| &group.versions).flat_map(|version| &version.resources)
    {
        let mut schema = builder.root(resource);
        if let Some(limit) = options.max_desc_len {
            schema.walk_mut(&mut |schema| limit_description(schema, limit));
        }
        schemas.roots.insert(resource.root, schema);
    }
    schemas.types = builder.done;
    (schemas, builder.diagnostics)
}

fn limit_description(schema: &mut Schema, limit: usize) {
    schema.description = match schema.description.take() {
        Some(_) if limit == 0 => None,
        Some(text) => Some(docs::truncate(&text, limit)),
        None => None,
    };
}

struct Builder<'a> {
    ir: &'a Ir,
    sources: &'a SourceMap,
    options: SchemaOptions,
    done: HashMap<TypeId, Schema>,
    /// Schemas of known types that were used before: those of Kubernetes' larger types take a while.
    known: HashMap<String, Schema>,
    diagnostics: Vec<Diagnostic>,
}

impl Builder<'_> {
    fn root(&mut self, resource: &Resource) -> Schema {
        let mut schema = self.named(resource.root);
        let described =
            |text: &str| Schema { description: Some(text.to_string()), ..Schema::of_type("string") };
        schema.properties.insert("apiVersion".to_string(), described(API_VERSION));
        schema.properties.insert("kind".to_string(), described(KIND));
        // The API server knows metadata; a description of it in a CRD is refused.
        schema.properties.insert("metadata".to_string(), Schema::of_type("object"));
        schema
    }

    fn named(&mut self, id: TypeId) -> Schema {
        if let Some(schema) = self.done.get(&id) {
            return schema.clone();
        }
        let definition = &self.ir.types[id.0 as usize];
        let mut over = definition.facts.clone();
        let base = match &definition.shape {
            Shape::Struct(fields) => {
                // controller-gen puts these before the type's own rules.
                over.validations.splice(0..0, removal_rules(fields));
                self.object(fields)
            }
            Shape::Newtype(inner) => self.reference(inner),
            Shape::StringEnum(values) => Schema {
                enum_: Some(values.iter().map(|value| value.as_str().into()).collect()),
                ..Schema::of_type("string")
            },
            Shape::OneOf(alternatives) => self.one_of(alternatives),
            Shape::Tagged { tag, variants } => self.tagged(tag, variants, &definition.span),
        };
        over.description.clone_from(&definition.description);
        let base = retype(base, &over, !matches!(definition.shape, Shape::Newtype(TypeRef::Named(_))));
        let schema = self.join(base, over, &definition.span);
        self.done.insert(id, schema.clone());
        schema
    }

    fn join(&mut self, base: Schema, over: Schema, span: &Span) -> Schema {
        let fallback = over.clone();
        overlay(base, over).unwrap_or_else(|conflict| {
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
            TypeRef::Map(value) => known::map_of(self.reference(value)),
            TypeRef::Opaque => Schema::default(),
        }
    }

    fn known(&mut self, path: &str) -> Schema {
        if let Some(schema) = self.known.get(path) {
            return schema.clone();
        }
        // Lowering lets known paths through only.
        let schema = known::schema_with(path, self.options.embedded_object_meta).unwrap_or_default();
        self.known.insert(path.to_string(), schema.clone());
        schema
    }

    fn object(&mut self, fields: &[Field]) -> Schema {
        let mut schema = Schema::of_type("object");
        for field in fields {
            if field.flatten {
                schema = self.flatten(schema, field);
                continue;
            }
            let property = self.field(field);
            if field.required {
                schema.required.insert(field.name.clone());
            }
            schema.properties.insert(field.name.clone(), property);
        }
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
        let base = retype(base, &over, !matches!(field.ty, TypeRef::Named(_)));
        self.join(base, over, &field.span)
    }

    /// Puts the fields of a flattened field's type into the enclosing object.
    fn flatten(&mut self, mut schema: Schema, field: &Field) -> Schema {
        let mut inner = self.reference(&field.ty);
        inner.description = None;
        if inner.type_.as_deref() != Some("object") && !inner.preserve_unknown_fields {
            self.diagnostics.push(
                Diagnostic::error(
                    Code::UNSUPPORTED_TYPE,
                    self.sources.loc(&field.span),
                    format!("`{}` is flattened but no object", field.rust_name),
                )
                .help("only structs and maps can be flattened"),
            );
            return schema;
        }
        if let Some(values) = inner.additional_properties.take() {
            if !matches!(&values, Additional::Schema(values) if values.preserve_unknown_fields) {
                self.diagnostics.push(
                    Diagnostic::error(
                        Code::UNSUPPORTED_TYPE,
                        self.sources.loc(&field.span),
                        format!(
                            "the map `{}` is flattened into an object with other fields",
                            field.rust_name
                        ),
                    )
                    .note("a structural schema has either named fields or arbitrary keys of one type")
                    .help("remove `flatten`, or use serde_json::Value for the values"),
                );
            }
            inner.preserve_unknown_fields = true;
        }
        inner.type_ = Some("object".to_string());
        if !field.required {
            inner.required.clear();
        }
        for name in inner.properties.keys().filter(|name| schema.properties.contains_key(*name)) {
            self.diagnostics.push(
                Diagnostic::error(
                    Code::DUPLICATE_FIELD,
                    self.sources.loc(&field.span),
                    format!("the flattened `{}` brings a second field `{name}`", field.rust_name),
                )
                .help("rename one of them with `#[serde(rename = \"...\")]`"),
            );
        }
        schema.validations.append(&mut inner.validations);
        self.join(schema, inner, &field.span)
    }

    /// The tag decides which fields must be there; a field of several variants is the same in all.
    fn tagged(&mut self, tag: &str, variants: &[TaggedVariant], span: &Span) -> Schema {
        let mut schema = Schema::of_type("object");
        let mut names = Vec::new();
        for variant in variants {
            let object = self.object(&variant.fields);
            schema.preserve_unknown_fields |= object.preserve_unknown_fields;
            for (name, property) in object.properties {
                let known = schema.properties.entry(name.clone()).or_insert_with(|| property.clone());
                if *known != property || name == tag {
                    self.diagnostics.push(
                        Diagnostic::error(
                            Code::UNSUPPORTED_ENUM,
                            self.sources.loc(span),
                            format!("the field `{name}` differs between variants, or is the tag"),
                        )
                        .note("a structural schema has one definition for each field")
                        .help("rename one of the fields with `#[serde(rename = \"...\")]`"),
                    );
                }
            }
            if !object.validations.is_empty() {
                self.diagnostics.push(
                    Diagnostic::error(
                        Code::UNSUPPORTED_ENUM,
                        self.sources.loc(span),
                        format!(
                            "rules of what the variant `{}` holds would apply to all variants",
                            variant.name
                        ),
                    )
                    .help("put a rule on the enum that asks for the tag first"),
                );
            }
            let value: serde_json::Value = variant.name.as_str().into();
            let is_variant = Schema { enum_: Some(vec![value.clone()]), ..Schema::default() };
            schema.one_of.push(Schema {
                properties: [(tag.to_string(), is_variant)].into(),
                required: object.required,
                ..Schema::default()
            });
            names.push(value);
        }
        schema.required.insert(tag.to_string());
        schema.properties.insert(tag.to_string(), Schema { enum_: Some(names), ..Schema::of_type("string") });
        schema
    }

    fn one_of(&mut self, alternatives: &[Field]) -> Schema {
        let mut schema = Schema::of_type("object");
        for alternative in alternatives {
            schema.properties.insert(alternative.name.clone(), self.field(alternative));
            schema.one_of.push(Schema { required: [alternative.name.clone()].into(), ..Schema::default() });
        }
        schema
    }
}

/// `type` in attributes replaces the schema that follows from a simple Rust type.
fn retype(base: Schema, over: &Schema, replaceable: bool) -> Schema {
    match (&base.type_, &over.type_) {
        (Some(mine), Some(theirs)) if replaceable && mine != theirs => Schema::of_type(theirs),
        _ => base,
    }
}

/// Optional fields that cannot be changed cannot be removed either.
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
