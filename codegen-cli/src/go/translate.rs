//! Translates Go declarations to equivalent Rust source, which the later stages of the generator read.
//!
//! The translation follows controller-gen (pkg/crd/schema.go): a struct becomes a struct, another declaration
//! a newtype, and a pointer the type that it points to. Every field is explicitly required or optional.

mod fields;

use std::collections::{BTreeMap, BTreeSet};

use kubesmith_core::diag::Code;
use kubesmith_core::grammar::Place as MarkerPlace;

use super::arguments;
use super::markers;
use super::one_of;
use super::packages::{Packages, TypeId};
use super::resolve::{At, Resolver, Target, is_byte};
use super::syntax::{Comments, Kind, Type, TypeDecl, Word};
use super::text::{Text, ident};
use super::{Options, Translated, Translation};
use crate::diag::{self, Diagnostic};
use crate::source::SourceMap;

/// The type of any JSON.
const ANY: &str = "::k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::JSON";
const SCHEMA: &str = "#[derive(::kubesmith_runtime::Schema, ::serde::Serialize, ::serde::Deserialize)]\n";
const RESOURCE: &str = "#[derive(::kubesmith_runtime::Resource)]\n";
/// Types that attributes describe completely need no derive of serde.
const SCHEMA_ALONE: &str = "#[derive(::kubesmith_runtime::Schema)]\n";

/// `corev1.Protocol` in older releases.
const PROTOCOL: &str = "#[schema(extra = {\"default\": \"TCP\"})]\n\
    #[derive(::kubesmith_runtime::Schema, ::serde::Serialize, ::serde::Deserialize)]\n\
    pub struct Protocol(pub ::std::string::String);\n\n";

/// Translates the kinds of the input packages with all types that they use, and the packages' facts beside
/// types.
pub(super) fn translate(packages: Packages, sources: &mut SourceMap, options: Options) -> Translation {
    let resolver = Resolver { packages, sources, diagnostics: Vec::new(), release: options.release };
    let mut translator = Translator {
        resolver,
        options,
        kinds: BTreeSet::new(),
        queue: Vec::new(),
        seen: BTreeSet::new(),
        texts: BTreeMap::new(),
        broken: BTreeSet::new(),
    };
    translator.find_kinds();
    let has_unread_kinds = !options.types && !translator.kinds.is_empty();
    if !options.types {
        translator.kinds.clear();
        translator.queue.clear();
    }
    while let Some(id) = translator.queue.pop() {
        let text = translator.checked_declaration(id);
        translator.texts.insert(id, text);
    }
    let redeclared = translator.resolver.report_redeclared(&translator.seen);
    translator.broken.extend(redeclared);
    Translation { has_unread_kinds, ..translator.finish() }
}

pub(super) struct Translator<'s> {
    pub(super) resolver: Resolver<'s>,
    pub(super) options: Options,
    pub(super) kinds: BTreeSet<TypeId>,
    queue: Vec<TypeId>,
    seen: BTreeSet<TypeId>,
    texts: BTreeMap<TypeId, Text>,
    /// The declarations with errors.
    broken: BTreeSet<TypeId>,
}

