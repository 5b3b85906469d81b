//! Decides the enabled features of the inputs and their path dependencies, as Cargo does.
//!
//! A manifest is read when another package depends on it. Cargo itself handles dependencies from registries
//! and git.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use kubesmith_core::diag::Code;
use kubesmith_core::names::closest;

use super::identity;
use super::manifest::{self, Extern, Manifest};
use crate::cfg::FeatureChoice;
use crate::diag::Diagnostic;
use crate::known;

/// Index of a package in [`Packages`].
pub(super) type PackageId = usize;

/// A package and its manifest.
#[derive(Debug)]
pub(super) struct Package {
    /// Its folder as named.
    pub(super) folder: PathBuf,
    pub(super) manifest: Manifest,
    /// Its enabled features.
    pub(super) features: BTreeSet<String>,
    /// Keys of its enabled optional dependencies.
    active: BTreeSet<String>,
    /// Features of optional dependencies that apply once these are enabled: `dep?/feature`.
    weak: BTreeSet<(String, String)>,
    /// Features of dependencies chosen by the user: `dep/feature`.
    chosen: BTreeSet<String>,
}

impl Package {
    /// The features to enable, for the package and its dependencies.
    pub(super) fn for_cargo(&self) -> BTreeSet<String> {
        &self.features | &self.chosen
    }

    /// The dependency with this key, if it is enabled.
    fn dependency(&self, key: &str) -> Option<&Extern> {
        self.manifest.externs.get(key).filter(|found| !found.optional || self.active.contains(key))
    }

    /// The enabled dependencies.
    pub(super) fn dependencies(&self) -> impl Iterator<Item = (&String, &Extern)> {
        self.manifest.externs.iter().filter(|(key, found)| !found.optional || self.active.contains(*key))
    }

    /// The disabled optional dependencies.
    pub(super) fn inactive(&self) -> impl Iterator<Item = (&String, &Extern)> {
        self.manifest.externs.iter().filter(|(key, found)| found.optional && !self.active.contains(*key))
    }
}

/// The remaining work.
#[derive(Debug)]
enum Step {
    /// A part of a feature.
    Part(PackageId, String),
    /// The features that a package requests of the dependency with this key.
    Dependency(PackageId, String),
    /// A feature of the dependency of this key.
    FeatureOf(PackageId, String, String),
}

/// Packages by their folders, and their enabled features.
#[derive(Debug, Default)]
pub(super) struct Packages {
    steps: Vec<Step>,
    list: Vec<Package>,
    /// Packages by their folders, without links and `..`; `None`: no usable manifest.
    folders: BTreeMap<PathBuf, Option<PackageId>>,
}

impl Packages {
    /// The package.
    pub(super) fn get(&self, id: PackageId) -> &Package {
        &self.list[id]
    }

    /// A package, and the path dependencies of it that have been read.
    pub(super) fn reachable(&self, id: PackageId) -> Vec<&Package> {
        let mut found = vec![id];
        let mut at = 0;
        while let Some(package) = found.get(at).map(|id| &self.list[*id]) {
            let folders = package.dependencies().filter_map(|(_, dependency)| dependency.path.as_deref());
            let inner = folders.filter_map(|folder| self.folders.get(&identity(folder)).copied().flatten());
            let new: Vec<PackageId> = inner.filter(|id| !found.contains(id)).collect();
            found.extend(new);
            at += 1;
        }
        found.into_iter().map(|id| &self.list[id]).collect()
    }

    /// Reads the package in a folder, once.
    ///
    /// # Errors
    /// Returns the error in its manifest.
    pub(super) fn read(&mut self, folder: &Path) -> Result<PackageId, String> {
        let manifest = manifest::read(folder)?;
        let id = self.list.len();
        self.folders.insert(identity(folder), Some(id));
        self.list.push(Package {
            folder: folder.to_path_buf(),
            manifest,
            features: BTreeSet::new(),
            active: BTreeSet::new(),
            weak: BTreeSet::new(),
            chosen: BTreeSet::new(),
        });
        Ok(id)
    }

    /// The package in the folder of a path dependency; dependents decide on its default features.
    pub(super) fn at(&mut self, folder: &Path) -> Option<PackageId> {
        let known = self.folders.get(&identity(folder)).copied();
        known.unwrap_or_else(|| {
            let read = self.read(folder).ok();
            match read {
                Some(id) => self.activate_required(id),
                None => {
                    self.folders.insert(identity(folder), None);
                }
            }
            read
        })
    }

