//! Reads the parts of `#[serde(...)]` that change the JSON form.
//!
//! Readers ignore unknown keys; [`check`] reports them.

mod check;
mod rename;

use proc_macro2::{Delimiter, Ident, Span, TokenStream, TokenTree};
use syn::{Attribute, Lit, Meta};

use crate::diag::Diagnostics;
use crate::grammar::{Spanned, split_attribute};

pub(super) use check::{SerdePlace, check};
pub use rename::RenameRule;

/// The source of a missing value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SerdeDefault {
    /// `#[serde(default)]`
    Trait,
    /// `#[serde(default = "path")]`
    Path(String),
}

/// A name for each direction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Pair {
    serialize: Option<String>,
    deserialize: Option<String>,
}

impl Pair {
    fn read(key: &Key) -> Self {
        if let Some(text) = &key.text {
            return Self { serialize: Some(text.clone()), deserialize: Some(text.clone()) };
        }
        let mut pair = Self::default();
        for inner in keys(key.nested.clone()) {
            match inner.name.as_str() {
                "serialize" => pair.serialize = inner.text,
                "deserialize" => pair.deserialize = inner.text,
                _ => {}
            }
        }
        pair
    }

    fn rules(&self) -> (RenameRule, RenameRule) {
        let rule = |text: &Option<String>| text.as_deref().and_then(RenameRule::parse).unwrap_or_default();
        (rule(&self.serialize), rule(&self.deserialize))
    }
}

/// The values of serde's attributes on a type.
#[derive(Clone, Debug, Default)]
pub struct SerdeContainer {
    /// `rename_all` when writing and reading.
    pub rename_all: (RenameRule, RenameRule),
    /// `rename_all_fields` (of all variants) when writing and reading.
    pub rename_all_fields: (RenameRule, RenameRule),
    /// `default`
    pub default: Option<SerdeDefault>,
    /// `deny_unknown_fields`
    pub deny_unknown_fields: bool,
    /// `transparent`
    pub transparent: bool,
    /// `tag`
    pub tag: Option<Spanned<String>>,
    /// `content`
    pub content: Option<Spanned<String>>,
    /// `untagged`
    pub untagged: bool,
    /// `from` or `try_from`: the type for deserialization.
    pub read_as: Option<Spanned<String>>,
    /// `into`: the type for serialization.
    pub written_as: Option<Spanned<String>>,
    /// Every key, with its place.
    pub keys: Vec<Spanned<String>>,
}

/// The values of serde's attributes on a field.
#[derive(Clone, Debug, Default)]
pub struct SerdeField {
    /// `rename` when writing.
    pub rename_serialize: Option<String>,
    /// `rename` when reading.
    pub rename_deserialize: Option<String>,
    /// `alias`
    pub aliases: Vec<String>,
    /// `default`
    pub default: Option<SerdeDefault>,
    /// `flatten`
    pub flatten: bool,
    /// `skip` or `skip_serializing`
    pub skip_serializing: bool,
    /// `skip` or `skip_deserializing`
    pub skip_deserializing: bool,
    /// `skip_serializing_if`
    pub skip_serializing_if: Option<String>,
    /// `with`, `serialize_with`, `deserialize_with` or `serde_as`: functions decide the JSON form.
    pub with: Option<Spanned<String>>,
    /// Every key, with its place.
    pub keys: Vec<Spanned<String>>,
}

/// The values of serde's attributes on a variant.
#[derive(Clone, Debug, Default)]
pub struct SerdeVariant {
    /// `rename` when writing.
    pub rename_serialize: Option<String>,
    /// `rename` when reading.
    pub rename_deserialize: Option<String>,
    /// `alias`
    pub aliases: Vec<String>,
    /// `rename_all` of the variant's fields when writing and reading.
    pub rename_all: Option<(RenameRule, RenameRule)>,
    /// `skip` or both of its halves.
    pub skip: bool,
    /// `skip`, `skip_serializing`
    pub skip_serializing: bool,
    /// `skip`, `skip_deserializing`
    pub skip_deserializing: bool,
    /// `other`
    pub other: bool,
    /// `untagged`
    pub untagged: bool,
    /// `with`, `serialize_with` or `deserialize_with`: functions decide the JSON form.
    pub with: Option<Spanned<String>>,
}

