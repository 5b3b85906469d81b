//! Table `[deploy]`: the manifests that run a controller's manager in a cluster.

mod choices;
mod values;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use kubesmith_core::names::object;
use serde::{Deserialize, Serialize};

use super::manifests::{self, Places};
use super::{Config, Generator, ManifestFlags, UsageError, WebhookService};
use crate::paths::absolute;
pub use choices::{Certificates, PullPolicy};

/// kubebuilder's placeholder for the image.
const IMAGE: &str = "controller:latest";

/// controller-runtime's port of the metrics, unencrypted.
const METRICS_PORT: u16 = 8080;

/// kubebuilder's port of metrics over TLS.
const SECURE_METRICS_PORT: u16 = 8443;

/// kubebuilder's port of the probes.
const HEALTH_PORT: u16 = 8081;

/// controller-runtime's port of webhooks.
pub(crate) const WEBHOOK_PORT: u16 = 9443;

/// The variable with the index of a replica that has a shard.
pub(crate) const POD_INDEX: &str = "POD_INDEX";

/// The variable with the number of replicas that have a shard each.
pub(crate) const REPLICAS: &str = "REPLICAS";

/// The longest prefix: the longest name with it, a Service's, must fit into a DNS label.
const PREFIX_MAX: usize = 63 - "controller-manager-metrics-service".len();

/// Table `[deploy]`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct DeployConfig {
    /// Folder of the kustomize tree, usually `config`. CRDs, roles, webhook configurations and policies go to its subfolders
    /// `crd/bases`, `rbac`, `webhook` and `policy`, unless their tables set another folder.
    pub output: Option<PathBuf>,
    /// Name of the project, and value of the label `app.kubernetes.io/name`.
    pub name: Option<String>,
    /// Namespace of the manager. Default: `<name>-system`.
    pub namespace: Option<String>,
    /// Prefix of object names. Default: `<name>-`.
    pub name_prefix: Option<String>,
    /// Image of the manager. Default: `controller:latest`.
    pub image: Option<String>,
    /// `imagePullPolicy` of the manager. Default: the cluster's default.
    pub image_pull_policy: Option<PullPolicy>,
    /// Number of replicas of the manager. One of them leads. Default: 1.
    pub replicas: Option<u32>,
    /// Number of replicas with sharded caches: the manager is a StatefulSet, whose pods read their shard from the environment
    /// variables `POD_INDEX` and `REPLICAS`. Default: a Deployment without them.
    pub shards: Option<u32>,
    /// Arguments of the manager, in addition to those for leader election, metrics and probes.
    #[serde(default)]
    pub args: Vec<String>,
    /// Environment variables of the manager.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// Secrets and ConfigMaps whose keys become environment variables of the manager.
    #[serde(default)]
    pub env_from: Vec<EnvSource>,
    /// Requests and limits of the manager. Default: kubebuilder's values.
    pub resources: Option<ResourceRequirements>,
    /// Whether replicas elect a leader. Default: `true`, which adds the argument `--leader-elect` and a role.
    pub leader_election: Option<bool>,
    /// Port of the metrics. Default: 8443, or 8080 with `metrics_secure = false`. 0 disables metrics.
    pub metrics_port: Option<u16>,
    /// Whether metrics are served over TLS, and only to authorized users. Default: `true`.
    pub metrics_secure: Option<bool>,
    /// The issuer of the metrics certificate. Default: the manager, which serves its own certificate of the webhooks, or a
    /// self-signed one; with `metrics_secure = true`, the issuer in `certificates`.
    pub metrics_certificates: Option<Certificates>,
    /// Port of `/healthz` and `/readyz`. Default: 8081.
    pub health_port: Option<u16>,
    /// Whether `default` and the installer contain the ServiceMonitor. It needs the CRDs of the Prometheus operator.
    #[serde(default)]
    pub prometheus: bool,
    /// Whether to generate a PrometheusRule with alerts about the manager, beside the ServiceMonitor.
    #[serde(default)]
    pub alerts: bool,
    /// The issuer of the webhook certificate. Default: cert-manager.
    #[serde(default)]
    pub certificates: Certificates,
    /// Whether the manager may install, upgrade and migrate its CRDs, as `kubesmith_runtime::crd` does. It adds a role, and takes
    /// the CRDs out of the folder `default` and the installer.
    #[serde(default)]
    pub crd_upgrade: bool,
    /// File with all objects of the folder `default`, such as `dist/install.yaml`.
    pub installer: Option<PathBuf>,
}

/// An object whose keys become environment variables.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum EnvSource {
    /// Name of a Secret.
    Secret(String),
    /// Name of a ConfigMap.
    ConfigMap(String),
}

