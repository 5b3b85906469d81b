//! The operator in a simulation, with crashes, late watches and lost answers.

use std::future::pending;
use std::sync::Arc;

use balancer_api::v1alpha1::Balancer;
use balancer_controller::{NGINX_IMAGE, controller, reconciler};
use kubesmith_runtime::kube::Client;
use kubesmith_runtime::manager::Manager;
use kubesmith_testenv::{Clock, Explore};

async fn operator(client: Client, clock: Arc<dyn Clock>) -> anyhow::Result<()> {
    let mut manager = Manager::builder(client).build();
    let reconciler = reconciler(&mut manager, NGINX_IMAGE).clock(move || clock.now());
    let balancers = controller(&manager).workers(2).complete(reconciler)?;
    manager.add(balancers);
    Ok(manager.run(pending()).await?)
}

#[test]
fn operator_survives_crashes_and_late_watches() {
    let explored = Explore::new("balancer").schedules(8).run(|sim| async move {
        sim.crds("../config/crd/bases");
        // With the machine's clock, runs would differ by whether two writes fall into the same second.
        let clock = sim.clock();
        sim.operator(move |client| operator(client, clock.clone()));
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
