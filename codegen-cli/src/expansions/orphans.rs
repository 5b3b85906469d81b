//! Reports files that extend nothing, with the likely target.

use std::collections::BTreeMap;

use kubesmith_core::diag::Code;
use kubesmith_core::names::closest;

use super::is_taken_in;
use crate::diag::Diagnostic;
use crate::load::{EXPANSION, REGISTER_CUSTOM};
use crate::source::Loc;

/// The folders with extendable files, and the kind of these files.
const PARTS: [(&str, &str); 2] = [("clientset/typed", "client"), ("listers", "lister")];

/// The warning that no file includes it.
pub(super) fn diagnostic(
    name: &str,
    loc: Loc,
    points: &[String],
    generated: &BTreeMap<&str, &str>,
) -> Diagnostic {
    let message = "no generated file includes this one, so it is not compiled";
    let (note, help) = match name.strip_suffix(EXPANSION) {
        Some(stem) => (missing(stem, points), near(stem, points)),
        None => of_scheme(generated),
    };
    Diagnostic::warning(Code::ORPHANED_EXPANSION, loc, message).note(note).help(help)
}

/// The advice for a `register_custom.rs` outside the clientset's folder, or without a clientset.
fn of_scheme(generated: &BTreeMap<&str, &str>) -> (String, String) {
    match is_taken_in(REGISTER_CUSTOM, &[], generated) {
        true => (
            "the scheme is in the folder clientset, and includes the file beside it".to_owned(),
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

/// Describes the missing generated file.
fn missing(stem: &str, points: &[String]) -> String {
    let (folder, kind) = split(stem);
    let Some((part, what)) = PARTS.iter().find(|(part, _)| folder.starts_with(part)) else {
        return "clients, in clientset/typed, and listers, in listers, include the files beside them; nothing else does"
            .to_owned();
    };
    let below = folder.trim_start_matches(part);
    let other = PARTS.iter().find(|(other, _)| points.contains(&format!("{other}{below}/{kind}")));
    match other {
        Some((_, other)) => format!("this kind has a {other}, but no {what}"),
        None => {
            format!("{folder}.rs has no {what} of a kind `{kind}`: the kind is gone, or has another name")
        }
    }
}

/// The likely targets: the same kind in another version, a kind with a similar name, the other part of the
/// kind.
fn near(stem: &str, points: &[String]) -> String {
    let (folder, kind) = split(stem);
    let kinds: Vec<(&str, &str)> = points.iter().map(|point| split(point)).collect();
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
            format!("did you mean {folder}/{kind}{EXPANSION}? If it is no longer used, remove it")
        }
        (None, Some((folder, kind))) => {
            format!("call it after the file that it extends, as {folder}/{kind}{EXPANSION}, or remove it")
        }
        (None, None) => "remove it, or let a kind have a client or a lister".to_owned(),
    }
}
