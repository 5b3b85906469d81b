//! The controller in a simulation, with crashes, late watches and lost answers.

use std::future::pending;

use ippool_api::tsi::v1alpha1::IPPool;
use ippool_controller::ip_pool;
use kubesmith_runtime::kube::Client;
use kubesmith_runtime::manager::Manager;
use kubesmith_testenv::Explore;

/// A pod with an address of the pool, and one with an address from elsewhere.
const PODS: &str = "
apiVersion: v1
kind: Pod
metadata:
  name: inside
  namespace: default
  annotations: {tsi.tiduyun.com/ippool: ippool-sample, tsi.tiduyun.com/address: 10.1.0.9}
spec: {containers: [{name: main, image: pause}]}
---
apiVersion: v1
kind: Pod
metadata:
  name: outside
  namespace: default
  annotations: {tsi.tiduyun.com/ippool: ippool-sample, tsi.tiduyun.com/address: 10.9.0.9}
spec: {containers: [{name: main, image: pause}]}
";

async fn operator(client: Client) -> anyhow::Result<()> {
    let mut manager = Manager::builder(client).build();
    ip_pool::add_to_manager(&mut manager, 2)?;
    Ok(manager.run(pending()).await?)
}

#[test]
fn operator_survives_crashes_and_late_watches() {
    let explored = Explore::new("ippool").schedules(50).run(|sim| async move {
        sim.crds("../config/crd/bases");
        sim.operator(operator);
        sim.apply("../config/samples/tsi_v1alpha1_ippool.yaml");
        sim.apply(PODS);
        sim.vary::<IPPool>();
        sim.delete(PODS);
    });
    match explored {
        Ok(report) => println!("{report}"),
        Err(failed) => panic!("{failed}"),
    }
}
