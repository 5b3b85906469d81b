//! Adds the kinds of Kubernetes with clients in kubesmith.toml: names become groups of the representation.
//!
//! Input: names such as `apps/v1/Deployment` or `apps/v1`, each with its place. [`crate::known::kinds`] has
//! the facts of the kinds. They only get clients, listers and informers.

use std::collections::{BTreeMap, BTreeSet};

use kubesmith_core::diag::Code;
use kubesmith_core::names;
use kubesmith_core::names::closest;

use crate::config::{ConfigFile, KindName};
use crate::diag::Diagnostic;
use crate::docs;
use crate::ir::{
    ClientTags, CrdVersion, Element, Group, Ir, Method, Places, Resource, ResourceCode, RustType, Shape,
    Span, TypeDef, TypeId, TypeRef, Verb, Version,
};
use crate::known::{self, kinds};
use crate::schema::Schema;
use crate::source::{FileId, Loc, SourceFile, SourceMap};

/// Adds the named kinds to the representation.
pub fn add(ir: &mut Ir, names: &[KindName], file: &ConfigFile, sources: &mut SourceMap) -> Vec<Diagnostic> {
    if names.is_empty() {
        return Vec::new();
    }
    let name = crate::paths::display(&file.path).into();
    let file = sources.add(SourceFile { path: file.path.clone(), name, text: file.text.as_str().into() });
    let (chosen, diagnostics) = choose(names, file);
    let mut groups: BTreeMap<&str, Vec<(&kinds::Kind, Loc)>> = BTreeMap::new();
    for (kind, loc) in chosen {
        groups.entry(kind.group).or_default().push((kind, loc));
    }
    let groups: Vec<Group> = groups
        .into_iter()
        .map(|(name, kinds)| group(name, &kinds, |kind, loc| resource(ir, kind, sources.span(loc))))
        .collect();
    ir.built_in = groups;
    diagnostics
}

