//! Two replicas: one works at a time, and the other takes over.

use ecsbinding_client::clientset::Clientset;
use ecsbinding_controller::LEASE_NAME;
use kubesmith_runtime::kube::Client;
use kubesmith_runtime::manager::Manager;
use operator_testing::replicas::{
    Operator, Witness, a_killed_leader_is_followed, a_leader_that_is_cut_off_is_followed,
};
use operator_testing::run;

use crate::{cluster, name_in};

struct EcsBindings;

impl Operator for EcsBindings {
    const LEASE: &'static str = LEASE_NAME;

    fn name(namespace: &str, name: &str) -> String {
        name_in(namespace, name)
    }

    fn add_to(manager: &mut Manager, _namespace: &str, witness: Witness) {
        let reconciler = witness.of(ecsbinding_controller::reconciler(manager));
        let controller = ecsbinding_controller::controller(manager, reconciler);
        manager.add(controller.expect("a controller"));
    }

    async fn create(client: Client, _namespace: &str, name: &str) {
        crate::create(&Clientset::new(client).ecs_v1().ecs_bindings(), name).await;
    }

    async fn clean_up(client: Client, namespace: &str) {
        crate::delete_all(&Clientset::new(client).ecs_v1().ecs_bindings(), namespace).await;
    }
}

#[test]
fn standby_takes_over_within_the_lease_when_the_leader_is_killed() {
    run(async { a_killed_leader_is_followed::<EcsBindings>(cluster().await).await });
}

#[test]
fn disconnected_leader_stops_before_the_standby_starts() {
    run(async { a_leader_that_is_cut_off_is_followed::<EcsBindings>(cluster().await).await });
}
