//! `#[schema(...)]`

use std::collections::BTreeSet;

use kubesmith_apiextensions::schema::{ExternalDocs, KEYWORDS};
use proc_macro2::Span;

use super::{Constraints, EntryValue, TypeShape};
use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::grammar::{Entry, Json, Parsed, Spanned, Value};

/// The values of `#[schema(...)]`.
#[derive(Clone, Debug, Default)]
#[allow(missing_docs, reason = "the names are the keys, which the table describes")]
pub struct SchemaAttrs {
    /// The first attribute, if there is one.
    pub span: Option<Span>,
    /// The additions of keywords' keys to the schema, without `default` and `example`.
    pub facts: Constraints,
    pub default: Option<Spanned<Json>>,
    /// The path of the constant for the default.
    pub default_ref: Option<Spanned<String>>,
    pub example: Option<Spanned<Json>>,
    pub description: Option<Spanned<String>>,
    pub schemaless: Option<Span>,
    pub extra: Option<Spanned<Json>>,
    pub immutable: Option<Span>,
    pub required: Option<Span>,
    pub optional: Option<Span>,
    /// The keys that are present.
    pub keys: BTreeSet<&'static str>,
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
        if span.is_some() {
            self.keys.insert(entry.key.name);
        }
        match (entry.key.name, &entry.value) {
            ("default", Value::Json(json)) => self.default = Some(json.clone()),
            ("default", Value::Reference(path)) => self.default_ref = Some(path.clone()),
            ("example", Value::Json(json)) => self.example = Some(json.clone()),
            ("description", _) => self.description = entry.string(),
            ("extra", Value::Json(json)) => self.extra = Some(json.clone()),
            ("external_docs", _) => self.external_docs(entry, diagnostics),
            ("schemaless", _) => self.schemaless = span,
            ("immutable", _) => self.immutable = span,
            ("required", _) => self.required = span,
            ("optional", _) => self.optional = span,
            (key, value) => self.fact(key, value, entry.span),
        }
    }

    /// Takes a key that sets a keyword directly.
    fn fact(&mut self, key: &str, value: &Value, span: Span) {
        // The two keys differ only in their types.
        let key = if key == "struct_type" { "map_type" } else { key };
        let Some(keyword) = KEYWORDS.iter().find(|keyword| keyword.schema_key == Some(key)) else { return };
        let Constraints { schema, places } = &mut self.facts;
        let (value, span) = match value {
            Value::Flag => (true.into(), span),
            Value::String(text) => (text.value.as_str().into(), text.span),
            Value::Strings(texts) => {
                for text in texts {
                    places.insert(format!("{}[{}]", keyword.name, schema.list_map_keys.len()), text.span);
                    places.entry(keyword.name.to_owned()).or_insert(text.span);
                    schema.list_map_keys.push(text.value.clone());
                }
                return;
            }
            _ => return,
        };
        // The grammar accepts only values of the right type.
        if keyword.set(schema, &value).is_ok() {
            places.insert(keyword.name.to_owned(), span);
        }
    }

    fn external_docs(&mut self, entry: &Entry, diagnostics: &mut Diagnostics) {
        let find =
            |name: &str| entry.nested().iter().find(|e| e.key.name == name).and_then(EntryValue::string);
        let Some(url) = find("url") else { return };
        if !is_absolute_url(&url.value) {
            let message = format!("{:?} is not an absolute URL", url.value);
            let help = "write it with scheme and host: https://example.com/docs";
            diagnostics.push(Diagnostic::error(Code::INVALID_URL, url.span, message).help(help));
            return;
        }
        let description = find("description").map(|text| text.value);
        self.facts.schema.external_docs = Some(ExternalDocs { url: Some(url.value), description });
    }

    /// Turns a marker's `{}` into an empty list for a list type.
    pub(super) fn settle_empty(&mut self, shape: &TypeShape) {
        for json in self.default.iter_mut().chain(&mut self.example).filter(|json| json.value == Json::Empty)
        {
            json.value = match shape {
                TypeShape::Array(_) => Json::Array(Vec::new()),
                _ => Json::Object(Vec::new()),
            };
        }
    }

    /// Checks that `list_map_key` and `list_type = "map"` occur together.
    fn check_list_keys(&self, parsed: &Parsed, diagnostics: &mut Diagnostics) {
        let Constraints { schema, places } = &self.facts;
        let list_type = places.get("x-kubernetes-list-type").zip(schema.list_type.as_deref());
        let map = list_type.filter(|(_, ty)| *ty == "map");
        if let Some(entry) = parsed.get("list_map_key").filter(|_| map.is_none()) {
            let message = "`list_map_key` needs `list_type = \"map\"`";
            let help = "add list_type = \"map\"";
            let mut diagnostic = Diagnostic::error(Code::LIST_MAP_KEY, entry.span, message).help(help);
            if let Some((span, ty)) = list_type {
                diagnostic = diagnostic.secondary(*span, format!("the list is of type {ty}"));
            }
            diagnostics.push(diagnostic);
        }
        if let Some((span, _)) = map.filter(|_| parsed.get("list_map_key").is_none()) {
            let message = "a list of type map needs `list_map_key`";
            let help = "name the fields that identify an item: list_map_key = \"name\"";
            diagnostics.push(Diagnostic::error(Code::LIST_MAP_KEY, *span, message).help(help));
        }
        let keys = &schema.list_map_keys;
        let place = |at: usize| places.get(&format!("x-kubernetes-list-map-keys[{at}]")).copied();
        for (at, key) in keys.iter().enumerate() {
            let first = keys[..at].iter().position(|other| other == key);
            if let (Some(span), Some(first)) = (place(at), first.and_then(place)) {
                let message = format!("the list map key {key:?} is given twice");
                let diagnostic = Diagnostic::error(Code::DUPLICATE_KEY, span, message);
                diagnostics.push(diagnostic.secondary(first, "first given here").help("keep one of them"));
            }
        }
    }
}

/// Whether a text has a scheme, `://` and a host, and only characters of URLs.
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
    fn absolute_url_has_scheme_and_host() {
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
