//! Writes the synthetic API: a crate of kubesmith types, the same shape in every run.
//!
//! Per kind: a spec whose fields cycle through ten sorts (bounded string, bounded integer with a
//! default, flag, list of strings, map of strings, optional integer, enum, optional struct, list of
//! structs, label selector), a nested struct of four fields, an enum of three values, a status with
//! a phase, an observed generation and conditions. Odd kinds are namespaced, even ones cluster-scoped.

use std::fmt::Write as _;
use std::path::Path;
use std::{fs, io};

const SORTS: [&str; 10] =
    ["text", "bounded", "flag", "texts", "pairs", "optint", "enum", "nested", "nesteds", "selector"];

/// Writes a crate with `kinds` kinds of `fields` spec fields each into `folder`.
pub(crate) fn write(folder: &Path, kinds: usize, fields: usize) -> io::Result<()> {
    let source = folder.join("src");
    fs::create_dir_all(&source)?;
    fs::write(folder.join("Cargo.toml"), MANIFEST)?;
    let mut root = String::from("//! A synthetic API.\n\n");
    for number in 0..kinds {
        let kind = format!("Widget{number:03}");
        let module = kind.to_lowercase();
        let _ = writeln!(root, "pub mod {module};");
        fs::write(source.join(format!("{module}.rs")), types(&kind, number % 2 == 1, fields))?;
    }
    fs::write(source.join("lib.rs"), root)
}

const MANIFEST: &str = r#"[package]
name = "synth-api"
version = "0.1.0"
edition = "2024"
publish = false

[workspace]

[dependencies]
k8s-openapi = { version = "0.29", features = ["v1_36"] }
kubesmith-runtime = { version = "0.1.0", default-features = false }
serde = { version = "1", features = ["derive"] }
"#;

fn types(kind: &str, namespaced: bool, fields: usize) -> String {
    let mut body = String::new();
    for field in 0..fields {
        let sort = SORTS[field % SORTS.len()];
        let _ = writeln!(body, "    /// Field {field:02} is a {sort} field of {kind}.");
        let (attributes, ty) = sort_of(sort, kind);
        for attribute in attributes {
            let _ = writeln!(body, "    {attribute}");
        }
        let _ = writeln!(body, "    pub {sort}{field:02}: {ty},");
    }
    let scope = if namespaced { "Namespaced" } else { "Cluster" };
    let genclient = if namespaced { "#[genclient]" } else { "#[genclient(non_namespaced)]" };
    SKELETON
        .replace("__Kind__", kind)
        .replace("__Fields__", &body)
        .replace("__Scope__", scope)
        .replace("__Genclient__", genclient)
}

fn sort_of(sort: &str, kind: &str) -> (&'static [&'static str], String) {
    const DEFAULT: &str = "#[serde(default)]";
    let (attributes, ty): (&[&str], &str) = match sort {
        "text" => (&["#[validation(min_length = 1, max_length = 63, pattern = \"^[a-z0-9-]+$\")]"], "String"),
        "bounded" => {
            (&["#[validation(minimum = 0, maximum = 100)]", "#[schema(default = 10)]", DEFAULT], "i32")
        }
        "flag" => (&[DEFAULT], "bool"),
        "texts" => {
            (&["#[schema(list_type = \"set\")]", "#[validation(max_items = 16)]", DEFAULT], "Vec<String>")
        }
        "pairs" => (&[DEFAULT], "BTreeMap<String, String>"),
        "optint" => (&[], "Option<i64>"),
        "enum" => (&[], "Option<__Kind__Mode>"),
        "nested" => (&[], "Option<__Kind__Part>"),
        "nesteds" => {
            (&["#[schema(list_type = \"map\", list_map_key = \"name\")]", DEFAULT], "Vec<__Kind__Part>")
        }
        _ => (&[], "Option<LabelSelector>"),
    };
    (attributes, ty.replace("__Kind__", kind))
}

const SKELETON: &str = r#"//! __Kind__ and its parts.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, LabelSelector, ObjectMeta};
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

/// One of three modes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, Schema)]
pub enum __Kind__Mode {
    /// Fast.
    Fast,
    /// Safe.
    Safe,
    /// Off.
    Off,
}

/// A nested struct.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct __Kind__Part {
    /// Name tells parts apart.
    pub name: String,
    /// Port is where it listens.
    #[validation(minimum = 1, maximum = 65535)]
    pub port: i32,
    /// Enabled switches it on.
    #[serde(default)]
    pub enabled: bool,
    /// Args are passed on.
    #[schema(list_type = "atomic")]
    #[serde(default)]
    pub args: Vec<String>,
}

/// What is wanted of a __Kind__.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct __Kind__Spec {
__Fields__}

/// What was seen of a __Kind__.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct __Kind__Status {
    /// Phase in a word.
    pub phase: Option<String>,
    /// Generation that was seen last.
    pub observed_generation: Option<i64>,
    /// Conditions by type.
    #[schema(list_type = "map", list_map_key = "type")]
    #[serde(default)]
    pub conditions: Vec<Condition>,
}

/// __Kind__ is a synthetic kind.
#[derive(Clone, Debug, PartialEq, Resource)]
#[resource(
    group = "synth.example.com",
    version = "v1alpha1",
    scope = "__Scope__",
    status,
    print_column(name = "Phase", type = "string", json_path = ".status.phase")
)]
__Genclient__
#[deepcopy]
pub struct __Kind__ {
    /// Standard metadata.
    pub metadata: ObjectMeta,
    /// What is wanted.
    pub spec: __Kind__Spec,
    /// What was seen.
    #[serde(default)]
    pub status: __Kind__Status,
}
"#;
