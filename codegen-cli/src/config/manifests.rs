//! The tables and flags of the generators beside CRDs and clients: roles, webhook configurations, policies, OpenAPI documents,
//! the report of API rules and reference documentation.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{Certificates, Generator, UsageError, header};

/// Name of the roles for rules without one, as in kubebuilder's projects.
const ROLE_NAME: &str = "manager-role";

/// controller-gen's name of the file with the roles.
const ROLE_FILE: &str = "role.yaml";

/// Table `[rbac]`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RbacConfig {
    /// Folder of the roles.
    pub output: Option<PathBuf>,
    /// Name of the roles for rules without a role name. Default: `manager-role`.
    pub role_name: Option<String>,
    /// Name of the file. Default: `role.yaml`.
    pub file_name: Option<String>,
    /// File with the header comments of the roles. `year` replaces ` YEAR` in it.
    pub header_file: Option<PathBuf>,
    /// The value for ` YEAR` in the header. Default: the file's `year`.
    pub year: Option<String>,
}

/// Table `[webhook]`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct WebhookConfig {
    /// Folder of `manifests.yaml`.
    pub output: Option<PathBuf>,
    /// File with the header comments of the configurations. `year` replaces ` YEAR` in it.
    pub header_file: Option<PathBuf>,
    /// The value for ` YEAR` in the header. Default: the file's `year`.
    pub year: Option<String>,
}

/// Table `[policy]`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PolicyConfig {
    /// Folder of `policies.yaml`.
    pub output: Option<PathBuf>,
    /// File with the header comments of the policies. `year` replaces ` YEAR` in it.
    pub header_file: Option<PathBuf>,
    /// The value for ` YEAR` in the header. Default: the file's `year`.
    pub year: Option<String>,
}

/// Table `[openapi]`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct OpenapiConfig {
    /// Folder of the documents.
    pub output: Option<PathBuf>,
    /// File with the accepted violations of API rules.
    pub report_filename: Option<PathBuf>,
}

/// Table `[docs]`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct DocsConfig {
    /// Folder of the documentation.
    pub output: Option<PathBuf>,
    /// The formats. Default: Markdown and HTML.
    pub formats: Option<Vec<DocsFormat>>,
}

/// A format of reference documentation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize, clap::ValueEnum)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum DocsFormat {
    /// One Markdown file for each version of a group.
    Markdown,
    /// One page for all groups.
    Html,
}

/// The flags; they win over the file.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct ManifestFlags {
    /// Folder of the roles; default: the subfolder `rbac` of --output.
    #[arg(long, value_name = "DIR")]
    pub rbac_output: Option<PathBuf>,
    /// Name of the roles of rules that name none; default: manager-role.
    #[arg(long, value_name = "NAME")]
    pub rbac_role_name: Option<String>,
    /// Name of the file with the roles; default: role.yaml.
    #[arg(long, value_name = "NAME")]
    pub rbac_file_name: Option<String>,
    /// `#` comments that begin the roles; ` YEAR` in them is replaced.
    #[arg(long, value_name = "FILE")]
    pub rbac_header_file: Option<PathBuf>,
    /// Folder of the webhook configurations; default: the subfolder `webhook` of --output.
    #[arg(long, value_name = "DIR")]
    pub webhook_output: Option<PathBuf>,
    /// `#` comments that begin the webhook configurations; ` YEAR` in them is replaced.
    #[arg(long, value_name = "FILE")]
    pub webhook_header_file: Option<PathBuf>,
    /// Folder of the admission policies; default: the subfolder `policy` of --output.
    #[arg(long, value_name = "DIR")]
    pub policy_output: Option<PathBuf>,
    /// `#` comments that begin the admission policies; ` YEAR` in them is replaced.
    #[arg(long, value_name = "FILE")]
    pub policy_header_file: Option<PathBuf>,
    /// Folder of the OpenAPI documents; with --only openapi the subfolder `openapi` of --output is the default.
    #[arg(long, value_name = "DIR")]
    pub openapi_output: Option<PathBuf>,
    /// File with the accepted violations of API rules; other violations are errors.
    #[arg(long, value_name = "FILE")]
    pub report_filename: Option<PathBuf>,
    /// Folder of the reference documentation; with --only docs the subfolder `docs` of --output is the default.
    #[arg(long, value_name = "DIR")]
    pub docs_output: Option<PathBuf>,
    /// Formats of the reference documentation; default: markdown,html.
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub docs_formats: Vec<DocsFormat>,
    /// Image of the manager for this run: in the installer of `[deploy]`, or without one in its manifests.
    #[arg(long, value_name = "IMAGE")]
    pub image: Option<String>,
}

