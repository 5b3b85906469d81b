//! Types of expressions, and declarations made from schemas.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::schema::{Additional, Schema};

/// The type of an expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Type {
    /// Any type; checked at run time.
    Dyn,
    /// The type of an invalid expression, so that one error gives one message.
    Error,
    /// `null`.
    Null,
    /// `bool`.
    Bool,
    /// `int`.
    Int,
    /// `uint`.
    Uint,
    /// `double`.
    Double,
    /// `string`.
    String,
    /// `bytes`.
    Bytes,
    /// `timestamp`.
    Timestamp,
    /// `duration`.
    Duration,
    /// A list of one type.
    List(Arc<Type>),
    /// A map of one type of keys and one of values.
    Map(Arc<Type>, Arc<Type>),
    /// An object with declared fields.
    Object(Arc<ObjectType>),
    /// A message that expressions construct: `Object`, `Object.spec`, `JSONPatch`.
    Message(Arc<str>),
    /// A type of an extension, such as a quantity.
    Opaque(&'static str),
    /// A value that may be absent.
    Optional(Arc<Type>),
    /// The type of a type.
    Type(Arc<Type>),
    /// A type parameter that is not resolved yet.
    Param(String),
}

/// An object's declaration.
#[derive(Debug)]
pub struct ObjectType {
    /// The name that messages use.
    pub name: String,
    /// The fields by their escaped names.
    pub fields: BTreeMap<String, Type>,
}

impl PartialEq for ObjectType {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && self.fields.len() == other.fields.len()
    }
}

impl std::fmt::Display for Type {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Dyn => f.write_str("dyn"),
            Self::Error => f.write_str("!error!"),
            Self::Null => f.write_str("null"),
            Self::Bool => f.write_str("bool"),
            Self::Int => f.write_str("int"),
            Self::Uint => f.write_str("uint"),
            Self::Double => f.write_str("double"),
            Self::String => f.write_str("string"),
            Self::Bytes => f.write_str("bytes"),
            Self::Timestamp => f.write_str("timestamp"),
            Self::Duration => f.write_str("duration"),
            Self::List(item) => write!(f, "list({item})"),
            Self::Map(key, value) => write!(f, "map({key}, {value})"),
            Self::Object(object) => f.write_str(&object.name),
            Self::Message(name) => f.write_str(name),
            Self::Opaque(name) => f.write_str(name),
            Self::Optional(inner) => write!(f, "optional_type({inner})"),
            Self::Type(inner) => write!(f, "type({inner})"),
            Self::Param(name) => f.write_str(name),
        }
    }
}

impl Type {
    /// A list of these.
    #[must_use]
    pub fn list(item: Type) -> Self {
        Self::List(Arc::new(item))
    }

    /// A map of these.
    #[must_use]
    pub fn map(key: Type, value: Type) -> Self {
        Self::Map(Arc::new(key), Arc::new(value))
    }

    /// An optional one of these.
    #[must_use]
    pub fn optional(inner: Type) -> Self {
        Self::Optional(Arc::new(inner))
    }

    pub(super) fn is_dyn_or_error(&self) -> bool {
        matches!(self, Self::Dyn | Self::Error)
    }
}

/// The largest request that a server accepts, in bytes. It bounds the size of every value.
pub(super) const MAX_REQUEST_BYTES: u64 = 3 * 1024 * 1024;

/// The declaration of a place in a schema: its type and its greatest size.
#[derive(Debug)]
pub struct Decl {
    /// The type.
    pub type_: Type,
    /// The largest number of characters, bytes or entries.
    pub max_elements: u64,
    /// Its least size in JSON, in bytes.
    pub min_size: u64,
    /// The items of a list, or the values of a map.
    pub element: Option<Arc<Decl>>,
    /// The keys of a map.
    pub key: Option<Arc<Decl>>,
    /// The fields of an object by their escaped names.
    pub fields: BTreeMap<String, Arc<Decl>>,
}

impl Decl {
    fn scalar(type_: Type, min_size: u64, max_elements: u64) -> Arc<Self> {
        let fields = BTreeMap::new();
        Arc::new(Self { type_, max_elements, min_size, element: None, key: None, fields })
    }

