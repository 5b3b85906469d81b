//! `kubesmith create api`

use std::path::Path;

use kubesmith_core::names::{module_name, pluralize_kind};

use super::article::with_article;
use super::change::Changes;
use super::generated::{self, Generated};
use super::modules::{self, group_module};
use super::project::{FILE_NAME, Gvk, Project, ProjectApi, ProjectResource};
use super::template::{Values, template};
use super::version::{self, Start};
use super::{Report, ScaffoldError, conversion};

/// Adds a kind to the project, with its controller and a test, and generates its files.
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
    /// Plural of the kind in URLs; default: the plural of its other versions, or the English plural.
    #[arg(long, value_name = "NAME")]
    pub plural: Option<String>,
    /// Scope of the kind; default: the scope of its other versions, or Namespaced.
    #[arg(long, value_enum, ignore_case = true)]
    pub scope: Option<ScopeFlag>,
    /// Existing version to copy. The command also adds conversions between both versions and a test. Default: the existing
    /// version, without conversions.
    #[arg(long, value_name = "VERSION")]
    pub from: Option<String>,
    /// Whether to add a controller; default: yes, unless another version of the kind has one.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true", require_equals = true)]
    pub controller: Option<bool>,
}

/// Scope of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum ScopeFlag {
    /// Objects belong to a namespace.
    Namespaced,
    /// Objects belong to the whole cluster.
    Cluster,
}

/// Adds the kind to the project in `root`.
///
/// # Errors
///
/// Returns an error, before anything is written, if there is no project, a name is invalid or taken, a file
/// lost its markers, or the generated output would have errors; or if a file cannot be written.
pub fn create_api(root: &Path, arguments: &CreateApi) -> Result<Report, ScaffoldError> {
    let mut project = Project::read(root)?;
    let gvk = Gvk::parse(&arguments.group, &arguments.version, &arguments.kind, &project.domain)?;
    let with_controller = wants_controller(&project, &gvk, arguments)?;
    let start = version::start(root, &project, &gvk, arguments.from.as_deref())?;
    let next = next(&project, &gvk, arguments)?;
    let resource = enter(&mut project, &gvk, arguments)?;
    let mut changes = Changes::new(root);
    types(&mut changes, &project, &resource, start)?;
    if arguments.from.is_some() {
        version::convert(root, &mut changes, &mut project, &resource)?;
    }
    if with_controller {
        // The generator decides the names in its files.
        let Generated { values, .. } = Generated::read(root, &changes.unsaved(), &project, &resource)?;
        controller(&mut changes, &project, &gvk, &values)?;
        if let Some(entered) = project.resource_mut(&gvk) {
            entered.controller = true;
        }
    }
    changes.replace(FILE_NAME, project.text());
    Ok(Report { next, ..generated::write(root, changes)? })
}

/// The next step. A kind of several versions needs conversions.
fn next(project: &Project, gvk: &Gvk, arguments: &CreateApi) -> Result<String, ScaffoldError> {
    let (group, version, kind) =
        (group_module(&gvk.group), module_name(&gvk.version), module_name(&gvk.kind));
    let edit = format!("edit the type in api/src/{group}/{version}/{kind}.rs, then make generate test");
    let Some(other) = project.siblings(gvk).next() else { return Ok(edit) };
    let mut webhooks = project.siblings(gvk).filter_map(|other| other.webhooks.as_ref());
    if arguments.from.is_some() || webhooks.any(|webhooks| webhooks.conversion) {
        return Ok(format!("{edit}; {}", conversion::next(project, gvk)?));
    }
    Ok(format!(
        "{edit}; `kubesmith create webhook --group {} --version {} --kind {} --conversion` makes the conversions",
        gvk.group, other.version, gvk.kind
    ))
}

/// Whether to make a controller. A kind has one for all versions.
fn wants_controller(project: &Project, gvk: &Gvk, arguments: &CreateApi) -> Result<bool, ScaffoldError> {
    let other = project.siblings(gvk).find(|other| other.controller);
    match (arguments.controller, other) {
        (Some(true), Some(other)) => Err(ScaffoldError::Usage(format!(
            "{} has a controller, of version {}: let it use another version in controller/src, which is yours, or leave \
             --controller out",
            gvk.kind, other.version
        ))),
        (wanted, other) => Ok(wanted.unwrap_or(other.is_none())),
    }
}

