//! Finds the modules around a file, by the `mod` declarations of its crate.

use std::fs;
use std::path::{Path, PathBuf};

use syn::{Attribute, Expr, ExprLit, Item, ItemMod, Lit, Meta};

/// A module around a struct.
pub(super) struct Module {
    /// Its name; empty for a crate's root.
    pub(super) name: String,
    /// Its inner attributes, and those of its declaration.
    pub(super) attributes: Vec<Attribute>,
    /// Its file; `None` for an inline module.
    pub(super) file: Option<PathBuf>,
}

/// A module on the path from a crate's root, with the folders of its own modules.
struct Place<'a> {
    /// Folder against which `#[path]` is resolved.
    path_folder: &'a Path,
    /// Folder of child modules.
    child_folder: &'a Path,
}

/// The deepest nesting of modules; a file that includes itself ends there.
const DEPTH_LIMIT: usize = 64;

/// Parses a file; `None` if it cannot be read or is not Rust.
pub(super) fn parse(file: &Path) -> Option<syn::File> {
    syn::parse_file(&fs::read_to_string(file).ok()?).ok()
}

/// The modules around a file, including itself, innermost first. A file that is not in a crate of the package
/// has only itself.
pub(super) fn around(file: &Path, parsed: syn::File, package: Option<&Path>) -> Vec<Module> {
    let Ok(wanted) = fs::canonicalize(file) else { return Vec::new() };
    let is_root = |root: &PathBuf| fs::canonicalize(root).is_ok_and(|root| root == wanted);
    let roots = package.map(roots).unwrap_or_default();
    if !roots.iter().any(is_root) {
        for root in roots {
            if let Some(found) = from_root(&root, &wanted) {
                return found;
            }
        }
    }
    vec![Module { name: module_name(file), attributes: parsed.attrs, file: Some(wanted) }]
}

/// The roots of the crates of a package: Cargo's default ones, and those in the manifest.
fn roots(package: &Path) -> Vec<PathBuf> {
    let mut out = vec![package.join("src/lib.rs"), package.join("src/main.rs")];
    let manifest = fs::read_to_string(package.join("Cargo.toml")).unwrap_or_default();
    out.extend(named_roots(&manifest).map(|path| package.join(path)));
    for folder in ["src/bin", "tests", "examples", "benches"] {
        let entries = fs::read_dir(package.join(folder)).into_iter().flatten().filter_map(Result::ok);
        let mut found: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        found.sort();
        out.extend(found.into_iter().map(|path| if path.is_dir() { path.join("main.rs") } else { path }));
    }
    out.retain(|path| path.extension().is_some_and(|extension| extension == "rs") && path.is_file());
    out
}

/// The paths of targets in a manifest: `path = "..."` in the tables `[lib]`, `[[bin]]` and similar.
fn named_roots(manifest: &str) -> impl Iterator<Item = &str> {
    let mut is_target = false;
    manifest.lines().map(str::trim).filter_map(move |line| {
        if line.starts_with('[') {
            let table = line.trim_matches(['[', ']']);
            is_target = ["lib", "bin", "test", "example", "bench"].contains(&table);
        }
        let value =
            line.strip_prefix("path")?.trim_start().strip_prefix('=')?.trim_start().strip_prefix('"')?;
        let (path, _) = value.split_once('"').filter(|_| is_target)?;
        Some(path)
    })
}

/// The modules from the wanted file out to a root; `None` if the root does not include it.
fn from_root(root: &Path, wanted: &Path) -> Option<Vec<Module>> {
    let parsed = parse(root)?;
    let folder = root.parent()?;
    let mut found = search(&parsed.items, &Place { path_folder: folder, child_folder: folder }, wanted, 0)?;
    found.push(Module { name: String::new(), attributes: parsed.attrs, file: fs::canonicalize(root).ok() });
    Some(found)
}

/// The modules from the wanted file out to the one with these items, which is excluded.
fn search(items: &[Item], place: &Place<'_>, wanted: &Path, depth: usize) -> Option<Vec<Module>> {
    let modules = items.iter().filter_map(|item| match item {
        Item::Mod(module) => Some(module),
        _ => None,
    });
    modules.filter(|_| depth < DEPTH_LIMIT).find_map(|module| inside(module, place, wanted, depth + 1))
}

fn inside(module: &ItemMod, place: &Place<'_>, wanted: &Path, depth: usize) -> Option<Vec<Module>> {
    let name = module.ident.to_string();
    let name = name.strip_prefix("r#").unwrap_or(&name);
    let mut attributes = module.attrs.clone();
    if let Some((_, items)) = &module.content {
        let folder = place.child_folder.join(path_attribute(&module.attrs).as_deref().unwrap_or(name));
        let mut found = search(items, &Place { path_folder: &folder, child_folder: &folder }, wanted, depth)?;
        found.push(Module { name: name.to_owned(), attributes, file: None });
        return Some(found);
    }
    let own = place.child_folder.join(name);
    let (file, child_folder) = match path_attribute(&module.attrs) {
        Some(path) => {
            let file = place.path_folder.join(path);
            let folder = file.parent()?.to_path_buf();
            (file, folder)
        }
        None => {
            let flat = place.child_folder.join(format!("{name}.rs"));
            (if flat.is_file() { flat } else { own.join("mod.rs") }, own)
        }
    };
    let canonical = fs::canonicalize(&file).ok()?;
    let parsed = parse(&file)?;
    let mut found = match canonical == wanted {
        true => Vec::new(),
        false => {
            let path_folder = file.parent()?;
            let place = Place { path_folder, child_folder: &child_folder };
            search(&parsed.items, &place, wanted, depth)?
        }
    };
    attributes.extend(parsed.attrs);
    found.push(Module { name: name.to_owned(), attributes, file: Some(canonical) });
    Some(found)
}

/// The value of `#[path = "..."]`.
fn path_attribute(attributes: &[Attribute]) -> Option<String> {
    let attribute = attributes.iter().find(|attribute| attribute.path().is_ident("path"))?;
    match &attribute.meta {
        Meta::NameValue(pair) => match &pair.value {
            Expr::Lit(ExprLit { lit: Lit::Str(path), .. }) => Some(path.value()),
            _ => None,
        },
        _ => None,
    }
}

/// The module of a file: `v1` for `src/v1.rs` and `src/v1/mod.rs`.
fn module_name(file: &Path) -> String {
    let stem = file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    if stem != "mod" {
        return stem;
    }
    let folder = file.parent().and_then(Path::file_name);
    folder.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}
