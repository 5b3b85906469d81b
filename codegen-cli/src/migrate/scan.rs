//! Finds the paths in a file that refer to kube-rs.

use std::collections::BTreeMap;

use syn::punctuated::Punctuated;
use syn::visit::{self, Visit};
use syn::{Attribute, File, ItemUse, Token, UseTree};

use super::{Place, ROWS};

/// The uses of kube-rs in a file.
pub(super) fn places(file: &str, syntax: &File) -> Vec<Place> {
    let mut imports = Imports::default();
    imports.visit_file(syntax);
    let mut uses = Uses { file, imports: imports.names, places: Vec::new() };
    uses.visit_file(syntax);
    uses.places
}

/// The meaning of local names.
#[derive(Default)]
struct Imports {
    names: BTreeMap<String, String>,
}

impl Imports {
    fn add(&mut self, before: &str, tree: &UseTree) {
        let join = |name: String| if before.is_empty() { name } else { format!("{before}::{name}") };
        match tree {
            UseTree::Path(path) => self.add(&join(path.ident.to_string()), &path.tree),
            UseTree::Name(name) if name.ident == "self" => {
                let last = before.rsplit("::").next().unwrap_or(before);
                self.names.insert(last.to_owned(), before.to_owned());
            }
            UseTree::Name(name) => {
                self.names.insert(name.ident.to_string(), join(name.ident.to_string()));
            }
            UseTree::Rename(rename) => {
                self.names.insert(rename.rename.to_string(), join(rename.ident.to_string()));
            }
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.add(before, tree)),
            // The glob's names are unknown without the crate.
            UseTree::Glob(_) => {}
        }
    }
}

impl Visit<'_> for Imports {
    fn visit_item_use(&mut self, item: &ItemUse) {
        self.add("", &item.tree);
    }
}

struct Uses<'a> {
    file: &'a str,
    imports: BTreeMap<String, String>,
    places: Vec<Place>,
}

impl Uses<'_> {
    /// The path with its imports and without the names of kube's inner crates.
    fn resolved(&self, path: &syn::Path) -> Option<String> {
        let names: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        let (first, rest) = names.split_first()?;
        let first = self.imports.get(first).unwrap_or(first);
        let mut full = first.clone();
        for name in rest {
            full.push_str("::");
            full.push_str(name);
        }
        for (inner, outer) in
            [("kube_runtime", "kube::runtime"), ("kube_client", "kube"), ("kube_core", "kube")]
        {
            let rest = full.strip_prefix(inner).filter(|rest| rest.is_empty() || rest.starts_with("::"));
            if let Some(rest) = rest {
                return Some(format!("{outer}{rest}"));
            }
        }
        Some(full)
    }
}

impl Visit<'_> for Uses<'_> {
    fn visit_path(&mut self, path: &syn::Path) {
        if let Some(full) = self.resolved(path) {
            let leads_to = |prefix: &str| {
                full.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
            };
            let rows = ROWS.iter().filter(|row| leads_to(row.path));
            if let Some(row) = rows.max_by_key(|row| row.path.len())
                && let Some(first) = path.segments.first()
            {
                let start = first.ident.span().start();
                self.places.push(Place {
                    file: self.file.to_owned(),
                    line: start.line,
                    column: start.column + 1,
                    path: full,
                    row,
                });
            }
        }
        visit::visit_path(self, path);
    }

    fn visit_attribute(&mut self, attribute: &Attribute) {
        if attribute.path().is_ident("derive")
            && let Ok(paths) = attribute.parse_args_with(Punctuated::<syn::Path, Token![,]>::parse_terminated)
        {
            paths.iter().for_each(|path| self.visit_path(path));
        }
        visit::visit_attribute(self, attribute);
    }

    fn visit_item_use(&mut self, _: &ItemUse) {
        // The uses of the imported names are reported.
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(source: &str) -> Vec<(usize, String)> {
        let syntax = syn::parse_file(source).unwrap();
        places("a.rs", &syntax).into_iter().map(|place| (place.line, place.path)).collect()
    }

    #[test]
    fn paths_are_found_through_imports_and_inner_crates() {
        let source = "use kube::{runtime::{controller::Action as Next, watcher::{self, Config}}, CustomResource};\n\
                      use kube_runtime::Controller;\n\
                      fn a() -> Next { watcher::watcher(1, Config::default()); Controller::new() }\n\
                      fn b() { kube_runtime::finalizer::finalizer(); kube::Client::try_default(); }\n\
                      #[derive(Clone, CustomResource)]\nstruct Spec;\n\
                      mod controller { struct Controller2; }\n";
        assert_eq!(
            found(source),
            [
                (3, "kube::runtime::controller::Action".to_owned()),
                (3, "kube::runtime::watcher::watcher".to_owned()),
                (3, "kube::runtime::watcher::Config::default".to_owned()),
                (3, "kube::runtime::Controller::new".to_owned()),
                (4, "kube::runtime::finalizer::finalizer".to_owned()),
                (5, "kube::CustomResource".to_owned()),
            ]
        );
    }

    #[test]
    fn items_of_other_crates_are_not_reported() {
        assert_eq!(found("use tower::Controller;\nfn a() { Controller::new(); kubelet::runtime(); }"), []);
    }
}
