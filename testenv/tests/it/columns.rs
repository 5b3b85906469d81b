//! The table of a custom resource: its printer columns, as kube-apiserver shows them.

use std::sync::Arc;

use http::Method;
use kubesmith_testenv::{ManualClock, TestEnv};
use serde_json::{Value, json};

use crate::support::{call, send, widget_crd};

const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io";
const WIDGETS: &str = "/apis/a.example/v1/namespaces/default/widgets";

/// The names of the columns, and the cells of one widget behind its name.
async fn shown(columns: &[(&str, &str)], spec: Value) -> (Vec<String>, Vec<Value>) {
    let clock = ManualClock::new("2026-01-01T00:00:00Z".parse().unwrap());
    let env = TestEnv::builder().clock(Arc::new(clock)).start().await.unwrap();
    let columns: Vec<Value> =
        columns.iter().map(|(kind, path)| json!({"name": path, "type": kind, "jsonPath": path})).collect();
    let mut crd = serde_json::to_value(widget_crd("a.example", "Namespaced")).unwrap();
    crd["spec"]["versions"][0]["additionalPrinterColumns"] = Value::Array(columns);
    env.install_crds(vec![serde_json::from_value(crd).unwrap()]).await.unwrap();
    let widget =
        json!({"apiVersion": "a.example/v1", "kind": "Widget", "metadata": {"name": "w"}, "spec": spec});
    let (code, answer) = call(&env, Method::POST, WIDGETS, widget).await;
    assert_eq!(code, 201, "{answer}");
    let (_, table) = send(&env, Method::GET, WIDGETS, &[("accept", TABLE)], "").await;
    env.stop().await;
    let names = table["columnDefinitions"].as_array().unwrap().iter();
    let names = names.map(|column| column["name"].as_str().unwrap().to_owned()).collect();
    let mut cells = table["rows"][0]["cells"].as_array().unwrap().clone();
    assert_eq!(cells.remove(0), "w");
    (names, cells)
}

/// The cell of one column.
async fn cell(kind: &str, path: &str, spec: Value) -> Value {
    shown(&[(kind, path)], spec).await.1.remove(0)
}

#[tokio::test]
async fn cell_has_the_type_of_its_column() {
    let spec = json!({
        "n": 3, "f": 2.5, "even": 4.0, "s": "text", "yes": true, "list": [1, 2], "map": {"a": "<"},
        "long_ago": "2025-12-31T23:00:00Z", "no_time": "soon", "no_text": "", "null": null,
    });
    let columns = [
        ("integer", ".spec.n", json!(3)),
        ("integer", ".spec.f", json!(2)),
        ("integer", ".spec.s", Value::Null),
        ("integer", ".spec.null", Value::Null),
        ("integer", ".spec.missing", Value::Null),
        ("number", ".spec.n", json!(3)),
        ("number", ".spec.f", json!(2.5)),
        ("number", ".spec.even", json!(4)),
        ("number", ".spec.s", Value::Null),
        ("boolean", ".spec.yes", json!(true)),
        ("boolean", ".spec.n", Value::Null),
        ("string", ".spec.s", json!("text")),
        ("string", ".spec.n", json!("3")),
        ("string", ".spec.even", json!("4")),
        ("string", ".spec.list", json!("[1,2]")),
        ("string", ".spec.map", json!(r#"{"a":"\u003c"}"#)),
        ("string", ".spec.null", json!("<no value>")),
        ("string", ".spec.missing", Value::Null),
        ("date", ".spec.long_ago", json!("60m")),
        ("date", ".metadata.creationTimestamp", json!("0s")),
        ("date", ".spec.no_time", json!("<invalid>")),
        ("date", ".spec.no_text", json!("<unknown>")),
        ("date", ".spec.n", Value::Null),
        ("date", ".metadata.deletionTimestamp", Value::Null),
    ];
    let declared: Vec<(&str, &str)> = columns.iter().map(|(kind, path, _)| (*kind, *path)).collect();
    let (_, cells) = shown(&declared, spec).await;
    for ((kind, path, expected), cell) in columns.iter().zip(cells) {
        assert_eq!(cell, *expected, "{kind} {path}");
    }
}

#[tokio::test]
async fn column_shows_the_first_match_of_its_path() {
    let spec = json!({"list": [{"k": "a", "v": 1}, {"k": "b", "v": 2}, {"k": "c", "v": 3}]});
    assert_eq!(cell("integer", r#".spec.list[?(@.k!="a")].v"#, spec.clone()).await, 2);
    assert_eq!(cell("integer", ".spec.list[?(@.v>2)].v", spec.clone()).await, 3);
    assert_eq!(cell("integer", ".spec.list[1:].v", spec.clone()).await, 2);
    assert_eq!(cell("integer", ".spec.list[2,0].v", spec.clone()).await, 3);
    assert_eq!(cell("integer", "..v", spec.clone()).await, 1);
    // An index that the list does not have.
    assert_eq!(cell("integer", ".spec.list[3].v", spec).await, Value::Null);
}

#[tokio::test]
async fn columns_after_an_invalid_path_are_omitted() {
    let columns = [("string", ".spec.a"), ("string", ".spec.b["), ("string", ".spec.c")];
    let (names, cells) = shown(&columns, json!({"a": "1", "b": "2", "c": "3"})).await;
    assert_eq!(names, ["Name", ".spec.a"]);
    assert_eq!(cells, ["1"]);
}
