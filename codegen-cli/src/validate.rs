//! Rules that span items, one function each. They read the intermediate representation and the schemas.

mod names;
mod numbers;
pub(crate) mod paths;
mod server;
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
        let known = out.len();
        versions::agree(&input, definition, &mut out);
        versions::conversions_agree(&input, definition, &mut out);
        versions::one_is_stored(&input, definition, &mut out);
        versions::one_is_served(&input, definition, &mut out);
        // Versions that are not one kind have no CRD that a server could look at.
        if out.len() == known {
            server::refusals(&input, definition, &mut out);
        }
    }
    paths::exist(&input, &mut out);
    numbers::fit(&input, &mut out);
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

/// Schema of the values of a map, if that is what it describes.
fn values(schema: &Schema) -> Option<&Schema> {
    match &schema.additional_properties {
        Some(Additional::Schema(values)) => Some(values),
        _ => None,
    }
}