/// Requests and limits: quantities by resource name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ResourceRequirements {
    /// The resources that the scheduler reserves.
    #[serde(default)]
    pub requests: BTreeMap<String, String>,
    /// The limits of the container's resources.
    #[serde(default)]
    pub limits: BTreeMap<String, String>,
}

impl ResourceRequirements {
    /// kubebuilder's defaults.
    fn usual() -> Self {
        let of = |cpu: &str, memory: &str| {
            BTreeMap::from([("cpu".to_string(), cpu.to_string()), ("memory".to_string(), memory.to_string())])
        };
        Self { requests: of("10m", "64Mi"), limits: of("500m", "128Mi") }
    }
}

/// The settings of the manager's deployment.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are those of `DeployConfig`")]
pub struct DeploySettings {
    pub output: PathBuf,
    pub name: String,
    pub namespace: String,
    pub name_prefix: String,
    pub image: String,
    /// The image in the installer: that of the run, if the run has one.
    pub installer_image: String,
    pub image_pull_policy: Option<PullPolicy>,
    pub replicas: u32,
    /// Whether each replica has a shard, and so an index.
    pub is_sharded: bool,
    pub args: Vec<String>,
    pub env: BTreeMap<String, String>,
    pub env_from: Vec<EnvSource>,
    pub resources: ResourceRequirements,
    pub leader_election: bool,
    /// `None`: no metrics.
    pub metrics_port: Option<u16>,
    /// Whether metrics, if there are any, are secure.
    pub metrics_secure: bool,
    pub metrics_certificates: Certificates,
    pub health_port: u16,
    pub prometheus: bool,
    pub alerts: bool,
    pub certificates: Certificates,
    pub crd_upgrade: bool,
    pub installer: Option<PathBuf>,
    /// Folder of the CRDs, relative to the tree's `crd`, `/`-separated; may be empty.
    pub crd_folder: String,
    /// Name of the file with the roles.
    pub role_file: String,
    /// The name of the roles for rules without one.
    pub role_name: String,
    /// The Service in front of the webhooks.
    pub webhook_service: WebhookService,
}

impl DeploySettings {
    /// The name of an object of the deployment.
    pub fn object(&self, name: &str) -> String {
        format!("{}{name}", self.name_prefix)
    }

    /// Whether there are metrics over TLS, for authorized users.
    pub fn has_secure_metrics(&self) -> bool {
        self.metrics_port.is_some() && self.metrics_secure
    }

    /// Whether cert-manager issues the certificate of the metrics.
    pub fn has_issued_metrics(&self) -> bool {
        self.has_secure_metrics() && self.metrics_certificates == Certificates::CertManager
    }
}

/// The prefix of names, if the project is deployed and has a name.
fn prefix(deploy: &DeployConfig) -> Option<String> {
    let name = deploy.name.as_ref().filter(|_| deploy.output.is_some());
    deploy.name_prefix.clone().or_else(|| name.map(|name| format!("{name}-")))
}

/// Places the tree's parts into its subfolders, unless their tables name other folders.
pub(super) fn place(config: &mut Config) {
    let Some(output) = config.deploy.output.clone() else { return };
    config.crd.output.get_or_insert_with(|| output.join("crd/bases"));
    config.rbac.output.get_or_insert_with(|| output.join("rbac"));
    config.webhook.output.get_or_insert_with(|| output.join("webhook"));
    config.policy.output.get_or_insert_with(|| output.join("policy"));
    if let (None, Some(prefix)) = (&config.rbac.role_name, prefix(&config.deploy)) {
        config.rbac.role_name = Some(format!("{prefix}manager-role"));
    }
}

/// Returns the Service of the webhooks, if there is a deployment in this or another run.
///
/// # Errors
/// Returns an error for an invalid name.
pub(super) fn webhook_service(config: &Config) -> Result<Option<WebhookService>, UsageError> {
    let (Some(prefix), Some(name)) = (prefix(&config.deploy), config.deploy.name.as_deref()) else {
        return Ok(None);
    };
    let namespace = namespace(&config.deploy, name);
    check_names(name, &prefix, &namespace)?;
    Ok(Some(WebhookService::new(&prefix, &namespace, config.deploy.certificates)))
}

/// Checks that a project of this name can have a `[deploy]` table without other names.
///
/// # Errors
/// Returns an error if names made from it are invalid.
pub(crate) fn check_project(name: &str) -> Result<(), UsageError> {
    let deploy = DeployConfig { name: Some(name.to_string()), ..DeployConfig::default() };
    check_names(name, &format!("{name}-"), &namespace(&deploy, name))
}

