//! Every public item has an example, or a link to one.
//!
//! An item has an example in three cases: its documentation has a block of code; a block in the documentation
//! of its type, its trait or a module around it mentions its name; or its documentation links to an item that
//! has one.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use syn::{Attribute, Expr, ExprLit, ImplItem, Item, Lit, Meta, TraitItem, Type, Visibility};

/// A public item with the documentation that may show it.
struct Public {
    /// `module::Type::method`.
    path: String,
    name: String,
    docs: String,
    /// Of its type or trait.
    parent: Option<String>,
    /// Of the modules that it is in, the outermost first.
    modules: Vec<String>,
}

fn docs(attributes: &[Attribute]) -> String {
    let lines = attributes.iter().filter_map(|attribute| match &attribute.meta {
        Meta::NameValue(meta) if meta.path.is_ident("doc") => match &meta.value {
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
            _ => None,
        },
        _ => None,
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn is_hidden(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let is_about = |name| attribute.path().is_ident(name);
        let tokens = attribute.meta.require_list().map(|list| list.tokens.to_string()).unwrap_or_default();
        (is_about("doc") && tokens == "hidden") || (is_about("cfg") && tokens == "test")
    })
}

/// The blocks of code in a documentation.
fn code(docs: &str) -> String {
    docs.split("```").skip(1).step_by(2).collect::<Vec<_>>().join("\n")
}

fn mentions(text: &str, name: &str) -> bool {
    text.split(|character: char| !character.is_alphanumeric() && character != '_').any(|word| word == name)
}

/// The last parts of what a documentation links to.
fn links(docs: &str) -> impl Iterator<Item = &str> {
    let linked = docs.split("[`").skip(1).filter_map(|rest| rest.split_once("`]")).map(|(link, _)| link);
    let targets = docs.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(link, _)| link);
    linked.chain(targets).map(|link| link.trim_end_matches("()").rsplit("::").next().unwrap_or(link))
}

/// Walks the files of the crate.
#[derive(Default)]
struct Walk {
    found: Vec<Public>,
    /// Documentation of types and traits by name.
    types: BTreeMap<String, String>,
}

impl Walk {
    fn file(&mut self, file: &Path, module: &str, outer: &[String]) {
        let text = std::fs::read_to_string(file).unwrap_or_else(|_| panic!("no file {}", file.display()));
        let parsed = syn::parse_file(&text).unwrap();
        let mut modules = outer.to_vec();
        modules.push(docs(&parsed.attrs));
        let is_root = matches!(file.file_stem().and_then(|stem| stem.to_str()), Some("mod" | "lib"));
        let folder = if is_root { file.parent().unwrap().to_owned() } else { file.with_extension("") };
        for item in &parsed.items {
            self.item(item, module, &modules, &folder);
        }
    }

    fn item(&mut self, item: &Item, module: &str, modules: &[String], folder: &Path) {
        let (attributes, visibility, name) = match item {
            Item::Mod(inner) if inner.content.is_none() && !is_hidden(&inner.attrs) => {
                let name = inner.ident.to_string();
                let candidates: [PathBuf; 2] =
                    [folder.join(format!("{name}.rs")), folder.join(&name).join("mod.rs")];
                let file = candidates.iter().find(|file| file.exists()).unwrap();
                return self.file(file, &format!("{module}{name}::"), modules);
            }
            Item::Impl(block) if block.trait_.is_none() => return self.methods(block, module, modules),
            Item::Struct(item) => (&item.attrs, &item.vis, item.ident.to_string()),
            Item::Enum(item) => (&item.attrs, &item.vis, item.ident.to_string()),
            Item::Fn(item) => (&item.attrs, &item.vis, item.sig.ident.to_string()),
            Item::Trait(item) => (&item.attrs, &item.vis, item.ident.to_string()),
            Item::Type(item) => (&item.attrs, &item.vis, item.ident.to_string()),
            Item::Const(item) => (&item.attrs, &item.vis, item.ident.to_string()),
            _ => return,
        };
        if !matches!(visibility, Visibility::Public(_)) || is_hidden(attributes) {
            return;
        }
        let own = docs(attributes);
        self.types.insert(name.clone(), own.clone());
        self.add(module, None, &name, own, modules);
        if let Item::Trait(item) = item {
            for method in &item.items {
                if let TraitItem::Fn(method) = method
                    && !is_hidden(&method.attrs)
                {
                    self.add(
                        module,
                        Some(&name),
                        &method.sig.ident.to_string(),
                        docs(&method.attrs),
                        modules,
                    );
                }
            }
        }
    }

    fn methods(&mut self, block: &syn::ItemImpl, module: &str, modules: &[String]) {
        let Type::Path(path) = &*block.self_ty else { return };
        let Some(of) = path.path.segments.last().map(|segment| segment.ident.to_string()) else { return };
        for method in &block.items {
            if let ImplItem::Fn(method) = method
                && matches!(method.vis, Visibility::Public(_))
                && !is_hidden(&method.attrs)
            {
                self.add(module, Some(&of), &method.sig.ident.to_string(), docs(&method.attrs), modules);
            }
        }
    }

    fn add(&mut self, module: &str, parent: Option<&str>, name: &str, docs: String, modules: &[String]) {
        let path = match parent {
            Some(parent) => format!("{module}{parent}::{name}"),
            None => format!("{module}{name}"),
        };
        let parent = parent.map(ToOwned::to_owned);
        self.found.push(Public { path, name: name.to_owned(), docs, parent, modules: modules.to_vec() });
    }
}

/// The paths of the items without an example.
fn without_example() -> BTreeSet<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lib.rs");
    let mut walk = Walk::default();
    walk.file(&root, "", &[]);
    let Walk { found, types } = walk;
    assert!(found.len() > 400, "{} items", found.len());
    let has_one = |item: &Public| {
        let parent = item.parent.as_ref().and_then(|parent| types.get(parent));
        let around = item.modules.iter().chain(parent);
        !code(&item.docs).is_empty() || around.into_iter().any(|docs| mentions(&code(docs), &item.name))
    };
    // Methods of a type that other crates cannot name do not count.
    let is_nameable = |item: &Public| item.parent.as_ref().is_none_or(|parent| types.contains_key(parent));
    let shown: BTreeSet<&str> =
        found.iter().filter(|item| has_one(item)).map(|item| item.name.as_str()).collect();
    let lacking = found.iter().filter(|item| {
        is_nameable(item) && !has_one(item) && !links(&item.docs).any(|link| shown.contains(link))
    });
    lacking.map(|item| item.path.clone()).collect()
}

#[test]
fn every_public_item_has_an_example() {
    let lacking = without_example();
    assert!(lacking.is_empty(), "without an example: {lacking:#?}");
}
