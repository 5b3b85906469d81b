//! What is needed of a crate's Cargo.toml: its names, version, library root and dependencies.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use toml::{Table, Value};

/// A crate's manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Manifest {
    pub(crate) package: String,
    pub(crate) lib: String,
    pub(crate) version: String,
    /// The library's root file.
    pub(crate) root: PathBuf,
    /// The root files of the crate's programs that exist, in order.
    pub(crate) programs: Vec<PathBuf>,
    /// Name in code to the dependency.
    pub(crate) externs: BTreeMap<String, Extern>,
}

/// A dependency under its name in code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Extern {
    /// Library name that the package has by default, `k8s_openapi`.
    pub(crate) lib: String,
    /// Folder of a path dependency.
    pub(crate) path: Option<PathBuf>,
}

/// Reads the manifest in `folder`.
///
/// # Errors
/// Says what is wrong with it, for the user.
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
    let manifest = Manifest {
        lib: lib_key("name").map_or_else(|| lib_name(&name), str::to_string),
        root: folder.join(lib_key("path").unwrap_or("src/lib.rs")),
        programs: programs(folder, &table),
        version,
        package: name,
        externs: externs(folder, &table, workspace.as_ref()),
    };
    manifest.check_names()?;
    Ok(manifest)
}

impl Manifest {
    /// Names and versions go into generated files; Cargo refuses these as well.
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
                "the library name {:?} is no name in Rust; set `name` in the [lib] table",
                self.lib
            ));
        }
        let is_version = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '+');
        if !self.version.starts_with(|c: char| c.is_ascii_digit()) || !self.version.chars().all(is_version) {
            return Err(format!("{:?} is no version", self.version));
        }
        Ok(())
    }
}

fn read_table(path: &Path) -> Result<Table, String> {
    let text = fs::read_to_string(path).map_err(|error| error.to_string())?;
    text.parse::<Table>().map_err(|error| error.message().to_string())
}

/// The workspace that the crate belongs to, if the manifest inherits anything from it.
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

/// `src/main.rs`, what lies in `src/bin`, and the paths of `[[bin]]` tables.
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

fn externs(folder: &Path, table: &Table, workspace: Option<&(PathBuf, Table)>) -> BTreeMap<String, Extern> {
    let mut out = BTreeMap::new();
    for (key, value) in table.get("dependencies").and_then(Value::as_table).into_iter().flatten() {
        let inherits = value.get("workspace").and_then(Value::as_bool) == Some(true);
        let inherited = workspace
            .filter(|_| inherits)
            .and_then(|(root, w)| Some((root, w.get("dependencies")?.get(key)?)));
        let (base, spec) = match inherited {
            Some((root, spec)) => (root.as_path(), spec),
            None => (folder, value),
        };
        let package = spec.get("package").and_then(Value::as_str).unwrap_or(key);
        let path = spec.get("path").and_then(Value::as_str).map(|path| base.join(path));
        out.insert(lib_name(key), Extern { lib: lib_name(package), path });
    }
    out
}

/// Cargo's default library name of a package.
fn lib_name(package: &str) -> String {
    package.replace('-', "_")
}
