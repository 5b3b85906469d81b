//! Imports Go packages as a Rust crate: the types that give the same definitions, with Go's names,
//! constants and role rules.
//!
//! The front end for Go makes the intermediate representation. [`plan`] maps Go types to Rust types,
//! [`types`] makes the model that [`writer`] writes, and [`notes`] lists the remaining manual work. The
//! importer generates from the crate at once and leaves out kinds whose definitions differ from those of
//! the Go packages.

mod notes;
mod plan;
mod rights;
mod types;
mod webhooks;

use std::collections::BTreeMap;
use std::path::PathBuf;

use kubesmith_core::diag::{Code, Severity};
use serde_json::Value;

use super::{Imported, shorten, verify, writer};
use crate::config::{self, Generator, ManifestFlags, Overrides, Settings};
use crate::diag::{self, Diagnostic};
use crate::go::{self, Survey};
use crate::ir::{Beside, Group, Older, Resource, Version};
use crate::output::Kind;
use crate::pipeline::{self, Generated};
use crate::schema::{self, SchemaOptions};
use crate::selection::Selection;
use crate::source::SourceMap;
use plan::Plan;

/// The options of controller-gen for importing Go packages.
#[derive(Clone, Copy, Debug, Default)]
pub struct GoOptions {
    /// Whether embedded metadata gets its fields.
    pub generate_embedded_object_meta: bool,
    /// Whether fields without a capital are left out.
    pub ignore_unexported_fields: bool,
}

/// The help for a kind of Kubernetes' groups.
const APPROVED: &str = "write `+kubebuilder:metadata:annotations=\"api-approved.kubernetes.io=unapproved\"` on the kind, or the URL of the approval";

/// Texts by paths.
type Files = BTreeMap<String, String>;

/// Kinds whose generated definition differs: their names and the errors.
type Wrong = Vec<(String, Diagnostic)>;

/// Makes the crate `package` from Go packages: folders, or patterns such as `./api/...`.
pub fn import_go(inputs: &[PathBuf], package: &str, options: GoOptions) -> Imported {
    let settled = settings(inputs, options).and_then(|settings| {
        let of_run = pipeline::with_go_options(&settings);
        let ignore_unexported = of_run.ignore_unexported_fields;
        let beside = Beside { rules: true, webhooks: true };
        let surveys = go::survey(inputs, go::Options::new(ignore_unexported, beside, true));
        Context { package, of_run: &of_run, surveys: &surveys }.settled(settings)
    });
    match settled {
        Ok(imported) => imported,
        Err(diagnostic) => Imported {
            files: Files::new(),
            definitions: 0,
            skipped: 0,
            sources: SourceMap::default(),
            diagnostics: vec![*diagnostic],
            untold: 0,
        },
    }
}

/// The input that does not change between attempts.
#[derive(Clone, Copy)]
struct Context<'a> {
    package: &'a str,
    /// The settings with the options of the project.
    of_run: &'a Settings,
    surveys: &'a [Survey],
}

