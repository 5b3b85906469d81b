//! An API server, the operator on it, and what tests ask of both.

use std::time::Duration;

use k8s_openapi::api::core::v1::Event;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, ObjectMeta};
use kubesmith_runtime::controller::CancellationToken;
use kubesmith_runtime::controllerutil::find_status_condition;
use kubesmith_runtime::kube::api::{ListParams, Patch, PatchParams, PostParams};
use kubesmith_runtime::kube::{Api, Client};
use kubesmith_runtime::manager::{Manager, ManagerError};
use kubesmith_testenv::TestEnv;
use postgreswriter_api::v1::{PostgresWriter, PostgresWriterSpec};
use postgreswriter_client::clientset::Clientset;
use postgreswriter_client::clientset::typed::demo::v1::NamespacedPostgresWriters;
use postgreswriter_controller::database::Database;
use postgreswriter_controller::status::WRITTEN;
use tokio::task::JoinHandle;

use crate::postgres::Postgres;

pub(crate) const CRDS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../config/crd/bases");

/// Longer than anything here takes; only a failing test waits for it.
pub(crate) const LIMIT: Duration = Duration::from_secs(120);

/// Asks until there is an answer.
pub(crate) async fn eventually<T>(what: &str, mut ask: impl AsyncFnMut() -> Option<T>) -> T {
    let asked = async {
        loop {
            match ask().await {
                Some(answer) => return answer,
                None => tokio::time::sleep(Duration::from_millis(20)).await,
            }
        }
    };
    tokio::time::timeout(LIMIT, asked).await.unwrap_or_else(|_| panic!("{what}: not within {LIMIT:?}"))
}

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

pub(crate) async fn server() -> TestEnv {
    TestEnv::builder().crd_paths([CRDS]).start().await.expect("the server starts")
}

pub(crate) fn writers(env: &TestEnv) -> NamespacedPostgresWriters {
    Clientset::new(env.client()).demo_v1().postgres_writers().namespace("default")
}

pub(crate) async fn create(env: &TestEnv, writer: &PostgresWriter) {
    writers(env).create(writer, &PostParams::default()).await.expect("created");
}

pub(crate) async fn change(env: &TestEnv, name: &str, spec: serde_json::Value) {
    let patch = Patch::Merge(serde_json::json!({ "spec": spec }));
    writers(env).patch(name, &PatchParams::default(), &patch).await.expect("changed");
}

/// Waits until the condition of the newest generation has this reason.
pub(crate) async fn condition(env: &TestEnv, name: &str, reason: &str) -> Condition {
    eventually(&format!("{name}: {reason}"), async || {
        let writer = writers(env).get(name).await.expect("it is there");
        let condition = find_status_condition(&writer.status.conditions, WRITTEN)?.clone();
        let is_new = writer.status.observed_generation == writer.metadata.generation;
        (is_new && condition.reason == reason).then_some(condition)
    })
    .await
}

/// Waits for an event of this reason about the object.
pub(crate) async fn event(env: &TestEnv, name: &str, reason: &str) -> Event {
    let events: Api<Event> = Api::namespaced(env.client(), "default");
    eventually(&format!("event {reason}"), async || {
        let all = events.list(&ListParams::default()).await.expect("a list");
        let is_it = |event: &Event| {
            event.involved_object.name.as_deref() == Some(name) && event.reason.as_deref() == Some(reason)
        };
        all.into_iter().find(is_it)
    })
    .await
}

/// Waits until the object has gone.
pub(crate) async fn gone(env: &TestEnv, name: &str) {
    eventually(&format!("{name} goes"), async || writers(env).get(name).await.is_err().then_some(())).await;
}

/// A running operator.
pub(crate) struct Operator {
    stop: CancellationToken,
    manager: JoinHandle<Result<(), ManagerError>>,
}

impl Operator {
    pub(crate) fn start(client: Client, postgres: &Postgres) -> Self {
        Self::start_with(Manager::builder(client).build(), postgres)
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
