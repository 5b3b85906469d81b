//! An API server, the operator on it, and what tests ask of both.

use std::time::Duration;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, ObjectMeta};
use kubesmith_runtime::controller::CancellationToken;
use kubesmith_runtime::controllerutil::find_status_condition;
use kubesmith_runtime::informer::SharedInformerFactory;
use kubesmith_runtime::kube::Client;
use kubesmith_runtime::kube::api::{DeleteParams, ListParams, Patch, PatchParams, PostParams};
use kubesmith_runtime::manager::{Manager, ManagerBuilder, ManagerError};
use kubesmith_testenv::Backend;
use operator_testing::{Cluster, Needs, eventually};
use postgreswriter_api::v1::{PostgresWriter, PostgresWriterSpec};
use postgreswriter_client::clientset::Clientset;
use postgreswriter_client::clientset::typed::demo::v1::NamespacedPostgresWriters;
use postgreswriter_controller::database::Database;
use postgreswriter_controller::status::WRITTEN;
use tokio::task::JoinHandle;

use crate::postgres::Postgres;

pub(crate) const CRDS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../config/crd/bases");
const ROLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../config/rbac");

pub(crate) fn student(name: &str, table: &str, age: i32) -> PostgresWriter {
    PostgresWriter {
        metadata: ObjectMeta { name: Some(name.to_owned()), ..ObjectMeta::default() },
        spec: PostgresWriterSpec {
            table: table.to_owned(),
            name: "alex".to_owned(),
            age,
            country: "canada".to_owned(),
        },
        ..PostgresWriter::default()
    }
}

pub(crate) async fn cluster() -> Cluster {
    Cluster::start(Needs::Api, Some(CRDS)).await.with_roles(ROLES).await
}

pub(crate) fn writers(cluster: &Cluster) -> NamespacedPostgresWriters {
    Clientset::new(cluster.client()).demo_v1().postgres_writers().namespace(&cluster.namespace)
}

pub(crate) async fn create(cluster: &Cluster, writer: &PostgresWriter) {
    writers(cluster).create(writer, &PostParams::default()).await.expect("created");
}

pub(crate) async fn change(cluster: &Cluster, name: &str, spec: serde_json::Value) {
    let patch = Patch::Merge(serde_json::json!({ "spec": spec }));
    writers(cluster).patch(name, &PatchParams::default(), &patch).await.expect("changed");
}

/// Waits until the condition of the newest generation has this reason.
pub(crate) async fn condition(cluster: &Cluster, name: &str, reason: &str) -> Condition {
    eventually(&format!("{name}: {reason}"), async || {
        let writer = writers(cluster).get(name).await.expect("it is there");
        let condition = find_status_condition(&writer.status.conditions, WRITTEN)?.clone();
        let is_new = writer.status.observed_generation == writer.metadata.generation;
        (is_new && condition.reason == reason).then_some(condition)
    })
    .await
}

/// Waits until the object has gone.
pub(crate) async fn gone(cluster: &Cluster, name: &str) {
    eventually(&format!("{name} goes"), async || writers(cluster).get(name).await.is_err().then_some(()))
        .await;
}

/// Deletes what the test has made, where the server stays: when the operator has stopped, nobody takes the finalizers off.
pub(crate) async fn clear(cluster: &Cluster) {
    if cluster.env.backend() != Backend::ExistingCluster {
        return;
    }
    let (writers, params) = (writers(cluster), ListParams::default());
    writers.delete_collection(&DeleteParams::default(), &params).await.expect("deleted");
    eventually("all objects go", async || {
        let left = writers.list(&params).await.expect("a list");
        left.items.is_empty().then_some(())
    })
    .await;
}

pub(crate) async fn stop(cluster: Cluster, operator: Operator) {
    clear(&cluster).await;
    operator.stop().await;
    cluster.stop().await;
}

/// A running operator.
pub(crate) struct Operator {
    stop: CancellationToken,
    manager: JoinHandle<Result<(), ManagerError>>,
}

impl Operator {
    pub(crate) fn start(cluster: &Cluster, client: Client, postgres: &Postgres) -> Self {
        Self::start_with(Self::manager(cluster, client).build(), postgres)
    }

    /// For the cluster's namespace.
    pub(crate) fn manager(cluster: &Cluster, client: Client) -> ManagerBuilder {
        let factory = SharedInformerFactory::builder(client.clone()).namespace(&cluster.namespace);
        Manager::builder(client).factory(factory.build())
    }

    pub(crate) fn start_with(mut manager: Manager, postgres: &Postgres) -> Self {
        let database = Database::new(&postgres.settings());
        let resync = Duration::from_secs(1);
        postgreswriter_controller::add_to(&mut manager, &database, 4, resync)
            .expect("a new manager takes controllers");
        let stop = CancellationToken::new();
        let manager = tokio::spawn(manager.run(stop.clone().cancelled_owned()));
        Operator { stop, manager }
    }

    pub(crate) async fn stop(self) {
        self.stop.cancel();
        self.manager.await.expect("no panic").expect("no error");
    }

    /// Ends it wherever it is, with nothing put in order.
    pub(crate) async fn kill(self) {
        self.manager.abort();
        let _ = self.manager.await;
    }
}
