//! Lists the remaining manual work: Go methods and their counterparts in Rust.

use std::fmt::Write as _;

use super::plan::{Plan, Planned, go_name};
use super::webhooks;
use crate::go::SurveyedMethod;

/// The file with the list.
pub(super) const FILE: &str = "IMPORT.md";

/// Methods of controller-runtime's interfaces and their counterparts.
const TRAITS: &[(&[&str], &str)] = &[
    (&["Default"], "`kubesmith_runtime::webhook::Defaulter`"),
    (&["ValidateCreate", "ValidateUpdate", "ValidateDelete"], "`kubesmith_runtime::webhook::Validator`"),
    (&["Handle"], "`kubesmith_runtime::webhook::AdmissionHandler`"),
    (&["InjectDecoder"], "nothing: handlers get decoded objects"),
    (&["Hub"], "`kubesmith_runtime::webhook::Hub`"),
    (&["ConvertTo", "ConvertFrom"], "`kubesmith_runtime::webhook::Convertible`"),
    (&["Reconcile"], "`kubesmith_runtime::controller::Reconciler`"),
    (&["SetupWithManager"], "`kubesmith_runtime::controller::ControllerBuilder`"),
    (&["SetupWebhookWithManager"], "`kubesmith_runtime::manager::Manager::add_webhooks`"),
    (&["MarshalJSON", "MarshalText"], "`serde::Serialize`, written by hand"),
    (&["UnmarshalJSON", "UnmarshalText"], "`serde::Deserialize`, written by hand"),
    (&["String"], "`std::fmt::Display`"),
    (&["Error"], "`std::error::Error`"),
];

/// Returns the counterpart of a method; `None`: a method of the Rust type.
fn counterpart(method: &SurveyedMethod) -> Option<&'static str> {
    let found = TRAITS.iter().find(|(names, _)| names.contains(&method.name.as_str()));
    found.map(|(_, counterpart)| *counterpart)
}

/// The list, unless it is empty.
pub(super) fn text(plan: &Plan<'_>) -> Option<String> {
    let mut out = String::new();
    renamed(plan, &mut out);
    let mut rows = String::new();
    for survey in plan.surveys.iter().filter(|survey| survey.is_input) {
        let types = plan.modules.iter().filter(|module| module.survey.module == survey.module);
        let types: Vec<&str> =
            types.flat_map(|module| &module.types).map(|at| go_name(&plan.ir.types[*at])).collect();
        for method in &survey.methods {
            let is_of_type = types.contains(&method.receiver.as_str());
            let counterpart = counterpart(method);
            if method.name.starts_with("DeepCopy") || counterpart.is_none() && !is_of_type {
                continue;
            }
            let counterpart = counterpart.unwrap_or("a method of the type");
            let _ = writeln!(
                rows,
                "| `{}.{}` | {} | {counterpart} |",
                method.receiver, method.name, method.place
            );
        }
    }
    if !rows.is_empty() {
        out.push_str("\n## Methods\n\nThese methods were written by hand, and are not imported.");
        if webhooks::text(plan).is_some() {
            out.push_str(" `src/webhooks.rs`, with the feature `webhooks`, has stubs for those of webhooks.");
        }
        out.push_str("\n\n");
        out.push_str("| in Go | where | in Rust |\n|---|---|---|\n");
        out.push_str(&rows);
    }
    let kinds = plan.resources.len();
    let title = format!(
        "# Imported from Go\n\n`kubesmith import --go` wrote these types. Versions of kinds: {kinds}.\n"
    );
    (!out.is_empty()).then(|| title + &out)
}

fn renamed(plan: &Plan<'_>, out: &mut String) {
    let mut rows = String::new();
    for (at, planned) in plan.types.iter().enumerate() {
        let Some(Planned::Own { module, name, .. }) = planned else { continue };
        let own = go_name(&plan.ir.types[at]);
        if own != name {
            let path = plan.modules[*module].path.join("::");
            let _ = writeln!(rows, "| `{own}` | `{path}::{name}` |");
        }
    }
    if !rows.is_empty() {
        out.push_str("\n## Other names\n\n| in Go | in Rust |\n|---|---|\n");
        out.push_str(&rows);
    }
}
