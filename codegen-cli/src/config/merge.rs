//! Flags and configuration file become settings.

use std::path::{Path, PathBuf};

use crate::lints::Lints;
use crate::parse::depth;

use super::deploy;
use super::manifests::{self, Places};
use super::{
    ALL_GENERATORS, CLIENT_GENERATORS, ClientTarget, Config, ConfigFile, FILE_NAME, Generator, Overrides,
    Settings, UsageError, features, header, only,
};

/// File and flags together. Paths in the file are relative to `base`.
pub(super) fn merge(config: Config, base: &Path, flags: Overrides) -> Result<Settings, UsageError> {
    only::check(&flags)?;
    let mut config = config;
    deploy::place(&mut config);
    let webhook_service = deploy::webhook_service(&config);
    let features = features::choice(&config, &flags.features)?;
    let from_file = |path: PathBuf| if base.as_os_str().is_empty() { path } else { base.join(path) };
    let input = if flags.input.is_empty() {
        config.input.iter().cloned().map(from_file).collect()
    } else {
        flags.input
    };
    let named = if flags.only.is_empty() { config.only.clone() } else { Some(flags.only) };
    let only = generators(named.clone(), input.is_empty(), !config.client.kinds.is_empty())?;
    let places = Places {
        output: flags.output.as_deref(),
        named: named.as_deref(),
        base,
        year_flag: flags.year.as_deref(),
        year: config.year.as_deref(),
    };
    let crd = &config.crd;
    let crd_header =
        places.yaml_header(flags.crd_header_file, crd.header_file.as_deref(), crd.year.as_deref(), "crd")?;
    let rbac = manifests::rbac(&config.rbac, &flags.manifests, &places)?;
    let mut webhook = manifests::webhook(&config.webhook, &flags.manifests, &places)?;
    if let Some(webhook) = &mut webhook {
        webhook.service = webhook_service;
    }
    let openapi = manifests::openapi(&config.openapi, &flags.manifests, &places)?;
    let docs = manifests::docs(&config.docs, &flags.manifests, &places)?;
    let deploy = deploy::deploy(&config, &flags.manifests, &places)?;
    let header_file = flags.header_file.or_else(|| config.header_file.map(from_file));
    let year = flags.year.as_deref().or(config.year.as_deref());
    let header = header_file.as_deref().map(|path| header::rust(path, year)).transpose()?;
    let headers = [
        header.is_some(),
        !crd_header.is_empty(),
        rbac.as_ref().is_some_and(|rbac| !rbac.header.is_empty()),
        webhook.as_ref().is_some_and(|webhook| !webhook.header.is_empty()),
    ];
    check_year(year, &headers)?;
    let crd_output = flags
        .crd_output
        .or_else(|| flags.output.as_ref().map(|output| output.join("crds")))
        .or_else(|| config.crd.output.map(from_file));
    let preserve =
        flags.preserve_unknown_fields.or(config.crd.deprecated_v1beta1_compatibility_preserve_unknown_fields);
    check_preserve(preserve)?;
    let client_output = flags.output.or_else(|| config.client.output.map(from_file));
    let (crd_output, client_output) = outputs(&only, crd_output, client_output)?;
    let client_target =
        target(flags.crate_name, flags.module, config.client.crate_name, config.client.module)?;
    if input.is_empty() && client_target.is_none() {
        return Err(UsageError(
            "a client of built-in kinds alone has no input to be named after: set `crate_name` or `module` in `[client]`"
                .into(),
        ));
    }
    // A module cannot have a feature of its own, and validation costs compile time.
    let is_module = matches!(client_target, Some(ClientTarget::Module(_)));
    Ok(Settings {
        input,
        features,
        only,
        crd_output,
        client_output,
        fake_clientset: config
            .client
            .fake_clientset
            .unwrap_or(!matches!(client_target, Some(ClientTarget::Module(_)))),
        client_target,
        apply_configurations: config.client.apply_configurations.unwrap_or(true),
        defaults: config.client.defaults.unwrap_or(true),
        conversions: config.client.conversions.unwrap_or(true),
        kinds: config.client.kinds,
        file: ConfigFile::default(),
        validations: config.client.validations.unwrap_or(!is_module),
        max_desc_len: flags.max_desc_len.or(config.crd.max_desc_len),
        allow_dangerous_types: flags.allow_dangerous_types || config.crd.allow_dangerous_types,
        generate_embedded_object_meta: flags.generate_embedded_object_meta
            || config.crd.generate_embedded_object_meta,
        keep_unknown_formats: flags.keep_unknown_formats || config.crd.keep_unknown_formats,
        refuse_unknown_fields: preserve == Some(false),
        header,
        crd_header,
        rbac,
        webhook,
        openapi,
        docs,
        deploy,
        lints: Lints::new(&config.lints, &flags.lints).map_err(UsageError)?,
    })
}

