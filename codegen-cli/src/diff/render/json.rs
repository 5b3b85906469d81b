//! Renders JSON for programs. Later versions only add members.

use serde_json::{Value, json};

use super::super::{Certainty, Finding, Report, Unread};
use super::{summary, text};
use crate::source::Position;

pub(super) fn render(report: &Report) -> String {
    let changes: Vec<Value> = report.findings.iter().map(|found| change(found, report.ratcheting)).collect();
    let unused: Vec<Value> =
        report.unused.iter().map(|(line, entry)| json!({"line": line, "entry": entry})).collect();
    let value = json!({
        "breaking": report.is_breaking(),
        "complete": report.unread.is_empty(),
        "ratcheting": report.ratcheting,
        "summary": summary(report),
        "changes": changes,
        "unusedAllowances": unused,
        "unread": report.unread.iter().map(self::unread).collect::<Vec<_>>(),
    });
    format!("{value:#}\n")
}

fn unread(found: &Unread) -> Value {
    json!({"message": found.message, "location": location(found.place.as_ref())})
}

fn location(place: Option<&(String, Position)>) -> Value {
    place.map_or(Value::Null, |(file, at)| json!({"file": file, "line": at.line, "column": at.column}))
}

fn change(found: &Finding, ratcheting: bool) -> Value {
    let change = &found.change;
    let rule = change.code.rule();
    json!({
        "crd": change.crd,
        "version": change.version,
        "path": change.path,
        "code": rule.name,
        "class": found.class.name(),
        "certain": change.certain,
        "refusedByServer": rule.certainty == Certainty::Refused,
        "message": change.message,
        "reason": format!("{}{}", rule.reason, text::tolerated(change, ratcheting)),
        "help": rule.help,
        "allowed": found.allowed,
        "location": location(found.place.as_ref()),
    })
}
