//! Finds circles among the folders of a module.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens as _;
use syn::{Item, UseTree};

use super::uses::{file, folder, items, modules};

/// A path from the root of the crate.
type Place = Vec<String>;

/// The glob of a `use`, and the name under which it is kept.
const GLOB: &str = "*";

#[derive(Default)]
struct Module {
    /// The paths that its items name.
    named: Vec<Place>,
    /// What the names of its `use` items stand for.
    bound: BTreeMap<String, Place>,
    children: Vec<String>,
}

type Modules = BTreeMap<Place, Module>;

/// Returns the circles with several folders among the modules of one module, each with the modules in it.
pub(super) fn of_crate(src: &Path) -> Vec<String> {
    let mut all = Modules::new();
    load(&src.join("lib.rs"), &[], &mut all);
    let uses: BTreeSet<(&Place, Place)> = all
        .iter()
        .flat_map(|(place, module)| module.named.iter().map(move |named| (place, named)))
        .map(|(place, named)| (place, resolve(named, &all, 0)))
        .collect();
    all.keys().flat_map(|parent| below(parent, &uses, &all)).collect()
}

/// Returns the circles among the modules directly below one.
fn below(parent: &Place, uses: &BTreeSet<(&Place, Place)>, all: &Modules) -> Vec<String> {
    let child = |place: &Place| place.strip_prefix(parent.as_slice())?.first().cloned();
    let mut next: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (from, to) in uses {
        if let (Some(from), Some(to)) = (child(from), child(to))
            && from != to
        {
            next.entry(from).or_default().insert(to);
        }
    }
    let reached = |from: &String| {
        let (mut seen, mut open) = (BTreeSet::new(), vec![from]);
        while let Some(at) = open.pop() {
            open.extend(next.get(at).into_iter().flatten().filter(|to| seen.insert((*to).clone())));
        }
        seen
    };
    let reached: BTreeMap<&String, BTreeSet<String>> =
        all[parent].children.iter().map(|name| (name, reached(name))).collect();
    let is_folder = |name: &&&String| {
        let place = [parent.as_slice(), &[(**name).clone()]].concat();
        !all[&place].children.is_empty()
    };
    let circle = |name: &String| -> Vec<&String> {
        reached
            .keys()
            .filter(|other| reached[name].contains(**other) && reached[**other].contains(name))
            .copied()
            .collect()
    };
    let circles: BTreeSet<Vec<&String>> = all[parent].children.iter().map(circle).collect();
    let wrong = circles.iter().filter(|circle| circle.iter().filter(is_folder).count() > 1);
    wrong.map(|circle| format!("{}: {circle:?}", parent.join("::"))).collect()
}

fn load(path: &Path, place: &[String], out: &mut Modules) {
    let items = items(path);
    let mut module = Module { children: modules(&items).collect(), ..Module::default() };
    for item in &items {
        match item {
            Item::Use(item) => leaves(&item.tree, Vec::new(), &mut |path, name| {
                let path = from_root(place, &path);
                module.bound.insert(name, path.clone());
                module.named.push(path);
            }),
            item => scan(item.to_token_stream(), &mut |path| module.named.push(from_root(place, &path))),
        }
    }
    let folder = folder(path);
    for name in &module.children {
        load(&file(&folder, name), &[place, std::slice::from_ref(name)].concat(), out);
    }
    out.insert(place.to_vec(), module);
}

fn from_root(place: &[String], path: &[String]) -> Place {
    let up = path.iter().take_while(|name| *name == "super").count();
    match path.first().map(String::as_str) {
        Some("crate") => path[1..].to_vec(),
        Some("self") => [place, &path[1..]].concat(),
        _ => [&place[..place.len().saturating_sub(up)], &path[up..]].concat(),
    }
}

/// Passes on the paths of a `use` item, with the names that they bind.
fn leaves(tree: &UseTree, mut path: Place, out: &mut dyn FnMut(Place, String)) {
    match tree {
        UseTree::Path(tree) => {
            path.push(tree.ident.to_string());
            leaves(&tree.tree, path, out);
        }
        UseTree::Group(group) => group.items.iter().for_each(|tree| leaves(tree, path.clone(), out)),
        UseTree::Name(name) if name.ident == "self" => {
            let own = path.last().cloned().unwrap_or_default();
            out(path, own);
        }
        UseTree::Name(name) => {
            path.push(name.ident.to_string());
            out(path, name.ident.to_string());
        }
        UseTree::Rename(name) => {
            path.extend(Some(name.ident.to_string()).filter(|own| own != "self"));
            out(path, name.rename.to_string());
        }
        UseTree::Glob(_) => out(path, GLOB.to_owned()),
    }
}

/// Passes on the paths of several names.
fn scan(tokens: TokenStream, out: &mut dyn FnMut(Place)) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let is_colon = |at: usize| matches!(tokens.get(at), Some(TokenTree::Punct(p)) if p.as_char() == ':');
    let name = |at: usize| match tokens.get(at) {
        Some(TokenTree::Ident(name)) => Some(name.to_string()),
        _ => None,
    };
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        if let TokenTree::Group(group) = token {
            scan(group.stream(), out);
        }
        let mut path: Place = name(at).into_iter().collect();
        at += 1;
        while let (false, true, true, Some(name)) =
            (path.is_empty(), is_colon(at), is_colon(at + 1), name(at + 2))
        {
            path.push(name);
            at += 3;
        }
        if path.len() > 1 {
            out(path);
        }
    }
}

/// Returns the module that has what a path names, as far as it is known.
fn resolve(path: &[String], all: &Modules, depth: usize) -> Place {
    // Names that stand for each other would never end.
    const MOST: usize = 16;
    for end in 0..path.len() {
        let (module, name) = (&all[&path[..end]], &path[end]);
        if all.contains_key(&path[..=end]) {
            continue;
        }
        let bound = module.bound.get(name).map(|bound| [bound, &path[end + 1..]].concat());
        let bound = bound.filter(|bound| bound != path && depth < MOST);
        let glob = module.bound.get(GLOB).map(|bound| [bound, &path[end..]].concat());
        let glob = glob.filter(|_| depth < MOST);
        let found = bound.into_iter().chain(glob).map(|path| resolve(&path, all, depth + 1));
        return found.into_iter().find(|place| !place.is_empty()).unwrap_or_else(|| path[..end].to_vec());
    }
    path.to_vec()
}
