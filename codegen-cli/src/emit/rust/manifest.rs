//! Cargo.toml of a generated package.

use super::{Dependency, Package, RustOptions, comments, file_header, plan, root_docs};
use crate::ir::Ir;

/// Emits the manifest; a module has none.
///
/// ```toml
/// [package]
/// name = "ecsbinding-client"
/// ...
/// [dependencies]
/// ecsbinding-api = { path = "../api" }
/// kubesmith-runtime = "0.1.0"
/// ```
pub(super) fn emit(ir: &Ir, options: &RustOptions) -> Option<String> {
    let Package::Crate { name, runtime, apis } = &options.package else { return None };
    let mut out = file_header(&comments(&options.header, "#"), "#", &plan::packages(ir));
    // A client belongs to the version of its API.
    let version = ir.crates.first().map_or("0.1.0", |input| input.version.as_str());
    let description = format!("{} of {}", root_docs::parts(ir, options.parts), root_docs::group_names(ir));
    out.push_str("\n[package]\n");
    for (key, value) in
        [("name", name.as_str()), ("description", &description), ("version", version), ("edition", "2024")]
    {
        out.push_str(&format!("{key} = {}\n", quote(value)));
    }
    let mut dependencies: Vec<_> =
        apis.iter().map(|(name, dependency)| (name.as_str(), dependency)).collect();
    dependencies.push(("kubesmith-runtime", runtime));
    dependencies.sort_by_key(|(name, _)| *name);
    if !options.definitions.is_empty() {
        out.push_str("\n[features]\n");
        out.push_str("# `validate()` of every kind, as an API server does it.\n");
        out.push_str("validation = [\"kubesmith-runtime/validation\"]\n");
    }
    out.push_str("\n[dependencies]\n");
    for (name, dependency) in dependencies {
        out.push_str(&format!("{name} = {}\n", value(dependency)));
    }
    Some(out)
}

fn value(dependency: &Dependency) -> String {
    match dependency {
        Dependency::Version(version) => quote(version),
        Dependency::Path { path, version: None } => format!("{{ path = {} }}", quote(path)),
        Dependency::Path { path, version: Some(version) } => {
            format!("{{ path = {}, version = {} }}", quote(path), quote(version))
        }
    }
}

/// A TOML string.
fn quote(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}
