//! Names the users' types and fields in generated code.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::TokenStream;

use crate::ir::{Ir, RustType, TypeDef, TypeId};

use super::{Package, RustOptions, comments, file_header, plan};

/// Whether generated code can name the type.
pub(super) fn is_nameable(definition: &TypeDef, nameable: &BTreeSet<&str>) -> bool {
    definition.code_path.as_deref().and_then(krate).is_some_and(|krate| nameable.contains(krate))
}

/// Whether the type is in the crate of the generated module.
pub(super) fn is_own(definition: &TypeDef, package: &Package) -> bool {
    let Package::Module { own_lib: Some(own), .. } = package else { return false };
    definition.code_path.as_deref().and_then(krate) == Some(own)
}

/// The types with a path for other crates, by these paths.
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

/// The path of a [nameable](is_nameable) type.
fn code_path(ir: &Ir, id: TypeId) -> &str {
    ir.types[id.0 as usize].code_path.as_deref().unwrap_or_default()
}

/// The name, with a number if it is taken.
pub(super) fn free(taken: &mut BTreeSet<String>, name: &str) -> String {
    let mut free = name.to_owned();
    let mut number = 2;
    while !taken.insert(free.clone()) {
        free = format!("{name}_{number}");
        number += 1;
    }
    free
}

/// A field or variant as an identifier in code.
pub(super) fn identifier(name: &str) -> String {
    let name = name.trim_start_matches("r#");
    if syn::parse_str::<syn::Ident>(name).is_ok() { name.to_owned() } else { format!("r#{name}") }
}

/// A string literal with JSON, without escapes.
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

/// A type in the notation of generated code; `None`: the code cannot name it.
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

/// The crate of a path; primitive types have none.
fn krate(path: &str) -> Option<&str> {
    path.split_once("::").map(|(krate, _)| krate)
}

/// Items as a syntax tree.
///
/// # Panics
/// Panics if the tokens are not Rust. They consist of identifiers, paths and literals, so that no input
/// causes this; `codegen-cli/tests/it/properties.rs` tests it.
pub(super) fn items(tokens: &TokenStream) -> syn::File {
    syn::parse2(tokens.clone())
        .unwrap_or_else(|error| panic!("generated code is not Rust: {error}\n{tokens}"))
}

/// A file: its path in the package and its text. `code` is Rust source.
///
/// # Panics
/// Panics if the code is not Rust. It consists of parsed identifiers and paths, of JSON in [literals](json)
/// and of comments without line breaks, so that no input causes this; `codegen-cli/tests/it/properties.rs`
/// tests it.
pub(super) fn file(options: &RustOptions, source: &str, path: &str, code: &str) -> (String, String) {
    (options.package.source_path(path), text(&options.header, source, code))
}

/// The text of a file; see [`file`].
pub(super) fn text(header: &str, source: &str, code: &str) -> String {
    let parsed =
        syn::parse_file(code).unwrap_or_else(|error| panic!("generated code is not Rust: {error}\n{code}"));
    file_header(&comments(header, "//"), "//", source) + "\n" + &crate::format::head(&parsed)
}