impl SerdeContainer {
    /// Reads the attributes of a type.
    pub fn read(attributes: &[Attribute]) -> Self {
        let mut out = Self::default();
        for key in serde_keys(attributes) {
            let value = key.spanned_text();
            match key.name.as_str() {
                "rename_all" => out.rename_all = Pair::read(&key).rules(),
                "rename_all_fields" => out.rename_all_fields = Pair::read(&key).rules(),
                "default" => out.default = Some(key.default()),
                "deny_unknown_fields" => out.deny_unknown_fields = true,
                "transparent" => out.transparent = true,
                "tag" => out.tag = value,
                "content" => out.content = value,
                "untagged" => out.untagged = true,
                "from" | "try_from" => out.read_as = value,
                "into" => out.written_as = value,
                _ => {}
            }
            out.keys.push(Spanned::new(key.name, key.span));
        }
        out
    }

    /// The place of a key, if it is present.
    pub fn key(&self, name: &str) -> Option<Span> {
        self.keys.iter().find(|key| key.value == name).map(|key| key.span)
    }
}

impl SerdeField {
    /// Reads the attributes of a field.
    pub fn read(attributes: &[Attribute]) -> Self {
        let mut out = Self::default();
        for key in serde_keys(attributes) {
            match key.name.as_str() {
                "rename" => {
                    let pair = Pair::read(&key);
                    (out.rename_serialize, out.rename_deserialize) = (pair.serialize, pair.deserialize);
                }
                "alias" => out.aliases.extend(key.text.clone()),
                "default" => out.default = Some(key.default()),
                "flatten" => out.flatten = true,
                "skip" => (out.skip_serializing, out.skip_deserializing) = (true, true),
                "skip_serializing" => out.skip_serializing = true,
                "skip_deserializing" => out.skip_deserializing = true,
                "skip_serializing_if" => out.skip_serializing_if = key.text.clone(),
                "with" | "serialize_with" | "deserialize_with" => {
                    out.with = key.spanned_text();
                }
                _ => {}
            }
            out.keys.push(Spanned::new(key.name, key.span));
        }
        out.with = out.with.or_else(|| serde_as(attributes));
        out
    }

    /// The place of a key, if it is present.
    pub fn key(&self, name: &str) -> Option<Span> {
        self.keys.iter().find(|key| key.value == name).map(|key| key.span)
    }

    /// Whether the field is never in the JSON.
    pub fn skipped(&self) -> bool {
        self.skip_serializing && self.skip_deserializing
    }

    /// The name in JSON for serialization.
    pub fn name(&self, ident: &Ident, rename_all: (RenameRule, RenameRule)) -> String {
        self.rename_serialize.clone().unwrap_or_else(|| rename_all.0.apply_to_field(&plain(ident)))
    }

    /// The name in JSON for deserialization.
    pub fn name_read(&self, ident: &Ident, rename_all: (RenameRule, RenameRule)) -> String {
        self.rename_deserialize.clone().unwrap_or_else(|| rename_all.1.apply_to_field(&plain(ident)))
    }
}

impl SerdeVariant {
    /// Reads the attributes of a variant.
    pub fn read(attributes: &[Attribute]) -> Self {
        let mut out = Self::default();
        for key in serde_keys(attributes) {
            match key.name.as_str() {
                "rename" => {
                    let pair = Pair::read(&key);
                    (out.rename_serialize, out.rename_deserialize) = (pair.serialize, pair.deserialize);
                }
                "alias" => out.aliases.extend(key.text.clone()),
                "rename_all" => out.rename_all = Some(Pair::read(&key).rules()),
                "skip" => (out.skip_serializing, out.skip_deserializing) = (true, true),
                "skip_serializing" => out.skip_serializing = true,
                "skip_deserializing" => out.skip_deserializing = true,
                "other" => out.other = true,
                "untagged" => out.untagged = true,
                "with" | "serialize_with" | "deserialize_with" => {
                    out.with = key.spanned_text();
                }
                _ => {}
            }
        }
        out.skip = out.skip_serializing && out.skip_deserializing;
        out
    }

    /// The name in JSON for serialization.
    pub fn name(&self, ident: &Ident, rename_all: (RenameRule, RenameRule)) -> String {
        self.rename_serialize.clone().unwrap_or_else(|| rename_all.0.apply_to_variant(&plain(ident)))
    }
}

/// The identifier without `r#`.
fn plain(ident: &Ident) -> String {
    let name = ident.to_string();
    name.strip_prefix("r#").unwrap_or(&name).to_owned()
}

/// The tokens after the name of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Given {
    /// Nothing.
    Word,
    /// `= "text"`
    Text,
    /// `(...)`
    List,
    /// Other tokens.
    Other,
}

/// A key of a serde attribute.
struct Key {
    name: String,
    span: Span,
    given: Given,
    /// The string after `=`.
    text: Option<String>,
    /// The tokens in parentheses.
    nested: TokenStream,
}

impl Key {
    fn spanned_text(&self) -> Option<Spanned<String>> {
        self.text.clone().map(|text| Spanned::new(text, self.span))
    }

