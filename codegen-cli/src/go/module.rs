//! Finds the packages of Go modules on the disk by their import paths.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};

/// A module, as declared in its go.mod.
#[derive(Debug, Default)]
pub(super) struct Module {
    /// Its folder.
    folder: PathBuf,
    /// Its import path; empty without a go.mod.
    path: String,
    /// The required modules and their versions.
    required: BTreeMap<String, String>,
    /// Folders of modules beside it: `replace` with a folder, and `use` of a go.work.
    folders: BTreeMap<String, PathBuf>,
    /// Replacements of modules by other modules.
    replaced: BTreeMap<String, (String, String)>,
    /// The folder of the module cache.
    cache: Option<PathBuf>,
}

impl Module {
    /// The module around a folder.
    pub(super) fn around(folder: &Path) -> Self {
        let start = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_path_buf());
        let root = start.ancestors().find(|at| at.join("go.mod").is_file());
        let Some(root) = root else { return Self { folder: folder.to_path_buf(), ..Self::default() } };
        let text = fs::read_to_string(root.join("go.mod")).unwrap_or_default();
        let mut module = Self { folder: shown(folder, &start, root), cache: cache(), ..Self::default() };
        module.read(&text);
        if let Some(work) = start.ancestors().find(|at| at.join("go.work").is_file()) {
            let text = fs::read_to_string(work.join("go.work")).unwrap_or_default();
            for (name, words) in directives(&text) {
                match (name, &words[..]) {
                    ("use", [folder, ..]) => {
                        let folder = work.join(folder);
                        module.folders.extend(module_path(&folder).map(|path| (path, folder)));
                    }
                    ("replace", _) => module.replace(&words, work),
                    _ => {}
                }
            }
        }
        module
    }

    fn read(&mut self, text: &str) {
        for (name, words) in directives(text) {
            match (name, &words[..]) {
                ("module", [path, ..]) => self.path = (*path).to_string(),
                ("require", [path, version, ..]) => {
                    self.required.insert((*path).to_string(), (*version).to_string());
                }
                ("replace", _) => self.replace(&words, &self.folder.clone()),
                _ => {}
            }
        }
    }

    /// `a [v1] => b v2`, `a => ../b`; the folder is relative to that of the file.
    fn replace(&mut self, words: &[&str], base: &Path) {
        let Some(arrow) = words.iter().position(|word| *word == "=>") else { return };
        match (words.first(), &words[arrow + 1..]) {
            (Some(old), [folder]) => {
                self.folders.insert((*old).to_string(), base.join(folder));
            }
            (Some(old), [new, version, ..]) => {
                let target = ((*new).to_string(), (*version).to_string());
                self.replaced.insert((*old).to_string(), target);
            }
            _ => {}
        }
    }

    /// The path of a file relative to the module, `/`-separated.
    pub(super) fn path_of(&self, file: &Path) -> Option<String> {
        let inner = file.strip_prefix(&self.folder).ok()?;
        let parts: Vec<_> = inner.iter().map(|part| part.to_string_lossy()).collect();
        Some(parts.join("/"))
    }

    /// The import path of one of its folders.
    pub(super) fn import_path(&self, folder: &Path) -> String {
        let inner = folder.strip_prefix(&self.folder).unwrap_or(folder);
        let parts = inner.components().map(|part| part.as_os_str().to_string_lossy().into_owned());
        let all: Vec<String> =
            Some(self.path.clone()).filter(|path| !path.is_empty()).into_iter().chain(parts).collect();
        all.join("/")
    }

    /// The folder of one of its packages.
    pub(super) fn own(&self, import: &str) -> Option<PathBuf> {
        let inner = inside(&self.path, import).filter(|_| !self.path.is_empty())?;
        Some(self.folder.join(inner)).filter(|folder| folder.is_dir())
    }

    /// The folder of a package.
    pub(super) fn find(&self, import: &str) -> Option<PathBuf> {
        if let Some(folder) = self.own(import) {
            return Some(folder);
        }
        let vendored = self.folder.join("vendor").join(import);
        if vendored.is_dir() {
            return Some(vendored);
        }
        let beside = longest(self.folders.keys(), import);
        if let Some((module, inner)) = beside {
            return Some(self.folders[module].join(inner)).filter(|folder| folder.is_dir());
        }
        let (module, inner) = longest(self.required.keys(), import)?;
        let own = (module.clone(), self.required[module].clone());
        let (module, version) = self.replaced.get(module).unwrap_or(&own);
        let folder =
            self.cache.as_ref()?.join(format!("{}@{}", escaped(module), escaped(version))).join(inner);
        folder.is_dir().then_some(folder)
    }

    /// How to get a package that was not found.
    pub(super) fn way_to(&self, import: &str) -> String {
        let beside = longest(self.folders.keys(), import);
        if let Some((module, folder)) = beside.map(|(module, _)| (module, &self.folders[module])) {
            let folder = folder.display();
            return format!(
                "`{module}` is in {folder}, which has no such package: correct `replace` in go.mod or `use` in go.work"
            );
        }
        match longest(self.required.keys(), import) {
            Some((module, _)) => {
                let version = &self.required[module];
                format!("run `go mod download {module}@{version}`, or `go mod vendor` in the module")
            }
            None => "add its module to go.mod and run `go mod download`, or `go mod vendor`".to_string(),
        }
    }
}

