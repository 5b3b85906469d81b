//! Texts that want to be statements are values and names, whatever they say.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kubesmith_runtime::client::Error as ClientError;
use kubesmith_runtime::kube::api::{DeleteParams, PostParams};
use operator_testing::Cluster;
use postgreswriter_api::v1::PostgresWriter;

use crate::postgres::Postgres;
use crate::support::{CRDS, Operator, cluster, condition, create, gone, stop, student, writers};

const INJECTION: &str = "x'); drop table students; --";
const TABLE: &str = r#"a"; drop table students; --"#;

/// Objects whose every text is hostile, by name.
fn hostile() -> Vec<PostgresWriter> {
    let texts = [INJECTION, "$1", "\\", "\u{202e}\u{0}", "' or ''='", "\n\t\u{7f}", "😀", "", "null", "%s{}"];
    let writer = |(number, text): (usize, &&str)| {
        let mut writer = student(&format!("text-{number}"), "students", i32::MAX);
        writer.spec.name = text.replace('\0', "");
        writer.spec.country = text.replace('\0', "").repeat(100);
        writer
    };
    let mut all: Vec<_> = texts.iter().enumerate().map(writer).collect();
    all.push(student("table", TABLE, 0));
    all
}

fn with_nul() -> [PostgresWriter; 3] {
    let mut all = ["nul-table", "nul-name", "nul-country"].map(|name| student(name, "students", 1));
    all[0].spec.table.push('\0');
    all[1].spec.name.push('\0');
    all[2].spec.country.insert(0, '\0');
    all
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: hack/e2e-operators.sh postgreswriter"]
async fn hostile_texts_are_stored_unchanged() {
    let postgres = Postgres::start().await;
    let quoted = format!("\"{}\"", TABLE.replace('"', "\"\""));
    postgres.execute(&format!("create table {quoted} (id text, name text, age integer, country text)")).await;
    let cluster = cluster().await;
    let operator = Operator::start(&cluster, cluster.operator_client(), &postgres);
    for writer in hostile() {
        create(&cluster, &writer).await;
    }
    for writer in with_nul() {
        let refused = writers(&cluster).create(&writer, &PostParams::default()).await;
        assert!(refused.as_ref().is_err_and(ClientError::is_invalid), "{refused:?}");
    }

    let mut expected: Vec<_> = hostile().iter().filter(|it| it.spec.table == "students").map(row).collect();
    expected.sort_unstable();
    let expected: Vec<_> = expected.iter().map(String::as_str).collect();
    postgres.has("students", &expected).await;
    postgres.has(&quoted, &["table alex 0 canada"]).await;
    for writer in hostile() {
        let name = writer.metadata.name.expect("named");
        writers(&cluster).delete(&name, &DeleteParams::default()).await.expect("deleted");
        gone(&cluster, &name).await;
    }
    assert!(postgres.rows("students").await.is_empty() && postgres.rows(&quoted).await.is_empty());
    stop(cluster, operator).await;
}

fn row(writer: &PostgresWriter) -> String {
    let name = writer.metadata.name.as_deref().unwrap_or_default();
    let spec = &writer.spec;
    format!("{name} {} {} {}", spec.name, spec.age, spec.country)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: hack/e2e-operators.sh postgreswriter"]
async fn invalid_object_is_refused_and_can_be_deleted_without_crd_checks() {
    let postgres = Postgres::start().await;
    let text =
        std::fs::read_to_string(format!("{CRDS}/demo.yash.com_postgreswriters.yaml")).expect("the CRD");
    let lines = text.lines().filter(|line| {
        let line = line.trim_start();
        !["pattern: ^[^", "minLength: ", "maxLength: 63"].iter().any(|check| line.starts_with(check))
    });
    let crd: CustomResourceDefinition =
        serde_yaml::from_str(&lines.collect::<Vec<_>>().join("\n")).expect("a CRD without checks");
    let cluster = Cluster::start_with_own_crds([crd]).await;
    let operator = Operator::start(&cluster, cluster.operator_client(), &postgres);

    let no_names =
        [("empty", String::new()), ("long", "a".repeat(64))].map(|(name, table)| student(name, &table, 1));
    for writer in with_nul().iter().chain(&no_names) {
        create(&cluster, writer).await;
        let name = writer.metadata.name.as_deref().expect("named");
        let said = condition(&cluster, name, "InvalidSpec").await;
        assert_eq!(said.status, "False");
        cluster.event(name, "InvalidSpec").await;
        writers(&cluster).delete(name, &DeleteParams::default()).await.expect("deleted");
        gone(&cluster, name).await;
    }
    assert!(postgres.rows("students").await.is_empty());
    stop(cluster, operator).await;
}
