//! Fields of apply configurations and the methods that set them.

use proc_macro2::{Literal, TokenStream};
use quote::quote;

use super::super::skeleton::{Docs, ident};
use super::super::{docs, layout, names};
use super::Form;
use super::fields::Field;

/// Fields of an object's metadata that the configuration of a kind sets by methods of its own.
pub(super) const METADATA: [&str; 5] = ["name", "namespace", "labels", "annotations", "finalizers"];

/// Writes a field; `rust` writes types.
pub(super) fn declaration(field: &Field, rust: impl Fn(&Form) -> String, out: &mut String) {
    let doc = docs::summary(sentence(&field.doc));
    let doc = if doc.is_empty() { format!("The field `{}`.", docs::plain(&field.json)) } else { doc };
    let (name, ty) = (&field.rust, held(field, rust));
    let (ty, skip) = match is_bare(field) {
        true => (ty, "BTreeMap::is_empty"),
        false => (format!("Option<{ty}>"), "Option::is_none"),
    };
    let renamed = match field.rust == field.json {
        true => String::new(),
        false => format!("rename = {}, ", Literal::string(&field.json)),
    };
    let form = match (&field.form, field.flatten) {
        (_, true) => "flatten, ".to_owned(),
        (Form::Nullable(_), _) => {
            format!("{renamed}default, deserialize_with = \"applyconfigurations::nullable\", ")
        }
        _ => renamed,
    };
    let attribute = format!("#[serde({form}skip_serializing_if = \"{skip}\")]");
    layout::field(&doc, &attribute, &format!("pub {name}: {ty},"), out);
}

/// Writes the method that sets a field: scalars are replaced, lists grow, maps are merged.
pub(super) fn method(field: &Field, rust: impl Fn(&Form) -> String, out: &mut String) {
    let name = &field.rust;
    let link = format!("[`{name}`](Self::{name})");
    let (item, is_list, is_map) = match &field.form {
        Form::List(item) => (rust(item), true, false),
        Form::Map(value) => (rust(value), false, true),
        _ => (held(field, rust), false, false),
    };
    let innermost = match &field.form {
        Form::List(inner) | Form::Map(inner) => inner,
        form => form,
    };
    let converts = field.boxed || matches!(innermost, Form::Whole { converts: true, .. });
    let taken = if converts { format!("impl Into<{item}>") } else { item };
    let (docs, argument, set) = if is_list {
        let items = if converts { ".extend(items.into_iter().map(Into::into))" } else { ".extend(items)" };
        (format!("Appends to {link}."), format!("items: impl IntoIterator<Item = {taken}>"), items)
    } else if is_map {
        let entries = match converts {
            true => ".extend(entries.into_iter().map(|(key, value)| (key.into(), value.into())))",
            false => ".extend(entries.into_iter().map(|(key, value)| (key.into(), value)))",
        };
        (
            format!("Adds to {link}; an old key gets the new value."),
            format!("entries: impl IntoIterator<Item = (impl Into<String>, {taken})>"),
            entries,
        )
    } else {
        let value = if converts { " = Some(value.into())" } else { " = Some(value)" };
        (format!("Sets {link}."), format!("value: {taken}"), value)
    };
    let of_field = format!("self.{name}");
    let statement = match (is_list || is_map, is_bare(field)) {
        (false, _) => vec![of_field + set],
        (true, true) => vec![of_field, set.to_owned()],
        (true, false) => vec![of_field, ".get_or_insert_default()".to_owned(), set.to_owned()],
    };
    let setter = layout::Setter {
        docs: &docs,
        // Generic methods are compiled where they are called; the others would be compiled with the package.
        is_inline: !is_list && !is_map && !converts,
        name: &format!("with_{}", names::bare(name)),
        argument: &argument,
        statement: &statement.iter().map(String::as_str).collect::<Vec<_>>(),
    };
    setter.write(out);
}

/// The method of an object that sets a field of its metadata.
pub(super) fn of_metadata(field: &str) -> TokenStream {
    let (docs, argument) = match field {
        "name" => ("Sets the name of the object.", quote!(impl Into<String>)),
        "namespace" => ("Sets the namespace of the object.", quote!(impl Into<String>)),
        "finalizers" => {
            ("Appends to the finalizers of the object.", quote!(impl IntoIterator<Item = impl Into<String>>))
        }
        "labels" => ("Adds labels to the object.", entries()),
        _ => ("Adds annotations to the object.", entries()),
    };
    let (docs, name, with) = (Docs(docs), ident(field), ident(&format!("with_{field}")));
    quote! {
        #docs
        pub fn #with(mut self, #name: #argument) -> Self {
            self.metadata = Some(self.metadata.unwrap_or_default().#with(#name));
            self
        }
    }
}

fn entries() -> TokenStream {
    quote!(impl IntoIterator<Item = (impl Into<String>, impl Into<String>)>)
}

/// What a field holds, on the heap where it may hold what it stands in.
fn held(field: &Field, rust: impl Fn(&Form) -> String) -> String {
    let ty = rust(&field.form);
    if field.boxed { format!("Box<{ty}>") } else { ty }
}

/// Whether the field is a map whose entries stand beside the other fields.
fn is_bare(field: &Field) -> bool {
    field.flatten && matches!(field.form, Form::Map(_))
}

/// The first sentence of a text.
fn sentence(text: &str) -> &str {
    let text = text.split("\n\n").next().unwrap_or_default();
    let mut ends = text.match_indices(['.', '\n']).filter(|(at, _)| {
        let rest = &text[at + 1..];
        // Not behind `e.g.`, nor in a name.
        rest.starts_with([' ', '\n'])
            && rest.trim_start().starts_with(|c: char| c.is_ascii_uppercase() || c == '`')
    });
    ends.find(|(at, mark)| *mark == "." && !text[..*at].ends_with("e.g") && !text[..*at].ends_with("i.e"))
        .map_or(text, |(at, _)| &text[..=at])
}