    /// Enables the features that the user chose, and all that follow.
    pub(super) fn choose(&mut self, inputs: &[PackageId], choice: &FeatureChoice) -> Vec<Diagnostic> {
        for &id in inputs {
            self.activate_required(id);
            if !choice.no_default || choice.all {
                self.enable(id, "default");
            }
            if choice.all {
                let all: Vec<String> = self.list[id].manifest.features.keys().cloned().collect();
                all.iter().for_each(|name| self.enable(id, name));
            }
        }
        let names = choice.names.iter();
        let unknown: Vec<&String> = names.filter(|name| !self.choose_one(inputs, name)).collect();
        self.settle();
        let unknown: Vec<Diagnostic> = unknown.into_iter().map(|name| self.unknown(inputs, name)).collect();
        let lacking = choice.names.iter().flat_map(|name| self.lacking(inputs, name)).collect::<Vec<_>>();
        unknown.into_iter().chain(lacking).collect()
    }

    /// The errors for path dependencies that lack the feature; Cargo knows the features of others.
    fn lacking(&mut self, inputs: &[PackageId], name: &str) -> Vec<Diagnostic> {
        let Some((key, feature)) = name.split_once('/') else { return Vec::new() };
        let mut out = Vec::new();
        for &id in inputs {
            let found = self.list[id].manifest.externs.get(key);
            let found = found.filter(|found| !known::is_known_crate(&found.lib()));
            let Some(path) = found.and_then(|found| found.path.clone()) else { continue };
            let Some(dependency) = self.at(&path) else { continue };
            let manifest = &self.list[dependency].manifest;
            if manifest.features.contains_key(feature) {
                continue;
            }
            let known = manifest.features.keys().map(String::as_str);
            let help = match closest(feature, known) {
                Some(near) => format!("did you mean `{key}/{near}`?"),
                None => format!("the features of `{}` are in its Cargo.toml", manifest.package),
            };
            let message = format!("the dependency `{key}` has no feature `{feature}`");
            out.push(Diagnostic::error(Code::UNKNOWN_FEATURE, None, message).help(help));
        }
        out
    }

    /// Enables a feature of every input that has it; returns `false` if none does.
    fn choose_one(&mut self, inputs: &[PackageId], name: &str) -> bool {
        let mut found = false;
        for &id in inputs {
            let manifest = &self.list[id].manifest;
            let (name, of_this) = match name.split_once('/') {
                Some((package, rest)) if package == manifest.package => (rest, true),
                Some((key, rest)) => {
                    let is_dependency = manifest.externs.contains_key(key) && !rest.is_empty();
                    if is_dependency {
                        self.part(id, name);
                        self.list[id].chosen.insert(name.to_string());
                    }
                    found |= is_dependency;
                    continue;
                }
                None => (name, true),
            };
            if of_this && manifest.features.contains_key(name) {
                self.enable(id, name);
                found = true;
            }
        }
        found
    }

    fn unknown(&self, inputs: &[PackageId], name: &str) -> Diagnostic {
        let known: BTreeSet<&str> = inputs
            .iter()
            .flat_map(|&id| self.list[id].manifest.features.keys().map(String::as_str))
            .collect();
        let folders: Vec<String> =
            inputs.iter().map(|&id| format!("`{}`", self.list[id].manifest.package)).collect();
        let message = format!("no input has a feature `{name}`");
        let near = closest(name, known.iter().copied());
        let help = match near {
            Some(near) => format!("did you mean `{near}`?"),
            None if known.is_empty() => format!("{} has no features", folders.join(", ")),
            None => {
                let known: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
                format!("the features of {} are {}", folders.join(", "), known.join(", "))
            }
        };
        Diagnostic::error(Code::UNKNOWN_FEATURE, None, message).help(help)
    }

    /// Processes all pending steps.
    pub(super) fn settle(&mut self) {
        while let Some(step) = self.steps.pop() {
            match step {
                Step::Part(id, part) => self.part(id, &part),
                Step::Dependency(id, key) => self.activated(id, &key),
                Step::FeatureOf(id, key, feature) => self.enable_in(id, &key, &feature),
            }
        }
    }

    /// Activates the required dependencies.
    fn activate_required(&mut self, id: PackageId) {
        let externs = self.list[id].manifest.externs.iter().filter(|(_, found)| !found.optional);
        self.steps.extend(externs.map(|(key, _)| Step::Dependency(id, key.clone())));
    }

