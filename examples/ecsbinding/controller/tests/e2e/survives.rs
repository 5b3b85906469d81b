//! The controller in a simulation, with crashes, late watches and lost answers.

use std::cell::Cell;
use std::future::pending;

use ecsbinding_api::v1::EcsBinding;
use kubesmith_runtime::kube::Client;
use kubesmith_runtime::leaderelection::LeaderElector;
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

async fn candidate(client: Client, identity: String) -> anyhow::Result<()> {
    let elector = LeaderElector::builder(client.clone(), "default", "ecsbinding", identity).build()?;
    let mut manager = Manager::builder(client).leader_election(elector).build();
    ecsbinding_controller::add_to(&mut manager, 2)?;
    Ok(manager.run(pending()).await?)
}

/// One replica stands still between the check of its lease and a write, until another one leads.
#[test]
fn replicas_survive_when_one_loses_the_lease() {
    let explored = Explore::new("ecsbinding replicas").schedules(60).run(|sim| async move {
        sim.crds("../config/crd/bases");
        let started = Cell::new(0);
        sim.replicas(2, move |client| {
            started.set(started.get() + 1);
            candidate(client, format!("replica-{}", started.get()))
        });
        sim.apply("../config/samples/ecs_v1_ecsbinding.yaml");
    });
    match explored {
        Ok(report) => println!("{report}"),
        Err(failed) => panic!("{failed}"),
    }
}
