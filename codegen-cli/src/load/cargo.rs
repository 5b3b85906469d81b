//! Reads Cargo's facts about dependencies: their source folders, names and features.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::Deserialize;

use super::Unread;
use super::manifest::Manifest;
use crate::cfg::TRIPLE;
use crate::paths::display;

/// The direct and indirect dependencies of an input.
#[derive(Debug)]
pub(super) struct Graph {
    packages: BTreeMap<String, Package>,
    nodes: BTreeMap<String, Node>,
}

/// The relevant parts of the output of `cargo metadata`.
#[derive(Debug, Deserialize)]
struct Answer {
    packages: Vec<Package>,
    resolve: Resolve,
}

#[derive(Debug, Deserialize)]
struct Package {
    id: String,
    name: String,
    version: String,
    manifest_path: PathBuf,
    targets: Vec<Target>,
}

#[derive(Debug, Deserialize)]
struct Target {
    kind: Vec<String>,
    name: String,
    src_path: PathBuf,
}

#[derive(Debug, Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
}

#[derive(Debug, Deserialize)]
struct Node {
    id: String,
    deps: Vec<Dependency>,
    features: BTreeSet<String>,
}

#[derive(Debug, Deserialize)]
struct Dependency {
    name: String,
    pkg: String,
    dep_kinds: Vec<Kind>,
}

#[derive(Debug, Deserialize)]
struct Kind {
    kind: Option<String>,
}

impl Graph {
    /// Runs Cargo, without writing and without the network. `features` are the enabled ones of the input.
    ///
    /// # Errors
    /// Returns an error with advice if Cargo is missing or fails.
    pub(super) fn read(folder: &Path, features: &BTreeSet<String>) -> Result<Self, Unread> {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let features: Vec<&str> = features.iter().map(String::as_str).collect();
        // Runs in the folder, so that its .cargo/config.toml applies.
        let output = Command::new(cargo)
            .args(["metadata", "--format-version", "1", "--frozen", "--no-default-features"])
            .args(["--filter-platform", TRIPLE, "--features", &features.join(",")])
            .current_dir(if folder.as_os_str().is_empty() { Path::new(".") } else { folder })
            .stdin(Stdio::null())
            .output()
            .map_err(|error| Unread {
                reason: format!("cargo could not be started: {error}"),
                help: "install cargo, or put it into the PATH".to_string(),
            })?;
        let help = format!("run `cargo fetch` in {}", display(folder));
        if !output.status.success() {
            let reason = reason(&String::from_utf8_lossy(&output.stderr), folder);
            return Err(Unread { reason, help });
        }
        let answer: Answer = serde_json::from_slice(&output.stdout)
            .map_err(|error| Unread { reason: format!("cargo metadata: {error}"), help })?;
        Ok(Self {
            packages: answer.packages.into_iter().map(|package| (package.id.clone(), package)).collect(),
            nodes: answer.resolve.nodes.into_iter().map(|node| (node.id.clone(), node)).collect(),
        })
    }

    /// The package with its manifest in the folder.
    pub(super) fn in_folder(&self, folder: &Path) -> Option<&str> {
        let found = self.packages.values().find(|package| super::identity(package.folder()) == *folder);
        found.map(|package| package.id.as_str())
    }

    /// Dependencies of a package: names in code and packages.
    pub(super) fn dependencies(&self, id: &str) -> impl Iterator<Item = (&str, &str)> {
        let all = self.nodes.get(id).map(|node| node.deps.as_slice()).unwrap_or_default();
        let normal = |found: &&Dependency| found.dep_kinds.iter().any(|kind| kind.kind.is_none());
        all.iter().filter(normal).map(|found| (found.name.as_str(), found.pkg.as_str()))
    }

    /// The enabled features of a package.
    pub(super) fn features(&self, id: &str) -> BTreeSet<String> {
        self.nodes.get(id).map(|node| node.features.clone()).unwrap_or_default()
    }

    /// The enabled features of packages with this name and an accepted version.
    pub(super) fn features_of(&self, name: &str, version: impl Fn(&String) -> bool) -> BTreeSet<String> {
        let found =
            self.packages.values().filter(|package| package.name == name && version(&package.version));
        found.flat_map(|package| self.features(&package.id)).collect()
    }

    /// Its folder.
    pub(super) fn folder(&self, id: &str) -> Option<&Path> {
        self.packages.get(id).map(Package::folder)
    }

    /// The package's name.
    pub(super) fn name<'a>(&'a self, id: &'a str) -> &'a str {
        self.packages.get(id).map_or(id, |package| package.name.as_str())
    }

    /// The facts for reading the library; `None`: the package has none.
    pub(super) fn manifest(&self, id: &str) -> Option<Manifest> {
        let package = self.packages.get(id)?;
        let is_lib = |kind: &String| kind.ends_with("lib");
        let target = package.targets.iter().find(|target| target.kind.iter().any(is_lib))?;
        Some(Manifest {
            package: package.name.clone(),
            lib: target.name.replace('-', "_"),
            version: package.version.clone(),
            root: target.src_path.clone(),
            ..Manifest::default()
        })
    }
}

impl Package {
    fn folder(&self) -> &Path {
        self.manifest_path.parent().unwrap_or(Path::new(""))
    }
}

/// Cargo's error message, on one line and with the folder as the user wrote it. rustup adds where in its code the error
/// came from, if `RUST_BACKTRACE` is set.
fn reason(stderr: &str, folder: &Path) -> String {
    let errors = stderr.lines().map(str::trim).skip_while(|line| !line.starts_with("error"));
    let is_said = |line: &&str| !line.to_ascii_lowercase().starts_with("stack backtrace:");
    let lines = errors.take_while(is_said).filter(|line| !line.is_empty() && *line != "Caused by:").take(3);
    let text = lines.collect::<Vec<_>>().join("; ");
    let text = text.strip_prefix("error: ").unwrap_or(&text);
    let absolute = super::identity(folder).display().to_string();
    format!("cargo: {}", text.replace(&absolute, &display(folder)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cargo_failure_is_one_line() {
        let text = "warning: x\nerror: no matching package\nCaused by:\n  offline\n\n  more\n  and more\n";
        assert_eq!(reason(text, Path::new("api")), "cargo: no matching package; offline; more");
    }

    #[test]
    fn backtrace_of_rustup_is_left_out() {
        let text = "error: toolchain '1.61.0' is not installed\nhelp: run `rustup toolchain install`\n\n\
                    Stack backtrace:\n   0: anyhow::error::from\n   1: main\n";
        let expected = "cargo: toolchain '1.61.0' is not installed; help: run `rustup toolchain install`";
        assert_eq!(reason(text, Path::new("api")), expected);
    }
}
