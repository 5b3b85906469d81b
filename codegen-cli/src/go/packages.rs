//! Go packages: the files of an import path, read when a type leads into it.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use kubesmith_core::diag::Code;

use super::constraint;
use super::known;
use super::module::Module;
use super::parse;
use super::syntax::{Constant, File, Part, TypeDecl};
use super::text::loc;
use crate::diag::Diagnostic;
use crate::parallel;
use crate::paths::display;
use crate::source::{FileId, SourceFile, SourceMap};

/// A type declaration: its package, file and position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct TypeId {
    pub(super) package: usize,
    pub(super) file: usize,
    pub(super) item: usize,
}

/// A package.
#[derive(Debug)]
pub(super) struct Package {
    /// Its import path.
    pub(super) path: String,
    /// Its name in the package clauses.
    pub(super) name: String,
    /// Its name in Rust, which no other package has.
    pub(super) module_name: String,
    /// Its files.
    pub(super) files: Vec<(FileId, File)>,
    /// Whether it was named as an input.
    pub(super) is_input: bool,
    /// The module that led to it, by its index.
    module: usize,
    types: HashMap<String, TypeId>,
}

/// What a package is read as.
struct Entry {
    /// Its import path.
    path: String,
    /// The module that leads to it, by its index.
    module: usize,
    is_input: bool,
}

/// The packages of a run.
#[derive(Debug, Default)]
pub(super) struct Packages {
    pub(super) list: Vec<Package>,
    modules: Vec<Module>,
    /// Packages by their import paths; `None`: it could not be found.
    by_path: HashMap<(usize, String), Option<usize>>,
}

impl Packages {
    /// The path of a package's file in the module that led to the package, `/`-separated.
    pub(super) fn path_in_module(&self, package: usize, file: &Path) -> Option<String> {
        self.modules[self.list[package].module].path_of(file)
    }

    /// Reads all packages in a folder and below.
    pub(super) fn input(&mut self, input: &Path, sources: &mut SourceMap, diagnostics: &mut Vec<Diagnostic>) {
        let text = input.to_string_lossy();
        let folder = PathBuf::from(text.strip_suffix("...").unwrap_or(&text));
        let module = self.modules.len();
        self.modules.push(Module::around(&folder));
        let mut folders = Vec::new();
        walk(&folder, &mut folders, 0);
        for folder in folders {
            let path = self.modules[module].import_path(&folder);
            let path = if path.is_empty() { "main".to_string() } else { path };
            if self.by_path.contains_key(&(module, path.clone())) {
                continue;
            }
            let entry = Entry { path: path.clone(), module, is_input: true };
            let found = self.read(&folder, entry, sources, diagnostics);
            self.by_path.insert((module, path), found);
        }
    }

