//! Renders text for people: by definition, verdict and kind of change.

use std::fmt::Write as _;

use super::super::{CLASSES, Certainty, Change, ChangeCode, Class, Finding, Ratchets, Report};
use super::summary;
use crate::diag::printable;

pub(super) fn render(report: &Report) -> String {
    let mut out = String::new();
    let mut at = 0;
    while let Some(first) = report.findings.get(at) {
        let crd = &first.change.crd;
        let own: Vec<&Finding> =
            report.findings[at..].iter().take_while(|found| found.change.crd == *crd).collect();
        at += own.len();
        let _ = writeln!(out, "{}", printable(crd));
        for class in CLASSES {
            self::class(&mut out, class, &own, report.ratcheting);
        }
        out.push('\n');
    }
    let _ = writeln!(out, "{}", summary(report));
    out
}

fn class(out: &mut String, class: Class, own: &[&Finding], ratcheting: bool) {
    let of_class: Vec<&&Finding> = own.iter().filter(|found| found.class == class).collect();
    if of_class.is_empty() {
        return;
    }
    let _ = writeln!(out, "  {}", class.words());
    let mut codes: Vec<ChangeCode> = of_class.iter().map(|found| found.change.code).collect();
    codes.sort_unstable();
    codes.dedup();
    for code in codes {
        let of_code: Vec<_> = of_class.iter().filter(|found| found.change.code == code).collect();
        let rule = code.rule();
        let note = match rule.certainty {
            Certainty::Refused => " (an API server refuses the update)",
            Certainty::Unclear | Certainty::Certain => "",
        };
        let _ = writeln!(out, "    {code}: {}{note}", rule.title);
        for same in grouped(&of_code) {
            line(out, &same);
        }
        if !rule.help.is_empty() {
            let mut notes = of_code.iter().map(|found| tolerated(&found.change, ratcheting));
            let first = notes.next().unwrap_or_default();
            let note = if notes.all(|note| note == first) { first } else { "" };
            let _ = writeln!(out, "      why: {}{note}", rule.reason);
            let _ = writeln!(out, "      do:  {}", rule.help);
        }
    }
}

/// The suffix for servers that accept unchanged invalid values.
pub(super) fn tolerated(change: &Change, ratcheting: bool) -> &'static str {
    match change.ratchets {
        Ratchets::Alone if ratcheting => {
            "; since 1.33 an update that leaves the value as it is passes, so that only requests with such values fail"
        }
        Ratchets::WithAllAround if ratcheting => {
            "; since 1.33 an update that leaves all of the object or list around it as it is passes, others do not"
        }
        _ => "",
    }
}

/// Groups findings that are equal in several versions.
fn grouped<'f>(findings: &[&&&'f Finding]) -> Vec<Vec<&'f Finding>> {
    let mut out: Vec<Vec<&Finding>> = Vec::new();
    let mut at = std::collections::HashMap::new();
    for found in findings {
        let change = &found.change;
        let key = (&change.path, &change.message, change.certain, &found.allowed);
        let number = *at.entry(key).or_insert(out.len());
        match out.get_mut(number) {
            Some(same) => same.push(found),
            None => out.push(vec![found]),
        }
    }
    out
}

fn line(out: &mut String, same: &[&Finding]) {
    let Some(found) = same.first() else { return };
    let change = &found.change;
    let versions: Vec<&str> = same.iter().filter_map(|found| found.change.version.as_deref()).collect();
    let version = if versions.is_empty() { String::new() } else { format!("{} ", versions.join(", ")) };
    let place = found.place.as_ref().map_or_else(String::new, |(file, at)| format!("  ({file}:{})", at.line));
    let unclear = if found.class == Class::Compatible || change.certain { "" } else { " (unclear)" };
    let text = format!("{version}{}: {}{unclear}{place}", change.path, change.message).replace('\n', " ");
    let _ = writeln!(out, "      {}", printable(&text));
    if let Some(reason) = &found.allowed {
        let _ = writeln!(out, "        allowed: {}", printable(&reason.replace('\n', " ")));
    }
}
