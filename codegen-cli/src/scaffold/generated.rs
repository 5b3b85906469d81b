//! Runs the generator in a project, and reads its facts about a kind.

use std::path::{Path, PathBuf};

use super::api::package_in_code;
use super::article::with_article;
use super::change::Changes;
use super::modules::{self, Place};
use super::project::{Gvk, Project, ProjectResource};
use super::template::Values;
use super::{Report, ScaffoldError};
use crate::config::{self, Overrides, Settings, WebhookService};
use crate::diag;
use crate::emit::rust::KindNames;
use crate::ir::{Conversion, Group, Ir, Resource, Scope, Version};
use crate::load::Unsaved;
use crate::pipeline;
use crate::source::SourceMap;
use crate::write;

/// Runs the generator on the project with its future files.
///
/// # Errors
///
/// Returns an error for an invalid configuration, or errors in the sources.
fn generate(root: &Path, unsaved: &Unsaved) -> Result<Vec<(Settings, pipeline::Generated)>, ScaffoldError> {
    let file = root.join(config::FILE_NAME);
    let settings = config::settings(Some(&file), Overrides::default())
        .map_err(|error| ScaffoldError::Usage(error.to_string()))?;
    let mut out = Vec::new();
    for settings in settings {
        let generated = pipeline::generate_unsaved(&settings, unsaved);
        if diag::has_errors(&generated.diagnostics) {
            let (diagnostics, sources) = (generated.diagnostics, generated.sources);
            return Err(match unsaved.is_empty() {
                true => ScaffoldError::Broken { diagnostics, sources: Box::new(sources) },
                false => ScaffoldError::Generate { diagnostics, sources: Box::new(with_unwritten(sources)) },
            });
        }
        out.push((settings, generated));
    }
    Ok(out)
}

/// The files, with a note in the name of each one that is not on disk.
fn with_unwritten(sources: SourceMap) -> SourceMap {
    let mut out = SourceMap::default();
    for mut file in sources.into_files() {
        if !file.path.exists() {
            file.name = format!("{} (not written)", file.name).into();
        }
        out.add(file);
    }
    out
}

/// Writes the changes and the output generated from them, like `kubesmith generate` in the project's folder.
///
/// # Errors
///
/// Returns an error, without writing, if the changed project has errors, or if other files are in the place
/// of generated ones.
pub(super) fn write(root: &Path, changes: Changes<'_>) -> Result<Report, ScaffoldError> {
    let runs = generate(root, &changes.unsaved())?;
    let targets: Vec<_> = runs.into_iter().flat_map(|(_, generated)| generated.targets).collect();
    let plan = write::plan(&targets).map_err(ScaffoldError::InTheWay)?;
    let mut report = changes.write()?;
    report.generated = plan.write().map_err(ScaffoldError::Output)?.written;
    Ok(report)
}

/// Facts about a kind of the project, from the generator.
pub(super) struct Generated {
    /// Names in the generated client, for templates.
    pub(super) values: Values,
    /// The stored version: the marked one, or the only one.
    pub(super) stored: Option<String>,
    /// The version marked as the hub.
    pub(super) hub: Option<String>,
    /// The conversion between the kind's versions, if a version has one.
    pub(super) conversion: Option<Conversion>,
    /// The Service of the deployment's webhooks.
    pub(super) service: Option<WebhookService>,
    /// Whether functions convert between versions.
    pub(super) has_conversions: bool,
    /// The file with the kind's type.
    pub(super) file: Option<PathBuf>,
}

