//! `kubesmith create webhook --conversion`

use kubesmith_core::names::module_name;

use super::ScaffoldError;
use super::change::Changes;
use super::generated::Generated;
use super::modules::{self, group_module};
use super::project::{Gvk, Project, ProjectResource, ProjectWebhooks};
use super::template::template;
use crate::ir::{Conversion, WEBHOOK_SERVICE};

/// Adds the conversions of a kind to the webhooks' server, and their webhook to its CRD.
///
/// # Errors
///
/// Returns an error if there is nothing to convert, another version is the hub, or a file lost its marker.
pub(super) fn add(
    changes: &mut Changes<'_>,
    project: &Project,
    gvk: &Gvk,
    generated: &Generated,
) -> Result<(), ScaffoldError> {
    check(project, gvk, generated)?;
    let values = &generated.values;
    let module = format!("{}_conversion", modules::place(project, gvk)?.module);
    changes.file("controller/src/conversions.rs", values.fill(template("controller/conversions.rs")));
    changes.file(&format!("controller/src/{module}.rs"), values.fill(template("controller/conversion.rs")));
    changes.file(
        &format!("controller/tests/{module}.rs"),
        values.fill(template("controller/conversion_test.rs")),
    );
    for module in ["conversions", &module] {
        changes.line("controller/src/lib.rs", "modules", &format!("pub mod {module};"), "modules")?;
    }
    let register = format!("crate::{module}::register(&mut scheme);");
    changes.line("controller/src/conversions.rs", "conversions", &register, "conversions")?;
    let all = ".conversions(crate::conversions::all())";
    changes.line("controller/src/webhooks.rs", "webhooks", all, "webhooks")?;
    let folder = format!("api/src/{}/{}", group_module(&gvk.group), module_name(&gvk.version));
    let file = format!("{folder}/{}.rs", module_name(&gvk.kind));
    let mut key = |text: &str| changes.line(&file, "resource", text, "more keys of #[resource]");
    if generated.hub.is_none() && generated.stored.as_ref() != Some(&gvk.version) {
        key("hub,")?;
    }
    match generated.conversion {
        Some(_) => Ok(()),
        None => key(&stanza(generated)),
    }
}

/// The next step with conversions.
pub(super) fn next(project: &Project, gvk: &Gvk) -> Result<String, ScaffoldError> {
    let module = modules::place(project, gvk)?.module;
    Ok(format!(
        "where the versions differ, the compiler names the methods that controller/src/{module}_conversion.rs lacks"
    ))
}

/// Records in the project that all other versions of the kind are converted to and from this one.
pub(super) fn enter(project: &mut Project, hub: &Gvk) {
    let spoke: Vec<String> = project.siblings(hub).map(|other| other.version.clone()).collect();
    let Some(entry) = project.resource_mut(hub) else { return };
    let webhooks = entry.webhooks.get_or_insert_with(ProjectWebhooks::default);
    webhooks.webhook_version = "v1".to_string();
    webhooks.conversion = true;
    webhooks.spoke = spoke;
}

fn check(project: &Project, gvk: &Gvk, generated: &Generated) -> Result<(), ScaffoldError> {
    let refused = |text: String| Err(ScaffoldError::Usage(text));
    if project.siblings(gvk).next().is_none() {
        return refused(format!(
            "{} has no version but {}: add one with `kubesmith create api` first",
            gvk.kind, gvk.version
        ));
    }
    if let Some(hub) = generated.hub.as_ref().filter(|hub| **hub != gvk.version) {
        return refused(format!(
            "all versions of {} are converted to and from {hub}, which says `hub`: use --version {hub}, or move `hub` to {} \
             first",
            gvk.kind, gvk.version
        ));
    }
    let converts =
        |other: &&ProjectResource| other.webhooks.as_ref().is_some_and(|webhooks| webhooks.conversion);
    if let Some(other) = project.siblings(gvk).find(converts) {
        return refused(format!(
            "{} has its conversions already, to and from {}: to choose another hub, say `hub` in #[resource] of {} and \
             write them anew in controller/src",
            gvk.kind, other.version, gvk.version
        ));
    }
    if !generated.has_conversions {
        return refused("`conversions` in `[client]` is false: functions that convert are needed".into());
    }
    if generated.conversion == Some(Conversion::None) {
        return refused(format!(
            "`conversion(strategy = \"None\")` in #[resource] of {} says that no webhook converts: remove it first",
            gvk.kind
        ));
    }
    Ok(())
}

/// The keys of `#[resource]` that point an API server to the webhook.
fn stanza(generated: &Generated) -> String {
    let (name, namespace) = match &generated.service {
        Some(service) => (service.name.as_str(), service.namespace.as_str()),
        None => WEBHOOK_SERVICE,
    };
    let mut out = format!(
        "conversion(\n    strategy = \"Webhook\",\n    service_namespace = \"{namespace}\",\n    \
         service_name = \"{name}\",\n    path = \"/convert\"\n),"
    );
    let certificate = generated.service.as_ref().and_then(|service| service.certificate.as_ref());
    if let Some(certificate) = certificate {
        let annotation = format!("\"cert-manager.io/inject-ca-from\" = \"{certificate}\"");
        out.push_str(&format!("\nmetadata(annotations({annotation})),"));
    }
    out
}
