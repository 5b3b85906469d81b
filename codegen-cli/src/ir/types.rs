//! Types that resources consist of.

use std::collections::BTreeMap;

use kubesmith_apiextensions::schema::Schema;
use serde::Serialize;

use super::RustType;
use crate::source::Span;

/// Index into [`Ir::types`](super::Ir::types).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct TypeId(pub u32);

/// The locations of values, by their names in the CRD: `default`, `items.pattern`,
/// `x-kubernetes-validations[0].rule`, `additionalPrinterColumns[1].jsonPath`.
pub type Places = BTreeMap<String, Span>;

/// A type definition reachable from a resource.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TypeDef {
    /// Full path: `ecsbinding_api::v1::EcsBindingSpec`.
    pub path: String,
    /// Its path for other crates, if it has one and no parameters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code_path: Option<String>,
    /// The location of its definition.
    pub span: Span,
    /// Description by controller-gen's rules.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Whether the shape has all fields and variants of the Rust type.
    pub whole: bool,
    /// Whether code of other crates must expect further fields or variants: it or one of its variants is
    /// `#[non_exhaustive]`.
    #[serde(skip_serializing_if = "is_false")]
    pub non_exhaustive: bool,
    /// Its JSON form.
    pub shape: Shape,
    /// The additions of the type's attributes to its schema.
    #[serde(skip_serializing_if = "Schema::is_empty")]
    pub facts: Schema,
    /// The locations of these additions.
    #[serde(skip_serializing_if = "Places::is_empty")]
    pub places: Places,
}

/// The JSON form of a type.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Shape {
    /// An object with known fields, in source order.
    Struct(Vec<Field>),
    /// A newtype, with the form of its content.
    Newtype(Box<Element>),
    /// A list of fixed length, with a type for each item.
    Tuple(Vec<Element>),
    /// Always null.
    Unit,
    /// One of several forms.
    Enum(Enum),
    /// The form of this schema, without additions.
    Given(Box<Schema>),
}

/// The type of an unnamed value in a newtype, tuple or variant.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Element {
    /// Its type.
    #[serde(rename = "type")]
    pub ty: TypeRef,
    /// Its type as declared; unknown for generated elements.
    #[serde(skip_serializing_if = "is_unknown")]
    pub rust: RustType,
    /// The additions of attributes to the schema.
    #[serde(skip_serializing_if = "Schema::is_empty")]
    pub facts: Schema,
    /// The location of its definition.
    pub span: Span,
    /// The locations of these additions.
    #[serde(skip_serializing_if = "Places::is_empty")]
    pub places: Places,
}

impl Element {
    /// An element without attributes.
    pub fn new(ty: TypeRef, rust: RustType, span: Span) -> Self {
        Self { ty, rust, facts: Schema::default(), span, places: Places::new() }
    }
}

/// A type with variants.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Enum {
    /// The representation of the variant's name.
    pub tagging: Tagging,
    /// The variants that can be read, in source order.
    pub variants: Vec<Variant>,
}

/// The representation of an enum's variants in JSON: serde's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Tagging {
    /// `{"name": content}`, or `"name"` without content.
    External,
    /// `{"tag": "name", ..content}`
    Internal {
        /// The field with the variant's name.
        tag: String,
    },
    /// `{"tag": "name", "content": content}`
    Adjacent {
        /// The field with the variant's name.
        tag: String,
        /// The field with the variant's content.
        content: String,
    },
    /// The content alone.
    Untagged,
}

/// A variant of an enum.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Variant {
    /// Name in JSON.
    pub name: String,
    /// Name in Rust.
    pub rust_name: String,
    /// Further names that deserialize to it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<String>,
    /// The location of its definition.
    pub span: Span,
    /// Description by controller-gen's rules.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Its contents.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<Element>,
    /// Whether the JSON is the content alone, regardless of the enum's tagging.
    #[serde(skip_serializing_if = "is_false")]
    pub untagged: bool,
    /// Whether every unknown name deserializes to it.
    #[serde(skip_serializing_if = "is_false")]
    pub other: bool,
}

impl Variant {
    /// Every name that deserializes to it.
    pub fn names(&self) -> impl Iterator<Item = &String> {
        std::iter::once(&self.name).chain(&self.aliases)
    }
}

fn is_false(value: &bool) -> bool {
    !value
}

fn is_unknown(ty: &RustType) -> bool {
    *ty == RustType::Unknown
}

impl Shape {
    /// The fields of the object, if the shape is one.
    pub fn fields(&self) -> std::slice::Iter<'_, Field> {
        match self {
            Shape::Struct(fields) => fields.iter(),
            Shape::Newtype(_) | Shape::Tuple(_) | Shape::Unit | Shape::Enum(_) | Shape::Given(_) => [].iter(),
        }
    }
}

/// A field of an object.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Field {
    /// Name in JSON.
    pub name: String,
    /// Name in Rust.
    pub rust_name: String,
    /// The location of its definition.
    pub span: Span,
    /// Description by controller-gen's rules.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Its type, without `Option`.
    #[serde(rename = "type")]
    pub ty: TypeRef,
    /// Whether the key must be present.
    pub required: bool,
    /// Whether the fields of its type are flattened into the enclosing object.
    pub flatten: bool,
    /// Whether the value cannot be changed once set.
    pub immutable: bool,
    /// Whether the Rust type adds nothing to the schema.
    pub schemaless: bool,
    /// The additions of the field's attributes to the schema.
    #[serde(skip_serializing_if = "Schema::is_empty")]
    pub facts: Schema,
    /// The locations of these additions.
    #[serde(skip_serializing_if = "Places::is_empty")]
    pub places: Places,
    /// Its declaration.
    pub rust: RustField,
}

/// Facts of a field that generated code needs and its schema lacks.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct RustField {
    /// Whether code of other crates can access it.
    pub public: bool,
    /// Its type.
    #[serde(rename = "type")]
    pub ty: RustType,
}

/// A use of a type.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum TypeRef {
    /// A type with source.
    Named(TypeId),
    /// A type whose schema is known; see [`crate::known`].
    Known(String),
    /// A JSON array.
    List(Box<TypeRef>),
    /// A JSON array with exactly this many items.
    Array(Box<TypeRef>, u64),
    /// A JSON array of fixed length, with a type for each item.
    Tuple(Vec<TypeRef>),
    /// The form of the type, or null.
    Nullable(Box<TypeRef>),
    /// Always null.
    Unit,
    /// A JSON object with arbitrary keys.
    Map(Box<TypeRef>),
    /// An unknown type, which attributes describe completely.
    Opaque,
}

impl TypeRef {
    /// The number of types in it.
    pub fn parts(&self) -> usize {
        match self {
            TypeRef::List(inner)
            | TypeRef::Array(inner, _)
            | TypeRef::Map(inner)
            | TypeRef::Nullable(inner) => 1 + inner.parts(),
            TypeRef::Tuple(items) => 1 + items.iter().map(TypeRef::parts).sum::<usize>(),
            TypeRef::Named(_) | TypeRef::Known(_) | TypeRef::Unit | TypeRef::Opaque => 1,
        }
    }
}
