//! The operator in a simulation, with crashes, late watches and lost answers.

use std::future::pending;

use balancer_api::v1alpha1::Balancer;
use balancer_controller::NGINX_IMAGE;
use kubesmith_runtime::kube::Client;
use kubesmith_runtime::manager::Manager;
use kubesmith_testenv::Explore;

async fn operator(client: Client) -> anyhow::Result<()> {
    let mut manager = Manager::builder(client).build();
    balancer_controller::add_to(&mut manager, 2, NGINX_IMAGE)?;
    Ok(manager.run(pending()).await?)
}

#[test]
fn operator_survives_crashes_and_late_watches() {
    let explored = Explore::new("balancer").schedules(8).run(|sim| async move {
        sim.crds("../config/crd/bases");
        sim.operator(operator);
        sim.apply("../config/samples/exposer_v1alpha1_balancer.yaml");
        sim.vary::<Balancer>();
        // A hash of the Services' addresses, which the cluster chooses.
        sim.ignore("Deployment", "spec.template.metadata.annotations");
    });
    match explored {
        Ok(report) => println!("{report}"),
        Err(failed) => panic!("{failed}"),
    }
}
