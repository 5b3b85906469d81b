//! Writes stubs for the webhooks of Go types: an `impl` of our trait for controller-runtime's methods. The
//! stubs refuse every object until somebody implements them.

use std::collections::{BTreeMap, BTreeSet};

use super::super::naming;
use super::plan::{Plan, Planned, go_name};
use crate::format;
use crate::go::{Survey, SurveyedMethod};

/// The name of the module, and of the crate's feature that it needs.
pub(super) const MODULE: &str = "webhooks";

/// The suffixes after a kind's name in the names of types with its methods.
const HELPERS: [&str; 6] = ["", "CustomDefaulter", "CustomValidator", "Defaulter", "Validator", "Webhook"];

/// The traits and the types in their signatures.
const USES: [&str; 8] = [
    "AdmissionContext",
    "AdmissionError",
    "ConversionError",
    "Convertible",
    "Defaulter",
    "Hub",
    "Validator",
    "Warnings",
];

/// A version of a kind.
struct Kind<'a> {
    /// The name in Go.
    own: &'a str,
    /// The path in the crate.
    path: String,
    version: &'a str,
    /// Its methods and those of its helpers, by their names.
    methods: BTreeMap<&'a str, &'a SurveyedMethod>,
    /// Its group and version, which tell it from other kinds.
    group: &'a str,
}

/// The text of the module, if a kind has such methods.
pub(super) fn text(plan: &Plan<'_>) -> Option<String> {
    let kinds = kinds(plan);
    let mut names = BTreeSet::new();
    let stubs: Vec<String> = kinds.iter().filter_map(|kind| stubs(kind, &kinds, &mut names)).collect();
    if stubs.is_empty() {
        return None;
    }
    let body = stubs.concat();
    let words: BTreeSet<&str> = body.split(|c: char| !c.is_alphanumeric()).collect();
    let uses = used(USES.into_iter().filter(|name| words.contains(name)));
    let file = syn::parse_file(&body).ok()?;
    Some(format!(
        "//! Stubs for the webhooks of the Go types. They refuse every object: write them, and add them to the manager's webhooks.\n\n\
         {uses}\n/// The answer of the stubs.\nconst UNWRITTEN: &str = \"this webhook is not written yet\";\n\n{}",
        format::items(&file)
    ))
}

/// The `use` line of these names, laid out as rustfmt does.
fn used<'n>(names: impl Iterator<Item = &'n str>) -> String {
    let names: Vec<&str> = names.collect();
    let line = format!("use kubesmith_runtime::webhook::{{{}}};\n", names.join(", "));
    if line.len() < WIDTH {
        return line;
    }
    let mut out = String::from("use kubesmith_runtime::webhook::{\n");
    let mut row = String::from("   ");
    for name in names {
        if row.len() + name.len() + 2 > WIDTH {
            out.push_str(&row);
            out.push('\n');
            row = String::from("   ");
        }
        row.push_str(&format!(" {name},"));
    }
    out + &row + "\n};\n"
}

/// The longest line of rustfmt.
const WIDTH: usize = 100;

impl Kind<'_> {
    /// Returns a free name for its struct, with the version or group if it is needed.
    fn stub(&self, names: &mut BTreeSet<String>) -> String {
        let version = naming::pascal(self.version);
        let own = format!("{}{}{version}", naming::pascal(self.group), self.own);
        let numbered = (2..).map(|number| format!("{own}{number}"));
        let mut all = [self.own.to_string(), format!("{}{version}", self.own), own.clone()]
            .into_iter()
            .chain(numbered)
            .map(|name| format!("{name}Webhook"));
        all.find(|name| names.insert(name.clone())).unwrap_or_default()
    }
}

fn kinds<'a>(plan: &'a Plan<'a>) -> Vec<Kind<'a>> {
    let mut out = Vec::new();
    for (root, (group, version, resource)) in &plan.resources {
        let Some(Planned::Own { module, name, .. }) = &plan.types[*root] else { continue };
        let own = go_name(&plan.ir.types[*root]);
        let here = plan.modules[*module].survey;
        // Packages without the kind have helpers for the stored version.
        let has_kind = |survey: &Survey| survey.markers.contains_key(own);
        let is_single =
            group.versions.iter().flat_map(|it| &it.resources).filter(|it| it.kind == own).count() == 1;
        let is_stored = resource.crd.storage || is_single;
        let is_meant = |survey: &&Survey| {
            survey.module == here.module || survey.is_input && is_stored && !has_kind(survey)
        };
        let methods = plan.surveys.iter().filter(is_meant).flat_map(|survey| &survey.methods);
        let is_of_kind = |method: &&SurveyedMethod| {
            method.receiver.strip_prefix(own).is_some_and(|rest| HELPERS.contains(&rest))
        };
        let methods = methods.filter(is_of_kind).map(|method| (method.name.as_str(), method)).collect();
        let path = plan.path(*module, name);
        out.push(Kind { own, path, version: &version.name, methods, group: &group.name });
    }
    out
}

