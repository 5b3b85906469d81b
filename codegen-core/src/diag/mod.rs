//! Diagnostics: errors and warnings about the user's input, with places and help.
//!
//! A diagnostic is built once, by the rule that finds the error, and rendered by the caller:
//! as `compile_error!` by the macros, as a source excerpt, a line or JSON by the command.

mod codes;

use proc_macro2::Span;

pub use codes::{CODES, Code, CodeInfo};

/// The severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Output is still written.
    Warning,
    /// Nothing is written.
    Error,
}

/// A further place that explains the primary one.
#[derive(Clone, Debug)]
pub struct Label {
    /// The place.
    pub span: Span,
    /// The label at this place.
    pub text: String,
}

/// An error or warning.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    /// Stable code; its long help is in [`CODES`].
    pub code: Code,
    /// Error or warning.
    pub severity: Severity,
    /// The error in one sentence, without a full stop.
    pub message: String,
    /// The primary place.
    pub span: Span,
    /// The label at the primary place; may be empty.
    pub label: String,
    /// Further places.
    pub secondary: Vec<Label>,
    /// Background: the rule and its source.
    pub notes: Vec<String>,
    /// Advice on the replacement.
    pub help: Option<String>,
}

impl Diagnostic {
    /// An error at `span`.
    pub fn error(code: Code, span: Span, message: impl Into<String>) -> Self {
        Self {
            code,
            severity: Severity::Error,
            message: message.into(),
            span,
            label: String::new(),
            secondary: Vec::new(),
            notes: Vec::new(),
            help: None,
        }
    }

    /// A warning at `span`.
    pub fn warning(code: Code, span: Span, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(code, span, message) }
    }

    /// Sets the label at the primary place.
    #[must_use]
    pub fn label(mut self, text: impl Into<String>) -> Self {
        self.label = text.into();
        self
    }

    /// Adds a further place.
    #[must_use]
    pub fn secondary(mut self, span: Span, text: impl Into<String>) -> Self {
        self.secondary.push(Label { span, text: text.into() });
        self
    }

    /// Adds background.
    #[must_use]
    pub fn note(mut self, text: impl Into<String>) -> Self {
        self.notes.push(text.into());
        self
    }

    /// Adds advice on the replacement.
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

    /// The text of the diagnostic without its places: code, message, notes and help.
    ///
    /// A `compile_error!` shows this text, since rustc adds the primary place itself.
    pub fn to_text(&self) -> String {
        let mut text = format!("{}: {}", self.code, self.message);
        for note in &self.notes {
            text.push_str("\n  note: ");
            text.push_str(note);
        }
        if let Some(help) = &self.help {
            text.push_str("\n  help: ");
            text.push_str(help);
        }
        text
    }
}

/// Collects diagnostics, so that a run reports every error.
///
/// Findings must be taken out with [`Diagnostics::into_vec`] or [`Diagnostics::take`]: dropping unread ones
/// is an error of the caller, which debug builds report.
#[derive(Debug, Default)]
#[must_use = "diagnostics that nobody reads are lost"]
pub struct Diagnostics {
    list: Vec<Diagnostic>,
}

impl Diagnostics {
    /// An empty accumulator.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a finding.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.list.push(diagnostic);
    }

    /// Adds the findings of another accumulator.
    pub fn append(&mut self, mut other: Self) {
        self.list.append(&mut other.list);
    }

    /// Whether there are no findings.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The number of findings.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there is an error.
    pub fn has_errors(&self) -> bool {
        self.list.iter().any(|d| d.severity == Severity::Error)
    }

    /// The findings so far, in order.
    pub fn iter(&self) -> impl Iterator<Item = &Diagnostic> {
        self.list.iter()
    }

    /// Takes the findings out and empties the accumulator.
    pub fn take(&mut self) -> Vec<Diagnostic> {
        std::mem::take(&mut self.list)
    }

    /// The findings, in order.
    pub fn into_vec(mut self) -> Vec<Diagnostic> {
        self.take()
    }
}

impl Drop for Diagnostics {
    fn drop(&mut self) {
        debug_assert!(
            self.list.is_empty() || std::thread::panicking(),
            "{} diagnostics were dropped unread, the first: {}",
            self.list.len(),
            self.list.first().map(Diagnostic::to_text).unwrap_or_default(),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_has_code_notes_and_help() {
        let d = Diagnostic::error(Code::UNKNOWN_KEY, Span::call_site(), "unknown key `grup` in #[resource]")
            .note("because")
            .help("did you mean `group`?");
        assert_eq!(
            d.to_text(),
            "KS0002: unknown key `grup` in #[resource]\n  note: because\n  help: did you mean `group`?"
        );
    }

    #[test]
    fn warning_does_not_count_as_an_error() {
        let mut all = Diagnostics::new();
        all.push(Diagnostic::warning(Code::UNKNOWN_KEY, Span::call_site(), "w"));
        assert!(!all.has_errors());
        all.push(Diagnostic::error(Code::UNKNOWN_KEY, Span::call_site(), "e"));
        assert!(all.has_errors());
        assert_eq!(all.into_vec().len(), 2);
    }

    #[test]
    #[should_panic(expected = "dropped unread")]
    #[cfg(debug_assertions)]
    fn dropping_unread_diagnostics_panics() {
        let mut all = Diagnostics::new();
        all.push(Diagnostic::error(Code::UNKNOWN_KEY, Span::call_site(), "lost"));
        drop(all);
    }
}
