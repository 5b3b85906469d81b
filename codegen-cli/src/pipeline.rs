//! Runs the stages in their order, with gates where going on would only repeat mistakes.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

use kubesmith_core::diag::Code;
use serde_json::Value;

use crate::api_rules::{self, Report};
use crate::builtin;
use crate::columns;
use crate::config::{ClientTarget, Generator, Settings};
use crate::diag::{self, Diagnostic};
use crate::emit::{crd, deploy, docs, fake, openapi, rbac, rust, webhook};
use crate::ir::{Ir, Resource};
use crate::load::{self, Crates, LoadOptions, Loaded};
use crate::lower::{self, ClientUse, LowerOptions};
use crate::output::{self, Kind, OutputTree, Target};
use crate::roles;
use crate::schema::{self, SchemaOptions, Schemas};
use crate::source::SourceMap;
use crate::validate;

/// What a run made.
#[derive(Debug)]
pub struct Generated {
    /// The intermediate representation; incomplete when there are errors.
    pub ir: Ir,
    /// What is to be on disk; empty when there are errors.
    pub targets: Vec<Target>,
    /// What breaks the API rules; `None`: there are errors, or nobody asked.
    pub report: Option<Report>,
    /// The files that were read.
    pub sources: SourceMap,
    /// What was found, in the order of the places.
    pub diagnostics: Vec<Diagnostic>,
}

/// Generates everything that the settings ask for. Writes nothing.
pub fn generate(settings: &Settings) -> Generated {
    let module = matches!(settings.client_target, Some(ClientTarget::Module(_)));
    let generated = settings.client_output.as_deref().filter(|_| module);
    let programs = settings.rbac.is_some() || settings.webhook.is_some();
    let options = LoadOptions { generated, programs, features: &settings.features };
    let mut loaded = load::load(&settings.input, options);
    let mut ir = Ir::default();
    let mut targets = Vec::new();
    let mut diagnostics = loaded.diagnostics().to_vec();
    if !diagnostics.iter().any(|d| is_incomplete(d.code)) {
        (ir, targets) = after_load(settings, &mut loaded, &mut diagnostics);
    }
    let sources = loaded.into_sources();
    settings.lints.apply(&mut diagnostics);
    diag::sort(&mut diagnostics, &sources);
    if diag::has_errors(&diagnostics) {
        targets.clear();
    }
    let has_errors = diag::has_errors(&diagnostics);
    let report = settings.openapi.report.as_ref().filter(|_| !has_errors);
    let report = report.map(|path| Report { path: path.clone(), violations: api_rules::violations(&ir) });
    Generated { ir, targets, report, sources, diagnostics }
}

/// Whether the mistake hides items, so that resolving would report their absence once more.
fn is_incomplete(code: Code) -> bool {
    (Code::INPUT_NOT_FOUND..=Code::MODULE_FILE).contains(&code) || code == Code::UNKNOWN_FEATURE
}

fn after_load(
    settings: &Settings,
    loaded: &mut Loaded,
    diagnostics: &mut Vec<Diagnostic>,
) -> (Ir, Vec<Target>) {
    let (mut ir, mut found) = lowered(settings, loaded);
    if settings.client_output.is_some() {
        found.extend(builtin::add(&mut ir, &settings.kinds, &settings.file, loaded.sources_mut()));
    }
    let (crates, sources) = (&loaded.crates, loaded.sources());
    let hidden = diag::has_errors(diagnostics);
    // A root type with a mistake in its attributes is no resource; that none is left is no news then.
    diagnostics.extend(found.into_iter().filter(|d| !(hidden && d.code == Code::NO_RESOURCE)));
    if diag::has_errors(diagnostics) {
        return (ir, Vec::new());
    }
    let options = SchemaOptions {
        max_desc_len: settings.max_desc_len,
        embedded_object_meta: settings.generate_embedded_object_meta,
        keep_unknown_formats: settings.keep_unknown_formats,
    };
    let (schemas, found) = schema::build(&ir, sources, options);
    // What was not built cannot be checked.
    let is_partial = found.iter().any(|found| found.code == Code::SCHEMA_TOO_LARGE);
    diagnostics.extend(found);
    if is_partial {
        return (ir, Vec::new());
    }
    diagnostics.extend(columns::infer(&mut ir, &schemas, sources));
    let (crds, found) = validate::validate(&ir, &schemas, sources);
    diagnostics.extend(found);
    if diag::has_errors(diagnostics) {
        return (ir, Vec::new());
    }
    diagnostics.extend(validate::conventions(&ir, &schemas, sources));
    let mut targets = Vec::new();
    if let Some(root) = &settings.crd_output {
        let mut tree = crd::emit(&ir, &schemas, &crds, settings.refuse_unknown_fields);
        diagnostics.extend(validate::sizes(&ir, &schemas, &tree, sources));
        tree.prepend(&settings.crd_header);
        targets.push(Target { root: root.clone(), kind: Kind::Crd, tree });
    }
    if let Some(root) = &settings.client_output {
        let tree = client(settings, root, crates, &ir, &schemas);
        targets.push(Target { root: root.clone(), kind: Kind::Rust, tree });
    }
    diagnostics.extend(without_folder(settings, &ir, sources));
    if let Some(rbac_settings) = &settings.rbac {
        let roles = roles::roles(&ir.manifests.rules, &rbac_settings.role_name);
        let tree = rbac::emit(&roles, &rbac_settings.file_name, &rbac_settings.header);
        targets.push(Target { root: rbac_settings.output.clone(), kind: Kind::Rbac, tree });
    }
    if let Some(webhook_settings) = &settings.webhook {
        let tree = webhook::emit(&ir.manifests, &webhook_settings.header, webhook_settings.service.as_ref());
        targets.push(Target { root: webhook_settings.output.clone(), kind: Kind::Webhook, tree });
    }
    if let Some(root) = &settings.openapi.output {
        let tree = openapi::emit(&ir, &schemas);
        targets.push(Target { root: root.clone(), kind: Kind::Openapi, tree });
    }
    if let Some(docs_settings) = &settings.docs {
        let tree = docs::emit(&ir, &schemas, &docs_settings.formats);
        targets.push(Target { root: docs_settings.output.clone(), kind: Kind::Docs, tree });
    }
    targets.extend(deployment(settings, &ir, &schemas, &crds));
    (ir, targets)
}

