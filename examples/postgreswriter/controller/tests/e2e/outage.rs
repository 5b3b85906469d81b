//! The database goes away for a while.

use std::net::{Ipv4Addr, SocketAddr};

use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{MicroTime, ObjectMeta};
use k8s_openapi::jiff::Timestamp;
use kubesmith_runtime::kube::Api;
use kubesmith_runtime::kube::api::{DeleteParams, PostParams};
use kubesmith_runtime::leaderelection::LeaderElector;
use kubesmith_runtime::manager::Manager;
use postgreswriter_controller::LEASE_NAME;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::postgres::{Postgres, free_port};
use crate::support::{
    Operator, change, condition, create, event, eventually, gone, server, student, writers,
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_happens_while_the_database_is_stopped_is_made_good() {
    let Some(mut postgres) = Postgres::start().await else { return };
    let env = server().await;
    let operator = Operator::start(env.client(), &postgres);
    for name in ["changed", "deleted", "kept"] {
        create(&env, &student(name, "students", 20)).await;
        condition(&env, name, "RowWritten").await;
    }

    postgres.stop();
    change(&env, "changed", json!({ "age": 21 })).await;
    writers(&env).delete("deleted", &DeleteParams::default()).await.expect("deleted");
    create(&env, &student("new", "students", 22)).await;
    let said = condition(&env, "new", "DatabaseUnreachable").await;
    assert!(said.message.starts_with("the database cannot be reached: "), "{}", said.message);
    condition(&env, "changed", "DatabaseUnreachable").await;
    event(&env, "deleted", "DatabaseUnreachable").await;
    assert!(writers(&env).get("deleted").await.is_ok(), "it stays until its row has gone");

    postgres.run().await;
    let expected =
        ["default/changed alex 21 canada", "default/kept alex 20 canada", "default/new alex 22 canada"];
    postgres.has("students", &expected).await;
    gone(&env, "deleted").await;
    for name in ["changed", "kept", "new"] {
        condition(&env, name, "RowWritten").await;
    }
    operator.stop().await;
    env.stop().await;
}

/// Whether `/readyz` says so.
async fn is_ready(address: SocketAddr) -> Option<bool> {
    let mut stream = TcpStream::connect(address).await.ok()?;
    stream.write_all(b"GET /readyz HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n").await.ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.ok()?;
    Some(answer.starts_with("HTTP/1.1 200"))
}

/// Another replica leads, so that this one never writes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_replica_that_started_without_a_database_is_ready_when_it_is_there() {
    let Some(mut postgres) = Postgres::start().await else { return };
    let env = server().await;
    let spec = LeaseSpec {
        holder_identity: Some("another".to_owned()),
        lease_duration_seconds: Some(3600),
        renew_time: Some(MicroTime(Timestamp::now())),
        ..LeaseSpec::default()
    };
    let metadata = ObjectMeta { name: Some(LEASE_NAME.to_owned()), ..ObjectMeta::default() };
    let leases: Api<Lease> = Api::namespaced(env.client(), "default");
    leases.create(&PostParams::default(), &Lease { metadata, spec: Some(spec) }).await.expect("created");

    postgres.stop();
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, free_port()));
    let elector = LeaderElector::builder(env.client(), "default", LEASE_NAME, "this");
    let elector = elector.build().expect("the usual times");
    let manager = Manager::builder(env.client()).leader_election(elector).health_address(address);
    let operator = Operator::start_with(manager.build(), &postgres);
    let becomes = async |ready| {
        let what = format!("ready: {ready}");
        eventually(&what, async || (is_ready(address).await == Some(ready)).then_some(())).await;
    };
    becomes(false).await;
    postgres.run().await;
    becomes(true).await;
    postgres.stop();
    becomes(false).await;
    operator.stop().await;
    env.stop().await;
}
