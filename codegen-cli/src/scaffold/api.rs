//! `kubesmith create api`

use std::path::Path;

use kubesmith_core::names::{module_name, pluralize_kind};

use super::change::Changes;
use super::project::{FILE_NAME, Gvk, Project, ProjectApi, ProjectResource};
use super::template::{Values, template};
use super::{Report, ScaffoldError};
use crate::config::{self, Overrides, Settings};
use crate::diag;
use crate::ir::{Group, Ir, Resource, Scope, Version};
use crate::output;
use crate::pipeline;

/// Adds a kind to the project, with its controller and a test, and generates what follows from it.
#[derive(Clone, Debug, clap::Args)]
pub struct CreateApi {
    /// Group, without the project's domain.
    #[arg(long, value_name = "GROUP")]
    pub group: String,
    /// Version, such as v1alpha1.
    #[arg(long, value_name = "VERSION")]
    pub version: String,
    /// Kind, such as IPPool.
    #[arg(long, value_name = "KIND")]
    pub kind: String,
    /// Plural of the kind in URLs; default: by the rules of English.
    #[arg(long, value_name = "NAME")]
    pub plural: Option<String>,
    /// Whether objects live in namespaces.
    #[arg(long, value_enum, ignore_case = true, default_value_t = ScopeFlag::Namespaced)]
    pub scope: ScopeFlag,
    /// Whether a controller is made; default: yes, unless another version of the kind has one.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true", require_equals = true)]
    pub controller: Option<bool>,
}

/// Scope of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum ScopeFlag {
    /// Objects live in namespaces.
    Namespaced,
    /// Objects belong to the whole cluster.
    Cluster,
}

/// Adds the kind to the project in `root`.
///
/// # Errors
///
/// There is no project, a name is none, a file lost its markers or cannot be written, or what is generated has errors.
pub fn create_api(root: &Path, arguments: &CreateApi) -> Result<Report, ScaffoldError> {
    let mut project = Project::read(root)?;
    let gvk = Gvk::parse(&arguments.group, &arguments.version, &arguments.kind, &project.domain)?;
    let with_controller = arguments.controller.unwrap_or_else(|| !has_controller(&project, &gvk));
    let resource = enter(&mut project, &gvk, arguments)?;
    let mut changes = Changes::new(root);
    types(&mut changes, &project, &resource)?;
    if let Some(entered) = project.resource_mut(&gvk) {
        entered.controller |= with_controller;
    }
    changes.replace(FILE_NAME, project.text());
    let mut report = changes.write()?;
    report.generated = generate(root)?;
    if with_controller {
        let mut changes = Changes::new(root);
        let names = Names::read(root, &project, &resource)?;
        controller(&mut changes, &names)?;
        let more = changes.write()?;
        report.written.extend(more.written);
        report.changed.extend(more.changed);
        report.kept.extend(more.kept);
        // The controller's rules.
        report.generated += generate(root)?;
    }
    Ok(report)
}

/// Whether a version of the kind has a controller already.
fn has_controller(project: &Project, gvk: &Gvk) -> bool {
    let mut others =
        project.resources.iter().filter(|other| other.group == gvk.group && other.kind == gvk.kind);
    others.any(|other| other.controller && other.version != gvk.version)
}

/// The project's entry of the kind, new or old.
fn enter(project: &mut Project, gvk: &Gvk, arguments: &CreateApi) -> Result<ProjectResource, ScaffoldError> {
    let namespaced = arguments.scope == ScopeFlag::Namespaced;
    if let Some(known) = project.resource(gvk) {
        let same_plural = arguments.plural.as_ref().is_none_or(|plural| *plural == known.plural);
        if known.api.namespaced != namespaced || !same_plural {
            return Err(ScaffoldError::Usage(format!(
                "{} is in the project with another scope or plural: change its type in api/src, which is yours",
                gvk.kind
            )));
        }
        return Ok(known.clone());
    }
    let plural = arguments.plural.clone().unwrap_or_else(|| pluralize_kind(&gvk.kind));
    kubesmith_core::names::dns_label(&plural)
        .map_err(|problem| ScaffoldError::Usage(format!("--plural {plural}: {problem}")))?;
    let api = package_in_code(&project.project_name);
    let path =
        format!("{api}_api::{}::{}", module_name(&gvk.group.replace('.', "_")), module_name(&gvk.version));
    let resource = ProjectResource {
        api: ProjectApi { crd_version: "v1".to_string(), namespaced },
        controller: false,
        domain: project.domain.clone(),
        group: gvk.group.clone(),
        kind: gvk.kind.clone(),
        path,
        plural,
        version: gvk.version.clone(),
        webhooks: None,
    };
    project.resources.push(resource.clone());
    Ok(resource)
}

