//! Naming the users' types and fields in generated code.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::TokenStream;

use crate::ir::{Ir, RustType, TypeDef, TypeId};

use super::{Package, RustOptions, comments, file_header, plan};

/// Whether generated code can name the type.
pub(super) fn is_nameable(definition: &TypeDef, nameable: &BTreeSet<&str>) -> bool {
    definition.code_path.as_deref().and_then(krate).is_some_and(|krate| nameable.contains(krate))
}

/// Whether the type is of the crate that the generated module is a part of.
pub(super) fn is_own(definition: &TypeDef, package: &Package) -> bool {
    let Package::Module { own_lib: Some(own), .. } = package else { return false };
    definition.code_path.as_deref().and_then(krate) == Some(own)
}

/// The types that other crates can name, by their paths.
pub(super) fn by_path(ir: &Ir) -> BTreeMap<&str, TypeId> {
    let ids = (0..).map(TypeId).zip(&ir.types);
    ids.filter_map(|(id, definition)| Some((definition.code_path.as_deref()?, id))).collect()
}

/// A type's name without modules.
pub(super) fn name(ir: &Ir, id: TypeId) -> &str {
    let path = code_path(ir, id);
    path.rsplit("::").next().unwrap_or(path)
}

/// A type's path in the package.
pub(super) fn path(ir: &Ir, id: TypeId, options: &RustOptions) -> String {
    plan::object_path(code_path(ir, id), &options.package)
}

/// Only types that are [nameable](is_nameable) are asked for.
fn code_path(ir: &Ir, id: TypeId) -> &str {
    ir.types[id.0 as usize].code_path.as_deref().unwrap_or_default()
}

/// The name, or with a number if something else has it.
pub(super) fn free(taken: &mut BTreeSet<String>, name: &str) -> String {
    let mut free = name.to_owned();
    let mut number = 2;
    while !taken.insert(free.clone()) {
        free = format!("{name}_{number}");
        number += 1;
    }
    free
}

/// A field or variant as code has to write it.
pub(super) fn identifier(name: &str) -> String {
    let name = name.trim_start_matches("r#");
    if syn::parse_str::<syn::Ident>(name).is_ok() { name.to_owned() } else { format!("r#{name}") }
}

/// A string that holds JSON, without escapes.
pub(super) fn json(value: &serde_json::Value) -> String {
    let text = value.to_string();
    if !text.contains(['"', '\\']) {
        return format!("\"{text}\"");
    }
    let mut marks = "#".to_owned();
    while text.contains(&format!("\"{marks}")) {
        marks.push('#');
    }
    format!("r{marks}\"{text}\"{marks}")
}

/// A type as generated code writes it. `None`: it cannot be named.
pub(super) fn type_text(ty: &RustType, nameable: &BTreeSet<&str>, package: &Package) -> Option<String> {
    let (path, arguments) = match ty {
        RustType::User(path, arguments) => {
            let is_nameable = nameable.contains(krate(path)?);
            (is_nameable.then(|| plan::object_path(path, package))?, arguments)
        }
        RustType::Known(path, arguments) => {
            let text = match krate(path) {
                Some("std") => format!("::{path}"),
                Some("k8s_openapi" | "serde_json") => format!("::kubesmith_runtime::{path}"),
                Some(_) => return None,
                None => path.clone(),
            };
            (text, arguments)
        }
        _ => return None,
    };
    let arguments: Option<Vec<String>> =
        arguments.iter().map(|argument| type_text(argument, nameable, package)).collect();
    let arguments = arguments?;
    Some(if arguments.is_empty() { path } else { format!("{path}<{}>", arguments.join(", ")) })
}

/// The crate of a path; what is of the language has none.
fn krate(path: &str) -> Option<&str> {
    path.split_once("::").map(|(krate, _)| krate)
}

/// Items as a syntax tree.
///
/// # Panics
/// The tokens are not Rust. They are built of identifiers, paths and literals, so that no input makes them so;
/// `codegen-cli/tests/it/properties.rs` tries.
pub(super) fn items(tokens: &TokenStream) -> syn::File {
    syn::parse2(tokens.clone())
        .unwrap_or_else(|error| panic!("generated code is not Rust: {error}\n{tokens}"))
}

/// A file: its path in the package and its text. `code` is Rust that was written as text.
///
/// # Panics
/// The code is no Rust. It is made of identifiers and paths that were parsed, of JSON in [literals](json) and of texts without
/// line breaks in comments, so that no input makes it so; `codegen-cli/tests/it/properties.rs` tries.
pub(super) fn file(options: &RustOptions, source: &str, path: &str, code: &str) -> (String, String) {
    (options.package.source_path(path), text(&options.header, source, code))
}

/// The text of a file; see [`file`].
pub(super) fn text(header: &str, source: &str, code: &str) -> String {
    let parsed =
        syn::parse_file(code).unwrap_or_else(|error| panic!("generated code is no Rust: {error}\n{code}"));
    file_header(&comments(header, "//"), "//", source) + "\n" + &crate::format::head(&parsed)
}
