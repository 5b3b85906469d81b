//! `kubesmith init`

use std::path::{Component, Path, PathBuf};

use kubesmith_core::names::dns_subdomain;

use super::api::package_in_code;
use super::change::Changes;
use super::files::Dependencies;
use super::project::{FILE_NAME, Project};
use super::template::{Values, template};
use super::{Report, ScaffoldError};
use crate::config;
use crate::paths::display;

/// Makes a workspace for an operator: API types, controllers, manifests.
#[derive(Clone, Debug, clap::Args)]
pub struct Init {
    /// Folder of the project; default: the current one.
    #[arg(value_name = "DIR", default_value = ".")]
    pub dir: PathBuf,
    /// Domain of the project's API groups, the suffix of their names.
    #[arg(long, value_name = "DOMAIN", default_value = "my.domain")]
    pub domain: String,
    /// Name of the project; default: the folder's name.
    #[arg(long, value_name = "NAME")]
    pub project_name: Option<String>,
    /// Copyright holder.
    #[arg(long, value_name = "NAME", default_value = "The authors")]
    pub owner: String,
    /// Licence of the project.
    #[arg(long, value_enum, default_value_t = License::Apache2)]
    pub license: License,
    /// Source of kubesmith's packages: `published`, a folder with the source, or URL#REVISION of a git repository; default:
    /// the registry or, until a version is published, the source that this program was installed from.
    #[arg(long, value_name = "SOURCE")]
    pub kubesmith_source: Option<String>,
}

/// A licence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum License {
    /// Apache License 2.0; generated files begin with its header.
    Apache2,
    /// None.
    None,
}

/// Makes the project.
///
/// # Errors
///
/// Returns an error if there is already a project, a name is invalid, or a file cannot be written. Existing
/// files are kept.
pub fn init(arguments: &Init) -> Result<Report, ScaffoldError> {
    let root = arguments.dir.as_path();
    if root.join(FILE_NAME).exists() {
        return Err(ScaffoldError::IsProject(root.join(FILE_NAME)));
    }
    let name = project_name(arguments)?;
    dns_subdomain(&arguments.domain)
        .map_err(|problem| ScaffoldError::Usage(format!("--domain {}: {problem}", arguments.domain)))?;
    let dependencies = Dependencies::new(root, arguments.kubesmith_source.as_deref())?;
    let project = Project {
        domain: arguments.domain.clone(),
        layout: vec!["kubesmith.dev/v1".to_string()],
        project_name: name.clone(),
        resources: Vec::new(),
        version: "3".to_string(),
    };
    let values = Values::default()
        .with("project", &name)
        .with("controller", format!("{}_controller", package_in_code(&name)))
        .with("domain", &arguments.domain)
        .with("owner", one_line(&arguments.owner)?)
        .with("license", if arguments.license == License::Apache2 { "Apache-2.0" } else { "" })
        .with(
            "header_file",
            match arguments.license {
                License::Apache2 => "header_file = \"hack/boilerplate.txt\"\n",
                License::None => "",
            },
        );
    let values = dependencies.values(values);
    let mut changes = Changes::new(root);
    files(&mut changes, &values, arguments.license);
    changes.replace(FILE_NAME, project.text());
    let report = changes.write()?;
    let mut next = "kubesmith create api --group GROUP --version v1alpha1 --kind KIND".to_owned();
    if !root.components().all(|part| part == Component::CurDir) {
        next = format!("cd {} && {next}", display(root));
    }
    Ok(Report { note: Some(dependencies.words()), next, ..report })
}

fn files(changes: &mut Changes<'_>, values: &Values, license: License) {
    let mut manifest = values.fill(template("Cargo.toml"));
    if license == License::None {
        manifest = manifest.replace("license = \"\"\n", "");
    } else {
        changes.file("hack/boilerplate.txt", values.fill(template("hack/boilerplate.txt")));
    }
    let package = |template: &str| {
        let text = values.fill(template);
        if license == License::None { text.replace("license.workspace = true\n", "") } else { text }
    };
    changes.file("Cargo.toml", manifest);
    changes.file("kubesmith.toml", values.fill(template("kubesmith.toml")));
    changes.file("api/Cargo.toml", package(template("api/Cargo.toml")));
    changes.file("api/src/lib.rs", values.fill(template("api/lib.rs")));
    changes.file("controller/Cargo.toml", package(template("controller/Cargo.toml")));
    changes.file("controller/src/lib.rs", values.fill(template("controller/lib.rs")));
    changes.file("controller/src/main.rs", values.fill(template("controller/main.rs")));
    changes.program("hack/update-codegen.sh", values.fill(template("hack/update-codegen.sh")));
    changes.program("hack/verify-codegen.sh", values.fill(template("hack/verify-codegen.sh")));
    changes.program("hack/diff-api.sh", values.fill(template("hack/diff-api.sh")));
    changes.file(".github/workflows/ci.yml", values.fill(template("github/workflows/ci.yml")));
    changes.file("Makefile", values.fill(template("Makefile")));
    changes.file("Dockerfile", values.fill(template("Dockerfile")));
    changes.file(".dockerignore", values.fill(template("dockerignore")));
    changes.file(".gitignore", values.fill(template("gitignore")));
    changes.file("README.md", values.fill(template("README.md")));
}

/// The explicit name, or the folder's.
fn project_name(arguments: &Init) -> Result<String, ScaffoldError> {
    let name = match &arguments.project_name {
        Some(name) => name.clone(),
        None => folder_name(&arguments.dir)?,
    };
    kubesmith_core::names::object::namespace(&name).map_err(|problem| {
        ScaffoldError::Usage(format!("`{name}` is not a name of a project: {problem}; use --project-name"))
    })?;
    config::check_project_name(&name)
        .map_err(|error| ScaffoldError::Usage(format!("{error}; use --project-name")))?;
    if !name.starts_with(|c: char| c.is_ascii_lowercase()) {
        return Err(ScaffoldError::Usage(format!(
            "`{name}` is not a name of a package: it has to begin with a letter; use --project-name"
        )));
    }
    Ok(name)
}

fn folder_name(folder: &Path) -> Result<String, ScaffoldError> {
    let whole = std::path::absolute(folder).map_err(|source| ScaffoldError::Io {
        action: "read",
        path: folder.to_path_buf(),
        source,
    })?;
    Ok(whole.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default())
}

fn one_line(owner: &str) -> Result<&str, ScaffoldError> {
    match owner.contains(|c: char| c.is_control()) {
        true => Err(ScaffoldError::Usage("--owner has to be one line".into())),
        false => Ok(owner),
    }
}