/// A year stands in headers, of which there has to be one.
fn check_year(year: Option<&str>, headers: &[bool]) -> Result<(), UsageError> {
    if year.is_some() && !headers.contains(&true) {
        return Err(UsageError(
            "`year` has no effect without a header file: name one with --header-file".into(),
        ));
    }
    Ok(())
}

/// Servers only take CRDs that do not preserve unknown fields as a whole.
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

/// The generators that were named, or all that there is something to generate from, in order and without repetition.
/// Without input, that are the kinds of Kubernetes, of which clients are made.
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

/// The folders of the CRDs and of the client, each as far as it is generated.
fn outputs(
    only: &[Generator],
    crd: Option<PathBuf>,
    client: Option<PathBuf>,
) -> Result<(Option<PathBuf>, Option<PathBuf>), UsageError> {
    let wants_crd = only.contains(&Generator::Crd);
    let wants_client = only.iter().any(|generator| CLIENT_GENERATORS.contains(generator));
    if wants_crd && crd.is_none() {
        return Err(UsageError(
            "no folder for the CRDs: use --output, --crd-output or `output` in the `[crd]` table".into(),
        ));
    }
    if wants_client && client.is_none() {
        return Err(UsageError(
            "no folder for the client package: use --output or `output` in the `[client]` table, or --only crd".into(),
        ));
    }
    Ok((crd.filter(|_| wants_crd), client.filter(|_| wants_client)))
}

/// A flag replaces whatever of the two the file has.
fn target(
    crate_flag: Option<String>,
    module_flag: Option<String>,
    crate_key: Option<String>,
    module_key: Option<String>,
) -> Result<Option<ClientTarget>, UsageError> {
    let (crate_name, module) = if crate_flag.is_some() || module_flag.is_some() {
        (crate_flag, module_flag)
    } else {
        (crate_key, module_key)
    };
    match (crate_name, module) {
        (Some(_), Some(_)) => Err(UsageError(
            "a client is a crate of its own or a module, not both: choose `crate_name` or `module`".into(),
        )),
        (Some(name), None) if is_package_name(&name) => Ok(Some(ClientTarget::Crate(name))),
        (Some(name), None) => Err(UsageError(format!(
            "`{name}` is no package name: use letters, digits, `-` and `_`, and begin with a letter"
        ))),
        (None, Some(path)) if is_module_path(&path) => Ok(Some(ClientTarget::Module(path))),
        (None, Some(path)) => {
            Err(UsageError(format!("`{path}` is no module path: write it like `crate::generated`")))
        }
        (None, None) => Ok(None),
    }
}

fn is_package_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
}

fn is_module_path(path: &str) -> bool {
    depth::check(path).is_ok()
        && syn::parse_str::<syn::Path>(path).is_ok_and(|path| {
            path.segments.first().is_some_and(|first| first.ident == "crate")
                && path.segments.iter().all(|segment| segment.arguments.is_none())
        })
}
