//! Adds what the attributes of types, variants and fields share: title, description, examples and extensions (schemars'
//! `metadata.rs` and `attr/mod.rs`).

use kubesmith_core::book;
use kubesmith_core::diag::Code;
use serde_json::Value;

use super::pieces;
use super::types::{Dialect, Env};
use crate::diag::Diagnostic;
use crate::syntax::kube::{Common, Example};

impl Dialect<'_, '_> {
    /// Title, description, example.
    pub(super) fn common(&mut self, env: &Env, schema: &mut Value, common: &Common) -> Option<()> {
        self.check_common(common)?;
        let (title, description) =
            common.doc.as_deref().map(|text| self.documentation(text)).unwrap_or_default();
        let title = match &common.title {
            Some(expr) => self.text(env, expr)?,
            None => title,
        };
        let description = match &common.description {
            Some(expr) => self.text(env, expr)?,
            None => description,
        };
        for (key, text) in [("title", title), ("description", description)] {
            if !text.is_empty() {
                pieces::insert(schema, key, text);
            }
        }
        if !common.examples.is_empty() {
            // A string names a function in schemars 0.8 (`metadata.rs`), and is an expression since 1.0.0-alpha.16.
            let is_0_8 = self.locked.is_schemars_0_8();
            let expr = |example: &'_ Example| match &example.call {
                Some(call) if is_0_8 => call.clone(),
                _ => example.value.clone(),
            };
            let examples: Option<Vec<Value>> =
                common.examples.iter().map(|example| self.json(env, &expr(example))).collect();
            pieces::insert(schema, "examples", examples?);
        }
        Some(())
    }

    /// Reports what is not known or cannot be read.
    fn check_common(&mut self, common: &Common) -> Option<()> {
        if let Some(key) = common.unknown.first() {
            let message = format!("unknown key `{}` in #[schemars]", key.text);
            self.error(Diagnostic::error(Code::UNKNOWN_KEY, key.loc, message).help(concat!(
                "see the attributes of schemars' `JsonSchema`; ",
                book!("from-kube-rs/attributes.md"),
                " lists them"
            )));
            return None;
        }
        if let Some(loc) = common.unread_docs.first() {
            self.error(
                Diagnostic::error(Code::SCHEMA_AT_RUN_TIME, *loc, "this documentation is not written out")
                    .note("the text of another file is not read, though kube-rs makes it the description")
                    .help("write it as a doc comment, or as `#[schemars(description = \"...\")]`"),
            );
            return None;
        }
        Some(())
    }

    /// The title and description in a doc comment.
    pub(super) fn documentation(&self, text: &str) -> (String, String) {
        if self.locked.is_schemars_0_8() {
            let text = pieces::trimmed(text);
            let (title, description) = pieces::documentation(&text);
            return (title.to_string(), pieces::paragraphs(description));
        }
        let (title, description) = pieces::documentation(text);
        (title.to_string(), description.to_string())
    }

    /// `extend` and `transform`.
    pub(super) fn extend(&mut self, env: &Env, schema: &mut Value, common: &Common) -> Option<()> {
        for (key, value) in &common.extensions {
            let value = self.json(env, value)?;
            pieces::insert(schema, key, value);
        }
        common.transforms.iter().try_for_each(|transform| self.change(env, transform, schema))
    }
}
