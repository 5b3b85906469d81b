//! Diagnostics with places in source files, in three renderings.
//!
//! Core's diagnostics carry spans of the parsing thread, so `parse` converts them at once.

use std::fmt::Write as _;
use std::io::{self, Write as _};

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};
use kubesmith_core::book;
use kubesmith_core::diag::{Code, Severity};
use serde_json::json;

use crate::source::{Loc, SourceMap};

/// The form in which diagnostics are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum MessageFormat {
    /// With an excerpt of the source, like rustc's.
    #[default]
    Human,
    /// One line each: `file:line:column: error[KS0001]: message`.
    Short,
    /// One JSON object per line.
    Json,
}

/// How diagnostics for humans look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    /// Text alone.
    #[default]
    Plain,
    /// With colours.
    Colors,
    /// With colours, and with links from codes to the book.
    Links,
}

/// An error or warning.
#[derive(Clone, Debug, PartialEq)]
pub struct Diagnostic {
    /// Stable code.
    pub code: Code,
    /// Error or warning.
    pub severity: Severity,
    /// One sentence without a full stop.
    pub message: String,
    /// The primary place; `None` for a diagnostic outside any source file.
    pub primary: Option<Loc>,
    /// The label at the place; may be empty.
    pub label: String,
    /// Further places.
    pub secondary: Vec<(Loc, String)>,
    /// Background.
    pub notes: Vec<String>,
    /// The replacement.
    pub help: Option<String>,
}

impl Diagnostic {
    /// Turns an error that only an API server would report into a warning for Go types, as in controller-gen.
    #[must_use]
    pub(crate) fn of_a_server(mut self) -> Self {
        self.severity = Severity::Warning;
        self.notes.push("controller-gen writes it, and an API server refuses it".to_string());
        self
    }

    /// Turns an error into a warning about output of controller-gen that an API server accepts.
    #[cfg(feature = "go")]
    pub(crate) fn of_controller_gen(mut self) -> Self {
        self.severity = Severity::Warning;
        self.notes.push("controller-gen writes it".to_string());
        self
    }

    /// An error.
    pub fn error(code: Code, primary: impl Into<Option<Loc>>, message: impl Into<String>) -> Self {
        Self {
            code,
            severity: Severity::Error,
            message: message.into(),
            primary: primary.into(),
            label: String::new(),
            secondary: Vec::new(),
            notes: Vec::new(),
            help: None,
        }
    }

    /// A warning.
    pub fn warning(code: Code, primary: impl Into<Option<Loc>>, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(code, primary, message) }
    }

    /// Adds the label at the primary place.
    #[must_use]
    pub fn label(mut self, text: impl Into<String>) -> Self {
        self.label = text.into();
        self
    }

    /// Adds a further place.
    #[must_use]
    pub fn secondary(mut self, loc: impl Into<Option<Loc>>, text: impl Into<String>) -> Self {
        if let Some(loc) = loc.into() {
            self.secondary.push((loc, text.into()));
        }
        self
    }

    /// Adds background.
    #[must_use]
    pub fn note(mut self, text: impl Into<String>) -> Self {
        self.notes.push(text.into());
        self
    }

    /// Adds advice.
    #[must_use]
    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.help = Some(text.into());
        self
    }

    /// Like [`Diagnostic::help`], for optional advice.
    #[must_use]
    pub fn help_opt(mut self, text: Option<String>) -> Self {
        self.help = text.or(self.help);
        self
    }
}

/// Whether any of them is an error.
pub fn has_errors(diagnostics: &[Diagnostic]) -> bool {
    diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error)
}

/// Moves places in expansions of macros to places on disk: of the call, and in the definition of the macro.
pub fn locate(diagnostics: &mut [Diagnostic], sources: &SourceMap) {
    for diagnostic in diagnostics {
        for (loc, _) in &mut diagnostic.secondary {
            *loc = sources.real(*loc).loc;
        }
        let Some(real) = diagnostic.primary.map(|loc| sources.real(loc)) else { continue };
        diagnostic.primary = Some(real.loc);
        if let (Some(name), Some(definition)) = (real.made_by, real.definition) {
            diagnostic.secondary.push((definition, format!("written by the macro `{name}!`")));
        }
    }
}

