//! `#[validation(...)]`

use std::collections::BTreeMap;

use kubesmith_apiextensions::schema::{KEYWORDS, Keyword, Rule, Schema};
use proc_macro2::Span;

use super::EntryValue;
use crate::grammar::{Entry, Parsed, Spanned, Value};

/// The places of parts of a schema: `maxLength`, `items.pattern`, `enum[0]`,
/// `x-kubernetes-validations[0].rule`.
pub type Places = BTreeMap<String, Span>;

/// The constraints of a type or field.
#[derive(Clone, Debug, Default)]
pub struct Constraints {
    /// Their additions to the schema.
    pub schema: Schema,
    /// The place of each of them.
    pub places: Places,
}

/// The number of fields in a group that may be set.
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

/// `exactly_one_of(...)` or a similar key.
#[derive(Clone, Debug)]
pub struct OneOf {
    /// The kind of the key.
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

/// The values of `#[validation(...)]`.
#[derive(Clone, Debug, Default)]
pub struct ValidationAttrs {
    /// The first attribute, if there is one.
    pub span: Option<Span>,
    /// The constraints.
    pub constraints: Constraints,
    /// `exactly_one_of` and similar keys, in source order.
    pub one_ofs: Vec<OneOf>,
    /// `required`
    pub required: Option<Span>,
    /// `optional`
    pub optional: Option<Span>,
    /// The first key beside `required` and `optional`.
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
        read(entries, "", &mut out.schema, &mut out.places);
        out
    }
}

/// Takes the constraints of a schema; `prefix` is its path: `items.`.
fn read(entries: &[Entry], prefix: &str, schema: &mut Schema, places: &mut Places) {
    for entry in entries {
        let is_key = |keyword: &&Keyword| keyword.attribute.is_some_and(|it| it.name == entry.key.name);
        let Some(keyword) = KEYWORDS.iter().find(is_key) else { continue };
        let name = format!("{prefix}{}", keyword.name);
        let (value, span) = match &entry.value {
            Value::Flag => (true.into(), entry.span),
            Value::String(text) => (text.value.as_str().into(), text.span),
            Value::Unsigned(count) => (count.value.into(), count.span),
            Value::Number(number) => (number.value.to_value(), number.span),
            Value::Jsons(values) => {
                for (at, value) in values.iter().enumerate() {
                    places.insert(format!("{name}[{at}]"), value.span);
                }
                let first = values.first().map_or(entry.span, |value| value.span);
                (values.iter().map(|value| value.value.to_value()).collect(), first)
            }
            Value::Nested(entries) if keyword.name == "items" => {
                let items = schema.items.insert(Box::default());
                read(entries, &format!("{name}."), items, places);
                places.insert(name, entry.span);
                continue;
            }
            Value::Nested(entries) => {
                let name = format!("{name}[{}]", schema.validations.len());
                schema.validations.push(rule(entries, &name, places));
                places.insert(name, entry.span);
                continue;
            }
            _ => continue,
        };
        // The grammar accepts only values of the right type.
        if keyword.set(schema, &value).is_ok() {
            places.insert(name, span);
        }
    }
}

/// An entry of `x-kubernetes-validations`. A missing expression has been reported.
fn rule(entries: &[Entry], name: &str, places: &mut Places) -> Rule {
    let mut text = |key: &str, member: &str| {
        let text = entries.iter().find(|entry| entry.key.name == key)?.string()?;
        places.insert(format!("{name}.{member}"), text.span);
        Some(text.value)
    };
    let mut out = Rule {
        rule: text("rule", "rule").unwrap_or_default(),
        message: text("message", "message"),
        message_expression: text("message_expression", "messageExpression"),
        reason: text("reason", "reason"),
        field_path: text("field_path", "fieldPath"),
        optional_old_self: None,
    };
    if let Some(Entry { value: Value::Bool(given), .. }) =
        entries.iter().find(|entry| entry.key.name == "optional_old_self")
    {
        out.optional_old_self = Some(given.value);
        places.insert(format!("{name}.optionalOldSelf"), given.span);
    }
    out
}