/// The stubs of a version; `names` has the structs written so far.
fn stubs(kind: &Kind<'_>, all: &[Kind<'_>], names: &mut BTreeSet<String>) -> Option<String> {
    let has = |names: &[&str]| names.iter().find_map(|name| kind.methods.get(name)).copied();
    let (defaults, validates) =
        (has(&["Default"]), has(&["ValidateCreate", "ValidateUpdate", "ValidateDelete"]));
    let mut out = String::new();
    if defaults.is_some() || validates.is_some() {
        let name = kind.stub(names);
        out.push_str(&format!(
            "/// Admission of {} of {}/{}.\n#[derive(Clone, Copy, Debug)]\npub struct {name};\n",
            kind.own, kind.group, kind.version
        ));
        out.extend(defaults.map(|method| defaulter(kind, &name, method)));
        out.extend(validates.map(|_| validator(kind, &name)));
    }
    if kind.methods.contains_key("Hub") {
        out.push_str(&format!("impl Hub for {} {{}}\n", kind.path));
    }
    let is_hub = |other: &&Kind<'_>| {
        other.own == kind.own && other.group == kind.group && other.methods.contains_key("Hub")
    };
    let hub = all.iter().find(is_hub).filter(|hub| hub.version != kind.version);
    if let (Some(hub), Some(method)) = (hub, has(&["ConvertTo", "ConvertFrom"])) {
        out.push_str(&convertible(kind, &hub.path, method));
    }
    (!out.is_empty()).then_some(out)
}

/// `` `Order.Default`, api/v1/order_webhook.go:15. ``
fn origin(method: &SurveyedMethod) -> String {
    format!("/// `{}.{}`, {}.\n", method.receiver, method.name, method.place)
}

const REFUSAL: &str = "Err(AdmissionError::denied(UNWRITTEN))";

fn defaulter(kind: &Kind<'_>, name: &str, method: &SurveyedMethod) -> String {
    let path = &kind.path;
    format!(
        "{}impl Defaulter<{path}> for {name} {{ async fn default(&self, _: &AdmissionContext, _: &mut {path}) -> Result<(), \
         AdmissionError> {{ {} }} }}\n",
        origin(method),
        REFUSAL
    )
}

fn validator(kind: &Kind<'_>, name: &str) -> String {
    let path = &kind.path;
    let mut out = String::new();
    for (method, rust, objects) in [
        ("ValidateCreate", "validate_create", 1),
        ("ValidateUpdate", "validate_update", 2),
        ("ValidateDelete", "validate_delete", 1),
    ] {
        let found = kind.methods.get(method);
        // Our trait requires the first two methods.
        if found.is_none() && rust == "validate_delete" {
            continue;
        }
        let body = found.map_or_else(|| "Ok(Warnings::new())".to_string(), |_| REFUSAL.to_string());
        out.push_str(&format!(
            "{}async fn {rust}(&self, _: &AdmissionContext{}) -> Result<Warnings, AdmissionError> {{ {body} }}\n",
            found.copied().map(origin).unwrap_or_default(),
            format!(", _: &{path}").repeat(objects)
        ));
    }
    format!("impl Validator<{path}> for {name} {{ {out} }}\n")
}

fn convertible(kind: &Kind<'_>, hub: &str, method: &SurveyedMethod) -> String {
    let refusal = "Err(ConversionError::new(UNWRITTEN))";
    format!(
        "{}impl Convertible<{hub}> for {} {{ fn convert_to(self) -> Result<{hub}, ConversionError> {{ {refusal} }} fn \
         convert_from(_: {hub}) -> Result<Self, ConversionError> {{ {refusal} }} }}\n",
        origin(method),
        kind.path
    )
}
