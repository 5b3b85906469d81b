//! What the modules around a type say of it: `//! +groupName=example.com`.
//!
//! A derive macro sees its item alone. Only for a type that says neither group nor version itself, the
//! file that it stands in is read again, and those of the modules around it, where Cargo's conventions
//! have them. The command, which follows `#[path]` as well, is the authority; what is not found here is
//! reported as missing.

use std::path::{Path, PathBuf};

use kubesmith_core::diag::Diagnostics;
use kubesmith_core::grammar::Spanned;
use kubesmith_core::model::ModuleAttrs;
use kubesmith_core::names::Version;
use proc_macro2::Span;
use quote::ToTokens;
use syn::{DeriveInput, Fields, Item, ItemStruct};

/// The facts of the modules around a struct; nothing where its place is not known.
pub(crate) fn around(input: &DeriveInput, fields: &Fields, diagnostics: &mut Diagnostics) -> ModuleAttrs {
    // Unit tests run outside of the compiler.
    let file = proc_macro::is_available().then(|| input.ident.span().unwrap().local_file()).flatten();
    file.map_or_else(ModuleAttrs::default, |file| read(&file, input, fields, diagnostics))
}

fn read(file: &Path, input: &DeriveInput, fields: &Fields, diagnostics: &mut Diagnostics) -> ModuleAttrs {
    let mut chain = Chain::default();
    let Some(parsed) = parse(file) else { return ModuleAttrs::default() };
    let mut found = Vec::new();
    search(&parsed.items, &Chain::default(), input, fields, &mut found);
    // Structs that look alike in several modules of a file cannot be told apart.
    let mut candidates = found.into_iter();
    if let Some(first) = candidates.next()
        && candidates.all(|other| other.same(&first))
    {
        chain = first;
    }
    chain.enter(&parsed.attrs, &module_name(file), diagnostics);
    let mut file = file.to_path_buf();
    while let Some(parent) = parent(&file) {
        let Some(parsed) = parse(&parent) else { break };
        chain.enter(&parsed.attrs, &module_name(&parent), diagnostics);
        file = parent;
    }
    chain.finish()
}

fn parse(file: &Path) -> Option<syn::File> {
    syn::parse_file(&std::fs::read_to_string(file).ok()?).ok()
}

/// Facts from a struct outwards.
#[derive(Clone, Default)]
struct Chain {
    facts: ModuleAttrs,
    /// The innermost module that is called like a version, up to the one that says the group.
    named: Option<Version>,
}

impl Chain {
    /// Goes out into a module.
    fn enter(&mut self, attributes: &[syn::Attribute], name: &str, diagnostics: &mut Diagnostics) {
        if self.facts.group.is_none() && self.named.is_none() {
            self.named = Version::conventional(name);
        }
        self.facts = std::mem::take(&mut self.facts).or(ModuleAttrs::read(attributes, diagnostics));
    }

    fn same(&self, other: &Self) -> bool {
        (&self.facts.group, &self.facts.version, &self.named)
            == (&other.facts.group, &other.facts.version, &other.named)
    }

    fn finish(mut self) -> ModuleAttrs {
        if self.facts.group.is_some() && self.facts.version.is_none() {
            self.facts.version = self.named.map(|version| Spanned::new(version, Span::call_site()));
        }
        self.facts
    }
}

/// Finds the struct in inline modules; the innermost module comes first in each chain.
fn search(items: &[Item], outer: &Chain, input: &DeriveInput, fields: &Fields, found: &mut Vec<Chain>) {
    for item in items {
        match item {
            Item::Struct(item) if is_input(item, input, fields) => found.push(outer.clone()),
            Item::Mod(module) => {
                let Some((_, items)) = &module.content else { continue };
                let mut inner = Vec::new();
                search(items, &Chain::default(), input, fields, &mut inner);
                for mut chain in inner {
                    // The command reports what is wrong with these.
                    let mut ignored = Diagnostics::new();
                    chain.enter(&module.attrs, &module.ident.to_string(), &mut ignored);
                    ignored.take();
                    found.push(chain);
                }
            }
            _ => {}
        }
    }
}

