//! Reports values that are known only at run time.

use kubesmith_core::diag::Code;

use super::types::{Dialect, Ty};
use crate::diag::Diagnostic;
use crate::lower::generics::DEPTH_LIMIT;
use crate::resolve::ItemId;
use crate::source::Loc;

/// The message for an expression of unknown value.
const BEYOND: &str = "the value of this expression is not known";

impl Dialect<'_, '_> {
    /// The inner expression that makes a value unknown.
    fn beyond_of(&self, loc: Loc) -> Option<Loc> {
        self.beyond.filter(|beyond| *beyond != loc)
    }

    /// Reports an expression that is not constant.
    pub(super) fn unknown_value(&mut self, loc: Loc, what: &str) {
        let message = format!("{what} is not known before the program runs");
        self.error(
            Diagnostic::error(Code::SCHEMA_AT_RUN_TIME, loc, message)
                .secondary(self.beyond_of(loc), BEYOND)
                .note("the generator reads the source and does not run it, so it only knows values that are written out")
                .help("write a literal, or a constant that is made of literals"),
        );
    }

    /// Reports a type without a schema.
    pub(super) fn report_missing_schema(&mut self, id: ItemId) {
        let name = self.item(id).name.clone();
        let message = format!("`{}` has no schema that can be read", name.text);
        self.error(
            Diagnostic::error(Code::SCHEMA_AT_RUN_TIME, name.loc, message)
                .note("the generator reads the source and does not run it, so it only knows a derived or written `JsonSchema`")
                .help(
                    "derive `schemars::JsonSchema` for the type, or say what the JSON is with `#[schemars(with = \"...\")]` on \
                     the field",
                ),
        );
    }

    /// Reports a schema that cannot be read.
    pub(super) fn unreadable(&mut self, loc: impl Into<Option<Loc>>, message: &str) {
        self.error(
            Diagnostic::error(Code::SCHEMA_AT_RUN_TIME, loc, message)
                .note("the generator reads the source and does not run it, so it only knows values that are written out")
                .help(
                    "say what the JSON is with `#[schemars(with = \"...\")]`, or with `schema_with` and a function whose body \
                     is `json_schema!({..})`",
                ),
        );
    }

    /// Reports an unsupported change of a schema.
    pub(super) fn beyond_function(&mut self, loc: Loc) {
        let written = if self.locked.is_schemars_0_8() {
            "`serde_json::from_value(json!({..})).unwrap()`"
        } else {
            "`json_schema!({..})`"
        };
        self.error(
            Diagnostic::error(
                Code::SCHEMA_AT_RUN_TIME,
                loc,
                "the value of this expression is not known before the program runs",
            )
            .note("functions of schemas are followed while they move JSON about; nothing is compiled")
            .help(format!(
                "return the schema written out, as {written}, or generate with `--evaluate`, which runs the program"
            )),
        );
    }

    /// Reports a type that contains itself.
    pub(super) fn report_cycle(&mut self, id: ItemId, ty: &Ty) {
        let found = self.cycle(id, ty);
        self.error(found);
    }

    /// The diagnostic for a type that contains itself.
    pub(super) fn cycle(&self, id: ItemId, ty: &Ty) -> Diagnostic {
        let name = self.item(id).name.clone();
        let message = if self.open.contains(ty) {
            format!("`{}` contains itself", name.text)
        } else if self.open.len() < DEPTH_LIMIT {
            format!("`{}` contains itself with new arguments each time", name.text)
        } else {
            format!("the schema of `{}` would be nested more than {DEPTH_LIMIT} levels deep", name.text)
        };
        Diagnostic::error(Code::RECURSIVE_TYPE, name.loc, message)
            .note("a structural schema is finite, so an API server refuses recursive ones")
            .help("say what one of the fields is with `#[schemars(schema_with = \"...\")]`")
    }

    /// Warns of a default that depends on the environment.
    pub(super) fn report_environment(&mut self, loc: Loc, field: &str) {
        let message = format!(
            "the default of `{field}` depends on a variable of the environment, which is taken as not set"
        );
        // schemars 0.8 cannot leave a default out.
        let help = if self.locked.is_schemars_0_8() {
            "name a function with a constant value in `#[schemars(default = \"...\")]`"
        } else {
            "leave the default out of the schema with `#[schemars(!default)]`, and set it where the object is read"
        };
        self.error(
            Diagnostic::warning(Code::SCHEMA_AT_RUN_TIME, loc, message)
                .note("a program that prints the definition finds it unset, unless it is run with it")
                .help(help),
        );
    }

    /// Reports an unknown default.
    pub(super) fn unreadable_default(&mut self, loc: Loc, message: &str) {
        let help = if self.locked.is_schemars_0_8() {
            "name a function in `#[schemars(default = \"...\")]` whose value is written out"
        } else {
            "say it with `#[schemars(extend(\"default\" = ...))]`, or leave it out of the schema with \
             `#[schemars(!default)]`"
        };
        self.error(
            Diagnostic::error(Code::SCHEMA_AT_RUN_TIME, loc, message)
                .secondary(self.beyond_of(loc), BEYOND)
                .note("schemars writes the default into the schema; the source is read, not run")
                .help(help),
        );
    }
}
