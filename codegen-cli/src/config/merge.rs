//! Merges flags and configuration file into settings.

use std::path::{Path, PathBuf};

use crate::lints::Lints;

use super::manifests::{self, Places};
use super::{
    ALL_GENERATORS, CLIENT_GENERATORS, ClientConfig, ClientSettings, ClientTarget, Config, ConfigFile,
    DeploySettings, DocsSettings, FILE_NAME, Generator, HelmSettings, OpenapiSettings, Overrides,
    PolicySettings, RbacSettings, Settings, UsageError, WebhookSettings, features, header, kinds,
};
use super::{deploy, evaluation, helm};

/// Merges file and flags. Paths in the file are relative to `base`.
pub(super) fn merge(mut config: Config, base: &Path, flags: Overrides) -> Result<Settings, UsageError> {
    deploy::place(&mut config);
    let features = features::choice(&config, &flags.features)?;
    let selection = kinds::selection(&config, &flags.kinds)?;
    let from_file = |path: &PathBuf| if base.as_os_str().is_empty() { path.clone() } else { base.join(path) };
    let input = match flags.input.is_empty() {
        true => config.input.iter().map(from_file).collect(),
        false => flags.input.clone(),
    };
    let named = if flags.only.is_empty() { config.only.clone() } else { Some(flags.only.clone()) };
    let only = generators(named.clone(), input.is_empty(), !config.client.kinds.is_empty())?;
    let places = Places {
        output: flags.output.as_deref(),
        // Built-in kinds alone have no other outputs.
        named: if input.is_empty() { Some(only.as_slice()) } else { named.as_deref() },
        base,
        year_flag: flags.year.as_deref(),
        year: config.year.as_deref(),
    };
    let (crd_output, client_output) = main_outputs(&config, &flags, &only, from_file)?;
    let manifests = manifests(&config, &flags, &places, crd_output.as_deref())?;
    let header_file = flags.header_file.clone().or_else(|| config.header_file.as_ref().map(from_file));
    let header = rust_header(header_file.as_deref(), &places, &manifests)?;
    let preserve =
        flags.preserve_unknown_fields.or(config.crd.deprecated_v1beta1_compatibility_preserve_unknown_fields);
    check_preserve(preserve)?;
    let client_target = target(flags.crate_name, flags.module, &config.client)?;
    check_named(&input, client_target.as_ref())?;
    let evaluation =
        evaluation::evaluation(&config, &flags.kinds, config.evaluation.folder.as_ref().map(from_file))?;
    let Manifests { crd_header, rbac, webhook, policy, deploy, helm, openapi, docs } = manifests;
    let settings = Settings {
        input,
        features,
        selection,
        chosen_for_run: flags.kinds.is_given(),
        keep_going: flags.kinds.keep_going || config.keep_going,
        evaluation,
        only,
        crd_output,
        client: client(config.client, client_output, client_target),
        file: ConfigFile::default(),
        max_desc_len: flags.max_desc_len.or(config.crd.max_desc_len),
        allow_dangerous_types: flags.allow_dangerous_types || config.crd.allow_dangerous_types,
        generate_embedded_object_meta: flags.generate_embedded_object_meta
            || config.crd.generate_embedded_object_meta,
        keep_unknown_formats: flags.keep_unknown_formats || config.crd.keep_unknown_formats,
        kubernetes_version: flags.kubernetes_version.or(config.crd.kubernetes_version),
        ignore_unexported_fields: flags.ignore_unexported_fields || config.crd.ignore_unexported_fields,
        refuse_unknown_fields: preserve == Some(false),
        header,
        crd_header,
        rbac,
        webhook,
        policy,
        openapi,
        docs,
        deploy,
        helm,
        lints: Lints::new(&config.lints, &flags.lints).map_err(UsageError)?,
    };
    helm::check_folder(&settings)?;
    Ok(settings)
}

/// Returns the outputs of the CRDs and of the client.
fn main_outputs(
    config: &Config,
    flags: &Overrides,
    only: &[Generator],
    from_file: impl Fn(&PathBuf) -> PathBuf,
) -> Result<(Option<PathBuf>, Option<PathBuf>), UsageError> {
    let crds = flags.crd_output.clone().or_else(|| flags.output.as_ref().map(|output| output.join("crds")));
    let crds = crds.or_else(|| config.crd.output.as_ref().map(&from_file));
    let client = flags.output.clone().or_else(|| config.client.output.as_ref().map(from_file));
    outputs(only, crds, client)
}

