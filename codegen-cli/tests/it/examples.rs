//! The committed CRDs of the examples equal controller-gen's output for the same types in Go.

use std::fs;
use std::path::{Path, PathBuf};

use serde_yaml::Value;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// A CRD as data, without the generator's annotation.
fn crd(path: &str) -> Value {
    let text = fs::read_to_string(repository().join(path)).unwrap();
    let mut crd: Value = serde_yaml::from_str(text.trim_start_matches("---\n")).unwrap();
    crd["metadata"].as_mapping_mut().unwrap().remove("annotations").unwrap();
    crd
}

#[test]
fn ecsbinding_crd_equals_controller_gens() {
    let mut expected = crd("testdata/conformance/seed-ecsbinding/expected.yaml");
    // The published CRD of the operator bears this text; the recorded Go type has another doc comment.
    expected["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["description"] = "hopegi test crd".into();
    assert_eq!(crd("examples/ecsbinding/config/crd/bases/hopegi.com_ecsbinding.yaml"), expected);
}

#[test]
fn balancer_crd_equals_controller_gens_except_for_its_fixes() {
    let mut expected = crd("testdata/conformance/seed-balancer/expected.yaml");
    let mut actual = crd("examples/balancer/config/crd/bases/exposer.hliangzhao.io_balancers.yaml");
    // The original's scale subresource names fields that do not exist.
    expected["spec"]["versions"][0]["subresources"].as_mapping_mut().unwrap().remove("scale").unwrap();
    let schema = &mut actual["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
    let status = schema["properties"]["status"]["properties"].as_mapping_mut().unwrap();
    status.remove("conditions").unwrap();
    status.remove("observedGeneration").unwrap();
    without_descriptions(&mut expected);
    without_descriptions(&mut actual);
    without_additions(&mut actual, &expected);
    assert_eq!(actual, expected);
}

/// The schema of the example may have more keywords than the original: names become part of nginx's
/// configuration.
const ADDITIONS: [&str; 13] = [
    "additionalPrinterColumns",
    "enum",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minItems",
    "minLength",
    "minimum",
    "pattern",
    "x-kubernetes-list-map-keys",
    "x-kubernetes-list-type",
    "x-kubernetes-validations",
];

fn without_additions(actual: &mut Value, expected: &Value) {
    match actual {
        Value::Mapping(map) => {
            map.retain(|key, _| {
                let may_be_added = key.as_str().is_some_and(|key| ADDITIONS.contains(&key));
                !may_be_added || expected.get(key).is_some()
            });
            map.iter_mut().for_each(|(key, value)| without_additions(value, &expected[key]));
        }
        Value::Sequence(items) => {
            items.iter_mut().enumerate().for_each(|(at, item)| without_additions(item, &expected[at]));
        }
        _ => {}
    }
}

fn without_descriptions(value: &mut Value) {
    match value {
        Value::Mapping(map) => {
            map.retain(|key, value| key != "description" || !value.is_string());
            map.iter_mut().for_each(|(_, value)| without_descriptions(value));
        }
        Value::Sequence(items) => items.iter_mut().for_each(without_descriptions),
        _ => {}
    }
}

#[test]
fn logs_have_colours_only_on_terminals() {
    let mut sources = vec![repository().join("templates/project/controller/main.rs.tmpl")];
    collect(&repository().join("examples"), &mut sources);
    let mut programs = 0;
    for path in sources {
        let text = fs::read_to_string(&path).unwrap();
        if text.contains("tracing_subscriber::fmt()") && text.contains("fn main()") {
            programs += 1;
            assert!(text.contains(".is_terminal()") && text.contains(".with_ansi("), "{}", path.display());
        }
    }
    assert!(programs >= 9, "{programs}");
}

/// The sources of programs.
fn collect(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, out);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            out.push(path);
        }
    }
}
