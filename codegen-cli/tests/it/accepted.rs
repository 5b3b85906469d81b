//! An API server accepts the generated CRDs, and refuses those that controller-gen writes for types that we
//! refuse.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use http::Request;
use kube::client::Body;
use kubesmith_testenv::TestEnv;
use serde_json::Value;

use crate::support::{self, Crate, USES, kind};

const CRDS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/// Creates an object, and returns the code and the object or Status.
async fn create(env: &TestEnv, crd: &Value) -> (u16, Value) {
    let request = Request::post(CRDS).header("content-type", "application/json");
    let response = env.client().send(request.body(Body::from(crd.to_string().into_bytes())).unwrap()).await;
    let response = response.unwrap();
    let code = response.status().as_u16();
    let bytes = http_body_util::BodyExt::collect(response.into_body()).await.unwrap().to_bytes();
    (code, serde_json::from_slice(&bytes).unwrap())
}

/// The documents of a YAML text.
fn documents(text: &str) -> Vec<Value> {
    let documents = serde_yaml::Deserializer::from_str(text);
    let parsed = documents.map(|document| serde::Deserialize::deserialize(document).unwrap());
    parsed.filter(|document: &Value| !document.is_null()).collect()
}

/// Every file of a folder whose name has this end, at any depth.
fn files(folder: &Path, end: &str, out: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            files(&path, end, out);
        } else if path.to_string_lossy().ends_with(end) {
            out.push(path);
        }
    }
}

#[track_caller]
fn check_taken(what: &str, (code, body): (u16, Value)) {
    assert_eq!(code, 201, "{what}: {}", body["message"]);
}

#[tokio::test]
async fn server_accepts_generated_crds() {
    let mut taken = 0;
    let folders =
        |name: &str| fs::read_dir(support::testdata().join(name)).unwrap().map(|entry| entry.unwrap().path());
    let inputs = folders("conformance").chain(folders("cases").map(|case| case.join("api")));
    for case in inputs {
        if case.is_dir() && !case.join("refused.json").exists() {
            let env = TestEnv::builder().start().await.unwrap();
            for (file, text) in support::crd_texts(&support::crds(case.clone(), None, true)) {
                check_taken(&file, create(&env, &documents(&text)[0]).await);
                taken += 1;
            }
            env.stop().await;
        }
    }
    assert!(taken >= 60, "{taken} CRDs");
}

#[tokio::test]
async fn server_accepts_committed_crds() {
    let mut found = Vec::new();
    for folder in ["testdata/cases", "examples"] {
        files(&support::testdata().join("..").join(folder), ".yaml", &mut found);
    }
    // Templates of a chart are not YAML.
    found.retain(|path| path.components().all(|part| part.as_os_str() != "templates"));
    let mut taken = 0;
    for path in found {
        let text = fs::read_to_string(&path).unwrap();
        let is_crd = |document: &&Value| document["kind"] == "CustomResourceDefinition";
        for crd in documents(&text).iter().filter(is_crd) {
            let env = TestEnv::builder().start().await.unwrap();
            check_taken(&path.to_string_lossy(), create(&env, crd).await);
            env.stop().await;
            taken += 1;
        }
    }
    assert!(taken >= 3, "{taken} CRDs");
}

/// `refused.json` has the errors of kube-apiserver 1.36 about `expected.yaml`, sorted, because their order
/// varies.
#[tokio::test]
async fn server_refuses_crds_with_the_causes_of_kube_apiserver() {
    let mut refused = 0;
    for case in fs::read_dir(support::testdata().join("conformance")).unwrap() {
        let case = case.unwrap().path();
        let Ok(recorded) = fs::read_to_string(case.join("refused.json")) else { continue };
        let recorded: BTreeSet<String> = serde_json::from_str(&recorded).unwrap();
        let env = TestEnv::builder().start().await.unwrap();
        let mut said = BTreeSet::new();
        for crd in documents(&fs::read_to_string(case.join("expected.yaml")).unwrap()) {
            let (code, body) = create(&env, &crd).await;
            assert!(code == 201 || code == 422, "{code}: {body}");
            for cause in body["details"]["causes"].as_array().into_iter().flatten() {
                let text = |key: &str| cause[key].as_str().unwrap();
                said.insert(format!("{}: {}", text("field"), text("message")));
            }
        }
        assert_eq!(said, recorded, "{}", case.display());
        let generated = support::crds(case.clone(), None, true);
        assert!(kubesmith::diag::has_errors(&generated.diagnostics), "{} is accepted", case.display());
        env.stop().await;
        refused += 1;
    }
    assert!(refused >= 8, "{refused} cases");
}

/// No server requires that columns have different names, or that priorities are positive.
#[test]
fn columns_may_share_a_name_and_have_any_priority() {
    let marker = "/// +kubebuilder:printcolumn:name=Size,type=integer,JSONPath=.spec.size,priority=-1\n";
    let text =
        kind("Widget", "    pub size: i32,").replacen("#[derive", &format!("{marker}{marker}#[derive"), 1);
    let generated = Crate::new(&(USES.to_string() + &text)).generate();
    assert_eq!(support::short(&generated), "");
    let yaml = support::crd_texts(&generated).into_values().next().unwrap();
    assert_eq!(yaml.matches("priority: -1").count(), 2);
}