/// The outputs beside the client.
struct Manifests {
    crd_header: String,
    rbac: Option<RbacSettings>,
    webhook: Option<WebhookSettings>,
    policy: Option<PolicySettings>,
    deploy: Option<DeploySettings>,
    helm: Option<HelmSettings>,
    openapi: OpenapiSettings,
    docs: Option<DocsSettings>,
}

/// Settings of the outputs beside the client; `crds` is the folder of the CRDs.
fn manifests(
    config: &Config,
    flags: &Overrides,
    places: &Places<'_>,
    crds: Option<&Path>,
) -> Result<Manifests, UsageError> {
    let crd = &config.crd;
    let header_file = flags.crd_header_file.clone();
    let crd_header =
        places.yaml_header(header_file, crd.header_file.as_deref(), crd.year.as_deref(), "crd")?;
    let rbac = manifests::rbac(&config.rbac, &flags.manifests, places)?;
    let service = deploy::webhook_service(config)?;
    let webhook = manifests::webhook(&config.webhook, &flags.manifests, places, service)?;
    let policy = manifests::policy(&config.policy, &flags.manifests, places)?;
    let written = deploy::Written {
        crds,
        rbac: rbac.as_ref().map(|rbac| rbac.output.as_path()),
        webhook: webhook.as_ref().map(|webhook| webhook.output.as_path()),
        policy: policy.as_ref().map(|policy| policy.output.as_path()),
    };
    let deploy = deploy::deploy(config, &flags.manifests, places, written)?;
    let helm = helm::helm(config, &flags.manifests, places, written)?;
    let openapi = manifests::openapi(&config.openapi, &flags.manifests, places)?;
    let docs = manifests::docs(&config.docs, &flags.manifests, places)?;
    Ok(Manifests { crd_header, rbac, webhook, policy, deploy, helm, openapi, docs })
}

/// The header of Rust files. Refuses a year without a header with ` YEAR`.
fn rust_header(
    file: Option<&Path>,
    places: &Places<'_>,
    manifests: &Manifests,
) -> Result<Option<String>, UsageError> {
    let year = places.year_flag.or(places.year);
    let header = file.map(|path| header::rust(path, year)).transpose()?;
    let of_manifests = [
        Some(&manifests.crd_header),
        manifests.rbac.as_ref().map(|rbac| &rbac.header),
        manifests.webhook.as_ref().map(|webhook| &webhook.header),
        manifests.policy.as_ref().map(|policy| &policy.header),
    ];
    let has_other = of_manifests.into_iter().flatten().any(|text| !text.is_empty());
    check_year(year, header.is_some() || has_other)?;
    Ok(header)
}

/// Checks that a client can be named after its input or has its own name.
fn check_named(input: &[PathBuf], target: Option<&ClientTarget>) -> Result<(), UsageError> {
    if input.is_empty() && target.is_none() {
        return Err(UsageError(
            "a client of built-in kinds alone has no input to be named after: set `crate_name` or `module` in `[client]`"
                .into(),
        ));
    }
    Ok(())
}

/// Refuses a year without a header.
fn check_year(year: Option<&str>, has_header: bool) -> Result<(), UsageError> {
    if year.is_some() && !has_header {
        return Err(UsageError(
            "`year` has no effect without a header file: name one with --header-file".into(),
        ));
    }
    Ok(())
}

/// Refuses CRDs that preserve unknown fields as a whole, as servers do.
fn check_preserve(preserve: Option<bool>) -> Result<(), UsageError> {
    if preserve == Some(true) {
        return Err(UsageError(
            "`deprecated_v1beta1_compatibility_preserve_unknown_fields` can only be false: API servers refuse a CRD of \
             version v1 that preserves unknown fields; use `#[schema(preserve_unknown_fields)]` where they are wanted"
                .into(),
        ));
    }
    Ok(())
}

