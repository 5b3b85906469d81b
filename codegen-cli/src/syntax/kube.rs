//! The input of the derive macros `CustomResource`, `KubeSchema` and `JsonSchema` for a type, as plain
//! values.
//!
//! As in [`crate::syntax`], nothing is resolved here: a type is its path in the source, a value its
//! expression.

use crate::source::Loc;
use crate::syntax::{Name, PathExpr, TypeExpr, ValueExpr, code};

/// A type with `#[derive(JsonSchema)]` or `#[derive(KubeSchema)]`.
#[derive(Clone, Debug)]
pub struct Derived {
    /// The attributes of the schema as a whole.
    pub common: Common,
    /// `with`, `schema_with`
    pub with: Option<With>,
    /// serde's attributes; those of schemars replace them.
    pub serde: Container,
    /// The parts of the type.
    pub body: Body,
    /// `#[x_kube(validation = ..)]`, for `KubeSchema`.
    pub rules: Vec<RuleItem>,
    /// Whether the type has `#[derive(Default)]`.
    pub derives_default: bool,
    /// Whether the type has `#[derive(Serialize)]`; otherwise its output is unknown.
    pub derives_serialize: bool,
    /// Whether one of the macros makes the schema; otherwise it is handwritten.
    pub derives_schema: bool,
    /// `#[derive(JsonSchema_repr)]`: the variants are numbers.
    pub is_repr: bool,
    /// Type parameters with the bound `Serialize`.
    pub serialize_params: Vec<String>,
}

/// Attributes of types, variants and fields.
#[derive(Clone, Debug, Default)]
pub struct Common {
    /// The documentation, its lines joined.
    pub doc: Option<String>,
    /// `title`
    pub title: Option<ValueExpr>,
    /// `description`
    pub description: Option<ValueExpr>,
    /// `example`
    pub examples: Vec<Example>,
    /// `extend`
    pub extensions: Vec<(String, code::Expr)>,
    /// `transform`: functions that change the schema.
    pub transforms: Vec<code::Expr>,
    /// Documentation that is not a literal.
    pub unread_docs: Vec<Loc>,
    /// Keys that no version of schemars knows.
    pub unknown: Vec<Name>,
    /// `#[deprecated]`
    pub deprecated: bool,
}

impl Common {
    /// Whether there are no attributes.
    pub fn is_empty(&self) -> bool {
        let Self {
            doc,
            title,
            description,
            examples,
            extensions,
            transforms,
            unread_docs,
            unknown,
            deprecated,
        } = self;
        doc.is_none()
            && title.is_none()
            && description.is_none()
            && examples.is_empty()
            && extensions.is_empty()
            && transforms.is_empty()
            && unread_docs.is_empty()
            && unknown.is_empty()
            && !deprecated
    }
}

/// `example = ..`
#[derive(Clone, Debug)]
pub struct Example {
    /// The expression.
    pub value: code::Expr,
    /// A call of the function that a string names, which schemars 0.8 takes it for.
    pub call: Option<code::Expr>,
}

/// The source of a schema that replaces the type's own.
#[derive(Clone, Debug)]
pub enum With {
    /// The schema of another type.
    Type(TypeExpr),
    /// The value that a function returns.
    Function(PathExpr),
}

/// serde's attributes of a type.
#[derive(Clone, Debug, Default)]
#[allow(missing_docs, reason = "the names are serde's")]
pub struct Container {
    pub transparent: bool,
    pub default: Option<DefaultExpr>,
    pub deny_unknown_fields: bool,
    pub tag: Option<String>,
    pub content: Option<String>,
    pub untagged: bool,
    /// `from`, `try_from`
    pub read_as: Option<TypeExpr>,
    /// `into`
    pub written_as: Option<TypeExpr>,
}

/// The default of an absent value.
#[derive(Clone, Debug)]
pub struct DefaultExpr {
    /// The function; `None`: the trait `Default`.
    pub function: Option<PathExpr>,
    /// The location of the attribute.
    pub loc: Loc,
}

/// The parts of a type or variant.
#[derive(Clone, Debug)]
pub enum Body {
    /// `{ a: A }`
    Named(Vec<Field>),
    /// `(A, B)`
    Tuple(Vec<Field>),
    /// Nothing.
    Unit,
    /// Variants.
    Enum(Vec<Variant>),
}

/// A field.
#[derive(Clone, Debug)]
pub struct Field {
    /// Its name in Rust; the index for tuple fields.
    pub name: Name,
    /// The name in JSON for deserialization.
    pub read: String,
    /// The name without `rename_all_fields`, which schemars 0.8 does not know.
    pub read_by_0_8: String,
    /// The name in JSON for serialization.
    pub written: String,
    /// Its type.
    pub ty: TypeExpr,
    /// The attributes of its schema.
    pub common: Common,
    /// `with`, `schema_with`
    pub with: Option<With>,
    /// `#[schemars(range(..))]` and similar.
    pub validation: Validation,
    /// The constraints that schemars 0.8 reads in the same attributes.
    pub validation_by_0_8: Validation,
    /// serde's attributes.
    pub serde: FieldSerde,
    /// `#[x_kube(..)]`, for `KubeSchema`.
    pub x_kube: Option<XKube>,
}

/// serde's attributes of a field.
#[derive(Clone, Debug, Default)]
#[allow(missing_docs, reason = "the names are serde's")]
pub struct FieldSerde {
    pub default: Option<DefaultExpr>,
    pub flatten: bool,
    pub skip_serializing: bool,
    pub skip_deserializing: bool,
    pub skip_serializing_if: Option<PathExpr>,
    /// Whether a function writes the value.
    pub serialize_with: bool,
    /// Whether a function reads the value.
    pub deserialize_with: bool,
    /// `with`, `serialize_with`, `deserialize_with`, `skip_serializing_if`
    pub functions: Vec<Function>,
}

