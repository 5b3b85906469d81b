//! The parts of a source file that `parse` keeps: plain values that can cross threads and outlive the syntax
//! tree.
//!
//! They have facts of this file only. Nothing is resolved: a type is its path in the source.

pub mod code;
pub mod facts;
pub mod kube;
mod steps;
mod values;

use std::collections::BTreeSet;

use self::facts::{GenclientFacts, ManifestFacts, ModuleFacts, ResourceFacts, TypeFacts};
use crate::source::Loc;

pub use self::steps::{DeriveNames, MacroCall, MacroDefinition, Step};
pub use self::values::{Change, Conversion, Operator, Test, ValueExpr, ValueKind};
pub(crate) use self::values::{TEXT_LIMIT, fits};

/// An identifier and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// The identifier, without `r#`.
    pub text: String,
    /// Its location.
    pub loc: Loc,
}

/// The visibility of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visibility {
    /// `pub`
    Public,
    /// `pub(crate)`, `pub(super)`, `pub(in ..)`: at most the crate.
    Restricted,
    /// The module and its submodules.
    Private,
}

/// The items of a module, in source order.
#[derive(Clone, Debug, Default)]
pub struct Items {
    /// Its own documentation.
    pub facts: ModuleFacts,
    /// Structs, enums and aliases.
    pub types: Vec<TypeItem>,
    /// `use` declarations, one per leaf.
    pub uses: Vec<UseItem>,
    /// `mod` declarations.
    pub modules: Vec<ModuleItem>,
    /// Constants and functions.
    pub values: Vec<ValueItem>,
    /// `impl` blocks of types.
    pub impls: Vec<ImplItem>,
    /// The steps that concern macros.
    pub steps: Vec<Step>,
    /// The names of derive macros.
    pub derive_names: DeriveNames,
}

/// A constant or a function with a readable value.
#[derive(Clone, Debug)]
pub struct ValueItem {
    /// Its name.
    pub name: Name,
    /// Its value or body.
    pub expr: ValueExpr,
    /// The rule that a function without parameters makes.
    pub rule: Option<Box<kube::RuleItem>>,
}

/// An `impl` block.
#[derive(Clone, Debug)]
pub struct ImplItem {
    /// The type.
    pub ty: PathExpr,
    /// Last segment of the trait's path; `None`: an inherent block.
    pub of_trait: Option<Name>,
    /// Associated constants and functions.
    pub values: Vec<ValueItem>,
    /// Associated types, by their names.
    pub types: Vec<(String, TypeExpr)>,
}

/// An attribute or marker that no derive of its type reads.
#[derive(Clone, Debug)]
pub struct Unread {
    /// The attribute or marker as written.
    pub name: Name,
    /// The derive that reads it; `None`: a marker on a type in kube-rs's dialect, whose derives read none.
    pub derive: Option<&'static str>,
    /// Whether the type is in kube-rs's dialect.
    pub of_kube: bool,
}

/// A type definition.
#[derive(Clone, Debug)]
pub struct TypeItem {
    /// Its name.
    pub name: Name,
    /// Its visibility.
    pub visibility: Visibility,
    /// Whether it or one of its variants is `#[non_exhaustive]`.
    pub non_exhaustive: bool,
    /// Description by controller-gen's rules.
    pub description: Option<String>,
    /// Type and const parameters.
    pub generics: Vec<ParamItem>,
    /// Its parts.
    pub kind: TypeKind,
    /// Whether core has checked it, because it has one of our derives.
    pub checked: bool,
    /// Whether its attributes have errors, so that its facts are incomplete.
    pub is_broken: bool,
    /// The first attribute or marker on or inside it without effect, because the type lacks the derive.
    pub unread: Option<Unread>,
    /// Facts from `#[validation]` and `#[schema]`.
    pub facts: TypeFacts,
    /// serde's container attributes.
    pub serde: ContainerSerde,
    /// The derived traits of serde.
    pub derived: Derived,
    /// `#[resource(...)]` of a root type.
    pub resource: Option<Box<ResourceFacts>>,
    /// `#[genclient(...)]` of a root type.
    pub genclient: Option<GenclientFacts>,
    /// The input of the derive macros of schemars and kube.
    pub schemars: Option<Box<kube::Derived>>,
    /// `#[kube(...)]` of the spec of a custom resource.
    pub custom_resource: Option<Box<kube::CustomResource>>,
}

/// The traits of serde that a type derives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Derived {
    /// `Serialize`
    pub serialize: bool,
    /// `Deserialize`
    pub deserialize: bool,
    /// Whether every derive and attribute of the type is known, so that no other macro can implement a trait.
    pub is_complete: bool,
}

/// A parameter of a generic type.
#[derive(Clone, Debug)]
pub struct ParamItem {
    /// Its name.
    pub name: Name,
    /// Whether it is a constant rather than a type.
    pub is_const: bool,
    /// Its default argument.
    pub default: Option<Argument>,
}

