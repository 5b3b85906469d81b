//! Reads the input crates, and the dependencies that their types refer to.
//!
//! Input: crate folders. Output: a tree of modules per crate, with the items that `parse` made from each
//! file, and the texts of all files for diagnostics.

mod cargo;
mod dependencies;
mod expansions;
mod features;
mod files;
#[cfg(feature = "go")]
mod go;
mod hand_written;
mod locked;
mod manifest;
mod unsaved;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use kubesmith_core::diag::Code;

use crate::cfg::{Cfg, FeatureChoice};
use crate::diag::Diagnostic;
use crate::ir::{Beside, Older};
use crate::known;
use crate::macros::Tree;
use crate::paths::display;
use crate::source::SourceMap;
use crate::syntax::facts::{ManifestFacts, ModuleFacts};
use crate::syntax::{DeriveNames, ImplItem, MacroCall, Step, TypeItem, UseItem, ValueItem, Visibility};

use cargo::Graph;
use dependencies::{Origin, Source};
pub use expansions::Expanded;
use features::{Package, PackageId, Packages};
use files::Files;
pub use hand_written::{EXPANSION, HandWritten, REGISTER_CUSTOM, hand_written};
pub use locked::Locked;
pub use manifest::Git;
use manifest::{Extern, Manifest};
pub use unsaved::Unsaved;

/// Index of a module in [`Crate::modules`]; 0 is the crate's root.
pub type ModuleId = usize;

/// Options for reading crates.
#[derive(Clone, Copy, Debug)]
pub struct LoadOptions<'a> {
    /// Folder of the module that this tool writes, which is not read: it has no types and may not exist yet.
    pub generated: Option<&'a Path>,
    /// The facts beside types to read.
    pub beside: Beside,
    /// The enabled features of the inputs.
    pub features: &'a FeatureChoice,
    /// Source files whose text here replaces that on disk.
    pub unsaved: &'a Unsaved,
    /// Whether to leave out unexported fields of Go structs.
    #[cfg_attr(not(feature = "go"), expect(dead_code, reason = "Go packages need it"))]
    pub ignore_unexported: bool,
    /// Whether to read the types of Go packages.
    #[cfg_attr(not(feature = "go"), expect(dead_code, reason = "Go packages need it"))]
    pub types: bool,
}

/// The crates, with their files and diagnostics.
#[derive(Debug)]
pub struct Loaded {
    /// The crates.
    pub crates: Crates,
    files: Files,
    packages: Packages,
    /// The origin of each crate.
    sources: Vec<Source>,
    /// Cargo's graph of each input's dependencies.
    graphs: BTreeMap<usize, Result<Graph, Unread>>,
}

impl Loaded {
    /// The files that were read.
    pub fn sources(&self) -> &SourceMap {
        &self.files.sources
    }

    /// The files, for adding others that diagnostics point at.
    pub fn sources_mut(&mut self) -> &mut SourceMap {
        &mut self.files.sources
    }

    /// The diagnostics about the files.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.files.diagnostics
    }

    /// The files only.
    pub fn into_sources(self) -> SourceMap {
        self.files.sources
    }
}

/// A crate that was read.
#[derive(Debug)]
pub struct Crate {
    /// Package name.
    pub package: String,
    /// Library name in code.
    pub lib: String,
    /// Package version.
    pub version: String,
    /// Its folder as the user wrote it.
    pub folder: PathBuf,
    /// The conditions under which it is compiled.
    pub cfg: Cfg,
    /// The versions of crates in its lock file, for an input.
    pub locked: Locked,
    /// Names of its dependencies in code, and their targets.
    pub externs: BTreeMap<String, Dependency>,
    /// Names in code of the disabled optional dependencies, with their keys in the manifest.
    pub optional: BTreeMap<String, String>,
    /// The source of the `kubesmith-runtime` that it uses, unless that is a registry.
    pub runtime: Option<RuntimeSource>,
    /// Its modules; the first is the root.
    pub modules: Vec<Module>,
    /// The facts of its files beside types.
    pub manifests: ManifestFacts,
    /// Kinds with the versions that its programs store.
    pub stored: Vec<(String, String)>,
    /// Whether it was named as an input. Of dependencies, only types are read.
    pub is_input: bool,
    /// The errors in the files of a dependency.
    pub problems: Vec<Diagnostic>,
    /// Whether it is a program, which cannot be a dependency.
    pub is_program: bool,
    /// Whether only its facts beside types are used.
    is_beside: bool,
    /// Whether it was translated from Go packages.
    pub is_go: bool,
    /// The differences of its release of controller-gen.
    pub older: Older,
    /// Whether it has kinds that the run does not need.
    pub has_unread_kinds: bool,
}