/// A function, or a module of functions, that an attribute of serde names.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its path.
    pub path: PathExpr,
    /// Whether it is a module: `with`.
    pub is_module: bool,
}

/// A variant.
#[derive(Clone, Debug)]
pub struct Variant {
    /// Its name in Rust.
    pub name: Name,
    /// The name in JSON for deserialization.
    pub read: String,
    /// The name in JSON for serialization.
    pub written: String,
    /// The attributes of its schema.
    pub common: Common,
    /// `with`, `schema_with`
    pub with: Option<With>,
    /// Its content; never [`Body::Enum`].
    pub body: Body,
    /// `untagged`
    pub untagged: bool,
    /// `skip_deserializing`, `skip`
    pub skip_deserializing: bool,
    /// `#[default]`
    pub is_default: bool,
    /// `A = 5`
    pub discriminant: Option<ValueExpr>,
}

/// The constraints of `#[schemars]`, `#[validate]` and `#[garde]` on a field's values.
#[derive(Clone, Debug, Default)]
pub struct Validation {
    /// `length(min, max, equal)`
    pub length: Option<Limits>,
    /// `range(min, max)`
    pub range: Option<Limits>,
    /// `regex(pattern = ..)`, `pattern(..)`, `regex(path = ..)`
    pub pattern: Option<ValueExpr>,
    /// `contains(..)`
    pub contains: Option<ValueExpr>,
    /// `required`
    pub required: bool,
    /// `email`, `url`, `ip`, `phone`: the format.
    pub format: Option<&'static str>,
    /// `inner(..)`
    pub inner: Option<Box<Validation>>,
    /// Keys of these that lack the parentheses around arguments.
    pub malformed: Vec<Name>,
    /// Arguments of `length` and `range` that schemars does not know.
    pub unknown: Vec<Name>,
}

/// Bounds.
#[derive(Clone, Debug, Default)]
#[allow(missing_docs, reason = "the names are those of the arguments")]
pub struct Limits {
    pub min: Option<ValueExpr>,
    pub max: Option<ValueExpr>,
    pub equal: Option<ValueExpr>,
}

/// `#[x_kube(..)]` on a field.
#[derive(Clone, Debug, Default)]
pub struct XKube {
    /// `validation`
    pub rules: Vec<RuleItem>,
    /// `merge_strategy`
    pub merge: Option<Merge>,
    /// The locations of expressions that are not literals.
    pub unreadable: Vec<Loc>,
}

/// A CEL rule.
#[derive(Clone, Debug)]
pub struct RuleItem {
    /// Its location.
    pub loc: Loc,
    /// Whether it is not a literal.
    pub unreadable: bool,
    /// The function that makes the rule, which the other parts change.
    pub made_by: Option<PathExpr>,
    /// The expression.
    pub rule: Option<ValueExpr>,
    /// `message`
    pub message: Option<ValueExpr>,
    /// `messageExpression`
    pub message_expression: Option<ValueExpr>,
    /// `reason`
    pub reason: Option<String>,
    /// `fieldPath`
    pub field_path: Option<ValueExpr>,
    /// `optionalOldSelf`
    pub optional_old_self: Option<bool>,
}

/// The merge strategy of a field's values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Merge {
    /// `x-kubernetes-list-type`
    List(&'static str),
    /// `x-kubernetes-list-type: map` with its keys.
    ListMap(Vec<String>),
    /// `x-kubernetes-map-type`, for maps and structs.
    Map(&'static str),
}

/// A function that decides whether to skip a field.
#[derive(Clone, Debug)]
pub enum Predicate {
    /// A constant result.
    Always(bool),
    /// `*value`
    IsTrue,
    /// `!value`
    IsFalse,
    /// `value.is_empty()`
    IsEmpty,
    /// `value.is_none()`
    IsNone,
    /// `value == &Type::default()`
    IsDefault,
    /// `*value == constant`
    Equals(ValueExpr),
    /// The predicate holds for this field of the value.
    Field(String, Box<Predicate>),
    /// `a && b`
    All(Vec<Predicate>),
}

/// `#[kube(..)]` of a type with `#[derive(CustomResource)]`.
#[derive(Clone, Debug)]
pub struct CustomResource {
    /// The location of the attribute.
    pub loc: Loc,
    /// The facts in common with `#[resource]`.
    pub facts: crate::syntax::facts::ResourceFacts,
    /// The name of the root type: `kind` unless `root` sets another one.
    pub root: Name,
    /// `doc`, or the macro's default text.
    pub doc: String,
    /// `no_spec`
    pub no_spec: bool,
    /// `status`
    pub status: Option<TypeExpr>,
    /// `validation`
    pub rules: Vec<RuleItem>,
    /// `schema`
    pub schema: SchemaMode,
    /// `storage`
    pub storage: Option<bool>,
}

/// The source of a resource's schema.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SchemaMode {
    /// From the type.
    #[default]
    Derived,
    /// From a handwritten `impl JsonSchema` of the root type.
    Manual,
    /// No schema.
    Disabled,
}

impl RuleItem {
    /// An empty rule at a location.
    pub(crate) fn at(loc: Loc) -> Self {
        Self {
            loc,
            unreadable: false,
            made_by: None,
            rule: None,
            message: None,
            message_expression: None,
            reason: None,
            field_path: None,
            optional_old_self: None,
        }
    }
}
