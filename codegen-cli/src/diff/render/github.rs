//! Renders workflow commands: an annotation for each change that is not compatible.

use std::fmt::Write as _;

use super::super::{Class, Finding, Report};
use super::{summary, text};
use crate::source::Position;

pub(super) fn render(report: &Report) -> String {
    let mut out = String::new();
    for found in report.findings.iter().filter(|found| found.class != Class::Compatible) {
        annotation(&mut out, found, report.ratcheting);
    }
    for (line, entry) in &report.unused {
        let message = format!("line {line} of the allowed changes allows nothing: {entry}");
        let _ = writeln!(out, "::warning title=kubesmith diff: unused::{}", data(&message));
    }
    for found in &report.unread {
        let place = place(found.place.as_ref());
        let _ = writeln!(out, "::error {place}title=kubesmith diff: not compared::{}", data(&found.message));
    }
    let level = if report.is_breaking() || !report.unread.is_empty() { "error" } else { "notice" };
    let _ = writeln!(out, "::{level} title=kubesmith diff::{}", data(&summary(report)));
    out
}

fn annotation(out: &mut String, found: &Finding, ratcheting: bool) {
    let change = &found.change;
    let rule = change.code.rule();
    let level = match found.allowed {
        Some(_) => "notice",
        None => "error",
    };
    let place = place(found.place.as_ref());
    let version = change.version.as_deref().map_or_else(String::new, |version| format!("{version} "));
    let verdict = match &found.allowed {
        Some(reason) => format!("allowed: {reason}"),
        None => format!(
            "This {}: {}{}. What to do: {}",
            found.class.words(),
            rule.reason,
            text::tolerated(change, ratcheting),
            rule.help
        ),
    };
    let message = format!("{} {version}{}: {}\n{verdict}", change.crd, change.path, change.message);
    let _ = writeln!(out, "::{level} {place}title=kubesmith diff: {}::{}", rule.name, data(&message));
}

/// The properties of a command for a place.
fn place(place: Option<&(String, Position)>) -> String {
    place.map_or_else(String::new, |(file, at)| {
        format!("file={},line={},col={},", property(file), at.line, at.column)
    })
}

/// The text of a command, on one line.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// A property of a command.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