/// The source of a crate's `kubesmith-runtime`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RuntimeSource {
    /// A folder.
    Folder(PathBuf),
    /// A git repository.
    Git(Git),
}

/// The target of a dependency's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dependency {
    /// A crate that was read, by its index.
    Crate(usize),
    /// An unread crate, by its index in [`Crates::foreign`].
    Foreign(usize),
}

/// The crates of a run.
#[derive(Debug, Default)]
pub struct Crates {
    /// The inputs in the order of their library names, then dependencies in the order of their first use.
    pub list: Vec<Crate>,
    /// Crates that were unread when a crate that depends on them was read.
    pub foreign: Vec<Foreign>,
}

/// An unread dependency of a crate.
#[derive(Debug)]
pub struct Foreign {
    /// Its library's name.
    pub lib: String,
    /// Its package's name.
    pub package: String,
    /// The crate that depends on it, by its index.
    by: usize,
    /// Its name there.
    name: String,
    /// Folder of a path dependency.
    path: Option<PathBuf>,
    /// Whether it has been read since.
    is_read: bool,
    /// The reason why an attempt to read it failed.
    pub unread: Option<Unread>,
}

/// The reason why a crate could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unread {
    /// The message.
    pub reason: String,
    /// Advice.
    pub help: String,
}

/// A module.
#[derive(Debug)]
pub struct Module {
    /// Its name; the library's name for the root.
    pub name: String,
    /// The enclosing module.
    pub parent: Option<ModuleId>,
    /// Its visibility.
    pub visibility: Visibility,
    /// Its child modules.
    pub children: Vec<ModuleId>,
    /// The facts in its documentation.
    pub facts: ModuleFacts,
    /// Its types.
    pub types: Vec<TypeItem>,
    /// Its `use` declarations.
    pub uses: Vec<UseItem>,
    /// Its constants, and functions without parameters.
    pub values: Vec<ValueItem>,
    /// Its `impl` blocks.
    pub impls: Vec<ImplItem>,
    /// The definitions and uses of macros; only unexpanded calls remain.
    pub steps: Vec<Step>,
    /// The names of derive macros.
    pub derive_names: DeriveNames,
}

/// Reads crates.
///
/// Reports every error in any file; a crate with errors still yields the modules that could be read.
pub fn load(inputs: &[PathBuf], options: LoadOptions<'_>) -> Loaded {
    let mut files = Files::new(options);
    let mut packages = Packages::default();
    let mut found: Vec<PackageId> = Vec::new();
    let (go, folders): (Vec<&Path>, Vec<&Path>) =
        distinct(inputs).into_iter().partition(|input| is_go(input));
    for folder in folders {
        match read_manifest(&mut packages, folder) {
            Ok(id) => found.push(id),
            Err(diagnostic) => files.diagnostics.push(*diagnostic),
        }
    }
    files.diagnostics.extend(packages.choose(&found, options.features));
    let mut inputs: Vec<(PackageId, Crate)> = Vec::new();
    for id in found {
        inputs.extend(input(&mut files, &packages, id).into_iter().map(|krate| (id, krate)));
    }
    inputs.sort_by(|(_, a), (_, b)| (&a.lib, &a.folder).cmp(&(&b.lib, &b.folder)));
    for pair in inputs.windows(2) {
        files.diagnostics.extend(same_name(&pair[0].1, &pair[1].1));
    }
    let mut sources = Vec::new();
    let mut crates = Crates::default();
    for (root, (id, krate)) in inputs.into_iter().enumerate() {
        sources.push(Source { origin: Origin::Folder(id), root, folder: identity(&krate.folder) });
        crates.list.push(krate);
    }
    let mut loaded = Loaded { crates, files, packages, sources, graphs: BTreeMap::new() };
    (0..loaded.crates.list.len()).for_each(|at| loaded.link(at));
    loaded.crates.link_programs();
    loaded.add_go(&go, options);
    loaded
}

