//! Rows follow objects.

use kubesmith_runtime::kube::api::DeleteParams;
use postgreswriter_api::v1::PostgresWriter;
use serde_json::json;

use crate::postgres::Postgres;
use crate::support::{Operator, change, condition, create, event, gone, server, student, writers};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_row_is_made_changed_moved_and_removed_with_the_object() {
    let Some(postgres) = Postgres::start().await else { return };
    // Columns of other types that can hold the same.
    postgres
        .execute("create table graduates (id varchar(300), name varchar(20), age bigint, country char(6))")
        .await;
    let env = server().await;
    let operator = Operator::start(env.client(), &postgres);
    let sample: PostgresWriter =
        serde_yaml::from_str(include_str!("../../../config/samples/demo_v1_postgreswriter.yaml"))
            .expect("the sample");

    create(&env, &sample).await;
    postgres.has("students", &["default/sample-student alex 23 canada"]).await;
    condition(&env, "sample-student", "RowWritten").await;
    event(&env, "sample-student", "RowWritten").await;

    change(&env, "sample-student", json!({ "age": 24, "name": "Alex O'Neill" })).await;
    postgres.has("students", &["default/sample-student Alex O'Neill 24 canada"]).await;

    change(&env, "sample-student", json!({ "table": "graduates" })).await;
    postgres.has("graduates", &["default/sample-student Alex O'Neill 24 canada"]).await;
    assert!(postgres.rows("students").await.is_empty(), "in one transaction");
    condition(&env, "sample-student", "RowWritten").await;
    assert_eq!(writers(&env).get("sample-student").await.expect("there").status.tables, ["graduates"]);

    writers(&env).delete("sample-student", &DeleteParams::default()).await.expect("deleted");
    gone(&env, "sample-student").await;
    assert!(postgres.rows("graduates").await.is_empty());
    operator.stop().await;
    env.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_table_that_is_not_there_is_said_and_waited_for() {
    let Some(postgres) = Postgres::start().await else { return };
    let env = server().await;
    let operator = Operator::start(env.client(), &postgres);
    create(&env, &student("early", "teachers", 40)).await;
    create(&env, &student("never", "nothing", 1)).await;
    create(&env, &student("moved", "students", 30)).await;

    let said = condition(&env, "early", "TableNotFound").await;
    assert_eq!(
        (said.status.as_str(), said.message.as_str()),
        ("False", "the database has no table teachers")
    );
    assert_eq!(event(&env, "early", "TableNotFound").await.type_.as_deref(), Some("Warning"));
    postgres.has("students", &["default/moved alex 30 canada"]).await;
    change(&env, "moved", json!({ "table": "teachers" })).await;
    condition(&env, "moved", "TableNotFound").await;
    assert_eq!(
        postgres.rows("students").await,
        ["default/moved alex 30 canada"],
        "it stays until it can move"
    );

    writers(&env).delete("never", &DeleteParams::default()).await.expect("deleted");
    gone(&env, "never").await;
    postgres
        .execute("create table teachers (id text primary key, name text, age integer, country text)")
        .await;
    postgres.has("teachers", &["default/early alex 40 canada", "default/moved alex 30 canada"]).await;
    assert!(postgres.rows("students").await.is_empty());

    // What others do to rows is put right when they are looked at again.
    postgres.execute("update teachers set age = 99 where id = 'default/early'; delete from teachers where id = 'default/moved'").await;
    postgres.has("teachers", &["default/early alex 40 canada", "default/moved alex 30 canada"]).await;
    postgres.execute("drop table teachers").await;
    for name in ["early", "moved"] {
        writers(&env).delete(name, &DeleteParams::default()).await.expect("deleted");
        gone(&env, name).await;
    }
    operator.stop().await;
    env.stop().await;
}
