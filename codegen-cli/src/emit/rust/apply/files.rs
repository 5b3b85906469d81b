//! The files of the apply configurations and what their placeholders stand for.

use std::collections::BTreeMap;
use std::sync::Arc;

use proc_macro2::Literal;

use super::super::imports::{self, Imports};
use super::super::plan::BUILT_IN_SOURCE;
use super::super::skeleton::Bindings;
use super::super::{docs, names};
use super::fields::Field;
use super::place::Place;
use super::{ApplyTypes, Form, Key, Kind, Type};
use crate::ir::Scope;

/// Fields of an object's metadata that its configuration sets by methods of its own.
const META: [(&str, &str); 5] = [
    ("labels", "meta_labels"),
    ("annotations", "meta_annotations"),
    ("finalizers", "meta_finalizers"),
    ("name", "meta_name"),
    ("namespace", "meta_namespace"),
];

/// The files, by groups.
pub(in super::super) struct Files {
    /// Names all groups.
    pub(in super::super) bindings: Arc<Bindings>,
    pub(in super::super) groups: Vec<GroupFiles>,
}

/// The files of a group.
pub(in super::super) struct GroupFiles {
    pub(in super::super) bindings: Arc<Bindings>,
    pub(in super::super) module: String,
    pub(in super::super) versions: Vec<VersionFiles>,
}

/// The files of a version.
pub(in super::super) struct VersionFiles {
    pub(in super::super) bindings: Arc<Bindings>,
    pub(in super::super) module: String,
    pub(in super::super) types: Vec<TypeFile>,
}

/// The file of a type.
pub(in super::super) struct TypeFile {
    pub(in super::super) bindings: Arc<Bindings>,
    pub(in super::super) module: String,
    /// Where the type is defined.
    pub(in super::super) source: String,
}

impl ApplyTypes {
    /// What is to be rendered; `source` names a user's source file in a header.
    pub(in super::super) fn files(&self, source: impl Fn(&str) -> String) -> Files {
        let mut tree: BTreeMap<&str, BTreeMap<&str, Vec<TypeFile>>> = BTreeMap::new();
        for (key, ty) in &self.types {
            let file = TypeFile {
                bindings: Arc::new(self.type_bindings(key, ty)),
                module: ty.place.module(),
                source: ty.file.as_deref().map_or_else(|| BUILT_IN_SOURCE.to_owned(), &source),
            };
            tree.entry(&ty.place.group).or_default().entry(&ty.place.version).or_default().push(file);
        }
        let groups: Vec<GroupFiles> =
            tree.into_iter().map(|(module, versions)| group_files(module, versions)).collect();
        let list = groups.iter().map(|group| Arc::clone(&group.bindings)).collect();
        Files { bindings: Arc::new(Bindings::default().list("group", list)), groups }
    }

    fn type_bindings(&self, key: &Key, ty: &Type) -> Bindings {
        let kind = self.kinds.get(key);
        let mut imports = Imports::new([ty.place.configuration()]);
        let bindings = self.kind_bindings(kind, ty, &mut imports);
        let field = |field: &Field| Arc::new(self.field_bindings(&ty.place, &imports, field));
        let fields = ty.fields.iter().map(field).collect();
        bindings
            .text("Type", &ty.place.name)
            .text("module", ty.place.module())
            .text("Summary", docs::summary(paragraph(&ty.summary)))
            .flag("kind", kind.is_some())
            .flag("extracts", kind.is_some_and(|kind| self.exports_extracts(kind, ty)))
            .list("field", fields)
    }

    /// Whether the version's module exports the kind's functions. Where one is wanted twice (`extract_foo_from` of the kinds Foo
    /// and FooFrom), both kinds' are reached through their own modules only.
    fn exports_extracts(&self, kind: &Kind, ty: &Type) -> bool {
        let of_version = self.types.iter().filter(|(_, other)| other.place.is_beside(&ty.place));
        let mut others = of_version.filter_map(|(key, _)| self.kinds.get(key));
        let own = extract(kind);
        others.all(|other| {
            let other = extract(other);
            other != format!("{own}_from") && own != format!("{other}_from")
        })
    }

    fn kind_bindings(&self, kind: Option<&Kind>, ty: &Type, imports: &mut Imports) -> Bindings {
        let bindings = Bindings::default();
        let Some(kind) = kind else { return bindings };
        // A field of the object itself with this name has the method.
        let is_free = |name: &str| ty.fields.iter().all(|field| field.rust != name);
        let bindings = META.iter().fold(bindings, |bindings, (name, flag)| {
            bindings.flag(flag, is_free(name) && (*name != "namespace" || kind.scope != Some(Scope::Cluster)))
        });
        let meta = self.path(&Key::BuiltIn(OBJECT_META.to_owned()));
        // A kind that belongs to a request alone sets no metadata.
        let meta = if kind.scope.is_some() { &*meta } else { "" };
        let bindings = imports.bind(bindings, &imports::OBJECT, &kind.object);
        imports
            .bind(bindings, &imports::OBJECT_META, meta)
            .text("Kind", &kind.kind)
            .text("api_version", &kind.api_version)
            .text("ApiVersion", docs::plain(&kind.api_version))
            .text("extract", extract(kind))
            .flag("namespaced", kind.scope == Some(Scope::Namespaced))
            .flag("cluster", kind.scope == Some(Scope::Cluster))
            .flag("of_subresource", kind.scope.is_none())
    }

