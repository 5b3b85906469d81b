//! Emits the manifests that run a manager: kubebuilder's kustomize tree, and one file with all of it.
//!
//! ```text
//! crd/kustomization.yaml         rbac/{kustomization,service_account,role_binding,...}.yaml
//! manager/{kustomization,manager}.yaml      prometheus/{kustomization,monitor,rules}.yaml
//! webhook/{kustomization,service,...}.yaml  certmanager/{kustomization,issuer,certificate,...}.yaml
//! policy/kustomization.yaml
//! default/{kustomization,metrics_service}.yaml   samples/{kustomization,<group>_<version>_<kind>}.yaml
//! ```
//!
//! Unlike kubebuilder's, the objects have their final names and namespace: building the tree renames nothing,
//! each folder can be applied alone, and the single file has the same objects. The generators `crd`, `rbac`,
//! `webhook` and `policy` write the other files in the folders of these names.

mod alerts;
mod certificates;
mod metrics;
mod objects;
mod rights;
mod samples;

use std::collections::BTreeSet;

use kubesmith_apimachinery::yaml;
use serde_json::{Value, json};

use super::{crd, policy, rbac, webhook};
use crate::config::{Certificates, DeploySettings};
use crate::definition::Definition;
use crate::ir::{Conversion, ConversionWebhook, Group, Ir, Resource, WebhookEndpoint};
use crate::output::{DEPLOY_MARK, OutputTree};
use crate::roles::Role;
use crate::schema::Schemas;
use certificates::Trusting;

/// The outputs of the other generators for the same input.
#[derive(Clone, Copy, Debug)]
pub struct Parts<'a> {
    /// CRDs by file name.
    pub crds: &'a OutputTree,
    /// The roles of the rules.
    pub roles: &'a [Role],
    /// Their file.
    pub rbac: &'a OutputTree,
    /// The webhook configurations; empty without a webhook.
    pub webhooks: &'a OutputTree,
    /// The objects in them.
    pub configurations: &'a [Value],
    /// The admission policies; empty without one.
    pub policies: &'a OutputTree,
}

/// A folder of the tree.
struct Folder {
    name: &'static str,
    /// Files of this generator, with their objects.
    files: Vec<(String, Value)>,
    /// Files with comments beside their object.
    texts: Vec<(String, String)>,
    /// Files of other generators, relative to the folder.
    others: Vec<String>,
}

impl Folder {
    fn new(name: &'static str) -> Self {
        Self { name, files: Vec::new(), texts: Vec::new(), others: Vec::new() }
    }

    fn object(mut self, file: impl Into<String>, object: &Value) -> Self {
        self.files.push((file.into(), object.clone()));
        self
    }

    fn is_empty(&self) -> bool {
        self.files.is_empty() && self.texts.is_empty() && self.others.is_empty()
    }

    /// The folder's files and its list of them.
    fn write(&self, tree: &mut OutputTree) {
        let mut resources: Vec<&str> = self.others.iter().map(String::as_str).collect();
        let objects = self.files.iter().map(|(file, object)| (file, yaml::document(object)));
        for (file, text) in objects.chain(self.texts.iter().map(|(file, text)| (file, text.clone()))) {
            resources.push(file);
            tree.insert(format!("{}/{file}", self.name), format!("{}{text}", mark()));
        }
        tree.insert(format!("{}/kustomization.yaml", self.name), kustomization(&resources));
    }
}

/// Emits the tree and, if requested, the text of the installer.
pub fn emit(
    ir: &Ir,
    schemas: &Schemas,
    settings: &DeploySettings,
    parts: Parts<'_>,
) -> (OutputTree, Option<String>) {
    let folders = folders(ir, settings, parts);
    let mut tree = OutputTree::new();
    for folder in folders.iter().filter(|folder| !folder.is_empty()) {
        folder.write(&mut tree);
    }
    let metrics = metrics::metrics_service(settings);
    default_folder(&folders, metrics.as_ref(), settings).write(&mut tree);
    let samples = samples::folder(ir, schemas);
    if !samples.is_empty() {
        samples.write(&mut tree);
    }
    let installer = settings.installer.as_ref().map(|_| {
        let settings = &DeploySettings { image: settings.installer_image.clone(), ..settings.clone() };
        everything(&self::folders(ir, settings, parts), metrics.as_ref(), settings, parts)
    });
    (tree, installer)
}

