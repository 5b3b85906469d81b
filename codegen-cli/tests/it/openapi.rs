//! OpenAPI documents: their definitions equal those that the embedded API server publishes of the same CRDs.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use kubesmith::config::{Generator, Overrides};
use kubesmith::pipeline::Generated;
use kubesmith_testenv::TestEnv;
use serde_json::Value;

use crate::support::{self, Crate, USES, kind};

/// CRDs and documents of a crate, by file name.
fn generate(input: std::path::PathBuf, floats: bool) -> Generated {
    support::run(Overrides {
        input: vec![input],
        output: Some("out".into()),
        only: vec![Generator::Crd, Generator::Openapi],
        allow_dangerous_types: floats,
        ..Overrides::default()
    })
}

fn files(generated: &Generated, extension: &str) -> BTreeMap<String, String> {
    let files = generated.targets.iter().flat_map(|target| target.tree.iter());
    let files = files.filter(|(path, _)| path.ends_with(extension));
    files.map(|(path, text)| (path.to_string(), text.to_string())).collect()
}

async fn published(env: &TestEnv, group: &str, version: &str) -> Value {
    let request = http::Request::get(format!("/openapi/v3/apis/{group}/{version}")).body(Vec::new()).unwrap();
    env.client().request(request).await.unwrap()
}

/// The path of the first difference. Numbers are numbers: a client that installs a CRD writes the bound 1 as 1.0.
fn difference(ours: &Value, theirs: &Value) -> Option<String> {
    match (ours, theirs) {
        (Value::Object(a), Value::Object(b)) => {
            let keys: std::collections::BTreeSet<_> = a.keys().chain(b.keys()).collect();
            let inner = |key: &String| {
                difference(a.get(key).unwrap_or(&Value::Null), b.get(key).unwrap_or(&Value::Null))
                    .map(|rest| format!("{key}.{rest}"))
            };
            keys.into_iter().find_map(inner)
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            a.iter().zip(b).find_map(|(a, b)| difference(a, b).map(|rest| format!("[].{rest}")))
        }
        (Value::Number(a), Value::Number(b)) if a.as_f64() == b.as_f64() => None,
        (a, b) => (a != b).then(|| format!(" {a} and {b}")),
    }
}

/// The names of the definitions that these lead to, themselves included.
fn reachable(schemas: &Value, from: Vec<String>) -> BTreeSet<String> {
    const PREFIX: &str = "#/components/schemas/";
    let mut open = from;
    let mut found = BTreeSet::new();
    while let Some(name) = open.pop() {
        let text = schemas[&name].to_string();
        let references = text.split(PREFIX).skip(1).filter_map(|rest| rest.split('"').next());
        if found.insert(name) {
            open.extend(references.map(str::to_owned));
        }
    }
    found
}

#[tokio::test]
async fn openapi_definitions_equal_those_of_a_server() {
    let mut cases: Vec<_> = fs::read_dir(support::testdata().join("conformance"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
        .collect();
    cases.sort();
    let mut compared = 0;
    for case in cases {
        let generated = generate(case.clone(), case.to_string_lossy().contains("/float-"));
        // Refused types are neither written nor installed on the server.
        let crds: Result<Vec<_>, _> =
            files(&generated, ".yaml").values().map(|text| serde_yaml::from_str(text)).collect();
        // Cases share groups.
        let env = TestEnv::builder().start().await.unwrap();
        if generated.targets.is_empty() || env.install_crds(crds.unwrap()).await.is_err() {
            continue;
        }
        for (name, text) in files(&generated, ".json") {
            let parts: Vec<&str> = name.split("__").collect();
            let version = parts[2].trim_end_matches("_openapi.json");
            let theirs = published(&env, parts[1], version).await;
            let ours: Value = serde_json::from_str(&text).unwrap();
            assert_eq!(ours["openapi"], theirs["openapi"], "{name}");
            let (ours, theirs) = (&ours["components"]["schemas"], &theirs["components"]["schemas"]);
            let names = |schemas: &Value| schemas.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
            // The server's document has paths, which refer to more definitions than kinds do.
            let is_kind = |name: &String| !name.starts_with("io.k8s.");
            let kinds = names(theirs).into_iter().filter(is_kind).collect();
            assert_eq!(BTreeSet::from_iter(names(ours)), reachable(theirs, kinds), "{name}");
            for definition in names(ours) {
                let place = difference(&ours[&definition], &theirs[&definition]);
                assert_eq!(place, None, "{name}: {definition}");
            }
            compared += 1;
        }
        env.stop().await;
    }
    assert!(compared >= 50, "{compared} documents");
}

#[test]
fn openapi_document_has_a_mark_and_is_removed_with_its_version() {
    let sample = Crate::new(&(USES.to_string() + &kind("Widget", "    pub size: i32,")));
    let arguments = ["generate", "--input", "api", "--output", "out", "--only", "openapi"];
    assert_eq!(sample.run(&arguments).status.code(), Some(0));
    let tree = sample.tree("out");
    assert_eq!(tree.keys().collect::<Vec<_>>(), ["openapi/apis__example.com__v1_openapi.json"]);
    let text = tree.values().next().unwrap();
    assert!(
        text.starts_with("{\n  \"openapi\": \"3.0.0\",\n  \"info\": {\n    \"title\": \"example.com\","),
        "{text}"
    );
    sample.write("out/openapi/mine.json", "{}");
    let other = USES.to_string() + &kind("Widget", "    pub size: i32,").replace("\"v1\"", "\"v2\"");
    sample.write("api/src/lib.rs", other);
    assert_eq!(sample.run(&arguments).status.code(), Some(0));
    let names: Vec<String> = sample.tree("out").into_keys().collect();
    assert_eq!(names, ["openapi/apis__example.com__v2_openapi.json", "openapi/mine.json"]);
}
