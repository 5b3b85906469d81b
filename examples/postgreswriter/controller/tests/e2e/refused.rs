//! What the database does not take is said, tried again, and never in the way of what comes after it.

use kubesmith_runtime::kube::api::DeleteParams;
use serde_json::json;

use crate::postgres::Postgres;
use crate::support::{Operator, change, condition, create, event, gone, server, student, writers};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_row_that_another_one_keeps_out_is_said_and_made_when_that_has_gone() {
    let Some(postgres) = Postgres::start().await else { return };
    let table = "create table prizes (id text primary key, name text unique, age integer, country text)";
    postgres.execute(table).await;
    let env = server().await;
    let operator = Operator::start(env.client(), &postgres);
    create(&env, &student("first", "prizes", 20)).await;
    condition(&env, "first", "RowWritten").await;

    // By an insert, which keeps quiet about it, and by an update, which does not.
    create(&env, &student("second", "prizes", 21)).await;
    let said = condition(&env, "second", "ValueTaken").await;
    let message = "table prizes has another row with a value that may be there once: it was not inserted";
    assert_eq!((said.status.as_str(), said.message.as_str()), ("False", message));
    assert_eq!(event(&env, "second", "ValueTaken").await.type_.as_deref(), Some("Warning"));
    let mut third = student("third", "prizes", 22);
    third.spec.name = "kim".to_owned();
    create(&env, &third).await;
    condition(&env, "third", "RowWritten").await;
    change(&env, "third", json!({ "name": "alex" })).await;
    condition(&env, "third", "ValueTaken").await;
    postgres.has("prizes", &["default/first alex 20 canada", "default/third kim 22 canada"]).await;

    change(&env, "third", json!({ "name": "kim" })).await;
    writers(&env).delete("first", &DeleteParams::default()).await.expect("deleted");
    gone(&env, "first").await;
    condition(&env, "second", "RowWritten").await;
    postgres.has("prizes", &["default/second alex 21 canada", "default/third kim 22 canada"]).await;
    operator.stop().await;
    env.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_table_that_cannot_have_the_row_is_mended_by_the_spec_or_by_deletion() {
    let Some(postgres) = Postgres::start().await else { return };
    postgres.execute("create view view as select 1 as one").await;
    postgres.execute("create table numbers (id integer, name text, age integer, country text)").await;
    let env = server().await;
    let operator = Operator::start(env.client(), &postgres);
    let tables = ["pg_class", "view", "numbers"];
    for table in tables {
        create(&env, &student(&format!("mended-{}", table.replace('_', "-")), table, 30)).await;
        create(&env, &student(&format!("deleted-{}", table.replace('_', "-")), table, 31)).await;
    }
    create(&env, &student("moved", "students", 32)).await;
    postgres.has("students", &["default/moved alex 32 canada"]).await;
    change(&env, "moved", json!({ "table": "pg_class" })).await;

    for table in tables {
        let (mended, deleted) = (format!("mended-{table}"), format!("deleted-{table}"));
        let (mended, deleted) = (mended.replace('_', "-"), deleted.replace('_', "-"));
        for name in [&mended, &deleted] {
            condition(&env, name, "DatabaseRefused").await;
            let known = writers(&env).get(name).await.expect("it is there").status.tables;
            assert!(known.is_empty(), "nothing is where nothing can be: {known:?}");
        }
        change(&env, &mended, json!({ "table": "students" })).await;
        condition(&env, &mended, "RowWritten").await;
        writers(&env).delete(&deleted, &DeleteParams::default()).await.expect("deleted");
        gone(&env, &deleted).await;
    }
    condition(&env, "moved", "DatabaseRefused").await;
    writers(&env).delete("moved", &DeleteParams::default()).await.expect("deleted");
    gone(&env, "moved").await;
    let rows = ["numbers", "pg-class", "view"].map(|table| format!("default/mended-{table} alex 30 canada"));
    assert_eq!(postgres.rows("students").await, rows);
    operator.stop().await;
    env.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_table_that_was_replaced_by_another_of_its_name_has_no_row() {
    let Some(postgres) = Postgres::start().await else { return };
    postgres.execute("create table classes (like students)").await;
    let env = server().await;
    let operator = Operator::start(env.client(), &postgres);
    for name in ["deleted", "moved"] {
        create(&env, &student(name, "classes", 20)).await;
        condition(&env, name, "RowWritten").await;
    }
    postgres.execute("drop table classes; create table classes (number integer)").await;
    change(&env, "moved", json!({ "table": "students" })).await;
    condition(&env, "moved", "RowWritten").await;
    writers(&env).delete("deleted", &DeleteParams::default()).await.expect("deleted");
    gone(&env, "deleted").await;
    postgres.execute("drop table classes; create sequence classes").await;
    postgres.has("students", &["default/moved alex 20 canada"]).await;
    operator.stop().await;
    env.stop().await;
}