    /// Enables a feature. Cargo refuses names that are no features.
    fn enable(&mut self, id: PackageId, feature: &str) {
        let package = &mut self.list[id];
        let Some(parts) = package.manifest.features.get(feature) else { return };
        if package.features.insert(feature.to_string()) {
            self.steps.extend(parts.iter().map(|part| Step::Part(id, part.clone())));
        }
    }

    /// Enables a part of a feature.
    fn part(&mut self, id: PackageId, part: &str) {
        if let Some(key) = part.strip_prefix("dep:") {
            return self.activate(id, key);
        }
        let Some((key, feature)) = part.split_once('/') else { return self.enable(id, part) };
        if let Some(key) = key.strip_suffix('?') {
            // A later activation of the dependency applies it.
            self.list[id].weak.insert((key.to_string(), feature.to_string()));
            return self.enable_in(id, key, feature);
        }
        if self.list[id].manifest.externs.get(key).is_some_and(|found| found.optional) {
            self.activate(id, key);
            self.enable(id, key);
        }
        self.enable_in(id, key, feature);
    }

    /// Enables an optional dependency.
    fn activate(&mut self, id: PackageId, key: &str) {
        if self.list[id].active.insert(key.to_string()) {
            self.steps.push(Step::Dependency(id, key.to_string()));
        }
    }

    /// Enables the features that the manifest requests of a dependency.
    fn activated(&mut self, id: PackageId, key: &str) {
        let Some(found) = self.list[id].manifest.externs.get(key) else { return };
        let features = found.features.iter().cloned();
        let default = found.default_features.then(|| "default".to_string());
        let weak = self.list[id].weak.iter().filter(|(of, _)| of == key);
        let all = features.chain(default).chain(weak.map(|(_, feature)| feature.clone()));
        self.steps.extend(all.map(|feature| Step::FeatureOf(id, key.to_string(), feature)));
    }

