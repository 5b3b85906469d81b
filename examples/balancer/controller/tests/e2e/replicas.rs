//! Two replicas: one works at a time, and the other takes over.

use balancer_client::clientset::Clientset;
use balancer_controller::{LEASE_NAME, NGINX_IMAGE};
use kubesmith_runtime::kube::Client;
use kubesmith_runtime::kube::api::PostParams;
use kubesmith_runtime::manager::Manager;
use operator_testing::replicas::{
    Operator, Witness, a_killed_leader_is_followed, a_leader_that_is_cut_off_is_followed,
};
use operator_testing::{Needs, run};

use crate::support::{cluster, sample};

struct Balancers;

impl Operator for Balancers {
    const LEASE: &'static str = LEASE_NAME;

    fn add_to(manager: &mut Manager, _namespace: &str, witness: Witness) {
        let reconciler = witness.of(balancer_controller::reconciler(manager, NGINX_IMAGE));
        let controller = balancer_controller::controller(manager).complete(reconciler);
        manager.add(controller.expect("a controller"));
    }

    async fn create(client: Client, namespace: &str, name: &str) {
        let mut balancer = sample();
        balancer.metadata.name = Some(name.to_owned());
        let balancers = Clientset::new(client).exposer_v1alpha1().balancers().namespace(namespace);
        balancers.create(&balancer, &PostParams::default()).await.expect("created");
    }
}

#[test]
#[cfg_attr(backend = "control_plane", ignore = "a control plane runs no controllers and no pods")]
fn standby_takes_over_within_the_lease_when_the_leader_is_killed() {
    run(async {
        let cluster = cluster(Needs::Controllers).await;
        a_killed_leader_is_followed::<Balancers>(cluster).await;
    });
}

#[test]
#[cfg_attr(backend = "control_plane", ignore = "a control plane runs no controllers and no pods")]
fn disconnected_leader_stops_before_the_standby_starts() {
    run(async {
        let cluster = cluster(Needs::Controllers).await;
        a_leader_that_is_cut_off_is_followed::<Balancers>(cluster).await;
    });
}