/// Sorts diagnostics by place and drops repetitions.
pub fn sort(diagnostics: &mut Vec<Diagnostic>, sources: &SourceMap) {
    let key = |d: &Diagnostic| {
        let place = d.primary.map(|loc| (sources.file(loc.file).name.clone(), loc.start, loc.end));
        (place, d.code, d.message.clone())
    };
    diagnostics.sort_by_cached_key(key);
    diagnostics.dedup();
}

/// Renders diagnostics; the text ends with a line break or is empty.
pub fn render(
    diagnostics: &[Diagnostic],
    sources: &SourceMap,
    format: MessageFormat,
    style: Style,
) -> String {
    let mut out = String::new();
    for diagnostic in diagnostics {
        match format {
            MessageFormat::Human => out.push_str(&human(diagnostic, sources, style)),
            MessageFormat::Short => out.push_str(&short(diagnostic, sources)),
            MessageFormat::Json => out.push_str(&json_line(diagnostic, sources)),
        }
        out.push('\n');
        if format == MessageFormat::Human {
            out.push('\n');
        }
    }
    out
}

/// Writes to standard error and ignores failures, as they cannot be reported.
pub fn print_to_stderr(text: &str) {
    let _ = io::stderr().write_all(text.as_bytes());
}

/// Escapes control characters in names from files, which must reach neither a terminal nor a log line.
pub(crate) fn printable(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() && c != '\n' && c != '\t' {
            let _ = write!(out, "{}", c.escape_default());
        } else {
            out.push(c);
        }
    }
    out
}

fn human(diagnostic: &Diagnostic, sources: &SourceMap, style: Style) -> String {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let (message, label, code) =
        (printable(&diagnostic.message), printable(&diagnostic.label), diagnostic.code.to_string());
    let mut title = level.primary_title(message).id(code);
    if style == Style::Links {
        title = title.id_url(page(diagnostic.code));
    }
    let mut group = match diagnostic.primary {
        None => Group::with_title(title),
        Some(loc) if places(diagnostic).any(|loc| has_long_line(loc, sources)) => {
            without_excerpt(title.element(origin(loc, sources)), diagnostic, sources, &label)
        }
        Some(_) => title.elements(snippets(diagnostic, sources, &label)),
    };
    for note in &diagnostic.notes {
        group = group.element(Level::NOTE.message(printable(note)));
    }
    if let Some(help) = &diagnostic.help {
        group = group.element(Level::HELP.message(printable(help)));
    }
    let renderer = if style == Style::Plain { Renderer::plain() } else { Renderer::styled() };
    renderer.render(&[group])
}

/// The address of a code's section in the book.
fn page(code: Code) -> String {
    let title = code.info().title.to_lowercase();
    let kept = title.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    let title: String = kept.map(|c| if c == ' ' { '-' } else { c }).collect();
    format!("{}#{}-{title}", book!("reference/diagnostics.md"), code.to_string().to_lowercase())
}

fn origin(loc: Loc, sources: &SourceMap) -> Origin<'_> {
    let at = sources.position(loc);
    Origin::path(&*sources.file(loc.file).name).line(at.line).char_column(at.column)
}

/// Adds notes in place of an excerpt.
fn without_excerpt<'a>(
    mut group: Group<'a>,
    diagnostic: &Diagnostic,
    sources: &SourceMap,
    label: &'a str,
) -> Group<'a> {
    if !label.is_empty() {
        group = group.element(Level::NOTE.message(label));
    }
    for (loc, text) in &diagnostic.secondary {
        let place = format!("{}:{}", sources.file(loc.file).name, sources.position(*loc));
        group = group.element(Level::NOTE.message(format!("{place}: {}", printable(text))));
    }
    group
}

fn places(diagnostic: &Diagnostic) -> impl Iterator<Item = Loc> {
    diagnostic.primary.into_iter().chain(diagnostic.secondary.iter().map(|(loc, _)| *loc))
}

