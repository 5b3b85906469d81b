//! Emits a Helm chart with the objects of the installer.
//!
//! ```text
//! Chart.yaml   values.yaml   values.schema.json   templates/<folder of the tree>/<file of the tree>
//! ```
//!
//! The chart has no Namespace: `helm install --namespace NAME --create-namespace` creates it. With the
//! namespace of `[deploy]` and the default values, its objects equal those of the installer.

mod crds;
mod manager;
mod place;
mod template;
mod types;
mod values;

use std::collections::BTreeSet;

use serde_json::Value;

use crate::config::HelmSettings;
use crate::output::{HELM_MARK, KEEP_BEGIN, KEEP_END, OutputTree};
use template::Template;
use values::Values;

pub use manager::{POD_COLUMN, POD_KEYS};
pub use values::VALUES;

/// The keys of `Chart.yaml`.
pub const CHART_KEYS: &[&str] = &["apiVersion", "appVersion", "description", "name", "type", "version"];

/// The optional parts of the project that the chart has.
#[derive(Clone, Copy)]
struct Has {
    webhooks: bool,
    policies: bool,
    issued_metrics: bool,
}

/// Emits the chart. `files` are the objects of the deployment by their file in its tree; `own` are the names of the user's
/// values.
pub fn emit(settings: &HelmSettings, files: &[(String, Vec<Value>)], own: &BTreeSet<String>) -> OutputTree {
    let has = |folder: &str| files.iter().any(|(path, _)| path.starts_with(folder));
    let has = Has {
        webhooks: has("webhook/"),
        policies: has("policy/"),
        issued_metrics: settings.deploy.has_issued_metrics(),
    };
    let mut tree = OutputTree::new();
    tree.insert("Chart.yaml", chart(settings));
    let manager = files.iter().find(|(path, _)| path == MANAGER).and_then(|(_, objects)| objects.first());
    let values = Values {
        settings,
        has,
        pod: manager.map_or(&Value::Null, |manager| &manager["spec"]["template"]["spec"]),
    };
    tree.insert("values.yaml", values.file());
    tree.insert("values.schema.json", values.schema(own));
    let of_crds = files.iter().filter(|(path, _)| path.starts_with("crd/"));
    let definitions: Vec<&Value> = of_crds.flat_map(|(_, objects)| objects).collect();
    if let Some(text) = crds::checks(settings, &definitions) {
        tree.insert("templates/crd/checks.yaml", mark() + &text);
    }
    for (path, objects) in files {
        let Some(condition) = condition(path, has) else { continue };
        let is_manager = path == MANAGER;
        let mut text = if is_manager { mark_with_kept() } else { mark() };
        if is_manager {
            text.push_str(&manager::port_clashes(settings.deploy.health_port, has.webhooks));
        }
        if !condition.is_empty() {
            text.push_str(&format!("{{{{- if {condition} }}}}\n"));
        }
        for object in objects {
            text.push_str("---\n");
            text.push_str(&object_text(settings, path, object, has.webhooks));
        }
        if is_manager {
            text.push_str(&kept("pod", POD_COLUMN));
        }
        if !condition.is_empty() {
            text.push_str("{{- end }}\n");
        }
        tree.insert(format!("templates/{path}"), text);
    }
    tree
}

/// The file of the Deployment or StatefulSet in the tree.
pub const MANAGER: &str = "manager/manager.yaml";

/// The condition for installing the objects of a file; empty: always. `None`: never.
fn condition(path: &str, has: Has) -> Option<String> {
    let (folder, file) = path.split_once('/').unwrap_or(("", path));
    let is_for = |suffix: &str| file.ends_with(suffix);
    let text = match folder {
        "crd" => ".Values.crds.install",
        "certmanager" if file == "certificate_metrics.yaml" => ".Values.metrics.enabled",
        "certmanager" if file == "issuer.yaml" && !has.webhooks => ".Values.metrics.enabled",
        "certmanager" if file == "issuer.yaml" && has.issued_metrics => {
            "or .Values.webhooks.enabled .Values.metrics.enabled"
        }
        "webhook" | "certmanager" => ".Values.webhooks.enabled",
        "policy" => ".Values.policies.enabled",
        "prometheus" => "and .Values.metrics.enabled .Values.metrics.serviceMonitor.enabled",
        "default" => ".Values.metrics.enabled",
        "manager" if file == "namespace.yaml" => return None,
        "rbac" if file == "service_account.yaml" => ".Values.serviceAccount.create",
        "rbac" if file.starts_with("leader_election_role") => {
            "and .Values.rbac.create .Values.leaderElection.enabled"
        }
        "rbac" if file.starts_with("cert_rotation_role") || file.starts_with("ca_injection_role") => {
            "and .Values.rbac.create .Values.webhooks.enabled"
        }
        "rbac" if file.starts_with("metrics_") => "and .Values.rbac.create .Values.metrics.enabled",
        "rbac" if ["_admin_role.yaml", "_editor_role.yaml", "_viewer_role.yaml"].into_iter().any(is_for) => {
            ".Values.rbac.userRoles"
        }
        "rbac" => ".Values.rbac.create",
        _ => "",
    };
    Some(text.to_string())
}

/// The template of an object.
fn object_text(settings: &HelmSettings, path: &str, object: &Value, has_webhooks: bool) -> String {
    let mut template = Template::of(object);
    let mut object = object.clone();
    if path == MANAGER {
        manager::workload(&mut object, &mut template, has_webhooks);
    }
    place::in_release(&mut object, &mut template, settings);
    match path.split_once('/').map(|(folder, _)| folder) {
        Some("crd") => place::keep(&mut object, &mut template),
        Some("default") => place::metrics_port(&mut object, &mut template, settings),
        Some("prometheus") => {
            place::metrics_port(&mut object, &mut template, settings);
            place::metrics_authority(&mut object, &mut template, settings);
        }
        _ => {}
    }
    template.text(&object)
}

fn chart(settings: &HelmSettings) -> String {
    let HelmSettings { deploy, version, app_version, .. } = settings;
    let text = |text: &str| Value::String(text.to_string()).to_string();
    format!(
        "{}apiVersion: v2\nappVersion: {}\ndescription: {}\nname: {}\ntype: application\nversion: {}\n{}",
        mark_with_kept(),
        text(app_version),
        text(&format!("The controllers of {}", deploy.name)),
        text(&deploy.name),
        text(version),
        kept("chart", 0)
    )
}

/// The lines at the start of a YAML file.
fn mark() -> String {
    mark_but("")
}

/// The same for a file with a place for the user's own lines.
fn mark_with_kept() -> String {
    mark_but(", except between `keep begin` and `keep end`")
}

fn mark_but(exception: &str) -> String {
    format!(
        "{HELM_MARK} v{}. DO NOT EDIT{exception}.\n# To keep the file as your own, take this comment out.\n",
        env!("CARGO_PKG_VERSION")
    )
}

/// A place for the user's own lines.
fn kept(name: &str, columns: usize) -> String {
    let indent = " ".repeat(columns);
    format!("{indent}{KEEP_BEGIN}{name}\n{indent}{KEEP_END}{name}\n")
}
