//! Prints the complete settings of a run as a file: `kubesmith config show`.

use std::path::{Path, PathBuf};

use super::{
    ClientConfig, ClientTarget, Config, CrdConfig, DeployConfig, DeploySettings, DocsConfig, Evaluation,
    EvaluationConfig, Generator, HelmConfig, OpenapiConfig, PolicyConfig, RbacConfig, Settings,
    WebhookConfig,
};
use crate::paths::display;

/// Prints settings as TOML that [`super::settings`] reads back as the same settings. Header files are left
/// out, because only their text is known.
///
/// # Errors
/// Returns an error if a value has no form in TOML.
pub fn show(settings: &Settings) -> Result<String, toml::ser::Error> {
    toml::to_string(&config(settings))
}

fn path(path: &Path) -> PathBuf {
    PathBuf::from(display(path))
}

fn config(settings: &Settings) -> Config {
    Config {
        input: settings.input.iter().map(|input| path(input)).collect(),
        features: settings.features.names.clone(),
        all_features: settings.features.all,
        no_default_features: settings.features.no_default,
        kinds: settings.selection.kinds.clone(),
        groups: settings.selection.groups.clone(),
        exclude: settings.selection.exclude.clone(),
        keep_going: settings.keep_going,
        evaluate: settings.evaluation.is_some(),
        evaluation: settings.evaluation.as_ref().map_or_else(EvaluationConfig::default, evaluation),
        only: Some(settings.only.iter().copied().filter(|generator| runs(settings, *generator)).collect()),
        crd: crd(settings),
        client: client(settings),
        rbac: settings.rbac.as_ref().map_or_else(RbacConfig::default, |rbac| RbacConfig {
            output: Some(path(&rbac.output)),
            role_name: Some(rbac.role_name.clone()),
            file_name: Some(rbac.file_name.clone()),
            ..RbacConfig::default()
        }),
        webhook: settings.webhook.as_ref().map_or_else(WebhookConfig::default, |webhook| WebhookConfig {
            output: Some(path(&webhook.output)),
            ..WebhookConfig::default()
        }),
        policy: settings.policy.as_ref().map_or_else(PolicyConfig::default, |policy| PolicyConfig {
            output: Some(path(&policy.output)),
            ..PolicyConfig::default()
        }),
        openapi: OpenapiConfig {
            output: settings.openapi.output.as_deref().map(path),
            report_filename: settings.openapi.report.as_deref().map(path),
        },
        docs: settings.docs.as_ref().map_or_else(DocsConfig::default, |docs| DocsConfig {
            output: Some(path(&docs.output)),
            formats: Some(docs.formats.clone()),
        }),
        deploy: settings.deploy.as_ref().map_or_else(DeployConfig::default, deploy),
        helm: settings.helm.as_ref().map_or_else(HelmConfig::default, |helm| HelmConfig {
            output: Some(path(&helm.output)),
            version: Some(helm.version.clone()),
            app_version: Some(helm.app_version.clone()),
        }),
        lints: settings.lints.config(),
        ..Config::default()
    }
}

/// Whether a generator has an output.
fn runs(settings: &Settings, generator: Generator) -> bool {
    match generator {
        Generator::Crd => settings.crd_output.is_some(),
        Generator::Client | Generator::Lister | Generator::Informer => settings.client.output.is_some(),
        Generator::Rbac => settings.rbac.is_some(),
        Generator::Webhook => settings.webhook.is_some(),
        Generator::Policy => settings.policy.is_some(),
        Generator::Openapi => settings.openapi.output.is_some() || settings.openapi.report.is_some(),
        Generator::Docs => settings.docs.is_some(),
        Generator::Deploy => settings.deploy.is_some(),
        Generator::Helm => settings.helm.is_some(),
    }
}

fn crd(settings: &Settings) -> CrdConfig {
    CrdConfig {
        output: settings.crd_output.as_deref().map(path),
        max_desc_len: settings.max_desc_len,
        allow_dangerous_types: settings.allow_dangerous_types,
        generate_embedded_object_meta: settings.generate_embedded_object_meta,
        keep_unknown_formats: settings.keep_unknown_formats,
        kubernetes_version: settings.kubernetes_version,
        ignore_unexported_fields: settings.ignore_unexported_fields,
        deprecated_v1beta1_compatibility_preserve_unknown_fields: settings
            .refuse_unknown_fields
            .then_some(false),
        ..CrdConfig::default()
    }
}

