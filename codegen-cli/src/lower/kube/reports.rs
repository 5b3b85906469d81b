//! Diagnostics of what is not known before the program runs.

use kubesmith_core::diag::Code;

use super::types::Dialect;
use crate::diag::Diagnostic;
use crate::source::Loc;

/// The message for an expression whose value is not known.
const BEYOND: &str = "the value of this expression is not known";

impl Dialect<'_, '_> {
    /// The expression that keeps the value of another one from being known.
    fn beyond_of(&self, loc: Loc) -> Option<Loc> {
        self.beyond.filter(|beyond| *beyond != loc)
    }

    /// Reports a constant that is none.
    pub(super) fn unknown_value(&mut self, loc: Loc, what: &str) {
        let message = format!("{what} is not known before the program runs");
        self.error(
            Diagnostic::error(Code::SCHEMA_AT_RUN_TIME, loc, message)
                .secondary(self.beyond_of(loc), BEYOND)
                .note("the source is read, not run, so only what is written out is known")
                .help("write a literal, or a constant that is made of literals"),
        );
    }

    /// Reports what has no schema that could be read.
    pub(super) fn unreadable(&mut self, loc: impl Into<Option<Loc>>, message: &str) {
        self.error(
            Diagnostic::error(Code::SCHEMA_AT_RUN_TIME, loc, message)
                .note("the source is read, not run, so only what is written out is known")
                .help(
                    "say what the JSON is with `#[schemars(with = \"...\")]`, or with `schema_with` and a function whose body \
                     is `json_schema!({..})`",
                ),
        );
    }

    /// Reports a default that is not known.
    pub(super) fn unreadable_default(&mut self, loc: Loc, message: &str) {
        self.error(
            Diagnostic::error(Code::SCHEMA_AT_RUN_TIME, loc, message)
                .secondary(self.beyond_of(loc), BEYOND)
                .note("schemars writes the default into the schema; the source is read, not run")
                .help(
                    "say it with `#[schemars(extend(\"default\" = ...))]`, or leave it out of the schema with \
                     `#[schemars(!default)]`",
                ),
        );
    }
}
