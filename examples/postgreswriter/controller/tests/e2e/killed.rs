//! The operator ends at the worst time.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use kubesmith_runtime::kube::api::{DeleteParams, ListParams, PostParams};
use kubesmith_testenv::fault::{Fault, Rule, Schedule, Verb};

use operator_testing::{Cluster, eventually};
use postgreswriter_controller::database::{Database, Rows};
use postgreswriter_controller::row::Table;

use crate::postgres::Postgres;
use crate::support::{Operator, change, clear, cluster, condition, create, gone, stop, student, writers};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: hack/e2e-operators.sh postgreswriter"]
async fn operator_continues_when_killed_between_row_and_finalizer() {
    let postgres = Postgres::start().await;
    postgres.execute("create table others (id text primary key, name text, age integer, country text)").await;
    let cluster = cluster().await;

    // The row is there, and nobody has been told.
    let told = Rule::new(Fault::DropRequest).resource("postgreswriters/status").nth(2).times(100_000);
    let proxy = cluster.env.fault_proxy(Schedule::new().rule(told)).await.expect("a proxy");
    let operator = Operator::start(&cluster, proxy.client(), &postgres);
    create(&cluster, &student("a", "students", 1)).await;
    postgres.has("students", &["a alex 1 canada"]).await;
    operator.kill().await;

    // Nobody knows that the row is there but the status, and the spec names another table meanwhile.
    change(&cluster, "a", serde_json::json!({ "table": "others" })).await;
    let operator = Operator::start(&cluster, cluster.operator_client(), &postgres);
    postgres.has("others", &["a alex 1 canada"]).await;
    assert!(postgres.rows("students").await.is_empty());
    condition(&cluster, "a", "RowWritten").await;
    operator.stop().await;

    // The row has gone, and the finalizer has not.
    let released = Rule::new(Fault::DropRequest).verb(Verb::Patch).resource("postgreswriters");
    proxy.set_schedule(Schedule::new().rule(released));
    let operator = Operator::start(&cluster, proxy.client(), &postgres);
    writers(&cluster).delete("a", &DeleteParams::default()).await.expect("deleted");
    postgres.has("others", &[]).await;
    operator.kill().await;
    assert!(writers(&cluster).get("a").await.is_ok(), "the finalizer keeps it");
    let operator = Operator::start(&cluster, cluster.operator_client(), &postgres);
    gone(&cluster, "a").await;
    assert!(postgres.rows("others").await.is_empty());
    stop(cluster, operator).await;
    proxy.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: hack/e2e-operators.sh postgreswriter"]
async fn deletion_waits_for_the_commit_of_a_killed_program() {
    let postgres = Postgres::start().await;
    let killed = postgres.connect().await.expect("connected");
    let lock = "select pg_advisory_xact_lock(hashtextextended('n/a', 0))";
    let insert = "insert into students values ('n/a', 'alex', 1, 'canada')";
    killed.batch_execute(&format!("begin; {lock}; {insert}")).await.expect("done");
    let database = Database::new(&postgres.settings());
    let tables = [Table::new("students").expect("a name")];
    // A deletion that does not wait sees no row, and is long done when there is one.
    let commit = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        killed.batch_execute("commit").await
    };
    let (deleted, committed) = tokio::join!(database.delete(&tables, "n/a"), commit);
    deleted.expect("deleted");
    committed.expect("committed");
    assert!(postgres.ids("students").await.is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: hack/e2e-operators.sh postgreswriter"]
async fn row_is_not_inserted_for_an_outdated_spec() {
    let postgres = Postgres::start().await;
    postgres.execute("create table others (id text primary key, name text, age integer, country text)").await;
    let cluster = cluster().await;
    let proxy = cluster.env.fault_proxy(Schedule::new()).await.expect("a proxy");
    let operator = Operator::start(&cluster, proxy.client(), &postgres);
    create(&cluster, &student("a", "students", 1)).await;
    postgres.has("students", &["a alex 1 canada"]).await;
    condition(&cluster, "a", "RowWritten").await;

    // Somebody removes the row. While the operator asks whether to make it again, the object leaves the table.
    let asked = Rule::new(Fault::Delay(Duration::from_secs(5))).verb(Verb::Get).resource("postgreswriters");
    proxy.add_rule(asked);
    let noted = "create table made (id text); create function note() returns trigger language plpgsql as \
        'begin insert into made values (new.id); return new; end'; \
        create trigger note before insert on students for each row execute function note()";
    postgres.execute(&format!("{noted}; delete from students")).await;
    eventually("it asks", async || (!proxy.injections().is_empty()).then_some(())).await;
    change(&cluster, "a", serde_json::json!({ "table": "others" })).await;
    postgres.has("others", &["a alex 1 canada"]).await;
    assert_eq!(postgres.ids("made").await, [""; 0], "of the former table");
    stop(cluster, operator).await;
    proxy.stop().await;
}

/// The program as a process.
fn program(kubeconfig: &Path, namespace: &str, postgres: &Postgres) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_postgreswriter-controller"));
    for name in ["PSQL_HOST", "PSQL_PORT", "PSQL_DBNAME", "PSQL_USER", "PSQL_PASSWORD"] {
        command.env(name, postgres.variable(name).expect("set"));
    }
    command.arg("--kubeconfig").arg(kubeconfig).args([
        "--namespace",
        namespace,
        "--metrics-bind-address=0",
        "--health-probe-bind-address=0",
    ]);
    command.env("RUST_LOG", "off").stdout(Stdio::null()).spawn().expect("the program starts")
}

/// What the table has to hold: each object's row.
async fn expected(cluster: &Cluster) -> Vec<String> {
    let all = writers(cluster).list(&ListParams::default()).await.expect("a list");
    let row = |it: &postgreswriter_api::v1::PostgresWriter| {
        let (name, spec) = (it.metadata.name.clone().unwrap_or_default(), &it.spec);
        (name.clone(), format!("{name} {} {} {}", spec.name, spec.age, spec.country))
    };
    all.items.iter().map(row).collect::<BTreeMap<_, _>>().into_values().collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: hack/e2e-operators.sh postgreswriter"]
async fn rows_equal_500_objects_though_the_program_is_killed() {
    let postgres = Postgres::start().await;
    let mut cluster = cluster().await;
    let folder = tempfile::TempDir::new().expect("a folder");
    let kubeconfig = folder.path().join("kubeconfig");
    std::fs::write(&kubeconfig, cluster.env.kubeconfig().await.expect("a kubeconfig")).expect("written");

    let namespace = cluster.namespace.clone();
    let mut running = program(&kubeconfig, &namespace, &postgres);
    let client = writers(&cluster);
    for number in 0..500 {
        let writer = student(&format!("s-{number:03}"), "students", number);
        client.create(&writer, &PostParams::default()).await.expect("created");
    }
    for round in 0..4 {
        // Somewhere in the middle.
        let enough = (round + 1) * 60;
        eventually("some rows", async || (postgres.rows("students").await.len() >= enough).then_some(()))
            .await;
        running.kill().expect("killed");
        running.wait().expect("it ends");
        for number in (round..500).step_by(10) {
            let name = format!("s-{number:03}");
            match number % 3 {
                0 => drop(client.delete(&name, &DeleteParams::default()).await.expect("deleted")),
                _ => {
                    change(&cluster, &name, serde_json::json!({ "country": format!("round {round}") })).await
                }
            }
        }
        running = program(&kubeconfig, &namespace, &postgres);
    }

    eventually("the rows are the objects", async || {
        let (rows, expected) = (postgres.rows("students").await, expected(&cluster).await);
        let left = client.list(&ListParams::default()).await.expect("a list");
        let is_settled = left.items.iter().all(|it| it.metadata.deletion_timestamp.is_none());
        (is_settled && rows == expected).then_some(())
    })
    .await;
    // 17 of each 50 are multiples of 3.
    let left = expected(&cluster).await.len();
    assert!((425..440).contains(&left), "{left}");
    clear(&cluster).await;
    let stopped =
        Command::new("kill").args(["-TERM", &running.id().to_string()]).status().expect("kill runs");
    assert!(stopped.success() && running.wait().expect("it ends").success(), "the program ends in order");
    cluster.stop().await;
}

#[test]
fn program_ends_with_the_name_of_an_invalid_variable() {
    let run = |changed: &str, value: Option<&str>| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_postgreswriter-controller"));
        let good = [("HOST", "127.0.0.1"), ("PORT", "1"), ("DBNAME", "d"), ("USER", "u"), ("PASSWORD", "p")];
        command.envs(good.map(|(name, value)| (format!("PSQL_{name}"), value)));
        match value {
            Some(value) => command.env(changed, value),
            None => command.env_remove(changed),
        };
        let output = command.output().expect("it runs");
        assert_eq!(output.status.code(), Some(1));
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    for name in ["PSQL_HOST", "PSQL_PORT", "PSQL_DBNAME", "PSQL_USER", "PSQL_PASSWORD"] {
        let printed = run(name, None);
        assert!(printed.starts_with(&format!("Error: {name} is not set")), "{printed}");
    }
    let printed = run("PSQL_PORT", Some("many"));
    assert!(printed.starts_with("Error: PSQL_PORT is \"many\""), "{printed}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: hack/e2e-operators.sh postgreswriter"]
async fn program_ends_when_the_database_refuses_its_settings() {
    let postgres = Postgres::start().await;
    for (name, value, said) in [
        ("PSQL_PASSWORD", "wrong", "PSQL_USER or PSQL_PASSWORD is of no use"),
        ("PSQL_USER", "stranger", "PSQL_USER or PSQL_PASSWORD is of no use"),
        ("PSQL_DBNAME", "no-database", "PSQL_DBNAME is of no use"),
    ] {
        let mut command = tokio::process::Command::new(env!("CARGO_BIN_EXE_postgreswriter-controller"));
        for variable in ["PSQL_HOST", "PSQL_PORT", "PSQL_DBNAME", "PSQL_USER", "PSQL_PASSWORD"] {
            command.env(variable, postgres.variable(variable).expect("set"));
        }
        let output = tokio::time::timeout(Duration::from_secs(60), command.env(name, value).output()).await;
        let printed =
            String::from_utf8_lossy(&output.expect("in time").expect("it runs").stderr).into_owned();
        assert!(printed.contains(said), "{printed}");
    }
}
