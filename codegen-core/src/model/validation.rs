//! `#[validation(...)]`

use proc_macro2::Span;

use super::EntryValue;
use crate::grammar::{Entry, Json, Number, Parsed, Spanned, Value};

/// A type of a structural schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are those of OpenAPI")]
pub enum SchemaType {
    String,
    Integer,
    Number,
    Boolean,
    Array,
    Object,
}

impl SchemaType {
    /// The type of that name.
    pub fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "string" => Self::String,
            "integer" => Self::Integer,
            "number" => Self::Number,
            "boolean" => Self::Boolean,
            "array" => Self::Array,
            "object" => Self::Object,
            _ => return None,
        })
    }

    /// OpenAPI's name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::String => "string",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::Boolean => "boolean",
            Self::Array => "array",
            Self::Object => "object",
        }
    }
}

/// `rule(...)`, an entry of `x-kubernetes-validations`.
#[derive(Clone, Debug)]
pub struct Rule {
    /// The key.
    pub span: Span,
    /// CEL expression; `None` where its absence has been reported.
    pub rule: Option<Spanned<String>>,
    /// `message`
    pub message: Option<Spanned<String>>,
    /// `message_expression`
    pub message_expression: Option<Spanned<String>>,
    /// `reason`, one of [`crate::grammar::RULE_REASONS`].
    pub reason: Option<Spanned<String>>,
    /// `field_path`
    pub field_path: Option<Spanned<String>>,
    /// `optional_old_self`
    pub optional_old_self: Option<Spanned<bool>>,
}

/// The constraints of a type, a field or the items of a list.
#[derive(Clone, Debug, Default)]
#[allow(missing_docs, reason = "the names are the keys, which the table describes")]
pub struct Constraints {
    pub minimum: Option<Spanned<Number>>,
    pub maximum: Option<Spanned<Number>>,
    pub exclusive_minimum: Option<Span>,
    pub exclusive_maximum: Option<Span>,
    pub multiple_of: Option<Spanned<Number>>,
    pub min_length: Option<Spanned<u64>>,
    pub max_length: Option<Spanned<u64>>,
    pub pattern: Option<Spanned<String>>,
    pub format: Option<Spanned<String>>,
    pub min_items: Option<Spanned<u64>>,
    pub max_items: Option<Spanned<u64>>,
    pub unique_items: Option<Span>,
    pub min_properties: Option<Spanned<u64>>,
    pub max_properties: Option<Spanned<u64>>,
    /// The allowed values; empty: any.
    pub enum_values: Vec<Spanned<Json>>,
    /// `type`, which overrides the one of the Rust type.
    pub schema_type: Option<Spanned<SchemaType>>,
    pub rules: Vec<Rule>,
    pub x_int_or_string: Option<Span>,
    pub x_embedded_resource: Option<Span>,
    pub x_preserve_unknown_fields: Option<Span>,
    /// Constraints of the items.
    pub items: Option<Spanned<Box<Constraints>>>,
}

/// How many fields of a group may be set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(
    missing_docs,
    reason = "the names are those of the markers, in the order in which their rules are written"
)]
pub enum OneOfKind {
    AtMostOneOf,
    ExactlyOneOf,
    AtLeastOneOf,
}

/// `exactly_one_of(...)` and its kin.
#[derive(Clone, Debug)]
pub struct OneOf {
    /// Which of them.
    pub kind: OneOfKind,
    /// The key.
    pub span: Span,
    /// Names of the fields in JSON.
    pub fields: Vec<Spanned<String>>,
}

impl OneOf {
    fn from_entry(entry: &Entry) -> Option<Self> {
        let kind = match entry.key.name {
            "at_most_one_of" => OneOfKind::AtMostOneOf,
            "exactly_one_of" => OneOfKind::ExactlyOneOf,
            "at_least_one_of" => OneOfKind::AtLeastOneOf,
            _ => return None,
        };
        Some(Self { kind, span: entry.given()?, fields: entry.strings() })
    }
}

