//! Table `[helm]`: a chart with the objects of the deployment.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::deploy::{self, DeploySettings, Written};
use super::manifests::Places;
use super::{Config, Generator, ManifestFlags, Settings, UsageError};
use crate::output::DEPLOY_FOLDERS;
use crate::paths::{absolute, display};

/// The default version of a chart and its program, as in `helm create`.
const VERSION: &str = "0.1.0";

/// Table `[helm]`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct HelmConfig {
    /// Folder of the chart, such as `charts/shop`. The chart has the objects of `[deploy]`.
    pub output: Option<PathBuf>,
    /// Version of the chart. Default: 0.1.0.
    pub version: Option<String>,
    /// Version of the program. Default: the version of the chart.
    pub app_version: Option<String>,
}

/// The settings of the chart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HelmSettings {
    /// Folder.
    pub output: PathBuf,
    /// Version of the chart.
    pub version: String,
    /// Version of the program in it.
    pub app_version: String,
    /// The deployment with everything that the values can enable.
    pub deploy: DeploySettings,
    /// The image of `[deploy]`, or of the run.
    pub image: String,
    /// Further arguments of the manager.
    pub args: Vec<String>,
    /// Whether replicas elect a leader by default.
    pub leader_election: bool,
    /// Whether metrics are served by default.
    pub has_metrics: bool,
    /// Whether there is a ServiceMonitor by default.
    pub has_monitor: bool,
}

/// Settings of the chart, if it is written. `config` has been [placed](deploy::place).
///
/// # Errors
/// Returns an error if the folder, the deployment or a version is missing or invalid.
pub(super) fn helm(
    config: &Config,
    flags: &ManifestFlags,
    places: &Places<'_>,
    written: Written<'_>,
) -> Result<Option<HelmSettings>, UsageError> {
    if places.is_left_out(Generator::Helm) {
        return Ok(None);
    }
    let helm = &config.helm;
    let Some(output) = helm.output.as_deref() else {
        if places.is_named(Generator::Helm) || *helm != HelmConfig::default() {
            return Err(UsageError(
                "no folder for `helm`: set `output` in the `[helm]` table, such as \"charts/shop\"".into(),
            ));
        }
        return Ok(None);
    };
    let Some(deploy) = deploy::settings(config, flags, places, written)? else {
        return Err(UsageError(
            "`[helm]` needs a deployment: set `output` and `name` in the `[deploy]` table".into(),
        ));
    };
    let version = helm.version.clone().unwrap_or_else(|| VERSION.to_string());
    let app_version = helm.app_version.clone().unwrap_or_else(|| version.clone());
    check_version(&version)?;
    let port = deploy::metrics_port(deploy.metrics_secure);
    let ports = [port, port + 2];
    let usual = ports.into_iter().find(|port| *port != deploy.health_port);
    Ok(Some(HelmSettings {
        output: places.located(output),
        version,
        app_version,
        image: deploy.installer_image.clone(),
        args: deploy.args.clone(),
        leader_election: deploy.leader_election,
        has_metrics: deploy.metrics_port.is_some(),
        has_monitor: deploy.metrics_port.is_some() && deploy.prometheus,
        deploy: DeploySettings {
            args: Vec::new(),
            leader_election: true,
            metrics_port: deploy.metrics_port.or(usual),
            prometheus: true,
            ..deploy
        },
    }))
}

/// Refuses a chart around an output of another generator, because Helm reads every file of a chart, and a chart in a folder of
/// the deployment's tree.
pub(super) fn check_folder(settings: &Settings) -> Result<(), UsageError> {
    let Some(helm) = &settings.helm else { return Ok(()) };
    let chart = absolute(&helm.output);
    let tree: Vec<PathBuf> = DEPLOY_FOLDERS.iter().map(|name| helm.deploy.output.join(name)).collect();
    let others = [
        ("client", settings.client.output.as_deref()),
        ("deploy", Some(helm.deploy.output.as_path())),
        ("deploy", helm.deploy.installer.as_deref()),
        ("docs", settings.docs.as_ref().map(|docs| docs.output.as_path())),
        ("openapi", settings.openapi.output.as_deref()),
    ];
    let around = others.into_iter().find_map(|(table, other)| {
        other.filter(|other| absolute(other).starts_with(&chart)).map(|other| (table, other))
    });
    let inside = tree.iter().find(|folder| chart.starts_with(absolute(folder)));
    match around.or(inside.map(|folder| ("deploy", folder.as_path()))) {
        Some((table, other)) => Err(UsageError(format!(
            "the chart's folder \"{}\" overlaps \"{}\", an output of `[{table}]`: set `output` in `[helm]` to a folder of its \
             own, such as \"charts/{}\"",
            display(&helm.output),
            display(other),
            helm.deploy.name
        ))),
        None => Ok(()),
    }
}

/// Refuses versions outside SemVer 2, as Helm does.
fn check_version(text: &str) -> Result<(), UsageError> {
    if is_version(text) {
        return Ok(());
    }
    Err(UsageError(format!(
        "`version = \"{text}\"` in `[helm]` is not a version: write it like \"{VERSION}\""
    )))
}

