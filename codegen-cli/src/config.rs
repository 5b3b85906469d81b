//! Reads `kubesmith.toml` and merges it with flags.

mod crd;
mod deploy;
mod evaluation;
mod features;
mod header;
mod helm;
mod kinds;
mod manifests;
mod merge;
mod messages;
mod only;
mod schema;
mod show;

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::cfg::FeatureChoice;
use crate::known::KubernetesVersion;
use crate::lints::{LintConfig, Lints};
use crate::selection::Selection;

pub use crd::CrdConfig;
pub use deploy::{Certificates, DeployConfig, DeploySettings, EnvSource, PullPolicy, ResourceRequirements};
pub(crate) use deploy::{POD_INDEX, REPLICAS, WEBHOOK_PORT, check_project as check_project_name};
pub use evaluation::{EvaluatedProgram, Evaluation, EvaluationConfig};
pub use features::FeatureFlags;
pub use helm::{HelmConfig, HelmSettings};
pub use kinds::KindFlags;
pub use manifests::{
    DocsConfig, DocsFormat, DocsSettings, ManifestFlags, OpenapiConfig, OpenapiSettings, PolicyConfig,
    PolicySettings, RbacConfig, RbacSettings, WebhookConfig, WebhookService, WebhookSettings,
};
use merge::merge;
use messages::{mended, unknown_key};
pub use schema::SCHEMA;
pub use show::show;

/// Name of the configuration file in the current folder.
pub const FILE_NAME: &str = "kubesmith.toml";

/// A generator that `only` may name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize, clap::ValueEnum)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Generator {
    /// CustomResourceDefinition YAML.
    Crd,
    /// Typed clients and the clientset.
    Client,
    /// Listers.
    Lister,
    /// Informers and their factory.
    Informer,
    /// Role and ClusterRole YAML.
    Rbac,
    /// MutatingWebhookConfiguration and ValidatingWebhookConfiguration YAML.
    Webhook,
    /// Admission policies with their bindings, as YAML.
    Policy,
    /// OpenAPI documents, and the report of API rules.
    Openapi,
    /// Reference documentation of the API.
    Docs,
    /// The deployment manifests of the manager: a kustomize tree and an installer.
    Deploy,
    /// A Helm chart with the same objects.
    Helm,
}

/// Every generator.
pub const ALL_GENERATORS: [Generator; 11] = [
    Generator::Crd,
    Generator::Client,
    Generator::Lister,
    Generator::Informer,
    Generator::Rbac,
    Generator::Webhook,
    Generator::Policy,
    Generator::Openapi,
    Generator::Docs,
    Generator::Deploy,
    Generator::Helm,
];

/// The generators of Rust code.
pub const CLIENT_GENERATORS: [Generator; 3] = [Generator::Client, Generator::Lister, Generator::Informer];

