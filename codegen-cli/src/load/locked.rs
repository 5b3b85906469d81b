//! Reads the versions of a project's CRD crates from its lock file, or else from the requirements of its manifests,
//! because schemas of kube-rs's types differ between them.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs;
use std::path::Path;

use serde::Deserialize;

use super::features::{PackageId, Packages};
use super::{Crates, Loaded, Origin, identity};
use crate::known::{BuiltInTypes, KubernetesVersion};

/// The three numbers of a version.
pub type Version = (u64, u64, u64);

/// Versions of crates; those that are not known are the latest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Locked {
    /// kube: the first two numbers of its version.
    pub kube: Option<(u64, u64)>,
    /// The schemars of kube.
    pub schemars: Option<Version>,
    /// The types of Kubernetes.
    pub types: BuiltInTypes,
}

impl Locked {
    /// Whether kube uses schemars 0.8, as before its version 2.
    pub fn is_schemars_0_8(&self) -> bool {
        self.schemars.map_or_else(|| self.is_kube_before(2, 0), |(major, ..)| major == 0)
    }

    /// Whether kube uses a schemars before this version of schemars 1.
    pub fn is_schemars_before(&self, minor: u64, patch: u64) -> bool {
        self.is_schemars_0_8() || self.schemars.is_some_and(|version| version < (1, minor, patch))
    }

    /// Whether kube has a version before this one.
    pub fn is_kube_before(&self, major: u64, minor: u64) -> bool {
        self.kube.is_some_and(|version| version < (major, minor))
    }
}

impl Crates {
    /// Whether the lock file or a manifest of an input has a version of kube.
    pub fn has_locked_kube(&self) -> bool {
        self.list.iter().any(|krate| krate.locked.kube.is_some())
    }
}

/// The relevant parts of a lock file.
#[derive(Debug, Default, Deserialize)]
struct LockFile {
    #[serde(default)]
    package: Vec<LockedPackage>,
}

#[derive(Debug, Deserialize)]
struct LockedPackage {
    name: String,
    version: String,
    #[serde(default)]
    dependencies: Vec<String>,
}

impl Loaded {
    /// Takes the versions of crates from the lock files of the inputs; projects without one from their manifests.
    /// An explicit version of Kubernetes replaces that of k8s-openapi's features.
    pub fn lock(&mut self, kubernetes: Option<KubernetesVersion>) {
        for at in 0..self.crates.list.len() {
            let Origin::Folder(id) = self.sources[at].origin else { continue };
            let krate = &self.crates.list[at];
            let lock = LockFile::find(&krate.folder, &krate.package);
            let versions = match &lock {
                Some(lock) => lock.versions(&krate.package),
                None => required(&self.packages, id),
            };
            let find = |names: [&str; 2]| names.iter().find_map(|name| versions.get(*name).copied());
            let kube = find(["kube-core", "kube"]).map(|(major, minor, _)| (major, minor));
            // A revision of kube's repository has the number of the last release, and maybe a later schemars.
            let schemars = lock.as_ref().and_then(|lock| lock.versions("kube-core").get("schemars").copied());
            let own = find(["k8s-openapi", ""]).and_then(|(_, minor, _)| u16::try_from(minor).ok());
            let chosen = kubernetes.or_else(|| self.chosen(at, id, own?, lock.is_some()));
            let types = match (own, chosen) {
                (None, None) => BuiltInTypes::default(),
                (own, chosen) => BuiltInTypes::nearest(own, chosen),
            };
            self.crates.list[at].locked = Locked { kube, schemars, types };
        }
    }

    /// The version of Kubernetes that features select: those in path dependencies' manifests, or else those
    /// in Cargo's graph, for a project with a lock file.
    fn chosen(&mut self, root: usize, id: PackageId, own: u16, is_locked: bool) -> Option<KubernetesVersion> {
        let find = |features: BTreeSet<String>| {
            let version = features.iter().filter_map(|name| match name.as_str() {
                "latest" => Some(BuiltInTypes::nearest(Some(own), None).kubernetes),
                "earliest" => BuiltInTypes::earliest(own),
                name => name.starts_with("v1_").then(|| name.parse().ok())?,
            });
            version.max()
        };
        let requested = find(requested(&self.packages, id));
        // Cargo is slow, and only these types depend on it.
        let has_kinds = self.crates.list[root].types().any(|item| item.custom_resource.is_some());
        requested.or_else(|| {
            if !has_kinds || !is_locked {
                return None;
            }
            let graph = self.graph(root).ok()?;
            let is_own = |version: &String| version.starts_with(&format!("0.{own}."));
            find(graph.features_of("k8s-openapi", is_own))
        })
    }
}

