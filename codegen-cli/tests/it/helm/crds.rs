//! Values with which a release would lose its CRDs.

use std::fs;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::Api;
use kubesmith_testenv::TestEnv;
use serde_json::{Value, json};
use tokio::process::Command;

use super::{failure, generate, installed, real, rendered, shop, values, with};
use crate::deploy::apply;
use crate::support::{Crate, USES, kind};

const NAME: &str = "things.example.com";

/// A project without webhooks.
fn plain(crd_upgrade: bool) -> Crate {
    let project = Crate::new(&(USES.to_owned() + &kind("Thing", "    pub size: i32,")));
    project.write(
        "kubesmith.toml",
        format!(
            "input = [\"api\"]\nonly = [\"crd\", \"rbac\", \"webhook\", \"deploy\", \"helm\"]\n[deploy]\noutput = \"config\"\n\
             name = \"thing\"\ncrd_upgrade = {crd_upgrade}\n[helm]\noutput = \"chart\"\n"
        ),
    );
    generate(&project, &[]);
    project
}

/// Upgrades the release and returns Helm's errors.
async fn upgrade(project: &Crate, crds: &Value) -> Result<(), String> {
    project.write("values.yaml", json!({"crds": crds}).to_string());
    let mut helm = Command::from(project.command("helm"));
    helm.args(["upgrade", "--install", "thing", "chart", "--values", "values.yaml"])
        .args(["--namespace", "thing-system", "--create-namespace"])
        .env("KUBECONFIG", "kubeconfig");
    let out = helm.output().await.unwrap();
    out.status.success().then_some(()).ok_or_else(|| String::from_utf8_lossy(&out.stderr).into_owned())
}

/// Helm compares with the annotation in the cluster, so the values of the same upgrade cannot keep a CRD.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn upgrade_that_would_delete_crds_fails_until_they_are_kept() {
    if !real::is_installed() {
        return;
    }
    let mut env = TestEnv::builder().start().await.unwrap();
    let (before, after) = (plain(false), plain(true));
    for project in [&before, &after] {
        project.write("kubeconfig", env.kubeconfig().await.unwrap());
    }
    let definitions: Api<CustomResourceDefinition> = Api::all(env.client());
    upgrade(&before, &json!({"keep": false})).await.unwrap();
    let uid = definitions.get(NAME).await.unwrap().metadata.uid;

    // The other values are the chart's defaults, with which a release is upgraded after `crd_upgrade = true`.
    for (project, crds) in [
        (&before, json!({"install": false, "keep": true})),
        (&after, json!({})),
        (&after, json!({"keep": false})),
    ] {
        let error = upgrade(project, &crds).await.unwrap_err();
        let wanted = format!("crds.install: false would delete the CRD {NAME} with all its objects");
        assert!(error.contains(&wanted), "{crds}: {error}");
        assert_eq!(definitions.get(NAME).await.unwrap().metadata.uid, uid, "{crds}");
    }
    upgrade(&after, &json!({"install": true, "keep": true})).await.unwrap();
    for _ in 0..2 {
        upgrade(&after, &json!({})).await.unwrap();
        assert_eq!(definitions.get(NAME).await.unwrap().metadata.uid, uid);
    }
    env.stop().await;
}

/// A release does not delete the definition of another release, or one without a release.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn upgrade_passes_beside_crds_of_others() {
    if !real::is_installed() {
        return;
    }
    let mut env = TestEnv::builder().start().await.unwrap();
    let project = plain(true);
    project.write("kubeconfig", env.kubeconfig().await.unwrap());
    upgrade(&project, &json!({})).await.unwrap();
    let definition = fs::read_to_string(project.path("config/crd/bases/example.com_things.yaml")).unwrap();
    let mut definition: Value = serde_yaml::from_str(&definition).unwrap();
    for owner in [
        json!({}),
        json!({"meta.helm.sh/release-name": "other", "meta.helm.sh/release-namespace": "thing-system"}),
    ] {
        definition["metadata"]["annotations"] = owner;
        apply(&env.client(), &definition).await.unwrap();
        upgrade(&project, &json!({})).await.unwrap();
    }
    env.stop().await;
}

/// The operator upgrades them after it has checked the stored objects. `kubectl apply` and Helm would not.
#[test]
fn only_the_operator_installs_crds_that_it_upgrades() {
    let is_definition = |key: &String| key.starts_with("CustomResourceDefinition ");
    for (setting, installs) in [("", true), ("crd_upgrade = true\n", false)] {
        let project = shop(setting);
        let chart = project.path("charts/shop");
        assert_eq!(values(&chart)["crds"]["install"], installs, "{setting}");
        let found = rendered(&chart, &values(&chart), "shop-system");
        let installer = installed(&fs::read_to_string(project.path("dist/install.yaml")).unwrap());
        for objects in [&found, &installer] {
            assert_eq!(objects.keys().any(is_definition), installs, "{setting}");
        }
        let tree = project.tree("config");
        assert_eq!(tree["default/kustomization.yaml"].contains("- ../crd\n"), installs, "{setting}");
        assert!(
            tree["crd/kustomization.yaml"].contains("- bases/shop.example.com_items.yaml\n"),
            "{setting}"
        );
    }
}

#[test]
fn converted_crds_are_not_installed_without_webhooks() {
    let project = shop("");
    let chart = project.path("charts/shop");
    let checks = fs::read_to_string(chart.join("templates/crd/checks.yaml")).unwrap();
    let off = |place| (place, json!(false));
    let failure = |changes: &[(&str, Value)]| failure(&checks, &with(values(&chart), changes));
    let wanted = "\"webhooks.enabled: false needs crds.install: false: the manager converts the versions of \
                  items.shop.example.com\"";
    assert_eq!(failure(&[off("/webhooks/enabled")]).as_deref(), Some(wanted));
    assert_eq!(failure(&[off("/webhooks/enabled"), off("/crds/install")]), None);
    assert_eq!(failure(&[]), None);
}
