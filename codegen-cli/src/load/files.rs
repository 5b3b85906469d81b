//! Reads the files of a crate by following its `mod` declarations.
//!
//! Files are read and parsed in waves on several threads: a wave has the files that the previous one
//! declared.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use kubesmith_core::diag::Code;

use super::manifest::{Manifest, tidy};
use super::{Crate, LoadOptions, Module, ModuleId, Unsaved, identity};
use crate::diag::Diagnostic;
use crate::parallel;
use crate::parse::{self, Included};
use crate::paths::display;
use crate::source::{FileId, Loc, SourceFile, SourceMap};
use crate::syntax::{Items, ModuleItem, Step};

/// The greatest size in bytes of a file that `include_str!` names, far above that of any part of a
/// definition.
const INCLUDED_LIMIT: u64 = 1 << 17;

/// A file to read.
struct Request {
    path: PathBuf,
    module: ModuleId,
    /// The folder of its child modules.
    child_folder: PathBuf,
    /// The files through which it was found, without links and `..`, for detecting a file that includes
    /// itself.
    chain: Vec<PathBuf>,
    /// The declaration.
    declared: Option<Loc>,
}

/// The place of a module's items.
pub(super) struct Place<'a> {
    pub(super) module: ModuleId,
    /// Folder against which `#[path]` is resolved.
    pub(super) path_folder: &'a Path,
    /// Folder of child modules.
    pub(super) child_folder: &'a Path,
    /// Folder of the file, against which `include!` is resolved.
    pub(super) folder: &'a Path,
    pub(super) chain: &'a [PathBuf],
}

/// Reads files and records them.
#[derive(Debug)]
pub(super) struct Files {
    pub(super) sources: SourceMap,
    pub(super) diagnostics: Vec<Diagnostic>,
    /// Folder of the generated module.
    generated: Option<(PathBuf, OsString)>,
    /// Whether programs are read.
    programs: bool,
    /// Files whose text here replaces that on disk.
    unsaved: Unsaved,
    /// The files read so far.
    files: BTreeSet<PathBuf>,
}

/// The canonical path of a folder that may not exist.
fn folder_identity(folder: &Path) -> Option<(PathBuf, OsString)> {
    let parent = match folder.parent()? {
        parent if parent.as_os_str().is_empty() => Path::new("."),
        parent => parent,
    };
    Some((fs::canonicalize(parent).ok()?, folder.file_name()?.to_os_string()))
}

impl Files {
    pub(super) fn new(options: LoadOptions<'_>) -> Self {
        Self {
            sources: SourceMap::default(),
            diagnostics: Vec::new(),
            generated: options.generated.and_then(folder_identity),
            programs: options.beside.rules || options.beside.webhooks,
            unsaved: options.unsaved.clone(),
            files: BTreeSet::new(),
        }
    }

    /// Reads the library of an input.
    pub(super) fn library(&mut self, krate: &mut Crate, manifest: &Manifest) {
        self.load_modules(krate, manifest.root.clone());
        if has_versions(krate) {
            let texts = manifest.programs.iter().filter_map(|root| fs::read_to_string(root).ok());
            krate.stored.extend(texts.flat_map(|text| parse::stored(&text)));
        }
        if self.programs {
            self.load_programs(krate, manifest);
        }
    }

    /// Adds the roles and webhooks of programs, whose types are no API. Files of the library are not read
    /// again.
    fn load_programs(&mut self, krate: &mut Crate, manifest: &Manifest) {
        for root in &manifest.programs {
            let mut program =
                Crate { is_beside: true, ..Crate::new(manifest, &krate.folder, krate.cfg.clone()) };
            self.load_modules(&mut program, root.clone());
            krate.manifests.append(program.manifests);
        }
    }

    /// Reads a root file and the modules that it declares.
    pub(super) fn load_modules(&mut self, krate: &mut Crate, path: PathBuf) {
        let child_folder = path.parent().unwrap_or(&krate.folder).to_path_buf();
        let mut wave = vec![Request { path, module: 0, child_folder, chain: Vec::new(), declared: None }];
        while !wave.is_empty() {
            wave = self.load_wave(krate, wave);
        }
    }

