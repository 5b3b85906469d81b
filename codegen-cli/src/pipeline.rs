//! Runs the stages in order. A gate stops the run if later stages would only repeat errors.

mod calls;
mod chart_values;
mod evaluated;
mod go;
mod keep_going;
mod kube_rs;
mod targets;

use kubesmith_core::diag::{Code, Severity};

use crate::api_rules::{self, Report};
use crate::builtin;
use crate::config::{ClientTarget, Generator, Settings};
use crate::definition::{self, Definition};
use crate::diag::{self, Diagnostic};
use crate::emit::rust;
use crate::expand;
use crate::expansions;
use crate::ir::{Beside, Ir};
use crate::load::{self, HandWritten, LoadOptions, Loaded, Unsaved};
use crate::lower::{self, ClientUse, LowerOptions, Lowering};
use crate::output::{Kind, Target};
use crate::schema::{self, SchemaOptions, Schemas};
use crate::selection::Selection;
use crate::source::SourceMap;
use crate::validate;

/// The result of a run.
#[derive(Debug)]
pub struct Generated {
    /// The intermediate representation; incomplete when there are errors.
    pub ir: Ir,
    /// The files to write; empty if there are errors, unless the run keeps going.
    pub targets: Vec<Target>,
    /// Violations of the API rules; `None` if there are errors, or no report is configured.
    pub report: Option<Report>,
    /// The files that were read.
    pub sources: SourceMap,
    /// The diagnostics, ordered by place.
    pub diagnostics: Vec<Diagnostic>,
}

/// Generates all configured outputs. Writes nothing.
pub fn generate(settings: &Settings) -> Generated {
    generate_unsaved(settings, &Unsaved::default())
}

/// Like [`generate`], with unsaved source files.
pub fn generate_unsaved(settings: &Settings, unsaved: &Unsaved) -> Generated {
    let of_project = go::with_options(settings, true);
    run(of_project, unsaved, targets::targets)
}

/// Like [`generate`], with the CRDs as the only target, which takes less time and memory.
pub(crate) fn definitions(settings: &Settings) -> Generated {
    run(go::with_options(settings, false), &Unsaved::default(), targets::definitions)
}

/// The settings with the options of a Go project, as in a run.
#[cfg(feature = "go")]
pub(crate) fn with_go_options(settings: &Settings) -> Settings {
    go::with_options(settings, false).settings
}