/// The objects of the deployment by their file in the tree, for other output formats.
pub(crate) fn objects(
    ir: &Ir,
    settings: &DeploySettings,
    parts: Parts<'_>,
    definitions: &[Definition<'_>],
) -> Vec<(String, Vec<Value>)> {
    let mut out = Vec::new();
    for folder in folders(ir, settings, parts) {
        let mut others = Vec::new();
        match folder.name {
            "crd" => others.extend(definitions.iter().map(|one| (crd::file_name(one), vec![one.to_value()]))),
            "rbac" => others.push((settings.role_file.clone(), rbac::objects(parts.roles))),
            "webhook" => others.push((webhook::FILE.to_string(), parts.configurations.to_vec())),
            "policy" => others.push((policy::FILE.to_string(), policy::objects(ir))),
            _ => {}
        }
        let own = folder.files.into_iter().map(|(file, object)| (file, vec![object]));
        let files = others.into_iter().chain(own).filter(|(_, objects)| !objects.is_empty());
        out.extend(files.map(|(file, objects)| (format!("{}/{file}", folder.name), objects)));
    }
    let metrics = metrics::metrics_service(settings);
    out.extend(metrics.map(|service| ("default/metrics_service.yaml".to_string(), vec![service])));
    out
}

/// The folders in `default`, in the order in which their objects must be created.
fn folders(ir: &Ir, settings: &DeploySettings, parts: Parts<'_>) -> Vec<Folder> {
    let trusting = trusting(ir, settings, parts.configurations);
    let has_webhooks = !parts.webhooks.is_empty() || !trusting.definitions.is_empty();
    let manager = Folder::new("manager")
        .object("namespace.yaml", &objects::namespace(settings))
        .object("manager.yaml", &objects::workload(settings, has_webhooks.then_some(&trusting)));
    let mut crd = Folder::new("crd");
    let below = |name: &str| match settings.crd_folder.as_str() {
        "" => name.to_string(),
        folder => format!("{folder}/{name}"),
    };
    crd.others = parts.crds.iter().map(|(name, _)| below(name)).collect();
    let mut rbac = Folder::new("rbac");
    rbac.others = parts.rbac.iter().map(|(name, _)| name.to_string()).collect();
    for (file, object) in rights::objects(ir, settings, parts.roles) {
        rbac = rbac.object(file, &object);
    }
    let mut webhook = Folder::new("webhook");
    let mut certmanager = Folder::new("certmanager");
    if has_webhooks {
        webhook.others = parts.webhooks.iter().map(|(name, _)| name.to_string()).collect();
        webhook = webhook.object("service.yaml", &objects::webhook_service(settings));
    }
    match settings.certificates {
        _ if !has_webhooks => {}
        Certificates::CertManager => {
            certmanager = certmanager.object("certificate.yaml", &certificates::certificate(settings));
        }
        Certificates::SelfManaged => {
            webhook = webhook.object("secret.yaml", &certificates::secret(settings));
            for (file, object) in certificates::rights(settings, &trusting) {
                rbac = rbac.object(file, &object);
            }
        }
    }
    if settings.has_issued_metrics() {
        certmanager = certmanager.object("certificate_metrics.yaml", &metrics::certificate(settings));
    }
    if !certmanager.is_empty() {
        let issuer = ("issuer.yaml".to_string(), certificates::issuer(settings));
        certmanager.files.insert(0, issuer);
    }
    let mut policy = Folder::new("policy");
    policy.others = parts.policies.iter().map(|(name, _)| name.to_string()).collect();
    let mut prometheus = Folder::new("prometheus");
    if settings.metrics_port.is_some() {
        prometheus = prometheus.object("monitor.yaml", &metrics::service_monitor(settings, has_webhooks));
        if settings.alerts {
            let has_rotation = has_webhooks && settings.certificates == Certificates::SelfManaged;
            prometheus = prometheus.object("rules.yaml", &alerts::rule(settings, has_rotation));
        }
    }
    vec![manager, crd, rbac, certmanager, webhook, policy, prometheus]
}

/// The objects that point API servers to the manager's Service.
fn trusting(ir: &Ir, settings: &DeploySettings, configurations: &[Value]) -> Trusting {
    let service = &settings.webhook_service;
    let is_ours = |found: &Value| found["name"] == service.name && found["namespace"] == service.namespace;
    let named = |kind: &str| {
        let of_kind = configurations.iter().filter(|object| object["kind"] == kind);
        let ours = of_kind.filter(|object| {
            let webhooks = object["webhooks"].as_array().into_iter().flatten();
            webhooks.filter_map(|webhook| webhook.pointer("/clientConfig/service")).any(is_ours)
        });
        ours.filter_map(|object| object["metadata"]["name"].as_str()).map(str::to_string).collect()
    };
    Trusting {
        mutating: named("MutatingWebhookConfiguration"),
        validating: named("ValidatingWebhookConfiguration"),
        definitions: converted(ir, settings),
    }
}

/// The CRDs whose versions the manager converts.
fn converted(ir: &Ir, settings: &DeploySettings) -> Vec<String> {
    let service = &settings.webhook_service;
    let is_ours = |resource: &&Resource| {
        matches!(&resource.crd.conversion, Some(Conversion::Webhook(ConversionWebhook {
            endpoint: WebhookEndpoint::Service { namespace, name, .. },
            ..
        })) if *namespace == service.namespace && *name == service.name)
    };
    let names = ir.groups.iter().flat_map(|group| {
        let resources = group.versions.iter().flat_map(|version| &version.resources);
        resources.filter(is_ours).map(|resource| format!("{}.{}", resource.plural, group.name))
    });
    names.collect::<BTreeSet<_>>().into_iter().collect()
}

/// The name of a group in file names: its name in code, usually its first label, if it is unique.
fn group_title<'a>(ir: &Ir, group: &'a Group) -> &'a str {
    let is_shared = ir.groups.iter().any(|other| other.name != group.name && other.module == group.module);
    if is_shared { &group.name } else { &group.module }
}

