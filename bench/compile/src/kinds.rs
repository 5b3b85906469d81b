//! The kinds, in both dialects: the same fields, validations and columns, with kubesmith's attributes and with those of
//! kube-rs and schemars.
//!
//! A kind has a spec of 15 to 30 fields, which cycle through the sorts of [`SORTS`]; two nested structs, one in the
//! other; an enum of names and one whose variants have fields; a status with a phase, conditions and a list of
//! endpoints; a rule in CEL, three columns and a short name.

use std::fmt::Write as _;

/// The attributes of types.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    Kubesmith,
    KubeRs,
}

/// A sort of field.
struct Sort {
    name: &'static str,
    /// The type; `__Kind__` is replaced by the kind's name.
    ty: &'static str,
    /// Attributes of serde, for both dialects.
    serde: &'static str,
    kubesmith: &'static str,
    schemars: &'static str,
}

const DEFAULT: &str = "#[serde(default)]";
const UNSET: &str = "#[serde(default, skip_serializing_if = \"Option::is_none\")]";

const SORTS: [Sort; 12] = [
    Sort {
        name: "label",
        ty: "String",
        serde: "",
        kubesmith: "#[validation(min_length = 1, max_length = 63, pattern = \"^[a-z0-9-]+$\")]",
        schemars: "#[schemars(length(min = 1, max = 63), regex(pattern = \"^[a-z0-9-]+$\"))]",
    },
    Sort {
        name: "replicas",
        ty: "i32",
        serde: "#[serde(default = \"ten\")]",
        kubesmith: "#[validation(minimum = 0, maximum = 100)]",
        schemars: "#[schemars(range(min = 0, max = 100))]",
    },
    Sort { name: "paused", ty: "bool", serde: DEFAULT, kubesmith: "", schemars: "" },
    Sort {
        name: "hosts",
        ty: "Vec<String>",
        serde: DEFAULT,
        kubesmith: "#[schema(list_type = \"set\")]\n    #[validation(max_items = 16)]",
        schemars: "#[schemars(length(max = 16), extend(\"x-kubernetes-list-type\" = \"set\"))]",
    },
    Sort { name: "selector", ty: "BTreeMap<String, String>", serde: DEFAULT, kubesmith: "", schemars: "" },
    Sort { name: "timeoutSeconds", ty: "Option<i64>", serde: UNSET, kubesmith: "", schemars: "" },
    Sort { name: "mode", ty: "Option<__Kind__Mode>", serde: UNSET, kubesmith: "", schemars: "" },
    Sort { name: "backend", ty: "Option<__Kind__Backend>", serde: UNSET, kubesmith: "", schemars: "" },
    Sort {
        name: "backends",
        ty: "Vec<__Kind__Backend>",
        serde: DEFAULT,
        kubesmith: "#[schema(list_type = \"map\", list_map_key = \"name\")]",
        schemars: "#[schemars(extend(\"x-kubernetes-list-type\" = \"map\", \"x-kubernetes-list-map-keys\" = [\"name\"]))]",
    },
    Sort { name: "source", ty: "Option<__Kind__Source>", serde: UNSET, kubesmith: "", schemars: "" },
    Sort { name: "matching", ty: "Option<LabelSelector>", serde: UNSET, kubesmith: "", schemars: "" },
    Sort { name: "storageClassName", ty: "Option<String>", serde: UNSET, kubesmith: "", schemars: "" },
];

/// `Widget07`
pub(crate) fn name(number: usize) -> String {
    format!("Widget{number:02}")
}

/// Returns a crate's files: their paths and texts.
pub(crate) fn files(dialect: Dialect, kinds: usize) -> Vec<(String, String)> {
    let mut root = String::from("//! Kinds of a benchmark.\n\n");
    let mut files = Vec::new();
    for number in 0..kinds {
        let module = name(number).to_lowercase();
        let _ = writeln!(root, "pub mod {module};");
        files.push((format!("src/{module}.rs"), kind(dialect, number)));
    }
    files.push(("src/lib.rs".to_owned(), root));
    files
}

/// Returns the module of a kind.
fn kind(dialect: Dialect, number: usize) -> String {
    let (uses, derive, root) = match dialect {
        Dialect::Kubesmith => (KUBESMITH_USES, "Schema", KUBESMITH_ROOT),
        Dialect::KubeRs => (KUBE_RS_USES, "JsonSchema", KUBE_RS_ROOT),
    };
    let fields: String = (0..15 + number * 7 % 16).map(|at| field(dialect, at)).collect();
    let port = match dialect {
        Dialect::Kubesmith => "#[validation(minimum = 1, maximum = 65535)]",
        Dialect::KubeRs => "#[schemars(range(min = 1, max = 65535))]",
    };
    let conditions = match dialect {
        Dialect::Kubesmith => "#[schema(list_type = \"map\", list_map_key = \"type\")]",
        Dialect::KubeRs => {
            "#[schemars(extend(\"x-kubernetes-list-type\" = \"map\", \"x-kubernetes-list-map-keys\" = [\"type\"]))]"
        }
    };
    let text = format!("//! __Kind__ and its parts.\n\n{uses}{PARTS}{root}");
    text.replace("__fields__", &fields)
        .replace("__port__", port)
        .replace("__conditions__", conditions)
        .replace("__Schema__", derive)
        .replace("__Kind__", &name(number))
        .replace("__number__", &format!("{number:02}"))
}