impl Translator<'_> {
    fn find_kinds(&mut self) {
        for package in 0..self.resolver.packages.list.len() {
            self.refuse_package_values(package);
            if !self.resolver.packages.list[package].is_input || !self.is_api(package) {
                continue;
            }
            for file in 0..self.resolver.packages.list[package].files.len() {
                for item in 0..self.resolver.packages.list[package].files[file].1.names().count() {
                    let id = TypeId { package, file, item };
                    if self.is_kind(id) {
                        self.kinds.insert(id);
                    }
                }
            }
        }
        self.seen = self.kinds.clone();
        self.queue = self.kinds.iter().rev().copied().collect();
    }

    /// The markers of a package.
    pub(super) fn package_markers(&self, package: usize) -> impl Iterator<Item = (usize, &Word)> {
        let files = self.resolver.packages.list[package].files.iter().enumerate();
        files.flat_map(|(at, (_, file))| file.markers.iter().map(move |marker| (at, marker)))
    }

    /// Whether a package is a version of a group.
    fn is_api(&self, package: usize) -> bool {
        let mut has_group = false;
        for (_, marker) in self.package_markers(package) {
            match markers::name(marker) {
                "kubebuilder:skip" => return false,
                "groupName" => {
                    has_group |= marker.text.split_once('=').is_some_and(|(_, name)| !name.trim().is_empty());
                }
                _ => {}
            }
        }
        has_group
    }

    /// Whether a type is a kind: it embeds `TypeMeta` and `ObjectMeta`.
    fn is_kind(&mut self, id: TypeId) -> bool {
        let decl = self.resolver.packages.decl(id);
        if self.resolver.packages.type_in(id.package, &decl.name.text) != Some(id) {
            return false;
        }
        let Kind::Struct(fields) = &decl.ty.kind else { return false };
        let embedded: Vec<Type> =
            fields.iter().filter(|field| field.name.is_none()).map(|field| field.ty.clone()).collect();
        let has = |translator: &mut Self, name: &str| {
            embedded.iter().any(|ty| translator.resolver.is_meta(id.into(), ty, name))
        };
        has(self, "TypeMeta") && has(self, "ObjectMeta")
    }

    /// Writes a declaration, and notes whether it has errors.
    fn checked_declaration(&mut self, id: TypeId) -> Text {
        let before = self.resolver.diagnostics.len();
        let text = self.declaration(id);
        if diag::has_errors(&self.resolver.diagnostics[before..]) {
            self.broken.insert(id);
        }
        text
    }

    fn declaration(&mut self, id: TypeId) -> Text {
        let at = At::from(id);
        let decl = self.resolver.packages.decl(id).clone();
        let mut text = Text::new(self.resolver.packages.list[at.package].files[at.file].0);
        if self.is_older_protocol(id) {
            text.push(PROTOCOL);
            return text;
        }
        let is_kind = self.kinds.contains(&id);
        let place = if is_kind { MarkerPlace::Root } else { MarkerPlace::Struct };
        let says_type = markers::value(&decl.comments.markers, "kubebuilder:validation:Type");
        if says_type == Some("") && self.without_type(&mut text, at, &decl) {
            return text;
        }
        let is_json = self.resolver.has_method(id, "MarshalJSON", 0);
        if decl.is_generic && !(is_json && says_type.is_some()) {
            let loc = self.resolver.loc(at, &decl.name.place);
            self.resolver.unsupported(loc, "a generic type");
        }
        if is_json && says_type.is_some() {
            self.markers(&mut text, at, &decl.comments.markers, place, None);
            text.push(SCHEMA_ALONE);
            text.push("pub struct ");
            text.part(&ident(&decl.name.text), &decl.name.place);
            text.push(";\n\n");
            return text;
        }
        let ignores_text = self.options.release.ignores_text();
        let is_text = !is_json && !ignores_text && self.resolver.has_method(id, "MarshalText", 0);
        if is_text && says_type.is_some_and(|said| said != "string") {
            self.report_text(at, &decl.name);
        }
        self.markers(&mut text, at, &decl.comments.markers, place, Some(&decl.ty).filter(|_| !is_text));
        if is_kind {
            self.resource(&mut text, id);
            let (name, place) = (&decl.name.text, &decl.name.place);
            if ident(name).trim_start_matches("r#") != name {
                text.attribute(&format!("#[resource(kind = {name:?})]"), place);
            }
        }
        if !is_text {
            self.enum_of_constants(&mut text, id);
            describe(&mut text, &decl.comments, &decl.name);
        }
        text.push(if is_kind { RESOURCE } else { SCHEMA });
        self.body(&mut text, id, &decl, is_text);
        text
    }

    /// Writes the struct of a declaration. `is_text`: the type marshals itself as text.
    fn body(&mut self, text: &mut Text, id: TypeId, decl: &TypeDecl, is_text: bool) {
        text.push("pub struct ");
        text.part(&ident(&decl.name.text), &decl.name.place);
        match &decl.ty.kind {
            _ if is_text => text.push("(pub ::std::string::String);\n\n"),
            Kind::Struct(fields) => {
                text.push(" {\n");
                self.fields(text, id, &decl.name, fields);
                text.push("}\n\n");
            }
            _ => {
                text.push("(pub ");
                self.ty(text, At::from(id), &decl.ty);
                text.push(");\n\n");
            }
        }
    }

    /// Writes a type whose marker says `Type=""`: the type of the only embedded field, or any JSON. With an empty
    /// type, `infoToSchema` of controller-tools, pkg/crd/schema.go, reads the declaration although it has
    /// `MarshalJSON`.
    fn without_type(&mut self, text: &mut Text, at: At, decl: &TypeDecl) -> bool {
        let kept: Vec<Word> =
            decl.comments.markers.iter().filter(|marker| !is_empty_type(marker)).cloned().collect();
        let is_any = kept.iter().any(|marker| PRESERVING.contains(&markers::name(marker)));
        let embedded = match &decl.ty.kind {
            Kind::Struct(fields) => {
                let mut fields = fields.iter().filter(|field| field.json.as_deref() != Some("-"));
                match (fields.next(), fields.next()) {
                    (Some(field), None) if field.name.is_none() => Some(&field.ty),
                    _ => return false,
                }
            }
            Kind::Slice(inner) if is_byte(inner) && is_any => None,
            _ => return false,
        };
        self.markers(text, at, &kept, MarkerPlace::Struct, None);
        describe(text, &decl.comments, &decl.name);
        text.push(SCHEMA);
        text.push("pub struct ");
        text.part(&ident(&decl.name.text), &decl.name.place);
        text.push("(pub ");
        match embedded {
            Some(ty) => self.ty(text, at, ty),
            None => text.part(ANY, &decl.ty.place),
        }
        text.push(");\n\n");
        true
    }

    fn report_text(&mut self, at: At, name: &Word) {
        let loc = self.resolver.loc(at, &name.place);
        let message = format!("`{}` is written by `MarshalText`, so that its type is string", name.text);
        self.resolver.diagnostics.push(
            Diagnostic::error(Code::WRONG_TYPE_FOR_KEY, loc, message)
                .help("remove `+kubebuilder:validation:Type`, or write `MarshalJSON`"),
        );
    }

    /// Writes the effective markers; `ty` is the type to which they apply.
    fn markers(&mut self, text: &mut Text, at: At, all: &[Word], place: MarkerPlace, ty: Option<&Type>) {
        self.refuse_values(at, all, place);
        let visible = ty.map(|ty| self.visible(at, ty));
        let mut counts: Vec<&Word> = Vec::new();
        // A marker that the release does not know replaces none.
        let is_known = |marker: &&Word| self.options.release.knows(markers::name(marker));
        let known: Vec<Word> = all.iter().filter(is_known).cloned().collect();
        for marker in markers::effective(&known, place) {
            if self.options.release.counts_in_lists() && one_of::rank(marker).is_some() {
                counts.push(marker);
                continue;
            }
            if markers::name(marker).starts_with("kubebuilder:resource")
                || ty.is_none() && is_empty_format(marker)
            {
                continue;
            }
            if self.lists_values_again(at, marker, ty) {
                continue;
            }
            let is_said = ["kubebuilder:validation:Type", "kubebuilder:validation:XIntOrString"]
                .iter()
                .any(|name| markers::has(all, name));
            if let (Some(None), Some(wants), false) = (&visible, markers::wants(marker), is_said) {
                let loc = self.resolver.loc(at, &marker.place);
                let message = format!(
                    "`+{}` is for {}, and what the named type of the field is does not show here",
                    markers::name(marker),
                    wants.words()
                );
                self.resolver.diagnostics.push(
                    Diagnostic::error(Code::WRONG_TYPE_FOR_KEY, loc, message)
                        .help("put the marker on the declaration of the type"),
                );
            }
            // An empty description equals an absent one in Go.
            let Some(marker) = arguments::settled(marker) else { continue };
            let written = markers::rounded(marker.text.replace(",description=\"\"", ""));
            text.marker("///", &Word { text: written, place: marker.place });
        }
        self.format_of_type(text, at, all, ty);
        counts.sort_by_key(|marker| one_of::rank(marker));
        counts.into_iter().filter_map(one_of::rule).for_each(|rule| text.marker("///", &rule));
    }

    /// `+kubebuilder:validation:Type` replaces the type of a number and keeps its format:
    /// `Type.ApplyToSchema` of controller-tools, pkg/crd/markers/validation.go.
    fn format_of_type(&mut self, text: &mut Text, at: At, all: &[Word], ty: Option<&Type>) {
        let said = all.iter().find(|marker| markers::name(marker) == "kubebuilder:validation:Type");
        let (Some(said), Some(ty)) = (said, ty) else { return };
        let is_said = markers::has(all, "kubebuilder:validation:Format");
        let Some(format) = self.resolver.format(at, ty).filter(|_| !is_said) else { return };
        let written = format!("+kubebuilder:validation:Format={format}");
        text.marker("///", &Word { text: written, place: said.place.clone() });
    }

    /// Whether a declaration is `corev1.Protocol`, for which older releases have a string with a default:
    /// `KnownPackages` of controller-tools, pkg/crd/known_types.go.
    fn is_older_protocol(&self, id: TypeId) -> bool {
        self.options.release.has_protocol_default()
            && self.resolver.packages.decl(id).name.text == "Protocol"
            && self.resolver.packages.list[id.package].path == "k8s.io/api/core/v1"
    }

    /// Whether a marker lists values for a type with its own list, which controller-gen keeps.
    fn lists_values_again(&mut self, at: At, marker: &Word, ty: Option<&Type>) -> bool {
        let listed = match (markers::name(marker), ty.map(|ty| &ty.kind)) {
            ("kubebuilder:validation:Enum", Some(_)) => ty,
            ("kubebuilder:validation:items:Enum", Some(Kind::Slice(inner) | Kind::Array(inner))) => {
                Some(&**inner)
            }
            _ => None,
        };
        !self.options.release.keeps_both_enums() && listed.is_some_and(|ty| self.resolver.has_enum(at, ty, 0))
    }

    fn visible(&mut self, at: At, ty: &Type) -> Option<String> {
        let before = self.resolver.diagnostics.len();
        let visible = self.resolver.visible(at, ty);
        // The error is reported at the type.
        self.resolver.diagnostics.truncate(before);
        visible
    }

    /// Writes a type.
    pub(super) fn ty(&mut self, text: &mut Text, at: At, ty: &Type) {
        match &ty.kind {
            Kind::Pointer(inner) => self.ty(text, at, inner),
            Kind::Slice(inner) if is_byte(inner) => text.part("::k8s_openapi::ByteString", &ty.place),
            Kind::Slice(inner) | Kind::Array(inner) => {
                text.push("::std::vec::Vec<");
                self.ty(text, at, inner);
                text.push(">");
            }
            Kind::Map(key, value) => {
                self.key(at, key);
                text.push("::std::collections::BTreeMap<::std::string::String, ");
                self.ty(text, at, value);
                text.push(">");
            }
            Kind::Name(_) | Kind::Qualified(..) => match self.resolver.target(at, ty) {
                Some(Target::Builtin(rust, _)) => text.part(rust, &ty.place),
                Some(Target::Known(path)) => text.part(&format!("::{path}"), &ty.place),
                Some(Target::Declared(id)) => {
                    self.want(id);
                    let name = ident(&self.resolver.packages.decl(id).name.text);
                    let module = &self.resolver.packages.list[id.package].module_name;
                    text.part(&["crate", module, &name].join("::"), &ty.place);
                }
                None => text.part("()", &ty.place),
            },
            Kind::Struct(_) => self.refuse(text, at, ty, "a struct without a name"),
            Kind::Instance(_) => self.refuse(text, at, ty, "an instance of a generic type"),
            Kind::Other(what) => self.refuse(text, at, ty, what),
        }
    }

    fn want(&mut self, id: TypeId) {
        if self.seen.insert(id) {
            self.queue.push(id);
        }
    }

    fn refuse(&mut self, text: &mut Text, at: At, ty: &Type, what: &str) {
        let loc = self.resolver.loc(at, &ty.place);
        self.resolver.unsupported(loc, what);
        text.part("()", &ty.place);
    }

    /// Writes the key type of a map; keys are strings.
    fn key(&mut self, at: At, key: &Type) {
        let is_text = match self.resolver.target(at, key) {
            Some(Target::Builtin(_, schema)) => schema == "string",
            Some(Target::Declared(id)) => {
                self.resolver.underlying(id, 0) == Some("string")
                    || self.resolver.has_method(id, "MarshalText", 0)
            }
            // An unresolved name was already reported.
            Some(Target::Known(_)) => true,
            None => matches!(key.kind, Kind::Name(_) | Kind::Qualified(..)),
        };
        if !is_text {
            let loc = self.resolver.loc(at, &key.place);
            self.resolver.diagnostics.push(
                Diagnostic::error(Code::UNSUPPORTED_TYPE, loc, "keys of a map must be strings in JSON")
                    .help("use `string`, a type of it, or one with `MarshalText`"),
            );
        }
    }

    /// Warns of markers of roles and webhooks that document a declaration: `associateFileMarkers` of controller-tools,
    /// pkg/markers/collect.go, gives those to the declaration.
    fn warn_of_documentation(&mut self) {
        let mut warnings = Vec::new();
        for (package, found) in self.resolver.packages.list.iter().enumerate().filter(|(_, p)| p.is_input) {
            for (file, (_, parsed)) in found.files.iter().enumerate() {
                let is_read = |marker: &&Word| markers::is_beside(markers::name(marker), self.options.beside);
                for marker in parsed.documenting.iter().filter(is_read) {
                    let loc = self.resolver.loc(At { package, file }, &marker.place);
                    let message = "this marker has no effect in the documentation of a declaration";
                    let help = "put an empty line between the marker and the declaration";
                    let warning = Diagnostic::warning(Code::WRONG_PLACE, loc, message).help(help);
                    warnings.push(warning.note("controller-gen ignores it"));
                }
            }
        }
        self.resolver.diagnostics.extend(warnings);
    }

    fn finish(mut self) -> Translation {
        self.warn_of_documentation();
        let mut texts = Vec::new();
        let by_imports = self.options.beside.webhooks && self.options.release.older().keeps_packages;
        for package in self.resolver.packages.roots_first(by_imports) {
            let found = &self.resolver.packages.list[package];
            for (file, (id, parsed)) in found.files.iter().enumerate() {
                let mut text = Text::new(*id);
                let own = TypeId { package, file, item: 0 }..TypeId { package, file: file + 1, item: 0 };
                if found.is_input {
                    self.package_facts(&mut text, package, file);
                    let is_read =
                        |marker: &&Word| markers::is_beside(markers::name(marker), self.options.beside);
                    let beside = parsed.markers.iter().filter(is_read).filter_map(arguments::settled);
                    beside.for_each(|marker| text.marker("//", &marker));
                    text.push("\n");
                }
                let broken = self.broken.range(own.clone()).map(|id| parsed.decl(id.item).name.text.clone());
                let broken: Vec<String> = broken.collect();
                let declared = self.texts.range(own).map(|(_, declaration)| declaration);
                for Text { out, pieces, .. } in text.with(declared) {
                    texts.push(Translated { file: *id, package, text: out, pieces, broken: broken.clone() });
                }
            }
        }
        let modules = self.resolver.packages.list.iter().map(|package| package.module_name.clone());
        let modules = modules.collect();
        let Resolver { packages, diagnostics, .. } = self.resolver;
        Translation { modules, texts, packages, diagnostics, ..Translation::default() }
    }

    /// Writes group and version in the first file that names the group.
    fn package_facts(&self, text: &mut Text, package: usize, file: usize) {
        let has_kinds = self.kinds.iter().any(|id| id.package == package);
        let first =
            |wanted: &str| self.package_markers(package).find(|(_, marker)| markers::name(marker) == wanted);
        let Some((at, group)) = first("groupName").filter(|_| has_kinds) else { return };
        if at != file {
            return;
        }
        // `:=` is the same as `=`.
        let plain =
            |marker: &Word| Word { text: marker.text.replacen(":=", "=", 1), place: marker.place.clone() };
        text.marker("//!", &plain(group));
        match first("versionName") {
            Some((_, version)) => text.marker("//!", &plain(version)),
            None => {
                let name = &self.resolver.packages.list[package].name;
                text.push("//! ");
                text.part(&format!("+versionName={name}"), &group.place);
                text.push("\n");
            }
        }
    }
}

/// Writes a description.
fn describe(text: &mut Text, comments: &Comments, name: &Word) {
    if !comments.description.is_empty() {
        text.attribute(&format!("#[schema(description = {:?})]", comments.description), &name.place);
    }
}

/// Markers that keep unknown fields.
const PRESERVING: [&str; 2] =
    ["kubebuilder:pruning:PreserveUnknownFields", "kubebuilder:validation:XPreserveUnknownFields"];

/// Whether a marker removes the format of a type.
fn is_empty_format(marker: &Word) -> bool {
    let name = "kubebuilder:validation:Format";
    markers::value(std::slice::from_ref(marker), name) == Some("")
}

/// Whether a marker removes the type of a type.
fn is_empty_type(marker: &Word) -> bool {
    markers::value(std::slice::from_ref(marker), "kubebuilder:validation:Type") == Some("")
}