    /// The declaration of a schema; `None` if expressions cannot use it.
    ///
    /// The root of a resource always has `apiVersion`, `kind`, `metadata.name` and `metadata.generateName`.
    #[must_use]
    pub fn of(schema: &Schema, is_resource: bool, name: &str) -> Option<Arc<Self>> {
        if schema.int_or_string {
            return Some(Self::scalar(Type::Dyn, 1, max_length(schema).unwrap_or(MAX_REQUEST_BYTES - 2)));
        }
        match schema.type_name() {
            "array" => Self::of_list(schema, name),
            "object" => match &schema.additional_properties {
                Some(Additional::Schema(all)) => Self::of_map(schema, all, name),
                _ => Some(Self::of_object(schema, is_resource || schema.embedded_resource, name)),
            },
            "string" => Some(Self::of_string(schema)),
            "boolean" => Some(Self::scalar(Type::Bool, 4, 0)),
            "number" => Some(Self::scalar(Type::Double, 1, 0)),
            "integer" => Some(Self::scalar(Type::Int, 1, 0)),
            _ => None,
        }
    }

    fn of_list(schema: &Schema, name: &str) -> Option<Arc<Self>> {
        let items = schema.items.as_ref()?;
        let element = Self::of(items, items.embedded_resource, &format!("{name}.@idx"))?;
        let fitting = (MAX_REQUEST_BYTES - 2) / (element.min_size + 1);
        Some(Arc::new(Self {
            type_: Type::list(element.type_.clone()),
            max_elements: schema.max_items.map_or(fitting, not_negative),
            min_size: 2,
            element: Some(element),
            key: None,
            fields: BTreeMap::new(),
        }))
    }

    fn of_map(schema: &Schema, all: &Schema, name: &str) -> Option<Arc<Self>> {
        let element = Self::of(all, all.embedded_resource, &format!("{name}.@elem"))?;
        let fitting = (MAX_REQUEST_BYTES - 2) / (element.min_size + 6);
        Some(Arc::new(Self {
            type_: Type::map(Type::String, element.type_.clone()),
            max_elements: schema.max_properties.map_or(fitting, not_negative),
            min_size: 2,
            element: Some(element),
            // The server counts keys as nothing.
            key: Some(Self::scalar(Type::String, 2, 0)),
            fields: BTreeMap::new(),
        }))
    }

    fn of_object(schema: &Schema, is_resource: bool, name: &str) -> Arc<Self> {
        let mut fields = BTreeMap::new();
        let mut min_size = 2;
        for (field, property) in &schema.properties {
            let own_name = escape(field);
            let below = format!("{name}.{}", own_name.as_deref().unwrap_or(field));
            let Some(decl) = Self::of(property, property.embedded_resource, &below) else { continue };
            if schema.required.contains(field) && property.default.is_none() {
                min_size += u64::try_from(field.len()).unwrap_or(0) + decl.min_size + 4;
            }
            if let Some(own_name) = own_name {
                fields.insert(own_name, decl);
            }
        }
        if is_resource {
            let text = || Self::scalar(Type::String, 2, MAX_REQUEST_BYTES - 2);
            fields.insert("apiVersion".to_owned(), text());
            fields.insert("kind".to_owned(), text());
            let names = [("name".to_owned(), text()), ("generateName".to_owned(), text())];
            fields.insert("metadata".to_owned(), Self::object(names.into(), 2, &format!("{name}.metadata")));
        }
        Self::object(fields, min_size, name)
    }

    fn object(fields: BTreeMap<String, Arc<Self>>, min_size: u64, name: &str) -> Arc<Self> {
        let types = fields.iter().map(|(name, decl)| (name.clone(), decl.type_.clone())).collect();
        let type_ = Type::Object(Arc::new(ObjectType { name: name.to_owned(), fields: types }));
        Arc::new(Self { type_, max_elements: 0, min_size, element: None, key: None, fields })
    }

