//! The row of a keyword in the table.

use serde_json::Value;

use super::parse::{Reader, SchemaError};
use super::{KEYWORDS, Schema};

/// The type of a keyword's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A string; an empty one is as good as absent.
    Text,
    /// A string of which an empty one is wrong.
    Word,
    /// A list of strings.
    Texts,
    /// A boolean; false is as good as absent.
    Flag,
    /// An integer that bounds a size.
    Count,
    /// A number.
    Number,
    /// Any value.
    Any,
    /// A list of any values.
    Values,
    /// A schema.
    Schema,
    /// A list of schemas.
    Schemas,
    /// A schema or a boolean.
    Additional,
    /// Schemas by name.
    Properties,
    /// Rules in CEL.
    Rules,
    /// An address with a description.
    Docs,
}

/// The constraint that a keyword puts on a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Words and examples for readers; no server checks them.
    Documentation,
    /// The structure: types, fields and items.
    Shape,
    /// The rule by which server-side apply merges lists and maps.
    Apply,
    /// A restriction of the value itself, which a branch of `oneOf` or `anyOf` may have too.
    Restriction,
    /// Branches, rules and required fields.
    Condition,
}

/// The values that a keyword restricts; it has no effect on others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Values {
    /// Integers and floats.
    Numbers,
    /// Strings.
    Strings,
    /// Lists.
    Lists,
    /// Maps and structs.
    Objects,
}

impl Values {
    /// Reports whether these are the values of a type.
    #[must_use]
    pub fn fit(self, type_: &str) -> bool {
        match self {
            Self::Numbers => matches!(type_, "integer" | "number"),
            Self::Strings => type_ == "string",
            Self::Lists => type_ == "array",
            Self::Objects => type_ == "object",
        }
    }

    /// The values in words.
    #[must_use]
    pub fn describe(self) -> &'static str {
        match self {
            Self::Numbers => "numbers",
            Self::Strings => "strings",
            Self::Lists => "lists",
            Self::Objects => "maps and structs",
        }
    }
}

/// The rule that joins the keyword of a field with that of the field's type, as controller-gen flattens `allOf: [type,
/// field]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Merge {
    /// The field's value wins.
    Prefer,
    /// Two values stand side by side as branches of `allOf`, even equal ones.
    Apart,
    /// Two values that differ stand side by side as branches of `allOf`.
    ApartIfUnequal,
    /// A flag of either.
    Either,
    /// Values that both have remain.
    Intersect,
    /// The values of both, the field's first.
    Before,
    /// The branches of both, the type's first, unless they are equal.
    Append,
    /// The names of both.
    Union,
    /// A special rule.
    Own,
}

/// The unit of a size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// Characters (Unicode scalar values) of a string.
    Characters,
    /// Items of a list.
    Items,
    /// Fields of an object or entries of a map.
    Properties,
}

impl Measure {
    /// The size of a value; `None` for values of other types.
    #[must_use]
    pub fn of(self, value: &Value) -> Option<usize> {
        match (self, value) {
            (Self::Characters, Value::String(text)) => Some(text.chars().count()),
            (Self::Items, Value::Array(items)) => Some(items.len()),
            (Self::Properties, Value::Object(members)) => Some(members.len()),
            _ => None,
        }
    }

    /// The values that have such a size.
    #[must_use]
    pub const fn values(self) -> Values {
        match self {
            Self::Characters => Values::Strings,
            Self::Items => Values::Lists,
            Self::Properties => Values::Objects,
        }
    }

    /// The unit in words: singular and plural.
    #[must_use]
    pub fn nouns(self) -> [&'static str; 2] {
        match self {
            Self::Characters => ["character", "characters"],
            Self::Items => ["item", "items"],
            Self::Properties => ["field", "fields"],
        }
    }
}

/// A keyword that bounds a size: `validate` checks it, `diff` derives narrowing from it, documentation describes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// The size is at least the value.
    Least(Measure),
    /// The size is at most the value.
    Most(Measure),
}

impl Limit {
    /// The unit.
    #[must_use]
    pub const fn measure(self) -> Measure {
        match self {
            Self::Least(measure) | Self::Most(measure) => measure,
        }
    }
}

/// The key of `#[validation(...)]` that writes a keyword.
#[derive(Clone, Copy, Debug)]
pub struct Attribute {
    /// The key.
    pub name: &'static str,
    /// Go markers for the same, without `+`.
    pub markers: &'static [&'static str],
    /// One line of documentation.
    pub doc: &'static str,
    /// The key as it stands in an attribute.
    pub example: &'static str,
    /// Spellings that users try.
    pub also: &'static [&'static str],
}

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Keyword {
    /// The name in a definition.
    pub name: &'static str,
    /// The type of the value.
    pub kind: Kind,
    /// Its constraint.
    pub role: Role,
    /// The values that it restricts; `None`: any.
    pub of: Option<Values>,
    /// The rule that merges two of them.
    pub merge: Merge,
    /// The size that it bounds, if any.
    pub limit: Option<Limit>,
    /// Whether `diff` has a rule for this keyword. See [`Keyword::narrows`] for the others.
    pub has_own_diff: bool,
    /// The required value inside junctors, if it is forbidden there (apiextensions' rules for structural schemas).
    pub in_junctors: Option<&'static str>,
    /// Its place among the keywords that a root may have beside a status subresource, with its name in Go
    /// (`allowedFieldsAtRootSchema` of apiextensions).
    pub at_root: Option<(u8, &'static str)>,
    /// The key of `#[validation(...)]`.
    pub attribute: Option<Attribute>,
    /// The key of `#[schema(...)]`.
    pub schema_key: Option<&'static str>,
    /// The texts that it may be; empty: any.
    pub allowed: &'static [&'static str],
    /// The words of documentation: before the value, or for a flag the whole text.
    pub words: Option<&'static str>,
    pub(super) access: Access,
}

