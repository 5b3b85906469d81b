//! The grammar of kubesmith's attributes: a table, and a parser that depends only on the table.
//!
//! [`FAMILIES`] lists the attributes with their keys, values, places and equivalent Go markers.
//! [`parse_attributes`] turns attributes, and markers in doc comments, into [`Entry`]s of the right shape and
//! reports all errors. The same table is the source of docs/reference/attributes.md.

mod docs;
mod literal;
mod marker;
mod meaningless;
mod parse;
mod synonyms;
mod table;
mod value;
mod values;

pub use docs::attributes_markdown;
pub(crate) use literal::split_attribute;
pub use marker::{
    Definition, ItemAttributes, Target, check_markers, definitions, is_marker, marker_definition,
    marker_family, marker_name, marker_text, near, unquote_go,
};
pub use meaningless::{MEANINGLESS, Meaningless};
pub use parse::{Entry, Parsed, parse_attributes, parse_each, parse_module};
pub use table::{FAMILIES, METHOD_VERBS, MODULE, VERBS};
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
    /// `#[policy(...)]`
    Policy,
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
            Self::Policy => "policy",
        }
    }

    /// Whether each attribute is independent of the others on its item: keys of several attributes do not
    /// belong together.
    pub fn stands_alone(self) -> bool {
        matches!(self, Self::Rbac | Self::Webhook | Self::WebhookConfiguration)
    }

    /// The family's row in the table.
    pub fn spec(self) -> &'static FamilySpec {
        match FAMILIES.iter().find(|spec| spec.family == self) {
            Some(spec) => spec,
            // The table has a row per family, as a test checks.
            None => &FAMILIES[0],
        }
    }
}

/// An attribute and its keys.
#[derive(Debug)]
pub struct FamilySpec {
    /// The family.
    pub family: Family,
    /// The valid places of the attribute.
    pub places: Places,
    /// Whether `#[name]` without keys is valid.
    pub bare: bool,
    /// The markers equivalent to the attribute without keys, without `+`.
    pub markers: &'static [&'static str],
    /// Its purpose.
    pub doc: &'static str,
    /// Its keys, in the order of the documentation.
    pub keys: &'static [KeySpec],
}

/// A key of an attribute.
#[derive(Clone, Copy, Debug)]
pub struct KeySpec {
    /// The name as written; it may be a Rust keyword.
    pub name: &'static str,
    /// The shape of its values.
    pub shape: Shape,
    /// Whether it may be given several times.
    pub repeatable: bool,
    /// Whether the enclosing attribute or key requires it.
    pub required: bool,
    /// Its valid places (within the places of its attribute).
    pub places: Places,
    /// The equivalent markers, without `+`; for a nested key, the names of their arguments.
    pub markers: &'static [&'static str],
    /// One line for the documentation.
    pub doc: &'static str,
    /// An example of the key inside the attribute.
    pub example: &'static str,
    /// Other spellings that users try, for "did you mean".
    pub also: &'static [&'static str],
}

/// The shape of a key's value.
#[derive(Clone, Copy, Debug)]
pub enum Shape {
    /// No value, or `= true`.
    Flag,
    /// No value, `= true` or `= false`, where false differs from an absent key.
    Bool,
    /// A nonempty string.
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
    /// As `Json`, or `ref(path)`, the path of a constant.
    JsonOrRef,
    /// Several literals: `= [1, 2]` or `("A", "B")`.
    Jsons,
    /// Keys in parentheses.
    Nested(&'static [KeySpec]),
    /// Keys in parentheses, or no value.
    FlagOrNested(&'static [KeySpec]),
}

/// A set of places for an attribute or key.
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
    /// Any type or alias.
    pub const TYPE: Self = Self(39);
    /// Any type or field.
    pub const ALL: Self = Self(47);
    /// Any item: a type, a function, an `impl` block, a module.
    pub const ITEM: Self = Self(55);

    /// No place on an item.
    pub const NONE: Self = Self(0);

    /// The intersection of both sets.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

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

/// The place of an attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// On the type that derives `Resource`.
    Root,
    /// On another struct.
    Struct,
    /// On an enum.
    Enum,
    /// On an alias, `type A = B;`, where only markers are valid.
    Alias,
    /// On a field of a struct or of a variant.
    Field,
    /// On another item, such as a function or an `impl` block.
    Item,
    /// Inside an item, where attributes are invalid: on a statement, for example.
    Part,
    /// On a variant of an enum, where attributes are invalid.
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
            Self::Alias => Places(32),
            Self::Part | Self::Variant => Places(0),
        }
    }

    /// The place in words.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Root => "the type that derives `Resource`",
            Self::Struct => "a struct",
            Self::Enum => "an enum",
            Self::Alias => "a type alias",
            Self::Field => "a field",
            Self::Item => "this item",
            Self::Part => "a part of an item",
            Self::Variant => "a variant",
        }
    }
}
