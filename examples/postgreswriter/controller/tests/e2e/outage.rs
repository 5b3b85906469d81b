//! The database goes away for a while.

use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{MicroTime, ObjectMeta};
use k8s_openapi::jiff::Timestamp;
use kubesmith_runtime::kube::Api;
use kubesmith_runtime::kube::api::{DeleteParams, PostParams};
use kubesmith_runtime::leaderelection::LeaderElector;
use operator_testing::readiness::{becomes_ready, free_address};
use postgreswriter_controller::LEASE_NAME;
use serde_json::json;

use crate::postgres::Postgres;
use crate::support::{Operator, change, cluster, condition, create, gone, stop, student, writers};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: hack/e2e-operators.sh postgreswriter"]
async fn changes_during_a_database_outage_are_written_afterwards() {
    let mut postgres = Postgres::start().await;
    let cluster = cluster().await;
    let operator = Operator::start(&cluster, cluster.operator_client(), &postgres);
    for name in ["changed", "deleted", "kept"] {
        create(&cluster, &student(name, "students", 20)).await;
        condition(&cluster, name, "RowWritten").await;
    }

    postgres.stop();
    change(&cluster, "changed", json!({ "age": 21 })).await;
    writers(&cluster).delete("deleted", &DeleteParams::default()).await.expect("deleted");
    create(&cluster, &student("new", "students", 22)).await;
    let said = condition(&cluster, "new", "DatabaseUnreachable").await;
    assert!(said.message.starts_with("the database cannot be reached: "), "{}", said.message);
    condition(&cluster, "changed", "DatabaseUnreachable").await;
    cluster.event("deleted", "DatabaseUnreachable").await;
    assert!(writers(&cluster).get("deleted").await.is_ok(), "it stays until its row has gone");

    postgres.run().await;
    let expected = ["changed alex 21 canada", "kept alex 20 canada", "new alex 22 canada"];
    postgres.has("students", &expected).await;
    gone(&cluster, "deleted").await;
    for name in ["changed", "kept", "new"] {
        condition(&cluster, name, "RowWritten").await;
    }
    stop(cluster, operator).await;
}

/// Another replica leads, so that this one never writes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: hack/e2e-operators.sh postgreswriter"]
async fn replica_is_ready_once_the_database_is_reachable() {
    let mut postgres = Postgres::start().await;
    let cluster = cluster().await;
    let spec = LeaseSpec {
        holder_identity: Some("another".to_owned()),
        lease_duration_seconds: Some(3600),
        renew_time: Some(MicroTime(Timestamp::now())),
        ..LeaseSpec::default()
    };
    let metadata = ObjectMeta { name: Some(LEASE_NAME.to_owned()), ..ObjectMeta::default() };
    let leases: Api<Lease> = Api::namespaced(cluster.client(), &cluster.namespace);
    leases.create(&PostParams::default(), &Lease { metadata, spec: Some(spec) }).await.expect("created");

    postgres.stop();
    let address = free_address();
    let elector = LeaderElector::builder(cluster.operator_client(), &cluster.namespace, LEASE_NAME, "this");
    let elector = elector.build().expect("the usual times");
    let manager = Operator::manager(&cluster, cluster.operator_client()).leader_election(elector);
    let operator = Operator::start_with(manager.health_address(address).build(), &postgres);
    becomes_ready(address, false).await;
    postgres.run().await;
    becomes_ready(address, true).await;
    postgres.stop();
    becomes_ready(address, false).await;
    stop(cluster, operator).await;
}