fn namespace(deploy: &DeployConfig, name: &str) -> String {
    deploy.namespace.clone().unwrap_or_else(|| format!("{name}-system"))
}

/// The output folders of generators whose files the tree lists; `None`: not in this run.
#[derive(Clone, Copy)]
pub(super) struct Written<'a> {
    pub(super) crds: Option<&'a Path>,
    pub(super) rbac: Option<&'a Path>,
    pub(super) webhook: Option<&'a Path>,
    pub(super) policy: Option<&'a Path>,
}

/// Settings of the deployment, if it is written. `config` has been [placed](place).
pub(super) fn deploy(
    config: &Config,
    flags: &ManifestFlags,
    places: &Places<'_>,
    written: Written<'_>,
) -> Result<Option<DeploySettings>, UsageError> {
    let deploy = &config.deploy;
    if places.is_left_out(Generator::Deploy) {
        return Ok(None);
    }
    if deploy.output.is_none()
        && (places.is_named(Generator::Deploy) || *deploy != DeployConfig::default() || flags.image.is_some())
    {
        return Err(UsageError(
            "no folder for `deploy`: set `output` in the `[deploy]` table, such as \"config\"".into(),
        ));
    }
    settings(config, flags, places, written)
}

/// Settings of the deployment, if there is one, in this or another run.
pub(super) fn settings(
    config: &Config,
    flags: &ManifestFlags,
    places: &Places<'_>,
    written: Written<'_>,
) -> Result<Option<DeploySettings>, UsageError> {
    let deploy = &config.deploy;
    let Some(output) = deploy.output.as_deref() else { return Ok(None) };
    let Some(name) = deploy.name.clone() else {
        return Err(UsageError("`[deploy]` has no `name`: set the name of the project".into()));
    };
    let name_prefix = prefix(deploy).unwrap_or_default();
    let namespace = namespace(deploy, &name);
    check_names(&name, &name_prefix, &namespace)?;
    let output = places.located(output);
    let usual_image = deploy.image.clone().unwrap_or_else(|| IMAGE.to_string());
    let installer_image = flags.image.clone().unwrap_or_else(|| usual_image.clone());
    // With an installer, the run's image goes there, and the tree keeps the file's image.
    let image = if deploy.installer.is_some() { usual_image } else { installer_image.clone() };
    let resources = deploy.resources.clone().unwrap_or_else(ResourceRequirements::usual);
    values::check(deploy, &installer_image, &resources)?;
    values::check(deploy, &image, &resources)?;
    let (metrics_port, health_port) = ports(deploy)?;
    Ok(Some(DeploySettings {
        crd_folder: folders(config, &output, places, written)?,
        role_file: manifests::role_file(&config.rbac, flags)?,
        role_name: manifests::role_name(&config.rbac, flags)?,
        webhook_service: WebhookService::new(&name_prefix, &namespace, deploy.certificates),
        output,
        name,
        namespace,
        name_prefix,
        image,
        installer_image,
        image_pull_policy: deploy.image_pull_policy,
        replicas: deploy.shards.or(deploy.replicas).unwrap_or(1),
        is_sharded: deploy.shards.is_some(),
        args: deploy.args.clone(),
        env: deploy.env.clone(),
        env_from: deploy.env_from.clone(),
        resources,
        leader_election: deploy.leader_election.unwrap_or(true),
        metrics_port,
        metrics_secure: deploy.metrics_secure.unwrap_or(true),
        metrics_certificates: metrics_certificates(deploy),
        health_port,
        prometheus: deploy.prometheus,
        alerts: deploy.alerts,
        certificates: deploy.certificates,
        crd_upgrade: deploy.crd_upgrade,
        installer: deploy.installer.as_deref().map(|path| installer(path, places)).transpose()?,
    }))
}

fn check_names(name: &str, prefix: &str, namespace: &str) -> Result<(), UsageError> {
    let is_label = |text: &str| object::namespace(text);
    let broken = is_label(name)
        .map_err(|problem| ("name", name, problem.to_string()))
        .and_then(|()| is_label(namespace).map_err(|problem| ("namespace", namespace, problem.to_string())))
        .and_then(|()| {
            let whole = is_label(&format!("{prefix}x"));
            whole.map_err(|problem| ("name_prefix", prefix, problem.to_string()))
        });
    if let Err((key, text, problem)) = broken {
        return Err(UsageError(format!("`{key} = \"{text}\"` in `[deploy]` is not a valid name: {problem}")));
    }
    if prefix.len() > PREFIX_MAX {
        return Err(UsageError(format!(
            "names beginning with `{prefix}` would be too long: a `name_prefix` has at most {PREFIX_MAX} characters"
        )));
    }
    Ok(())
}

