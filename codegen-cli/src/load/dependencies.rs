//! Reads crates that types refer to: path dependencies by their manifests, all others from Cargo's folders.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use kubesmith_core::diag::Severity;

use super::cargo::Graph;
use super::features::PackageId;
use super::manifest::{self, Extern};
use super::{Crate, Dependency, Foreign, Loaded, Unread, identity, name_in_code};
use crate::cfg::Cfg;
use crate::known;
use crate::paths::display;

/// The origin of a crate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// A folder with a manifest.
    Folder(PackageId),
    /// A package of this name in Cargo's graph of the input `root`.
    Cargo(String),
    /// Go packages that were translated to Rust source.
    #[cfg(feature = "go")]
    Go,
}

/// The cached facts of a crate.
#[derive(Clone, Debug)]
pub(super) struct Source {
    pub(super) origin: Origin,
    /// The input through which it was found.
    pub(super) root: usize,
    /// Its folder, without links and `..`.
    pub(super) folder: PathBuf,
}

impl Loaded {
    /// Reads the crates at these indices of [`super::Crates::foreign`]; returns `false` if none is new.
    ///
    /// A crate that cannot be read keeps the reason.
    pub fn read(&mut self, wanted: &BTreeSet<usize>) -> bool {
        let mut is_new = false;
        for &at in wanted {
            let foreign = &self.crates.foreign[at];
            if foreign.unread.is_some() || foreign.is_read {
                continue;
            }
            is_new = true;
            let (by, name) = (foreign.by, foreign.name.clone());
            match self.follow(at) {
                Ok(krate) => {
                    self.crates.foreign[at].is_read = true;
                    self.crates.list[by].externs.insert(name, Dependency::Crate(krate));
                }
                Err(reason) => self.crates.foreign[at].unread = Some(reason),
            }
        }
        is_new
    }

    /// The crate of a dependency, read if necessary.
    fn follow(&mut self, at: usize) -> Result<usize, Unread> {
        let by = self.sources[self.crates.foreign[at].by].clone();
        match self.crates.foreign[at].path.clone() {
            Some(path) => self.read_folder(&path, by.root),
            None => self.read_package(at, &by),
        }
    }

    fn read_folder(&mut self, folder: &Path, root: usize) -> Result<usize, Unread> {
        if let Some(known) = self.at(&identity(folder)) {
            return Ok(known);
        }
        let Some(id) = self.packages.at(folder) else {
            let reason = manifest::read(folder).err().unwrap_or_default();
            return Err(Unread {
                reason: format!("cannot use {}: {reason}", display(&folder.join("Cargo.toml"))),
                help: "correct the path of the dependency".to_string(),
            });
        };
        self.packages.settle();
        let package = self.packages.get(id);
        let manifest = package.manifest.clone();
        let krate =
            Crate::new(&manifest, folder, Cfg { features: package.features.clone(), ..Cfg::default() });
        let source = Source { origin: Origin::Folder(id), root, folder: identity(folder) };
        Ok(self.add(krate, &manifest, source))
    }

    fn read_package(&mut self, at: usize, by: &Source) -> Result<usize, Unread> {
        let foreign = &self.crates.foreign[at];
        let (name, package) = (foreign.name.clone(), foreign.package.clone());
        let graph = self.graph(by.root)?;
        let id = match &by.origin {
            Origin::Cargo(id) => Some(id.as_str()),
            Origin::Folder(_) => graph.in_folder(&by.folder),
            #[cfg(feature = "go")]
            Origin::Go => None,
        };
        let found = id.and_then(|id| graph.dependencies(id).find(|(known, _)| *known == name));
        let found = found.and_then(|(_, id)| Some((id.to_string(), graph.manifest(id)?, graph.folder(id)?)));
        let Some((id, manifest, folder)) = found else {
            return Err(Unread {
                reason: format!("cargo knows no library of a package `{package}` here"),
                help: "run `cargo fetch`, and look at the dependency's table in Cargo.toml".to_string(),
            });
        };
        let (folder, features) = (folder.to_path_buf(), graph.features(&id));
        if let Some(known) = self.at(&identity(&folder)) {
            return Ok(known);
        }
        let krate = Crate::new(&manifest, &folder, Cfg { features, ..Cfg::default() });
        let source = Source { origin: Origin::Cargo(id), root: by.root, folder: identity(&folder) };
        Ok(self.add(krate, &manifest, source))
    }

