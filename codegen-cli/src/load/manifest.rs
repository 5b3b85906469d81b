//! Reads the relevant parts of a crate's Cargo.toml: names, version, library root, dependencies and features.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

use toml::{Table, Value};

use super::identity;
use crate::cfg::Cfg;

/// A crate's manifest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Manifest {
    pub(crate) package: String,
    pub(crate) lib: String,
    pub(crate) version: String,
    /// The library's root file.
    pub(crate) root: PathBuf,
    /// The existing root files of the crate's programs, in order.
    pub(crate) programs: Vec<PathBuf>,
    /// Its dependencies by their keys.
    pub(crate) externs: BTreeMap<String, Extern>,
    /// The parts of each feature, including those of optional dependencies.
    pub(crate) features: BTreeMap<String, Vec<String>>,
}

/// A dependency.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Extern {
    /// Its package's name.
    pub(crate) package: String,
    /// Its name in code, if the manifest renames it.
    pub(crate) renamed: Option<String>,
    /// The required version.
    pub(crate) version: Option<String>,
    /// Folder of a path dependency.
    pub(crate) path: Option<PathBuf>,
    /// Repository of a git dependency.
    pub(crate) git: Option<Git>,
    /// Whether it is a dependency only if a feature enables it.
    pub(crate) optional: bool,
    /// Whether its default features are enabled.
    pub(crate) default_features: bool,
    /// Its further enabled features.
    pub(crate) features: BTreeSet<String>,
}

/// The repository of a git dependency, as the manifest names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Git {
    /// Its URL.
    pub url: String,
    /// The key that selects a commit, and its value: `rev`, `tag` or `branch`.
    pub reference: Option<(&'static str, String)>,
}

impl Git {
    /// The repository of a dependency's table.
    fn of(spec: &Value) -> Option<Self> {
        let text = |key| spec.get(key).and_then(Value::as_str).map(str::to_string);
        // Cargo refuses more than one of these keys.
        let reference = ["rev", "tag", "branch"].into_iter().find_map(|key| Some((key, text(key)?)));
        Some(Self { url: text("git")?, reference })
    }
}

impl Extern {
    /// Cargo's default for the library's name: `k8s_openapi`.
    pub(crate) fn lib(&self) -> String {
        lib_name(&self.package)
    }

    /// Its name in code, unless its own manifest names its library.
    pub(crate) fn name(&self) -> String {
        self.renamed.clone().unwrap_or_else(|| self.lib())
    }
}

/// Reads the manifest in `folder`.
///
/// # Errors
/// Returns an error message for the user.
pub(crate) fn read(folder: &Path) -> Result<Manifest, String> {
    let table = read_table(&folder.join("Cargo.toml"))?;
    let Some(package) = table.get("package").and_then(Value::as_table) else {
        return Err(match table.get("workspace") {
            Some(_) => {
                "it is a workspace without a package; name the folder of one of its members".to_string()
            }
            None => "it has no [package] table".to_string(),
        });
    };
    let name = package.get("name").and_then(Value::as_str).ok_or("[package] has no name")?.to_string();
    let workspace = workspace_table(folder, &table);
    let version = match package.get("version") {
        Some(Value::String(version)) => version.clone(),
        Some(Value::Table(inherited)) if inherited.contains_key("workspace") => workspace
            .as_ref()
            .and_then(|(_, w)| w.get("package")?.get("version")?.as_str())
            .unwrap_or("0.0.0")
            .to_string(),
        _ => "0.0.0".to_string(),
    };
    let lib = table.get("lib").and_then(Value::as_table);
    let lib_key = |key| lib.and_then(|lib| lib.get(key)).and_then(Value::as_str);
    let externs = externs(folder, &table, workspace.as_ref());
    let manifest = Manifest {
        lib: lib_key("name").map_or_else(|| lib_name(&name), str::to_string),
        root: folder.join(lib_key("path").unwrap_or("src/lib.rs")),
        programs: programs(folder, &table),
        version,
        package: name,
        features: features(&table, &externs),
        externs,
    };
    manifest.check_names()?;
    Ok(manifest)
}

impl Manifest {
    /// Environment variables that Cargo sets when it compiles the library, if they follow from the manifest
    /// (the Cargo book, "Environment variables Cargo sets for crates").
    pub(crate) fn env(&self) -> BTreeMap<String, String> {
        // The build metadata after a plus may have hyphens.
        let version = self.version.split('+').next().unwrap_or_default();
        let (release, pre) = version.split_once('-').unwrap_or((version, ""));
        let mut numbers = release.split('.');
        let mut number = || numbers.next().unwrap_or_default().to_string();
        let known = [
            ("CARGO_PKG_NAME", self.package.clone()),
            ("CARGO_PKG_VERSION", self.version.clone()),
            ("CARGO_PKG_VERSION_MAJOR", number()),
            ("CARGO_PKG_VERSION_MINOR", number()),
            ("CARGO_PKG_VERSION_PATCH", number()),
            ("CARGO_PKG_VERSION_PRE", pre.to_string()),
        ];
        known.map(|(name, value)| (name.to_string(), value)).into()
    }

    /// Names and versions go into generated files; Cargo also refuses these.
    fn check_names(&self) -> Result<(), String> {
        let is_name = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
        if self.package.is_empty() || !self.package.chars().all(is_name) {
            return Err(format!(
                "the package name {:?} may hold letters, digits, `-` and `_` only",
                self.package
            ));
        }
        if syn::parse_str::<syn::Ident>(&self.lib).is_err() {
            return Err(format!(
                "the library name {:?} is not a name in Rust; set `name` in the [lib] table",
                self.lib
            ));
        }
        let is_version = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '+');
        if !self.version.starts_with(|c: char| c.is_ascii_digit()) || !self.version.chars().all(is_version) {
            return Err(format!("{:?} is not a version", self.version));
        }
        Ok(())
    }
}

