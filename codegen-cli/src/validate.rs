//! Rules that span items, one function each. They read the intermediate representation and the schemas.

mod defaults;
mod names;
mod paths;
mod versions;

use kubesmith_core::diag::Code;

use crate::diag::Diagnostic;
use crate::emit::crd;
use crate::ir::{Ir, Span};
use crate::output::OutputTree;
use crate::schema::{Additional, Schema, Schemas};
use crate::source::{Loc, SourceMap};

/// The most bytes that `kubectl apply` can store of an object: the API server's limit for all annotations
/// (`TotalAnnotationSizeLimitB` in `k8s.io/apimachinery/pkg/api/validation`).
const APPLY_LIMIT: usize = 262_144;

/// What the rules read.
struct Input<'a> {
    ir: &'a Ir,
    schemas: &'a Schemas,
    sources: &'a SourceMap,
}

impl Input<'_> {
    fn loc(&self, span: &Span) -> Option<Loc> {
        self.sources.loc(span)
    }
}

/// Checks everything that must hold before anything is emitted.
pub fn validate(ir: &Ir, schemas: &Schemas, sources: &SourceMap) -> Vec<Diagnostic> {
    let input = Input { ir, schemas, sources };
    let definitions = crd::definitions(ir);
    let mut out = Vec::new();
    names::kinds_are_unique(&input, &mut out);
    names::resource_names_are_unique(&input, &mut out);
    names::code_names_are_unique(&input, &mut out);
    names::protected_groups_are_approved(&input, &mut out);
    for definition in &definitions {
        versions::agree(&input, definition, &mut out);
        versions::one_is_stored(&input, definition, &mut out);
        versions::one_is_served(&input, definition, &mut out);
    }
    paths::exist(&input, &mut out);
    list_map_keys_are_required(&input, &mut out);
    defaults::fit(&input, &mut out);
    out
}

/// Warns about CRDs that `kubectl apply` cannot store. `tree` is what was emitted.
pub fn sizes(ir: &Ir, schemas: &Schemas, tree: &OutputTree, sources: &SourceMap) -> Vec<Diagnostic> {
    // YAML is longer than the JSON that is stored, so that most files need no second look.
    if tree.iter().all(|(_, text)| text.len() <= APPLY_LIMIT) {
        return Vec::new();
    }
    let mut out = Vec::new();
    for definition in crd::definitions(ir) {
        let bytes = crd::json_size(&definition, schemas);
        if let Some((_, resource)) = definition.versions.first().filter(|_| bytes > APPLY_LIMIT) {
            out.push(
                Diagnostic::warning(
                    Code::CRD_TOO_LARGE,
                    sources.loc(&resource.span),
                    format!("the CRD of {} has {bytes} bytes, more than `kubectl apply` can store", resource.kind),
                )
                .help("apply it with `kubectl apply --server-side`, or shorten its descriptions with `max_desc_len`"),
            );
        }
    }
    out
}

/// A key of a list of type map is a scalar field of the item, required or with a default.
fn list_map_keys_are_required(input: &Input<'_>, out: &mut Vec<Diagnostic>) {
    for (id, definition) in input.ir.types.iter().enumerate() {
        let Some(schema) = input.schemas.of_type(id) else { continue };
        if !definition.facts.list_map_keys.is_empty() {
            keys_fit(input, schema, &definition.span, out);
        }
        for field in definition.shape.fields().filter(|field| !field.facts.list_map_keys.is_empty()) {
            if let Some(schema) = schema.properties.get(&field.name) {
                keys_fit(input, schema, &field.span, out);
            }
        }
    }
}

fn keys_fit(input: &Input<'_>, schema: &Schema, span: &Span, out: &mut Vec<Diagnostic>) {
    let loc = input.loc(span);
    let Some(items) = schema.items.as_deref().filter(|items| !items.properties.is_empty()) else {
        out.push(
            Diagnostic::error(Code::LIST_MAP_KEYS, loc, "a list of type map needs items with named fields")
                .help("use `list_type = \"set\"` for a list of scalars, or `list_type = \"atomic\"`"),
        );
        return;
    };
    for key in &schema.list_map_keys {
        let problem = match items.properties.get(key) {
            None => format!("the items have no field `{key}`"),
            Some(property) if matches!(property.type_.as_deref(), Some("object" | "array")) => {
                format!("the field `{key}` of the items is no scalar")
            }
            Some(property) if !items.required.contains(key) && property.default.is_none() => {
                format!("the field `{key}` of the items is neither required nor has a default")
            }
            Some(_) => continue,
        };
        let near = kubesmith_core::grammar::closest(key, items.properties.keys().map(String::as_str))
            .filter(|near| *near != key)
            .map(|near| format!("did you mean `{near}`?"));
        out.push(
            Diagnostic::error(Code::LIST_MAP_KEYS, loc, format!("list map key `{key}`: {problem}"))
                .note("keys are names in JSON, after serde's renaming")
                .help_opt(near),
        );
    }
}

/// Schema of the values of a map, if that is what it describes.
fn values(schema: &Schema) -> Option<&Schema> {
    match &schema.additional_properties {
        Some(Additional::Schema(values)) => Some(values),
        _ => None,
    }
}