#[cfg(feature = "go")]
use crate::go::{is_input as is_go, is_named as is_named_go};

#[cfg(not(feature = "go"))]
fn is_go(_: &Path) -> bool {
    false
}

#[cfg(not(feature = "go"))]
fn is_named_go(_: &Path) -> bool {
    false
}

/// Whether a path by itself, without the contents of its folder, names the source of types in Go.
pub(crate) fn is_go_source(path: &Path) -> bool {
    is_named_go(path)
}

#[cfg(not(feature = "go"))]
impl Loaded {
    fn add_go(&mut self, _: &[&Path], _: LoadOptions<'_>) {}
}

/// The folders without repetition: a folder in two spellings is one input.
fn distinct(inputs: &[PathBuf]) -> Vec<&Path> {
    let mut folders: Vec<(PathBuf, &Path)> = Vec::new();
    for input in inputs {
        let canonical = identity(input);
        if !folders.iter().any(|(known, _)| *known == canonical) {
            folders.push((canonical, input));
        }
    }
    folders.sort();
    folders.into_iter().map(|(_, folder)| folder).collect()
}

fn read_manifest(packages: &mut Packages, folder: &Path) -> Result<PackageId, Box<Diagnostic>> {
    if folder.is_file() {
        let message = format!("input {} is a file", display(folder));
        let has_manifest = |above: &&Path| above.join("Cargo.toml").is_file();
        let package = folder.ancestors().skip(1).find(has_manifest).map_or_else(
            || "name the folder of its crate, which holds the Cargo.toml".to_owned(),
            |package| format!("name the folder of its crate: {}", display(&Path::new(".").join(package))),
        );
        return Err(Box::new(Diagnostic::error(Code::INPUT_NOT_FOUND, None, message).help(package)));
    }
    if !folder.is_dir() {
        let diagnostic = Diagnostic::error(
            Code::INPUT_NOT_FOUND,
            None,
            format!("input folder {} does not exist", display(folder)),
        );
        return Err(Box::new(diagnostic.help(
            "name the folder of the crate with the API types, which holds its Cargo.toml, or of Go packages",
        )));
    }
    packages.read(folder).map_err(|reason| {
        let path = display(&folder.join("Cargo.toml"));
        let diagnostic =
            Diagnostic::error(Code::INVALID_MANIFEST, None, format!("cannot use {path}: {reason}"));
        Box::new(diagnostic.help("an input is a crate: a folder with a Cargo.toml that has a [package]"))
    })
}

/// The library of a package. Where that has no kind, its programs that have some; without a library, all of
/// its programs.
fn input(files: &mut Files, packages: &Packages, id: PackageId) -> Vec<Crate> {
    let Package { manifest, folder, features, .. } = packages.get(id);
    let new = || Crate::new(manifest, folder, Cfg { features: features.clone(), ..Cfg::default() });
    let mut found = Vec::new();
    if manifest.root.is_file() || manifest.programs.is_empty() {
        let mut krate = new();
        files.library(&mut krate, manifest);
        found.push(krate);
    }
    let has_library = !found.is_empty();
    if found.iter().any(Crate::has_kinds) {
        return found;
    }
    for root in &manifest.programs {
        let before = files.diagnostics.len();
        let mut krate = Crate { is_program: true, ..new() };
        files.load_modules(&mut krate, root.clone());
        if has_library && !krate.has_kinds() {
            files.diagnostics.truncate(before);
        } else {
            found.push(krate);
        }
    }
    found
}

fn same_name(a: &Crate, b: &Crate) -> Option<Diagnostic> {
    (a.lib == b.lib && a.folder != b.folder).then(|| {
        let message = format!("two input crates have the library name `{}`", a.lib);
        let folders = format!("they are {} and {}", display(&a.folder), display(&b.folder));
        Diagnostic::error(Code::INVALID_MANIFEST, None, message).note(folders)
    })
}

/// The canonical path of a file or folder.
fn identity(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf())
}