/// The manifests that run the manager: the tree, and the installer beside it.
fn deployment(settings: &Settings, ir: &Ir, schemas: &Schemas, crds: &[Option<Value>]) -> Vec<Target> {
    let Some(deploy_settings) = &settings.deploy else { return Vec::new() };
    let roles = roles::roles(&ir.manifests.rules, &deploy_settings.role_name);
    let parts = deploy::Parts {
        crds: &crd::emit(ir, schemas, crds, settings.refuse_unknown_fields),
        rbac: &rbac::emit(&roles, &deploy_settings.role_file, ""),
        roles: &roles,
        webhooks: &webhook::emit(&ir.manifests, "", Some(&deploy_settings.webhook_service)),
    };
    let (tree, installer) = deploy::emit(ir, schemas, deploy_settings, parts);
    let mut out = vec![Target { root: deploy_settings.output.clone(), kind: Kind::Deploy, tree }];
    if let (Some(text), Some(path)) = (installer, &deploy_settings.installer) {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let mut tree = OutputTree::new();
        tree.insert(name, text);
        let root = path.parent().unwrap_or(Path::new("")).to_path_buf();
        out.push(Target { root, kind: Kind::Deploy, tree });
    }
    out
}

/// Lowers the inputs; the crates that types lead into are read on the way.
fn lowered(settings: &Settings, loaded: &mut Loaded) -> (Ir, Vec<Diagnostic>) {
    let client = match (&settings.client_output, &settings.client_target) {
        (None, _) => ClientUse::None,
        (Some(_), Some(ClientTarget::Module(_))) => ClientUse::Module,
        (Some(_), _) => ClientUse::Package,
    };
    let options = LowerOptions { allow_dangerous_types: settings.allow_dangerous_types, client };
    loop {
        let lowering = lower::lower(&loaded.crates, loaded.sources(), options);
        if !loaded.read(&lowering.wanted) {
            return (lowering.ir, lowering.diagnostics);
        }
    }
}