fn client(settings: &Settings) -> ClientConfig {
    let client = &settings.client;
    let Some(output) = client.output.as_deref() else { return ClientConfig::default() };
    let (crate_name, module) = match client.target.clone() {
        Some(ClientTarget::Crate(name)) => (Some(name), None),
        Some(ClientTarget::Module(path)) => (None, Some(path)),
        None => (None, None),
    };
    ClientConfig {
        output: Some(path(output)),
        crate_name,
        module,
        apply_configurations: Some(client.apply_configurations),
        validations: Some(client.validations),
        defaults: Some(client.defaults),
        conversions: Some(client.conversions),
        fake_clientset: Some(client.fake_clientset),
        kinds: client.kinds.clone(),
    }
}

fn evaluation(evaluation: &Evaluation) -> EvaluationConfig {
    let config = super::evaluation::config(evaluation);
    EvaluationConfig { folder: config.folder.as_deref().map(path), ..config }
}

fn deploy(deploy: &DeploySettings) -> DeployConfig {
    DeployConfig {
        output: Some(path(&deploy.output)),
        name: Some(deploy.name.clone()),
        namespace: Some(deploy.namespace.clone()),
        name_prefix: Some(deploy.name_prefix.clone()),
        image: Some(deploy.image.clone()),
        image_pull_policy: deploy.image_pull_policy,
        replicas: (!deploy.is_sharded).then_some(deploy.replicas),
        shards: deploy.is_sharded.then_some(deploy.replicas),
        args: deploy.args.clone(),
        env: deploy.env.clone(),
        env_from: deploy.env_from.clone(),
        resources: Some(deploy.resources.clone()),
        leader_election: Some(deploy.leader_election),
        metrics_port: Some(deploy.metrics_port.unwrap_or(0)),
        metrics_secure: (deploy.metrics_port.is_some() || !deploy.metrics_secure)
            .then_some(deploy.metrics_secure),
        metrics_certificates: deploy.has_secure_metrics().then_some(deploy.metrics_certificates),
        health_port: Some(deploy.health_port),
        prometheus: deploy.prometheus,
        alerts: deploy.alerts,
        certificates: deploy.certificates,
        crd_upgrade: deploy.crd_upgrade,
        installer: deploy.installer.as_deref().map(path),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Overrides, merge::merge, parse};
    use super::*;

    fn shown(text: &str) -> String {
        let config = parse(text).unwrap();
        show(&merge(config, Path::new(""), Overrides::default()).unwrap()).unwrap()
    }

    #[test]
    fn shown_settings_survive_a_round_trip() {
        for text in [
            "input = [\"api\"]\n[crd]\noutput = \"crds\"\n[client]\noutput = \"client\"\nkinds = [\"v1/Pod\"]",
            "input = [\"api\"]\nkinds = [\"Order\"]\ngroups = [\"example.com\"]\nexclude = [\"Cart\"]\nkeep_going = true\nonly = [\"crd\"]\n[crd]\noutput = \"crds\"",
            "input = [\"api\"]\nevaluate = true\nonly = [\"crd\"]\n[crd]\noutput = \"crds\"\n[evaluation]\nfolder = \"op\"\nbinary = \"crdgen\"\narguments = [\"-a\"]",
            "input = [\"api\"]\nonly = [\"rbac\"]\nfeatures = [\"a\"]\n[rbac]\noutput = \"r\"\n[lints]\ndeny = [\"all\"]",
            "input = [\"api\"]\n[client]\noutput = \"c\"\nmodule = \"crate::g\"\n[deploy]\noutput = \"config\"\nname = \"a\"\n\
             metrics_port = 0\nenv_from = [{ secret = \"s\" }]\nenv = { A = \"b\" }\n[docs]\noutput = \"docs\"",
            "input = [\"api\"]\n[client]\noutput = \"c\"\nmodule = \"crate::g\"\n[deploy]\noutput = \"config\"\nname = \"a\"\n\
             metrics_certificates = \"cert-manager\"\ncrd_upgrade = true",
        ] {
            let first = shown(text);
            assert_eq!(shown(&first), first);
        }
    }

    #[test]
    fn generators_without_a_folder_are_not_shown() {
        let text = shown("input = [\"api\"]\n[crd]\noutput = \"crds\"\n[client]\noutput = \"client\"");
        assert!(text.contains("only = [\"crd\", \"client\", \"lister\", \"informer\"]"), "{text}");
    }
}
