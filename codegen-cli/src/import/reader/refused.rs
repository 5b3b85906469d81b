//! Reports the causes for which an API server would refuse a definition, by the rules of `generate` and the
//! embedded server.

use kubesmith_apiextensions::structural::{Schema, Step, locate, validate_crd};
use kubesmith_core::diag::Code;
use serde_json::{Value, json};

use super::Reader;
use crate::validate::{About, about, field, words};

impl Reader<'_, '_> {
    /// Reports every cause. `order` maps the versions of the canonical definition to those of the `written`
    /// one.
    pub(super) fn refusals(&mut self, object: &Value, written: &Value, order: &[usize]) {
        let mut crd = object.clone();
        if crd.pointer("/spec/conversion").is_none() {
            crd["spec"]["conversion"] = json!({"strategy": "None"});
        }
        // Names that default from the kind are reported at the kind.
        let is_filled_in = |field: &str| match field {
            "spec.names.listKind" => written["spec"]["names"].get("listKind").is_none(),
            "spec.names.singular" => written["spec"]["names"].get("singular").is_none(),
            // Creating a definition resets its status.
            field => field.starts_with("status."),
        };
        for cause in validate_crd(&crd, None).into_iter().filter(|cause| !is_filled_in(&cause.field)) {
            let (path, place) = path(&crd, field(&cause), order);
            let message = format!("an API server refuses {place}: {}", words(&cause));
            self.fail(&path, Code::REFUSED_DEFINITION, message, "correct the definition");
        }
    }
}

/// The path of a cause in the text, and its name in messages.
fn path(crd: &Value, field: &str, order: &[usize]) -> (Vec<String>, String) {
    let version = |at: usize, below: &str| {
        let written = order.get(at).copied().unwrap_or(at).to_string();
        let mut path = vec!["spec".to_string(), "versions".to_string(), written];
        path.extend(words_of(below));
        path
    };
    match about(field) {
        About::Schema(at, text) => {
            let schema = crd.pointer(&format!("/spec/versions/{at}/schema/openAPIV3Schema"));
            let root = schema.and_then(|schema| Schema::enforced(schema).ok());
            let (steps, rest) = root.as_ref().map_or((Vec::new(), text), |root| locate(root, text));
            let mut path = version(at, "schema.openAPIV3Schema");
            for step in steps {
                match step {
                    Step::Property(name) => path.extend(["properties".to_string(), name]),
                    Step::Items => path.push("items".to_string()),
                    Step::Values => path.push("additionalProperties".to_string()),
                }
            }
            path.extend(words_of(rest));
            let place = path[5..].join(".");
            let place = if place.is_empty() { "the schema".to_string() } else { format!("`{place}`") };
            (path, place)
        }
        About::Version(at, text) if field.starts_with("spec.versions[") => {
            (version(at, text), format!("`{field}`"))
        }
        _ => (words_of(field), format!("`{field}`")),
    }
}

/// `versions[0].name` as words.
fn words_of(field: &str) -> Vec<String> {
    field.split(['.', '[', ']']).filter(|word| !word.is_empty()).map(str::to_string).collect()
}
