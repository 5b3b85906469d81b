//! The grammar of kubesmith's attributes: one table, and a parser that knows nothing but the table.
//!
//! [`FAMILIES`] says which attributes exist, which keys each has, what values they take, where they
//! may stand and which Go marker they stand for. [`parse_attributes`] turns attributes into
//! [`Entry`]s of the right shape and reports everything that does not fit.
//! docs/attributes.md is written from the same table.

mod docs;
mod literal;
mod parse;
mod planned;
mod suggest;
mod table;
mod value;

pub use docs::attributes_markdown;
pub(crate) use literal::split_attribute;
pub use parse::{Entry, Parsed, parse_attributes};
pub use planned::{PLANNED, Planned};
pub use suggest::{closest, edit_distance};
pub use table::{FAMILIES, RULE_REASONS, SCHEMA_TYPES, VERBS};
pub use value::{Json, Number, Spanned, Value};

/// An attribute family.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Family {
    /// `#[resource(...)]`
    Resource,
    /// `#[genclient(...)]`
    Genclient,
    /// `#[deepcopy]`
    Deepcopy,
    /// `#[validation(...)]`
    Validation,
    /// `#[schema(...)]`
    Schema,
    /// `#[rbac(...)]`
    Rbac,
    /// `#[webhook(...)]`
    Webhook,
    /// `#[webhook_configuration(...)]`
    WebhookConfiguration,
}

impl Family {
    /// The name of the attribute.
    pub fn name(self) -> &'static str {
        match self {
            Self::Resource => "resource",
            Self::Genclient => "genclient",
            Self::Deepcopy => "deepcopy",
            Self::Validation => "validation",
            Self::Schema => "schema",
            Self::Rbac => "rbac",
            Self::Webhook => "webhook",
            Self::WebhookConfiguration => "webhook_configuration",
        }
    }

    /// The family's row in the table.
    pub fn spec(self) -> &'static FamilySpec {
        match FAMILIES.iter().find(|spec| spec.family == self) {
            Some(spec) => spec,
            // The table has a row per family, which a test holds.
            None => &FAMILIES[0],
        }
    }
}

/// An attribute and its keys.
#[derive(Debug)]
pub struct FamilySpec {
    /// Which family.
    pub family: Family,
    /// Where the attribute may stand.
    pub places: Places,
    /// Whether `#[name]` without keys means something.
    pub bare: bool,
    /// The Go markers that the attribute stands for.
    pub marker: &'static str,
    /// What it is for.
    pub doc: &'static str,
    /// Its keys, in the order of the documentation.
    pub keys: &'static [KeySpec],
}

/// A key of an attribute.
#[derive(Debug)]
pub struct KeySpec {
    /// The name as written; it may be a Rust keyword.
    pub name: &'static str,
    /// What values it takes.
    pub shape: Shape,
    /// Whether it may be given several times.
    pub repeatable: bool,
    /// Whether the enclosing attribute or key is useless without it.
    pub required: bool,
    /// Where it may stand (within the places of its attribute).
    pub places: Places,
    /// The Go marker or marker argument that it stands for.
    pub marker: &'static str,
    /// One line for the documentation.
    pub doc: &'static str,
    /// An example of the key, as it stands inside the attribute.
    pub example: &'static str,
    /// Other spellings that users try, for "did you mean".
    pub also: &'static [&'static str],
}

/// The kind of value that a key takes.
#[derive(Clone, Copy, Debug)]
pub enum Shape {
    /// Nothing, or `= true`.
    Flag,
    /// `= true` or `= false`.
    Bool,
    /// A string that is not empty.
    String,
    /// One of a few strings.
    OneOf(&'static [&'static str]),
    /// One of a few strings, in any letter case.
    Word(&'static [&'static str]),
    /// One or several strings: `= "a"`, `= ["a", "b"]` or `("a", "b")`.
    Strings,
    /// One or several strings, which may be empty: like `Strings`, and `;` separates as well: `= "a;b"`.
    List,
    /// Several of a few strings.
    SomeOf(&'static [&'static str]),
    /// Strings by name: `("key" = "value")` or `= {"key": "value"}`.
    StringMap,
    /// A signed integer.
    Integer,
    /// A length or count.
    Unsigned,
    /// An integer or a floating point number.
    Number,
    /// Any literal, written like JSON.
    Json,
    /// Several literals: `= [1, 2]` or `("A", "B")`.
    Jsons,
    /// Keys in parentheses.
    Nested(&'static [KeySpec]),
    /// Keys in parentheses, or nothing.
    FlagOrNested(&'static [KeySpec]),
}

/// Places where an attribute or key may stand, a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Places(u8);

impl Places {
    /// The type that derives `Resource`.
    pub const ROOT: Self = Self(1);
    /// Another struct.
    pub const STRUCT: Self = Self(2);
    /// An enum.
    pub const ENUM: Self = Self(4);
    /// A field of a struct or of a variant.
    pub const FIELD: Self = Self(8);
    /// Any type.
    pub const TYPE: Self = Self(7);
    /// Any type or field.
    pub const ALL: Self = Self(15);
    /// Any item: a type, a function, an `impl` block, a module.
    pub const ITEM: Self = Self(23);

    /// Whether `place` belongs to the set.
    pub fn contains(self, place: Place) -> bool {
        self.0 & place.bit().0 != 0
    }

    /// The set in words: "a field, an enum".
    pub fn describe(self) -> String {
        if self == Self::ALL {
            return "a type or field".to_owned();
        }
        if self == Self::ITEM {
            return "an item, such as a function, an `impl` block or a type".to_owned();
        }
        if self == Self::TYPE {
            return "a type".to_owned();
        }
        let all = [Place::Root, Place::Struct, Place::Enum, Place::Field];
        let names: Vec<_> = all.into_iter().filter(|p| self.contains(*p)).map(Place::describe).collect();
        names.join(" or ")
    }
}

/// Where an attribute stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// On the type that derives `Resource`.
    Root,
    /// On another struct.
    Struct,
    /// On an enum.
    Enum,
    /// On a field of a struct or of a variant.
    Field,
    /// On another item, such as a function or an `impl` block.
    Item,
    /// In the body of a function, where none of the attributes may stand.
    Body,
    /// On a variant of an enum, where none of the attributes may stand.
    Variant,
}

impl Place {
    fn bit(self) -> Places {
        match self {
            Self::Root => Places::ROOT,
            Self::Struct => Places::STRUCT,
            Self::Enum => Places::ENUM,
            Self::Field => Places::FIELD,
            Self::Item => Places(16),
            Self::Body | Self::Variant => Places(0),
        }
    }

    /// The place in words.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Root => "the type that derives `Resource`",
            Self::Struct => "a struct",
            Self::Enum => "an enum",
            Self::Field => "a field",
            Self::Item => "this item",
            Self::Body => "a statement",
            Self::Variant => "a variant",
        }
    }
}
