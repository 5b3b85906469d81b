//! Reads which top-level modules of a crate use which.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::ToTokens as _;
use syn::{Item, UseTree};

/// The files of a module that use each other module.
pub(super) type Places = BTreeMap<String, BTreeSet<String>>;

/// Returns the top-level modules of a crate, with the modules that each uses outside its tests.
pub(super) fn of_crate(src: &Path) -> BTreeMap<String, Places> {
    let items = items(&src.join("lib.rs"));
    let mut out: BTreeMap<String, Places> = modules(&items).map(|name| (name, Places::new())).collect();
    let exported = exports(&items);
    for (module, places) in &mut out {
        let mut found = Vec::new();
        read(&file(src, module), 1, &mut found);
        for (path, name) in found {
            let used = exported.get(&name).unwrap_or(&name);
            if used != module {
                let path = path.strip_prefix(src).unwrap().display().to_string();
                places.entry(used.clone()).or_default().insert(path);
            }
        }
    }
    let known: BTreeSet<String> = out.keys().cloned().collect();
    out.values_mut().for_each(|places| places.retain(|used, _| known.contains(used)));
    out
}

/// Returns the items of a file without those of tests.
pub(super) fn items(path: &Path) -> Vec<Item> {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let file = syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    file.items
        .into_iter()
        .filter(|item| !matches!(item, Item::Mod(module) if is_test(&module.attrs)))
        .collect()
}

fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg") && {
            let condition = attribute.meta.require_list().unwrap().tokens.to_string();
            condition == "test" || condition.starts_with("all (test")
        }
    })
}

/// Returns the modules that have files of their own.
pub(super) fn modules(items: &[Item]) -> impl Iterator<Item = String> {
    items.iter().filter_map(|item| match item {
        Item::Mod(module) if module.content.is_none() => Some(module.ident.to_string()),
        _ => None,
    })
}

/// Returns the file of a module below a folder.
pub(super) fn file(folder: &Path, name: &str) -> PathBuf {
    let own = folder.join(format!("{name}.rs"));
    if own.exists() { own } else { folder.join(name).join("mod.rs") }
}

/// Returns the folder of the modules of a file.
pub(super) fn folder(path: &Path) -> PathBuf {
    let is_root = path.ends_with("mod.rs") || path.ends_with("lib.rs");
    if is_root { path.parent().unwrap().to_owned() } else { path.with_extension("") }
}

/// Returns the names that the root exports, with the modules that they are from.
fn exports(items: &[Item]) -> BTreeMap<String, String> {
    let mut out = BTreeMap::new();
    for item in items {
        if let Item::Use(item) = item
            && let UseTree::Path(path) = &item.tree
        {
            leaves(&path.tree, &path.ident.to_string(), &mut out);
        }
    }
    out
}

fn leaves(tree: &UseTree, module: &str, out: &mut BTreeMap<String, String>) {
    match tree {
        UseTree::Path(path) => leaves(&path.tree, module, out),
        UseTree::Name(name) => drop(out.insert(name.ident.to_string(), module.to_owned())),
        UseTree::Rename(name) => drop(out.insert(name.rename.to_string(), module.to_owned())),
        UseTree::Group(group) => group.items.iter().for_each(|tree| leaves(tree, module, out)),
        UseTree::Glob(_) => {}
    }
}

/// Collects the items of the root that a file and the files of its modules name. `depth` counts the modules around the
/// file's items.
fn read(path: &Path, depth: usize, out: &mut Vec<(PathBuf, String)>) {
    let items = items(path);
    let mut names = BTreeSet::new();
    items.iter().for_each(|item| scan(item.to_token_stream(), depth, &mut names));
    out.extend(names.into_iter().map(|name| (path.to_owned(), name)));
    let folder = folder(path);
    for module in modules(&items) {
        read(&file(&folder, &module), depth + 1, out);
    }
}

/// Collects the names after `crate::`, and after as many `super::` as lead to the root; those of macros too.
fn scan(tokens: TokenStream, depth: usize, out: &mut BTreeSet<String>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let is = |at: usize, word: &str| matches!(tokens.get(at), Some(TokenTree::Ident(ident)) if ident == word);
    let is_path = |at: usize| {
        (at..at + 2).all(|at| matches!(tokens.get(at), Some(TokenTree::Punct(p)) if p.as_char() == ':'))
    };
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        if let TokenTree::Group(group) = token {
            scan(group.stream(), depth, out);
        }
        let mut next = at;
        while is(next, "super") && is_path(next + 1) {
            next += 3;
        }
        if next == at + 3 * depth {
            name(tokens.get(next), out);
        } else if is(at, "crate") && is_path(at + 1) {
            name(tokens.get(at + 3), out);
        }
        at = next.max(at + 1);
    }
}

/// Collects a name, or the names at the beginning of the paths in braces.
fn name(token: Option<&TokenTree>, out: &mut BTreeSet<String>) {
    match token {
        Some(TokenTree::Ident(ident)) => drop(out.insert(ident.to_string())),
        Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => {
            let list: Vec<TokenTree> = group.stream().into_iter().collect();
            for path in list.split(|token| matches!(token, TokenTree::Punct(p) if p.as_char() == ',')) {
                name(path.first(), out);
            }
        }
        _ => {}
    }
}
