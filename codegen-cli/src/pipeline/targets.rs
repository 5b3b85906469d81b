//! The targets of a run: the files of each generator with their folder.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::config::{ClientTarget, DeploySettings, Generator, HelmSettings, Settings};
use crate::definition::Definition;
use crate::emit::{crd, deploy, docs, embedded, helm, openapi, policy, rbac, rust, webhook};
use crate::ir::{Ir, Resource};
use crate::load::{Crates, HandWritten, RuntimeSource};
use crate::output::{Kind, OutputTree, Target};
use crate::paths::{absolute, relative};
use crate::roles;
use crate::schema::Schemas;

/// The results of the stages before emission.
#[derive(Clone, Copy)]
pub(super) struct EmitInput<'a> {
    pub(super) ir: &'a Ir,
    pub(super) schemas: &'a Schemas,
    pub(super) definitions: &'a [Definition<'a>],
    pub(super) crates: &'a Crates,
    /// Handwritten files beside those of the client.
    pub(super) hand_written: &'a HandWritten,
    /// The names of the user's own values of the chart.
    pub(super) own_values: &'a BTreeSet<String>,
}

/// Emits all configured outputs.
pub(super) fn targets(settings: &Settings, made: EmitInput<'_>) -> Vec<Target> {
    let EmitInput { ir, schemas, .. } = made;
    let crds = crds(settings, made);
    let mut out: Vec<Target> = crd_target(settings, &crds).into_iter().collect();
    let mut add = |root: &Path, kind, tree| out.push(Target { root: root.to_path_buf(), kind, tree });
    if let Some(root) = &settings.client.output {
        add(root, Kind::Rust, client(settings, root, made));
    }
    if let Some(rbac_settings) = &settings.rbac {
        let roles = roles::roles(&ir.manifests.rules, &rbac_settings.role_name, ir.manifests.older);
        let tree = rbac::emit(&roles, &rbac_settings.file_name, &rbac_settings.header);
        add(&rbac_settings.output, Kind::Rbac, tree);
    }
    if let Some(webhook_settings) = &settings.webhook {
        let tree = webhook::emit(&ir.manifests, &webhook_settings.header, webhook_settings.service.as_ref());
        add(&webhook_settings.output, Kind::Webhook, tree);
    }
    if let Some(policy_settings) = &settings.policy {
        add(&policy_settings.output, Kind::Policy, policy::emit(ir, &policy_settings.header));
    }
    if let Some(root) = &settings.openapi.output {
        add(root, Kind::Openapi, openapi::emit(ir, schemas));
    }
    if let Some(docs_settings) = &settings.docs {
        add(&docs_settings.output, Kind::Docs, docs::emit(ir, schemas, &docs_settings.formats));
    }
    if let Some(deploy_settings) = &settings.deploy {
        out.extend(deployment(deploy_settings, made, &crds));
    }
    if let Some(helm_settings) = &settings.helm {
        out.push(chart(helm_settings, made));
    }
    out
}

/// The Helm chart.
fn chart(helm_settings: &HelmSettings, made: EmitInput<'_>) -> Target {
    let objects = with_parts(&helm_settings.deploy, made, &OutputTree::new(), |parts| {
        deploy::objects(made.ir, &helm_settings.deploy, parts, made.definitions)
    });
    let tree = helm::emit(helm_settings, &objects, made.own_values);
    Target { root: helm_settings.output.clone(), kind: Kind::Helm, tree }
}

/// Emits only the CRDs, in the same way.
pub(super) fn definitions(settings: &Settings, made: EmitInput<'_>) -> Vec<Target> {
    crd_target(settings, &crds(settings, made)).into_iter().collect()
}

/// The CRDs without their header; empty if no output needs them.
fn crds(settings: &Settings, made: EmitInput<'_>) -> OutputTree {
    match settings.crd_output.is_some() || settings.deploy.is_some() {
        true => crd::emit(made.definitions),
        false => OutputTree::new(),
    }
}

fn crd_target(settings: &Settings, crds: &OutputTree) -> Option<Target> {
    let root = settings.crd_output.clone()?;
    let mut tree = crds.clone();
    tree.prepend(&settings.crd_header);
    Some(Target { root, kind: Kind::Crd, tree })
}