fn is_input(item: &ItemStruct, input: &DeriveInput, fields: &Fields) -> bool {
    let text = |fields: &Fields| fields.to_token_stream().to_string();
    item.ident == input.ident && text(&item.fields) == text(fields)
}

/// `v1` of `src/v1.rs` and of `src/v1/mod.rs`.
fn module_name(file: &Path) -> String {
    let stem = file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    if stem != "mod" {
        return stem;
    }
    let folder = file.parent().and_then(Path::file_name);
    folder.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// The file of the module around the one in this file.
fn parent(file: &Path) -> Option<PathBuf> {
    let folder = file.parent()?;
    let name = file.file_name()?.to_str()?;
    if matches!(name, "lib.rs" | "main.rs") {
        return None;
    }
    // `v1/mod.rs` is a module of what the folder above belongs to.
    let folder = if name == "mod.rs" { folder.parent()? } else { folder };
    let beside = folder.with_extension("rs");
    let files = ["mod.rs", "lib.rs", "main.rs"].map(|name| folder.join(name)).into_iter().chain([beside]);
    files.into_iter().find(|candidate| candidate.is_file() && candidate != file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// Group and version that a struct `Foo { a: A }` in `file` gets.
    fn facts(files: &[(&str, &str)], file: &str) -> (Option<String>, Option<String>) {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let input: DeriveInput = syn::parse_str("struct Foo { a: A }").unwrap();
        let syn::Data::Struct(data) = &input.data else { panic!() };
        let mut diagnostics = Diagnostics::new();
        let facts = read(&folder.path().join(file), &input, &data.fields, &mut diagnostics);
        assert!(diagnostics.is_empty());
        (
            facts.group.map(|group| group.value.as_str().to_owned()),
            facts.version.map(|version| version.value.as_str().to_owned()),
        )
    }

    fn said(group: &str, version: &str) -> (Option<String>, Option<String>) {
        (Some(group.to_owned()), Some(version.to_owned()))
    }

    #[test]
    fn the_file_itself_says_it() {
        let text = "//! +groupName=a.b\n//! +versionName=v2\nstruct Foo { a: A }";
        assert_eq!(facts(&[("src/lib.rs", text)], "src/lib.rs"), said("a.b", "v2"));
        let text = "//! +groupName=a.b\nstruct Foo { a: A }";
        assert_eq!(facts(&[("src/v1.rs", text)], "src/v1.rs"), said("a.b", "v1"));
        assert_eq!(facts(&[("src/v1/mod.rs", text)], "src/v1/mod.rs"), said("a.b", "v1"));
    }

    #[test]
    fn modules_around_it_say_it() {
        let files = [
            ("src/lib.rs", "//! +groupName=a.b"),
            ("src/v1/mod.rs", ""),
            ("src/v1/foo.rs", "struct Foo { a: A }"),
        ];
        assert_eq!(facts(&files, "src/v1/foo.rs"), said("a.b", "v1"));
        let files = [
            ("src/lib.rs", "//! +groupName=a.b"),
            ("src/v1.rs", ""),
            ("src/v1/foo.rs", "struct Foo { a: A }"),
        ];
        assert_eq!(facts(&files, "src/v1/foo.rs"), said("a.b", "v1"));
    }

    #[test]
    fn inline_modules_are_told_apart_if_the_structs_differ() {
        let text = "//! +groupName=a.b\nmod v1 { struct Foo { a: A } } mod v2 { struct Foo { b: A } }";
        assert_eq!(facts(&[("src/lib.rs", text)], "src/lib.rs"), said("a.b", "v1"));
        let text = "//! +groupName=a.b\nmod v1 { struct Foo { a: A } } mod v2 { struct Foo { a: A } }";
        assert_eq!(facts(&[("src/lib.rs", text)], "src/lib.rs"), (Some("a.b".to_owned()), None));
    }

    #[test]
    fn nothing_is_invented() {
        assert_eq!(facts(&[("src/v1.rs", "struct Foo { a: A }")], "src/v1.rs"), (None, None));
        assert_eq!(facts(&[("src/lib.rs", "not rust")], "src/lib.rs"), (None, None));
    }
}
