//! Gets definitions from running code for kinds whose source is insufficient: `--evaluate`.

use std::collections::BTreeSet;
use std::path::Path;

use kubesmith_apimachinery::yaml;
use kubesmith_core::diag::Code;

use super::keep_going::Failing;
use crate::config::{EvaluatedProgram, Evaluation, Generator, Settings};
use crate::diag::Diagnostic;
use crate::evaluate::{Evaluated, Package, evaluate};
use crate::ir;
use crate::load::Loaded;
use crate::lower::Root;
use crate::output::{Kind, OutputTree, Target};
use crate::selection::Choice;

/// Generators that need types, which only the source has.
const OF_TYPES: [Generator; 7] = [
    Generator::Client,
    Generator::Lister,
    Generator::Informer,
    Generator::Openapi,
    Generator::Docs,
    Generator::Deploy,
    Generator::Helm,
];

/// The advice if `crd()` of a type is not enough.
const NAME_A_PROGRAM: &str = "name the program or function that prints the CRDs in `[evaluation]`";

/// The result of running code.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    /// The definitions.
    pub(super) definitions: Vec<Evaluated>,
    /// The diagnostics.
    pub(super) diagnostics: Vec<Diagnostic>,
}

impl Outcome {
    /// The kinds, in the notation of a selection.
    pub(super) fn kinds(&self) -> impl Iterator<Item = String> {
        self.definitions.iter().map(|found| format!("{}.{}", found.kind, found.group))
    }

    /// The kinds for the intermediate representation.
    pub(super) fn names(&self) -> Vec<ir::EvaluatedKind> {
        let name =
            |found: &Evaluated| ir::EvaluatedKind { group: found.group.clone(), kind: found.kind.clone() };
        self.definitions.iter().map(name).collect()
    }

    /// Adds the files to those of the source. A duplicate definition is an error.
    pub(super) fn write(
        &self,
        settings: &Settings,
        targets: &mut Vec<Target>,
        diagnostics: &mut Vec<Diagnostic>,
    ) {
        let Some(root) = settings.crd_output.clone().filter(|_| !self.definitions.is_empty()) else { return };
        let mut tree = OutputTree::new();
        let is_written = |file: &str| {
            let crds = targets.iter().find(|target| target.kind == Kind::Crd);
            crds.is_some_and(|target| target.tree.iter().any(|(path, _)| path == file))
        };
        for found in &self.definitions {
            if is_written(&found.file) || !tree.insert(&found.file, yaml::document(&found.object)) {
                let message = format!("{} is not the only definition for {}", found.kind, found.file);
                diagnostics
                    .push(failed(message).help("print each definition once, and under a plural of its own"));
            }
        }
        tree.prepend(&settings.crd_header);
        match targets.iter_mut().find(|target| target.kind == Kind::Crd) {
            Some(target) => {
                for (path, text) in tree.iter() {
                    // A duplicate has been reported.
                    target.tree.insert(path, text);
                }
            }
            None => targets.push(Target { root, kind: Kind::Crd, tree }),
        }
    }
}

/// Evaluates the failing kinds, or runs the program that prints definitions. Kinds with a definition no
/// longer count as failing.
pub(super) fn run(
    settings: &Settings,
    evaluation: &Evaluation,
    loaded: &Loaded,
    failing: &mut Failing,
) -> Outcome {
    let mut out = Outcome::default();
    if evaluation.program == EvaluatedProgram::Roots {
        roots(settings, loaded, failing, &mut out);
    } else {
        program(settings, evaluation, loaded, &mut out);
    }
    let given: BTreeSet<String> = out.kinds().collect();
    failing.kinds.retain(|(name, _)| !given.contains(name));
    if let Some(first) = out.definitions.first()
        && settings.only.iter().any(|only| OF_TYPES.contains(only) && has_output(settings, *only))
    {
        let message = format!("evaluated kinds such as {} get a CRD only", first.kind);
        let help =
            "choose the generator with `--only crd`, or write what the source does not say as a literal";
        out.diagnostics.push(Diagnostic::warning(Code::EVALUATED_ALONE, None, message).help(help));
    }
    out
}