/// The versions that Cargo would choose for the requirements of a package and its path
/// dependencies. The nearest one wins.
fn required(packages: &Packages, id: PackageId) -> BTreeMap<&str, Version> {
    let mut out = BTreeMap::new();
    for package in packages.reachable(id) {
        for (_, found) in package.dependencies() {
            if let Some(version) = found.version.as_deref().and_then(newest) {
                out.entry(found.package.as_str()).or_insert(version);
            }
        }
    }
    out
}

/// The newest version that fits `0.87`, `^3.0.1`, `~1.1` or `=2.0.1`. A number that may be any is the largest one.
fn newest(requirement: &str) -> Option<Version> {
    let requirement = requirement.trim();
    let exact = requirement.strip_prefix(['=', '~']);
    let version = exact.or_else(|| requirement.strip_prefix('^')).unwrap_or(requirement).trim();
    let mut parts = version.split('.');
    let major = parts.next()?.parse().ok()?;
    match parts.next().map(str::parse) {
        Some(Ok(minor)) if major == 0 || exact.is_some() => Some((major, minor, u64::MAX)),
        None | Some(Ok(_)) if major > 0 => Some((major, u64::MAX, u64::MAX)),
        _ => None,
    }
}

/// The features of k8s-openapi that a package or a path dependency of it enables.
fn requested(packages: &Packages, id: PackageId) -> BTreeSet<String> {
    let mut out = BTreeSet::new();
    for package in packages.reachable(id) {
        for (key, found) in package.dependencies().filter(|(_, found)| found.package == "k8s-openapi") {
            out.extend(found.features.iter().cloned());
            let parts =
                package.features.iter().filter_map(|name| package.manifest.features.get(name)).flatten();
            let prefixes = [format!("{key}/"), format!("{key}?/")];
            let of_it = |part: &String| {
                prefixes.iter().find_map(|prefix| part.strip_prefix(prefix.as_str()).map(str::to_string))
            };
            out.extend(parts.filter_map(of_it));
        }
    }
    out
}

impl LockFile {
    /// The lock file of a package: the nearest one with the package.
    fn find(folder: &Path, package: &str) -> Option<Self> {
        identity(folder).ancestors().find_map(|folder| {
            let text = fs::read_to_string(folder.join("Cargo.lock")).ok()?;
            let lock: Self = toml::from_str(&text).ok()?;
            lock.package.iter().any(|found| found.name == package).then_some(lock)
        })
    }

    /// The versions of a package's dependencies. Of several versions, the nearest one wins.
    fn versions(&self, package: &str) -> BTreeMap<&str, Version> {
        let mut by_name: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (at, found) in self.package.iter().enumerate() {
            by_name.entry(&found.name).or_default().push(at);
        }
        let mut out = BTreeMap::new();
        let mut seen = BTreeSet::new();
        let mut next: VecDeque<usize> = by_name.get(package).into_iter().flatten().copied().collect();
        while let Some(at) = next.pop_front() {
            let found = &self.package[at];
            if !seen.insert(at) {
                continue;
            }
            if let Some(numbers) = numbers(&found.version) {
                out.entry(found.name.as_str()).or_insert(numbers);
            }
            for dependency in &found.dependencies {
                // "name", or "name version" if there are several, and then "(source)".
                let mut words = dependency.split(' ');
                let (name, version) = (words.next().unwrap_or_default(), words.next());
                let candidates = by_name.get(name).into_iter().flatten().copied();
                next.extend(
                    candidates
                        .filter(|at| version.is_none_or(|version| self.package[*at].version == version)),
                );
            }
        }
        out
    }
}

/// The numbers of `1.2.0` and `1.0.0-rc.1`.
fn numbers(version: &str) -> Option<Version> {
    let mut numbers = version.split(['.', '-', '+']).map(|number| number.parse().ok());
    Some((numbers.next()??, numbers.next()??, numbers.next()??))
}