/// Warns of rules and webhooks that nobody said where to write.
fn without_folder(settings: &Settings, ir: &Ir, sources: &SourceMap) -> Vec<Diagnostic> {
    let first_rule = ir.manifests.rules.first().map(|rule| &rule.span);
    let first_webhook = ir.manifests.webhooks.first().map(|webhook| &webhook.span);
    let found = [
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

/// The resources that ask for a client.
fn clients(ir: &Ir) -> impl Iterator<Item = &Resource> {
    let versions = ir.groups.iter().chain(&ir.built_in).flat_map(|group| &group.versions);
    versions.flat_map(|version| &version.resources).filter(|resource| resource.client.is_some())
}

/// The client package; empty without a resource that asks for a client.
fn client(settings: &Settings, root: &Path, crates: &Crates, ir: &Ir, schemas: &Schemas) -> OutputTree {
    let mut out = OutputTree::new();
    if clients(ir).next().is_none() {
        return out;
    }
    let has = |generator| settings.only.contains(&generator);
    let package = package(settings, root, crates, ir);
    let source = match package {
        rust::Package::Crate { .. } => root.join("src"),
        rust::Package::Module { .. } => root.to_path_buf(),
    };
    let options = rust::RustOptions {
        parts: rust::Parts {
            client: has(Generator::Client),
            apply: settings.apply_configurations,
            fake: settings.fake_clientset,
            lister: has(Generator::Lister),
            informer: has(Generator::Informer),
        },
        package,
        hand_written: output::hand_written(&source),
        definitions: if settings.validations { rust::definitions(ir, schemas) } else { BTreeMap::new() },
        defaults: if settings.defaults { rust::defaults(ir, schemas) } else { rust::Defaults::default() },
        conversions: settings.conversions,
        header: settings.header.clone().unwrap_or_default(),
    };
    for (path, text) in rust::emit(ir, &options) {
        out.insert(path, text);
    }
    if options.parts.has_fake() {
        out.insert(options.package.source_path(rust::FAKE_CRDS), fake::emit(ir, schemas));
    }
    out
}

fn package(settings: &Settings, root: &Path, crates: &Crates, ir: &Ir) -> rust::Package {
    match &settings.client_target {
        Some(ClientTarget::Module(path)) => {
            let root = absolute(root);
            let own = crates.list.iter().find(|krate| root.starts_with(absolute(&krate.folder)));
            rust::Package::Module { path: path.clone(), own_lib: own.map(|krate| krate.lib.clone()) }
        }
        Some(ClientTarget::Crate(name)) => crate_package(name.clone(), root, crates, ir),
        None => {
            let first = ir.crates.first().map_or("api", |krate| krate.package.as_str());
            crate_package(format!("{}-client", first.trim_end_matches("-api")), root, crates, ir)
        }
    }
}

fn crate_package(name: String, root: &Path, crates: &Crates, ir: &Ir) -> rust::Package {
    let apis = crates.list.iter().map(|krate| {
        let path = relative(root, &krate.folder);
        let dependency = rust::Dependency::Path { path, version: Some(krate.version.clone()) };
        (krate.package.clone(), dependency)
    });
    // Crates without a type that the client names, such as a controller's, may depend on the client themselves.
    let named: BTreeSet<&str> =
        clients(ir).filter_map(|resource| resource.code.type_path.split("::").next()).collect();
    let is_named = |package: &str| {
        ir.crates.iter().any(|krate| krate.package == *package && named.contains(krate.lib.as_str()))
    };
    let used: BTreeMap<String, rust::Dependency> = apis.filter(|(package, _)| is_named(package)).collect();
    let version = env!("CARGO_PKG_VERSION").to_string();
    let own = |path: Option<&Path>| match path {
        Some(path) => rust::Dependency::Path { path: relative(root, path), version: Some(version.clone()) },
        None => rust::Dependency::Version(version.clone()),
    };
    // The package uses the runtime that the API crates use, and the test environment that comes with it.
    let runtime = crates.list.iter().find_map(|krate| krate.runtime.as_deref());
    let testenv =
        runtime.map(|path| path.join("../testenv")).filter(|path| path.join("Cargo.toml").is_file());
    rust::Package::Crate { name, runtime: own(runtime), testenv: own(testenv.as_deref()), apis: used }
}

/// The path without `.`, `..` and links, as far as it exists.
fn absolute(path: &Path) -> PathBuf {
    let mut missing = Vec::new();
    let mut at = path.to_path_buf();
    loop {
        let existing = if at.as_os_str().is_empty() { Path::new(".") } else { at.as_path() };
        if let Ok(mut found) = fs::canonicalize(existing) {
            for name in missing.iter().rev() {
                match Path::new(name).components().next() {
                    Some(Component::ParentDir) => {
                        found.pop();
                    }
                    Some(Component::Normal(name)) => found.push(name),
                    _ => {}
                }
            }
            return found;
        }
        match at.components().next_back() {
            Some(last) => {
                missing.push(last.as_os_str().to_os_string());
                at.pop();
            }
            None => return path.to_path_buf(),
        }
    }
}

/// `to` as seen from the folder `from`, `/`-separated.
pub(crate) fn relative(from: &Path, to: &Path) -> String {
    let (from, to) = (absolute(from), absolute(to));
    let shared = from.components().zip(to.components()).take_while(|(a, b)| a == b).count();
    let up = from.components().skip(shared).map(|_| "..".to_string());
    let down = to.components().skip(shared).map(|part| part.as_os_str().to_string_lossy().into_owned());
    let parts: Vec<String> = up.chain(down).collect();
    if parts.is_empty() { ".".to_string() } else { parts.join("/") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_paths_cross_folders_that_do_not_exist() {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path();
        assert_eq!(relative(&base.join("client/out"), &base.join("api")), "../../api");
        assert_eq!(relative(&base.join("api/client"), &base.join("api")), "..");
        assert_eq!(relative(base, base), ".");
        assert_eq!(relative(&base.join("a/../b"), &base.join("c")), "../c");
    }
}