/// Whether the generator has an output.
fn has_output(settings: &Settings, generator: Generator) -> bool {
    match generator {
        Generator::Openapi => settings.openapi.output.is_some(),
        Generator::Docs => settings.docs.is_some(),
        Generator::Deploy => settings.deploy.is_some(),
        Generator::Helm => settings.helm.is_some(),
        _ => settings.client.output.is_some(),
    }
}

/// `K::crd()` of each failing kind.
fn roots(settings: &Settings, loaded: &Loaded, failing: &Failing, out: &mut Outcome) {
    let is_failing = |name: &str| failing.kinds.iter().any(|(failing, _)| failing == name);
    for (at, krate) in loaded.crates.list.iter().enumerate() {
        let mut paths = Vec::new();
        for root in failing.roots.iter().filter(|root| root.krate == at && is_failing(&root.name())) {
            match &root.path {
                Some(_) if krate.is_program => out.diagnostics.push(
                    Diagnostic {
                        primary: Some(root.loc),
                        ..failed(format!("{} is in a program, which no other crate can use", root.kind))
                    }
                    .help("name the program that prints the CRDs with `binary` in `[evaluation]`"),
                ),
                Some(path) if is_single(failing, root) => paths.push(path.clone()),
                Some(_) => out.diagnostics.push(
                    failed(format!("{} has several versions, which code of the project merges", root.kind))
                        .help(NAME_A_PROGRAM),
                ),
                None => out.diagnostics.push(
                    Diagnostic {
                        primary: Some(root.loc),
                        ..failed(format!("{} cannot be named from outside of its crate", root.kind))
                    }
                    .help("make the type public, or name the program that prints the CRDs in `[evaluation]`"),
                ),
            }
        }
        if paths.is_empty() {
            continue;
        }
        let package = Package { folder: &krate.folder, features: Some(&krate.cfg.features), roots: &paths };
        match evaluate(package, &EvaluatedProgram::Roots, settings.keep_unknown_formats) {
            Ok(definitions) => out.definitions.extend(definitions),
            Err(error) => out.diagnostics.push(failed(error).help(NAME_A_PROGRAM)),
        }
    }
}

/// Whether the kind has only one version.
fn is_single(failing: &Failing, root: &Root) -> bool {
    failing.roots.iter().filter(|other| other.name() == root.name()).count() == 1
}

/// Runs the project's program. Drops kinds outside the selection.
fn program(settings: &Settings, evaluation: &Evaluation, loaded: &Loaded, out: &mut Outcome) {
    let inputs = loaded.crates.list.iter().filter(|krate| krate.is_input);
    let mut folders: Vec<_> =
        inputs.map(|krate| (krate.folder.as_path(), Some(&krate.cfg.features))).collect();
    folders.dedup_by_key(|(folder, _)| *folder);
    let (folder, features) = match (&evaluation.folder, &folders[..]) {
        (Some(folder), _) => {
            let input = folders.iter().find(|(input, _)| is_same(input, folder));
            (folder.as_path(), input.and_then(|(_, features)| *features))
        }
        (None, [only]) => *only,
        (None, _) => {
            let help = "name the folder of its package with `folder` in `[evaluation]`";
            out.diagnostics.push(failed("several inputs may have the program".to_string()).help(help));
            return;
        }
    };
    let package = Package { folder, features, roots: &[] };
    match evaluate(package, &evaluation.program, settings.keep_unknown_formats) {
        Ok(definitions) if definitions.is_empty() => {
            let help = "print each definition as YAML or JSON, and nothing else on stdout";
            out.diagnostics.push(failed("the program printed no definition".to_string()).help(help));
        }
        Ok(definitions) => out.definitions.extend(
            definitions
                .into_iter()
                .filter(|found| settings.selection.choice(&found.group, &found.kind) != Choice::LeftOut),
        ),
        Err(error) => out
            .diagnostics
            .push(failed(error).help("`[evaluation]` names the package, and its program or function")),
    }
}

/// Whether two paths name the same folder.
fn is_same(one: &Path, other: &Path) -> bool {
    match (one.canonicalize(), other.canonicalize()) {
        (Ok(one), Ok(other)) => one == other,
        _ => one == other,
    }
}

fn failed(message: String) -> Diagnostic {
    Diagnostic::error(Code::EVALUATION, None, message)
        .note("`--evaluate` builds the project and runs it, for what cannot be known from source")
}