/// The file as it is written.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Folders, relative to this file, that each have a `kubesmith.toml`. One run generates all of them. Other settings
    /// belong in their files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<PathBuf>,
    /// Folders of crates, relative to this file.
    #[serde(default)]
    pub input: Vec<PathBuf>,
    /// Features of the inputs to enable in addition to `default`: `a`, or `package/a` for one input.
    #[serde(default)]
    pub features: Vec<String>,
    /// Whether all features of the inputs are enabled.
    #[serde(default)]
    pub all_features: bool,
    /// Whether the feature `default` is disabled.
    #[serde(default)]
    pub no_default_features: bool,
    /// Kinds to generate: `Order` or `Order.bakery.example.com`. Default: all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kinds: Vec<String>,
    /// Groups whose kinds are generated: `bakery.example.com` or `*.example.com`. Default: all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<String>,
    /// Kinds and groups to skip.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exclude: Vec<String>,
    /// Whether kinds without errors are written if other kinds have errors.
    #[serde(default, skip_serializing_if = "is_default")]
    pub keep_going: bool,
    /// Whether the project is built and run to get definitions that cannot be read from source.
    #[serde(default, skip_serializing_if = "is_default")]
    pub evaluate: bool,
    /// Generators to run. Default: all.
    pub only: Option<Vec<Generator>>,
    /// File with the header of every generated Rust file. `year` replaces ` YEAR` in it.
    pub header_file: Option<PathBuf>,
    /// The value for ` YEAR` in headers.
    pub year: Option<String>,
    /// The CRDs.
    #[serde(default, skip_serializing_if = "is_default")]
    pub crd: CrdConfig,
    /// The client package.
    #[serde(default, skip_serializing_if = "is_default")]
    pub client: ClientConfig,
    /// The code of the project that `evaluate` runs.
    #[serde(default, skip_serializing_if = "is_default")]
    pub evaluation: EvaluationConfig,
    /// The roles.
    #[serde(default, skip_serializing_if = "is_default")]
    pub rbac: RbacConfig,
    /// The webhook configurations.
    #[serde(default, skip_serializing_if = "is_default")]
    pub webhook: WebhookConfig,
    /// The admission policies.
    #[serde(default, skip_serializing_if = "is_default")]
    pub policy: PolicyConfig,
    /// The OpenAPI documents and the report of API rules.
    #[serde(default, skip_serializing_if = "is_default")]
    pub openapi: OpenapiConfig,
    /// The reference documentation.
    #[serde(default, skip_serializing_if = "is_default")]
    pub docs: DocsConfig,
    /// The deployment manifests of the manager.
    #[serde(default, skip_serializing_if = "is_default")]
    pub deploy: DeployConfig,
    /// The Helm chart.
    #[serde(default, skip_serializing_if = "is_default")]
    pub helm: HelmConfig,
    /// Levels of warnings.
    #[serde(default, skip_serializing_if = "is_default")]
    pub lints: LintConfig,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Table `[client]`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ClientConfig {
    /// Folder of the package or module.
    pub output: Option<PathBuf>,
    /// Name of a separate client package.
    pub crate_name: Option<String>,
    /// Path of a module in an existing crate, instead of a separate package.
    pub module: Option<String>,
    /// Whether to generate apply configurations. Default: `true`. Without them, `apply` takes whole objects.
    pub apply_configurations: Option<bool>,
    /// Whether to generate `validate()` for each kind. Default: `true` for a package, behind its feature `validation`, and
    /// `false` for a module.
    pub validations: Option<bool>,
    /// Whether to generate functions that set defaults. Default: `true`.
    pub defaults: Option<bool>,
    /// Whether to generate conversions between versions. Default: `true`.
    pub conversions: Option<bool>,
    /// Whether to generate a fake clientset for unit tests. Default: `true` for a package, behind its feature `fake`, and
    /// `false` for a module. In a module it is for tests only, and its crate needs kubesmith-testenv in `dev-dependencies`.
    pub fake_clientset: Option<bool>,
    /// Built-in kinds to generate clients, informers and listers for: `apps/v1/Deployment`, `v1/Pod`, or `apps/v1` for all
    /// kinds of a group-version.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, schemars(with = "Vec<String>"))]
    pub kinds: Vec<KindName>,
}

/// The name of a kind with its place in the file.
pub type KindName = toml::Spanned<String>;

/// The configuration file, for diagnostics.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConfigFile {
    /// Its path.
    pub path: PathBuf,
    /// Its text.
    pub text: String,
}

