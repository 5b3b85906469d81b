//! Maps other paths of known types: std's facades and modules, and re-exports of crates.

use super::tables::OBJECT_META;
use super::{is_known, is_prelude};

/// Modules of std whose types are known by their names alone.
const STD: &[&str] = &["string", "vec", "option", "boxed", "result", "primitive"];

/// Modules whose items the enclosing module or crate re-exports.
const INNER: &[(&str, &[&str])] = &[
    (
        "std::collections",
        &["btree_map", "hash_map", "btree_set", "hash_set", "vec_deque", "binary_heap", "linked_list"],
    ),
    ("serde_json", &["value", "map"]),
    ("chrono", &["naive", "prelude"]),
    ("indexmap", &["map", "set"]),
];

/// Maps the paths of a type to one of them.
pub fn normalize(path: &str) -> String {
    let Some((lib, rest)) = path.split_once("::") else { return path.to_string() };
    match lib {
        "core" | "alloc" | "std" => std(rest),
        "kubesmith_runtime" => match rest.split_once("::").map_or(rest, |(first, _)| first) {
            "k8s_openapi" | "kube" | "serde_json" => normalize(rest),
            _ => path.to_string(),
        },
        "kube" | "kube_core" | "kube_client" => kube(rest).unwrap_or_else(|| path.to_string()),
        "k8s_openapi" if is_reexport(rest) => normalize(rest),
        "chrono" if rest == "Duration" => "chrono::TimeDelta".to_string(),
        _ => inner(path),
    }
}

/// Crates that k8s-openapi re-exports.
fn is_reexport(rest: &str) -> bool {
    ["jiff::", "chrono::", "serde_json::"].iter().any(|lib| rest.starts_with(lib))
}

fn std(rest: &str) -> String {
    match rest.split_once("::") {
        Some((module, name)) if STD.contains(&module) && is_prelude(name) => name.to_string(),
        _ => inner(&format!("std::{rest}")),
    }
}

/// The path without a module that a re-export makes redundant.
fn inner(path: &str) -> String {
    if is_known(path) {
        return path.to_string();
    }
    for (outer, modules) in INNER {
        let parts = path.strip_prefix(outer).and_then(|rest| rest.strip_prefix("::")?.split_once("::"));
        if let Some((module, name)) = parts
            && modules.contains(&module)
        {
            let short = format!("{outer}::{name}");
            return if is_known(&short) { short } else { path.to_string() };
        }
    }
    path.to_string()
}

/// kube's own types and its re-exports.
fn kube(rest: &str) -> Option<String> {
    if let Some(rest) = rest.strip_prefix("k8s_openapi::") {
        return Some(normalize(&format!("k8s_openapi::{rest}")));
    }
    let name = rest.rsplit("::").next()?;
    let module = rest.strip_suffix(name)?;
    let module = module.strip_prefix("core::").unwrap_or(module);
    let is_public = matches!(module, "" | "api::" | "duration::" | "metadata::" | "gvk::" | "dynamic::");
    let path = format!("kube::core::{name}");
    match name {
        _ if !is_public => None,
        "ObjectMeta" => Some(OBJECT_META.to_string()),
        _ => is_known(&path).then_some(path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alternative_path_resolves_to_the_same_type() {
        for (path, normal) in [
            ("alloc::string::String", "String"),
            ("std::primitive::u16", "u16"),
            ("core::result::Result", "Result"),
            ("std::collections::btree_map::BTreeMap", "std::collections::BTreeMap"),
            ("std::collections::hash_map::Entry", "std::collections::hash_map::Entry"),
            ("kubesmith_runtime::serde_json::Value", "serde_json::Value"),
            ("serde_json::value::Map", "serde_json::Map"),
            ("serde_json::map::Map", "serde_json::Map"),
            ("serde_json::value::RawValue", "serde_json::value::RawValue"),
            ("chrono::prelude::DateTime", "chrono::DateTime"),
            ("chrono::naive::NaiveTime", "chrono::NaiveTime"),
            ("chrono::Duration", "chrono::TimeDelta"),
            ("indexmap::map::IndexMap", "indexmap::IndexMap"),
            ("k8s_openapi::jiff::Timestamp", "jiff::Timestamp"),
            ("kubesmith_runtime::kube::api::ObjectMeta", OBJECT_META),
            ("kube::core::ObjectMeta", OBJECT_META),
            ("kube_core::metadata::TypeMeta", "kube::core::TypeMeta"),
            ("kube::api::DynamicObject", "kube::core::DynamicObject"),
            ("kube::Client", "kube::Client"),
            ("core::time::Duration", "std::time::Duration"),
        ] {
            assert_eq!(normalize(path), normal);
        }
    }
}