    /// Reads and parses a wave of files; returns the next one.
    fn load_wave(&mut self, krate: &mut Crate, wave: Vec<Request>) -> Vec<Request> {
        let mut requests = Vec::new();
        let mut texts = Vec::new();
        for request in wave {
            let is_new = self.files.insert(identity(&request.path));
            if krate.is_beside && !is_new {
                continue;
            }
            if let Some((id, text)) = self.read(&request) {
                texts.push((id, text));
                requests.push((request, is_new));
            }
        }
        let nothing = Included::new();
        let mut parsed =
            parallel::map(&texts, |(id, text)| parse::parse_file(*id, text, &krate.cfg, &nothing));
        // A text's includes are known after it is parsed.
        for ((id, text), parsed) in texts.iter().zip(&mut parsed) {
            let included = self.included(*id, &parsed.0.wanted);
            if !included.is_empty() {
                *parsed = parse::parse_file(*id, text, &krate.cfg, &included);
            }
        }
        // The texts move into the source map once parsing is done.
        for (id, text) in texts {
            self.sources.set_text(id, text);
        }
        let mut next = Vec::new();
        let has_build_script = krate.folder.join("build.rs").is_file();
        for ((request, is_new), (file, diagnostics)) in requests.into_iter().zip(parsed) {
            self.diagnostics.extend(diagnostics);
            let mut chain = request.chain;
            chain.push(identity(&request.path));
            let folder = request.path.parent().unwrap_or(Path::new("")).to_path_buf();
            let place = Place {
                module: request.module,
                path_folder: &folder,
                child_folder: &request.child_folder,
                folder: &folder,
                chain: &chain,
            };
            if is_new {
                krate.manifests.append(file.manifests);
                krate.stored.extend(file.stored);
            }
            let steps = add_items(krate, &place, file.items, &mut |place, item, id| {
                next.extend(self.find_file(place, item, id, has_build_script));
            });
            krate.modules[place.module].steps.extend(steps);
        }
        next
    }

    /// The readable texts that a file includes.
    fn included(&self, file: FileId, wanted: &BTreeSet<String>) -> Included {
        let folder = self.sources.file(file).path.parent().unwrap_or(Path::new(""));
        // A device or a pipe would be endless.
        let is_small = |path: &Path| {
            fs::metadata(path).is_ok_and(|found| found.is_file() && found.len() <= INCLUDED_LIMIT)
        };
        let read = |path: PathBuf| fs::read_to_string(Some(path).filter(|path| is_small(path))?).ok();
        wanted.iter().filter_map(|path| Some((path.clone(), read(folder.join(path))?))).collect()
    }

    fn read(&mut self, request: &Request) -> Option<(FileId, String)> {
        let name = display(&request.path);
        let id = self.sources.add(SourceFile {
            path: request.path.clone(),
            name: name.as_str().into(),
            text: "".into(),
        });
        let bytes = match self.unsaved.read(&request.path) {
            Ok(bytes) => bytes,
            Err(error) => {
                let mut diagnostic = Diagnostic::error(
                    Code::UNREADABLE_FILE,
                    request.declared,
                    format!("cannot read {name}: {error}"),
                );
                if request.declared.is_none() && error.kind() == io::ErrorKind::NotFound {
                    diagnostic = diagnostic
                        .help("API types live in a library: add src/lib.rs or set `path` in the [lib] table");
                }
                self.diagnostics.push(diagnostic);
                return None;
            }
        };
        match String::from_utf8(bytes) {
            // rustc skips a byte order mark; offsets stay those of the file.
            Ok(text) => Some((id, text)),
            Err(error) => {
                let at = error.utf8_error().valid_up_to();
                let line = error.as_bytes()[..at].iter().filter(|&&b| b == b'\n').count() + 1;
                self.diagnostics.push(
                    Diagnostic::error(
                        Code::NOT_UTF8,
                        request.declared,
                        format!("{name} is not UTF-8: line {line}, byte {at}"),
                    )
                    .help("save the file as UTF-8"),
                );
                None
            }
        }
    }

    /// The file of a declaration `mod name;` or `include!("name.rs")`. A build script may write it.
    fn find_file(
        &mut self,
        place: &Place<'_>,
        item: &ModuleItem,
        module: ModuleId,
        has_build_script: bool,
    ) -> Option<Request> {
        let name = &item.name.text;
        let own = place.child_folder.join(name);
        if item.path.is_none() && self.generated.is_some() && folder_identity(&own) == self.generated {
            return None;
        }
        let found = match &item.path {
            Some(path) => {
                let base = if item.is_include { place.folder } else { place.path_folder };
                let path = tidy(&base.join(path));
                let folder = path.parent().unwrap_or(Path::new("")).to_path_buf();
                Ok((path, folder))
            }
            None => self.conventional_file(place, item),
        };
        let found = found.and_then(|(path, child_folder)| {
            if !self.unsaved.is_file(&path) && !path.exists() {
                return Err(Box::new(missing_file(&path, &child_folder, item, has_build_script)));
            }
            if place.chain.contains(&identity(&path)) {
                let message = format!("{} includes itself as module `{name}`", display(&path));
                return Err(Box::new(Diagnostic::error(Code::MODULE_FILE, item.name.loc, message)));
            }
            Ok((path, child_folder))
        });
        match found {
            Ok((path, child_folder)) => Some(Request {
                path,
                module,
                child_folder,
                chain: place.chain.to_vec(),
                declared: Some(item.name.loc),
            }),
            Err(diagnostic) => {
                self.diagnostics.push(*diagnostic);
                None
            }
        }
    }

