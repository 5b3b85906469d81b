use super::super::{Overrides, merge::merge, parse};
use super::*;

fn read(text: &str) -> Result<Option<DeploySettings>, String> {
    let config = parse(&format!("input = [\"api\"]\n[client]\noutput = \"client\"\n{text}"))?;
    merge(config, Path::new("base"), Overrides::default())
        .map(|settings| settings.deploy)
        .map_err(|error| error.0)
}

/// The message with these flags.
fn refused(flags: Overrides, text: &str) -> String {
    let text = format!("input = [\"api\"]\n[client]\noutput = \"client\"\n{text}");
    merge(parse(&text).unwrap(), Path::new("base"), flags).map(drop).unwrap_err().0
}

#[test]
fn deploy_settings_follow_flags() {
    let deploy = "[deploy]\noutput = \"config\"\nname = \"shop\"\n";
    let text = format!("input = [\"api\"]\n[client]\noutput = \"client\"\n{deploy}");
    let manifests = ManifestFlags {
        rbac_role_name: Some("mine".into()),
        rbac_file_name: Some("roles.yaml".into()),
        rbac_output: Some("base/config/rbac".into()),
        ..ManifestFlags::default()
    };
    let crd_output = Some("base/./config/crd".into());
    let flags = Overrides { manifests, crd_output, ..Overrides::default() };
    let deployed = merge(parse(&text).unwrap(), Path::new("base"), flags).unwrap().deploy.unwrap();
    assert_eq!((deployed.role_name.as_str(), deployed.role_file.as_str()), ("mine", "roles.yaml"));
    assert_eq!(deployed.crd_folder, "");

    let with = |manifests| Overrides { manifests, ..Overrides::default() };
    let folder = || Some(PathBuf::from("elsewhere"));
    for (flags, part) in [
        (with(ManifestFlags { rbac_output: folder(), ..Default::default() }), "the roles would be written"),
        (with(ManifestFlags { webhook_output: folder(), ..Default::default() }), "--webhook-output"),
        (Overrides { crd_output: folder(), ..Default::default() }, "below \"base/config/crd\""),
        (Overrides { output: folder(), ..Default::default() }, "\"elsewhere/rbac\""),
        (with(ManifestFlags { image: Some(String::new()), ..Default::default() }), "is not an image"),
    ] {
        let error = refused(flags, deploy);
        assert!(error.contains(part), "{error}");
    }
    // The other generators' uses of names are checked without the tree.
    let webhooks = Overrides { only: vec![Generator::Webhook], ..Overrides::default() };
    assert!(
        refused(webhooks, "[deploy]\noutput = \"config\"\nname = \"Shop\"").contains("`name = \"Shop\"`")
    );
}

#[test]
fn deployment_is_off_without_an_input() {
    let text = "[client]\noutput = \"client\"\ncrate_name = \"c\"\nkinds = [\"v1/Pod\"]\n\
                [deploy]\noutput = \"config\"\nname = \"shop\"";
    let settings = merge(parse(text).unwrap(), Path::new("base"), Overrides::default()).unwrap();
    assert!(settings.deploy.is_none() && settings.rbac.is_none() && settings.webhook.is_none());
}

#[test]
fn deployment_has_defaults_when_only_name_and_output_are_set() {
    let deploy = read("[deploy]\noutput = \"config\"\nname = \"shop\"").unwrap().unwrap();
    assert_eq!(deploy.output, Path::new("base/config"));
    assert_eq!((deploy.namespace.as_str(), deploy.name_prefix.as_str()), ("shop-system", "shop-"));
    assert_eq!((deploy.crd_folder.as_str(), deploy.role_name.as_str()), ("bases", "shop-manager-role"));
    assert_eq!((deploy.metrics_port, deploy.health_port), (Some(8443), 8081));
    assert!(deploy.has_secure_metrics() && !deploy.has_issued_metrics() && !deploy.crd_upgrade);
    let plain = read("[deploy]\noutput = \"config\"\nname = \"shop\"\nmetrics_secure = false");
    let plain = plain.unwrap().unwrap();
    assert_eq!((plain.metrics_port, plain.has_secure_metrics()), (Some(8080), false));
    assert_eq!(read("[crd]\noutput = \"crds\"").unwrap(), None);
}

