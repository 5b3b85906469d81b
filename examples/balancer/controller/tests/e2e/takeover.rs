//! The operator takes over what the operator in Go left: docs/from-go/moving.md.

use balancer_api::v1alpha1::Balancer;
use kubesmith_runtime::crd::{Action, ChangeCode, CrdError, Upgrade};
use kubesmith_runtime::kube::Api;
use kubesmith_runtime::kube::api::{Patch, PatchParams, PostParams};
use operator_testing::{Cluster, Needs};
use serde_json::json;

use crate::lifecycle::ALL;
use crate::support::{Operator, ROLES, sample};

/// What controller-gen writes for the types in Go.
const OF_GO: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../../testdata/conformance/seed-balancer/expected.yaml");
const OF_RUST: &str = include_str!("../../../config/crd/bases/exposer.hliangzhao.io_balancers.yaml");

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(backend = "control_plane", ignore = "a control plane runs no controllers and no pods")]
#[cfg_attr(backend = "existing_cluster", ignore = "CRDs of a cluster that is there already are everybody's")]
async fn balancers_of_the_go_operator_are_taken_over() {
    let cluster = Cluster::start(Needs::Controllers, Some(OF_GO)).await.with_roles(ROLES).await;
    let client = cluster.client();
    let balancers: Api<Balancer> = Api::namespaced(client.clone(), &cluster.namespace);
    let left = balancers.create(&PostParams::default(), &sample()).await.expect("created");
    let counts = Patch::Merge(json!({"status": {"activeBackendsNum": 3, "obsoleteBackendsNum": 1}}));
    balancers.patch_status("balancer-sample", &PatchParams::default(), &counts).await.expect("counted");

    let definition: serde_json::Value = serde_yaml::from_str(OF_RUST).expect("a definition");
    let upgrade = || Upgrade::new("balancer", "1.0.0").take_over().allow(ChangeCode::ScaleSubresourceRemoved);
    let refused = upgrade().apply(&client, std::slice::from_ref(&definition)).await;
    assert!(matches!(refused, Err(CrdError::Refused(_))), "bounds are tighter: {refused:?}");
    let done = upgrade().check_objects().apply(&client, &[definition]).await.expect("every Balancer fits");
    assert_eq!(done[0].action, Action::Updated);

    let operator = Operator::on(cluster);
    let namespace = operator.namespace();
    let taken = operator.ready(&namespace, "balancer-sample", left.metadata.generation).await;
    assert_eq!(taken.spec, left.spec);
    assert_eq!((taken.status.active_backends_num, taken.status.obsolete_backends_num), (3, 0));
    assert_eq!(operator.children(&namespace).await, ALL);
    operator.stop().await;
}
