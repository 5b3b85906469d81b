//! The database goes away for a while.

use kubesmith_runtime::kube::api::DeleteParams;
use serde_json::json;

use crate::postgres::Postgres;
use crate::support::{Operator, change, condition, create, event, gone, server, student, writers};

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
