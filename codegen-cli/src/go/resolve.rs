//! Resolves names in Go files.

use std::collections::BTreeSet;

use kubesmith_core::diag::Code;

use super::known;
use super::markers;
use super::packages::{Packages, TypeId};
use super::release::Release;
use super::syntax::{Import, Kind, Place, Type};
use super::text::loc;
use crate::diag::Diagnostic;
use crate::source::{Loc, SourceMap};

/// The most names in a chain of aliases.
const DEPTH_LIMIT: usize = 64;

/// A file: its package and position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct At {
    pub(super) package: usize,
    pub(super) file: usize,
}

impl From<TypeId> for At {
    fn from(id: TypeId) -> Self {
        Self { package: id.package, file: id.file }
    }
}

/// The meaning of a type's name.
#[derive(Clone, Debug)]
pub(super) enum Target {
    /// A predeclared Go type: the Rust type, and the type of its schema.
    Builtin(&'static str, &'static str),
    /// A declaration in a package.
    Declared(TypeId),
    /// A known type, by its path in Rust.
    Known(String),
}

/// Resolves names, and reads the packages that they refer to.
pub(super) struct Resolver<'s> {
    pub(super) packages: Packages,
    pub(super) sources: &'s mut SourceMap,
    pub(super) diagnostics: Vec<Diagnostic>,
    pub(super) release: Release,
}