/// The usual port of the metrics.
pub(super) fn metrics_port(is_secure: bool) -> u16 {
    if is_secure { SECURE_METRICS_PORT } else { METRICS_PORT }
}

/// The issuer of the metrics certificate. An explicit `metrics_secure = true` has always meant one that Prometheus verifies.
fn metrics_certificates(deploy: &DeployConfig) -> Certificates {
    let usual =
        if deploy.metrics_secure == Some(true) { deploy.certificates } else { Certificates::SelfManaged };
    deploy.metrics_certificates.unwrap_or(usual)
}

/// The ports of metrics, if there are any, and of probes.
fn ports(deploy: &DeployConfig) -> Result<(Option<u16>, u16), UsageError> {
    let is_secure = deploy.metrics_secure.unwrap_or(true);
    let metrics = Some(deploy.metrics_port.unwrap_or(metrics_port(is_secure))).filter(|port| *port != 0);
    let needs = [
        ("metrics_secure", deploy.metrics_secure == Some(true)),
        ("metrics_certificates", deploy.metrics_certificates.is_some()),
        ("prometheus", deploy.prometheus),
        ("alerts", deploy.alerts),
    ];
    if let (None, Some((key, _))) = (metrics, needs.iter().find(|(_, is_set)| *is_set)) {
        return Err(UsageError(format!(
            "`{key}` in `[deploy]` needs metrics: leave `metrics_port = 0` or `{key}` out"
        )));
    }
    if !is_secure && deploy.metrics_certificates.is_some() {
        return Err(UsageError(
            "`metrics_certificates` in `[deploy]` needs metrics over TLS: leave `metrics_secure = false` or \
             `metrics_certificates` out"
                .into(),
        ));
    }
    let health = deploy.health_port.unwrap_or(HEALTH_PORT);
    if health == 0 {
        return Err(UsageError("`health_port` in `[deploy]` is 0: the probes need a port".into()));
    }
    if metrics == Some(health) {
        return Err(UsageError(format!(
            "metrics and probes cannot share port {health}: change `metrics_port` or `health_port` in `[deploy]`"
        )));
    }
    for (key, port) in [("metrics_port", metrics), ("health_port", Some(health))] {
        if port == Some(WEBHOOK_PORT) {
            return Err(UsageError(format!(
                "`{key}` in `[deploy]` is {WEBHOOK_PORT}, where webhooks are served: choose another"
            )));
        }
    }
    Ok((metrics, health))
}

fn installer(path: &Path, places: &Places<'_>) -> Result<PathBuf, UsageError> {
    if path.extension().is_none_or(|extension| extension != "yaml") {
        return Err(UsageError(format!(
            "`installer = \"{}\"` in `[deploy]` is not the name of a YAML file: write it like \"dist/install.yaml\"",
            path.display()
        )));
    }
    Ok(places.located(path))
}

/// Checks that the listed folders are inside the tree, as kustomize reads no files outside its folder.
/// Returns the folder of the CRDs, relative to the tree's `crd`.
fn folders(
    config: &Config,
    output: &Path,
    places: &Places<'_>,
    written: Written<'_>,
) -> Result<String, UsageError> {
    let folder = |written: Option<&Path>, key: &Option<PathBuf>, name: &str| {
        let key = || key.as_deref().map_or_else(|| output.join(name), |key| places.located(key));
        written.map_or_else(key, Path::to_path_buf)
    };
    let elsewhere = |what: &str, table: &str, place: &str, folder: &Path| {
        UsageError(format!(
            "{what} would be written to \"{}\", but `[deploy]` lists them {place} \"{}\": leave out `output` in \
             `[{table}]`, --{table}-output and --output",
            folder.display(),
            output.join(table).display()
        ))
    };
    for (what, table, written, key) in [
        ("the roles", "rbac", written.rbac, &config.rbac.output),
        ("the webhook configurations", "webhook", written.webhook, &config.webhook.output),
        ("the policies", "policy", written.policy, &config.policy.output),
    ] {
        let folder = folder(written, key, table);
        if absolute(&folder) != absolute(&output.join(table)) {
            return Err(elsewhere(what, table, "in", &folder));
        }
    }
    let crds = folder(written.crds, &config.crd.output, "crd/bases");
    let (whole, tree) = (absolute(&crds), absolute(&output.join("crd")));
    let Ok(below) = whole.strip_prefix(tree) else {
        return Err(elsewhere("the CRDs", "crd", "below", &crds));
    };
    let parts: Vec<_> = below.components().map(|part| part.as_os_str().to_string_lossy()).collect();
    Ok(parts.join("/"))
}

#[cfg(test)]
mod tests;
