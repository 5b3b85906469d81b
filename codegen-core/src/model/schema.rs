//! `#[schema(...)]`

use proc_macro2::Span;

use super::{EntryValue, TypeShape};
use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::grammar::{Entry, Json, Parsed, Spanned, Value};

/// How server-side apply merges a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are those of x-kubernetes-list-type")]
pub enum ListType {
    Atomic,
    Set,
    Map,
}

impl ListType {
    /// The name in `x-kubernetes-list-type`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Atomic => "atomic",
            Self::Set => "set",
            Self::Map => "map",
        }
    }
}

/// How server-side apply merges a map or struct.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are those of x-kubernetes-map-type")]
pub enum MergeType {
    Granular,
    Atomic,
}

impl MergeType {
    /// The name in `x-kubernetes-map-type`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Granular => "granular",
            Self::Atomic => "atomic",
        }
    }
}

/// `external_docs(...)`
#[derive(Clone, Debug, PartialEq)]
pub struct ExternalDocs {
    /// An absolute URL.
    pub url: Spanned<String>,
    /// What the link leads to.
    pub description: Option<Spanned<String>>,
}

/// What `#[schema(...)]` says.
#[derive(Clone, Debug, Default)]
#[allow(missing_docs, reason = "the names are the keys, which the table describes")]
pub struct SchemaAttrs {
    /// The first attribute; `None`: there is none.
    pub span: Option<Span>,
    pub default: Option<Spanned<Json>>,
    /// The path of the constant that is the default.
    pub default_ref: Option<Spanned<String>>,
    pub example: Option<Spanned<Json>>,
    pub description: Option<Spanned<String>>,
    pub title: Option<Spanned<String>>,
    pub external_docs: Option<ExternalDocs>,
    pub nullable: Option<Span>,
    pub list_type: Option<Spanned<ListType>>,
    pub list_map_keys: Vec<Spanned<String>>,
    pub map_type: Option<Spanned<MergeType>>,
    pub struct_type: Option<Spanned<MergeType>>,
    pub preserve_unknown_fields: Option<Span>,
    pub embedded_resource: Option<Span>,
    pub schemaless: Option<Span>,
    pub extra: Option<Spanned<Json>>,
    pub immutable: Option<Span>,
    pub required: Option<Span>,
    pub optional: Option<Span>,
    /// The first key beside `required` and `optional`.
    pub beyond_presence: Option<Span>,
}

impl SchemaAttrs {
    /// Takes the values out of the parsed attributes and checks them.
    pub fn from_parsed(parsed: &Parsed, diagnostics: &mut Diagnostics) -> Self {
        let mut out =
            Self { span: parsed.span, beyond_presence: parsed.beyond_presence(), ..Self::default() };
        for entry in &parsed.entries {
            out.set(entry, diagnostics);
        }
        out.check_list_keys(parsed, diagnostics);
        out
    }

    fn set(&mut self, entry: &Entry, diagnostics: &mut Diagnostics) {
        let span = entry.given();
        match (entry.key.name, &entry.value) {
            ("default", Value::Json(json)) => self.default = Some(json.clone()),
            ("default", Value::Reference(path)) => self.default_ref = Some(path.clone()),
            ("example", Value::Json(json)) => self.example = Some(json.clone()),
            ("description", _) => self.description = entry.string(),
            ("extra", Value::Json(json)) => self.extra = Some(json.clone()),
            ("title", _) => self.title = entry.string(),
            ("external_docs", _) => self.external_docs = external_docs(entry, diagnostics),
            ("nullable", _) => self.nullable = span,
            ("list_type", _) => {
                self.list_type = entry.string().map(|name| {
                    name.map(|name| match name.as_str() {
                        "set" => ListType::Set,
                        "map" => ListType::Map,
                        _ => ListType::Atomic,
                    })
                });
            }
            ("list_map_key", _) => self.list_map_keys.extend(entry.strings()),
            ("map_type", _) => self.map_type = merge_type(entry),
            ("struct_type", _) => self.struct_type = merge_type(entry),
            ("preserve_unknown_fields", _) => self.preserve_unknown_fields = span,
            ("embedded_resource", _) => self.embedded_resource = span,
            ("schemaless", _) => self.schemaless = span,
            ("immutable", _) => self.immutable = span,
            ("required", _) => self.required = span,
            ("optional", _) => self.optional = span,
            _ => {}
        }
    }

