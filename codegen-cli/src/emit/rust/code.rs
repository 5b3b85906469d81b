//! Naming the users' types and fields in generated code.

use std::collections::BTreeSet;

use crate::ir::{Ir, TypeDef, TypeId, TypeRef};

use super::{RustOptions, comments, file_header, plan};

/// Whether generated code can name the type.
pub(super) fn is_nameable(definition: &TypeDef, nameable: &BTreeSet<&str>) -> bool {
    let krate = definition.code_path.as_deref().and_then(|path| path.split("::").next());
    krate.is_some_and(|krate| nameable.contains(krate))
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

/// The containers that `kubesmith_runtime::defaults::each` and `conversion::each` look into.
const CONTAINERS: &[&str] = &["Option", "Vec", "VecDeque", "Box", "BTreeMap", "HashMap", "String", "_"];

/// Whether the type, with whatever names, is made of these containers and the users' types.
pub(super) fn is_plain(form: &str) -> bool {
    let parts = form.split(['<', '>', ',', '[', ']', ' ']).filter(|part| !part.is_empty());
    parts.map(|part| part.rsplit("::").next().unwrap_or(part)).all(|part| CONTAINERS.contains(&part))
}

/// What lists, maps and options hold.
pub(super) fn leaf(ty: &TypeRef) -> &TypeRef {
    match ty {
        TypeRef::List(inner) | TypeRef::Array(inner, _) | TypeRef::Map(inner) | TypeRef::Nullable(inner) => {
            leaf(inner)
        }
        ty => ty,
    }
}

/// A field's type as generated code writes it; `user` is the one type of the inputs in it. `None`: it cannot be named.
pub(super) fn type_text(form: &str, user: Option<&str>) -> Option<String> {
    let mut out = String::new();
    let mut rest = form;
    while let Some(first) = rest.chars().next() {
        let is_path = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == ':';
        if !is_path(first) {
            (matches!(first, '<' | '>' | ',' | ' ')).then_some(())?;
            out.push(first);
            rest = &rest[first.len_utf8()..];
            continue;
        }
        let end = rest.find(|c| !is_path(c)).unwrap_or(rest.len());
        out += &match &rest[..end] {
            "_" => user?.to_owned(),
            path if path.starts_with("std::") => format!("::{path}"),
            path if path.starts_with("k8s_openapi::") || path.starts_with("serde_json::") => {
                format!("::kubesmith_runtime::{path}")
            }
            path if path.contains("::") => return None,
            path => path.to_owned(),
        };
        rest = &rest[end..];
    }
    Some(out)
}

/// A file: its path in the package and its text.
///
/// # Panics
/// The code is no Rust. It is made of identifiers and paths that were parsed, of JSON in [literals](json) and of texts without
/// line breaks in comments, so that no input makes it so; `codegen-cli/tests/it/properties.rs` tries.
pub(super) fn file(options: &RustOptions, source: &str, path: &str, code: &str) -> (String, String) {
    let parsed =
        syn::parse_file(code).unwrap_or_else(|error| panic!("generated code is no Rust: {error}\n{code}"));
    let header = file_header(&comments(&options.header, "//"), "//", source);
    (options.package.source_path(path), crate::format::rust(&header, &parsed))
}
