//! Types of other crates whose JSON form is known: every one is used as a field.

use std::fmt::Write as _;

use kubesmith::known::{self, Known};
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

/// The type with arguments, where it has parameters.
fn with_arguments(path: &str) -> String {
    match known::find(path) {
        Some(Known::Plain) | None => path.to_string(),
        Some(Known::Map) => format!("{path}<String, u16>"),
        Some(Known::Choice(_)) if path != "std::ops::Bound" => format!("{path}<bool, String>"),
        Some(_) => format!("{path}<u16>"),
    }
}

/// The schema of each type of the tables that is not Kubernetes', in a snapshot, so that a new entry is
/// reviewed.
#[test]
fn every_known_type_has_the_schema_of_its_serialized_form() {
    let paths: Vec<&str> = known::paths().filter(|path| !path.starts_with("k8s_openapi::api::")).collect();
    let own = paths.iter().filter(|path| known::openapi_name(path).is_none());
    let own: Vec<&&str> = own.collect();
    let mut fields = String::new();
    for (number, path) in own.iter().enumerate() {
        writeln!(fields, "    pub f{number}: {},", with_arguments(path)).unwrap();
    }
    let sample = Crate::new(&(USES.to_string() + &kind("Widget", &fields)));
    let crates = ["bytes", "chrono", "either", "indexmap", "ipnet", "jiff", "kube", "semver", "url", "uuid"];
    let dependencies = crates.map(|name| format!("{name} = \"*\"\n")).concat();
    let manifest = std::fs::read_to_string(sample.path("api/Cargo.toml")).unwrap();
    sample.write("api/Cargo.toml", manifest + &dependencies);
    let generated = support::crds(sample.path("api"), None, true);
    assert_eq!(support::short(&generated), "");
    let text = support::crd_texts(&generated).into_values().next().unwrap();
    let crd: Value = serde_yaml::from_str(&text).unwrap();
    let spec = &crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"];
    let schemas = own
        .iter()
        .enumerate()
        .map(|(number, path)| format!("{}: {}\n", with_arguments(path), spec[format!("f{number}")]));
    insta::assert_snapshot!(schemas.collect::<String>());
}

#[test]
fn known_type_with_wrong_arguments_is_an_error() {
    for (ty, code) in [
        ("std::ops::Range<f64>", "KS0409"),
        ("std::ops::Range", "KS0407"),
        ("std::num::NonZero<String>", "KS0407"),
        ("Result<String>", "KS0407"),
        ("indexmap::IndexMap<u8, String>", "KS0407"),
    ] {
        let sample = Crate::new(&(USES.to_string() + &kind("Widget", &format!("    pub inner: {ty},"))));
        let text = support::short(&sample.generate());
        assert!(text.contains(code), "{ty}: {text}");
    }
}