impl Context<'_> {
    /// Returns the crate of all kinds whose definitions it reproduces.
    fn settled(self, mut settings: Settings) -> Result<Imported, Box<Diagnostic>> {
        let mut left_out = Vec::new();
        loop {
            let generated = pipeline::definitions(&settings);
            let definitions = crds(&generated);
            let (mut files, mut diagnostics) = (Files::new(), Vec::new());
            if !definitions.is_empty() {
                (files, diagnostics) = self.crate_of(&generated, &definitions);
                let wrong = self.wrong(&mut files, &generated, &definitions, &settings)?;
                if !wrong.is_empty() {
                    for (name, diagnostic) in wrong {
                        settings.selection.exclude.push(name);
                        left_out.push(diagnostic);
                    }
                    continue;
                }
            }
            diagnostics.extend(generated.diagnostics);
            // An error was already reported for each kind that was left out.
            diagnostics.retain(|found| left_out.is_empty() || found.code != Code::NO_RESOURCE);
            if definitions.is_empty() && !diag::has_errors(&diagnostics) && left_out.is_empty() {
                let found = Diagnostic::error(Code::NO_RESOURCE, None, "the packages have no kind");
                diagnostics.push(found.help(crate::lower::GO_RESOURCE));
            }
            diagnostics.retain(|found| found.code != Code::NO_MANIFEST_FOLDER);
            diagnostics.append(&mut left_out);
            diag::sort(&mut diagnostics, &generated.sources);
            let untold = shorten(&mut diagnostics);
            let (definitions, sources) = (definitions.len(), generated.sources);
            return Ok(Imported { files, definitions, skipped: 0, sources, diagnostics, untold });
        }
    }

    /// The crate for the generated output.
    fn crate_of(self, generated: &Generated, definitions: &Files) -> (Files, Vec<Diagnostic>) {
        let options = SchemaOptions {
            embedded_object_meta: self.of_run.generate_embedded_object_meta,
            ..SchemaOptions::default()
        };
        // Generation already reported their diagnostics.
        let (schemas, _) = schema::build(&generated.ir, &generated.sources, options);
        let (plan, diagnostics) = Plan::new(&generated.ir, &schemas, self.surveys, &generated.sources);
        let modules = types::modules(&plan, definitions);
        let placed: Vec<_> = plan.modules.iter().map(|module| module.path.clone()).zip(&modules).collect();
        let stubs = webhooks::text(&plan).map(|text| (webhooks::MODULE, text));
        let rights = rights::text(&generated.ir, self.surveys);
        let has = |wanted: &str| rights.as_ref().is_some_and(|text| text.contains(wanted));
        let options = writer::Options {
            embedded_object_meta: self.of_run.generate_embedded_object_meta,
            max_desc_len: self.of_run.max_desc_len,
            has_rules: !generated.ir.manifests.rules.is_empty(),
            has_webhooks: has("+kubebuilder:webhook"),
            stubs: stubs.as_ref().map(|_| webhooks::MODULE),
            ..writer::Options::default()
        };
        let others = rights.map(|text| (rights::MODULE, text)).into_iter().chain(stubs);
        let others = others.map(|(name, text)| (name.to_string(), text)).collect();
        let mut files = writer::crate_files(self.package, &placed, others, options);
        files.extend(notes::text(&plan).map(|text| (notes::FILE.to_string(), text)));
        (files, diagnostics)
    }

    /// Returns the kinds that the crate does not reproduce, and allows the remaining conventions in its
    /// settings.
    fn wrong(
        self,
        files: &mut Files,
        generated: &Generated,
        definitions: &Files,
        settings: &Settings,
    ) -> Result<Wrong, Box<Diagnostic>> {
        let again = verify::generate(files).map_err(|error| verify::unchecked(&error))?;
        if let Some(error) = first_error(&again) {
            return self.refused(generated, settings, error);
        }
        let again_crds = crds(&again);
        let mut out = Wrong::new();
        for (group, _, resource) in resources(generated) {
            let file = file_name(group, resource);
            let Some(wanted) = definitions.get(&file) else { continue };
            let Some(what) = difference(wanted, again_crds.get(&file)) else { continue };
            let kind = &resource.kind;
            let message = format!("{kind} would not be reproduced by `generate`: {what}");
            let mut diagnostic =
                Diagnostic::error(Code::NOT_THE_SAME, generated.sources.loc(&resource.span), message);
            diagnostic = if generated.ir.manifests.older == Older::default() {
                diagnostic.help("this is a gap of kubesmith: please report it with the Go types")
            } else {
                diagnostic
                    .note("the Go types have the schema that the project's release of controller-gen writes")
                    .help("name a newer release in the project, if attributes in Rust cannot say this schema")
            };
            if !out.iter().any(|(name, _)| *name == name_of(group, resource)) {
                out.push((name_of(group, resource), diagnostic));
            }
        }
        writer::allow(files, &verify::conventions(&again.diagnostics));
        Ok(out)
    }

    /// Tries each kind alone after the whole crate was refused.
    fn refused(
        self,
        generated: &Generated,
        settings: &Settings,
        first: &Diagnostic,
    ) -> Result<Wrong, Box<Diagnostic>> {
        let mut out = Wrong::new();
        for (group, _, resource) in resources(generated) {
            let name = name_of(group, resource);
            if out.iter().any(|(other, _)| *other == name) {
                continue;
            }
            let selection = Selection::of(std::slice::from_ref(&name));
            let alone = pipeline::definitions(&Settings { selection, ..settings.clone() });
            let (files, _) = self.crate_of(&alone, &crds(&alone));
            let again = verify::generate(&files).map_err(|error| verify::unchecked(&error))?;
            let Some(error) = first_error(&again) else { continue };
            let message = format!("{} cannot be generated again: {}", resource.kind, error.message);
            let loc = generated.sources.loc(&resource.span);
            let mut diagnostic = Diagnostic::error(Code::NOT_GENERATED, loc, message)
                .note(format!("`kubesmith generate` would report {} for its Rust types", error.code));
            diagnostic.notes.extend(error.notes.iter().cloned());
            if error.code == Code::INVALID_API_APPROVED {
                diagnostic = diagnostic.help(APPROVED);
            }
            out.push((name, diagnostic));
        }
        if out.is_empty() {
            return Err(Box::new(verify::together(first)));
        }
        Ok(out)
    }
}