    fn of_string(schema: &Schema) -> Arc<Self> {
        match schema.format_name() {
            "byte" => {
                let max = schema.max_length.map_or(MAX_REQUEST_BYTES - 2, not_negative);
                Self::scalar(Type::Bytes, 2, max)
            }
            "duration" => Self::scalar(Type::Duration, 3, 32),
            "date" => Self::scalar(Type::Timestamp, 12, 12),
            "date-time" => Self::scalar(Type::Timestamp, 21, 32),
            _ => {
                let longest = schema.allowed_values().iter().filter_map(|v| v.as_str()).map(str::len).max();
                let longest = longest.and_then(|l| u64::try_from(l).ok()).unwrap_or(MAX_REQUEST_BYTES - 2);
                Self::scalar(Type::String, 2, max_length(schema).unwrap_or(longest))
            }
        }
    }
}

fn not_negative(value: i64) -> u64 {
    u64::try_from(value).unwrap_or(0)
}

/// The greatest length in bytes: schemas count characters of up to four bytes.
fn max_length(schema: &Schema) -> Option<u64> {
    schema.max_length.map(|max| not_negative(max).saturating_mul(4))
}

/// CEL's reserved words. Source: `celReservedSymbols` of apiserver's pkg/cel/escaping.go.
const KEYWORDS: [&str; 21] = [
    "true",
    "false",
    "null",
    "in",
    "as",
    "break",
    "const",
    "continue",
    "else",
    "for",
    "function",
    "if",
    "import",
    "let",
    "loop",
    "package",
    "namespace",
    "return",
    "var",
    "void",
    "while",
];

/// Reports whether a name is one of CEL's reserved words.
#[must_use]
pub fn is_reserved(name: &str) -> bool {
    KEYWORDS.contains(&name)
}

/// The field that an expression selects. A reserved word selects the field of that name, unescaped too. Source:
/// `FindStructFieldType` of apiserver's pkg/cel, from Kubernetes 1.32 on.
pub(super) fn field_of<'f, T>(fields: &'f BTreeMap<String, T>, name: &str) -> Option<&'f T> {
    let keyword = || KEYWORDS.contains(&name).then(|| fields.get(&format!("__{name}__")));
    fields.get(name).or_else(|| keyword().flatten())
}

/// The escaped name of a field in expressions; `None` if it cannot be written.
#[must_use]
pub fn escape(name: &str) -> Option<String> {
    let bytes = name.as_bytes();
    if bytes.is_empty() || bytes[0].is_ascii_digit() {
        return None;
    }
    if KEYWORDS.contains(&name) {
        return Some(format!("__{name}__"));
    }
    let mut out = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(c) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix("__") {
            out.push_str("__underscores__");
            rest = after;
            continue;
        }
        match c {
            '.' => out.push_str("__dot__"),
            '-' => out.push_str("__dash__"),
            '/' => out.push_str("__slash__"),
            c if c == '_' || c.is_ascii_alphanumeric() => out.push(c),
            _ => return None,
        }
        rest = &rest[c.len_utf8()..];
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn names_are_escaped() {
        for (name, escaped) in [
            ("a", Some("a")),
            ("namespace", Some("__namespace__")),
            ("x-prop", Some("x__dash__prop")),
            ("a.b/c", Some("a__dot__b__slash__c")),
            ("redact__d", Some("redact__underscores__d")),
            ("1a", None),
            ("a b", None),
        ] {
            assert_eq!(escape(name).as_deref(), escaped, "{name}");
        }
    }

    #[test]
    fn declarations_have_types_and_sizes() {
        let schema = Schema::enforced(&json!({"type": "object", "required": ["a"], "properties": {
            "a": {"type": "string", "maxLength": 10}, "t": {"type": "string", "format": "date-time"},
            "l": {"type": "array", "items": {"type": "integer"}}, "any": {"x-kubernetes-preserve-unknown-fields": true},
            "m": {"type": "object", "additionalProperties": {"type": "boolean"}, "maxProperties": 3}}}))
        .unwrap();
        let decl = Decl::of(&schema, true, "self").unwrap();
        assert_eq!(decl.fields["a"].max_elements, 40);
        assert_eq!(decl.fields["t"].type_, Type::Timestamp);
        assert_eq!(decl.fields["l"].max_elements, (MAX_REQUEST_BYTES - 2) / 2);
        assert_eq!(decl.fields["m"].type_.to_string(), "map(string, bool)");
        assert!(!decl.fields.contains_key("any") && decl.fields.contains_key("apiVersion"));
        assert_eq!(decl.min_size, 2 + 1 + 2 + 4);
    }
}