/// The folder of the module as the user would write it: the named folder with as many levels removed.
fn shown(folder: &Path, start: &Path, root: &Path) -> PathBuf {
    let up = start.strip_prefix(root).map_or(0, |inner| inner.components().count());
    let mut out = folder.to_path_buf();
    for _ in 0..up {
        match out.file_name() {
            Some(_) => out = out.parent().map(Path::to_path_buf).unwrap_or_default(),
            None => return root.to_path_buf(),
        }
    }
    out
}

fn cache() -> Option<PathBuf> {
    let of = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let path = || of("GOPATH").or_else(|| Some(of("HOME")?.join("go")));
    of("GOMODCACHE").or_else(|| Some(path()?.join("pkg/mod"))).filter(|folder| folder.is_dir())
}

/// The path of the module in a folder.
fn module_path(folder: &Path) -> Option<String> {
    let text = fs::read_to_string(folder.join("go.mod")).ok()?;
    let found = directives(&text).find(|(name, _)| *name == "module");
    found.and_then(|(_, words)| Some((*words.first()?).to_string()))
}

/// The part of an import path inside a module.
fn inside<'i>(module: &str, import: &'i str) -> Option<&'i str> {
    let rest = import.strip_prefix(module)?;
    if rest.is_empty() { Some(rest) } else { rest.strip_prefix('/') }
}

/// The module with the longest path that prefixes an import path, and the part inside it.
fn longest<'m, 'i>(
    modules: impl Iterator<Item = &'m String>,
    import: &'i str,
) -> Option<(&'m String, &'i str)> {
    modules
        .filter_map(|module| Some((module, inside(module, import)?)))
        .max_by_key(|(module, _)| module.len())
}

/// The directives of a go.mod or go.work: names and words, with each line in parentheses separate.
fn directives(text: &str) -> impl Iterator<Item = (&str, Vec<&str>)> {
    let mut block: Option<&str> = None;
    text.lines().filter_map(move |line| {
        let line = line.split("//").next().unwrap_or_default().trim();
        let words: Vec<&str> = line.split_whitespace().map(|word| word.trim_matches(['"', '`'])).collect();
        match (block, &words[..]) {
            (_, []) => None,
            (Some(_), [")", ..]) => {
                block = None;
                None
            }
            (Some(name), _) => Some((name, words)),
            (None, [name, "("]) => {
                block = Some(*name);
                None
            }
            (None, [name, ..]) => {
                let name = *name;
                Some((name, words[1..].to_vec()))
            }
        }
    })
}

/// A path as the module cache spells it: capitals as `!` and the small letter.
fn escaped(path: &str) -> String {
    let mut out = String::new();
    for c in path.chars() {
        if c.is_ascii_uppercase() {
            out.push('!');
        }
        out.push(c.to_ascii_lowercase());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn module_directives_parse_alone_and_in_blocks() {
        let text = "module a.b/c // x\n\ngo 1.24\nrequire (\n\td.e/f v1.0.0\n\tD.e/G v2.0.0 // indirect\n)\nreplace d.e/f => ../f\nreplace D.e/G v2.0.0 => h/i v3.0.0\n";
        let mut module = Module { folder: "root".into(), ..Module::default() };
        module.read(text);
        assert_eq!(module.path, "a.b/c");
        assert!(module.way_to("D.e/G/v1").starts_with("run `go mod download D.e/G@v2.0.0`"));
        assert!(module.way_to("d.e/f/v1").contains("correct `replace`"));
        assert_eq!(module.folders["d.e/f"], Path::new("root/../f"));
        assert_eq!(module.replaced["D.e/G"], ("h/i".to_string(), "v3.0.0".to_string()));
        assert_eq!(escaped("D.e/G"), "!d.e/!g");
    }

    #[test]
    fn workspace_uses_and_replaces_modules() {
        let top = tempfile::tempdir().unwrap();
        for (path, text) in [
            ("a/go.mod", "module a.b/a\nreplace a.b/c => ../old\n"),
            ("b/go.mod", "module a.b/b\n"),
            ("go.work", "use (\n\t./a\n\t./b\n)\nreplace a.b/c => ./c\n"),
        ] {
            let path = top.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        fs::create_dir_all(top.path().join("c/v1")).unwrap();
        let module = Module::around(&top.path().join("a"));
        assert!(module.find("a.b/b").unwrap().ends_with("b"));
        assert!(module.find("a.b/c/v1").unwrap().ends_with("c/v1"));
    }
}