/// The manifests that run the manager: the tree and the installer.
fn deployment(deploy_settings: &DeploySettings, made: EmitInput<'_>, crds: &OutputTree) -> Vec<Target> {
    let EmitInput { ir, schemas, .. } = made;
    let (tree, installer) =
        with_parts(deploy_settings, made, crds, |parts| deploy::emit(ir, schemas, deploy_settings, parts));
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

/// Makes an output from the other generators' parts for a deployment.
fn with_parts<T>(
    deploy_settings: &DeploySettings,
    made: EmitInput<'_>,
    crds: &OutputTree,
    make: impl FnOnce(deploy::Parts<'_>) -> T,
) -> T {
    let ir = made.ir;
    let roles = roles::roles(&ir.manifests.rules, &deploy_settings.role_name, ir.manifests.older);
    make(deploy::Parts {
        crds,
        rbac: &rbac::emit(&roles, &deploy_settings.role_file, ""),
        roles: &roles,
        webhooks: &webhook::emit(&ir.manifests, "", Some(&deploy_settings.webhook_service)),
        configurations: &webhook::objects(&ir.manifests, Some(&deploy_settings.webhook_service)),
        policies: &policy::emit(ir, ""),
    })
}

/// The resources with a client.
fn clients(ir: &Ir) -> impl Iterator<Item = &Resource> {
    let versions = ir.groups.iter().chain(&ir.built_in).flat_map(|group| &group.versions);
    versions.flat_map(|version| &version.resources).filter(|resource| resource.client.is_some())
}

/// The client package; empty without a resource with a client.
fn client(settings: &Settings, root: &Path, made: EmitInput<'_>) -> OutputTree {
    let EmitInput { ir, schemas, .. } = made;
    let mut out = OutputTree::new();
    if clients(ir).next().is_none() {
        return out;
    }
    let options = rust_options(settings, root, made);
    for (path, text) in rust::emit(ir, &options) {
        out.insert(path, text);
    }
    let has_fake = options.parts.has_fake();
    if has_fake || !options.validated.is_empty() {
        let text = embedded::emit(ir, schemas, has_fake, !options.validated.is_empty());
        out.insert(options.package.source_path(embedded::FILE), text);
    }
    out
}

/// The options of the client package.
pub(super) fn rust_options(settings: &Settings, root: &Path, made: EmitInput<'_>) -> rust::RustOptions {
    let EmitInput { ir, schemas, crates, .. } = made;
    let has = |generator| settings.only.contains(&generator);
    let wanted = &settings.client;
    rust::RustOptions {
        parts: rust::Parts {
            client: has(Generator::Client),
            apply: wanted.apply_configurations,
            fake: wanted.fake_clientset,
            lister: has(Generator::Lister),
            informer: has(Generator::Informer),
        },
        package: package(settings, root, crates, ir),
        hand_written: made.hand_written.texts.keys().cloned().collect(),
        validated: if wanted.validations { embedded::names(ir, schemas) } else { BTreeMap::new() },
        defaults: if wanted.defaults { rust::defaults(ir, schemas) } else { rust::Defaults::default() },
        conversions: wanted.conversions,
        header: settings.header.clone().unwrap_or_default(),
    }
}

fn package(settings: &Settings, root: &Path, crates: &Crates, ir: &Ir) -> rust::Package {
    match &settings.client.target {
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
    // Crates without types in the client, such as a controller's, may depend on the client themselves.
    let named = ir.nameable();
    let is_named = |package: &str| {
        ir.crates.iter().any(|krate| krate.package == *package && named.contains(krate.lib.as_str()))
    };
    let used: BTreeMap<String, rust::Dependency> = apis.filter(|(package, _)| is_named(package)).collect();
    let version = env!("CARGO_PKG_VERSION").to_string();
    let folder =
        |path: &Path| rust::Dependency::Path { path: relative(root, path), version: Some(version.clone()) };
    let published = || rust::Dependency::Version(version.clone());
    // The package uses the API crates' runtime, and the test environment of the same source.
    let (runtime, testenv) = match crates.list.iter().find_map(|krate| krate.runtime.as_ref()) {
        Some(RuntimeSource::Folder(path)) => {
            let testenv = path.join("../testenv");
            let is_there = testenv.join("Cargo.toml").is_file();
            (folder(path), if is_there { folder(&testenv) } else { published() })
        }
        Some(RuntimeSource::Git(git)) => {
            (rust::Dependency::Git(git.clone()), rust::Dependency::Git(git.clone()))
        }
        None => (published(), published()),
    };
    rust::Package::Crate { name, runtime, testenv, apis: used }
}