/// Whether the folder is part of the installation. With `crd_upgrade`, the manager installs the CRDs: another writer would
/// bypass its checks.
fn is_installed(folder: &Folder, settings: &DeploySettings) -> bool {
    !folder.is_empty()
        && match folder.name {
            "crd" => !settings.crd_upgrade,
            "prometheus" => settings.prometheus,
            _ => true,
        }
}

fn default_folder(folders: &[Folder], metrics: Option<&Value>, settings: &DeploySettings) -> Folder {
    let mut default = Folder::new("default");
    let installed = folders.iter().filter(|folder| is_installed(folder, settings));
    default.others = installed.map(|folder| format!("../{}", folder.name)).collect();
    match metrics {
        Some(service) => default.object("metrics_service.yaml", service),
        None => default,
    }
}

/// The file with everything in `default`.
fn everything(
    folders: &[Folder],
    metrics: Option<&Value>,
    settings: &DeploySettings,
    parts: Parts<'_>,
) -> String {
    let mut out = mark();
    for folder in folders.iter().filter(|folder| is_installed(folder, settings)) {
        let others = match folder.name {
            "crd" => Some(parts.crds),
            "rbac" => Some(parts.rbac),
            "webhook" => Some(parts.webhooks),
            "policy" => Some(parts.policies),
            _ => None,
        };
        let others = others.into_iter().flat_map(OutputTree::iter);
        out.extend(others.map(|(_, text)| documents(text)));
        out.extend(folder.files.iter().map(|(_, object)| yaml::document(object)));
    }
    out.extend(metrics.map(yaml::document));
    out
}

/// A file's documents, without the comments before the first.
fn documents(text: &str) -> &str {
    match text.find("---\n") {
        Some(at) if text[..at].lines().all(|line| line.is_empty() || line.starts_with('#')) => &text[at..],
        _ => text,
    }
}

/// The lines at the start of every file.
fn mark() -> String {
    format!(
        "{DEPLOY_MARK} v{}. DO NOT EDIT.\n# To keep the file as your own, take this comment out.\n",
        env!("CARGO_PKG_VERSION")
    )
}

fn kustomization(resources: &[&str]) -> String {
    let object = json!({
        "apiVersion": "kustomize.config.k8s.io/v1beta1",
        "kind": "Kustomization",
        "resources": resources,
    });
    format!("{}{}", mark(), yaml::to_yaml(&object))
}
