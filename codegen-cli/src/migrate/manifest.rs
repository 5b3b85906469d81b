//! Finds outdated versions of kube in a manifest.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use toml::{Table, Value};

use super::Place;
use super::rows::OLD_KUBE;
use crate::paths::{absolute, relative};

/// The runtime's major version of kube, whose types are part of the runtime's API.
const MAJOR: u64 = 5;

/// Dependencies on another major version of kube.
pub(super) fn places(file: &str, text: &str) -> Result<Vec<Place>, String> {
    let manifest = table(text)?;
    let workspace = manifest.get("workspace").and_then(Value::as_table);
    let of_workspace = workspace.and_then(|table| table.get("dependencies")?.get("kube"));
    let requirements = dependencies(&manifest).chain(of_workspace).filter_map(requirement);
    let old = requirements.filter(|text| major(text).is_some_and(|major| major != MAJOR));
    let place = |requirement: &str| {
        let line = text.lines().position(is_kube).map_or(1, |at| at + 1);
        Place { file: file.to_owned(), line, column: 1, path: format!("kube {requirement}"), row: &OLD_KUBE }
    };
    Ok(old.map(place).collect())
}

fn table(text: &str) -> Result<Table, String> {
    text.parse().map_err(|error: toml::de::Error| error.message().to_owned())
}

/// The package's own dependencies on kube.
fn dependencies(manifest: &Table) -> impl Iterator<Item = &Value> {
    let tables = ["dependencies", "dev-dependencies", "build-dependencies"].map(|name| manifest.get(name));
    tables.into_iter().filter_map(|table| table?.get("kube"))
}

/// Whether a folder has the manifest of a package; that of a workspace alone is none.
///
/// # Errors
/// Returns an error if the manifest cannot be read.
pub(super) fn is_package(folder: &Path) -> io::Result<bool> {
    let file = folder.join("Cargo.toml");
    if !file.exists() {
        return Ok(false);
    }
    let manifest = table(&fs::read_to_string(file)?).map_err(io::Error::other)?;
    Ok(manifest.contains_key("package"))
}

/// The manifest of the workspace from which a package takes its version of kube, if it is outside of `folder`: those inside are
/// read anyway. Cargo looks for it in the folders above (`find_workspace_root` of its src/cargo/core/workspace.rs).
pub(super) fn of_workspace(folder: &Path, manifest: &Path) -> Option<PathBuf> {
    let inherits = |kube: &Value| kube.get("workspace").and_then(Value::as_bool) == Some(true);
    let read = |file: &Path| table(&fs::read_to_string(file).ok()?).ok();
    if !dependencies(&read(manifest)?).any(inherits) {
        return None;
    }
    let at = absolute(manifest);
    let above = at.parent()?.ancestors().skip(1).map(|above| above.join("Cargo.toml"));
    let root = above.into_iter().find(|file| read(file).is_some_and(|it| it.contains_key("workspace")))?;
    (!root.starts_with(absolute(folder))).then(|| PathBuf::from(relative(Path::new("."), &root)))
}

fn requirement(dependency: &Value) -> Option<&str> {
    dependency.as_str().or_else(|| dependency.get("version")?.as_str())
}

/// The first number of a requirement such as `^0.98` or `5`.
fn major(requirement: &str) -> Option<u64> {
    let number = requirement.trim_start_matches(|c: char| !c.is_ascii_digit());
    number.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

fn is_kube(line: &str) -> bool {
    let line = line.trim_start();
    line.strip_prefix("kube").is_some_and(|rest| rest.trim_start().starts_with(['=', '.']))
        || line.starts_with('[') && line.contains("dependencies.kube]")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_major_version_of_kube_is_reported_in_every_notation() {
        for (text, expected) in [
            ("[dependencies]\nkube = \"3\"", Some((2, "kube 3"))),
            ("[dependencies.kube]\nversion = \"0.98.0\"", Some((1, "kube 0.98.0"))),
            ("[workspace.dependencies]\nserde = \"1\"\nkube = { version = \"^4\" }", Some((3, "kube ^4"))),
            ("[dev-dependencies]\nkube.version = \"4\"", Some((2, "kube 4"))),
            ("[dependencies]\nkube = \"5.0\"", None),
            ("[dependencies]\nkube = { workspace = true }\nkubert = \"1\"", None),
        ] {
            let found = places("Cargo.toml", text).unwrap();
            let found: Vec<_> = found.iter().map(|place| (place.line, place.path.as_str())).collect();
            assert_eq!(found, expected.into_iter().collect::<Vec<_>>(), "{text}");
        }
        assert!(places("Cargo.toml", "[").is_err());
    }
}
