//! Emits fields of apply configurations and the methods that set them.

use proc_macro2::{Literal, TokenStream};
use quote::quote;

use super::super::skeleton::{Docs, ident, path};
use super::super::{docs, names};
use super::Form;
use super::fields::Field;

/// Fields of an object's metadata for which the configuration of a kind has methods.
pub(super) const METADATA: [&str; 5] = ["name", "namespace", "labels", "annotations", "finalizers"];

/// A field of a struct, with serde's attributes if the struct has its derives; `rust` writes types.
pub(super) fn declaration(field: &Field, derives: bool, rust: impl Fn(&Form) -> String) -> TokenStream {
    let doc = docs::summary(sentence(&field.doc));
    let doc = if doc.is_empty() { format!("The field `{}`.", docs::plain(&field.json)) } else { doc };
    let (docs, name, ty) = (Docs(doc), ident(&field.rust), held(field, rust));
    let ty = if is_bare(field) { ty } else { quote!(Option<#ty>) };
    let serde = derives.then(|| attribute(field));
    quote! {
        #docs
        #serde
        pub #name: #ty,
    }
}

/// serde's attribute of a field.
fn attribute(field: &Field) -> TokenStream {
    let skip = if is_bare(field) { "BTreeMap::is_empty" } else { "Option::is_none" };
    let renamed = (field.rust != field.json).then(|| {
        let json = Literal::string(&field.json);
        quote!(rename = #json,)
    });
    let form = match (&field.form, field.flatten) {
        (_, true) => quote!(flatten,),
        (Form::Nullable(_), _) => {
            quote!(#renamed default, deserialize_with = "applyconfigurations::nullable",)
        }
        _ => quote!(#renamed),
    };
    quote!(#[serde(#form skip_serializing_if = #skip)])
}

/// The method that sets a field: scalars are replaced, lists grow, maps are merged.
pub(super) fn method(field: &Field, rust: impl Fn(&Form) -> String) -> TokenStream {
    let (name, with) = (ident(&field.rust), ident(&format!("with_{}", names::bare(&field.rust))));
    let link = format!("[`{0}`](Self::{0})", field.rust);
    let (item, is_list, is_map) = match &field.form {
        Form::List(item) => (path(&rust(item)), true, false),
        Form::Map(value) => (path(&rust(value)), false, true),
        _ => (held(field, rust), false, false),
    };
    let innermost = match &field.form {
        Form::List(inner) | Form::Map(inner) => inner,
        form => form,
    };
    let converts = field.boxed || matches!(innermost, Form::Whole { converts: true, .. });
    let target = match is_bare(field) {
        true => quote!(self.#name),
        false => quote!(self.#name.get_or_insert_default()),
    };
    let taken = if converts { quote!(impl Into<#item>) } else { item };
    let (docs, value, set) = if is_list {
        let items = if converts { quote!(items.into_iter().map(Into::into)) } else { quote!(items) };
        let argument = quote!(items: impl IntoIterator<Item = #taken>);
        (format!("Appends to {link}."), argument, quote!(#target.extend(#items)))
    } else if is_map {
        let value = if converts { quote!(value.into()) } else { quote!(value) };
        let argument = quote!(entries: impl IntoIterator<Item = (impl Into<String>, #taken)>);
        let entries = quote!(entries.into_iter().map(|(key, value)| (key.into(), #value)));
        (
            format!("Adds to {link}; an old key gets the new value."),
            argument,
            quote!(#target.extend(#entries)),
        )
    } else {
        let value = if converts { quote!(value.into()) } else { quote!(value) };
        (format!("Sets {link}."), quote!(value: #taken), quote!(self.#name = Some(#value)))
    };
    // Generic methods are compiled at their calls; the others would be compiled with the package.
    let inline = (!is_list && !is_map && !converts).then(|| quote!(#[inline]));
    let docs = Docs(docs);
    quote! {
        #docs
        #inline
        pub fn #with(mut self, #value) -> Self {
            #set;
            self
        }
    }
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

/// The type of a field, boxed if it may contain its own struct.
fn held(field: &Field, rust: impl Fn(&Form) -> String) -> TokenStream {
    let ty = path(&rust(&field.form));
    if field.boxed { quote!(Box<#ty>) } else { ty }
}

/// Whether the field is a flattened map.
fn is_bare(field: &Field) -> bool {
    field.flatten && matches!(field.form, Form::Map(_))
}

/// The first sentence of a text.
fn sentence(text: &str) -> &str {
    let text = text.split("\n\n").next().unwrap_or_default();
    let mut ends = text.match_indices(['.', '\n']).filter(|(at, _)| {
        let rest = &text[at + 1..];
        // Not after `e.g.`, nor in a name.
        rest.starts_with([' ', '\n'])
            && rest.trim_start().starts_with(|c: char| c.is_ascii_uppercase() || c == '`')
    });
    ends.find(|(at, mark)| *mark == "." && !text[..*at].ends_with("e.g") && !text[..*at].ends_with("i.e"))
        .map_or(text, |(at, _)| &text[..=at])
}
