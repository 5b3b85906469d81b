//! What a server has to serve, and when the controller is ready.

use kubesmith_runtime::manager::Manager;
use kubesmith_testenv::TestEnv;
use operator_testing::Needs;
use operator_testing::readiness::is_ready_once_listed;
use sample_controller::check_served;
use sample_controller_client::clientset::Clientset;

use crate::support::cluster;

#[tokio::test]
async fn both_kinds_are_found_when_their_crds_are_installed() {
    let cluster = cluster(Needs::Api).await;
    check_served(&Clientset::new(cluster.client()).discovery()).await.expect("both kinds are there");
    cluster.stop().await;
}

#[tokio::test]
#[cfg_attr(backend = "existing_cluster", ignore = "the CRD is there")]
async fn missing_crd_is_reported_at_once() {
    let bare = TestEnv::builder().start().await.expect("the server starts");
    let error = check_served(&Clientset::new(bare.client()).discovery()).await.expect_err("no CRD");
    let said =
        "the server has no foos of samplecontroller.k8s.io/v1alpha1: install the CRD, as it is in config/crd";
    assert_eq!(error.to_string(), said);
    bare.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn replica_is_ready_when_both_caches_are_complete() {
    let cluster = cluster(Needs::Api).await;
    for resource in ["foos", "deployments"] {
        let add_to = |manager: &mut Manager| {
            sample_controller::add_to(manager, 1, Some(&cluster.namespace)).expect("a controller");
        };
        is_ready_once_listed(&cluster, resource, add_to).await;
    }
    cluster.stop().await;
}
