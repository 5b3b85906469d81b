//! The reconciler alone, on a fake clientset, in front of a database that is not there.

use kubesmith_runtime::cache::ObjectKey;
use kubesmith_runtime::controller::Reconciler;
use kubesmith_runtime::record::FakeRecorder;
use kubesmith_testenv::fake::{Reaction, first};
use postgreswriter_api::v1::PostgresWriter;
use postgreswriter_client::clientset::fake::FakeClientset;

use super::*;
use crate::settings::Settings;

/// Nobody listens at port 1.
fn no_database() -> Database {
    let value = |name: &str| if name == "PSQL_PORT" { "1" } else { "127.0.0.1" };
    Database::new(&Settings::read(|name| Some(value(name).to_owned())).expect("settings"))
}

fn writer() -> PostgresWriter {
    let mut writer = PostgresWriter::default();
    writer.metadata.name = Some("a".to_owned());
    writer.metadata.namespace = Some("default".to_owned());
    writer.spec.table = "students".to_owned();
    writer
}

#[tokio::test]
async fn status_conflict_is_retried_and_refusal_is_reported() {
    let (clients, events) = (FakeClientset::new([writer()]).expect("a fake"), FakeRecorder::new());
    let factory = SharedInformerFactory::builder(clients.clone()).build();
    let lister = factory.demo().v1().postgres_writers().lister();
    factory.start();
    factory.wait_for_cache_sync(LAST_RETRY).await.expect("a full cache");
    let reconciler = RowReconciler {
        lister,
        writers: clients.demo_v1().postgres_writers(),
        database: no_database(),
        recorder: events.recorder(),
        resync: Duration::ZERO,
        clock: || Timestamp::UNIX_EPOCH,
    };
    let key = ObjectKey::namespaced("default", "a");
    clients.prepend_reactor("update", "postgreswriters/status", first(1, Reaction::conflict));
    let outrun = reconciler.reconcile(&key).await.expect_err("the status is not written");
    assert!(outrun.is_conflict() && !outrun.is_terminal(), "{outrun}");
    clients.prepend_reactor(
        "update",
        "postgreswriters/status",
        first(1, |action| Reaction::forbidden(action, "no")),
    );
    let refused = reconciler.reconcile(&key).await.expect_err("the status is not written").to_string();
    assert!(refused.contains("and the status: ") && refused.contains("forbidden"), "{refused}");
    let said = reconciler.reconcile(&key).await.expect_err("there is no database");
    assert!(!said.is_conflict() && !said.to_string().contains("and the status"), "{said}");
    assert!(events.take().iter().all(|it| it.starts_with("Warning DatabaseUnreachable")));
}
