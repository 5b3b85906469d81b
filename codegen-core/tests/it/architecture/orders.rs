//! The crates of the workspace with the orders of their modules.

/// A crate whose modules have an order.
pub(super) struct Crate {
    pub(super) folder: &'static str,
    /// The top-level modules, each after those that it may use.
    pub(super) order: &'static [&'static str],
    /// The uses against the order: module, used module, reason. The list only shrinks.
    pub(super) allowed: &'static [(&'static str, &'static str, &'static str)],
}

pub(super) const CRATES: &[Crate] = &[
    Crate {
        folder: "apimachinery",
        order: &[
            "golang",
            "errors",
            "names",
            "yaml",
            "decode",
            "quantity",
            "field",
            "fieldpath",
            "labels",
            "fields",
            "sharding",
            "jsonpath",
            "patch",
        ],
        allowed: &[],
    },
    Crate {
        folder: "goregex",
        order: &["ast", "error", "limits", "unicode", "escape", "parse", "class", "matching"],
        allowed: &[],
    },
    Crate {
        folder: "apiextensions",
        // Schemas have rules in the expression language; the checks of objects and definitions run them.
        order: &["schema", "formats", "openapi", "cel", "structural", "admission", "diff"],
        allowed: &[],
    },
    Crate { folder: "codegen-core", order: &["nesting", "diag", "names", "grammar", "model"], allowed: &[] },
    Crate {
        folder: "codegen-macros",
        order: &["constants", "report", "manifest", "module", "resource_serde", "resource", "schema"],
        allowed: &[],
    },
    Crate {
        folder: "codegen-cli",
        // What everything stands on, the stages in the order of the pipeline with the values between them, and the commands.
        order: &[
            "parallel",
            "cfg",
            "selection",
            "docs",
            "paths",
            "source",
            "macros",
            "diag",
            "notice",
            "lints",
            "output",
            // Values between the stages. Schemas of kinds are built from the representation and the known types.
            "ir",
            "known",
            "schema",
            "syntax",
            "config",
            // `load` follows the `mod` declarations that `parse` finds in a file.
            "parse",
            // Go packages become Rust source, which `load` has parsed.
            "go",
            "load",
            "resolve",
            "expand",
            "lower",
            "builtin",
            "definition",
            "validate",
            "api_rules",
            "roles",
            "reference",
            "format",
            "emit",
            "expansions",
            "evaluate",
            "pipeline",
            "write",
            "import",
            "cluster",
            "diff",
            "scaffold",
            "migrate",
            "explain",
            "serve",
            "cli",
        ],
        allowed: &[],
    },
];
