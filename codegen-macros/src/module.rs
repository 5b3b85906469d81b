//! Reads facts about a type in its enclosing modules: `//! +groupName=example.com`.
//!
//! A derive macro sees only its item. For a type with neither group nor version, it reads the type's file
//! again, and those of the enclosing modules. [`modules`] finds these as rustc does, by the `mod`
//! declarations of the crate. The expansion includes every file that was read, so that the compiler tracks
//! them.

mod modules;

use std::path::{Path, PathBuf};

use kubesmith_core::diag::Diagnostics;
use kubesmith_core::grammar::Spanned;
use kubesmith_core::model::ModuleAttrs;
use kubesmith_core::names::Version;
use proc_macro2::Span;
use quote::ToTokens;
use syn::{DeriveInput, Fields, Item, ItemStruct};

use modules::Module;

/// The facts of the modules around a struct.
#[derive(Default)]
pub(crate) struct Around {
    /// Group and version; empty if the place of the struct is unknown.
    pub(crate) attrs: ModuleAttrs,
    /// The files with these facts.
    pub(crate) files: Vec<PathBuf>,
}

/// Reads the facts of the modules around a struct.
pub(crate) fn around(input: &DeriveInput, fields: &Fields, diagnostics: &mut Diagnostics) -> Around {
    // Unit tests run outside the compiler.
    let file = proc_macro::is_available().then(|| input.ident.span().unwrap().local_file()).flatten();
    let package = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    file.map_or_else(Around::default, |file| read(&file, package.as_deref(), input, fields, diagnostics))
}

/// Reads the facts; `package` is the folder of the crate's Cargo.toml.
fn read(
    file: &Path,
    package: Option<&Path>,
    input: &DeriveInput,
    fields: &Fields,
    diagnostics: &mut Diagnostics,
) -> Around {
    let mut chain = Chain::default();
    let Some(parsed) = modules::parse(file) else { return Around::default() };
    let mut found = Vec::new();
    search(&parsed.items, &Chain::default(), input, fields, &mut found);
    // Equal structs in several modules of a file cannot be distinguished.
    let mut candidates = found.into_iter();
    if let Some(first) = candidates.next()
        && candidates.all(|other| other.same(&first))
    {
        chain = first;
    }
    let mut files = Vec::new();
    for Module { name, attributes, file } in modules::around(file, parsed, package) {
        chain.enter(&attributes, &name, diagnostics);
        files.extend(file);
    }
    let attrs = chain.finish();
    if attrs.group.is_none() && attrs.version.is_none() {
        files.clear();
    }
    Around { attrs, files }
}

/// Facts from a struct outwards.
#[derive(Clone, Default)]
struct Chain {
    facts: ModuleAttrs,
    /// The innermost module that is named like a version, up to the one that sets the group.
    named: Option<Version>,
}

impl Chain {
    /// Continues in the enclosing module.
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
                    // The command reports the errors in these.
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
        let around =
            read(&folder.path().join(file), Some(folder.path()), &input, &data.fields, &mut diagnostics);
        assert!(diagnostics.is_empty());
        let facts = around.attrs;
        (
            facts.group.map(|group| group.value.as_str().to_owned()),
            facts.version.map(|version| version.value.as_str().to_owned()),
        )
    }

    fn said(group: &str, version: &str) -> (Option<String>, Option<String>) {
        (Some(group.to_owned()), Some(version.to_owned()))
    }

    #[test]
    fn markers_of_the_file_set_group_and_version() {
        let text = "//! +groupName=a.b\n//! +versionName=v2\nstruct Foo { a: A }";
        assert_eq!(facts(&[("src/lib.rs", text)], "src/lib.rs"), said("a.b", "v2"));
        let text = "//! +groupName=a.b\nstruct Foo { a: A }";
        assert_eq!(facts(&[("src/v1.rs", text)], "src/v1.rs"), said("a.b", "v1"));
        assert_eq!(facts(&[("src/v1/mod.rs", text)], "src/v1/mod.rs"), said("a.b", "v1"));
    }

    #[test]
    fn markers_of_outer_modules_set_group_and_version() {
        let files = [
            ("src/lib.rs", "//! +groupName=a.b\nmod v1;"),
            ("src/v1/mod.rs", "mod foo;"),
            ("src/v1/foo.rs", "struct Foo { a: A }"),
        ];
        assert_eq!(facts(&files, "src/v1/foo.rs"), said("a.b", "v1"));
        let files = [
            ("src/lib.rs", "//! +groupName=a.b\nmod v1;"),
            ("src/v1.rs", "mod foo;"),
            ("src/v1/foo.rs", "struct Foo { a: A }"),
        ];
        assert_eq!(facts(&files, "src/v1/foo.rs"), said("a.b", "v1"));
    }

    #[test]
    fn path_attributes_are_followed() {
        let files = [
            ("src/lib.rs", "//! +groupName=a.b\n#[path = \"../types/first.rs\"]\nmod v1;\nmod other;"),
            ("src/other.rs", "//! +groupName=c.d\nmod inner { #[path = \"deep.rs\"] mod v2; }"),
            ("src/other/inner/deep.rs", "struct Foo { a: A }"),
            ("types/first.rs", "struct Foo { a: A }"),
            // A guess by folders would take this.
            ("types/mod.rs", "//! +groupName=wrong.example"),
        ];
        assert_eq!(facts(&files, "types/first.rs"), said("a.b", "v1"));
        assert_eq!(facts(&files, "src/other/inner/deep.rs"), said("c.d", "v2"));
    }

    #[test]
    fn library_root_of_the_manifest_is_followed() {
        let files = [
            ("Cargo.toml", "[package]\nname = \"a\"\n\n[lib]\npath = \"code/root.rs\"\n"),
            ("code/root.rs", "//! +groupName=a.b\nmod v1;"),
            ("code/v1.rs", "struct Foo { a: A }"),
        ];
        assert_eq!(facts(&files, "code/v1.rs"), said("a.b", "v1"));
    }

    #[test]
    fn version_of_an_inline_module_is_known_when_structs_differ() {
        let text = "//! +groupName=a.b\nmod v1 { struct Foo { a: A } } mod v2 { struct Foo { b: A } }";
        assert_eq!(facts(&[("src/lib.rs", text)], "src/lib.rs"), said("a.b", "v1"));
        let text = "//! +groupName=a.b\nmod v1 { struct Foo { a: A } } mod v2 { struct Foo { a: A } }";
        assert_eq!(facts(&[("src/lib.rs", text)], "src/lib.rs"), (Some("a.b".to_owned()), None));
    }

    #[test]
    fn type_without_markers_has_no_group_or_version() {
        assert_eq!(facts(&[("src/v1.rs", "struct Foo { a: A }")], "src/v1.rs"), (None, None));
        assert_eq!(facts(&[("src/lib.rs", "not rust")], "src/lib.rs"), (None, None));
    }
}