/// Shape of a type definition.
#[derive(Clone, Debug)]
pub enum TypeKind {
    /// `struct S { .. }`
    Struct(Vec<FieldItem>),
    /// `struct S(..);`
    Tuple(Vec<FieldItem>),
    /// `struct S;`
    Unit,
    /// `enum E { .. }`
    Enum(Vec<VariantItem>),
    /// `type A = ..;`
    Alias(TypeExpr),
    /// `union U { .. }` and `trait`s, which have no schema.
    Other(&'static str),
}

/// serde's container attributes that affect a schema.
#[derive(Clone, Debug, Default)]
pub struct ContainerSerde {
    /// `default` on the container.
    pub default: bool,
    /// `transparent`
    pub transparent: bool,
    /// `tag = ".."`
    pub tag: Option<String>,
    /// `content = ".."`
    pub content: Option<String>,
    /// `from`, `try_from`: the type for deserialization.
    pub read_as: Option<TypeExpr>,
    /// `into`: the type for serialization.
    pub written_as: Option<TypeExpr>,
    /// `untagged`
    pub untagged: bool,
}

/// A field of a struct or variant.
#[derive(Clone, Debug)]
pub struct FieldItem {
    /// Its name; the index for tuple fields.
    pub name: Name,
    /// Description by controller-gen's rules.
    pub description: Option<String>,
    /// Its name in JSON.
    pub json_name: String,
    /// Its type.
    pub ty: TypeExpr,
    /// Whether it is public.
    pub public: bool,
    /// serde's attributes.
    pub serde: FieldSerde,
    /// Facts from `#[validation]` and `#[schema]`.
    pub facts: TypeFacts,
}

/// serde's field attributes that affect a schema.
#[derive(Clone, Debug, Default)]
pub struct FieldSerde {
    /// `default`
    pub default: bool,
    /// The function that makes the default, `default = ".."`.
    pub default_fn: Option<PathExpr>,
    /// `skip`, or skipped in both directions.
    pub skip: bool,
    /// `skip_serializing_if`
    pub skip_serializing_if: bool,
    /// `flatten`
    pub flatten: bool,
    /// Whether the type is written as an `Option`; used if the type itself is not read.
    pub option_hint: bool,
    /// `with`, `serialize_with`: functions decide the JSON form.
    pub with: Option<Loc>,
    /// `alias`: further names that deserialize to it.
    pub aliases: Vec<String>,
}

/// A variant of an enum.
#[derive(Clone, Debug)]
pub struct VariantItem {
    /// Its name.
    pub name: Name,
    /// Description by controller-gen's rules.
    pub description: Option<String>,
    /// Its name in JSON.
    pub json_name: String,
    /// Further names that deserialize to it.
    pub aliases: Vec<String>,
    /// Whether it is never deserialized.
    pub skip: bool,
    /// `untagged`
    pub untagged: bool,
    /// `other`
    pub other: bool,
    /// `with`: functions decide the JSON form.
    pub with: Option<Loc>,
    /// Its contents.
    pub kind: VariantKind,
}

/// The contents of a variant.
#[derive(Clone, Debug)]
pub enum VariantKind {
    /// `A`
    Unit,
    /// `A(T, ..)`
    Tuple(Vec<FieldItem>),
    /// `A { .. }`
    Struct(Vec<FieldItem>),
}

/// A type in source form.
#[derive(Clone, Debug)]
pub enum TypeExpr {
    /// `a::b::C<D>`
    Path(PathExpr),
    /// `[T; N]`; without a length `[T]`.
    Array(Box<TypeExpr>, Option<ValueExpr>),
    /// `&T`
    Reference(Box<TypeExpr>),
    /// `(A, B)`
    Tuple(Vec<TypeExpr>, Loc),
    /// A type without a possible schema, described in words.
    Unsupported(&'static str, Loc),
}

impl TypeExpr {
    /// Its location.
    pub fn loc(&self) -> Option<Loc> {
        match self {
            TypeExpr::Path(path) => Some(path.loc),
            TypeExpr::Array(inner, _) | TypeExpr::Reference(inner) => inner.loc(),
            TypeExpr::Tuple(_, loc) | TypeExpr::Unsupported(_, loc) => Some(*loc),
        }
    }
}

/// A path to a type.
#[derive(Clone, Debug)]
pub struct PathExpr {
    /// `::a::b`
    pub global: bool,
    /// Its segments.
    pub segments: Vec<String>,
    /// Arguments of the last segment that has some.
    pub arguments: Vec<Argument>,
    /// Its location.
    pub loc: Loc,
}

/// An argument of a generic type. An apparent type may be a constant.
#[derive(Clone, Debug)]
pub enum Argument {
    /// A type, or the name of a constant.
    Type(TypeExpr),
    /// `4`, `{ N + 1 }`
    Value(ValueExpr),
}

impl Argument {
    /// Its location.
    pub fn loc(&self) -> Option<Loc> {
        match self {
            Argument::Type(ty) => ty.loc(),
            Argument::Value(value) => Some(value.loc),
        }
    }
}

impl PathExpr {
    /// The path as written, without arguments.
    pub fn text(&self) -> String {
        let path = self.segments.join("::");
        if self.global { format!("::{path}") } else { path }
    }
}

/// One leaf of a `use` declaration.
#[derive(Clone, Debug)]
pub struct UseItem {
    /// The visibility of the binding.
    pub visibility: Visibility,
    /// `::a::b`
    pub global: bool,
    /// The path; for a glob the path before `*`.
    pub segments: Vec<String>,
    /// The name it binds; `None` for a glob.
    pub binding: Option<String>,
}

/// A `mod` declaration.
#[derive(Clone, Debug)]
pub struct ModuleItem {
    /// Its name.
    pub name: Name,
    /// Its visibility.
    pub visibility: Visibility,
    /// `#[path = ".."]`, or the file that `include!` names.
    pub path: Option<String>,
    /// `include!("..")`: the items of the file belong to the module around it.
    pub is_include: bool,
    /// The facts in its documentation at the declaration.
    pub facts: ModuleFacts,
    /// Items of an inline module; `None`: in another file.
    pub inline: Option<Items>,
}

/// A parsed file.
#[derive(Clone, Debug, Default)]
pub struct FileSyntax {
    /// Its items.
    pub items: Items,
    /// Its facts beside types.
    pub manifests: ManifestFacts,
    /// Kinds with the versions that programs store, by the calls that merge their versions.
    pub stored: Vec<(String, String)>,
    /// Files in `include_str!`, relative to this one, whose texts are missing.
    pub wanted: BTreeSet<String>,
}