    /// Enables a feature of a path dependency.
    fn enable_in(&mut self, id: PackageId, key: &str, feature: &str) {
        let found = self.list[id].dependency(key).filter(|found| !known::is_known_crate(&found.lib()));
        let Some(path) = found.and_then(|found| found.path.clone()) else { return };
        if let Some(dependency) = self.at(&path) {
            self.enable(dependency, feature);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn choice(names: &[&str]) -> FeatureChoice {
        FeatureChoice { names: names.iter().map(|name| (*name).to_string()).collect(), ..Default::default() }
    }

    /// The enabled features of the packages `a` (the input) and, if it is read, `b`.
    fn on(a: &str, b: &str, choice: &FeatureChoice) -> (Vec<String>, Vec<String>) {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in [("a", a), ("b", b)] {
            fs::create_dir(dir.path().join(name)).unwrap();
            let text = format!("[package]\nname = \"{name}\"\nversion = \"1.0.0\"\n{text}");
            fs::write(dir.path().join(name).join("Cargo.toml"), text).unwrap();
        }
        let mut packages = Packages::default();
        let id = packages.read(&dir.path().join("a")).unwrap();
        assert_eq!(packages.choose(&[id], choice), []);
        let b = packages.folders.get(&identity(&dir.path().join("b"))).copied().flatten();
        let list = |id: PackageId| packages.get(id).features.iter().cloned().collect();
        (list(id), b.map(list).unwrap_or_default())
    }

    #[test]
    fn features_are_on_as_cargo_decides() {
        let features = "[features]\ndefault = [\"x\"]\nx = [\"y\"]\ny = []\nz = []\n";
        assert_eq!(on(features, "", &choice(&[])).0, ["default", "x", "y"]);
        assert_eq!(on(features, "", &choice(&["z", "a/y"])).0, ["default", "x", "y", "z"]);
        let none = FeatureChoice { no_default: true, ..choice(&[]) };
        assert!(on(features, "", &none).0.is_empty());
        assert_eq!(on(features, "", &FeatureChoice { no_default: true, ..choice(&["x"]) }).0, ["x", "y"]);
        let all = FeatureChoice { all: true, ..choice(&[]) };
        assert_eq!(on(features, "", &all).0, ["default", "x", "y", "z"]);
        let circle = "[features]\nx = [\"y\"]\ny = [\"x\"]\n";
        assert_eq!(on(circle, "", &choice(&["y"])).0, ["x", "y"]);
    }

    #[test]
    fn dependencies_have_the_features_that_dependents_ask_for() {
        let b = "[features]\ndefault = [\"d\"]\nd = []\ne = []\nf = []\n";
        let of_b = |a: &str, names: &[&str]| on(a, b, &choice(names)).1;
        assert_eq!(of_b("[dependencies]\nb = { path = \"../b\" }", &[]), ["d", "default"]);
        let bare = "[dependencies]\nb = { path = \"../b\", default-features = false, features = [\"e\"] }\n";
        assert_eq!(of_b(bare, &[]), ["e"]);
        assert_eq!(of_b(bare, &["b/f"]), ["e", "f"]);
        let target = "[target.'cfg(unix)'.dependencies]\nb = { path = \"../b\", default-features = false, features = [\"e\"] }\n";
        assert_eq!(of_b(target, &[]), ["e"]);
        assert!(of_b(&target.replace("cfg(unix)", "cfg(windows)"), &[]).is_empty());
        assert_eq!(of_b(&target.replace("cfg(unix)", "x86_64-unknown-linux-gnu"), &[]), ["e"]);
    }

    #[test]
    fn optional_dependencies_are_features() {
        let b = "[features]\ndefault = []\ne = []\nf = []\n";
        let dependency = "[dependencies]\nb = { path = \"../b\", optional = true, features = [\"e\"] }\n";
        let on = |features: &str, names: &[&str]| {
            on(&format!("{dependency}[features]\n{features}"), b, &choice(names))
        };
        let texts = |a: &[&str], b: &[&str]| {
            let owned = |list: &[&str]| list.iter().map(|text| (*text).to_string()).collect::<Vec<_>>();
            (owned(a), owned(b))
        };
        assert_eq!(on("x = []", &["x"]), texts(&["x"], &[]));
        assert_eq!(on("", &["b"]), texts(&["b"], &["default", "e"]));
        assert_eq!(on("x = [\"dep:b\"]", &["x"]), texts(&["x"], &["default", "e"]));
        assert_eq!(on("x = [\"b\"]", &["x"]), texts(&["b", "x"], &["default", "e"]));
        assert_eq!(on("x = [\"b/f\"]", &["x"]), texts(&["b", "x"], &["default", "e", "f"]));
        assert_eq!(on("x = [\"b?/f\"]", &["x"]), texts(&["x"], &[]));
        assert_eq!(on("x = [\"b?/f\"]", &["x", "b"]), texts(&["b", "x"], &["default", "e", "f"]));
        assert_eq!(
            on("x = [\"b?/f\"]\ny = [\"dep:b\"]", &["y", "x"]),
            texts(&["x", "y"], &["default", "e", "f"])
        );
    }

    #[test]
    fn unknown_features_of_dependencies_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        for (name, rest) in [
            ("a", "[dependencies]\nb = { path = \"../b\" }\nserde = \"1\"\n"),
            ("b", "[features]\nextra = []\n"),
        ] {
            fs::create_dir(dir.path().join(name)).unwrap();
            let text = format!("[package]\nname = \"{name}\"\nversion = \"1.0.0\"\n{rest}");
            fs::write(dir.path().join(name).join("Cargo.toml"), text).unwrap();
        }
        let mut packages = Packages::default();
        let id = packages.read(&dir.path().join("a")).unwrap();
        assert_eq!(packages.choose(&[id], &choice(&["b/extra", "serde/rc"])), []);
        let found = packages.choose(&[id], &choice(&["b/exta"]));
        assert_eq!(found[0].message, "the dependency `b` has no feature `exta`");
        assert_eq!(found[0].help.as_deref(), Some("did you mean `b/extra`?"));
    }

    #[test]
    fn unknown_features_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let text = "[package]\nname = \"a\"\nversion = \"1.0.0\"\n[features]\nextra = []\n";
        fs::write(dir.path().join("Cargo.toml"), text).unwrap();
        let mut packages = Packages::default();
        let id = packages.read(dir.path()).unwrap();
        for (name, help) in [
            ("exta", "did you mean `extra`?"),
            ("zzzzzzz", "the features of `a` are `extra`"),
            ("b/extra", "did you mean `extra`?"),
            ("a/none", "the features of `a` are `extra`"),
        ] {
            let found = packages.choose(&[id], &choice(&[name]));
            assert_eq!(found[0].code, Code::UNKNOWN_FEATURE);
            assert_eq!(found[0].help.as_deref(), Some(help), "{name}");
        }
    }
}