/// Whether an excerpt would be too large: every diagnostic about a line shows all of it, and a generated line
/// with many diagnostics would take minutes.
fn has_long_line(loc: Loc, sources: &SourceMap) -> bool {
    const LONGEST: usize = 10_000;
    let text = &sources.file(loc.file).text;
    let range = within(loc, text);
    let before = text[..range.start].bytes().rev().take_while(|&b| b != b'\n').take(LONGEST + 1).count();
    let after = text[range.end..].bytes().take_while(|&b| b != b'\n').take(LONGEST + 1).count();
    // The first and the last line of the range in full, and all lines between.
    let mut inner = text[range].split('\n').map(str::len).peekable();
    let first = before + inner.next().unwrap_or(0) + if inner.peek().is_none() { after } else { 0 };
    first > LONGEST || inner.peek().is_some() && (after > LONGEST || inner.any(|length| length > LONGEST))
}

/// One excerpt per file, the primary one's first.
fn snippets<'a>(
    diagnostic: &'a Diagnostic,
    sources: &'a SourceMap,
    label: &'a str,
) -> Vec<Snippet<'a, annotate_snippets::Annotation<'a>>> {
    let Some(primary) = diagnostic.primary else { return Vec::new() };
    let mut files = vec![primary.file];
    for (loc, _) in &diagnostic.secondary {
        if !files.contains(&loc.file) {
            files.push(loc.file);
        }
    }
    let mut out = Vec::new();
    for id in files {
        let file = sources.file(id);
        // The renderer scans the whole text for each range.
        let ranges = places(diagnostic).filter(|loc| loc.file == id).map(|loc| within(loc, &file.text));
        let all = ranges.reduce(|a, b| a.start.min(b.start)..a.end.max(b.end)).unwrap_or_default();
        let (lines, number) = sources.lines_around(id, all);
        let span = |loc: Loc| {
            let range = within(loc, &file.text);
            range.start - lines.start..range.end - lines.start
        };
        let mut snippet =
            Snippet::source(&file.text[lines.clone()]).line_start(number).path(&*file.name).fold(true);
        if primary.file == id {
            let annotation = AnnotationKind::Primary.span(span(primary));
            snippet = snippet.annotation(if label.is_empty() { annotation } else { annotation.label(label) });
        }
        for (loc, text) in diagnostic.secondary.iter().filter(|(loc, _)| loc.file == id) {
            snippet = snippet.annotation(AnnotationKind::Context.span(span(*loc)).label(printable(text)));
        }
        out.push(snippet);
    }
    out
}

/// The range, cut to the text and to character boundaries.
fn within(loc: Loc, text: &str) -> std::ops::Range<usize> {
    let floor = |mut at: usize| {
        at = at.min(text.len());
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let start = floor(loc.start as usize);
    start..floor(loc.end as usize).max(start)
}

fn severity(diagnostic: &Diagnostic) -> &'static str {
    match diagnostic.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    }
}

fn short(diagnostic: &Diagnostic, sources: &SourceMap) -> String {
    let place = match diagnostic.primary {
        Some(loc) => format!("{}:{}: ", sources.file(loc.file).name, sources.position(loc)),
        None => String::new(),
    };
    let message = printable(&diagnostic.message).replace('\n', " ");
    format!("{place}{}[{}]: {message}", severity(diagnostic), diagnostic.code)
}

