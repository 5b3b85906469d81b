//! Table `[helm]`: a chart with the objects of the deployment.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::deploy::{self, DeploySettings, Written};
use super::manifests::Places;
use super::{Config, Generator, ManifestFlags, UsageError};

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
    let output = places.located(output);
    if output == deploy.output {
        return Err(UsageError(
            "`[helm]` and `[deploy]` have the same `output`: give the chart a folder of its own, such as \"charts/shop\"".into(),
        ));
    }
    let version = helm.version.clone().unwrap_or_else(|| VERSION.to_string());
    let app_version = helm.app_version.clone().unwrap_or_else(|| version.clone());
    check_version(&version)?;
    let port = deploy::metrics_port(deploy.metrics_secure);
    let ports = [port, port + 2];
    let usual = ports.into_iter().find(|port| *port != deploy.health_port);
    Ok(Some(HelmSettings {
        output,
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

/// Refuses versions outside SemVer 2, as Helm does.
fn check_version(text: &str) -> Result<(), UsageError> {
    let (core, _) = text.split_once(['-', '+']).unwrap_or((text, ""));
    let is_number = |part: &str| {
        !part.is_empty()
            && part.bytes().all(|b| b.is_ascii_digit())
            && (part == "0" || !part.starts_with('0'))
    };
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '+');
    let parts: Vec<&str> = core.split('.').collect();
    if parts.len() == 3 && parts.into_iter().all(is_number) && text.chars().all(is_word) {
        return Ok(());
    }
    Err(UsageError(format!(
        "`version = \"{text}\"` in `[helm]` is not a version: write it like \"{VERSION}\""
    )))
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
            (&format!("{DEPLOY}[helm]\noutput = \"chart\"\nversion = \"1.01.0\""), "is not a version"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
        assert!(read(&format!("{DEPLOY}[helm]\noutput = \"chart\"\nversion = \"1.0.0-rc.1+a\"")).is_ok());
    }
}
