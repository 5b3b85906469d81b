//! What the database does not take is said, tried again, and never in the way of what comes after it.

use kubesmith_runtime::kube::api::DeleteParams;
use operator_testing::Cluster;
use serde_json::json;

use crate::postgres::Postgres;
use crate::support::{CRDS, Operator, change, cluster, condition, create, gone, stop, student, writers};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: hack/e2e-operators.sh postgreswriter"]
async fn duplicate_value_is_reported_until_the_other_row_is_gone() {
    let postgres = Postgres::start().await;
    let table = "create table prizes (id text primary key, name text unique, age integer, country text)";
    postgres.execute(table).await;
    let cluster = cluster().await;
    let operator = Operator::start(&cluster, cluster.operator_client(), &postgres);
    create(&cluster, &student("first", "prizes", 20)).await;
    condition(&cluster, "first", "RowWritten").await;

    // By an insert, which keeps quiet about it, and by an update, which does not.
    create(&cluster, &student("second", "prizes", 21)).await;
    let said = condition(&cluster, "second", "ValueTaken").await;
    let message = "table prizes has another row with a value that may be there once: it was not inserted";
    assert_eq!((said.status.as_str(), said.message.as_str()), ("False", message));
    assert_eq!(cluster.event("second", "ValueTaken").await.type_.as_deref(), Some("Warning"));
    let mut third = student("third", "prizes", 22);
    third.spec.name = "kim".to_owned();
    create(&cluster, &third).await;
    condition(&cluster, "third", "RowWritten").await;
    change(&cluster, "third", json!({ "name": "alex" })).await;
    condition(&cluster, "third", "ValueTaken").await;
    postgres.has("prizes", &["first alex 20 canada", "third kim 22 canada"]).await;

    change(&cluster, "third", json!({ "name": "kim" })).await;
    writers(&cluster).delete("first", &DeleteParams::default()).await.expect("deleted");
    gone(&cluster, "first").await;
    condition(&cluster, "second", "RowWritten").await;
    postgres.has("prizes", &["second alex 21 canada", "third kim 22 canada"]).await;
    stop(cluster, operator).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: hack/e2e-operators.sh postgreswriter"]
async fn unusable_table_is_left_by_a_new_spec_or_a_deletion() {
    let postgres = Postgres::start().await;
    postgres.execute("create view view as select 1 as one").await;
    postgres.execute("create table numbers (id integer, name text, age integer, country text)").await;
    let cluster = cluster().await;
    let operator = Operator::start(&cluster, cluster.operator_client(), &postgres);
    let tables = ["pg_class", "view", "numbers"];
    for table in tables {
        create(&cluster, &student(&format!("mended-{}", table.replace('_', "-")), table, 30)).await;
        create(&cluster, &student(&format!("deleted-{}", table.replace('_', "-")), table, 31)).await;
    }
    create(&cluster, &student("moved", "students", 32)).await;
    postgres.has("students", &["moved alex 32 canada"]).await;
    change(&cluster, "moved", json!({ "table": "pg_class" })).await;

    for table in tables {
        let (mended, deleted) = (format!("mended-{table}"), format!("deleted-{table}"));
        let (mended, deleted) = (mended.replace('_', "-"), deleted.replace('_', "-"));
        for name in [&mended, &deleted] {
            condition(&cluster, name, "DatabaseRefused").await;
            let known = writers(&cluster).get(name).await.expect("it is there").status.tables;
            assert!(known.is_empty(), "nothing is where nothing can be: {known:?}");
        }
        change(&cluster, &mended, json!({ "table": "students" })).await;
        condition(&cluster, &mended, "RowWritten").await;
        writers(&cluster).delete(&deleted, &DeleteParams::default()).await.expect("deleted");
        gone(&cluster, &deleted).await;
    }
    condition(&cluster, "moved", "DatabaseRefused").await;
    writers(&cluster).delete("moved", &DeleteParams::default()).await.expect("deleted");
    gone(&cluster, "moved").await;
    let rows = ["numbers", "pg-class", "view"].map(|table| format!("mended-{table} alex 30 canada"));
    assert_eq!(postgres.rows("students").await, rows);
    stop(cluster, operator).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: hack/e2e-operators.sh postgreswriter"]
async fn object_is_moved_and_deleted_when_its_table_was_replaced() {
    let postgres = Postgres::start().await;
    postgres.execute("create table classes (like students)").await;
    let cluster = cluster().await;
    let operator = Operator::start(&cluster, cluster.operator_client(), &postgres);
    for name in ["deleted", "moved"] {
        create(&cluster, &student(name, "classes", 20)).await;
        condition(&cluster, name, "RowWritten").await;
    }
    postgres.execute("drop table classes; create table classes (number integer)").await;
    change(&cluster, "moved", json!({ "table": "students" })).await;
    condition(&cluster, "moved", "RowWritten").await;
    writers(&cluster).delete("deleted", &DeleteParams::default()).await.expect("deleted");
    gone(&cluster, "deleted").await;
    postgres.execute("drop table classes; create sequence classes").await;
    postgres.has("students", &["moved alex 20 canada"]).await;
    stop(cluster, operator).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: hack/e2e-operators.sh postgreswriter"]
async fn missing_status_subresource_is_reported() {
    let postgres = Postgres::start().await;
    let cluster = Cluster::start_without_subresources(CRDS).await;
    let operator = Operator::start(&cluster, cluster.operator_client(), &postgres);
    create(&cluster, &student("a", "students", 20)).await;
    let said = cluster.event("a", "WriteFailed").await.message.unwrap_or_default();
    assert!(said.contains("the object exists, but the subresource does not"), "{said}");
    assert!(postgres.rows("students").await.is_empty(), "nobody would know where the row is");
    stop(cluster, operator).await;
}