#[test]
fn invalid_deploy_settings_are_refused() {
    let deploy = "[deploy]\noutput = \"config\"\nname = \"shop\"\n";
    for (text, part) in [
        ("[deploy]\nname = \"shop\"\n[crd]\noutput = \"crds\"", "no folder for `deploy`"),
        ("[deploy]\noutput = \"config\"", "has no `name`"),
        ("[deploy]\noutput = \"config\"\nname = \"Shop\"", "`name = \"Shop\"`"),
        (&format!("{deploy}name_prefix = \"{}-\"", "a".repeat(40)), "too long"),
        (&format!("{deploy}health_port = 8443"), "cannot share port 8443"),
        (&format!("{deploy}metrics_secure = false\nhealth_port = 8080"), "cannot share port 8080"),
        (&format!("{deploy}health_port = 0"), "need a port"),
        (&format!("{deploy}installer = \"dist\""), "is not the name of a YAML file"),
        (&format!("{deploy}metrics_port = 8081"), "cannot share port 8081"),
        (&format!("{deploy}metrics_port = 7\nhealth_port = 7"), "cannot share port 7"),
        (&format!("{deploy}metrics_port = 9443"), "where webhooks are served"),
        (&format!("{deploy}metrics_secure = true\nmetrics_port = 0"), "needs metrics"),
        (&format!("{deploy}alerts = true\nmetrics_port = 0"), "`alerts` in `[deploy]` needs metrics"),
        (&format!("{deploy}prometheus = true\nmetrics_port = 0"), "`prometheus` in `[deploy]` needs metrics"),
        (&format!("{deploy}args = [\"--leader-elect=false\"]"), "is set by `leader_election`"),
        (&format!("{deploy}args = [\"--metrics-secure\"]"), "is set by `metrics_secure`"),
        (&format!("{deploy}args = [\"\"]"), "is empty"),
        (&format!("{deploy}args = [\"a\\u0000\"]"), "NUL"),
        (
            &format!("{deploy}metrics_secure = false\nmetrics_certificates = \"cert-manager\""),
            "needs metrics over TLS",
        ),
        (
            &format!("{deploy}metrics_port = 0\nmetrics_certificates = \"self-managed\""),
            "`metrics_certificates` in `[deploy]` needs metrics",
        ),
        (&format!("{deploy}args = [\"--metrics-service=a\"]"), "is set by `certificates`"),
        (&format!("{deploy}shards = 5\nreplicas = 3"), "`shards` and `replicas` in `[deploy]`"),
        (&format!("{deploy}shards = 0"), "`shards` in `[deploy]` is 0"),
        (&format!("{deploy}shards = 3000000000"), "`shards` in `[deploy]` is more than"),
        (&format!("{deploy}shards = 5\nenv = {{ REPLICAS = \"5\" }}"), "`REPLICAS` in `env` of `[deploy]`"),
        (&format!("{deploy}health_port = 9443"), "`health_port` in `[deploy]` is 9443"),
        (&format!("{deploy}[rbac]\noutput = \"roles\""), "lists them in \"base/config/rbac\""),
        (&format!("{deploy}[webhook]\noutput = \"hooks\""), "lists them in \"base/config/webhook\""),
        (&format!("{deploy}[crd]\noutput = \"crds\""), "lists them below \"base/config/crd\""),
        (&format!("{deploy}[[deploy.env_from]]\nsecrets = \"a\""), "did you mean `secret`?"),
        (&format!("{deploy}image_pull_policy = \"Sometimes\""), "IfNotPresent"),
    ] {
        let error = read(text).unwrap_err();
        assert!(error.contains(part), "{text}\n{error}");
    }
}