/// Access to the field of [`Schema`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Access {
    pub(super) is_set: fn(&Schema) -> bool,
    pub(super) equal: fn(&Schema, &Schema) -> bool,
    pub(super) copy: fn(&Schema, &mut Schema),
    pub(super) take: fn(&mut Schema, &mut Schema),
    pub(super) count: fn(&Schema) -> Option<i64>,
    pub(super) value: fn(&Schema) -> Value,
}

impl Keyword {
    /// The keyword of a name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        Schema::index(name).map(|index| &KEYWORDS[index])
    }

    /// The keywords that bound a size.
    pub fn limits(measure: Measure) -> impl DoubleEndedIterator<Item = &'static Self> {
        KEYWORDS.iter().filter(move |keyword| keyword.limit.is_some_and(|limit| limit.measure() == measure))
    }

    /// Reports whether fewer values are valid with the keyword than without, and perhaps others with another value.
    /// `diff` reports a new or changed one as narrowing and a removed one as widening. Bounds of sizes are compared by
    /// their values instead.
    #[must_use]
    pub fn narrows(&self) -> bool {
        self.role == Role::Restriction && self.limit.is_none() && !self.has_own_diff
    }

    /// Reports whether a schema has the keyword.
    #[must_use]
    pub fn is_set(&self, schema: &Schema) -> bool {
        (self.access.is_set)(schema)
    }

    /// Reports whether its value is the same in both.
    #[must_use]
    pub fn equal(&self, a: &Schema, b: &Schema) -> bool {
        (self.access.equal)(a, b)
    }

    /// Copies it, present or not.
    pub fn copy(&self, from: &Schema, to: &mut Schema) {
        (self.access.copy)(from, to);
    }

    /// Moves it, present or not.
    pub fn take(&self, from: &mut Schema, to: &mut Schema) {
        (self.access.take)(from, to);
    }

    /// Removes it.
    pub fn clear(&self, schema: &mut Schema) {
        self.take(&mut Schema::default(), schema);
    }

    /// The value of a keyword that bounds a size.
    #[must_use]
    pub fn count(&self, schema: &Schema) -> Option<i64> {
        (self.access.count)(schema)
    }

    /// The value as JSON; null where there is none.
    #[must_use]
    pub fn value(&self, schema: &Schema) -> Value {
        (self.access.value)(schema)
    }

    /// Sets the value.
    ///
    /// # Errors
    /// It has the wrong type.
    pub fn set(&self, schema: &mut Schema, value: &Value) -> Result<(), SchemaError> {
        schema.set(self.name, value, &mut Reader::at(self.name))
    }
}

/// The table's words.
impl Keyword {
    pub(super) const fn new(name: &'static str, kind: Kind, access: Access) -> Self {
        let (role, merge) = match kind {
            Kind::Flag => (Role::Shape, Merge::Either),
            Kind::Count | Kind::Number => (Role::Restriction, Merge::Apart),
            Kind::Schemas => (Role::Condition, Merge::Append),
            _ => (Role::Shape, Merge::Prefer),
        };
        Self {
            name,
            kind,
            role,
            of: None,
            merge,
            limit: None,
            has_own_diff: false,
            in_junctors: None,
            at_root: None,
            attribute: None,
            schema_key: None,
            allowed: &[],
            words: None,
            access,
        }
    }

    pub(super) const fn role(mut self, role: Role) -> Self {
        self.role = role;
        self
    }

    pub(super) const fn of(mut self, values: Values) -> Self {
        self.of = Some(values);
        self
    }

    pub(super) const fn merge(mut self, merge: Merge) -> Self {
        self.merge = merge;
        self
    }

    pub(super) const fn least(self, measure: Measure) -> Self {
        self.limit(Limit::Least(measure))
    }

    pub(super) const fn most(self, measure: Measure) -> Self {
        self.limit(Limit::Most(measure))
    }

    const fn limit(mut self, limit: Limit) -> Self {
        self.limit = Some(limit);
        self.of(limit.measure().values())
    }

    pub(super) const fn own_diff(mut self) -> Self {
        self.has_own_diff = true;
        self
    }

    pub(super) const fn not_in_junctors(mut self, instead: &'static str) -> Self {
        self.in_junctors = Some(instead);
        self
    }

    pub(super) const fn at_root(mut self, place: u8, go: &'static str) -> Self {
        self.at_root = Some((place, go));
        self
    }

    pub(super) const fn one_of(mut self, allowed: &'static [&'static str]) -> Self {
        self.allowed = allowed;
        self
    }

    pub(super) const fn words(mut self, words: &'static str) -> Self {
        self.words = Some(words);
        self
    }

    pub(super) const fn schema_key(mut self, key: &'static str) -> Self {
        self.schema_key = Some(key);
        self
    }

    pub(super) const fn key(
        mut self,
        name: &'static str,
        markers: &'static [&'static str],
        doc: &'static str,
        example: &'static str,
    ) -> Self {
        self.attribute = Some(Attribute { name, markers, doc, example, also: &[] });
        self
    }

    /// Spellings of the key that users try.
    pub(super) const fn also(mut self, also: &'static [&'static str]) -> Self {
        if let Some(attribute) = &mut self.attribute {
            attribute.also = also;
        }
        self
    }
}
