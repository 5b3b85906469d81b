//! Renders the report as text, JSON, and annotations of GitHub's workflows.

mod github;
mod json;
mod text;

use super::{CLASSES, Class, Report};

/// The form in which a report is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// For people.
    #[default]
    Text,
    /// One JSON object.
    Json,
    /// Annotations of a GitHub workflow.
    Github,
}

/// Renders a report; the text ends with a line break.
pub fn render(report: &Report, format: Format) -> String {
    match format {
        Format::Text => text::render(report),
        Format::Json => json::render(report),
        Format::Github => github::render(report),
    }
}

/// "2 changes break stored objects, 1 breaks clients", after a note on unreadable parts.
fn summary(report: &Report) -> String {
    let changes = changes(report);
    let incomplete = match report.unread.len() {
        0 => return changes.unwrap_or_else(|| "no changes".to_owned()),
        1 => "incomplete (1 error)".to_owned(),
        count => format!("incomplete ({count} errors)"),
    };
    format!("{incomplete}: {}", changes.unwrap_or_else(|| "no changes in what could be read".to_owned()))
}

/// "2 changes break stored objects, 1 breaks clients, 3 are compatible, 1 is allowed"; `None` without changes.
fn changes(report: &Report) -> Option<String> {
    let count = |class: Class| {
        report.findings.iter().filter(|found| found.class == class && found.allowed.is_none()).count()
    };
    let one_or =
        |count: usize, one: &str, many: &str| if count == 1 { one.to_owned() } else { many.to_owned() };
    let mut parts = Vec::new();
    for class in CLASSES {
        let number = count(class);
        let verb = match class {
            Class::Stored => one_or(number, "breaks stored objects", "break stored objects"),
            Class::Clients => one_or(number, "breaks clients", "break clients"),
            Class::Conversion => one_or(number, "needs conversion", "need conversion"),
            Class::Compatible => one_or(number, "is compatible", "are compatible"),
        };
        if number > 0 {
            parts.push((number, verb));
        }
    }
    let allowed = report.findings.iter().filter(|found| found.allowed.is_some()).count();
    if allowed > 0 {
        parts.push((allowed, one_or(allowed, "is allowed", "are allowed")));
    }
    let (first, rest) = parts.split_first()?;
    let noun = one_or(first.0, "change", "changes");
    let rest: String = rest.iter().map(|(number, verb)| format!(", {number} {verb}")).collect();
    Some(format!("{} {noun} {}{rest}", first.0, first.1))
}
