//! The controller in a simulation, with crashes, late watches and lost answers.

use std::future::pending;

use kubesmith_runtime::kube::Client;
use kubesmith_runtime::manager::Manager;
use kubesmith_testenv::Explore;

async fn operator(client: Client) -> anyhow::Result<()> {
    let mut manager = Manager::builder(client).build();
    sample_controller::add_to(&mut manager, 1, None)?;
    Ok(manager.run(pending()).await?)
}

#[test]
fn operator_survives_crashes_and_late_watches() {
    let explored = Explore::new("sample-controller").schedules(100).run(|sim| async move {
        sim.crds("../config/crd/bases");
        sim.operator(operator);
        sim.apply("../config/samples/samplecontroller_v1alpha1_foo.yaml");
    });
    match explored {
        Ok(report) => println!("{report}"),
        Err(failed) => panic!("{failed}"),
    }
}
