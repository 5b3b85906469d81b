//! Rules that span items, one function each. They read the intermediate representation and the schemas.

mod clients;
mod constraints;
mod conventions;
mod names;
mod numbers;
pub(crate) mod paths;
mod server;
mod sizes;
mod versions;
mod webhooks;

use serde_json::Value;

use crate::diag::Diagnostic;
use crate::emit::crd;
use crate::ir::{Ir, Resource, Span};
use crate::parallel;
use crate::schema::{Additional, Schema, Schemas};
use crate::source::{Loc, SourceMap};

pub use clients::without_verbs;
pub use conventions::conventions;
pub(crate) use server::{About, about, definition, field, words};
pub use sizes::sizes;

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

/// Checks everything that must hold before anything is emitted. Returns the CRDs as well, in the order of
/// [`crd::definitions`]: those that were made to be checked.
pub fn validate(ir: &Ir, schemas: &Schemas, sources: &SourceMap) -> (Vec<Option<Value>>, Vec<Diagnostic>) {
    let input = Input { ir, schemas, sources };
    let definitions = crd::definitions(ir);
    let mut out = Vec::new();
    constraints::fit(&input, &mut out);
    // What does not fit is not looked at a second time, through a server's eyes.
    let fit = out.is_empty()
        && resources(ir).all(|resource| resource.crd.print_columns.iter().all(|c| c.type_.is_some()));
    names::kinds_are_unique(&input, &mut out);
    names::resource_names_are_unique(&input, &mut out);
    names::code_names_are_unique(&input, &mut out);
    names::protected_groups_are_approved(&input, &mut out);
    clients::kinds_are_applied(&input, &mut out);
    versions::one_is_the_hub(&input, &mut out);
    let checked = parallel::map(&definitions, |definition| {
        let mut out = Vec::new();
        versions::agree(&input, definition, &mut out);
        versions::conversions_agree(&input, definition, &mut out);
        versions::one_is_stored(&input, definition, &mut out);
        versions::one_is_served(&input, definition, &mut out);
        // Versions that are not one kind have no CRD that a server could look at.
        if fit && out.is_empty() { server::checked(&input, definition) } else { (None, out) }
    });
    let mut crds = Vec::new();
    for (crd, mut found) in checked {
        crds.push(crd);
        out.append(&mut found);
    }
    paths::exist(&input, &mut out);
    numbers::fit(&input, &mut out);
    webhooks::names_are_unique(&input, &mut out);
    webhooks::configurations_are_unique(&input, &mut out);
    webhooks::values_fit(&input, &mut out);
    (crds, out)
}

fn resources(ir: &Ir) -> impl Iterator<Item = &Resource> {
    ir.groups.iter().flat_map(|group| &group.versions).flat_map(|version| &version.resources)
}

/// Schema of the values of a map, if that is what it describes.
fn values(schema: &Schema) -> Option<&Schema> {
    match &schema.additional_properties {
        Some(Additional::Schema(values)) => Some(values),
        _ => None,
    }
}
