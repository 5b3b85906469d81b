//! Makes another version of a kind: a copy of an existing one, and the conversions between them.

use std::fs;
use std::ops::Range;
use std::path::Path;

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Attribute, Item, ItemStruct, Meta, Visibility};

use super::ScaffoldError;
use super::change::Changes;
use super::conversion;
use super::generated::Generated;
use super::project::{Gvk, Project, ProjectResource};
use super::webhook;
use crate::load::Unsaved;

/// Keys of `#[resource]` that one version sets for all versions, or only for itself.
const NOT_COPIED: [&str; 7] = [
    "conversion",
    "deprecated",
    "deprecated_version",
    "hub",
    "metadata",
    "storage_version",
    "unserved_version",
];

/// The source of a new version.
pub(super) struct Start {
    /// The file.
    pub(super) text: String,
    /// Its public types, in order.
    pub(super) types: Vec<String>,
}

/// Copies the version `from`, or the version in the project; returns `None` for the first version of a kind,
/// and for one whose file also has other kinds.
///
/// # Errors
/// Returns an error if the project lacks the version `from` or has errors, or if the file cannot be read or
/// copied.
pub(super) fn start(
    root: &Path,
    project: &Project,
    gvk: &Gvk,
    from: Option<&str>,
) -> Result<Option<Start>, ScaffoldError> {
    if project.resource(gvk).is_some() {
        return Ok(None);
    }
    let is_wanted = |other: &&ProjectResource| from.is_none_or(|from| other.version == from);
    let Some(source) = project.siblings(gvk).find(is_wanted) else {
        return match from {
            Some(from) => {
                let known: Vec<&str> = project.siblings(gvk).map(|other| other.version.as_str()).collect();
                let known = if known.is_empty() { "no other version".to_owned() } else { known.join(", ") };
                Err(ScaffoldError::Usage(format!(
                    "--from {from}: {} has no version {from} in the project, which has {known}",
                    gvk.kind
                )))
            }
            None => Ok(None),
        };
    };
    let generated = Generated::read(root, &Unsaved::default(), project, source)?;
    let Some(path) = generated.file else { return Ok(None) };
    let text = fs::read_to_string(&path).map_err(|source| ScaffoldError::Io {
        action: "read",
        path: path.clone(),
        source,
    })?;
    let copied = copy(&text, &source.version, &gvk.version);
    match (copied, from) {
        (None, Some(from)) => Err(ScaffoldError::Usage(format!(
            "--from {from}: {} has other kinds besides {}: move each to a file of its own first",
            path.display(),
            gvk.kind
        ))),
        (copied, _) => Ok(copied),
    }
}

/// Adds the conversions between the versions of a kind to the project.
///
/// # Errors
/// Returns an error if a file lost its marker, or the changed project has errors.
pub(super) fn convert(
    root: &Path,
    changes: &mut Changes<'_>,
    project: &mut Project,
    new: &ProjectResource,
) -> Result<(), ScaffoldError> {
    let new = new.gvk();
    let converts =
        |known: &&ProjectResource| known.webhooks.as_ref().is_some_and(|webhooks| webhooks.conversion);
    let hub = project.siblings(&new).find(converts).map(ProjectResource::gvk);
    if let Some(hub) = hub {
        conversion::enter(project, &hub);
        return Ok(());
    }
    let Some(first) = project.siblings(&new).next().cloned() else { return Ok(()) };
    let generated = Generated::read(root, &changes.unsaved(), project, &first)?;
    let hub = generated.hub.or(generated.stored).unwrap_or_else(|| first.version.clone());
    let hub = Gvk { version: hub, ..new };
    let Some(entry) = project.resource(&hub).cloned() else { return Ok(()) };
    let generated = Generated::read(root, &changes.unsaved(), project, &entry)?;
    webhook::server(changes, &generated.values)?;
    conversion::add(changes, project, &hub, &generated)?;
    conversion::enter(project, &hub);
    Ok(())
}

/// The file of a version, changed to another version; `None` if it has no kind, or several.
fn copy(text: &str, from: &str, to: &str) -> Option<Start> {
    let file = syn::parse_file(text).ok()?;
    let is_resource = |attribute: &&Attribute| {
        attribute.path().segments.last().is_some_and(|segment| segment.ident == "resource")
    };
    let structs = file.items.iter().filter_map(|item| match item {
        Item::Struct(item) => Some(item),
        _ => None,
    });
    let roots: Vec<&ItemStruct> =
        structs.filter(|item| item.attrs.iter().any(|attribute| is_resource(&attribute))).collect();
    let [root] = roots[..] else { return None };
    let mut edits: Vec<(Range<usize>, String)> = Vec::new();
    for attribute in root.attrs.iter().filter(is_resource) {
        if let Meta::List(list) = &attribute.meta {
            resource_edits(text, list.tokens.clone(), to, &mut edits);
        }
    }
    let module = format!("super::super::{}", kubesmith_core::names::module_name(from));
    for item in file.items.iter().filter(|item| !matches!(item, Item::Mod(_))) {
        outer_paths(item.to_token_stream(), &module, &mut edits);
    }
    edits.sort_by_key(|(range, _)| range.start);
    let mut out = text.to_owned();
    for (range, new) in edits.into_iter().rev() {
        out.replace_range(range, &new);
    }
    Some(Start { text: out, types: file.items.iter().filter_map(public_type).collect() })
}

