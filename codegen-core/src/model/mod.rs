//! Models attributes and items, typed and with places: the local facts of one item.
//!
//! Everything here comes from one item alone, so that derive macros and the command can use it. Facts that
//! span items (whether a path exists in the schema, whether a plural is taken) are unknown here.

mod check;
mod conversion;
mod extra;
mod genclient;
mod item;
mod json_path;
mod method;
mod module;
mod notation;
mod one_of;
mod policy;
mod rbac;
mod resource;
mod root;
mod schema;
mod serde;
mod shape;
mod validation;
mod webhook;

pub use check::{check_constraints, check_default};
pub use conversion::Conversion;
pub use genclient::{GenclientAttrs, Verb};
pub use item::{Body, FieldModel, Presence, TypeModel, VariantModel};
pub use json_path::{ColumnPathError, check_column_path, check_simple_path};
pub use method::MethodAttrs;
pub use module::ModuleAttrs;
pub use policy::{PolicyAttrs, PolicyBinding};
pub use rbac::RbacAttrs;
pub use resource::{Deprecation, PrintColumn, ResourceAttrs, Scale, StringPair};
pub use root::{MissingFact, ResourceInput, check_root_derives, missing_facts};
pub use schema::SchemaAttrs;
pub use serde::{RenameRule, SerdeContainer, SerdeDefault, SerdeField, SerdeVariant};
pub use shape::{TypeShape, is_option};
pub use validation::{Constraints, OneOf, OneOfKind, Places, ValidationAttrs};
pub use webhook::{WebhookAttrs, WebhookConfigurationAttrs};

use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::grammar::{Entry, Json, Spanned, Value};

/// Takes values out of entries. A value of another shape counts as absent: the parser has reported it, or a
/// test finds that the table's row does not fit the model.
trait EntryValue {
    fn string(&self) -> Option<Spanned<String>>;
    fn strings(&self) -> Vec<Spanned<String>>;
    fn nested(&self) -> &[Entry];
}

impl EntryValue for Entry {
    fn string(&self) -> Option<Spanned<String>> {
        match &self.value {
            Value::String(text) => Some(text.clone()),
            _ => None,
        }
    }

    fn strings(&self) -> Vec<Spanned<String>> {
        match &self.value {
            Value::Strings(texts) => texts.clone(),
            _ => Vec::new(),
        }
    }

    fn nested(&self) -> &[Entry] {
        match &self.value {
            Value::Nested(entries) => entries,
            _ => &[],
        }
    }
}

/// Reports empty texts in a list whose key is `name`.
fn not_empty(name: &str, list: &[Spanned<String>], diagnostics: &mut Diagnostics) {
    for item in list.iter().filter(|item| item.value.is_empty()) {
        let diagnostic =
            Diagnostic::error(Code::EMPTY_STRING, item.span, format!("`{name}` has an empty value"));
        diagnostics.push(diagnostic.help("leave it out"));
    }
}

/// An object, or a text with one; other values are reported.
fn object(entry: &Entry, diagnostics: &mut Diagnostics) -> Option<Spanned<Json>> {
    let Value::Json(json) = &entry.value else { return None };
    let parsed = match &json.value {
        Json::String(text) => Json::parse(text),
        other => Some(other.clone()),
    };
    match parsed {
        Some(object @ (Json::Object(_) | Json::Empty)) => Some(Spanned::new(object, json.span)),
        _ => {
            let message = format!("`{}` is an object, or a text that holds one as JSON", entry.key.name);
            let diagnostic = Diagnostic::error(Code::WRONG_VALUE, json.span, message);
            diagnostics.push(diagnostic.help(format!("write {}", entry.key.example)));
            None
        }
    }
}