    /// The file `name.rs` or `name/mod.rs`, and the folder of the module's children. If both are missing, it is the likelier
    /// one.
    fn conventional_file(
        &self,
        place: &Place<'_>,
        item: &ModuleItem,
    ) -> Result<(PathBuf, PathBuf), Box<Diagnostic>> {
        let name = &item.name.text;
        let own = place.child_folder.join(name);
        let flat = place.child_folder.join(format!("{name}.rs"));
        let nested = own.join("mod.rs");
        match (self.unsaved.is_file(&flat), self.unsaved.is_file(&nested)) {
            (true, true) => {
                let message = format!("module `{name}` has two files");
                let twice = Diagnostic::error(Code::MODULE_FILE, item.name.loc, message)
                    .note(format!("both {} and {} exist", display(&flat), display(&nested)))
                    .help("remove one of them");
                Err(Box::new(twice))
            }
            (false, true) => Ok((nested, own)),
            _ => Ok((flat, own)),
        }
    }
}

/// The diagnostic for a declared file that does not exist.
fn missing_file(path: &Path, child_folder: &Path, item: &ModuleItem, has_build_script: bool) -> Diagnostic {
    let name = &item.name.text;
    if item.is_include {
        return parse::unread_include(&item.name);
    }
    if has_build_script {
        let message = format!("module `{name}` is not read: {} does not exist", display(path));
        return Diagnostic::warning(Code::MODULE_FILE, item.name.loc, message)
            .note("the build script may write it; its types are neither generated nor found")
            .help("build the package first, if the module has parts of the API");
    }
    let message = format!("module `{name}` has no file: {} does not exist", display(path));
    let missing = Diagnostic::error(Code::MODULE_FILE, item.name.loc, message)
        .help("create the file, or remove the declaration");
    match item.path {
        None => missing.note(format!("{} would do as well", display(&child_folder.join("mod.rs")))),
        Some(_) => missing,
    }
}

/// Whether a kind of kube-rs's dialect has several versions, which a program merges.
fn has_versions(krate: &Crate) -> bool {
    let resources = krate.types().filter_map(|item| item.custom_resource.as_deref());
    let mut kinds = BTreeSet::new();
    resources.map(|resource| resource.facts.kind.text.as_str()).any(|kind| !kinds.insert(kind))
}

/// Adds items to a module; returns the uses of macros in them. `declared` is called for modules in other
/// files.
pub(super) fn add_items(
    krate: &mut Crate,
    place: &Place<'_>,
    items: Items,
    declared: &mut impl FnMut(&Place<'_>, &ModuleItem, ModuleId),
) -> Vec<Step> {
    let module = &mut krate.modules[place.module];
    module.facts = items.facts.or(&module.facts);
    module.types.extend(items.types);
    module.uses.extend(items.uses);
    module.values.extend(items.values);
    module.impls.extend(items.impls);
    module.derive_names.0.extend(items.derive_names.0);
    let mut ids = Vec::new();
    for item in items.modules {
        if item.is_include {
            ids.push(place.module);
            declared(place, &item, place.module);
            continue;
        }
        let id = krate.modules.len();
        ids.push(id);
        let child = Module::new(item.name.text.clone(), Some(place.module), item.visibility);
        krate.modules.push(Module { facts: item.facts.clone(), ..child });
        krate.modules[place.module].children.push(id);
        match item.inline {
            Some(inner) => {
                let folder = place.child_folder.join(item.path.as_deref().unwrap_or(&item.name.text));
                let (path_folder, child_folder) = (&*folder, &*folder);
                let place = Place { module: id, path_folder, child_folder, ..*place };
                let steps = add_items(krate, &place, inner, declared);
                krate.modules[id].steps = steps;
            }
            None => declared(place, &item, id),
        }
    }
    let with_id = |step| match step {
        Step::Module { at, is_macro_use } => Step::Module { at: ids[at], is_macro_use },
        step => step,
    };
    items.steps.into_iter().map(with_id).collect()
}