fn read_table(path: &Path) -> Result<Table, String> {
    let text = fs::read_to_string(path).map_err(|error| error.to_string())?;
    text.parse::<Table>().map_err(|error| error.message().to_string())
}

/// The workspace of the crate, if the manifest inherits from it.
fn workspace_table(folder: &Path, table: &Table) -> Option<(PathBuf, Table)> {
    if let Some(own) = table.get("workspace").and_then(Value::as_table) {
        return Some((folder.to_path_buf(), own.clone()));
    }
    let start = fs::canonicalize(folder).ok()?;
    start.ancestors().skip(1).find_map(|parent| {
        let table = read_table(&parent.join("Cargo.toml")).ok()?;
        Some((parent.to_path_buf(), table.get("workspace")?.as_table()?.clone()))
    })
}

/// `src/main.rs`, the files in `src/bin`, and the paths of `[[bin]]` tables.
fn programs(folder: &Path, table: &Table) -> Vec<PathBuf> {
    let mut out = BTreeSet::from([folder.join("src/main.rs")]);
    for entry in fs::read_dir(folder.join("src/bin")).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            out.insert(path.join("main.rs"));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            out.insert(path);
        }
    }
    let bins = table.get("bin").and_then(Value::as_array).into_iter().flatten();
    out.extend(bins.filter_map(|bin| Some(folder.join(bin.get("path")?.as_str()?))));
    out.into_iter().filter(|path| path.is_file()).collect()
}

/// The dependencies of the library, including those for the configured target.
fn externs(folder: &Path, table: &Table, workspace: Option<&(PathBuf, Table)>) -> BTreeMap<String, Extern> {
    let targets = table.get("target").and_then(Value::as_table).into_iter().flatten();
    let targets = targets.filter(|(name, _)| Cfg::default().is_target(name)).map(|(_, target)| target);
    let tables =
        std::iter::once(table.get("dependencies")).chain(targets.map(|target| target.get("dependencies")));
    let mut out: BTreeMap<String, Extern> = BTreeMap::new();
    for (key, value) in tables.flatten().filter_map(Value::as_table).flatten() {
        let found = dependency(folder, key, value, workspace);
        match out.get_mut(key) {
            Some(known) => known.add(found),
            None => {
                out.insert(key.clone(), found);
            }
        }
    }
    out
}

fn dependency(folder: &Path, key: &str, value: &Value, workspace: Option<&(PathBuf, Table)>) -> Extern {
    let inherits = value.get("workspace").and_then(Value::as_bool) == Some(true);
    let inherited = workspace
        .filter(|_| inherits)
        .and_then(|(root, w)| Some((root.as_path(), w.get("dependencies")?.get(key)?)));
    let (base, spec) = inherited.unwrap_or((folder, value));
    let package = spec.get("package").and_then(Value::as_str);
    let features = |spec: &Value| -> BTreeSet<String> {
        let list = spec.get("features").and_then(Value::as_array).into_iter().flatten();
        list.filter_map(Value::as_str).map(str::to_string).collect()
    };
    let default = |spec: &Value| {
        let value = spec.get("default-features").or_else(|| spec.get("default_features"));
        value.and_then(Value::as_bool)
    };
    Extern {
        package: package.unwrap_or(key).to_string(),
        renamed: package.map(|_| lib_name(key)),
        version: spec.as_str().or_else(|| spec.get("version")?.as_str()).map(str::to_string),
        path: spec.get("path").and_then(Value::as_str).map(|path| tidy(&base.join(path))),
        git: Git::of(spec),
        optional: value.get("optional").and_then(Value::as_bool) == Some(true),
        // A member can only enable further features of the workspace's entry.
        default_features: default(spec).unwrap_or(true) || default(value) == Some(true),
        features: &features(spec) | &features(value),
    }
}

/// The path without `x/..`, if that leads to the same folder.
pub(super) fn tidy(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match (part, out.components().next_back()) {
            (Component::ParentDir, Some(Component::Normal(_))) => {
                out.pop();
            }
            (Component::CurDir, _) => {}
            _ => out.push(part),
        }
    }
    if !path.exists() || identity(&out) == identity(path) { out } else { path.to_path_buf() }
}

impl Extern {
    /// Adds the features of another table's entry for the same dependency.
    fn add(&mut self, other: Self) {
        self.optional &= other.optional;
        self.default_features |= other.default_features;
        self.features.extend(other.features);
        self.path = self.path.take().or(other.path);
    }
}

/// The table `[features]`, and the implicit features of optional dependencies without `dep:`. names them.
fn features(table: &Table, externs: &BTreeMap<String, Extern>) -> BTreeMap<String, Vec<String>> {
    let mut out: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (name, parts) in table.get("features").and_then(Value::as_table).into_iter().flatten() {
        let parts = parts.as_array().into_iter().flatten().filter_map(Value::as_str);
        out.insert(name.clone(), parts.map(str::to_string).collect());
    }
    let named: BTreeSet<String> =
        out.values().flatten().filter_map(|part| part.strip_prefix("dep:")).map(str::to_string).collect();
    for (key, _) in externs.iter().filter(|(key, found)| found.optional && !named.contains(*key)) {
        out.entry(key.clone()).or_insert_with(|| vec![format!("dep:{key}")]);
    }
    out
}

/// Cargo's default library name of a package.
fn lib_name(package: &str) -> String {
    package.replace('-', "_")
}
