//! The manager as it is run: as a program, and in two replicas of which one works at a time and the other takes over.

use ippool_api::tsi::v1alpha1::{IPPool, IPPoolSpec};
use ippool_client::clientset::Clientset;
use ippool_controller::{LEADER_ELECTION_ID, ip_pool};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::kube::Client;
use kubesmith_runtime::kube::api::{DeleteParams, ListParams, PostParams};
use kubesmith_runtime::manager::Manager;
use operator_testing::program::a_manager_runs;
use operator_testing::replicas::{
    Operator, Witness, a_killed_leader_is_followed, a_leader_that_is_cut_off_is_followed,
};
use operator_testing::{Cluster, Needs, run};

const CRDS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../config/crd/bases");
const ROLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../config/rbac");

async fn cluster() -> Cluster {
    Cluster::start(Needs::Api, Some(CRDS)).await.with_roles(ROLES).await
}

struct IPPools;

impl Operator for IPPools {
    const LEASE: &'static str = LEADER_ELECTION_ID;

    fn name(namespace: &str, name: &str) -> String {
        format!("{namespace}-{name}")
    }

    fn add_to(manager: &mut Manager, _namespace: &str, witness: Witness) {
        let reconciler = witness.of(ip_pool::reconciler(manager).expect("a new manager takes indexes"));
        let controller = ip_pool::controller(manager).complete(reconciler);
        manager.add(controller.expect("a controller"));
    }

    async fn create(client: Client, _namespace: &str, name: &str) {
        let pool = IPPool {
            metadata: ObjectMeta { name: Some(name.to_owned()), ..ObjectMeta::default() },
            spec: IPPoolSpec { cidr: "10.1.0.0/24".to_owned(), block_size: 30, ..IPPoolSpec::default() },
            ..IPPool::default()
        };
        let pools = Clientset::new(client).tsi_v1alpha1().ip_pools();
        pools.create(&pool, &PostParams::default()).await.expect("created");
    }

    async fn clean_up(client: Client, namespace: &str) {
        let pools = Clientset::new(client).tsi_v1alpha1().ip_pools();
        for pool in pools.list(&ListParams::default()).await.expect("a list").items {
            let name = pool.metadata.name.expect("a stored object has a name");
            if name.starts_with(&Self::name(namespace, "")) {
                pools.delete(&name, &DeleteParams::default()).await.expect("deleted");
            }
        }
    }
}

#[test]
fn standby_takes_over_within_the_lease_when_the_leader_is_killed() {
    run(async { a_killed_leader_is_followed::<IPPools>(cluster().await).await });
}

#[test]
fn disconnected_leader_stops_before_the_standby_starts() {
    run(async { a_leader_that_is_cut_off_is_followed::<IPPools>(cluster().await).await });
}

#[tokio::test]
async fn program_serves_and_ends() {
    a_manager_runs(env!("CARGO_BIN_EXE_ippool-manager"), &[], cluster().await).await;
}
