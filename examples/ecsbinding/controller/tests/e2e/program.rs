//! The program, as its users start it.

use std::fs;
use std::process::Command;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kubesmith_runtime::kube::{Api, ResourceExt};
use operator_testing::Cluster;
use operator_testing::program::a_manager_runs;

use crate::cluster;

const PROGRAM: &str = env!("CARGO_BIN_EXE_ecsbinding-controller");

#[tokio::test]
async fn program_serves_and_ends() {
    a_manager_runs(PROGRAM, &[], cluster().await).await;
}

#[tokio::test]
#[cfg_attr(backend = "existing_cluster", ignore = "a cluster's CRDs are everybody's")]
async fn program_installs_its_crd_before_the_controller_starts() {
    let log = a_manager_runs(PROGRAM, &["--upgrade-crds"], Cluster::start_with_own_crds([]).await).await;
    let lines = || log.lines();
    let installed = lines().position(|line| line.contains("CRD ecsbinding.hopegi.com action=created"));
    let started = lines().position(|line| line.contains("serving"));
    assert!(installed.is_some() && installed < started, "{log}");
}

#[tokio::test]
#[cfg_attr(backend = "existing_cluster", ignore = "a cluster's CRDs are everybody's")]
async fn program_ends_after_it_has_only_installed_its_crd() {
    let mut cluster = Cluster::start_with_own_crds([]).await;
    let folder = tempfile::tempdir().expect("a folder");
    let kubeconfig = folder.path().join("kubeconfig");
    fs::write(&kubeconfig, cluster.env.kubeconfig().await.expect("a kubeconfig")).expect("a file");
    let mut job = Command::new(PROGRAM);
    job.arg("--kubeconfig").arg(&kubeconfig).arg("--upgrade-crds=only");
    let status =
        tokio::task::spawn_blocking(move || job.status()).await.expect("no panic").expect("it starts");
    assert!(status.success(), "{status}");
    let definitions: Api<CustomResourceDefinition> = Api::all(cluster.client());
    let definition = definitions.get("ecsbinding.hopegi.com").await.expect("a definition");
    assert_eq!(definition.annotations()["kubesmith.dev/operator-version"], env!("CARGO_PKG_VERSION"));
    cluster.stop().await;
}