impl ManifestFlags {
    /// The flags that apply to a single member only, and whether each is given.
    pub(super) fn of_one_member(&self) -> [(&'static str, bool); 7] {
        [
            ("--rbac-output", self.rbac_output.is_some()),
            ("--webhook-output", self.webhook_output.is_some()),
            ("--policy-output", self.policy_output.is_some()),
            ("--openapi-output", self.openapi_output.is_some()),
            ("--report-filename", self.report_filename.is_some()),
            ("--docs-output", self.docs_output.is_some()),
            ("--image", self.image.is_some()),
        ]
    }
}

/// The settings of roles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RbacSettings {
    /// Folder.
    pub output: PathBuf,
    /// Name of the file.
    pub file_name: String,
    /// Name of the roles for rules without one.
    pub role_name: String,
    /// Comments at the start of the file, with the year filled in; may be empty.
    pub header: String,
}

/// The settings of webhook configurations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebhookSettings {
    /// Folder.
    pub output: PathBuf,
    /// Comments at the start of the file, with the year filled in; may be empty.
    pub header: String,
    /// The Service of the webhooks from `[deploy]`, in place of controller-gen's name.
    pub service: Option<WebhookService>,
}

/// The settings of admission policies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicySettings {
    /// Folder.
    pub output: PathBuf,
    /// Comments at the start of the file, with the year filled in; may be empty.
    pub header: String,
}

/// The Service of webhooks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebhookService {
    /// Its name.
    pub name: String,
    /// Its namespace.
    pub namespace: String,
    /// Prefix of the names of webhook configurations without a name of their own.
    pub prefix: String,
    /// `NAMESPACE/NAME` of cert-manager's Certificate, whose authority goes into the configurations; `None`:
    /// the manager writes its own authority.
    pub certificate: Option<String>,
}

impl WebhookService {
    /// The Service of a deployment.
    pub(super) fn new(prefix: &str, namespace: &str, certificates: Certificates) -> Self {
        let is_injected = certificates == Certificates::CertManager;
        Self {
            name: format!("{prefix}webhook-service"),
            namespace: namespace.to_string(),
            prefix: prefix.to_string(),
            certificate: is_injected.then(|| format!("{namespace}/{prefix}serving-cert")),
        }
    }
}

/// The settings of OpenAPI documents and the check of API rules.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpenapiSettings {
    /// Folder of the documents; `None`: none are written.
    pub output: Option<PathBuf>,
    /// File with the accepted violations; `None`: API rules are not checked.
    pub report: Option<PathBuf>,
}

/// The settings of reference documentation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocsSettings {
    /// Folder.
    pub output: PathBuf,
    /// Formats, in order and without repetition; at least one.
    pub formats: Vec<DocsFormat>,
}

/// The inputs that decide the place of an output, apart from the generator's own flag and key.
pub(super) struct Places<'a> {
    /// `--output`
    pub(super) output: Option<&'a Path>,
    /// Generators requested by name; `None`: no name was given.
    pub(super) named: Option<&'a [Generator]>,
    /// Folder of the configuration file.
    pub(super) base: &'a Path,
    /// `--year`
    pub(super) year_flag: Option<&'a str>,
    /// The file's `year`.
    pub(super) year: Option<&'a str>,
}

