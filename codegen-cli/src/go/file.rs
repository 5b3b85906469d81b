//! A Go file: cut into declarations at once, and parsed where somebody asks.

use std::cell::OnceCell;
use std::sync::Arc;

use super::comments::Groups;
use super::markers;
use super::parse::{self, Parts};
use super::release::Release;
use super::scan::{self, Cut, Declaration, Keyword, word};
use super::syntax::{Constant, Import, Method, Place, TypeDecl, Word};

/// A file.
#[derive(Debug)]
pub(crate) struct File {
    /// The name in the package clause; `None` if it has none.
    pub(super) package: Option<Word>,
    /// Its methods.
    pub(super) methods: Vec<Method>,
    /// Whether a generator wrote it.
    pub(super) is_generated: bool,
    /// The markers of the package, in source order.
    pub(super) markers: Vec<Word>,
    /// The markers of roles and webhooks that document a declaration, where they have no effect.
    pub(super) documenting: Vec<Word>,
    groups: Groups,
    declarations: Vec<(Declaration, OnceCell<Parts>)>,
    /// The types: declarations and parts in them.
    types: Vec<(usize, usize)>,
    errors: Vec<Place>,
}

impl File {
    /// Cuts a file.
    pub(super) fn new(text: Arc<str>, release: Release) -> Self {
        let Cut { declarations, comments, errors } = scan::cut(&text);
        let errors = errors.into_iter().chain(misplaced(&declarations)).collect();
        // These have no comments on their line: `associatedCommentsFor` of controller-tools, pkg/markers/collect.go.
        let bare = declarations.iter().filter(|it| matches!(it.keyword, Keyword::Package | Keyword::Func));
        let ends: Vec<usize> = bare.map(|it| it.place.end).collect();
        let mut file = Self {
            package: None,
            methods: Vec::new(),
            is_generated: is_generated(&text),
            markers: Vec::new(),
            documenting: Vec::new(),
            groups: Groups::new(text, comments, &ends, release),
            declarations: Vec::new(),
            types: Vec::new(),
            errors,
        };
        for (at, declaration) in declarations.iter().enumerate() {
            file.outline(at, declaration);
        }
        let last = declarations.last().map_or(0, |last| last.place.end);
        file.markers.extend(file.groups.markers(file.groups.after(last)));
        file.declarations = declarations.into_iter().map(|found| (found, OnceCell::new())).collect();
        if file.package.is_none() && file.errors.is_empty() {
            let text = &file.groups.text;
            file.errors.push(0..text.find('\n').unwrap_or(text.len()));
        }
        file
    }

    /// Cuts the part of a file before its declarations, with its imports.
    pub(super) fn head(text: &str) -> Self {
        let is_declaration =
            |line: &str| ["const", "func", "type", "var"].iter().any(|start| line.starts_with(start));
        let lines = text.split_inclusive('\n').take_while(|line| !is_declaration(line));
        Self::new(text[..lines.map(str::len).sum()].into(), Release::default())
    }

    /// Notes what no parser needs to read. Markers before the documentation of a declaration count for packages; those of
    /// the package clause also in it.
    fn outline(&mut self, at: usize, declaration: &Declaration) {
        let before = self.groups.before(declaration.after, declaration.place.start);
        self.markers.extend(self.groups.markers(before.free));
        match declaration.keyword {
            Keyword::Type => {
                let near = before.near.filter(|_| declaration.is_group);
                self.markers.extend(self.groups.markers(near));
                self.types.extend((0..declaration.parts.len()).map(|part| (at, part)));
                for part in &declaration.parts {
                    let before = self.groups.before(part.after, part.start);
                    let near = self.groups.markers(before.near);
                    self.markers
                        .extend(near.into_iter().filter(|marker| markers::is_of_package(&marker.text)));
                    self.document(before.doc);
                }
            }
            Keyword::Package => {
                self.markers.extend(self.groups.markers(before.near.into_iter().chain(before.doc)));
                let name = declaration.parts.first();
                self.package = name.map(|part| word(&self.groups.text, &part.name));
            }
            _ => {
                self.markers.extend(self.groups.markers(before.near));
                self.document(before.doc);
            }
        }
        if let (Some(receiver), Some(part)) = (&declaration.receiver, declaration.parts.first()) {
            let text = &self.groups.text;
            let receiver = word(text, receiver).text;
            self.methods.push(Method { receiver, name: word(text, &part.name) });
        }
    }