/// The project's entry for the kind, new or existing.
fn enter(project: &mut Project, gvk: &Gvk, arguments: &CreateApi) -> Result<ProjectResource, ScaffoldError> {
    let known = project.resource(gvk).or_else(|| project.siblings(gvk).next());
    let namespaced = match (arguments.scope, known) {
        (Some(scope), _) => scope == ScopeFlag::Namespaced,
        (None, known) => known.is_none_or(|known| known.api.namespaced),
    };
    let usual_plural = || known.map_or_else(|| pluralize_kind(&gvk.kind), |known| known.plural.clone());
    let plural = arguments.plural.clone().unwrap_or_else(usual_plural);
    if let Some(known) = known
        && (known.api.namespaced != namespaced || known.plural != plural)
    {
        let scope = if known.api.namespaced { "Namespaced" } else { "Cluster" };
        return Err(ScaffoldError::Usage(format!(
            "{} is in the project with another scope or plural ({scope}, {}), which all versions share: leave --scope and \
             --plural out, or change its types in api/src first",
            gvk.kind, known.plural
        )));
    }
    if let Some(known) = project.resource(gvk) {
        return Ok(known.clone());
    }
    kubesmith_core::names::dns_label(&plural)
        .map_err(|problem| ScaffoldError::Usage(format!("--plural {plural}: {problem}")))?;
    modules::check(project, gvk)?;
    let api = package_in_code(&project.project_name);
    let path = format!("{api}_api::{}::{}", group_module(&gvk.group), module_name(&gvk.version));
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
    start: Option<Start>,
) -> Result<(), ScaffoldError> {
    let gvk = resource.gvk();
    let group = group_module(&resource.group);
    let version = module_name(&resource.version);
    let kind = module_name(&resource.kind);
    let values = Values::default()
        .with("qualified_group", gvk.qualified_group(&project.domain))
        .with("version", &resource.version)
        .with("kind", &resource.kind)
        .with("a_kind", with_article(&resource.kind))
        .with("plural", &resource.plural)
        .with("facts", facts(project, resource))
        .with("genclient", if resource.api.namespaced { "" } else { "(non_namespaced)" });
    let folder = format!("api/src/{group}");
    changes.file(&format!("{folder}/mod.rs"), values.fill(template("api/group.rs")));
    changes.file(&format!("{folder}/{version}/mod.rs"), values.fill(template("api/version.rs")));
    let Start { text, types } = start.unwrap_or_else(|| Start {
        text: values.fill(template("api/kind.rs")),
        types: ["", "Spec", "Status"].map(|part| format!("{}{part}", resource.kind)).into(),
    });
    let types_file = format!("{folder}/{version}/{kind}.rs");
    let is_new = changes.text(&types_file).is_none();
    changes.file(&types_file, text);
    let module = |name: &str| format!("pub mod {name};");
    changes.line("api/src/lib.rs", "groups", &module(&group), "modules of groups")?;
    changes.line(&format!("{folder}/mod.rs"), "versions", &module(&version), "modules of versions")?;
    let file = format!("{folder}/{version}/mod.rs");
    changes.line(&file, "kinds", &format!("mod {kind};"), "modules of kinds")?;
    // The owner of an existing file decides its exports.
    if is_new {
        let types = types.join(", ");
        changes.line(&file, "kinds", &format!("pub use {kind}::{{{types}}};"), "modules of kinds")?;
    }
    let client = format!("{}-client", project.project_name);
    changes.line("Cargo.toml", "members", "\"client\",", "members")?;
    changes.dependency("Cargo.toml", &client, " = { path = \"client\" }")?;
    changes.dependency("controller/Cargo.toml", &client, ".workspace = true")
}

/// The attribute's facts that differ from the defaults. The first version is stored.
fn facts(project: &Project, resource: &ProjectResource) -> String {
    let mut out = String::new();
    if resource.plural != pluralize_kind(&resource.kind) {
        out.push_str(&format!("    plural = \"{}\",\n", resource.plural));
    }
    if !resource.api.namespaced {
        out.push_str("    scope = \"Cluster\",\n");
    }
    if project.siblings(&resource.gvk()).next().is_none() {
        out.push_str("    storage_version,\n");
    }
    out
}

/// The controller and its test, in the package and in the manager.
fn controller(
    changes: &mut Changes<'_>,
    project: &Project,
    gvk: &Gvk,
    values: &Values,
) -> Result<(), ScaffoldError> {
    let module = modules::place(project, gvk)?.module;
    let package = package_in_code(&project.project_name);
    let call =
        format!("{package}_controller::{module}::add_to_manager(&mut manager, flags.manager.workers)?;");
    changes.line("controller/src/lib.rs", "modules", &format!("pub mod {module};"), "modules")?;
    changes.line("controller/src/main.rs", "controllers", &call, "controllers")?;
    changes.file(&format!("controller/src/{module}.rs"), values.fill(template("controller/kind.rs")));
    changes.file(&format!("controller/tests/{module}.rs"), values.fill(template("controller/test.rs")));
    Ok(())
}