/// The flags, which take precedence over the file.
#[derive(Clone, Debug, Default)]
#[allow(missing_docs, reason = "the names are those of the flags")]
pub struct Overrides {
    pub input: Vec<PathBuf>,
    pub features: FeatureFlags,
    pub kinds: KindFlags,
    pub output: Option<PathBuf>,
    pub crd_output: Option<PathBuf>,
    pub only: Vec<Generator>,
    pub crate_name: Option<String>,
    pub module: Option<String>,
    pub header_file: Option<PathBuf>,
    pub year: Option<String>,
    pub max_desc_len: Option<usize>,
    pub allow_dangerous_types: bool,
    pub generate_embedded_object_meta: bool,
    pub keep_unknown_formats: bool,
    pub kubernetes_version: Option<KubernetesVersion>,
    pub ignore_unexported_fields: bool,
    pub preserve_unknown_fields: Option<bool>,
    pub crd_header_file: Option<PathBuf>,
    pub manifests: ManifestFlags,
    pub lints: LintConfig,
}

/// The header of YAML files from a file, with the year filled in; `None`: the file is not a header.
#[cfg(feature = "go")]
pub(crate) fn yaml_header(path: &Path, year: Option<&str>) -> Option<String> {
    header::yaml(path, year).ok()
}

/// The place of the generated Rust code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClientTarget {
    /// A separate package with this name.
    Crate(String),
    /// A module of an existing crate, by its path (`crate::generated`).
    Module(String),
}

/// The outputs for clients, and their place.
#[derive(Clone, Debug)]
pub struct ClientSettings {
    /// Folder of the client package, if it is generated.
    pub output: Option<PathBuf>,
    /// Package or module; `None`: a package named after the input crate.
    pub target: Option<ClientTarget>,
    /// Whether clients have apply configurations.
    pub apply_configurations: bool,
    /// Whether kinds have the function `validate()`.
    pub validations: bool,
    /// Whether functions that set defaults are generated.
    pub defaults: bool,
    /// Whether functions that convert between versions are generated.
    pub conversions: bool,
    /// Whether a fake clientset is generated.
    pub fake_clientset: bool,
    /// Kinds of Kubernetes that also get clients, with their places in [`Settings::file`].
    pub kinds: Vec<KindName>,
}

/// The merged settings of file and flags.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Crate folders.
    pub input: Vec<PathBuf>,
    /// The enabled features of these crates.
    pub features: FeatureChoice,
    /// The kinds to generate.
    pub selection: Selection,
    /// Whether flags select the kinds, for this run only: files of other kinds stay.
    pub chosen_for_run: bool,
    /// Whether kinds without errors are written although others have errors.
    pub keep_going: bool,
    /// The program to run for definitions that cannot be known from source, if any.
    pub evaluation: Option<Evaluation>,
    /// Generators to run, in order, without repetition.
    pub only: Vec<Generator>,
    /// Folder of the CRDs, if they are generated.
    pub crd_output: Option<PathBuf>,
    /// The client package.
    pub client: ClientSettings,
    /// The configuration file; empty without one.
    pub file: ConfigFile,
    /// Longest description.
    pub max_desc_len: Option<usize>,
    /// Whether floating point fields are allowed.
    pub allow_dangerous_types: bool,
    /// Whether embedded metadata gets a schema.
    pub generate_embedded_object_meta: bool,
    /// Whether to keep formats that API servers do not know, even if no lock file has kube.
    pub keep_unknown_formats: bool,
    /// The version of Kubernetes' types, in place of the one from features of k8s-openapi.
    pub kubernetes_version: Option<KubernetesVersion>,
    /// Whether unexported fields of Go structs are left out.
    pub ignore_unexported_fields: bool,
    /// Whether `preserveUnknownFields: false` is written.
    pub refuse_unknown_fields: bool,
    /// Text of the header file, with the year filled in.
    pub header: Option<String>,
    /// Comments at the start of every CRD, with the year filled in; may be empty.
    pub crd_header: String,
    /// The roles, if they are generated.
    pub rbac: Option<RbacSettings>,
    /// The webhook configurations, if they are generated.
    pub webhook: Option<WebhookSettings>,
    /// The admission policies, if they are generated.
    pub policy: Option<PolicySettings>,
    /// The OpenAPI documents and the report of API rules.
    pub openapi: OpenapiSettings,
    /// The reference documentation, if it is generated.
    pub docs: Option<DocsSettings>,
    /// The manifests that run the manager, if they are generated.
    pub deploy: Option<DeploySettings>,
    /// The Helm chart, if it is generated.
    pub helm: Option<HelmSettings>,
    /// Levels of warnings.
    pub lints: Lints,
}