    /// Notes markers of roles and webhooks in documentation.
    fn document(&mut self, doc: Option<usize>) {
        let found = self.groups.markers(doc).into_iter();
        self.documenting.extend(found.filter(|marker| markers::is_manifest(markers::name(marker))));
    }

    /// What a declaration has, by its number.
    fn parts(&self, at: usize) -> &Parts {
        let (declaration, parts) = &self.declarations[at];
        parts.get_or_init(|| parse::parts(&self.groups, declaration))
    }

    fn all(&self, keyword: Keyword) -> impl Iterator<Item = &Parts> {
        let own =
            self.declarations.iter().enumerate().filter(move |(_, (found, _))| found.keyword == keyword);
        own.map(|(at, _)| self.parts(at))
    }

    /// The names of its types, in source order.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        let part = |(at, part): &(usize, usize)| &self.declarations[*at].0.parts[*part];
        self.types.iter().map(move |ty| &self.groups.text[part(ty).name.clone()])
    }

    /// A type, by its number.
    pub(super) fn decl(&self, item: usize) -> &TypeDecl {
        let (at, part) = self.types[item];
        &self.parts(at).types[part]
    }

    /// Its types, in source order.
    pub(super) fn types(&self) -> impl Iterator<Item = &TypeDecl> {
        (0..self.types.len()).map(|item| self.decl(item))
    }

    /// Its string constants.
    pub(super) fn constants(&self) -> impl Iterator<Item = &Constant> {
        self.all(Keyword::Const).flat_map(|parts| &parts.constants)
    }

    /// Its imports, which stand before all other declarations.
    pub(super) fn imports(&self) -> impl Iterator<Item = &Import> {
        let count = self.declarations.iter().take_while(|(found, _)| is_first(found.keyword)).count();
        (0..count).flat_map(|at| &self.parts(at).imports)
    }

    /// The first syntax error. Those in functions and values of variables cannot affect types. The parser knows better than
    /// the cut where an error is.
    pub(super) fn error(&self) -> Option<&Place> {
        let read = [Keyword::Import, Keyword::Const, Keyword::Type];
        let inner = read.into_iter().flat_map(|keyword| self.all(keyword)).flat_map(|parts| &parts.errors);
        inner.min_by_key(|place| place.start).or(self.errors.first())
    }
}

/// Whether declarations of a kind stand before all others.
fn is_first(keyword: Keyword) -> bool {
    matches!(keyword, Keyword::Package | Keyword::Import)
}

/// The declarations where Go's grammar has none of their kind: a second package clause, and imports after others.
fn misplaced(declarations: &[Declaration]) -> impl Iterator<Item = Place> {
    let is_misplaced = |pair: &&[Declaration]| match pair[1].keyword {
        Keyword::Package => true,
        Keyword::Import => !is_first(pair[0].keyword),
        _ => false,
    };
    declarations.windows(2).filter(is_misplaced).map(|pair| pair[1].place.clone())
}

/// Whether the text has the header of generated files: <https://go.dev/s/generatedcode>.
fn is_generated(text: &str) -> bool {
    let comments = text.lines().take_while(|line| !line.starts_with("package "));
    let is_mark = |line: &str| line.starts_with("// Code generated ") && line.ends_with(" DO NOT EDIT.");
    comments.map(str::trim_end).any(is_mark)
}

