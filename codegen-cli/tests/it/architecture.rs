//! The modules of the command's library use each other in one direction.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The top-level modules, each after those that it may use: the base, the stages in the order of the pipeline
/// with the values between them, and the commands.
const ORDER: [&str; 44] = [
    "parallel",
    "nesting",
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
    // Values between the stages. A schema is part of the representation; those of kinds are built from it.
    "schema",
    "ir",
    "known",
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
    "main",
];

/// Building the schemas of kinds needs the representation and the known types, which have schemas in them.
const ALLOWED: [(&str, &str); 2] = [("schema", "ir"), ("schema", "known")];

fn sources(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, out);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            out.push(path);
        }
    }
}

/// The modules that code names by `crate::...`, in paths and in lists such as `crate::{a, b::C}`.
fn used(text: &str) -> BTreeSet<String> {
    let code = text.split("\n#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let code: String = code.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
    let name = |text: &str| -> String {
        text.trim_start().chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect()
    };
    let mut out = BTreeSet::new();
    for (_, rest) in code.match_indices("crate::").map(|(at, found)| code.split_at(at + found.len())) {
        match rest.strip_prefix('{').and_then(|list| list.split_once("};")) {
            Some((list, _)) => out.extend(list.split(',').map(name)),
            None => drop(out.insert(name(rest))),
        }
    }
    out
}

#[test]
fn modules_use_only_modules_before_them() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let rank = |name: &str| ORDER.iter().position(|known| *known == name);
    let mut files = Vec::new();
    sources(&root, &mut files);
    let mut wrong = BTreeSet::new();
    for path in files {
        let below = path.strip_prefix(&root).unwrap().to_str().unwrap().replace('\\', "/");
        let module = below.split(['/', '.']).next().unwrap();
        if module == "lib" || below.ends_with("tests.rs") {
            continue;
        }
        let own = rank(module).unwrap_or_else(|| panic!("{module} has no place in ORDER"));
        for other in used(&fs::read_to_string(&path).unwrap()) {
            let is_allowed = ALLOWED.contains(&(module, other.as_str()));
            if rank(&other).is_some_and(|rank| rank > own) && !is_allowed {
                wrong.insert(format!("{below} uses {other}, which comes after {module}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