fn json_line(diagnostic: &Diagnostic, sources: &SourceMap) -> String {
    let place = |loc: Loc| {
        let (start, end) = (sources.position(loc), sources.position(Loc { start: loc.end, ..loc }));
        json!({
            "file": &*sources.file(loc.file).name,
            "line": start.line, "column": start.column, "end_line": end.line, "end_column": end.column,
            "byte_start": loc.start, "byte_end": loc.end,
        })
    };
    let secondary: Vec<_> = diagnostic
        .secondary
        .iter()
        .map(|(loc, text)| json!({ "span": place(*loc), "label": text }))
        .collect();
    json!({
        "code": diagnostic.code.to_string(),
        "severity": severity(diagnostic),
        "message": diagnostic.message,
        "span": diagnostic.primary.map(place),
        "label": diagnostic.label,
        "secondary": secondary,
        "notes": diagnostic.notes,
        "help": diagnostic.help,
    })
    .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::SourceFile;

    fn sample() -> (Diagnostic, SourceMap) {
        let mut sources = SourceMap::default();
        let text = "struct A {\n    nmae: String,\n}\n".to_string();
        let file = sources.add(SourceFile {
            path: "src/lib.rs".into(),
            name: "src/lib.rs".into(),
            text: text.into(),
        });
        let diagnostic =
            Diagnostic::error(Code::UNKNOWN_KEY, Loc { file, start: 15, end: 19 }, "no key \u{1b}[31mred")
                .label("here")
                .secondary(Loc { file, start: 7, end: 8 }, "in this struct")
                .note("a note")
                .help("write `name`");
        (diagnostic, sources)
    }

    #[test]
    fn human_format_shows_the_source() {
        let (diagnostic, sources) = sample();
        let text = render(&[diagnostic], &sources, MessageFormat::Human, Style::Plain);
        assert!(text.starts_with("error[KS0002]: no key \\u{1b}[31mred\n"), "{text}");
        for part in ["src/lib.rs:2:5", "^^^^ here", "in this struct", "note: a note", "help: write `name`"] {
            assert!(text.contains(part), "{part} in {text}");
        }
    }

    #[test]
    fn human_format_omits_long_source_lines() {
        for (source, shown) in [
            (format!("struct A {{\n{}here{}", " ".repeat(5000), " ".repeat(4996)), true),
            (format!("struct A {{\n{}here{}", " ".repeat(5000), " ".repeat(4997)), false),
            (format!("{}\n{}here\n{}", "x".repeat(11_000), " ".repeat(3), "y".repeat(11_000)), true),
            (format!("here\n{}", "x".repeat(11_000)), true),
        ] {
            let (mut diagnostic, _) = sample();
            let mut sources = SourceMap::default();
            let start = source.find("here").unwrap() as u32;
            let file =
                sources.add(SourceFile { path: "a".into(), name: "src/a.rs".into(), text: source.into() });
            diagnostic.primary = Some(Loc { file, start, end: start + 4 });
            diagnostic.secondary = vec![(Loc { file, start, end: start }, "beside".to_owned())];
            let text = render(&[diagnostic], &sources, MessageFormat::Human, Style::Plain);
            assert_eq!(text.contains('^'), shown, "{text}");
            assert!(text.contains("--> src/a.rs:") && text.contains("here"), "{text}");
            assert!(text.contains("beside"), "{text}");
            assert!(text.len() < 6000, "{text}");
        }
    }

    #[test]
    fn links_lead_to_the_section_of_a_code() {
        let (diagnostic, sources) = sample();
        let text = render(std::slice::from_ref(&diagnostic), &sources, MessageFormat::Human, Style::Colors);
        assert!(!text.contains("http"), "{text}");
        let text = render(&[diagnostic], &sources, MessageFormat::Human, Style::Links);
        assert!(text.contains(&format!("\u{1b}]8;;{}\u{1b}\\", page(Code::UNKNOWN_KEY))), "{text:?}");
        assert!(page(Code::BREAKS_COMMITTED).ends_with("#ks0603-change-that-breaks-what-is-committed"));
    }

    #[test]
    fn short_format_is_one_line() {
        let (diagnostic, sources) = sample();
        let text = render(&[diagnostic], &sources, MessageFormat::Short, Style::Plain);
        assert_eq!(text, "src/lib.rs:2:5: error[KS0002]: no key \\u{1b}[31mred\n");
    }

    #[test]
    fn json_format_is_one_object_per_line() {
        let (diagnostic, sources) = sample();
        let text = render(&[diagnostic.clone(), diagnostic], &sources, MessageFormat::Json, Style::Plain);
        assert_eq!(text.lines().count(), 2);
        let value: serde_json::Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
        assert_eq!(value["span"]["line"], 2);
        assert_eq!(value["secondary"][0]["label"], "in this struct");
    }
}