    /// A marker's `{}` is an empty list where a list is wanted.
    pub(super) fn settle_empty(&mut self, shape: &TypeShape) {
        for json in self.default.iter_mut().chain(&mut self.example).filter(|json| json.value == Json::Empty)
        {
            json.value = match shape {
                TypeShape::Array(_) => Json::Array(Vec::new()),
                _ => Json::Object(Vec::new()),
            };
        }
    }

    /// `list_map_key` and `list_type = "map"` need each other.
    fn check_list_keys(&self, parsed: &Parsed, diagnostics: &mut Diagnostics) {
        let is_map = self.list_type.as_ref().is_some_and(|ty| ty.value == ListType::Map);
        if let Some(entry) = parsed.get("list_map_key").filter(|_| !is_map) {
            let message = "`list_map_key` needs `list_type = \"map\"`";
            let help = "add list_type = \"map\"";
            let mut diagnostic = Diagnostic::error(Code::LIST_MAP_KEY, entry.span, message).help(help);
            if let Some(ty) = &self.list_type {
                diagnostic =
                    diagnostic.secondary(ty.span, format!("the list is of type {}", ty.value.as_str()));
            }
            diagnostics.push(diagnostic);
        }
        if let Some(ty) = self.list_type.as_ref().filter(|_| is_map && parsed.get("list_map_key").is_none()) {
            let message = "a list of type map needs `list_map_key`";
            let help = "name the fields that identify an item: list_map_key = \"name\"";
            diagnostics.push(Diagnostic::error(Code::LIST_MAP_KEY, ty.span, message).help(help));
        }
        for (at, key) in self.list_map_keys.iter().enumerate() {
            if let Some(first) = self.list_map_keys[..at].iter().find(|other| *other == key) {
                let message = format!("the list map key {:?} is given twice", key.value);
                let diagnostic = Diagnostic::error(Code::DUPLICATE_KEY, key.span, message);
                diagnostics
                    .push(diagnostic.secondary(first.span, "first given here").help("keep one of them"));
            }
        }
    }
}

fn merge_type(entry: &Entry) -> Option<Spanned<MergeType>> {
    let name = entry.string()?;
    Some(name.map(|name| if name == "atomic" { MergeType::Atomic } else { MergeType::Granular }))
}

fn external_docs(entry: &Entry, diagnostics: &mut Diagnostics) -> Option<ExternalDocs> {
    let find = |name: &str| entry.nested().iter().find(|e| e.key.name == name).and_then(EntryValue::string);
    let url = find("url")?;
    if !is_absolute_url(&url.value) {
        let message = format!("{:?} is not an absolute URL", url.value);
        let help = "write it with scheme and host: https://example.com/docs";
        diagnostics.push(Diagnostic::error(Code::INVALID_URL, url.span, message).help(help));
        return None;
    }
    Some(ExternalDocs { url, description: find("description") })
}

/// A scheme, `://` and a host, nothing that cannot stand in a URL.
pub(super) fn is_absolute_url(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once("://") else { return false };
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
        && !host.is_empty()
        && !rest
            .chars()
            .any(|c| c.is_whitespace() || c.is_control() || matches!(c, '"' | '<' | '>' | '\\' | '`'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls() {
        for good in ["https://example.com", "http://a/b?c#d", "https://[::1]:80/x"] {
            assert!(is_absolute_url(good), "{good}");
        }
        for bad in
            ["", "not a url", "example.com", "https://", "https:///a", "://a", "https://a b", "https://a\"b"]
        {
            assert!(!is_absolute_url(bad), "{bad}");
        }
    }
}