/// A usage error: exit code 2.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct UsageError(pub String);

/// Reads and merges; returns one result for each member, or one for a file without members. Paths in a file
/// are relative to its folder, paths in flags to the current one.
///
/// # Errors
/// Returns an error for a file that cannot be read or parsed, and for invalid combinations.
pub fn settings(file: Option<&Path>, flags: Overrides) -> Result<Vec<Settings>, UsageError> {
    let Some(path) = file else {
        only::check(&flags, &[])?;
        return Ok(vec![merge(Config::default(), Path::new(""), flags)?]);
    };
    let (config, file) = read(path)?;
    let base = path.parent().unwrap_or(Path::new(""));
    if config.members.is_empty() {
        only::check(&flags, &[&config])?;
        return Ok(vec![Settings { file, ..merge(config, base, flags)? }]);
    }
    check_members(path, &config, &flags)?;
    let folders = config.members.iter().map(|member| base.join(member));
    let members = folders.map(|folder| Ok((member(&folder)?, folder))).collect::<Result<Vec<_>, _>>()?;
    only::check(&flags, &members.iter().map(|((config, _), _)| config).collect::<Vec<_>>())?;
    let merged = members
        .into_iter()
        .map(|((config, file), folder)| Ok(Settings { file, ..merge(config, &folder, flags.clone())? }));
    merged.collect()
}

/// Refuses other settings beside members, and flags that apply to a single project only.
fn check_members(path: &Path, config: &Config, flags: &Overrides) -> Result<(), UsageError> {
    let alone = Config { members: config.members.clone(), ..Config::default() };
    if *config != alone {
        return Err(UsageError(format!(
            "{}: a file with `members` has no other settings; put them into the members' {FILE_NAME}",
            path.display()
        )));
    }
    let one_only = [
        ("--input", !flags.input.is_empty()),
        ("--features", !flags.features.features.is_empty()),
        ("--kind", !flags.kinds.kinds.is_empty()),
        ("--group", !flags.kinds.groups.is_empty()),
        ("--exclude", !flags.kinds.exclude.is_empty()),
        ("--output", flags.output.is_some()),
        ("--crd-output", flags.crd_output.is_some()),
        ("--crate-name", flags.crate_name.is_some()),
        ("--module", flags.module.is_some()),
    ];
    match one_only.iter().chain(&flags.manifests.of_one_member()).find(|(_, given)| *given) {
        Some((flag, _)) => Err(UsageError(format!(
            "{flag} cannot hold for every member of {}: choose one with --config",
            path.display()
        ))),
        None => Ok(()),
    }
}

fn member(folder: &Path) -> Result<(Config, ConfigFile), UsageError> {
    let path = folder.join(FILE_NAME);
    let (config, file) = read(&path)?;
    if !config.members.is_empty() {
        return Err(UsageError(format!("{}: a member cannot have `members` of its own", path.display())));
    }
    Ok((config, file))
}

fn read(path: &Path) -> Result<(Config, ConfigFile), UsageError> {
    let text = fs::read_to_string(path)
        .map_err(|error| UsageError(format!("cannot read {}: {error}", path.display())))?;
    match parse(&text) {
        Ok(config) => Ok((config, ConfigFile { path: path.to_owned(), text })),
        Err(message) => Err(UsageError(format!("{}: {message}", path.display()))),
    }
}