    fn field_bindings(&self, place: &Place, imports: &Imports, field: &Field) -> Bindings {
        let doc = docs::summary(sentence(&field.doc));
        let doc = if doc.is_empty() { format!("The field `{}`.", docs::plain(&field.json)) } else { doc };
        let (form, is_map) = match &field.form {
            Form::List(item) => (&**item, false),
            Form::Map(value) => (&**value, true),
            form => (form, false),
        };
        let is_list = matches!(field.form, Form::List(_));
        let ty = self.rust(place, imports, &field.form);
        let ty = if field.boxed { format!("Box<{ty}>") } else { ty };
        let converts = field.boxed || matches!(form, Form::Whole { converts: true, .. });
        let item = if is_list || is_map { self.rust(place, imports, form) } else { ty.clone() };
        let is_bare = field.flatten && is_map;
        Bindings::default()
            .text("field", &field.rust)
            .text("with", format!("with_{}", names::bare(&field.rust)))
            .text("Doc", doc)
            .text("serde", serde_attribute(field, is_bare))
            .path("FieldType", if is_bare { ty } else { format!("Option<{ty}>") })
            .path("Item", item)
            .flag("whole", !is_list && !is_map && !converts)
            .flag("whole_into", !is_list && !is_map && converts)
            .flag("list", is_list && !converts)
            .flag("list_into", is_list && converts)
            .flag("map", is_map && !is_bare && !converts)
            .flag("map_into", is_map && !is_bare && converts)
            .flag("flat", is_bare && !converts)
            .flag("flat_into", is_bare && converts)
    }
}

/// The function that reads back what a manager has applied; behind `_from`, of a subresource.
fn extract(kind: &Kind) -> String {
    format!("extract_{}", names::bare(&kind.module))
}

/// The type of an object's metadata.
const OBJECT_META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";

/// What serde is told of a field.
fn serde_attribute(field: &Field, is_bare: bool) -> String {
    let skip = if is_bare { "::std::collections::BTreeMap::is_empty" } else { "Option::is_none" };
    let skip = format!("skip_serializing_if = {}", Literal::string(skip));
    if field.flatten {
        return format!("flatten, {skip}");
    }
    let rename = if field.rust == field.json {
        String::new()
    } else {
        format!("rename = {}, ", Literal::string(&field.json))
    };
    let null = if matches!(field.form, Form::Nullable(_)) {
        ", default, deserialize_with = \"::kubesmith_runtime::applyconfigurations::nullable\""
    } else {
        ""
    };
    format!("{rename}{skip}{null}")
}

/// The text up to the first empty line.
fn paragraph(text: &str) -> &str {
    text.split("\n\n").next().unwrap_or_default()
}

/// The first sentence of a text.
fn sentence(text: &str) -> &str {
    let text = paragraph(text);
    let mut ends = text.match_indices(['.', '\n']).filter(|(at, _)| {
        let rest = &text[at + 1..];
        // Not behind `e.g.`, nor in a name.
        rest.starts_with([' ', '\n'])
            && rest.trim_start().starts_with(|c: char| c.is_ascii_uppercase() || c == '`')
    });
    ends.find(|(at, mark)| *mark == "." && !text[..*at].ends_with("e.g") && !text[..*at].ends_with("i.e"))
        .map_or(text, |(at, _)| &text[..=at])
}

fn group_files(module: &str, versions: BTreeMap<&str, Vec<TypeFile>>) -> GroupFiles {
    let versions: Vec<VersionFiles> =
        versions.into_iter().map(|(version, types)| version_files(module, version, types)).collect();
    let list = versions.iter().map(|version| Arc::clone(&version.bindings)).collect();
    let bindings = Bindings::default().text("group", module).text("GroupTitle", module).list("version", list);
    GroupFiles { bindings: Arc::new(bindings), module: module.to_owned(), versions }
}

fn version_files(group: &str, module: &str, mut types: Vec<TypeFile>) -> VersionFiles {
    types.sort_by(|a, b| a.module.cmp(&b.module));
    let list = types.iter().map(|file| Arc::clone(&file.bindings)).collect();
    let bindings = Bindings::default().text("version", module).text("group", group).list("ty", list);
    VersionFiles { bindings: Arc::new(bindings), module: module.to_owned(), types }
}
