//! Checks rules that span items, one function each, on the intermediate representation and the schemas.

mod clients;
mod constraints;
mod conventions;
mod names;
mod numbers;
mod paths;
mod policies;
mod server;
mod sizes;
mod versions;
mod webhooks;

use kubesmith_core::diag::Code;

use crate::definition::Definition;
use crate::diag::Diagnostic;
use crate::ir::{Ir, Resource, Span};
use crate::parallel;
use crate::schema::Schemas;
use crate::source::{Loc, SourceMap};

pub(crate) use clients::without_client;
pub use clients::without_verbs;
pub use conventions::conventions;
pub(crate) use numbers::bounds;
pub(crate) use server::{About, about, definition, field, words};
pub(crate) use sizes::sizes;

/// The input of the rules.
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

/// Checks all conditions for emitting.
pub(crate) fn validate(
    ir: &Ir,
    schemas: &Schemas,
    definitions: &[Definition<'_>],
    sources: &SourceMap,
) -> Vec<Diagnostic> {
    let input = Input { ir, schemas, sources };
    let mut out = Vec::new();
    constraints::fit(&input, &mut out);
    let refused: Vec<Diagnostic> = out.extract_if(.., |found| found.code == Code::INVALID_DEFAULT).collect();
    // A server would only repeat these errors.
    let fit = out.is_empty()
        && resources(ir).all(|resource| resource.crd.print_columns.iter().all(|c| c.type_.is_some()));
    let fit = fit && refused.is_empty();
    out.extend(refused.into_iter().map(|found| judged(ir, found)));
    names::kinds_are_unique(&input, &mut out);
    names::resource_names_are_unique(&input, &mut out);
    names::code_names_are_unique(&input, &mut out);
    let mut refused = Vec::new();
    names::protected_groups_are_approved(&input, &mut refused);
    out.extend(refused.into_iter().map(|found| judged(ir, found)));
    clients::kinds_are_applied(&input, &mut out);
    versions::one_is_the_hub(&input, &mut out);
    let found = parallel::map(definitions, |definition| {
        let mut out = Vec::new();
        versions::agree(&input, definition, &mut out);
        versions::conversions_agree(&input, definition, &mut out);
        versions::one_is_stored(&input, definition, &mut out);
        versions::one_is_served(&input, definition, &mut out);
        out.extend(policies::are_accepted(&input, definitions, definition));
        // Versions that disagree are no definition for a server to check.
        if !fit || !out.is_empty() {
            return out;
        }
        let refused = server::refusals(&input, definition);
        refused.into_iter().map(|found| judged(ir, found)).collect()
    });
    out.extend(found.into_iter().flatten());
    paths::exist(&input, &mut out);
    numbers::fit(&input, &mut out);
    webhooks::names_are_unique(&input, &mut out);
    webhooks::configurations_are_unique(&input, &mut out);
    webhooks::values_fit(&input, &mut out);
    policies::names_are_unique(&input, &mut out);
    out
}

/// Turns errors that only an API server would report into warnings for Go types.
fn judged(ir: &Ir, found: Diagnostic) -> Diagnostic {
    if ir.is_go() { found.of_a_server() } else { found }
}

fn resources(ir: &Ir) -> impl Iterator<Item = &Resource> {
    ir.groups.iter().flat_map(|group| &group.versions).flat_map(|version| &version.resources)
}