/// Whether other packages may need a file: it declares types or constants, has markers, or methods that
/// decide the JSON of a type. Most of the text of Kubernetes' packages does not, such as `generated.pb.go`.
pub(super) fn declares(text: &str) -> bool {
    let says = |line: &str| {
        let line = line.trim_start_matches([' ', '\t']);
        line.strip_prefix("//").is_some_and(|rest| rest.trim_start().starts_with('+'))
    };
    let declares = |line: &str| {
        line.starts_with("type")
            || line.starts_with("const") && !line.starts_with("const _ = ")
            || line.starts_with("func (")
                && (line.contains(") MarshalJSON(") || line.contains(") MarshalText("))
    };
    let mut start = 0;
    let ends = memchr::memchr_iter(b'\n', text.as_bytes()).chain([text.len()]);
    let mut lines = ends.map(|end| &text[std::mem::replace(&mut start, end + 1)..end]);
    lines.any(|line| match line.as_bytes().first() {
        Some(b't' | b'c' | b'f') => declares(line),
        Some(b' ' | b'\t' | b'/') => says(line),
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::super::syntax::Kind;
    use super::*;

    fn file(text: &str) -> File {
        File::new(text.into(), Release::default())
    }

    #[test]
    fn markers_belong_to_the_next_declaration() {
        let file = file(
            "// +a\n\n// Package p.\n// +b\npackage p\n\n// +kubebuilder:rbac:groups=x\n\n// T is.\n// +t\ntype T struct {\n\t// +near\n\n\t// Doc.\n\t// +f\n\tA, B string `json:\"a\"` // +no\n\tC int\n}\n\n// +g\nfunc f() {\n\t// +in\n}\n// +end\n",
        );
        let texts = |words: &[Word]| words.iter().map(|word| word.text.clone()).collect::<Vec<_>>();
        assert_eq!(texts(&file.markers), ["+a", "+b", "+kubebuilder:rbac:groups=x", "+end"]);
        assert_eq!(texts(&file.decl(0).comments.markers), ["+t"]);
        let Kind::Struct(fields) = &file.decl(0).ty.kind else { panic!() };
        assert_eq!(fields.len(), 3);
        assert_eq!(texts(&fields[1].comments.markers), ["+near", "+f"]);
        assert_eq!(fields[1].comments.description, "Doc.");
        assert!(fields[2].comments.markers.is_empty());
    }

    #[test]
    fn markers_after_a_package_clause_or_function_belong_to_the_package() {
        let file =
            file("package p // +a\n\nfunc f() {} // +b\nvar x = 1 // +c\n// T is.\ntype T struct{} // +d\n");
        let texts: Vec<&str> = file.markers.iter().map(|word| word.text.as_str()).collect();
        assert_eq!(texts, ["+a", "+b"]);
        assert_eq!(file.decl(0).comments.description, "T is.");
    }

    #[test]
    fn malformed_go_is_reported() {
        for text in
            ["package p\ntype T struct {", "package p\npackage q", "package p\ntype A B\nimport \"c\""]
        {
            assert!(file(text).error().is_some(), "{text}");
        }
        for text in [
            "type T [3]int",
            "type A B",
            "type A B; type C []D // c",
            "type A = B /* b */",
            "var a = A{B: new(int32(1)), C: map[string]int{\"a\": 1}}",
            "type A[T comparable] = map[T]struct{}",
            "var a = new(\"b\")\n\nfunc f() *A {\n\tif x {\n\t\treturn new(A{B: new(true)})\n\t}\n\treturn new([]A)\n}",
        ] {
            for end in ["\n", ""] {
                assert_eq!(file(&format!("package p\n{text}{end}")).error(), None, "{text}");
            }
        }
    }

    #[test]
    fn file_without_declarations_or_markers_is_skipped() {
        for (text, is_read) in [
            ("package a\n\ntype A struct{}\n", true),
            ("package a\n\ntype (\n\tA string\n)\n", true),
            ("package a\n\nconst B A = \"b\"\n", true),
            ("// +groupName=a.b\n\npackage a\n", true),
            ("package a\n\nfunc (a A) MarshalJSON() ([]byte, error) {\n", true),
            ("package a\n\nconst _ = proto.Version\n\nfunc (m *A) Marshal() ([]byte, error) {\n", false),
            ("package a\n\n// A is.\nvar map_A = map[string]string{\"\": \"type\"}\n", false),
        ] {
            assert_eq!(declares(text), is_read, "{text}");
        }
    }
}