fn field(dialect: Dialect, at: usize) -> String {
    let sort = &SORTS[at % SORTS.len()];
    let own = match dialect {
        Dialect::Kubesmith => sort.kubesmith,
        Dialect::KubeRs => sort.schemars,
    };
    let mut out = format!("    /// The {} of the part {}.\n", sort.name, at / SORTS.len());
    for attribute in [sort.serde, own].into_iter().filter(|attribute| !attribute.is_empty()) {
        let _ = writeln!(out, "    {attribute}");
    }
    // JSON names are those of the sorts; Rust names are the same in snake case.
    let snake: String = sort
        .name
        .chars()
        .flat_map(|c| c.is_uppercase().then_some('_').into_iter().chain(c.to_lowercase()))
        .collect();
    let _ = writeln!(out, "    pub {snake}{}: {},", at / SORTS.len(), sort.ty);
    out
}

const KUBESMITH_USES: &str = "use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, LabelSelector, ObjectMeta};
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};
";

const KUBE_RS_USES: &str = "use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, LabelSelector};
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
";

const PARTS: &str = r#"
/// How it works.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, __Schema__)]
pub enum __Kind__Mode {
    /// Fast.
    Fast,
    /// Safe.
    Safe,
    /// Off.
    Off,
}

/// Where something comes from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, __Schema__)]
#[serde(rename_all = "camelCase")]
pub enum __Kind__Source {
    /// From a config map.
    ConfigMap {
        /// Its name.
        name: String,
        /// Whether it may lack.
        #[serde(default)]
        optional: bool,
    },
    /// From another backend.
    Backend(__Kind__Probe),
}

/// When something answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, __Schema__)]
#[serde(rename_all = "camelCase")]
pub struct __Kind__Probe {
    /// Where to ask.
    pub path: String,
    /// How often.
    #[serde(default = "ten")]
    pub period_seconds: i32,
    /// What is sent along.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
}

/// What answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, __Schema__)]
#[serde(rename_all = "camelCase")]
pub struct __Kind__Backend {
    /// Tells backends apart.
    pub name: String,
    /// Where it listens.
    __port__
    pub port: i32,
    /// Its share.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<i32>,
    /// How it works.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<__Kind__Mode>,
    /// Whether it answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probe: Option<__Kind__Probe>,
}

/// Where it is found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, __Schema__)]
#[serde(rename_all = "camelCase")]
pub struct __Kind__Endpoint {
    /// Its address.
    pub address: String,
    /// Whether it answers.
    #[serde(default)]
    pub ready: bool,
}

/// What was seen of a __Kind__.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, __Schema__)]
#[serde(rename_all = "camelCase")]
pub struct __Kind__Status {
    /// A word for all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    /// The generation that was seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// How many answer.
    #[serde(default)]
    pub ready: i32,
    /// Where they are found.
    #[serde(default)]
    pub endpoints: Vec<__Kind__Endpoint>,
    /// Conditions by type.
    #[serde(default)]
    __conditions__
    pub conditions: Vec<Condition>,
}

fn ten() -> i32 {
    10
}
"#;

const KUBESMITH_ROOT: &str = r#"
/// What is wanted of a __Kind__.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct __Kind__Spec {
__fields__}

/// __Kind__ is a kind of a benchmark.
#[derive(Clone, Debug, PartialEq, Resource)]
#[resource(
    group = "bench.example.com",
    version = "v1",
    short_name = "w__number__",
    status,
    print_column(name = "Phase", type = "string", json_path = ".status.phase"),
    print_column(name = "Ready", type = "integer", json_path = ".status.ready"),
    print_column(name = "Age", type = "date", json_path = ".metadata.creationTimestamp")
)]
#[validation(rule(rule = "!self.spec.paused0 || self.spec.replicas0 == 0", message = "a paused one has no replicas"))]
#[genclient]
pub struct __Kind__ {
    /// Standard metadata.
    pub metadata: ObjectMeta,
    /// What is wanted.
    pub spec: __Kind__Spec,
    /// What was seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<__Kind__Status>,
}
"#;

const KUBE_RS_ROOT: &str = r#"
/// What is wanted of a __Kind__.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, CustomResource, JsonSchema)]
#[kube(
    group = "bench.example.com",
    version = "v1",
    kind = "__Kind__",
    shortname = "w__number__",
    namespaced,
    derive = "PartialEq",
    status = "__Kind__Status",
    printcolumn(name = "Phase", type_ = "string", json_path = ".status.phase"),
    printcolumn(name = "Ready", type_ = "integer", json_path = ".status.ready"),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp"),
    validation = kube::core::Rule::new("!self.spec.paused0 || self.spec.replicas0 == 0")
        .message("a paused one has no replicas")
)]
#[serde(rename_all = "camelCase")]
pub struct __Kind__Spec {
__fields__}
"#;
