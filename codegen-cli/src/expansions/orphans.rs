//! Files that extend nothing, and where they may have been meant to be.

use std::collections::BTreeMap;

use kubesmith_core::diag::Code;
use kubesmith_core::grammar::closest;

use super::is_taken_in;
use crate::diag::Diagnostic;
use crate::load::{EXPANSION, REGISTER_CUSTOM};
use crate::source::Loc;

/// The folders whose files take something in, and what these files are.
const PARTS: [(&str, &str); 2] = [("clientset/typed", "client"), ("listers", "lister")];

/// Says that nothing takes the file in.
pub(super) fn diagnostic(name: &str, loc: Loc, generated: &BTreeMap<&str, &str>) -> Diagnostic {
    let message = "no generated file takes this one in, so that it is not compiled";
    let (note, help) = match name.strip_suffix(EXPANSION) {
        Some(stem) => (missing(stem, generated), near(stem, generated)),
        None => of_scheme(generated),
    };
    Diagnostic::warning(Code::ORPHANED_EXPANSION, loc, message).note(note).help(help)
}

/// A `register_custom.rs` in another folder than the clientset's, or without one.
fn of_scheme(generated: &BTreeMap<&str, &str>) -> (String, String) {
    match is_taken_in(REGISTER_CUSTOM, generated) {
        true => (
            "the scheme lies in the folder clientset, and takes in the file beside it".to_owned(),
            format!("move it to {REGISTER_CUSTOM}, or remove it"),
        ),
        false => (
            "no clientset is generated, so that there is no scheme".to_owned(),
            "let the generators be `client` as well, or remove the file".to_owned(),
        ),
    }
}

fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

/// What is missing beside the file.
fn missing(stem: &str, generated: &BTreeMap<&str, &str>) -> String {
    let (folder, kind) = split(stem);
    let Some((part, what)) = PARTS.iter().find(|(part, _)| folder.starts_with(part)) else {
        return "clients, in clientset/typed, and listers, in listers, take in the files beside them; nothing else does"
            .to_owned();
    };
    let below = folder.trim_start_matches(part);
    let other =
        PARTS.iter().find(|(other, _)| generated.contains_key(format!("{other}{below}/{kind}.rs").as_str()));
    match other {
        Some((_, other)) => format!("this kind has a {other}, but no {what}: {stem}.rs is not generated"),
        None => format!("there is no {what} {stem}.rs beside it: its kind is gone, or called otherwise"),
    }
}

/// What may have been meant: the kind of that name in another version, one of a similar name, the other part of the kind.
fn near(stem: &str, generated: &BTreeMap<&str, &str>) -> String {
    let (folder, kind) = split(stem);
    let kinds = extensible(generated);
    let part = PARTS.iter().map(|(part, _)| *part).find(|part| folder.starts_with(part));
    let of_part = |folder: &str| part.is_some_and(|part| folder.starts_with(part));
    let similar = |is_place: &dyn Fn(&str) -> bool| {
        let places = || kinds.iter().copied().filter(|(folder, _)| is_place(folder));
        let name = closest(kind, places().map(|(_, kind)| kind))?;
        places().find(|(_, kind)| *kind == name)
    };
    let same = |is_place: &dyn Fn(&str) -> bool| {
        kinds.iter().copied().find(|(folder, other)| *other == kind && is_place(folder))
    };
    let meant = same(&of_part)
        .or_else(|| similar(&|other| other == folder))
        .or_else(|| similar(&of_part))
        .or_else(|| same(&|_| true));
    match (meant, kinds.first()) {
        (Some((folder, kind)), _) => {
            format!("did you mean {folder}/{kind}{EXPANSION}? If it is of no use any more, remove it")
        }
        (None, Some((folder, kind))) => {
            format!("call it after the file that it extends, as {folder}/{kind}{EXPANSION}, or remove it")
        }
        (None, None) => "remove it, or let a kind have a client or a lister".to_owned(),
    }
}

/// Folder and name of every file that one can be added to.
fn extensible<'g>(generated: &BTreeMap<&'g str, &'g str>) -> Vec<(&'g str, &'g str)> {
    let kind = |path: &&'g str| {
        let part = PARTS.iter().map(|(part, _)| *part).find(|part| path.starts_with(part))?;
        // Below a part lie a group, a version and the kind.
        let is_kind = path[part.len()..].matches('/').count() == 3 && !path.ends_with("/mod.rs");
        path.strip_suffix(".rs").filter(|_| is_kind).map(split)
    };
    generated.keys().filter_map(kind).collect()
}
