//! Rows follow objects.

use kubesmith_runtime::kube::api::DeleteParams;
use postgreswriter_api::v1::PostgresWriter;
use serde_json::json;

use crate::postgres::Postgres;
use crate::support::{Operator, change, cluster, condition, create, gone, stop, student, writers};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: hack/e2e-operators.sh postgreswriter"]
async fn row_is_inserted_updated_moved_and_deleted_with_the_object() {
    let postgres = Postgres::start().await;
    // Columns of other types that can hold the same.
    postgres
        .execute("create table graduates (id varchar(300), name varchar(20), age bigint, country char(6))")
        .await;
    let cluster = cluster().await;
    let operator = Operator::start(&cluster, cluster.operator_client(), &postgres);
    let mut sample: PostgresWriter =
        serde_yaml::from_str(include_str!("../../../config/samples/demo_v1_postgreswriter.yaml"))
            .expect("the sample");
    sample.metadata.namespace = None;

    create(&cluster, &sample).await;
    postgres.has("students", &["sample-student alex 23 canada"]).await;
    let id = format!("{}/sample-student", cluster.namespace);
    assert_eq!(postgres.ids("students").await, [id]);
    condition(&cluster, "sample-student", "RowWritten").await;
    cluster.event("sample-student", "RowWritten").await;

    change(&cluster, "sample-student", json!({ "age": 24, "name": "Alex O'Neill" })).await;
    postgres.has("students", &["sample-student Alex O'Neill 24 canada"]).await;

    change(&cluster, "sample-student", json!({ "table": "graduates" })).await;
    postgres.has("graduates", &["sample-student Alex O'Neill 24 canada"]).await;
    assert!(postgres.rows("students").await.is_empty(), "in one transaction");
    condition(&cluster, "sample-student", "RowWritten").await;
    assert_eq!(writers(&cluster).get("sample-student").await.expect("there").status.tables, ["graduates"]);

    writers(&cluster).delete("sample-student", &DeleteParams::default()).await.expect("deleted");
    gone(&cluster, "sample-student").await;
    assert!(postgres.rows("graduates").await.is_empty());
    stop(cluster, operator).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: hack/e2e-operators.sh postgreswriter"]
async fn missing_table_is_reported_and_awaited() {
    let postgres = Postgres::start().await;
    let cluster = cluster().await;
    let operator = Operator::start(&cluster, cluster.operator_client(), &postgres);
    create(&cluster, &student("early", "teachers", 40)).await;
    create(&cluster, &student("never", "nothing", 1)).await;
    create(&cluster, &student("moved", "students", 30)).await;

    let said = condition(&cluster, "early", "TableNotFound").await;
    assert_eq!(
        (said.status.as_str(), said.message.as_str()),
        ("False", "the database has no table teachers")
    );
    assert_eq!(cluster.event("early", "TableNotFound").await.type_.as_deref(), Some("Warning"));
    postgres.has("students", &["moved alex 30 canada"]).await;
    change(&cluster, "moved", json!({ "table": "teachers" })).await;
    condition(&cluster, "moved", "TableNotFound").await;
    assert_eq!(postgres.rows("students").await, ["moved alex 30 canada"], "it stays until it can move");

    writers(&cluster).delete("never", &DeleteParams::default()).await.expect("deleted");
    gone(&cluster, "never").await;
    postgres
        .execute("create table teachers (id text primary key, name text, age integer, country text)")
        .await;
    postgres.has("teachers", &["early alex 40 canada", "moved alex 30 canada"]).await;
    assert!(postgres.rows("students").await.is_empty());

    // What others do to rows is put right when they are looked at again.
    postgres.execute("update teachers set age = 99 where id like '%/early'; delete from teachers where id like '%/moved'").await;
    postgres.has("teachers", &["early alex 40 canada", "moved alex 30 canada"]).await;
    postgres.execute("drop table teachers").await;
    for name in ["early", "moved"] {
        writers(&cluster).delete(name, &DeleteParams::default()).await.expect("deleted");
        gone(&cluster, name).await;
    }
    cluster.role_is_minimal(&["list postgreswriters.demo.yash.com"]).await;
    stop(cluster, operator).await;
}