type Chosen = Vec<(&'static kinds::Kind, Loc)>;

/// The kinds with these names, in the order of the table.
fn choose(names: &[KindName], file: FileId) -> (Chosen, Vec<Diagnostic>) {
    let mut chosen: BTreeMap<usize, (&KindName, Loc)> = BTreeMap::new();
    let mut diagnostics = Vec::new();
    for name in names {
        let loc = Loc { file, start: clip(name.span().start), end: clip(name.span().end) };
        let text = name.get_ref();
        let meant: Vec<usize> =
            (0..kinds::all().len()).filter(|at| stands_for(text, &kinds::all()[*at])).collect();
        if meant.is_empty() {
            diagnostics.push(unknown(text, loc));
        }
        let twice = meant.iter().find_map(|at| chosen.get(at).map(|first| (&kinds::all()[*at], first)));
        if let Some((kind, (first, first_loc))) = twice {
            let message = format!("`{text}` names {} again", full_name(kind));
            diagnostics.push(
                Diagnostic::error(Code::BUILT_IN_TWICE, loc, message)
                    .secondary(*first_loc, format!("`{}` has it already", first.get_ref()))
                    .help("remove one of them"),
            );
            continue;
        }
        chosen.extend(meant.into_iter().map(|at| (at, (name, loc))));
    }
    (chosen.into_iter().map(|(at, (_, loc))| (&kinds::all()[at], loc)).collect(), diagnostics)
}

fn clip(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

/// `apps/v1/Deployment`
fn full_name(kind: &kinds::Kind) -> String {
    format!("{}/{}", kind.api_version(), kind.kind)
}

/// Whether it names the kind or its group-version.
fn stands_for(name: &str, kind: &kinds::Kind) -> bool {
    let api_version = kind.api_version();
    let rest = name.strip_prefix(api_version.as_str());
    rest.is_some_and(|rest| rest.is_empty() || rest.strip_prefix('/') == Some(kind.kind))
}

fn unknown(name: &str, loc: Loc) -> Diagnostic {
    let message = format!("Kubernetes {} has no `{name}` that clients are made for", kinds::RELEASE);
    let same_kind: BTreeSet<String> = kinds::all()
        .iter()
        .filter(|kind| name.split(['/', '.']).any(|part| is_name_of(part, kind)))
        .map(full_name)
        .collect();
    let all: BTreeSet<String> =
        kinds::all().iter().flat_map(|kind| [kind.api_version(), full_name(kind)]).collect();
    let near = if same_kind.is_empty() { &all } else { &same_kind };
    let help = match closest(name, near.iter().map(String::as_str)).or(only(&same_kind)) {
        Some(near) => format!("did you mean `{near}`?"),
        None if !same_kind.is_empty() => {
            let names: Vec<String> = same_kind.iter().map(|name| format!("`{name}`")).collect();
            format!("write {}", names.join(" or "))
        }
        None => "write `apiVersion/Kind`, as in `apps/v1/Deployment` and `v1/Pod`, or the `apiVersion` alone for all kinds of it"
            .to_owned(),
    };
    Diagnostic::error(Code::UNKNOWN_BUILT_IN, loc, message).help(help)
}

/// Whether the text is the kind's name or plural, in any case.
fn is_name_of(part: &str, kind: &kinds::Kind) -> bool {
    part.eq_ignore_ascii_case(kind.kind) || part.eq_ignore_ascii_case(kind.plural)
}

fn only(names: &BTreeSet<String>) -> Option<&str> {
    names.first().filter(|_| names.len() == 1).map(String::as_str)
}

fn group(
    name: &str,
    kinds: &[(&kinds::Kind, Loc)],
    mut resource: impl FnMut(&kinds::Kind, Loc) -> Resource,
) -> Group {
    let code_name = match name {
        "" => "Core".to_owned(),
        name => names::Group::parse(name)
            .map_or_else(|_| names::upper_camel_case(name), |group| group.code_name()),
    };
    let mut versions: BTreeMap<&str, Vec<Resource>> = BTreeMap::new();
    for (kind, loc) in kinds {
        versions.entry(kind.version).or_default().push(resource(kind, *loc));
    }
    let mut versions: Vec<Version> = versions
        .into_iter()
        .map(|(name, resources)| Version {
            name: name.to_owned(),
            code_name: names::upper_camel_case(name),
            resources,
        })
        .collect();
    versions.sort_by(|a, b| names::compare_versions(&a.name, &b.name));
    Group {
        name: name.to_owned(),
        informer_code_name: code_name.clone(),
        module: names::module_name(&code_name),
        code_name,
        versions,
    }
}

fn resource(ir: &mut Ir, kind: &kinds::Kind, span: Span) -> Resource {
    let has_status = kind.verbs.contains(&Verb::UpdateStatus);
    let methods = kind.methods.iter().map(|it| method(it, &span)).collect();
    let (root, description) = root(ir, kind, span.clone());
    let plural = names::pluralize_type(kind.kind);
    // A name that is already plural stays unchanged: Endpoints.
    let plural = if plural.to_lowercase() == kind.plural { plural } else { kind.kind.to_owned() };
    Resource {
        kind: kind.kind.to_owned(),
        list_kind: if kind.is_listed() { format!("{}List", kind.kind) } else { String::new() },
        plural: kind.plural.to_owned(),
        singular: kind.kind.to_lowercase(),
        short_names: Vec::new(),
        categories: Vec::new(),
        scope: kind.scope,
        code: ResourceCode::new(kind.path.clone(), kind.kind, plural, docs::summary(&description)),
        crd: CrdVersion { served: true, status_subresource: has_status, ..CrdVersion::default() },
        client: Some(ClientTags { verbs: kind.verbs.clone(), methods, chosen: None }),
        root,
        has_status_field: has_status,
        span,
        places: Places::new(),
        policies: Vec::new(),
    }
}

fn method(method: &kinds::Method, span: &Span) -> Method {
    Method {
        name: names::method_name(method.name),
        verb: method.verb,
        subresource: Some(method.subresource.to_owned()),
        input: method.verb.sends_object().then(|| method.input.clone()),
        result: method.result.clone(),
        span: span.clone(),
    }
}

/// The kind's type in the arena, with its facts.
fn root(ir: &mut Ir, kind: &kinds::Kind, span: Span) -> (TypeId, String) {
    let definition = known::openapi_name(&kind.path).and_then(known::definition);
    let description = definition.and_then(|schema| schema.get("description")).and_then(|text| text.as_str());
    let description = description.unwrap_or_default().to_owned();
    let element = Element::new(TypeRef::Known(kind.path.clone()), RustType::Unknown, span.clone());
    let id = TypeId(clip(ir.types.len()));
    ir.types.push(TypeDef {
        path: kind.path.clone(),
        code_path: None,
        whole: true,
        non_exhaustive: false,
        span,
        description: Some(description.clone()),
        shape: Shape::Newtype(Box::new(element)),
        facts: Schema::default(),
        places: Places::new(),
    });
    (id, description)
}
