//! Types that resources consist of.

use std::collections::BTreeMap;

use serde::Serialize;

use super::RustType;
use crate::schema::Schema;
use crate::source::Span;

/// Index into [`Ir::types`](super::Ir::types).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct TypeId(pub u32);

/// Where values were written, by the names that they have in the CRD: `default`, `items.pattern`,
/// `x-kubernetes-validations[0].rule`, `additionalPrinterColumns[1].jsonPath`.
pub type Places = BTreeMap<String, Span>;

/// A type definition reachable from a resource.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TypeDef {
    /// Full path: `ecsbinding_api::v1::EcsBindingSpec`.
    pub path: String,
    /// The path by which it can be named from outside of its crate, if there is one and it has no parameters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code_path: Option<String>,
    /// Where it is defined.
    pub span: Span,
    /// Description by controller-gen's rules.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Whether the shape has every field and variant that the Rust type has.
    pub whole: bool,
    /// Whether code of other crates has to expect further fields or variants: it is `#[non_exhaustive]`, or one of its variants
    /// is.
    #[serde(skip_serializing_if = "is_false")]
    pub non_exhaustive: bool,
    /// Its JSON form.
    pub shape: Shape,
    /// The additions of the type's attributes to its schema.
    #[serde(skip_serializing_if = "Schema::is_empty")]
    pub facts: Schema,
    /// Where the attributes say it.
    #[serde(skip_serializing_if = "Places::is_empty")]
    pub places: Places,
}

/// The JSON form of a type.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Shape {
    /// An object with known fields, in source order.
    Struct(Vec<Field>),
    /// A newtype: the form of what it holds.
    Newtype(Box<Element>),
    /// A list of fixed length, whose items have types of their own.
    Tuple(Vec<Element>),
    /// Always null.
    Unit,
    /// One of several forms.
    Enum(Enum),
    /// The form that this schema describes; nothing is added to it.
    Given(Box<Schema>),
}

/// The type of an unnamed value in a newtype, tuple or variant.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Element {
    /// Its type.
    #[serde(rename = "type")]
    pub ty: TypeRef,
    /// Its type as it is declared; unknown where nobody has declared it.
    #[serde(skip_serializing_if = "is_unknown")]
    pub rust: RustType,
    /// The additions of attributes to the schema.
    #[serde(skip_serializing_if = "Schema::is_empty")]
    pub facts: Schema,
    /// Where it is defined.
    pub span: Span,
    /// Where the attributes say it.
    #[serde(skip_serializing_if = "Places::is_empty")]
    pub places: Places,
}

impl Element {
    /// One that no attributes say anything of.
    pub fn new(ty: TypeRef, rust: RustType, span: Span) -> Self {
        Self { ty, rust, facts: Schema::default(), span, places: Places::new() }
    }
}

/// A type with variants.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Enum {
    /// How the JSON names the variant.
    pub tagging: Tagging,
    /// The variants that can be read, in source order.
    pub variants: Vec<Variant>,
}

/// How the JSON of an enum names the variant: serde's representations.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Tagging {
    /// `{"name": content}`, or `"name"` without content.
    External,
    /// `{"tag": "name", ..content}`
    Internal {
        /// The field that names the variant.
        tag: String,
    },
    /// `{"tag": "name", "content": content}`
    Adjacent {
        /// The field that names the variant.
        tag: String,
        /// The field that holds what the variant has.
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
    /// Further names that are read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<String>,
    /// Where it is defined.
    pub span: Span,
    /// Description by controller-gen's rules.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Its contents.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<Element>,
    /// Whether the JSON is the content alone, whatever the enum's tagging.
    #[serde(skip_serializing_if = "is_false")]
    pub untagged: bool,
    /// Whether it stands for every name that no other variant has.
    #[serde(skip_serializing_if = "is_false")]
    pub other: bool,
}

impl Variant {
    /// Every name that is read.
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
    /// The fields of the object that the shape describes, if it does.
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
    /// Where it is defined.
    pub span: Span,
    /// Description by controller-gen's rules.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Its type, without `Option`.
    #[serde(rename = "type")]
    pub ty: TypeRef,
    /// Whether the key must be present.
    pub required: bool,
    /// Whether the fields of its type stand in the enclosing object.
    pub flatten: bool,
    /// Whether the value cannot be changed once set.
    pub immutable: bool,
    /// Whether the Rust type adds nothing to the schema.
    pub schemaless: bool,
    /// The additions of the field's attributes to the schema.
    #[serde(skip_serializing_if = "Schema::is_empty")]
    pub facts: Schema,
    /// Where the attributes say it.
    #[serde(skip_serializing_if = "Places::is_empty")]
    pub places: Places,
    /// How it is declared.
    pub rust: RustField,
}

/// Facts of a field that its schema lacks and generated code needs.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct RustField {
    /// Whether code of other crates can name it.
    pub public: bool,
    /// Its type.
    #[serde(rename = "type")]
    pub ty: RustType,
}

/// A use of a type.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum TypeRef {
    /// A type of the input crates.
    Named(TypeId),
    /// A type whose schema is known; see [`crate::known`].
    Known(String),
    /// A JSON array.
    List(Box<TypeRef>),
    /// A JSON array of exactly so many items.
    Array(Box<TypeRef>, u64),
    /// A JSON array of fixed length, whose items have types of their own.
    Tuple(Vec<TypeRef>),
    /// The form of the type, or null.
    Nullable(Box<TypeRef>),
    /// Always null.
    Unit,
    /// A JSON object with arbitrary keys.
    Map(Box<TypeRef>),
    /// Nothing is known; attributes say what there is to say.
    Opaque,
}

impl TypeRef {
    /// How many uses of types it consists of.
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