/// The named generators, or all that have an input, in order and without repetition. Without input, these are
/// the clients for kinds of Kubernetes.
fn generators(
    named: Option<Vec<Generator>>,
    no_input: bool,
    kinds: bool,
) -> Result<Vec<Generator>, UsageError> {
    if no_input && !kinds {
        return Err(UsageError(format!(
            "no input: name a crate folder with --input, or `input = [\"...\"]` in {FILE_NAME}"
        )));
    }
    let from_kinds = |only: &Vec<Generator>| only.iter().all(|it| CLIENT_GENERATORS.contains(it));
    if no_input && !named.as_ref().is_none_or(from_kinds) {
        return Err(UsageError(
            "no input: of the built-in kinds that `[client]` names, only client, lister and informer are generated".into(),
        ));
    }
    let all: &[Generator] = if no_input { &CLIENT_GENERATORS } else { &ALL_GENERATORS };
    let mut only = named.unwrap_or_else(|| all.to_vec());
    if only.is_empty() {
        return Err(UsageError("`only` is empty, so nothing would be generated: leave it out".into()));
    }
    only.sort_unstable();
    only.dedup();
    Ok(only)
}

/// The folders of the CRDs and the client, for each one that is generated.
fn outputs(
    only: &[Generator],
    crd: Option<PathBuf>,
    client: Option<PathBuf>,
) -> Result<(Option<PathBuf>, Option<PathBuf>), UsageError> {
    let wants_crd = only.contains(&Generator::Crd);
    let wants_client = only.iter().any(|generator| CLIENT_GENERATORS.contains(generator));
    if wants_crd && crd.is_none() {
        return Err(UsageError(
            "no folder for the CRDs: use --output, --crd-output or `output` in the `[crd]` table, or leave them out with \
             `only`, as --only rbac does"
                .into(),
        ));
    }
    if wants_client && client.is_none() {
        return Err(UsageError(
            "no folder for the client package: use --output or `output` in the `[client]` table, or leave it out with \
             `only`, as --only crd does"
                .into(),
        ));
    }
    Ok((crd.filter(|_| wants_crd), client.filter(|_| wants_client)))
}

/// The outputs for clients, and their place.
fn client(config: ClientConfig, output: Option<PathBuf>, target: Option<ClientTarget>) -> ClientSettings {
    // A module has no features: validation would cost compile time there, a fake clientset a dependency.
    let has_features = !matches!(target, Some(ClientTarget::Module(_)));
    ClientSettings {
        output,
        target,
        apply_configurations: config.apply_configurations.unwrap_or(true),
        validations: config.validations.unwrap_or(has_features),
        defaults: config.defaults.unwrap_or(true),
        conversions: config.conversions.unwrap_or(true),
        fake_clientset: config.fake_clientset.unwrap_or(has_features),
        kinds: config.kinds,
    }
}

/// A flag replaces either setting of the file.
fn target(
    crate_flag: Option<String>,
    module_flag: Option<String>,
    keys: &ClientConfig,
) -> Result<Option<ClientTarget>, UsageError> {
    let (crate_name, module) = if crate_flag.is_some() || module_flag.is_some() {
        (crate_flag, module_flag)
    } else {
        (keys.crate_name.clone(), keys.module.clone())
    };
    match (crate_name, module) {
        (Some(_), Some(_)) => Err(UsageError(
            "a client is either a separate crate or a module: set `crate_name` or `module`, not both".into(),
        )),
        (Some(name), None) if is_package_name(&name) => Ok(Some(ClientTarget::Crate(name))),
        (Some(name), None) => Err(UsageError(format!(
            "`{name}` is not a package name: use letters, digits, `-` and `_`, and begin with a letter"
        ))),
        (None, Some(path)) if is_module_path(&path) => Ok(Some(ClientTarget::Module(path))),
        (None, Some(path)) => {
            Err(UsageError(format!("`{path}` is not a module path: write it like `crate::generated`")))
        }
        (None, None) => Ok(None),
    }
}

fn is_package_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
}

fn is_module_path(path: &str) -> bool {
    kubesmith_core::nesting::check(path).is_ok()
        && syn::parse_str::<syn::Path>(path).is_ok_and(|path| {
            path.segments.first().is_some_and(|first| first.ident == "crate")
                && path.segments.iter().all(|segment| segment.arguments.is_none())
        })
}