fn settings(inputs: &[PathBuf], options: GoOptions) -> Result<Settings, Box<Diagnostic>> {
    // Nothing is written to this folder.
    let somewhere = Some(PathBuf::from("out"));
    let overrides = Overrides {
        input: inputs.to_vec(),
        only: vec![Generator::Crd, Generator::Rbac],
        crd_output: somewhere.clone(),
        manifests: ManifestFlags { rbac_output: somewhere, ..ManifestFlags::default() },
        allow_dangerous_types: true,
        generate_embedded_object_meta: options.generate_embedded_object_meta,
        ignore_unexported_fields: options.ignore_unexported_fields,
        ..Overrides::default()
    };
    let mut settings = config::settings(None, overrides)
        .map_err(|error| Box::new(Diagnostic::error(Code::INPUT_NOT_FOUND, None, error.to_string())))?;
    Ok(settings.remove(0))
}

/// The texts of the definitions by file, without a header, because the types do not have one.
fn crds(generated: &Generated) -> Files {
    let targets = generated.targets.iter().filter(|target| target.kind == Kind::Crd);
    let files = targets.flat_map(|target| target.tree.iter());
    let body = |text: &str| {
        let lines =
            text.split_inclusive('\n').skip_while(|line| line.starts_with('#') || line.trim().is_empty());
        lines.collect::<String>()
    };
    files.map(|(path, text)| (path.to_string(), body(text))).collect()
}

fn first_error(generated: &Generated) -> Option<&Diagnostic> {
    generated.diagnostics.iter().find(|found| found.severity == Severity::Error)
}

fn resources(generated: &Generated) -> impl Iterator<Item = (&Group, &Version, &Resource)> {
    let versions = generated
        .ir
        .groups
        .iter()
        .flat_map(|group| group.versions.iter().map(move |version| (group, version)));
    versions
        .flat_map(|(group, version)| version.resources.iter().map(move |resource| (group, version, resource)))
}

/// The name of the file with this kind's definition.
fn file_name(group: &Group, resource: &Resource) -> String {
    format!("{}_{}.yaml", group.name, resource.plural)
}

/// `Widget.example.com`
fn name_of(group: &Group, resource: &Resource) -> String {
    format!("{}.{}", resource.kind, group.name)
}

/// Returns the first difference of the generated definition, if there is one.
fn difference(wanted: &str, made: Option<&String>) -> Option<String> {
    let Some(made) = made else { return Some("no definition is generated".to_string()) };
    if wanted == made {
        return None;
    }
    let value = |text: &str| serde_yaml::from_str::<Value>(text).ok();
    if let Some((wanted, made)) = value(wanted).zip(value(made))
        && let Some((path, what)) = verify::first_difference(&wanted, &made, &mut Vec::new())
    {
        return Some(format!("{what} at {}", path.join(".")));
    }
    let mut lines = wanted.lines().zip(made.lines()).enumerate();
    let found = lines.find(|(_, (wanted, made))| wanted != made);
    let Some((at, (wanted, made))) = found else {
        return Some(format!("{} lines become {}", wanted.lines().count(), made.lines().count()));
    };
    Some(format!("in line {} `{}` becomes `{}`", at + 1, wanted.trim(), made.trim()))
}