/// Parses the file's text and suggests a name for an unknown key.
fn parse(text: &str) -> Result<Config, String> {
    toml::from_str(text).map_err(|error| {
        let message = error.to_string();
        let suggestion = unknown_key(error.message()).and_then(|(key, known)| {
            kubesmith_core::names::closest(key, known.iter().copied()).map(str::to_string)
        });
        let help = match suggestion {
            Some(name) => format!("did you mean `{name}`?"),
            None => mended(error.message()),
        };
        format!("{}\nhelp: {help}", message.trim_end())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flags() -> Overrides {
        Overrides { input: vec!["api".into()], output: Some("out".into()), ..Overrides::default() }
    }

    #[test]
    fn flags_suffice_without_a_configuration_file() {
        let settings = settings(None, flags()).unwrap().remove(0);
        assert_eq!(settings.crd_output, Some(PathBuf::from("out/crds")));
        assert_eq!(settings.client.output, Some(PathBuf::from("out")));
        assert_eq!(settings.only, ALL_GENERATORS);
    }

    #[test]
    fn paths_in_the_file_are_relative_to_it() {
        let config =
            parse("input = [\"api\"]\nonly = [\"crd\"]\n[crd]\noutput = \"crds\"\nmax_desc_len = 9").unwrap();
        let settings = merge(config, Path::new("sub"), Overrides::default()).unwrap();
        assert_eq!(settings.input, [PathBuf::from("sub/api")]);
        assert_eq!(settings.crd_output, Some(PathBuf::from("sub/crds")));
        assert_eq!(settings.client.output, None);
        assert_eq!(settings.max_desc_len, Some(9));
    }

    #[test]
    fn unknown_key_gets_a_suggestion() {
        let message = parse("[crd]\noutptu = \"x\"").unwrap_err();
        assert!(message.contains("did you mean `output`?"), "{message}");
        let message = parse("only = [\"cdr\"]").unwrap_err();
        assert!(message.contains("did you mean `crd`?"), "{message}");
    }

    #[test]
    fn contradictory_settings_are_refused() {
        let both = Overrides { crate_name: Some("a".into()), module: Some("crate::b".into()), ..flags() };
        assert!(settings(None, both).unwrap_err().0.contains("not both"));
        let bad = Overrides { crate_name: Some("1\"x".into()), ..flags() };
        assert!(settings(None, bad).unwrap_err().0.contains("is not a package name"));
        let bad = Overrides { module: Some("generated".into()), ..flags() };
        assert!(settings(None, bad).unwrap_err().0.contains("is not a module path"));
        let year = Overrides { year: Some("2026".into()), ..flags() };
        assert!(settings(None, year).unwrap_err().0.contains("no effect"));
        assert!(settings(None, Overrides::default()).unwrap_err().0.contains("no input"));
        let nothing = parse("input = [\"api\"]\nonly = []").unwrap();
        assert!(merge(nothing, Path::new(""), Overrides::default()).unwrap_err().0.contains("empty"));
    }

    #[test]
    fn member_paths_are_relative_to_the_member() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join(FILE_NAME);
        for member in ["one", "two"] {
            fs::create_dir(dir.path().join(member)).unwrap();
            let text = "input = [\"api\"]\nonly = [\"crd\"]\n[crd]\noutput = \"crds\"";
            fs::write(dir.path().join(member).join(FILE_NAME), text).unwrap();
        }
        fs::write(&file, "members = [\"one\", \"two\"]").unwrap();
        let read = settings(Some(&file), Overrides::default()).unwrap();
        let inputs: Vec<_> = read.iter().map(|settings| settings.input[0].clone()).collect();
        assert_eq!(inputs, [dir.path().join("one/api"), dir.path().join("two/api")]);

        assert!(settings(Some(&file), flags()).unwrap_err().0.contains("--input cannot hold"));
        fs::write(&file, "members = [\"one\"]\nyear = \"2026\"").unwrap();
        assert!(settings(Some(&file), Overrides::default()).unwrap_err().0.contains("no other settings"));
        fs::write(&file, "members = [\"three\"]").unwrap();
        assert!(settings(Some(&file), Overrides::default()).unwrap_err().0.contains("three"));
    }
}
