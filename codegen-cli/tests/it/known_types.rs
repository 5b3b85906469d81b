//! Types of other crates whose JSON form is known.

use std::fmt::Write as _;

use kubesmith::known;
use kubesmith_core::diag::Code;
use serde_json::Value;

use crate::support::{self, Crate, USES, kind};

/// How many types one kind has.
const CHUNK: usize = 40;

#[test]
fn every_type_of_k8s_openapi_can_be_a_field() {
    let paths: Vec<&str> = known::paths().filter(|path| path.starts_with("k8s_openapi::")).collect();
    assert!(paths.len() > 680, "{}", paths.len());
    let mut lib = USES.to_string();
    for (at, chunk) in paths.chunks(CHUNK).enumerate() {
        let mut fields = String::new();
        for (number, path) in chunk.iter().enumerate() {
            writeln!(fields, "    pub f{number}: {path},").unwrap();
        }
        lib += &kind(&format!("Widget{at}"), &fields)
            .replace("version = \"v1\"", "version = \"v1\", plural = \"PLURAL\"");
        lib = lib.replace("PLURAL", &format!("widgets{at}"));
    }
    let sample = Crate::new(&lib);
    let generated = support::crds(sample.path("api"), Some(0), true);
    // Such CRDs are too large for annotations, and nothing else is wrong with them.
    assert!(
        generated.diagnostics.iter().all(|found| found.code == Code::CRD_TOO_LARGE),
        "{}",
        support::short(&generated)
    );
    let crds = support::crd_texts(&generated);
    for (at, chunk) in paths.chunks(CHUNK).enumerate() {
        let crd: Value = serde_yaml::from_str(&crds[&format!("example.com_widgets{at}.yaml")]).unwrap();
        let spec =
            &crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"];
        for (number, path) in chunk.iter().enumerate() {
            let schema = &spec[format!("f{number}")];
            assert!(schema.as_object().is_some_and(|schema| !schema.is_empty()), "{path}: {schema}");
        }
    }
}