/// Whether Helm accepts the version. Its numbers have 64 bits (`StrictNewVersion` of github.com/Masterminds/semver).
fn is_version(text: &str) -> bool {
    let has_no_zero = |part: &str| part == "0" || !part.starts_with('0');
    let is_number = |part: &str| part.parse::<u64>().is_ok() && has_no_zero(part);
    let is_word = |part: &str| {
        !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    let is_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let (rest, build) = text.split_once('+').map_or((text, None), |(rest, build)| (rest, Some(build)));
    let (core, pre_release) = rest.split_once('-').map_or((rest, None), |(core, pre)| (core, Some(pre)));
    core.split('.').count() == 3
        && core.split('.').all(is_number)
        && pre_release.is_none_or(|pre| {
            pre.split('.').all(|part| is_word(part) && (!is_digits(part) || has_no_zero(part)))
        })
        && build.is_none_or(|build| build.split('.').all(is_word))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::{Overrides, merge::merge, parse};
    use super::*;

    fn read(text: &str) -> Result<Option<HelmSettings>, String> {
        let config = parse(&format!("input = [\"api\"]\n[client]\noutput = \"client\"\n{text}"))?;
        let merged = merge(config, Path::new("base"), Overrides::default());
        merged.map(|settings| settings.helm).map_err(|error| error.0)
    }

    const DEPLOY: &str = "[deploy]\noutput = \"config\"\nname = \"shop\"\n";

    #[test]
    fn chart_templates_keep_parts_that_its_values_turn_off() {
        let text = format!("{DEPLOY}leader_election = false\nmetrics_port = 0\nargs = [\"-v\"]\n");
        let helm = read(&format!("{text}[helm]\noutput = \"charts/shop\"")).unwrap().unwrap();
        assert_eq!(helm.output, Path::new("base/charts/shop"));
        assert_eq!((helm.version.as_str(), helm.app_version.as_str()), ("0.1.0", "0.1.0"));
        assert!(!helm.leader_election && !helm.has_metrics && !helm.has_monitor);
        assert!(helm.deploy.leader_election && helm.deploy.args.is_empty());
        assert_eq!((helm.deploy.metrics_port, helm.args), (Some(8443), vec!["-v".to_string()]));
        assert_eq!(read(DEPLOY), Ok(None));
    }

    #[test]
    fn chart_is_refused_without_deployment_folder_or_valid_version() {
        for (text, part) in [
            ("[crd]\noutput = \"crds\"\n[helm]\noutput = \"chart\"", "needs a deployment"),
            ("[crd]\noutput = \"crds\"\n[helm]\nversion = \"1.0.0\"", "no folder for `helm`"),
            (&format!("{DEPLOY}[helm]\noutput = \"chart\"\nversion = \"1.0\""), "`version = \"1.0\"`"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
    }

    #[test]
    fn version_is_one_that_helm_accepts() {
        let accepted = [
            "0.0.0",
            "1.0.0",
            "1.0.0-rc.1+a",
            "1.0.0-0",
            "1.0.0--",
            "1.0.0-0a",
            "1.0.0+01",
            "1.0.0+a-b",
            "18446744073709551615.0.0",
        ];
        let refused = [
            "",
            "1",
            "1.0",
            "1.0.0.0",
            "v1.0.0",
            "1.01.0",
            "1.0.0-",
            "1.0.0-01",
            "1.0.0+",
            "1.0.0-a..b",
            "1.0.0+a..b",
            "1.0.0+a+b",
            "1.0.0-a_b",
            "1.0.-0",
            "1..0",
            "18446744073709551616.0.0",
            "99999999999999999999999.0.0",
        ];
        assert_eq!(accepted.into_iter().filter(|text| !is_version(text)).collect::<Vec<_>>(), [""; 0]);
        assert_eq!(refused.into_iter().filter(|text| is_version(text)).collect::<Vec<_>>(), [""; 0]);
        let error = read(&format!("{DEPLOY}[helm]\noutput = \"chart\"\nversion = \"1.0.0-\"")).unwrap_err();
        assert!(error.starts_with("`version = \"1.0.0-\"` in `[helm]` is not a version"), "{error}");
    }

    #[test]
    fn chart_has_a_folder_of_its_own() {
        let with = |folder: &str| {
            read(&format!(
                "{DEPLOY}installer = \"dist/install.yaml\"\n[docs]\noutput = \"docs/api\"\n[helm]\noutput = \"{folder}\""
            ))
        };
        for (folder, other) in [
            ("config", "\"base/config\", an output of `[deploy]`"),
            ("./config", "\"base/config\", an output of `[deploy]`"),
            ("a/../config/", "\"base/config\", an output of `[deploy]`"),
            ("config/crd/bases", "\"base/config/crd\", an output of `[deploy]`"),
            ("config/samples/chart", "\"base/config/samples\", an output of `[deploy]`"),
            ("dist", "\"base/dist/install.yaml\", an output of `[deploy]`"),
            ("docs", "\"base/docs/api\", an output of `[docs]`"),
            ("client", "\"base/client\", an output of `[client]`"),
            (".", "an output of"),
        ] {
            let error = with(folder).unwrap_err();
            assert!(
                error.starts_with("the chart's folder \"base") && error.contains(other),
                "{folder}: {error}"
            );
        }
        for folder in ["charts/shop", "config/chart", "dist/chart", "configuration"] {
            assert!(with(folder).is_ok(), "{folder}");
        }
    }
}
