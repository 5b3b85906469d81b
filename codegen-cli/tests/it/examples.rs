//! The CRDs that the examples commit, against what controller-gen writes for the same types in Go.

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
fn the_ecsbinding_crd_equals_controller_gens() {
    let mut expected = crd("testdata/conformance/seed-ecsbinding/expected.yaml");
    // The published CRD of the operator bears this text; the recorded Go type has another doc comment.
    expected["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["description"] = "hopegi test crd".into();
    assert_eq!(crd("examples/ecsbinding/config/crd/bases/hopegi.com_ecsbinding.yaml"), expected);
}

#[test]
fn the_balancer_crd_equals_controller_gens_but_for_the_scale_subresource_and_more_descriptions() {
    let mut expected = crd("testdata/conformance/seed-balancer/expected.yaml");
    let mut actual = crd("examples/balancer/config/crd/bases/exposer.hliangzhao.io_balancers.yaml");
    // The original's scale subresource points at fields that do not exist.
    expected["spec"]["versions"][0]["subresources"].as_mapping_mut().unwrap().remove("scale").unwrap();
    without_descriptions(&mut expected);
    without_descriptions(&mut actual);
    assert_eq!(actual, expected);
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