impl Places<'_> {
    pub(super) fn located(&self, path: &Path) -> PathBuf {
        if self.base.as_os_str().is_empty() { path.to_path_buf() } else { self.base.join(path) }
    }

    /// The path of a flag, or else the path in the file.
    fn either(&self, flag: Option<PathBuf>, key: Option<&Path>) -> Option<PathBuf> {
        flag.or_else(|| key.map(|path| self.located(path)))
    }

    pub(super) fn is_named(&self, generator: Generator) -> bool {
        self.named.is_some_and(|named| named.contains(&generator))
    }

    pub(super) fn is_left_out(&self, generator: Generator) -> bool {
        self.named.is_some_and(|named| !named.contains(&generator))
    }

    /// The folder, if the generator runs. `configured`: it has other settings.
    fn folder(
        &self,
        generator: Generator,
        flag: Option<PathBuf>,
        key: Option<&Path>,
        name: &str,
        configured: bool,
    ) -> Result<Option<PathBuf>, UsageError> {
        if self.is_left_out(generator) {
            return Ok(None);
        }
        let below_output = flag.or_else(|| self.output.map(|output| output.join(name)));
        let folder = self.either(below_output, key);
        if folder.is_none() && (configured || self.is_named(generator)) {
            return Err(UsageError(format!(
                "no folder for `{name}`: use --output, --{name}-output or `output` in the `[{name}]` table"
            )));
        }
        Ok(folder)
    }

    /// The comments at the start of a YAML file, with the year filled in.
    pub(super) fn yaml_header(
        &self,
        flag: Option<PathBuf>,
        key: Option<&Path>,
        year: Option<&str>,
        table: &str,
    ) -> Result<String, UsageError> {
        let Some(path) = self.either(flag, key) else {
            return match year {
                Some(_) => Err(UsageError(format!(
                    "`year` in `[{table}]` has no effect without a `header_file` in the same table"
                ))),
                None => Ok(String::new()),
            };
        };
        header::yaml(&path, self.year_flag.or(year).or(self.year))
    }
}

/// Settings of the roles, if they are written.
pub(super) fn rbac(
    config: &RbacConfig,
    flags: &ManifestFlags,
    places: &Places<'_>,
) -> Result<Option<RbacSettings>, UsageError> {
    let flag = flags.rbac_output.clone();
    let given =
        [flags.rbac_role_name.is_some(), flags.rbac_file_name.is_some(), flags.rbac_header_file.is_some()];
    let configured = given.contains(&true) || *config != RbacConfig::default();
    let Some(output) = places.folder(Generator::Rbac, flag, config.output.as_deref(), "rbac", configured)?
    else {
        return Ok(None);
    };
    let file_name = role_file(config, flags)?;
    let role_name = role_name(config, flags)?;
    let header = places.yaml_header(
        flags.rbac_header_file.clone(),
        config.header_file.as_deref(),
        config.year.as_deref(),
        "rbac",
    )?;
    Ok(Some(RbacSettings { output, file_name, role_name, header }))
}

fn choose(flag: &Option<String>, key: &Option<String>, default: &str) -> String {
    flag.clone().or_else(|| key.clone()).unwrap_or_else(|| default.to_string())
}

/// Name of the file with the roles.
pub(super) fn role_file(config: &RbacConfig, flags: &ManifestFlags) -> Result<String, UsageError> {
    let name = choose(&flags.rbac_file_name, &config.file_name, ROLE_FILE);
    let is_yaml = name.ends_with(".yaml") && Path::new(&name).file_stem().is_some();
    if !is_yaml || name.contains(['/', '\\']) {
        return Err(UsageError(format!(
            "`{name}` is not the name of a YAML file: write it like `{ROLE_FILE}`"
        )));
    }
    Ok(name)
}

/// Name of the roles for rules without one.
pub(super) fn role_name(config: &RbacConfig, flags: &ManifestFlags) -> Result<String, UsageError> {
    let name = choose(&flags.rbac_role_name, &config.role_name, ROLE_NAME);
    match kubesmith_core::names::object::path_segment(&name) {
        Ok(()) => Ok(name),
        Err(problem) => Err(UsageError(format!("`{name}` is not a name of a role: {problem}"))),
    }
}

/// Settings of the webhook configurations, if they are written.
pub(super) fn webhook(
    config: &WebhookConfig,
    flags: &ManifestFlags,
    places: &Places<'_>,
    service: Option<WebhookService>,
) -> Result<Option<WebhookSettings>, UsageError> {
    let flag = flags.webhook_output.clone();
    let configured = flags.webhook_header_file.is_some() || *config != WebhookConfig::default();
    let Some(output) =
        places.folder(Generator::Webhook, flag, config.output.as_deref(), "webhook", configured)?
    else {
        return Ok(None);
    };
    let header = places.yaml_header(
        flags.webhook_header_file.clone(),
        config.header_file.as_deref(),
        config.year.as_deref(),
        "webhook",
    )?;
    Ok(Some(WebhookSettings { output, header, service }))
}

/// Settings of the admission policies, if they are written.
pub(super) fn policy(
    config: &PolicyConfig,
    flags: &ManifestFlags,
    places: &Places<'_>,
) -> Result<Option<PolicySettings>, UsageError> {
    let (flag, key) = (flags.policy_output.clone(), config.output.as_deref());
    let configured = flags.policy_header_file.is_some() || *config != PolicyConfig::default();
    let Some(output) = places.folder(Generator::Policy, flag, key, "policy", configured)? else {
        return Ok(None);
    };
    let header = places.yaml_header(
        flags.policy_header_file.clone(),
        config.header_file.as_deref(),
        config.year.as_deref(),
        "policy",
    )?;
    Ok(Some(PolicySettings { output, header }))
}

