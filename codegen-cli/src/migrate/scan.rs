//! Finds the paths in a file that refer to kube-rs.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{LineColumn, Span};
use syn::punctuated::Punctuated;
use syn::visit::{self, Visit};
use syn::{Attribute, ExprMethodCall, File, Ident, ItemFn, ItemUse, Token, UseTree};

use super::rows::{CONTROLLERS, IGNORED_TEST};
use super::{Place, ROWS, Row};

/// The uses of kube-rs in a file.
pub(super) fn places(file: &str, syntax: &File) -> Vec<Place> {
    let mut imports = Imports::default();
    imports.visit_file(syntax);
    let mut uses = Uses { file, imports: imports.names, ..Uses::default() };
    uses.visit_file(syntax);
    uses.places()
}

/// The meaning of local names, with the place of their import.
#[derive(Default)]
struct Imports {
    names: BTreeMap<String, (String, LineColumn)>,
}

impl Imports {
    fn add(&mut self, before: &str, tree: &UseTree) {
        let join = |name: String| if before.is_empty() { name } else { format!("{before}::{name}") };
        let mut insert = |name: &Ident, path: String| {
            self.names.insert(name.to_string(), (normal(path), name.span().start()));
        };
        match tree {
            UseTree::Path(path) => self.add(&join(path.ident.to_string()), &path.tree),
            UseTree::Name(name) if name.ident == "self" => {
                let last = before.rsplit("::").next().unwrap_or(before);
                insert(&Ident::new(last, name.ident.span()), before.to_owned());
            }
            UseTree::Name(name) => insert(&name.ident, join(name.ident.to_string())),
            UseTree::Rename(rename) => insert(&rename.rename, join(rename.ident.to_string())),
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

/// The path with the names of kube's inner crates replaced by kube's own.
fn normal(path: String) -> String {
    for (inner, outer) in [("kube_runtime", "kube::runtime"), ("kube_client", "kube"), ("kube_core", "kube")]
    {
        if let Some(rest) = below(&path, inner) {
            return format!("{outer}{rest}");
        }
    }
    path
}

/// The rest of a path that leads to an item or into it.
fn below<'a>(path: &'a str, item: &str) -> Option<&'a str> {
    path.strip_prefix(item).filter(|rest| rest.is_empty() || rest.starts_with("::"))
}

fn row(path: &str) -> Option<&'static Row> {
    ROWS.iter().filter(|row| below(path, row.path).is_some()).max_by_key(|row| row.path.len())
}

#[derive(Default)]
struct Uses<'a> {
    file: &'a str,
    imports: BTreeMap<String, (String, LineColumn)>,
    /// Imported names that a path begins with.
    used: BTreeSet<String>,
    places: Vec<Place>,
    /// Calls of methods with names that `Controller` has.
    methods: Vec<Place>,
    ignored: Vec<Place>,
}

impl Uses<'_> {
    fn places(mut self) -> Vec<Place> {
        let is_controller = |place: &Place| CONTROLLERS.iter().any(|path| below(&place.path, path).is_some());
        // The receiver's type is unknown: elsewhere these names belong to other types.
        if self.places.iter().any(is_controller) {
            self.places.append(&mut self.methods);
        }
        if self.imports.values().any(|(path, _)| below(path, "kube").is_some()) {
            self.places.append(&mut self.ignored);
        }
        // No path names a trait that is imported for its methods.
        for (name, (path, at)) in &self.imports {
            if let Some(row) = row(path).filter(|_| !self.used.contains(name)) {
                self.places.push(self.place(*at, path.clone(), row));
            }
        }
        self.places
    }

    fn place(&self, at: LineColumn, path: String, row: &'static Row) -> Place {
        Place { file: self.file.to_owned(), line: at.line, column: at.column + 1, path, row }
    }

    /// The path with its imports.
    fn resolved(&mut self, path: &syn::Path) -> Option<(Span, String)> {
        let mut names = path.segments.iter().map(|segment| &segment.ident);
        let first = names.next()?;
        let name = first.to_string();
        let mut full = match self.imports.get(&name) {
            Some((path, _)) => path.clone(),
            None => name.clone(),
        };
        self.used.insert(name);
        for name in names {
            full.push_str(&format!("::{name}"));
        }
        Some((first.span(), normal(full)))
    }
}

impl Visit<'_> for Uses<'_> {
    fn visit_path(&mut self, path: &syn::Path) {
        if let Some((span, full)) = self.resolved(path)
            && let Some(row) = row(&full)
        {
            self.places.push(self.place(span.start(), full, row));
        }
        visit::visit_path(self, path);
    }

    fn visit_expr_method_call(&mut self, call: &ExprMethodCall) {
        let path = format!("{}::{}", CONTROLLERS[0], call.method);
        if let Some(row) = ROWS.iter().find(|row| row.path == path) {
            self.methods.push(self.place(call.method.span().start(), path, row));
        }
        visit::visit_expr_method_call(self, call);
    }

    fn visit_item_fn(&mut self, function: &ItemFn) {
        if let Some(attribute) = function.attrs.iter().find(|attribute| attribute.path().is_ident("ignore")) {
            let path = format!("#[ignore] of {}", function.sig.ident);
            self.ignored.push(self.place(attribute.pound_token.span.start(), path, &IGNORED_TEST));
        }
        visit::visit_item_fn(self, function);
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
    fn methods_of_controllers_and_imported_traits_are_reported() {
        let source = "use kube::runtime::{controller::Controller, WatchStreamExt};\n\
                      use kube::CustomResourceExt as _;\n\
                      fn a() {\nlet controller = Controller::new();\n\
                      controller.owns(a).watches(b, c)\n.shutdown_on_signal().run(a, b, c); }\n";
        let expected = [
            (4, "kube::runtime::controller::Controller::new"),
            (6, "kube::runtime::Controller::run"),
            (6, "kube::runtime::Controller::shutdown_on_signal"),
            (5, "kube::runtime::Controller::watches"),
            (5, "kube::runtime::Controller::owns"),
            (1, "kube::runtime::WatchStreamExt"),
            (2, "kube::CustomResourceExt"),
        ];
        assert_eq!(found(source), expected.map(|(line, path)| (line, path.to_owned())));
    }

    #[test]
    fn ignored_tests_of_files_that_use_kube_are_reported() {
        let test = "#[tokio::test]\n#[ignore = \"needs a cluster\"]\nasync fn a() {}\n";
        assert_eq!(found(test), []);
        assert_eq!(found(&format!("{test}use kube_client::Client;")), [(2, "#[ignore] of a".to_owned())]);
    }

    #[test]
    fn items_of_other_crates_are_not_reported() {
        let source = "use tower::Controller;\n\
                      fn a() { Controller::new().owns(1).run(2); kubelet::runtime(); }";
        assert_eq!(found(source), []);
    }
}
