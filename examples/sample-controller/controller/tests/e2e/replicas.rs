//! Two replicas: one works at a time, and the other takes over.

use kubesmith_runtime::kube::Client;
use kubesmith_runtime::kube::api::PostParams;
use kubesmith_runtime::manager::Manager;
use operator_testing::replicas::{
    Operator, Witness, a_killed_leader_is_followed, a_leader_that_is_cut_off_is_followed,
};
use operator_testing::{Needs, run};
use sample_controller::{Factories, LEASE_NAME};
use sample_controller_client::clientset::Clientset;

use crate::support::{cluster, foo};

struct SampleController;

impl Operator for SampleController {
    const LEASE: &'static str = LEASE_NAME;

    fn add_to(manager: &mut Manager, namespace: &str, witness: Witness) {
        let factories = Factories::new(manager, Some(namespace));
        let reconciler = witness.of(sample_controller::reconciler(manager, &factories));
        let controller = sample_controller::controller(&factories).complete(reconciler);
        manager.add(controller.expect("a controller"));
    }

    async fn create(client: Client, namespace: &str, name: &str) {
        let foos = Clientset::new(client).samplecontroller_v1alpha1().foos().namespace(namespace);
        foos.create(&foo(name), &PostParams::default()).await.expect("created");
    }
}

#[test]
#[cfg_attr(backend = "control_plane", ignore = "a control plane runs no controllers and no pods")]
fn standby_takes_over_within_the_lease_when_the_leader_is_killed() {
    run(async {
        let cluster = cluster(Needs::Controllers).await;
        a_killed_leader_is_followed::<SampleController>(cluster).await;
    });
}

#[test]
#[cfg_attr(backend = "control_plane", ignore = "a control plane runs no controllers and no pods")]
fn disconnected_leader_stops_before_the_standby_starts() {
    run(async {
        let cluster = cluster(Needs::Controllers).await;
        a_leader_that_is_cut_off_is_followed::<SampleController>(cluster).await;
    });
}
