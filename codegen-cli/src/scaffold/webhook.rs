//! `kubesmith create webhook`

use std::path::Path;

use super::change::Changes;
use super::generated::{self, Generated};
use super::project::{FILE_NAME, Gvk, Project, ProjectWebhooks};
use super::template::{Values, template};
use super::{Report, ScaffoldError, conversion, modules};
use crate::load::Unsaved;

/// Adds webhooks for a kind of the project, and generates their configurations, certificate and Service.
#[derive(Clone, Debug, clap::Args)]
pub struct CreateWebhook {
    /// Group, without the project's domain.
    #[arg(long, value_name = "GROUP")]
    pub group: String,
    /// Version.
    #[arg(long, value_name = "VERSION")]
    pub version: String,
    /// Kind.
    #[arg(long, value_name = "KIND")]
    pub kind: String,
    /// Adds a webhook that sets defaults.
    #[arg(long)]
    pub defaulting: bool,
    /// Adds a webhook that validates.
    #[arg(long, visible_alias = "validation")]
    pub programmatic_validation: bool,
    /// Adds a conversion webhook for the kind. This version is the hub: all versions convert to and from it.
    #[arg(long)]
    pub conversion: bool,
}

/// Adds the webhooks to the project in `root`.
///
/// # Errors
///
/// Returns an error, before anything is written, if there is no project or kind, no webhook is requested or
/// possible, a file lost its markers, or the generated output would have errors; or if a file cannot be
/// written.
pub fn create_webhook(root: &Path, arguments: &CreateWebhook) -> Result<Report, ScaffoldError> {
    if !arguments.defaulting && !arguments.programmatic_validation && !arguments.conversion {
        return Err(ScaffoldError::Usage(
            "say which webhooks: --defaulting, --programmatic-validation, --conversion, or several of them"
                .into(),
        ));
    }
    let mut project = Project::read(root)?;
    let gvk = Gvk::parse(&arguments.group, &arguments.version, &arguments.kind, &project.domain)?;
    let Some(entry) = project.resource(&gvk).cloned() else {
        let api_version = format!("{}/{}", gvk.qualified_group(&project.domain), gvk.version);
        return Err(ScaffoldError::NoApi { kind: gvk.kind, api_version });
    };
    let generated = Generated::read(root, &Unsaved::default(), &project, &entry)?;
    let mut changes = Changes::new(root);
    server(&mut changes, &generated.values)?;
    let kinds = [
        (arguments.defaulting, "defaulter", "Defaulter", template("controller/defaulter.rs")),
        (arguments.programmatic_validation, "validator", "Validator", template("controller/validator.rs")),
    ];
    let mut next = Vec::new();
    for (_, what, type_, template) in kinds.into_iter().filter(|(is_wanted, ..)| *is_wanted) {
        let module = modules::webhook_module(&project, &gvk, what)?;
        changes.file(&format!("controller/src/{module}.rs"), generated.values.fill(template));
        changes.line("controller/src/lib.rs", "modules", &format!("pub mod {module};"), "modules")?;
        next.push(format!("write what the webhook does in controller/src/{module}.rs"));
        let line = format!(".{what}(crate::{module}::{}{type_})", gvk.kind);
        changes.line("controller/src/webhooks.rs", "webhooks", &line, "webhooks")?;
    }
    if arguments.conversion {
        conversion::add(&mut changes, &project, &gvk, &generated)?;
        next.push(conversion::next(&project, &gvk)?);
    }
    next.push("then make generate test".to_owned());
    enter(&mut project, &gvk, arguments);
    changes.replace(FILE_NAME, project.text());
    Ok(Report { next: next.join("; "), ..generated::write(root, changes)? })
}

/// The flag of the manager that disables webhooks, for runs without a certificate.
const FLAG: &str = "/// Serves the webhooks, which need a certificate.\n\
    #[arg(long, env = \"ENABLE_WEBHOOKS\", default_value_t = true, action = clap::ArgAction::Set)]\n\
    webhooks: bool,";

/// Adds the webhooks' server.
pub(super) fn server(changes: &mut Changes<'_>, values: &Values) -> Result<(), ScaffoldError> {
    changes.file("controller/src/webhooks.rs", values.fill(template("controller/webhooks.rs")));
    changes.line("controller/src/lib.rs", "modules", "pub mod webhooks;", "modules")?;
    let main = "controller/src/main.rs";
    let mut call = values.fill("{{controller}}::webhooks::add_to_manager(&mut manager)?;");
    // Projects of older versions have no marker for flags.
    if changes.text(main).is_some_and(|text| text.contains("+kubesmith:scaffold:flags")) {
        changes.line(main, "flags", FLAG, "flags")?;
        call = format!("if flags.webhooks {{\n    {call}\n}}");
    }
    changes.line(main, "webhooks", &call, "webhooks")
}

/// Records the kind's webhooks in the project.
fn enter(project: &mut Project, gvk: &Gvk, arguments: &CreateWebhook) {
    if let Some(entry) = project.resource_mut(gvk) {
        let webhooks = entry.webhooks.get_or_insert_with(ProjectWebhooks::default);
        webhooks.webhook_version = "v1".to_string();
        webhooks.defaulting |= arguments.defaulting;
        webhooks.validation |= arguments.programmatic_validation;
    }
    if arguments.conversion {
        conversion::enter(project, gvk);
    }
}
