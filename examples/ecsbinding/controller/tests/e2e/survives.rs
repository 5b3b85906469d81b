//! The controller in a simulation, with crashes, late watches and lost answers.

use std::future::pending;

use ecsbinding_api::v1::EcsBinding;
use kubesmith_runtime::kube::Client;
use kubesmith_runtime::manager::Manager;
use kubesmith_testenv::Explore;

async fn operator(client: Client) -> anyhow::Result<()> {
    let mut manager = Manager::builder(client).build();
    ecsbinding_controller::add_to(&mut manager, 2)?;
    Ok(manager.run(pending()).await?)
}

#[test]
fn operator_survives_crashes_and_late_watches() {
    let explored = Explore::new("ecsbinding").schedules(200).run(|sim| async move {
        sim.crds("../config/crd/bases");
        sim.operator(operator);
        sim.apply("../config/samples/ecs_v1_ecsbinding.yaml");
        sim.vary::<EcsBinding>();
    });
    match explored {
        Ok(report) => println!("{report}"),
        Err(failed) => panic!("{failed}"),
    }
}
