//! Builds and joins schemas of resources.

mod branch;
mod build;
mod enums;
mod forms;
mod junctions;
mod merge;
mod size;
mod union;

pub use build::{SchemaOptions, Schemas, build};
pub(crate) use build::{drop_unknown_formats, standard_fields};
pub(crate) use forms::{close, nullable, unit};
pub use kubesmith_apiextensions::schema::{Additional, Number, Rule, Schema};
pub use merge::{difference, overlay};
pub(crate) use union::{Junction, union};

/// CEL's reserved words, which are escaped in field names.
const CEL_RESERVED: &[&str] = &[
    "true",
    "false",
    "null",
    "in",
    "as",
    "break",
    "const",
    "continue",
    "else",
    "for",
    "function",
    "if",
    "import",
    "let",
    "loop",
    "package",
    "namespace",
    "return",
];

/// A property's name in CEL, escaped as the API server does (`k8s.io/apiserver/pkg/cel/escaping.go`).
pub fn cel_field(name: &str) -> String {
    if CEL_RESERVED.contains(&name) {
        return format!("__{name}__");
    }
    name.replace("__", "__underscores__")
        .replace('.', "__dot__")
        .replace('-', "__dash__")
        .replace('/', "__slash__")
}