/// What `#[validation(...)]` says.
#[derive(Clone, Debug, Default)]
pub struct ValidationAttrs {
    /// The first attribute; `None`: there is none.
    pub span: Option<Span>,
    /// The constraints.
    pub constraints: Constraints,
    /// `exactly_one_of` and its kin, in source order.
    pub one_ofs: Vec<OneOf>,
    /// `required`
    pub required: Option<Span>,
    /// `optional`
    pub optional: Option<Span>,
    /// The first key that says more than that.
    pub beyond_presence: Option<Span>,
}

impl ValidationAttrs {
    /// Takes the values out of the parsed attributes.
    pub fn from_parsed(parsed: &Parsed) -> Self {
        let given = |name: &str| parsed.given(name);
        Self {
            span: parsed.span,
            constraints: Constraints::from_entries(&parsed.entries),
            one_ofs: parsed.entries.iter().filter_map(OneOf::from_entry).collect(),
            required: given("required"),
            optional: given("optional"),
            beyond_presence: parsed.beyond_presence(),
        }
    }
}

impl Constraints {
    fn from_entries(entries: &[Entry]) -> Self {
        let mut out = Self::default();
        for entry in entries {
            out.set(entry);
        }
        out
    }

    fn set(&mut self, entry: &Entry) {
        let span = entry.given();
        match (entry.key.name, &entry.value) {
            ("minimum", Value::Number(n)) => self.minimum = Some(n.clone()),
            ("maximum", Value::Number(n)) => self.maximum = Some(n.clone()),
            ("exclusive_minimum", _) => self.exclusive_minimum = span,
            ("exclusive_maximum", _) => self.exclusive_maximum = span,
            ("multiple_of", Value::Number(n)) => self.multiple_of = Some(n.clone()),
            ("min_length", Value::Unsigned(n)) => self.min_length = Some(n.clone()),
            ("max_length", Value::Unsigned(n)) => self.max_length = Some(n.clone()),
            ("pattern", _) => self.pattern = entry.string(),
            ("format", _) => self.format = entry.string(),
            ("min_items", Value::Unsigned(n)) => self.min_items = Some(n.clone()),
            ("max_items", Value::Unsigned(n)) => self.max_items = Some(n.clone()),
            ("unique_items", _) => self.unique_items = span,
            ("min_properties", Value::Unsigned(n)) => self.min_properties = Some(n.clone()),
            ("max_properties", Value::Unsigned(n)) => self.max_properties = Some(n.clone()),
            ("enum", Value::Jsons(values)) => self.enum_values = values.clone(),
            ("type", _) => {
                self.schema_type = entry
                    .string()
                    .and_then(|name| SchemaType::parse(&name.value).map(|ty| Spanned::new(ty, name.span)));
            }
            ("rule", Value::Nested(entries)) => self.rules.push(Rule::from_entries(entries, entry.span)),
            ("x_int_or_string", _) => self.x_int_or_string = span,
            ("x_embedded_resource", _) => self.x_embedded_resource = span,
            ("x_preserve_unknown_fields", _) => self.x_preserve_unknown_fields = span,
            ("items", Value::Nested(entries)) => {
                self.items = Some(Spanned::new(Box::new(Self::from_entries(entries)), entry.span));
            }
            _ => {}
        }
    }
}

impl Rule {
    fn from_entries(entries: &[Entry], span: Span) -> Self {
        let find = |name: &str| entries.iter().find(|entry| entry.key.name == name);
        let string = |name: &str| find(name).and_then(EntryValue::string);
        Self {
            span,
            rule: string("rule"),
            message: string("message"),
            message_expression: string("message_expression"),
            reason: string("reason"),
            field_path: string("field_path"),
            optional_old_self: find("optional_old_self").and_then(|entry| match &entry.value {
                Value::Bool(value) => Some(value.clone()),
                _ => None,
            }),
        }
    }
}