pub(super) fn package_in_code(name: &str) -> String {
    name.replace('-', "_")
}

/// The type, in a module for its group and version.
fn types(
    changes: &mut Changes<'_>,
    project: &Project,
    resource: &ProjectResource,
) -> Result<(), ScaffoldError> {
    let gvk = gvk(resource);
    let group = module_name(&resource.group.replace('.', "_"));
    let version = module_name(&resource.version);
    let kind = module_name(&resource.kind);
    let usual_plural = resource.plural == pluralize_kind(&resource.kind);
    let plural =
        if usual_plural { String::new() } else { format!("    plural = \"{}\",\n", resource.plural) };
    let scope = if resource.api.namespaced { "" } else { "    scope = \"Cluster\",\n" };
    let values = Values::default()
        .with("qualified_group", gvk.qualified_group(&project.domain))
        .with("version", &resource.version)
        .with("kind", &resource.kind)
        .with("plural", &resource.plural)
        .with("facts", format!("{plural}{scope}"))
        .with("genclient", if resource.api.namespaced { "" } else { "(non_namespaced)" });
    let folder = format!("api/src/{group}");
    changes.file(&format!("{folder}/mod.rs"), values.fill(template!("api/group.rs")));
    changes.file(&format!("{folder}/{version}/mod.rs"), values.fill(template!("api/version.rs")));
    changes.file(&format!("{folder}/{version}/{kind}.rs"), values.fill(template!("api/kind.rs")));
    changes.line("api/src/lib.rs", "groups", &format!("pub mod {group};"), "modules of groups")?;
    changes.line(
        &format!("{folder}/mod.rs"),
        "versions",
        &format!("pub mod {version};"),
        "modules of versions",
    )?;
    let file = format!("{folder}/{version}/mod.rs");
    changes.line(&file, "kinds", &format!("mod {kind};"), "modules of kinds")?;
    let types = ["", "Spec", "Status"].map(|part| format!("{}{part}", resource.kind)).join(", ");
    changes.line(&file, "kinds", &format!("pub use {kind}::{{{types}}};"), "modules of kinds")?;
    let client = format!("{}-client", project.project_name);
    let dependency = format!("{client} = {{ path = \"client\" }}");
    changes.line("Cargo.toml", "members", "\"client\",", "members")?;
    changes.line("Cargo.toml", "dependencies", &dependency, "dependencies")?;
    changes.line(
        "controller/Cargo.toml",
        "dependencies",
        &format!("{client}.workspace = true"),
        "dependencies",
    )
}

fn gvk(resource: &ProjectResource) -> Gvk {
    Gvk { group: resource.group.clone(), version: resource.version.clone(), kind: resource.kind.clone() }
}

fn settings(root: &Path) -> Result<Vec<Settings>, ScaffoldError> {
    let file = root.join(config::FILE_NAME);
    config::settings(Some(&file), Overrides::default())
        .map_err(|error| ScaffoldError::Usage(error.to_string()))
}

/// Generates as `kubesmith generate` does in the project's folder; the number of files that were written.
pub(super) fn generate(root: &Path) -> Result<usize, ScaffoldError> {
    let mut targets = Vec::new();
    for settings in settings(root)? {
        let generated = pipeline::generate(&settings);
        if diag::has_errors(&generated.diagnostics) {
            let (diagnostics, sources) = (generated.diagnostics, Box::new(generated.sources));
            return Err(ScaffoldError::Generate { diagnostics, sources });
        }
        targets.extend(generated.targets);
    }
    let plan = output::plan(&targets).map_err(ScaffoldError::Output)?;
    let summary = plan.write().map_err(|error| ScaffoldError::Output(vec![error]))?;
    Ok(summary.written)
}