/// Settings of the OpenAPI documents and the report, which are written only on request, by name or by a
/// folder.
pub(super) fn openapi(
    config: &OpenapiConfig,
    flags: &ManifestFlags,
    places: &Places<'_>,
) -> Result<OpenapiSettings, UsageError> {
    if places.is_left_out(Generator::Openapi) {
        return Ok(OpenapiSettings::default());
    }
    let report = places.either(flags.report_filename.clone(), config.report_filename.as_deref());
    let named = places.is_named(Generator::Openapi);
    let below = places.output.filter(|_| named).map(|output| output.join("openapi"));
    let output = places.either(flags.openapi_output.clone().or(below), config.output.as_deref());
    if named && output.is_none() && report.is_none() {
        return Err(UsageError(
            "no folder for `openapi`: use --output, --openapi-output, --report-filename or the `[openapi]` table".into(),
        ));
    }
    Ok(OpenapiSettings { output, report })
}

/// Settings of the reference documentation, which is written only on request, by name or by a folder.
pub(super) fn docs(
    config: &DocsConfig,
    flags: &ManifestFlags,
    places: &Places<'_>,
) -> Result<Option<DocsSettings>, UsageError> {
    if places.is_left_out(Generator::Docs) {
        return Ok(None);
    }
    let named = places.is_named(Generator::Docs);
    let below = places.output.filter(|_| named).map(|output| output.join("docs"));
    let output = places.either(flags.docs_output.clone().or(below), config.output.as_deref());
    let given = (!flags.docs_formats.is_empty()).then(|| flags.docs_formats.clone());
    let formats = given.or_else(|| config.formats.clone());
    let Some(output) = output else {
        if named || formats.is_some() {
            return Err(UsageError(
                "no folder for `docs`: use --docs-output, `output` in the `[docs]` table, or --only docs with --output"
                    .into(),
            ));
        }
        return Ok(None);
    };
    let mut formats = formats.unwrap_or_else(|| vec![DocsFormat::Markdown, DocsFormat::Html]);
    if formats.is_empty() {
        return Err(UsageError(
            "`formats` in `[docs]` is empty, so nothing would be written: leave it out".into(),
        ));
    }
    formats.sort_unstable();
    formats.dedup();
    Ok(Some(DocsSettings { output, formats }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(config: &DocsConfig, flags: &ManifestFlags, output: &str, named: Option<&[Generator]>) -> String {
        let output = (!output.is_empty()).then(|| Path::new(output));
        let places = Places { output, named, base: Path::new("base"), year_flag: None, year: None };
        match docs(config, flags, &places) {
            Ok(Some(docs)) => format!("{} {:?}", docs.output.display(), docs.formats),
            Ok(None) => "none".into(),
            Err(error) => error.0,
        }
    }

    #[test]
    fn documentation_is_generated_when_a_folder_or_generator_is_set() {
        let (config, flags) = (DocsConfig::default(), ManifestFlags::default());
        assert_eq!(read(&config, &flags, "out", None), "none");
        assert_eq!(read(&config, &flags, "out", Some(&[Generator::Docs])), "out/docs [Markdown, Html]");
        assert!(read(&config, &flags, "", Some(&[Generator::Docs])).starts_with("no folder"));
        let folder = DocsConfig { output: Some("docs".into()), ..DocsConfig::default() };
        assert_eq!(read(&folder, &flags, "", None), "base/docs [Markdown, Html]");
        assert_eq!(read(&folder, &flags, "", Some(&[Generator::Crd])), "none");
        let twice = ManifestFlags {
            docs_output: Some("here".into()),
            docs_formats: vec![DocsFormat::Html, DocsFormat::Html],
            ..ManifestFlags::default()
        };
        assert_eq!(read(&folder, &twice, "", None), "here [Html]");
        let formats = |formats| DocsConfig { formats: Some(formats), ..DocsConfig::default() };
        assert!(read(&formats(vec![DocsFormat::Html]), &flags, "", None).starts_with("no folder"));
        let nothing = DocsConfig { formats: Some(Vec::new()), ..folder };
        assert!(read(&nothing, &flags, "", None).contains("is empty"));
    }
}
