//! Checks handwritten files beside generated ones: whether a generated file includes them, and whether they
//! repeat definitions.

mod collisions;
mod index;
mod modules;
mod orphans;

use std::collections::{BTreeMap, BTreeSet};

use kubesmith_core::diag::{Code, Severity};

use self::index::Index;
use self::modules::{Module, Modules};
use crate::diag::Diagnostic;
use crate::load::{EXPANSION, HandWritten, REGISTER_CUSTOM};
use crate::output::Target;
use crate::parallel;
use crate::paths::display;
use crate::source::{FileId, Loc, SourceFile, SourceMap};

/// Warns of files without a module, unreadable ones, and those that collide with others. `points` are the
/// places of extensions, as [`extension_points`](crate::emit::rust::extension_points) lists them;
/// `root` is the module path of the package in its crate.
pub fn check(
    target: &Target,
    files: &HandWritten,
    points: &[String],
    root: &[String],
    sources: &mut SourceMap,
) -> Vec<Diagnostic> {
    if files.texts.is_empty() {
        return Vec::new();
    }
    let generated = generated(target, files);
    let (taken, left): (Vec<&str>, Vec<&str>) =
        files.texts.keys().map(String::as_str).partition(|name| is_taken_in(name, points, &generated));
    let mut add = |name: &str, text: &str| {
        let path = files.folder.join(name);
        let file = SourceFile { name: display(&path).into(), path, text: text.into() };
        sources.add(file)
    };
    let mut found = Vec::new();
    let mut read: Vec<(&str, FileId, &str)> = Vec::new();
    for name in &taken {
        let text = files.texts[*name].as_deref();
        let id = add(name, text.unwrap_or_default());
        match text {
            Some(text) => read.push((name, id, text)),
            None => found.push(unreadable(start(id), "the file is not UTF-8").help("save the file as UTF-8")),
        }
    }
    let beside: BTreeSet<String> = taken.iter().flat_map(|name| neighbours(name)).collect();
    for (name, text) in beside.iter().filter_map(|name| generated.get_key_value(name.as_str())) {
        read.push((name, add(name, text), text));
    }
    let indexes = parallel::map(&read, |(_, id, text)| index::read(*id, text));
    let mut list = Vec::new();
    for ((name, id, _), index) in read.iter().zip(indexes) {
        match index {
            Ok(index) => list.push(module(name, *id, taken.contains(name), index)),
            Err(errors) => found.extend(errors.into_iter().map(not_rust)),
        }
    }
    let modules = Modules { root, list };
    found.extend(collisions::check(&modules));
    let declared = modules.declared();
    for name in left.into_iter().filter(|name| !declared.contains(*name)) {
        let id = add(name, files.texts[name].as_deref().unwrap_or_default());
        found.push(orphans::diagnostic(name, start(id), points, &generated));
    }
    found
}

/// The generated files by their path below the source folder.
fn generated<'t>(target: &'t Target, files: &HandWritten) -> BTreeMap<&'t str, &'t str> {
    let below = files.folder.strip_prefix(&target.root).map(display).unwrap_or_default();
    let relative = |path: &'t str| match below.as_str() {
        "" => Some(path),
        below => path.strip_prefix(below)?.strip_prefix('/'),
    };
    target.tree.iter().filter_map(|(path, text)| Some((relative(path)?, text))).collect()
}

/// Whether the file that it extends declares it as a module.
fn is_taken_in(name: &str, points: &[String], generated: &BTreeMap<&str, &str>) -> bool {
    if name == REGISTER_CUSTOM {
        return generated.contains_key("clientset/mod.rs");
    }
    name.strip_suffix(EXPANSION).is_some_and(|stem| points.iter().any(|point| point == stem))
}

/// The files whose definitions are in scope of an extension: of the group-version, and of the clientset.
fn neighbours(name: &str) -> [String; 2] {
    let folder = name.rsplit_once('/').map_or("", |(folder, _)| folder);
    [format!("{folder}.rs"), "clientset/mod.rs".to_owned()]
}

fn module(name: &str, file: FileId, by_hand: bool, index: Index) -> Module {
    let path = name.trim_end_matches(".rs").trim_end_matches("/mod");
    let path = path.split('/').map(str::to_owned).collect();
    let folder = name.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned();
    Module { path, folder, file, by_hand, index }
}

/// The place for diagnostics about a whole file.
fn start(file: FileId) -> Loc {
    Loc { file, start: 0, end: 0 }
}

fn unreadable(loc: Loc, message: &str) -> Diagnostic {
    Diagnostic::warning(Code::UNREADABLE_EXPANSION, loc, message)
        .note("the package declares it as a module, so that rustc will not compile the package")
}

fn not_rust(error: Diagnostic) -> Diagnostic {
    let note = "whether it collides with what is generated is not known".to_owned();
    let code = Code::UNREADABLE_EXPANSION;
    Diagnostic { code, severity: Severity::Warning, notes: vec![note], ..error }
}