    fn default(&self) -> SerdeDefault {
        self.text.clone().map_or(SerdeDefault::Trait, SerdeDefault::Path)
    }
}

fn is_serde(attribute: &Attribute) -> bool {
    attribute.path().is_ident("serde")
}

/// The keys of all serde attributes.
fn serde_keys(attributes: &[Attribute]) -> Vec<Key> {
    let lists = attributes.iter().filter(|attribute| is_serde(attribute)).filter_map(|attribute| {
        match &attribute.meta {
            Meta::List(list) => Some(list.tokens.clone()),
            _ => None,
        }
    });
    lists.flat_map(keys).collect()
}

/// `#[serde_as(...)]` of the crate serde_with, which acts like `with`.
fn serde_as(attributes: &[Attribute]) -> Option<Spanned<String>> {
    let name = |attribute: &Attribute| attribute.path().segments.last().map(|segment| segment.ident.clone());
    let found = attributes.iter().filter_map(name).find(|name| name == "serde_as")?;
    Some(Spanned::new(found.to_string(), found.span()))
}

fn keys(tokens: TokenStream) -> Vec<Key> {
    let mut ignored = Diagnostics::new();
    let parts = split_attribute(tokens, &mut ignored);
    ignored.take();
    parts.iter().filter_map(|part| key(part)).collect()
}

fn key(part: &[TokenTree]) -> Option<Key> {
    let [TokenTree::Ident(ident), rest @ ..] = part else { return None };
    let (given, text, nested) = match rest {
        [] => (Given::Word, None, TokenStream::new()),
        [TokenTree::Punct(equals), value] if equals.as_char() == '=' => match text(value) {
            Some(text) => (Given::Text, Some(text), TokenStream::new()),
            None => (Given::Other, None, TokenStream::new()),
        },
        [TokenTree::Group(group)] => (Given::List, None, group.stream()),
        _ => (Given::Other, None, TokenStream::new()),
    };
    Some(Key { name: ident.to_string(), span: ident.span(), given, text, nested })
}

/// The string of a token; a macro by example wraps its literals in invisible groups.
fn text(value: &TokenTree) -> Option<String> {
    match value {
        TokenTree::Literal(literal) => match Lit::new(literal.clone()) {
            Lit::Str(text) => Some(text.value()),
            _ => None,
        },
        TokenTree::Group(group) if group.delimiter() == Delimiter::None => {
            let mut inner = group.stream().into_iter();
            inner.next().filter(|_| inner.next().is_none()).and_then(|value| text(&value))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quote::format_ident;

    fn field(source: &str) -> SerdeField {
        let item: syn::ItemStruct = syn::parse_str(&format!("struct S {{ {source} r#type: i32 }}")).unwrap();
        SerdeField::read(&item.fields.iter().next().unwrap().attrs)
    }

    #[test]
    fn field_attributes_are_read() {
        let serde = field(
            r#"#[serde(default = "one", alias = "a", alias = "b")] #[serde(rename(serialize = "s", deserialize = "d"), skip_serializing_if = "f")]"#,
        );
        assert_eq!(serde.default, Some(SerdeDefault::Path("one".into())));
        assert_eq!(serde.aliases, ["a", "b"]);
        assert_eq!(serde.skip_serializing_if.as_deref(), Some("f"));
        let ident = format_ident!("r#type");
        let none = (RenameRule::None, RenameRule::None);
        assert_eq!((serde.name(&ident, none), serde.name_read(&ident, none)), ("s".into(), "d".into()));
        assert_eq!(field("").name(&ident, (RenameRule::Upper, RenameRule::None)), "TYPE");
        assert!(field("#[serde(skip)]").skipped());
        assert_eq!(field("#[serde(default)]").default, Some(SerdeDefault::Trait));
    }

    #[test]
    fn malformed_attributes_are_ignored() {
        let serde = field("#[serde = 1] #[serde] #[serde(1 + 1, flatten, rename = 5, , with(a))]");
        assert!(serde.flatten && serde.rename_serialize.is_none() && serde.with.is_none());
    }

    #[test]
    fn container_attributes_are_read() {
        let item: syn::ItemStruct = syn::parse_str(
            r#"#[serde(rename_all = "camelCase", deny_unknown_fields, crate = "x")] #[serde(tag = "t", try_from = "T")] struct S;"#,
        )
        .unwrap();
        let serde = SerdeContainer::read(&item.attrs);
        assert_eq!(serde.rename_all, (RenameRule::Camel, RenameRule::Camel));
        assert!(serde.deny_unknown_fields && serde.key("crate").is_some());
        assert_eq!(serde.tag.unwrap().value, "t");
        assert_eq!(serde.read_as.unwrap().value, "T");
    }
}