/// A kind's names in the generated client.
pub(super) struct Names {
    pub(super) values: Values,
    pub(super) module: String,
}

impl Names {
    /// Asks the generator, so that there is one rule for names.
    pub(super) fn read(
        root: &Path,
        project: &Project,
        resource: &ProjectResource,
    ) -> Result<Self, ScaffoldError> {
        let settings = settings(root)?;
        let gvk = gvk(resource);
        let group = gvk.qualified_group(&project.domain);
        let found = settings.iter().find_map(|settings| {
            let generated = pipeline::generate(settings);
            find(&generated.ir, &group, &gvk)
                .map(|(group, version, found)| Self::new(project, resource, group, version, found))
        });
        found.ok_or_else(|| ScaffoldError::NoApi {
            kind: gvk.kind.clone(),
            api_version: format!("{group}/{}", gvk.version),
        })
    }

    fn new(
        project: &Project,
        entry: &ProjectResource,
        group: &Group,
        version: &Version,
        resource: &Resource,
    ) -> Self {
        let package = package_in_code(&project.project_name);
        let namespaced = resource.scope == Scope::Namespaced;
        let choose = |namespaced_text: &str, cluster_text: &str| {
            if namespaced { namespaced_text.to_string() } else { cluster_text.to_string() }
        };
        let plural = &resource.code.plural;
        let dashed = group.name.replace('.', "-");
        let place = format!("{dashed}-{}-{}", version.name, resource.kind.to_lowercase());
        let values = Values::default()
            .with("kind", &resource.kind)
            .with("kind_module", &resource.code.module)
            .with("plural", &resource.plural)
            .with("qualified_group", &group.name)
            .with("version", &version.name)
            .with("version_module", module_name(&version.name))
            .with("group_module", &group.module)
            .with("api", &entry.path)
            .with("client", format!("{package}_client"))
            .with("controller", format!("{package}_controller"))
            .with("controller_name", resource.kind.to_lowercase())
            .with("client_type", plural)
            .with("client_type_of_objects", choose(&format!("Namespaced{plural}"), plural))
            .with("accessor", &resource.code.accessor)
            .with(
                "group_version",
                format!("{}_{}", module_name(&group.code_name), module_name(&version.name)),
            )
            .with("informer_group", module_name(&group.informer_code_name))
            .with("in_namespace", choose(".namespace(key.namespace())", ""))
            .with("in_default", choose(".namespace(\"default\")", ""))
            .with("apply_arguments", choose("key.name(), key.namespace()", "key.name()"))
            .with("mutate_path", format!("/mutate-{place}"))
            .with("validate_path", format!("/validate-{place}"));
        Self { values, module: resource.code.module.clone() }
    }
}

fn find<'a>(ir: &'a Ir, group: &str, gvk: &Gvk) -> Option<(&'a Group, &'a Version, &'a Resource)> {
    let group = ir.groups.iter().find(|found| found.name == group)?;
    let version = group.versions.iter().find(|found| found.name == gvk.version)?;
    let resource = version.resources.iter().find(|found| found.kind == gvk.kind)?;
    Some((group, version, resource))
}

fn controller(changes: &mut Changes<'_>, names: &Names) -> Result<(), ScaffoldError> {
    let Names { values, module } = names;
    changes.file(&format!("controller/src/{module}.rs"), values.fill(template!("controller/kind.rs")));
    changes.file(&format!("controller/tests/{module}.rs"), values.fill(template!("controller/test.rs")));
    changes.line("controller/src/lib.rs", "modules", &format!("pub mod {module};"), "modules")?;
    let call = values.fill(&format!("{{{{controller}}}}::{module}::add_to_manager(&mut manager)?;"));
    changes.line("controller/src/main.rs", "controllers", &call, "controllers")
}