impl Generated {
    /// Runs the generator for its names. `unsaved` has the future files.
    ///
    /// # Errors
    ///
    /// Returns an error if the project has errors or lacks the kind.
    pub(super) fn read(
        root: &Path,
        unsaved: &Unsaved,
        project: &Project,
        entry: &ProjectResource,
    ) -> Result<Self, ScaffoldError> {
        let gvk = entry.gvk();
        let group = gvk.qualified_group(&project.domain);
        for (settings, generated) in generate(root, unsaved)? {
            if let Some((found_group, version, resource)) = find(&generated.ir, &group, &gvk) {
                let versions = versions(found_group, &gvk.kind);
                let service = settings.webhook.and_then(|webhook| webhook.service);
                return Ok(Self {
                    values: values(project, entry, found_group, version, resource)?,
                    stored: stored(&versions),
                    hub: versions
                        .iter()
                        .find(|(_, found)| found.crd.hub)
                        .map(|(name, _)| (*name).to_string()),
                    conversion: versions.iter().find_map(|(_, found)| found.crd.conversion.clone()),
                    service,
                    has_conversions: settings.client.conversions,
                    file: generated
                        .sources
                        .loc(&resource.span)
                        .map(|loc| generated.sources.file(loc.file).path.clone()),
                });
            }
        }
        let api_version = format!("{group}/{}", gvk.version);
        Err(ScaffoldError::NoApi { kind: gvk.kind, api_version })
    }
}

/// A kind in all versions of its group.
fn versions<'a>(group: &'a Group, kind: &str) -> Vec<(&'a str, &'a Resource)> {
    let versions = group.versions.iter().filter_map(|version| {
        let resource = version.resources.iter().find(|resource| resource.kind == kind)?;
        Some((version.name.as_str(), resource))
    });
    versions.collect()
}

/// The stored version.
fn stored(versions: &[(&str, &Resource)]) -> Option<String> {
    let marked = versions.iter().find(|(_, resource)| resource.crd.storage || versions.len() == 1);
    marked.map(|(name, _)| (*name).to_string())
}

fn values(
    project: &Project,
    entry: &ProjectResource,
    group: &Group,
    version: &Version,
    resource: &Resource,
) -> Result<Values, ScaffoldError> {
    let package = package_in_code(&project.project_name);
    let namespaced = resource.scope == Scope::Namespaced;
    let choose = |namespaced_text: &str, cluster_text: &str| {
        if namespaced { namespaced_text.to_string() } else { cluster_text.to_string() }
    };
    let plural = &resource.code.plural;
    let names = KindNames::new(group, version, resource);
    let Place { module, controller } = modules::place(project, &entry.gvk())?;
    let dashed = group.name.replace('.', "-");
    let place = format!("{dashed}-{}-{}", version.name, resource.kind.to_lowercase());
    let values = Values::default()
        .with("kind", &resource.kind)
        .with("a_kind", with_article(&resource.kind))
        .with("conversions", names.conversions)
        .with("plural", &resource.plural)
        .with("qualified_group", &group.name)
        .with("version", &version.name)
        .with("version_module", names.version)
        .with("group_module", names.group)
        .with("api", &entry.path)
        .with("client", format!("{package}_client"))
        .with("controller", format!("{package}_controller"))
        .with("kind_in_names", resource.kind.to_lowercase())
        .with("module", module)
        .with("controller_name", controller)
        .with("client_type", plural)
        .with("client_type_of_objects", choose(&format!("Namespaced{plural}"), plural))
        .with("accessor", names.accessor)
        .with("version_accessor", names.version_accessor)
        .with("group_version", names.group_version)
        .with("informer_group", names.informer_group)
        .with("in_namespace", choose(".namespace(key.namespace())", ""))
        .with(
            "api_of_objects",
            choose(
                "namespaced_with(env.client(), \"default\", resource)",
                "all_with(env.client(), resource)",
            ),
        )
        .with("in_default", choose(".namespace(\"default\")", ""))
        .with("apply_arguments", choose("key.name(), key.namespace()", "key.name()"))
        .with("mutate_path", format!("/mutate-{place}"))
        .with("validate_path", format!("/validate-{place}"));
    Ok(values)
}

fn find<'a>(ir: &'a Ir, group: &str, gvk: &Gvk) -> Option<(&'a Group, &'a Version, &'a Resource)> {
    let group = ir.groups.iter().find(|found| found.name == group)?;
    let version = group.versions.iter().find(|found| found.name == gvk.version)?;
    let resource = version.resources.iter().find(|found| found.kind == gvk.kind)?;
    Some((group, version, resource))
}