    fn read(
        &mut self,
        folder: &Path,
        entry: Entry,
        sources: &mut SourceMap,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Option<usize> {
        let mut texts = Vec::new();
        for file in go_files(folder) {
            let name = display(&file);
            let text = match fs::read(&file).map(String::from_utf8) {
                Ok(Ok(text)) => text,
                Ok(Err(_)) => {
                    let message = format!("{name} is not UTF-8");
                    diagnostics.push(
                        Diagnostic::error(Code::NOT_UTF8, None, message).help("save the file as UTF-8"),
                    );
                    continue;
                }
                Err(error) => {
                    let message = format!("cannot read {name}: {error}");
                    diagnostics.push(Diagnostic::error(Code::UNREADABLE_FILE, None, message));
                    continue;
                }
            };
            if constraint::is_built(&text) {
                texts.push(SourceFile { path: file, name: name.as_str().into(), text });
            }
        }
        self.add(texts, entry, sources, diagnostics)
    }

    fn add(
        &mut self,
        texts: Vec<SourceFile>,
        entry: Entry,
        sources: &mut SourceMap,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Option<usize> {
        let Entry { path, module, is_input } = entry;
        let parsed = parallel::map(&texts, |file| parse::parse_file(&file.text));
        let mut files = Vec::new();
        for (source, file) in texts.into_iter().zip(parsed) {
            let id = sources.add(source);
            if let Some(at) = file.errors.first().filter(|_| is_input) {
                let message = "this is not Go that can be read";
                diagnostics.push(
                    Diagnostic::error(Code::GO_SYNTAX, loc(id, at), message)
                        .note("declarations after it may not have been read")
                        .help("run `gofmt` on the file"),
                );
            }
            files.push((id, file));
        }
        let name = files.iter().find_map(|(_, file)| file.package.as_ref())?.text.clone();
        let package = self.list.len();
        let mut types = HashMap::new();
        for (at, (_, file)) in files.iter().enumerate() {
            for (item, decl) in file.types.iter().enumerate() {
                types.entry(decl.name.text.clone()).or_insert(TypeId { package, file: at, item });
            }
        }
        let module_name = self.new_name(&path);
        self.list.push(Package { path, name, module_name, files, is_input, module, types });
        Some(package)
    }

    /// The package of an import path, as another package sees it.
    pub(super) fn import(
        &mut self,
        by: usize,
        path: &str,
        sources: &mut SourceMap,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Option<usize> {
        let module = self.list[by].module;
        let key = (module, path.to_string());
        if let Some(known) = self.by_path.get(&key) {
            return *known;
        }
        let entry = || Entry { path: path.to_string(), module, is_input: false };
        let found = match self.modules[module].find(path) {
            Some(folder) => self.read(&folder, entry(), sources, diagnostics),
            None => self.by_suffix(path).or_else(|| self.built_in(path, module, sources, diagnostics)),
        };
        self.by_path.insert(key, found);
        found
    }

    /// Without a go.mod, an input whose path the import path ends in.
    fn by_suffix(&self, path: &str) -> Option<usize> {
        let is_end = |package: &Package| {
            path.strip_suffix(package.path.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
        };
        let inputs = self.list.iter().enumerate().filter(|(_, package)| package.is_input && is_end(package));
        inputs.max_by_key(|(_, package)| package.path.len()).map(|(at, _)| at)
    }

    fn built_in(
        &mut self,
        path: &str,
        module: usize,
        sources: &mut SourceMap,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Option<usize> {
        let (_, text) = known::BUILT_IN.iter().find(|(known, _)| *known == path)?;
        let name = format!("{path} (built in)");
        let file =
            SourceFile { path: PathBuf::from(&name), name: name.as_str().into(), text: (*text).to_string() };
        let entry = Entry { path: path.to_string(), module, is_input: false };
        self.add(vec![file], entry, sources, diagnostics)
    }

    /// The declaration of a type in a package.
    pub(super) fn type_in(&self, package: usize, name: &str) -> Option<TypeId> {
        self.list[package].types.get(name).copied()
    }

    /// The declaration.
    pub(super) fn decl(&self, id: TypeId) -> &TypeDecl {
        &self.list[id.package].files[id.file].1.types[id.item]
    }

    /// The value of a constant text of a package; `None`: a part of it is no text of the package.
    pub(super) fn text_of(&self, package: usize, constant: &Constant) -> Option<String> {
        self.text_within(package, constant, 0)
    }

    fn text_within(&self, package: usize, constant: &Constant, depth: usize) -> Option<String> {
        let named = |name: &String| {
            let mut all = self.list[package].files.iter().flat_map(|(_, file)| &file.constants);
            let found = all.find(|other| other.name.text == *name).filter(|_| depth < CONSTANT_DEPTH)?;
            self.text_within(package, found, depth + 1)
        };
        let part = |part: &Part| match part {
            Part::Text(text) => Some(text.clone()),
            Part::Name(name) => named(name),
        };
        constant.value.iter().map(part).collect()
    }

    /// Whether a type has a method of that name, by value or by pointer.
    pub(super) fn has_method(&self, id: TypeId, method: &str) -> bool {
        let name = &self.decl(id).name.text;
        let files = &self.list[id.package].files;
        files.iter().flat_map(|(_, file)| &file.methods).any(|m| m.receiver == *name && m.name.text == method)
    }

    /// The module that a package would come from.
    pub(super) fn module_of(&self, by: usize, path: &str) -> Option<String> {
        self.modules[self.list[by].module].module_of(path)
    }

    /// A short name in Rust that no package has yet.
    fn new_name(&self, path: &str) -> String {
        let mut parts: Vec<&str> = path.rsplit('/').take(2).collect();
        parts.reverse();
        let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' };
        let mut name: String = parts.join("_").chars().map(plain).collect();
        if syn::parse_str::<syn::Ident>(&name).is_err() {
            name = format!("go_{name}");
        }
        let is_taken = |name: &str| self.list.iter().any(|package| package.module_name == name);
        let mut numbered = (2..).map(|number| format!("{name}_{number}"));
        if is_taken(&name) { numbered.find(|name| !is_taken(name)).unwrap_or(name) } else { name }
    }
}

/// How many constants may stand for each other.
const CONSTANT_DEPTH: usize = 16;

/// How deep folders may be nested.
const DEPTH_LIMIT: usize = 64;

/// Folders with Go files, in order; without those that the go command leaves out of `./...`.
fn walk(folder: &Path, out: &mut Vec<PathBuf>, depth: usize) {
    if !go_files(folder).is_empty() {
        out.push(folder.to_path_buf());
    }
    let Ok(entries) = fs::read_dir(folder) else { return };
    let mut inner: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    inner.sort();
    for path in inner {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let is_left_out = name.starts_with(['.', '_']) || name == "testdata" || name == "vendor";
        let is_link = fs::symlink_metadata(&path).is_ok_and(|found| found.is_symlink());
        if path.is_dir() && !is_left_out && !is_link && depth < DEPTH_LIMIT && !path.join("go.mod").is_file()
        {
            walk(&path, out, depth + 1);
        }
    }
}

/// The files of the package in a folder, by name.
fn go_files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let files = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let mut files: Vec<PathBuf> = files
        .filter(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            constraint::is_named_for(&name) && path.is_file()
        })
        .collect();
    files.sort();
    files
}

/// Whether a folder has the files of a package.
pub(super) fn is_package(folder: &Path) -> bool {
    !go_files(folder).is_empty()
}

/// Whether there are Go files in a folder or below.
pub(super) fn has_go(folder: &Path) -> bool {
    let mut found = Vec::new();
    walk(folder, &mut found, 0);
    !found.is_empty()
}