impl Resolver<'_> {
    pub(super) fn loc(&self, at: At, place: &Place) -> Loc {
        loc(self.packages.list[at.package].files[at.file].0, place)
    }

    /// Returns the meaning of a type's name; `None` after a diagnostic.
    pub(super) fn target(&mut self, at: At, ty: &Type) -> Option<Target> {
        match &ty.kind {
            Kind::Name(name) => self.local(at, name, ty),
            Kind::Qualified(package, name) => self.qualified(at, package, name, ty),
            _ => None,
        }
    }

    fn local(&mut self, at: At, name: &str, ty: &Type) -> Option<Target> {
        if let Some(id) = self.packages.type_in(at.package, name) {
            let package = &self.packages.list[id.package].path;
            return match known::overridden(package, name) {
                Some(rust) => Some(Target::Known(rust)),
                None => self.behind_alias(at, &ty.place, id, 0),
            };
        }
        if let Some(found) = self.dot_imported(at, name, ty) {
            return found;
        }
        if let Some((rust, schema)) = known::builtin(name) {
            return Some(Target::Builtin(rust, schema));
        }
        let loc = self.loc(at, &ty.place);
        match name {
            "complex64" | "complex128" => self.unsupported(loc, "a complex number"),
            "any" | "error" | "comparable" => self.unsupported(loc, "an interface"),
            _ => self.unknown(loc, name),
        }
        None
    }

    /// The packages whose types a file names as its own.
    fn dot_imports(&self, at: At) -> Vec<String> {
        let imports = self.packages.list[at.package].files[at.file].1.imports();
        let dotted = imports.filter(|import| import.name.as_deref() == Some("."));
        dotted.map(|import| import.path.text.clone()).collect()
    }

    /// Whether a type is that of Kubernetes' package of metadata.
    pub(super) fn is_meta(&mut self, at: At, ty: &Type, wanted: &str) -> bool {
        match &ty.kind {
            Kind::Qualified(package, name) if name == wanted => {
                self.import_path(at, package).as_deref() == Some(known::META)
            }
            Kind::Name(name) if name == wanted => {
                self.packages.type_in(at.package, name).is_none()
                    && self.dot_imports(at).iter().any(|path| path == known::META)
            }
            _ => false,
        }
    }

    /// The meaning of a name that a dot import may bind; `None`: none does.
    fn dot_imported(&mut self, at: At, name: &str, ty: &Type) -> Option<Option<Target>> {
        self.dot_imports(at).iter().find_map(|path| {
            if let Some(rust) = known::overridden(path, name) {
                return Some(Some(Target::Known(rust)));
            }
            let found = self.packages.import(at.package, path, self.sources, &mut self.diagnostics);
            match found.and_then(|found| self.packages.type_in(found, name)) {
                Some(id) => Some(self.behind_alias(at, &ty.place, id, 0)),
                None => known::kubernetes(path, name).map(|rust| Some(Target::Known(rust))),
            }
        })
    }

    /// Looks through an alias in the same package, as controller-gen does, unless it stands for a predeclared
    /// type.
    fn behind_alias(&mut self, at: At, place: &Place, id: TypeId, depth: usize) -> Option<Target> {
        let decl = self.packages.decl(id);
        if !decl.is_alias || depth > DEPTH_LIMIT {
            return Some(Target::Declared(id));
        }
        let ty = match &decl.ty.kind {
            Kind::Instance(generic) => (**generic).clone(),
            _ => decl.ty.clone(),
        };
        if !matches!(ty.kind, Kind::Name(_) | Kind::Qualified(..)) {
            self.alias_of_no_name(at, place, id);
            return None;
        }
        let local = match &ty.kind {
            Kind::Name(name) => self.packages.type_in(id.package, name),
            _ => None,
        };
        match local {
            Some(other) => self.behind_alias(at, place, other, depth + 1),
            None => match self.target(id.into(), &ty)? {
                Target::Builtin(..) if !self.release.ignores_aliases() => Some(Target::Declared(id)),
                target => Some(target),
            },
        }
    }

    /// Refuses aliases such as `type A = []string`: `localNamedToSchema` of controller-tools,
    /// pkg/crd/schema.go, requires a name after `=`.
    fn alias_of_no_name(&mut self, at: At, place: &Place, id: TypeId) {
        let name = &self.packages.decl(id).name.text;
        let message = format!("`{name}` is an alias of a type without a name");
        let help = format!("declare a type: `type {name} ...`, without `=`");
        let loc = self.loc(at, place);
        self.diagnostics.push(Diagnostic::error(Code::UNSUPPORTED_TYPE, loc, message).help(help));
    }

    fn qualified(&mut self, at: At, package: &str, name: &str, ty: &Type) -> Option<Target> {
        let Some(path) = self.import_path(at, package) else {
            let loc = self.loc(at, &ty.place);
            self.unknown(loc, &format!("{package}.{name}"));
            return None;
        };
        if let Some(rust) = known::overridden(&path, name) {
            return Some(Target::Known(rust));
        }
        let found = self.packages.import(at.package, &path, self.sources, &mut self.diagnostics);
        if let Some(id) = found.and_then(|found| self.packages.type_in(found, name)) {
            return Some(Target::Declared(id));
        }
        if let Some(rust) = known::kubernetes(&path, name) {
            return Some(Target::Known(rust));
        }
        let loc = self.loc(at, &ty.place);
        match found {
            Some(_) => self.unknown(loc, &format!("{package}.{name}")),
            None => self.unread(at, loc, &path, &format!("{package}.{name}")),
        }
        None
    }

    /// The path of the import that binds a name.
    pub(super) fn import_path(&mut self, at: At, name: &str) -> Option<String> {
        let imports: Vec<&Import> = self.packages.list[at.package].files[at.file].1.imports().collect();
        let named = imports.iter().find(|import| import.name.as_deref() == Some(name));
        if let Some(import) = named {
            return Some(import.path.text.clone());
        }
        let unnamed = imports.iter().filter(|import| import.name.is_none());
        let paths: Vec<String> = unnamed.map(|import| import.path.text.clone()).collect();
        if let Some(path) = paths.iter().find(|path| path.rsplit('/').next() == Some(name)) {
            return Some(path.clone());
        }
        let is_called = |resolver: &mut Self, path: &String| {
            let found =
                resolver.packages.import(at.package, path, resolver.sources, &mut resolver.diagnostics);
            match found {
                Some(found) => resolver.packages.list[found].name == name,
                // `github.com/a/b/v2`, `gopkg.in/yaml.v3`
                None => path.split(['/', '.', '-']).any(|part| part == name),
            }
        };
        paths.into_iter().find(|path| is_called(self, path))
    }

    fn unknown(&mut self, loc: Loc, name: &str) {
        self.diagnostics.push(
            Diagnostic::error(Code::UNRESOLVED_TYPE, loc, format!("cannot find the type `{name}`"))
                .label("not found in the package or its imports")
                .help("declare the type, or import its package"),
        );
    }

    fn unread(&mut self, at: At, loc: Loc, path: &str, name: &str) {
        if path == "C" {
            return self.unsupported(loc, "a type of cgo");
        }
        let message = format!("`{name}` is not known, as the package `{path}` could not be found");
        let help = self.packages.way_to(at.package, path);
        self.diagnostics.push(Diagnostic::error(Code::GO_PACKAGE, loc, message).help(help));
    }

    pub(super) fn unsupported(&mut self, loc: Loc, what: &str) {
        self.diagnostics.push(
            Diagnostic::error(
                Code::UNSUPPORTED_TYPE,
                loc,
                format!("{what} has no form in JSON that a schema can describe"),
            )
            .help(
                "name a type with fields or a value, or say what the JSON is with `+kubebuilder:validation:Schemaless` and \
                 `+kubebuilder:validation:Type` on the field",
            ),
        );
    }

    /// Reports types that are declared twice, which Go refuses, and returns them. Those that nothing needs may belong to programs
    /// of a file each.
    pub(super) fn report_redeclared(&mut self, needed: &BTreeSet<TypeId>) -> Vec<TypeId> {
        let all = self.packages.list.iter().flat_map(|package| &package.redeclared);
        let found: Vec<(TypeId, TypeId)> = all.filter(|(_, first)| needed.contains(first)).copied().collect();
        for &(again, first) in &found {
            let [name, place] = [again, first].map(|id| &self.packages.decl(id).name);
            let message = format!("`{}` is declared twice in the package", name.text);
            self.diagnostics.push(
                Diagnostic::error(Code::GO_PACKAGE, self.loc(again.into(), &name.place), message)
                    .secondary(self.loc(first.into(), &place.place), "the first declaration")
                    .help("remove one of them, or leave one of the files out with a `//go:build` line"),
            );
        }
        found.into_iter().map(|(_, first)| first).collect()
    }

    /// The type that controller-gen sees when it applies markers; `None`: a reference, whose type it does not
    /// check.
    pub(super) fn visible(&mut self, at: At, ty: &Type) -> Option<String> {
        match &ty.kind {
            Kind::Pointer(inner) => self.visible(at, inner),
            Kind::Slice(inner) if is_byte(inner) => Some("string".to_string()),
            Kind::Slice(_) | Kind::Array(_) => Some("array".to_string()),
            Kind::Map(..) | Kind::Struct(_) => Some("object".to_string()),
            Kind::Name(_) => match self.target(at, ty)? {
                Target::Builtin(_, schema) => Some(schema.to_string()),
                Target::Declared(id) => {
                    let basic = self.underlying(id, 0)?;
                    let said = markers::value(
                        &self.packages.decl(id).comments.markers,
                        "kubebuilder:validation:Type",
                    );
                    Some(said.map_or_else(|| basic.to_string(), str::to_string))
                }
                Target::Known(_) => None,
            },
            Kind::Qualified(..) | Kind::Instance(_) | Kind::Other(_) => None,
        }
    }

    /// The schema's type of a declaration that resolves to a predeclared type.
    pub(super) fn underlying(&mut self, id: TypeId, depth: usize) -> Option<&'static str> {
        let ty = self.packages.decl(id).ty.clone();
        if depth > DEPTH_LIMIT || !matches!(ty.kind, Kind::Name(_) | Kind::Qualified(..)) {
            return None;
        }
        let before = self.diagnostics.len();
        let target = self.target(id.into(), &ty);
        // The error is reported at the declaration.
        self.diagnostics.truncate(before);
        match target? {
            Target::Builtin(_, schema) => Some(schema),
            Target::Declared(other) if other != id => self.underlying(other, depth + 1),
            _ => None,
        }
    }

    /// The format of a predeclared number: `builtinToType` of controller-tools, pkg/crd/schema.go.
    pub(super) fn format(&mut self, at: At, ty: &Type) -> Option<&'static str> {
        match &ty.kind {
            Kind::Pointer(inner) => self.format(at, inner),
            Kind::Name(_) => match self.target(at, ty)? {
                Target::Builtin("i32" | "u32", _) => Some("int32"),
                Target::Builtin("i64" | "u64", _) => Some("int64"),
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether a type has a method, of its own or promoted from one struct that it embeds.
    pub(super) fn has_method(&mut self, id: TypeId, method: &str, depth: usize) -> bool {
        if self.packages.has_method(id, method) {
            return true;
        }
        let decl = self.packages.decl(id);
        let embedded: Vec<Type> = match &decl.ty.kind {
            Kind::Struct(fields) => {
                fields.iter().filter(|field| field.name.is_none()).map(|field| field.ty.clone()).collect()
            }
            // An alias has the methods of its target.
            Kind::Instance(generic) if decl.is_alias => vec![(**generic).clone()],
            _ => return false,
        };
        let before = self.diagnostics.len();
        let mut count = 0;
        for ty in embedded.iter().filter(|_| depth < DEPTH_LIMIT) {
            let pointed = if let Kind::Pointer(inner) = &ty.kind { inner } else { ty };
            count += usize::from(match self.target(id.into(), pointed) {
                Some(Target::Declared(inner)) if inner != id => self.has_method(inner, method, depth + 1),
                Some(Target::Known(path)) => known::has_method(&path, method),
                _ => false,
            });
        }
        // An unresolved type is reported at the field.
        self.diagnostics.truncate(before);
        count == 1
    }

    /// Whether the declaration of a type lists its values.
    pub(super) fn has_enum(&mut self, at: At, ty: &Type, depth: usize) -> bool {
        if let Kind::Pointer(inner) = &ty.kind {
            return self.has_enum(at, inner, depth);
        }
        let before = self.diagnostics.len();
        let target = self.target(at, ty);
        self.diagnostics.truncate(before);
        let Some(Target::Declared(id)) = target.filter(|_| depth < DEPTH_LIMIT) else { return false };
        let decl = self.packages.decl(id);
        let listed = ["kubebuilder:validation:Enum", "k8s:enum"];
        if listed.iter().any(|name| markers::has(&decl.comments.markers, name)) {
            return true;
        }
        let ty = decl.ty.clone();
        self.has_enum(id.into(), &ty, depth + 1)
    }
}

/// Whether it is `byte`; a list of `uint8` is a list to controller-gen.
pub(super) fn is_byte(ty: &Type) -> bool {
    matches!(&ty.kind, Kind::Name(name) if name == "byte")
}
