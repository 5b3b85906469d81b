//! Emits the Cargo.toml of a generated package.

use super::plan::Plan;
use super::{Dependency, Git, Package, comments, file_header, root_docs};

/// Emits the manifest; a module has none.
///
/// ```toml
/// [package]
/// name = "ecsbinding-client"
/// ...
/// [dependencies]
/// ecsbinding-api = { path = "../api" }
/// kubesmith-runtime = "0.1.0"
/// kubesmith-testenv = { version = "0.1.0", optional = true }
/// ```
pub(super) fn emit(plan: &Plan<'_>) -> Option<String> {
    let (ir, options) = (plan.ir, plan.options);
    let Package::Crate { name, runtime, testenv, apis } = &options.package else { return None };
    let mut out = file_header(&comments(&options.header, "#"), "#", &plan.sources);
    // A client has the version of its API.
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
    let mut features = String::new();
    if options.parts.has_fake() {
        dependencies.push((TESTENV, testenv));
        features.push_str("# The fake clientset, for unit tests.\n");
        features.push_str(&format!("fake = [\"dep:{TESTENV}\"]\n"));
    }
    dependencies.sort_by_key(|(name, _)| *name);
    if !plan.validations().is_empty() {
        features.push_str("# `validate()` of every kind, as an API server does it.\n");
        features.push_str("validation = [\"kubesmith-runtime/validation\"]\n");
    }
    if !features.is_empty() {
        out.push_str("\n[features]\n");
        out.push_str(&features);
    }
    out.push_str("\n[dependencies]\n");
    for (name, dependency) in dependencies {
        out.push_str(&format!("{name} = {}\n", value(dependency, name == TESTENV)));
    }
    Some(out)
}

/// The dependencies of the feature `fake`.
const TESTENV: &str = "kubesmith-testenv";

fn value(dependency: &Dependency, optional: bool) -> String {
    let keys: Vec<(&str, &String)> = match dependency {
        Dependency::Version(version) if !optional => return quote(version),
        Dependency::Version(version) => vec![("version", version)],
        Dependency::Path { path, version } => std::iter::once(("path", path))
            .chain(version.iter().map(|version| ("version", version)))
            .collect(),
        Dependency::Git(Git { url, reference }) => {
            let reference = reference.iter().map(|(key, text)| (*key, text));
            std::iter::once(("git", url)).chain(reference).collect()
        }
    };
    let given = keys.into_iter().map(|(key, text)| format!("{key} = {}", quote(text)));
    let parts: Vec<String> = given.chain(optional.then(|| "optional = true".to_owned())).collect();
    format!("{{ {} }}", parts.join(", "))
}

/// A TOML string.
fn quote(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}