fn public_type(item: &Item) -> Option<String> {
    let (visibility, name) = match item {
        Item::Struct(item) => (&item.vis, &item.ident),
        Item::Enum(item) => (&item.vis, &item.ident),
        Item::Type(item) => (&item.vis, &item.ident),
        _ => return None,
    };
    matches!(visibility, Visibility::Public(_)).then(|| name.to_string())
}

/// Sets the version, and removes the keys that are not copied.
fn resource_edits(text: &str, tokens: TokenStream, to: &str, edits: &mut Vec<(Range<usize>, String)>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let is_comma = |token: &TokenTree| matches!(token, TokenTree::Punct(punct) if punct.as_char() == ',');
    for entry in tokens.split_inclusive(is_comma) {
        let (Some(TokenTree::Ident(key)), Some(last)) = (entry.first(), entry.last()) else { continue };
        let whole = key.span().byte_range().start..last.span().byte_range().end;
        if *key == "version"
            && let Some(TokenTree::Literal(literal)) = entry.get(2)
        {
            edits.push((literal.span().byte_range(), format!("{to:?}")));
        } else if NOT_COPIED.iter().any(|known| key == known) {
            edits.push((with_line(text, whole), String::new()));
        }
    }
}

/// The range, extended to whole lines if they have no other text.
fn with_line(text: &str, range: Range<usize>) -> Range<usize> {
    let start = text[..range.start].trim_end_matches([' ', '\t']).len();
    let rest = &text[range.end..];
    let blank = rest.len() - rest.trim_start_matches([' ', '\t']).len();
    let is_own_line = (start == 0 || text[..start].ends_with('\n')) && rest[blank..].starts_with('\n');
    if is_own_line { start..range.end + blank + 1 } else { range }
}

/// Redirects paths that begin with `super` to the module of the copied version.
fn outer_paths(tokens: TokenStream, module: &str, edits: &mut Vec<(Range<usize>, String)>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let is_super = |at: usize| matches!(tokens.get(at), Some(TokenTree::Ident(ident)) if ident == "super");
    let is_colon =
        |at: usize| matches!(tokens.get(at), Some(TokenTree::Punct(punct)) if punct.as_char() == ':');
    for (at, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Group(group) => outer_paths(group.stream(), module, edits),
            TokenTree::Ident(ident) if is_super(at) && is_colon(at + 1) => {
                // One colon precedes a type; two continue a path.
                let is_first = at < 2 || !(is_colon(at - 1) && is_colon(at - 2));
                if is_first && !is_super(at + 3) {
                    edits.push((ident.span().byte_range(), module.to_owned()));
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copied_version_drops_settings_of_the_original_version() {
        let text = r#"//! Pools.

use super::Backend;
use super::super::shared::Name;

/// A pool.
#[derive(Clone, Resource)]
#[resource(
    group = "a.b", version = "v1",
    short_name = "po",
    storage_version,
    // Kept.
    conversion(strategy = "Webhook", url = "https://a.b"),
    status
)]
pub struct Pool {
    pub spec: PoolSpec,
}

pub struct PoolSpec {
    #[validation(minimum = 1)]
    pub backend: super::Backend,
}

struct Private;

#[cfg(test)]
mod tests {
    use super::*;
}
"#;
        let copied = copy(text, "v1", "v2beta1").unwrap();
        assert_eq!(copied.types, ["Pool", "PoolSpec"]);
        let wanted = text
            .replace("\"v1\"", "\"v2beta1\"")
            .replace("    storage_version,\n", "")
            .replace("    conversion(strategy = \"Webhook\", url = \"https://a.b\"),\n", "")
            .replace("use super::Backend", "use super::super::v1::Backend")
            .replace("pub backend: super::Backend", "pub backend: super::super::v1::Backend");
        assert_eq!(copied.text, wanted);
    }

    #[test]
    fn version_is_not_copied_when_the_file_has_several_kinds() {
        let one = "#[resource(version = \"v1\")] struct A;\n";
        assert!(copy(one, "v1", "v2").is_some());
        assert!(copy(&one.repeat(2), "v1", "v2").is_none());
        assert!(copy("struct A;", "v1", "v2").is_none());
    }
}