/// Emits targets.
type Emit = fn(&Settings, targets::EmitInput<'_>) -> Vec<Target>;

fn run(of_project: go::OfProject, unsaved: &Unsaved, emit: Emit) -> Generated {
    let settings = &of_project.settings;
    let module = matches!(settings.client.target, Some(ClientTarget::Module(_)));
    let generated = settings.client.output.as_deref().filter(|_| module);
    let deploys = settings.deploy.is_some() || settings.helm.is_some();
    let beside =
        Beside { rules: settings.rbac.is_some() || deploys, webhooks: settings.webhook.is_some() || deploys };
    let ignore_unexported = settings.ignore_unexported_fields;
    // As with controller-gen, roles and webhooks need no types, whose packages may be missing.
    let types = settings.only.is_empty()
        || settings.only.iter().any(|it| !matches!(it, Generator::Rbac | Generator::Webhook));
    let options =
        LoadOptions { generated, beside, features: &settings.features, unsaved, ignore_unexported, types };
    let mut loaded = load::load(&settings.input, options);
    expand::expand(&mut loaded);
    loaded.lock(settings.kubernetes_version);
    // A project's committed CRDs have them, as kube writes every format.
    let keep_unknown_formats = settings.keep_unknown_formats || loaded.crates.has_locked_kube();
    let settings = &Settings { keep_unknown_formats, ..settings.clone() };
    let mut ir = Ir::default();
    let mut targets = Vec::new();
    let mut diagnostics = loaded.diagnostics().to_vec();
    diagnostics.extend(of_project.warnings);
    diagnostics.extend(go::client(settings, &loaded));
    let mut failed = Vec::new();
    if !diagnostics.iter().any(is_incomplete) {
        let chosen = choose(settings, &mut loaded, &mut diagnostics);
        if !chosen.is_none {
            (ir, targets) = after_load(settings, &chosen, &mut loaded, &mut diagnostics, emit);
            if !diag::has_errors(&diagnostics) {
                targets.extend(calls::definitions(&of_project.parts, &ir, &mut loaded, &mut diagnostics));
            }
        }
        ir.evaluated = chosen.given.names();
        chosen.given.write(settings, &mut targets, &mut diagnostics);
        failed = chosen.failed;
    }
    let crates = &loaded.crates.list;
    let kube_rs = kube_rs::KubeRs::of(&loaded.crates);
    let only_go = !crates.is_empty() && crates.iter().all(|krate| krate.is_go);
    let sources = loaded.into_sources();
    settings.lints.apply(&mut diagnostics);
    let has_errors = diag::has_errors(&diagnostics);
    if has_errors {
        targets.clear();
    }
    diagnostics.append(&mut failed);
    diag::locate(&mut diagnostics, &sources);
    go::in_words_of_go(&mut diagnostics, &sources, only_go);
    kube_rs.reword(&mut diagnostics);
    diag::sort(&mut diagnostics, &sources);
    let report = settings.openapi.report.as_ref().filter(|_| !has_errors);
    let report = report.map(|path| Report { path: path.clone(), violations: api_rules::violations(&ir) });
    Generated { ir, targets, report, sources, diagnostics }
}

/// The kinds from source, and those from running code.
#[derive(Default)]
struct Chosen {
    selection: Selection,
    /// Whether no kind is left.
    is_none: bool,
    given: evaluated::Outcome,
    /// The errors of kinds that are left out.
    failed: Vec<Diagnostic>,
}

/// Leaves out kinds with errors if the run keeps going, and kinds that code of the project gives.
fn choose(settings: &Settings, loaded: &mut Loaded, diagnostics: &mut Vec<Diagnostic>) -> Chosen {
    let mut out = Chosen { selection: settings.selection.clone(), ..Chosen::default() };
    if !settings.keep_going && settings.evaluation.is_none() {
        return out;
    }
    let mut failing = keep_going::failing(settings, loaded);
    if let Some(evaluation) = &settings.evaluation {
        out.given = evaluated::run(settings, evaluation, loaded, &mut failing);
        diagnostics.append(&mut out.given.diagnostics);
        let is_of_source = |name: &String| failing.roots.iter().any(|root| root.name() == *name);
        out.selection.exclude.extend(out.given.kinds().filter(is_of_source));
    }
    if settings.keep_going {
        out.failed = diagnostics.extract_if(.., |found| found.severity == Severity::Error).collect();
        out.is_none = failing.is_all();
        for (name, found) in failing.kinds {
            out.failed.extend(found);
            out.selection.exclude.push(name);
        }
    }
    out
}

/// Whether this error hides items, so that resolving them would report it twice.
fn is_incomplete(found: &Diagnostic) -> bool {
    let hides = (Code::INPUT_NOT_FOUND..=Code::MODULE_FILE).contains(&found.code);
    found.severity == Severity::Error && (hides || found.code == Code::UNKNOWN_FEATURE)
}

fn after_load(
    settings: &Settings,
    chosen: &Chosen,
    loaded: &mut Loaded,
    diagnostics: &mut Vec<Diagnostic>,
    emit: Emit,
) -> (Ir, Vec<Target>) {
    let Lowering { mut ir, diagnostics: mut found, .. } = lowered(settings, &chosen.selection, loaded);
    if settings.client.output.is_some() {
        found.extend(builtin::add(&mut ir, &settings.client.kinds, &settings.file, loaded.sources_mut()));
    }
    let own_values = chart_values::own(settings, loaded.sources_mut(), &mut found);
    let (crates, sources) = (&loaded.crates, loaded.sources());
    let hidden =
        !chosen.given.definitions.is_empty() || !chosen.failed.is_empty() || diag::has_errors(diagnostics);
    // A root type with invalid attributes is no resource, so "no resource" would repeat its error. The source
    // needs no kinds if running code gives some.
    diagnostics.extend(found.into_iter().filter(|d| !(hidden && d.code == Code::NO_RESOURCE)));
    if diag::has_errors(diagnostics) {
        return (ir, Vec::new());
    }
    let Some(schemas) = schemas(settings, &mut ir, sources, diagnostics) else { return (ir, Vec::new()) };
    let mut definitions = validated(&ir, &schemas, sources, diagnostics);
    if diag::has_errors(diagnostics) {
        return (ir, Vec::new());
    }
    diagnostics.extend(validate::conventions(&ir, &schemas, sources));
    if settings.crd_output.is_some() {
        diagnostics.extend(validate::sizes(&definitions, sources));
    }
    definitions.iter_mut().for_each(|it| it.refuses_unknown_fields = settings.refuse_unknown_fields);
    let hand_written = hand_written(settings);
    let made = targets::EmitInput {
        ir: &ir,
        schemas: &schemas,
        definitions: &definitions,
        crates,
        hand_written: &hand_written,
        own_values: &own_values,
    };
    let targets = emit(settings, made);
    diagnostics.extend(without_folder(settings, &ir, sources));
    if settings.client.output.is_some() {
        let [informers, listers] =
            [Generator::Informer, Generator::Lister].map(|part| settings.only.contains(&part));
        diagnostics.extend(validate::without_verbs(&ir, informers, listers, sources));
        if settings.only.contains(&Generator::Client) {
            diagnostics.extend(validate::without_client(&ir, sources));
        }
    }
    if let (Some(client), false) =
        (targets.iter().find(|target| target.kind == Kind::Rust), hand_written.texts.is_empty())
    {
        let points = rust::extension_points(&ir, &targets::rust_options(settings, &client.root, made));
        let root = module_path(settings);
        diagnostics.extend(expansions::check(client, &hand_written, &points, &root, loaded.sources_mut()));
    }
    drop(definitions);
    (ir, targets)
}

/// The schemas of kinds; `None`: one is too large, and unbuilt ones cannot be checked.
fn schemas(
    settings: &Settings,
    ir: &mut Ir,
    sources: &SourceMap,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<Schemas> {
    let options = SchemaOptions {
        max_desc_len: settings.max_desc_len,
        embedded_object_meta: settings.generate_embedded_object_meta,
        keep_unknown_formats: settings.keep_unknown_formats,
    };
    let (schemas, found) = schema::build(ir, sources, options);
    let is_partial = found.iter().any(|found| found.code == Code::SCHEMA_TOO_LARGE);
    diagnostics.extend(found);
    if is_partial {
        return None;
    }
    diagnostics.extend(definition::columns::infer(ir, &schemas, sources));
    Some(schemas)
}

/// The definitions, checked.
fn validated<'a>(
    ir: &'a Ir,
    schemas: &'a Schemas,
    sources: &SourceMap,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<Definition<'a>> {
    let definitions = definition::build(ir, schemas);
    diagnostics.extend(validate::validate(ir, schemas, &definitions, sources));
    definitions
}

/// Handwritten files beside the generated ones.
fn hand_written(settings: &Settings) -> HandWritten {
    match (&settings.client.output, &settings.client.target) {
        (None, _) => HandWritten::default(),
        (Some(root), Some(ClientTarget::Module(_))) => load::hand_written(root.clone()),
        (Some(root), _) => load::hand_written(root.join("src")),
    }
}

/// The path of the client's root module in its crate.
fn module_path(settings: &Settings) -> Vec<String> {
    match &settings.client.target {
        Some(ClientTarget::Module(path)) => path.split("::").skip(1).map(str::to_owned).collect(),
        _ => Vec::new(),
    }
}

/// Lowers the inputs, and reads the crates that their types refer to.
fn lowered(settings: &Settings, selection: &Selection, loaded: &mut Loaded) -> Lowering {
    let client = match (&settings.client.output, &settings.client.target) {
        (None, _) => ClientUse::None,
        (Some(_), Some(ClientTarget::Module(_))) => ClientUse::Module,
        (Some(_), _) => ClientUse::Package,
    };
    let options = LowerOptions { selection, allow_dangerous_types: settings.allow_dangerous_types, client };
    loop {
        let lowering = lower::lower(&loaded.crates, loaded.sources(), options);
        if !loaded.read(&lowering.wanted) {
            return lowering;
        }
        expand::expand(loaded);
    }
}

/// Warns of rules, webhooks and policies for which no folder is configured.
fn without_folder(settings: &Settings, ir: &Ir, sources: &SourceMap) -> Vec<Diagnostic> {
    let first_rule = ir.manifests.rules.first().map(|rule| &rule.span);
    let first_webhook = ir.manifests.webhooks.first().map(|webhook| &webhook.span);
    let first_policy = ir.policies().next().map(|policy| &policy.span);
    let found = [
        (Generator::Policy, settings.policy.is_none(), first_policy, "policies are", "policy"),
        (Generator::Rbac, settings.rbac.is_none(), first_rule, "rules of roles are", "rbac"),
        (Generator::Webhook, settings.webhook.is_none(), first_webhook, "webhooks are", "webhook"),
    ];
    let lost = found
        .into_iter()
        .filter(|(generator, no_folder, ..)| *no_folder && settings.only.contains(generator));
    let warnings = lost.filter_map(|(_, _, span, what, table)| {
        let message = format!("{what} not written: there is no folder for them");
        let help =
            format!("set `output` in the `[{table}]` table of kubesmith.toml, or use --{table}-output");
        Some(Diagnostic::warning(Code::NO_MANIFEST_FOLDER, sources.loc(span?), message).help(help))
    });
    warnings.collect()
}