    /// The crate in a folder, if it has been read.
    fn at(&self, folder: &Path) -> Option<usize> {
        self.sources.iter().position(|source| source.folder == folder)
    }

    /// Cargo's facts of an input's dependencies; requested once.
    pub(super) fn graph(&mut self, root: usize) -> Result<&Graph, Unread> {
        let (krate, origin) = (&self.crates.list[root], &self.sources[root].origin);
        let features = match origin {
            Origin::Folder(id) => self.packages.get(*id).for_cargo(),
            Origin::Cargo(_) => krate.cfg.features.clone(),
            #[cfg(feature = "go")]
            Origin::Go => krate.cfg.features.clone(),
        };
        let graph = self.graphs.entry(root).or_insert_with(|| Graph::read(&krate.folder, &features));
        graph.as_ref().map_err(Clone::clone)
    }

    /// Reads the modules of a dependency. Its errors matter only if a type is not found.
    fn add(&mut self, mut krate: Crate, manifest: &manifest::Manifest, source: Source) -> usize {
        krate.is_input = false;
        let before = std::mem::take(&mut self.files.diagnostics);
        self.files.load_modules(&mut krate, manifest.root.clone());
        let found = std::mem::replace(&mut self.files.diagnostics, before);
        krate.problems = found.into_iter().filter(|found| found.severity == Severity::Error).collect();
        krate.manifests = Default::default();
        let at = self.crates.list.len();
        self.crates.list.push(krate);
        self.sources.push(source);
        self.link(at);
        at
    }

    /// Links the dependencies of a crate to crates.
    pub(super) fn link(&mut self, at: usize) {
        match self.sources[at].origin.clone() {
            Origin::Folder(id) => {
                let package = self.packages.get(id);
                let externs: Vec<Extern> = package.dependencies().map(|(_, found)| found.clone()).collect();
                let optional = package.inactive().map(|(key, found)| (found.name(), key.clone())).collect();
                self.crates.list[at].optional = optional;
                for found in externs {
                    let name = name_in_code(&found, &mut self.packages);
                    self.connect(at, name, found.lib(), found.package, found.path);
                }
            }
            // Crates of known types, which are never read.
            #[cfg(feature = "go")]
            Origin::Go => {
                for name in ["k8s_openapi", "kube"] {
                    self.connect(at, name.to_string(), name.to_string(), name.to_string(), None);
                }
            }
            Origin::Cargo(id) => {
                let root = self.sources[at].root;
                let Some(Ok(graph)) = self.graphs.get(&root) else { return };
                let found: Vec<(String, String, String)> = graph
                    .dependencies(&id)
                    .map(|(name, id)| {
                        let lib = graph.manifest(id).map_or_else(|| name.to_string(), |found| found.lib);
                        (name.to_string(), lib, graph.name(id).to_string())
                    })
                    .collect();
                for (name, lib, package) in found {
                    self.connect(at, name, lib, package, None);
                }
            }
        }
    }

    fn connect(&mut self, by: usize, name: String, lib: String, package: String, path: Option<PathBuf>) {
        let folder = path.as_deref().map(identity);
        let own = &self.crates.list[by].lib;
        let read = self.crates.list.iter().zip(&self.sources).position(|(krate, source)| match &folder {
            Some(folder) => source.folder == *folder,
            // An input takes the place of any package with its name.
            None => krate.is_input && !krate.is_program && krate.lib == lib && lib != *own,
        });
        let target = match read.filter(|_| !known::is_known_crate(&lib)) {
            Some(read) => Dependency::Crate(read),
            None => {
                let foreign =
                    Foreign { lib, package, by, name: name.clone(), path, is_read: false, unread: None };
                self.crates.foreign.push(foreign);
                Dependency::Foreign(self.crates.foreign.len() - 1)
            }
        };
        self.crates.list[by].externs.insert(name, target);
    }
}