/// The name of a dependency in code: its library's, unless the manifest renames it.
fn name_in_code(found: &Extern, packages: &mut Packages) -> String {
    let is_read = found.renamed.is_none() && !known::is_known_crate(&found.lib());
    let package = found.path.as_deref().filter(|_| is_read).and_then(|path| packages.at(path));
    package.map_or_else(|| found.name(), |id| packages.get(id).manifest.lib.clone())
}

impl Crate {
    fn new(manifest: &Manifest, folder: &Path, cfg: Cfg) -> Self {
        let runtime = manifest.externs.values().find(|found| found.package == "kubesmith-runtime");
        Self {
            package: manifest.package.clone(),
            version: manifest.version.clone(),
            cfg: Cfg { env: manifest.env(), ..cfg },
            runtime: runtime.and_then(|runtime| {
                let git = || runtime.git.clone().map(RuntimeSource::Git);
                runtime.path.clone().map(RuntimeSource::Folder).or_else(git)
            }),
            ..Self::empty(manifest.lib.clone(), folder.to_path_buf())
        }
    }

    /// An input with an empty root module, whose package has its library's name.
    fn empty(lib: String, folder: PathBuf) -> Self {
        Self {
            package: lib.clone(),
            version: "0.0.0".to_string(),
            folder,
            cfg: Cfg::default(),
            locked: Locked::default(),
            externs: BTreeMap::new(),
            optional: BTreeMap::new(),
            runtime: None,
            modules: vec![Module::new(lib.clone(), None, Visibility::Public)],
            manifests: ManifestFacts::default(),
            stored: Vec::new(),
            is_input: true,
            problems: Vec::new(),
            is_program: false,
            is_beside: false,
            is_go: false,
            older: Default::default(),
            has_unread_kinds: false,
            lib,
        }
    }
}

impl Crates {
    /// Makes the library of a package known to its programs.
    fn link_programs(&mut self) {
        for at in 0..self.list.len() {
            let Crate { lib, folder, is_program: true, .. } = &self.list[at] else { continue };
            let library = self.list.iter().position(|krate| !krate.is_program && krate.folder == *folder);
            if let Some(library) = library {
                let lib = lib.clone();
                self.list[at].externs.insert(lib, Dependency::Crate(library));
            }
        }
    }
}

impl Crate {
    /// Whether it has the root type of a kind, or a macro that makes one: macros are expanded later.
    fn has_kinds(&self) -> bool {
        const DERIVES: [&str; 2] = ["CustomResource", "Resource"];
        self.types().any(|item| item.resource.is_some() || item.custom_resource.is_some())
            || self.modules.iter().flat_map(|module| &module.steps).any(|step| match step {
                Step::Definition(made) => made.rules.as_ref().is_ok_and(|rules| rules.mentions(&DERIVES)),
                Step::Call(call) => Tree::mention(&call.input, &DERIVES),
                Step::Module { .. } | Step::Crate(_) => false,
            })
    }

    /// The types of all modules.
    pub(crate) fn types(&self) -> impl Iterator<Item = &TypeItem> {
        self.modules.iter().flat_map(|module| &module.types)
    }
}

impl Module {
    /// The calls of unknown macros. Their items are also unknown.
    pub fn calls(&self) -> impl Iterator<Item = &MacroCall> {
        self.steps.iter().filter_map(|step| match step {
            Step::Call(call) => Some(&**call),
            _ => None,
        })
    }

    fn new(name: String, parent: Option<ModuleId>, visibility: Visibility) -> Self {
        Self {
            name,
            parent,
            visibility,
            facts: ModuleFacts::default(),
            children: Vec::new(),
            types: Vec::new(),
            uses: Vec::new(),
            values: Vec::new(),
            impls: Vec::new(),
            steps: Vec::new(),
            derive_names: DeriveNames::default(),
        }
    }
}
